// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// describe returns the changes as "+name", "-name" and "~name", prefixed with the kind.
func describe(c Changes) []string {
	var all []string
	all = append(all, describeKind("keyspace", c.Keyspaces, func(k *cql.KeyspaceMetadata) string { return k.Name })...)
	all = append(all, describeKind("table", c.Tables, func(t *cql.TableMetadata) string { return t.Name })...)
	all = append(all, describeKind("type", c.UserTypes, func(u *cql.UserTypeMetadata) string { return u.Name })...)
	all = append(all, describeKind("function", c.Functions, func(f *cql.FunctionMetadata) string { return f.Body })...)
	return append(all, describeKind("aggregate", c.Aggregates, func(a *cql.AggregateMetadata) string { return a.Name })...)
}

func describeKind[T any](kind string, d Difference[T], name func(T) string) (all []string) {
	for _, v := range d.Created {
		all = append(all, kind+" +"+name(v))
	}
	for _, v := range d.Dropped {
		all = append(all, kind+" -"+name(v))
	}
	for _, u := range d.Updated {
		all = append(all, kind+" ~"+name(u.New))
	}
	return all
}

func TestDiff(t *testing.T) {
	drop := func(table, column, name string) func(map[string][]Row) {
		return func(rows map[string][]Row) {
			rows[table] = slices.DeleteFunc(rows[table], func(r Row) bool { return r[column] == name })
		}
	}
	set := func(table, column, name, other string, v any) func(map[string][]Row) {
		return func(rows map[string][]Row) {
			for i, r := range rows[table] {
				if r[column] == name {
					r = maps.Clone(r)
					r[other] = v
					rows[table][i] = r
				}
			}
		}
	}
	// whole returns the changes of a created or dropped keyspace.
	whole := func(sign string) []string {
		lines := []string{
			"keyspace ks", "table t", "table t2", "type Address", "type line item", "type zip", "function return x;", "function return x+1;",
			"aggregate agg",
		}
		for i, line := range lines {
			lines[i] = strings.Replace(line, " ", " "+sign, 1)
		}
		return lines
	}
	for name, test := range map[string]struct {
		change func(map[string][]Row)
		want   []string
	}{
		"nothing":               {func(map[string][]Row) {}, nil},
		"the order of rows":     {func(rows map[string][]Row) { slices.Reverse(rows["columns"]) }, nil},
		"a keyspace":            {set("keyspaces", "keyspace_name", "ks", "durable_writes", false), []string{"keyspace ~ks"}},
		"a keyspace is dropped": {drop("keyspaces", "keyspace_name", "ks"), whole("-")},
		"a table":               {set("tables", "table_name", "t2", "comment", "x"), []string{"table ~t2"}},
		"a table is dropped":    {drop("tables", "table_name", "t2"), []string{"table -t2"}},
		"a column":              {set("columns", "column_name", "v", "type", "int"), []string{"table ~t"}},
		"a column is dropped":   {drop("columns", "column_name", "v"), []string{"table ~t"}},
		"an index is dropped":   {drop("indexes", "index_name", "t_v"), []string{"table ~t"}},
		"ScyllaDB's options": {
			func(rows map[string][]Row) {
				rows["scylla_tables"] = []Row{{"keyspace_name": "ks", "table_name": "t2", "partitioner": "x"}}
			},
			[]string{"table ~t2"},
		},
		"a type":                  {set("types", "type_name", "zip", "field_names", []string{"x"}), []string{"type ~zip"}},
		"a function":              {set("functions", "body", "return x+1;", "body", "return x+2;"), []string{"function ~return x+2;"}},
		"the function named f":    {drop("functions", "body", "return x;"), []string{"function -return x;"}},
		"an aggregate":            {set("aggregates", "aggregate_name", "agg", "initcond", "1"), []string{"aggregate ~agg"}},
		"an aggregate is dropped": {drop("aggregates", "aggregate_name", "agg"), []string{"aggregate -agg"}},
		"views are not compared":  {set("views", "view_name", "by_b", "comment", "x"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			rows := rich()
			before := read(rows)
			test.change(rows)
			require.Equal(t, test.want, describe(Diff(before, read(rows))))
		})
	}
	without := rich()
	drop("keyspaces", "keyspace_name", "ks")(without)
	require.Equal(t, whole("+"), describe(Diff(read(without), read(rich()))))
	require.Empty(t, describe(Diff(nil, nil)))
}

// TestDiffAfterUpdate compares a keyspace that was read in parts with one that was read at once.
func TestDiffAfterUpdate(t *testing.T) {
	rows := rich()
	keyspaces := read(rows)
	before := maps.Clone(keyspaces)
	scope := Scope{Keyspace: "ks", Tables: []string{"t", "by_b"}}
	collect(scope, rows, nil).Update(keyspaces)
	require.NotSame(t, before["ks"], keyspaces["ks"])
	require.Empty(t, describe(Diff(before, keyspaces)))
	rows["columns"] = append(rows["columns"], Row{"keyspace_name": "ks", "table_name": "t", "column_name": "more", "kind": "regular", "type": "int"})
	collect(scope, rows, nil).Update(keyspaces)
	changes := Diff(before, keyspaces)
	require.Equal(t, []string{"table ~t"}, describe(changes))
	require.NotContains(t, changes.Tables.Updated[0].Old.Columns, "more")
	require.Contains(t, changes.Tables.Updated[0].New.Columns, "more")
	require.Empty(t, describe(Diff(keyspaces, read(rows))))
}
