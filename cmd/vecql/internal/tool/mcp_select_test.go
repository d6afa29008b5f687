// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cqltext"
)

// Which statements the tool query of mcp executes.

// selects are statements that are one SELECT, with the text that the server receives; "" means the same text.
var selects = map[string]string{
	"SELECT id FROM shop.items":                                                               "",
	"select*from shop.items":                                                                  "",
	"SELECT id FROM shop.items;":                                                              "SELECT id FROM shop.items",
	"SELECT id FROM shop.items ; ;; -- end":                                                   "SELECT id FROM shop.items",
	"\r\n\t SELECT  id\nFROM\tshop.items ":                                                    "SELECT id FROM shop.items",
	"-- DELETE FROM shop.items WHERE id = 1;\nSELECT id FROM shop.items":                      "SELECT id FROM shop.items",
	"// DROP TABLE shop.items\rSELECT id FROM shop.items":                                     "SELECT id FROM shop.items",
	"/* DROP; */SELECT/**/id/* ; */FROM shop.items":                                           "SELECT id FROM shop.items",
	"SELECT id FROM shop.items WHERE name = 'a; DROP TABLE shop.items -- /*' ALLOW FILTERING": "",
	"SELECT id FROM shop.items WHERE name = 'it''s; x' ALLOW FILTERING":                       "",
	"SELECT id FROM shop.items WHERE name = $$; DROP TABLE shop.items; '$$ ALLOW FILTERING":   "",
	`SELECT id AS "; DROP TABLE shop.items" FROM shop.items`:                                  "",
	`SELECT id AS "a""; DROP" FROM shop.items`:                                                "",
	"SELECT JSON id FROM shop.items":                                                          "", "SELECT DISTINCT id FROM shop.items": "",
	"SELECT id FROM shop.items WHERE id >= -1 AND id <= 5 AND price > 1.5e-3 ALLOW FILTERING": "",
	"SELECT id FROM shop.items WHERE id = 1 - -2 /* - */ - 3":                                 "SELECT id FROM shop.items WHERE id = 1 - -2 - 3",
	"SELECT id FROM shop.items /* unfinished":                                                 "SELECT id FROM shop.items",
}

// refusedStatements are statements that onlySelect refuses.
var refusedStatements = []string{
	"", " ", ";", "-- SELECT", "/* SELECT */", "'SELECT'", `"SELECT"`, "$$SELECT$$", "(SELECT id FROM shop.items)", "; SELECT id FROM shop.items",
	"INSERT INTO shop.items (id) VALUES (9)", "UPDATE shop.items SET name = 'x' WHERE id = 1", "DELETE FROM shop.items WHERE id = 1",
	"TRUNCATE shop.items", "DROP TABLE shop.items", "CREATE TABLE shop.t (k int PRIMARY KEY)", "ALTER TABLE shop.items ADD x int",
	"GRANT SELECT ON KEYSPACE shop TO reader", "LIST ROLES", "USE shop", "DESCRIBE shop", "PRUNE MATERIALIZED VIEW shop.m", "EXPLAIN SELECT",
	"BEGIN BATCH INSERT INTO shop.items (id) VALUES (9); APPLY BATCH",
	"BEGIN TRANSACTION SELECT id FROM shop.items WHERE id = 1; COMMIT TRANSACTION",
	"SELECT id FROM shop.items; DELETE FROM shop.items WHERE id = 1",
	"SELECT id FROM shop.items;DROP TABLE shop.items;",
	"SELECT id FROM shop.items;/**/;'x'",
	"SELECTION", "SELECT1", "SELECT_", "selec\u017ft id", "\u017fELECT id", "\ufeffSELECT id FROM shop.items", "\x00SELECT id", "\vSELECT id",
	"-- x\rDELETE FROM shop.items WHERE id = 1 /*\nSELECT 1 */",
	"// x\rDROP TABLE shop.items -- \nSELECT id FROM shop.items",
	"/* /* */ DELETE FROM shop.items WHERE id = 1 /* */ SELECT */",
	"-- \\\nDELETE FROM shop.items WHERE id = 1",
	"''SELECT id FROM shop.items", "-SELECT", "--\u2028SELECT id FROM shop.items",
}

func TestOnlySelect(t *testing.T) {
	for text, want := range selects {
		if want == "" {
			want = text
		}
		got, err := onlySelect(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	for _, text := range refusedStatements {
		got, err := onlySelect(text)
		require.ErrorIs(t, err, errNotSelect, text)
		require.Empty(t, got)
	}
}

// A writeWatch is a session with a cluster whose table and schema are compared after each statement.
type writeWatch struct {
	session *vecql.Session
	before  string
}

func newWriteWatch(tb testing.TB) *writeWatch {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	require.NoError(tb, err)
	tb.Cleanup(cluster.Close)
	require.NoError(tb, cluster.Exec(shop))
	w := &writeWatch{}
	w.session, err = vecql.NewSession(tb.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(tb, err)
	tb.Cleanup(w.session.Close)
	w.before = w.state(tb)
	return w
}

// state returns the rows of the table and of the tables of the schema.
func (w *writeWatch) state(tb testing.TB) string {
	var b strings.Builder
	for _, table := range []string{"shop.items", "system_schema.keyspaces", "system_schema.tables", "system_schema.columns", "system_schema.indexes"} {
		rows, err := w.session.Query("SELECT JSON * FROM " + table).Iter(tb.Context()).SliceMap()
		require.NoError(tb, err)
		fmt.Fprintln(&b, rows)
	}
	return b.String()
}

// TestSelectsDoNotWrite executes what onlySelect accepts, and requires that the statements it refuses would write or
// fail.
func TestSelectsDoNotWrite(t *testing.T) {
	w := newWriteWatch(t)
	for text := range selects {
		stmt, err := onlySelect(text)
		require.NoError(t, err)
		require.NoError(t, w.session.Query(stmt).Exec(t.Context()), stmt)
	}
	require.Equal(t, w.before, w.state(t))
	require.NoError(t, w.session.Query("-- x\rDELETE FROM shop.items WHERE id = 1 /*\nSELECT 1 */").Exec(t.Context()))
	require.NotEqual(t, w.before, w.state(t), "the server ends the comment at the carriage return")
}

// FuzzOnlySelect requires of each text that is accepted that it begins with SELECT, is one statement without comments,
// and that a cluster which executes it keeps its rows and its schema. The parser of the cluster is another one.
func FuzzOnlySelect(f *testing.F) {
	for text := range selects {
		f.Add(text)
	}
	for _, text := range refusedStatements {
		f.Add(text)
	}
	w := newWriteWatch(f)
	f.Fuzz(func(t *testing.T, text string) {
		stmt, err := onlySelect(text)
		if err != nil {
			require.ErrorIs(t, err, errNotSelect)
			return
		}
		require.True(t, strings.EqualFold(stmt[:len("SELECT")], "SELECT"))
		require.True(t, cqltext.IsSelect(stmt))
		again, err := onlySelect(stmt)
		require.NoError(t, err)
		require.Equal(t, stmt, again)
		_ = w.session.Query(stmt).Exec(t.Context()) // most texts are syntax errors
		require.Equal(t, w.before, w.state(t), stmt)
	})
}
