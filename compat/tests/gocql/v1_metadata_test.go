// SPDX-License-Identifier: Apache-2.0

//go:build !fork && !v2

package gocql_test

import (
	"slices"
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestMetadataOfAKeyspace has the shape of this API, and is the same value until the schema changes.
func TestMetadataOfAKeyspace(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	k, err := s.KeyspaceMetadata("shop")
	if err != nil {
		t.Fatal(err)
	}
	items := k.Tables["items"]
	if k.Name != "shop" || k.StrategyOptions["datacenter1"] != "3" || items == nil || len(items.PartitionKey) != 1 ||
		items.PartitionKey[0] != items.Columns["id"] || !slices.IsSorted(items.OrderedColumns) || len(items.OrderedColumns) != 11 {
		t.Fatalf("%+v %+v", k, items)
	}
	id, counts := items.Columns["id"], items.Columns["counts"]
	if id.Kind != gocql.ColumnPartitionKey || id.Kind.String() != "partition_key" || id.Type.Type() != gocql.TypeInt ||
		counts.Type.(gocql.CollectionType).String() != "map(text, int)" {
		t.Errorf("%+v %+v", id, counts)
	}
	if a := k.UserTypes["address"]; a == nil || len(a.FieldNames) != 2 || a.FieldTypes[1].Type() != gocql.TypeInt || k.Views["address"] == nil { //nolint:staticcheck // deprecated names work too
		t.Errorf("%+v", a)
	}
	if again, err := s.KeyspaceMetadata("shop"); err != nil || again != k {
		t.Error("another value", err)
	}
	run(t, s, "CREATE TABLE more (id int PRIMARY KEY)")
	if again, err := s.KeyspaceMetadata("shop"); err != nil || again.Tables["more"] == nil {
		t.Error("the table is missing", err)
	}
}
