// SPDX-License-Identifier: Apache-2.0

package valuetest

import (
	"math"
	"strconv"
	"time"

	"github.com/vecql/vecql/cql"
)

// Dates, times, timestamps and durations.

const (
	secondsPerDay = 24 * 60 * 60
	millisPerDay  = 1000 * secondsPerDay
)

// date returns a value of type date, days after 1970-01-01.
func date(literal string, days int64) Value {
	midnight := time.Unix(days*secondsPerDay, 0).UTC()
	v := Value{Type: "date", Literal: literal, Go: []any{
		midnight, days * millisPerDay, &midnight,
		cql.NullOf(midnight),
	}}
	if y := midnight.Year(); y >= 0 && y <= 9999 {
		v.Go = append(v.Go, midnight.Format(time.DateOnly))
	}
	return v
}

// clock returns a value of type time.
func clock(literal string, nanos int64) Value {
	d := time.Duration(nanos)
	return Value{Type: "time", Literal: literal, Go: []any{d, nanos, &d, cql.NullOf(d)}}
}

// timestamp returns a value of type timestamp.
func timestamp(literal string, millis int64) Value {
	v := Value{Type: "timestamp", Literal: literal, Go: []any{millis, &millis, cql.NullOf(millis)}}
	if t := time.UnixMilli(millis).UTC(); t.UnixMilli() == millis {
		v.Go = append(v.Go, t, &t, cql.NullOf(t))
	}
	return v
}

func timestampOf(millis int64) Value { return timestamp(strconv.FormatInt(millis, 10), millis) }

// duration returns a value of type duration.
func duration(literal string, months, days int32, nanos int64) Value {
	d := cql.Duration{Months: months, Days: days, Nanoseconds: nanos}
	v := Value{Type: "duration", Literal: literal, Go: []any{d, &d, cql.NullOf(d), d.String()}}
	if months == 0 && days == 0 {
		v.Go = append(v.Go, time.Duration(nanos))
	}
	return v
}

var times = []Value{
	date("'1970-01-01'", 0), date("'1969-12-31'", -1), date("'2024-02-29'", 19782), date("'1900-02-28'", -25509),
	date("'0001-01-01'", -719162), date("'0000-01-01'", -719528), date("'-0001-12-31'", -719529),
	date("'-0044-03-15'", -735525), date("'9999-12-31'", 2932896), date("'+10000-01-01'", 2932897),
	date("'+12345-06-07'", 3789548), date("'-5877641-06-23'", math.MinInt32), date("'+5881580-07-11'",
		math.MaxInt32),
	date("0", math.MinInt32), date("2147483648", 0), date("4294967295", math.MaxInt32), date("2147483647", -1),
	date("'2147483648'", 0),
	{Type: "date", Literal: "'2024-02-30'"},
	{Type: "date", Literal: "'10000-01-01'"},
	{Type: "date", Literal: "'20240101'"},
	{Type: "date", Literal: "'2024-01-01T00:00:00Z'"},
	{Type: "date", Literal: "-1"},
	{Type: "date", Literal: "4294967296"},
	clock("'00:00:00'", 0), clock("'23:59:59.999999999'", 86399999999999), clock("'00:00:00.000000001'", 1),
	clock("'12:34:56.789'", 45296789000000), clock("86399999999999", 86399999999999), clock("0", 0),
	clock("'1:2:3'", 3723000000000),
	{Type: "time", Literal: "'24:00:00'"},
	{Type: "time", Literal: "86400000000000"},
	{Type: "time", Literal: "-1"},
	timestampOf(0), timestampOf(-1), timestampOf(1), timestampOf(math.MaxInt64), timestampOf(math.MinInt64),
	timestampOf(253402300799999), timestampOf(253402300800000), timestampOf(-62167219200000),
	timestampOf(-62167219200001),
	timestampOf(-62135596800000), timestampOf(-62135596800001), timestampOf(1709210096789),
	timestamp("'1970-01-01 00:00:00+0000'", 0), timestamp("'9999-12-31 23:59:59.999+0000'", 253402300799999),
	timestamp("'2024-02-29T12:34:56.789Z'", 1709210096789), timestamp("'2024-02-29 12:34:56.789+0530'",
		1709190296789),
	timestamp("'0001-01-01T00:00:00.000Z'", -62135596800000),
	duration("1y2mo3w4d5h6m7s8ms9us10ns", 14, 25, 18367008009010), duration("0ns", 0, 0, 0), duration("1ns", 0,
		0, 1),
	duration("-1ns", 0, 0, -1), duration("-1mo", -1, 0, 0), duration("-1y2mo3d4h", -14, -3, -14400000000000),
	duration("1mo", 1, 0, 0), duration("1d", 0, 1, 0), duration("24h", 0, 0, 86400000000000), duration("1w", 0,
		7, 0),
	duration("2147483647mo2147483647d9223372036854775807ns", math.MaxInt32, math.MaxInt32, math.MaxInt64),
	duration("-2147483647mo2147483647d9223372036854775807ns", -math.MaxInt32, -math.MaxInt32, -math.MaxInt64),
	duration("63ns", 0, 0, 63), duration("64ns", 0, 0, 64), duration("-64ns", 0, 0, -64), duration("-65ns", 0, 0,
		-65),
	duration("P1Y2M3DT4H5M6S", 14, 3, 14706000000000), duration("P2W", 0, 14, 0), duration("1H", 0, 0,
		3600000000000),
	{Type: "duration", Literal: "-2147483648mo"},
	{
		Type: "duration", Literal: "blob_as_duration(0xf0fffffffff0ffffffffffffffffffffffffff)", Raw: true,
		Go: []any{cql.Duration{Months: math.MinInt32, Days: math.MinInt32, Nanoseconds: math.MinInt64}},
	},
	{Type: "duration", Literal: "1y1y"},
	{Type: "duration", Literal: "1d1y"},
	{Type: "duration", Literal: "1mo2mo"},
}
