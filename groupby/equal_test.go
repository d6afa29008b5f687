// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// This file compares the Grouper with Reference, and what they do about errors.

// equalResults fails the test if results differ: floats that are sums, means or variances by more than 1e-9 of them, anything else at all. NaN equals NaN,
// and -0 equals 0. Rows of unordered results are compared by their keys.
func equalResults(t testing.TB, want, got *Result, unordered bool) {
	t.Helper()
	if want.Len() != got.Len() {
		t.Fatalf("got %d groups, want %d", got.Len(), want.Len())
	}
	if err := compareResults(want, got, unordered); err != nil {
		t.Fatal(err)
	}
}

// compareResults is equalResults, but the groups of unordered results need only be among those wanted.
func compareResults(want, got *Result, unordered bool) error {
	wantRows, err := rowsOf(want)
	if err != nil {
		return fmt.Errorf("wanted result: %w", err)
	}
	gotRows, err := rowsOf(got)
	if err != nil {
		return err
	}
	keys := len(got.plan.Keys)
	if unordered {
		byKey := map[string][]any{}
		for _, r := range wantRows {
			byKey[rowKey(r[:keys])] = r
		}
		wantRows = wantRows[:0:0]
		for i, r := range gotRows {
			key := rowKey(r[:keys])
			w, ok := byKey[key]
			if !ok {
				return fmt.Errorf("row %d: group %v is not among those wanted, or comes again", i, r[:keys])
			}
			wantRows = append(wantRows, w)
			delete(byKey, key)
		}
	}
	if len(wantRows) != len(gotRows) {
		return fmt.Errorf("got %d groups, want %d", len(gotRows), len(wantRows))
	}
	for i, r := range gotRows {
		for k, v := range r {
			about := k >= keys && slices.Contains([]string{"sum", "avg", "var_pop"}, got.plan.Aggregates[k-keys].Name)
			if !equalValues(wantRows[i][k], v, about) {
				return fmt.Errorf("row %d: got %v, want %v", i, r, wantRows[i])
			}
		}
	}
	return nil
}

// rowsOf returns the rows of a result: keys and aggregates.
func rowsOf(r *Result) ([][]any, error) {
	n := 0
	for b := range r.Batches() {
		n += b.Rows
		for _, c := range slices.Concat(b.Keys, b.Values) {
			if c.Len() != b.Rows {
				return nil, fmt.Errorf("a column of %d rows in a batch of %d", c.Len(), b.Rows)
			}
		}
	}
	if n != r.Len() {
		return nil, fmt.Errorf("batches have %d groups, result says %d", n, r.Len())
	}
	rows := make([][]any, n)
	var types []Type
	var cols []Column
	for i, t := range r.plan.Keys {
		types, cols = append(types, t), append(cols, r.Key(i))
	}
	for i, t := range resultTypes(r) {
		types, cols = append(types, t), append(cols, r.Aggregate(i))
	}
	for i, c := range cols {
		if c.Len() != n || c.Type() != types[i] {
			return nil, fmt.Errorf("column %d is %d rows of %s, not %d of %s", i, c.Len(), c.Type(), n, types[i])
		}
		for k, v := range referenceValues(c) {
			rows[k] = append(rows[k], v)
		}
	}
	return rows, nil
}

func rowKey(keys []any) string {
	var key []byte
	for _, v := range keys {
		key = appendReferenceKey(key, v)
	}
	return string(key)
}

func equalValues(want, got any, about bool) bool {
	switch w := want.(type) {
	case float32:
		g, ok := got.(float32)
		return ok && equalFloats(float64(w), float64(g), about)
	case float64:
		g, ok := got.(float64)
		return ok && equalFloats(w, g, about)
	case []float32:
		g, ok := got.([]float32)
		return ok && slices.EqualFunc(w, g, func(a, b float32) bool { return equalFloats(float64(a), float64(b), true) })
	case []float64:
		g, ok := got.([]float64)
		return ok && slices.EqualFunc(w, g, func(a, b float64) bool { return equalFloats(a, b, true) })
	}
	return want == got
}

func equalFloats(want, got float64, about bool) bool {
	if want == got || want != want && got != got {
		return true
	}
	return about && math.Abs(want-got) <= 1e-9*max(math.Abs(want), math.Abs(got)) && !math.IsInf(want-got, 0)
}

