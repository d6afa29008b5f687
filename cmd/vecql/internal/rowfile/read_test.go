// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// field returns a field of a kind.
func fieldOf(name string, t column.Type, fields ...column.Field) column.Field {
	return column.Field{Name: name, Type: t, Nullable: true, Fields: fields}
}

func kindOf(k column.Kind) column.Type { return column.Type{Kind: k} }

// TestValues parses one value after the other, as CSV.
func TestValues(t *testing.T) {
	stamp := column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true}
	noon := column.Type{Kind: column.Time, Unit: column.Nanos}
	pair := []column.Field{fieldOf("key", kindOf(column.Int32)), fieldOf("value", kindOf(column.String))}
	for _, c := range []struct {
		field column.Field
		v     Values
		text  string
		want  string // printed value, or part of the error after !
	}{
		{fieldOf("c", kindOf(column.Bool)), Values{}, "Yes", "true"},
		{fieldOf("c", kindOf(column.Bool)), Values{True: "ja", False: "nein"}, "NEIN", "false"},
		{fieldOf("c", kindOf(column.Bool)), Values{}, "maybe", `!"maybe" is not a value of type bool`},
		{fieldOf("c", kindOf(column.Int8)), Values{}, "-128", "-128"},
		{fieldOf("c", kindOf(column.Int8)), Values{}, "128", `!"128" does not fit type int8: out of range`},
		{fieldOf("c", kindOf(column.Int32)), Values{}, "1.5", "!not a value"},
		{fieldOf("c", kindOf(column.Int32)), Values{Thousands: '.', DecimalPoint: ','}, "1.234.567", "1234567"},
		{fieldOf("c", kindOf(column.Int64)), Values{}, "9223372036854775808", "!out of range"},
		{fieldOf("c", kindOf(column.Float32)), Values{DecimalPoint: ','}, "1,5", "1.5"},
		{fieldOf("c", kindOf(column.Float32)), Values{DecimalPoint: ','}, "1.5", "!not a value"},
		{fieldOf("c", kindOf(column.Float32)), Values{}, "1e39", "!out of range"},
		{fieldOf("c", kindOf(column.Float64)), Values{}, "Infinity", "+Inf"},
		{fieldOf("c", kindOf(column.Float64)), Values{}, "1_0", `!"1_0" is not a value of type float64`},
		{fieldOf("c", kindOf(column.Float64)), Values{}, "2024_01", "!not a value"},
		{fieldOf("c", kindOf(column.Float64)), Values{}, "0x1p2", "!not a value"},
		{fieldOf("c", kindOf(column.Float32)), Values{}, "1e5_0", "!not a value"},
		{fieldOf("c", kindOf(column.Float64)), Values{}, "Inf", "!not a value"},
		{fieldOf("c", kindOf(column.Float64)), Values{}, "+1", "!not a value"},
		{fieldOf("c", kindOf(column.Float64)), Values{}, ".5", "!not a value"},
		{fieldOf("c", kindOf(column.Float64)), Values{}, "-iNFinity", "-Inf"},
		{fieldOf("c", kindOf(column.Int32)), Values{}, "1_0", "!not a value"},
		{fieldOf("c", kindOf(column.Int32)), Values{}, "+1", "!not a value"},
		{fieldOf("c", kindOf(column.Varint)), Values{}, "+1", "!not a value"},
		{fieldOf("c", kindOf(column.Varint)), Values{}, "1_0", "!not a value"},
		{fieldOf("c", kindOf(column.Decimal)), Values{}, "+1.5", "!not a value"},
		{fieldOf("c", kindOf(column.Decimal)), Values{}, ".5", "!not a value"},
		{fieldOf("c", kindOf(column.Decimal)), Values{}, "1_0", "!not a value"},
		{fieldOf("c", kindOf(column.Decimal)), Values{}, "1e9999999999", "!not a value"},
		{fieldOf("c", kindOf(column.Int32)), Values{Thousands: ','}, "1,234,567", "1234567"},
		{fieldOf("c", kindOf(column.Int32)), Values{Thousands: ','}, "1234567", "1234567"},
		{fieldOf("c", kindOf(column.Int32)), Values{Thousands: ','}, "-12,345", "-12345"},
		{fieldOf("c", kindOf(column.Int32)), Values{Thousands: ','}, "12,34", "!groups of digits have three"},
		{fieldOf("c", kindOf(column.Int32)), Values{Thousands: ','}, "1234,567", "!groups of digits have three"},
		{fieldOf("c", kindOf(column.Int32)), Values{Thousands: ','}, ",123", "!groups of digits have three"},
		{fieldOf("c", kindOf(column.Int32)), Values{Thousands: ','}, "1,,234", "!groups of digits have three"},
		{fieldOf("c", kindOf(column.Int32)), Values{Thousands: ','}, "1,234,", "!groups of digits have three"},
		{fieldOf("c", kindOf(column.Int32)), Values{Thousands: ','}, "-,123", "!groups of digits have three"},
		{fieldOf("c", kindOf(column.Int32)), Values{Thousands: ','}, "1,-23", "!groups of digits have three"},
		{fieldOf("c", kindOf(column.Float64)), Values{Thousands: ','}, "1,234.5", "1234.5"},
		{fieldOf("c", kindOf(column.Float64)), Values{Thousands: ','}, "-1,234.5e-3", "-1.2345"},
		{fieldOf("c", kindOf(column.Float64)), Values{Thousands: ','}, "1.234,5", "!not a value"},
		{fieldOf("c", kindOf(column.Float64)), Values{Thousands: ','}, "1.234,567", "!not a value"},
		{fieldOf("c", kindOf(column.Float64)), Values{Thousands: ','}, "1e1,000", "!not a value"},
		{fieldOf("c", kindOf(column.Float64)), Values{Thousands: ','}, "NaN", "NaN"},
		{fieldOf("c", kindOf(column.Float64)), Values{Thousands: ','}, "-Infinity", "-Inf"},
		{fieldOf("c", kindOf(column.Float64)), Values{Thousands: '.', DecimalPoint: ','}, "1,234.5", "!not a value"},
		{fieldOf("c", kindOf(column.Float64)), Values{Thousands: '.', DecimalPoint: ','}, "1.234.567,5", "1.2345675e+06"},
		{fieldOf("c", kindOf(column.Float64)), Values{Thousands: '.', DecimalPoint: ','}, "1.5", "!groups of digits have three"},
		{fieldOf("c", kindOf(column.Float64)), Values{Thousands: '.', DecimalPoint: ','}, "1,5,5", "!not a value"},
		{fieldOf("c", kindOf(column.Float64)), Values{DecimalPoint: ','}, "1,5,5", "!not a value"},
		{fieldOf("c", kindOf(column.Float64)), Values{DecimalPoint: ','}, "1,5.5", "!not a value"},
		{fieldOf("c", kindOf(column.Varint)), Values{Thousands: ' '}, "12 345 678 901 234 567 890", "12345678901234567890"},
		{fieldOf("c", kindOf(column.Varint)), Values{Thousands: ' '}, "12 34", "!groups of digits have three"},
		{fieldOf("c", kindOf(column.Decimal)), Values{Thousands: ','}, "12,34.5", "!groups of digits have three"},
		{fieldOf("c", kindOf(column.Decimal)), Values{Thousands: ','}, "-1,234.50", "-1234.50"},
		{fieldOf("c", kindOf(column.Inet)), Values{}, "::ffff:192.0.2.7", "192.0.2.7"},
		{fieldOf("c", kindOf(column.Inet)), Values{}, "1.2.3", "!not a value"},
		{fieldOf("c", kindOf(column.Inet)), Values{}, "fe80::1%eth0", "!not a value"},
		{fieldOf("c", kindOf(column.UUID)), Values{}, "123e4567-e89b12d3-a456-42661-4174000", "!not a value"},
		{fieldOf("c", kindOf(column.UUID)), Values{}, "{23e4567-e89b-12d3-a456-426614174000}", "!not a value"},
		{fieldOf("c", kindOf(column.Duration)), Values{}, "1y1y", "!not a value"},
		{fieldOf("c", kindOf(column.Duration)), Values{}, "1d1y", "!not a value"},
		{fieldOf("c", kindOf(column.Duration)), Values{}, "-P1Y2M", "-1y2mo"},
		{fieldOf("c", kindOf(column.Duration)), Values{}, "PT1H", "1h"},
		{fieldOf("c", kindOf(column.Duration)), Values{}, "1H30M", "1h30m"},
		{fieldOf("c", kindOf(column.Duration)), Values{}, "1.5h", "!not a value"},
		{fieldOf("c", kindOf(column.Duration)), Values{}, "2147483648mo", "!out of range"},
		{fieldOf("c", column.Type{Kind: column.Fixed, Width: 3}), Values{}, "0xcafe", "!2 bytes, want 3"},
		{fieldOf("c", column.Type{Kind: column.Fixed, Width: 2}), Values{}, "0xcafe00", "!3 bytes, want 2"},
		{fieldOf("c", column.Type{Kind: column.Fixed, Width: 2}), Values{}, "0xcafe", "[202 254]"},
		{fieldOf("c", kindOf(column.Binary)), Values{}, "0xcafg", "!not a value"},
		{fieldOf("c", kindOf(column.Binary)), Values{Base64: true}, "yv4", "!not a value"},
		{fieldOf("c", kindOf(column.Binary)), Values{Base64: true}, "yv5=", "!not a value"},
		{fieldOf("c", kindOf(column.Decimal)), Values{}, "12345678901234567890.5", "12345678901234567890.5"},
		{fieldOf("c", kindOf(column.Decimal)), Values{DecimalPoint: ',', Thousands: '.'}, "1.000,5", "1000.5"},
		{fieldOf("c", kindOf(column.Varint)), Values{}, "x", "!not a value of type varint"},
		{fieldOf("c", kindOf(column.Inet)), Values{}, "::1", "::1"},
		{fieldOf("c", kindOf(column.Duration)), Values{}, "1mo2d3ns", "1mo2d3ns"},
		{fieldOf("c", kindOf(column.UUID)), Values{}, "123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"},
		{fieldOf("c", kindOf(column.UUID)), Values{}, "123e4567", "!not a value of type uuid"},
		{fieldOf("c", kindOf(column.Binary)), Values{}, "0xCAFE", "[202 254]"},
		{fieldOf("c", kindOf(column.Binary)), Values{}, "cafe", "!a blob begins with 0x"},
		{fieldOf("c", kindOf(column.Binary)), Values{}, "0xcaf", "!not a value"},
		{fieldOf("c", kindOf(column.Binary)), Values{Base64: true}, "yv4=", "[202 254]"},
		{fieldOf("c", kindOf(column.Date)), Values{}, "2024-02-29", "2024-02-29 00:00:00 +0000 UTC"},
		{fieldOf("c", kindOf(column.Date)), Values{}, "2023-02-29", "!not a value"},
		{fieldOf("c", kindOf(column.Date)), Values{Date: "02.01.06"}, "29.02.24", "2024-02-29 00:00:00 +0000 UTC"},
		{fieldOf("c", kindOf(column.Date)), Values{}, "20240101", "!--date-format epoch reads days since 1970-01-01, --date-format 20060102 such digits"},
		{fieldOf("c", kindOf(column.Date)), Values{}, "19782", "!a date has the form 2006-01-02"},
		{fieldOf("c", kindOf(column.Date)), Values{Date: Epoch}, "-1", "1969-12-31 00:00:00 +0000 UTC"},
		{fieldOf("c", kindOf(column.Date)), Values{Date: Epoch}, "2147483648", "!out of range"},
		{fieldOf("c", kindOf(column.Date)), Values{Date: Epoch}, "1969-12-31", "!not a value"},
		{fieldOf("c", kindOf(column.Date)), Values{Date: "20060102"}, "20240101", "2024-01-01 00:00:00 +0000 UTC"},
		{fieldOf("c", kindOf(column.Date)), Values{Date: "20060102"}, "+10000-01-01", "10000-01-01 00:00:00 +0000 UTC"},
		{fieldOf("c", kindOf(column.Date)), Values{Date: "20060102"}, "2024-01-01", "!not a value"},
		{fieldOf("c", kindOf(column.Date)), Values{}, "-0044-03-15", "-0044-03-15 00:00:00 +0000 UTC"},
		{fieldOf("c", kindOf(column.Date)), Values{}, "+10000-01-01", "10000-01-01 00:00:00 +0000 UTC"},
		{fieldOf("c", kindOf(column.Date)), Values{}, "10000-01-01", "!not a value"},
		{fieldOf("c", kindOf(column.Date)), Values{}, "+5881580-07-12", "!out of range"},
		{fieldOf("c", noon), Values{}, "120000", "!--time-format epoch reads nanoseconds since midnight, --time-format 150405 such digits"},
		{fieldOf("c", noon), Values{Time: Epoch}, "120000", "120µs"},
		{fieldOf("c", noon), Values{Time: "150405"}, "120000", "12h0m0s"},
		{fieldOf("c", noon), Values{Time: Epoch}, "12:00:00", "!not a value"},
		{fieldOf("c", stamp), Values{}, "20240101", "!--epoch-unit 1ms reads milliseconds since 1970, --timestamp-format 20060102 a date"},
		{fieldOf("c", stamp), Values{}, "20240101123059", "!--timestamp-format 20060102150405 a date"},
		{fieldOf("c", stamp), Values{EpochUnit: time.Millisecond}, "20240101", "1970-01-01 05:37:20.101 +0000 UTC"},
		{fieldOf("c", stamp), Values{Timestamp: Epoch}, "20240101", "1970-01-01 05:37:20.101 +0000 UTC"},
		{fieldOf("c", stamp), Values{}, "20241301", "1970-01-01 05:37:21.301 +0000 UTC"},
		{fieldOf("c", stamp), Values{Timestamp: "20060102"}, "20240101", "2024-01-01 00:00:00 +0000 UTC"},
		{fieldOf("c", stamp), Values{Timestamp: "20060102"}, "20241301", "!not a value"},
		{fieldOf("c", stamp), Values{Timestamp: "20060102"}, "253402300800000", "10000-01-01 00:00:00 +0000 UTC"},
		{fieldOf("c", stamp), Values{}, "-0044-03-15T00:00:00Z", "-0044-03-15 00:00:00 +0000 UTC"},
		{fieldOf("c", stamp), Values{}, "+10000-01-01 00:00:00.000Z", "10000-01-01 00:00:00 +0000 UTC"},
		{fieldOf("c", stamp), Values{}, "9223372036854775807", "292278994-08-17 07:12:55.807 +0000 UTC"},
		{fieldOf("c", stamp), Values{}, "9223372036854775808", "!not a value"},
		{fieldOf("c", stamp), Values{}, "+292278994-08-17T07:12:55.808Z", "!out of range"},
		{fieldOf("c", stamp), Values{}, "2024-01-01T12:30:45 CET", "!not a value"},
		{fieldOf("c", stamp), Values{}, "2024-01-01 12:30:45 UTC", "2024-01-01 12:30:45 +0000 UTC"},
		{fieldOf("c", noon), Values{}, "12:00:00.000000001", "12h0m0.000000001s"},
		{fieldOf("c", noon), Values{}, "24:00", "!not a value"},
		{fieldOf("c", noon), Values{}, "86400000000000", "!out of range"},
		{fieldOf("c", stamp), Values{}, "2024-02-29T12:00:00.5+01:00", "2024-02-29 11:00:00.5 +0000 UTC"},
		{fieldOf("c", stamp), Values{}, "2024-02-29 12:00:00.123+0000", "2024-02-29 12:00:00.123 +0000 UTC"},
		{fieldOf("c", stamp), Values{Zone: time.FixedZone("", -3600)}, "2024-02-29", "2024-02-29 01:00:00 +0000 UTC"},
		{fieldOf("c", stamp), Values{}, "1709208000500", "2024-02-29 12:00:00.5 +0000 UTC"},
		{fieldOf("c", stamp), Values{EpochUnit: time.Second}, "-1", "1969-12-31 23:59:59 +0000 UTC"},
		{fieldOf("c", stamp), Values{EpochUnit: time.Microsecond}, "1500", "!a part below ms"},
		{fieldOf("c", stamp), Values{EpochUnit: time.Hour}, "9223372036854775807", "!out of range"},
		{fieldOf("c", stamp), Values{}, "2024-02-29T12:00:00.0005Z", "!a part below ms"},
		{fieldOf("c", stamp), Values{Timestamp: "2006/01/02"}, "2024/02/29", "2024-02-29 00:00:00 +0000 UTC"},
		{fieldOf("c", column.VectorOf(column.Float32, 2)), Values{}, "[1, 2.5]", "[1 2.5]"},
		{fieldOf("c", column.VectorOf(column.Float32, 2)), Values{DecimalPoint: ','}, "[1, 2.5]", "[1 2.5]"},
		{fieldOf("c", column.VectorOf(column.Float32, 2)), Values{}, "[1]", "!dimension 1, want 2"},
		{fieldOf("c", column.VectorOf(column.Float32, 2)), Values{}, "[1, null]", `!element 1: "null" is not a value of type float32`},
		{fieldOf("c", column.VectorOf(column.Float32, 2)), Values{}, "[1, 2] 3", "!where the end is expected"},
		{fieldOf("c", column.VectorOf(column.Float32, 2)), Values{}, "[1, 2", "!it ends where a comma or ] is expected"},
		{fieldOf("c", kindOf(column.List), fieldOf("element", kindOf(column.String))), Values{}, `["a\u00e9", null, ""]`, "[aé <nil> ]"},
		{fieldOf("c", kindOf(column.List), fieldOf("element", kindOf(column.String))), Values{}, `["\ud800x`, "!a string has no end"},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `{"1": "a", "-2": "b"}`, "map[-2:b 1:a]"},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `[[1, "a"]]`, "map[1:a]"},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `{"x": "a"}`, `!"x" is not a value of type int32`},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `[[null, "a"]]`, "!a key is null"},
		{fieldOf("c", kindOf(column.Struct), pair...), Values{}, `{"value": "a"}`, "map[key:<nil> value:a]"},
		{fieldOf("c", kindOf(column.Struct), pair...), Values{}, `{"values": "a"}`, `!no field "values"`},
		{fieldOf("c", kindOf(column.Struct), pair...), Values{}, `{"key": 1, "key": 2}`, "!occurs twice"},
		{fieldOf("c", kindOf(column.Tuple), pair...), Values{}, `[1, "a"]`, "[1 a]"},
		{fieldOf("c", kindOf(column.Tuple), pair...), Values{}, `[1]`, "!1 fields of a tuple of 2"},
		{fieldOf("c", kindOf(column.Tuple), pair...), Values{}, `[1, "a", 3]`, "!more than 2 fields"},
		{fieldOf("c", stamp), Values{}, "+5", "!not a value"},
		{fieldOf("c", stamp), Values{}, "5-", "!not a value"},
		{fieldOf("c", stamp), Values{Timestamp: "2006", EpochUnit: time.Hour}, "9223372036854775807", "!out of range"},
		{fieldOf("c", kindOf(column.Date)), Values{Date: Epoch}, "+10000-01-01", "!not a value"},
		{fieldOf("c", kindOf(column.Date)), Values{Date: Epoch}, "+5", "!not a value"},
		{fieldOf("c", kindOf(column.Date)), Values{Date: "2006-01-02 15:04"}, "2024-02-29 00:00", "2024-02-29 00:00:00 +0000 UTC"},
		{fieldOf("c", kindOf(column.Date)), Values{Date: "2006-01-02 15:04"}, "2024-02-29 00:01", "!it has a time of day"},
		{fieldOf("c", kindOf(column.Date)), Values{Date: "2006-01-02 15:04:05.9"}, "2024-02-29 00:00:00.5", "!it has a time of day"},
		{fieldOf("c", column.VectorOf(column.Float32, 2)), Values{}, "1", `!where [ is expected`},
		{fieldOf("c", column.VectorOf(column.Float32, 2)), Values{DecimalPoint: ','}, `["1\u0001234", 2]`, "!is not a value of type float32"},
		{fieldOf("c", kindOf(column.List), fieldOf("element", kindOf(column.Int32))), Values{}, `1`, "!where [ is expected"},
		{fieldOf("c", kindOf(column.List), fieldOf("element", kindOf(column.Int32))), Values{}, `[1, "x"]`, `!element 1: "x" is not a value of type int32`},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `1`, "!where { or [ is expected"},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `[1]`, "!where [ is expected"},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `[["x", "a"]]`, `!"x" is not a value of type int32`},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `[[1 "a"]]`, "!where , is expected"},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `[[1, 2, 3]]`, "!where ] is expected"},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `[[1, [2]]]`, "!where a value is expected"},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `{1: "a"}`, `!invalid literal of CQL: "\"a\"}" where a value is expected`},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `{"1" "a"}`, "!where : is expected"},
		{fieldOf("c", kindOf(column.Map), pair...), Values{}, `{"1": [2]}`, "!where a value is expected"},
		{fieldOf("c", kindOf(column.Struct), pair...), Values{}, `1`, "!where { is expected"},
		{fieldOf("c", kindOf(column.Struct), pair...), Values{}, `{"key": "x"}`, `!field "key": "x" is not a value of type int32`},
		{fieldOf("c", kindOf(column.Struct), pair...), Values{}, `{1}`, "!where : is expected"},
		{fieldOf("c", kindOf(column.Tuple), pair...), Values{}, `1`, "!where [ is expected"},
		{fieldOf("c", kindOf(column.Tuple), pair...), Values{}, `["x", "a"]`, `!field 0: "x" is not a value of type int32`},
		{fieldOf("c", kindOf(column.Tuple), pair...), Values{}, `[null, null]`, "[<nil> <nil>]"},
		{fieldOf("c", kindOf(column.String)), Values{}, "\xff", "!not UTF-8"},
	} {
		v, err := c.v.withDefaults()
		require.NoError(t, err)
		record := `"` + strings.ReplaceAll(c.text, `"`, `""`) + "\"\n"
		o := Options{Fields: column.Schema{c.field}, Values: v, Dialect: Dialect{NoHeader: true}, Stdin: strings.NewReader(record), Format: CSV}
		in, err := Open(o, Stdin)
		require.NoError(t, err)
		for b, err := range in.Batches(t.Context()) {
			if part, fails := strings.CutPrefix(c.want, "!"); fails {
				var fault *RecordError
				require.ErrorAs(t, err, &fault, c.text)
				require.ErrorContains(t, err, part, c.text)
				require.ErrorContains(t, err, "-, line 1, column c: ")
				break
			}
			require.NoError(t, err, c.text)
			require.NoError(t, b.Check())
			require.Equal(t, c.want, fmt.Sprint(b.Columns[0].Value(0)), c.text)
		}
	}
}

