// SPDX-License-Identifier: Apache-2.0

package nullserver

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net"
	"os"
)

// conn is one connection. Answers to frames that came with one read leave with one write.
type conn struct {
	server  *Server
	net     net.Conn
	in      []byte // bytes read; in[begin:end] are not looked at yet
	begin   int
	end     int
	parts   []byte // v5: what came of a frame that is longer than a segment
	segment bool   // v5, after STARTUP

	large   net.Buffers // what is sent first, from where it is
	out     []byte      // what is sent then: frames, or segments
	small   []byte      // v5: frames that have no segment yet
	body    []byte      // of the answer under way
	state   [4]byte     // its paging state
	checked []int       // requests whose values were compared, by statement
}

func newConn(s *Server, c net.Conn) *conn {
	return &conn{server: s, net: c, in: make([]byte, 256<<10)}
}

// serve ends with the connection, also for what a client sends wrong: a benchmark then fails.
func (c *conn) serve() {
	defer c.net.Close()
	defer func() {
		if e := recover(); e != nil {
			fmt.Fprintln(os.Stderr, "null server: a request that can't be read:", e)
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
		c.end = copy(in, c.in[c.begin:c.end]) // at most a part of one frame
		c.in, c.begin = in, 0
	}
}

// need returns how long the frame or segment is that has begun.
func (c *conn) need() int {
	b := c.in[c.begin:c.end]
	switch {
	case c.segment && len(b) >= 6:
		return 6 + int(binary.LittleEndian.Uint32(b)&maxPayload) + 4
	case !c.segment && len(b) >= 9:
		return 9 + int(binary.BigEndian.Uint32(b[5:]))
	}
	return 9
}

// work answers all whole frames that were read.
func (c *conn) work() bool {
	for c.end-c.begin >= 9 {
		n := c.need()
		if c.end-c.begin < n {
			break
		}
		b := c.in[c.begin : c.begin+n]
		c.begin += n
		if !c.segment {
			c.answer(b)
			if b[0] == 5 && b[4] == opStartup { // its answer is the last one without segments
				if !c.flush() {
					return false
				}
				c.segment = true
			}
			continue
		}
		payload := b[6 : n-4]
		if len(c.parts) > 0 || b[2]&0x02 == 0 { // a part of a frame
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

// maxOut is how much may wait for the other answers: a client that reads while the server goes on is served sooner.
const maxOut = 256 << 10

// add sends an answer with what else is to be sent.
func (c *conn) add(request []byte, opcode byte, body []byte) {
	if len(c.out) >= maxOut {
		_ = c.flush() // an error comes again with the next write
	}
	if !c.segment {
		c.out = appendFrame(c.out, request, opcode, body)
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

// addPage sends head and rows as one answer, the rows from where they are.
func (c *conn) addPage(request, head, rows []byte) {
	if len(head)+len(rows) < 32<<10 {
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

// seal puts the frames that wait into a segment.
func (c *conn) seal() {
	if len(c.small) > 0 {
		c.out = AppendSegment(c.out, c.small)
		c.small = c.small[:0]
	}
}

// keep puts everything so far before what is sent from where it is.
func (c *conn) keep() {
	c.seal()
	if len(c.out) > 0 {
		c.large = append(c.large, c.out)
		c.out = nil
	}
}

// flush writes everything.
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

// appendSegmentHeader appends the header of a segment with n bytes; whole says that frames end with it.
func appendSegmentHeader(dst []byte, n int, whole bool) []byte {
	h := uint32(n)
	if whole {
		h |= 1 << 17
	}
	dst = append(dst, byte(h), byte(h>>8), byte(h>>16))
	crc := uint32(0x875060)
	for _, b := range dst[len(dst)-3:] {
		crc ^= uint32(b) << 16
		for range 8 {
			if crc <<= 1; crc&0x1000000 != 0 {
				crc ^= 0x1974F0B
			}
		}
	}
	return append(dst, byte(crc), byte(crc>>8), byte(crc>>16))
}

// AppendSegment wraps whole frames in a segment of v5.
func AppendSegment(dst, frames []byte) []byte {
	dst = append(appendSegmentHeader(dst, len(frames), true), frames...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Update(crc32Seed, crc32.IEEETable, frames))
}

// addParts sends one frame, begin and then rest, in as many segments as it needs. rest is not copied.
func (c *conn) addParts(begin, rest []byte) {
	c.keep()
	for first := true; first || len(rest) > 0; first = false {
		n := min(len(rest), maxPayload-len(begin))
		head := appendSegmentHeader(make([]byte, 0, 6+len(begin)), len(begin)+n, first && n == len(rest))
		head = append(head, begin...)
		crc := crc32.Update(crc32.Update(crc32Seed, crc32.IEEETable, begin), crc32.IEEETable, rest[:n])
		c.large = append(c.large, head, rest[:n:n], binary.LittleEndian.AppendUint32(nil, crc))
		begin, rest = nil, rest[n:]
	}
}
