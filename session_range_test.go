// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/tablet"
	"github.com/vecql/vecql/internal/wire"
)

// Token ranges of a table.

// rangeCluster returns a cluster with the table ks.t (id bigint) and a session on it.
func rangeCluster(t *testing.T, cfg cqltest.Config) (*cqltest.Cluster, *Session) {
	cluster := cqltest.New(t, cfg)
	require.NoError(t, cluster.Exec(
		`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 2};
		CREATE TABLE ks.t (id bigint PRIMARY KEY)`))
	s, err := NewSession(t.Context(), ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return cluster, s
}

func TestTokenRangesOfRing(t *testing.T) {
	cluster, s := rangeCluster(t, cqltest.Config{})
	ranges, err := s.TokenRanges(t.Context(), "ks", "t")
	require.NoError(t, err)
	requireWholeRing(t, ranges)
	require.Len(t, ranges, 3*16+1, "the range that wraps around is split")
	for _, r := range ranges {
		requireReplicas(t, cluster.Replicas("ks", "t", r.End), r)
	}
	_, err = s.TokenRanges(t.Context(), "ks", "none")
	require.ErrorIs(t, err, ErrNoTable)
	_, err = s.TokenRanges(t.Context(), "none", "t")
	require.ErrorIs(t, err, ErrKeyspaceDoesNotExist)
}

func requireReplicas(t *testing.T, nodes []*cqltest.Node, r TokenRange) {
	t.Helper()
	require.Len(t, r.Replicas, len(nodes))
	for _, n := range nodes {
		require.True(t, slices.ContainsFunc(r.Replicas, func(r Replica) bool { return r.HostID == n.HostID() }), "%v in %v", n, r)
	}
}

// TestTokenRangesOfTablets reads the ranges of a table whose tablets are known from responses only.
func TestTokenRangesOfTablets(t *testing.T) {
	cluster, s := rangeCluster(t, cqltest.Config{Scylla: &cqltest.Scylla{Shards: 4, Tablets: 8}})
	require.NoError(t, s.Ready(t.Context()))
	ranges, err := s.TokenRanges(t.Context(), "ks", "t")
	require.NoError(t, err)
	requireWholeRing(t, ranges)
	require.Greater(t, len(ranges), 8, "those of the ring while no tablet is known")
	known := func() []*tablet.Tablet { return slices.Collect(s.topo.Load().routing.tablets.All("ks", "t")) }
	for key := 0; len(known()) < 3; key++ {
		require.NoError(t, s.Query("INSERT INTO ks.t (id) VALUES (?)", int64(key)).Exec(t.Context()))
	}
	ranges, err = s.TokenRanges(t.Context(), "ks", "t")
	require.NoError(t, err)
	requireWholeRing(t, ranges)
	withReplicas := 0
	for _, r := range ranges {
		if len(r.Replicas) == 0 {
			continue
		}
		withReplicas++
		found, _ := cluster.Tablet("ks", "t", r.End)
		require.Equal(t, [2]int64{found.First, found.Last}, [2]int64{r.Start, r.End})
		for _, want := range found.Replicas {
			require.Contains(t, r.Replicas, Replica{HostID: want.Node.HostID(), Shard: want.Shard})
		}
	}
	require.Equal(t, len(known()), withReplicas)
}

// TestReadTablets reads system.tablets, with rows that cannot be.
func TestReadTablets(t *testing.T) {
	replicas := func(v ...replicaCell) []byte {
		b := wire.AppendInt(nil, int32(len(v)))
		for _, r := range v {
			b = appendTestCell(b, r)
		}
		return b
	}
	good := replicas(replicaCell{hostID(1), 3})
	c := newFakeCluster(t, frame.V4, 1)
	const stmt = "SELECT last_token, replicas FROM system.tablets WHERE table_id = ?"
	columns := fakecql.Columns("last_token bigint", "replicas list<tuple<uuid, int>>")
	c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("table_id uuid"), Result: columns})
	var cells [][]byte
	c.Answer(func(r *fakecql.Request, _ int) { r.Rows(fakecql.Rows{Columns: columns, Cells: cells}) })
	s := sessionOn(c)
	long := func(v int64) []byte { return wire.AppendLong(nil, v) }

	cells = [][]byte{long(-5), good, long(math.MaxInt64), replicas(replicaCell{hostID(1), 0}, replicaCell{hostID(2), 1})}
	tablets, err := s.readTablets(t.Context(), hostID(9))
	require.NoError(t, err)
	require.Equal(t, []*tablet.Tablet{
		{First: math.MinInt64, Last: -5, Replicas: []tablet.Replica{{Host: hostID(1), Shard: 3}}},
		{First: -5, Last: math.MaxInt64, Replicas: []tablet.Replica{{Host: hostID(1)}, {Host: hostID(2), Shard: 1}}},
	}, tablets)
	requireWholeRing(t, s.topo.Load().tabletRanges(tablets))
	host := s.GetHosts()[0].ID
	for _, at := range tablets {
		at.Replicas[0].Host = host
	}
	s.keepTablets(s.topo.Load(), "ks", "t", tablets)
	require.Equal(t, 1, s.routing.tablets.Len(), "a tablet with an unknown replica is not kept")
	require.NotNil(t, s.routing.tablets.Lookup("ks", "t", -6))

	for name, bad := range map[string][][]byte{
		"token twice":      {long(1), good, long(1), good},
		"descending":       {long(1), good, long(0), good},
		"minimum token":    {long(math.MinInt64), good},
		"short token":      {{1, 2}, good},
		"NULL token":       {nil, good},
		"NULL replicas":    {long(1), nil},
		"no replicas":      {long(1), replicas()},
		"negative shard":   {long(1), replicas(replicaCell{hostID(1), -1})},
		"truncated":        {long(1), good[:len(good)-1]},
		"replica is short": {long(1), replicas(replicaCell{[]byte{1}, 1})},
	} {
		cells = bad
		_, err := s.readTablets(t.Context(), hostID(9))
		require.ErrorIs(t, err, errTablet, name)
	}
}

// TestRoutingToken counts the nodes that receive queries of token ranges.
func TestRoutingToken(t *testing.T) {
	for name, cfg := range map[string]cqltest.Config{
		"ring":    {},
		"tablets": {Scylla: &cqltest.Scylla{Shards: 2, Tablets: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, s := rangeCluster(t, cfg)
			require.NoError(t, s.Ready(t.Context()))
			for key := range 200 { // so that the session receives the tablets
				require.NoError(t, s.Query("INSERT INTO ks.t (id) VALUES (?)", key).Exec(t.Context()))
			}
			ranges, err := s.TokenRanges(t.Context(), "ks", "t")
			require.NoError(t, err)
			const text = "SELECT id FROM ks.t WHERE token(id) > ? AND token(id) <= ?"
			for i, r := range ranges {
				all := cluster.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: text})
				var onReplicas []*cqltest.Rule
				for _, n := range cluster.Replicas("ks", "t", r.End) {
					onReplicas = append(onReplicas, cluster.Observe(cqltest.Fault{Node: n, Op: cqltest.OpExecute, Statement: text}))
				}
				for range 4 {
					require.NoError(t, s.Query(text, r.Start, r.End).RoutingToken(r.End).Exec(t.Context()))
				}
				require.Equal(t, 4, all.Hits())
				require.Equal(t, 4, onReplicas[0].Hits()+onReplicas[1].Hits(), "range %d", i)
				cluster.ClearFaults()
			}
		})
	}
}
