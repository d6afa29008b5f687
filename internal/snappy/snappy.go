// SPDX-License-Identifier: Apache-2.0

// Package snappy decodes blocks of Snappy (github.com/google/snappy, format_description.txt).
package snappy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrCorrupt means that bytes are not a block of Snappy, or one of another length.
var ErrCorrupt = errors.New("snappy: corrupt block")

// Kinds of elements: the two lowest bits of a tag.
const (
	literal = iota
	copy1   // with an offset of 11 bits
	copy2   // 16 bits
	copy4   // 32 bits
)

// longLiteral is the least value of the other bits of a literal's tag that means a length after the tag.
const longLiteral = 60

// Len returns the length of the content of a block, and the length of its header.
func Len(block []byte) (content uint32, header int, err error) {
	n, header := binary.Uvarint(block)
	if header <= 0 || n > math.MaxUint32 {
		return 0, 0, fmt.Errorf("%w: no length", ErrCorrupt)
	}
	return uint32(n), header, nil
}

// Spare is the spare capacity of a destination with which Decode is fastest, in bytes: the longest element that the
// kernel decodes, and a block that begins in its last byte.
const Spare = 80

// Decode decodes a block to dst, which must have the length of the content. It does not allocate memory. dst and
// block must not overlap. Decode may change the spare capacity of dst. After an error the content of dst is
// undefined.
func Decode(dst, block []byte) error {
	n, header, err := Len(block)
	if err != nil {
		return err
	}
	if uint64(n) != uint64(len(dst)) {
		return fmt.Errorf("%w: content of %d bytes, want %d", ErrCorrupt, n, len(dst))
	}
	src := block[header:]
	d, s := 0, 0
	for s < len(src) {
		if d, s = decodeMany(dst, d, src, s); d > len(dst) {
			return tooLong(len(dst))
		}
		if s < len(src) {
			if d, s, err = decodeOne(dst, d, src, s); err != nil {
				return err
			}
		}
	}
	if d < len(dst) {
		return fmt.Errorf("%w: ends after %d of %d bytes", ErrCorrupt, d, len(dst))
	}
	return nil
}

func tooLong(n int) error { return fmt.Errorf("%w: content is longer than %d bytes", ErrCorrupt, n) }

// decodeOne decodes one element from src[s] on to dst[d] on, and returns the new positions.
func decodeOne(dst []byte, d int, src []byte, s int) (int, int, error) {
	tag := src[s]
	s++
	upper := int(tag >> 2)
	if tag&3 == literal {
		return decodeLiteral(dst, d, src, s, upper)
	}
	size := [...]int{copy1: 1, copy2: 2, copy4: 4}[tag&3]
	if size > len(src)-s {
		return d, s, fmt.Errorf("%w: ends within an offset", ErrCorrupt)
	}
	offset, length := uint32(0), upper+1
	for i, b := range src[s : s+size] {
		offset |= uint32(b) << (8 * i)
	}
	if tag&3 == copy1 {
		offset |= uint32(upper>>3) << 8
		length = upper&7 + 4
	}
	if offset == 0 || uint64(offset) > uint64(d) {
		return d, s, fmt.Errorf("%w: offset %d at byte %d", ErrCorrupt, offset, d)
	}
	if length > len(dst)-d {
		return d, s, tooLong(len(dst))
	}
	from, end := d-int(offset), d+length
	for d < end { // each copy doubles what has been repeated
		d += copy(dst[d:end], dst[from:d])
	}
	return d, s + size, nil
}

// decodeLiteral decodes a literal, whose tag is before src[s].
func decodeLiteral(dst []byte, d int, src []byte, s, upper int) (int, int, error) {
	length := uint64(upper) + 1
	if upper >= longLiteral {
		size := upper - longLiteral + 1
		if size > len(src)-s {
			return d, s, fmt.Errorf("%w: ends within the length of a literal", ErrCorrupt)
		}
		length = 1
		for i, b := range src[s : s+size] {
			length += uint64(b) << (8 * i)
		}
		s += size
	}
	if length > uint64(len(src)-s) {
		return d, s, fmt.Errorf("%w: literal of %d bytes, but %d are left", ErrCorrupt, length, len(src)-s)
	}
	if length > uint64(len(dst)-d) {
		return d, s, tooLong(len(dst))
	}
	n := copy(dst[d:], src[s:s+int(length)])
	return d + n, s + n, nil
}