// check groups a case and compares with Reference.
func (gc *groupCase) check(m *met) error {
	c := gc.config
	anyOf := c.Order == Unordered && c.Limit > 0
	if anyOf {
		c.Limit = 0
	}
	want, wantErr := Reference(c, gc.batches...)
	got, err := gc.run(m)
	if wantErr != nil {
		var w, g *OverflowError
		if !errors.As(wantErr, &w) || !errors.As(err, &g) {
			return fmt.Errorf("got error %v, want %v", err, wantErr)
		}
		m.add("overflow")
		return nil
	}
	if err != nil {
		return err
	}
	groups := want.Len()
	if anyOf {
		groups = min(groups, gc.config.Limit)
	}
	if got.Len() != groups {
		return fmt.Errorf("got %d groups, want %d", got.Len(), groups)
	}
	return compareResults(want, got, c.Order == Unordered)
}

func TestGrouperEqualsReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var m met
	begin := time.Now()
	for i := range 2000 {
		all := !slices.ContainsFunc(everything, func(what string) bool { return m.n[what] == 0 })
		if all && (i >= 400 || i >= 100 && time.Since(begin) > 8*time.Second) {
			t.Logf("%d cases", i)
			break
		}
		gc := makeCase(randomChooser{rand.New(rand.NewPCG(seed, uint64(i)))}, 1000<<(i%7))
		if err := gc.check(&m); err != nil {
			t.Errorf("seed %d, case %d: %v\n%v", seed, i, err, gc)
		}
	}
	t.Logf("met: %v", m.n)
	for _, what := range everything {
		if m.n[what] == 0 {
			t.Errorf("never met: %s", what)
		}
	}
}

// TestReference compares the reference with what was computed by hand.
func TestReference(t *testing.T) {
	nan := math.NaN()
	keys := Values([]float64{nan, 1, math.Copysign(0, -1), 7, 0, -nan, 1, 9}).WithValidity([]byte{0b0111_1111})
	values := Values([]int8{1, 2, 3, 4, 5, 6, 7, 8}).WithValidity([]byte{0b1111_0111})
	batch := Batch{Keys: []Column{keys}, Values: []Column{values}}
	c := Config{
		Keys: []Type{Float64}, Values: []Type{Int8},
		Aggregates: []Aggregate{Count(), CountOf(0), Sum(0), Mean(0), Min(0), Max(0)},
	}
	isNaN := []any{nan, int64(2), int64(2), int64(7), 3.5, int8(1), int8(6)}
	one := []any{1.0, int64(2), int64(2), int64(9), 4.5, int8(2), int8(7)}
	zero := []any{0.0, int64(2), int64(2), int64(8), 4.0, int8(3), int8(5)}
	seven := []any{7.0, int64(1), int64(0), nil, nil, nil, nil}
	null := []any{nil, int64(1), int64(1), int64(8), 8.0, int8(8), int8(8)}
	for _, row := range []struct {
		name  string
		order Order
		limit int
		drop  bool
		want  [][]any
	}{
		{"first appearance", FirstAppearance, 0, false, [][]any{isNaN, one, zero, seven, null}},
		{"limit", FirstAppearance, 2, false, [][]any{isNaN, one}},
		{"drop nulls", FirstAppearance, 0, true, [][]any{isNaN, one, zero, seven}},
		{"keys", ByKeys, 0, false, [][]any{zero, one, seven, isNaN, null}},
		{"sum ascending", ByAggregate(2, false), 0, false, [][]any{isNaN, zero, null, one, seven}},
		{"sum descending", ByAggregate(2, true), 0, false, [][]any{one, zero, null, isNaN, seven}},
		{"count descending", ByAggregate(0, true), 4, false, [][]any{zero, one, isNaN, seven}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := c
			c.Order, c.Limit, c.DropNulls = row.order, row.limit, row.drop
			r, err := Reference(c, batch)
			require.NoError(t, err)
			got, err := rowsOf(r)
			require.NoError(t, err)
			equal := func(a, b []any) bool {
				return slices.EqualFunc(a, b, func(a, b any) bool { return equalValues(a, b, false) })
			}
			if !slices.EqualFunc(row.want, got, equal) {
				t.Errorf("got %v, want %v", got, row.want)
			}
			grouped, err := AggregateBatch(context.Background(), c, batch)
			require.NoError(t, err)
			equalResults(t, r, grouped, false)
		})
	}
}

