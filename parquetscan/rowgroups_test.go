// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// checkReference returns an error if footer.New must reject a footer that arrow-go parses.
func checkReference(md *metadata.FileMetaData) error {
	rows := int64(0)
	for i, g := range md.RowGroups {
		if g.NumRows < 0 || rows+g.NumRows < rows || len(g.Columns) != md.Schema.NumColumns() {
			return failure.Corrupt("row group %d", i)
		}
		rows += g.NumRows
	}
	if rows != md.NumRows && md.NumRows != 0 {
		return failure.Corrupt("%d rows, not %d", rows, md.NumRows)
	}
	return nil
}

// valueOr returns *p, or none if p is nil.
func valueOr[T any](p *T, none T) T {
	if p == nil {
		return none
	}
	return *p
}

// exactOf returns a boolean of Statistics as it is encoded.
func exactOf(p *bool) byte {
	switch {
	case p == nil:
		return 0
	case *p:
		return thrift.True
	}
	return thrift.False
}

// chunkReference returns the metadata and the statistics of a column chunk as arrow-go parses them, without places.
func chunkReference(md *metadata.FileMetaData, group, leaf int) (m footer.ChunkMeta, s footer.Statistics, hasStatistics bool, levels []int64) {
	c := md.RowGroups[group].Columns[leaf]
	m.Path, m.Encrypted = c.GetFilePath(), c.CryptoMetadata != nil
	m.ColumnIndex = footer.Section{Offset: valueOr(c.ColumnIndexOffset, 0), Length: int64(valueOr(c.ColumnIndexLength, 0))}
	m.OffsetIndex = footer.Section{Offset: valueOr(c.OffsetIndexOffset, 0), Length: int64(valueOr(c.OffsetIndexLength, 0))}
	if c.MetaData == nil {
		return m, s, false, nil
	}
	d := c.MetaData
	m.ColumnMeta = footer.ColumnMeta{
		Known: true, Codec: format.Codec(d.Codec), Values: d.NumValues, Uncompressed: d.TotalUncompressedSize, Compressed: d.TotalCompressedSize,
		Data: d.DataPageOffset, Dictionary: valueOr(d.DictionaryPageOffset, 0),
		Bloom: footer.Section{Offset: valueOr(d.BloomFilterOffset, 0), Length: int64(valueOr(d.BloomFilterLength, 0))},
	}
	if d.SizeStatistics != nil {
		levels = d.SizeStatistics.DefinitionLevelHistogram
	}
	if d.Statistics == nil {
		return m, s, false, levels
	}
	t := d.Statistics
	s = footer.Statistics{
		Min: t.Min, Max: t.Max, MinValue: t.MinValue, MaxValue: t.MaxValue, Nulls: valueOr(t.NullCount, -1), Nans: valueOr(t.NanCount, -1),
		MinExact: exactOf(t.IsMinValueExact), MaxExact: exactOf(t.IsMaxValueExact),
	}
	return m, s, true, levels
}

// toleratesMore reports whether a footer is valid, although arrow-go refuses it: an empty list may have elements of any
// type, and arrow-go's number of digits of a decimal overflows at 129 bytes.
func toleratesMore(got *footer.Footer, arrow error) bool {
	if strings.Contains(arrow.Error(), "don't know what type") {
		return true
	}
	return got != nil && strings.Contains(arrow.Error(), "Decimal") &&
		slices.ContainsFunc(got.Leaves, func(l *footer.Leaf) bool { return l.Stored > 128 })
}

