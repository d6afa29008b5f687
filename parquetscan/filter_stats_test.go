// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// Tests of statistics. They modify the parsed footers of files.

func le32(i int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(i)) }

func leDouble(f float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)) }

func ptr[T any](v T) *T { return &v }

// TestPruneOddStatistics checks that invalid statistics, or statistics of an unknown order, prune nothing, while other
// statistics still do. The filter matches no row.
func TestPruneOddStatistics(t *testing.T) {
	ints, texts, doubles, unsigned := column.Type{Kind: column.Int32}, column.Type{Kind: column.String}, column.Type{Kind: column.Float64}, column.Type{Kind: column.Uint32}
	text := func(i int) cell { return fmt.Sprint(i) }
	double := func(i int) cell { return float64(i) }
	for _, c := range []struct {
		name   string
		typ    column.Type
		value  func(i int) cell
		filter Filter
		change func(f *testFile)
		drops  bool
	}{
		{"untouched", ints, intCell, Gt("c", 100), func(*testFile) {}, true},
		{"no statistics", ints, intCell, Gt("c", 100), func(f *testFile) {
			f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics = nil
		}, false},
		{"no max", ints, intCell, Gt("c", 100), func(f *testFile) {
			s := f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics
			s.Max, s.MaxValue = nil, nil
		}, false},
		{"deprecated", ints, intCell, Gt("c", 100), func(f *testFile) {
			s := f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics
			s.MinValue, s.MaxValue = nil, nil
		}, true},
		{"deprecated, no orders", ints, intCell, Gt("c", 100), func(f *testFile) { f.reader.MetaData().ColumnOrders = nil }, true},
		{"deprecated text", texts, text, Gt("c", "x"), func(f *testFile) {
			s := f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics
			s.Min, s.Max, s.MinValue, s.MaxValue = s.MinValue, s.MaxValue, nil, nil
		}, false},
		{"deprecated unsigned", unsigned, intCell, Gt("c", 100), func(f *testFile) {
			s := f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics
			s.Min, s.Max, s.MinValue, s.MaxValue = s.MinValue, s.MaxValue, nil, nil
		}, false},
		{"text", texts, text, Gt("c", "x"), func(*testFile) {}, true},
		{"text, no orders", texts, text, Gt("c", "x"), func(f *testFile) { f.reader.MetaData().ColumnOrders = nil }, false},
		{"text, too few orders", texts, text, Gt("c", "x"), func(f *testFile) {
			f.reader.MetaData().ColumnOrders = f.reader.MetaData().ColumnOrders[:1]
		}, false},
		{"short", ints, intCell, Gt("c", 100), func(f *testFile) {
			f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.MaxValue = []byte{1}
		}, false},
		{"long", ints, intCell, Gt("c", 100), func(f *testFile) {
			f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.MaxValue = make([]byte, 5)
		}, false},
		{"min above max", ints, intCell, Gt("c", 100), func(f *testFile) {
			f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.MinValue = le32(50)
		}, false},
		{"NaN", doubles, double, Lt("c", -1), func(f *testFile) {
			f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.MaxValue = leDouble(math.NaN())
		}, false},
		{"NaN possible", doubles, double, Gt("c", 100), func(*testFile) {}, false},
		{"NaN counted", doubles, double, Gt("c", 100), func(f *testFile) {
			f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.NanCount = ptr(int64(0))
		}, true},
		{"NaN there", doubles, double, Gt("c", 100), func(f *testFile) {
			f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.NanCount = ptr(int64(1))
		}, false},
		{"-0", doubles, func(int) cell { return 0.0 }, Lt("c", 0), func(f *testFile) {
			s := f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics
			s.MinValue, s.MaxValue = leDouble(0), leDouble(math.Copysign(0, -1))
		}, true},
		{"values of other rows", ints, intCell, Gt("c", 100), func(f *testFile) {
			f.reader.MetaData().RowGroups[0].Columns[1].MetaData.NumValues++
		}, false},
		{"no NULLs", ints, intCell, IsNull("c"), func(*testFile) {}, true},
		{"no count of NULLs", ints, intCell, IsNull("c"), func(f *testFile) {
			f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.NullCount = nil
		}, false},
		{"negative NULLs", ints, intCell, IsNull("c"), func(f *testFile) {
			f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.NullCount = ptr(int64(-1))
		}, false},
		{"too many NULLs", ints, intCell, NotNull("c"), func(f *testFile) {
			f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.NullCount = ptr(int64(11))
		}, false},
		{"all NULL but not quite", ints, intCell, NotNull("c"), func(f *testFile) {
			f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.NullCount = ptr(int64(10))
		}, false},
		{"no metadata", ints, intCell, Gt("c", 100), func(f *testFile) { f.reader.MetaData().RowGroups[0].Columns[1].MetaData = nil }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := one.file(t, ramp(c.typ, 10, c.value), 10)
			c.change(f)
			if c.drops {
				require.Equal(t, [][]testRange{nil}, f.pruned(t, c.filter))
			} else {
				require.Equal(t, [][]testRange{{{0, 10}}}, f.pruned(t, c.filter))
			}
		})
	}
}

