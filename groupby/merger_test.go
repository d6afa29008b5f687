// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// A block of distinct keys is merged into an empty merger, and then again into one with all its groups. Sums without a
// value stay NULL, also those behind the first chunk.
func TestAdoptedBlock(t *testing.T) {
	const rows, null = 2*chunkRows + 100, chunkRows + 7
	for _, key := range []column.Column{vals(make([]int64, rows)), distinctTextRows(0, rows).Columns[0]} {
		numbers, validity := make([]int64, rows), make([]byte, (rows+7)/8)
		for i := range rows {
			numbers[i] = int64(i) * 1_000_003
			if i != null {
				validity[i>>3] |= 1 << (i & 7)
			}
		}
		if key.Type == typeInt64 {
			key = vals(numbers)
		}
		c, err := Config{Keys: By("k0"), Aggregates: []Aggregate{Sum("v0"), Max("v0")}}.check()
		require.NoError(t, err)
		p, err := newPlan(c, defaultLimits, []column.Type{key.Type, typeInt64})
		require.NoError(t, err)
		maker, from := newKeyMaker(p.keys), newMerger(p)
		values := vals(numbers).WithValidity(validity)
		for i := 0; i < rows; i += chunkRows {
			j := min(i+chunkRows, rows)
			maker.make(cols(key), i, j)
			require.NoError(t, from.add(&chunk{keys: &maker.keys, values: cols(values.Slice(i, j)), start: int64(i)}, false))
		}
		b, err := from.block()
		require.NoError(t, err)
		require.True(t, b.distinct)
		to := newMerger(p)
		for times := int64(1); times < 3; times++ {
			require.NoError(t, to.merge(b))
			require.Equal(t, rows+1, to.groups())
			require.Equal(t, from.numbers, to.numbers)
			sums, err := to.results[0](1, to.groups())
			require.NoError(t, err)
			for i := range sums.Len {
				require.Equal(t, i == null, sums.Null(i), "group %d", i)
				if i != null {
					require.Equal(t, times*numbers[i], view[int64](&sums)[i])
				}
			}
		}
	}
}

// A badStates is an accumulator whose states have other types than it declares.
type badStates struct {
	count
	state func(n int) ([]column.Column, error)
}

func (b *badStates) Types() ([]column.Type, column.Field) {
	return []column.Type{typeInt64, typeInt64}, fieldOf(typeInt64)
}

func (b *badStates) State(i, j int) ([]column.Column, error) { return b.state(j - i) }

// Each column of a state that differs from the types of the accumulator is an error, and so is the number of columns.
func TestStatesAreChecked(t *testing.T) {
	failure := errors.New("no states")
	right := func(n int) column.Column { return vals(make([]int64, n)) }
	for _, row := range []struct {
		want  string
		state func(n int) ([]column.Column, error)
	}{
		{"", func(n int) ([]column.Column, error) { return cols(right(n), right(n)), nil }},
		{"int8", func(n int) ([]column.Column, error) { return cols(vals(make([]int8, n)), right(n)), nil }},
		{"int8", func(n int) ([]column.Column, error) { return cols(right(n), vals(make([]int8, n))), nil }},
		{"rows", func(n int) ([]column.Column, error) { return cols(right(n+1), right(n)), nil }},
		{"State returned 1 columns, want 2", func(n int) ([]column.Column, error) { return cols(right(n)), nil }},
		{"State returned 3 columns, want 2", func(n int) ([]column.Column, error) { return cols(right(n), right(n), right(n)), nil }},
		{"column: ", func(n int) ([]column.Column, error) {
			short := right(n)
			short.Values = short.Values[:8*n-1]
			return cols(right(n), short), nil
		}},
		{failure.Error(), func(n int) ([]column.Column, error) { return cols(right(n), right(n)), failure }},
	} {
		a := Aggregate{Name: "mine", Args: []string{"v0"}, New: func([]column.Type) (Accumulator, error) {
			return &badStates{state: row.state}, nil
		}}
		g, err := New(By("k0"), a)
		require.NoError(t, err)
		require.NoError(t, g.Add(t.Context(), batchOf(0, cols(vals([]int64{1, 2, 1})), cols(vals([]int64{4, 5, 6})))))
		if err = g.WritePartial(io.Discard); row.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, row.want)
		require.ErrorContains(t, err, "mine")
	}
}

// A badRows is an accumulator that refuses rows from some time on.
type badRows struct {
	count
	err *error
}

func (b *badRows) Add(Rows) error { return *b.err }

// The result returns the error of an accumulator, whether rows are in a table or in partitions.
func TestErrorOfAnAccumulatorIsReturned(t *testing.T) {
	failure := errors.New("no rows")
	for _, local := range []int{1, 1 << 20} {
		var now error
		g, err := New(By("k0"), Aggregate{Name: "mine", Args: []string{"v0"}, New: func([]column.Type) (Accumulator, error) {
			return &badRows{err: &now}, nil
		}})
		require.NoError(t, err)
		g.limits.local = local
		numbers := make([]int64, 10_000)
		for i := range numbers {
			numbers[i] = int64(i) * 1_000_003
		}
		b := batchOf(0, cols(vals(numbers)), cols(vals(numbers)))
		require.NoError(t, g.Add(t.Context(), b))
		if now = failure; local > 1 {
			err = g.Add(t.Context(), b)
		} else { // rows that were added before are merged
			_, err = g.Finish(t.Context())
		}
		require.ErrorIs(t, err, failure, "local %d", local)
		require.ErrorContains(t, err, "mine")
	}
}

