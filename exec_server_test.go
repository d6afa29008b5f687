// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// This file holds a cluster without sockets, for tests in virtual time: connections are pipes, which a synctest bubble knows to be waited on.

// memoryNet dials the nodes of a cluster.
type memoryNet struct{ cluster *fakeCluster }

func (m memoryNet) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	for _, n := range m.cluster.nodes {
		if n.addr() == addr {
			ours, theirs := net.Pipe()
			n.server.wg.Go(func() { n.server.serve(theirs) })
			return ours, nil
		}
	}
	return nil, fmt.Errorf("nobody listens at %s", addr)
}

// inMemory runs f in virtual time with a cluster of n nodes and its configuration. After f nothing may be left.
func inMemory(t *testing.T, n int, f func(t *testing.T, c *fakeCluster, cfg *ClusterConfig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		requireNothingLeft(t)
		c := &fakeCluster{t: t, version: protoV5, port: 9042, prepared: map[string]preparedSpec{}, sent: map[string]int{}, prepares: map[string]int{}}
		for i := range n {
			node := &fakeNode{cluster: c, ip: fmt.Sprintf("127.0.0.%d", i+1), id: UUID{0xFA, byte(i + 1)}, token: fmt.Sprint(int64(i) << 60), schema: UUID{1}}
			node.server = &testServer{version: c.version, handle: node.handle}
			c.nodes = append(c.nodes, node)
			t.Cleanup(node.server.stop)
		}
		c.peers = c.nodes
		cfg := c.config()
		cfg.Dialer = memoryNet{c}
		f(t, c, cfg)
	})
}

// memorySession returns a session that is closed when the test ends, with a connection to every node.
func memorySession(t *testing.T, cfg *ClusterConfig) *Session {
	t.Helper()
	s, err := cfg.CreateSession()
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// answer makes the cluster answer every EXECUTE, BATCH and QUERY of a user's statement with f, which is told how many there were before,
// on a goroutine of its own: it may sleep.
func (c *fakeCluster) answer(f func(r *fakeRequest, nth int)) {
	nth := 0
	c.on(func(r *fakeRequest) bool {
		if r.op != opExecute && r.op != opBatch {
			return false
		}
		c.mu.Lock()
		n := nth
		nth++
		c.mu.Unlock()
		r.node.server.wg.Go(func() { f(r, n) })
		return true
	})
}

// recordingHandler keeps what is logged.
type recordingHandler struct {
	slog.Handler
	records *[]slog.Record
}

func (h recordingHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h recordingHandler) Handle(_ context.Context, r slog.Record) error {
	*h.records = append(*h.records, r)
	return nil
}
func (h recordingHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h recordingHandler) WithGroup(string) slog.Handler      { return h }

const idempotentInsert = "INSERT INTO ks.t (id) VALUES (1)"

func TestInMemoryCluster(t *testing.T) {
	inMemory(t, 3, func(t *testing.T, c *fakeCluster, cfg *ClusterConfig) {
		began := time.Now()
		c.answer(func(r *fakeRequest, _ int) {
			time.Sleep(time.Hour)
			r.void()
		})
		cfg.Timeout = 2 * time.Hour
		s := memorySession(t, cfg)
		require.NoError(t, s.Query(idempotentInsert).Exec())
		require.InDelta(t, time.Hour.Seconds(), time.Since(began).Seconds(), 1)
		require.Len(t, s.GetHosts(), 3)
	})
}
