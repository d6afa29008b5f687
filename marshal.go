// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/binary"
	"math/big"
	"net"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds the door to the codecs, and decides which of three ways a value takes, all to the same bytes:
//
//   - a type switch over the commonest pairs of CQL and Go type, for calls that come once (marshal_bulk.go);
//   - a plan, decided once for a column and a Go type and used for every row (marshal_fast.go and the families behind it);
//   - the reference, by reflection, which knows every pair (marshal_reflect.go, marshal_reflect_decode.go).
//
// Inside the layer errors are plain; they become a *MarshalError or *UnmarshalError where they leave it.

// Marshaler is implemented by values that encode themselves. A nil pointer is NULL and is not called.
type Marshaler interface {
	// MarshalCQL returns the value's bytes without a length; nil is NULL.
	MarshalCQL(info TypeInfo) ([]byte, error)
}

// Unmarshaler is implemented by destinations that decode themselves.
type Unmarshaler interface {
	// UnmarshalCQL stores the value that data stands for; nil is NULL. data may be kept.
	UnmarshalCQL(info TypeInfo, data []byte) error
}

// UDTMarshaler is implemented by values that encode themselves field by field.
type UDTMarshaler interface {
	// MarshalUDT returns the bytes of the field of that name; nil is NULL.
	MarshalUDT(name string, info TypeInfo) ([]byte, error)
}

// UDTUnmarshaler is implemented by destinations that decode themselves field by field.
type UDTUnmarshaler interface {
	// UnmarshalUDT stores the field of that name; nil is NULL. data may be kept.
	UnmarshalUDT(name string, info TypeInfo, data []byte) error
}

// Marshal returns the bytes of value as a CQL value of type info, without a length; nil if and only if value is NULL. The conversions
// are in the package's documentation. The error is a *MarshalError.
func Marshal(info TypeInfo, value any) ([]byte, error) { return AppendMarshal(nil, info, value) }

// AppendMarshal appends the bytes of value to dst. The result is nil if and only if value is NULL; dst is then unchanged. value is not
// retained. On an error, a *MarshalError, the result is dst.
func AppendMarshal(dst []byte, info TypeInfo, value any) ([]byte, error) {
	if _, unset := value.(unsetColumn); unset {
		return dst, marshalError(info, value, ErrUnset)
	}
	if out, ok, err := bulkAppendContent(dst, info, value); ok {
		return out, err
	}
	out, err := appendCell(dst, info, value)
	if err != nil {
		return dst, err
	}
	n := len(dst)
	if int32(binary.BigEndian.Uint32(out[n:])) == wire.Null {
		return nil, nil
	}
	copy(out[n:], out[n+4:]) // the length goes; for what is not small that is a fraction of the encoding itself
	return out[:len(out)-4], nil
}

// Unmarshal stores the CQL value of type info that data stands for in dst, a pointer; nil is NULL. What it stores never shares memory with
// data. The conversions are in the package's documentation. The error is an *UnmarshalError.
func Unmarshal(info TypeInfo, data []byte, dst any) error { return decodeCell(info, data, dst) }

// encodeFunc appends v as a whole cell: its length, then its content; length -1 is NULL, -2 UnsetValue. On an error the bytes behind
// dst are unspecified.
type encodeFunc func(dst []byte, info TypeInfo, v any) ([]byte, error)

// decodeFunc stores cell, nil for NULL, in dst, a pointer.
type decodeFunc func(info TypeInfo, cell []byte, dst any) error

// encoderOf returns the encoder of values of type t for type info. It is what a plan remembers.
func encoderOf(info TypeInfo, t reflect.Type) encodeFunc {
	if f := fastEncode(info, t); f != nil {
		return f
	}
	return reflectEncode
}

// decoderOf returns the decoder of type info into destinations of type t, a pointer type.
func decoderOf(info TypeInfo, t reflect.Type) decodeFunc {
	if f := fastDecode(info, t); f != nil {
		return f
	}
	return reflectDecode
}

// Marshal and Unmarshal have no statement to keep a plan with: those of the pairs that came are kept here. A plan costs as much to make as
// some values to code, so that what is not kept is left to the reference.
var remembered struct {
	encoders, decoders sync.Map // of planKey: encodeFunc, decodeFunc
	n                  atomic.Int64
}

// maxRemembered bounds them: types may be read from anywhere.
const maxRemembered = 1024

type planKey struct {
	info   TypeInfo
	goType reflect.Type
}

// canBeKey reports whether info can be compared: tuples and user-defined types hold slices.
func canBeKey(info TypeInfo) bool {
	switch info := info.(type) {
	case NativeType, CustomType:
		return true
	case CollectionType:
		return (info.Key == nil || canBeKey(info.Key)) && canBeKey(info.Elem)
	case VectorType:
		return canBeKey(info.SubType)
	}
	return false
}

