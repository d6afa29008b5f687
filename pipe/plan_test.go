// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// Plans: what a source reads and evaluates, and how a step is described.

// planOf returns the plan of a pipe.
func planOf(t *testing.T, p pipe.Pipe) string {
	t.Helper()
	plan, err := p.Explain(t.Context())
	require.NoError(t, err)
	return plan
}

// TestFilesEvaluateComparisonsWithLiterals requires that each predicate of a column and literals is evaluated as a
// filter, and every other condition as a selection, with the rows of batches in memory.
func TestFilesEvaluateComparisonsWithLiterals(t *testing.T) {
	b := numbers(60)
	texts, flags, null := make([]string, b.Rows), make([]bool, b.Rows), make([]bool, b.Rows)
	for i := range texts {
		texts[i], flags[i], null[i] = fmt.Sprint("text ", i), i%3 == 0, i%7 == 0
	}
	b.Columns = append(b.Columns, column.Strings("s", texts).WithNulls(null), column.Of("flag", flags).WithNulls(null))
	memory, file := pipe.Batches(b), pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 8}, b))
	for _, text := range []string{
		"v = 3", "v <> 3", "v < 9", "v <= 9", "v > 50", "v >= 50", "9 > v", "v in (1, 2, 99)", "v in ()", "s is null", "s is not null",
		"s like '%4%'", "s not like '%4%'", "contains(s, '5')", "flag", "not flag", "s = 'text 8'",
	} {
		p := file.Where(text)
		plan := planOf(t, p)
		require.Contains(t, plan, "\n  pushed: ", text)
		require.NotContains(t, plan, "selected: ", text)
		require.NotContains(t, plan, "where ", text)
		got, err := p.Batch(t.Context())
		require.NoError(t, err)
		want, err := memory.Where(text).Batch(t.Context())
		require.NoError(t, err)
		require.Empty(t, column.Diff(got, want), text)
	}
	for _, texts := range [][]string{
		{"v % 7 = 0", "w % 3 = 1"}, {"v % 7 = 0 and w % 3 = 1 and v > w"}, {"v > 9", "s like 'text 1_'", "v = w or flag"}, {"not (v < 9 and s is null)"},
	} {
		got, want := file, memory
		for _, text := range texts {
			got, want = got.Where(text), want.Where(text)
		}
		plan := planOf(t, got)
		require.Contains(t, plan, "\n  selected: ", texts)
		require.NotContains(t, plan, "where ", texts)
		gotRows, err := got.Batch(t.Context())
		require.NoError(t, err)
		wantRows, err := want.Batch(t.Context())
		require.NoError(t, err)
		require.Empty(t, column.Diff(gotRows, wantRows), texts)
		require.NotZero(t, gotRows.Rows)
	}
}

// TestSourcesReadNeededColumns requires that a source reads only the columns that the result depends on, also if a
// column of the result has the name of one that is not needed.
func TestSourcesReadNeededColumns(t *testing.T) {
	b := numbers(20)
	b.Columns = append(b.Columns, column.Of("x", make([]int64, 20)))
	for _, source := range []pipe.Pipe{pipe.Batches(b), pipe.Dataset(openFile(t, parquetscan.WriterOptions{}, b))} {
		for i, c := range []struct {
			p    pipe.Pipe
			want string
		}{
			{source, "v, w, x"},
			{source.Select("x", "v"), "v, x"},
			{source.GroupBy("v").Aggregate(groupby.Count().As("x"), groupby.Sum("w").As("y")), "v, w"},
			{source.GroupBy("v").Aggregate(groupby.Mean("w").As("x")), "v, w"},
			{source.Distinct("w"), "w"},
			{source.Aggregate(groupby.CountDistinct("x").As("v")), "x"},
			{source.With("x", "v + 1").Select("x"), "v"},
			{source.With("y", "v + x").Select("y"), "v, x"},
			{source.With("y", "v + x").Select("w"), "w"},
			{source.OrderBy(pipe.Ascending("v")).Select("w"), "v, w"},
			{source.OrderBy(pipe.Ascending("v"), pipe.Ascending("x")).Select("w"), "v, w, x"},
			{source.Limit(3).Select("w"), "w"},
		} {
			plan, _, _ := strings.Cut(planOf(t, c.p), "\n")
			_, columns, _ := strings.Cut(plan, "columns ")
			require.Equal(t, c.want, columns, i)
		}
	}
}

