// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"reflect"
	"sync/atomic"

	"github.com/vecql/vecql/cql"
)

// Values that encode and decode themselves: by the interfaces of package cql, or by those of another API. The methods
// of gocql's interfaces take gocql's TypeInfo, so that types with these methods do not implement the interfaces of
// package cql.

// A ForeignCodec describes the codec interfaces of another API, whose methods take that API's TypeInfo.
type ForeignCodec struct {
	// interface types; nil means none
	Marshaler, Unmarshaler, UDTMarshaler, UDTUnmarshaler reflect.Type
	// The functions call the method of v, which implements the interface of that name.
	Marshal      func(v any, info cql.TypeInfo) ([]byte, error)
	Unmarshal    func(v any, info cql.TypeInfo, data []byte) error
	MarshalUDT   func(v any, name string, info cql.TypeInfo) ([]byte, error)
	UnmarshalUDT func(v any, name string, info cql.TypeInfo, data []byte) error
}

// The interfaces of package cql.
var (
	marshalerType      = reflect.TypeFor[cql.Marshaler]()
	unmarshalerType    = reflect.TypeFor[cql.Unmarshaler]()
	udtMarshalerType   = reflect.TypeFor[cql.UDTMarshaler]()
	udtUnmarshalerType = reflect.TypeFor[cql.UDTUnmarshaler]()
)

// foreign holds the registered codecs. The slice is replaced, never changed.
var foreign atomic.Pointer[[]ForeignCodec]

// RegisterForeign makes values of types that implement the interfaces of c encode and decode themselves, at every
// depth. Call it before the first session: plans made before do not change.
func RegisterForeign(c ForeignCodec) {
	for {
		old := foreign.Load()
		all := append(foreignCodecs(), c)
		if foreign.CompareAndSwap(old, &all) {
			return
		}
	}
}

// foreignCodecs returns the registered codecs. The slice has no spare capacity.
func foreignCodecs() []ForeignCodec {
	if all := foreign.Load(); all != nil {
		return (*all)[:len(*all):len(*all)]
	}
	return nil
}

// HasOwnCodec reports whether t or *t implements one of the codec interfaces.
func HasOwnCodec(t reflect.Type) bool {
	if implementsOne(t, marshalerType, unmarshalerType, udtMarshalerType, udtUnmarshalerType) {
		return true
	}
	for _, c := range foreignCodecs() {
		if implementsOne(t, c.Marshaler, c.Unmarshaler, c.UDTMarshaler, c.UDTUnmarshaler) {
			return true
		}
	}
	return false
}

// implementsOne reports whether t or *t implements one of the interfaces, which may be nil.
func implementsOne(t reflect.Type, interfaces ...reflect.Type) bool {
	for _, i := range interfaces {
		if i != nil && (t.Implements(i) || reflect.PointerTo(t).Implements(i)) {
			return true
		}
	}
	return false
}

// The methods of values, whichever interface they implement.
type (
	marshalFunc      func(info cql.TypeInfo) ([]byte, error)
	unmarshalFunc    func(info cql.TypeInfo, data []byte) error
	marshalUDTFunc   func(name string, info cql.TypeInfo) ([]byte, error)
	unmarshalUDTFunc func(name string, info cql.TypeInfo, data []byte) error
)

// marshalerOf returns the method by which v encodes itself. nil means none.
func marshalerOf(v reflect.Value) marshalFunc {
	if m := implementer(v, marshalerType); m != nil {
		return m.(cql.Marshaler).MarshalCQL
	}
	for _, c := range foreignCodecs() {
		if c.Marshaler == nil {
			continue
		}
		if m := implementer(v, c.Marshaler); m != nil {
			return func(info cql.TypeInfo) ([]byte, error) { return c.Marshal(m, info) }
		}
	}
	return nil
}

// udtMarshalerOf returns the method by which v encodes the fields of a UDT. nil means none.
func udtMarshalerOf(v reflect.Value) marshalUDTFunc {
	if m := implementer(v, udtMarshalerType); m != nil {
		return m.(cql.UDTMarshaler).MarshalUDT
	}
	for _, c := range foreignCodecs() {
		if c.UDTMarshaler == nil {
			continue
		}
		if m := implementer(v, c.UDTMarshaler); m != nil {
			return func(name string, info cql.TypeInfo) ([]byte, error) { return c.MarshalUDT(m, name, info) }
		}
	}
	return nil
}

// unmarshalerOf returns the method by which dst, a pointer or a value with methods of its own, decodes itself. nil
// means none.
func unmarshalerOf(dst reflect.Value) unmarshalFunc {
	if t := dst.Type(); t.Implements(unmarshalerType) {
		return dst.Interface().(cql.Unmarshaler).UnmarshalCQL
	}
	for _, c := range foreignCodecs() {
		if c.Unmarshaler != nil && dst.Type().Implements(c.Unmarshaler) {
			return func(info cql.TypeInfo, data []byte) error { return c.Unmarshal(dst.Interface(), info, data) }
		}
	}
	return nil
}

// udtUnmarshalerOf returns the method by which dst decodes the fields of a UDT. nil means none.
func udtUnmarshalerOf(dst reflect.Value) unmarshalUDTFunc {
	if t := dst.Type(); t.Implements(udtUnmarshalerType) {
		return dst.Interface().(cql.UDTUnmarshaler).UnmarshalUDT
	}
	for _, c := range foreignCodecs() {
		if c.UDTUnmarshaler != nil && dst.Type().Implements(c.UDTUnmarshaler) {
			return func(name string, info cql.TypeInfo, data []byte) error {
				return c.UnmarshalUDT(dst.Interface(), name, info, data)
			}
		}
	}
	return nil
}

// A Role is one of the four codec interfaces of an API.
type Role func(c ForeignCodec) reflect.Type

// The roles.
var (
	RoleMarshaler      Role = func(c ForeignCodec) reflect.Type { return c.Marshaler }
	RoleUnmarshaler    Role = func(c ForeignCodec) reflect.Type { return c.Unmarshaler }
	RoleUDTMarshaler   Role = func(c ForeignCodec) reflect.Type { return c.UDTMarshaler }
	RoleUDTUnmarshaler Role = func(c ForeignCodec) reflect.Type { return c.UDTUnmarshaler }
)

// own describes the interfaces of package cql.
var own = ForeignCodec{
	Marshaler: marshalerType, Unmarshaler: unmarshalerType,
	UDTMarshaler: udtMarshalerType, UDTUnmarshaler: udtUnmarshalerType,
}

// HasRole reports whether t itself, not only *t, implements the interface of that role, of package cql or of a
// registered API.
func HasRole(t reflect.Type, role Role) bool {
	if t.Implements(role(own)) {
		return true
	}
	for _, c := range foreignCodecs() {
		if i := role(c); i != nil && t.Implements(i) {
			return true
		}
	}
	return false
}
