// SPDX-License-Identifier: Apache-2.0

package arrowcolumn_test

import (
	"errors"
	"iter"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
)

func batchesOf(failure error, batches ...*column.Batch) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		for _, b := range batches {
			if !yield(b, nil) {
				return
			}
		}
		if failure != nil {
			yield(nil, failure)
		}
	}
}

// TestReader converts a stream to Arrow and back; some batches have codes.
func TestReader(t *testing.T) {
	dict := column.NewDictionary([]byte("ab"), []int32{0, 1, 2})
	in := []*column.Batch{column.NewBatch(column.Strings("c", []string{"a", "b"})), column.NewBatch(column.Codes("c", []uint32{1, 0}, dict))}
	schema, err := arrowcolumn.Schema(in[0].Schema())
	require.NoError(t, err)
	r := arrowcolumn.Reader(schema, batchesOf(nil, in...))
	r.Retain()
	r.Release()
	require.Same(t, schema, r.Schema())
	var out []*column.Batch
	for b, err := range arrowcolumn.Batches(r) {
		require.NoError(t, err)
		out = append(out, b)
	}
	require.Len(t, out, 2)
	for i := range in {
		require.Empty(t, column.Diff(out[i], in[i]))
	}
	require.False(t, r.Next())
	require.NoError(t, r.Err())
	require.Nil(t, r.RecordBatch())
}

// TestReaderErrors ends streams with errors of the batches and of conversions, and in the middle.
func TestReaderErrors(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arrow.PrimitiveTypes.Int64}}, nil)
	good, failure := column.NewBatch(column.Of("c", []int64{1})), errors.New("broken")
	for _, c := range []struct {
		batches iter.Seq2[*column.Batch, error]
		want    error
	}{
		{batchesOf(failure, good), failure},
		{batchesOf(nil, good, column.NewBatch(column.Of("d", []int64{1}))), arrowcolumn.ErrSchema},
	} {
		n := 0
		for b, err := range arrowcolumn.Batches(arrowcolumn.Reader(schema, c.batches)) {
			if n++; n == 2 {
				require.ErrorIs(t, err, c.want)
				require.Nil(t, b)
				continue
			}
			require.NoError(t, err)
			require.Empty(t, column.Diff(b, good))
		}
		require.Equal(t, 2, n)
	}
	stopped := false
	r := arrowcolumn.Reader(schema, func(yield func(*column.Batch, error) bool) {
		defer func() { stopped = true }()
		for yield(good, nil) {
		}
	})
	require.True(t, r.Next())
	require.False(t, stopped)
	r.Release()
	require.True(t, stopped)
	require.False(t, r.Next())
	union := arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}}, []arrow.UnionTypeCode{0})
	rec := recordOf(build(t, union, `[[0, 5]]`))
	records, err := array.NewRecordReader(rec.Schema(), []arrow.RecordBatch{rec})
	require.NoError(t, err)
	for _, err := range arrowcolumn.Batches(records) {
		require.ErrorIs(t, err, arrowcolumn.ErrUnsupported)
	}
}

// TestBatchesShareDictionaries checks that records with the same dictionary get the same Dictionary.
func TestBatchesShareDictionaries(t *testing.T) {
	dict := column.NewDictionary([]byte("ab"), []int32{0, 1, 2})
	rec, err := arrowcolumn.Record(column.NewBatch(column.Codes("c", []uint32{1, 0}, dict), column.Codes("d", []uint32{0, 0}, dict)))
	require.NoError(t, err)
	var seen []*column.Dictionary
	for b, err := range arrowcolumn.Batches(ipcReader(t, rec, rec)) {
		require.NoError(t, err)
		seen = append(seen, b.Columns[0].Dict)
	}
	require.Len(t, seen, 2)
	require.Same(t, seen[0], seen[1])
}
