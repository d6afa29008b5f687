// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe/internal/order"
)

// Sources that fail. Each run closes its source once, whatever fails.

var errBroken = errors.New("broken")

// A faultySource is a source of batches that fails at one point.
type faultySource struct {
	memoryRows
	fails  string // the method that fails
	opens  int
	closes int
}

func newFaulty(fails string) *faultySource {
	b := column.NewBatch(column.Of("v", []int64{1, 2, 3}), column.Of("w", []int64{1, 1, 2}))
	return &faultySource{memoryRows: memoryRows{batches: []*column.Batch{b}}, fails: fails}
}

// failure returns an error if a method is the one that fails.
func (s *faultySource) failure(method string) error {
	if s.fails == method {
		return failed("Faulty", method, errBroken)
	}
	return nil
}

func (s *faultySource) open(context.Context, Config) (opened, error) {
	if err := s.failure("open"); err != nil {
		return nil, err
	}
	s.opens++
	return &input{rows: s}, nil
}

func (s *faultySource) Close() error {
	s.closes++
	return s.failure("close")
}

func (s *faultySource) Scan(columns []string, workers int) (line string, goroutines int, err error) {
	line, goroutines, _ = s.memoryRows.Scan(columns, workers)
	return line, goroutines, s.failure("scan")
}

// Run fails after its rows.
func (s *faultySource) Run(ctx context.Context, f func(worker int, b *column.Batch) error) error {
	if err := s.memoryRows.Run(ctx, f); err != nil {
		return err
	}
	return s.failure("run")
}

// runs are the methods that open a source.
var runs = map[string]func(t *testing.T, p Pipe) error{
	"Batch": func(t *testing.T, p Pipe) error {
		b, err := p.Batch(t.Context())
		require.Equal(t, err != nil, b == nil)
		return err
	},
	"Batches": func(t *testing.T, p Pipe) (last error) {
		for b, err := range p.Batches(t.Context()) {
			require.Equal(t, err != nil, b == nil)
			require.NoError(t, last, "a pair after the error")
			last = err
		}
		return last
	},
	"Explain": func(t *testing.T, p Pipe) error {
		plan, err := p.Explain(t.Context())
		require.Equal(t, err != nil, plan == "")
		return err
	},
	"Schema": func(t *testing.T, p Pipe) error {
		_, err := p.Schema(t.Context())
		return err
	},
}

// TestSourcesAreClosedOnce has sources alone and within a union, with verbs of each kind behind them.
func TestSourcesAreClosedOnce(t *testing.T) {
	chains := map[string]func(p Pipe) Pipe{
		"none":   func(p Pipe) Pipe { return p },
		"rows":   func(p Pipe) Pipe { return p.Where("v > 1").With("x", "v + 1").Select("x", "w") },
		"groups": func(p Pipe) Pipe { return p.GroupBy("w").Aggregate(groupby.Sum("v")) },
		"pairs":  func(p Pipe) Pipe { return p.GroupBy("w").Aggregate(groupby.CountDistinct("v")) },
		"sort":   func(p Pipe) Pipe { return p.OrderBy(Ascending("w")).Limit(2) },
		"window": func(p Pipe) Pipe { return p.Offset(1) },
		"wrong":  func(p Pipe) Pipe { return p.Where("missing") },
	}
	for name, chain := range chains {
		for _, fails := range []string{"", "open", "scan", "run", "close"} {
			for run, call := range runs {
				note := run + " of " + name + ", " + fails + " fails"
				one := newFaulty(fails)
				requireClosed(t, call(t, chain(sourced(one))), run, name, note, one)
				first, second := newFaulty(""), newFaulty(fails)
				union := Union(sourced(first), sourced(second))
				requireClosed(t, call(t, chain(union)), run, name, note+" in a union", first, second)
			}
		}
	}
}

// requireClosed requires the error of the last source, of that verb, if the run has come to the method that fails.
func requireClosed(t *testing.T, err error, run, chain, note string, sources ...*faultySource) {
	t.Helper()
	for _, s := range sources {
		require.Equal(t, s.opens, s.closes, note)
	}
	last := sources[len(sources)-1]
	wrong := chain == "wrong"
	var e *Error
	switch fails := last.fails; {
	case fails == "open", fails == "close" && run == "Schema",
		!wrong && fails == "scan" && run != "Schema", !wrong && fails == "run" && run[0] == 'B':
		require.ErrorIs(t, err, errBroken, note)
		require.ErrorAs(t, err, &e, note)
		if !wrong {
			require.Equal(t, "Faulty", e.Verb, note)
		}
	case wrong:
		require.ErrorAs(t, err, &e, note)
		require.Equal(t, "Where", e.Verb, note)
	default:
		require.NoError(t, err, note)
	}
}

