// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Plans of tinyint, smallint, int, bigint, counter and varint: big-endian two's complement in 1, 2, 4, 8, 8 bytes and,
// for varint, as few as possible (native_protocol_v5.spec, section 5).

// intSize returns the number of bytes of an integer type, 0 for varint; ok is false for all other types.
func intSize(typ cql.Type) (size int, ok bool) {
	switch typ {
	case cql.TypeTinyInt:
		return 1, true
	case cql.TypeSmallInt:
		return 2, true
	case cql.TypeInt:
		return 4, true
	case cql.TypeBigInt, cql.TypeCounter:
		return 8, true
	}
	return 0, typ == cql.TypeVarint
}

func isInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uint64 }

// planIntEncode returns the plan of an integer type for a Go integer, or big.Int. Equal sizes need no check of the
// range.
func planIntEncode(typ cql.Type, t reflect.Type) EncodeAt {
	size, _ := intSize(typ)
	kind := t.Kind()
	switch {
	case size == 4 && kind == reflect.Int32:
		return encodeBits32 // all values are in range
	case size == 8 && (kind == reflect.Int64 || kind == reflect.Int && bits.UintSize == 64):
		return encodeBits64
	case isInteger(kind):
		return func(dst []byte, p unsafe.Pointer) ([]byte, error) {
			n, beyond := loadInt(kind, p)
			return appendInteger(dst, size, n, beyond)
		}
	case t == reflect.TypeFor[big.Int]():
		return func(dst []byte, p unsafe.Pointer) ([]byte, error) { return appendBigInt(dst, size, (*big.Int)(p)) }
	}
	return nil
}

// planIntDecode returns the plan of an integer type for a Go integer, or big.Int. A value that does not fit is
// cql.ErrRange.
func planIntDecode(typ cql.Type, t reflect.Type) DecodeAt {
	size, _ := intSize(typ)
	kind := t.Kind()
	switch {
	case size == 4 && kind == reflect.Int32:
		return decodeBits32 // all values are in range
	case size == 8 && (kind == reflect.Int64 || kind == reflect.Int && bits.UintSize == 64):
		return decodeBits64
	case size == 4 && kind == reflect.Int:
		return decodeInt32
	case isInteger(kind):
		return func(cell []byte, p unsafe.Pointer, _ *Shared) error {
			return decodeInteger(cell, size, kind, p)
		}
	case t == reflect.TypeFor[big.Int]():
		return func(cell []byte, p unsafe.Pointer, _ *Shared) error {
			if size == 0 && len(cell) == 0 {
				return fmt.Errorf("%w: varint of 0 bytes", cql.ErrMissing)
			}
			if size != 0 {
				if err := cellSize(cell, size); err != nil {
					return err
				}
			}
			*(*big.Int)(p) = parseBigInt(cell)
			return nil
		}
	}
	return nil
}

// decodeInt32 decodes an int into a Go int, which can represent every value.
func decodeInt32(cell []byte, p unsafe.Pointer, _ *Shared) error {
	if len(cell) != 4 {
		return cellSize(cell, 4)
	}
	*(*int)(p) = int(int32(binary.BigEndian.Uint32(cell)))
	return nil
}

// decodeInteger stores the integer of a cell at p, which has the given kind. The cell has size bytes, or any number if
// size is 0.
func decodeInteger(cell []byte, size int, kind reflect.Kind, p unsafe.Pointer) error {
	n, beyond, err := parseInteger(cell, size)
	if err != nil {
		return err
	}
	if !storeInt(kind, p, n, beyond) {
		return fmt.Errorf("%w: %s does not fit %s", cql.ErrRange, formatInt(n, beyond), kind)
	}
	return nil
}

// loadInt returns the integer at p. beyond reports that it exceeds int64; its value is then uint64(n).
func loadInt(kind reflect.Kind, p unsafe.Pointer) (n int64, beyond bool) {
	switch kind {
	case reflect.Int:
		return int64(*(*int)(p)), false
	case reflect.Int8:
		return int64(*(*int8)(p)), false
	case reflect.Int16:
		return int64(*(*int16)(p)), false
	case reflect.Int32:
		return int64(*(*int32)(p)), false
	case reflect.Int64:
		return *(*int64)(p), false
	case reflect.Uint:
		n = int64(*(*uint)(p))
		return n, n < 0
	case reflect.Uint8:
		return int64(*(*uint8)(p)), false
	case reflect.Uint16:
		return int64(*(*uint16)(p)), false
	case reflect.Uint32:
		return int64(*(*uint32)(p)), false
	default: // reflect.Uint64
		n = *(*int64)(p)
		return n, n < 0
	}
}

// storeInt stores n, in the form of loadInt, at p if it fits, and reports whether it does.
func storeInt(kind reflect.Kind, p unsafe.Pointer, n int64, beyond bool) bool {
	if !fitsInt(kind, n, beyond) {
		return false
	}
	switch kind {
	case reflect.Int:
		*(*int)(p) = int(n)
	case reflect.Int8, reflect.Uint8:
		*(*int8)(p) = int8(n)
	case reflect.Int16, reflect.Uint16:
		*(*int16)(p) = int16(n)
	case reflect.Int32, reflect.Uint32:
		*(*int32)(p) = int32(n)
	case reflect.Uint:
		*(*uint)(p) = uint(n)
	default: // reflect.Int64, reflect.Uint64
		*(*int64)(p) = n
	}
	return true
}