// TestPruneOldWriters checks that wrong statistics of old writers prune nothing.
func TestPruneOldWriters(t *testing.T) {
	text := func(i int) cell { return fmt.Sprint(i) }
	for by, drops := range map[string]bool{
		"parquet-cpp version 1.2.0": false, "parquet-mr version 1.7.0": false, "parquet-mr version 1.12.0": true, "": true,
	} {
		f := one.file(t, ramp(column.Type{Kind: column.String}, 10, text), 10, parquet.WithCreatedBy(by))
		require.Equal(t, drops, f.pruned(t, Gt("c", "x"))[0] == nil, by)
	}
}

// TestPruneCut checks truncated bounds: "b" to "d" for values that begin with b and c.
func TestPruneCut(t *testing.T) {
	f := one.file(t, ramp(column.Type{Kind: column.String}, 10, func(i int) cell { return []string{"bb", "cc"}[i%2] }), 10)
	s := f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics
	s.MinValue, s.MaxValue, s.IsMinValueExact, s.IsMaxValueExact = []byte("b"), []byte("d"), ptr(false), ptr(false)
	require.Nil(t, f.pruned(t, Gt("c", "d"))[0])
	require.Nil(t, f.pruned(t, Lt("c", "b"))[0])
	require.NotNil(t, f.pruned(t, Ge("c", "d"))[0])
	require.NotNil(t, f.pruned(t, Gt("c", "cc"))[0])
	require.NotNil(t, f.pruned(t, Le("c", "b"))[0])
	lo, hi, nulls, exact, ok := statisticsOf(f.data(t), 0, 1, f.types["c"])
	require.Equal(t, []any{"b", "d", int64(0), false, true}, []any{lo, hi, nulls, exact, ok})
	s.MinValue, s.MaxValue, s.IsMinValueExact, s.IsMaxValueExact = []byte("bb"), []byte("cc"), ptr(true), ptr(true)
	_, hi, _, exact, _ = statisticsOf(f.data(t), 0, 1, f.types["c"])
	require.Equal(t, []any{"cc", true}, []any{hi, exact})
}

