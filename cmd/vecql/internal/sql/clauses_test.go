// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"testing"
)

// Clauses and aggregates with DuckDB's rows, which testdata/clauses.py writes, and their errors.

func TestClausesOfDuckDB(t *testing.T) { requireAnswers(t, "testdata/clauses.json", 60) }

// TestErrorsOfStar has errors of EXCLUDE and REPLACE, with their places.
func TestErrorsOfStar(t *testing.T) {
	for sql, want := range map[string]string{
		"select * exclude (b) from t":                                "7: EXCLUDE of \"b\": no such column",
		"select * replace (a as b) from t":                           "7: REPLACE of \"b\": no such column",
		"select * exclude (a, s) from t":                             "7: * EXCLUDE (a, s) has no column of: a, s",
		"select * exclude a replace (1 as a) from t":                 "7: REPLACE of \"a\": EXCLUDE leaves the column out",
		"select * replace (b as a) from t":                           "18: b: no such column: \"b\"",
		"select * exclude (a) from t group by a":                     "7: * cannot be combined with groups",
		"select percentile_cont(2) within group (order by a) from t": "23: want a quantile from 0 to 1",
		"select * exclude from t":                                    "17: found \"from\", want the name of a column",
		"select * exclude (a from t":                                 "want , or )",
		"select * replace (a) from t":                                "want as and the name of a column",
		"select percentile_cont(0.5) from t":                         "want within group (order by x)",
		"select percentile_cont(0.5) within group (a) from t":        "want one fraction, and order by with one expression",
		"select distinct on (b) a from t":                            "20: b: no such column: \"b\"",
		"select distinct on (a) count(*) from t":                     "DISTINCT ON with groups: not supported",
		"select distinct on (3) a from t":                            "20: position 3 is not a column of the result",
		"select distinct on (a b from t":                             "want , or )",
		"select 1__0":                                                "want a number",
	} {
		checkError(t, sql, want)
	}
}
