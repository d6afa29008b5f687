// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSchemaPart reads the description of one table, which must not cost the time of all tables.
func TestSchemaPart(t *testing.T) {
	e, _ := newEngine(t)
	for _, text := range []string{
		"CREATE TABLE a (k int PRIMARY KEY, v int)", "CREATE TABLE b (k int PRIMARY KEY)", "CREATE INDEX i ON a (v)", "CREATE TYPE a (x int)",
		"CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", "CREATE TABLE other.a (z int PRIMARY KEY)",
	} {
		mustRun(t, e, text)
	}
	part := e.schema.Load().only([][]byte{[]byte("ks"), []byte("nope"), []byte("system_views")}, "a")
	require.Len(t, part.keyspaces, 1)
	tables := part.keyspaces["ks"].tables.sorted()
	require.Len(t, tables, 1)
	require.Equal(t, "a", tables[0].name)
	for text, want := range map[string]string{
		"SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'ks' AND table_name = 'a'":                "'k'\n'v'",
		"SELECT column_name FROM system_schema.columns WHERE keyspace_name IN ('ks', 'other') AND table_name = 'a'":    "'k'\n'v'\n'z'",
		"SELECT column_name FROM system_schema.columns WHERE table_name = 'b' ALLOW FILTERING":                         "'k'",
		"SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'ks'":                                       "'a'\n'b'",
		"SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'ks' AND table_name > 'a'":                  "'b'",
		"SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'ks' AND table_name IN ('b', 'c')":          "'b'",
		"SELECT index_name FROM system_schema.indexes WHERE keyspace_name = 'ks' AND table_name = 'a'":                 "'i'",
		"SELECT type_name FROM system_schema.types WHERE keyspace_name = 'ks' AND type_name = 'a'":                     "'a'",
		"SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = 'other'":                              "'other'",
		"SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'ks' AND table_name = 'a' LIMIT 1":        "'k'",
		"SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'ks' AND table_name = 'nope'":             "",
		"SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'system_views' AND table_name = 'settings'": "",
	} {
		require.Equal(t, want, show(mustRun(t, e, text), nil), text)
	}
}
