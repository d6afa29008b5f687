// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/internal/soak"
)

// Columns by name: types kept in results, slices of batches, dictionaries, vectors whose dimension is unknown at first.

// TestTypesKept groups random columns of every kind. Keys, and aggregates that select a value, keep the type of the
// column.
func TestTypesKept(t *testing.T) {
	r := newRand(t)
	for i, typ := range columntest.Types() {
		f := column.Field{Name: "x", Type: typ, Nullable: true}
		b := columntest.Batch(r, []column.Field{f, {Name: "n", Type: typeInt64}}, 300, 0.3)
		var c Config
		add := func(a Aggregate) { c.Aggregates = append(c.Aggregates, a) }
		add(CountOf("x"))
		if checkKey(typ) == nil {
			c.Keys = By("x")
		}
		if hasOrder(typ) {
			add(Min("x").As("min"))
			add(Max("x").As("max"))
		}
		for _, a := range []Aggregate{First("x"), Last("x"), Any("x"), ArgMin("n", "x"), ArgMax("n", "x")} {
			add(a.As(a.fn))
		}
		add(TopKOf("n", "x", 3).As("list"))
		t.Run(fmt.Sprint(i, typ), func(t *testing.T) {
			want, err := reference(c, b)
			require.NoError(t, err)
			got, err := c.Aggregate(t.Context(), b)
			require.NoError(t, err)
			for _, k := range got.Columns {
				switch k.Name {
				case "count(x)":
				case "list":
					require.Equal(t, typ, k.Children[0].Type, k.Name)
				default:
					require.Equal(t, typ, k.Type, k.Name)
				}
			}
			any := got.Index("any")
			want.Columns, got.Columns = slices.Delete(want.Columns, any, any+1), slices.Delete(got.Columns, any, any+1)
			c.Aggregates = slices.DeleteFunc(slices.Clone(c.Aggregates), func(a Aggregate) bool { return a.fn == "any" })
			require.NoError(t, compareResults(c, want, got, false))

			// The same with partitions and temporary files.
			small := c
			small.MemoryLimit, small.SpillDir, small.SpillCodec, small.Workers = 1<<12, t.TempDir(), plainCodec{}, 2
			got, err = small.Aggregate(t.Context(), b)
			require.NoError(t, err)
			require.NoError(t, compareResults(c, want, got, false))
		})
	}
}

// TestNestedCounted checks that values of kinds with children are counted without reading the children.
func TestNestedCounted(t *testing.T) {
	r := newRand(t)
	for _, f := range columntest.Fields() {
		if !f.Type.Kind.IsNested() {
			continue
		}
		b := columntest.Batch(r, []column.Field{f}, 1000, 0.5)
		for _, limit := range []int64{0, 1 << 12} {
			c := Config{Aggregates: []Aggregate{CountOf(f.Name).As("n")}, MemoryLimit: limit, SpillDir: t.TempDir()}
			got, err := c.Aggregate(t.Context(), b, b.Slice(3, 503))
			require.NoError(t, err)
			part := b.Slice(3, 503)
			require.Equal(t, int64(1500-b.Columns[0].Nulls-part.Columns[0].Nulls), ints(got, "n")[0], f)
		}
	}
}

// TestSlicesOfBatches checks that slices of a batch have the same result as the whole batch.
func TestSlicesOfBatches(t *testing.T) {
	r := newRand(t)
	for _, typ := range columntest.Types() {
		if checkKey(typ) != nil {
			continue
		}
		fields := []column.Field{{Name: "x", Type: typ, Nullable: true}, {Name: "n", Type: typeInt32, Nullable: true}}
		whole := columntest.Batch(r, fields, 5000, 0.1)
		if typ.Kind.IsText() && r.IntN(2) == 0 {
			whole.Columns[0] = columntest.WithDictionary(whole.Columns[0])
		}
		var parts []*column.Batch
		for i := 0; i < whole.Rows; {
			j := min(whole.Rows, i+r.IntN(900))
			parts = append(parts, whole.Slice(i, j))
			i = j
		}
		c := Config{Keys: By("x"), Aggregates: []Aggregate{Count(), Sum("n"), First("n"), Max("x")}, Workers: 2}
		want, err := c.Aggregate(t.Context(), whole)
		require.NoError(t, err)
		got, err := c.Aggregate(t.Context(), parts...)
		require.NoError(t, err)
		require.Empty(t, column.Diff(want, got), typ)
	}
}