// The size of a merger includes the memory that its accumulators keep when it is empty again.
func TestSizeOfAMergerThatWasLarge(t *testing.T) {
	c, err := Config{Keys: By("k0"), Aggregates: []Aggregate{Sum("v0")}}.check()
	require.NoError(t, err)
	p, err := newPlan(c, defaultLimits, []column.Type{typeInt64, typeInt64})
	require.NoError(t, err)
	m := newMerger(p)
	before := m.size()
	m.resizeTo(1 << 16)
	require.GreaterOrEqual(t, m.size()-before, int64(8<<16))
	m.reset()
	require.GreaterOrEqual(t, m.size()-before, int64(8<<16))
}

// Three workers have some groups in common: their sets of distinct values are joined by group.
func TestDistinctValuesOfWorkersAreJoined(t *testing.T) {
	c := Config{Keys: By("k0"), Aggregates: []Aggregate{CountDistinct("v0"), CountDistinct("v1"), Count()}}
	g, err := c.New()
	require.NoError(t, err)
	var batches []*column.Batch
	for i := range 3 {
		n := 3000 >> i
		keys, numbers, texts := make([]int64, n), make([]int64, n), make([]string, n)
		for k := range keys {
			keys[k], numbers[k] = int64((k+7*i)%30), int64(k*k%(11+i))
			texts[k] = fmt.Sprint("text ", k%(5+i))
		}
		b := batchOf(int64(3000*i), cols(vals(keys)), cols(vals(numbers), vals(texts)))
		batches = append(batches, b)
		require.NoError(t, g.Worker().Add(t.Context(), b))
	}
	got, err := g.Finish(t.Context())
	require.NoError(t, err)
	want, err := reference(c, batches...)
	require.NoError(t, err)
	equalResults(t, c, want, got, false)
}

// The tables of workers are merged without partitions if all but the largest have few groups together.
func TestSmallTablesAreMergedLocally(t *testing.T) {
	for most, local := range map[int]bool{80: true, 79: false} {
		g, err := New(By("k0"), Count())
		require.NoError(t, err)
		g.limits.merge = most
		for i, groups := range []int{50, 100, 30} {
			keys := make([]int64, groups)
			for k := range keys {
				keys[k] = int64(k + 10*i)
			}
			require.NoError(t, g.Worker().Add(t.Context(), batchOf(0, cols(vals(keys)), nil)))
		}
		m, err := g.stages[0].mergeLocal()
		require.NoError(t, err)
		require.Equal(t, local, m != nil, "limit %d", most)
		if local {
			require.Equal(t, 111, m.groups())
		}
		require.NoError(t, g.Close())
	}
}

// Tables of many workers, which are merged in pairs, have the groups of one worker, in their order.
func TestMergeTables(t *testing.T) {
	ctx := t.Context()
	const rows, groups = 21_000, 1000
	keys, values, texts := make([]int64, rows), make([]int64, rows), make([]string, rows)
	for i := range rows {
		keys[i], values[i], texts[i] = int64(i%groups*7919), int64(i*31%97), fmt.Sprint("a text ", i*17%89)
	}
	all := column.NewBatch(column.Of("key", keys), column.Of("value", values), column.Strings("text", texts))
	c := Config{
		Keys: By("key"), Order: FirstAppearance,
		Aggregates: []Aggregate{
			Count(), Sum("value"), Min("text"), CountDistinct("value"), CountDistinct("text"), Median("value"), First("text"),
			Last("value"), TopK("value", 3),
		},
	}
	want, err := c.Aggregate(ctx, all)
	require.NoError(t, err)
	for _, workers := range []int{2, 3, 4, 7, 21} {
		g, err := c.New()
		require.NoError(t, err)
		for i := range workers {
			part := all.Slice(rows*i/workers, rows*(i+1)/workers)
			part.Source.FirstRow = int64(rows * i / workers)
			require.NoError(t, g.Worker().Add(ctx, part))
		}
		got, err := g.Finish(ctx)
		require.NoError(t, err)
		require.Empty(t, column.Diff(got, want), "%d workers", workers)
	}
}

// Workers put rows into a partition while others compact it.
func TestConcurrentCompaction(t *testing.T) {
	const workers, rows, groups = 8, 40_000, 3000
	keys, values := make([]int64, rows), make([]int64, rows)
	for i := range rows {
		keys[i], values[i] = int64(i%groups*7919), int64(i%101)
	}
	all := column.NewBatch(column.Of("key", keys), column.Of("value", values))
	c := Config{Keys: By("key"), Order: Ascending("key"), Aggregates: []Aggregate{Count(), Sum("value"), CountDistinct("value")}}
	want, err := c.Aggregate(t.Context(), all)
	require.NoError(t, err)
	g, err := c.New()
	require.NoError(t, err)
	g.limits.local, g.limits.blockRows, g.limits.compactBytes = 1, 16, 1 // each block is compacted
	err = parallel(workers, func(k int) error {
		w := g.Worker()
		for i := rows * k / workers; i < rows*(k+1)/workers; i += 500 {
			if err := w.Add(t.Context(), all.Slice(i, i+500)); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	got, err := g.Finish(t.Context())
	require.NoError(t, err)
	require.Empty(t, column.Diff(got, want))
	for p := range g.stages[0].store.parts {
		require.Zero(t, g.stages[0].store.parts[p].merging)
	}
}
