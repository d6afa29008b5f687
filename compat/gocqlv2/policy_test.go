// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/vecql/vecql/cqltest"
)

// Host selection policies: the API's, and the programs'.

// recorder is a policy of a program that wraps one of the API and records its calls.
type recorder struct {
	gocql.HostSelectionPolicy

	mu         sync.Mutex
	session    *gocql.Session
	added      []string
	partition  string
	statements []string
	keys       [][]byte
	marks      []error
	keyspaces  []gocql.KeyspaceUpdateEvent
	only       string // the id of the only host to select; empty means all
}

func (r *recorder) Init(s *gocql.Session) { r.session = s }

func (r *recorder) SetPartitioner(p string) {
	r.partition = p
	r.HostSelectionPolicy.SetPartitioner(p)
}

func (r *recorder) AddHost(h *gocql.HostInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.added = append(r.added, h.HostID())
	r.HostSelectionPolicy.AddHost(h)
}

func (r *recorder) KeyspaceChanged(e gocql.KeyspaceUpdateEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keyspaces = append(r.keyspaces, e)
}

func (r *recorder) Pick(stmt gocql.ExecutableStatement) gocql.NextHost {
	key, _ := stmt.GetRoutingKey()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch q := stmt.Statement().(type) {
	case *gocql.Query:
		r.statements = append(r.statements, q.Statement())
	case *gocql.Batch:
		r.statements = append(r.statements, "batch "+q.Entries[0].Stmt)
	}
	r.keys = append(r.keys, key)
	next := r.HostSelectionPolicy.Pick(stmt)
	return func() gocql.SelectedHost {
		for h := next(); h != nil; h = next() {
			if r.only == "" || h.Info().HostID() == r.only {
				return marked{h, r}
			}
		}
		return nil
	}
}

type marked struct {
	gocql.SelectedHost

	r *recorder
}

func (m marked) Mark(err error) {
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	m.r.marks = append(m.r.marks, err)
}

func TestPolicyOfTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster, cfg := start(t, 3)
		r := &recorder{HostSelectionPolicy: gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())}
		cfg.PoolConfig.HostSelectionPolicy = r
		s := connect(t, cfg)
		require.Same(t, s, r.session)
		require.Contains(t, r.partition, "Murmur3Partitioner")
		ids := make([]string, 0, 3)
		for _, h := range s.GetHosts() {
			ids = append(ids, h.HostID())
		}
		require.ElementsMatch(t, ids, r.added)
		require.Contains(t, r.keyspaces, gocql.KeyspaceUpdateEvent{Keyspace: "system", Change: "CREATED"}) // at the start

		require.NoError(t, s.Query(insert, 1).Exec())
		require.NoError(t, s.Batch(gocql.LoggedBatch).Query(insert, 2).Exec())
		last := len(r.statements) - 1
		require.Equal(t, insert, r.statements[0])
		require.Equal(t, "batch "+insert, r.statements[last])
		require.Equal(t, []byte{0, 0, 0, 2}, r.keys[last])
		require.NoError(t, r.marks[last])

		for _, id := range ids {
			r.only = id
			it := s.Query(insert, 3).Iter()
			require.NoError(t, it.Close())
			require.Equal(t, id, it.Host().HostID())
		}
		cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
		require.Error(t, s.Query(insert, 3).Exec())
		require.IsType(t, &gocql.RequestErrOverloaded{}, r.marks[len(r.marks)-1])
		require.NoError(t, s.Query("CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").Exec())
		require.Eventually(t, func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return slices.Contains(r.keyspaces, gocql.KeyspaceUpdateEvent{Keyspace: "other", Change: "CREATED"})
		}, 10*time.Second, time.Millisecond)
	})
}