// TestRejected goes on after records that are not rows, and numbers all records.
func TestRejected(t *testing.T) {
	fields := column.Schema{fieldOf("id", kindOf(column.Int32)), fieldOf("l", kindOf(column.List), fieldOf("element", kindOf(column.Int32)))}
	for name, text := range map[string]string{
		"x.csv":   "id,l,more\n1,[1],\nx,[2],\n3,\"[3,\n4]\",\n4,\"[4]\"x,\n5,\"[1,null,x]\",\n6,,\n7\n\"8",
		"x.jsonl": "{\"id\":1,\"l\":[1]}\n{\"id\":\"x\",\"l\":[2]}\n\n{\"l\":[3,4],\"id\":3}\n{\"id\":4,\n{\"l\":[1,null,\"x\"],\"id\":5}\n{\"id\":6,\"l\":null,\"more\":{\"a\":[\"}\"]}}\n{\"id\":7}\n[8]",
	} {
		for _, rows := range []int{1, 2, 100} {
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
			var faults []RecordError
			var got []string
			in, err := Open(Options{Fields: fields, BatchRows: rows, Records: true, Rejected: func(e *RecordError) error {
				faults = append(faults, *e)
				return nil
			}}, path)
			require.NoError(t, err)
			for b, err := range in.Batches(t.Context()) {
				require.NoError(t, err)
				require.NoError(t, b.Check())
				for i := range b.Rows {
					got = append(got, fmt.Sprint(b.Source.FirstRow+int64(i), b.Columns[0].Value(i), b.Columns[1].Value(i)))
				}
			}
			require.Equal(t, []string{"0 1 [1]", "2 3 [3 4]", "5 6 <nil>"}, got)
			var at []string
			for _, e := range faults {
				at = append(at, fmt.Sprint(e.Row, " ", e.Column))
			}
			require.Equal(t, map[string][]string{
				"x.csv": {"1 id", "3 ", "4 l", "6 ", "7 "}, "x.jsonl": {"1 id", "3 ", "4 l", "6 l", "7 "},
			}[name], at)
			require.Equal(t, map[string]int64{"x.csv": 3, "x.jsonl": 2}[name], faults[0].Line)
			require.Contains(t, []string{"x,[2],", `{"id":"x","l":[2]}`}, faults[0].Record)
		}
	}
}

