// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of values and types.

// The reasons of a MarshalError or an UnmarshalError.
var (
	// ErrUnset means that UnsetValue is inside another value, or was marshaled outside of a statement.
	ErrUnset = errors.New("unset value where a value is needed")
	// ErrNull means that the Go type cannot hold a NULL, or that CQL does not allow one (in a vector or a collection).
	ErrNull = errors.New("NULL where a value is needed")
	// ErrDimension means that the number of elements differs from the dimension of a vector or from the length of a
	// tuple or Go array.
	ErrDimension = errors.New("wrong vector dimension")
	// ErrTrailing means that a cell contains bytes after its value.
	ErrTrailing = errors.New("trailing bytes")
	// ErrMissing means that a cell ends inside its value.
	ErrMissing = errors.New("missing bytes")
	// ErrRange means that the destination type cannot represent a number. Nothing is truncated.
	ErrRange = errors.New("value out of range")
	// ErrConversion means that a CQL type and a Go type have no conversion, or none for that value.
	ErrConversion = errors.New("no conversion between these types")
)

// A MarshalError means that a value could not be encoded. Err is the reason and often wraps one of the errors of this
// package.
type MarshalError struct {
	// bind marker or path of it, e.g. "embedding" or "tags[3]"; empty for a value marshaled outside of a statement
	Column string
	Type   TypeInfo // CQL type
	GoType string   // Go type, e.g. "[]float32"
	Err    error
}

func (e *MarshalError) Error() string {
	return codecMessage("marshal", "into", e.Column, e.Type, e.GoType, e.Err)
}

// Unwrap returns Err.
func (e *MarshalError) Unwrap() error { return e.Err }

// An UnmarshalError means that a cell could not be decoded. Err is the reason and often wraps one of the errors of this
// package.
type UnmarshalError struct {
	Column string   // result column; empty for a value unmarshaled outside of a result
	Type   TypeInfo // CQL type
	GoType string   // Go type of the destination, e.g. "*[]float32"
	Err    error
}

func (e *UnmarshalError) Error() string {
	return codecMessage("unmarshal", "from", e.Column, e.Type, e.GoType, e.Err)
}

// Unwrap returns Err.
func (e *UnmarshalError) Unwrap() error { return e.Err }

func codecMessage(verb, prep, column string, t TypeInfo, goType string, err error) string {
	if column != "" {
		column = fmt.Sprintf(" column %q", column)
	}
	cql := "unknown"
	if t != nil {
		cql = t.String()
	}
	return fmt.Sprintf("vecql: %s%s: %s %s %s: %s", verb, column, goType, prep, cql, unprefixed(err))
}

// A TypeError means that the text of a CQL type could not be parsed.
type TypeError struct {
	Text   string
	Offset int // in Text
	Reason string
}

func (e *TypeError) Error() string {
	text := e.Text
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return fmt.Sprintf("vecql: parse type %q: %s at offset %d", text, e.Reason, e.Offset)
}

// unprefixed returns the text of an error for the end of another one, which has the prefix already.
func unprefixed(err error) string {
	if err == nil {
		return "unknown"
	}
	return strings.TrimPrefix(err.Error(), "vecql: ")
}
