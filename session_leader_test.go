// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Requests to strongly consistent tables, on nodes that count whether the leader of the tablet was asked first.

const (
	insertStrong = "INSERT INTO ks.t (id, v) VALUES (?, ?)"
	selectStrong = "SELECT v FROM ks.t WHERE id = ?"
	strongKeys   = 40
)

// strongSession returns a cluster with the strongly consistent table ks.t, and a session that knows all its leaders.
func strongSession(t *testing.T) (*cqltest.Cluster, *Session) {
	cluster := cqltest.New(t, cqltest.Config{Scylla: &cqltest.Scylla{Shards: 2, Tablets: 8, TabletsV2: true}})
	require.NoError(t, cluster.Exec(
		`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3} AND consistency = 'global';
		CREATE TABLE ks.t (id bigint PRIMARY KEY, v bigint)`))
	cfg := ClusterConfig{Hosts: cluster.Hosts(), Logger: slog.New(slog.DiscardHandler)}
	cfg.Protocol.ExperimentalTabletsRoutingV2 = true
	s, err := NewSession(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	learnLeaders(t, cluster, s)
	return cluster, s
}

// eachKey calls do for every key and returns what the nodes counted meanwhile.
func eachKey(t *testing.T, cluster *cqltest.Cluster, do func(id int64) error) cqltest.Stats {
	t.Helper()
	cluster.ResetStats()
	for id := range int64(strongKeys) {
		require.NoError(t, do(id))
	}
	return cluster.Stats()
}

func writeStrong(t *testing.T, s *Session) func(id int64) error {
	return func(id int64) error { return s.Query(insertStrong, id, -id).Idempotent(true).Exec(t.Context()) }
}

// learnLeaders writes every key until several rounds in a row brought no hint: one byte of the version of a tablet may
// be right by chance.
func learnLeaders(t *testing.T, cluster *cqltest.Cluster, s *Session) {
	t.Helper()
	quiet := 0
	for rounds := 0; quiet < 6; rounds++ {
		require.Less(t, rounds, 500, "the session does not learn the leaders")
		st := eachKey(t, cluster, writeStrong(t, s))
		if quiet++; st.Forwarded > 0 || st.TabletHints > 0 {
			quiet = 0
		}
	}
}

// TestLeaderIsAskedFirst requires writes, reads, conditional statements and batches at QUORUM and LOCAL_QUORUM to reach
// the leader of their tablet at once (scylladb/python-driver pull request 913, docs/scylla-specific.rst).
func TestLeaderIsAskedFirst(t *testing.T) {
	cluster, s := strongSession(t)
	for _, level := range []cql.Consistency{cql.Quorum, cql.LocalQuorum} {
		for name, do := range map[string]func(id int64) error{
			"write": func(id int64) error { return s.Query(insertStrong, id, -id).Consistency(level).Exec(t.Context()) },
			"read":  func(id int64) error { return s.Query(selectStrong, id).Consistency(level).Exec(t.Context()) },
			"conditional": func(id int64) error {
				return s.Query(insertStrong+" IF NOT EXISTS", id, id).Consistency(level).Exec(t.Context())
			},
			"batch": func(id int64) error {
				return s.Batch(cql.UnloggedBatch).Query(insertStrong, id, -id).Consistency(level).Exec(t.Context())
			},
		} {
			st := eachKey(t, cluster, do)
			require.Equal(t, [2]int{strongKeys, 0}, [2]int{st.OnLeader, st.Forwarded}, "%s at %v", name, level)
		}
	}
	cluster.ResetStats()
	for _, level := range []cql.Consistency{cql.One, cql.LocalOne} {
		for range 10 {
			eachNode := s.Query(selectStrong, 1).Consistency(level)
			require.NoError(t, eachNode.Exec(t.Context()))
		}
	}
	for _, n := range cluster.Nodes() {
		require.Positive(t, n.Stats().OnReplica, "reads at ONE are spread over the replicas")
	}
}

// TestLeaderIsATarget requires EncodedRows.Targets to name the leader alone, so that package bulk sends its rows there.
func TestLeaderIsATarget(t *testing.T) {
	cluster, s := strongSession(t)
	for id := range int64(strongKeys) {
		q := s.Query(insertStrong, id, id)
		route, err := q.Route(t.Context())
		require.NoError(t, err)
		tablet, ok := cluster.Tablet("ks", "t", route.Token)
		require.True(t, ok)
		target := planTarget{keyspace: "ks", table: "t", token: route.Token, hasToken: true, consistency: cql.Quorum, now: time.Now()}
		plan := s.topo.Load().plan(target)
		leader := tablet.Replicas[0]
		require.Equal(t, []Replica{{HostID: leader.Node.HostID(), Shard: leader.Shard}}, plan.appendTargets(nil))
	}
}

// TestLeaderChangesUnderLoad elects other leaders, and kills and restarts the nodes in turn, under writes and reads. No
// request fails, and afterwards every request reaches its leader again.
func TestLeaderChangesUnderLoad(t *testing.T) {
	cluster, s := strongSession(t)
	var wg sync.WaitGroup
	var requests, failed atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for w := range int64(4) {
		wg.Go(func() {
			for i := int64(0); ctx.Err() == nil; i++ {
				id := (i*4 + w) % strongKeys
				err := s.Query(insertStrong, id, -id).Idempotent(true).Exec(t.Context())
				if err == nil {
					err = s.Query(selectStrong, id).Exec(t.Context())
				}
				if requests.Add(2); err != nil {
					failed.Add(1)
					t.Errorf("key %d: %v", id, err)
				}
			}
		})
	}
	awaitMore := func() {
		next := requests.Load() + 400
		require.Eventually(t, func() bool { return requests.Load() > next || failed.Load() > 0 }, time.Minute, time.Millisecond)
	}
	for range 5 {
		cluster.MoveLeaders()
		awaitMore()
	}
	for _, n := range cluster.Nodes() {
		n.Kill()
		awaitMore()
		require.NoError(t, n.Restart())
		require.Eventually(t, func() bool {
			up := s.topo.Load().nodeByID(n.HostID())
			return up != nil && up.pool.isUp()
		}, time.Minute, time.Millisecond)
	}
	stop()
	wg.Wait()
	require.Zero(t, failed.Load(), "of %d requests", requests.Load())
	learnLeaders(t, cluster, s)
	st := eachKey(t, cluster, writeStrong(t, s))
	require.Equal(t, [2]int{strongKeys, 0}, [2]int{st.OnLeader, st.Forwarded})
}

// TestLeadersAreReadOnlyWithTheExtension requires a session without TABLETS_ROUTING_V2 to send no statement about
// leaders (scylladb/python-driver pull request 913, cassandra/metadata.py, _tablets_routing_v2_negotiated), and a
// release without the column or the table to have no leaders.
func TestLeadersAreReadOnlyWithTheExtension(t *testing.T) {
	open := func(v2 bool, fault *cqltest.Error) (*Session, *cqltest.Rule) {
		cluster := cqltest.New(t, cqltest.Config{Scylla: &cqltest.Scylla{Tablets: 8, TabletsV2: true}, Nodes: 1})
		require.NoError(t, cluster.Exec(
			`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1} AND consistency = 'global'`))
		seen := cluster.Observe(cqltest.Fault{Statement: "system_schema.scylla_keyspaces"})
		if fault != nil {
			cluster.Inject(cqltest.Fault{Statement: "system_schema.scylla_keyspaces", Error: fault})
		}
		cfg := ClusterConfig{Hosts: cluster.Hosts(), Logger: slog.New(slog.DiscardHandler)}
		cfg.Protocol.ExperimentalTabletsRoutingV2 = v2
		s, err := NewSession(t.Context(), cfg)
		require.NoError(t, err)
		t.Cleanup(s.Close)
		return s, seen
	}
	s, seen := open(false, nil)
	require.Zero(t, seen.Hits())
	require.Nil(t, s.topo.Load().leaders)
	s, seen = open(true, nil)
	require.Equal(t, 1, seen.Hits())
	require.Equal(t, map[string]bool{"ks": true}, s.topo.Load().leaders)
	for _, text := range []string{"Unrecognized name consistency", "unconfigured table scylla_keyspaces"} {
		s, seen = open(true, &cqltest.Error{Code: cqltest.CodeInvalid, Message: text})
		require.Equal(t, 1, seen.Hits(), text)
		require.Nil(t, s.topo.Load().leaders)
	}
}