// TestReferenceStarts: rows have the numbers that batches say.
func TestReferenceStarts(t *testing.T) {
	c := Config{Keys: []Type{Int64}}
	batch := func(start int64, keys ...int64) Batch { return Batch{Keys: []Column{Values(keys)}, Start: start} }
	for _, row := range []struct {
		name    string
		batches []Batch
		want    []int64
	}{
		{"consecutive", []Batch{batch(0, 5, 4), batch(0, 3, 5)}, []int64{5, 4, 3}},
		{"turned round", []Batch{batch(2, 5, 4), batch(0, 3, 5)}, []int64{3, 5, 4}},
	} {
		r, err := Reference(c, row.batches...)
		require.NoError(t, err)
		got, _ := SliceOf[int64](r.Key(0))
		require.Equal(t, row.want, got, row.name)
	}
}

func TestGrouperEmpty(t *testing.T) {
	ctx := context.Background()
	for _, order := range []Order{FirstAppearance, Unordered, ByKeys, ByAggregate(0, true)} {
		c := Config{Keys: []Type{String, Int64}, Values: []Type{Float64}, Aggregates: []Aggregate{Sum(0)}, Order: order}
		g, err := New(c)
		require.NoError(t, err)
		r, err := g.Finish(ctx)
		require.NoError(t, err, "no batch")
		require.Zero(t, r.Len())

		r, err = AggregateBatch(ctx, c, Batch{Keys: []Column{Values([]string{}), Values([]int64{})}, Values: []Column{Values([]float64{})}})
		require.NoError(t, err, "a batch without rows")
		require.Zero(t, r.Len())
		require.Zero(t, r.Key(0).Len())
		require.Equal(t, String, r.Key(0).Type())
		require.Empty(t, r.Key(0).Strings())
		require.Zero(t, r.Aggregate(0).Len())

		c.DropNulls = true
		r, err = AggregateBatch(ctx, c, Batch{
			Keys:   []Column{Values([]string{"a"}).WithValidity([]byte{0}), Values([]int64{1})},
			Values: []Column{Values([]float64{1})},
		})
		require.NoError(t, err, "all rows left out")
		require.Zero(t, r.Len())
	}
}

func TestGrouperOnlyNulls(t *testing.T) {
	nulls := make([]byte, 4096/8)
	for _, typ := range scalarTypes {
		for _, sample := range []int{1, math.MaxInt} {
			for _, keys := range []int{1, 2, 3} {
				b := Batch{}
				c := Config{Aggregates: []Aggregate{Count()}}
				for range keys {
					m := newColumnMaker(randomChooser{rand.New(rand.NewPCG(1, 1))}, typ, 100, 0, 0)
					m.nulls = 0
					groups := make([]int, 4096)
					for i := range groups {
						groups[i] = i % 100
					}
					b.Keys = append(b.Keys, m.column(randomChooser{rand.New(rand.NewPCG(1, 1))}, groups).WithValidity(nulls))
					c.Keys = append(c.Keys, typ)
				}
				gc := groupCase{config: c, limits: defaultLimits, batches: []Batch{b, b}}
				gc.limits.sample = sample
				r, err := gc.run(nil)
				require.NoError(t, err)
				require.Equal(t, 1, r.Len())
				for k := range keys {
					require.True(t, r.Key(k).Null(0), typ)
				}
				n, _ := SliceOf[int64](r.Aggregate(0))
				require.Equal(t, []int64{2 * 4096}, n)
			}
		}
	}
}

func TestGrouperNoKeys(t *testing.T) {
	values := make([]int64, 100000)
	for i := range values {
		values[i] = int64(i)
	}
	c := Config{Values: []Type{Int64}, Aggregates: []Aggregate{Count(), Sum(0), Max(0)}, Workers: 3}
	gc := groupCase{config: c, limits: defaultLimits, batches: []Batch{{Values: []Column{Values(values)}}}}
	for _, local := range []int{0, 1, 100} {
		gc.limits.local, gc.limits.morsel, gc.limits.sample = local, scatterRows, 1
		require.NoError(t, gc.check(nil), local)
	}

	r, err := AggregateBatch(context.Background(), Config{Aggregates: []Aggregate{Count()}}, Batch{Rows: 12345})
	require.NoError(t, err)
	n, _ := SliceOf[int64](r.Aggregate(0))
	require.Equal(t, []int64{12345}, n, "no columns at all")
}

func TestGrouperNoAggregates(t *testing.T) {
	for _, order := range []Order{FirstAppearance, Unordered, ByKeys} {
		r, err := AggregateBatch(context.Background(), Config{Keys: []Type{String}, Order: order}, Batch{Keys: []Column{Values([]string{"a", "b", "a", ""})}})
		require.NoError(t, err)
		got := r.Key(0).Strings()
		want := []string{"a", "b", ""}
		if order != FirstAppearance {
			slices.Sort(want)
		}
		if order == Unordered {
			slices.Sort(got)
		}
		require.Equal(t, want, got)
	}
}

