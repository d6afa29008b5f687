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

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/pooled"
	"github.com/vecql/vecql/internal/wire"
)

// Opening and closing sessions, and changes of nodes.

func TestSessionReadsCluster(t *testing.T) {
	for _, v := range []byte{frame.V3, frame.V4, frame.V5} {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			s := sessionOn(newSocketCluster(t, v, 3))
			require.EqualValues(t, v, s.ProtoVersion(), "negotiated downwards from 5")
			require.Len(t, s.GetHosts(), 3)
			require.Equal(t, "127.0.0.2", s.GetHosts()[1].Address.Addr().String())
			require.NoError(t, s.Query("INSERT").Exec(t.Context()))
		})
	}
}

func TestSessionStartFails(t *testing.T) {
	for _, m := range []struct {
		name   string
		hook   func(r *fakecql.Request) bool
		change func(c *fakecql.Cluster, cfg *ClusterConfig)
		auth   string
		want   string
	}{
		{"no host answers", nil, func(c *fakecql.Cluster, _ *ClusterConfig) { c.Nodes[0].Stop() }, "", "refused"},
		{"unsupported version", nil, func(_ *fakecql.Cluster, cfg *ClusterConfig) { cfg.Protocol.Version = 5 }, "", "version"},
		{"no authenticator", nil, nil, "PasswordAuthenticator", "uthenticat"},
		{"wrong password", func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpAuthResponse {
				r.Fail(int32(cql.CodeCredentials))
			}
			return r.Op == fakecql.OpAuthResponse
		}, func(_ *fakecql.Cluster, cfg *ClusterConfig) {
			cfg.Authenticator = PasswordAuthenticator{Username: "u", Password: "wrong"}
		}, "org.apache.cassandra.auth.PasswordAuthenticator", "authentication failed"},
		{"REGISTER is refused", func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpRegister {
				r.Fail(int32(cql.CodeServer))
			}
			return r.Op == fakecql.OpRegister
		}, nil, "", "server error"},
		{"system.local without a row", func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpQuery {
				r.Rows(fakecql.Rows{})
			}
			return r.Op == fakecql.OpQuery
		}, nil, "", "system.local"},
		{"system.local is cut off", func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpQuery {
				body := fakecql.Rows{Columns: fakecql.Columns("host_id uuid"), Cells: [][]byte{make([]byte, 16)}}.Body(false)
				r.Conn.Reply(r.Stream, fakecql.OpResult, body[:len(body)-3])
			}
			return r.Op == fakecql.OpQuery
		}, nil, "", "ends inside"},
		{"peers fail", func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpQuery && r.Stmt != "SELECT * FROM system.local WHERE key = 'local'" {
				r.Fail(int32(cql.CodeUnauthorized))
				return true
			}
			return false
		}, nil, "", "system.peers"},
		{"the keyspace may not be used", func(r *fakecql.Request) bool {
			if r.Stmt == `USE "no""such"` {
				r.Fail(int32(cql.CodeUnauthorized))
			}
			return r.Stmt == `USE "no""such"`
		}, func(_ *fakecql.Cluster, cfg *ClusterConfig) { cfg.Keyspace = `no"such` }, "", "use keyspace"},
	} {
		t.Run(m.name, func(t *testing.T) {
			c := newFakeCluster(t, frame.V4, 1, func(n *fakecql.Node) { n.Server.Auth = m.auth })
			c.On(m.hook)
			leak.Require(t, pooled.Held.Load)
			cfg := configOf(c)
			cfg.ConnectTimeout = 5 * time.Second
			if m.change != nil {
				m.change(c, cfg)
			}
			s, err := NewSession(t.Context(), *cfg)
			require.Nil(t, s)
			require.ErrorIs(t, err, ErrNoConnectionsStarted)
			require.ErrorContains(t, err, m.want)
			require.NotContains(t, err.Error(), "wire: ", "the name of an internal package")
		})
	}
}

// All nodes refuse the keyspace: the error has one line, which names the keyspace once.
func TestSessionStartWithoutKeyspace(t *testing.T) {
	c := newFakeCluster(t, frame.V5, 3)
	c.On(func(r *fakecql.Request) bool {
		if r.Stmt == `USE "shop"` {
			r.Fail(int32(cql.CodeInvalid))
		}
		return r.Stmt == `USE "shop"`
	})
	cfg := configOf(c)
	cfg.Keyspace = "shop"
	_, err := NewSession(t.Context(), *cfg)
	require.ErrorIs(t, err, ErrKeyspaceDoesNotExist)
	require.ErrorIs(t, err, ErrNoConnectionsStarted)
	require.ErrorIs(t, err, cql.CodeInvalid, "the cause")
	require.EqualError(t, err, `vecql: keyspace does not exist: ClusterConfig.Keyspace is "shop": server: invalid request: scripted`)
}

