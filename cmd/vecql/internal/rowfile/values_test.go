// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/columntest"
)

// Spellings of values.

// valueOf returns the value that a field of CSV is read as, or the error after "!".
func valueOf(t *testing.T, f column.Field, v Values, text string) string {
	t.Helper()
	record := `"` + strings.ReplaceAll(text, `"`, `""`) + "\"\n"
	in, err := Open(Options{Format: CSV, Fields: column.Schema{f}, Values: v, Dialect: Dialect{NoHeader: true}, Stdin: strings.NewReader(record)}, Stdin)
	require.NoError(t, err)
	for b, err := range in.Batches(t.Context()) {
		if err != nil {
			return "!" + err.Error()
		}
		require.NoError(t, b.Check())
		return fmt.Sprint(b.Columns[0].Value(0))
	}
	return "no row"
}

func TestWordsOfBooleans(t *testing.T) {
	f := fieldOf("c", kindOf(column.Bool))
	for want, words := range map[string]string{"true": "true t yes y 1", "false": "false f no n 0"} {
		for word := range strings.FieldsSeq(words) {
			require.Equal(t, want, valueOf(t, f, Values{}, word), word)
			require.Equal(t, want, valueOf(t, f, Values{True: "ja", False: "nein"}, strings.ToUpper(word)), word)
		}
	}
	require.Equal(t, "true", valueOf(t, f, Values{True: "ja", False: "nein"}, "JA"))
	require.Equal(t, "false", valueOf(t, f, Values{True: "ja", False: "nein"}, "Nein"))
	require.Equal(t, "false", valueOf(t, f, Values{True: "0", False: "1"}, "1"), "own words come first")
	for _, word := range []string{"", "2", "tr", "on", "off", "j"} {
		require.Contains(t, valueOf(t, f, Values{}, word), "is not a value of type bool", word)
	}
}

// TestSeparatorsAreNoPartsOfNumbers refuses each character that a number has.
func TestSeparatorsAreNoPartsOfNumbers(t *testing.T) {
	for _, c := range []byte("0189+-azAZeE") {
		_, err := Values{DecimalPoint: c}.withDefaults()
		require.ErrorContains(t, err, "cannot separate", "%q", c)
		_, err = Values{Thousands: c}.withDefaults()
		require.ErrorContains(t, err, "cannot separate", "%q", c)
	}
	for _, c := range []byte(" _',/:;@[`{|~") {
		_, err := Values{DecimalPoint: c, Thousands: '.'}.withDefaults()
		require.NoError(t, err, "%q", c)
		_, err = Values{Thousands: c}.withDefaults()
		require.NoError(t, err, "%q", c)
	}
}

// TestTimesThatClocksSkip has times of a layout that are not in their zone.
func TestTimesThatClocksSkip(t *testing.T) {
	f := fieldOf("c", column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true})
	const layout = "2006-01-02 15:04"
	for _, c := range []struct{ zone, layout, text, want string }{
		{"Europe/Berlin", layout, "2024-03-31 01:59", "2024-03-31 00:59:00 +0000 UTC"},
		{"Europe/Berlin", layout, "2024-03-31 02:00", "!the clocks of Europe/Berlin skip this time"},
		{"Europe/Berlin", layout, "2024-03-31 02:30", "!the clocks of Europe/Berlin skip this time"},
		{"Europe/Berlin", layout, "2024-03-31 03:00", "2024-03-31 01:00:00 +0000 UTC"},
		{"Europe/Berlin", layout + " -07:00", "2024-03-31 02:30 +05:00", "2024-03-30 21:30:00 +0000 UTC"},
		{"UTC", layout, "2024-03-31 02:30", "2024-03-31 02:30:00 +0000 UTC"},
		// its clocks move by half an hour: the minute alone differs
		{"Australia/Lord_Howe", layout, "2024-10-06 02:15", "!the clocks of Australia/Lord_Howe skip this time"},
		{"Australia/Lord_Howe", layout, "2024-10-06 02:30", "2024-10-05 15:30:00 +0000 UTC"},
	} {
		zone, err := time.LoadLocation(c.zone)
		require.NoError(t, err)
		got := valueOf(t, f, Values{Zone: zone, Timestamp: c.layout}, c.text)
		if part, fails := strings.CutPrefix(c.want, "!"); fails {
			require.Contains(t, got, part, "%s %s", c.zone, c.text)
			continue
		}
		require.Equal(t, c.want, got, "%s %s", c.zone, c.text)
	}
}

