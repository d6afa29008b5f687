// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"reflect"
	"sync/atomic"

	"github.com/vecql/vecql/cql"
)

// Codec interfaces of other APIs. The methods of gocql's interfaces take gocql's TypeInfo, so that a type with these
// methods does not implement the interfaces of package cql.

// A ForeignCodec describes the codec interfaces of another API, whose methods take that API's TypeInfo. nil means none.
type ForeignCodec struct {
	// interface types
	Marshaler, Unmarshaler, UDTMarshaler, UDTUnmarshaler reflect.Type
	// The functions call the method of v, which implements the interface of that name.
	Marshal      func(v any, info cql.TypeInfo) ([]byte, error)
	Unmarshal    func(v any, info cql.TypeInfo, data []byte) error
	MarshalUDT   func(v any, name string, info cql.TypeInfo) ([]byte, error)
	UnmarshalUDT func(v any, name string, info cql.TypeInfo, data []byte) error
}

// foreign holds the registered codecs. The slice is replaced, never changed.
var foreign atomic.Pointer[[]ForeignCodec]

// RegisterForeign makes values of types that implement the interfaces of c encode and decode themselves, at every
// depth. Call it before the first session: plans made before do not change.
func RegisterForeign(c ForeignCodec) {
	for {
		old := foreign.Load()
		var all []ForeignCodec
		if old != nil {
			all = append(all, *old...)
		}
		all = append(all, c)
		if foreign.CompareAndSwap(old, &all) {
			return
		}
	}
}
