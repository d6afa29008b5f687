// SPDX-License-Identifier: Apache-2.0

package nullserver

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net"
	"os"
)

// conn is one connection. The responses to all frames of one read leave with one write.
type conn struct {
	server  *Server
	net     net.Conn
	in      []byte // bytes read; in[begin:end] are not parsed yet
	begin   int
	end     int
	parts   []byte // v5: the received part of a frame longer than a segment
	segment bool   // v5, after STARTUP
	lz4     bool   // after a STARTUP that requests it: bodies (v4) or segments (v5) are compressed
	plain   []byte // the decompressed body or segment of a request

	large   net.Buffers // sent first, without a copy
	out     []byte      // sent next: frames or segments
	small   []byte      // v5: frames not yet in a segment
	body    []byte      // body of the current response
	state   [4]byte     // paging state of the current response
	checked []int       // number of requests compared, by statement
}

func newConn(s *Server, c net.Conn) *conn {
	return &conn{server: s, net: c, in: make([]byte, 256<<10)}
}

// serve handles requests until the connection ends. It also closes the connection on a malformed request, which fails
// the benchmark.
func (c *conn) serve() {
	defer c.net.Close()
	defer func() {
		if e := recover(); e != nil {
			fmt.Fprintln(os.Stderr, "null server: malformed request:", e)
		}
	}()
	for {
		n, err := c.net.Read(c.in[c.end:])
		if err != nil {
			return
		}
		c.end += n
		if !c.work() || !c.flush() {
			return
		}
		in := c.in
		if need := c.need(); need > len(in) {
			in = make([]byte, 2*need)
		}
		c.end = copy(in, c.in[c.begin:c.end]) // at most one partial frame
		c.in, c.begin = in, 0
	}
}

// need returns the length of the next frame or segment.
func (c *conn) need() int {
	b := c.in[c.begin:c.end]
	switch {
	case c.segment && len(b) >= 6:
		return c.segmentHead() + int(binary.LittleEndian.Uint32(b)&maxPayload) + 4
	case !c.segment && len(b) >= 9:
		return 9 + int(binary.BigEndian.Uint32(b[5:]))
	}
	return 9
}

// work responds to all complete frames that were read.
func (c *conn) work() bool {
	for c.end-c.begin >= 9 {
		n := c.need()
		if c.end-c.begin < n {
			break
		}
		b := c.in[c.begin : c.begin+n]
		c.begin += n
		if !c.segment {
			c.answer(c.body4(b))
			if b[0] == 5 && b[4] == opStartup { // its response is the last without segments
				if !c.flush() {
					return false
				}
				c.segment = true
			}
			continue
		}
		payload, whole := c.payload(b)
		if len(c.parts) > 0 || !whole { // a part of a frame
			c.parts = append(c.parts, payload...)
			if len(c.parts) >= 9 && len(c.parts) >= 9+int(binary.BigEndian.Uint32(c.parts[5:])) {
				c.answer(c.parts)
				c.parts = c.parts[:0]
			}
			continue
		}
		for len(payload) >= 9 {
			n := 9 + int(binary.BigEndian.Uint32(payload[5:]))
			c.answer(payload[:n])
			payload = payload[n:]
		}
	}
	return true
}

// maxOut bounds the buffered responses. Beyond it the server writes early, so that the client reads while the server
// continues.
const maxOut = 256 << 10

// add buffers a response.
func (c *conn) add(request []byte, opcode byte, body []byte) {
	if len(c.out) >= maxOut {
		_ = c.flush() // the next write returns the error again
	}
	if !c.segment {
		c.out = c.appendFrame4(c.out, request, opcode, body)
		return
	}
	if 9+len(body) > maxPayload {
		c.addParts(nil, appendFrame(nil, request, opcode, body))
		return
	}
	if len(c.small)+9+len(body) > maxPayload {
		c.seal()
	}
	c.small = appendFrame(c.small, request, opcode, body)
}

func appendFrame(dst, request []byte, opcode byte, body []byte) []byte {
	dst = append(dst, request[0]|0x80, 0, request[2], request[3], opcode)
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(body))), body...)
}

