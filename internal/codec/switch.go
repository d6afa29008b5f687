// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"net"
	"net/netip"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/vecql/vecql/cql"
)

// The most common pairs of CQL and Go type without a plan, for Marshal, Unmarshal and values in an any. Two type
// switches choose the function. NULL, nil and empty cells take the reference.

// switchAppend appends v as a whole cell. ok is false, and out nil, if the switch lacks the pair.
func switchAppend(dst []byte, info cql.TypeInfo, v any) (out []byte, ok bool, err error) {
	switch info := info.(type) {
	case cql.NativeType:
		return switchAppendNative(dst, cql.Type(info), v)
	case cql.VectorType:
		if elem, ok := info.SubType.(cql.NativeType); ok {
			return switchAppendVector(dst, cql.Type(elem), info.Dimensions, v)
		}
	case cql.CollectionType:
		if elem, ok := info.Elem.(cql.NativeType); ok && info.Type() != cql.TypeMap {
			return switchAppendList(dst, cql.Type(elem), v)
		}
	}
	return nil, false, nil
}

// switchAppendNative is switchAppend for native types.
func switchAppendNative(dst []byte, typ cql.Type, v any) (out []byte, ok bool, err error) {
	var encode EncodeAt
	switch v := v.(type) {
	case int:
		return switchAppendInt(dst, typ, int64(v))
	case int8:
		return switchAppendInt(dst, typ, int64(v))
	case int16:
		return switchAppendInt(dst, typ, int64(v))
	case int32:
		return switchAppendInt(dst, typ, int64(v))
	case int64:
		return switchAppendInt(dst, typ, v)
	case string:
		encode = encodeIf(isText(typ), encodeString)
	case []byte:
		encode = encodeIf(isText(typ), encodeBytes)
	case bool:
		encode = encodeIf(typ == cql.TypeBoolean, encodeBool)
	case float32:
		encode = encodeIf(typ == cql.TypeFloat, encodeBits32)
	case float64:
		encode = encodeIf(typ == cql.TypeDouble, encodeBits64)
	case cql.UUID:
		encode = encodeIf(typ == cql.TypeUUID || typ == cql.TypeTimeUUID, encodeUUID)
	case time.Time:
		encode = encodeIf(typ == cql.TypeTimestamp, encodeTimestamp)
	case cql.Duration:
		encode = encodeIf(typ == cql.TypeDuration, encodeDuration)
	case net.IP:
		encode = encodeIf(typ == cql.TypeInet, encodeIP)
	case netip.Addr:
		encode = encodeIf(typ == cql.TypeInet, encodeAddr)
	}
	if encode == nil {
		return nil, false, nil
	}
	out, err = encode(dst, DataWord(v))
	return out, true, err
}

func encodeIf(ok bool, encode EncodeAt) EncodeAt {
	if ok {
		return encode
	}
	return nil
}

func decodeIf(ok bool, decode DecodeAt) DecodeAt {
	if ok {
		return decode
	}
	return nil
}

func isText(typ cql.Type) bool {
	return typ == cql.TypeAscii || typ == cql.TypeText || typ == cql.TypeVarchar || typ == cql.TypeBlob
}

func switchAppendInt(dst []byte, typ cql.Type, n int64) (out []byte, ok bool, err error) {
	size, ok := intSize(typ)
	if !ok {
		return nil, false, nil
	}
	out, err = appendInteger(dst, size, n, false)
	return out, true, err
}

// vectorElements returns the elements of v for a vector of elem. ok is false for other Go types and for NULL.
func vectorElements(elem cql.Type, v any) (e elements, ok bool) {
	switch v := v.(type) {
	case []float32:
		e, ok = sliceOf(v), elem == cql.TypeFloat
	case []float64:
		e, ok = sliceOf(v), elem == cql.TypeDouble
	case []int32:
		e, ok = sliceOf(v), elem == cql.TypeInt
	case []int64:
		e, ok = sliceOf(v), elem == cql.TypeBigInt
	case []cql.UUID:
		e, ok = sliceOf(v), elem == cql.TypeUUID || elem == cql.TypeTimeUUID
	}
	return e, ok && e.base != nil
}