// A wrapped token-aware policy selects a replica first.
func TestTokenAwareInsideAPolicy(t *testing.T) {
	var onReplica, requests int
	var mu sync.Mutex
	cluster, cfg := start(t, 3)
	cluster.Observe(cqltest.Fault{Op: cqltest.OpExecute, Match: func(q cqltest.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if q.Prepared {
			requests++
		}
		if q.OnReplica {
			onReplica++
		}
		return true
	}})
	cfg.PoolConfig.HostSelectionPolicy = &recorder{HostSelectionPolicy: gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())}
	s := connect(t, cfg)
	for i := range 30 {
		require.NoError(t, s.Query(insert, i).Exec())
	}
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, 30, requests)
	require.Equal(t, 30, onReplica)
}

// hostIn returns a node that no session made.
func hostIn(t *testing.T, addr, dc, rack string) *gocql.HostInfo {
	t.Helper()
	h, err := gocql.NewTestHostInfoFromRow(map[string]any{
		"rpc_address": net.ParseIP(addr), "data_center": dc, "rack": rack,
		"host_id": gocql.MustRandomUUID(), "release_version": "4.1.3", "tokens": []string{"1"},
	})
	require.NoError(t, err)
	return h
}

func TestPoliciesPickTheNearestFirst(t *testing.T) {
	near, rack, far := hostIn(t, "10.0.0.1", "a", "r1"), hostIn(t, "10.0.0.2", "a", "r2"), hostIn(t, "10.0.0.3", "b", "r1")
	for _, c := range []struct {
		policy gocql.HostSelectionPolicy
		first  int // nodes in any order before the others
	}{
		{gocql.RoundRobinHostPolicy(), 3},
		{gocql.DCAwareRoundRobinPolicy("a"), 2},
		{gocql.RackAwareRoundRobinPolicy("a", "r1"), 1},
		{gocql.SingleHostReadyPolicy(gocql.TokenAwareHostPolicy(gocql.RackAwareRoundRobinPolicy("a", "r1"))), 1},
	} {
		for _, h := range []*gocql.HostInfo{far, rack, near, near} {
			c.policy.AddHost(h)
		}
		seen := map[*gocql.HostInfo]int{}
		for range 12 {
			var order []*gocql.HostInfo
			for next := c.policy.Pick(nil); ; {
				h := next()
				if h == nil {
					break
				}
				h.Mark(nil)
				order = append(order, h.Info())
			}
			require.ElementsMatch(t, []*gocql.HostInfo{near, rack, far}, order)
			seen[order[0]]++
		}
		require.Len(t, seen, c.first)
		require.True(t, c.policy.IsLocal(near))
		c.policy.HostDown(near)
		c.policy.RemoveHost(far)
		require.Equal(t, rack, c.policy.Pick(nil)().Info())
	}
	ready := gocql.SingleHostReadyPolicy(gocql.RoundRobinHostPolicy())
	require.False(t, ready.Ready())
	ready.HostUp(near)
	require.True(t, ready.Ready())
}

func TestPoliciesOfTheAPIRouteSessions(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory, DataCenters: []cqltest.DataCenter{
		{Name: "a", Nodes: 2},
		{Name: "b", Nodes: 2},
	}})
	for _, p := range []gocql.HostSelectionPolicy{
		gocql.DCAwareRoundRobinPolicy("b"),
		gocql.TokenAwareHostPolicy(gocql.DCAwareRoundRobinPolicy("b"), gocql.ShuffleReplicas(), gocql.NonLocalReplicasFallback()),
		gocql.ShuffledTokenAwareHostPolicy(gocql.RackAwareRoundRobinPolicy("b", "rack1"), gocql.DoNotShuffleReplicas()),
	} {
		cfg := gocql.NewCluster(cluster.Hosts()...)
		cfg.Dialer, cfg.Consistency = cluster.Dialer(), gocql.LocalOne
		cfg.PoolConfig.HostSelectionPolicy = p
		s := connect(t, cfg)
		for range 6 {
			it := s.Query("SELECT key FROM system.local").Iter()
			require.NoError(t, it.Close())
			require.Equal(t, "b", it.Host().DataCenter())
		}
	}
}
