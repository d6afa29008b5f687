// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Sets and literals of columns, equal to IN of literals, which is equal to the reference.

// TestSetsEqualLiterals has sets of some rows of each column, in two batches, as the members of IN.
func TestSetsEqualLiterals(t *testing.T) {
	kinds := map[column.Kind]bool{}
	for i := range 24 {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		data := make([]byte, 64)
		for k := range data {
			data[k] = byte(r.Uint32())
		}
		b := newGenerator(data).batch([]int{1, 30, 90, blockRows + 10}[i%4])
		for k := range b.Columns {
			c := &b.Columns[k]
			s, err := NewSet(c.Type)
			if err != nil {
				require.True(t, classOf(c.Type) == classNone || classOf(c.Type) == classVector, c.Type)
				continue
			}
			kinds[c.Type.Kind] = true
			n := min(r.IntN(10), b.Rows)
			var members []any
			for _, part := range []*column.Batch{b.Slice(0, n/2), b.Slice(n/2, n)} {
				require.NoError(t, s.Add(&part.Columns[k]))
				for row := range part.Rows {
					members = append(members, LitAs(part.Columns[k].Value(row), c.Type))
				}
			}
			requireSameRows(t, b, Col(c.Name).InSet(s), Col(c.Name).In(members...), n == 0)
		}
	}
	require.Greater(t, len(kinds), 18)
}

// requireSameRows requires that two predicates, and their opposites, have the same values. Of an empty set, unlike of
// no literals, NULL is no member.
func requireSameRows(t *testing.T, b *column.Batch, set, literals Expr, empty bool) {
	t.Helper()
	q, err := Compile(literals, b.Schema())
	if err != nil { // a time without a literal
		require.ErrorContains(t, err, "time literal with year")
		return
	}
	p, err := Compile(set, b.Schema())
	require.NoError(t, err)
	require.True(t, p.NeverFails())
	got, err := p.Eval(b)
	require.NoError(t, err)
	want, err := q.Eval(b)
	require.NoError(t, err)
	for i := range b.Rows {
		if empty {
			require.Equal(t, false, got.Value(i), "%s of row %d", set, i)
			continue
		}
		require.Equal(t, want.Value(i), got.Value(i), "%s of row %d", literals, i)
	}
	not, err := Compile(set.Not(), b.Schema())
	require.NoError(t, err)
	rows, err := not.Select(b, nil)
	require.NoError(t, err)
	for i := range b.Rows {
		require.Equal(t, got.Value(i) == false, slices.Contains(rows, int32(i)), "not %s of row %d", set, i)
	}
}

func TestSet(t *testing.T) {
	s, err := NewSet(column.Type{Kind: column.Int32})
	require.NoError(t, err)
	in := Col("a").InSet(s)
	schema := column.Schema{{Name: "a", Type: column.Type{Kind: column.Int32}}, {Name: "b", Type: typeInt64}}
	bound := func(e Expr) (Bound, bool) {
		p, err := Compile(e, schema)
		require.NoError(t, err)
		return p.Bound()
	}
	b, ok := bound(in)
	require.True(t, ok)
	require.Equal(t, Bound{Column: "a", Type: schema[0].Type, Op: OpIn, Values: []any{}}, b)
	few := column.Of("", []int32{7, 5, 7, 0}).WithNulls([]bool{false, false, false, true})
	require.NoError(t, s.Add(&few))
	b, ok = bound(in)
	require.True(t, ok)
	require.Equal(t, []any{int64(7), int64(5)}, b.Values)
	_, ok = bound(in.Not())
	require.False(t, ok)
	require.Equal(t, "a in (2 values)", in.String())
	require.Equal(t, 2, s.Len())
	many := make([]int32, mostFew)
	for i := range many {
		many[i] = int32(i)
	}
	size, c := s.Size(), column.Of("", many)
	require.NoError(t, s.Add(&c))
	require.Greater(t, s.Size(), size)
	require.Equal(t, mostFew, s.Len())
	_, ok = bound(in)
	require.True(t, ok, "as many as Bound has")
	c = column.Of("", []int32{math.MaxInt32})
	require.NoError(t, s.Add(&c))
	_, ok = bound(in)
	require.False(t, ok)

	c = column.Of("x", []int64{1})
	require.ErrorAs(t, s.Add(&c), new(*column.TypeError))
	_, err = Compile(Col("b").InSet(s), schema)
	require.ErrorContains(t, err, "b is int64, and the values of the set are int32: cast one of them")
	_, err = Compile(Lit("x").InSet(s), schema)
	require.ErrorContains(t, err, "the literal does not fit int32")
	_, err = NewSet(column.Type{Kind: column.List})
	require.ErrorContains(t, err, "a set of list, which has no order here")
}

