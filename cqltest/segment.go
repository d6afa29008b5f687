// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

// Segments around the frames of v5 (native_protocol_v5.spec, section 2.2).

const (
	maxSegment       = 1<<17 - 1 // payload bytes
	crc24Init        = 0x875060
	crc24Poly        = 0x1974F0B
	segmentTrailer   = 4
	plainSegmentHead = 3 + 3
	lz4SegmentHead   = 5 + 3
)

// crc24 returns the checksum of a segment's header.
func crc24(b []byte) uint32 {
	crc := uint32(crc24Init)
	for _, c := range b {
		crc ^= uint32(c) << 16
		for range 8 {
			if crc <<= 1; crc&0x1000000 != 0 {
				crc ^= crc24Poly
			}
		}
	}
	return crc
}

// crc32Start is the checksum of the four bytes that precede every payload.
var crc32Start = crc32.ChecksumIEEE([]byte{0xFA, 0x2D, 0x55, 0xCA})

// segmentCRC32 returns the checksum of a segment's payload.
func segmentCRC32(payload []byte) uint32 { return crc32.Update(crc32Start, crc32.IEEETable, payload) }

// appendSegmentHead appends the n low bytes of v, little-endian, and their checksum.
func appendSegmentHead(dst []byte, v uint64, n int) []byte {
	at := len(dst)
	for i := range n {
		dst = append(dst, byte(v>>(8*i)))
	}
	crc := crc24(dst[at:])
	return append(dst, byte(crc), byte(crc>>8), byte(crc>>16))
}

// appendSegments appends frames as segments. Small frames share a self-contained segment; a frame that does not fit one
// is cut into several.
func appendSegments(dst, frames []byte, lz4 bool) []byte {
	const overhead = lz4SegmentHead + segmentTrailer
	dst = slices.Grow(dst, len(frames)+(len(frames)/maxSegment+1)*overhead)
	for len(frames) > 0 {
		n := wholeFrames(frames)
		piece := frames[:n]
		frames = frames[n:]
		for whole := n <= maxSegment; len(piece) > 0; {
			k := min(len(piece), maxSegment)
			dst = appendSegment(dst, piece[:k], whole, lz4)
			piece = piece[k:]
		}
	}
	return dst
}

// wholeFrames returns the length of the complete frames at the start of b that fit into one segment, at least the
// length of the first. Bytes that a fault made invalid count as one frame.
func wholeFrames(b []byte) int {
	n := 0
	for len(b)-n >= headerSize {
		next := uint64(n) + headerSize + uint64(binary.BigEndian.Uint32(b[n+5:]))
		if next > uint64(len(b)) {
			break
		}
		if next > maxSegment {
			if n == 0 {
				return int(next)
			}
			return n
		}
		n = int(next)
	}
	if n == 0 {
		return len(b)
	}
	return n
}

// appendSegment appends one segment. A payload that LZ4 does not shrink is stored uncompressed.
func appendSegment(dst, payload []byte, selfContained, lz4 bool) []byte {
	s := segment{selfContained: selfContained}
	if lz4 {
		if block := compressBlock(payload); block != nil {
			s.plain, payload = len(payload), block
		}
	}
	return appendSealed(dst, s, payload, lz4)
}

// segment is the header of a segment.
type segment struct {
	length        int  // of the payload on the wire
	plain         int  // after decompression; 0 means not compressed
	selfContained bool // holds only complete frames
}

// segmentHeadSize returns the length of a header with its checksum.
func segmentHeadSize(lz4 bool) int {
	if lz4 {
		return lz4SegmentHead
	}
	return plainSegmentHead
}

// parseSegmentHead parses b, which is exactly one header.
func parseSegmentHead(b []byte) (segment, error) {
	n := len(b) - 3
	var v uint64
	for i := range n {
		v |= uint64(b[i]) << (8 * i)
	}
	if got, want := uint32(b[n])|uint32(b[n+1])<<8|uint32(b[n+2])<<16, crc24(b[:n]); got != want {
		return segment{}, fmt.Errorf("segment header has CRC24 %06x, want %06x", got, want)
	}
	s := segment{length: int(v & maxSegment), selfContained: v>>17&1 != 0}
	if len(b) == lz4SegmentHead {
		s.plain, s.selfContained = int(v>>17&maxSegment), v>>34&1 != 0
	}
	return s, nil
}

// open checks the payload against its trailer, both in b, and decompresses it.
func (s segment) open(b []byte) ([]byte, error) {
	payload := b[:s.length]
	if got, want := binary.LittleEndian.Uint32(b[s.length:]), segmentCRC32(payload); got != want {
		return nil, fmt.Errorf("segment payload has CRC32 %08x, want %08x", got, want)
	}
	if s.plain == 0 {
		return payload, nil
	}
	return decompressBlock(payload, s.plain)
}

// sealSegment returns payload with the header s and valid checksums.
func sealSegment(s segment, payload []byte, lz4 bool) []byte {
	return appendSealed(nil, s, payload, lz4)
}

// appendSealed appends payload with the header s and valid checksums.
func appendSealed(dst []byte, s segment, payload []byte, lz4 bool) []byte {
	whole := uint64(bit(s.selfContained))
	if lz4 {
		dst = appendSegmentHead(dst, uint64(len(payload))|uint64(s.plain)<<17|whole<<34, 5)
	} else {
		dst = appendSegmentHead(dst, uint64(len(payload))|whole<<17, 3)
	}
	dst = append(dst, payload...)
	return binary.LittleEndian.AppendUint32(dst, segmentCRC32(payload))
}
