// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestBeginning reads row groups by their least and greatest values, and in the order of the files.
func TestBeginning(t *testing.T) {
	file := func(values ...int64) []byte { // a row group of 4 rows for each value, with NULLs for 0
		var batches []*column.Batch
		for _, v := range values {
			n := column.Of("n", []int64{v, v + 1, v + 2, v + 3}).WithNulls([]bool{v == 0, v == 0, v == 0, v == 0})
			batches = append(batches, column.NewBatch(n, column.Of("first", []int64{v, 0, 0, 0})))
		}
		return writeBatches(t, batches[0].Schema(), WriterOptions{RowGroupRows: 4}, batches...)
	}
	d := openSources(t, Config{}, file(300, 0, 310), file(100), file(200))
	inFiles := []int64{300, 0, 310, 100, 200}
	for _, c := range []struct {
		o    Options
		want []int64
	}{
		{Options{}, inFiles},
		{Options{Begin: Beginning{Column: "n"}}, []int64{100, 200, 300, 310, 0}},
		{Options{Begin: Beginning{"n", true}}, []int64{310, 300, 200, 100, 0}},
		{Options{Begin: Beginning{"n", true}, Ordered: true}, inFiles},
		{Options{Begin: Beginning{Column: "n"}, Filter: And(Ge("n", int64(105)), Le("n", int64(305)))}, []int64{200, 300}},
	} {
		c.o.Columns, c.o.Workers = []string{"first"}, 1
		var first []int64
		for b, err := range scanOf(t, d, c.o).All(t.Context()) {
			require.NoError(t, err)
			values, err := column.Slice[int64](b.Column("first"))
			require.NoError(t, err)
			first = append(first, values[0])
		}
		require.Equal(t, c.want, first, "%+v", c.o.Begin)
	}
	_, err := d.Scan(Options{Begin: Beginning{Column: "missing"}})
	require.ErrorIs(t, err, ErrNoColumn)
}