// TestStepsAreDescribed has the line of each kind of step.
func TestStepsAreDescribed(t *testing.T) {
	p := pipe.Batches(numbers(2), numbers(1))
	require.Equal(t, "batches: 1 row in 1 batch, columns v, w\n", planOf(t, pipe.Batches(numbers(1))))
	for want, p := range map[string]pipe.Pipe{
		"":                                p,
		"where v > 1 and w < 3 and v < 9": p.Where("v > 1 and w < 3 and v < 9"),
		"with x = v + 1":                  p.With("x", "v + 1"),
		"select w, v":                     p.Select("w", "v"),
		"select none":                     p.Select(),
		"group by v, w: count, sum(v)":    p.GroupBy("v", "w").Aggregate(groupby.Count(), groupby.Sum("v")),
		"group by w, v":                   p.Distinct("w", "v"),
		"aggregate: sum(v)":               p.Aggregate(groupby.Sum("v")),
		"order by v desc, w nulls first, v nulls first":      p.OrderBy(pipe.Descending("v"), pipe.Ascending("w").NullsFirst(), pipe.Ascending("v").NullsFirst()),
		"order by v, limit 3, offset 2":                      p.OrderBy(pipe.Ascending("v")).Limit(5).Offset(2),
		"order by none":                                      p.OrderBy(),
		"rows, limit 3":                                      p.Limit(3),
		"rows, offset 3":                                     p.Offset(3),
		"group by v (any 1 group)\nrows, limit 1":            p.Distinct("v").Limit(1),
		"group by v (any 4 groups)\nrows, limit 3, offset 1": p.Distinct("v").Offset(1).Limit(3),
		"group by v: count (the first 1 group)\norder by count desc, limit 1": p.GroupBy("v").Aggregate(groupby.Count()).OrderBy(pipe.Descending("count")).Limit(1),
	} {
		_, steps, _ := strings.Cut(planOf(t, p), "\n")
		require.Equal(t, want, strings.TrimSuffix(steps, "\n"))
	}
	union := pipe.Union(p, pipe.Union(p.Where("v > 0"), p))
	require.Equal(t, `union of 2, columns v, w
  batches: 3 rows in 2 batches, columns v, w
  select v, w
  union of 2, columns v, w
    batches: 3 rows in 2 batches, columns v, w
    where v > 0
    select v, w
    batches: 3 rows in 2 batches, columns v, w
    select v, w
  select v, w
with x = v
`, planOf(t, union.With("x", "v")))
}

// TestFilesAreListed requires that a plan has the names of up to three files.
func TestFilesAreListed(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i := range 4 {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d.parquet", i)))
		require.NoError(t, parquetscan.WriteFile(t.Context(), paths[i], numbers(5)))
	}
	require.Contains(t, planOf(t, pipe.Parquet(paths[:3]...)), "parquet "+strings.Join(paths[:3], ", ")+": 15 rows in 3 row groups, ")
	require.Contains(t, planOf(t, pipe.Parquet(paths...)), "parquet "+paths[0]+" and 3 more: 20 rows in 4 row groups, ")
	require.Equal(t, "statistics of parquet "+paths[0]+" and 3 more\n", planOf(t, pipe.Parquet(paths...).Aggregate(groupby.Count())))
}