// TestTypedText makes values from text in Parquet and Arrow, and rejects rows.
func TestTypedText(t *testing.T) {
	b := column.NewBatch(column.Strings("day", []string{"2024-02-29", "x", "1970-01-02", "y"}), column.Of("n", []int32{1, 2, 3, 4}))
	for _, name := range []string{"x.parquet", "x.arrow"} {
		path := filepath.Join(t.TempDir(), name)
		writeFile(t, path, WriterOptions{}, b)
		var faults []string
		fields := column.Schema{fieldOf("n", kindOf(column.Int64)), fieldOf("none", column.VectorOf(column.Float32, 2)), fieldOf("day", kindOf(column.Date))}
		in, err := Open(Options{Fields: fields, AllowMissing: true, Rejected: func(e *RecordError) error {
			faults = append(faults, e.Error()+": "+e.Record)
			return nil
		}}, path)
		require.NoError(t, err)
		var got []string
		for b, err := range in.Batches(t.Context()) {
			require.NoError(t, err)
			require.NoError(t, b.Check())
			got = append(got, fmt.Sprint(b.Source.FirstRow, b.Columns[0].Value(0), b.Columns[1].Value(0), b.Columns[2].Value(0)))
		}
		require.Equal(t, []string{"0 1 <nil> 2024-02-29 00:00:00 +0000 UTC", "2 3 <nil> 1970-01-02 00:00:00 +0000 UTC"}, got)
		require.Equal(t, path+`, row 1, column day: "x" is not a value of type date: {"day":"x","n":2}`, strings.ReplaceAll(faults[0], `{"n":2,"day":"x"}`, `{"day":"x","n":2}`))
		require.Len(t, faults, 2)
		in, err = Open(Options{Fields: fields}, path)
		require.NoError(t, err)
		for _, err := range in.Batches(t.Context()) {
			require.ErrorIs(t, err, ErrColumns)
			require.ErrorContains(t, err, `there is no column "none"; there are: day, n`)
		}
	}
}