func TestConfigErrors(t *testing.T) {
	vector := Vector(Float32, 3)
	first := Aggregate{Name: "first vector", Args: []int{0}, New: func([]Type) (Accumulator, error) { return &vectorStub{typ: vector}, nil }}
	for _, row := range []struct {
		name string
		c    Config
	}{
		{"vector as key", Config{Keys: []Type{vector}}},
		{"no such type", Config{Keys: []Type{99}}},
		{"too many keys", Config{Keys: slices.Repeat([]Type{Bool}, 33)}},
		{"value of no type", Config{Values: []Type{0}}},
		{"vector of strings", Config{Values: []Type{Vector(String, 3)}}},
		{"no New", Config{Aggregates: []Aggregate{{Name: "x"}}}},
		{"no such value", Config{Values: []Type{Int64}, Aggregates: []Aggregate{Sum(1)}}},
		{"sum of strings", Config{Values: []Type{String}, Aggregates: []Aggregate{Sum(0)}}},
		{"sum of vectors", Config{Values: []Type{vector}, Aggregates: []Aggregate{Sum(0)}}},
		{"compensated integers", Config{Values: []Type{Int64}, Aggregates: []Aggregate{SumCompensated(0)}}},
		{"order by nothing there", Config{Aggregates: []Aggregate{Count()}, Order: ByAggregate(1, false)}},
		{"order by vectors", Config{Values: []Type{vector}, Aggregates: []Aggregate{first}, Order: ByAggregate(0, false)}},
		{"negative limit", Config{Limit: -1}},
	} {
		if _, err := New(row.c); err == nil {
			t.Errorf("%s: New: no error", row.name)
		}
		if _, err := Reference(row.c); err == nil {
			t.Errorf("%s: Reference: no error", row.name)
		}
	}
}

// A vectorStub has the types of an aggregate of vectors and nothing else.
type vectorStub struct {
	Accumulator
	typ Type
}

func (v *vectorStub) Types() ([]Type, Type) { return []Type{v.typ}, v.typ }

func TestGrouperBatchErrors(t *testing.T) {
	ctx := context.Background()
	c := Config{
		Keys: []Type{String, Int64}, Values: []Type{Float64, String}, Aggregates: []Aggregate{Count(), Sum(0), CountOf(1)}, Order: ByKeys,
	}
	dict := NewDictionary(Values([]string{"x", "y"}))
	good := Batch{
		Keys:   []Column{Codes([]uint32{0, 1, 1}, dict), Values([]int64{1, 2, 2})},
		Values: []Column{Values([]float64{1, 2, 3}), Values([]string{"", "b", "c"})},
	}
	with := func(change func(b *Batch)) Batch {
		b := Batch{Keys: slices.Clone(good.Keys), Values: slices.Clone(good.Values)}
		change(&b)
		return b
	}
	want, err := Reference(c, good, good)
	require.NoError(t, err)
	for _, row := range []struct {
		name, column string
		bad          Batch
	}{
		{"type of a key", "key 1", with(func(b *Batch) { b.Keys[1] = Values([]int32{1, 2, 3}) })},
		{"type of a value", "value 0", with(func(b *Batch) { b.Values[0] = Values([]float32{1, 2, 3}) })},
		{"no type", "key 0", with(func(b *Batch) { b.Keys[0] = Column{} })},
		{"length of a key", "key 1", with(func(b *Batch) { b.Keys[1] = Values([]int64{1, 2}) })},
		{"length of a value", "value 1", with(func(b *Batch) { b.Values[1] = Values([]string{"a"}) })},
		{"code of a key", "key 0", with(func(b *Batch) { b.Keys[0] = Codes([]uint32{0, 1, 2}, dict) })},
		{"code of a value", "value 1", with(func(b *Batch) { b.Values[1] = Codes([]uint32{0, 9, 1}, dict) })},
		{"too few keys", "columns", with(func(b *Batch) { b.Keys = b.Keys[:1] })},
		{"too many values", "columns", with(func(b *Batch) { b.Values = append(b.Values, b.Values[0]) })},
	} {
		t.Run(row.name, func(t *testing.T) {
			fails := func(err error) {
				t.Helper()
				var be *BatchError
				if !errors.As(err, &be) || be.Column != row.column {
					t.Fatalf("got error %v, want one about %s", err, row.column)
				}
			}
			_, err := Reference(c, good, row.bad)
			fails(err)
			g, err := New(c)
			require.NoError(t, err)
			fails(g.Add(ctx, row.bad))
			require.NoError(t, g.Add(ctx, good))
			w := g.Worker()
			fails(w.Add(ctx, row.bad))
			fails(g.Add(ctx, row.bad))
			require.NoError(t, w.Add(ctx, good))
			got, err := g.Finish(ctx)
			require.NoError(t, err)
			equalResults(t, want, got, false)
		})
	}

	null := with(func(b *Batch) { b.Keys[0] = Codes([]uint32{0, 9, 1}, dict).WithValidity([]byte{0b101}) })
	require.NoError(t, (&groupCase{config: c, limits: defaultLimits, batches: []Batch{null}}).check(nil), "a bad code that is NULL is none")
}

