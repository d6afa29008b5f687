// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Round trips of a batch: columns, cells of the protocol, and back. Packages arrowcolumn and parquetscan test those
// through records of Arrow and files.

// roundTrip converts a batch of columns of these types to cells and back, twice, and compares both.
func roundTrip(t testing.TB, infos []cql.ColumnInfo, b *column.Batch) {
	cells := encodeRows(t, infos, b)
	got := new(column.Batch)
	require.NoError(t, NewColumnPlan(infos).Decode(cells, b.Rows, got))
	require.Empty(t, column.Diff(got, b))
	require.Equal(t, cells, encodeRows(t, infos, got))
}

// TestColumnRoundTrip converts columns of every CQL type: with NULLs and empty values, whole and as slices, alone and
// together.
func TestColumnRoundTrip(t *testing.T) {
	var all []cql.ColumnInfo
	for i, name := range append(columnTypes, "udt") {
		all = append(all, cql.ColumnInfo{Name: fmt.Sprintf("c%d", i), TypeInfo: columnType(t, name)})
	}
	for i, info := range all {
		for _, nulls := range []float64{0, 0.3, 1} {
			for _, rows := range []int{0, 1, 100} {
				t.Run(fmt.Sprintf("type=%v/nulls=%v/rows=%d", info.TypeInfo, nulls, rows), func(t *testing.T) {
					roundTrip(t, all[i:i+1], randomBatch(uint64(i), all[i:i+1], rows+20, nulls).Slice(13, 13+rows))
				})
			}
		}
	}
	t.Run("together", func(t *testing.T) { roundTrip(t, all, randomBatch(7, all, 300, 0.2).Slice(1, 299)) })
}

// FuzzColumnRoundTrip repeats TestColumnRoundTrip for a random type, seed, number of rows and share of NULLs.
func FuzzColumnRoundTrip(f *testing.F) {
	types := append(append([]string{}, columnTypes...), "udt")
	for i := range types {
		f.Add(uint8(i), uint64(i), uint8(20), uint8(3))
	}
	f.Fuzz(func(t *testing.T, typ uint8, seed uint64, rows, nulls uint8) {
		infos := []cql.ColumnInfo{{Name: "v", TypeInfo: columnType(t, types[int(typ)%len(types)])}}
		b := randomBatch(seed, infos, int(rows)+int(seed%9), float64(nulls%11)/10)
		roundTrip(t, infos, b.Slice(int(seed%9), b.Rows))
	})
}
