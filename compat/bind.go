// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"math"
	"net"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Values of statements. Their CQL types are not known yet, so that the Go value alone decides whether the driver
// encodes it as gocql does.

// bound is an element of a value that encodes itself in a dialect.
type bound struct {
	d     *Dialect
	value any
}

// MarshalCQL implements cql.Marshaler.
func (b bound) MarshalCQL(info cql.TypeInfo) ([]byte, error) { return b.d.Marshal(info, b.value) }

// Same implements codec.ForeignDialect.
func (d *Dialect) Same(info cql.TypeInfo, v any) bool { return d.bindsAlike(v) || d.sameCell(info, v) }

// secondsOfDates is the end of the dates, in seconds since 1970: days are 32 bits, and 1970 is in the middle.
const secondsOfDates = (1 << 31) * 24 * 60 * 60

// sameCell reports whether the driver encodes v for info as the API does.
func (d *Dialect) sameCell(info cql.TypeInfo, v any) bool {
	typ, native := info.(cql.NativeType)
	switch v := v.(type) {
	case int64:
		return native && cql.Type(typ) != cql.TypeDate && d.nativeAlike(cql.Type(typ), reflect.TypeFor[int64]())
	case int32:
		return native && cql.Type(typ) != cql.TypeDate && d.nativeAlike(cql.Type(typ), reflect.TypeFor[int32]())
	case time.Time:
		if native && cql.Type(typ) == cql.TypeDate {
			return uint64(v.Unix()) < secondsOfDates // not before 1970: see encodeDate
		}
		return native && cql.Type(typ) == cql.TypeTimestamp && !v.IsZero()
	case []byte:
		if native && isTextType(cql.Type(typ)) {
			return len(v) > 0
		}
	case cql.UUID:
		return native && d.nativeAlike(cql.Type(typ), reflect.TypeFor[cql.UUID]())
	}
	t := reflect.TypeOf(v)
	return d.encodesAlike(info, t) && !codec.HasOwnCodec(t)
}

// Bind returns values for a statement: values itself if the driver encodes each value as the API does, else values with
// the dialect as their encoder.
func (d *Dialect) Bind(values []any) []any {
	if !slices.ContainsFunc(values, func(v any) bool { return !d.bindsAlike(v) }) {
		return values
	}
	foreign := &struct {
		codec.ForeignValues
		only [1]any
	}{ForeignValues: codec.ForeignValues{Values: values, API: &d.foreign}} // one allocation
	foreign.only[0] = &foreign.ForeignValues
	return foreign.only[:]
}

// Values hold the values of a query in the form that statements of the driver take, as a part of the query. The zero
// Values have none. A copy shares that form with the original until Own is called.
type Values struct {
	foreign codec.ForeignValues
	only    [1]any // &foreign
}

// Init sets the dialect and the values.
func (v *Values) Init(d *Dialect, values []any) {
	v.foreign = codec.ForeignValues{Values: values, API: &d.foreign}
	v.Own()
}

// Own makes a copy independent of the original.
func (v *Values) Own() { v.only[0] = &v.foreign }

// Set replaces the values.
func (v *Values) Set(values []any) { v.foreign.Values = values }

// Get returns the values.
func (v *Values) Get() []any { return v.foreign.Values }

// Bind returns the values for a statement, with the dialect as their encoder. They are valid until Set.
func (v *Values) Bind() []any {
	switch {
	case len(v.foreign.Values) == 0:
		return nil
	case codec.DataWord(v.only[0]) != unsafe.Pointer(&v.foreign): // a copy that the program has made
		c := *v
		c.Own()
		return c.only[:]
	}
	return v.only[:]
}

// bindsAlike reports whether the driver and the API encode v equally, for each CQL type to which the API converts v.
func (d *Dialect) bindsAlike(v any) bool {
	switch v := v.(type) {
	case nil, bool, int, int8, int16, float32, float64, cql.Duration, cql.Unset, []bool, []int, []float32, []float64:
		return true
	case string:
		return d.textAlike(v)
	case []string:
		return !slices.ContainsFunc(v, func(s string) bool { return !d.textAlike(s) })
	case []byte:
		return !d.fork || len(v) != 0 && len(v) != net.IPv4len && len(v) != net.IPv6len // addresses: see encodeFork
	case cql.UUID, [16]byte, []cql.UUID:
		return !d.fork // addresses
	case []int64:
		return !slices.ContainsFunc(v, func(n int64) bool { return !d.longAlike(n) })
	case []int32:
		return !d.fork // days of dates
	case int64:
		return d.longAlike(v)
	case int32:
		return !d.fork // days of a date
	case uint8:
		return v <= math.MaxInt8 // of a tinyint: see encodeUnsigned
	case uint16:
		return v <= math.MaxInt8
	case uint32:
		return v <= math.MaxInt8 && !d.fork // days of a date
	case uint64:
		return v <= math.MaxInt8
	case uint:
		return v <= math.MaxInt8
	case net.IP:
		return len(v) > 0
	case *string:
		return v == nil || *v != ""
	case *int64:
		return v == nil || d.longAlike(*v)
	case *int:
		return true
	case *int32:
		return !d.fork || v == nil
	case *bool:
		return true
	case *float64:
		return true
	case *cql.UUID:
		return true
	case cql.Named:
		return d.bindsAlike(v.Value)
	}
	return codec.HasRole(reflect.TypeOf(v), codec.RoleMarshaler)
}

// textAlike reports whether the driver encodes text as the API does: not the empty text of an inet or a date, in the
// fork of any type but text, and not a decimal of the fork.
func (d *Dialect) textAlike(text string) bool { return text != "" && !(d.fork && isForkDecimal(text)) }

// longAlike reports whether the driver encodes n as the API does: not in a date unless n is a midnight, because the
// driver refuses a time of day (encodeDate), and not in a duration of the fork (encodeFork).
func (d *Dialect) longAlike(n int64) bool {
	return n >= 0 && n%millisecondsOfDay == 0 && (!d.fork || n < nanosecondsOfDay)
}