func TestGrouperBatchErrorNegativeRows(t *testing.T) {
	g, err := New(Config{Aggregates: []Aggregate{Count()}})
	require.NoError(t, err)
	require.Error(t, g.Add(context.Background(), Batch{Rows: -1}))
}

func TestGrouperFinished(t *testing.T) {
	ctx := context.Background()
	g, err := New(Config{Aggregates: []Aggregate{Count()}})
	require.NoError(t, err)
	w := g.Worker()
	require.NoError(t, g.Add(ctx, Batch{Rows: 1}))
	_, err = g.Finish(ctx)
	require.NoError(t, err)
	require.ErrorIs(t, g.Add(ctx, Batch{Rows: 1}), ErrFinished)
	require.ErrorIs(t, w.Add(ctx, Batch{Rows: 1}), ErrFinished)
	_, err = g.Finish(ctx)
	require.ErrorIs(t, err, ErrFinished)
}

func TestGrouperCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	keys := make([]int64, 100000)
	for i := range keys {
		keys[i] = int64(i)
	}
	b := Batch{Keys: []Column{Values(keys)}}
	g, err := New(Config{Keys: []Type{Int64}, Workers: 2})
	require.NoError(t, err)
	require.ErrorIs(t, g.Add(ctx, b), context.Canceled)
	err = g.Add(context.Background(), b)
	require.ErrorIs(t, err, ErrFinished, "rows may be missing")
	require.ErrorIs(t, err, context.Canceled)
	_, err = g.Finish(context.Background())
	require.ErrorIs(t, err, ErrFinished)

	g, err = New(Config{Keys: []Type{Int64}})
	require.NoError(t, err)
	require.ErrorIs(t, g.Worker().Add(ctx, b), context.Canceled)

	g, err = New(Config{Keys: []Type{Int64}, Workers: 2})
	require.NoError(t, err)
	g.plan.limits.local = 100
	require.NoError(t, g.Add(context.Background(), b))
	_, err = g.Finish(ctx)
	require.ErrorIs(t, err, context.Canceled, "Finish")
}

// A failing Accumulator fails in one of its methods.
type failing struct {
	count
	method string
	err    error
}

func (f *failing) Add(rows Rows) error {
	if f.method == "Add" {
		return f.err
	}
	return f.count.Add(rows)
}

func (f *failing) State() ([]Column, error) {
	if f.method == "State" {
		return nil, f.err
	}
	return f.count.State()
}

func (f *failing) Merge(ids []uint32, state []Column) error {
	if f.method == "Merge" {
		return f.err
	}
	return f.count.Merge(ids, state)
}

func (f *failing) Result() (Column, error) {
	switch f.method {
	case "Result":
		return Column{}, f.err
	case "length":
		return Values(f.n[:len(f.n)-1]), nil
	case "type":
		return Values(make([]int8, len(f.n))), nil
	}
	return f.count.Result()
}

func TestGrouperAccumulatorErrors(t *testing.T) {
	ctx := context.Background()
	keys := make([]int64, 20000)
	for i := range keys {
		keys[i] = int64(i) * 1000003
	}
	b := Batch{Keys: []Column{Values(keys)}}
	broken := errors.New("broken")
	for _, method := range []string{"Add", "State", "Merge", "Result"} {
		a := Aggregate{Name: "mine", New: func([]Type) (Accumulator, error) { return &failing{method: method, err: broken}, nil }}
		g, err := New(Config{Keys: []Type{Int64}, Aggregates: []Aggregate{Count(), a}, Workers: 2})
		require.NoError(t, err)
		g.plan.limits.local, g.plan.limits.morsel = 10000, 4096
		err = g.Add(ctx, b)
		if err == nil {
			_, err = g.Finish(ctx)
		}
		require.ErrorIs(t, err, broken, method)
		require.ErrorContains(t, err, "mine", method)
	}
}

