// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// schema is the schema of the tests.
const schema = `
	CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
	CREATE TYPE shop.address (street text, number int);
	CREATE TABLE shop.items (id int PRIMARY KEY, name text, price bigint, tags list<text>, added timestamp, node inet,
		pair tuple<int, text>, home frozen<address>, counts map<text, int>, u uuid, data blob)`

// newCluster starts a cluster with the schema.
func newCluster(t *testing.T, cfg cqltest.Config) *cqltest.Cluster {
	t.Helper()
	c := cqltest.New(t, cfg)
	if err := c.Exec(schema); err != nil {
		t.Fatal(err)
	}
	return c
}

// newSession opens a session in the keyspace shop.
func newSession(t *testing.T, c *cqltest.Cluster, change ...func(*gocql.ClusterConfig)) *gocql.Session {
	t.Helper()
	cfg := gocql.NewCluster(c.Hosts()...)
	cfg.Keyspace = "shop"
	for _, f := range change {
		f(cfg)
	}
	s, err := cfg.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestProgram is a program as users of gocql write it.
func TestProgram(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	if err := s.Query("INSERT INTO items (id, name, price, tags) VALUES (?, ?, ?, ?)", 1, "lamp", int64(7), []string{"a"}).Exec(); err != nil {
		t.Fatal(err)
	}
	var name string
	var price int64
	if err := s.Query("SELECT name, price FROM items WHERE id = ?", 1).Consistency(gocql.One).Scan(&name, &price); err != nil || name != "lamp" || price != 7 {
		t.Fatal(name, price, err)
	}
	if err := s.Query("SELECT name FROM items WHERE id = ?", 2).Scan(&name); err != gocql.ErrNotFound {
		t.Fatal(err)
	}
	it := s.Query("SELECT id, name FROM items").Iter()
	var id int
	for it.Scan(&id, &name) {
		if id != 1 || name != "lamp" {
			t.Error(id, name)
		}
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
}

// run executes a statement or fails the test.
func run(t *testing.T, s *gocql.Session, stmt string, values ...any) {
	t.Helper()
	if err := s.Query(stmt, values...).Exec(); err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
}

// mapRow returns the row of an item by MapScan.
func mapRow(t *testing.T, s *gocql.Session, m map[string]any, id int) map[string]any {
	t.Helper()
	if err := s.Query("SELECT * FROM items WHERE id = ?", id).MapScan(m); err != nil {
		t.Fatal(err)
	}
	return m
}
