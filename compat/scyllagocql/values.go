// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"bytes"

	"github.com/vecql/vecql/compat"
	api "github.com/vecql/vecql/compat/api"
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

// ParseUUIDMust is ParseUUID but panics on an error.
func ParseUUIDMust(input string) UUID { return api.Must(ParseUUID(input)) }
