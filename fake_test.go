// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/hooks"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/pooled"
)

// Helpers for tests with sessions and connections on the scripted cluster of internal/fakecql.

// newFakeCluster is fakecql.New. The test also fails if it leaves a pooled buffer unreleased.
func newFakeCluster(t testing.TB, version byte, n int, change ...func(*fakecql.Node)) *fakecql.Cluster {
	t.Helper()
	leak.Require(t, pooled.Held.Load)
	return fakecql.New(t, version, n, change...)
}

// newSocketCluster is newFakeCluster on loopback sockets.
func newSocketCluster(t testing.TB, version byte, n int, change ...func(*fakecql.Node)) *fakecql.Cluster {
	t.Helper()
	leak.Require(t, pooled.Held.Load)
	return fakecql.NewOnSockets(t, version, n, change...)
}

// bubble runs a test in virtual time on an in-memory cluster of n nodes with protocol v5.
func bubble(t *testing.T, n int, f func(t *testing.T, c *fakecql.Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newFakeCluster(t, frame.V5, n)) })
}

// configOf returns a configuration with the first node as contact point.
func configOf(c *fakecql.Cluster) *ClusterConfig {
	cfg := &ClusterConfig{Hosts: []string{c.Nodes[0].Addr()}}
	cfg.Port = c.Port
	cfg.Pool.NumConns = 1
	cfg.Timeout = 5 * time.Second
	cfg.Logger = slog.New(slog.DiscardHandler)
	cfg.Pool.HeartbeatInterval = -1
	if c.InMemory() {
		cfg.Pool.Dialer = c
	}
	return cfg
}

// sessionOn returns a session with configOf(c), closed at the end of the test.
func sessionOn(c *fakecql.Cluster, change ...func(*ClusterConfig)) *Session {
	c.T.Helper()
	cfg := configOf(c)
	for _, f := range change {
		f(cfg)
	}
	return openSession(c.T, cfg)
}

// openHooked is openSession with a hook.
func openHooked(t testing.TB, cfg *ClusterConfig, f hooks.Exchange) *Session {
	t.Helper()
	s, err := NewSession(hooks.With(t.Context(), f), *cfg)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// openSession returns a session with cfg, closed at the end of the test.
func openSession(t testing.TB, cfg *ClusterConfig) *Session {
	t.Helper()
	s, err := NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// col returns a column of the table ks.t.
func col(name string, t cql.TypeInfo) cql.ColumnInfo {
	return cql.ColumnInfo{Keyspace: "ks", Table: "t", Name: name, TypeInfo: t}
}

// bareSession returns a session without a cluster.
func bareSession() *Session {
	s := &Session{}
	s.connectHalves()
	return s
}

// idleConn returns a connection without a server.
func idleConn() *conn.Conn {
	sock, _ := fakecql.NewPipe()
	return conn.New(&conn.Config{Version: frame.V5}, "127.0.0.1:9042", sock)
}
