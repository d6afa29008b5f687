// SPDX-License-Identifier: Apache-2.0

package tablescan_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/tablescan"
)

// Tables as sources. The tests of package pipe have their conditions.

// TestSourceReads reads a table by token ranges and by partitions, with the number of goroutines of each.
func TestSourceReads(t *testing.T) {
	onFake(t, cqltest.Config{}, func(t *testing.T, c *fake) {
		c.fill(t)
		source := tablescan.Source{Session: c.session, Table: "t"} // of the session's keyspace
		all := c.all(t)
		key := expr.Bound{Column: "id", Type: column.Type{Kind: column.String}, Op: expr.OpEq, Values: []any{"x"}}
		for _, test := range []struct {
			workers, goroutines int
			filter              []expr.Bound
			line                string
			rows                int
		}{
			{0, 8, nil, `table, by token ranges: SELECT "id", "n" FROM "ks"."t"`, len(all.count)},
			{3, 3, nil, `table, by token ranges: SELECT "id", "n" FROM "ks"."t"`, len(all.count)},
			{3, 1, []expr.Bound{key}, `table, by partitions: SELECT "id", "n" FROM "ks"."t" WHERE "id" = ?`, 0},
		} {
			r, err := source.Open(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{"id", "n", "s", "v"}, r.Schema().Names())
			for _, b := range test.filter {
				require.False(t, r.Filter(b))
			}
			line, goroutines, err := r.Scan([]string{"id", "n"}, test.workers)
			require.NoError(t, err)
			require.Equal(t, test.line, line)
			require.Equal(t, test.goroutines, goroutines)
			var mu sync.Mutex
			got := &rows{}
			err = r.Run(t.Context(), func(worker int, b *column.Batch) error {
				mu.Lock()
				defer mu.Unlock()
				require.Less(t, worker, goroutines)
				got.add(t, b)
				return nil
			})
			require.NoError(t, err)
			require.Len(t, got.count, test.rows)
			require.NoError(t, r.Close())
		}
	})
}

// TestSourceOpens requires the errors of names, and the label of an error.
func TestSourceOpens(t *testing.T) {
	onFake(t, cqltest.Config{}, func(t *testing.T, c *fake) {
		for name, want := range map[string]string{"ks.nothing": "nothing", "a.b.c": "want the name of a table", "": "want the name of a table"} {
			_, err := tablescan.Source{Session: c.session, Table: name}.Open(t.Context())
			require.ErrorContains(t, err, want)
		}
	})
	verb, text := tablescan.Source{Table: `ks."T"`}.Label()
	require.Equal(t, `Table("ks.\"T\"")`, verb+"("+text+")")
}

// TestSourceQuery sets an option of the requests, of both ways to read a table: a level that servers refuse for reads.
func TestSourceQuery(t *testing.T) {
	onFake(t, cqltest.Config{}, func(t *testing.T, c *fake) {
		c.fill(t)
		key := expr.Bound{Column: "id", Type: column.Type{Kind: column.String}, Op: expr.OpEq, Values: []any{"x"}}
		for _, filter := range [][]expr.Bound{nil, {key}} {
			source := tablescan.Source{Session: c.session, Table: "t", Query: func(q *vecql.Query) { q.Consistency(cql.Any) }}
			r, err := source.Open(t.Context())
			require.NoError(t, err)
			for _, b := range filter {
				r.Filter(b)
			}
			_, _, err = r.Scan([]string{"id"}, 1)
			require.NoError(t, err)
			err = r.Run(t.Context(), func(int, *column.Batch) error { return nil })
			require.ErrorIs(t, err, cql.CodeInvalid)
			require.ErrorContains(t, err, "ANY")
		}
	})
}
