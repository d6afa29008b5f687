// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file tests what the driver tells of the schema: how rows become metadata.

// richSchema has one of everything.
func richSchema() *fakeSchema {
	f := newFakeSchema()
	f.keyspace("ks", "org.apache.cassandra.locator.NetworkTopologyStrategy", map[string]string{"dc1": "3"})
	// In the order of names zip comes last, though all others use it.
	f.userType("ks", "Address", "street text", `lines list<frozen<"line item">>`, "zip frozen<zip>")
	f.userType("ks", "line item", "n int", "z frozen<zip>")
	f.userType("ks", "zip", "code text")
	f.table("ks", "t", "v vector<float, 3>", "b text clustering desc", `home frozen<"Address">`, "a uuid partition_key", "Tags set<text>",
		"a2 int partition_key", "c timeuuid clustering", "s map<text, frozen<tuple<int, frozen<zip>>>> static", "n counter")
	f.table("ks", "t2", "id int partition_key")
	f.add("indexes",
		row{"keyspace_name": "ks", "table_name": "t", "index_name": "t_tags", "kind": "COMPOSITES", "options": map[string]string{"target": `values("Tags")`}},
		row{"keyspace_name": "ks", "table_name": "t", "index_name": "t_v", "kind": "CUSTOM", "options": map[string]string{"target": "v", "class_name": "sai"}})
	f.add("views", row{
		"keyspace_name": "ks", "view_name": "by_b", "base_table_name": "t", "id": UUID{7}, "base_table_id": UUID{1, 1}, "include_all_columns": true,
		"where_clause": "b IS NOT NULL", "comment": "a view", "gc_grace_seconds": 60,
	})
	f.columns("ks", "by_b", "b text partition_key", "a uuid clustering")
	f.add("functions",
		row{
			"keyspace_name": "ks", "function_name": "f", "argument_types": []string{"int"}, "argument_names": []string{"x"}, "body": "return x;",
			"called_on_null_input": true, "language": "java", "return_type": "int",
		},
		row{
			"keyspace_name": "ks", "function_name": "f", "argument_types": []string{"int", "frozen<zip>"}, "argument_names": []string{"x", "z"},
			"body": "return x+1;", "language": "java", "return_type": "int",
		})
	f.add("aggregates", row{
		"keyspace_name": "ks", "aggregate_name": "agg", "argument_types": []string{"frozen<zip>"}, "state_func": "f", "state_type": "int",
		"final_func": "f", "initcond": "0", "return_type": "int",
	})
	return f
}

func TestSchemaRead(t *testing.T) {
	for _, v := range []byte{protoV4, protoV5} {
		for _, page := range []int{0, 1, 4} {
			t.Run(fmt.Sprintf("v%d, pages of %d", v, page), func(t *testing.T) {
				f := richSchema()
				f.page = page
				c := newFakeCluster(t, v, 1)
				c.on(f.answer)
				s := c.session()
				ks, err := s.KeyspaceMetadata("ks")
				require.NoError(t, err)
				requireRich(t, ks)
				all, err := s.AllKeyspaceMetadata()
				require.NoError(t, err)
				require.Len(t, all, 2)
				requireRich(t, all["ks"])
				requireRich(t, all["ks"].Clone())
				require.Len(t, all["system"].Tables["local"].Columns, 2)
				table, err := s.TableMetadata("ks", "t")
				require.NoError(t, err)
				require.Same(t, all["ks"].Tables["t"], table)
				_, err = s.TableMetadata("ks", "T")
				require.ErrorIs(t, err, ErrNoTable)
				_, err = s.TableMetadata("kS", "t")
				require.ErrorIs(t, err, ErrKeyspaceDoesNotExist)
				_, err = s.KeyspaceMetadata("")
				require.ErrorIs(t, err, ErrNoKeyspace)
			})
		}
	}
}

