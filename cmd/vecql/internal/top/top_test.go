// SPDX-License-Identifier: Apache-2.0

package top

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// TestSince requires rates of the time between two samples of each node, and none for a node that did not answer or
// that has started again.
func TestSince(t *testing.T) {
	began := time.Unix(1e9, 0)
	items := func(count int64) map[string]int64 { return map[string]int64{"shop.items": count, "shop.idle": 7} }
	before := &Sample{[]node{
		{address: "a", at: began, completed: 100, reads: items(10), writes: items(0)},
		{address: "b", at: began, completed: 100, reads: items(20), writes: items(0)},
		{address: "c", at: began, err: errors.New("closed")},
	}}
	lost := errors.New("no answer")
	now := &Sample{[]node{
		{address: "b", at: began.Add(4 * time.Second), completed: 50, reads: items(28), writes: items(8)},
		{
			address: "a", at: began.Add(2 * time.Second), completed: 400, reads: items(20),
			answer: time.Second, clients: 3, tasks: []string{"cleanup"},
		},
		{address: "c", at: began, completed: 9, reads: items(5)},
		{address: "d", err: lost},
	}}
	r := now.Since(before)
	require.Equal(t, []Node{
		{Address: "b"},
		{Address: "a", Answer: time.Second, Requests: 150, Clients: 3, Tasks: []string{"cleanup"}},
		{Address: "c"},
		{Address: "d", Err: lost},
	}, r.Nodes)
	require.Equal(t, []Table{{Name: "shop.items", Reads: 5 + 2, Writes: 2}}, r.Tables)
}

// TestSinceSortsTables requires the busiest tables first, then the order of their names.
func TestSinceSortsTables(t *testing.T) {
	began := time.Unix(1e9, 0)
	before := &Sample{[]node{{address: "a", at: began}}}
	now := &Sample{[]node{{
		address: "a", at: began.Add(time.Second),
		reads:  map[string]int64{"a.low": 1, "d.equal": 3, "b.equal": 2, "e.equal": 5},
		writes: map[string]int64{"c.high": 9, "d.equal": 2, "b.equal": 3},
	}}}
	var names []string
	for _, table := range now.Since(before).Tables {
		names = append(names, table.Name)
	}
	require.Equal(t, []string{"c.high", "b.equal", "d.equal", "e.equal", "a.low"}, names)
}

// TestTake requires the counters of each node, and the error of a node. The tables of requests, which cqltest has not,
// are tables of the test: their statements are prepared in place of the ones on system_views.
func TestTake(t *testing.T) {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 2})
	require.NoError(t, err)
	defer cluster.Close()
	require.NoError(t, cluster.Exec(`CREATE KEYSPACE views WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 2};
		CREATE TABLE views.thread_pools (name text PRIMARY KEY, active_tasks int, pending_tasks int, blocked_tasks bigint, completed_tasks bigint);
		CREATE TABLE views.sstable_tasks (task_id int PRIMARY KEY, kind text);
		CREATE TABLE views.coordinator_read_latency (keyspace_name text, table_name text, count bigint, PRIMARY KEY (keyspace_name, table_name));
		CREATE TABLE views.coordinator_write_latency (keyspace_name text, table_name text, count bigint, PRIMARY KEY (keyspace_name, table_name));
		INSERT INTO views.thread_pools (name, active_tasks, pending_tasks, blocked_tasks, completed_tasks) VALUES ('Native-Transport-Requests', 1, 2, 3, 100);
		INSERT INTO views.thread_pools (name, active_tasks, pending_tasks, blocked_tasks, completed_tasks) VALUES ('CompactionExecutor', 10, 20, 30, 7);
		INSERT INTO views.thread_pools (name, active_tasks, pending_tasks, blocked_tasks, completed_tasks) VALUES ('ReadStage', 100, 200, 300, 8);
		INSERT INTO views.sstable_tasks (task_id, kind) VALUES (1, 'compaction');
		INSERT INTO views.coordinator_read_latency (keyspace_name, table_name, count) VALUES ('shop', 'items', 5);
		INSERT INTO views.coordinator_read_latency (keyspace_name, table_name, count) VALUES ('other', 'items', 6);
		INSERT INTO views.coordinator_write_latency (keyspace_name, table_name, count) VALUES ('shop', 'items', 7)`))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	const counts = "keyspace_name, table_name, count"
	for table, columns := range map[string]string{
		"thread_pools": "name, active_tasks, pending_tasks, blocked_tasks, completed_tasks", "sstable_tasks": "kind",
		"coordinator_read_latency": counts, "coordinator_write_latency": counts,
	} {
		var prepared atomic.Value
		rule := cluster.Inject(cqltest.Fault{Op: cqltest.OpPrepare, Statement: "views." + table, Edit: func(a *cqltest.Answer) {
			prepared.Store(bytes.Clone(a.Body))
		}})
		for _, host := range session.GetHosts() {
			require.NoError(t, session.Query("SELECT "+columns+" FROM views."+table).HostID(host.ID).Exec(t.Context()))
		}
		rule.Remove()
		cluster.Inject(cqltest.Fault{
			Op: cqltest.OpPrepare, Statement: "system_views." + table,
			Answer: &cqltest.Answer{Op: cqltest.OpResult, Body: prepared.Load().([]byte)},
		})
	}
	s, err := Take(t.Context(), session)
	require.NoError(t, err)
	require.Len(t, s.nodes, 2)
	for _, n := range s.nodes {
		require.NoError(t, n.err)
		require.Contains(t, cluster.Hosts(), n.address)
		require.Positive(t, n.clients)
		require.Positive(t, n.answer)
		require.Equal(t, []int64{111, 222, 333, 100}, []int64{n.active, n.pending, n.blocked, n.completed})
		require.Equal(t, []string{"compaction"}, n.tasks)
		require.Equal(t, map[string]int64{"shop.items": 5, "other.items": 6}, n.reads)
		require.Equal(t, map[string]int64{"shop.items": 7}, n.writes)
	}

	lost := cluster.Nodes()[1]
	cluster.Inject(cqltest.Fault{Node: lost, Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeServer, Message: "lost"}})
	s, err = Take(t.Context(), session)
	require.NoError(t, err)
	for _, n := range s.nodes {
		require.Equal(t, n.address == lost.Addr().String(), n.err != nil, "%s: %v", n.address, n.err)
	}
}

// TestTakeWithoutTables requires ErrNoTables for a server that has no such tables.
func TestTakeWithoutTables(t *testing.T) {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 2, Scylla: &cqltest.Scylla{}})
	require.NoError(t, err)
	defer cluster.Close()
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	_, err = Take(t.Context(), session)
	require.ErrorIs(t, err, ErrNoTables)
}
