// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/columntest"
)

// readAll returns the rows of files as one batch.
func readAll(t *testing.T, o Options, names ...string) *column.Batch {
	t.Helper()
	in, err := Open(o, names...)
	require.NoError(t, err)
	var batches []*column.Batch
	for b, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
		require.NoError(t, b.Check())
		batches = append(batches, b)
	}
	all, err := column.Concat(batches...)
	require.NoError(t, err)
	done, total := in.Progress()
	if total > 0 {
		require.Equal(t, total, done)
	}
	return all
}

func writeFile(t *testing.T, path string, o WriterOptions, batches ...*column.Batch) {
	t.Helper()
	f, err := Create(path, batches[0].Schema(), o)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, f.Write(b))
	}
	require.NoFileExists(t, path)
	require.NoError(t, f.Close())
	require.NoError(t, f.Abort())
}

// textFields are the fields that CSV and JSON can hold: the texts of CQL.
func textFields() column.Schema {
	var fields column.Schema
	for _, f := range columntest.Fields() {
		if k := f.Type.Kind; k != column.Float16 && (k < column.Decimal64 || k > column.Decimal256) {
			fields = append(fields, f)
		}
	}
	return fields
}

// TestRoundTrip writes and reads every type in every format and compression.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, ending := range []string{".parquet", ".arrow", ".csv", ".csv.gz", ".jsonl", ".json.zst", ".arrows.gz"} {
		t.Run(ending, func(t *testing.T) {
			fields := textFields()
			if format, _ := ByName(ending); format == Parquet || format == Arrow {
				fields = slices.DeleteFunc(columntest.Fields(), func(f column.Field) bool { // Arrow has 32 bits for these
					return f.Type.Kind == column.Time && f.Type.Unit == column.Millis
				})
			}
			first, second := columntest.Batch(r, fields, 70, .3), columntest.Batch(r, fields, 1, 0)
			path := filepath.Join(t.TempDir(), "x"+ending)
			writeFile(t, path, WriterOptions{Stream: strings.HasPrefix(ending, ".arrows")}, first, second)
			want, err := column.Concat(first, second)
			require.NoError(t, err)
			require.Empty(t, column.Diff(readAll(t, Options{Fields: fields, BatchRows: 9}, path), want))
			requireStream(t, path, fields, want)
		})
	}
}

// requireStream reads a file as standard input.
func requireStream(t *testing.T, path string, fields column.Schema, want *column.Batch) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	got := readAll(t, Options{Fields: fields, Stdin: bytes.NewReader(content)}, Stdin)
	require.Empty(t, column.Diff(got, want), "the content shows the format")
}

