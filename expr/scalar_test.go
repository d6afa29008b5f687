// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Functions of numbers and texts at their limits. The comparison with the reference has the rest.

func TestRounded(t *testing.T) {
	for _, c := range []struct {
		v      float64
		digits int64
		want   float64
	}{
		{2.5, 0, 3},
		{-2.5, 0, -3},
		{1234.567, 2, 1234.57},
		{1234.567, -2, 1200},
		{1250, -2, 1300},
		{49, -2, 0},
		{0.1, 400, 0.1},
		{1e300, 300, 1e300},
		{1e300, -400, 0},
		{-7, -400, 0},
		{0.5, math.MaxInt64, 0.5},
		{3, math.MinInt64, 0},
		{math.Inf(1), 2, math.Inf(1)},
		{math.Inf(-1), 0, math.Inf(-1)},
	} {
		require.Equal(t, c.want, rounded(c.v, c.digits)+0, "%v to %d digits", c.v, c.digits)
	}
	require.True(t, math.IsNaN(rounded(math.NaN(), 1)))
	require.True(t, math.IsNaN(rounded(math.Inf(1), -400)) || math.IsInf(rounded(math.Inf(1), -400), 1))
}

func TestCall(t *testing.T) {
	e := Call("round", Col("x"), 2)
	require.Equal(t, "round(x, 2)", e.String())
	schema := column.Schema{{Name: "x", Type: typeFloat64}}
	_, err := Compile(e, schema)
	require.NoError(t, err)
	_, err = Compile(Call("frob", 1), schema)
	require.ErrorContains(t, err, `there is no function "frob"`)
	_, err = Compile(Call("round").Add(1), schema)
	require.ErrorContains(t, err, "round with 0 arguments, want 1 to 2 arguments")
	for name, takes := range functions {
		args := make([]any, takes.min)
		for i := range args {
			args[i] = Col("x")
		}
		require.Contains(t, Call(name, args...).String(), name+"(x")
	}
}

// TestReplaceIsBounded replaces so many characters by so long a text that no column has the result.
func TestReplaceIsBounded(t *testing.T) {
	b := column.NewBatch(column.Strings("s", []string{strings.Repeat("a", 1<<16)}))
	p, err := Compile(Call("replace", Col("s"), "a", Col("s")), b.Schema())
	require.NoError(t, err)
	_, err = p.Eval(b)
	require.ErrorIs(t, err, ErrOverflow)
	require.False(t, p.NeverFails())
}