// TestSumsOfManyRowsAreNotRewritten has sources of more rows than the bound under which no sum of 32 bits overflows.
// Plans read no rows.
func TestSumsOfManyRowsAreNotRewritten(t *testing.T) {
	const rows = 1 << 20
	b := column.NewBatch(column.Of("i", make([]int32, rows)))
	var file bytes.Buffer
	w, err := parquetscan.NewWriter(&file, b.Schema(), parquetscan.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	require.NoError(t, w.Close())
	for n, rewritten := range map[int]bool{1 << 10: true, 1<<10 + 1: false} {
		files := make([]parquetscan.Source, n)
		for i := range files {
			files[i] = parquetscan.Source{Name: fmt.Sprint(i), Size: int64(file.Len()), Reader: bytes.NewReader(file.Bytes())}
		}
		dataset, err := parquetscan.OpenSources(t.Context(), files...)
		require.NoError(t, err)
		defer dataset.Close()
		for _, p := range []pipe.Pipe{pipe.Batches(slices.Repeat([]*column.Batch{b}, n)...), pipe.Dataset(dataset)} {
			plan := planOf(t, p.Aggregate(groupby.Sum("i + 1"), groupby.Sum("i + 2"), groupby.Sum("i + 3")))
			require.Equal(t, rewritten, strings.Contains(plan, "sums of columns plus constants"), n)
		}
	}
}

// TestExpressionsAreCheckedBeforeTheRun requires that Explain and Schema return the errors of a condition that is none.
func TestExpressionsAreCheckedBeforeTheRun(t *testing.T) {
	p := pipe.Batches(numbers(3))
	for _, p := range []pipe.Pipe{p.Where("v"), p.Where("?", 5), p.Where("'true'"), p.Where("?", expr.Col("v"))} {
		_, err := p.Schema(t.Context())
		require.ErrorContains(t, err, "a selection")
		_, err = p.Explain(t.Context())
		require.ErrorContains(t, err, "a selection")
	}
}

// TestConditionsMoveToTheFile requires that conditions on columns of a file are evaluated while it is read, unless an
// operation before depends on other rows, replaces the column, or leaves out rows in which the condition may fail.
func TestConditionsMoveToTheFile(t *testing.T) {
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{}, numbers(20)))
	for i, c := range []struct {
		p                       pipe.Pipe
		pushed, selected, where string
	}{
		{file.Where("v > 3").Where("w < 2 and v <> 4"), "v > 3 and w < 2 and v <> 4", "", ""},
		{file.With("x", "v + 1").Where("v > 3"), "v > 3", "", ""},
		{file.Select("v").Where("v > 3 and v % 2 = 1"), "v > 3", "v % 2 = 1", ""},
		{file.With("v", "v + 1").Where("v > 3 and w > 3"), "w > 3", "", "v > 3"},
		{file.With("x", "v + 1").Where("x > 3").Where("w > 3"), "w > 3", "", "x > 3"},
		{file.With("x", "v + 1").Where("x > 3").Where("9 / w > 3"), "", "", "9 / w > 3"},
		{file.Where("9 / w > 3").With("x", "v + 1").Where("x > 3"), "", "9 / w > 3", "x > 3"},
		{file.Limit(3).Where("v > 3"), "", "", "v > 3"},
		{file.OrderBy(pipe.Ascending("w")).Limit(4).Where("v > 3"), "", "", "v > 3"},
		{file.Distinct("v").Where("v > 3"), "", "", "v > 3"},
		{file.Where("w = 1").Distinct("v").Having("v > 3"), "w = 1", "", "v > 3"},
		{pipe.Union(file.Where("w = 1"), file).Where("v > 3"), "w = 1 and v > 3", "", ""},
		{pipe.Union(file.With("x", "w").Limit(4), file.With("x", "w")).Where("x > 3"), "", "", "x > 3"},
	} {
		plan := planOf(t, c.p)
		for label, want := range map[string]string{"pushed: ": c.pushed, "selected: ": c.selected, "where ": c.where} {
			if want != "" {
				require.Contains(t, plan, label+want+"\n", i)
			} else {
				require.NotContains(t, plan, label, i)
			}
		}
	}
}