func TestStatisticsOf(t *testing.T) {
	text := func(c string) func(int) cell {
		return func(i int) cell { return strings.Repeat(c, 2) + string(rune('a'+i)) }
	}
	for _, c := range []struct {
		typ    column.Type
		value  func(i int) cell
		lo, hi any
		exact  bool
	}{
		{column.Type{Kind: column.Bool}, func(i int) cell { return intCell(i / 9) }, false, true, true},
		{column.Type{Kind: column.Int8}, intCell, int8(0), int8(9), true},
		{column.Type{Kind: column.Int16}, func(i int) cell { return intCell(-i) }, int16(-9), int16(0), true},
		{column.Type{Kind: column.Int32}, intCell, int32(0), int32(9), true},
		{column.Type{Kind: column.Int64}, intCell, int64(0), int64(9), true},
		{column.Type{Kind: column.Uint8}, func(i int) cell { return intCell(200 + i) }, uint8(200), uint8(209), true},
		{column.Type{Kind: column.Uint16}, intCell, uint16(0), uint16(9), true},
		{column.Type{Kind: column.Uint32}, func(i int) cell { return big.NewInt(math.MaxUint32 - int64(i)) }, uint32(math.MaxUint32 - 9), uint32(math.MaxUint32), true},
		{
			column.Type{Kind: column.Uint64},
			func(i int) cell { return new(big.Int).SetUint64(math.MaxUint64 - uint64(i)) },
			uint64(math.MaxUint64 - 9), uint64(math.MaxUint64), true,
		},
		{column.Type{Kind: column.Date}, intCell, int32(0), int32(9), true},
		{column.Type{Kind: column.Time, Unit: column.Millis}, intCell, int64(0), int64(9), true},
		{column.Type{Kind: column.Timestamp, Unit: column.Micros}, intCell, int64(0), int64(9), true},
		{column.Type{Kind: column.Decimal64, Precision: 18, Scale: 2}, func(i int) cell { return intCell(-i) }, int64(-9), int64(0), true},
		{column.Type{Kind: column.Decimal128, Precision: 38}, func(i int) cell { return intCell(-i) }, column.Int128{Lo: math.MaxUint64 - 8, Hi: -1}, column.Int128{}, true},
		{column.Type{Kind: column.Decimal256, Precision: 76}, intCell, column.Int256{}, column.Int256{9}, true},
		{column.Type{Kind: column.Float16}, func(i int) cell { return float64(i + 1) }, halfOf(1), halfOf(10), false},
		{column.Type{Kind: column.Float32}, func(i int) cell { return float64(i + 1) }, float32(1), float32(10), false},
		{column.Type{Kind: column.Float64}, func(i int) cell { return float64(i + 1) }, float64(1), float64(10), false},
		{column.Type{Kind: column.String}, text("x"), "xxa", "xxj", false},
		{column.Type{Kind: column.Binary}, text("x"), []byte("xxa"), []byte("xxj"), false},
		{column.Type{Kind: column.Fixed, Width: 3}, text("x"), []byte("xxa"), []byte("xxj"), false},
		{
			column.Type{Kind: column.UUID},
			func(i int) cell { return strings.Repeat(string(rune('a'+i)), 16) },
			cql.UUID([]byte("aaaaaaaaaaaaaaaa")), cql.UUID([]byte("jjjjjjjjjjjjjjjj")), false,
		},
	} {
		f := one.file(t, ramp(c.typ, 10, c.value), 10)
		lo, hi, nulls, exact, ok := statisticsOf(f.data(t), 0, 1, c.typ)
		require.Equal(t, []any{c.lo, c.hi, int64(0), c.exact, true}, []any{lo, hi, nulls, exact, ok}, "%v", c.typ)
	}
	f := one.file(t, ramp(column.Type{Kind: column.Float32}, 10, func(i int) cell { return float64(i) }), 10)
	md := f.reader.MetaData()
	md.RowGroups[0].Columns[1].MetaData.Statistics.NanCount = ptr(int64(0))
	_, _, _, exact, ok := statisticsOf(f.data(t), 0, 1, column.Type{Kind: column.Float32})
	require.Equal(t, []bool{false, true}, []bool{exact, ok}, "the file does not state that bounds are exact")
	s := md.RowGroups[0].Columns[1].MetaData.Statistics
	s.IsMinValueExact, s.IsMaxValueExact = ptr(true), ptr(true)
	_, _, _, exact, _ = statisticsOf(f.data(t), 0, 1, column.Type{Kind: column.Float32})
	require.True(t, exact)

	none := one.file(t, ramp(column.Type{Kind: column.Int32}, 10, func(int) cell { return nil }), 10)
	_, _, nulls, _, ok := statisticsOf(none.data(t), 0, 1, column.Type{Kind: column.Int32})
	require.Equal(t, []any{int64(10), false}, []any{nulls, ok})

	// 300 is out of the range of int8.
	f = one.file(t, ramp(column.Type{Kind: column.Int8}, 10, intCell), 10)
	f.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.MaxValue = le32(300)
	_, _, _, _, ok = statisticsOf(f.data(t), 0, 1, column.Type{Kind: column.Int8})
	require.False(t, ok)
}

