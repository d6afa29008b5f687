// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"database/sql/driver"
	"fmt"
	"strings"
)

// Go values for CQL types without an equivalent in the standard library.

// A Duration is a CQL duration (native_protocol_v5.spec, section 5.8). Months, days and nanoseconds are not convertible
// into each other and must have the same sign.
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

// abs returns the absolute value of n. The result for the smallest int64 becomes right by conversion to uint64.
func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// Unset is the type of [UnsetValue].
type Unset struct{}

// UnsetValue as a bound value leaves the column unchanged on the server, neither written nor deleted (protocol v4 and
// later). It is not allowed in a partition key or inside a collection, tuple, UDT or vector.
var UnsetValue = Unset{}

// A Null is a value that may be NULL. Null[T] has the conversions of T. The zero value is NULL.
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

var _ driver.Valuer = Null[int]{}

// Value implements database/sql/driver.Valuer.
func (n Null[T]) Value() (driver.Value, error) {
	if !n.Valid {
		return nil, nil
	}
	return driver.DefaultParameterConverter.ConvertValue(n.V)
}

// A Named is a bound value with the name of its bind marker.
type Named struct {
	Name  string
	Value any
}

// NamedValue binds value to the bind marker :name of a statement.
func NamedValue(name string, value any) Named { return Named{Name: name, Value: value} }