func (c *conn) fail(request []byte, code uint32, message string) {
	c.add(request, opError, append(binary.BigEndian.AppendUint32(nil, code), str(message)...))
}

// addPage buffers a response of head and rows. It does not copy large rows.
func (c *conn) addPage(request, head, rows []byte) {
	if len(head)+len(rows) < 32<<10 {
		c.body = append(head, rows...)
		c.add(request, opResult, c.body)
		return
	}
	if c.lz4 && !c.segment { // a body is one block
		c.body = append(head, rows...)
		c.add(request, opResult, c.body)
		return
	}
	begin := []byte{request[0] | 0x80, 0, request[2], request[3], opResult}
	begin = append(binary.BigEndian.AppendUint32(begin, uint32(len(head)+len(rows))), head...)
	if !c.segment {
		c.keep()
		c.large = append(c.large, begin, rows)
		return
	}
	c.addParts(begin, rows)
}

// seal moves the pending frames into a segment.
func (c *conn) seal() {
	if len(c.small) > 0 {
		if c.lz4 {
			c.out = appendLZ4Segment(c.out, c.small, true)
		} else {
			c.out = AppendSegment(c.out, c.small)
		}
		c.small = c.small[:0]
	}
}

// keep moves all pending bytes to large, in front of bytes that are sent without a copy.
func (c *conn) keep() {
	c.seal()
	if len(c.out) > 0 {
		c.large = append(c.large, c.out)
		c.out = nil
	}
}

// flush writes all pending bytes and reports whether the write succeeded.
func (c *conn) flush() bool {
	c.seal()
	var err error
	switch {
	case len(c.large) > 0:
		c.keep()
		all := c.large // WriteTo consumes it
		_, err = all.WriteTo(c.net)
		clear(c.large)
		c.large = c.large[:0]
	case len(c.out) > 0:
		_, err = c.net.Write(c.out)
		c.out = c.out[:0]
	}
	return err == nil
}

const maxPayload = 1<<17 - 1

var crc32Seed = crc32.ChecksumIEEE([]byte{0xFA, 0x2D, 0x55, 0xCA})

// appendSegmentHeader appends the header of a segment with n bytes. whole is its self-contained flag.
func appendSegmentHeader(dst []byte, n int, whole bool) []byte {
	h := uint32(n)
	if whole {
		h |= 1 << 17
	}
	return appendChecked(dst, byte(h), byte(h>>8), byte(h>>16))
}

// appendChecked appends the bytes of a header, followed by their checksum.
func appendChecked(dst []byte, header ...byte) []byte {
	dst = append(dst, header...)
	crc := uint32(0x875060)
	for _, b := range header {
		crc ^= uint32(b) << 16
		for range 8 {
			if crc <<= 1; crc&0x1000000 != 0 {
				crc ^= 0x1974F0B
			}
		}
	}
	return append(dst, byte(crc), byte(crc>>8), byte(crc>>16))
}

// AppendSegment appends a v5 segment that contains whole frames.
func AppendSegment(dst, frames []byte) []byte {
	dst = append(appendSegmentHeader(dst, len(frames), true), frames...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Update(crc32Seed, crc32.IEEETable, frames))
}

// addParts buffers one frame, begin followed by rest, in as many segments as it needs. It does not copy rest.
func (c *conn) addParts(begin, rest []byte) {
	c.keep()
	for first := true; first || len(rest) > 0; first = false {
		n := min(len(rest), maxPayload-len(begin))
		if c.lz4 {
			c.large = append(c.large, c.server.compressed(begin, rest[:n], first && n == len(rest)))
			begin, rest = nil, rest[n:]
			continue
		}
		head := appendSegmentHeader(make([]byte, 0, 6+len(begin)), len(begin)+n, first && n == len(rest))
		head = append(head, begin...)
		crc := crc32.Update(crc32.Update(crc32Seed, crc32.IEEETable, begin), crc32.IEEETable, rest[:n])
		c.large = append(c.large, head, rest[:n:n], binary.LittleEndian.AppendUint32(nil, crc))
		begin, rest = nil, rest[n:]
	}
}
