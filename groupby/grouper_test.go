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

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

// Edge cases of the Grouper: no input, unsuitable batches, failing accumulators, ends.

func TestGrouperEmpty(t *testing.T) {
	ctx := context.Background()
	for _, order := range []Order{FirstAppearance, Unordered, ByKeys, Descending("sum(v0)")} {
		c := Config{Keys: By("k0", "k1"), Aggregates: []Aggregate{Sum("v0"), TopK("v0", 2)}, Order: order}
		g, err := c.New()
		require.NoError(t, err)
		r, err := g.Finish(ctx)
		require.NoError(t, err, "no batch")
		require.Zero(t, r.Rows)
		require.Empty(t, r.Columns)
		r, err = c.Aggregate(ctx, batchOf(0, cols(vals([]string{}), vals([]int64{})), cols(vals([]float64{}))))
		require.NoError(t, err, "batch without rows")
		require.Zero(t, r.Rows)
		require.NoError(t, r.Check())
		require.Equal(t, "k0 string?, k1 int64?, sum(v0) float64?, top_k(v0, 2) list?[element float64?]", r.Schema().String())
		c.DropNulls = true
		r, err = c.Aggregate(ctx, batchOf(0, cols(vals([]string{"a"}).WithValidity([]byte{0}), vals([]int64{1})), cols(vals([]float64{1}))))
		require.NoError(t, err, "all rows dropped")
		require.Zero(t, r.Rows)
	}
}

func TestGrouperOnlyNulls(t *testing.T) {
	soak.NoRace(t)
	nulls := make([]byte, 4096/8)
	for _, typ := range scalarTypes {
		for _, sample := range []int{1, math.MaxInt} {
			for _, keys := range []int{1, 2, 3} {
				c := Config{Aggregates: []Aggregate{Count()}}
				var columns []column.Column
				for k := range keys {
					m := newColumnMaker(randomChooser{rand.New(rand.NewPCG(1, 1))}, typ, 100, 0, 0)
					m.nulls = 0
					groups := make([]int, 4096)
					for i := range groups {
						groups[i] = i % 100
					}
					columns = append(columns, m.column(randomChooser{rand.New(rand.NewPCG(1, 1))}, groups).WithValidity(nulls))
					c.Keys = append(c.Keys, fmt.Sprint("k", k))
				}
				b := batchOf(0, columns, nil)
				gc := groupCase{config: c, limits: defaultLimits, batches: []*column.Batch{b, b}}
				gc.limits.sample = sample
				r, err := gc.run(nil)
				require.NoError(t, err)
				require.Equal(t, 1, r.Rows)
				for k := range keys {
					require.True(t, r.Columns[k].Null(0), typ)
				}
				require.Equal(t, []int64{2 * 4096}, ints(r, "count"))
			}
		}
	}
}

func TestGrouperNoKeys(t *testing.T) {
	values := make([]int64, 100000)
	for i := range values {
		values[i] = int64(i)
	}
	c := Config{Aggregates: []Aggregate{Count(), Sum("v0"), Max("v0")}, Workers: 3}
	gc := groupCase{config: c, limits: defaultLimits, batches: []*column.Batch{batchOf(0, nil, cols(vals(values)))}}
	for _, local := range []int{0, 1, 100} {
		gc.limits.local, gc.limits.morsel, gc.limits.sample = local, scatterRows, 1
		require.NoError(t, gc.check(nil), local)
	}
	r, err := Config{Aggregates: []Aggregate{Count()}}.Aggregate(context.Background(), &column.Batch{Rows: 12345})
	require.NoError(t, err)
	require.Equal(t, []int64{12345}, ints(r, "count"), "no columns")
}

