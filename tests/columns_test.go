// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
)

// Columns of every CQL type, from a table through Arrow and Parquet to another table.

// testColumns inserts rows of every type by their Go values, reads them as a batch, converts the batch to an Arrow
// record batch and a Parquet file and back, and inserts it into a second table. Both tables must have the same rows,
// which the server must find by literals.
func testColumns(t *testing.T, s *vecql.Session, ks string) {
	cases := typeCasesOf(s)
	var names []string
	for i := range cases {
		names = append(names, fmt.Sprintf("v%d", i))
	}
	for _, table := range []string{ks + ".source", ks + ".target"} {
		var create strings.Builder
		fmt.Fprintf(&create, "CREATE TABLE %s (k int PRIMARY KEY", table)
		for i, c := range cases {
			fmt.Fprintf(&create, ", v%d %s", i, c.cql)
		}
		exec(t, s, create.String()+")")
	}
	insertInto := func(table string) string {
		columns := append([]string{"k"}, names...)
		markers := "?" + strings.Repeat(", ?", len(names))
		return fmt.Sprintf("INSERT INTO %s.%s (%s) VALUES (%s)", ks, table, strings.Join(columns, ", "), markers)
	}
	for row, value := range []func(i int) any{
		func(i int) any { return cases[i].value },
		func(int) any { return nil },
		func(i int) any { return emptyValue(cases[i].cql, cases[i].value) },
		func(i int) any { return cases[i].value },
	} {
		values := []any{row}
		for i := range cases {
			values = append(values, value(i))
		}
		exec(t, s, insertInto("source"), values...)
	}
	source := readTable(t, s, ks+".source", names)
	require.Equal(t, 4, source.Rows)
	rec, err := arrowcolumn.Record(source)
	require.NoError(t, err)
	fromArrow, err := arrowcolumn.Batch(rec)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "rows.parquet")
	require.NoError(t, parquetscan.WriteFile(t.Context(), path, fromArrow))
	ds, err := parquetscan.Open(t.Context(), path)
	require.NoError(t, err)
	defer func() { require.NoError(t, ds.Close()) }()
	for b, err := range ds.Batches(t.Context()) {
		require.NoError(t, err)
		require.Empty(t, column.Diff(b, source))
		statement, err := s.Query(insertInto("target")).PrepareRows(t.Context(), b.Schema())
		require.NoError(t, err)
		require.NoError(t, statement.Exec(t.Context(), b))
	}
	require.Empty(t, column.Diff(readTable(t, s, ks+".target", names), source))
	for i, c := range cases {
		if c.literal == "" {
			continue
		}
		var count int
		q := fmt.Sprintf("SELECT count(*) FROM %s.target WHERE v%d = %s ALLOW FILTERING", ks, i, c.literal)
		require.NoError(t, s.Query(q).Scan(t.Context(), &count), q)
		if hasEmpty(c.cql) {
			count++ // the third row has the empty value
		}
		require.Equal(t, 3, count, q)
	}
}

// readTable returns the rows of a table in the order of their tokens.
func readTable(t *testing.T, s *vecql.Session, table string, names []string) *column.Batch {
	t.Helper()
	var parts []*column.Batch
	q := s.Query(fmt.Sprintf("SELECT k, %s FROM %s", strings.Join(names, ", "), table)).PageSize(3)
	for b, err := range q.Batches(t.Context()) {
		require.NoError(t, err)
		require.NoError(t, b.Check())
		parts = append(parts, b)
	}
	all, err := column.Concat(parts...)
	require.NoError(t, err)
	return all
}

// hasEmpty reports whether a type has an empty value that servers distinguish from NULL.
func hasEmpty(cql string) bool {
	return cql == "text" || cql == "ascii" || cql == "blob" || strings.HasPrefix(cql, "frozen<list")
}

// emptyValue returns the empty value of a type, or v if the type has none.
func emptyValue(cql string, v any) any {
	switch {
	case !hasEmpty(cql):
		return v
	case cql == "blob":
		return []byte{}
	case strings.HasPrefix(cql, "frozen<list"):
		return []map[int][]string{}
	}
	return ""
}