// TestSeveralLayouts has text that the first of several layouts reads.
func TestSeveralLayouts(t *testing.T) {
	v := Values{
		Date: "02.01.2006", MoreDates: []string{"", "Jan 2, 2006"}, MoreTimes: []string{"3:04 PM"},
		Timestamp: "02.01.2006 15:04:05", MoreTimestamps: []string{"02.01.2006 15:04", ""}, Zone: time.FixedZone("", 3600),
	}
	stamp := column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true}
	for _, c := range []struct {
		typ        column.Type
		text, want string
	}{
		{kindOf(column.Date), "05.07.2026", "2026-07-05 00:00:00 +0000 UTC"},
		{kindOf(column.Date), "2026-07-05", "2026-07-05 00:00:00 +0000 UTC"},
		{kindOf(column.Date), "Jul 5, 2026", "2026-07-05 00:00:00 +0000 UTC"},
		{kindOf(column.Date), "5/7/2026", `!"5/7/2026" is not a value of type date`},
		{stamp, "05.07.2026 12:30:59", "2026-07-05 11:30:59 +0000 UTC"},
		{stamp, "05.07.2026 12:30", "2026-07-05 11:30:00 +0000 UTC"},
		{stamp, "2026-07-05T12:30:00", "2026-07-05 11:30:00 +0000 UTC"},
		{stamp, "2026-07-05T12:30:00+02:00", "2026-07-05 10:30:00 +0000 UTC"},
		{stamp, "20260705", "!the digits may be a date"},
		{stamp, "2026-07-05T12:30:00.0001Z", "!it has a part below ms"},
		{column.Type{Kind: column.Time, Unit: column.Nanos}, "4:05 PM", "16h5m0s"},
		{column.Type{Kind: column.Time, Unit: column.Nanos}, "16:05", "16h5m0s"},
	} {
		got := valueOf(t, fieldOf("c", c.typ), v, c.text)
		if part, fails := strings.CutPrefix(c.want, "!"); fails {
			require.Contains(t, got, part, c.text)
			continue
		}
		require.Equal(t, c.want, got, c.text)
	}
}

// TestDigitsOfADate has digits that may be a date or a number.
func TestDigitsOfADate(t *testing.T) {
	f := fieldOf("c", column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true})
	for _, text := range []string{"19000101", "20240229", "21991231", "19000101000000", "21991231235959"} {
		require.Contains(t, valueOf(t, f, Values{}, text), "the digits may be a date; --epoch-unit 1ms reads milliseconds", text)
		require.NotContains(t, valueOf(t, f, Values{Timestamp: Epoch}, text), "!", text)
		require.NotContains(t, valueOf(t, f, Values{EpochUnit: time.Millisecond}, text), "!", text)
	}
	for _, text := range []string{"18991231", "22000101", "11240101", "20240230", "2024010", "202401010", "21991231236000"} {
		require.NotContains(t, valueOf(t, f, Values{}, text), "!", text)
	}
}

// TestNumbersAreWrittenAsNumbersOfJSON writes a column of each kind of number, decodes it with package json, and reads
// each other kind as a string.
func TestNumbersAreWrittenAsNumbersOfJSON(t *testing.T) {
	for _, typ := range columntest.Types() {
		isNumber := map[column.Kind]bool{
			column.Int8: true, column.Int16: true, column.Int32: true, column.Int64: true, column.Uint8: true, column.Uint16: true, column.Uint32: true,
			column.Uint64: true, column.Float16: true, column.Float32: true, column.Float64: true, column.Varint: true, column.Decimal: true,
			column.Decimal64: true, column.Decimal128: true, column.Decimal256: true,
		}[typ.Kind]
		if typ.Kind == column.Bool || typ.Kind == column.Vector {
			continue
		}
		c := columntest.Column(newRand(), column.Field{Name: "c", Type: typ}, 30, 0)
		decoder := json.NewDecoder(strings.NewReader(textOfBatch(t, column.NewBatch(c), WriterOptions{Format: JSON})))
		decoder.UseNumber()
		for i := range 30 {
			var row map[string]any
			require.NoError(t, decoder.Decode(&row))
			switch v := row["c"].(type) {
			case json.Number:
				require.True(t, isNumber, "%v: %v", typ, v)
			case string:
				require.True(t, !isNumber || v == "NaN" || v == "Infinity" || v == "-Infinity", "%v: %v", typ, v)
			default:
				t.Fatalf("%v, row %d: %v", typ, i, v)
			}
		}
	}
}