// TestPruneEncrypted checks that columns encrypted with their own keys never prune, and that columns encrypted with the
// footer's key prune only by the footer.
func TestPruneEncrypted(t *testing.T) {
	const key = "0123456789012345"
	for name, c := range map[string]struct {
		column *parquet.ColumnEncryptionProperties
		drops  bool
	}{
		"column": {parquet.NewColumnEncryptionProperties("c", parquet.WithKey(key), parquet.WithKeyID("kc")), false},
		"footer": {parquet.NewColumnEncryptionProperties("c"), true},
	} {
		t.Run(name, func(t *testing.T) {
			encryption := parquet.NewFileEncryptionProperties(key, parquet.WithFooterKeyID("kf"),
				parquet.WithEncryptedColumns(parquet.ColumnPathToEncryptionPropsMap{"c": c.column}))
			var buf bytes.Buffer
			table := ramp(column.Type{Kind: column.Int64}, 20, intCell)
			f := &testFile{testTable: table, leaves: map[string]int{"c": 1}, groups: []int{20}}
			plain := one.file(t, table, 20)
			w := file.NewParquetWriter(&buf, plain.reader.MetaData().Schema.Root(), file.WithWriterProps(parquet.NewWriterProperties(
				parquet.WithEncryptionProperties(encryption), parquet.WithPageIndexEnabled(true))))
			rg, err := w.AppendRowGroupChecked()
			require.NoError(t, err)
			list, err := rg.NextColumn()
			require.NoError(t, err)
			_, err = list.(*file.Int32ColumnChunkWriter).WriteBatch(nil, make([]int16, 20), make([]int16, 20))
			require.NoError(t, err)
			require.NoError(t, list.Close())
			cw, err := rg.NextColumn()
			require.NoError(t, err)
			writeCells(t, cw, table.cells["c"], table.types["c"])
			require.NoError(t, cw.Close())
			require.NoError(t, w.Close())
			keys := parquet.ColumnPathToDecryptionPropsMap{"c": parquet.NewColumnDecryptionProperties("c", parquet.WithDecryptKey(key))}
			props := parquet.NewReaderProperties(nil)
			props.FileDecryptProps = parquet.NewFileDecryptionProperties(parquet.WithFooterKey(key), parquet.WithColumnKeys(keys))
			f.reader, err = file.NewParquetReader(bytes.NewReader(buf.Bytes()), file.WithReadProps(props))
			require.NoError(t, err)
			f.bytes = buf.Bytes()
			require.Equal(t, [][]testRange{{{0, 20}}}, f.pruned(t, Eq("c", 7)))
			require.Equal(t, c.drops, f.pruned(t, Eq("c", 100))[0] == nil)
		})
	}
}

// indexes returns the ranges of the indexes of the first leaf that is not a list: bloom filter, column index, offset
// index.
func (f *testFile) indexes() (places [][2]int) {
	c := f.reader.MetaData().RowGroups[0].Columns[1]
	return [][2]int{
		{int(*c.MetaData.BloomFilterOffset), int(*c.MetaData.BloomFilterLength)},
		{int(*c.ColumnIndexOffset), int(*c.ColumnIndexLength)},
		{int(*c.OffsetIndexOffset), int(*c.OffsetIndexLength)},
	}
}

// fakeIndex returns an index of pages of numbers.
func fakeIndex(counts []int64, null ...bool) *format.ColumnIndex {
	return &format.ColumnIndex{
		NullPages: null, NullCounts: counts, Min: slices.Repeat([][]byte{le32(1)}, len(null)), Max: slices.Repeat([][]byte{le32(2)}, len(null)),
	}
}

// TestPruneOddPages checks the bounds of pages of 5 rows whose index contradicts itself.
func TestPruneOddPages(t *testing.T) {
	f := one.file(t, ramp(column.Type{Kind: column.Int32}, 10, intCell), 10)
	r := &predicate.Pruner{File: f.data(t), Rows: 10}
	for _, c := range []struct {
		null   bool
		counts []int64
		nulls  int64
		known  bool
	}{
		{false, nil, -1, true},
		{true, nil, 5, false},
		{true, []int64{5, 5}, 5, false},
		{true, []int64{4, 4}, -1, false},
		{false, []int64{5, 5}, -1, false},
		{false, []int64{0, 0}, 0, true},
		{false, []int64{-1, -1}, -1, true},
		{false, []int64{6, 6}, -1, true},
	} {
		pages := r.PageBounds(fakeIndex(c.counts, c.null, c.null), []int64{0, 5}, 1, column.Type{Kind: column.Int32})
		require.Len(t, pages, 2)
		for _, page := range pages {
			require.Equal(t, []any{int64(5), c.nulls, c.known}, []any{page.Rows, page.Nulls, page.Known}, "%v", c)
		}
	}
	require.Nil(t, r.PageBounds(fakeIndex(nil, false), []int64{0, 5}, 1, column.Type{Kind: column.Int32}))
	short := fakeIndex(nil, false, false)
	short.Max[1] = []byte{1, 2, 3}
	require.Nil(t, r.PageBounds(short, []int64{0, 5}, 1, column.Type{Kind: column.Int32}), "the index of another column")
}

// TestPruneBloomMemory checks that a header that claims 100 MB in a small file does not allocate them.
func TestPruneBloomMemory(t *testing.T) {
	f := indexedFile(t)
	f.bytes = bytes.Clone(f.bytes)
	header := f.bytes[f.indexes()[0][0]+1:]
	_, used := binary.Varint(header)
	rest := bytes.Clone(header[used : used+20])
	copy(header[binary.PutVarint(header, 100<<20):], rest) // over the bits
	f.open(t)
	p, err := Eq("c", 7).node.Compile(f.typeOf)
	require.NoError(t, err)
	data := f.data(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p.Prune(data, 0, f.leafOf)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(10<<20))
}

