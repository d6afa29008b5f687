// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/tablet"
)

// Query plans of strongly consistent tables, by the rules of ScyllaDB's own drivers: scylladb
// docs/dev/tablets-routing-v2.md, scylladb/python-driver pull request 913 (cassandra/policies.py,
// TokenAwarePolicy.make_query_plan), and
// scylladb/scylla-rust-driver pull request 1788 (scylla/src/policies/load_balancing/default.rs).

// strongTablet has replicas on nodes 7, 4 and 1 of threeByThree; node 7 leads. Version 2 of the extension has sent it.
func strongTablet() *tablet.Tablet {
	return &tablet.Tablet{First: -5, Last: 5, Version: 0xABC, Replicas: []tablet.Replica{
		{Host: cql.UUID{15: 7}, Shard: 3}, {Host: cql.UUID{15: 4}, Shard: 1}, {Host: cql.UUID{15: 1}, Shard: 2},
	}}
}

// strongTopology is threeByThree with that tablet in the keyspace ks, which is strongly consistent.
func strongTopology(t testing.TB, policy HostSelectionPolicy, hint *tablet.Tablet) *topology {
	topo := threeByThree(t, policy)
	topo.leaders = map[string]bool{"ks": true}
	topo.routing.tablets.Add("ks", "t", hint)
	return topo
}

// firstNodes returns the ids of the first nodes of many plans, sorted.
func firstNodes(topo *topology, target planTarget) (ids []byte) {
	for i := range uint32(60) {
		target.start = i * startStep
		id := planNodes(topo.plan(target))[0].info.ID[15]
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// QUORUM and above begins at the leader, a conditional statement too; the other replicas follow, then the other nodes.
// The leader outranks the distance: pull request 913, docs/scylla-specific.rst, "the leader does outrank distance".
func TestLeaderComesFirst(t *testing.T) {
	for name, policy := range map[string]HostSelectionPolicy{
		"near":              nil,
		"in order":          TokenAwarePolicy{KeepOrder: true},
		"remote":            TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "b"}},
		"of another rack":   TokenAwarePolicy{Fallback: RackAwarePolicy{DataCenter: "c", Rack: "r2"}},
		"replicas first":    TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "b"}, RemoteReplicas: true},
		"busy and avoiding": TokenAwarePolicy{MaxInFlight: 5},
	} {
		t.Run(name, func(t *testing.T) {
			topo := strongTopology(t, policy, strongTablet())
			withLoad(t, topo, map[byte]int{7: 9})
			for _, consistency := range []cql.Consistency{cql.Quorum, cql.LocalQuorum, cql.All, cql.Serial} {
				target := onToken(0)
				target.consistency, target.lwt = consistency, consistency.IsSerial()
				require.Equal(t, []byte{7}, firstNodes(topo, target), consistency)
			}
			for i := range uint32(60) {
				target := onToken(i * startStep)
				target.consistency = cql.Quorum
				var got []int
				p := topo.plan(target)
				first := p.next()
				require.EqualValues(t, 3, first.shard, "the shard of the leader's replica")
				for at := first; at.node != nil; at = p.next() {
					got = append(got, int(at.node.info.ID[15]))
				}
				require.ElementsMatch(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9}, got, "each node once")
				if name == "near" {
					require.ElementsMatch(t, []int{4, 1}, got[1:3], "then the other replicas")
				}
			}
		})
	}
}

// Reads at ONE and LOCAL_ONE are spread over the replicas: pull request 913, cassandra/policies.py,
// "effective_cl not in (ConsistencyLevel.ONE, ConsistencyLevel.LOCAL_ONE)".
func TestLeaderIsNotPreferredAtOne(t *testing.T) {
	topo := strongTopology(t, nil, strongTablet())
	for _, consistency := range []cql.Consistency{cql.One, cql.LocalOne} {
		target := onToken(0)
		target.consistency = consistency
		require.Equal(t, []byte{1, 4, 7}, firstNodes(topo, target), consistency)
	}
}

// Only keyspaces whose option consistency is 'global' have leaders: pull request 913, "_ConsistencyMode.GLOBAL".
func TestLeaderOnlyInStrongKeyspaces(t *testing.T) {
	topo := strongTopology(t, nil, strongTablet())
	topo.leaders = map[string]bool{"other": true}
	target := onToken(0)
	target.consistency = cql.Quorum
	require.Equal(t, []byte{1, 4, 7}, firstNodes(topo, target))
}

// The replicas of a tablet from version 1 of the extension are in no order: pull request 913, "a versionless tablet
// (...) must not be treated as a leader hint".
func TestLeaderNeedsATabletWithAVersion(t *testing.T) {
	hint := strongTablet()
	hint.Version = 0
	topo := strongTopology(t, nil, hint)
	target := onToken(0)
	target.consistency = cql.Quorum
	require.Equal(t, []byte{1, 4, 7}, firstNodes(topo, target))
}

// A leader that the policy or the filter excludes is not asked; the nearest replica forwards the request: pull request
// 913, "never front-run a host the child policy would exclude".
func TestLeaderIsNotAskedWhereThePolicyExcludesIt(t *testing.T) {
	policy := TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "b", NoFailover: true}}
	topo := strongTopology(t, policy, strongTablet())
	target := onToken(0)
	target.consistency = cql.Quorum
	require.Equal(t, []byte{4}, firstNodes(topo, target))
}

// TestLeaderIsPassedOnARetry requires that the plan of a retry begins with a follower after the leader was tried.
func TestLeaderIsPassedOnARetry(t *testing.T) {
	topo := strongTopology(t, nil, strongTablet())
	for i := range uint32(60) {
		target := onToken(i * startStep)
		target.consistency = cql.Quorum
		p := topo.plan(target)
		leader := p.next().node
		again := topo.plan(target)
		again.pass(leader)
		rest := planNodes(again)
		require.Len(t, rest, 8)
		require.NotContains(t, rest, leader)
		require.Contains(t, []byte{1, 4}, rest[0].info.ID[15])
	}
}

// TestLeaderPlanAllocatesNothing holds the cost of a plan, with the leader and without.
func TestLeaderPlanAllocatesNothing(t *testing.T) {
	topo := strongTopology(t, TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "b"}}, strongTablet())
	target, leaders := onToken(0), 0
	target.consistency = cql.Quorum
	require.Zero(t, testing.AllocsPerRun(100, func() {
		p := topo.plan(target)
		if p.next().node.info.ID[15] == 7 {
			leaders++
		}
	}))
	require.Equal(t, 101, leaders)
}
