// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/leak"
)

// Helpers for tests with sessions and connections on the scripted cluster of internal/fakecql.

// buffersHeld returns the number of unreleased pooled buffers, in builds that count them.
func buffersHeld() int64 { return outstanding.Load() }

// newFakeCluster is fakecql.New. The test also fails if it leaves a pooled buffer unreleased.
func newFakeCluster(t testing.TB, version byte, n int, change ...func(*fakecql.Node)) *fakecql.Cluster {
	t.Helper()
	leak.Require(t, buffersHeld)
	return fakecql.New(t, version, n, change...)
}

// newSocketCluster is newFakeCluster on loopback sockets.
func newSocketCluster(t testing.TB, version byte, n int, change ...func(*fakecql.Node)) *fakecql.Cluster {
	t.Helper()
	leak.Require(t, buffersHeld)
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
	cfg.NumConns = 1
	cfg.Timeout = 5 * time.Second
	cfg.Logger = slog.New(slog.DiscardHandler)
	cfg.HeartbeatInterval = -1
	if c.InMemory() {
		cfg.Dialer = c
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

// openSession returns a session with cfg, closed at the end of the test.
func openSession(t testing.TB, cfg *ClusterConfig) *Session {
	t.Helper()
	s, err := NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// testConfigOf returns a configuration for connections to s.
func testConfigOf(s *fakecql.Server) *connConfig {
	var d net.Dialer
	return &connConfig{
		dial:    func(ctx context.Context, addr string) (net.Conn, error) { return d.DialContext(ctx, "tcp", addr) },
		version: s.Version, compressor: s.Compressor, timeout: 10 * time.Second, connectTimeout: 10 * time.Second,
		logger: slog.New(slog.DiscardHandler),
	}
}

// connectTo returns a connection to s over a socket. It is closed at the end of the test, which fails if the connection
// leaves a goroutine or buffer.
func connectTo(t testing.TB, s *fakecql.Server, change ...func(*connConfig)) *conn {
	t.Helper()
	if s.Handle == nil {
		s.Handle = fakecql.Echo
	}
	addr := s.Listen(t)
	leak.Require(t, buffersHeld)
	cfg := testConfigOf(s)
	for _, f := range change {
		f(cfg)
	}
	c, err := dialConn(context.Background(), cfg, addr)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.close(errDrained)
		<-c.tasks.Done()
	})
	return c
}

// connectInMemory returns an in-memory connection to s. The caller closes it with endConn.
func connectInMemory(t testing.TB, s *fakecql.Server, change ...func(*connConfig)) *conn {
	t.Helper()
	c, err := dialInMemory(s, change...)
	require.NoError(t, err)
	return c
}

func dialInMemory(s *fakecql.Server, change ...func(*connConfig)) (*conn, error) {
	if s.Handle == nil {
		s.Handle = fakecql.Echo
	}
	cfg := testConfigOf(s)
	cfg.dial = func(context.Context, string) (net.Conn, error) {
		client, server := fakecql.NewPipe()
		s.Accept(server)
		return client, nil
	}
	for _, f := range change {
		f(cfg)
	}
	return dialConn(context.Background(), cfg, "127.0.0.1:9042")
}

// endConn closes a connection, waits for its goroutines, and stops its server.
func endConn(c *conn, s *fakecql.Server) {
	c.close(errDrained)
	<-c.tasks.Done()
	s.Stop()
}

// mayHaveLeft reports whether a byte of the request that failed with err may have been written to the socket.
func mayHaveLeft(err error) bool {
	var n *notSentError
	return !errors.As(err, &n)
}

// ask sends body as a request and returns the body of the response.
func (c *conn) ask(ctx context.Context, body string) (string, error) {
	b := getBuffer(len(body))
	copy(b.b, body)
	defer b.release()
	resp, err := c.roundTrip(ctx, &request{op: frame.OpQuery, body: b})
	if err != nil {
		return "", err
	}
	defer resp.body.release()
	return string(resp.body.b), nil
}

// col returns a column of the table ks.t.
func col(name string, t cql.TypeInfo) cql.ColumnInfo {
	return cql.ColumnInfo{Keyspace: "ks", Table: "t", Name: name, TypeInfo: t}
}
