// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// Sources of other packages.

// counts is a source of batches with the columns n and text.
type counts struct {
	batches    []*column.Batch
	goroutines int
	worker     int   // of all batches
	open, scan error // of these methods
	run        *countRows
}

func (s *counts) Label() (verb, text string) { return "Counts", "x" }

func (s *counts) Open(context.Context) (*countRows, error) {
	s.run = &countRows{counts: s}
	return s.run, s.open
}

type countRows struct {
	*counts
	columns []string
	workers int
	offered []string // conditions
	closed  int
}

func (r *countRows) Schema() column.Schema {
	return column.Schema{{Name: "n", Type: column.TypeOf[int64]()}, {Name: "text", Type: column.Type{Kind: column.String}}}
}

func (r *countRows) Scan(columns []string, workers int) (line string, goroutines int, err error) {
	r.columns, r.workers = columns, workers
	return "counts", r.goroutines, r.scan
}

func (r *countRows) Run(_ context.Context, f func(worker int, b *column.Batch) error) error {
	for _, b := range r.batches {
		if err := f(r.worker, b); err != nil {
			return err
		}
	}
	return nil
}

func (r *countRows) Close() error { r.closed++; return nil }

// Filter pretends that Run leaves out the rows for which n is not the value.
func (r *countRows) Filter(b expr.Bound) bool {
	r.offered = append(r.offered, b.Column+" "+string(b.Op))
	return b.Column == "n" && b.Op == expr.OpEq
}

// NumRows is no ability of a source of another package.
func (r *countRows) NumRows() int64 { return 1 }

func countsOf(n []int64, text ...string) *column.Batch {
	return column.NewBatch(column.Of("n", n), column.Strings("text", text))
}

// TestFromChecksBatches requires an error for a batch that is not what the source promised.
func TestFromChecksBatches(t *testing.T) {
	good, failure := countsOf([]int64{1}, "a"), errors.New("a failure")
	date, err := column.Of("n", []int64{1}).WithType(column.Type{Kind: column.Time, Unit: column.Millis})
	require.NoError(t, err)
	few, swapped := column.NewBatch(good.Columns[0]), column.NewBatch(good.Columns[1], good.Columns[0])
	for want, s := range map[string]*counts{
		"a failure":                              {open: failure},
		"a failur":                               {goroutines: 1, scan: failure},
		"has 0 goroutines, want at least 1":      {},
		"has -1 goroutines, want at least 1":     {goroutines: -1},
		"as goroutine 2, want 0 to 1":            {goroutines: 2, worker: 2, batches: []*column.Batch{good}},
		"as goroutine -1, want 0 to 1":           {goroutines: 2, worker: -1, batches: []*column.Batch{good}},
		"passed no batch":                        {goroutines: 1, batches: []*column.Batch{good, nil}},
		"a batch of 1 columns, want 2":           {goroutines: 1, batches: []*column.Batch{good, few}},
		`column 0 as "text" string, want "n"`:    {goroutines: 1, batches: []*column.Batch{swapped}},
		`column 0 as "n" time(ms), want "n" int`: {goroutines: 1, batches: []*column.Batch{column.NewBatch(date, good.Columns[1])}},
	} {
		_, err := pipe.From(s).Batch(t.Context())
		require.ErrorContains(t, err, "pipe: Counts(x): ")
		require.ErrorContains(t, err, want)
		var e *pipe.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "Counts", e.Verb)
		if s.open == nil {
			require.Equal(t, 1, s.run.closed, want)
		}
	}
}

// TestFromOffersConditions has a source that evaluates one of its conditions: the others are evaluated on its rows.
func TestFromOffersConditions(t *testing.T) {
	s := &counts{goroutines: 1, batches: []*column.Batch{countsOf([]int64{7, 8, 7}, "a", "a", "b")}}
	p := pipe.From(s).Where("n = 7 and text = 'a' and length(text) = 1").Configure(pipe.Config{Workers: 3})
	require.Equal(t, "counts\n  pushed: n = 7\nwhere text = 'a' and length(text) = 1\n", planOf(t, p))
	b, err := p.Batch(t.Context())
	require.NoError(t, err)
	require.Empty(t, column.Diff(countsOf([]int64{7, 8}, "a", "a"), b), "the source leaves out 8")
	require.Equal(t, []string{"n =", "text ="}, s.run.offered)
	require.Equal(t, 3, s.run.workers)
	_, err = pipe.From(s).Select("n").Configure(pipe.Config{Workers: -1}).Batch(t.Context())
	require.NoError(t, err)
	require.Zero(t, s.run.workers)
	require.Equal(t, []string{"n"}, s.run.columns)
	require.Equal(t, 1, s.run.closed)
}

// TestFromHasNoOrder has batches of equal rows in an order, which all columns order, and further columns.
func TestFromHasNoOrder(t *testing.T) {
	wide := countsOf([]int64{2, 1}, "b", "b")
	wide.Columns = append(wide.Columns, column.Of("more", []int64{0, 0}))
	s := &counts{goroutines: 1, batches: []*column.Batch{wide, countsOf([]int64{0}, "a")}}
	b, err := pipe.From(s).OrderBy(pipe.Descending("text")).Batch(t.Context())
	require.NoError(t, err)
	require.Empty(t, column.Diff(countsOf([]int64{1, 2, 0}, "b", "b", "a"), b))
	count, err := pipe.Union(pipe.From(s), pipe.From(s)).Aggregate(groupby.Count().As("n")).Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(6), count.Column("n").Value(0))
	require.Empty(t, s.run.columns)
}
