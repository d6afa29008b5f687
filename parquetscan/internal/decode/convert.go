// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"encoding/binary"
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Conversion of values whose Go type differs from the stored type: narrow integers, wide times, INT96, decimals.

// A conversion writes n values of src to dst. Errors are rowErrors, counted from the first value.
type conversion func(dst, src []byte, n int) error

// conversionOf returns the conversion of the values of a leaf; nil means that they are stored as they are read.
func conversionOf(l *footer.Leaf) conversion {
	wide := l.Type.Kind == column.Decimal128 || l.Type.Kind == column.Decimal256
	switch l.Physical {
	case format.Int96:
		return int96
	case format.Int32:
		switch l.Type.Kind {
		case column.Int8:
			return narrow[int8]
		case column.Int16:
			return narrow[int16]
		case column.Uint8:
			return narrow[uint8]
		case column.Uint16:
			return narrow[uint16]
		case column.Time, column.Decimal64:
			return widen
		}
	case format.FixedLenByteArray:
		if wide || l.Type.Kind == column.Decimal64 {
			return decimals(l.Width, l.Stored)
		}
		return nil
	}
	if wide && l.Stored > 0 {
		return widenInt(l.Width, l.Stored)
	}
	return nil
}

// narrow converts INT32 to integers of 1 or 2 bytes. Values out of range are errors: no known writer uses the upper
// bits.
func narrow[T int8 | int16 | uint8 | uint16](dst, src []byte, n int) error {
	out := buffer.SliceOf[T](dst, n)
	for i := range out {
		v := int32(binary.LittleEndian.Uint32(src[4*i:]))
		out[i] = T(v)
		if int32(out[i]) != v {
			return failure.AtRow(i, fmt.Errorf("%w: %d in a column of %T", failure.ErrOutOfRange, v, out[i]))
		}
	}
	return nil
}

// widen converts INT32 to int64.
func widen(dst, src []byte, n int) error {
	out := buffer.SliceOf[int64](dst, n)
	for i := range out {
		out[i] = int64(int32(binary.LittleEndian.Uint32(src[4*i:])))
	}
	return nil
}

// widenInt converts INT32 or INT64 to integers of width bytes, for decimals whose precision exceeds their stored type.
func widenInt(width, stored int) conversion {
	return func(dst, src []byte, n int) error {
		for i := range n {
			v := int64(0)
			if stored == 4 {
				v = int64(int32(binary.LittleEndian.Uint32(src[4*i:])))
			} else {
				v = int64(binary.LittleEndian.Uint64(src[8*i:]))
			}
			d := dst[i*width : (i+1)*width]
			binary.LittleEndian.PutUint64(d, uint64(v))
			for at := 8; at < width; at += 8 {
				binary.LittleEndian.PutUint64(d[at:], uint64(v>>63))
			}
		}
		return nil
	}
}

const (
	julianEpoch = 2440588 // the Julian day of 1970-01-01
	dayNanos    = 24 * 60 * 60 * 1e9
)

// int96 converts nanoseconds of the day and Julian day to nanoseconds since 1970-01-01 (parquet-format,
// LogicalTypes.md, INT96).
func int96(dst, src []byte, n int) error {
	out := buffer.SliceOf[int64](dst, n)
	for i := range out {
		nanos := int64(binary.LittleEndian.Uint64(src[12*i:]))
		day := int64(int32(binary.LittleEndian.Uint32(src[12*i+8:]))) - julianEpoch
		v := day*dayNanos + nanos
		// Days beyond 106,751 do not fit into int64, and nanoseconds should not exceed one day.
		if day < -106_752 || day > 106_751 || nanos < 0 || nanos > 2*dayNanos || (day > 0 && v < 0) || (day < -1 && v > 0) {
			return failure.AtRow(i, fmt.Errorf("%w: Julian day %d and %d ns in nanoseconds since 1970", failure.ErrOutOfRange,
				day+julianEpoch, nanos))
		}
		out[i] = v
	}
	return nil
}

// decimals converts big-endian two's complement of stored bytes to little-endian of width bytes.
func decimals(width, stored int) conversion {
	return func(dst, src []byte, n int) error {
		for i := range n {
			if err := decimal(dst[i*width:(i+1)*width], src[i*stored:(i+1)*stored]); err != nil {
				return failure.AtRow(i, err)
			}
		}
		return nil
	}
}

// decimal converts one big-endian two's complement number of any length to len(dst) bytes, little-endian.
func decimal(dst, src []byte) error {
	sign := byte(0)
	if len(src) > 0 && src[0]&0x80 != 0 {
		sign = 0xff
	}
	for len(src) > len(dst) {
		if src[0] != sign || src[1]&0x80 != sign&0x80 {
			return fmt.Errorf("%w: decimal of %d bytes in %d", failure.ErrOutOfRange, len(src), len(dst))
		}
		src = src[1:]
	}
	for i := range dst {
		if i < len(src) {
			dst[i] = src[len(src)-1-i]
		} else {
			dst[i] = sign
		}
	}
	return nil
}
