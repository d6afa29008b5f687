// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/schema/schematest"
)

func TestScopeQueries(t *testing.T) {
	statements := func(s Scope) (stmts []string) {
		for _, q := range s.Queries() {
			require.True(t, strings.HasPrefix(q.Statement, "SELECT * FROM system_schema."+q.Table))
			stmts = append(stmts, strings.TrimPrefix(q.Statement, "SELECT * FROM system_schema."))
		}
		return stmts
	}
	tables := []string{"keyspaces", "types", "tables", "columns", "views", "indexes", "scylla_tables", "functions", "aggregates"}
	require.Equal(t, tables, statements(Scope{}))
	require.Equal(t, []string{"keyspaces"}, statements(Scope{KeyspacesOnly: true}))
	require.Equal(t, []string{"keyspaces WHERE keyspace_name = 'it''s'"}, statements(Scope{Keyspace: "it's", KeyspacesOnly: true}))
	var want []string
	for _, table := range tables {
		want = append(want, table+" WHERE keyspace_name = 'Ks'")
	}
	require.Equal(t, want, statements(Scope{Keyspace: "Ks"}))
	require.Equal(t, []string{
		"keyspaces WHERE keyspace_name = 'ks'",
		"tables WHERE keyspace_name = 'ks' AND table_name = 't'", "tables WHERE keyspace_name = 'ks' AND table_name = 'v''s'",
		"columns WHERE keyspace_name = 'ks' AND table_name = 't'", "columns WHERE keyspace_name = 'ks' AND table_name = 'v''s'",
		"views WHERE keyspace_name = 'ks' AND view_name = 't'", "views WHERE keyspace_name = 'ks' AND view_name = 'v''s'",
		"indexes WHERE keyspace_name = 'ks' AND table_name = 't'", "indexes WHERE keyspace_name = 'ks' AND table_name = 'v''s'",
		"scylla_tables WHERE keyspace_name = 'ks' AND table_name = 't'", "scylla_tables WHERE keyspace_name = 'ks' AND table_name = 'v''s'",
	}, statements(Scope{Keyspace: "ks", Tables: []string{"t", "v's"}}))

	var optional []string
	for _, q := range (Scope{}).Queries() {
		if q.Optional {
			optional = append(optional, q.Table)
		}
	}
	require.Equal(t, []string{"types", "views", "indexes", "scylla_tables", "functions", "aggregates"}, optional)
}

func TestUpdateOfTheCluster(t *testing.T) {
	rows := rich()
	keyspaces := read(rows)
	keyspaces["dropped"] = keyspaces["ks"]
	collect(Scope{KeyspacesOnly: true}, rows, nil).Update(keyspaces)
	require.Len(t, keyspaces, 2)
	require.Equal(t, "ks", keyspaces["ks"].Metadata.Name)
	require.Nil(t, keyspaces["ks"].Metadata.Tables)
}

func TestUpdateOfAKeyspace(t *testing.T) {
	rows := rich()
	keyspaces := read(rows)
	before, system := keyspaces["ks"], keyspaces["system"]
	collect(Scope{Keyspace: "ks"}, rows, nil).Update(keyspaces)
	require.NotSame(t, before, keyspaces["ks"])
	require.Same(t, system, keyspaces["system"])
	schematest.RequireRich(t, keyspaces["ks"].Metadata)

	NewRows(Scope{Keyspace: "ks"}).Update(keyspaces)
	require.NotContains(t, keyspaces, "ks", "a keyspace without a row is removed")
	require.Contains(t, keyspaces, "system")
}

// TestUpdateOfTables changes a table and drops the other. The old version must not change, and tables that are not read
// must be shared.
func TestUpdateOfTables(t *testing.T) {
	rows := rich()
	keyspaces := read(rows)
	before := keyspaces["ks"]
	rows["columns"] = append(rows["columns"], Row{"keyspace_name": "ks", "table_name": "t", "column_name": "more", "kind": "regular", "type": "nope"})
	rows["tables"] = slices.DeleteFunc(rows["tables"], func(r Row) bool { return r["table_name"] == "t2" })
	scope := Scope{Keyspace: "ks", Tables: []string{"t", "t2"}}
	collect(scope, rows, nil).Update(keyspaces)

	now := keyspaces["ks"].Metadata
	require.Contains(t, now.Tables["t"].Columns, "more")
	require.NotContains(t, now.Tables, "t2")
	require.Len(t, now.Faults, 1, "the type of the new column")
	require.Same(t, now.Tables["t"], now.MaterializedViews["by_b"].BaseTable)
	require.Same(t, before.Metadata.UserTypes["zip"], now.UserTypes["zip"])
	require.Equal(t, "t_v", now.Tables["t"].Columns["v"].Index.Name)
	schematest.RequireRich(t, before.Metadata)
	require.Contains(t, before.Metadata.Tables, "t2")

	rows["columns"] = rows["columns"][:len(rows["columns"])-1]
	collect(scope, rows, nil).Update(keyspaces)
	schematest.RequireRich(t, keyspaces["ks"].Metadata) // without the fault
}

// TestUpdateOfAView requires that a view gets its base table if the table is read later than the view.
func TestUpdateOfAView(t *testing.T) {
	rows := rich()
	tables := rows["tables"]
	rows["tables"] = nil
	keyspaces := read(rows)
	view := keyspaces["ks"].Metadata.MaterializedViews["by_b"]
	require.Nil(t, view.BaseTable)
	require.Equal(t, "t", view.BaseTableName)
	rows["tables"] = tables
	collect(Scope{Keyspace: "ks", Tables: []string{"t", "t2"}}, rows, nil).Update(keyspaces)
	schematest.RequireRich(t, keyspaces["ks"].Metadata)
	require.Nil(t, view.BaseTable, "the old version is unchanged")
}

// TestDroppedBetweenQueries: a table and a view were dropped after their rows were read, so that they have no columns.
func TestDroppedBetweenQueries(t *testing.T) {
	rows := rich()
	rows["columns"] = slices.DeleteFunc(rows["columns"], func(row Row) bool {
		return row["table_name"] == "t2" || row["table_name"] == "by_b"
	})
	m := read(rows)["ks"].Metadata
	require.Contains(t, m.Tables, "t")
	require.NotContains(t, m.Tables, "t2")
	require.NotContains(t, m.MaterializedViews, "by_b")
	require.Empty(t, m.Faults)
}

func TestRowsFaults(t *testing.T) {
	r := collect(Scope{Keyspace: "ks"}, rich(), nil)
	refused := errors.New("refused")
	r.AddFault(refused)
	r.Add(&r.scope.Queries()[0], Row{}) // has no keyspace name
	keyspaces := map[string]*Keyspace{}
	r.Update(keyspaces)
	require.Len(t, keyspaces, 1)
	require.ErrorIs(t, errors.Join(keyspaces["ks"].Metadata.Faults...), refused)
}
