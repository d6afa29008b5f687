// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
)

// Memory and work of programs.

// TestProgramForgetsBatches keeps a program, not the texts of its last batch.
func TestProgramForgetsBatches(t *testing.T) {
	e := expr.Col("s").Lower().Eq("x").Or(expr.Coalesce(expr.Col("s"), expr.Col("t")).Eq("y"))
	p, bytes := run(t, e)
	runtime.GC()
	require.Nil(t, bytes.Value())
	require.NotNil(t, p)
}

// run evaluates an expression on a batch, to whose bytes it returns a pointer.
func run(t *testing.T, e expr.Expr) (*expr.Program, weak.Pointer[byte]) {
	b := column.NewBatch(column.Strings("s", []string{strings.Repeat("a", 1000), "b"}), column.Strings("t", []string{"", ""}))
	p, err := expr.Compile(e, b.Schema())
	require.NoError(t, err)
	_, err = p.Select(b, nil)
	require.NoError(t, err)
	return p, weak.Make(&b.Columns[0].Values[0])
}

// TestNestedPredicatesAreLinear has predicates as values of predicates. Each asks for its operand twice.
func TestNestedPredicatesAreLinear(t *testing.T) {
	b := column.NewBatch(column.Of("flag", []bool{false, true}), column.Of("n", []int64{1, 2}))
	e := expr.Col("n").Gt(1)
	for range 60 {
		e = expr.Coalesce(e.Eq(expr.Col("flag")).And(expr.Col("n").Gt(0)), false)
	}
	p, err := expr.Compile(e, b.Schema())
	require.NoError(t, err)
	rows, err := p.Select(b, nil)
	require.NoError(t, err)
	require.Equal(t, []int32{1}, rows)
}

// TestFirstNullIsLate has its only NULL in the third block.
func TestFirstNullIsLate(t *testing.T) {
	null := make([]bool, 5000)
	null[4321] = true
	b := column.NewBatch(column.Of("x", make([]int64, 5000)).WithNulls(null))
	p, err := expr.Compile(expr.Col("x").Add(1), b.Schema())
	require.NoError(t, err)
	c, err := p.Eval(b)
	require.NoError(t, err)
	require.NoError(t, c.Check())
	require.Equal(t, 1, c.Nulls)
	require.True(t, c.Null(4321))
}

// TestCodesOfNullsAreUndefined has a code beyond the dictionary in a NULL row, and a dictionary too large for its rows.
func TestCodesOfNullsAreUndefined(t *testing.T) {
	for _, entries := range []int{1, 100} {
		offsets := make([]int32, entries+1)
		c := column.Codes("s", []uint32{0, 1 << 30}, column.NewDictionary(nil, offsets)).WithNulls([]bool{false, true})
		b := column.NewBatch(c, column.Of("n", []int64{1, 1}))
		p, err := expr.Compile(expr.Col("s").Length().Eq(0).And(expr.Col("s").Ne(expr.Col("s").Cast(column.Type{Kind: column.String})).Not(),
			expr.Col("n").Eq(expr.Col("s").Length().Add(1))), b.Schema())
		require.NoError(t, err)
		rows, err := p.Select(b, nil)
		require.NoError(t, err)
		require.Equal(t, []int32{0}, rows)
	}
}

// TestVectorsWithoutDimension passes vectors that are all NULL, and vectors without elements.
func TestVectorsWithoutDimension(t *testing.T) {
	v := column.Matrix("v", []float32{1, 2}, 2)
	p, err := expr.Compile(expr.Col("v").Element(2).Gt(0), column.NewBatch(v).Schema())
	require.NoError(t, err)
	empty := column.Column{Name: "v", Type: column.VectorOf(column.Float32, 0), Len: 1}
	rows, err := p.Select(column.NewBatch(empty.WithNulls([]bool{true})), nil)
	require.NoError(t, err)
	require.Empty(t, rows)
	_, err = p.Select(column.NewBatch(empty), nil)
	require.EqualError(t, err, "column: v is vector<float32, 0>, not vector<float32, 2> as in the schema")
}

// TestElementsWithoutDimension evaluates elements of a column whose vectors were all NULL when it was compiled.
func TestElementsWithoutDimension(t *testing.T) {
	null := column.Column{Name: "v", Type: column.VectorOf(column.Float32, 0), Len: 2}.WithNulls([]bool{true, true})
	none, empty := column.NewBatch(null), column.NewBatch(column.Column{Name: "v", Type: null.Type, Len: 2})
	some := column.NewBatch(column.Matrix("v", []float32{1, 2, 3, 4, 5, 6}, 3))
	for text, want := range map[string]any{
		"element(v, 3)":               float32(6),
		"norm(slice(v, 1, 1))":        4.0,
		"dot(slice(v, 2, 2), [1, 2])": 17.0,
		"element(slice(v, 2, 2), 1)":  float32(5),
		"element(v, 4)":               "v is vector<float32, 3>, not a vector of 4 elements or more",
		"norm(slice(v, 3, 2))":        "not a vector of 4 elements or more",
		"slice(v, 1, 2)":              "slice(v, 1, 2) is vector<float32, 2>, not vector<float32, 0> as in the schema",
	} {
		e, err := expr.Parse(text)
		require.NoError(t, err)
		p, err := expr.Compile(e, none.Schema())
		require.NoError(t, err, text)
		c, err := p.Eval(none)
		require.NoError(t, err, text)
		require.Equal(t, 2, c.Nulls, text)
		_, err = p.Eval(empty)
		require.ErrorAs(t, err, new(*column.TypeError), text)
		c, err = p.Eval(some)
		if message, ok := want.(string); ok {
			require.ErrorContains(t, err, message)
			require.ErrorAs(t, err, new(*column.TypeError))
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, c.Value(1), text)
	}
	e, err := expr.Parse("element(slice(v, 1, 2), 3)")
	require.NoError(t, err)
	_, err = expr.Compile(e, none.Schema())
	require.ErrorContains(t, err, "elements 3 to 3 of")
}
