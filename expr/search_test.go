// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/columntest"
)

// Columns of texts as a whole: searches in their bytes, and dictionaries.

// TestSearchEqualsRows searches texts of two letters, so that matches span rows.
func TestSearchEqualsRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		texts, null := make([]string, 2500), make([]bool, 2500)
		for i := range texts {
			for range r.IntN(5) {
				texts[i] += string(rune('a' + r.IntN(2)))
			}
			null[i] = r.IntN(7) == 0 // keeps its bytes
		}
		b := column.NewBatch(column.Strings("s", texts).WithNulls(null)).Slice(3, 2400)
		part := []string{"a", "ab", "aab", "bbbb", "ba"}[r.IntN(5)]
		var want []int32
		for i := range b.Rows {
			if !null[i+3] && strings.Contains(texts[i+3], part) {
				want = append(want, int32(i))
			}
		}
		for _, e := range []expr.Expr{expr.Col("s").Contains(part), expr.Col("s").Like("%" + part + "%")} {
			p, err := expr.Compile(e, b.Schema())
			require.NoError(t, err)
			got, err := p.Select(b, nil)
			require.NoError(t, err)
			require.Equal(t, want, got, part)
		}
	}
}

// TestDictionaryChanges evaluates batches whose dictionaries have the same texts in another order.
func TestDictionaryChanges(t *testing.T) {
	batches := []*column.Batch{
		column.NewBatch(columntest.WithDictionary(column.Strings("s", []string{"A", "b", "A", "c"}))),
		column.NewBatch(columntest.WithDictionary(column.Strings("s", []string{"c", "b", "c", "A"}))),
	}
	lower := expr.Col("s").Lower()
	filter, err := expr.Compile(lower.Eq("a"), batches[0].Schema())
	require.NoError(t, err)
	value, err := expr.Compile(lower, batches[0].Schema())
	require.NoError(t, err)
	for i, want := range []string{"a b a c", "c b c a"} {
		rows, err := filter.Select(batches[i], nil)
		require.NoError(t, err)
		require.Equal(t, [][]int32{{0, 2}, {3}}[i], rows)
		c, err := value.Eval(batches[i])
		require.NoError(t, err)
		var got []string
		for row := range c.Len {
			got = append(got, c.Format(row, 9))
		}
		require.Equal(t, want, strings.Join(got, " "))
	}
}

// TestDictionaryIsKept evaluates a text of codes: the result has codes too, and one dictionary for all batches.
func TestDictionaryIsKept(t *testing.T) {
	texts := column.Strings("s", []string{"A", "b", "A", "", "b"}).WithNulls([]bool{false, false, false, true, false})
	b := column.NewBatch(columntest.WithDictionary(texts))
	p, err := expr.Compile(expr.Coalesce(expr.Col("s").Lower(), "none"), b.Schema())
	require.NoError(t, err)
	c, err := p.Eval(b)
	require.NoError(t, err)
	require.NoError(t, c.Check())
	require.NotNil(t, c.Dict)
	require.Zero(t, c.Nulls)
	got := []any{}
	for i := range c.Len {
		got = append(got, c.Value(i))
	}
	require.Equal(t, []any{"a", "b", "a", "none", "b"}, got)
	again, err := p.Eval(b.Slice(2, 5))
	require.NoError(t, err)
	require.Same(t, c.Dict, again.Dict)
}

// TestUnusedEntryDoesNotFail has an entry that no row uses and that fails.
func TestUnusedEntryDoesNotFail(t *testing.T) {
	dict := column.NewDictionary([]byte("12x3"), []int32{0, 2, 3, 4})
	b := column.NewBatch(column.Codes("s", []uint32{0, 2, 0}, dict))
	e, err := expr.Parse("cast(s as int64) > 3")
	require.NoError(t, err)
	p, err := expr.Compile(e, b.Schema())
	require.NoError(t, err)
	rows, err := p.Select(b, nil)
	require.NoError(t, err)
	require.Equal(t, []int32{0, 2}, rows)
}

// TestLargeDictionaryWaits has more entries than rows: the entries are evaluated when as many rows were seen.
func TestLargeDictionaryWaits(t *testing.T) {
	var bytes []byte
	offsets := []int32{0}
	for range 5000 {
		bytes = append(bytes, "ab"...)
		offsets = append(offsets, int32(len(bytes)))
	}
	codes := make([]uint32, 3000)
	for i := range codes {
		codes[i] = uint32(i)
	}
	b := column.NewBatch(column.Codes("s", codes, column.NewDictionary(bytes, offsets)))
	p, err := expr.Compile(expr.Col("s").Upper(), b.Schema())
	require.NoError(t, err)
	for want := range 3 { // 3,000 rows, 6,000 rows, ready
		c, err := p.Eval(b)
		require.NoError(t, err)
		require.Equal(t, "AB", c.Value(2999))
		require.Equal(t, want == 2, c.Dict != nil, "batch %d", want)
	}
}
