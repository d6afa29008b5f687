// SPDX-License-Identifier: Apache-2.0

//go:build !fork && !v2

package gocql_test

import (
	"testing"

	"github.com/gocql/gocql"
	"github.com/hailocab/go-hostpool"
	"github.com/vecql/vecql/cqltest"
)

// TestHostPool: the pool avoids a node that fails.
func TestHostPool(t *testing.T) {
	c := newCluster(t, cqltest.Config{Network: cqltest.Addresses})
	pool := hostpool.New(nil)
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.Port = int(c.Node(0).Addr().Port())
		cfg.PoolConfig.HostSelectionPolicy = gocql.HostPoolHostPolicy(pool)
	})
	if hosts := pool.Hosts(); len(hosts) != 3 {
		t.Fatal(hosts)
	}
	seen := map[string]int{}
	for range 12 {
		it := s.Query("SELECT id FROM items").Iter()
		seen[it.Host().ConnectAddress().String()]++
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 3 {
		t.Error("not all nodes are used:", seen)
	}
	bad := c.Node(1)
	c.Inject(cqltest.Fault{Node: bad, Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	failures := 0
	for range 12 {
		if s.Query("SELECT id FROM items").Exec() != nil {
			failures++
		}
	}
	if failures != 1 {
		t.Error("a node that failed is not asked again before its wait has ended:", failures)
	}
}
