// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file tests the session's life: its start, its end, and the nodes that come and go in between.

func TestSessionReadsCluster(t *testing.T) {
	for _, v := range []byte{protoV4, protoV5} {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			s := newSocketCluster(t, v, 3).session()
			require.EqualValues(t, v, s.ProtoVersion(), "negotiated downwards from 5")
			require.Len(t, s.GetHosts(), 3)
			require.Equal(t, "127.0.0.2", s.GetHosts()[1].ConnectAddress().String())
			require.NoError(t, s.Query("INSERT").Exec())
		})
	}
}

func TestSessionStartFails(t *testing.T) {
	for _, m := range []struct {
		name   string
		hook   func(r *fakeRequest) bool
		change func(c *fakeCluster, cfg *ClusterConfig)
		auth   string
		want   string
	}{
		{"no host answers", nil, func(c *fakeCluster, _ *ClusterConfig) { c.nodes[0].stop() }, "", "refused"},
		{"version is not spoken", nil, func(_ *fakeCluster, cfg *ClusterConfig) { cfg.ProtoVersion = 5 }, "", "version"},
		{"no authenticator", nil, nil, "PasswordAuthenticator", "uthenticat"},
		{"wrong password", func(r *fakeRequest) bool {
			if r.op == opAuthResponse {
				r.fail(CodeCredentials)
			}
			return r.op == opAuthResponse
		}, func(_ *fakeCluster, cfg *ClusterConfig) {
			cfg.Authenticator = PasswordAuthenticator{Username: "u", Password: "wrong"}
		}, "org.apache.cassandra.auth.PasswordAuthenticator", "authentication failed"},
		{"REGISTER is refused", func(r *fakeRequest) bool {
			if r.op == opRegister {
				r.fail(CodeServer)
			}
			return r.op == opRegister
		}, nil, "", "server error"},
		{"system.local without a row", func(r *fakeRequest) bool {
			if r.op == opQuery {
				r.rows(fakeResult{})
			}
			return r.op == opQuery
		}, nil, "", "system.local"},
		{"system.local is cut off", func(r *fakeRequest) bool {
			if r.op == opQuery {
				body := fakeResult{columns: []ColumnInfo{col("host_id", native(TypeUUID))}, cells: [][]byte{make([]byte, 16)}}.body(false)
				r.peer.reply(r.stream, opResult, body[:len(body)-3])
			}
			return r.op == opQuery
		}, nil, "", "ends inside"},
		{"peers fail", func(r *fakeRequest) bool {
			if r.op == opQuery && r.stmt != "SELECT * FROM system.local WHERE key = 'local'" {
				r.fail(CodeUnauthorized)
				return true
			}
			return false
		}, nil, "", "system.peers"},
		{"no keyspace of that name", func(r *fakeRequest) bool {
			if r.stmt == `USE "no""such"` {
				r.fail(CodeInvalid)
			}
			return r.stmt == `USE "no""such"`
		}, func(_ *fakeCluster, cfg *ClusterConfig) { cfg.Keyspace = `no"such` }, "", "use keyspace"},
	} {
		t.Run(m.name, func(t *testing.T) {
			c := newFakeCluster(t, protoV4, 1, func(n *fakeNode) { n.server.auth = m.auth })
			c.on(m.hook)
			requireNothingLeft(t)
			cfg := c.config()
			cfg.ConnectTimeout = 5 * time.Second
			if m.change != nil {
				m.change(c, cfg)
			}
			s, err := cfg.CreateSession()
			require.Nil(t, s)
			require.ErrorIs(t, err, ErrNoConnectionsStarted)
			require.ErrorContains(t, err, m.want)
		})
	}
}

func TestSessionStartCancelled(t *testing.T) {
	c := newFakeCluster(t, protoV4, 1)
	ctx, cancel := context.WithCancel(context.Background())
	c.on(func(r *fakeRequest) bool { cancel(); return r.op == opRegister })
	requireNothingLeft(t)
	_, err := NewSessionContext(ctx, *c.config())
	require.ErrorIs(t, err, context.Canceled)
}

func TestSessionCloseWhilePreparing(t *testing.T) {
	c := newFakeCluster(t, protoV5, 1)
	asked := make(chan struct{}, 1)
	c.on(func(r *fakeRequest) bool {
		if r.op == opPrepare {
			asked <- struct{}{}
		}
		return r.op == opPrepare
	})
	s := c.session()
	done := make(chan error, 1)
	go func() { done <- s.Query("SELECT 1").Exec() }()
	<-asked
	s.Close()
	require.ErrorIs(t, <-done, ErrSessionClosed, "the caller cancelled nothing")
}

func TestSessionCloseConcurrentWithQueries(t *testing.T) {
	for i := range 10 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := newSocketCluster(t, protoV5, 2).session()
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					for n := 0; ; n++ {
						err := s.Query(fmt.Sprintf("SELECT %d %d", g, n%3)).Exec()
						if err == nil {
							continue
						}
						if !errors.Is(err, ErrSessionClosed) && !errors.Is(err, ErrConnectionClosed) {
							t.Errorf("got %v", err)
						}
						return
					}
				})
			}
			time.Sleep(10 * time.Millisecond)
			s.Close()
			wg.Wait()
		})
	}
}

