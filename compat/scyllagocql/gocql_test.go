// SPDX-License-Identifier: Apache-2.0

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
	var e interface{ GetCode() int }
	if !errors.As(err, &e) {
		return -1
	}
	return e.GetCode()
}