// TestGrouperBadResult: a Result of the wrong length or type must be an error, not read beyond its memory.
func TestGrouperBadResult(t *testing.T) {
	for _, method := range []string{"length", "type"} {
		a := Aggregate{Name: "mine", New: func([]Type) (Accumulator, error) { return &failing{method: method}, nil }}
		_, err := AggregateBatch(context.Background(), Config{Keys: []Type{Int64}, Aggregates: []Aggregate{a}}, Batch{Keys: []Column{Values([]int64{1, 2, 3})}})
		if err == nil {
			t.Errorf("%s: no error", method)
		}
	}
}

func TestSumOverflow(t *testing.T) {
	ctx := context.Background()
	const maxInt, minInt = math.MaxInt64, math.MinInt64
	for _, row := range []struct {
		name     string
		column   Column
		fails    bool
		wrap     any
		asFloat  float64
		repeated int
	}{
		{"beyond on the way alone", Values([]int64{maxInt, maxInt, minInt, minInt, 7}), false, int64(5), 5, 1},
		{"greatest", Values([]int64{maxInt - 1, 1}), false, int64(maxInt), maxInt, 1},
		{"one beyond", Values([]int64{maxInt, 1}), true, int64(minInt), 1 << 63, 1},
		{"one below", Values([]int64{minInt, -1}), true, int64(maxInt), minInt, 1},
		{"unsigned greatest", Values([]uint64{math.MaxUint64 - 1, 1}), false, uint64(math.MaxUint64), math.MaxUint64, 1},
		{"unsigned beyond", Values([]uint64{math.MaxUint64, 1}), true, uint64(0), 1 << 64, 1},
		{"far beyond", Values([]int64{maxInt, maxInt, maxInt}), true, int64(maxInt - 2), 3 * 0x1p63, 1},
		{"narrow", Values([]int8{-128, -128, 127}), false, int64(-129), -129, 1},
		{"narrow unsigned", Values([]uint8{255, 255, 255}), false, uint64(765), 765, 1},
	} {
		for _, workers := range []int{1, 4} {
			n := row.column.Len()
			for _, overflow := range []Overflow{OverflowFail, OverflowWrap, OverflowFloat} {
				c := Config{Values: []Type{row.column.Type()}, Aggregates: []Aggregate{SumOverflow(0, overflow), Mean(0)}}
				g, err := New(c)
				require.NoError(t, err)
				var ws []*Worker
				for range workers {
					ws = append(ws, g.Worker())
				}
				for i := range n { // row by row, each by another worker: states are merged in some other order
					one, err := referenceColumn(row.column.Type(), referenceValues(row.column)[i:i+1])
					require.NoError(t, err)
					require.NoError(t, ws[i%workers].Add(ctx, Batch{Values: []Column{one}, Start: int64(i)}))
				}
				r, err := g.Finish(ctx)
				if overflow == OverflowFail && row.fails {
					var oe *OverflowError
					require.ErrorAs(t, err, &oe, row.name)
					require.Equal(t, "sum", oe.Aggregate)
					continue
				}
				require.NoError(t, err, row.name)
				got := referenceValues(r.Aggregate(0))[0]
				switch {
				case overflow == OverflowFloat:
					require.Equal(t, row.asFloat, got, row.name)
				default:
					require.Equal(t, row.wrap, got, row.name)
				}
				mean, _ := SliceOf[float64](r.Aggregate(1))
				require.InEpsilon(t, row.asFloat/float64(n), mean[0], 1e-12, row.name)
			}
		}
	}
}

// TestSumCompensated: what is small survives what is great.
func TestSumCompensated(t *testing.T) {
	values := []float64{1, 1e100, 1, -1e100}
	var keys []int64
	var all []float64
	for i := range 10000 {
		keys, all = append(keys, int64(i/4)), append(all, values[i%4])
	}
	gc := groupCase{limits: defaultLimits, config: Config{Keys: []Type{Int64}, Values: []Type{Float64}, Aggregates: []Aggregate{SumCompensated(0)}}}
	for i := 0; i < len(keys); i += 1000 {
		gc.batches = append(gc.batches, Batch{Keys: []Column{Values(keys[i : i+1000])}, Values: []Column{Values(all[i : i+1000])}, Start: int64(i)})
	}
	for _, workers := range []int{0, 1, 3} {
		for _, local := range []int{1, 100, 1 << 20} {
			gc.workers, gc.limits.local = workers, local
			require.NoError(t, gc.check(nil))
		}
	}
}

