// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"bytes"

	"github.com/vecql/vecql/compat"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// Go values of CQL types. Package compat has the conversions of this API.

// dialect is the meaning of values in this API.
var dialect = compat.Fork

// A DirectMarshal is the bytes of a cell of any type.
type DirectMarshal []byte

// MarshalCQL implements Marshaler.
func (m DirectMarshal) MarshalCQL(_ TypeInfo) ([]byte, error) { return m, nil }

// A DirectUnmarshal receives the bytes of a cell of any type. It is nil for NULL.
type DirectUnmarshal []byte

// UnmarshalCQL implements Unmarshaler.
func (d *DirectUnmarshal) UnmarshalCQL(_ TypeInfo, data []byte) error {
	*d = bytes.Clone(data)
	return nil
}

// A MarshalError means that a value could not be encoded.
type MarshalError struct {
	cause error
	msg   string
}

// Cause returns the cause, nil if it is unknown.
func (m MarshalError) Cause() error { return m.cause }

// Unwrap returns the cause.
func (m MarshalError) Unwrap() error { return m.cause }

func (m MarshalError) Error() string { return m.msg }

// An UnmarshalError means that a cell could not be decoded.
type UnmarshalError struct {
	cause error
	msg   string
}

// Cause returns the cause, nil if it is unknown.
func (m UnmarshalError) Cause() error { return m.cause }

// Unwrap returns the cause.
func (m UnmarshalError) Unwrap() error { return m.cause }

func (m UnmarshalError) Error() string { return m.msg }

// A Duration is a value of the CQL type duration.
type Duration = cql.Duration

// unsetColumn is the type of UnsetValue.
type unsetColumn = cql.Unset

// UnsetValue as a bound value leaves the column as it is on the server.
var UnsetValue = unsetColumn{}

// NamedValue binds value to the bind marker :name.
func NamedValue(name string, value any) any { return cql.NamedValue(name, value) }

// Marshal encodes value as a cell of the type info. It returns nil for NULL.
func Marshal(info TypeInfo, value any) ([]byte, error) {
	data, err := dialect.Marshal(toCQL(info), value)
	return data, plain(err)
}

// Unmarshal decodes a cell of the type info into value, a pointer. data is nil for NULL.
func Unmarshal(info TypeInfo, data []byte, value any) error {
	return plain(dialect.Unmarshal(toCQL(info), data, value))
}

// protoVersionOfValues is the version of the protocol that the TypeInfo of a method of the program has. The encoding of
// values is the same in versions 4 and 5.
const protoVersionOfValues = 4

// init registers the interfaces of values, so that those which encode and decode themselves do so at every depth.
func init() {
	api.RegisterCodec(func(info cql.TypeInfo) TypeInfo { return fromCQL(info, protoVersionOfValues) })
}