func requireRich(t *testing.T, ks *KeyspaceMetadata) {
	t.Helper()
	require.Empty(t, ks.Faults)
	require.Equal(t, "ks", ks.Name)
	require.True(t, ks.DurableWrites)
	require.Equal(t, "org.apache.cassandra.locator.NetworkTopologyStrategy", ks.StrategyClass)
	require.Equal(t, map[string]any{"dc1": "3"}, ks.StrategyOptions)

	table := ks.Tables["t"]
	require.Equal(t, []string{"a", "a2", "b", "c", "s", "Tags", "home", "n", "v"}, table.OrderedColumns)
	require.Len(t, table.Columns, 9)
	require.Equal(t, []*ColumnMetadata{table.Columns["a"], table.Columns["a2"]}, table.PartitionKey)
	require.Equal(t, []*ColumnMetadata{table.Columns["b"], table.Columns["c"]}, table.ClusteringColumns)
	require.Equal(t, UUID{1, 1}, table.Id)
	require.Equal(t, "of t", table.Options.Comment)
	require.Equal(t, []string{"compound"}, table.Flags)
	for _, m := range []struct {
		column   string
		kind     ColumnKind
		position int
		order    ColumnOrder
		typ      string
	}{
		{"a", ColumnPartitionKey, 0, ASC, "uuid"},
		{"a2", ColumnPartitionKey, 1, ASC, "int"},
		{"b", ColumnClusteringKey, 0, DESC, "text"},
		{"c", ColumnClusteringKey, 1, ASC, "timeuuid"},
		{"s", ColumnStatic, -1, ASC, "map<text, tuple<int, ks.zip>>"},
		{"v", ColumnRegular, -1, ASC, "vector<float, 3>"},
		{"home", ColumnRegular, -1, ASC, "ks.Address"},
		{"n", ColumnRegular, -1, ASC, "counter"},
	} {
		c := table.Columns[m.column]
		require.Equal(t, []any{m.kind, m.position, m.order, m.typ, "ks", "t"}, []any{c.Kind, c.ComponentIndex, c.Order, c.Type.String(), c.Keyspace, c.Table}, m.column)
	}
	require.Equal(t, VectorType{SubType: native(TypeFloat), Dimensions: 3}, table.Columns["v"].Type)
	require.Equal(t, `frozen<"Address">`, table.Columns["home"].Validator)

	zip := UDTTypeInfo{Keyspace: "ks", Name: "zip", Elements: []UDTField{{"code", native(TypeVarchar)}}}
	item := UDTTypeInfo{Keyspace: "ks", Name: "line item", Elements: []UDTField{{"n", native(TypeInt)}, {"z", zip}}}
	address := UDTTypeInfo{Keyspace: "ks", Name: "Address", Elements: []UDTField{{"street", native(TypeVarchar)}, {"lines", NewListType(item)}, {"zip", zip}}}
	require.Equal(t, address, table.Columns["home"].Type)
	require.Equal(t, address, ks.UserTypes["Address"].TypeInfo())
	require.Equal(t, []string{"n", "z"}, ks.UserTypes["line item"].FieldNames)

	require.Equal(t, "t_tags", table.Columns["Tags"].Index.Name)
	require.Equal(t, ColumnIndexMetadata{Name: "t_v", Type: "CUSTOM", Options: map[string]any{"target": "v", "class_name": "sai"}}, table.Columns["v"].Index)
	require.Equal(t, "t", ks.Indexes["t_v"].Table)

	view := ks.MaterializedViews["by_b"]
	require.Same(t, table, view.BaseTable)
	require.Equal(t, []any{"a view", 60, true, "b IS NOT NULL", UUID{7}}, []any{view.Comment, view.GcGraceSeconds, view.IncludeAllColumns, view.WhereClause, view.Id})
	require.Equal(t, []string{"b", "a"}, view.OrderedColumns)
	require.NotContains(t, ks.Tables, "by_b")

	require.Equal(t, []any{"return x;", "java", true, native(TypeInt)},
		[]any{ks.Functions["f"].Body, ks.Functions["f"].Language, ks.Functions["f"].CalledOnNullInput, ks.Functions["f"].ReturnType})
	require.Equal(t, []TypeInfo{native(TypeInt), zip}, ks.Functions["f(int, frozen<zip>)"].ArgumentTypes)
	agg := ks.Aggregates["agg"]
	require.Equal(t, []any{"return x+1;", "return x;", "0", native(TypeInt)}, []any{agg.StateFunc.Body, agg.FinalFunc.Body, agg.InitCond, agg.StateType})
}

func TestSchemaScyllaTables(t *testing.T) {
	f := richSchema()
	delete(f.lacks, "scylla_tables")
	f.add("scylla_tables", row{
		"keyspace_name": "ks", "table_name": "t2", "cdc": map[string]string{"enabled": "true", "ttl": "86400"},
		"partitioner": "com.scylladb.dht.CDCPartitioner",
	})
	for _, table := range []string{"functions", "aggregates", "views", "indexes"} {
		f.lacks[table] = CodeInvalid
	}
	c := newFakeCluster(t, protoV4, 1)
	c.on(f.answer)
	ks, err := c.session().KeyspaceMetadata("ks")
	require.NoError(t, err)
	require.Empty(t, ks.Faults)
	require.Equal(t, "86400", ks.Tables["t2"].Options.CDC["ttl"])
	require.Equal(t, "com.scylladb.dht.CDCPartitioner", ks.Tables["t2"].Options.Partitioner)
	require.Empty(t, ks.Tables["t"].Options.Partitioner)
	require.Empty(t, ks.Functions)
}