// TestHeader has headers and objects that do not match the columns.
func TestHeader(t *testing.T) {
	id := column.Schema{fieldOf("id", kindOf(column.Int32))}
	for _, c := range []struct {
		o    Options
		text string
		want string // the rows, or an error after !
	}{
		{Options{Format: CSV}, "", "!not even a header"},
		{Options{Format: CSV}, "\ufeffid,b\n1,2\n", "map[b:2 id:1]"},
		{Options{Format: CSV, Fields: id}, "b\n1\n", `!there is no column "id"; there are: b`},
		{Options{Format: CSV, Fields: id}, "b,id\n1,2\n", "map[id:2]"},
		{Options{Format: CSV, Fields: id, RefuseExtra: true}, "b,id\n1,2\n", `!column "b" is not wanted`},
		{Options{Format: CSV, Fields: id, AllowMissing: true}, "b\n1\n", "map[id:<nil>]"},
		{Options{Format: CSV, Fields: id}, "id,id\n1,2\n", `!two fields have the name "id"`},
		{Options{Format: CSV, Fields: id, AllowMissing: true}, "b,id\n1\n", "map[id:<nil>]"},
		{Options{Format: CSV, Fields: id}, "b,id\n1\n", "!the record has 1 fields, the header 2"},
		{Options{Format: CSV, Fields: id, RefuseExtra: true}, "id\n1,2\n", "!the record has 2 fields, the header 1"},
		{Options{Format: CSV, Dialect: Dialect{NoHeader: true}}, "1\n", "!without a header"},
		{Options{Format: CSV, Dialect: Dialect{NoHeader: true, Columns: []string{"a", "id"}}, Fields: id}, "1,2\n", "map[id:2]"},
		{Options{Format: CSV, Dialect: Dialect{Columns: []string{"a", "id"}}, Fields: id}, "x,y\n1,2\n", "map[id:2]"},
		{Options{Format: CSV, Dialect: Dialect{SkipLines: 2, Comment: '#'}, Fields: id}, "\"junk\n\n#\"\nid\n#x\n1\n#", "map[id:1]"},
		{Options{Format: JSON}, `{"a":1,"b":[1, {"c":null}],"c":null}` + "\n" + `{"b":"x"}`, `map[a:1 b:[1, {"c":null}] c:<nil>] map[a:<nil> b:x c:<nil>]`},
		{Options{Format: JSON, Fields: id}, `{"a":1}`, "!column id: the object has no such member"},
		{Options{Format: JSON, Fields: id, AllowMissing: true}, `{"a":1}`, "map[id:<nil>]"},
		{Options{Format: JSON, Fields: id, RefuseExtra: true}, `{"id":1,"a":1}`, "!column a: no such column is wanted"},
		{Options{Format: JSON, Fields: id}, `{"id":1,"id":2}`, "!the member occurs twice"},
		{Options{Format: JSON, Fields: id}, `{"id":1} x`, "!where the end is expected"},
		{Options{Format: JSON, Fields: id}, `{"id":1,"x":tru}`, "!invalid JSON"},
		{Options{Format: Parquet}, "PAR1", "!"},
		{Options{Format: Parquet}, "id\n1\n", "!"},
		{Options{Format: Arrow}, "id\n1\n", "!read -: not Arrow IPC"},
	} {
		c.o.Stdin = strings.NewReader(c.text)
		in, err := Open(c.o, Stdin)
		require.NoError(t, err)
		var rows []string
		for b, err := range in.Batches(t.Context()) {
			if part, fails := strings.CutPrefix(c.want, "!"); fails {
				require.ErrorContains(t, err, part)
				c.want = ""
				break
			}
			require.NoError(t, err, c.text)
			for i := range b.Rows {
				row := map[string]any{}
				for k := range b.Columns {
					row[b.Columns[k].Name] = b.Columns[k].Value(i)
				}
				rows = append(rows, fmt.Sprint(row))
			}
		}
		require.Equal(t, c.want, strings.Join(rows, " "), c.text)
	}
}

