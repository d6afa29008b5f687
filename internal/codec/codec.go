// SPDX-License-Identifier: Apache-2.0

// Package codec converts Go values to cells, the bytes of CQL values, and back. The conversions are listed in package
// vecql.
//
// There are three implementations with the same result:
//
//   - a type switch over the most common pairs of CQL and Go type, for calls without a statement (switch.go);
//   - a plan, chosen once for a column and a Go type and used for every row (plan.go and a file per family of types);
//   - the reference, by reflection, which handles every pair (reference.go, reference_decode.go).
//
// Tests compare the three. A pair without a plan takes the reference, in programs as in tests.
//
// A cell is a length of 4 bytes followed by that many bytes of content; length -1 is NULL, -2 an unset value. Encoders
// append whole cells; decoders take the content, nil for NULL.
//
// Inside the package errors are plain. The functions for a whole value return a *cql.MarshalError or
// *cql.UnmarshalError.
package codec

import (
	"encoding/binary"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Marshal returns the content of value's cell for type info, nil if and only if value is NULL. The error is a
// *cql.MarshalError.
func Marshal(info cql.TypeInfo, value any) ([]byte, error) {
	out, null, err := AppendMarshal(nil, info, value)
	if null || err != nil {
		return nil, err
	}
	return out, nil
}

// AppendMarshal appends the content of value's cell for type info to dst and returns the extended slice, which is not
// nil. null reports whether value is NULL; out is then dst. After an error, a *cql.MarshalError, out is dst. value is
// not retained.
func AppendMarshal(dst []byte, info cql.TypeInfo, value any) (out []byte, null bool, err error) {
	if _, unset := value.(cql.Unset); unset {
		return dst, false, marshalError(info, value, cql.ErrUnset)
	}
	if out, ok, err := switchAppendContent(dst, info, value); ok {
		return out, false, err
	}
	if out, err = appendCell(dst, info, value); err != nil {
		return dst, false, err
	}
	n := len(dst)
	if int32(binary.BigEndian.Uint32(out[n:])) == wire.Null {
		return dst, true, nil
	}
	copy(out[n:], out[n+4:]) // removes the length; for large cells this costs a fraction of the encoding
	return out[:len(out)-4], false, nil
}

// An Encoder appends v as a whole cell. It was made for info and the type of v; values of another type take the
// reference. After an error the bytes after dst are unspecified.
type Encoder func(dst []byte, info cql.TypeInfo, v any) ([]byte, error)

// A Decoder stores cell, nil for NULL, in dst, a pointer. It was made for info and the type of dst; destinations of
// another type take the reference.
type Decoder func(info cql.TypeInfo, cell []byte, dst any) error

// EncoderOf returns the Encoder of values of type t for type info: a plan if there is one, otherwise the reference. It
// costs as much as encoding several values, so callers keep the Encoder.
func EncoderOf(info cql.TypeInfo, t reflect.Type) Encoder {
	if f := planEncoder(info, t); f != nil {
		return f
	}
	return ReferenceEncode
}

// DecoderOf returns the Decoder of type info into destinations of type t, a pointer type. Callers keep it like an
// Encoder.
func DecoderOf(info cql.TypeInfo, t reflect.Type) Decoder {
	if f := planDecoder(info, t); f != nil {
		return f
	}
	return ReferenceDecode
}

// remembered caches plans for Marshal and Unmarshal, which have no statement that could hold them. Making a plan costs
// as much as coding several values, so pairs that are not cached take the reference.
var remembered struct {
	encoders, decoders sync.Map // of planKey: Encoder, Decoder
	n                  atomic.Int64
}

// maxRemembered limits the cached plans, because a program may create any number of types.
const maxRemembered = 1024

// planKey is a pair of types: of a column and of a Go value or destination.
type planKey struct {
	info   cql.TypeInfo
	goType reflect.Type
}

// canBeKey reports whether info is comparable. Tuples and user-defined types contain slices.
func canBeKey(info cql.TypeInfo) bool {
	switch info := info.(type) {
	case cql.NativeType, cql.CustomType:
		return true
	case cql.CollectionType:
		return (info.Key == nil || canBeKey(info.Key)) && canBeKey(info.Elem)
	case cql.VectorType:
		return canBeKey(info.SubType)
	}
	return false
}

// rememberedEncoder returns the cached Encoder for the pair, or makes and caches one while fewer than maxRemembered
// plans are stored. Otherwise it returns the reference.
func rememberedEncoder(info cql.TypeInfo, t reflect.Type) Encoder {
	if t == nil || !canBeKey(info) {
		return ReferenceEncode
	}
	p := planKey{info, t}
	if f, ok := remembered.encoders.Load(p); ok {
		return f.(Encoder)
	}
	if remembered.n.Add(1) > maxRemembered {
		return ReferenceEncode
	}
	f := EncoderOf(info, t)
	remembered.encoders.Store(p, f)
	return f
}

// rememberedDecoder is rememberedEncoder for a Decoder; t is the type of the destination, a pointer.
func rememberedDecoder(info cql.TypeInfo, t reflect.Type) Decoder {
	if t == nil || !canBeKey(info) {
		return ReferenceDecode
	}
	p := planKey{info, t}
	if f, ok := remembered.decoders.Load(p); ok {
		return f.(Decoder)
	}
	if remembered.n.Add(1) > maxRemembered {
		return ReferenceDecode
	}
	f := DecoderOf(info, t)
	remembered.decoders.Store(p, f)
	return f
}

// appendCell appends v as a whole cell.
func appendCell(dst []byte, info cql.TypeInfo, v any) ([]byte, error) {
	out, ok, err := switchAppend(dst, info, v)
	if !ok {
		out, err = rememberedEncoder(info, reflect.TypeOf(v))(dst, info, v)
	}
	if err != nil {
		return dst, marshalError(info, v, err)
	}
	return out, nil
}

// Unmarshal stores the cell of type info in dst, a pointer; nil is NULL. The stored value shares no memory with cell
// unless dst is a cql.Destination. The error is a *cql.UnmarshalError.
func Unmarshal(info cql.TypeInfo, cell []byte, dst any) error {
	ok, err := switchDecode(info, cell, dst)
	if !ok {
		err = rememberedDecoder(info, reflect.TypeOf(dst))(info, cell, dst)
	}
	if err != nil {
		return unmarshalError(info, dst, err)
	}
	return nil
}

func marshalError(info cql.TypeInfo, v any, err error) *cql.MarshalError {
	return &cql.MarshalError{Type: info, GoType: GoTypeName(v), Err: err}
}

func unmarshalError(info cql.TypeInfo, dst any, err error) *cql.UnmarshalError {
	return &cql.UnmarshalError{Type: info, GoType: GoTypeName(dst), Err: err}
}

// GoTypeName returns the name of v's type for an error, "nil" for nil.
func GoTypeName(v any) string {
	if v == nil {
		return "nil"
	}
	return reflect.TypeOf(v).String()
}
