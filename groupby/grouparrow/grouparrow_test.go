// SPDX-License-Identifier: Apache-2.0

package grouparrow

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"github.com/vecql/vecql/groupby"
)

// build makes an array of a type, whose values are i, i+1, ... in some form, every third one NULL.
func build(t *testing.T, dt arrow.DataType, n int) arrow.Array {
	b := array.NewBuilder(memory.NewGoAllocator(), dt)
	for i := range n {
		if i%3 == 2 {
			b.AppendNull()
			continue
		}
		text := fmt.Sprint(i)
		switch dt.ID() {
		case arrow.BOOL:
			text = fmt.Sprint(i%2 == 0)
		case arrow.FIXED_SIZE_BINARY:
			b.(*array.FixedSizeBinaryBuilder).Append(fmt.Appendf(nil, "%016d", i))
			continue
		case arrow.BINARY, arrow.LARGE_BINARY:
			b.(interface{ Append([]byte) }).Append([]byte(text))
			continue
		case arrow.FIXED_SIZE_LIST:
			l := b.(*array.FixedSizeListBuilder)
			l.Append(true)
			l.ValueBuilder().(*array.Float32Builder).AppendValues([]float32{float32(i), float32(-i)}, nil)
			continue
		case arrow.DATE32:
			b.(*array.Date32Builder).Append(arrow.Date32(i))
			continue
		case arrow.DATE64:
			b.(*array.Date64Builder).Append(arrow.Date64(i))
			continue
		case arrow.TIME32:
			b.(*array.Time32Builder).Append(arrow.Time32(i))
			continue
		case arrow.TIME64:
			b.(*array.Time64Builder).Append(arrow.Time64(i))
			continue
		case arrow.TIMESTAMP:
			b.(*array.TimestampBuilder).Append(arrow.Timestamp(i))
			continue
		case arrow.DURATION:
			b.(*array.DurationBuilder).Append(arrow.Duration(i))
			continue
		}
		require.NoError(t, b.AppendValueFromString(text))
	}
	return b.NewArray()
}

// Every type, whole and cut at odd places, comes through and back.
func TestColumnRoundTrip(t *testing.T) {
	for _, dt := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean,
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us,
		arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Duration_ns,
		arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeBinary,
		&arrow.FixedSizeBinaryType{ByteWidth: 16}, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String},
	} {
		t.Run(dt.String(), func(t *testing.T) {
			whole := build(t, dt, 40)
			var conv Converter
			for _, cut := range [][2]int64{{0, 40}, {0, 0}, {3, 30}, {16, 27}, {40, 40}} {
				arr := array.NewSlice(whole, cut[0], cut[1])
				col, err := conv.Column(arr)
				require.NoError(t, err)
				want, err := TypeOf(dt)
				require.NoError(t, err)
				require.Equal(t, want, col.Type())
				require.Equal(t, arr.Len(), col.Len())
				back := Array(memory.NewGoAllocator(), col)
				for i := range arr.Len() {
					require.Equal(t, arr.IsNull(i), back.IsNull(i), "row %d", i)
					if !arr.IsNull(i) && plain(dt) {
						require.Equal(t, arr.ValueStr(i), back.ValueStr(i), "row %d", i)
					}
				}
				if dt.ID() == arrow.FIXED_SIZE_LIST && arr.Len() > 0 {
					v, ok := groupby.SliceOf[float32](col)
					require.True(t, ok)
					require.Equal(t, float32(cut[0]), v[0])
				}
			}
		})
	}
}

// plain tells whether arrays of the type show their values as the array that comes back does.
func plain(dt arrow.DataType) bool {
	switch dt.ID() {
	case arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.BINARY, arrow.LARGE_BINARY:
		return false
	}
	return true
}

func TestColumnRefused(t *testing.T) {
	var conv Converter
	for _, dt := range []arrow.DataType{
		arrow.ListOf(arrow.PrimitiveTypes.Int8), &arrow.FixedSizeBinaryType{ByteWidth: 8}, arrow.PrimitiveTypes.Date32, arrow.Null,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64},
		arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), &arrow.Decimal128Type{Precision: 5},
	}[:] {
		if dt.ID() == arrow.DATE32 {
			continue
		}
		_, err := conv.Column(array.NewBuilder(memory.NewGoAllocator(), dt).NewArray())
		require.Error(t, err, dt)
	}
	b := array.NewFixedSizeListBuilder(memory.NewGoAllocator(), 2, arrow.PrimitiveTypes.Float32)
	b.Append(true)
	b.ValueBuilder().AppendNull()
	b.ValueBuilder().(*array.Float32Builder).Append(1)
	_, err := conv.Column(b.NewArray())
	require.ErrorContains(t, err, "row 0: element 0")
}

func TestGroupRecordBatches(t *testing.T) {
	mem := memory.NewGoAllocator()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "label", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}},
		{Name: "score", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	g, err := groupby.New(groupby.Config{
		Keys: []groupby.Type{groupby.String}, Values: []groupby.Type{groupby.Float64},
		Aggregates: []groupby.Aggregate{groupby.Count(), groupby.Sum(0)},
	})
	require.NoError(t, err)
	var conv Converter
	for range 3 {
		b := array.NewRecordBuilder(mem, schema)
		for i := range 100 {
			require.NoError(t, b.Field(0).AppendValueFromString([]string{"a", "b", "a longer label than that"}[i%3]))
			b.Field(1).(*array.Float64Builder).Append(float64(i))
		}
		batch, err := conv.Batch(b.NewRecordBatch(), []int{0}, []int{1})
		require.NoError(t, err)
		require.NoError(t, g.Add(context.Background(), batch))
	}
	res, err := g.Finish(context.Background())
	require.NoError(t, err)
	for b := range res.Batches() {
		rec, err := RecordBatch(mem, b, []string{"label", "n", "sum"})
		require.NoError(t, err)
		require.EqualValues(t, 3, rec.NumRows())
		require.Equal(t, "a longer label than that", rec.Column(0).(*array.String).Value(2))
		require.Equal(t, []int64{102, 99, 99}, rec.Column(1).(*array.Int64).Int64Values())
		require.InDelta(t, 3*4950, sum(rec.Column(2).(*array.Float64).Float64Values()), 1e-9)
		_, err = RecordBatch(mem, b, []string{"label"})
		require.Error(t, err)
	}
	_, err = conv.Batch(array.NewRecordBuilder(mem, schema).NewRecordBatch(), []int{2}, nil)
	require.ErrorContains(t, err, "column 2 of 2")
}

func sum(v []float64) float64 {
	s := math.Copysign(0, 1)
	for _, x := range v {
		s += x
	}
	return s
}