// TestNullAndEmpty keeps NULL and empty text apart in every format, in a single column, too.
func TestNullAndEmpty(t *testing.T) {
	texts := column.Strings("s", []string{"", "", "NULL", " a", `"`, "a,b\r\n", "\n", "#", "é", `\`}).
		WithNulls([]bool{true, false, false, false, false, false, false, false, false, false})
	for _, columns := range [][]column.Column{{texts}, {texts, texts.As("t")}, {column.Of("i", make([]int32, 10)), texts}} {
		want := column.NewBatch(columns...)
		for name, o := range map[string]WriterOptions{
			"x.csv": {}, "y.csv": {Values: Values{Nulls: []string{"NULL", ""}}}, "z.csv": {Dialect: Dialect{Comma: '\t', Quote: '\'', Escape: '\\'}},
			"v.csv": {Dialect: Dialect{Comment: '#', NoHeader: true}}, "x.jsonl": {}, "x.parquet": {}, "x.arrow": {},
		} {
			path := filepath.Join(t.TempDir(), name)
			writeFile(t, path, o, want)
			got := readAll(t, Options{Fields: want.Schema(), Dialect: o.Dialect, Values: o.Values}, path)
			require.Empty(t, column.Diff(got, want), "%s %v", name, o.Dialect)
		}
	}
}

// TestText requires the exact text of values.
func TestText(t *testing.T) {
	ms := func(layout string) int64 {
		at, err := time.Parse(time.RFC3339Nano, layout)
		require.NoError(t, err)
		return at.UnixMilli()
	}
	stamps, err := column.Of("at", []int64{ms("2024-02-29T12:00:00.5Z"), math.MaxInt64}).
		WithType(column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true})
	require.NoError(t, err)
	days, err := column.Of("day", []int32{19782, math.MaxInt32}).WithType(column.Type{Kind: column.Date})
	require.NoError(t, err)
	b := column.NewBatch(column.Of("f", []float32{.1, float32(math.Inf(-1))}), column.Of("d", []float64{1e21, math.NaN()}), stamps, days,
		column.Binaries("b", [][]byte{{0xca, 0xfe}, nil}), column.Matrix("v", []float32{1, .5, 2, 3}, 2),
		column.Of("on", []bool{true, false}), column.Strings("s", []string{"a\"\nb", "\t"}))
	var out bytes.Buffer
	text := func(o WriterOptions) string {
		out.Reset()
		w, err := NewWriter(&out, b.Schema(), o)
		require.NoError(t, err)
		require.NoError(t, w.Write(b))
		require.NoError(t, w.Close())
		return out.String()
	}
	require.Equal(t, `f,d,at,day,b,v,on,s
0.1,1e+21,2024-02-29T12:00:00.5Z,2024-02-29,0xcafe,"[1,0.5]",true,"a""
b"
-Infinity,NaN,9223372036854775807,+5881580-07-11,,"[2,3]",false,`+"\t\n", text(WriterOptions{}))
	require.Equal(t, `{"f":0.1,"d":1e+21,"at":"2024-02-29T12:00:00.5Z","day":"2024-02-29","b":"0xcafe","v":[1,0.5],"on":true,"s":"a\"\nb"}
{"f":"-Infinity","d":"NaN","at":"9223372036854775807","day":"+5881580-07-11","b":null,"v":[2,3],"on":false,"s":"\u0009"}
`, text(WriterOptions{Format: JSON}))
	berlin := time.FixedZone("", 3600)
	require.Equal(t, `0,1;1e+21;29.02.2024 13:00;24-02-29;yv4=;[1,0.5];on;"a""
b"
-Infinity;NaN;9223372036854775807;+5881580-07-11;-;[2,3];off;`+"\t\n", text(WriterOptions{
		Dialect: Dialect{Comma: ';', NoHeader: true},
		Values:  Values{DecimalPoint: ',', Timestamp: "02.01.2006 15:04", Date: "06-01-02", Zone: berlin, Base64: true, True: "on", False: "off", Nulls: []string{"-"}},
	}))
	_, err = NewWriter(&out, b.Schema(), WriterOptions{Values: Values{True: "on"}})
	require.ErrorContains(t, err, "booleans")
	b = b.Slice(0, 1)
	b, err = b.Select("at")
	require.NoError(t, err)
	require.Equal(t, "at\n1709208000500\n", text(WriterOptions{Values: Values{Timestamp: Epoch}}))
	w, err := NewWriter(&out, b.Schema(), WriterOptions{Values: Values{Timestamp: Epoch, EpochUnit: time.Second}})
	require.NoError(t, err)
	require.ErrorContains(t, w.Write(b), "1709208000500 ms are not a number of 1s")
}

// TestParts cuts files by rows and bytes.
func TestParts(t *testing.T) {
	ids := make([]int64, 25)
	for i := range ids {
		ids[i] = int64(i)
	}
	b := column.NewBatch(column.Of("id", ids))
	for _, c := range []struct {
		o    PartsOptions
		want []int
	}{
		{PartsOptions{}, []int{50}},
		{PartsOptions{Rows: 20}, []int{20, 20, 10}},
		{PartsOptions{Bytes: 8 * 20}, []int{20, 20, 10}},
		{PartsOptions{Bytes: 8 * 30}, []int{30, 20}},
		{PartsOptions{Rows: 30, Bytes: 1}, slices.Repeat([]int{1}, 50)},
	} {
		folder := filepath.Join(t.TempDir(), "out")
		c.o.Format, c.o.Compression = CSV, Gzip
		p, err := NewParts(folder, b.Schema(), c.o)
		require.NoError(t, err)
		require.NoError(t, p.Write(b))
		require.NoError(t, p.Write(b))
		require.NoError(t, p.Close())
		require.Equal(t, len(c.want), p.Files())
		for i, rows := range c.want {
			require.Equal(t, rows, readAll(t, Options{}, filepath.Join(folder, fmt.Sprintf("part-%06d.csv.gz", i))).Rows)
		}
		require.Empty(t, column.Diff(readAll(t, Options{Fields: b.Schema()}, folder), column.NewBatch(column.Of("id", append(ids, ids...)))))
	}
}

// TestPartsFirst removes what a later run repeats, and keeps the rest.
func TestPartsFirst(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"part-000000.csv", "part-000001.csv", "part-000002.csv", ".part-000001.csv.12.tmp", "other.csv"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("id\n"), 0o666))
	}
	p, err := NewParts(folder, column.Schema{{Name: "id", Type: column.Type{Kind: column.Int64}}}, PartsOptions{WriterOptions: WriterOptions{Format: CSV}, First: 1})
	require.NoError(t, err)
	require.Equal(t, 1, p.Files())
	in, err := Open(Options{}, folder)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(folder, "other.csv"), filepath.Join(folder, "part-000000.csv")}, in.Files())
	require.NoError(t, p.Write(column.NewBatch(column.Of("id", []int64{1}))))
	require.True(t, p.Fits(column.NewBatch(column.Of("id", make([]int64, 1000)))))
	require.NoError(t, p.Abort())
	require.NoFileExists(t, filepath.Join(folder, "part-000001.csv"))
	p, err = NewParts(filepath.Join(folder, "empty"), column.Schema{{Name: "id", Type: column.Type{Kind: column.Int64}}}, PartsOptions{WriterOptions: WriterOptions{Format: Parquet}})
	require.NoError(t, err)
	require.NoError(t, p.Close())
	require.FileExists(t, filepath.Join(folder, "empty", "part-000000.parquet"))
}

// TestWriteFails has outputs that cannot be written.
func TestWriteFails(t *testing.T) {
	b := column.NewBatch(column.Strings("s", []string{strings.Repeat("x", 100<<10)}))
	for _, format := range []Format{CSV, JSON, Parquet, Arrow} {
		f, err := Create("/dev/full", b.Schema(), WriterOptions{Format: format})
		require.NoError(t, err)
		err = f.Write(b)
		if err == nil {
			err = f.Close()
		}
		require.EqualError(t, err, "write /dev/full: no space left on device")
		require.NoError(t, f.Abort())
	}
	dir := t.TempDir()
	_, err := Create(filepath.Join(dir, "x.txt"), b.Schema(), WriterOptions{})
	require.ErrorContains(t, err, "the name does not show the format")
	_, err = Create(dir, b.Schema(), WriterOptions{Format: CSV})
	require.ErrorContains(t, err, "not a regular file")
	f, err := Create(filepath.Join(dir, "x.csv"), b.Schema(), WriterOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, f.Write(column.NewBatch(column.Of("other", []int64{1}))), ErrColumns)
	require.Error(t, f.Close())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// newRand returns random numbers that are the same in each run.
func newRand() *rand.Rand { return rand.New(rand.NewPCG(5, 6)) }