// TestTableSameFingerprint: keys whose words are alike are told apart by their bytes.
func TestTableSameFingerprint(t *testing.T) {
	p, err := newPlan(Config{Keys: []Type{String}, Values: []Type{Int64}, Aggregates: []Aggregate{Sum(0)}})
	require.NoError(t, err)
	const distinct, rows = 50, 500
	strs, values := make([]string, rows), make([]int64, rows)
	for i := range strs {
		strs[i], values[i] = fmt.Sprintf("a key of the same length %02d", i%distinct), int64(i)
	}
	m := newKeyMaker(p.keys)
	m.make([]Column{Values(strs)}, 0, rows)
	for i := range m.w0 {
		require.EqualValues(t, tagLong, m.w1[i]>>tagShift)
		m.w0[i] = 42
	}

	table := newTable(p.keys)
	check := func(ids []uint32, about string) {
		t.Helper()
		for i, id := range ids {
			if id == 0 || id != ids[i%distinct] {
				t.Fatalf("%s: row %d is in group %d, row %d in %d", about, i, id, i%distinct, ids[i%distinct])
			}
		}
	}
	ids, room := make([]uint32, rows), make([]uint32, rows)
	fresh, err := table.insert(&m.keys, ids, room[:0], false)
	require.NoError(t, err)
	require.Len(t, fresh, distinct)
	require.Equal(t, distinct+1, table.groups())
	check(ids, "new")
	before := slices.Clone(ids)
	fresh, err = table.insert(&m.keys, ids, room[:0], false)
	require.NoError(t, err)
	require.Empty(t, fresh)
	require.Equal(t, before, ids, "again")
	require.Empty(t, table.find(&m.keys, ids, room[:0]))
	require.Equal(t, before, ids, "found")

	// Kept in a block, and folded.
	b := p.newBlock(false)
	sel := make([]uint32, rows)
	for i := range sel {
		sel[i] = uint32(i)
	}
	b.gather(&m.keys, []Column{Values(values)}, nil, 0, sel)
	f := newFolder(p)
	require.NoError(t, f.fold(b))
	require.Equal(t, distinct+1, f.groups())
	states, err := f.block()
	require.NoError(t, err)
	again := newFolder(p)
	require.NoError(t, again.fold(states))
	require.NoError(t, again.fold(states))
	em := &emitter{plan: p}
	require.NoError(t, em.emit(again))
	piece := em.pieces[0]
	keys, sums := piece.keys[0].column(), piece.values[0].column()
	got := map[string]int64{}
	for i, k := range keys.Strings() {
		got[k] = view[int64](&sums)[i]
	}
	want := map[string]int64{}
	for i, s := range strs {
		want[s] += 2 * values[i]
	}
	require.Equal(t, want, got)
}

// TestTableNullAndZero: NULL and zero have the same word; with any seed they are two groups.
func TestTableNullAndZero(t *testing.T) {
	null := Values([]int64{5}).WithValidity([]byte{0})
	for range 1000 {
		p, err := newKeyPlan([]Type{Int64})
		require.NoError(t, err)
		table := newTable(p)
		ids, room := make([]uint32, 1), make([]uint32, 1)
		for i, k := range []keys{{w0: []uint64{0}, mask: []uint32{1}}, {w0: []uint64{0}}, {w0: []uint64{0}, mask: []uint32{1}}} {
			_, err := table.insert(&k, ids, room[:0], false)
			require.NoError(t, err)
			if want := uint32(1 + i%2); ids[0] != want {
				t.Fatalf("key %d: group %d, want %d", i, ids[0], want)
			}
		}
	}
	c := Config{Keys: []Type{Int64}, Aggregates: []Aggregate{Count()}}
	gc := groupCase{limits: defaultLimits, config: c, batches: []Batch{{Keys: []Column{null}}, {Keys: []Column{Values([]int64{0, 5})}}}}
	require.NoError(t, gc.check(nil))
}

// TestPartitionsShortThenLong: a block may have rows of chunks without long keys, and of others.
func TestPartitionsShortThenLong(t *testing.T) {
	const rows = 3 * scatterRows
	for _, two := range []bool{false, true} {
		for _, local := range []int{1, 100} {
			keys := make([]string, rows)
			for i := range keys {
				switch i / scatterRows {
				case 0, 2:
					keys[i] = fmt.Sprint(i % 1000)
				default:
					keys[i] = fmt.Sprint("a key that is longer than the words ", i%1000)
				}
			}
			gc := groupCase{limits: defaultLimits, config: Config{Keys: []Type{String}, Aggregates: []Aggregate{Count()}, Order: ByKeys}}
			gc.batches = []Batch{{Keys: []Column{Values(keys)}}}
			if two {
				gc.config.Keys = append(gc.config.Keys, Int64)
				gc.batches[0].Keys = append(gc.batches[0].Keys, Values(make([]int64, rows)))
			}
			gc.limits.local = local
			require.NoError(t, gc.check(nil))
		}
	}
}