func TestSessionStartCanceled(t *testing.T) {
	c := newFakeCluster(t, frame.V4, 1)
	ctx, cancel := context.WithCancel(context.Background())
	c.On(func(r *fakecql.Request) bool { cancel(); return r.Op == fakecql.OpRegister })
	leak.Require(t, pooled.Held.Load)
	_, err := NewSession(ctx, *configOf(c))
	require.ErrorIs(t, err, context.Canceled)
}

func TestSessionCloseWhilePreparing(t *testing.T) {
	c := newFakeCluster(t, frame.V5, 1)
	asked := make(chan struct{}, 1)
	c.On(func(r *fakecql.Request) bool {
		if r.Op == fakecql.OpPrepare {
			asked <- struct{}{}
		}
		return r.Op == fakecql.OpPrepare
	})
	s := sessionOn(c)
	done := make(chan error, 1)
	go func() { done <- s.Query("SELECT 1").Exec(t.Context()) }()
	<-asked
	s.Close()
	require.ErrorIs(t, <-done, ErrSessionClosed, "the caller did not cancel its context")
}

func TestSessionCloseConcurrentWithQueries(t *testing.T) {
	for i := range 10 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := sessionOn(newSocketCluster(t, frame.V5, 2))
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					for n := 0; ; n++ {
						err := s.Query(fmt.Sprintf("SELECT %d %d", g, n%3)).Exec(t.Context())
						if err == nil {
							continue
						}
						if !errors.Is(err, ErrSessionClosed) && !errors.Is(err, conn.ErrClosed) {
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
		{"the configured name", "localhost", true},
		{"another name", "db.example", false},
	} {
		t.Run(m.name, func(t *testing.T) {
			server, client := fakecql.TLSPair(t, m.certificate)
			c := newSocketCluster(t, frame.V4, 1, func(n *fakecql.Node) {
				n.Server.Wrap = func(conn net.Conn) net.Conn { return tls.Server(conn, server) }
			})
			leak.Require(t, pooled.Held.Load)
			cfg := configOf(c)
			cfg.Hosts, cfg.TLS = []string{fmt.Sprintf("localhost:%d", c.Port)}, client
			s, err := NewSession(t.Context(), *cfg)
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
	change := func(r *fakecql.Request) bool {
		if r.Stmt != "CREATE TABLE ks.t" {
			return false
		}
		b := wire.AppendInt(nil, int32(frame.ResultSchemaChange))
		for _, s := range []string{"CREATED", "TABLE", "ks", "t"} {
			b = fakecql.AppendString(b, s)
		}
		r.Conn.Reply(r.Stream, fakecql.OpResult, b)
		return true
	}
	t.Run("waits", func(t *testing.T) {
		c := newFakeCluster(t, frame.V4, 2)
		c.Nodes[1].Schema = cql.UUID{2}
		c.On(change)
		s := sessionOn(c)
		var agreed atomic.Bool
		time.AfterFunc(50*time.Millisecond, func() {
			c.Mu.Lock()
			defer c.Mu.Unlock()
			agreed.Store(true)
			c.Nodes[1].Schema = cql.UUID{1}
		})
		require.NoError(t, s.Query("CREATE TABLE ks.t").Exec(t.Context()))
		require.True(t, agreed.Load())
	})
	t.Run("as long as ctx allows", func(t *testing.T) {
		c := newFakeCluster(t, frame.V4, 2)
		c.Nodes[1].Schema = cql.UUID{2}
		c.On(change)
		s := sessionOn(c)
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		err := s.Query("CREATE TABLE ks.t").Exec(ctx)
		require.ErrorIs(t, err, ErrSchemaAgreement)
		require.True(t, MayHaveApplied(err), "the schema change was applied")
	})
	t.Run("without nodes that are down", func(t *testing.T) {
		c := newFakeCluster(t, frame.V4, 2)
		c.Nodes[1].Schema = cql.UUID{2}
		c.On(change)
		s := sessionOn(c)
		c.Nodes[1].Stop()
		// to the node that is left: the session may not have seen the other one's end
		require.NoError(t, s.Query("CREATE TABLE ks.t").HostID(cql.UUID(c.Nodes[0].ID)).Exec(t.Context()))
	})
}

// TestAgreementWithoutItsMaker: the node that made a change stops answering, and the other one, which has not heard of
// the change, sees no other version than the previous one.
func TestAgreementWithoutItsMaker(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		for _, n := range c.Nodes {
			n.Change(func(n *fakecql.Node) { n.Schema = cql.UUID{1} })
		}
		maker, other := c.Nodes[0], c.Nodes[1]
		var heard atomic.Bool
		c.On(func(r *fakecql.Request) bool {
			if r.Stmt != "CREATE TABLE ks.t" {
				return false
			}
			b := wire.AppendInt(nil, int32(frame.ResultSchemaChange))
			for _, s := range []string{"CREATED", "TABLE", "ks", "t"} {
				b = fakecql.AppendString(b, s)
			}
			go func() {
				maker.Change(func(n *fakecql.Node) { n.Schema = cql.UUID{2} })
				r.Conn.Reply(r.Stream, fakecql.OpResult, b)
				maker.Stop()
			}()
			time.AfterFunc(2*time.Second, func() {
				other.Change(func(n *fakecql.Node) { n.Schema = cql.UUID{2} })
				heard.Store(true)
			})
			return true
		})
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Hosts = []string{other.Addr()} })
		require.NoError(t, s.Ready(t.Context()))
		began := time.Now()
		require.NoError(t, s.Query("CREATE TABLE ks.t").HostID(cql.UUID(maker.ID)).Exec(t.Context()))
		require.True(t, heard.Load())
		require.Less(t, time.Since(began), 6*time.Second)
		began = time.Now()
		require.NoError(t, s.AwaitSchemaAgreement(t.Context()))
		require.Zero(t, time.Since(began), "no change precedes")
	})
}

