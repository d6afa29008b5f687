// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"net"
	"net/netip"
	"reflect"
	"slices"
	"time"
	"unsafe"
)

// This file codes the commonest pairs of CQL and Go types without a plan, for calls that come once: Marshal, Unmarshal and values held
// in an any. Two type switches pick the function; NULL and nil are left to the reference.

// bulkAppend appends v as a whole cell. ok is false, and dst unchanged, where it has no function for the pair.
func bulkAppend(dst []byte, info TypeInfo, v any) (out []byte, ok bool, err error) {
	switch info := info.(type) {
	case NativeType:
		return bulkAppendNative(dst, Type(info), v)
	case VectorType:
		if elem, ok := info.SubType.(NativeType); ok {
			return bulkAppendVector(dst, Type(elem), info.Dimensions, v)
		}
	case CollectionType:
		if elem, ok := info.Elem.(NativeType); ok && info.typ != TypeMap {
			return bulkAppendList(dst, Type(elem), v)
		}
	}
	return dst, false, nil
}

func bulkAppendNative(dst []byte, typ Type, v any) (out []byte, ok bool, err error) {
	var encode encodeAt
	switch v := v.(type) {
	case int:
		return bulkAppendInt(dst, typ, int64(v))
	case int8:
		return bulkAppendInt(dst, typ, int64(v))
	case int16:
		return bulkAppendInt(dst, typ, int64(v))
	case int32:
		return bulkAppendInt(dst, typ, int64(v))
	case int64:
		return bulkAppendInt(dst, typ, v)
	case string:
		encode = encodeIf(isText(typ), encodeString)
	case []byte:
		encode = encodeIf(isText(typ), encodeBytes)
	case bool:
		encode = encodeIf(typ == TypeBoolean, encodeBool)
	case float32:
		encode = encodeIf(typ == TypeFloat, encodeBits32)
	case float64:
		encode = encodeIf(typ == TypeDouble, encodeBits64)
	case UUID:
		encode = encodeIf(typ == TypeUUID || typ == TypeTimeUUID, encodeUUID)
	case time.Time:
		encode = encodeIf(typ == TypeTimestamp, encodeTimestamp)
	case Duration:
		encode = encodeIf(typ == TypeDuration, encodeDuration)
	case net.IP:
		encode = encodeIf(typ == TypeInet, encodeIP)
	case netip.Addr:
		encode = encodeIf(typ == TypeInet, encodeAddr)
	}
	if encode == nil {
		return dst, false, nil
	}
	out, err = encode(dst, dataWord(v))
	return out, true, err
}

func encodeIf(ok bool, encode encodeAt) encodeAt {
	if ok {
		return encode
	}
	return nil
}

func decodeIf(ok bool, decode decodeAt) decodeAt {
	if ok {
		return decode
	}
	return nil
}

func isText(typ Type) bool {
	return typ == TypeAscii || typ == TypeText || typ == TypeVarchar || typ == TypeBlob
}

func bulkAppendInt(dst []byte, typ Type, n int64) (out []byte, ok bool, err error) {
	size, ok := intSize(typ)
	if !ok {
		return dst, false, nil
	}
	out, err = appendInteger(dst, size, n, false)
	return out, true, err
}

// vectorElements returns the elements of v, if they are those of a vector of elem; ok is false for all others, and for NULL.
func vectorElements(elem Type, v any) (e elements, ok bool) {
	switch v := v.(type) {
	case []float32:
		e, ok = sliceOf(v), elem == TypeFloat
	case []float64:
		e, ok = sliceOf(v), elem == TypeDouble
	case []int32:
		e, ok = sliceOf(v), elem == TypeInt
	case []int64:
		e, ok = sliceOf(v), elem == TypeBigInt
	case []UUID:
		e, ok = sliceOf(v), elem == TypeUUID || elem == TypeTimeUUID
	}
	return e, ok && e.base != nil
}

func bulkAppendVector(dst []byte, elem Type, dimensions int, v any) (out []byte, ok bool, err error) {
	e, ok := vectorElements(elem, v)
	if !ok {
		return dst, false, nil
	}
	out, err = appendBulk(dst, e, dimensions)
	return out, true, err
}

// bulkAppendContent appends a vector without the length of its cell.
func bulkAppendContent(dst []byte, info TypeInfo, v any) (out []byte, ok bool, err error) {
	vector, ok := info.(VectorType)
	if !ok {
		return dst, false, nil
	}
	elem, ok := vector.SubType.(NativeType)
	if !ok {
		return dst, false, nil
	}
	e, ok := vectorElements(Type(elem), v)
	if !ok {
		return dst, false, nil
	}
	if err := checkBulk(e, vector.Dimensions); err != nil {
		return dst, true, marshalError(info, v, err)
	}
	return swapAppend(slices.Grow(dst, max(e.n*int(e.stride), 1)), e), true, nil // never nil: that would be NULL
}

func bulkAppendList(dst []byte, elem Type, v any) (out []byte, ok bool, err error) {
	switch v := v.(type) {
	case []string:
		return bulkRun(dst, isText(elem), sliceOf(v), appendTextRun)
	case []int32:
		return bulkRun(dst, elem == TypeInt, sliceOf(v), appendFixedRun)
	case []int64:
		return bulkRun(dst, elem == TypeBigInt, sliceOf(v), appendFixedRun)
	case []float32:
		return bulkRun(dst, elem == TypeFloat, sliceOf(v), appendFixedRun)
	case []float64:
		return bulkRun(dst, elem == TypeDouble, sliceOf(v), appendFixedRun)
	case []UUID:
		return bulkRun(dst, elem == TypeUUID || elem == TypeTimeUUID, sliceOf(v), appendFixedRun)
	}
	return dst, false, nil
}