// requireFooter compares a footer with arrow-go's, if arrow-go parses it. It returns false if it does not. Integers of
// more than 32 bits, which arrow-go truncates, are errors unless all chunks must be valid.
func requireFooter(t testing.TB, raw []byte, valid bool) bool {
	t.Helper()
	got, err := footer.New(bytes.Clone(raw))
	if err != nil && strings.Contains(err.Error(), "not a valid FileMetaData") || hasEmptyGroup(raw) {
		return false
	}
	if _, wantErr := arrowFooter(withoutRowGroups(raw)); wantErr != nil && !toleratesMore(got, wantErr) {
		require.Error(t, err, "%v", wantErr)
	}
	want, wantErr := arrowFooter(raw)
	if wantErr != nil {
		return false
	}
	wantErr = checkReference(want)
	if errors.Is(err, ErrUnsupported) { // a physical type that the format does not define
		return true
	}
	require.Equal(t, wantErr == nil, err == nil, "%v, want %v", err, wantErr)
	if err != nil {
		return true
	}
	requireLeaves(t, got, want.Schema)
	require.Equal(t, want.KeyValueMetadata().Len(), len(got.KeyValues))
	for i, kv := range want.KeyValueMetadata() {
		require.Equal(t, kv.Key, string(got.KeyValues[i].Key))
		require.Equal(t, kv.Value != nil, got.KeyValues[i].Value != nil)
		require.Equal(t, kv.GetValue(), string(got.KeyValues[i].Value))
	}
	require.Equal(t, want.GetCreatedBy(), got.CreatedBy)
	require.Len(t, got.Groups, len(want.RowGroups))
	for g := range got.Groups {
		require.Equal(t, want.RowGroups[g].NumRows, got.Groups[g].Rows)
		for leaf := range got.Groups[g].Chunks {
			m, err := got.PlainChunk(g, leaf)
			if err != nil && !valid {
				require.ErrorIs(t, err, ErrCorrupt)
				continue
			}
			require.NoError(t, err)
			wantMeta, wantStats, wantHas, wantLevels := chunkReference(want, g, leaf)
			stats, has := got.Statistics(&m)
			require.Equal(t, wantHas, has)
			if has {
				require.Equal(t, wantStats, stats)
			}
			levels := got.DefinitionLevels(&m, len(wantLevels))
			require.Equal(t, append([]int64{}, wantLevels...), append([]int64{}, levels...))
			require.Nil(t, got.DefinitionLevels(&m, len(wantLevels)+1))
			m.Statistics, m.Sizes = 0, 0
			m = footer.ChunkMeta{ColumnMeta: m.ColumnMeta, Path: m.Path, ColumnIndex: m.ColumnIndex, OffsetIndex: m.OffsetIndex, Encrypted: m.Encrypted}
			require.Equal(t, wantMeta, m, "row group %d, leaf %d", g, leaf)
		}
	}
	return true
}

// footerSeeds are footers of all types and options, with several row groups.
func footerSeeds(t testing.TB) (all [][]byte) {
	for _, b := range fuzzFiles(t) {
		all = append(all, footerOf(b))
	}
	all = append(all, footerOf(indexedFile(t).bytes))
	return append(all, footerOf(wideFile(t, 20, 3)))
}

// wideFile returns a file of columns of int64 whose row groups have one row.
func wideFile(t testing.TB, columns, groups int) []byte {
	values := make([]int64, groups)
	all := make([]column.Column, columns)
	for i := range all {
		all[i] = column.Of(fmt.Sprint("c", i), values)
	}
	b := column.NewBatch(all...)
	return writeBatches(t, b.Schema(), WriterOptions{RowGroupRows: 1, Codec: Uncompressed}, b)
}

// TestFooterEqualsArrow compares footers with arrow-go's.
func TestFooterEqualsArrow(t *testing.T) {
	for i, raw := range footerSeeds(t) {
		require.True(t, requireFooter(t, raw, true), "seed %d", i)
	}
}

func FuzzFooter(f *testing.F) {
	for _, raw := range footerSeeds(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) { requireFooter(t, raw, false) })
}

// TestFooterAllocations opens a file of many column chunks. Only the schema and row groups are allocated, not chunks.
func TestFooterAllocations(t *testing.T) {
	few, many := footerOf(wideFile(t, 50, 1)), footerOf(wideFile(t, 50, 21))
	allocations := func(raw []byte) float64 {
		return testing.AllocsPerRun(10, func() {
			_, err := footer.New(raw)
			require.NoError(t, err)
		})
	}
	require.LessOrEqual(t, allocations(many)-allocations(few), 25.0, "20 row groups, and 1,000 chunks")
	f, err := footer.New(many)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		m, err := f.PlainChunk(20, 49)
		_, ok := f.Statistics(&m)
		if err != nil || !ok {
			t.Error(err)
		}
	}))
}

// TestOddChunks reads footers with column chunks that lack what a reader needs.
func TestOddChunks(t *testing.T) {
	// metadata returns a writer of a column chunk's metadata, in which another function writes the field of that id.
	metadata := func(id int16, field func(w *compactWriter)) func(w *compactWriter) {
		return func(w *compactWriter) {
			w.begin(3)
			for _, f := range [][2]int64{{4, 0}, {5, 1}, {6, 8}, {7, 8}, {9, 4}} {
				switch {
				case int16(f[0]) == id:
					field(w)
				case f[0] == 4:
					w.i32(4, f[1])
				default:
					w.i64(int16(f[0]), f[1])
				}
			}
			w.end()
		}
	}
	for name, c := range map[string]struct {
		chunk func(w *compactWriter)
		is    error
		known bool
	}{
		"good":                 {metadata(0, nil), nil, true},
		"no metadata":          {func(w *compactWriter) { w.i64(2, 4) }, ErrCorrupt, false},
		"encrypted":            {func(w *compactWriter) { w.begin(8); w.end() }, ErrEncrypted, false},
		"no offset":            {metadata(9, func(*compactWriter) {}), ErrCorrupt, false},
		"size of a wrong type": {metadata(7, func(w *compactWriter) { w.i32(7, 8) }), ErrCorrupt, false},
		"codec of 33 bits":     {metadata(4, func(w *compactWriter) { w.i32(4, 1<<32) }), ErrCorrupt, false},
	} {
		w := footerOfGroup(1, func(w *compactWriter) {
			w.list(1, thrift.Struct, 1)
			w.open()
			c.chunk(w)
			w.end()
			w.i64(2, 8)
			w.i64(3, 1)
		})
		f, err := footer.New(w.b)
		require.NoError(t, err, name)
		_, err = (&footer.File{Footer: f}).Chunk(0, 0)
		require.ErrorIs(t, err, c.is, name)
		m, _ := f.PlainChunk(0, 0)
		require.Equal(t, c.known, m.Known, name)
	}
}