// textOfBatch returns the file of a batch.
func textOfBatch(t *testing.T, b *column.Batch, o WriterOptions) string {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, b.Schema(), o)
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	require.NoError(t, w.Close())
	return out.String()
}

// TestEpochIsWrittenInItsUnit writes timestamps as numbers of units above, at and below the column's.
func TestEpochIsWrittenInItsUnit(t *testing.T) {
	for _, c := range []struct {
		unit  column.Unit
		value int64
		epoch time.Duration
		want  string // or part of the error
	}{
		{column.Millis, 1709208000000, time.Second, "1709208000"},
		{column.Millis, -2000, time.Second, "-2"},
		{column.Millis, 0, time.Hour, "0"},
		{column.Millis, 7_200_000, time.Hour, "2"},
		{column.Millis, 1500, time.Second, "!1500 ms are not a number of 1s"},
		{column.Millis, 1500, time.Millisecond, "1500"},
		{column.Micros, 1500, time.Microsecond, "1500"},
		{column.Micros, 1500, time.Millisecond, "!1500 us are not a number of 1ms"},
		{column.Millis, 1500, time.Microsecond, "1500000"},
		{column.Millis, -1, time.Nanosecond, "-1000000"},
		{column.Millis, 0, time.Nanosecond, "0"},
		{column.Millis, 1 << 62, time.Microsecond, "!4611686018427387904 ms are not a number of 1µs"},
		{column.Nanos, 5, time.Nanosecond, "5"},
	} {
		stamps, err := column.Of("at", []int64{c.value}).WithType(column.Type{Kind: column.Timestamp, Unit: c.unit, UTC: true})
		require.NoError(t, err)
		b := column.NewBatch(stamps)
		o := WriterOptions{Dialect: Dialect{NoHeader: true}, Values: Values{Timestamp: Epoch, EpochUnit: c.epoch}}
		if part, fails := strings.CutPrefix(c.want, "!"); fails {
			w, err := NewWriter(new(bytes.Buffer), b.Schema(), o)
			require.NoError(t, err)
			require.ErrorContains(t, w.Write(b), part)
			continue
		}
		require.Equal(t, c.want+"\n", textOfBatch(t, b, o))
	}
}

// TestLayoutsOfDatesAndTimes writes and reads a date and a time with layouts that have parts which the values do not.
func TestLayoutsOfDatesAndTimes(t *testing.T) {
	days, err := column.Of("d", []int32{19782, -1, 2932896}).WithType(kindOf(column.Date))
	require.NoError(t, err)
	times, err := column.Of("t", []int64{0, 1, 86_399_999_999_999}).WithType(column.Type{Kind: column.Time, Unit: column.Nanos})
	require.NoError(t, err)
	b := column.NewBatch(days, times)
	for o, want := range map[string]string{
		"2006-01-02T15:04:05.999999999|15:04:05.000000000": "2024-02-29T00:00:00,00:00:00.000000000 1969-12-31T00:00:00,00:00:00.000000001 9999-12-31T00:00:00,23:59:59.999999999",
		"|":           "2024-02-29,00:00:00 1969-12-31,00:00:00.000000001 9999-12-31,23:59:59.999999999",
		"epoch|epoch": "19782,0 -1,1 2932896,86399999999999",
	} {
		date, clock, _ := strings.Cut(o, "|")
		v := Values{Date: date, Time: clock}
		text := textOfBatch(t, b, WriterOptions{Values: v, Dialect: Dialect{NoHeader: true}})
		require.Equal(t, want, strings.Join(strings.Fields(text), " "))
		require.Empty(t, column.Diff(b, rowsOfText(t, Options{Format: CSV, Fields: b.Schema(), Values: v, Dialect: Dialect{NoHeader: true}}, text)))
	}
}
