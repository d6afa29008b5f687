// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/parquetscan/internal/arrowtest"
)

// Writers with Workers, compared with the Writer without: the same row groups, pages, statistics, filters and indexes.

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

// requireSamePages fails unless two files have equal row groups. Only the places of their parts, and the order of
// entries that arrow-go takes from a map, may differ.
func requireSamePages(t testing.TB, one, several []byte) {
	t.Helper()
	a, b := openFile(t, one), openFile(t, several)
	require.Equal(t, a.MetaData().KeyValueMetadata(), b.MetaData().KeyValueMetadata())
	require.True(t, a.MetaData().Schema.Equals(b.MetaData().Schema))
	require.Equal(t, a.NumRows(), b.NumRows())
	require.Equal(t, a.NumRowGroups(), b.NumRowGroups())
	for i := range a.NumRowGroups() {
		require.Equal(t, pagesOf(t, one, a.MetaData(), i), pagesOf(t, several, b.MetaData(), i), "row group %d", i)
	}
}

// pagesOf returns what a row group has: the metadata of its column chunks with offsets of 0, and the bytes at the
// offsets, those of the offset index relative to the chunk.
func pagesOf(t testing.TB, data []byte, meta *metadata.FileMetaData, number int) (all []any) {
	at := func(offset int64, size int32) []byte { return data[offset:][:size] }
	group := meta.RowGroups[number]
	require.EqualValues(t, number, group.GetOrdinal())
	require.Equal(t, group.Columns[0].FileOffset, group.GetFileOffset())
	all = append(all, group.NumRows, group.TotalByteSize, group.GetTotalCompressedSize())
	for _, c := range group.Columns {
		m := c.MetaData
		start := c.FileOffset
		if m.DictionaryPageOffset != nil {
			require.Equal(t, start, *m.DictionaryPageOffset)
			*m.DictionaryPageOffset = 0
		}
		all = append(all, data[start:][:m.TotalCompressedSize], m.DataPageOffset-start)
		m.DataPageOffset, c.FileOffset = 0, 0
		if m.BloomFilterOffset != nil {
			all = append(all, at(*m.BloomFilterOffset, m.GetBloomFilterLength()))
			*m.BloomFilterOffset = 0
		}
		if c.ColumnIndexOffset != nil {
			all = append(all, at(*c.ColumnIndexOffset, c.GetColumnIndexLength()))
			*c.ColumnIndexOffset = 0
		}
		if c.OffsetIndexOffset != nil {
			for _, p := range metadata.NewOffsetIndex(at(*c.OffsetIndexOffset, c.GetOffsetIndexLength()), nil, nil).GetPageLocations() {
				all = append(all, p.Offset-start, p.CompressedPageSize, p.FirstRowIndex)
			}
			c.OffsetIndexOffset, c.OffsetIndexLength = nil, nil // the length depends on the offsets
		}
		var stats []string
		for _, s := range m.EncodingStats {
			stats = append(stats, fmt.Sprint(s))
		}
		slices.Sort(stats)
		m.EncodingStats = nil
		rest, err := json.Marshal(c)
		require.NoError(t, err)
		all = append(all, stats, string(rest))
	}
	return all
}

// randomOptions returns options with which files of a few rows have several row groups and pages.
func randomOptions(g *arrowtest.Generator) parquetscan.WriterOptions {
	return forArrow(parquetscan.WriterOptions{
		Codec: allCodecs[g.Rand.IntN(len(allCodecs))], DataPageV2: g.Rand.IntN(2) == 0, NoDictionary: g.Rand.IntN(2) == 0,
		NoPageIndex: g.Rand.IntN(4) == 0, PageBytes: []int{0, 1, 300}[g.Rand.IntN(3)],
		RowGroupRows: []int{0, 1, 7, 50}[g.Rand.IntN(4)], RowGroupBytes: []int{0, 1, 1000}[g.Rand.IntN(3)],
	})
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
	requireSamePages(t, one, w.data)
	w.check(t)
}

func TestWriterWorkers(t *testing.T) {
	for range parquetscan.Rounds(20) {
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
		requireSamePages(t, write(0), file)
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
	requireSamePages(t, one, several) // last, because it changes the metadata
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
