// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
)

// TestBulk writes rows, alone and in batches of a partition, and reads them.
func TestBulk(t *testing.T) {
	s := connect(t, config(t, plainNode))
	ks := keyspace(t, s, 1)
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (id int, n int, v text, e %s, PRIMARY KEY (id, n))", ks, floats(s, 3)))
	const partitions, rows = 30, 100
	var ids, ns []int32
	var texts []string
	var vectors []float32
	var null []bool
	for id := range int32(partitions) {
		for n := range int32(rows) {
			ids, ns, texts = append(ids, id), append(ns, n), append(texts, fmt.Sprint("row ", n))
			vectors, null = append(vectors, float32(id), float32(n), .5), append(null, n%7 == 3)
		}
	}
	want := column.NewBatch(column.Of("id", ids), column.Of("n", ns), column.Strings("v", texts).WithNulls(null),
		floatColumn(s, "e", vectors, 3))
	for _, batchRows := range []int{1, 0} {
		exec(t, s, fmt.Sprintf("TRUNCATE %s.t", ks))
		before := s.Stats().Requests
		w, err := bulk.Insert(t.Context(), s, ks+".t", bulk.Options{
			BatchRows: batchRows, WriteNulls: s.ProtoVersion() < 4, // v3 has no values that are not set
		})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), want))
		require.NoError(t, w.Close(t.Context()))
		require.EqualValues(t, want.Rows, w.Stats().Rows)
		if sent := s.Stats().Requests - before; batchRows == 1 {
			require.GreaterOrEqual(t, sent, uint64(want.Rows))
		} else {
			require.Less(t, sent, uint64(want.Rows/10))
		}
		for id := range partitions {
			var got []*column.Batch
			for b, err := range s.Query(fmt.Sprintf("SELECT id, n, v, e FROM %s.t WHERE id = ?", ks), id).Batches(t.Context()) {
				require.NoError(t, err)
				got = append(got, b)
			}
			all, err := column.Concat(got...)
			require.NoError(t, err)
			require.Empty(t, column.Diff(all, want.Slice(id*rows, (id+1)*rows)))
		}
	}
}