// fitsInt reports whether an integer of the given kind can hold n, in the form of loadInt.
func fitsInt(kind reflect.Kind, n int64, beyond bool) bool {
	switch kind {
	case reflect.Int:
		return !beyond && int64(int(n)) == n
	case reflect.Int8:
		return !beyond && int64(int8(n)) == n
	case reflect.Int16:
		return !beyond && int64(int16(n)) == n
	case reflect.Int32:
		return !beyond && int64(int32(n)) == n
	case reflect.Int64:
		return !beyond
	case reflect.Uint:
		return (n >= 0 || beyond) && uint64(uint(n)) == uint64(n)
	case reflect.Uint8:
		return int64(uint8(n)) == n
	case reflect.Uint16:
		return int64(uint16(n)) == n
	case reflect.Uint32:
		return int64(uint32(n)) == n
	default: // reflect.Uint64
		return n >= 0 || beyond
	}
}

func formatInt(n int64, beyond bool) string {
	if beyond {
		return fmt.Sprint(uint64(n))
	}
	return fmt.Sprint(n)
}

// appendInteger appends n as a cell of size bytes, or of as few as possible if size is 0.
func appendInteger(dst []byte, size int, n int64, beyond bool) ([]byte, error) {
	fits := !beyond
	switch size {
	case 0:
		return appendVarint(dst, n, beyond), nil
	case 1, 2, 4:
		unused := 64 - 8*size
		fits = fits && n<<unused>>unused == n
	}
	if !fits {
		return dst, fmt.Errorf("%w: %s does not fit %d bytes", cql.ErrRange, formatInt(n, beyond), size)
	}
	dst = wire.AppendInt(dst, int32(size))
	switch size {
	case 1:
		return append(dst, byte(n)), nil
	case 2:
		return binary.BigEndian.AppendUint16(dst, uint16(n)), nil
	case 4:
		return binary.BigEndian.AppendUint32(dst, uint32(n)), nil
	}
	return binary.BigEndian.AppendUint64(dst, uint64(n)), nil
}

// appendVarint appends n as a varint cell in as few bytes as possible. beyond means that n holds the bits of a uint64
// above MaxInt64.
func appendVarint(dst []byte, n int64, beyond bool) []byte {
	if beyond {
		dst = append(wire.AppendInt(dst, 9), 0)
		return binary.BigEndian.AppendUint64(dst, uint64(n))
	}
	size := bits.Len64(uint64(n^n>>63))/8 + 1 // one more bit for the sign
	dst = wire.AppendInt(dst, int32(size))
	for i := size - 1; i >= 0; i-- {
		dst = append(dst, byte(n>>(8*i)))
	}
	return dst
}

// parseInteger parses a cell of size bytes, or of any number if size is 0. loadInt defines beyond.
func parseInteger(cell []byte, size int) (n int64, beyond bool, err error) {
	if size == 0 {
		return parseVarint(cell)
	}
	if err := cellSize(cell, size); err != nil {
		return 0, false, err
	}
	switch size {
	case 1:
		n = int64(int8(cell[0]))
	case 2:
		n = int64(int16(binary.BigEndian.Uint16(cell)))
	case 4:
		n = int64(int32(binary.BigEndian.Uint32(cell)))
	default:
		n = int64(binary.BigEndian.Uint64(cell))
	}
	return n, false, nil
}

// parseVarint returns the value of a varint cell of up to 64 bits, after any number of redundant sign bytes. beyond
// means that n holds the bits of a uint64 above MaxInt64. Larger values are cql.ErrRange.
func parseVarint(cell []byte) (n int64, beyond bool, err error) {
	if len(cell) == 0 {
		return 0, false, fmt.Errorf("%w: varint of 0 bytes", cql.ErrMissing)
	}
	n = int64(int8(cell[0])) >> 7 // the sign
	fill := byte(n)
	digits := cell
	for len(digits) > 0 && digits[0] == fill {
		digits = digits[1:]
	}
	if len(digits) > 8 {
		return 0, false, fmt.Errorf("%w: varint of %d bytes", cql.ErrRange, len(cell))
	}
	sign := n
	for _, b := range digits {
		n = n<<8 | int64(b)
	}
	switch {
	case sign == 0:
		return n, n < 0, nil
	case n >= 0:
		return 0, false, fmt.Errorf("%w: varint of %d bytes", cql.ErrRange, len(cell))
	}
	return n, false, nil
}

// appendBigInt appends v as a cell of size bytes, or of as few as possible if size is 0.
func appendBigInt(dst []byte, size int, v *big.Int) ([]byte, error) {
	if size != 0 {
		if !v.IsInt64() {
			return dst, fmt.Errorf("%w: a number of %d bits does not fit %d bytes", cql.ErrRange, v.BitLen(), size)
		}
		return appendInteger(dst, size, v.Int64(), false)
	}
	dst, at := beginCell(dst)
	return endCell(appendBigDigits(dst, v), at)
}

// appendBigDigits appends v in two's complement, in as few bytes as possible.
func appendBigDigits(dst []byte, v *big.Int) []byte {
	at := len(dst)
	if v.Sign() >= 0 {
		size := v.BitLen()/8 + 1
		dst = append(dst, make([]byte, size)...)
		v.FillBytes(dst[at:])
		return dst
	}
	// The two's complement of v is the complement of |v|-1, whose bit length determines the size: -128 takes one byte.
	rest := new(big.Int).Not(v)
	size := rest.BitLen()/8 + 1
	dst = append(dst, make([]byte, size)...)
	rest.FillBytes(dst[at:])
	for i := range dst[at:] {
		dst[at+i] = ^dst[at+i]
	}
	return dst
}

// parseBigInt parses a number in two's complement. The result shares no memory with digits.
func parseBigInt(digits []byte) (v big.Int) {
	v.SetBytes(digits)
	if len(digits) > 0 && digits[0]&0x80 != 0 {
		v.Sub(&v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(digits))))
	}
	return v
}