// TestUnionsCloseWhatTheyOpened has a member that cannot be opened, one of other columns, and a zero Pipe.
func TestUnionsCloseWhatTheyOpened(t *testing.T) {
	for name, member := range map[string]Pipe{
		"not opened":    sourced(newFaulty("open")),
		"other columns": sourced(newFaulty("")).Select("v"),
		"no source":     {},
		"wrong":         sourced(newFaulty("")).Where("missing"),
	} {
		first := newFaulty("")
		_, err := Union(sourced(first), member).Batch(t.Context())
		require.Error(t, err, name)
		require.Equal(t, 1, first.closes, name)
		if s, ok := member.chain.source.(*faultySource); ok {
			require.Equal(t, s.opens, s.closes, name)
		}
	}
}

// A lackingSource passes on batches without the columns that it is asked for.
type lackingSource struct {
	*faultySource
	unordered bool
}

func (s lackingSource) open(context.Context, Config) (opened, error) {
	if s.unordered {
		return &input{rows: struct{ Rows }{s}}, nil
	}
	return &input{rows: s}, nil
}

func (s lackingSource) Scan(_ []string, workers int) (line string, goroutines int, err error) {
	return s.memoryRows.Scan(nil, workers)
}

// TestMissingColumnsAreErrors has a source whose batches lack columns: the first verb that needs one fails.
func TestMissingColumnsAreErrors(t *testing.T) {
	p, unordered := sourced(lackingSource{newFaulty(""), false}), sourced(lackingSource{newFaulty(""), true})
	for want, p := range map[string]Pipe{
		`column: no such column: "v"`:               p,
		`pipe: Where("v > 1"): `:                    p.Where("v > 1"),
		`pipe: With("v + w"): `:                     p.With("x", "v + w"),
		`pipe: Select("w", "v"): `:                  p.Select("w", "v"),
		`pipe: GroupBy("v"): `:                      p.GroupBy("v").Aggregate(),
		`pipe: GroupBy("v", "w"): `:                 p.GroupBy("v", "w").Aggregate(groupby.Count()).Limit(1),
		`pipe: Aggregate(): `:                       p.Aggregate(groupby.Sum("v")),
		`pipe: Distinct("w", "v"): `:                p.Distinct("w", "v"),
		`pipe: OrderBy("v", "w"): `:                 p.OrderBy(Ascending("v"), Descending("w")),
		`pipe: OrderBy("w"): column: no such colum`: p.OrderBy(Ascending("w")).Limit(1),
		`pipe: OrderBy("v"): column: no such colum`: unordered.OrderBy(Ascending("v")), // also ordered by w, which has no name here
	} {
		b, err := p.Batch(t.Context())
		require.ErrorIs(t, err, column.ErrNoColumn, want)
		require.Nil(t, b)
		require.Equal(t, want, err.Error()[:len(want)])
	}
}

// A leavingSource passes on two batches, and ends the context before the second.
type leavingSource struct {
	memoryRows
	cancel context.CancelCauseFunc
	passed chan struct{} // closed when f has returned for the second batch
}

func (s *leavingSource) open(context.Context, Config) (opened, error) { return &input{rows: s}, nil }

func (s *leavingSource) Run(_ context.Context, f func(worker int, b *column.Batch) error) error {
	if err := f(0, s.batches[0]); err != nil {
		return err
	}
	s.cancel(errBroken)
	defer close(s.passed)
	return f(0, s.batches[0])
}

// TestBatchesAfterTheContext has a context that ends while a batch waits for the loop: the batch is not dropped without
// an error.
func TestBatchesAfterTheContext(t *testing.T) {
	b := column.NewBatch(column.Of("v", []int64{1, 2}))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s := &leavingSource{memoryRows{batches: []*column.Batch{b}}, cancel, make(chan struct{})}
	var batches int
	var last error
	for b, err := range sourced(s).Batches(ctx) {
		if last = err; err == nil {
			require.Equal(t, 2, b.Rows)
			batches++
			<-s.passed
		}
	}
	require.Equal(t, 1, batches)
	require.ErrorIs(t, last, errBroken)
}

// TestWorkersBoundGoroutines requires that each source is read by the number of goroutines of the Config.
func TestWorkersBoundGoroutines(t *testing.T) {
	b := column.NewBatch(column.Of("v", make([]int64, 3*morselRows)))
	path := filepath.Join(t.TempDir(), "rows.parquet")
	require.NoError(t, parquetscan.WriteFile(t.Context(), path, b))
	for _, p := range []Pipe{
		Batches(b), Parquet(path), Union(Batches(b).OrderBy(Ascending("v")).Limit(1), Parquet(path)), Batches(b).Where("v = 0"), Parquet(path).With("x", "v + v"),
		Batches(b).Limit(9), Parquet(path).OrderBy(Ascending("v")),
	} {
		for _, workers := range []int{3, 0} {
			pl, err := newPlan(t.Context(), p.chain, Config{Workers: workers})
			require.NoError(t, err)
			want := cmp.Or(workers, runtime.GOMAXPROCS(0))
			if _, sorts := pl.root.(*sortNode); sorts {
				want = 1
			}
			require.Equal(t, want, pl.root.workers())
			require.NoError(t, pl.root.run(t.Context(), func(worker int, _ part) error {
				if worker < 0 || worker >= want {
					return errBroken
				}
				return nil
			}))
			pl.end()
		}
	}
}