func switchAppendVector(dst []byte, elem cql.Type, dimensions int, v any) (out []byte, ok bool, err error) {
	e, ok := vectorElements(elem, v)
	if !ok {
		return nil, false, nil
	}
	out, err = appendBulk(dst, e, dimensions)
	return out, true, err
}

// switchAppendContent appends a vector without the length of its cell.
func switchAppendContent(dst []byte, info cql.TypeInfo, v any) (out []byte, ok bool, err error) {
	vector, ok := info.(cql.VectorType)
	if !ok {
		return nil, false, nil
	}
	elem, ok := vector.SubType.(cql.NativeType)
	if !ok {
		return nil, false, nil
	}
	e, ok := vectorElements(cql.Type(elem), v)
	if !ok {
		return nil, false, nil
	}
	if err := checkBulk(e, vector.Dimensions); err != nil {
		return dst, true, marshalError(info, v, err)
	}
	// never nil: Marshal returns nil for NULL only
	return swapAppend(slices.Grow(dst, max(e.n*int(e.stride), 1)), e), true, nil
}

// switchAppendList is switchAppend for lists and sets of elem. A nil slice takes the reference.
func switchAppendList(dst []byte, elem cql.Type, v any) (out []byte, ok bool, err error) {
	switch v := v.(type) {
	case []string:
		return switchAppendRun(dst, isText(elem), sliceOf(v), appendTextRun)
	case []int32:
		return switchAppendRun(dst, elem == cql.TypeInt, sliceOf(v), appendFixedRun)
	case []int64:
		return switchAppendRun(dst, elem == cql.TypeBigInt, sliceOf(v), appendFixedRun)
	case []float32:
		return switchAppendRun(dst, elem == cql.TypeFloat, sliceOf(v), appendFixedRun)
	case []float64:
		return switchAppendRun(dst, elem == cql.TypeDouble, sliceOf(v), appendFixedRun)
	case []cql.UUID:
		return switchAppendRun(dst, elem == cql.TypeUUID || elem == cql.TypeTimeUUID, sliceOf(v), appendFixedRun)
	}
	return nil, false, nil
}

func switchAppendRun(dst []byte, ok bool, e elements,
	run func([]byte, elements) ([]byte, error),
) ([]byte, bool, error) {
	if !ok || e.base == nil {
		return nil, false, nil
	}
	out, err := run(dst, e)
	return out, true, err
}

// switchDecode decodes cell into dst, a pointer. ok is false, and dst unchanged, if the switch lacks the pair.
func switchDecode(info cql.TypeInfo, cell []byte, dst any) (ok bool, err error) {
	if cell == nil || dst == nil || DataWord(dst) == nil {
		return false, nil
	}
	if d, ok := dst.(inPlace); ok {
		return true, d.UnmarshalCQL(info, cell)
	}
	if len(cell) == 0 && EmptyIsNull(info) {
		return false, nil
	}
	switch info := info.(type) {
	case cql.NativeType:
		return switchDecodeNative(cql.Type(info), cell, dst)
	case cql.VectorType:
		if elem, ok := info.SubType.(cql.NativeType); ok && info.Dimensions >= 0 && info.Dimensions <= maxDimensions {
			return switchDecodeVector(cql.Type(elem), info.Dimensions, cell, dst)
		}
	case cql.CollectionType:
		if elem, ok := info.Elem.(cql.NativeType); ok && info.Type() != cql.TypeMap {
			return switchDecodeList(cql.Type(elem), cell, dst)
		}
	}
	return false, nil
}