func TestGrouperNoAggregates(t *testing.T) {
	for _, order := range []Order{FirstAppearance, Unordered, ByKeys, Ascending("k0")} {
		r, err := Config{Keys: By("k0"), Order: order}.Aggregate(context.Background(), batchOf(0, cols(vals([]string{"a", "b", "a", ""})), nil))
		require.NoError(t, err)
		got := textsOf(r, "k0")
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
	for _, row := range []struct {
		want string
		c    Config
	}{
		{"at most 32", Config{Keys: slices.Repeat([]string{"k"}, 33)}},
		{"key \"k\" is listed twice", Config{Keys: By("k", "l", "k")}},
		{"x: New is nil", Config{Aggregates: []Aggregate{{Name: "x"}}}},
		{"named \"sum(x)\": rename an aggregate with As", Config{Aggregates: []Aggregate{Sum("x"), Sum("x")}}},
		{"named \"x\": rename", Config{Keys: By("x"), Aggregates: []Aggregate{Sum("x").As("x")}}},
		{"order by \"x\": no such column in the result, which has [\"count\"]", Config{Aggregates: []Aggregate{Count()}, Order: Ascending("x")}},
		{"limit -1 is negative", Config{Limit: -1}},
		{"k is 0", Config{Aggregates: []Aggregate{TopK("x", 0)}}},
	} {
		_, err := row.c.New()
		require.ErrorContains(t, err, row.want)
	}
}

// A vectorStub has only the types of an aggregate of vectors.
type vectorStub struct {
	Accumulator
	typ column.Type
}

func (v *vectorStub) Types() ([]column.Type, column.Field) {
	return []column.Type{v.typ}, fieldOf(v.typ)
}

// TestTypeErrors checks that a first batch of unsuitable types causes an error with the column, its type and the
// accepted types.
func TestTypeErrors(t *testing.T) {
	vector := column.VectorOf(column.Float32, 3)
	stub := func(typ column.Type) Aggregate {
		return Aggregate{Name: "stub", Args: []string{"n"}, New: func([]column.Type) (Accumulator, error) { return &vectorStub{typ: typ}, nil }}
	}
	lists := column.Lists("list", []int32{0, 0}, column.Of("", []int32{}))
	fixed := func(name string, typ column.Type) column.Column {
		return column.Column{Name: name, Type: typ, Len: 1, Values: make([]byte, 64)}
	}
	b := column.NewBatch(column.Matrix("vector", []float32{1, 2, 3}, 3), column.Strings("text", []string{"a"}), column.Of("n", []int64{1}), lists,
		column.Of("id", [][16]byte{{1}}), fixed("day", column.Type{Kind: column.Date}), fixed("at", typeTimestamp), fixed("half", typeFloat16),
		column.Column{Name: "decimal", Type: column.Type{Kind: column.Decimal}, Len: 1, Values: []byte("12345"), Offsets: []int32{0, 5}})
	for _, row := range []struct {
		column, want string
		c            Config
	}{
		{"vector", "its type is vector<float32, 3>; a key is", Config{Keys: By("vector")}},
		{"list", "its type is list; a key is", Config{Keys: By("list")}},
		{"decimal", "its type is decimal, in which one number has several forms", Config{Keys: By("decimal")}},
		{"text", "its type is string; sum(text) takes a number", Config{Aggregates: []Aggregate{Sum("text")}}},
		{"day", "its type is date; sum(day) takes a number", Config{Aggregates: []Aggregate{Sum("day")}}},
		{"at", "its type is timestamp(us, UTC); average takes a number", Config{Aggregates: []Aggregate{Mean("at").As("average")}}},
		{"half", "its type is float16; median(half) takes a number", Config{Aggregates: []Aggregate{Median("half")}}},
		{"n", "its type is int64; sum_compensated(n) takes a float", Config{Aggregates: []Aggregate{SumCompensated("n")}}},
		{"text", "its type is string; arg_min(text, n) takes a number, a date", Config{Aggregates: []Aggregate{ArgMin("text", "n")}}},
		{"list", "its type is list; arg_min(n, list) takes a kind without children", Config{Aggregates: []Aggregate{ArgMin("n", "list")}}},
		{"list", "its type is list; first(list) takes a kind without children", Config{Aggregates: []Aggregate{First("list")}}},
		{"vector", "its type is vector<float32, 3>; min(vector) takes a kind with an order", Config{Aggregates: []Aggregate{Min("vector")}}},
		{"id", "its type is uuid; top_k(id, 3) takes a number", Config{Aggregates: []Aggregate{TopK("id", 3)}}},
		{"nowhere", "no such column", Config{Keys: By("nowhere")}},
		{"c", "ordered by it, but its type vector<float32, 3>", Config{Aggregates: []Aggregate{Mean("vector").As("c")}, Order: Ascending("c")}},
		{"stub", "ordered by it", Config{Aggregates: []Aggregate{stub(vector)}, Order: Ascending("stub")}},
		{"n", "stub of [int64]: type kind(99) cannot be a state", Config{Aggregates: []Aggregate{stub(column.Type{Kind: 99})}}},
	} {
		g, err := row.c.New()
		require.NoError(t, err)
		err = g.Add(t.Context(), b)
		var be *BatchError
		require.ErrorAs(t, err, &be, row.want)
		require.Equal(t, row.column, be.Column)
		require.ErrorContains(t, err, "groupby: column "+row.column)
		require.ErrorContains(t, err, row.want)
	}
	g, err := New(By("nowhere"))
	require.NoError(t, err)
	require.ErrorIs(t, g.Add(t.Context(), b), column.ErrNoColumn)
}

func TestGrouperBatchErrors(t *testing.T) {
	ctx := context.Background()
	c := Config{
		Keys: By("k0", "k1"), Aggregates: []Aggregate{Count(), Sum("v0"), CountOf("v1")}, Order: ByKeys,
	}
	dict := dictionaryOf([]any{"x", "y"})
	codes := func(codes ...uint32) column.Column { return column.Codes("", codes, dict) }
	good := batchOf(0, cols(codes(0, 1, 1), vals([]int64{1, 2, 2})), cols(vals([]float64{1, 2, 3}), vals([]string{"", "b", "c"})))
	with := func(name string, c column.Column) *column.Batch {
		b := &column.Batch{Rows: good.Rows, Columns: slices.Clone(good.Columns)}
		b.Columns[b.Index(name)] = c.As(name)
		return b
	}
	without := func(name string) *column.Batch {
		b := &column.Batch{Rows: good.Rows, Columns: slices.Clone(good.Columns)}
		b.Columns[b.Index(name)].Name = "another"
		return b
	}
	want, err := reference(c, good, good)
	require.NoError(t, err)
	for _, row := range []struct {
		name, column string
		bad          *column.Batch
	}{
		{"type of a key", "k1", with("k1", vals([]int32{1, 2, 3}))},
		{"type of a value", "v0", with("v0", vals([]float32{1, 2, 3}))},
		{"no type", "k0", with("k0", column.Column{Len: 3})},
		{"length of a key", "k1", with("k1", vals([]int64{1, 2}))},
		{"length of a value", "v1", with("v1", vals([]string{"a"}))},
		{"code of a key", "k0", with("k0", codes(0, 1, 2))},
		{"code of a value", "v1", with("v1", codes(0, 9, 1))},
		{"offsets", "v1", with("v1", column.Column{Type: typeString, Len: 3, Values: []byte("abc"), Offsets: []int32{0, 1, 2, 4}})},
		{"no offsets", "v1", with("v1", column.Column{Type: typeString, Len: 3, Values: []byte("abc")})},
		{"few offsets", "v1", with("v1", column.Column{Type: typeString, Len: 3, Values: []byte("abc"), Offsets: []int32{0, 1, 2}})},
		{"first offset", "v1", with("v1", column.Column{Type: typeString, Len: 3, Values: []byte("abc"), Offsets: []int32{-1, 1, 2, 3}})},
		{"values", "v0", with("v0", column.Column{Type: typeFloat64, Len: 3, Values: make([]byte, 23)})},
		{"validity", "v1", with("v1", column.Column{Type: typeString, Len: 3, Offsets: make([]int32, 4), Nulls: 1})},
		{"no key", "k0", without("k0")},
		{"no value", "v1", without("v1")},
	} {
		t.Run(row.name, func(t *testing.T) {
			fails := func(err error) {
				t.Helper()
				var be *BatchError
				if !errors.As(err, &be) || be.Column != row.column {
					t.Fatalf("got error %v, want one about %s", err, row.column)
				}
			}
			_, err := reference(c, good, row.bad)
			fails(err)
			g, err := c.New()
			require.NoError(t, err)
			require.NoError(t, g.Add(ctx, good))
			w := g.Worker()
			fails(w.Add(ctx, row.bad))
			fails(g.Add(ctx, row.bad))
			require.NoError(t, w.Add(ctx, good))
			fails(w.Add(ctx, row.bad))
			got, err := g.Finish(ctx)
			require.NoError(t, err)
			equalResults(t, c, want, got, false)
		})
	}
	null := with("k0", codes(0, 9, 1).WithValidity([]byte{0b101}))
	require.NoError(t, (&groupCase{config: c, limits: defaultLimits, batches: []*column.Batch{null}}).check(nil), "an invalid code of a NULL row is ignored")
	plain := with("k0", vals([]string{"x", "y", "z"}))
	require.NoError(t, (&groupCase{config: c, limits: defaultLimits, batches: []*column.Batch{good, plain, good}}).check(nil), "text after codes")
}

func TestGrouperBatchErrorNegativeRows(t *testing.T) {
	g, err := New(nil, Count())
	require.NoError(t, err)
	require.Error(t, g.Add(context.Background(), &column.Batch{Rows: -1}))
}

func TestGrouperFinished(t *testing.T) {
	ctx := context.Background()
	g, err := New(nil, Count())
	require.NoError(t, err)
	w := g.Worker()
	require.NoError(t, g.Add(ctx, &column.Batch{Rows: 1}))
	_, err = g.Finish(ctx)
	require.NoError(t, err)
	require.ErrorIs(t, g.Add(ctx, &column.Batch{Rows: 1}), ErrFinished)
	require.ErrorIs(t, w.Add(ctx, &column.Batch{Rows: 1}), ErrFinished)
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
	b := batchOf(0, cols(vals(keys)), nil)
	g, err := Config{Keys: By("k0"), Workers: 2}.New()
	require.NoError(t, err)
	require.ErrorIs(t, g.Add(ctx, b), context.Canceled)
	err = g.Add(context.Background(), b)
	require.ErrorIs(t, err, ErrFinished, "rows may be missing")
	require.ErrorIs(t, err, context.Canceled)
	_, err = g.Finish(context.Background())
	require.ErrorIs(t, err, ErrFinished)
	g, err = New(By("k0"))
	require.NoError(t, err)
	require.ErrorIs(t, g.Worker().Add(ctx, b), context.Canceled)
	g, err = Config{Keys: By("k0"), Workers: 2}.New()
	require.NoError(t, err)
	g.limits.local = 100
	require.NoError(t, g.Add(context.Background(), b))
	_, err = g.Finish(ctx)
	require.ErrorIs(t, err, context.Canceled, "Finish")
}

// A failing Accumulator returns an error from one of its methods.
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

func (f *failing) State(i, j int) ([]column.Column, error) {
	state, err := f.count.State(i, j)
	switch f.method {
	case "State":
		return nil, f.err
	case "State beside columns":
		return state, f.err
	case "two states":
		return append(state, state...), nil
	case "no state":
		return nil, nil
	case "state length":
		return []column.Column{vals(f.n[i : j-1])}, nil
	case "state type":
		return []column.Column{vals(make([]int8, j-i))}, nil
	}
	return state, err
}

func (f *failing) Merge(ids []uint32, state []column.Column) error {
	if f.method == "Merge" {
		return f.err
	}
	return f.count.Merge(ids, state)
}

func (f *failing) Result(i, j int) (column.Column, error) {
	switch f.method {
	case "Result":
		return column.Column{}, f.err
	case "length":
		return vals(f.n[i : j-1]), nil
	case "type":
		return vals(make([]int8, j-i)), nil
	}
	return f.count.Result(i, j)
}

func TestGrouperAccumulatorErrors(t *testing.T) {
	ctx := context.Background()
	keys := make([]int64, 20000)
	for i := range keys {
		keys[i] = int64(i) * 1000003
	}
	b := batchOf(0, cols(vals(keys)), nil)
	broken := errors.New("broken")
	for _, method := range []string{"Add", "State", "State beside columns", "Merge", "Result"} {
		a := Aggregate{Name: "mine", New: func([]column.Type) (Accumulator, error) { return &failing{method: method, err: broken}, nil }}
		g, err := Config{Keys: By("k0"), Aggregates: []Aggregate{Count(), a}, Workers: 2}.New()
		require.NoError(t, err)
		g.limits.local, g.limits.morsel = 10000, 4096
		err = g.Add(ctx, b)
		if err == nil {
			_, err = g.Finish(ctx)
		}
		require.ErrorIs(t, err, broken, method)
		require.ErrorContains(t, err, "mine", method)
	}
}

// TestGrouperBadResult checks that a Result of the wrong length or type is an error and is not read beyond its memory.
func TestGrouperBadResult(t *testing.T) {
	keys := make([]int64, 20000)
	for i := range keys {
		keys[i] = int64(i) * 1000003
	}
	for _, method := range []string{"two states", "no state", "state length", "state type"} {
		a := Aggregate{Name: "mine", New: func([]column.Type) (Accumulator, error) { return &failing{method: method}, nil }}
		g, err := Config{Keys: By("k0"), Aggregates: []Aggregate{a}, Workers: 2}.New()
		require.NoError(t, err)
		g.limits.local, g.limits.morsel = 10000, 4096
		if err = g.Add(t.Context(), batchOf(0, cols(vals(keys)), nil)); err == nil {
			_, err = g.Finish(t.Context())
		}
		require.ErrorContains(t, err, "groupby: mine: ", method)
	}
	for _, method := range []string{"length", "type"} {
		a := Aggregate{Name: "mine", New: func([]column.Type) (Accumulator, error) { return &failing{method: method}, nil }}
		_, err := Config{Keys: By("k0"), Aggregates: []Aggregate{a}}.Aggregate(context.Background(), batchOf(0, cols(vals([]int64{1, 2, 3})), nil))
		if err == nil {
			t.Errorf("%s: no error", method)
		}
	}
}

// TestPartitionsShortThenLong fills blocks from chunks without long keys and chunks with them.
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
			gc := groupCase{limits: defaultLimits, config: Config{Keys: By("k0"), Aggregates: []Aggregate{Count()}, Order: ByKeys}}
			gc.batches = []*column.Batch{batchOf(0, cols(vals(keys), vals(make([]int64, rows))), nil)}
			if two {
				gc.config.Keys = By("k0", "k1")
			}
			gc.limits.local = local
			require.NoError(t, gc.check(nil))
		}
	}
}

