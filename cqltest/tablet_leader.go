// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bytes"
	"slices"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// Leaders of tablets: the emulation of ScyllaDB's strongly consistent keyspaces, which have the option
// consistency = 'global' (ScyllaDB's docs/dev/tablets-routing-v2.md). A node that is not the leader forwards requests
// to the leader. Here the nodes share their data, so that a forwarded request is only counted.

// putLeaderFirst sorts the replicas of a tablet and shifts them so that the leader is the first one. A down node leads
// no tablet while another replica is up.
func (c *Cluster) putLeaderFirst(replicas []TabletReplica, seed uint64) {
	slices.SortFunc(replicas, func(a, b TabletReplica) int { return bytes.Compare(a.Node.id[:], b.Node.id[:]) })
	count := uint64(len(replicas))
	if count == 0 {
		return
	}
	first := (seed>>32 + c.tablets.leaders.Load()) % count
	for k := range count {
		if at := (first + k) % count; replicas[at].Node.IsUp() {
			first = at
			break
		}
	}
	leaderFirst := slices.Concat(replicas[first:], replicas[:first])
	copy(replicas, leaderFirst)
}

// MoveLeaders makes another replica of each tablet of the strongly consistent keyspaces its leader, as an election
// does.
func (c *Cluster) MoveLeaders() { c.tablets.leaders.Add(1) }

// countLeader counts a request for one partition of a strongly consistent table by whether it has reached the leader.
// Reads at ONE and LOCAL_ONE are not counted, because every replica answers them.
func (req *request) countLeader() {
	cl := req.params.Consistency
	if len(req.touches) == 0 || req.touches[0].all || cl == clOne || cl == clLocalOne {
		return
	}
	c, t := req.conn.cluster, req.touches[0]
	p := c.placement(t.table.Keyspace)
	if p == nil || !p.leaders {
		return
	}
	stats := &req.conn.node.stats
	if replicas := c.tabletOf(p, t.table, t.token).Replicas; len(replicas) > 0 && replicas[0].Node == req.conn.node {
		stats.onLeader.Add(1)
	} else {
		stats.forwarded.Add(1)
	}
}

// checkStrong returns the error of a level that a strongly consistent table does not allow (ScyllaDB's
// cql3/statements/strong_consistency/select_statement.cc and modification_statement.cc).
func (c *Cluster) checkStrong(s *engine.Statement, t touched, cl uint16) *Error {
	if p := c.placement(t.table.Keyspace); p == nil || !p.leaders || cl == clQuorum || cl == clLocalQuorum {
		return nil
	}
	switch {
	case s.Kind != engine.StatementSelect:
		return invalid("Strongly consistent writes must use QUORUM/LOCAL_QUORUM consistency level")
	case cl != clOne && cl != clLocalOne:
		return invalid("Strongly consistent reads must use QUORUM/LOCAL_QUORUM or ONE/LOCAL_ONE consistency level")
	}
	return nil
}