func TestSchemaTypesResolve(t *testing.T) {
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
			k := &keyspaceRows{name: "ks", keyspace: systemRow{}}
			for _, typ := range m.types {
				var names, types []string
				for _, f := range typ[1:] {
					n, t, _ := strings.Cut(f, " ")
					names, types = append(names, n), append(types, t)
				}
				k.addType(systemRow{"type_name": typ[0], "field_names": names, "field_types": types})
			}
			k.addTable(systemRow{"table_name": "t"})
			k.addColumn(systemRow{"table_name": "t", "column_name": "id", "kind": "partition_key", "position": 0, "type": "int"})
			k.addColumn(systemRow{"table_name": "t", "column_name": "c", "kind": "regular", "type": m.column})
			ks := k.build(false)
			var spell func(TypeInfo) string
			spell = func(typ TypeInfo) string {
				switch typ := typ.(type) {
				case UDTTypeInfo:
					var fields []string
					for _, f := range typ.Elements {
						fields = append(fields, f.Name+" "+spell(f.Type))
					}
					return "{" + strings.Join(fields, " ") + "}"
				case CollectionType:
					if typ.Key == nil {
						return typ.Type().String() + "<" + spell(typ.Elem) + ">"
					}
				}
				return typ.String()
			}
			require.Equal(t, m.want, spell(ks.Tables["t"].Columns["c"].Type))
			require.Len(t, ks.Faults, m.faults)
			for _, err := range ks.Faults {
				var f *SchemaError
				require.ErrorAs(t, err, &f)
				require.Equal(t, "ks", f.Keyspace)
			}
		})
	}
}

// TestSchemaTypesNestDeep has types of which each holds the one before it twice: there are few of them, but as a tree they would be endless.
func TestSchemaTypesNestDeep(t *testing.T) {
	k := &keyspaceRows{name: "ks", keyspace: systemRow{}}
	for i := range 5000 {
		inner := "int"
		if i > 0 {
			inner = fmt.Sprintf("frozen<t%04d>", i-1)
		}
		k.addType(systemRow{"type_name": fmt.Sprintf("t%04d", i), "field_names": []string{"a", "b"}, "field_types": []string{inner, inner}})
	}
	ks := k.build(false)
	require.Len(t, ks.UserTypes, 5000)
	require.Empty(t, ks.Faults)
	slices.Reverse(k.types) // names decide, not rows
	require.Len(t, k.build(false).UserTypes, 5000)
}

