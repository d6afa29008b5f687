// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Expressions within statements.

func TestParsePrefix(t *testing.T) {
	text := "SELECT sum(price * 2) / count(*) AS p FROM t"
	e, end, err := ParsePrefix(text, 7, nil)
	require.NoError(t, err)
	require.Equal(t, "sum(price * 2) / count(*)", e.String())
	require.Equal(t, "AS p FROM t", text[end:])
	_, _, err = ParsePrefix(text, 38, nil)
	require.NoError(t, err, "FROM is a word")
	_, _, err = ParsePrefix("a, b +", 3, nil)
	var syntax *SyntaxError
	require.ErrorAs(t, err, &syntax)
	require.Equal(t, 6, syntax.Offset)
}

func TestNode(t *testing.T) {
	e, end, err := ParsePrefix("where count(distinct a) > 10", 6, nil)
	require.NoError(t, err)
	require.Equal(t, 28, end)
	n := e.Node()
	require.Equal(t, ">", n.Op)
	require.Equal(t, Node{Op: "count distinct", Args: n.Args[0].Node().Args, Aggregate: true, Offset: 6}, n.Args[0].Node())
	require.Equal(t, Node{Op: "column", Column: "a", Offset: 21}, n.Args[0].Node().Args[0].Node())
	require.Equal(t, Node{Op: "literal", Value: int64(10), Offset: 26}, n.Args[1].Node())
	require.Equal(t, Node{Offset: -1}, Expr{}.Node())
}

func TestReplace(t *testing.T) {
	e, err := Parse("cast(sum(a) as int8) + b > case when sum(b) = 1 then b end")
	require.NoError(t, err)
	replaced := e.Replace(func(part Expr) (Expr, bool) {
		if n := part.Node(); n.Aggregate {
			return Col(n.Op + "_" + n.Args[0].String()), true
		}
		return Expr{}, false
	})
	require.Equal(t, "cast(sum_a as int8) + b > case when sum_b = 1 then b else null end", replaced.String())
	require.Equal(t, e.Node().Offset, replaced.Node().Offset)
	require.Equal(t, "cast(sum(a) as int8) + b > case when sum(b) = 1 then b else null end", e.String(), "unchanged")
}

func TestAggregatesAreRefused(t *testing.T) {
	schema := column.Schema{{Name: "a", Type: typeInt64}}
	for name := range aggregates {
		require.NotContains(t, functions, name)
		args := []Expr{Col("a"), Col("a")}[:min(2, aggregates[name].max)]
		e, err := Parse(call(name, args...).String())
		require.NoError(t, err)
		_, err = Compile(e.Gt(1), schema)
		var refused *CompileError
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, 0, refused.Offset)
		require.ErrorContains(t, err, name+" aggregates rows, and this is an expression of one row")
	}
}