// TestLiteralsOfTypes has literals that keep the type of their column beside others.
func TestLiteralsOfTypes(t *testing.T) {
	g := newGenerator([]byte{1, 2, 3, 4})
	b := g.batch(40)
	types := 0
	for k := range b.Columns {
		c := &b.Columns[k]
		if class := classOf(c.Type); class == classNone || class == classVector {
			_, err := Compile(LitAs(nil, c.Type), nil)
			require.Error(t, err, "%v", c.Type)
			continue
		}
		for row := range 10 {
			e := LitAs(c.Value(row), c.Type)
			p, err := Compile(e, nil)
			if err != nil {
				require.ErrorContains(t, err, "time literal with year")
				continue
			}
			want := c.Type
			if want.Kind == column.Float16 {
				want.Kind = column.Float32
			}
			require.Equal(t, want, p.Type())
			value, err := p.Eval(&column.Batch{Rows: 1})
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(c.Value(row)), fmt.Sprint(value.Value(0)), "%v", c.Type)
			equal, err := Compile(Col(c.Name).Eq(e), b.Schema())
			require.NoError(t, err)
			rows, err := equal.Select(b, nil)
			require.NoError(t, err)
			require.Equal(t, !c.Null(row), slices.Contains(rows, int32(row)), "%v", c.Type)
			types++
		}
	}
	require.Greater(t, types, 100)

	vector, err := Compile(LitAs([]float32{3, 4}, column.VectorOf(column.Float32, 2)).Norm(), nil)
	require.NoError(t, err)
	norm, err := vector.Eval(&column.Batch{Rows: 1})
	require.NoError(t, err)
	require.Equal(t, 5.0, norm.Value(0))
	_, err = Compile(LitAs(int64(300), column.Type{Kind: column.Int8}), nil)
	require.ErrorContains(t, err, "the literal has no exact value in int8")
}

// TestFloatBesideDecimal compares a decimal with a literal of the type float64 as with a column of floats.
func TestFloatBesideDecimal(t *testing.T) {
	d, err := column.Of("d", []int64{10, 20}).WithType(column.Type{Kind: column.Decimal64, Precision: 9, Scale: 2})
	require.NoError(t, err)
	b := column.NewBatch(d, column.Of("f", []float64{0.1, 0.1}))
	for _, e := range []Expr{Col("d").Eq(LitAs(0.1, typeFloat64)), Col("d").Eq(Col("f")), LitAs(0.1, typeFloat64).Eq(Col("d"))} {
		p, err := Compile(e, b.Schema())
		require.NoError(t, err)
		_, ok := p.Bound()
		require.False(t, ok, e)
		rows, err := p.Select(b, nil)
		require.NoError(t, err)
		require.Equal(t, []int32{0}, rows, e)
	}
}

// BenchmarkInSet looks integers up in a set of a million.
func BenchmarkInSet(b *testing.B) {
	values := make([]int64, 1<<20)
	for i := range values {
		values[i] = int64(i) * 7
	}
	s, err := NewSet(typeInt64)
	require.NoError(b, err)
	c := column.Of("a", values)
	require.NoError(b, s.Add(&c))
	p, err := Compile(Col("a").InSet(s), column.Schema{{Name: "a", Type: typeInt64}})
	require.NoError(b, err)
	batch := column.NewBatch(column.Of("a", values[:1<<16]))
	b.SetBytes(8 << 16)
	rows := make([]int32, 0, 1<<16)
	for b.Loop() {
		if rows, err = p.Select(batch, rows[:0]); err != nil || len(rows) != 1<<16 {
			b.Fatal(err, len(rows))
		}
	}
}
