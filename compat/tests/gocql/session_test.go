// SPDX-License-Identifier: Apache-2.0

// Package gocql_test holds the tests of what the APIs have alike. go test runs them with compat/gocql, with
// -modfile=compat_fork.mod -tags=fork with compat/scyllagocql, with -modfile=compat_v2.mod -tags=v2 with
// compat/gocqlv2. Files with the tag !v2 hold what v1.7 and the fork alone have.
package gocql_test

import (
	"errors"
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/compat/compattest"
	"github.com/vecql/vecql/cqltest"
)

var (
	newCluster = compattest.NewCluster
	fail       = compattest.Fail
)

type observer = compattest.Observer[gocql.ObservedQuery, gocql.ObservedBatch]

// newSession opens a session in the keyspace shop.
func newSession(t *testing.T, c *cqltest.Cluster, change ...func(*gocql.ClusterConfig)) *gocql.Session {
	t.Helper()
	cfg := gocql.NewCluster(c.Hosts()...)
	cfg.Keyspace = "shop"
	for _, f := range change {
		f(cfg)
	}
	return compattest.Open(t, cfg.CreateSession)
}

// run executes a statement or fails the test.
func run(t *testing.T, s *gocql.Session, stmt string, values ...any) {
	t.Helper()
	compattest.NoError(t, stmt, s.Query(stmt, values...).Exec())
}

// codeOf returns the code of an error of a server, -1 for another error.
func codeOf(err error) int {
	var v1 interface{ Code() int }
	var fork interface{ GetCode() int }
	switch {
	case errors.As(err, &v1):
		return v1.Code()
	case errors.As(err, &fork):
		return fork.GetCode()
	}
	return -1
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

// mapRow returns the row of an item by MapScan.
func mapRow(t *testing.T, s *gocql.Session, m map[string]any, id int) map[string]any {
	t.Helper()
	if err := s.Query("SELECT * FROM items WHERE id = ?", id).MapScan(m); err != nil {
		t.Fatal(err)
	}
	return m
}
