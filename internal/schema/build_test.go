// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"errors"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/schema/schematest"
)

// rich returns the rows of schematest's keyspace and of one named system, by table.
func rich() map[string][]Row {
	rows := schematest.Rich()
	for table, row := range map[string]Row{
		"keyspaces": {"keyspace_name": "system", "durable_writes": true},
		"tables":    {"keyspace_name": "system", "table_name": "local"},
	} {
		rows[table] = append(rows[table], row)
	}
	for name, kind := range map[string]string{"key": "partition_key", "data": "regular"} {
		rows["columns"] = append(rows["columns"],
			Row{"keyspace_name": "system", "table_name": "local", "column_name": name, "kind": kind, "position": 0, "type": "text"})
	}
	return rows
}

// collect returns the rows selected by the queries of a scope. change may change a copy of each row.
func collect(scope Scope, rows map[string][]Row, change func(table string, i int, row Row)) *Rows {
	r := NewRows(scope)
	for _, q := range scope.Queries() {
		for i, original := range rows[q.Table] {
			row := maps.Clone(original)
			if !selects(q.Statement, row) {
				continue
			}
			if change != nil {
				change(q.Table, i, row)
			}
			r.Add(&q, row)
		}
	}
	return r
}

// selects reports whether a query selects a row. Each condition has the form name = 'text'.
func selects(stmt string, row Row) bool {
	_, where, _ := strings.Cut(stmt, " WHERE ")
	for condition := range strings.SplitSeq(where, " AND ") {
		if column, text, ok := strings.Cut(condition, " = "); ok && row[column] != strings.ReplaceAll(strings.Trim(text, "'"), "''", "'") {
			return false
		}
	}
	return true
}

// read returns the keyspaces built from the rows.
func read(rows map[string][]Row) map[string]*Keyspace {
	keyspaces := map[string]*Keyspace{}
	collect(Scope{}, rows, nil).Update(keyspaces)
	return keyspaces
}

func TestBuild(t *testing.T) {
	keyspaces := read(rich())
	require.Len(t, keyspaces, 2)
	schematest.RequireRich(t, keyspaces["ks"].Metadata)
	schematest.RequireRich(t, keyspaces["ks"].Metadata.Clone())
	require.Len(t, keyspaces["system"].Metadata.Tables["local"].Columns, 2)
}

func TestBuildColumnKinds(t *testing.T) {
	for kind := cql.ColumnPartitionKey; kind <= cql.ColumnStatic; kind++ {
		require.Equal(t, kind, columnKind(kind.String()))
	}
	require.Equal(t, cql.ColumnUnkownKind, columnKind("unknown"))
	require.Equal(t, cql.ColumnUnkownKind, columnKind(""))
}

func TestBuildScyllaTables(t *testing.T) {
	rows := rich()
	rows["scylla_tables"] = []Row{{
		"keyspace_name": "ks", "table_name": "t2", "cdc": map[string]string{"enabled": "true", "ttl": "86400"}, "partitioner": "CDCPartitioner",
	}}
	rows["tables"][0]["cdc"] = true // Cassandra's form
	tables := read(rows)["ks"].Metadata.Tables
	require.Equal(t, map[string]string{"enabled": "true"}, tables["t"].Options.CDC)
	require.Empty(t, tables["t"].Options.Partitioner)
	require.Equal(t, "86400", tables["t2"].Options.CDC["ttl"])
	require.Equal(t, "CDCPartitioner", tables["t2"].Options.Partitioner)
}

func TestBuildIndexedColumn(t *testing.T) {
	for target, want := range map[string]string{
		`{"pk":["p"],"ck":["C"]}`: "C", `{"pk":["p"],"ck":["values(m)"]}`: "m", `{"tc":"V","pk":["a"],"fc":["b"]}`: "V", `{"pk":["p"]}`: `{"pk":["p"]}`, "{": "{",
		"v": "v", `"Tags"`: "Tags", `values("Tags")`: "Tags", "keys(m)": "m", `"a(b"`: "a(b", `full("q""q")`: `q"q`, "": "", `"`: `"`, "(": "",
	} {
		require.Equal(t, want, indexedColumn(target), target)
	}
}

// TestFault27HostileSchemaRows replaces each cell of each table, and then random sets of cells, by NULL and by values
// of other types. Nothing may panic, and other keyspaces must be complete.
func TestFault27HostileSchemaRows(t *testing.T) {
	good := rich()
	before := read(good)
	check := func(change func(table string, i int, row Row)) map[string]*Keyspace {
		keyspaces := map[string]*Keyspace{}
		collect(Scope{}, good, change).Update(keyspaces)
		updated := maps.Clone(before)
		collect(Scope{Keyspace: "ks", Tables: []string{"t", "by_b"}}, good, change).Update(updated)
		for _, version := range []map[string]*Keyspace{keyspaces, updated} {
			_ = Diff(before, version)
			for _, ks := range version {
				requireUsable(t, ks.Metadata)
			}
		}
		return keyspaces
	}
	evil := []any{nil, 5, "evil<", []string{"x"}, map[string]string{"class": "'"}, errors.New("no value"), true, cql.UUID{}, -1 << 31}
	for table, rows := range good {
		for i, r := range rows {
			for column := range r {
				for _, v := range evil {
					keyspaces := check(func(tab string, n int, row Row) {
						if tab == table && n == i {
							row[column] = v
						}
					})
					if r["keyspace_name"] != "system" {
						require.Len(t, keyspaces["system"].Metadata.Tables["local"].Columns, 2)
					}
				}
			}
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		check(func(_ string, _ int, row Row) {
			for column := range row {
				if rnd.IntN(3) == 0 {
					row[column] = evil[rnd.IntN(len(evil))]
				}
			}
		})
	}
	check(func(_ string, _ int, row Row) {
		for column := range row {
			if column != "keyspace_name" {
				row[column] = nil
			}
		}
	})
}

// requireUsable uses metadata as programs do.
func requireUsable(t *testing.T, ks *cql.KeyspaceMetadata) {
	t.Helper()
	for _, table := range ks.Tables {
		require.NotNil(t, table.Columns)
		for _, c := range table.Columns {
			require.NotNil(t, c.Type)
			_ = c.Kind.String()
		}
	}
	_ = ks.Clone()
	for _, err := range ks.Faults {
		require.NotEmpty(t, err.Error())
	}
}
