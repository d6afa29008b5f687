// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Structs, compared with what arrow-go reads.

// arrowSchema returns elements, without the root, as arrow-go reads them in a footer.
func arrowSchema(t *testing.T, elements []SchemaElement) *schema.GroupNode {
	t.Helper()
	var w thrift.Writer
	w.Open(0)
	w.I32(1, 2)
	w.List(2, thrift.Struct, 1+len(elements))
	root := SchemaElement{Type: NoType, Repetition: Required, Name: "schema", NumChildren: int32(len(elements)), Converted: NoConverted}
	root.Append(&w)
	for _, e := range elements {
		e.Append(&w)
	}
	w.I64(3, 0)
	w.List(4, thrift.Struct, 0)
	w.Close()
	meta, err := metadata.NewFileMetaData(w.B, nil)
	require.NoError(t, err)
	return meta.Schema.Root()
}

func TestSchemaElements(t *testing.T) {
	units := map[TimeUnit]schema.TimeUnitType{Millis: schema.TimeUnitMillis, Micros: schema.TimeUnitMicros, Nanos: schema.TimeUnitNanos}
	type leaf struct {
		physical PhysicalType
		length   int32
		logical  LogicalType
		want     schema.LogicalType
	}
	leaves := []leaf{
		{Boolean, 0, LogicalType{}, nil},
		{Double, 0, LogicalType{}, nil},
		{FixedLenByteArray, 7, LogicalType{}, nil},
		{ByteArray, 0, LogicalType{Kind: LogicalString}, schema.StringLogicalType{}},
		{Int32, 0, LogicalType{Kind: LogicalDate}, schema.DateLogicalType{}},
		{FixedLenByteArray, 16, LogicalType{Kind: LogicalUUID}, schema.UUIDLogicalType{}},
		{FixedLenByteArray, 2, LogicalType{Kind: LogicalFloat16}, schema.Float16LogicalType{}},
		{FixedLenByteArray, 9, LogicalType{Kind: LogicalDecimal, Precision: 20, Scale: 3}, schema.NewDecimalLogicalType(20, 3)},
	}
	for unit, want := range units {
		for _, utc := range []bool{false, true} {
			physical := Int64
			if unit == Millis {
				physical = Int32
			}
			leaves = append(leaves,
				leaf{physical, 0, LogicalType{Kind: LogicalTime, Unit: unit, UTC: utc}, schema.NewTimeLogicalType(utc, want)},
				leaf{Int64, 0, LogicalType{Kind: LogicalTimestamp, Unit: unit, UTC: utc}, schema.NewTimestampLogicalType(utc, want)})
		}
	}
	for _, bits := range []int8{8, 16, 32, 64} {
		for _, signed := range []bool{false, true} {
			physical := Int32
			if bits == 64 {
				physical = Int64
			}
			leaves = append(leaves, leaf{physical, 0, LogicalType{Kind: LogicalInteger, Bits: bits, Signed: signed}, schema.NewIntLogicalType(bits, signed)})
		}
	}
	var elements []SchemaElement
	for i, l := range leaves {
		elements = append(elements, SchemaElement{
			Type: l.physical, Length: l.length, Repetition: Repetition(i % 3), Name: fmt.Sprint(i), Converted: l.logical.AsConverted(),
			Precision: l.logical.Precision, Scale: l.logical.Scale, Logical: l.logical,
		})
	}
	root := arrowSchema(t, elements)
	require.Equal(t, len(leaves), root.NumFields())
	for i, l := range leaves {
		length := -1
		if l.physical == FixedLenByteArray {
			length = int(l.length)
		}
		want, err := schema.NewPrimitiveNodeLogical(fmt.Sprint(i), parquet.Repetition(i%3), l.want, parquet.Type(l.physical), length, -1)
		require.NoError(t, err)
		require.True(t, want.Equals(root.Field(i)), "%v: %v", l, root.Field(i))
		require.Equal(t, want.ConvertedType().String(), map[bool]string{true: "NONE", false: elements[i].Converted.String()}[elements[i].Converted == NoConverted])
		require.Equal(t, want.PhysicalType().String(), l.physical.String())
	}
}

func TestPageIndex(t *testing.T) {
	var w thrift.Writer
	index := ColumnIndex{
		NullPages: make([]bool, 20), Min: make([][]byte, 20), Max: make([][]byte, 20), Order: Descending, NullCounts: make([]int64, 20),
	}
	index.NullPages[3], index.Min[4], index.Max[5], index.NullCounts[6] = true, []byte("low"), []byte("high"), 1<<40
	index.Append(&w)
	leaf := schema.NewColumn(schema.NewByteArrayNode("s", parquet.Repetitions.Required, -1), 0, 0)
	got := metadata.NewColumnIndex(leaf, w.B, parquet.NewReaderProperties(nil), nil)
	require.Equal(t, index.NullPages, got.GetNullPages())
	require.Equal(t, "low", string(got.GetMinValues()[4]))
	require.Equal(t, "high", string(got.GetMaxValues()[5]))
	require.Equal(t, index.NullCounts, got.GetNullCounts())
	require.Equal(t, index.Order.String(), fmt.Sprint(got.GetBoundaryOrder()))
	w.B = nil
	pages := []PageLocation{{4, 100, 0}, {1 << 40, 7, 1 << 33}}
	AppendOffsetIndex(&w, pages)
	for i, l := range metadata.NewOffsetIndex(w.B, nil, nil).GetPageLocations() {
		require.Equal(t, pages[i], PageLocation{l.Offset, l.CompressedPageSize, l.FirstRowIndex})
	}
}

// TestNames: a value that the format does not define has its number.
func TestNames(t *testing.T) {
	require.Equal(t, "encoding(1)", Encoding(1).String())
	require.Equal(t, "codec(-1)", Codec(-1).String())
	require.Equal(t, "LZ4_RAW", LZ4Raw.String())
	require.Equal(t, "DATA_PAGE_V2", DataPageV2.String())
	require.Equal(t, "BYTE_STREAM_SPLIT", ByteStreamSplit.String())
	require.Equal(t, "GEOGRAPHY", LogicalGeography.String())
	require.Equal(t, "INTERVAL", ConvertedInterval.String())
	require.Equal(t, "NANOS", Nanos.String())
	require.Equal(t, "REPEATED", Repeated.String())
}
