// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// Batches in memory: as a source, and as the result of groups.

// TestManyGroupsInOneBatch has so many groups that several goroutines concatenate the columns: numbers, and texts with
// and without NULL.
func TestManyGroupsInOneBatch(t *testing.T) {
	const groups = 200_000
	ids, texts, others, null := make([]int64, groups), make([]string, groups), make([]string, groups), make([]bool, groups)
	for i := range ids {
		ids[i], texts[i], others[i], null[i] = int64(i), strconv.Itoa(i), strconv.Itoa(-i), i%3 == 0
	}
	source := column.NewBatch(column.Of("id", ids), column.Strings("text", texts), column.Strings("other", others).WithNulls(null))
	for _, workers := range []int{1, 3} {
		p := pipe.Batches(source, source).Configure(pipe.Config{Workers: workers}).
			GroupBy("id", "text", "other").Aggregate(groupby.Count().As("n"))
		b, err := p.Batch(t.Context())
		require.NoError(t, err)
		require.NoError(t, b.Check())
		require.Equal(t, groups, b.Rows)
		seen := make([]bool, groups)
		text, err := b.Column("text").Text()
		require.NoError(t, err)
		other, err := b.Column("other").Text()
		require.NoError(t, err)
		counts := numbersOf[int64](t, b, "n")
		for row, id := range numbersOf[int64](t, b, "id") {
			require.False(t, seen[id], "group %d twice", id)
			seen[id] = true
			if text.String(row) != texts[id] || b.Column("other").Null(row) != null[id] || !null[id] && other.String(row) != others[id] ||
				counts[row] != 2 {
				t.Fatalf("%d: %s, %s, %d", id, text.String(row), other.String(row), counts[row])
			}
		}
	}
}

// TestOnlyColumnsThatAreReadAreChecked has a column whose codes exceed its dictionary, in the second batch.
func TestOnlyColumnsThatAreReadAreChecked(t *testing.T) {
	dict := column.NewDictionary([]byte("ab"), []int32{0, 1, 2})
	right := column.NewBatch(column.Of("id", []int64{1, 2}), column.Codes("code", []uint32{0, 1}, dict))
	wrong := column.NewBatch(column.Of("id", []int64{3, 4}), column.Codes("code", []uint32{0, 1}, dict))
	wrong.Columns[1].Values[4] = 2
	p := pipe.Batches(right, wrong)
	b, err := p.Select("id").Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3, 4}, numbersOf[int64](t, b, "id"))
	for _, read := range []pipe.Pipe{p, p.Where("code = 'a'"), p.GroupBy("code").Aggregate(groupby.Count())} {
		_, err = read.Batch(t.Context())
		require.ErrorAs(t, err, new(*pipe.Error))
		require.ErrorContains(t, err, "pipe: Batches(1): column: code: row 1: code 2 is beyond a dictionary of 2 entries")
	}
}
