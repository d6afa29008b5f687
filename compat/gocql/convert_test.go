// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"reflect"
	"testing"

	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// TestMetadataIsConverted: functions, aggregates and views, which cqltest does not have.
func TestMetadataIsConverted(t *testing.T) {
	number, text := cql.NativeType(cql.TypeInt), cql.NativeType(cql.TypeVarchar)
	table := &cql.TableMetadata{Keyspace: "shop", Name: "items", Columns: map[string]*cql.ColumnMetadata{
		"id": {Name: "id", Kind: cql.ColumnPartitionKey, Type: number}, "at": {Name: "at", Kind: cql.ColumnClusteringKey, Type: number, Order: cql.DESC},
	}}
	table.PartitionKey = []*cql.ColumnMetadata{table.Columns["id"]}
	table.ClusteringColumns = []*cql.ColumnMetadata{table.Columns["at"]}
	function := &cql.FunctionMetadata{Keyspace: "shop", Name: "f", ArgumentTypes: []cql.TypeInfo{number}, ArgumentNames: []string{"n"}, ReturnType: text}
	view := &cql.MaterializedViewMetadata{Keyspace: "shop", Name: "by_name", BaseTableName: "items", IncludeAllColumns: true}
	view.Comment, view.Extensions = "a view", map[string][]byte{"x": []byte("y")}
	k := keyspaceOf(&cql.KeyspaceMetadata{
		Name: "shop", Tables: map[string]*cql.TableMetadata{"items": table}, Functions: map[string]*cql.FunctionMetadata{"f": function},
		Aggregates: map[string]*cql.AggregateMetadata{"a": {
			Name: "a", ArgumentTypes: []cql.TypeInfo{number}, StateFunc: *function, StateType: cql.NewListType(number), ReturnType: text, InitCond: "[]",
		}},
		MaterializedViews: map[string]*cql.MaterializedViewMetadata{"by_name": view},
	})
	f, a, v, items := k.Functions["f"], k.Aggregates["a"], k.MaterializedViews["by_name"], k.Tables["items"]
	if f.ArgumentTypes[0].Type() != TypeInt || f.ReturnType.Type() != TypeText || f.ArgumentNames[0] != "n" {
		t.Errorf("%+v", f)
	}
	if a.StateFunc.Name != "f" || a.FinalFunc.Name != "" || a.StateType.(CollectionType).Elem.Type() != TypeInt || a.InitCond != "[]" {
		t.Errorf("%+v", a)
	}
	if v.BaseTable != items || v.Comment != "a view" || !v.IncludeAllColumns || v.Extensions["x"] != "y" {
		t.Errorf("%+v", v)
	}
	if at := items.ClusteringColumns[0]; at != items.Columns["at"] || at.Order != DESC || at.Kind != ColumnClusteringKey {
		t.Errorf("%+v", at)
	}
}

// TestTypesAreConvertedBothWays.
func TestTypesAreConvertedBothWays(t *testing.T) {
	number, text := cql.NativeType(cql.TypeInt), cql.NativeType(cql.TypeVarchar)
	udt := cql.UDTTypeInfo{Keyspace: "shop", Name: "address", Elements: []cql.UDTField{{Name: "street", Type: text}}}
	for _, info := range []cql.TypeInfo{
		number, text, udt, cql.NewListType(text), cql.NewSetType(number), cql.NewMapType(text, cql.NewListType(udt)),
		cql.TupleTypeInfo{Elems: []cql.TypeInfo{number, udt}},
		cql.CustomType{Class: "my.Class"},
		cql.VectorType{SubType: cql.NativeType(cql.TypeFloat), Dimensions: 3},
		cql.VectorType{SubType: cql.NewMapType(text, number), Dimensions: 2},
		cql.VectorType{SubType: cql.TupleTypeInfo{Elems: []cql.TypeInfo{number, text}}, Dimensions: 2},
		cql.VectorType{SubType: udt, Dimensions: 2},
	} {
		if back := toCQL(fromCQL(info, 4)); !reflect.DeepEqual(back, info) {
			t.Errorf("%v became %v", info, back)
		}
	}
	list := CollectionType{NativeType: NewNativeType(4, TypeList, ""), Elem: NewNativeType(4, TypeInt, "")}
	if toCQL(&list).String() != "list<int>" || toCQL(nil) != nil || fromCQL(nil, 4) != nil {
		t.Error("a pointer, nil")
	}
}

// TestNativePolicies: the policies of this package become vecql's, unless one of the program is inside.
func TestNativePolicies(t *testing.T) {
	type programPolicy struct{ HostSelectionPolicy }
	for name, p := range map[string]HostSelectionPolicy{
		"round robin": RoundRobinHostPolicy(), "data center": DCAwareRoundRobinPolicy("dc"), "rack": RackAwareRoundRobinPolicy("dc", "r"),
		"token": TokenAwareHostPolicy(DCAwareRoundRobinPolicy("dc"), ShuffleReplicas(), NonLocalReplicasFallback()),
		"ready": SingleHostReadyPolicy(RoundRobinHostPolicy()),
	} {
		if api.NativeOf(p) == nil {
			t.Error(name, "is not vecql's")
		}
	}
	for name, p := range map[string]HostSelectionPolicy{
		"program": programPolicy{RoundRobinHostPolicy()}, "no data center": DCAwareRoundRobinPolicy(""),
		"no rack": RackAwareRoundRobinPolicy("dc", ""), "token": TokenAwareHostPolicy(programPolicy{RoundRobinHostPolicy()}),
		"ready": SingleHostReadyPolicy(programPolicy{RoundRobinHostPolicy()}), "pool": HostPoolHostPolicy(nil),
	} {
		if api.NativeOf(p) != nil {
			t.Error(name, "is vecql's")
		}
	}
}
