// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/parquetscan/internal/arrowtest"
)

// Statistics, page indexes and Bloom filters, compared with the values.

// orderOf converts a value of columntest to a *big.Int, a float64 or a string of the same order.
func orderOf(t column.Type, v any) any {
	switch t.Kind {
	case column.Bool:
		return big.NewInt(int64(map[bool]int{true: 1}[v.(bool)]))
	case column.Float16:
		return float64(float16.FromBits(uint16(v.(uint64))).Float32())
	case column.Float32:
		return float64(math.Float32frombits(uint32(v.(uint64))))
	case column.Float64:
		return math.Float64frombits(v.(uint64))
	case column.Decimal64, column.Decimal128, column.Decimal256:
		n, _ := new(big.Int).SetString(v.(string), 10)
		return n
	}
	switch v := v.(type) {
	case int64:
		return big.NewInt(v)
	case uint64:
		return new(big.Int).SetUint64(v)
	}
	return v
}

// decodeStat converts a value of statistics to the same form.
func decodeStat(t column.Type, physical parquet.Type, b []byte) any {
	unsigned := strings.HasPrefix(t.Kind.String(), "uint")
	switch {
	case physical == parquet.Types.Boolean:
		return big.NewInt(int64(b[0] & 1))
	case physical == parquet.Types.Int32 && unsigned:
		return big.NewInt(int64(binary.LittleEndian.Uint32(b)))
	case physical == parquet.Types.Int32:
		return big.NewInt(int64(int32(binary.LittleEndian.Uint32(b))))
	case physical == parquet.Types.Int64 && unsigned:
		return new(big.Int).SetUint64(binary.LittleEndian.Uint64(b))
	case physical == parquet.Types.Int64:
		return big.NewInt(int64(binary.LittleEndian.Uint64(b)))
	case physical == parquet.Types.Float:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case physical == parquet.Types.Double:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case t.Kind == column.Float16:
		return float64(float16.FromBits(binary.LittleEndian.Uint16(b)).Float32())
	case t.Kind == column.Decimal128 || t.Kind == column.Decimal256:
		n := new(big.Int).SetBytes(b)
		if b[0]&0x80 != 0 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return n
	}
	return string(b)
}

// isNaN reports whether v is a NaN, which no bounds include.
func isNaN(kind column.Type, v any) bool {
	f, ok := orderOf(kind, v).(float64)
	return ok && math.IsNaN(f)
}

func compareOrder(a, b any) int {
	switch a := a.(type) {
	case *big.Int:
		return a.Cmp(b.(*big.Int))
	case float64:
		return map[bool]int{true: 1}[a > b.(float64)] - map[bool]int{true: 1}[a < b.(float64)]
	}
	return strings.Compare(a.(string), b.(string))
}

// requireBounds fails unless the bounds are the minimum and maximum of values.
func requireBounds(t *testing.T, kind column.Type, physical parquet.Type, values []any, least, greatest []byte) {
	t.Helper()
	low, high := decodeStat(kind, physical, least), decodeStat(kind, physical, greatest)
	met := [2]bool{}
	for _, v := range values {
		if v == nil {
			continue
		}
		if isNaN(kind, v) {
			continue
		}
		x := orderOf(kind, v)
		below, above := compareOrder(x, low), compareOrder(x, high)
		require.GreaterOrEqual(t, below, 0, "%v is less than %v", x, low)
		require.LessOrEqual(t, above, 0, "%v is greater than %v", x, high)
		met = [2]bool{met[0] || below == 0, met[1] || above == 0}
	}
	require.Equal(t, [2]bool{true, true}, met, "bounds %v and %v are values", low, high)
}

func TestWriterStatistics(t *testing.T) {
	soak.NoRace(t)
	t.Run("random", func(t *testing.T) { testWriterStatistics(t, newGenerator(t)) })
	t.Run("float16 of NaN and NULL only", func(t *testing.T) { testWriterStatistics(t, generatorOf(12564712074791649260)) })
}

