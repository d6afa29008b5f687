// SPDX-License-Identifier: Apache-2.0

package textform

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A verdict is what a Cassandra stores for a text: the cell in hexadecimal digits, "-" if the server refuses the text,
// "?" if it was not asked.
type verdict struct{ text, literal, quoted, bare string }

// verdicts returns the records of a type.
func verdicts(t *testing.T, typ string) []verdict {
	data, err := os.ReadFile("testdata/" + typ + ".txt")
	require.NoError(t, err)
	var out []verdict
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		parts := strings.Split(line, "\t")
		require.Len(t, parts, 4, line)
		text, err := strconv.Unquote(parts[0])
		require.NoError(t, err, line)
		out = append(out, verdict{text, parts[1], parts[2], parts[3]})
	}
	return out
}

// requireVerdicts compares a parser with the literals of a Cassandra. differ are texts with another result, and why.
func requireVerdicts(t *testing.T, typ string, parse func(string) (cell string, err error), differ map[string]string) {
	for _, v := range verdicts(t, typ) {
		got, err := parse(v.text)
		if err != nil {
			got = "-"
		}
		if v.literal == "?" {
			require.Equal(t, "-", got, "%s %q: not a literal", typ, v.text)
			continue
		}
		if _, ok := differ[v.text]; ok {
			require.NotEqual(t, v.literal, got, "%s %q does not differ", typ, v.text)
			continue
		}
		require.Equal(t, v.literal, got, "%s %q", typ, v.text)
	}
}

func TestNumbersAreLiterals(t *testing.T) {
	for typ, bits := range map[string]int{"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64} {
		requireVerdicts(t, typ, func(s string) (string, error) {
			v, err := ParseInt(s, bits)
			return fmt.Sprintf("%0*x", bits/4, uint64(v)<<(64-bits)>>(64-bits)), err
		}, nil)
	}
	requireVerdicts(t, "double", func(s string) (string, error) {
		v, err := ParseFloat(s, 64)
		return fmt.Sprintf("%016x", math.Float64bits(v)), err
	}, nil)
	differ := map[string]string{}
	for _, v := range verdicts(t, "float") {
		if _, err := ParseFloat(v.text, 32); errors.Is(err, ErrRange) {
			require.Contains(t, []string{"7f800000", "ff800000", "-"}, v.literal, v.text)
			if v.literal != "-" {
				differ[v.text] = "the server stores infinity"
			}
		}
	}
	requireVerdicts(t, "float", func(s string) (string, error) {
		v, err := ParseFloat(s, 32)
		return fmt.Sprintf("%08x", math.Float32bits(float32(v))), err
	}, differ)
	for typ, is := range map[string]func(string) bool{"varint": IsInteger, "decimal": IsNumber} {
		for _, v := range verdicts(t, typ) {
			if i := strings.IndexAny(v.text, "eE"); i >= 0 && is(v.text) && len(v.text)-i > 4 {
				continue // of the form, but the server bounds the exponents of literals
			}
			require.Equal(t, v.literal != "-" && v.literal != "?", is(v.text), "%s %q", typ, v.text)
		}
	}
}

func TestNaNHasTheBitsOfTheServer(t *testing.T) {
	for _, s := range []string{"NaN", "nan", "-NaN", "NAN"} {
		v, err := ParseFloat(s, 64)
		require.NoError(t, err)
		require.Equal(t, uint64(0x7ff8000000000000), math.Float64bits(v))
		require.Equal(t, uint32(0x7fc00000), math.Float32bits(float32(v)))
	}
}

func TestDatesAreLiterals(t *testing.T) {
	differ := map[string]string{}
	for _, v := range verdicts(t, "date") {
		if v.literal != "-" && IsInteger(v.text) {
			differ[v.text] = "the server reads the stored number"
		}
	}
	requireVerdicts(t, "date", func(s string) (string, error) {
		days, err := ParseDate(s)
		return fmt.Sprintf("%08x", uint32(days)+1<<31), err
	}, differ)
}

// TestDatesRoundTrip prints and parses dates of the whole range.
func TestDatesRoundTrip(t *testing.T) {
	for n := int64(math.MinInt32); n <= math.MaxInt32; n += 99991 {
		text := AppendDate(nil, int32(n))
		back, err := ParseDate(string(text))
		require.NoError(t, err, "%d: %s", n, text)
		require.Equal(t, int32(n), back)
	}
	data, err := os.ReadFile("testdata/printed.tsv")
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if parts := strings.Split(line, "\t"); parts[0] == "date" {
			cell, err := strconv.ParseUint(parts[1], 16, 32)
			require.NoError(t, err)
			require.Equal(t, parts[3], string(AppendDate(nil, int32(uint32(cell)-1<<31))))
		}
	}
}

