// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/compat/compattest"
	"github.com/vecql/vecql/cqltest"
)

const schema = compattest.Schema

var newCluster = compattest.NewCluster

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