func rememberedEncoder(info TypeInfo, t reflect.Type) encodeFunc {
	if t == nil || !canBeKey(info) {
		return reflectEncode
	}
	p := planKey{info, t}
	if f, ok := remembered.encoders.Load(p); ok {
		return f.(encodeFunc)
	}
	if remembered.n.Add(1) > maxRemembered {
		return reflectEncode
	}
	f := encoderOf(info, t)
	remembered.encoders.Store(p, f)
	return f
}

func rememberedDecoder(info TypeInfo, t reflect.Type) decodeFunc {
	if t == nil || !canBeKey(info) {
		return reflectDecode
	}
	p := planKey{info, t}
	if f, ok := remembered.decoders.Load(p); ok {
		return f.(decodeFunc)
	}
	if remembered.n.Add(1) > maxRemembered {
		return reflectDecode
	}
	f := decoderOf(info, t)
	remembered.decoders.Store(p, f)
	return f
}

// appendCell appends v as a whole cell.
func appendCell(dst []byte, info TypeInfo, v any) ([]byte, error) {
	out, ok, err := bulkAppend(dst, info, v)
	if !ok {
		out, err = rememberedEncoder(info, reflect.TypeOf(v))(dst, info, v)
	}
	if err != nil {
		return dst, marshalError(info, v, err)
	}
	return out, nil
}

// decodeCell stores cell in dst.
func decodeCell(info TypeInfo, cell []byte, dst any) error {
	ok, err := bulkDecode(info, cell, dst)
	if !ok {
		err = rememberedDecoder(info, reflect.TypeOf(dst))(info, cell, dst)
	}
	if err != nil {
		return unmarshalError(info, dst, err)
	}
	return nil
}

func marshalError(info TypeInfo, v any, err error) *MarshalError {
	return &MarshalError{Type: info, GoType: goTypeName(v), Err: err}
}

func unmarshalError(info TypeInfo, dst any, err error) *UnmarshalError {
	return &UnmarshalError{Type: info, GoType: goTypeName(dst), Err: err}
}

func goTypeName(v any) string {
	if v == nil {
		return "nil"
	}
	return reflect.TypeOf(v).String()
}

var nativeGoTypes = map[Type]reflect.Type{
	TypeAscii: reflect.TypeFor[string](), TypeText: reflect.TypeFor[string](), TypeVarchar: reflect.TypeFor[string](),
	TypeBlob: reflect.TypeFor[[]byte](), TypeCustom: reflect.TypeFor[[]byte](), TypeBoolean: reflect.TypeFor[bool](),
	TypeTinyInt: reflect.TypeFor[int8](), TypeSmallInt: reflect.TypeFor[int16](), TypeInt: reflect.TypeFor[int](),
	TypeBigInt: reflect.TypeFor[int64](), TypeCounter: reflect.TypeFor[int64](), TypeVarint: reflect.TypeFor[*big.Int](),
	TypeFloat: reflect.TypeFor[float32](), TypeDouble: reflect.TypeFor[float64](), TypeDecimal: reflect.TypeFor[*inf.Dec](),
	TypeUUID: reflect.TypeFor[UUID](), TypeTimeUUID: reflect.TypeFor[UUID](), TypeInet: reflect.TypeFor[net.IP](),
	TypeDate: reflect.TypeFor[time.Time](), TypeTime: reflect.TypeFor[time.Duration](), TypeTimestamp: reflect.TypeFor[time.Time](),
	TypeDuration: reflect.TypeFor[Duration](),
}

// defaultGoType returns the Go type that a value of type info gets in an *any, nil when it has none.
func defaultGoType(info TypeInfo) reflect.Type {
	switch info := info.(type) {
	case NativeType:
		return nativeGoTypes[Type(info)]
	case CustomType:
		return nativeGoTypes[TypeCustom]
	case TupleTypeInfo:
		return reflect.TypeFor[[]any]()
	case UDTTypeInfo:
		return reflect.TypeFor[map[string]any]()
	case VectorType:
		return sliceOfDefault(info.SubType)
	case CollectionType:
		if info.typ != TypeMap {
			return sliceOfDefault(info.Elem)
		}
		key, elem := defaultKeyType(info.Key), defaultGoType(info.Elem)
		if key == nil || elem == nil {
			return nil
		}
		return reflect.MapOf(key, elem)
	}
	return nil
}

func sliceOfDefault(elem TypeInfo) reflect.Type {
	if t := defaultGoType(elem); t != nil {
		return reflect.SliceOf(t)
	}
	return nil
}

// defaultKeyType is defaultGoType for the key of a map: text where the default can't be compared by value.
func defaultKeyType(info TypeInfo) reflect.Type {
	if _, custom := info.(CustomType); custom {
		return reflect.TypeFor[string]()
	}
	switch info.Type() {
	case TypeBlob, TypeInet, TypeVarint:
		return reflect.TypeFor[string]()
	case TypeDecimal:
		return nil
	}
	if t := defaultGoType(info); t != nil && t.Comparable() {
		return t
	}
	return nil
}

// zeroDest returns a new destination of info's default Go type, or an *any where it has none.
func zeroDest(info TypeInfo) any {
	if t := defaultGoType(info); t != nil {
		return reflect.New(t).Interface()
	}
	return new(any)
}