// TestDictionariesMixed mixes batches with codes of two dictionaries and with text, in any order.
func TestDictionariesMixed(t *testing.T) {
	r := newRand(t)
	for _, columns := range []int{1, 2, 3} {
		var keys []string
		var fields []column.Field
		for i := range columns {
			keys = append(keys, fmt.Sprint("k", i))
			fields = append(fields, column.Field{Name: keys[i], Type: typeString, Nullable: true})
		}
		var batches, plain []*column.Batch
		for range 20 {
			b := columntest.Batch(r, fields, 500, 0.1)
			plain = append(plain, b)
			b = &column.Batch{Columns: slices.Clone(b.Columns), Rows: b.Rows}
			for i := range b.Columns {
				if r.IntN(2) == 0 {
					b.Columns[i] = columntest.WithDictionary(b.Columns[i])
				}
			}
			batches = append(batches, b)
		}
		c := Config{Keys: keys, Aggregates: []Aggregate{Count()}, Workers: 1}
		want, err := c.Aggregate(t.Context(), plain...)
		require.NoError(t, err)
		got, err := c.Aggregate(t.Context(), batches...)
		require.NoError(t, err)
		require.Empty(t, column.Diff(want, got))
	}
}

// lateVectors returns batches whose vectors are all NULL without a dimension, then some with one, then some without
// again.
func lateVectors(r *rand.Rand, rows int) []*column.Batch {
	var batches []*column.Batch
	for i := range 9 {
		keys, n := make([]int64, rows), make([]int32, rows)
		for k := range keys {
			keys[k], n[k] = r.Int64N(int64(rows)), int32(r.Uint32())
		}
		v := column.Column{Name: "v", Type: column.VectorOf(column.Float32, 0), Len: rows}
		if i/3 == 1 {
			x := make([]float32, 3*rows)
			for k := range x {
				x[k] = float32(r.IntN(100))
			}
			v = column.Matrix("v", x, 3)
		}
		null := make([]bool, rows)
		for k := range null {
			null[k] = i/3 != 1 || r.IntN(3) == 0
		}
		b := column.NewBatch(column.Of("k", keys), column.Of("n", n), v.WithNulls(null))
		b.Source.FirstRow = int64(i * rows)
		batches = append(batches, b)
	}
	return batches
}

// TestVectorsWithoutDimension adds rows whose vectors are all NULL before the dimension is known.
func TestVectorsWithoutDimension(t *testing.T) {
	soak.NoRace(t)
	r := newRand(t)
	aggregates := []Aggregate{Count(), Mean("v"), Sum("v"), First("v"), Last("v"), ArgMin("n", "v"), TopKOf("n", "v", 2), CountOf("v"), Sum("n")}
	for _, rows := range []int{0, 10, 3000} {
		late := lateVectors(r, rows)
		whole := make([]*column.Batch, len(late))
		for i, b := range late {
			whole[i] = &column.Batch{Columns: slices.Clone(b.Columns), Rows: b.Rows, Source: b.Source}
			v := &whole[i].Columns[2]
			if v.Type.Dim == 0 {
				v.Type.Dim, v.Values = 3, make([]byte, 12*rows)
			}
		}
		for _, workers := range []int{1, 3} {
			c := Config{Keys: By("k"), Aggregates: aggregates, Workers: workers}
			want, err := c.Aggregate(t.Context(), whole...)
			require.NoError(t, err)
			got, err := c.Aggregate(t.Context(), late...)
			require.NoError(t, err)
			require.NoError(t, compareResults(c, want, got, false))

			g, err := c.New()
			require.NoError(t, err)
			require.NoError(t, parallel(workers, func(k int) error {
				w := g.Worker()
				for i := k; i < len(late); i += workers {
					if err := w.Add(context.Background(), late[i]); err != nil {
						return err
					}
				}
				return nil
			}))
			got, err = g.Finish(t.Context())
			require.NoError(t, err)
			require.NoError(t, compareResults(c, want, got, false))
		}
		// The dimension stays unknown.
		c := Config{Keys: By("k"), Aggregates: aggregates}
		got, err := c.Aggregate(t.Context(), late[:3]...)
		require.NoError(t, err)
		require.NoError(t, got.Check())
		require.Equal(t, column.VectorOf(column.Float32, 0), got.Column("mean(v)").Type)
		require.Equal(t, got.Rows, got.Column("mean(v)").Nulls)
		// Partials with and without the dimension.
		merged, err := c.New()
		require.NoError(t, err)
		for _, part := range [][]*column.Batch{late[:3], late[3:6], nil, late[6:]} {
			g, err := c.New()
			require.NoError(t, err)
			w := g.Worker()
			for _, b := range part {
				require.NoError(t, w.Add(t.Context(), b))
			}
			var buf strings.Builder
			require.NoError(t, g.WritePartial(&buf))
			require.NoError(t, merged.MergePartial(strings.NewReader(buf.String())))
		}
		want, err := c.Aggregate(t.Context(), whole...)
		require.NoError(t, err)
		got, err = merged.Finish(t.Context())
		require.NoError(t, err)
		require.NoError(t, compareResults(c, want, got, false))
	}
	// A different dimension, and values without a dimension, are errors.
	g, err := New(nil, Mean("v"))
	require.NoError(t, err)
	require.NoError(t, g.Add(t.Context(), column.NewBatch(column.Matrix("v", []float32{1, 2}, 2))))
	require.ErrorContains(t, g.Add(t.Context(), column.NewBatch(column.Matrix("v", []float32{1, 2, 3}, 3))), "its type is vector<float32, 3>, in earlier batches it is vector<float32, 2>")
	none := column.NewBatch(column.Column{Name: "v", Type: column.VectorOf(column.Float32, 0), Len: 2})
	require.ErrorContains(t, g.Add(t.Context(), none), "2 rows of vector<float32, 0>, a vector without a dimension, are not NULL")
}

