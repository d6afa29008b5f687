// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/stats"
	"github.com/vecql/vecql/tablescan"
)

// TestTableScan compares scans of a table with plain SELECTs, and resumes one after each page.
func TestTableScan(t *testing.T) {
	s := connect(t, config(t, plainNode))
	ks := keyspace(t, s, 1)
	exec(t, s, fmt.Sprintf(`CREATE TABLE %s.t ("Id" int, n int, s int static, v text, PRIMARY KEY ("Id", n))`, ks))
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.none (id int PRIMARY KEY)", ks))
	for id := range 40 {
		for n := range 1 + id%3*20 {
			exec(t, s, fmt.Sprintf(`INSERT INTO %s.t ("Id", n, s, v) VALUES (?, ?, 1, 'value')`, ks), id, n)
		}
	}
	rowsOf := func(seq func(func(*column.Batch, error) bool), pages int) []string {
		rows := []string{}
		for b, err := range seq {
			require.NoError(t, err)
			for i := range b.Rows {
				row := ""
				for k := range b.Columns {
					row += fmt.Sprint(b.Columns[k].Value(i), " ")
				}
				rows = append(rows, row)
			}
			if pages--; pages == 0 {
				break
			}
		}
		return rows
	}
	sorted := func(rows []string) []string { slices.Sort(rows); return rows }
	for text, values := range map[string][]any{
		"SELECT * FROM %s.t":             nil,
		`SELECT DISTINCT "Id" FROM %s.t`: nil,
		"SELECT v, n FROM %s.t WHERE n >= ? AND v = 'value' ALLOW FILTERING": {5},
		"SELECT v FROM %s.t PER PARTITION LIMIT 2":                           nil,
		"SELECT id FROM %s.none":                                             nil,
	} {
		text = fmt.Sprintf(text, ks)
		scan, err := tablescan.New(t.Context(), s, text, tablescan.Config{Values: values, PageBytes: 300})
		require.NoError(t, err, text)
		require.Equal(t, sorted(rowsOf(s.Query(text, values...).Batches(t.Context()), 0)),
			sorted(rowsOf(scan.Batches(t.Context()), 0)), text)
	}

	require.Zero(t, s.Stats().Errors[stats.ClassInvalid], "the server has the tables of estimates")

	counted, err := tablescan.Tokens(t.Context(), s, ks+".t", tablescan.Config{})
	require.NoError(t, err)
	require.NoError(t, counted.Run(t.Context(), func(int, *column.Batch) error { return nil }))
	require.EqualValues(t, 14+13*21+13*41, counted.Progress().Rows)

	text := fmt.Sprintf(`SELECT "Id", n FROM %s.t`, ks)
	var read []string
	var left *tablescan.Checkpoint
	for left == nil || len(left.Left) > 0 {
		scan, err := tablescan.New(t.Context(), s, text, tablescan.Config{Workers: 1, PageBytes: 700, Checkpoint: left})
		require.NoError(t, err)
		stop := false
		err = scan.Run(t.Context(), func(_ int, b *column.Batch) error {
			if stop {
				return vecql.ErrNotFound
			}
			stop = true
			read = append(read, rowsOf(func(yield func(*column.Batch, error) bool) { yield(b, nil) }, 0)...)
			return nil
		})
		if err != nil {
			require.ErrorIs(t, err, vecql.ErrNotFound)
		}
		checkpoint := scan.Checkpoint()
		left = &checkpoint
	}
	require.Equal(t, sorted(rowsOf(s.Query(text).Batches(t.Context()), 0)), sorted(read))
}
