// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan/internal/arrowtest"
)

// Statistics, page indexes and Bloom filters of all leaves, compared with those that arrow-go computes from the values
// that it reads.

// A leafCase is a column chunk of a file.
type leafCase struct {
	leaf    *schema.Column
	reader  file.ColumnChunkReader
	chunk   *metadata.ColumnChunkMetaData
	offsets *metadata.OffsetIndex
	index   metadata.ColumnIndex // nil means none
	filter  metadata.BloomFilter // nil means none
	rows    int64
}

// A batchReader reads values of T.
type batchReader[T any] interface {
	ReadBatch(batchSize int64, values []T, def, rep []int16) (total int64, valuesRead int, err error)
}

// allScalars are the fields without children.
var allScalars = append(arrowtest.Scalars(true), arrowtest.Scalars(false)...)

// check compares the column chunk with its values.
func (c *leafCase) check(t testing.TB) {
	t.Helper()
	switch r := c.reader.(type) {
	case *file.BooleanColumnChunkReader:
		checkLeaf[bool](t, c, r)
	case *file.Int32ColumnChunkReader:
		checkLeaf[int32](t, c, r)
	case *file.Int64ColumnChunkReader:
		checkLeaf[int64](t, c, r)
	case *file.Float32ColumnChunkReader:
		checkLeaf[float32](t, c, r)
	case *file.Float64ColumnChunkReader:
		checkLeaf[float64](t, c, r)
	case *file.ByteArrayColumnChunkReader:
		checkLeaf[parquet.ByteArray](t, c, r)
	case *file.FixedLenByteArrayColumnChunkReader:
		checkLeaf[parquet.FixedLenByteArray](t, c, r)
	default:
		require.Fail(t, "unknown physical type")
	}
}

func checkLeaf[T parquet.ColumnTypes](t testing.TB, c *leafCase, r batchReader[T]) {
	t.Helper()
	n := c.chunk.NumValues()
	values, def, rep := make([]T, n), make([]int16, n), make([]int16, n)
	entries, count := int64(0), 0
	for entries < n {
		got, valuesRead, err := r.ReadBatch(n-entries, values[count:], def[entries:], rep[entries:])
		require.NoError(t, err)
		require.Positive(t, got)
		entries, count = entries+got, count+valuesRead
	}
	values = values[:count]
	stats := func(values []T, entries int) metadata.EncodedStatistics {
		s := metadata.NewStatistics(c.leaf, memory.DefaultAllocator)
		s.(interface {
			Update(values []T, numNull int64)
		}).Update(values, int64(entries-len(values)))
		out, err := s.Encode()
		require.NoError(t, err)
		out.ApplyStatSizeLimits(4096)
		return out
	}
	c.checkStatistics(t, stats(values, int(n)))
	if c.filter != nil {
		for _, hash := range metadata.GetHashes(c.filter.Hasher(), values) {
			require.True(t, c.filter.CheckHash(hash))
		}
	}
	if c.offsets == nil {
		require.Nil(t, c.index)
		return
	}
	pages := c.checkLocations(t)
	want := metadata.NewColumnIndexBuilder(c.leaf)
	row, from, used := int64(-1), 0, 0 // row of the last entry; first entry and value of the page
	end := func(at, page int) {
		k := 0
		for i := from; i < at; i++ {
			if def[i] == c.leaf.MaxDefinitionLevel() {
				k++
			}
		}
		s := stats(values[used:used+k], at-from)
		require.NoError(t, want.AddPage(&s), "page %d", page)
		from, used = at, used+k
	}
	page := 0
	for i := range def {
		if rep[i] == 0 {
			row++
		}
		for page+1 < len(pages) && row == pages[page+1] && rep[i] == 0 {
			end(i, page)
			page++
		}
	}
	end(len(def), page)
	require.Equal(t, c.rows, row+1)
	require.NoError(t, want.Finish())
	c.checkIndex(t, want.Build())
}

