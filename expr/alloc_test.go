// SPDX-License-Identifier: Apache-2.0

//go:build !race

package expr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/columntest"
)

// The race detector allocates.

// TestSelectAllocatesNothing holds the allocations of a program that has memory from an earlier batch.
func TestSelectAllocatesNothing(t *testing.T) {
	b := rows(10000)
	coded := columntest.WithDictionary(*b.Column("name"))
	coded.Name = "coded"
	b.Columns = append(b.Columns, coded)
	for _, text := range []string{
		"price > 3", "price > 3 and name like 'a%' or n is null", "price * 2 + n > 7", "n in (1, 2, 3)", "f > 0.5",
		"length(coded) > 2 and substring(name, 2, 1) = 'b'", "l2(v, [0, 1, 0, 1]) < 1.0", "extract('year', at) = 2026",
		"coalesce(n, price) < 4", "case when f > 0.5 then n else price end = 3", "(n > 1) = (price > 1)",
	} {
		e, err := expr.Parse(text)
		require.NoError(t, err, text)
		p, err := expr.Compile(e, b.Schema())
		require.NoError(t, err, text)
		selected := make([]int32, 0, b.Rows)
		require.Zero(t, testing.AllocsPerRun(3, func() {
			if selected, err = p.Select(b, selected[:0]); err == nil {
				selected, err = p.Refine(b, selected)
			}
		}), text)
		require.NoError(t, err, text)
		require.NotEmpty(t, selected, text)
	}
	e, err := expr.Parse("price * 2 + n")
	require.NoError(t, err)
	p, err := expr.Compile(e, b.Schema())
	require.NoError(t, err)
	var c column.Column
	require.Zero(t, testing.AllocsPerRun(3, func() { err = p.EvalInto(b, &c) }))
	require.NoError(t, err)
}