// switchDecodeNative decodes a cell, which is not NULL, of a native type into *dst. ok is false if the switch lacks the
// pair.
func switchDecodeNative(typ cql.Type, cell []byte, dst any) (ok bool, err error) {
	var decode DecodeAt
	switch dst := dst.(type) {
	case *int:
		return switchDecodeInt(typ, cell, reflect.Int, unsafe.Pointer(dst))
	case *int8:
		return switchDecodeInt(typ, cell, reflect.Int8, unsafe.Pointer(dst))
	case *int16:
		return switchDecodeInt(typ, cell, reflect.Int16, unsafe.Pointer(dst))
	case *int32:
		return switchDecodeInt(typ, cell, reflect.Int32, unsafe.Pointer(dst))
	case *int64:
		return switchDecodeInt(typ, cell, reflect.Int64, unsafe.Pointer(dst))
	case *string:
		decode = decodeIf(isText(typ), decodeString)
	case *[]byte:
		decode = decodeIf(isText(typ), decodeBytes)
	case *bool:
		decode = decodeIf(typ == cql.TypeBoolean, decodeBool)
	case *float32:
		decode = decodeIf(typ == cql.TypeFloat, decodeBits32)
	case *float64:
		decode = decodeIf(typ == cql.TypeDouble, decodeBits64)
	case *cql.UUID:
		decode = decodeIf(typ == cql.TypeUUID || typ == cql.TypeTimeUUID, decodeUUID)
	case *time.Time:
		decode = decodeIf(typ == cql.TypeTimestamp, decodeTimestamp)
	case *cql.Duration:
		decode = decodeIf(typ == cql.TypeDuration, decodeDuration)
	case *net.IP:
		decode = decodeIf(typ == cql.TypeInet, decodeIP)
	case *netip.Addr:
		decode = decodeIf(typ == cql.TypeInet, decodeAddr)
	}
	if decode == nil {
		return false, nil
	}
	return true, decode(cell, DataWord(dst), nil)
}

func switchDecodeInt(typ cql.Type, cell []byte, kind reflect.Kind, p unsafe.Pointer) (ok bool, err error) {
	size, ok := intSize(typ)
	if !ok {
		return false, nil
	}
	return true, decodeInteger(cell, size, kind, p)
}

// switchDecodeVector is switchDecodeNative for vectors of n elements.
func switchDecodeVector(elem cql.Type, n int, cell []byte, dst any) (ok bool, err error) {
	switch dst := dst.(type) {
	case *[]float32:
		return switchVector(elem == cql.TypeFloat, dst, cell, n)
	case *[]float64:
		return switchVector(elem == cql.TypeDouble, dst, cell, n)
	case *[]int32:
		return switchVector(elem == cql.TypeInt, dst, cell, n)
	case *[]int64:
		return switchVector(elem == cql.TypeBigInt, dst, cell, n)
	case *[]cql.UUID:
		return switchVector(elem == cql.TypeUUID || elem == cql.TypeTimeUUID, dst, cell, n)
	}
	return false, nil
}

func switchVector[T any](ok bool, dst *[]T, cell []byte, n int) (bool, error) {
	if !ok {
		return false, nil
	}
	return true, decodeBulk(dst, cell, n)
}

// switchDecodeList is switchDecodeNative for lists and sets of elem.
func switchDecodeList(elem cql.Type, cell []byte, dst any) (ok bool, err error) {
	switch dst := dst.(type) {
	case *[]string:
		return switchTexts(isText(elem), dst, cell)
	case *[]int32:
		return switchFixed(elem == cql.TypeInt, dst, cell)
	case *[]int64:
		return switchFixed(elem == cql.TypeBigInt, dst, cell)
	case *[]float32:
		return switchFixed(elem == cql.TypeFloat, dst, cell)
	case *[]float64:
		return switchFixed(elem == cql.TypeDouble, dst, cell)
	case *[]cql.UUID:
		return switchFixed(elem == cql.TypeUUID || elem == cql.TypeTimeUUID, dst, cell)
	}
	return false, nil
}

// switchTexts decodes a list of texts into a fresh slice. It returns false, and decodes nothing, unless ok.
func switchTexts(ok bool, dst *[]string, cell []byte) (bool, error) {
	if !ok {
		return false, nil
	}
	n, cell, err := parseCount(cell, 4)
	if err != nil {
		return true, err
	}
	s := make([]string, n)
	if err := decodeTextRun(cell, sliceOf(s), nil); err != nil {
		return true, err
	}
	*dst = s
	return true, nil
}

// switchFixed returns false for a list with a NULL or an error, which takes the reference.
func switchFixed[T any](ok bool, dst *[]T, cell []byte) (bool, error) {
	if !ok {
		return false, nil
	}
	n, cell, err := parseCount(cell, 4)
	if err != nil {
		return true, err
	}
	s := make([]T, n)
	if !decodeFixedRun(cell, sliceOf(s)) {
		return false, nil
	}
	*dst = s
	return true, nil
}
