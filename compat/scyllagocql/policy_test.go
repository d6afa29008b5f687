// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"testing"

	"github.com/gocql/gocql"
	"github.com/gocql/gocql/hostpolicy"
	"github.com/hailocab/go-hostpool"
	"github.com/vecql/vecql/cqltest"
)

// farAway is a cluster with a node in each of two data centers.
var farAway = cqltest.Config{DataCenters: []cqltest.DataCenter{{Name: "datacenter1", Nodes: 1}, {Name: "far", Nodes: 1}}}

// TestDataCenterWithoutFailover: nodes of other data centers are not asked. A request without a policy has three
// retries.
func TestDataCenterWithoutFailover(t *testing.T) {
	c := newCluster(t, farAway)
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.Consistency = gocql.One
		cfg.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(
			gocql.DCAwareRoundRobinPolicy("far", gocql.HostPolicyOptionDisableDCFailover))
	})
	for range 4 {
		if dc := s.Query("SELECT key FROM system.local").Iter().Host().DataCenter(); dc != "far" {
			t.Error(dc)
		}
	}
	rule := c.Inject(cqltest.Fault{Node: c.Node(1), Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	if err := s.Query("SELECT key FROM system.local").Exec(); codeOf(err) != gocql.ErrCodeOverloaded || rule.Hits() != 4 {
		t.Error(err, rule.Hits())
	}
}

// TestPolicyWithAnUnknownDataCenter cannot serve a session.
func TestPolicyWithAnUnknownDataCenter(t *testing.T) {
	c := newCluster(t, farAway)
	cfg := gocql.NewCluster(c.Hosts()...)
	cfg.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.DCAwareRoundRobinPolicy("nowhere"))
	if s, err := cfg.CreateSession(); err == nil {
		s.Close()
		t.Error("no error")
	}
}

// TestHostPool: the pool selects all nodes.
func TestHostPool(t *testing.T) {
	c := newCluster(t, cqltest.Config{Network: cqltest.Addresses})
	pool := hostpool.New(nil)
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.Port = int(c.Node(0).Addr().Port())
		cfg.PoolConfig.HostSelectionPolicy = hostpolicy.HostPool(pool)
	})
	seen := map[string]int{}
	for range 12 {
		it := s.Query("SELECT id FROM items").Iter()
		seen[it.Host().HostID()]++
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 3 || len(pool.Hosts()) != 3 {
		t.Error("not all nodes are used:", seen)
	}
}

// TestPoliciesWithoutASession pick from the nodes that they were told, with nodes that the program made.
func TestPoliciesWithoutASession(t *testing.T) {
	p := gocql.TokenAwareHostPolicy(gocql.RackAwareRoundRobinPolicy("dc", "r"), gocql.DontShuffleReplicas())
	for _, rack := range []string{"x", "r"} {
		h := gocql.HostInfoBuilder{HostId: gocql.TimeUUID().String(), DataCenter: "dc", Rack: rack, ConnectAddress: []byte{10, 0, 0, 1}}.Build()
		p.AddHost(&h)
	}
	next := p.Pick(nil)
	if first, second := next(), next(); first.Info().Rack() != "r" || second.Info().Rack() != "x" || first.Token() != nil || next() != nil {
		t.Error(first.Info(), second.Info())
	}
}