// TestFault27HostileSchemaRows replaces each cell of each table, and then any number of them, by NULL, by a value of another type and by
// bytes that are no value: no panic, no error of the whole, and the other keyspace is complete.
func TestFault27HostileSchemaRows(t *testing.T) {
	good := richSchema()
	build := func(change func(table string, i int, row systemRow)) map[string]*keyspaceRows {
		keyspaces := map[string]*keyspaceRows{}
		for i := range schemaSources {
			src := &schemaSources[i]
			for n, original := range good.rows[src.table] {
				row := systemRow{}
				for k, v := range original {
					row[k] = v
				}
				change(src.table, n, row)
				name, ok := row["keyspace_name"].(string)
				if !ok {
					continue
				}
				if keyspaces[name] == nil {
					keyspaces[name] = &keyspaceRows{name: name}
				}
				src.add(keyspaces[name], row)
			}
		}
		return keyspaces
	}
	before := build(func(string, int, systemRow) {})["ks"].build(false)
	check := func(keyspaces map[string]*keyspaceRows) {
		for _, k := range keyspaces {
			if ks := k.build(false); ks != nil {
				for _, table := range ks.Tables {
					require.NotNil(t, table.Columns)
					for _, c := range table.Columns {
						require.NotNil(t, c.Type)
						_ = c.Kind.String()
					}
				}
				_ = ks.Clone()
				_ = diffSchema(map[string]*KeyspaceMetadata{"ks": before}, map[string]*KeyspaceMetadata{"ks": ks})
				for _, err := range ks.Faults {
					require.NotEmpty(t, err.Error())
				}
			}
		}
	}
	evil := []any{nil, 5, "evil<", []string{"x"}, map[string]string{"class": "'"}, errors.New("no value"), true, UUID{}, -1 << 31}
	for table, rows := range good.rows {
		for i, r := range rows {
			for column := range r {
				for _, v := range evil {
					keyspaces := build(func(tab string, n int, row systemRow) {
						if tab == table && n == i {
							row[column] = v
						}
					})
					check(keyspaces)
					if r["keyspace_name"] != "system" {
						require.Len(t, keyspaces["system"].build(false).Tables["local"].Columns, 2)
					}
				}
			}
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		check(build(func(_ string, _ int, row systemRow) {
			for column := range row {
				if rnd.IntN(3) == 0 {
					row[column] = evil[rnd.IntN(len(evil))]
				}
			}
		}))
	}
	check(build(func(_ string, _ int, row systemRow) {
		for column := range row {
			if column != "keyspace_name" {
				row[column] = nil
			}
		}
	}))
}

// TestFault27NullsOverTheWire has only names in its rows, cells that are no values, and a table that nobody may read.
func TestFault27NullsOverTheWire(t *testing.T) {
	f := newFakeSchema()
	f.add("keyspaces", row{"keyspace_name": "ks"}, row{})
	f.add("tables", row{"keyspace_name": "ks", "table_name": "t"}, row{"keyspace_name": "ks"}, row{})
	f.add("columns", row{"keyspace_name": "ks", "table_name": "t", "column_name": "c"}, row{"keyspace_name": "ks", "table_name": "t"}, row{"keyspace_name": "ks"},
		row{"keyspace_name": "ks", "table_name": "no such", "column_name": "c"})
	f.add("types", row{"keyspace_name": "ks", "type_name": "u"})
	f.lacks["functions"] = CodeUnauthorized
	c := newFakeCluster(t, protoV5, 1)
	c.on(func(r *fakeRequest) bool {
		if strings.HasPrefix(r.stmt, "SELECT * FROM system_schema.indexes") {
			r.rows(fakeResult{columns: []ColumnInfo{col("keyspace_name", schemaText), col("index_name", native(TypeUUID))}, cells: [][]byte{[]byte("ks"), []byte("short")}})
			return true
		}
		return f.answer(r)
	})
	s := c.session()
	ks, err := s.KeyspaceMetadata("ks")
	require.NoError(t, err)
	require.Equal(t, CustomType{}, ks.Tables["t"].Columns["c"].Type)
	require.Contains(t, ks.UserTypes, "u")
	require.Len(t, ks.Tables, 1)
	require.ErrorIs(t, errors.Join(ks.Faults...), CodeUnauthorized)
	all, err := s.AllKeyspaceMetadata()
	require.NoError(t, err)
	require.Len(t, all, 2)
}

func TestSchemaReadFails(t *testing.T) {
	f := richSchema()
	f.lacks["columns"] = CodeUnauthorized
	c := newFakeCluster(t, protoV4, 1)
	c.on(f.answer)
	s := c.session()
	_, err := s.KeyspaceMetadata("ks")
	require.ErrorIs(t, err, ErrNoMetadata)
	require.ErrorIs(t, err, CodeUnauthorized)
	delete(f.lacks, "columns") // the failure is not kept
	_, err = s.KeyspaceMetadata("ks")
	require.NoError(t, err)
	s.Close()
	_, err = s.KeyspaceMetadata("ks")
	require.ErrorIs(t, err, ErrSessionClosed)
}

func TestSystemQueryReadsAllPages(t *testing.T) {
	const n = 12001
	f := newFakeSchema()
	for i := range n {
		f.keyspace(fmt.Sprintf("k%05d", i), "SimpleStrategy", map[string]string{"replication_factor": "1"})
	}
	f.page = systemPageSize
	c := newFakeCluster(t, protoV4, 1)
	c.on(f.answer)
	s := c.session(func(cfg *ClusterConfig) { cfg.Metadata.CacheMode = KeyspaceOnly })
	all, err := s.AllKeyspaceMetadata()
	require.NoError(t, err)
	require.Len(t, all, n+1)
	require.Nil(t, all["k00007"].Tables)
	_, err = s.TableMetadata("k00007", "t")
	require.ErrorIs(t, err, ErrNoMetadata)
	for _, stmt := range f.reads() {
		require.Equal(t, "SELECT * FROM system_schema.keyspaces", stmt)
	}
}
