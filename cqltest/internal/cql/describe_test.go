// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDescribe(t *testing.T) {
	for text, want := range map[string]*Describe{
		"DESCRIBE CLUSTER":                   {What: "CLUSTER"},
		"DESCRIBE KEYSPACES":                 {What: "KEYSPACES"},
		"DESCRIBE SCHEMA WITH INTERNALS":     {What: "SCHEMA", Internals: true},
		"DESCRIBE FULL SCHEMA":               {What: "SCHEMA", Full: true},
		"DESCRIBE KEYSPACE":                  {What: "KEYSPACE"},
		"DESCRIBE ONLY KEYSPACE \"A\"":       {What: "KEYSPACE", Only: true, Name: Name{Keyspace: "A"}},
		"DESCRIBE TABLE a.b WITH INTERNALS":  {What: "TABLE", Name: Name{"a", "b"}, Internals: true},
		"DESCRIBE MATERIALIZED VIEW v":       {What: "MATERIALIZED VIEW", Name: Name{Name: "v"}},
		"DESCRIBE TYPE t":                    {What: "TYPE", Name: Name{Name: "t"}},
		"DESCRIBE a.b":                       {Name: Name{"a", "b"}},
		"DESCRIBE TABLES":                    {What: "TABLES"},
		"DESCRIBE AGGREGATE ks.a":            {What: "AGGREGATE", Name: Name{"ks", "a"}},
		"DESCRIBE \"tables\" WITH INTERNALS": {Name: Name{Name: "tables"}, Internals: true},
	} {
		st, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, st, text)
		again, err := Parse(fmt.Sprint(st))
		require.NoError(t, err, st)
		require.Equal(t, st, again)
	}
	st, err := Parse("desc columnfamily t")
	require.NoError(t, err)
	require.Equal(t, "DESCRIBE TABLE t", fmt.Sprint(st))
	for _, text := range []string{"DESCRIBE", "DESCRIBE TABLE", "DESCRIBE FULL", "DESCRIBE ONLY t", "DESCRIBE t WITH", "DESCRIBE CLUSTER x"} {
		_, err := Parse(text)
		requireSyntaxError(t, err, text)
	}
}

func TestListRoles(t *testing.T) {
	for text, want := range map[string]*ListRoles{
		"LIST ROLES": {}, "LIST ROLES NORECURSIVE": {NoRecursive: true}, "LIST ROLES OF \"A\"": {Of: "A"}, "LIST ROLES OF 'A'": {Of: "A"},
	} {
		st, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, st)
		again, err := Parse(fmt.Sprint(st))
		require.NoError(t, err, st)
		require.Equal(t, st, again)
	}
}
