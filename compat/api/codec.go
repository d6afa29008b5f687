// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"reflect"

	"github.com/vecql/vecql/compat"
	"github.com/vecql/vecql/cql"
)

// Values that encode and decode themselves. T is a module's TypeInfo.

// A Marshaler is a value that encodes itself.
type Marshaler[T any] interface {
	MarshalCQL(info T) ([]byte, error)
}

// An Unmarshaler is a destination that decodes itself. It must copy the bytes that it keeps.
type Unmarshaler[T any] interface {
	UnmarshalCQL(info T, data []byte) error
}

// A UDTMarshaler is a value of a user-defined type that encodes itself field by field.
type UDTMarshaler[T any] interface {
	MarshalUDT(name string, info T) ([]byte, error)
}

// A UDTUnmarshaler is a destination for a user-defined type that decodes itself field by field.
type UDTUnmarshaler[T any] interface {
	UnmarshalUDT(name string, info T, data []byte) error
}

// RegisterCodec makes values that implement the interfaces above encode and decode themselves at every depth. from
// returns the module's TypeInfo of a CQL type.
func RegisterCodec[T any](from func(cql.TypeInfo) T) {
	compat.RegisterCodec(compat.Codec{
		Marshaler:      reflect.TypeFor[Marshaler[T]](),
		Unmarshaler:    reflect.TypeFor[Unmarshaler[T]](),
		UDTMarshaler:   reflect.TypeFor[UDTMarshaler[T]](),
		UDTUnmarshaler: reflect.TypeFor[UDTUnmarshaler[T]](),
		Marshal: func(v any, info cql.TypeInfo) ([]byte, error) {
			data, err := v.(Marshaler[T]).MarshalCQL(from(info))
			return data, FromProgram(err)
		},
		Unmarshal: func(v any, info cql.TypeInfo, data []byte) error {
			return FromProgram(v.(Unmarshaler[T]).UnmarshalCQL(from(info), data))
		},
		MarshalUDT: func(v any, name string, info cql.TypeInfo) ([]byte, error) {
			data, err := v.(UDTMarshaler[T]).MarshalUDT(name, from(info))
			return data, FromProgram(err)
		},
		UnmarshalUDT: func(v any, name string, info cql.TypeInfo, data []byte) error {
			return FromProgram(v.(UDTUnmarshaler[T]).UnmarshalUDT(name, from(info), data))
		},
	})
}

// A MarshalError means that a value could not be encoded, in v1.7 and v2.
type MarshalError string

func (m MarshalError) Error() string { return string(m) }

// An UnmarshalError means that a cell could not be decoded, in v1.7 and v2.
type UnmarshalError string

func (m UnmarshalError) Error() string { return string(m) }