func indexedFile(t testing.TB) *testFile {
	return one.file(t, ramp(column.Type{Kind: column.Int64}, 100, func(i int) cell { return intCell(2 * i) }), 100, parquet.WithBloomFilterEnabled(true),
		parquet.WithBloomFilterNDV(100), parquet.WithPageIndexEnabled(true), parquet.WithBatchSize(10), parquet.WithDataPageSize(1),
		parquet.WithDictionaryDefault(false))
}

// TestPruneCorruptIndex checks that no bytes of an index cause a panic, and that an empty index prunes nothing.
func TestPruneCorruptIndex(t *testing.T) {
	f := indexedFile(t)
	require.Equal(t, [][]testRange{nil}, f.pruned(t, Eq("c", 7)))
	require.Equal(t, [][]testRange{{{0, 10}}}, f.pruned(t, Eq("c", 8)))
	whole := f.bytes
	for i, place := range f.indexes() {
		for at := place[0]; at < place[0]+place[1]; at++ {
			for _, b := range []byte{0, 0xff, whole[at] ^ 1, whole[at] + 0x10} {
				f.bytes = bytes.Clone(whole)
				f.bytes[at] = b
				f.open(t)
				f.pruned(t, In("c", 7, 8))
			}
		}
		for _, fill := range []byte{0, 0xff} {
			f.bytes = bytes.Clone(whole)
			copy(f.bytes[place[0]:], bytes.Repeat([]byte{fill}, place[1]))
			f.open(t)
			want := []testRange{{0, 100}}
			if i == 0 {
				want = []testRange{{0, 10}} // the page index is not touched
			}
			require.Equal(t, [][]testRange{want}, f.pruned(t, Eq("c", 8)), "index %d, %d", i, fill)
		}
	}
	f.bytes = whole
	for name, change := range map[string]func(){
		"column index outside": func() { *f.reader.MetaData().RowGroups[0].Columns[1].ColumnIndexOffset = 1 << 40 },
		"column index long":    func() { *f.reader.MetaData().RowGroups[0].Columns[1].ColumnIndexLength = math.MaxInt32 },
		"offset index short":   func() { *f.reader.MetaData().RowGroups[0].Columns[1].OffsetIndexLength = 3 },
		"offset index before":  func() { *f.reader.MetaData().RowGroups[0].Columns[1].OffsetIndexOffset = -4 },
		"other page index":     func() { f.reader.MetaData().RowGroups[0].NumRows, f.groups[0] = 50, 50 },
	} {
		f.open(t)
		change()
		require.Equal(t, [][]testRange{{{0, f.reader.MetaData().RowGroups[0].NumRows}}}, f.pruned(t, Eq("c", 8)), name)
	}
	for name, change := range map[string]func(){
		"bloom outside": func() { *f.reader.MetaData().RowGroups[0].Columns[1].MetaData.BloomFilterOffset = 1 << 40 },
		"bloom long":    func() { *f.reader.MetaData().RowGroups[0].Columns[1].MetaData.BloomFilterLength = math.MaxInt32 },
		"no bloom":      func() { f.reader.MetaData().RowGroups[0].Columns[1].MetaData.BloomFilterOffset = nil },
	} {
		f.open(t)
		change()
		require.Equal(t, [][]testRange{{{0, 10}}}, f.pruned(t, Eq("c", 7)), name)
	}
}

// statisticsOf returns the minimum and maximum of a column in a row group according to the file's footer, and the
// number of NULLs, -1 if unknown. ok reports whether there are a minimum and a maximum; exact, whether both are values
// of the column and no value lies outside. Otherwise they may be truncated, or there may be a NaN, which is greater
// than max. Numbers other than floats are exact unless the file denies it; texts are exact if the file states it;
// floats, if it also states that there is no NaN.
//
// min and max have the Go type of the column's values (see [SliceOf]); they are string for String, [16]byte for ID,
// []byte for Binary and Fixed, except that a truncated bound of ID is []byte, too.
func statisticsOf(f *footer.File, rowGroup, leaf int, typ column.Type) (lo, hi any, nulls int64, exact, ok bool) {
	b := predicate.ChunkBounds(f.Footer, rowGroup, leaf, typ)
	if !b.Known {
		return nil, nil, b.Nulls, false, false
	}
	lo, okMin := b.Min.Value(typ)
	hi, okMax := b.Max.Value(typ)
	if !okMin || !okMax {
		return nil, nil, b.Nulls, false, false
	}
	return lo, hi, b.Nulls, b.Exact, true
}
