// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/tablet"
)

// Leaders of tablets. In a strongly consistent keyspace of ScyllaDB, which has the option consistency = 'global', each
// tablet is a Raft group. Its leader runs all writes and all reads except reads at ONE and LOCAL_ONE; another node
// forwards them to the leader. With TABLETS_ROUTING_V2 the leader is the first replica of the tablet (scylladb
// docs/dev/tablets-routing-v2.md). The plan of a request therefore begins with the leader, remote or not: a nearer
// replica would only add a hop (scylladb/python-driver pull request 913, cassandra/policies.py).
//
// A request to another keyspace pays for the comparison of topology.leaders, which is nil without such keyspaces.

// setLeader makes the leader of t the first node of the plan, unless any replica serves the request, or requests may
// not go to the leader. A tablet of version 1 of the extension, which has no version, lists its replicas in any order.
func (p *queryPlan) setLeader(t *tablet.Tablet, target *planTarget) {
	if t.Version == 0 || !p.topo.leaders[target.keyspace] ||
		target.consistency == cql.One || target.consistency == cql.LocalOne {
		return
	}
	leader := int32(p.topo.indexOf(t.Replicas[0].Host))
	for i := range p.tabletCount {
		if p.tablet[i].node == leader {
			p.leader = int8(i + 1)
		}
	}
}

// lead returns the leader. A leader that lags comes first too, because the other replicas would wait for the leader.
func (p *queryPlan) lead() candidate {
	p.led = true
	i := int(p.leader) - 1
	return candidate{node: p.replica(i), shard: p.tablet[i].shard}
}

// isLeader reports whether n is the leader that comes first.
func (p *queryPlan) isLeader(n *node) bool { return p.leader > 0 && p.replica(int(p.leader)-1) == n }
