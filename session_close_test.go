// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
)

// Closing a session: the context bounds it even if the program's own code blocks.

// closedBy runs Shutdown with a timeout of a second and returns its duration.
func closedBy(t *testing.T, s *Session) (time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	began := time.Now()
	err := s.Shutdown(ctx)
	return time.Since(began), err
}

func TestCloseWhileAnObserverBlocks(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		var blocks atomic.Bool
		free := make(chan struct{})
		cfg.Pool.ConnectObserver = func(ObservedConnect) {
			if blocks.Load() {
				<-free
			}
		}
		s := openSession(t, cfg)
		blocks.Store(true)
		breakConnections(s)
		time.Sleep(time.Second) // the pool dials again
		took, err := closedBy(t, s)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, took)
		close(free)
		synctest.Wait()
		for _, n := range s.topo.Load().nodes {
			require.Nil(t, n.pool.pick(), "a connection dialed meanwhile was closed")
		}
	})
}

func TestCloseWithinAnObserver(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Timeout = time.Second
		var session atomic.Pointer[Session]
		cfg.Pool.ConnectObserver = func(ObservedConnect) {
			if s := session.Load(); s != nil {
				s.Close()
			}
		}
		s := openSession(t, cfg)
		session.Store(s)
		breakConnections(s)
		time.Sleep(10 * time.Second)
		require.True(t, s.Closed())
		requireClosed(t, s, "Close waits for the observer that it was called by")
	})
}

func TestSecondCloseEndsByItsContext(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Timeout = 10 * time.Second
		s := openSession(t, cfg)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		c.Answer(func(r *fakecql.Request, _ int) {
			time.Sleep(5 * time.Second)
			r.Void()
		})
		go func() { _ = s.Query(idempotentInsert).Exec(t.Context()) }()
		synctest.Wait()
		first := make(chan error)
		go func() { first <- s.Shutdown(context.Background()) }()
		synctest.Wait()
		took, err := closedBy(t, s)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, took)
		require.NoError(t, <-first)
		require.NoError(t, s.Shutdown(context.Background()))
	})
}

func TestCloseWhileARemovedNodeEnds(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Timeout = 10 * time.Second
		s := openSession(t, cfg)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		c.Answer(func(r *fakecql.Request, _ int) {
			time.Sleep(5 * time.Second)
			r.Void()
		})
		for range 4 {
			go func() { _ = s.Query(idempotentInsert).Exec(t.Context()) }()
		}
		synctest.Wait()
		s.setView(clusterView{partitioner: "Murmur3Partitioner", nodes: nodesOf(s.GetHosts()[:1]...)})
		took, err := closedBy(t, s)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.LessOrEqual(t, took, 1100*time.Millisecond)
	})
}

// attrsHandler is a log handler that calls a function when attributes are bound.
type attrsHandler struct {
	slog.Handler
	bound func()
}

func (h attrsHandler) WithAttrs([]slog.Attr) slog.Handler {
	h.bound()
	return h
}

// The session binds a logger for each node: this runs the program's handler, which may call the session and panic.
func TestLoggerRunsUnderNoLock(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		var session atomic.Pointer[Session]
		cfg.Logger = slog.New(attrsHandler{slog.DiscardHandler, func() {
			if s := session.Load(); s != nil {
				if !s.mu.TryLock() {
					t.Error("the session's lock is held")
				} else {
					s.mu.Unlock()
				}
				panic("a handler that cannot be trusted")
			}
		}})
		s := openSession(t, cfg)
		session.Store(s)
		view := clusterView{partitioner: "Murmur3Partitioner", nodes: nodesOf(s.GetHosts()...)}
		view.nodes = append(view.nodes, nodesOf(&cql.Host{ID: cql.UUID{9}, Address: view.nodes[0].info.Address})...)
		require.NotPanics(t, func() { s.setView(view) })
		require.Len(t, s.GetHosts(), 3)
	})
}

// The control connection may be lost just after it was checked.
func TestControlConnectionLostAfterCheck(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		var session atomic.Pointer[Session]
		var kill atomic.Bool
		cfg.Nodes.HostFilter = func(*cql.Host) bool {
			if s := session.Load(); s != nil && kill.CompareAndSwap(true, false) {
				for _, n := range c.Nodes {
					n.HangUp()
				}
				synctest.Wait()
			}
			return true
		}
		s := openSession(t, cfg)
		session.Store(s)
		kill.Store(true)
		s.control.take().Close(conn.ErrClosed)
		s.control.refreshSoon()
		time.Sleep(20 * time.Second)
		require.False(t, kill.Load())
		require.NotNil(t, s.control.current())
		require.False(t, s.control.current().Closed())
	})
}

// A cluster that accepts control connections and closes them is dialed with backoff.
func TestControlConnectionThatDoesNotLast(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		s := openSession(t, cfg)
		var registered atomic.Int32
		c.On(func(r *fakecql.Request) bool {
			if r.Op != fakecql.OpRegister {
				return false
			}
			registered.Add(1)
			r.Node.Server.Go(func() {
				time.Sleep(time.Millisecond) // the view has been read
				r.HangUp()
			})
			return false
		})
		s.control.current().Close(conn.ErrClosed)
		time.Sleep(time.Minute)
		require.Greater(t, registered.Load(), int32(10))
		require.Less(t, registered.Load(), int32(40))
	})
}

// closingHandler is a log handler that closes the session.
type closingHandler struct {
	slog.Handler
	session *atomic.Pointer[Session]
}

func (h closingHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h closingHandler) Handle(context.Context, slog.Record) error {
	if s := h.session.Load(); s != nil {
		s.Close()
	}
	return nil
}

func TestCloseWithinALogger(t *testing.T) {
	for name, listeners := range map[string]bool{"of the pool": false, "of the listeners": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
				cfg := configOf(c)
				var session atomic.Pointer[Session]
				cfg.Timeout = time.Second
				cfg.Logger = slog.New(closingHandler{slog.DiscardHandler, &session})
				if listeners {
					cfg.Schema.OnChange = func(SchemaChange) {}
				}
				s := openSession(t, cfg)
				session.Store(s)
				if listeners {
					c.On(func(r *fakecql.Request) bool {
						if r.Op == fakecql.OpQuery {
							r.Fail(int32(cql.CodeServer))
						}
						return r.Op == fakecql.OpQuery
					})
					s.schemaChanged(frame.SchemaEvent{})
					s.schemaSettled()
				} else {
					breakConnections(s)
				}
				time.Sleep(time.Minute)
				requireClosed(t, s, "Close waits for the logger that it was called by")
			})
		})
	}
}

func TestSchemaAgreementEndsWithTheSession(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		s := openSession(t, cfg)
		c.Nodes[1].Schema = cql.UUID{2} // the nodes never agree
		errs := make(chan error, 1)
		go func() { errs <- s.AwaitSchemaAgreement(context.Background()) }()
		time.Sleep(time.Second)
		began := time.Now()
		s.Close()
		require.ErrorIs(t, <-errs, ErrSessionClosed)
		require.ErrorIs(t, s.AwaitSchemaAgreement(context.Background()), ErrSessionClosed)
		require.Less(t, time.Since(began), 3*time.Second)
	})
}

// breakConnections ends the session's connections to its first node.
func breakConnections(s *Session) {
	for _, link := range s.topo.Load().nodes[0].pool.open.Load().conns {
		link.Close(conn.ErrClosed)
	}
}

// requireClosed checks that Close has finished.
func requireClosed(t *testing.T, s *Session, message string) {
	t.Helper()
	select {
	case <-s.done:
	default:
		t.Fatal(message)
	}
}