// TestFilesClosedBeforeThePlan requires an error for a Dataset that is closed while a pipe is planned.
func TestFilesClosedBeforeThePlan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.parquet")
	require.NoError(t, parquetscan.WriteFile(t.Context(), path, column.NewBatch(column.Of("v", []int64{1}), column.Of("w", []int64{2}))))
	for i, chain := range []func(p Pipe) Pipe{
		func(p Pipe) Pipe { return p },
		func(p Pipe) Pipe { return p.OrderBy(Ascending("v")).Limit(1) }, // w is read late
		func(p Pipe) Pipe { return p.Where("v % 2 = 1") },
		func(p Pipe) Pipe { return Union(p, p) },
	} {
		files, err := parquetscan.Open(t.Context(), path)
		require.NoError(t, err)
		p := chain(Dataset(files))
		b, err := bind(t.Context(), p.chain, Config{})
		require.NoError(t, err)
		require.NoError(t, files.Close())
		pl := &plan{}
		n, err := b.plan(pl)
		if err == nil {
			err = n.run(t.Context(), func(int, part) error { return nil })
		}
		require.ErrorIs(t, err, parquetscan.ErrClosed, i)
	}
}

// TestFilesAreClosed requires that a run closes the files that it opened, and leaves the files of the program open.
func TestFilesAreClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.parquet")
	require.NoError(t, parquetscan.WriteFile(t.Context(), path, column.NewBatch(column.Of("v", []int64{1}))))
	files, err := parquetscan.Open(t.Context(), path)
	require.NoError(t, err)
	defer files.Close()
	pass := func(int, part) error { return nil }
	for name, closed := range map[string]bool{"Parquet": true, "Dataset": false} {
		p := Dataset(files)
		if closed {
			p = Parquet(path)
		}
		pl, err := newPlan(t.Context(), p.chain, p.config)
		require.NoError(t, err)
		require.NoError(t, pl.root.run(t.Context(), pass))
		pl.end()
		if err = pl.root.run(t.Context(), pass); closed {
			require.ErrorIs(t, err, parquetscan.ErrClosed, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}

// TestSingleValues requires that the value of a footer becomes a column of the field's type, and that a value of
// another Go type is refused.
func TestSingleValues(t *testing.T) {
	values := map[column.Kind]any{
		column.Bool: true, column.Int8: int8(-1), column.Int16: int16(-2), column.Int32: int32(-3), column.Int64: int64(-4),
		column.Uint8: uint8(1), column.Uint16: uint16(2), column.Uint32: uint32(3), column.Uint64: uint64(4),
		column.Float32: float32(0.5), column.Float64: 0.25, column.UUID: cql.UUID{7}, column.String: "text", column.Binary: []byte{1, 0},
	}
	for kind, v := range values {
		f := column.Field{Name: "x", Type: column.Type{Kind: kind}}
		c, ok := single(f, v)
		require.True(t, ok, kind)
		require.NoError(t, column.NewBatch(c).Check())
		require.Equal(t, f.Type, c.Type)
		require.Equal(t, v, c.Value(0))
		_, ok = single(f, struct{}{})
		require.False(t, ok)
		other := any("text")
		if kind == column.String || kind == column.Binary {
			other = int64(1)
		}
		_, ok = single(f, other)
		require.False(t, ok, kind)
	}
	for _, f := range columntest.Fields() {
		c, ok := single(f, nil)
		require.True(t, ok)
		require.NoError(t, column.NewBatch(c).Check())
		require.Equal(t, f.Type, c.Type)
		require.Nil(t, c.Value(0))
	}
}

// TestErrorOfASortNamesItsOrders, not the columns that make the order total.
func TestErrorOfASortNamesItsOrders(t *testing.T) {
	n := &sortNode{sortOp: &sortOp{keys: []order.Key{{Name: "a"}, {Name: "b"}, {Name: "total"}}, orders: 2}}
	require.NoError(t, n.failed(nil))
	err := n.failed(column.ErrTooLarge)
	require.ErrorIs(t, err, column.ErrTooLarge)
	require.ErrorContains(t, err, `pipe: OrderBy("a", "b"): `)
}

// TestShiftedSumsOfMissingColumns has groups without a sum, or with one of another type.
func TestShiftedSumsOfMissingColumns(t *testing.T) {
	op := &shiftOp{[]shiftedSum{{"x", "sum", "count", 1}}}
	for _, columns := range [][]column.Column{
		{column.Of("count", []int64{1})}, {column.Of("sum", []int64{1})}, {column.Of("sum", []float64{1}), column.Of("count", []int64{1})},
	} {
		n, err := op.node(&plan{}, &memoryNode{batches: []*column.Batch{column.NewBatch(columns...)}})
		require.NoError(t, err)
		err = n.run(t.Context(), func(int, part) error { return nil })
		require.ErrorContains(t, err, "pipe: Aggregate(): column: ")
	}
}
