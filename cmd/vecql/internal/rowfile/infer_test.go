// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/columntest"
)

// The types of columns of text.

// TestGuesses has values of CSV, and the type that all of them have.
func TestGuesses(t *testing.T) {
	for _, c := range []struct {
		values string // between bars
		want   string
	}{
		{"1|-2|0", "int64"},
		{"1||2", "int64"},
		{"1|2.5", "float64"},
		{"1|1e3|NaN", "float64"},
		{"NaN|Infinity", "string"},
		{"01067|1", "string"},
		{"-0|1", "float64"},
		{"9223372036854775807|-9223372036854775808", "int64"},
		{"9223372036854775808|1", "varint"},
		{"9223372036854775808|1.5", "string"},
		{"1.5|123456789012345", "float64"},
		{"true|False", "bool"},
		{"true|1", "string"},
		{"yes|no", "string"},
		{"2026-07-05|1999-12-31", "date"},
		{"2026-07-05|2026-07-05 12:30", "timestamp(us, UTC)"},
		{"2026-07-05T12:30:00Z|2026-07-05T12:30:00.123456+02:00", "timestamp(us, UTC)"},
		{"2026-07-05T12:30:00.123456789Z", "timestamp(ns, UTC)"},
		{"20260705|20260706", "int64"},
		{"12:30|23:59:59.5", "time(ns)"},
		{"2026-13-01|2026-07-05", "string"},
		{"00112233-4455-6677-8899-aabbccddeeff", "uuid"},
		{"00112233-4455-6677-8899-AABBCCDDEEFF", "string"},
		{"|", "string"},
		{"[1, 2]|[3]", "list"},
		{"[1.5, 2]|[3, 0.5]", "vector<float64, 2>"},
		{"[1.5, 2]|[3, 0.5, 1]", "list"},
		{"[1.5, null]|[3, 0.5]", "list"},
		{"[INFO] started|[1]", "string"},
		{`{"a": 1}`, "string"},
		{"+1|2", "string"},
		{".5|1", "string"},
		{"1_000", "string"},
		{"0x10", "string"},
	} {
		path := filepath.Join(t.TempDir(), "a.csv")
		var b strings.Builder
		b.WriteString("x,y\n")
		for value := range strings.SplitSeq(c.values, "|") {
			if value != "" {
				value = `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
			}
			b.WriteString(value + ",0\n")
		}
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
		o, err := Infer(t.Context(), Options{}, 0, path)
		require.NoError(t, err, c.values)
		require.Equal(t, []string{"x", "y"}, o.Fields.Names())
		require.Equal(t, c.want, o.Fields[0].Type.String(), c.values)
		in, err := Open(o, path)
		require.NoError(t, err)
		rows := 0
		for b, err := range in.Batches(t.Context()) {
			require.NoError(t, err, c.values)
			rows += b.Rows
		}
		require.Equal(t, strings.Count(c.values, "|")+1, rows)
	}
}

// inferred returns the columns and the rows of a file.
func inferred(t *testing.T, o Options, records int, name, text string) (fields string, rows []string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	if o, err = Infer(t.Context(), o, records, path); err != nil {
		return "", nil, err
	}
	in, err := Open(o, path)
	require.NoError(t, err)
	for b, err := range in.Batches(t.Context()) {
		if err != nil {
			return o.Fields.String(), rows, err
		}
		require.NoError(t, b.Check())
		for r := range b.Rows {
			rows = append(rows, string(AppendRecord(nil, b, r)))
		}
	}
	return o.Fields.String(), rows, nil
}

func TestInferJSON(t *testing.T) {
	fields, rows, err := inferred(t, Options{}, 0, "a.jsonl", `{"id": 1, "name": "a", "at": "2026-07-05T00:00:00Z", "tags": ["x"], "v": [0.5, 1]}
{"name": "7", "id": 2.5, "more": true, "tags": [], "v": [1, 2.25], "who": {"name": "b", "age": 3}}

{"id": null, "name": null, "who": {"name": null, "ok": false}, "mixed": [1, "a"]}
{"id": 3, "mixed": {"a": 1}, "tags": null}
`)
	require.NoError(t, err)
	require.Equal(t, "id float64?, name string?, at timestamp(us, UTC)?, tags list?[element string?], v vector<float64, 2>?, more bool?, "+
		"who struct?[name string? age int64? ok bool?], mixed string?", fields)
	require.Len(t, rows, 4)
	require.JSONEq(t, `{"id": 2.5, "name": "7", "at": null, "tags": [], "v": [1, 2.25], "more": true, `+
		`"who": {"name": "b", "age": 3, "ok": null}, "mixed": null}`, rows[1])
	require.JSONEq(t, `{"id": 3, "name": null, "at": null, "tags": null, "v": null, "more": null, "who": null, "mixed": "{\"a\": 1}"}`, rows[3])
}

// TestInferDecimalComma has numbers with a decimal comma, and arrays, whose numbers have the notation of JSON.
func TestInferDecimalComma(t *testing.T) {
	o := Options{Dialect: Dialect{Comma: ';'}, Values: Values{DecimalPoint: ',', Thousands: '.'}}
	fields, rows, err := inferred(t, o, 0, "a.csv", "price;v;code;\n1.234,5;[0.125, -1.5];1.23;\n0,5;[1, 2e-3];1\n")
	require.NoError(t, err)
	require.Equal(t, "price float64?, v vector<float64, 2>?, code string?", fields)
	require.Equal(t, []string{`{"price":1234.5,"v":[0.125,-1.5],"code":"1.23"}`, `{"price":0.5,"v":[1,0.002],"code":"1"}`}, rows)
}

// TestInferFromASample has a value of another type behind the sample: an error with its line, unless the sample is all
// records, or the type is set.
func TestInferFromASample(t *testing.T) {
	text := "a,b\n" + strings.Repeat("1,2\n", 3000) + "x,\"3\"\n"
	fields, rows, err := inferred(t, Options{}, 1000, "a.csv", text)
	require.Equal(t, "a int64?, b int64?", fields)
	require.Len(t, rows, 3000)
	var record *RecordError
	require.ErrorAs(t, err, &record)
	require.EqualValues(t, 3002, record.Line)
	require.Equal(t, "a", record.Column)
	for _, o := range []struct {
		records int
		types   column.Schema
	}{
		{0, nil},
		{10, column.Schema{{Name: "a", Type: column.Type{Kind: column.String}, Nullable: true}}},
	} {
		fields, rows, err = inferred(t, Options{Types: o.types}, o.records, "a.csv", text)
		require.NoError(t, err)
		require.Equal(t, "a string?, b int64?", fields)
		require.Len(t, rows, 3001)
	}
	_, _, err = inferred(t, Options{Types: column.Schema{{Name: "c"}}}, 0, "a.csv", text)
	require.ErrorIs(t, err, ErrColumns)
}

func TestInferErrors(t *testing.T) {
	for name, text := range map[string]string{"a.csv": "", "a.jsonl": "\n", "b.jsonl": "[1]\n", "b.csv": "a,b\n1\n"} {
		_, _, err := inferred(t, Options{}, 0, name, text)
		require.Error(t, err, name)
	}
	o := Options{Stdin: strings.NewReader("PAR1")}
	_, err := Infer(t.Context(), o, 0, Stdin)
	require.ErrorContains(t, err, "name a file that is no stream")
}

// TestInferOfAStream reads a stream for its types, then all its rows.
func TestInferOfAStream(t *testing.T) {
	var text strings.Builder
	text.WriteString("n\n")
	for i := range 50_000 {
		fmt.Fprintln(&text, i)
	}
	o, err := Infer(t.Context(), Options{Stdin: strings.NewReader(text.String())}, 100, Stdin)
	require.NoError(t, err)
	require.Equal(t, "n int64?", o.Fields.String())
	in, err := Open(o, Stdin)
	require.NoError(t, err)
	next := int64(0)
	for b, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
		values, err := column.Slice[int64](&b.Columns[0])
		require.NoError(t, err)
		for _, v := range values {
			require.Equal(t, next, v)
			next++
		}
	}
	require.EqualValues(t, 50_000, next)
	for _, err := range in.Batches(t.Context()) {
		require.ErrorContains(t, err, "is a stream, and was read")
	}
}

// TestColumnsOfOneName reads columns that share a name under numbers, each with its own values.
func TestColumnsOfOneName(t *testing.T) {
	var stream bytes.Buffer
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int32},
		{Name: "a", Type: arrow.BinaryTypes.String},
		{Name: "a_1", Type: arrow.PrimitiveTypes.Int32},
		{Name: "a", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Int32Builder).Append(1)
	b.Field(1).(*array.StringBuilder).Append("x")
	b.Field(2).(*array.Int32Builder).Append(3)
	b.Field(3).(*array.Int64Builder).Append(4)
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	require.NoError(t, w.Write(b.NewRecordBatch()))
	require.NoError(t, w.Close())
	path := filepath.Join(t.TempDir(), "x.arrows")
	require.NoError(t, os.WriteFile(path, stream.Bytes(), 0o600))
	o, err := Infer(t.Context(), Options{}, 10, path)
	require.NoError(t, err)
	for _, fields := range []column.Schema{nil, o.Fields} {
		got := readAll(t, Options{Fields: fields}, path)
		require.Equal(t, []string{"a", "a_2", "a_1", "a_3"}, got.Schema().Names())
		require.Equal(t, []any{int32(1), "x", int32(3), int64(4)}, []any{
			got.Columns[0].Value(0), got.Columns[1].Value(0), got.Columns[2].Value(0), got.Columns[3].Value(0),
		})
	}
}

// TestInferTypedFiles has the types of Parquet and Arrow files.
func TestInferTypedFiles(t *testing.T) {
	b := columntest.Batch(newRand(), columntest.Fields(), 20, 0.2)
	for _, format := range []Format{Parquet, Arrow} {
		path := filepath.Join(t.TempDir(), "a"+Extension(format, Plain))
		writeFile(t, path, WriterOptions{}, b)
		want := column.Schema(nil)
		in, err := Open(Options{}, path)
		require.NoError(t, err)
		for b, err := range in.Batches(t.Context()) {
			require.NoError(t, err)
			want = b.Schema()
		}
		o, err := Infer(t.Context(), Options{}, 10, path)
		require.NoError(t, err)
		require.Equal(t, want.Names(), o.Fields.Names())
		for i := range want {
			require.Equal(t, want[i].Type.Kind, o.Fields[i].Type.Kind, "%v: %v, %v", format, want[i], o.Fields[i])
		}
		is, err := in.Parquet()
		require.NoError(t, err)
		require.Equal(t, format == Parquet, is)
	}
}
