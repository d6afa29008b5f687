// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"reflect"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Go values to cells: native types.

// maxPointers limits a chain of pointers, because a pointer may point to itself.
const maxPointers = 16

var (
	timeType = reflect.TypeFor[time.Time]()
	ipType   = reflect.TypeFor[net.IP]()
	anyType  = reflect.TypeFor[any]()
)

// encode returns the content of v's cell, nil for NULL. depth is the number of pointers followed.
func (d *Dialect) encode(info cql.TypeInfo, v reflect.Value, depth int) ([]byte, error) {
	if !v.IsValid() {
		return nil, nil
	}
	t := v.Type()
	nillable := t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface
	switch {
	case nillable && v.IsNil():
		return nil, nil
	case !v.CanInterface():
		return nil, fmt.Errorf("%w: an unexported field of Go type %v", cql.ErrConversion, t)
	case t.Kind() == reflect.Interface:
		return d.encode(info, v.Elem(), depth)
	case codec.HasRole(t, codec.RoleMarshaler),
		info.Type() == cql.TypeUDT && codec.HasRole(t, codec.RoleUDTMarshaler) && !nillable:
		return codec.Marshal(info, v.Interface())
	case nillable && depth == maxPointers:
		return nil, fmt.Errorf("%w: a chain of more than %d pointers", cql.ErrConversion, maxPointers)
	case nillable:
		return d.encode(info, v.Elem(), depth+1)
	case t == reflect.TypeFor[cql.Unset]() && info.Type() != cql.TypeTuple && info.Type() != cql.TypeUDT:
		return nil, nil
	case d.encodesAlike(info, t):
		return codec.Marshal(info, plainValue(v))
	}
	switch info := info.(type) {
	case cql.NativeType:
		return d.encodeNative(cql.Type(info), v)
	case cql.CollectionType:
		if info.Type() == cql.TypeMap {
			return d.encodeMap(info, v)
		}
		return d.encodeList(info, v)
	case cql.TupleTypeInfo:
		return d.encodeTuple(info, v)
	case cql.UDTTypeInfo:
		return d.encodeUDT(info, v)
	case cql.VectorType:
		return d.encodeVector(info, v)
	}
	return codec.Marshal(info, v.Interface())
}

// plainValue returns v without methods of its pointer type that the driver would call and gocql does not: a value of a
// basic kind as that kind.
func plainValue(v reflect.Value) any {
	switch t := v.Type(); {
	case !codec.HasOwnCodec(t):
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	case v.Kind() == reflect.Float32:
		return float32(v.Float())
	case v.Kind() == reflect.Float64:
		return v.Float()
	case v.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return v.Bytes()
	}
	return v.Interface()
}

// encodesAlike reports whether the driver encodes each value of type t for info as gocql does, at every depth.
func (d *Dialect) encodesAlike(info cql.TypeInfo, t reflect.Type) bool {
	switch info := info.(type) {
	case cql.NativeType:
		return d.nativeAlike(cql.Type(info), t)
	case cql.VectorType:
		return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && d.elementAlike(info.SubType, t.Elem())
	case cql.CollectionType:
		if info.Type() == cql.TypeMap {
			return t.Kind() == reflect.Map && d.elementAlike(info.Key, t.Key()) && d.elementAlike(info.Elem, t.Elem())
		}
		return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && d.elementAlike(info.Elem, t.Elem())
	}
	return false
}

// elementAlike is encodesAlike for the elements of collections, which may be NULL in gocql: their type has neither NULL
// nor methods of its own.
func (d *Dialect) elementAlike(info cql.TypeInfo, t reflect.Type) bool {
	_, native := info.(cql.NativeType)
	return native && d.encodesAlike(info, t) && (isUUID(t) || !codec.HasOwnCodec(t))
}

func isUUID(t reflect.Type) bool { return t == reflect.TypeFor[cql.UUID]() }

