// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

func TestTypesResolve(t *testing.T) {
	for _, m := range []struct {
		name   string
		types  [][]string // name, fields
		column string
		want   string // of the column; fields in braces
		faults int
	}{
		{"plain", nil, "map<int, frozen<list<text>>>", "map<int, list<text>>", 0},
		{"later in the alphabet", [][]string{{"a", "x frozen<b>"}, {"b", "y int"}}, "a", "{x {y int}}", 0},
		{"earlier in the alphabet", [][]string{{"b", "x frozen<a>"}, {"a", "y int"}}, "list<frozen<b>>", "list<{x {y int}}>", 0},
		{"with the keyspace", [][]string{{"a", "y int"}}, "ks.a", "{y int}", 0},
		{"of another keyspace", [][]string{{"a", "y int"}}, "other.a", "'other.a'", 1},
		{"quoted", [][]string{{`A "b"`, "y int"}}, `frozen<"A ""b""">`, "{y int}", 0},
		{"quoted like a native type", [][]string{{"int", "y text"}}, `"int"`, "{y text}", 0},
		{"unquoted is lower case", [][]string{{"A", "y int"}}, "A", "'A'", 1},
		{"unknown", nil, "frozen<nope>", "'frozen<nope>'", 1},
		{"unknown inside", [][]string{{"a", "x frozen<nope>", "y int"}}, "a", "{x 'frozen<nope>' y int}", 1},
		{"unknown native", nil, "int128", "'int128'", 1},
		{"empty", nil, "", "''", 1},
		{"class", nil, "'org.apache.cassandra.db.marshal.EmptyType'", "'org.apache.cassandra.db.marshal.EmptyType'", 0},
		{"itself", [][]string{{"a", "x frozen<a>", "y int"}}, "a", "{x 'frozen<a>' y int}", 1},
		{"a circle", [][]string{{"a", "x frozen<b>"}, {"b", "x frozen<a>"}}, "b", "{x 'frozen<a>'}", 1},
	} {
		t.Run(m.name, func(t *testing.T) {
			k := &keyspaceRows{name: "ks", keyspace: Row{}}
			for _, typ := range m.types {
				var names, types []string
				for _, f := range typ[1:] {
					n, t, _ := strings.Cut(f, " ")
					names, types = append(names, n), append(types, t)
				}
				k.addType(Row{"type_name": typ[0], "field_names": names, "field_types": types})
			}
			k.addTable(Row{"table_name": "t"})
			k.addColumn(Row{"table_name": "t", "column_name": "id", "kind": "partition_key", "position": 0, "type": "int"})
			k.addColumn(Row{"table_name": "t", "column_name": "c", "kind": "regular", "type": m.column})
			ks := k.build(false).Metadata
			var spell func(cql.TypeInfo) string
			spell = func(typ cql.TypeInfo) string {
				switch typ := typ.(type) {
				case cql.UDTTypeInfo:
					var fields []string
					for _, f := range typ.Elements {
						fields = append(fields, f.Name+" "+spell(f.Type))
					}
					return "{" + strings.Join(fields, " ") + "}"
				case cql.CollectionType:
					if typ.Key == nil {
						return typ.Type().String() + "<" + spell(typ.Elem) + ">"
					}
				}
				return typ.String()
			}
			require.Equal(t, m.want, spell(ks.Tables["t"].Columns["c"].Type))
			require.Len(t, ks.Faults, m.faults)
			for _, err := range ks.Faults {
				var f *cql.SchemaError
				require.ErrorAs(t, err, &f)
				require.Equal(t, "ks", f.Keyspace)
			}
		})
	}
}

// TestTypesNestDeep has a chain of types that each use the previous one twice: a tree of them would have 2^5000 leaves.
func TestTypesNestDeep(t *testing.T) {
	k := &keyspaceRows{name: "ks", keyspace: Row{}}
	for i := range 5000 {
		inner := "int"
		if i > 0 {
			inner = fmt.Sprintf("frozen<t%04d>", i-1)
		}
		k.addType(Row{"type_name": fmt.Sprintf("t%04d", i), "field_names": []string{"a", "b"}, "field_types": []string{inner, inner}})
	}
	ks := k.build(false).Metadata
	require.Len(t, ks.UserTypes, 5000)
	require.Empty(t, ks.Faults)
	slices.Reverse(k.types) // types are resolved in the order of names
	require.Len(t, k.build(false).Metadata.UserTypes, 5000)
}
