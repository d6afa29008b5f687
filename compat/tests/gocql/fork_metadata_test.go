// SPDX-License-Identifier: Apache-2.0

//go:build fork

package gocql_test

import (
	"errors"
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
		items.PartitionKey[0] != items.Columns["id"] || items.OrderedColumns[0] != "id" {
		t.Fatalf("%+v %+v", k, items)
	}
	id, home := items.Columns["id"], items.Columns["home"]
	if id.Kind != gocql.ColumnPartitionKey || id.Kind.String() != "partition_key" || id.Type != "int" || id.ComponentIndex != 0 ||
		home.Type != "frozen<address>" || home.ComponentIndex != -1 || home.ClusteringOrder != "none" {
		t.Errorf("%+v %+v", id, home)
	}
	if a := k.Types["address"]; a == nil || len(a.FieldNames) != 2 || a.FieldTypes[1] != "int" || len(k.Views) != 0 {
		t.Errorf("%+v", a)
	}
	clone := k.Clone()
	delete(clone.Tables, "items")
	if again, err := s.KeyspaceMetadata("shop"); err != nil || again != k || k.Tables["items"] == nil {
		t.Error("another value", err)
	}
	run(t, s, "CREATE TABLE more (id int PRIMARY KEY)")
	again, err := s.KeyspaceMetadata("shop")
	if err != nil || again.Tables["more"] == nil || !again.Tables["items"].Equals(items) || again.Tables["more"].Equals(items) {
		t.Error("the table is missing", err)
	}
	if more, err := s.TableMetadata("shop", "more"); err != nil || !more.Equals(again.Tables["more"]) {
		t.Error(more, err)
	}
	if _, err := s.TableMetadata("shop", "none"); !errors.Is(err, gocql.ErrNotFound) {
		t.Error(err)
	}
	if _, err := s.TableMetadata("shop", ""); err != gocql.ErrNoTable {
		t.Error(err)
	}
}
