// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

// Tests of selections. The random cases of TestGrouperEqualsReference have selections, too.

// chooseRows chooses some of n rows: all, none, single rows, or runs.
func chooseRows(c chooser, n int) []int32 {
	rows := []int32{}
	most := []int{1, 2, 100, 5000}[c.n(4)] // length of a run
	skip := []int{0, 1, 3, 100, n}[c.n(5)]
	for at := c.n(skip + 1); at < n; at += 1 + c.n(skip+1) {
		for end := min(n, at+1+c.n(most)); at < end; at++ {
			rows = append(rows, int32(at))
		}
	}
	return rows
}

// filtered returns the selected rows of all batches, each run of consecutive rows as a batch of its own.
func (gc *groupCase) filtered() []*column.Batch {
	if gc.rows == nil {
		return gc.batches
	}
	var runs []*column.Batch
	for k, b := range gc.batches {
		rows := gc.rows[k]
		runs = append(runs, b.Slice(0, 0)) // has the types even if no row is selected
		for i := 0; i < len(rows); {
			j := i + 1
			for j < len(rows) && rows[j] == rows[j-1]+1 {
				j++
			}
			run := b.Slice(int(rows[i]), int(rows[i])+j-i)
			run.Source.FirstRow += int64(rows[i])
			runs = append(runs, run)
			i = j
		}
	}
	return runs
}

// add adds the selected rows of batch i.
func (gc *groupCase) add(ctx context.Context, w *Worker, i int, m *met) error {
	if gc.rows == nil {
		return w.Add(ctx, gc.batches[i])
	}
	m.add("selected rows")
	return w.AddRows(ctx, gc.batches[i], gc.rows[i])
}

// TestAddRows adds every third row, the rows from the middle on, and none, in a table and in partitions.
func TestAddRows(t *testing.T) {
	soak.NoRace(t)
	const n = 3 * scatterRows
	texts, values, codes := make([]string, n), make([]int64, n), make([]uint32, n)
	validity := make([]byte, n/8)
	for i := range texts {
		texts[i], values[i], codes[i] = fmt.Sprintf("%0*d", i%40, i%997), int64(i%500), uint32(i%3)
		validity[i>>3] |= byte(i%7+1) >> 2 & 1 << (i & 7)
	}
	dict := dictionaryOf(boxed([]string{"a", "a text that is longer", ""}))
	keys := cols(vals(texts), column.Codes("", codes, dict).WithValidity(validity))
	args := cols(vals(values).WithValidity(validity), vals(texts))
	var third, tail []int32
	for i := range int32(n) {
		if i%3 == 0 {
			third = append(third, i)
		}
		if i >= n/2+1 {
			tail = append(tail, i)
		}
	}
	for _, by := range [][]string{By("k0"), By("k1"), By("k0", "k1"), nil} {
		for _, local := range []int{1, defaultLimits.local} {
			gc := groupCase{
				config:  Config{Keys: by, Aggregates: []Aggregate{Count(), Sum("v0"), First("v1"), Max("v1")}},
				limits:  defaultLimits,
				batches: []*column.Batch{batchOf(1000+n, keys, args), batchOf(1000, keys, args), batchOf(0, keys, args)},
				rows:    [][]int32{third, tail, nil},
				workers: 1,
			}
			gc.limits.local, gc.limits.sample = local, 100
			require.NoError(t, gc.check(nil), "keys %v, local %d", by, local)
		}
	}
}

// TestAddRowsErrors checks that unsuitable rows add nothing and leave the Worker usable.
func TestAddRowsErrors(t *testing.T) {
	b := batchOf(0, cols(vals([]int64{1, 2, 3})), nil)
	g, err := New(By("k0"), Count())
	require.NoError(t, err)
	w := g.Worker()
	for _, row := range []struct {
		rows []int32
		want string
	}{
		{[]int32{0, 3}, "row 3 is selected, the batch has 3 rows"},
		{[]int32{-1}, "selected row 0 is -1, after -1"},
		{[]int32{1, 1}, "selected row 1 is 1, after 1: selected rows must ascend"},
		{[]int32{2, 0}, "selected row 1 is 0, after 2"},
	} {
		var be *BatchError
		err := w.AddRows(t.Context(), b, row.rows)
		require.ErrorAs(t, err, &be)
		require.Equal(t, "rows", be.Column)
		require.ErrorContains(t, err, row.want)
	}
	require.NoError(t, w.AddRows(t.Context(), b, []int32{0, 2}))
	require.NoError(t, w.AddRows(t.Context(), b, nil), "no rows")
	r, err := g.Finish(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int64{1, 3}, ints(r, "k0"))
}

// TestAddRowsAllocations checks that selected rows of known groups cost no memory but a chunk's validity.
func TestAddRowsAllocations(t *testing.T) {
	const n = 1 << 16
	keys, texts, rows := make([]int64, n), make([]string, n), []int32{}
	for i := range keys {
		keys[i], texts[i] = int64(i%1000), fmt.Sprint("a name of more than 15 bytes ", i%1000)
		if i%3 > 0 {
			rows = append(rows, int32(i))
		}
	}
	b := batchOf(0, cols(vals(texts), vals(keys)), cols(vals(keys)))
	g, err := Config{Keys: By("k0", "k1"), Aggregates: []Aggregate{Count(), Min("v0")}}.New()
	require.NoError(t, err)
	w := g.Worker()
	add := func() { require.NoError(t, w.AddRows(t.Context(), b, rows)) }
	add()
	if got := testing.AllocsPerRun(5, add); got > 3 {
		t.Errorf("%v allocations of %d selected rows", got, len(rows))
	}
}