// TestOpen has names of files.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.csv", "a.csv", "c.txt", "sub/d.csv.gz", "_meta.csv", ".x.csv", "empty/x"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte("id\n1\n"), 0o666))
	}
	names := func(patterns ...string) string {
		for i := range patterns {
			patterns[i] = filepath.Join(dir, patterns[i])
		}
		in, err := Open(Options{}, patterns...)
		if err != nil {
			return err.Error()
		}
		return strings.ReplaceAll(strings.Join(in.Files(), " "), dir+"/", "")
	}
	require.Equal(t, "b.csv a.csv", names("b.csv", "a.csv"))
	require.Equal(t, "a.csv b.csv c.txt", names("[abc].*"))
	require.Equal(t, "a.csv b.csv sub/d.csv.gz", names("."))
	require.Contains(t, names("a.csv", "a.*"), "a.csv is named twice")
	require.Contains(t, names("missing*.csv"), "no such file")
	require.Contains(t, names("empty"), "no file with a known extension")
	require.Equal(t, 2, readAll(t, Options{}, filepath.Join(dir, "[ab].csv")).Rows)
	_, err := Open(Options{Dialect: Dialect{Comma: '"'}}, Stdin)
	require.ErrorContains(t, err, "cannot separate or quote")
	in, err := Open(Options{Stdin: iotest.ErrReader(errors.New("the disk is gone"))}, Stdin)
	require.NoError(t, err)
	for _, err := range in.Batches(t.Context()) {
		require.ErrorContains(t, err, "read -: the disk is gone")
	}
}

