// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"io"
	"net"
	"time"
)

// Effects of a ConnFault on a connection, and corruption of answers on the wire.

// faultyConn is the server's end of a connection that meets a ConnFault.
type faultyConn struct {
	net.Conn
	fault   *ConnFault
	done    <-chan struct{} // closed when the connection must end
	read    int
	written int
}

// Read applies the faults of reading: silence, latency, small pieces, and an end after some bytes.
func (c *faultyConn) Read(p []byte) (int, error) {
	f := c.fault
	if f.Silent {
		<-c.done
		return 0, io.EOF
	}
	if f.Latency > 0 {
		t := time.NewTimer(f.Latency)
		defer t.Stop()
		select {
		case <-t.C:
		case <-c.done:
			return 0, io.EOF
		}
	}
	if f.Split > 0 {
		p = p[:min(len(p), f.Split)]
	}
	if f.CloseAfterRead > 0 {
		if p = p[:min(len(p), f.CloseAfterRead-c.read)]; len(p) == 0 {
			_ = c.Conn.Close()
			return 0, io.EOF
		}
	}
	n, err := c.Conn.Read(p)
	c.read += n
	return n, err
}

// Write applies the faults of writing: small pieces, and an end after some bytes.
func (c *faultyConn) Write(p []byte) (int, error) {
	f := c.fault
	size := len(p)
	if f.CloseAfterWritten > 0 {
		size = min(size, f.CloseAfterWritten-c.written)
	}
	step := size
	if f.Split > 0 {
		step = f.Split
	}
	n := 0
	for n < size {
		k, err := c.Conn.Write(p[n:min(n+step, size)])
		n += k
		c.written += k
		if err != nil {
			return n, err
		}
	}
	if n < len(p) || f.CloseAfterWritten > 0 && c.written >= f.CloseAfterWritten {
		_ = c.CloseWrite() // the bytes written so far arrive
		return n, net.ErrClosed
	}
	return n, nil
}

// CloseWrite implements halfCloser.
func (c *faultyConn) CloseWrite() error {
	if h, ok := c.Conn.(halfCloser); ok {
		return h.CloseWrite()
	}
	return c.Conn.Close()
}

// halfCloser is a connection whose directions can be closed one by one.
type halfCloser interface{ CloseWrite() error }

// corrupt damages wire, the bytes of one answer, which start with its frame. seg and lz4 report whether the frame is in
// segments and whether these are compressed.
func corrupt(kind Corruption, wire []byte, seg, lz4 bool) []byte {
	head := 0
	if seg {
		head = segmentHeadSize(lz4)
	}
	if len(wire) < head+headerSize {
		return wire
	}
	reseal := func(change func(s segment, payload []byte) (segment, []byte)) []byte {
		s, err := parseSegmentHead(wire[:head])
		if err != nil {
			return wire
		}
		payload := wire[head : head+s.length]
		rest := wire[head+s.length+segmentTrailer:]
		s, payload = change(s, append([]byte(nil), payload...))
		return append(sealSegment(s, payload, lz4), rest...)
	}
	switch kind {
	case SegmentHeader:
		if seg {
			wire[1] ^= 0x10
		}
	case SegmentPayload:
		if seg {
			wire[head+4] ^= 0x10
		}
	case SegmentBlock:
		if seg && lz4 {
			return reseal(func(s segment, payload []byte) (segment, []byte) {
				if s.plain == 0 {
					s.plain = s.length
				}
				for i := range payload { // a copy from before the start of the output
					payload[i] = 0xFF
				}
				return s, payload
			})
		}
	case SegmentUncompressed:
		if seg && lz4 {
			return reseal(func(s segment, payload []byte) (segment, []byte) {
				if s.plain == 0 {
					s.plain = s.length
				}
				s.plain = min(s.plain+1, maxSegment)
				return s, payload
			})
		}
	case FrameVersion, FrameLength:
		change := func(frame []byte) {
			if kind == FrameVersion {
				frame[0] = responseBit | 0x7E
			} else {
				copy(frame[5:], []byte{0x7F, 0xFF, 0xFF, 0xFF})
			}
		}
		if !seg {
			change(wire)
			return wire
		}
		return reseal(func(s segment, payload []byte) (segment, []byte) {
			if s.plain > 0 {
				if plain, err := decompressBlock(payload, s.plain); err == nil {
					payload, s.plain = plain, 0
				}
			}
			change(payload)
			s.length = len(payload)
			return s, payload
		})
	case CompressedBody:
		if !seg && wire[1]&flagCompressed != 0 {
			for i := headerSize + 4; i < len(wire); i++ {
				wire[i] = 0xFF
			}
		}
	}
	return wire
}
