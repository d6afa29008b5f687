// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/parquetscan/internal/arrowtest"
)

// Writers with Workers, compared with the Writer without: the same bytes.

// writeBoth returns the files of a Writer without Workers and of one with them.
func writeBoth(t testing.TB, fields column.Schema, o parquetscan.WriterOptions, batches []*column.Batch) (one, several []byte) {
	t.Helper()
	write := func(workers int) []byte {
		o.Workers = workers
		var buf bytes.Buffer
		w, err := parquetscan.NewWriter(&buf, fields, o)
		require.NoError(t, err)
		for _, b := range batches {
			b = b.Clone()
			require.NoError(t, w.Write(b))
			for i := range b.Columns { // the batch is the caller's again
				clear(b.Columns[i].Values)
				clear(b.Columns[i].Offsets)
			}
		}
		require.NoError(t, w.Close())
		return buf.Bytes()
	}
	return write(0), write(3)
}

// randomOptions returns options with which files of a few rows have several row groups and pages.
func randomOptions(g *arrowtest.Generator) parquetscan.WriterOptions {
	return parquetscan.WriterOptions{
		Codec: allCodecs[g.Rand.IntN(len(allCodecs))], DataPageV2: g.Rand.IntN(2) == 0, NoDictionary: g.Rand.IntN(2) == 0,
		NoPageIndex: g.Rand.IntN(4) == 0, PageBytes: []int{0, 1, 300}[g.Rand.IntN(3)],
		RowGroupRows: []int{0, 1, 7, 50}[g.Rand.IntN(4)], RowGroupBytes: []int{0, 1, 1000}[g.Rand.IntN(3)],
	}
}

// testWorkers writes random batches of random columns with and without Workers.
func testWorkers(t testing.TB, seed uint64) {
	g := generatorOf(seed)
	o, fields := randomOptions(g), g.Fields(1+g.Rand.IntN(5), 3)
	w := written{fields: fields, values: make([][]any, len(fields))}
	var batches []*column.Batch
	for range g.Rand.IntN(4) {
		b := &column.Batch{Rows: g.Rand.IntN(80)}
		for i, f := range fields {
			values := g.Values(f, b.Rows)
			w.values[i] = append(w.values[i], values...)
			b.Columns = append(b.Columns, g.Column(f, values))
		}
		batches = append(batches, b)
	}
	var one []byte
	one, w.data = writeBoth(t, fields, o, batches)
	require.True(t, bytes.Equal(one, w.data), "the file depends on Workers")
	w.check(t)
}

func TestWriterWorkers(t *testing.T) {
	for range soak.Rounds(20) {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) { testWorkers(t, seed) })
	}
}

func FuzzWriterWorkers(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(testWorkersOf)
}

func testWorkersOf(t *testing.T, seed uint64) { testWorkers(t, seed) }

// TestWriterFewWorkers writes several row groups with one goroutine and with two.
func TestWriterFewWorkers(t *testing.T) {
	b := column.NewBatch(column.Of("n", make([]int64, 100)))
	write := func(workers int) []byte {
		var buf bytes.Buffer
		w, err := parquetscan.NewWriter(&buf, b.Schema(), parquetscan.WriterOptions{RowGroupRows: 30, Workers: workers})
		require.NoError(t, err)
		require.NoError(t, w.Write(b))
		require.NoError(t, w.Close())
		return buf.Bytes()
	}
	for _, workers := range []int{1, 2} {
		file := write(workers)
		require.Equal(t, 4, openFile(t, file).NumRowGroups())
		require.Equal(t, write(0), file)
	}
}

// TestWriterWorkersFilters compares Bloom filters, and finds values of each row group in its own.
func TestWriterWorkersFilters(t *testing.T) {
	fields := column.Schema{{Name: "n", Type: kindOf(column.Int64)}, {Name: "s", Type: kindOf(column.String)}}
	numbers, texts := make([]int64, 3000), make([]string, 3000)
	for i := range numbers {
		numbers[i], texts[i] = int64(i), fmt.Sprint(i)
	}
	b := &column.Batch{Rows: len(numbers), Columns: []column.Column{column.Of("n", numbers), column.Strings("s", texts)}}
	one, several := writeBoth(t, fields, parquetscan.WriterOptions{
		RowGroupRows: 500, BloomFilters: []string{"n", "s"}, Metadata: map[string]string{"a": "b"},
	}, []*column.Batch{b})
	f := openFile(t, several)
	require.Equal(t, "b", *f.MetaData().KeyValueMetadata().FindValue("a"))
	for group := range f.NumRowGroups() {
		filters, err := f.GetBloomFilterReader().RowGroup(group)
		require.NoError(t, err)
		filter, err := filters.GetColumnBloomFilter(1)
		require.NoError(t, err)
		found := 0
		for i, text := range texts {
			has := filter.CheckHash(filter.Hasher().Sum64([]byte(text)))
			require.True(t, has || i/500 != group, "row %d in row group %d", i, group)
			if has {
				found++
			}
		}
		require.Less(t, found, 1000)
	}
	require.True(t, bytes.Equal(one, several), "the file depends on Workers")
}

// TestWriterWorkersErrors: the error of a value in a row group that a goroutine encodes ends the Writer.
func TestWriterWorkersErrors(t *testing.T) {
	fields := column.Schema{{Name: "d", Type: column.Type{Kind: column.Decimal64, Precision: 3}}}
	batch := func(v int64) *column.Batch {
		c := column.Of("d", []int64{v})
		c.Type = fields[0].Type
		return &column.Batch{Rows: 1, Columns: []column.Column{c}}
	}
	for bad := range 6 {
		var buf bytes.Buffer
		w, err := parquetscan.NewWriter(&buf, fields, parquetscan.WriterOptions{RowGroupRows: 1, Workers: 2})
		require.NoError(t, err)
		var first error
		for i := range 6 {
			v := int64(999)
			if i == bad {
				v = 1000
			}
			first = cmp.Or(first, w.Write(batch(v)))
		}
		err = w.Close()
		require.ErrorIs(t, err, parquetscan.ErrOutOfRange, "row %d", bad)
		require.ErrorContains(t, err, "parquetscan: column d")
		if first != nil {
			require.Equal(t, first, err)
		}
		require.Equal(t, err, w.Close())
	}
	_, err := parquetscan.NewWriter(&bytes.Buffer{}, fields, parquetscan.WriterOptions{Workers: -1})
	require.ErrorContains(t, err, "Workers is -1")
}
