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
)

// This file tests that the end of a session is bounded by its context, whatever the program's own code does meanwhile.

type connectObserverFunc func(o ObservedConnect)

func (f connectObserverFunc) ObserveConnect(o ObservedConnect) { f(o) }

// closedBy runs Close with a second to do it in, and returns how long it took.
func closedBy(t *testing.T, s *Session) (time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	began := time.Now()
	err := s.CloseContext(ctx)
	return time.Since(began), err
}

func TestCloseWhileAnObserverBlocks(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		var blocks atomic.Bool
		free := make(chan struct{})
		cfg.ConnectObserver = connectObserverFunc(func(ObservedConnect) {
			if blocks.Load() {
				<-free
			}
		})
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
			require.Nil(t, n.pool.pick(), "what was dialled meanwhile was closed")
		}
	})
}

func TestCloseWithinAnObserver(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		cfg.Timeout = time.Second
		var session atomic.Pointer[Session]
		cfg.ConnectObserver = connectObserverFunc(func(ObservedConnect) {
			if s := session.Load(); s != nil {
				s.Close()
			}
		})
		s := openSession(t, cfg)
		session.Store(s)
		breakConnections(s)
		time.Sleep(10 * time.Second)
		require.True(t, s.Closed())
		requireClosed(t, s, "Close waits for the observer that it was called by")
	})
}

func TestSecondCloseEndsByItsContext(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		cfg.Timeout = 10 * time.Second
		s := openSession(t, cfg)
		require.NoError(t, s.Query(idempotentInsert).Exec())
		c.answer(func(r *fakeRequest, _ int) {
			time.Sleep(5 * time.Second)
			r.void()
		})
		go func() { _ = s.Query(idempotentInsert).Exec() }()
		synctest.Wait()
		first := make(chan error)
		go func() { first <- s.CloseContext(context.Background()) }()
		synctest.Wait()
		took, err := closedBy(t, s)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, took)
		require.NoError(t, <-first)
		require.NoError(t, s.CloseContext(context.Background()))
	})
}

func TestCloseWhileARemovedNodeEnds(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		cfg.Timeout = 10 * time.Second
		s := openSession(t, cfg)
		require.NoError(t, s.Query(idempotentInsert).Exec())
		c.answer(func(r *fakeRequest, _ int) {
			time.Sleep(5 * time.Second)
			r.void()
		})
		for range 4 {
			go func() { _ = s.Query(idempotentInsert).Exec() }()
		}
		synctest.Wait()
		s.setView(clusterView{partitioner: "Murmur3Partitioner", hosts: s.GetHosts()[:1]})
		took, err := closedBy(t, s)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.LessOrEqual(t, took, 1100*time.Millisecond)
	})
}

// attrsHandler runs the program's code when attributes are bound.
type attrsHandler struct {
	slog.Handler
	bound func()
}

func (h attrsHandler) WithAttrs([]slog.Attr) slog.Handler {
	h.bound()
	return h
}

// The session binds a logger for each node: that runs the program's code, which may call the session and panic.
func TestLoggerRunsUnderNoLock(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		var session atomic.Pointer[Session]
		cfg.Logger = slog.New(attrsHandler{slog.DiscardHandler, func() {
			if s := session.Load(); s != nil {
				if !s.mu.TryLock() {
					t.Error("the session's lock is held")
				} else {
					s.mu.Unlock()
				}
				panic("a handler that can not be trusted")
			}
		}})
		s := openSession(t, cfg)
		session.Store(s)
		view := clusterView{partitioner: "Murmur3Partitioner", hosts: s.GetHosts()}
		view.hosts = append(view.hosts, &HostInfo{id: UUID{9}, addr: view.hosts[0].addr})
		require.NotPanics(t, func() { s.setView(view) })
		require.Len(t, s.GetHosts(), 3)
	})
}

// The control connection may be lost just when it was found good.
func TestControlConnectionLostWhileItIsTaken(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		var session atomic.Pointer[Session]
		var kill atomic.Bool
		cfg.HostFilter = HostFilterFunc(func(*HostInfo) bool {
			if s := session.Load(); s != nil && kill.CompareAndSwap(true, false) {
				for _, n := range c.nodes {
					n.hangUp()
				}
				synctest.Wait()
			}
			return true
		})
		s := openSession(t, cfg)
		session.Store(s)
		kill.Store(true)
		s.control.take().close(ErrConnectionClosed)
		s.control.refreshSoon()
		time.Sleep(20 * time.Second)
		require.False(t, kill.Load())
		require.NotNil(t, s.control.current())
		require.False(t, s.control.current().closed())
	})
}

// A cluster that takes control connections and drops them is not dialled in a loop.
func TestControlConnectionThatDoesNotLast(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		s := openSession(t, cfg)
		var registered atomic.Int32
		c.on(func(r *fakeRequest) bool {
			if r.op != opRegister {
				return false
			}
			registered.Add(1)
			r.node.server.wg.Go(func() {
				time.Sleep(time.Millisecond) // the view has been read
				r.hangUp()
			})
			return false
		})
		s.control.current().close(ErrConnectionClosed)
		time.Sleep(time.Minute)
		require.Greater(t, registered.Load(), int32(10))
		require.Less(t, registered.Load(), int32(40))
	})
}

// closingHandler is a logger that closes the session.
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
			bubble(t, 1, func(t *testing.T, c *fakeCluster) {
				cfg := c.config()
				var session atomic.Pointer[Session]
				cfg.Timeout = time.Second
				cfg.Logger = slog.New(closingHandler{slog.DiscardHandler, &session})
				if listeners {
					cfg.Metadata.SchemaListener.KeyspaceChangeListener = SchemaListenersMux{}
				}
				s := openSession(t, cfg)
				session.Store(s)
				if listeners {
					c.on(func(r *fakeRequest) bool {
						if r.op == opQuery {
							r.fail(CodeServer)
						}
						return r.op == opQuery
					})
					s.schemaChanged(schemaEvent{})
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
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		s := openSession(t, cfg)
		c.nodes[1].schema = UUID{2} // they never agree
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
	for _, conn := range s.topo.Load().nodes[0].pool.open.Load().conns {
		conn.close(ErrConnectionClosed)
	}
}

// requireClosed fails when Close has not finished.
func requireClosed(t *testing.T, s *Session, message string) {
	t.Helper()
	select {
	case <-s.done:
	default:
		t.Fatal(message)
	}
}
