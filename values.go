// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"database/sql/driver"
	"fmt"
	"strings"
)

// This file holds the Go values that stand for CQL values which have no Go type of their own. values_uuid.go holds UUID.

// Duration is a CQL duration (native_protocol_v5.spec, section 5.8). Months, days and nanoseconds are not convertible into each other
// and must have the same sign.
type Duration struct {
	Months      int32
	Days        int32
	Nanoseconds int64
}

// String returns the duration as CQL writes it, e.g. "1mo2d3h".
func (d Duration) String() string {
	if d == (Duration{}) {
		return "0ns"
	}
	var b strings.Builder
	months, days, nanos := uint64(abs(int64(d.Months))), uint64(abs(int64(d.Days))), uint64(abs(d.Nanoseconds))
	if d.Months < 0 || d.Days < 0 || d.Nanoseconds < 0 {
		b.WriteByte('-')
	}
	for _, p := range []struct {
		n    uint64
		unit string
	}{
		{months / 12, "y"},
		{months % 12, "mo"},
		{days, "d"},
		{nanos / 3600e9, "h"},
		{nanos / 60e9 % 60, "m"},
		{nanos / 1e9 % 60, "s"},
		{nanos / 1e6 % 1000, "ms"},
		{nanos / 1e3 % 1000, "us"},
		{nanos % 1000, "ns"},
	} {
		if p.n > 0 {
			fmt.Fprintf(&b, "%d%s", p.n, p.unit)
		}
	}
	return b.String()
}

// abs is right for the smallest int64 too, once its bits are taken as a uint64.
func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// unsetColumn is the type of UnsetValue.
type unsetColumn struct{}

// UnsetValue as a bound value leaves the column as it is on the server: neither written nor deleted (protocol v4 and later).
// It is not allowed in a partition key, nor inside a collection, tuple, UDT or vector.
var UnsetValue = unsetColumn{}

// Null is a value that may be NULL, for every Go type that V can be converted from and to. The zero value is NULL.
type Null[T any] struct {
	V     T
	Valid bool // false when NULL
}

// NullOf returns v, not NULL.
func NullOf[T any](v T) Null[T] { return Null[T]{V: v, Valid: true} }

// Ptr returns a pointer to a copy of the value, nil when NULL.
func (n Null[T]) Ptr() *T {
	if !n.Valid {
		return nil
	}
	return &n.V
}

// String implements fmt.Stringer.
func (n Null[T]) String() string {
	if !n.Valid {
		return "NULL"
	}
	return fmt.Sprint(n.V)
}

// nullable is what the codecs see of a Null[T], whatever T is.
type nullable interface {
	nullValue() (v any, valid bool) // the value to encode
	nullTarget() any                // *T, to decode into
	setValid(valid bool)            // false also clears the value
}

func (n Null[T]) nullValue() (any, bool) { return n.V, n.Valid }
func (n *Null[T]) nullTarget() any       { return &n.V }
func (n *Null[T]) setValid(valid bool) {
	if n.Valid = valid; !valid {
		var zero T
		n.V = zero
	}
}

var _ driver.Valuer = Null[int]{}

// Value implements database/sql/driver.Valuer.
func (n Null[T]) Value() (driver.Value, error) {
	if !n.Valid {
		return nil, nil
	}
	return driver.DefaultParameterConverter.ConvertValue(n.V)
}

// namedValue is a bound value with the name of its marker.
type namedValue struct {
	name  string
	value any
}

// NamedValue binds value to the marker :name of a statement.
func NamedValue(name string, value any) any { return namedValue{name: name, value: value} }