// TestOddRowGroups reads footers whose row groups contradict themselves.
func TestOddRowGroups(t *testing.T) {
	for name, group := range map[string]func(w *compactWriter){
		"no chunks":         func(w *compactWriter) { w.i64(3, 1) },
		"no rows":           func(w *compactWriter) { w.list(1, thrift.Struct, 1); w.b = append(w.b, 0) },
		"negative rows":     func(w *compactWriter) { w.list(1, thrift.Struct, 1); w.b = append(w.b, 0); w.i64(3, -1) },
		"two chunks":        func(w *compactWriter) { w.list(1, thrift.Struct, 2); w.b = append(w.b, 0, 0); w.i64(3, 1) },
		"chunks of numbers": func(w *compactWriter) { w.list(1, thrift.I32, 1); w.b = append(w.b, 0); w.i64(3, 1) },
		"too many chunks":   func(w *compactWriter) { w.list(1, thrift.Struct, 1<<31) },
		"other rows":        func(w *compactWriter) { w.list(1, thrift.Struct, 1); w.b = append(w.b, 0); w.i64(3, 2) },
	} {
		_, err := footer.New(footerOfGroup(1, group).b)
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
	// The sum of rows exceeds an int64.
	w := newCompact()
	w.i32(1, 2)
	w.list(2, thrift.Struct, 2)
	w.element("schema", -1, -1, convertedNever, 1)
	w.element("n", physicalInt64, required, convertedNever, 0)
	w.i64(3, 0)
	w.list(4, thrift.Struct, 2)
	for range 2 {
		w.open()
		w.list(1, thrift.Struct, 1)
		w.b = append(w.b, 0)
		w.i64(3, 1<<62)
		w.end()
	}
	w.end()
	_, err := footer.New(w.b)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "row group 1 has 4611686018427387904 rows")
}

// TestClaimsOfValues reads lists whose column chunk claims more values than it has: up to 2^62 bytes are a poor
// estimate of a row, and more an error.
func TestClaimsOfValues(t *testing.T) {
	c := numberColumn(plainPage(3, append([]byte{2, 0, 0, 0, 3 << 1, 0, 2, 0, 0, 0, 3 << 1, 1}, int64s(0, 3)...)))
	c.repetition = repeated
	for values, message := range map[int64]string{
		3: "", 1 << 59: "", 1<<59 + 1: "column chunk has 576460752303423489 values", 1<<63 - 1: "column chunk has 9223372036854775807 values",
	} {
		c.values = values
		s := scanOf(t, openSources(t, Config{}, oneColumn(3, c)), Options{})
		var got []int64
		var last error
		for b, err := range s.Batches(t.Context(), everything(s)) {
			if last = err; err == nil {
				got = append(got, valuesOf[int64](&b.Columns[0].Children[0])...)
			}
		}
		if message == "" {
			require.NoError(t, last, values)
			require.Equal(t, []int64{0, 1, 2}, got)
			continue
		}
		require.ErrorIs(t, last, ErrCorrupt)
		require.ErrorContains(t, last, message)
	}
}

