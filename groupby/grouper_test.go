// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file tests what a Grouper does at its edges: nothing to group, what is wrong with a batch, accumulators that fail, ends.

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