// TestGroupersOneAfterTheOther: whatever memory a Grouper takes over from one with other columns.
func TestGroupersOneAfterTheOther(t *testing.T) {
	const rows = 2 * scatterRows
	longs, ints, floats := make([]string, rows), make([]int64, rows), make([]float32, rows)
	validity := make([]byte, rows/8)
	for i := range rows {
		longs[i], ints[i], floats[i] = fmt.Sprint("a key that is longer than the words ", i%1000), int64(i%500), float32(i%100)
	}
	columns := []Column{Values(longs), Values(ints), Values(floats), Values(ints).WithValidity(validity), Values(longs).WithValidity(validity)}
	for range 3 {
		for _, key := range columns {
			for _, value := range columns {
				c := Config{Keys: []Type{key.Type()}, Values: []Type{value.Type()}, Aggregates: []Aggregate{CountOf(0)}, Order: ByKeys}
				gc := groupCase{limits: defaultLimits, config: c, batches: []Batch{{Keys: []Column{key}, Values: []Column{value}}}}
				gc.limits.local, gc.limits.sample, gc.limits.fold = 1, math.MaxInt, 1000
				require.NoError(t, gc.check(nil), "key %v, value %v", key.Type(), value.Type())
			}
		}
	}
}

// TestResultOwnsItsMemory: a result stays what it is, whatever is grouped later, and whatever becomes of the batches.
func TestResultOwnsItsMemory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	type held struct {
		result *Result
		rows   [][]any
	}
	var results []held
	for i := range 30 {
		gc := makeCase(randomChooser{rand.New(rand.NewPCG(seed, uint64(i)))}, 5000)
		r, err := gc.run(nil)
		if err != nil {
			continue // an overflow
		}
		rows, err := rowsOf(r)
		require.NoError(t, err)
		results = append(results, held{r, rows})
		for _, b := range gc.batches {
			for _, c := range slices.Concat(b.Keys, b.Values) {
				if c.typ != String {
					clear(view[byte](&Column{typ: Uint8, n: c.n * c.typ.width(), data: c.data}))
				}
			}
		}
	}
	for i, h := range results {
		rows, err := rowsOf(h.result)
		require.NoError(t, err)
		for k := range rows {
			if !slices.EqualFunc(rows[k], h.rows[k], func(a, b any) bool { return equalValues(a, b, false) }) {
				t.Fatalf("result %d, row %d: was %v, is %v", i, k, h.rows[k], rows[k])
			}
		}
	}
}

// TestColumnEnds: no pointer that the garbage collector sees points behind the memory of a column, where something else may be, or nothing. It ends the
// program if one does, if it runs at the right time; with -race it is certain.
func TestColumnEnds(t *testing.T) {
	ctx := context.Background()
	c := Config{Keys: []Type{String, Int64}, Values: []Type{String, ID}, Aggregates: []Aggregate{Count(), CountOf(0), CountOf(1)}}
	for range 20 {
		var kept []any
		for range 100 {
			data := make([]byte, 64)
			text := Text(data, []int32{0, 32, 64, 64}) // the last string is empty
			kept = append(kept, text.Strings(), Values(make([]int64, 8)).Slice(8, 8), text.Slice(3, 3))
			words := Values(make([]int64, 3))
			require.NoError(t, (&groupCase{config: c, limits: defaultLimits, batches: []Batch{
				{Keys: []Column{text, words}, Values: []Column{text, Values(make([][16]byte, 3))}},
				{Keys: []Column{text.Slice(3, 3), words.Slice(3, 3)}, Values: []Column{text.Slice(3, 3), Values(make([][16]byte, 4)).Slice(4, 4)}},
			}}).check(nil))
			r, err := AggregateBatch(ctx, Config{Keys: []Type{String}}, Batch{Keys: []Column{text}})
			require.NoError(t, err)
			kept = append(kept, r.Key(0).Strings())
		}
		runtime.GC()
		runtime.KeepAlive(kept)
	}
}

// resultTypes returns the types of a result's aggregates.
func resultTypes(r *Result) []Type {
	var types []Type
	for _, out := range r.plan.outputs {
		types = append(types, out.typ)
	}
	return types
}
