// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/pooled"
)

// Sessions on the scripted cluster.

// passwordAuthenticator is the class of an authenticator that accepts SASL PLAIN.
const passwordAuthenticator = "org.apache.cassandra.auth.PasswordAuthenticator"

// newCluster is fakecql.New. In builds that count pooled buffers, the test also fails if one is not released.
func newCluster(t testing.TB, version byte, n int, change ...func(*fakecql.Node)) *fakecql.Cluster {
	t.Helper()
	leak.Require(t, pooled.Held.Load)
	return fakecql.New(t, version, n, change...)
}

// newSocketCluster is newCluster on loopback sockets.
func newSocketCluster(t testing.TB, version byte, n int, change ...func(*fakecql.Node)) *fakecql.Cluster {
	t.Helper()
	leak.Require(t, pooled.Held.Load)
	return fakecql.NewOnSockets(t, version, n, change...)
}

// bubble runs a test in virtual time on a cluster of n nodes in memory that speak v5.
func bubble(t *testing.T, n int, f func(t *testing.T, c *fakecql.Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newCluster(t, fakecql.V5, n)) })
}

// configOf returns a configuration with the first node as contact point.
func configOf(c *fakecql.Cluster) *vecql.ClusterConfig {
	cfg := &vecql.ClusterConfig{Hosts: []string{c.Nodes[0].Addr()}}
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

// sessionOn returns a session that is closed when the test ends.
func sessionOn(c *fakecql.Cluster, change ...func(*vecql.ClusterConfig)) *vecql.Session {
	c.T.Helper()
	cfg := configOf(c)
	for _, f := range change {
		f(cfg)
	}
	return openSession(c.T, cfg)
}

// openSession returns a session that is closed when the test ends.
func openSession(t testing.TB, cfg *vecql.ClusterConfig) *vecql.Session {
	t.Helper()
	s, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}