// TestGroupersOneAfterTheOther checks Groupers that reuse pooled memory of Groupers with other columns.
func TestGroupersOneAfterTheOther(t *testing.T) {
	const rows = 2 * scatterRows
	longs, ints, floats := make([]string, rows), make([]int64, rows), make([]float32, rows)
	validity := make([]byte, rows/8)
	for i := range rows {
		longs[i], ints[i], floats[i] = fmt.Sprint("a key that is longer than the words ", i%1000), int64(i%500), float32(i%100)
	}
	columns := []column.Column{vals(longs), vals(ints), vals(floats), vals(ints).WithValidity(validity), vals(longs).WithValidity(validity)}
	rounds := 3
	if soak.Reduced {
		rounds = 1 // Groupers follow each other within a round
	}
	for range rounds {
		for _, key := range columns {
			for _, value := range columns {
				c := Config{Keys: By("k0"), Aggregates: []Aggregate{CountOf("v0")}, Order: ByKeys}
				gc := groupCase{limits: defaultLimits, config: c, batches: []*column.Batch{batchOf(0, cols(key), cols(value))}}
				gc.limits.local, gc.limits.sample, gc.limits.compactBytes = 1, math.MaxInt, 1000
				require.NoError(t, gc.check(nil), "key %v, value %v", key.Type, value.Type)
			}
		}
	}
}

// TestResultOwnsItsMemory checks that later groupings, and changes of the input batches, do not modify a result.
func TestResultOwnsItsMemory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	type held struct {
		result *column.Batch
		rows   [][]any
	}
	var results []held
	for i := range 30 {
		gc := makeCase(randomChooser{rand.New(rand.NewPCG(seed, uint64(i)))}, 5000)
		r, err := gc.run(nil)
		if err != nil {
			continue // sum overflow
		}
		rows := rowsOf(r)
		results = append(results, held{r, rows})
		for _, b := range gc.batches {
			for _, c := range b.Columns {
				clear(c.Values)
			}
		}
	}
	for i, h := range results {
		rows := rowsOf(h.result)
		for k := range rows {
			if !slices.EqualFunc(rows[k], h.rows[k], func(a, b any) bool { return equalValues(a, b, false) }) {
				t.Fatalf("result %d, row %d: was %v, is %v", i, k, h.rows[k], rows[k])
			}
		}
	}
}