func TestParseNames(t *testing.T) {
	for _, f := range []Format{0, Parquet, CSV, JSON, Arrow} {
		got, err := ParseFormat(strings.ToUpper(f.String()))
		require.NoError(t, err)
		require.Equal(t, f, got)
	}
	format, err := ParseFormat("xml")
	require.Zero(t, format)
	require.ErrorContains(t, err, `unknown format "xml"`)
	for name, want := range map[string]Compression{"": Plain, "none": Plain, "gzip": Gzip, "gz": Gzip, "GZ": Gzip, "ZSTD": Zstd, "zst": Zstd} {
		got, err := ParseCompression(name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	compression, err := ParseCompression("lzo")
	require.Zero(t, compression)
	require.ErrorContains(t, err, `unknown compression "lzo"`)
	require.Equal(t, ".json.zst", Extension(JSON, Zstd))
	format, compression = ByName("dir.csv/ITEMS.JSONL.GZ")
	require.Equal(t, []any{JSON, Gzip}, []any{format, compression})
	format, compression = ByName("items.gz/x")
	require.Equal(t, []any{Format(0), Plain}, []any{format, compression})
	require.Equal(t, ".parquet", Extension(Parquet, Zstd))
}

// splitAll returns the fields of all records, read in pieces.
func splitAll(t testing.TB, text []byte, r io.Reader) (records [][]string, fault error) {
	d, err := Dialect{NoHeader: true, Columns: []string{"a", "b"}}.withDefaults("")
	require.NoError(t, err)
	c := &csvFormat{}
	reader, err := newTextReader(&Options{Dialect: d, AllowMissing: true}, c, "x", textContent{Reader: r})
	require.NoError(t, err)
	for {
		_, _, fault, err := reader.next()
		if err != nil {
			require.ErrorIs(t, err, io.EOF, "%q", text)
			return records, nil
		}
		if fault != nil {
			return records, fault
		}
		var record []string
		for _, f := range c.fields {
			record = append(record, string(f.text))
		}
		records = append(records, record)
	}
}

// requireSplit compares the splitter with encoding/csv.
func requireSplit(t testing.TB, text []byte) {
	reference := csv.NewReader(bytes.NewReader(text))
	reference.FieldsPerRecord = -1
	want, err := reference.ReadAll()
	got, fault := splitAll(t, text, bytes.NewReader(text))
	pieces, pieceFault := splitAll(t, text, iotest.OneByteReader(bytes.NewReader(text)))
	require.Equal(t, got, pieces, "%q", text)
	require.Equal(t, fault, pieceFault, "%q", text)
	if err != nil || bytes.Contains(text, []byte{'\r'}) { // encoding/csv changes line ends in fields
		return
	}
	require.NoError(t, fault, "%q", text)
	require.Equal(t, want, got, "%q", text)
}

func TestSplitEqualsReference(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		text := make([]byte, r.IntN(16))
		for i := range text {
			text[i] = "ab,\"\n\r,\"\n"[r.IntN(9)]
		}
		requireSplit(t, text)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("a,\"b\"\"c\",\r\n\"\n\",x"))
	f.Fuzz(func(t *testing.T, text []byte) { requireSplit(t, text) })
}

// FuzzText reads any text as CSV and as JSON: there is no panic, and every batch is valid.
func FuzzText(f *testing.F) {
	f.Add([]byte("i,f,s,l,m,v\n1,2,a,\"[[1],null]\",\"{\"\"a\"\":{\"\"x\"\":1}}\",\"[1,2]\"\n"))
	f.Add([]byte(`{"i":1,"f":1e5,"s":"a\u00e9","l":[[1],null,[]],"m":{"a":{"x":1}},"v":[1,2]}`))
	fields := column.Schema{
		fieldOf("i", kindOf(column.Int16)), fieldOf("f", kindOf(column.Float32)), fieldOf("s", kindOf(column.String)),
		fieldOf("l", kindOf(column.List), fieldOf("element", kindOf(column.List), fieldOf("element", kindOf(column.Varint)))),
		fieldOf("m", kindOf(column.Map), fieldOf("key", kindOf(column.String)), fieldOf("value", kindOf(column.Struct), fieldOf("x", kindOf(column.Date)))),
		fieldOf("v", column.VectorOf(column.Float32, 0)),
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, format := range []Format{CSV, JSON} {
			for _, fields := range []column.Schema{fields, nil} {
				in, err := Open(Options{
					Format: format, Fields: fields, AllowMissing: true, Records: true, Stdin: bytes.NewReader(text), BatchRows: 3,
					Rejected: func(*RecordError) error { return nil },
				}, Stdin)
				require.NoError(t, err)
				for b, err := range in.Batches(t.Context()) {
					if err == nil {
						require.NoError(t, b.Check())
					}
				}
			}
		}
	})
}