// checkStatistics compares the statistics in the footer.
func (c *leafCase) checkStatistics(t testing.TB, want metadata.EncodedStatistics) {
	t.Helper()
	ok, err := c.chunk.StatsSet()
	require.NoError(t, err)
	require.True(t, ok)
	got, err := c.chunk.Statistics()
	require.NoError(t, err)
	require.Equal(t, want.NullCount, got.NullCount(), "NULLs")
	require.Equal(t, want.HasMin || want.HasMax, got.HasMinMax())
	if want.HasMin {
		require.Equal(t, want.Min, got.EncodeMin())
	}
	if want.HasMax {
		require.Equal(t, want.Max, got.EncodeMax())
	}
}

// checkLocations checks that the pages fill the column chunk, and returns the first row of each.
func (c *leafCase) checkLocations(t testing.TB) (rows []int64) {
	t.Helper()
	at := c.chunk.DataPageOffset()
	for _, l := range (*c.offsets).GetPageLocations() {
		require.Equal(t, at, l.Offset)
		at += int64(l.CompressedPageSize)
		rows = append(rows, l.FirstRowIndex)
	}
	start := c.chunk.DataPageOffset()
	if c.chunk.HasDictionaryPage() {
		start = c.chunk.DictionaryPageOffset()
	}
	require.Equal(t, start+c.chunk.TotalCompressedSize(), at)
	require.Zero(t, rows[0])
	return rows
}

func (c *leafCase) checkIndex(t testing.TB, want metadata.ColumnIndex) {
	t.Helper()
	if want == nil {
		require.Nil(t, c.index)
		return
	}
	require.NotNil(t, c.index)
	require.Equal(t, want.GetNullPages(), c.index.GetNullPages())
	require.Equal(t, want.GetNullCounts(), c.index.GetNullCounts())
	require.Equal(t, want.GetMinValues(), c.index.GetMinValues())
	require.Equal(t, want.GetMaxValues(), c.index.GetMaxValues())
	require.Equal(t, want.GetBoundaryOrder(), c.index.GetBoundaryOrder())
}

// checkLeaves checks all column chunks of a file.
func checkLeaves(t testing.TB, f *file.Reader) {
	t.Helper()
	for g := range f.NumRowGroups() {
		group := f.RowGroup(g)
		indexes, err := f.GetPageIndexReader().RowGroup(g)
		require.NoError(t, err)
		filters, err := f.GetBloomFilterReader().RowGroup(g)
		require.NoError(t, err)
		for i := range f.MetaData().Schema.NumColumns() {
			c := leafCase{leaf: f.MetaData().Schema.Column(i), rows: group.NumRows()}
			c.chunk, err = group.MetaData().ColumnChunk(i)
			require.NoError(t, err)
			c.reader, err = group.Column(i)
			require.NoError(t, err)
			if indexes != nil && c.chunk.GetOffsetIndexLocation() != nil {
				offsets, err := indexes.GetOffsetIndex(i)
				require.NoError(t, err)
				c.offsets = &offsets
				c.index, err = indexes.GetColumnIndex(i)
				require.NoError(t, err)
			}
			if filters != nil {
				c.filter, err = filters.GetColumnBloomFilter(i)
				require.NoError(t, err)
			}
			c.check(t)
		}
	}
}

// checkFile writes random batches of random columns, and checks what arrow-go reads.
func checkFile(t testing.TB, seed uint64) {
	g := generatorOf(seed)
	fields := g.Fields(1+g.Rand.IntN(4), 3)
	if g.Rand.IntN(4) == 0 {
		fields = fields[:0]
		for _, i := range g.Rand.Perm(len(allScalars))[:4] {
			fields = append(fields, allScalars[i])
		}
	}
	o := randomOptions(g)
	for _, f := range fields {
		if f.Type.Kind != column.Bool && !f.Type.Kind.IsNested() && g.Rand.IntN(2) == 0 {
			o.BloomFilters = append(o.BloomFilters, f.Name)
		}
	}
	rows := make([]int, g.Rand.IntN(4))
	for i := range rows {
		rows[i] = g.Rand.IntN(80)
	}
	checkLeaves(t, writeRandom(t, g, fields, o, rows...).check(t))
}

func TestWriterLeaves(t *testing.T) {
	soak.NoRace(t)
	for range soak.Rounds(60) {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) { checkFile(t, seed) })
	}
}

func FuzzWriterLeaves(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkFile(t, seed) })
}
