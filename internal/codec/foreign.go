// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/cql"
)

// Values that encode and decode themselves: by the interfaces of package cql, or of another API. The methods of
// gocql's interfaces take gocql's TypeInfo, so that types with these methods do not implement the interfaces of
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
			typeRoles.Store(new(sync.Map))
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

// typeRoles holds the roles of types: *sync.Map of reflect.Type to roles. Asking a type for its methods costs a
// microsecond. Registration replaces the map.
var typeRoles atomic.Pointer[sync.Map]

// roles are the codec interfaces, of package cql or of a registered API, that a type implements.
type roles struct {
	own    bool    // t or *t implements any
	itself [4]bool // t itself implements the interface of that Role
}

func init() { typeRoles.Store(new(sync.Map)) }

// rolesOf returns the roles of t.
func rolesOf(t reflect.Type) roles {
	known := typeRoles.Load()
	if r, ok := known.Load(t); ok {
		return r.(roles)
	}
	var r roles
	for _, c := range append(foreignCodecs(), own) {
		for role, i := range [4]reflect.Type{c.Marshaler, c.Unmarshaler, c.UDTMarshaler, c.UDTUnmarshaler} {
			if i == nil {
				continue
			}
			r.itself[role] = r.itself[role] || t.Implements(i)
			r.own = r.own || r.itself[role] || reflect.PointerTo(t).Implements(i)
		}
	}
	known.Store(t, r)
	return r
}

// HasOwnCodec reports whether t or *t implements one of the codec interfaces.
func HasOwnCodec(t reflect.Type) bool { return rolesOf(t).own }

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
type Role int

// The roles.
const (
	RoleMarshaler Role = iota
	RoleUnmarshaler
	RoleUDTMarshaler
	RoleUDTUnmarshaler
)

// own describes the interfaces of package cql.
var own = ForeignCodec{
	Marshaler: marshalerType, Unmarshaler: unmarshalerType,
	UDTMarshaler: udtMarshalerType, UDTUnmarshaler: udtUnmarshalerType,
}

// HasRole reports whether t itself, not only *t, implements the interface of that role, of package cql or of a
// registered API.
func HasRole(t reflect.Type, role Role) bool { return rolesOf(t).itself[role] }

// A Foreign is another API. As the only destination of Iter.Scan it makes the Iter decode its rows as the API does, and
// that call reads no row.
type Foreign struct{ Dialect ForeignDialect }

// A ForeignDialect encodes values and decodes cells of another API.
type ForeignDialect interface {
	// Same reports whether the driver encodes v as info as the API does.
	Same(info cql.TypeInfo, v any) bool
	// Marshal returns the content of a cell. nil is NULL.
	Marshal(info cql.TypeInfo, v any) ([]byte, error)
	// ScanPlan returns the plan for destinations of the type of dest.
	ScanPlan(info cql.TypeInfo, dest any) ScanPlan
}

// ForeignValues as the only value of a statement are its values, which another API encodes.
type ForeignValues struct {
	Values []any
	API    *Foreign
}

// ValuesOf returns the values of a statement, those inside ForeignValues with their API. nil means the driver.
func ValuesOf(values []any) ([]any, *Foreign) {
	if len(values) == 1 {
		if f, ok := values[0].(*ForeignValues); ok {
			return f.Values, f.API
		}
	}
	return values, nil
}

// AppendCell appends v as a whole cell.
func AppendCell(dst []byte, info cql.TypeInfo, v any) ([]byte, error) {
	return appendCell(dst, info, v)
}

// AppendContent appends a cell with the content b; nil is NULL.
func AppendContent(dst, b []byte) ([]byte, error) { return appendContent(dst, b) }