func testWriterStatistics(t *testing.T, g *arrowtest.Generator) {
	fields := arrowtest.Scalars(true)
	for len(fields) > 0 && fields[len(fields)-1].Type.Kind == column.Vector {
		fields = fields[:len(fields)-1]
	}
	const rows = 400
	for _, o := range []parquetscan.WriterOptions{{}, {NoDictionary: true}, {DataPageV2: true}, {DataPageV2: true, NoDictionary: true}} {
		o.PageBytes = 400
		w := writeRandom(t, g, fields, o, rows/2, rows/2)
		f := w.check(t)
		index, err := f.GetPageIndexReader().RowGroup(0)
		require.NoError(t, err)
		bounded, paged := 0, 0
		for i, field := range fields {
			physical := f.MetaData().Schema.Column(i).PhysicalType()
			chunk, err := f.MetaData().RowGroup(0).ColumnChunk(i)
			require.NoError(t, err)
			stats, err := chunk.Statistics()
			require.NoError(t, err)
			nulls, unordered, long := 0, 0, false // bounds of more than 4096 bytes are omitted, which arrow-go reads as empty
			for _, v := range w.values[i] {
				s, _ := v.(string)
				long = long || len(s) > 4096
				if v == nil {
					nulls++
				}
				if v == nil || isNaN(field.Type, v) {
					unordered++
				}
			}
			require.EqualValues(t, nulls, stats.NullCount(), "%v", field)
			switch {
			case long:
			case stats.HasMinMax():
				bounded++
				requireBounds(t, field.Type, physical, w.values[i], stats.EncodeMin(), stats.EncodeMax())
			default:
				require.Equal(t, rows, unordered, "%v has no bounds", field)
			}
			offsets, err := index.GetOffsetIndex(i)
			require.NoError(t, err)
			require.NotNil(t, offsets)
			pages := offsets.GetPageLocations()
			columns, err := index.GetColumnIndex(i)
			require.NoError(t, err)
			for p, page := range pages {
				end := int64(rows)
				if p+1 < len(pages) {
					end = pages[p+1].FirstRowIndex
				}
				values := w.values[i][page.FirstRowIndex:end]
				if columns == nil {
					continue
				}
				null := 0
				for _, v := range values {
					if v == nil {
						null++
					}
				}
				require.EqualValues(t, null, columns.GetNullCounts()[p])
				require.Equal(t, null == len(values), columns.GetNullPages()[p])
				if null < len(values) {
					paged++
					requireBounds(t, field.Type, physical, values, columns.GetMinValues()[p], columns.GetMaxValues()[p])
				}
			}
		}
		require.Greater(t, bounded, len(fields)/2)
		require.Greater(t, paged, len(fields))
	}
}

func TestWriterNoPageIndex(t *testing.T) {
	w := writeRandom(t, newGenerator(t), arrowtest.Scalars(false)[:5], parquetscan.WriterOptions{NoPageIndex: true}, 100)
	f := w.check(t)
	chunk, err := f.MetaData().RowGroup(0).ColumnChunk(1)
	require.NoError(t, err)
	require.Nil(t, chunk.GetOffsetIndexLocation())
	require.Nil(t, chunk.GetColumnIndexLocation())
	stats, err := chunk.Statistics()
	require.NoError(t, err)
	require.True(t, stats.HasMinMax())
}

func TestWriterBloomFilters(t *testing.T) {
	soak.NoRace(t)
	const rows = 20_000
	fields := []column.Field{
		{Name: "n", Type: kindOf(column.Int64)},
		{Name: "s", Type: kindOf(column.String)},
		{Name: "id", Type: kindOf(column.UUID)},
		{Name: "tags", Type: kindOf(column.List), Fields: []column.Field{{Type: kindOf(column.String)}}},
		{Name: "no", Type: kindOf(column.Int64)},
	}
	for _, few := range []bool{false, true} {
		for _, plain := range []bool{false, true} {
			var buf bytes.Buffer
			w, err := parquetscan.NewWriter(&buf, fields, parquetscan.WriterOptions{
				BloomFilters: []string{"n", "s", "id", "tags"}, NoDictionary: plain, RowGroupRows: rows / 2,
			})
			require.NoError(t, err)
			distinct := rows
			if few {
				distinct = 50
			}
			numbers, texts, ids, offsets := make([]int64, rows), make([]string, rows), make([][16]byte, rows), make([]int32, rows+1)
			for i := range rows {
				numbers[i], texts[i] = int64(i%distinct)*7919, fmt.Sprint("text ", i%distinct)
				binary.BigEndian.PutUint32(ids[i][:], uint32(i%distinct))
				offsets[i+1] = int32(i + 1)
			}
			require.NoError(t, w.Write(&column.Batch{Rows: rows, Columns: []column.Column{
				column.Of("n", numbers), column.Strings("s", texts), column.Of("id", ids),
				column.Lists("tags", offsets, column.Strings("", texts)), column.Of("no", numbers),
			}}))
			require.NoError(t, w.Close())
			f := openFile(t, buf.Bytes())
			for group := range 2 {
				filters, err := f.GetBloomFilterReader().RowGroup(group)
				require.NoError(t, err)
				for column := range fields {
					filter, err := filters.GetColumnBloomFilter(column)
					require.NoError(t, err)
					if column == 4 {
						require.Nil(t, filter)
						continue
					}
					if few {
						require.LessOrEqual(t, filter.Size(), int64(8<<10), "a filter of 50 values is small")
					}
					wrong := 0
					for i := range rows / 2 {
						row := group*rows/2 + i
						number, text := binary.LittleEndian.AppendUint64(nil, uint64(numbers[row])), []byte(texts[row])
						value := [][]byte{number, text, ids[row][:], text}[column]
						require.True(t, filter.CheckHash(filter.Hasher().Sum64(value)), "row %d of column %d", row, column)
						if filter.CheckHash(filter.Hasher().Sum64(append(value, 'x'))) {
							wrong++
						}
					}
					require.Less(t, wrong, rows/2/20, "column %d", column)
				}
			}
		}
	}
}
