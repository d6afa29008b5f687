// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/format"
)

// elementOf returns the schema element of a column.
func elementOf(c *Column) format.SchemaElement {
	repetition := format.Required
	if c.MaxDef > 0 {
		repetition = format.Optional
	}
	logical := format.LogicalType{}
	if c.Order == Uints32 {
		logical = format.LogicalType{Kind: format.LogicalInteger, Bits: 32}
	}
	return format.SchemaElement{Type: c.Type, Repetition: repetition, Name: c.Path[0], Converted: logical.AsConverted(), Logical: logical}
}

// writeTwo writes two row groups of rows numbers: two columns with NULLs, and one without.
func writeTwo(t *testing.T, rows int, o *Options) []byte {
	t.Helper()
	columns := []*Column{
		{Path: []string{"u"}, Type: format.Int32, Width: 4, Order: Uints32, MaxDef: 1, Dictionary: true},
		{Path: []string{"i"}, Type: format.Int32, Width: 4, Order: Ints32, MaxDef: 1},
		{Path: []string{"n"}, Type: format.Int64, Width: 8, Order: Ints64},
	}
	footer := &Footer{
		Schema:    []format.SchemaElement{{Type: format.NoType, Repetition: format.Required, Name: "schema", NumChildren: 3, Converted: format.NoConverted}},
		Leaves:    3,
		Metadata:  []KeyValue{{"key", "value"}},
		CreatedBy: "test version 1.0.0",
	}
	for _, c := range columns {
		footer.Schema = append(footer.Schema, elementOf(c))
	}
	var out bytes.Buffer
	f, err := NewFile(&out)
	require.NoError(t, err)
	chunks := NewChunks(columns, o)
	for range 2 {
		var encoded []*Encoded
		for k, c := range chunks {
			for i := range rows {
				if k < 2 {
					c.Def.Run(uint32(i*i/7&1), 1)
				}
				if k == 2 {
					c.PutFixed(binary.LittleEndian.AppendUint64(nil, uint64(i)))
				} else if i*i/7&1 == 1 {
					c.PutFixed(binary.LittleEndian.AppendUint32(nil, uint32(i%100)))
				}
			}
			require.NoError(t, c.End(rows, rows))
			e, err := c.Finish()
			require.NoError(t, err)
			encoded = append(encoded, e)
		}
		require.NoError(t, f.Append(rows, encoded))
	}
	require.NoError(t, f.Finish(footer))
	return out.Bytes()
}

// TestMetadata compares the metadata that arrow-go reads, and the values behind levels of all lengths.
func TestMetadata(t *testing.T) {
	for _, rows := range []int{10, 1000, 30_000} {
		for _, o := range []Options{
			{Codec: format.Snappy, PageBytes: 1 << 20, PageIndex: true},
			{Codec: format.Snappy, PageBytes: 1 << 20, V2: true},
			{Codec: format.Snappy, PageBytes: 1 << 20},
		} {
			f, err := file.NewParquetReader(bytes.NewReader(writeTwo(t, rows, &o)))
			require.NoError(t, err)
			meta := f.MetaData()
			require.Equal(t, "test version 1.0.0", meta.GetCreatedBy())
			require.Equal(t, "value", *meta.KeyValueMetadata().FindValue("key"))
			require.Len(t, meta.ColumnOrders, 3)
			require.EqualValues(t, 2*rows, meta.NumRows)
			for g, group := range meta.RowGroups {
				require.EqualValues(t, g, group.GetOrdinal())
				require.Equal(t, group.Columns[0].FileOffset, group.GetFileOffset())
				raw, compressed := int64(0), int64(0)
				for i, c := range group.Columns {
					m := c.MetaData
					raw, compressed = raw+m.TotalUncompressedSize, compressed+m.TotalCompressedSize
					require.Equal(t, []string{"[PLAIN RLE RLE_DICTIONARY]", "[PLAIN RLE]", "[PLAIN RLE]"}[i], fmt.Sprint(m.Encodings))
					for _, deprecated := range [][]byte{m.Statistics.Min, m.Statistics.Max} {
						require.Equal(t, i != 0, deprecated != nil, "deprecated bounds are those of signed numbers")
					}
					require.NotEmpty(t, m.Statistics.MinValue)
					require.True(t, m.Statistics.GetIsMinValueExact() && m.Statistics.GetIsMaxValueExact())
				}
				require.Equal(t, []int64{group.TotalByteSize, group.GetTotalCompressedSize()}, []int64{raw, compressed})
				checkNumbers(t, f, g, rows, &o)
			}
			require.NoError(t, f.Close())
		}
	}
}

// checkNumbers reads the second column and the statistics of its page.
func checkNumbers(t *testing.T, f *file.Reader, group, rows int, o *Options) {
	t.Helper()
	pages, err := f.RowGroup(group).GetColumnPageReader(1)
	require.NoError(t, err)
	require.True(t, pages.Next())
	var want []int32
	for i := range rows {
		if i*i/7&1 == 1 {
			want = append(want, int32(i%100))
		}
	}
	s := pages.Page().(file.DataPage).Statistics()
	if require.Equal(t, !o.PageIndex, s.HasMin); s.HasMin {
		require.EqualValues(t, rows-len(want), s.NullCount)
	}
	column, err := f.RowGroup(group).Column(1)
	require.NoError(t, err)
	got, def := make([]int32, rows), make([]int16, rows)
	_, n, err := column.(*file.Int32ColumnChunkReader).ReadBatch(int64(rows), got, def, nil)
	require.NoError(t, err)
	require.Equal(t, want, got[:n])
}
