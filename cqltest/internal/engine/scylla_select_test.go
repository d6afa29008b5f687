// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// CQL of ScyllaDB 2026.4, by its documents and tests (test/cqlpy/test_selector_literals.py, pull request 30671).

// TestSelectWithoutFrom: the statement selects from system.one_row, which has one row.
func TestSelectWithoutFrom(t *testing.T) {
	for statement, want := range map[string]string{
		"SELECT (int) 1 AS one":                   "1",
		"SELECT (int) 1, (text) 'hi' AS greeting": "1 | 'hi'",
		"SELECT 1":                                   "1",
		"SELECT 'hello', 10000000000, 1.5, true":     "'hello' | 10000000000 | 1.5 | true",
		"SELECT count(*)":                            "1",
		"SELECT JSON (int) 1 AS one":                 `'{"one": 1}'`,
		"SELECT (int) 1 LIMIT 5":                     "1",
		"SELECT (int) 1 PER PARTITION LIMIT 1":       "1",
		"SELECT (int) 1 ALLOW FILTERING":             "1",
		"SELECT (int) 1 BYPASS CACHE":                "1",
		"SELECT (int) 1 USING TIMEOUT 50ms":          "1",
		`SELECT (int) 1 WHERE "system$dummy" = 'no'`: "",
		`SELECT (int) 1 FROM system.one_row`:         "1",
		"SELECT col":                                 "2200 Undefined column name col in table system.one_row",
		"SELECT (int) 1 WHERE x = 1":                 "2200 Undefined column name x in table system.one_row",
		"SELECT DISTINCT (int) 1":                    "2000 ...",
	} {
		t.Run(statement, scyllaRule{statement: statement, want: want}.check)
	}
	t.Run("before 2026.4", scyllaRule{release: "2026.3.2", statement: "SELECT (int) 1", want: "2000 ..."}.check)
	_, err := cql.ParseCassandra("SELECT (int) 1")
	require.Error(t, err)
}

// TestNullRelations: rows are filtered by whether a column has a value. Keys have values.
func TestNullRelations(t *testing.T) {
	const setup = `CREATE TABLE n (k int, c int, s int static, v text, l list<int>, PRIMARY KEY (k, c)); INSERT INTO n (k, c, v) VALUES (1, 1, 'a');
		INSERT INTO n (k, c, s, l) VALUES (2, 1, 7, [1]); INSERT INTO n (k, c, v) VALUES (2, 2, ''); INSERT INTO n (k, s) VALUES (3, 8); `
	for statement, want := range map[string]string{
		"SELECT k, c FROM n WHERE v IS NULL ALLOW FILTERING":                   "2 | 1",
		"SELECT k, c FROM n WHERE v IS NOT NULL ALLOW FILTERING":               "1 | 1, 2 | 2",
		"SELECT k, c FROM n WHERE l IS NOT NULL ALLOW FILTERING":               "2 | 1",
		"SELECT k, c FROM n WHERE k = 2 AND l IS NULL ALLOW FILTERING":         "2 | 2",
		"SELECT k, c FROM n WHERE v IS NOT NULL AND l IS NULL ALLOW FILTERING": "1 | 1, 2 | 2",
		"SELECT k, c FROM n WHERE k IS NULL ALLOW FILTERING":                   "",
		"SELECT k, c FROM n WHERE c IS NULL AND v IS NULL ALLOW FILTERING":     "",
		"SELECT DISTINCT k FROM n WHERE s IS NULL ALLOW FILTERING":             "1",
		"SELECT k FROM n WHERE v IS NULL":                                      "2200 Cannot execute this query as it might involve data filtering...",
		"SELECT k FROM n WHERE k = 1 AND c = 1 AND v IS NOT NULL":              "2200 Cannot execute this query as it might involve data filtering...",
		"UPDATE n SET v = 'x' WHERE k = 1 AND c = 1 AND l IS NULL":             "2200 Unsupported restriction: l IS NULL",
		"SELECT k FROM n WHERE z IS NULL ALLOW FILTERING":                      "2200 Undefined column name z in table ks.n",
	} {
		t.Run(statement, scyllaRule{setup: setup, statement: statement, want: want}.check)
	}
	t.Run("before 2026.4", scyllaRule{
		release: "2026.3.2", setup: setup, statement: "SELECT k FROM n WHERE v IS NULL ALLOW FILTERING",
		want: "2200 Unsupported restriction: v IS NULL",
	}.check)
}