// TestFinishBatches checks that the batches together are the result, that a loop may end early, and that errors come
// last.
func TestFinishBatches(t *testing.T) {
	r := newRand(t)
	for _, local := range []int{1, 1 << 20} {
		c := Config{Keys: By("k0", "k1"), Aggregates: []Aggregate{Count(), Sum("v0"), TopK("v0", 2)}, Order: Unordered, Workers: 2}
		b := spillingBatch(rand.New(rand.NewPCG(r.Uint64(), 1)), 20_000)
		want, err := c.Aggregate(t.Context(), b)
		require.NoError(t, err)
		begin := func(ctx context.Context) *Grouper {
			g, err := c.New()
			require.NoError(t, err)
			g.limits.local = local
			require.NoError(t, g.Add(ctx, b))
			return g
		}
		var all []*column.Batch
		for part, err := range begin(t.Context()).FinishBatches(t.Context()) {
			require.NoError(t, err)
			all = append(all, part)
		}
		got, err := column.Concat(all...)
		require.NoError(t, err)
		require.NoError(t, compareResults(c, want, got, true))
		require.Equal(t, want.Rows, got.Rows)
		g := begin(t.Context())
		for _, err := range g.FinishBatches(t.Context()) {
			require.NoError(t, err)
			break
		}
		_, err = g.Finish(t.Context())
		require.ErrorIs(t, err, ErrFinished)
		ctx, cancel := context.WithCancel(t.Context())
		g = begin(ctx)
		cancel()
		if local == 1 {
			for _, e := range g.FinishBatches(ctx) {
				err = e
			}
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	g, err := New(By("x"))
	require.NoError(t, err)
	for _, err := range g.FinishBatches(t.Context()) {
		t.Error("got a batch without input: ", err)
	}
}

// A typedAccumulator has types of its own.
type typedAccumulator struct {
	count
	state  []column.Type
	result column.Field
}

func (a *typedAccumulator) Types() ([]column.Type, column.Field) { return a.state, a.result }

// TestInvalidTypesOfAggregates has aggregates of the program whose states or results cannot be columns.
func TestInvalidTypesOfAggregates(t *testing.T) {
	list := column.Type{Kind: column.List}
	for want, acc := range map[string]*typedAccumulator{
		"its result is invalid":          {state: []column.Type{typeInt64}, result: column.Field{Type: list}},
		"type list cannot be a state":    {state: []column.Type{list}, result: fieldOf(typeInt64)},
		"type decimal64(0, 0) cannot be": {state: []column.Type{{Kind: column.Decimal64}}, result: fieldOf(typeInt64)},
	} {
		a := Aggregate{Name: "mine", New: func([]column.Type) (Accumulator, error) { return acc, nil }}
		_, err := Config{Keys: By("k0"), Aggregates: []Aggregate{a}}.Aggregate(t.Context(), batchOf(0, cols(vals([]int64{1, 2})), nil))
		require.ErrorContains(t, err, want)
	}
}

// TestEqualAggregatesShareAccumulators requires one accumulator for each function, its arguments and parameters.
func TestEqualAggregatesShareAccumulators(t *testing.T) {
	b := batchOf(0, cols(vals([]int64{1, 2})), cols(vals([]int64{5, 6}), vals([]int64{7, 8})))
	mine := Aggregate{Name: "mine", New: func([]column.Type) (Accumulator, error) { return &count{}, nil }}
	for i, c := range []struct {
		aggregates []Aggregate
		parts      int
	}{
		{[]Aggregate{Count(), Count().As("rows")}, 1},
		{[]Aggregate{Sum("v0"), Mean("v0"), CountOf("v0"), Count()}, 3},
		{[]Aggregate{Sum("v0"), Sum("v1")}, 2},
		{[]Aggregate{Sum("v0"), SumOverflow("v0", OverflowFloat).As("float")}, 1},
		{[]Aggregate{TopK("v0", 2), TopK("v0", 2).As("again"), TopK("v0", 3)}, 2},
		{[]Aggregate{Min("v0"), Max("v0"), Min("v0").As("least")}, 2},
		{[]Aggregate{mine, mine.As("again")}, 2},
	} {
		g, err := Config{Keys: By("k0"), Aggregates: c.aggregates}.New()
		require.NoError(t, err)
		require.NoError(t, g.Add(t.Context(), b))
		require.Len(t, g.stages[0].plan.parts, c.parts, i)
		require.NoError(t, g.Close())
	}
}
