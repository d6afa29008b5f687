// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestHostOfASession has the columns of the system tables.
func TestHostOfASession(t *testing.T) {
	c := newCluster(t, cqltest.Config{Version: "4.1.3"})
	s := newSession(t, c)
	h := s.Query("SELECT id FROM items").Iter().Host()
	if h.HostID() == "" || h.DataCenter() != "datacenter1" || h.Rack() != "rack1" || h.ClusterName() != "cqltest" || h.Partitioner() == "" ||
		len(h.Tokens()) != 16 || h.State() != gocql.NodeUp || h.State().String() != "UP" || !h.IsUp() || h.Port() == 0 ||
		h.RPCAddress() == nil {
		t.Error(h)
	}
	if v := h.Version(); v.String() != "v4.1.3" || !v.AtLeast(4, 1, 3) || v.AtLeast(4, 1, 4) || !v.Before(4, 2, 0) || !v.Before(5, 0, 0) || v.Before(3, 11, 9) {
		t.Error(v)
	}
}

// TestKindOfAColumnIsDecoded from system_schema.columns.
func TestKindOfAColumnIsDecoded(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	var kind gocql.ColumnKind
	q := "SELECT kind FROM system_schema.columns WHERE keyspace_name = 'shop' AND table_name = 'items' AND column_name = 'id'"
	if err := s.Query(q).Scan(&kind); err != nil || kind != gocql.ColumnPartitionKey {
		t.Fatal(kind, err)
	}
	for text, want := range map[string]gocql.ColumnKind{
		"clustering": gocql.ColumnClusteringKey, "clustering_key": gocql.ColumnClusteringKey, "regular": gocql.ColumnRegular,
		"compact_value": gocql.ColumnCompact, "static": gocql.ColumnStatic, "partition_key": gocql.ColumnPartitionKey,
	} {
		if err := kind.UnmarshalCQL(native(gocql.TypeVarchar), []byte(text)); err != nil || kind != want {
			t.Error(text, kind, err)
		}
	}
	if err := kind.UnmarshalCQL(native(gocql.TypeVarchar), []byte("compact")); err == nil {
		t.Error("no error")
	}
}

// TestUUIDIsParsed with dashes between any two bytes.
func TestUUIDIsParsed(t *testing.T) {
	want := gocql.UUID{0xb4, 0xf0, 0, 0x40, 0x9c, 0xe5, 0x11, 0xe0, 0xb5, 0x44, 0, 0x16, 0xce, 0xd2, 0xb0, 0x46}
	for _, text := range []string{"b4f000409ce511e0b5440016ced2b046", "b4f00040-9ce5-11e0-b544-0016ced2b046", "B4F00040-9CE511E0B5440016CE-D2B046"} {
		if u, err := gocql.ParseUUID(text); err != nil || u != want {
			t.Error(u, err)
		}
	}
	for _, text := range []string{"", "b4f00040-9ce5-11e0-b544-0016ced2b04", "b4f000409-ce5-11e0-b544-0016ced2b046", "x4f000409ce511e0b5440016ced2b046"} {
		if u, err := gocql.ParseUUID(text); err == nil {
			t.Error(text, u)
		}
	}
}