func TestSessionNodeComesBack(t *testing.T) {
	c := newSocketCluster(t, frame.V4, 2)
	s := sessionOn(c)
	n := s.topo.Load().nodeByID(cql.UUID(c.Nodes[1].ID))
	c.Nodes[1].Stop()
	require.Eventually(t, func() bool { return n.pool.pick() == nil }, 5*time.Second, time.Millisecond)
	for range 4 {
		require.NoError(t, s.Query("INSERT").Exec(t.Context()), "the other node serves the request")
	}
	require.ErrorIs(t, s.Query("INSERT").HostID(cql.UUID(c.Nodes[1].ID)).Exec(t.Context()), ErrNoConnections)
	c.Nodes[1].Start()
	require.Eventually(t, func() bool {
		return s.Query("INSERT").HostID(cql.UUID(c.Nodes[1].ID)).Exec(t.Context()) == nil
	}, 10*time.Second, 10*time.Millisecond)
}

func TestSessionNodeRemoved(t *testing.T) {
	c := newFakeCluster(t, frame.V4, 3)
	s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Nodes.ReconnectInterval = 50 * time.Millisecond })
	gone := s.topo.Load().nodeByID(cql.UUID(c.Nodes[2].ID)).pool
	require.NotNil(t, gone.pick())
	c.Mu.Lock()
	c.Peers = c.Nodes[:2]
	c.Mu.Unlock()
	require.Eventually(t, func() bool { return len(s.GetHosts()) == 2 && gone.pick() == nil }, 5*time.Second, time.Millisecond)
	c.Mu.Lock()
	c.Peers = c.Nodes
	c.Mu.Unlock()
	require.Eventually(t, func() bool {
		n := s.topo.Load().nodeByID(cql.UUID(c.Nodes[2].ID))
		return n != nil && n.pool != gone && n.pool.pick() != nil
	}, 5*time.Second, time.Millisecond)
}

// TestSessionPicksUsableConnection: one of a node's two connections refuses requests while the pool still lists it.
func TestSessionPicksUsableConnection(t *testing.T) {
	c := newFakeCluster(t, frame.V4, 1)
	s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Pool.NumConns = 2 })
	p := s.topo.Load().nodes[0].pool
	require.Eventually(t, func() bool { return len(p.open.Load().conns) == 2 }, 5*time.Second, time.Millisecond)
	p.open.Load().conns[0].Draining.Store(true)
	for range 10 {
		require.NoError(t, s.Query("INSERT").Exec(t.Context()))
	}
}
