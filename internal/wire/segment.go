// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// Segments, in which v5 wraps frames (native_protocol_v5.spec, sections 2.1 and 2.2). Their header and trailer are
// little-endian:
//
//	uncompressed: 17 bits payload length, 1 bit self-contained, 6 bits zero             = 3 bytes, then CRC24 over them
//	LZ4:          17 bits length on the wire, 17 bits uncompressed length, 1 bit
//	              self-contained, 5 bits zero                                            = 5 bytes, then CRC24 over them
//
// The payload follows, then the CRC32 of its bytes on the wire. With LZ4, an uncompressed length of 0 means that the
// payload is not compressed.

// Sizes of segments and their parts.
const (
	MaxPayload             = 1<<17 - 1
	SegmentHeaderSize      = 3 + 3
	SegmentHeaderSizeLZ4   = 5 + 3
	SegmentTrailerSize     = 4
	selfContainedBit       = 17
	selfContainedBitLZ4    = 34
	crc24Init              = 0x875060
	crc24Poly              = 0x1974F0B
	uncompressedLengthBits = 17
)

// ErrCRC24 and ErrCRC32 mean that a segment was damaged in transit. There is no position at which to resume, so the
// connection is lost.
var (
	ErrCRC24 = errors.New("segment header has a wrong CRC24")
	ErrCRC32 = errors.New("segment payload has a wrong CRC32")
)

// crc24Table holds the CRC24 of each byte as if it preceded a zero state.
var crc24Table = func() (t [256]uint32) {
	for i := range t {
		crc := uint32(i) << 16
		for range 8 {
			crc <<= 1
			if crc&0x1000000 != 0 {
				crc ^= crc24Poly
			}
		}
		t[i] = crc & 0xFFFFFF
	}
	return t
}()

// CRC24 returns the checksum of a segment header.
func CRC24(b []byte) uint32 {
	crc := uint32(crc24Init)
	for _, c := range b {
		crc = crc<<8&0xFFFFFF ^ crc24Table[byte(crc>>16)^c]
	}
	return crc
}

// crc32Seed is the checksum of the four bytes that the protocol puts before every payload.
var crc32Seed = crc32.ChecksumIEEE([]byte{0xFA, 0x2D, 0x55, 0xCA})

// CRC32 returns the checksum of a segment payload.
func CRC32(payload []byte) uint32 { return crc32.Update(crc32Seed, crc32.IEEETable, payload) }

// A SegmentHeader is the header of a segment.
type SegmentHeader struct {
	Length        int  // of the payload on the wire
	Uncompressed  int  // length after decompression; 0 if the payload is not compressed
	SelfContained bool // the payload is one or more whole frames; otherwise part of one frame
}

// PutSegmentHeader encodes h, SegmentHeaderSize bytes, into dst.
func PutSegmentHeader(dst []byte, h SegmentHeader) {
	putSegmentHeader(dst[:SegmentHeaderSize], uint64(h.Length)|flag(h.SelfContained)<<selfContainedBit)
}

// PutSegmentHeaderLZ4 encodes h, SegmentHeaderSizeLZ4 bytes, into dst.
func PutSegmentHeaderLZ4(dst []byte, h SegmentHeader) {
	putSegmentHeader(dst[:SegmentHeaderSizeLZ4],
		uint64(h.Length)|uint64(h.Uncompressed)<<uncompressedLengthBits|flag(h.SelfContained)<<selfContainedBitLZ4)
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func putSegmentHeader(dst []byte, v uint64) {
	n := len(dst) - 3
	for i := range n {
		dst[i] = byte(v >> (8 * i))
	}
	crc := CRC24(dst[:n])
	dst[n], dst[n+1], dst[n+2] = byte(crc), byte(crc>>8), byte(crc>>16)
}

// ParseSegmentHeader parses a header from the first SegmentHeaderSize bytes of b.
func ParseSegmentHeader(b []byte) (SegmentHeader, error) {
	v, err := parseSegmentHeader(b[:SegmentHeaderSize])
	return SegmentHeader{Length: int(v & MaxPayload), SelfContained: v>>selfContainedBit&1 != 0}, err
}

// ParseSegmentHeaderLZ4 parses a header from the first SegmentHeaderSizeLZ4 bytes of b.
func ParseSegmentHeaderLZ4(b []byte) (SegmentHeader, error) {
	v, err := parseSegmentHeader(b[:SegmentHeaderSizeLZ4])
	return SegmentHeader{
		Length:        int(v & MaxPayload),
		Uncompressed:  int(v >> uncompressedLengthBits & MaxPayload),
		SelfContained: v>>selfContainedBitLZ4&1 != 0,
	}, err
}

func parseSegmentHeader(b []byte) (v uint64, err error) {
	n := len(b) - 3
	for i := range n {
		v |= uint64(b[i]) << (8 * i)
	}
	got := uint32(b[n]) | uint32(b[n+1])<<8 | uint32(b[n+2])<<16
	if want := CRC24(b[:n]); got != want {
		return 0, fmt.Errorf("%w: got %06x, want %06x", ErrCRC24, got, want)
	}
	return v, nil
}
