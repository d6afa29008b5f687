// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// Filters of searches: package search refuses what the server refuses.

// TestSearchFilters asks a server and package search for the same conditions.
func TestSearchFilters(t *testing.T) {
	for name, k := range map[string]kind{"Cassandra": plainNode, "cqltest": embeddedNode} {
		t.Run(name, func(t *testing.T) {
			s := open(t, config(t, k))
			requireOffered(t, productOf(t, s), "TestSearchFilters")
			ks := keyspace(t, s, 1)
			exec(t, s, fmt.Sprintf(`CREATE TABLE %s.t (a int, b int, c int, d int, e text, name text, n int, x int, yes boolean, s text static,
				v vector<float, 2>, PRIMARY KEY ((a, b), c, d, e))`, ks))
			filter := []string{"name", "n", "yes", "s", "e"}
			require.NoError(t, search.CreateIndex(t.Context(), s, ks+".t", vector.Dot, search.IndexOptions{Filter: filter}))
			require.NoError(t, search.WaitReady(t.Context(), s, ks+".t", nil))
			rows, err := search.Open[map[string]any](t.Context(), s, ks+".t")
			require.NoError(t, err)
			for where, served := range map[string]bool{
				"name = 'x'": true, "name > 'x'": false, "name in ('x')": true, "name in ('x', 'y')": false,
				"n = 1": true, "n > 1": true, "n > 1 and n < 3": true, "n in (1, 2)": false, "x = 1": false, "n = 1 and x = 1": false,
				"yes = true": true, "yes > false": false, "s = 'x'": true, "e = 'x'": true, "e > 'x'": false,
				"a = 1": false, "a > 1": false, "a = 1 and n = 1": false, "a = 1 and b = 1": true, "a = 1 and b > 1": false,
				"a in (1) and b = 1": true, "a = 1 and b in (1, 2)": false, "a = 1 and b = 1 and n = 1": true, "c = 1": false,
				"a = 1 and b = 1 and c = 1": true, "a = 1 and b = 1 and c > 1": true, "a = 1 and b = 1 and d = 1": false,
				"a = 1 and b = 1 and c = 1 and d >= 1": true, "a = 1 and b = 1 and c = 1 and d = 1 and e > 'x'": true,
				"a = 1 and b = 1 and e = 'x'": true, "a = 1 and b = 1 and c = 1 and n = 1": true, "c = 1 and n = 1": false,
			} {
				err := s.Query("SELECT a FROM " + ks + ".t WHERE " + where + " ORDER BY v ANN OF [1, 2] LIMIT 1").Exec(t.Context())
				_, ours := rows.Where(where).All(t.Context(), []float32{1, 2}, 1)
				if served {
					require.NoError(t, err, where)
					require.NoError(t, ours, where)
					continue
				}
				require.ErrorIs(t, err, cql.CodeInvalid, where)
				var refused *search.FilterError
				require.ErrorAs(t, ours, &refused, where)
			}
		})
	}
}
