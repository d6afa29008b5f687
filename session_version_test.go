// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/flight"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// Sessions of protocol v3, which lacks what v4 introduced, and of v6, a beta.

// versionCluster returns a cluster, by default of three nodes, each with a part of the partitions.
func versionCluster(t *testing.T, cfg cqltest.Config) *cqltest.Cluster {
	c := cqltest.New(t, cfg)
	require.NoError(t, c.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
		CREATE TABLE shop.t (a int, b text, c int, v int, PRIMARY KEY ((a, b), c))`))
	return c
}

// versionSession returns a session of a protocol version, 0 for the highest of the cluster.
func versionSession(t *testing.T, c *cqltest.Cluster, version int) *Session {
	cfg := &ClusterConfig{Hosts: c.Hosts(), Logger: slog.New(slog.DiscardHandler)}
	cfg.Protocol.Version, cfg.Defaults.Consistency = version, cql.One
	return openSession(t, cfg)
}

// TestKeyOnV3: servers of protocol v3 do not report the bind markers of the partition key. The session finds those that
// a server reports on v4, except for markers with names of their own.
func TestKeyOnV3(t *testing.T) {
	c := versionCluster(t, cqltest.Config{})
	four, three := versionSession(t, c, 4), versionSession(t, c, 3)
	for text, onV3 := range map[string]bool{
		"INSERT INTO shop.t (v, c, b, a) VALUES (?, ?, ?, ?)":                          true,
		"UPDATE shop.t SET v = ? WHERE b = ? AND a = ? AND c = ?":                      true,
		"DELETE FROM shop.t WHERE a = ? AND b = ?":                                     true,
		"SELECT v FROM shop.t WHERE a = ? AND b = ? AND c IN (?, ?)":                   true,
		"SELECT v FROM shop.t WHERE a = ? AND b = 'x'":                                 true,
		"SELECT v FROM shop.t WHERE token(a, b) > ?":                                   true,
		"SELECT v FROM shop.t WHERE c = ? ALLOW FILTERING":                             true,
		"SELECT release_version FROM system.local WHERE key = ?":                       true,
		"SELECT column_name FROM system_schema.columns WHERE keyspace_name = ?":        true,
		"SELECT v FROM shop.t LIMIT ?":                                                 true,
		"INSERT INTO shop.t (v, c, b, a) VALUES (:v, :c, :b, :a)":                      false,
		"UPDATE shop.t SET v = :a WHERE a = :v AND b = :b AND c = :c":                  false,
		"SELECT v FROM shop.t WHERE a = :\"a\" AND b = :b /* ? */ AND c = :c LIMIT :l": false,
	} {
		want, err := four.StatementMetadata(t.Context(), text, "")
		require.NoError(t, err)
		got, err := three.StatementMetadata(t.Context(), text, "")
		require.NoError(t, err)
		if onV3 {
			require.Equal(t, fmt.Sprint(want.PartitionKey), fmt.Sprint(got.PartitionKey), text)
		} else {
			require.NotEmpty(t, want.PartitionKey)
			require.Empty(t, got.PartitionKey, text)
		}
		require.Equal(t, want.BindMarkers, got.BindMarkers)
	}
}

// TestTokenAwareOnV3 requires each request to reach a replica.
func TestTokenAwareOnV3(t *testing.T) {
	for name, cfg := range map[string]cqltest.Config{"Cassandra": {Protocol: 3}, "ScyllaDB": {Protocol: 3, Scylla: &cqltest.Scylla{Tablets: 8}}} {
		t.Run(name, func(t *testing.T) {
			c := versionCluster(t, cfg)
			s := versionSession(t, c, 0)
			require.Equal(t, 3, s.ProtoVersion(), "the highest of the cluster")
			for i := range 30 {
				b := fmt.Sprint(i)
				require.NoError(t, s.Query("INSERT INTO shop.t (v, c, b, a) VALUES (?, ?, ?, ?)", i, 1, b, i).Exec(t.Context()))
				require.NoError(t, s.Batch(cql.UnloggedBatch).Query("INSERT INTO shop.t (v, c, b, a) VALUES (?, ?, ?, ?)", i, 2, b, i).
					Query("UPDATE shop.t SET v = ? WHERE b = ? AND a = ? AND c = ?", i, b, i, 3).Exec(t.Context()))
				values := 0
				for v, err := range Rows[int](t.Context(), s.Query("SELECT v FROM shop.t WHERE a = ? AND b = ?", i, b)) {
					require.NoError(t, err)
					require.Equal(t, i, v)
					values++
				}
				require.Equal(t, 3, values)
			}
			stats := c.Stats()
			require.GreaterOrEqual(t, stats.Routable, 90) // more where a node has not prepared a statement yet
			if cfg.Scylla == nil {                        // whose tablets are known from custom payloads only, which v3 lacks
				require.Equal(t, stats.Routable, stats.OnReplica)
			}
		})
	}
}

// TestKeyNotReadOnV3: the columns of the table are read from another node where one refuses. Where all refuse, requests
// succeed on any node.
func TestKeyNotReadOnV3(t *testing.T) {
	c := versionCluster(t, cqltest.Config{Protocol: 3})
	s := versionSession(t, c, 3)
	refuse := cqltest.Fault{Statement: "system_schema.columns", Error: &cqltest.Error{Code: cqltest.CodeServer}, Times: 1}
	once := c.Inject(refuse)
	m, err := s.StatementMetadata(t.Context(), "DELETE FROM shop.t WHERE a = ? AND b = ?", "")
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, m.PartitionKey)
	require.Equal(t, 1, once.Hits())

	refuse.Times = 0
	c.Inject(refuse)
	insert := "INSERT INTO shop.t (a, b, c) VALUES (?, ?, ?)"
	require.NoError(t, s.Query(insert, 1, "b", 1).Exec(t.Context()))
	m, err = s.StatementMetadata(t.Context(), insert, "")
	require.NoError(t, err)
	require.Empty(t, m.PartitionKey)
	require.Equal(t, "t", m.Table)
}

// TestUnpreparedOnV3: the response to another PREPARE of a statement has no partition key either, which is no reason to
// drop the statement.
func TestUnpreparedOnV3(t *testing.T) {
	c := newFakeCluster(t, frame.V3, 1)
	schema := fakecql.NewSchema()
	schema.Table("ks", "t", "k text partition_key", "v text")
	c.On(schema.Answer)
	c.Prepare("INSERT", fakecql.Prepared{Bind: fakecql.Columns("v text", "k text")})
	s := sessionOn(c)
	require.NoError(t, s.Query("INSERT", "v", "k").Exec(t.Context()))
	stmt := s.statements.Known(flight.Key{Text: "INSERT"})
	require.Equal(t, []int{1}, stmt.pkIndexes)
	c.Nodes[0].Forget()
	require.NoError(t, s.Query("INSERT", "v", "k").Exec(t.Context()))
	require.Same(t, stmt, s.statements.Known(flight.Key{Text: "INSERT"}))
	_, prepares := c.Count("INSERT")
	require.Equal(t, 2, prepares)
}

// TestUnsupportedOnV3: v3 has no values that are not set and no custom payloads. A request with one is not sent. Of
// several nodes one might lack a prepared statement, and a request would be sent to it twice.
func TestUnsupportedOnV3(t *testing.T) {
	c := versionCluster(t, cqltest.Config{Protocol: 3, Nodes: 1})
	s := versionSession(t, c, 3)
	const insert = "INSERT INTO shop.t (a, b, c, v) VALUES (?, ?, ?, ?)"
	type row struct {
		A int
		B string
		C int
		V any
	}
	typed, err := Prepare[row](t.Context(), s.Query(insert))
	require.NoError(t, err)
	rows := column.NewBatch(column.Of("a", []int32{1, 1}), column.Strings("b", []string{"b", "b"}), column.Of("c", []int32{1, 2}),
		column.Of("v", []int32{5, 0}).WithNulls([]bool{false, true}))
	byRow, err := s.Query(insert).NullsUnset(true).PrepareRows(t.Context(), rows.Schema())
	require.NoError(t, err)
	sent := c.Observe(cqltest.Fault{Match: func(r cqltest.Request) bool { return r.Op == cqltest.OpExecute || r.Op == cqltest.OpBatch }})
	payload := map[string][]byte{"k": {1}}
	for name, m := range map[string]struct {
		err  error
		text string
	}{
		"query": {s.Query(insert, 1, "b", 1, cql.UnsetValue).Exec(t.Context()), "bind marker 3 is not set"},
		"named": {s.Query("INSERT INTO shop.t (a, b, c, v) VALUES (:a, :b, :c, :v)", cql.NamedValue("v", cql.UnsetValue), cql.NamedValue("a", 1),
			cql.NamedValue("b", "b"), cql.NamedValue("c", 1)).Exec(t.Context()), "bind marker 3 is not set"},
		"batch": {
			s.Batch(cql.LoggedBatch).Query(insert, 1, "b", 1, 1).Query(insert, 1, "b", cql.UnsetValue, 2).Exec(t.Context()),
			"bind marker 2 is not set",
		},
		"struct":        {typed.Exec(t.Context(), &row{1, "b", 1, cql.UnsetValue}), "bind marker 3 is not set"},
		"row":           {byRow.ExecRow(t.Context(), rows, 1), "bind marker 3 is not set"},
		"row of many":   {byRow.Encode(t.Context(), new(EncodedRows), rows, 1), "bind marker 3 is not set"},
		"payload":       {s.Query(insert, 1, "b", 1, 1).CustomPayload(payload).Exec(t.Context()), "custom payload"},
		"batch payload": {s.Batch(cql.LoggedBatch).Query(insert, 1, "b", 1, 1).CustomPayload(payload).Exec(t.Context()), "custom payload"},
		"keyspace":      {s.Query("SELECT v FROM t WHERE a = ?", 1).Keyspace("shop").Exec(t.Context()), "keyspace"},
		"now":           {s.Query(insert, 1, "b", 1, 1).NowInSeconds(1).Exec(t.Context()), "now_in_seconds"},
	} {
		require.ErrorIs(t, m.err, ErrUnsupported, name)
		require.ErrorContains(t, m.err, m.text, name)
		require.False(t, MayHaveApplied(m.err), name)
	}
	require.Zero(t, sent.Hits())
	require.NoError(t, byRow.ExecRow(t.Context(), rows, 0), "without a NULL")
	require.NoError(t, typed.Exec(t.Context(), &row{1, "b", 2, nil}), "NULL is no such value")
	require.Equal(t, 2, sent.Hits())
}

// TestBeta: with Protocol.Beta a session uses v6 where the servers have it, and sends USE_BETA with each request. Other
// versions are used without the flag: v5 was a beta of Cassandra 3.11, with other frames.
func TestBeta(t *testing.T) {
	for _, m := range []struct {
		speaks  byte
		version int
		change  func(*ClusterConfig)
	}{
		{frame.V6, 0, nil},
		{frame.V6, 6, nil},
		{frame.V5, 0, nil},
		{frame.V5, 5, nil},
		{frame.V4, 0, nil},
		{frame.V4, 0, func(cfg *ClusterConfig) { cfg.Compressor = SnappyCompressor{} }},
		{frame.V3, 0, nil},
	} {
		t.Run(fmt.Sprintf("v%d of v%d", m.version, m.speaks), func(t *testing.T) {
			c := newFakeCluster(t, m.speaks, 2)
			var requests atomic.Int64
			c.On(func(r *fakecql.Request) bool {
				requests.Add(1)
				if r.Flags&wire.FlagBeta != 0 != (m.speaks == frame.V6) {
					t.Errorf("flags %x of %v on v%d", r.Flags, r.Op, m.speaks)
				}
				return false
			})
			s := sessionOn(c, func(cfg *ClusterConfig) {
				cfg.Protocol.Version, cfg.Protocol.Beta = m.version, true
				if m.change != nil {
					m.change(cfg)
				}
			})
			require.EqualValues(t, m.speaks, s.ProtoVersion())
			require.NoError(t, s.Query("INSERT").Exec(t.Context()))
			require.NoError(t, s.Batch(cql.LoggedBatch).Query("INSERT").Exec(t.Context()))
			require.NoError(t, s.Query("CREATE").Exec(t.Context()))
			require.Greater(t, requests.Load(), int64(5))
		})
	}
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Protocol.Version = 6
		_, err := NewSession(t.Context(), *cfg)
		require.ErrorContains(t, err, "set Protocol.Beta")
		cfg.Protocol.Version, cfg.Protocol.Beta = 7, true
		_, err = NewSession(t.Context(), *cfg)
		require.ErrorContains(t, err, "Protocol.Version is 7")
	})
}