func TestSessionTLSVerifiesByContactName(t *testing.T) {
	for _, m := range []struct {
		name, certificate string
		ok                bool
	}{
		{"the name that was written", "localhost", true},
		{"another name", "db.example", false},
	} {
		t.Run(m.name, func(t *testing.T) {
			server, client := tlsPair(t, m.certificate)
			c := newSocketCluster(t, protoV4, 1, func(n *fakeNode) {
				n.server.wrap = func(conn net.Conn) net.Conn { return tls.Server(conn, server) }
			})
			requireNothingLeft(t)
			cfg := c.config()
			cfg.Hosts, cfg.TLS = []string{fmt.Sprintf("localhost:%d", c.port)}, client
			s, err := cfg.CreateSession()
			if !m.ok {
				require.ErrorContains(t, err, "certificate")
				return
			}
			require.NoError(t, err)
			s.Close()
		})
	}
}

func TestSessionSchemaAgreement(t *testing.T) {
	change := func(r *fakeRequest) bool {
		if r.stmt != "CREATE TABLE ks.t" {
			return false
		}
		b := wire.AppendInt(nil, int32(resultSchemaChange))
		for _, s := range []string{"CREATED", "TABLE", "ks", "t"} {
			b = mustString(b, s)
		}
		r.peer.reply(r.stream, opResult, b)
		return true
	}
	t.Run("waits", func(t *testing.T) {
		c := newFakeCluster(t, protoV4, 2)
		c.nodes[1].schema = UUID{2}
		c.on(change)
		s := c.session()
		var agreed atomic.Bool
		time.AfterFunc(50*time.Millisecond, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			agreed.Store(true)
			c.nodes[1].schema = UUID{1}
		})
		require.NoError(t, s.Query("CREATE TABLE ks.t").Exec())
		require.True(t, agreed.Load())
	})
	t.Run("as long as ctx allows", func(t *testing.T) {
		c := newFakeCluster(t, protoV4, 2)
		c.nodes[1].schema = UUID{2}
		c.on(change)
		s := c.session()
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		err := s.Query("CREATE TABLE ks.t").ExecContext(ctx)
		require.ErrorIs(t, err, ErrSchemaAgreement)
		require.True(t, MayHaveApplied(err), "the change was made")
	})
	t.Run("a node that is down is not waited for", func(t *testing.T) {
		c := newFakeCluster(t, protoV4, 2)
		c.nodes[1].schema = UUID{2}
		c.on(change)
		s := c.session()
		c.nodes[1].stop()
		require.NoError(t, s.Query("CREATE TABLE ks.t").Exec())
	})
}

func TestSessionNodeComesBack(t *testing.T) {
	c := newSocketCluster(t, protoV4, 2)
	s := c.session()
	n := s.topo.Load().nodeByID(c.nodes[1].id)
	c.nodes[1].stop()
	require.Eventually(t, func() bool { return n.pool.pick() == nil }, 5*time.Second, time.Millisecond)
	for range 4 {
		require.NoError(t, s.Query("INSERT").Exec(), "the other node serves")
	}
	require.ErrorIs(t, s.Query("INSERT").SetHostID(c.nodes[1].id.String()).Exec(), ErrNoConnections)
	c.nodes[1].start()
	require.Eventually(t, func() bool {
		return s.Query("INSERT").SetHostID(c.nodes[1].id.String()).Exec() == nil
	}, 10*time.Second, 10*time.Millisecond)
}

func TestSessionNodeRemoved(t *testing.T) {
	c := newFakeCluster(t, protoV4, 3)
	s := c.session(func(cfg *ClusterConfig) { cfg.ReconnectInterval = 50 * time.Millisecond })
	gone := s.topo.Load().nodeByID(c.nodes[2].id).pool
	require.NotNil(t, gone.pick())
	c.mu.Lock()
	c.peers = c.nodes[:2]
	c.mu.Unlock()
	require.Eventually(t, func() bool { return len(s.GetHosts()) == 2 && gone.pick() == nil }, 5*time.Second, time.Millisecond)
	c.mu.Lock()
	c.peers = c.nodes
	c.mu.Unlock()
	require.Eventually(t, func() bool {
		n := s.topo.Load().nodeByID(c.nodes[2].id)
		return n != nil && n.pool != gone && n.pool.pick() != nil
	}, 5*time.Second, time.Millisecond)
}

// TestSessionPicksUsableConnection takes one of a node's two connections out of service while it is still listed.
func TestSessionPicksUsableConnection(t *testing.T) {
	c := newFakeCluster(t, protoV4, 1)
	s := c.session(func(cfg *ClusterConfig) { cfg.NumConns = 2 })
	p := s.topo.Load().nodes[0].pool
	require.Eventually(t, func() bool { return len(p.open.Load().conns) == 2 }, 5*time.Second, time.Millisecond)
	p.open.Load().conns[0].draining.Store(true)
	for range 10 {
		require.NoError(t, s.Query("INSERT").Exec())
	}
}
