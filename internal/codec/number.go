// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"reflect"
	"unsafe"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Plans of boolean, float, double and decimal (native_protocol_v5.spec, section 5). Floats are copied as bits, which
// preserves NaN payloads and signed zeros.

// planNumberEncode returns the plan of boolean, float, double or decimal. Widths must agree, because a conversion could
// round.
func planNumberEncode(typ cql.Type, t reflect.Type) EncodeAt {
	switch k := t.Kind(); {
	case typ == cql.TypeBoolean && k == reflect.Bool:
		return encodeBool
	case typ == cql.TypeFloat && k == reflect.Float32:
		return encodeBits32
	case typ == cql.TypeDouble && k == reflect.Float64:
		return encodeBits64
	case typ == cql.TypeDecimal && t == reflect.TypeFor[inf.Dec]():
		return encodeDecimal
	case typ == cql.TypeDecimal && t == reflect.TypeFor[cql.Decimal]():
		return encodeCQLDecimal
	}
	return nil
}

// planNumberDecode accepts the pairs of planNumberEncode.
func planNumberDecode(typ cql.Type, t reflect.Type) DecodeAt {
	switch k := t.Kind(); {
	case typ == cql.TypeBoolean && k == reflect.Bool:
		return decodeBool
	case typ == cql.TypeFloat && k == reflect.Float32:
		return decodeBits32
	case typ == cql.TypeDouble && k == reflect.Float64:
		return decodeBits64
	case typ == cql.TypeDecimal && t == reflect.TypeFor[inf.Dec]():
		return decodeDecimal
	case typ == cql.TypeDecimal && t == reflect.TypeFor[cql.Decimal]():
		return decodeCQLDecimal
	}
	return nil
}

func encodeBool(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendBool(dst, *(*bool)(p)), nil
}

func encodeBits32(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendBits32(dst, *(*uint32)(p)), nil
}

func encodeBits64(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendBits64(dst, *(*uint64)(p)), nil
}

func appendBool(dst []byte, v bool) []byte {
	var b byte
	if v {
		b = 1
	}
	return append(dst, 0, 0, 0, 1, b)
}

// appendBits32 appends a cell of 4 bytes.
func appendBits32(dst []byte, v uint32) []byte {
	return binary.BigEndian.AppendUint64(dst, 4<<32|uint64(v))
}

// appendBits64 appends a cell of 8 bytes.
func appendBits64(dst []byte, v uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, 0, 0, 0, 8), v)
}

func decodeBool(cell []byte, p unsafe.Pointer, _ *Shared) error {
	if len(cell) != 1 {
		return cellSize(cell, 1)
	}
	*(*bool)(p) = cell[0] != 0
	return nil
}

func decodeBits32(cell []byte, p unsafe.Pointer, _ *Shared) error {
	if len(cell) != 4 {
		return cellSize(cell, 4)
	}
	*(*uint32)(p) = binary.BigEndian.Uint32(cell)
	return nil
}

func decodeBits64(cell []byte, p unsafe.Pointer, _ *Shared) error {
	if len(cell) != 8 {
		return cellSize(cell, 8)
	}
	*(*uint64)(p) = binary.BigEndian.Uint64(cell)
	return nil
}

// encodeDecimal writes the scale, then the unscaled number as a varint.
func encodeDecimal(dst []byte, p unsafe.Pointer) ([]byte, error) {
	v := (*inf.Dec)(p)
	dst, at := beginCell(dst)
	dst = wire.AppendInt(dst, int32(v.Scale()))
	return endCell(appendBigDigits(dst, v.UnscaledBig()), at)
}

// encodeCQLDecimal is encodeDecimal for cql.Decimal, whose nil is 0.
func encodeCQLDecimal(dst []byte, p unsafe.Pointer) ([]byte, error) {
	v := *(*cql.Decimal)(p)
	if v.Unscaled == nil {
		v.Unscaled = new(big.Int)
	}
	dst, at := beginCell(dst)
	dst = wire.AppendInt(dst, v.Scale)
	return endCell(appendBigDigits(dst, v.Unscaled), at)
}

func decodeCQLDecimal(cell []byte, p unsafe.Pointer, _ *Shared) error {
	if len(cell) < 5 {
		return fmt.Errorf("%w: decimal of %d bytes", cql.ErrMissing, len(cell))
	}
	digits := parseBigInt(cell[4:])
	*(*cql.Decimal)(p) = cql.Decimal{Unscaled: &digits, Scale: int32(binary.BigEndian.Uint32(cell))}
	return nil
}

func decodeDecimal(cell []byte, p unsafe.Pointer, _ *Shared) error {
	if len(cell) < 5 {
		return fmt.Errorf("%w: decimal of %d bytes", cql.ErrMissing, len(cell))
	}
	digits := parseBigInt(cell[4:])
	*(*inf.Dec)(p) = *inf.NewDecBig(&digits, inf.Scale(int32(binary.BigEndian.Uint32(cell))))
	return nil
}
