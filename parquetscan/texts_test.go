// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// writeTexts returns a file of columns of texts a, b, and so on; only the last one has NULLs.
func writeTexts(t testing.TB, rng *rand.Rand, columns [][]cell, options ...parquet.WriterProperty) []byte {
	t.Helper()
	var fields []arrow.Field
	var arrays []arrow.Array
	for i, cells := range columns {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for _, c := range cells {
			if s, ok := c.(string); ok {
				b.Append(s)
			} else {
				b.AppendNull()
			}
		}
		nullable := i == len(columns)-1 || rng.IntN(2) == 0
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: arrow.BinaryTypes.String, Nullable: nullable})
		arrays = append(arrays, b.NewArray())
	}
	sc := arrow.NewSchema(fields, nil)
	rows := int64(len(columns[0]))
	rec := array.NewRecordBatch(sc, arrays, rows)
	defer rec.Release()
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(sc, &buf, parquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.WriteBuffered(rec))
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// texts returns columns of texts, whose lengths as bytes are parts of other texts.
func (g generator) texts(rows int) [][]cell {
	columns := make([][]cell, 3)
	for i := range columns {
		columns[i] = make([]cell, rows)
		empty := 1 + g.intn(8)
		for row := range columns[i] {
			switch {
			case i == 2 && g.intn(5) == 0:
			case g.intn(empty) > 0:
				columns[i][row] = ""
			case g.intn(4) == 0:
				columns[i][row] = strings.Repeat("x", 9+g.intn(30)) + g.text(-1)
			default:
				columns[i][row] = strings.Repeat(pick(g, "a", "ab", "\x00", "\x02"), g.intn(5))
			}
		}
	}
	return columns
}

// checkTexts compares filters on pages with the reference, row by row.
func checkTexts(t testing.TB, seed uint64, pageBytes, batchRows int) {
	rng := rand.New(rand.NewPCG(seed, 18))
	g := generator{rng.IntN}
	rows := 1 + g.intn(400)
	columns := g.texts(rows)
	d := openBytes(t, writeTexts(t, rng, columns,
		parquet.WithDataPageVersion(pick(g, parquet.DataPageV1, parquet.DataPageV2)), parquet.WithDataPageSize(int64(pageBytes)),
		parquet.WithMaxRowGroupLength(int64(1+g.intn(400))), parquet.WithBatchSize(int64(1+g.intn(64))), parquet.WithDictionaryDefault(g.intn(4) == 0),
		parquet.WithDictionaryPageSizeLimit(int64(g.intn(500))),
		parquet.WithEncoding(pick(g, parquet.Encodings.Plain, parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.DeltaByteArray)),
		parquet.WithCompression(pick(g, compress.Codecs.Uncompressed, compress.Codecs.Snappy))))
	types := map[string]column.Type{"a": {Kind: column.String}, "b": {Kind: column.String}, "c": {Kind: column.String}}
	var filters []Filter
	for range 1 + g.intn(3) {
		f := g.filter(types, []string{"a", "b", "c"}, g.intn(2))
		if name := pick(g, "a", "b", "c"); g.intn(2) == 0 {
			f = pick(g, Contains(name, pick(g, "a", "ba", "\x00\x00", "\x02\x00", "ab\x02", "xx")), Ne(name, ""), Not(Contains(name, "b")))
		}
		filters = append(filters, f)
	}
	o := Options{
		Columns: pick(g, []string{}, []string{"a"}, []string{"b", "c"}, nil), Filter: And(filters...), RowNumbers: "#",
		BatchRows: batchRows, Text: g.intn(4) == 0, Workers: 1, Ordered: true,
	}
	if g.intn(3) == 0 {
		o.Narrow = []string{"b", "c"}
	}
	for _, name := range []string{"a", "b", "c"} {
		if g.intn(3) == 0 && (o.Columns == nil || slices.Contains(o.Columns, name)) {
			o.Lengths = append(o.Lengths, name)
		}
	}
	s, err := d.Scan(o)
	require.NoError(t, err)
	if narrow := g.filter(types, []string{"b", "c"}, 1); o.Narrow != nil {
		filters = append(filters, narrow)
		require.NoError(t, s.Narrow(narrow))
	}
	var want []string
	for row := range rows {
		at := func(path string) (cell, column.Type) { return columns[path[0]-'a'][row], types[path] }
		if referenceEval(And(filters...), at) == yes {
			line := []any{}
			for _, f := range s.Schema() {
				v := cell(int64(row))
				if f.Name != "#" {
					v = columns[f.Name[0]-'a'][row]
				}
				if text, ok := v.(string); ok && slices.Contains(o.Lengths, f.Name) {
					v = int64(len(text))
				}
				line = append(line, v)
			}
			want = append(want, fmt.Sprintf("%q", line))
		}
	}
	var got []string
	for b, err := range s.All(context.Background()) {
		require.NoError(t, err)
		require.NoError(t, b.Check())
		for row := range b.Rows {
			line := []any{}
			for i := range b.Columns {
				line = append(line, b.Columns[i].Value(row))
			}
			got = append(got, fmt.Sprintf("%q", line))
		}
	}
	require.Equal(t, want, got, "%v", And(filters...))
}

func TestTextsEqualReference(t *testing.T) {
	for seed := range uint64(80) {
		checkTexts(t, seed, 1+int(seed*seed%3000), 1+int(seed*7%300))
	}
}

// FuzzTexts filters random texts.
func FuzzTexts(f *testing.F) {
	f.Add(uint64(1), uint16(100), uint16(50))
	f.Add(uint64(2), uint16(4000), uint16(500))
	f.Fuzz(func(t *testing.T, seed uint64, pageBytes, batchRows uint16) {
		checkTexts(t, seed, 1+int(pageBytes), 1+int(batchRows))
	})
}

// TestFilterTextsSparesColumn requires that plain texts that only the filter needs are not copied.
func TestFilterTextsSparesColumn(t *testing.T) {
	words := make([]string, 20000)
	for i := range words {
		words[i] = strings.Repeat("a", i%7)
	}
	b := column.NewBatch(column.Strings("s", words), column.Of("i", make([]int64, len(words))))
	d := openBytes(t, writeBatches(t, b.Schema(), WriterOptions{NoDictionary: true, PageBytes: 50_000}, b))
	s, err := d.Scan(Options{Columns: []string{"i"}, Filter: And(Ne("s", ""), Contains("s", "aaa"))})
	require.NoError(t, err)
	rows := 0
	r, err := s.Reader(s.SplitByCount(1)[0])
	require.NoError(t, err)
	var got column.Batch
	for r.ReadInto(context.Background(), &got) == nil {
		require.False(t, r.current.got[1])
		rows += got.Rows
	}
	require.Equal(t, 11428, rows)
}