func bulkRun(dst []byte, ok bool, e elements, run func([]byte, elements) ([]byte, error)) ([]byte, bool, error) {
	if !ok || e.base == nil {
		return dst, false, nil
	}
	out, err := run(dst, e)
	return out, true, err
}

// bulkDecode decodes cell into dst, a pointer. ok is false, and nothing done, where it has no function for the pair.
func bulkDecode(info TypeInfo, cell []byte, dst any) (ok bool, err error) {
	if cell == nil || dst == nil || dataWord(dst) == nil {
		return false, nil
	}
	if d, ok := dst.(inPlace); ok {
		return true, d.UnmarshalCQL(info, cell)
	}
	switch info := info.(type) {
	case NativeType:
		return bulkDecodeNative(Type(info), cell, dst)
	case VectorType:
		if elem, ok := info.SubType.(NativeType); ok && info.Dimensions >= 0 && info.Dimensions <= maxDimensions {
			return bulkDecodeVector(Type(elem), info.Dimensions, cell, dst)
		}
	case CollectionType:
		if elem, ok := info.Elem.(NativeType); ok && info.typ != TypeMap {
			return bulkDecodeList(Type(elem), cell, dst)
		}
	}
	return false, nil
}

func bulkDecodeNative(typ Type, cell []byte, dst any) (ok bool, err error) {
	var decode decodeAt
	switch dst := dst.(type) {
	case *int:
		return bulkDecodeInt(typ, cell, reflect.Int, unsafe.Pointer(dst))
	case *int8:
		return bulkDecodeInt(typ, cell, reflect.Int8, unsafe.Pointer(dst))
	case *int16:
		return bulkDecodeInt(typ, cell, reflect.Int16, unsafe.Pointer(dst))
	case *int32:
		return bulkDecodeInt(typ, cell, reflect.Int32, unsafe.Pointer(dst))
	case *int64:
		return bulkDecodeInt(typ, cell, reflect.Int64, unsafe.Pointer(dst))
	case *string:
		decode = decodeIf(isText(typ), decodeString)
	case *[]byte:
		decode = decodeIf(isText(typ), decodeBytes)
	case *bool:
		decode = decodeIf(typ == TypeBoolean, decodeBool)
	case *float32:
		decode = decodeIf(typ == TypeFloat, decodeBits32)
	case *float64:
		decode = decodeIf(typ == TypeDouble, decodeBits64)
	case *UUID:
		decode = decodeIf(typ == TypeUUID || typ == TypeTimeUUID, decodeUUID)
	case *time.Time:
		decode = decodeIf(typ == TypeTimestamp, decodeTimestamp)
	case *Duration:
		decode = decodeIf(typ == TypeDuration, decodeDuration)
	case *net.IP:
		decode = decodeIf(typ == TypeInet, decodeIP)
	case *netip.Addr:
		decode = decodeIf(typ == TypeInet, decodeAddr)
	}
	if decode == nil {
		return false, nil
	}
	return true, decode(cell, dataWord(dst))
}

func bulkDecodeInt(typ Type, cell []byte, kind reflect.Kind, p unsafe.Pointer) (ok bool, err error) {
	size, ok := intSize(typ)
	if !ok {
		return false, nil
	}
	return true, decodeInteger(cell, size, kind, p)
}

func bulkDecodeVector(elem Type, n int, cell []byte, dst any) (ok bool, err error) {
	switch dst := dst.(type) {
	case *[]float32:
		return bulkVector(elem == TypeFloat, dst, cell, n)
	case *[]float64:
		return bulkVector(elem == TypeDouble, dst, cell, n)
	case *[]int32:
		return bulkVector(elem == TypeInt, dst, cell, n)
	case *[]int64:
		return bulkVector(elem == TypeBigInt, dst, cell, n)
	case *[]UUID:
		return bulkVector(elem == TypeUUID || elem == TypeTimeUUID, dst, cell, n)
	}
	return false, nil
}

func bulkVector[T any](ok bool, dst *[]T, cell []byte, n int) (bool, error) {
	if !ok {
		return false, nil
	}
	return true, decodeBulk(dst, cell, n)
}

func bulkDecodeList(elem Type, cell []byte, dst any) (ok bool, err error) {
	switch dst := dst.(type) {
	case *[]string:
		return bulkTexts(isText(elem), dst, cell)
	case *[]int32:
		return bulkFixed(elem == TypeInt, dst, cell)
	case *[]int64:
		return bulkFixed(elem == TypeBigInt, dst, cell)
	case *[]float32:
		return bulkFixed(elem == TypeFloat, dst, cell)
	case *[]float64:
		return bulkFixed(elem == TypeDouble, dst, cell)
	case *[]UUID:
		return bulkFixed(elem == TypeUUID || elem == TypeTimeUUID, dst, cell)
	}
	return false, nil
}

func bulkTexts(ok bool, dst *[]string, cell []byte) (bool, error) {
	if !ok {
		return false, nil
	}
	n, cell, err := parseCount(cell, 4)
	if err != nil {
		return true, err
	}
	s := make([]string, n)
	if err := decodeTextRun(cell, sliceOf(s)); err != nil {
		return true, err
	}
	*dst = s
	return true, nil
}

// bulkFixed leaves a list with a NULL or an error in it to the reference.
func bulkFixed[T any](ok bool, dst *[]T, cell []byte) (bool, error) {
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
