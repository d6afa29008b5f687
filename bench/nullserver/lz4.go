// SPDX-License-Identifier: Apache-2.0

package nullserver

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/pierrec/lz4/v4"
)

// LZ4 of bodies in v4 and of segments in v5.

// block appends b as an LZ4 block.
func block(dst, b []byte) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, lz4.CompressBlockBound(len(b)))...)
	n, err := lz4.CompressBlock(b, dst[at:], nil)
	if err != nil {
		panic(err) // the bound suffices for all bytes
	}
	return dst[:at+n]
}

// decompress returns the n bytes of an LZ4 block. They are valid until the next call.
func (c *conn) decompress(b []byte, n int) []byte {
	if cap(c.plain) < n {
		c.plain = make([]byte, n)
	}
	got, err := lz4.UncompressBlock(b, c.plain[:n])
	if err != nil || got != n {
		panic(fmt.Sprintf("LZ4 block of %d bytes instead of %d: %v", got, n, err))
	}
	return c.plain[:n]
}

const compressedFlag = 0x01

// body4 returns a frame with its body decompressed.
func (c *conn) body4(frame []byte) []byte {
	if frame[1]&compressedFlag == 0 {
		return frame
	}
	n := int(binary.BigEndian.Uint32(frame[9:]))
	if cap(c.plain) < 9+n {
		c.plain = make([]byte, 9+n)
	}
	plain := c.plain[:9+n]
	copy(plain, frame[:9])
	plain[1] &^= compressedFlag
	if n == 0 {
		return plain
	}
	got, err := lz4.UncompressBlock(frame[13:], plain[9:])
	if err != nil || got != n {
		panic(fmt.Sprintf("LZ4 body of %d bytes instead of %d: %v", got, n, err))
	}
	return plain
}

// appendFrame4 appends a frame without a segment, and compresses its body as Cassandra does, whatever its length is.
func (c *conn) appendFrame4(dst, request []byte, opcode byte, body []byte) []byte {
	if !c.lz4 || len(body) == 0 {
		return appendFrame(dst, request, opcode, body)
	}
	at := len(dst)
	dst = appendFrame(dst, request, opcode, nil)
	dst[at+1] |= compressedFlag
	dst = block(binary.BigEndian.AppendUint32(dst, uint32(len(body))), body)
	binary.BigEndian.PutUint32(dst[at+5:], uint32(len(dst)-at-9))
	return dst
}

// segmentHead returns the length of the header of a segment.
func (c *conn) segmentHead() int {
	if c.lz4 {
		return 8
	}
	return 6
}

// payload returns the payload of a segment, and its self-contained flag.
func (c *conn) payload(b []byte) (payload []byte, whole bool) {
	payload = b[c.segmentHead() : len(b)-4]
	if !c.lz4 {
		return payload, b[2]&0x02 != 0
	}
	h := uint64(binary.LittleEndian.Uint32(b)) | uint64(b[4])<<32
	if n := int(h >> 17 & maxPayload); n > 0 {
		payload = c.decompress(payload, n)
	}
	return payload, h>>34&1 != 0
}

// appendLZ4Segment appends a segment of a connection with LZ4. A payload that LZ4 does not shrink is not compressed.
func appendLZ4Segment(dst, payload []byte, whole bool) []byte {
	at, plain := len(dst), len(payload)
	dst = block(append(dst, make([]byte, 8)...), payload)
	if len(dst)-at-8 >= len(payload) {
		dst, plain = append(dst[:at+8], payload...), 0
	}
	packed := dst[at+8:]
	h := uint64(len(packed)) | uint64(plain)<<17
	if whole {
		h |= 1 << 34
	}
	appendChecked(dst[:at], byte(h), byte(h>>8), byte(h>>16), byte(h>>24), byte(h>>32))
	return binary.LittleEndian.AppendUint32(dst, crc32.Update(crc32Seed, crc32.IEEETable, packed))
}

// segmentKey is a part of canned rows, which never change.
type segmentKey struct {
	first  *byte
	length int
	whole  bool
}

// compressed returns the segment of begin and rows, which are canned. It compresses each part of canned rows once.
func (s *Server) compressed(begin, rows []byte, whole bool) []byte {
	if len(begin) > 0 || len(rows) == 0 {
		return appendLZ4Segment(nil, append(begin, rows...), whole)
	}
	key := segmentKey{&rows[0], len(rows), whole}
	if known, ok := s.segments.Load(key); ok {
		return known.([]byte)
	}
	b := appendLZ4Segment(nil, rows, whole)
	s.segments.Store(key, b)
	return b
}