// nativeAlike reports whether values of the basic kinds convert alike.
func (d *Dialect) nativeAlike(typ cql.Type, t reflect.Type) bool {
	k := t.Kind()
	if d.fork && k == reflect.String && !isTextType(typ) {
		return false // the empty text is NULL
	}
	switch typ {
	case cql.TypeAscii, cql.TypeText, cql.TypeVarchar, cql.TypeBlob:
		return k == reflect.String
	case cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeVarint:
		return k >= reflect.Int && k <= reflect.Int64 || k == reflect.String
	case cql.TypeBoolean:
		return k == reflect.Bool
	case cql.TypeFloat:
		return k == reflect.Float32
	case cql.TypeDouble:
		return k == reflect.Float64
	case cql.TypeUUID, cql.TypeTimeUUID:
		return isUUID(t) || k == reflect.String
	}
	return false
}

// encodeNative encodes the values that gocql encodes in another way than the driver; the driver encodes the others.
func (d *Dialect) encodeNative(typ cql.Type, v reflect.Value) ([]byte, error) {
	t := v.Type()
	if d.fork {
		if content, ok, err := encodeFork(typ, v); ok {
			return content, err
		}
	}
	switch typ {
	case cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter:
		if v.CanUint() && t.Kind() != reflect.Uintptr {
			return encodeUnsigned(typ, v.Uint())
		}
	case cql.TypeTime:
		if t.Kind() == reflect.Int64 { // any number: the server checks it
			return binary.BigEndian.AppendUint64(nil, uint64(v.Int())), nil
		}
	case cql.TypeTimestamp:
		if t.Kind() == reflect.Int64 { // a time.Duration too
			return binary.BigEndian.AppendUint64(nil, uint64(v.Int())), nil
		}
		if t == timeType && v.Interface().(time.Time).IsZero() {
			return []byte{}, nil
		}
	case cql.TypeDate:
		return d.encodeDate(v)
	case cql.TypeTimeUUID:
		if t == timeType {
			u := cql.UUIDFromTime(v.Interface().(time.Time))
			return u[:], nil
		}
	case cql.TypeInet:
		if t == ipType && v.Len() == 0 {
			return nil, nil
		}
	}
	return codec.Marshal(cql.NativeType(typ), plainValue(v))
}

// sizes are the bytes of the integer types.
var sizes = map[cql.Type]int{
	cql.TypeTinyInt: 1, cql.TypeSmallInt: 2, cql.TypeInt: 4, cql.TypeBigInt: 8, cql.TypeCounter: 8,
}

// encodeUnsigned returns n in as many bytes as the type has: numbers beyond the signed maximum wrap around.
func encodeUnsigned(typ cql.Type, n uint64) ([]byte, error) {
	size := sizes[typ]
	if size < 8 && n >= 1<<(8*size) {
		return nil, fmt.Errorf("%w: %d does not fit %v", cql.ErrRange, n, typ)
	}
	return binary.BigEndian.AppendUint64(nil, n)[8-size:], nil
}

const millisecondsOfDay = 24 * 60 * 60 * 1000

// encodeDate returns the days since -5877641-06-23. A time before 1970 is rounded up to the next day, as gocql does: a
// program finds the rows again that it wrote with gocql. The zero time and the empty text are cells without bytes.
func (d *Dialect) encodeDate(v reflect.Value) ([]byte, error) {
	var milliseconds int64
	switch t := v.Type(); {
	case t == timeType:
		at := v.Interface().(time.Time)
		if at.IsZero() && !d.fork {
			return []byte{}, nil
		}
		milliseconds = at.UnixMilli()
	case t.Kind() == reflect.String && v.Len() == 0:
		return []byte{}, nil
	case t.Kind() == reflect.Int64 && (d.fork || t != reflect.TypeFor[time.Duration]()):
		milliseconds = v.Int()
	default:
		return codec.Marshal(cql.NativeType(cql.TypeDate), plainValue(v))
	}
	days := milliseconds/millisecondsOfDay + math.MaxInt32 + 1
	if days < 0 || days > math.MaxUint32 {
		return nil, fmt.Errorf("%w: %d ms since 1970 do not fit a date", cql.ErrRange, milliseconds)
	}
	return binary.BigEndian.AppendUint32(nil, uint32(days)), nil
}