// TestClaimsOfRows opens files whose row groups claim rows that their column chunks cannot have: without the check,
// their footers would be the count of rows.
func TestClaimsOfRows(t *testing.T) {
	numbers := numberColumn(plainPage(3, int64s(0, 3)))
	list := numbers
	list.repetition = repeated
	list.pages = [][]byte{plainPage(3, append([]byte{2, 0, 0, 0, 3 << 1, 0, 2, 0, 0, 0, 3 << 1, 1}, int64s(0, 3)...))}
	// A column of NULLs has as many rows in a page as its header can have.
	nulls := numberColumn(rawPage(rawHeader{n: 1<<31 - 1, uncompressed: -1}, append([]byte{6, 0, 0, 0}, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0)))
	nulls.name, nulls.repetition = "nulls", optional
	with := func(c handColumn, values int64) handColumn {
		c.values = values
		return c
	}
	renamed := func(c handColumn) handColumn {
		c.name = "m"
		return c
	}
	for name, c := range map[string]struct {
		groups []rawGroup
		fits   bool
	}{
		"numbers":                   {[]rawGroup{{3, []handColumn{with(numbers, 3)}}}, true},
		"lists":                     {[]rawGroup{{3, []handColumn{with(list, 3)}}}, true},
		"NULLs":                     {[]rawGroup{{1<<31 - 1, []handColumn{with(nulls, 1<<31-1)}}}, true},
		"another column fits":       {[]rawGroup{{3, []handColumn{with(numbers, 4), with(renamed(numbers), 3)}}}, true},
		"one row more":              {[]rawGroup{{4, []handColumn{with(numbers, 3)}}}, false},
		"one row less":              {[]rawGroup{{2, []handColumn{with(numbers, 3)}}}, false},
		"2^60 rows":                 {[]rawGroup{{1 << 60, []handColumn{with(numbers, 3)}}}, false},
		"2^60 rows and values":      {[]rawGroup{{1 << 60, []handColumn{with(numbers, 1<<60)}}}, false},
		"2^34 rows and values":      {[]rawGroup{{1 << 34, []handColumn{with(numbers, 1<<34)}}}, false},
		"2^60 rows of lists":        {[]rawGroup{{1 << 60, []handColumn{with(list, 3)}}}, false},
		"2^60 lists":                {[]rawGroup{{1 << 60, []handColumn{with(list, 1<<60)}}}, false},
		"rows of NULLs":             {[]rawGroup{{1 << 33, []handColumn{with(nulls, 1<<33)}}}, false},
		"the second row group":      {[]rawGroup{{3, []handColumn{with(numbers, 3)}}, {1 << 60, []handColumn{with(numbers, 1<<60)}}}, false},
		"none of two columns":       {[]rawGroup{{1 << 60, []handColumn{with(list, 1<<60), with(renamed(numbers), 1<<60)}}}, false},
		"a column without its data": {[]rawGroup{{1, []handColumn{{name: "n", physical: physicalInt64, converted: convertedNever, values: 1}}}}, false},
	} {
		d, err := Config{}.OpenSources(t.Context(), memorySource("file", rawFile(c.groups...)))
		if c.fits {
			require.NoError(t, err, name)
			count, err := scanOf(t, d, Options{Columns: []string{}}).Count(t.Context())
			require.NoError(t, err, name)
			require.Equal(t, c.groups[0].rows, count, name)
			require.NoError(t, d.Close())
			continue
		}
		require.ErrorIs(t, err, ErrCorrupt, name)
		requireTyped(t, err)
	}
}

// BenchmarkFooter parses the footer of a file of 100 columns and 10 row groups.
func BenchmarkFooter(b *testing.B) {
	raw := footerOf(wideFile(b, 100, 10))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := footer.New(raw); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDefinitionLevels reads the counts of definition levels in SizeStatistics, among other fields and alone.
func TestDefinitionLevels(t *testing.T) {
	counts := func(w *compactWriter, id int16, typ byte, n int) {
		w.list(id, typ, uint64(n))
		for i := range n {
			w.b = binary.AppendVarint(w.b, int64(10+i))
		}
	}
	for name, c := range map[string]struct {
		sizes func(w *compactWriter)
		want  []int64
	}{
		"alone": {func(w *compactWriter) { counts(w, 3, thrift.I64, 3) }, []int64{10, 11, 12}},
		"among others": {func(w *compactWriter) {
			w.i64(1, 7)
			counts(w, 2, thrift.I64, 2)
			counts(w, 3, thrift.I64, 3)
			w.i64(9, 1)
		}, []int64{10, 11, 12}},
		"none":          {func(w *compactWriter) { w.i64(1, 7) }, nil},
		"another count": {func(w *compactWriter) { counts(w, 3, thrift.I64, 4) }, nil},
		"another type":  {func(w *compactWriter) { counts(w, 3, thrift.I32, 3) }, nil},
	} {
		w := footerOfGroup(1, func(w *compactWriter) {
			w.list(1, thrift.Struct, 1)
			w.open()
			w.begin(3)
			w.i32(4, 0)
			for _, id := range []int16{5, 6, 7, 9} {
				w.i64(id, 1)
			}
			w.begin(16)
			c.sizes(w)
			w.end()
			w.end()
			w.end()
			w.i64(3, 1)
		})
		f, err := footer.New(w.b)
		require.NoError(t, err, name)
		m, err := f.PlainChunk(0, 0)
		require.NoError(t, err, name)
		require.True(t, m.Known)
		require.Equal(t, c.want, f.DefinitionLevels(&m, 3), name)
	}
}
