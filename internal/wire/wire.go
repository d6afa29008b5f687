// SPDX-License-Identifier: Apache-2.0

// Package wire encodes and decodes the primitives of the CQL native protocol: the notations of native_protocol_v5.spec,
// section 3, as append functions and as a Reader with a sticky error, the frame header (section 2 of v4, 2.4 of v5) and
// the segments of v5 (sections 2.1 and 2.2). All integers are big-endian, except in segments.
package wire

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// Limits of the notations.
const (
	MaxString = math.MaxUint16 // bytes in a [string] or [short bytes], entries in a [string list]
	MaxBody   = 256 << 20      // bytes in a frame body (section 2.4.1.5)
)

// Special lengths of a [value] (section 3).
const (
	Null  = -1
	Unset = -2
)

// ErrTooLong means that a value is longer than its notation's length field can represent. Nothing is appended.
var ErrTooLong = errors.New("value is longer than its length field can represent")

// AppendShort appends a [short].
func AppendShort(dst []byte, v uint16) []byte { return binary.BigEndian.AppendUint16(dst, v) }

// AppendInt appends an [int].
func AppendInt(dst []byte, v int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(v)) }

// AppendLong appends a [long].
func AppendLong(dst []byte, v int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(v)) }

// AppendString appends a [string], at most MaxString bytes.
func AppendString(dst []byte, s string) ([]byte, error) {
	if len(s) > MaxString {
		return dst, ErrTooLong
	}
	return append(AppendShort(dst, uint16(len(s))), s...), nil
}

// AppendLongString appends a [long string].
func AppendLongString(dst []byte, s string) ([]byte, error) {
	if len(s) > math.MaxInt32 {
		return dst, ErrTooLong
	}
	return append(AppendInt(dst, int32(len(s))), s...), nil
}

// AppendBytes appends a [bytes]; nil is written as null.
func AppendBytes(dst, b []byte) ([]byte, error) {
	if b == nil {
		return AppendInt(dst, Null), nil
	}
	if len(b) > math.MaxInt32 {
		return dst, ErrTooLong
	}
	return append(AppendInt(dst, int32(len(b))), b...), nil
}

// AppendShortBytes appends a [short bytes], at most MaxString bytes.
func AppendShortBytes(dst, b []byte) ([]byte, error) {
	if len(b) > MaxString {
		return dst, ErrTooLong
	}
	return append(AppendShort(dst, uint16(len(b))), b...), nil
}

// AppendUvint appends an [unsigned vint]. The number of leading 1 bits in the first byte is the number of bytes that
// follow it.
func AppendUvint(dst []byte, v uint64) []byte {
	// n extra bytes leave 7-n value bits in the first byte, so n extra bytes hold 7+7n bits; 8 extra bytes hold 64.
	extra := (bits.Len64(v|1) - 1) / 7
	switch {
	case extra == 0:
		return append(dst, byte(v))
	case extra >= 8:
		return binary.BigEndian.AppendUint64(append(dst, 0xFF), v)
	}
	dst = append(dst, ^byte(0xFF>>extra)|byte(v>>(8*extra)))
	for i := extra - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

// AppendVint appends a [vint]: v zig-zag coded as an [unsigned vint].
func AppendVint(dst []byte, v int64) []byte {
	return AppendUvint(dst, uint64(v<<1)^uint64(v>>63))
}

// Uvint parses the [unsigned vint] at the start of b. n is the number of bytes read, 0 if b is too short. Non-minimal
// forms are accepted.
func Uvint(b []byte) (v uint64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	extra := bits.LeadingZeros8(^b[0])
	if len(b) < 1+extra {
		return 0, 0
	}
	if extra < 8 {
		v = uint64(b[0] & (0xFF >> extra))
	}
	for _, c := range b[1 : 1+extra] {
		v = v<<8 | uint64(c)
	}
	return v, 1 + extra
}

// Vint parses the [vint] at the start of b; n is 0 if b is too short.
func Vint(b []byte) (v int64, n int) {
	u, n := Uvint(b)
	return int64(u>>1) ^ -int64(u&1), n
}