func TestTimesAreLiterals(t *testing.T) {
	differ := map[string]string{}
	for _, v := range verdicts(t, "time") {
		n, err := ParseTime(v.text)
		switch {
		case v.literal != "-" && IsInteger(v.text):
			differ[v.text] = "the server reads nanoseconds"
		case v.text == "00:00:000":
			differ[v.text] = "three digits"
		case v.literal == "-" && err == nil:
			require.True(t, n%60e9 == 0 || strings.Contains(v.text, ","), v.text)
			differ[v.text] = "without seconds, or with a decimal comma"
		}
	}
	requireVerdicts(t, "time", func(s string) (string, error) {
		n, err := ParseTime(s)
		return fmt.Sprintf("%016x", n), err
	}, differ)
}

// TestTimestampsAreLiterals allows to refuse what the server changes, and to read ISO 8601 that the server refuses; a
// text that both read has one value.
func TestTimestampsAreLiterals(t *testing.T) {
	read, both := 0, 0
	for _, v := range verdicts(t, "timestamp") {
		seconds, nanos, err := ParseTimestamp(v.text, time.UTC)
		if err != nil {
			continue
		}
		read++
		n, err := In(seconds, nanos, 1000)
		if err != nil || v.literal == "-" {
			continue
		}
		both++
		require.Equal(t, v.literal, fmt.Sprintf("%016x", uint64(n)), v.text)
	}
	require.Greater(t, both, 40)
	require.Greater(t, read, both)
}

func TestTimestamps(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for _, c := range []struct {
		text string
		zone *time.Location
		want string // as Unix milliseconds, or part of the error
	}{
		{"+292278994-08-17T07:12:55.807Z", time.UTC, "9223372036854775807"},
		{"+292278994-08-17T07:12:55.808Z", time.UTC, "out of range"},
		{"292278994-08-17 07:12:55.807Z", time.UTC, "9223372036854775807"},
		{"-292275055-05-16T16:47:04.192Z", time.UTC, "-9223372036854775808"},
		{"-292275055-05-16T16:47:04.191Z", time.UTC, "out of range"},
		{"-0044-03-15T00:00:00Z", time.UTC, "-63549360000000"},
		{"0000-01-01T00:00:00Z", time.UTC, "-62167219200000"},
		{"+10000-01-01 00:00:00.000Z", time.UTC, "253402300800000"},
		{"10000-01-01T00:00:00Z", time.UTC, "253402300800000"},
		{"2024-01-01T12:30:45 +0100", time.UTC, "1704108645000"},
		{"2024-01-01T12:30:45,5+01", time.UTC, "1704108645500"},
		{"2024-07-01", berlin, "1719784800000"},
		{"2024-03-31 02:30", berlin, "clocks of Europe/Berlin skip"},
		{"2024-02-30T00:00:00Z", time.UTC, "not a value"},
		{"2024-01-01T24:00:00Z", time.UTC, "not a value"},
		{"2024-01-01T12:30:45.0005Z", time.UTC, "a part below ms"},
		{"2024-01-01T12:30:45 America/New_York", time.UTC, "not a value"},
		{"2024-01-01T12:30:45+18:01", time.UTC, "not a value"},
		{"2024-01-01T", time.UTC, "not a value"},
	} {
		seconds, nanos, err := ParseTimestamp(c.text, c.zone)
		n := int64(0)
		if err == nil {
			n, err = In(seconds, nanos, 1000)
		}
		if err != nil {
			require.ErrorContains(t, err, c.want, c.text)
			continue
		}
		require.Equal(t, c.want, fmt.Sprint(n), c.text)
	}
}

// FuzzForms compares the parsers with the parsers of package time and strconv: what both read has one value, and
// nothing that is read is changed when it is printed.
func FuzzForms(f *testing.F) {
	for _, typ := range []string{"double", "date", "time", "timestamp"} {
		data, err := os.ReadFile("testdata/" + typ + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
			text, _ := strconv.Unquote(strings.Split(line, "\t")[0])
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := ParseFloat(s, 64); err == nil && v == v {
			want, err := strconv.ParseFloat(s, 64)
			require.NoError(t, err)
			require.Equal(t, want, v)
			require.True(t, IsNumber(s) || math.IsInf(v, 0), s)
		}
		if days, err := ParseDate(s); err == nil {
			again, err := ParseDate(string(AppendDate(nil, days)))
			require.NoError(t, err)
			require.Equal(t, days, again)
		}
		if n, err := ParseTime(s); err == nil {
			require.True(t, n >= 0 && n < 86400e9, s)
		}
		seconds, nanos, err := ParseTimestamp(s, time.UTC)
		if want, e := time.Parse(time.RFC3339Nano, s); err == nil && e == nil {
			require.Equal(t, want.Unix(), seconds, s)
			require.Equal(t, int64(want.Nanosecond()), nanos, s)
		}
	})
}
