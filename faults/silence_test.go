// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
)

// Faults of half-dead nodes: they keep their connections open and answer late, partly, or never. All settings are the
// defaults, except that the timeout suits a busy service.

// halfDead is a cluster of three nodes whose second one may become half-dead.
type halfDead struct {
	*fakecql.Cluster
	session *vecql.Session
	sick    atomic.Bool
	well    chan struct{} // closed when a node that was paused goes on
	timeout time.Duration
}

// newHalfDead returns a cluster and a session with default settings.
func newHalfDead(t *testing.T, change func(h *halfDead, cfg *vecql.ClusterConfig)) *halfDead {
	h := &halfDead{Cluster: newCluster(t, fakecql.V5, 3), well: make(chan struct{}), timeout: time.Second}
	cfg := &vecql.ClusterConfig{Hosts: []string{h.Nodes[0].Addr()}}
	cfg.Pool.Dialer, cfg.Logger, cfg.Timeout = h.Cluster, slog.New(slog.DiscardHandler), h.timeout
	cfg.Defaults.Idempotent = true
	change(h, cfg)
	h.session = openSession(t, cfg)
	return h
}

// pause makes node 2 stop reading while it is sick.
func (h *halfDead) pause() {
	h.On(func(r *fakecql.Request) bool {
		if r.Node == h.Nodes[1] && h.sick.Load() {
			<-h.well
		}
		return false
	})
}

// outcome is what a load has seen.
type outcome struct {
	mu     sync.Mutex
	errs   []error
	failed []int             // by second
	took   [][]time.Duration // by second
}

// load sends rate requests a second for some seconds, and waits for their ends.
func (h *halfDead) load(t *testing.T, rate, seconds int) *outcome {
	t.Helper()
	o := &outcome{failed: make([]int, seconds), took: make([][]time.Duration, seconds)}
	var wg sync.WaitGroup
	for i := range rate * seconds {
		wg.Go(func() {
			began := time.Now()
			err := h.session.Query("INSERT x").Exec(context.Background())
			o.mu.Lock()
			defer o.mu.Unlock()
			if err != nil {
				o.errs = append(o.errs, err)
				o.failed[i/rate]++
			}
			o.took[i/rate] = append(o.took[i/rate], time.Since(began))
		})
		time.Sleep(time.Second / time.Duration(rate))
	}
	wg.Wait()
	return o
}

// requireHealed checks that no request failed or took longer than its timeout, and that none was late after the first
// second.
func (o *outcome) requireHealed(t *testing.T, timeout time.Duration) {
	t.Helper()
	require.Empty(t, o.errs)
	late := 0
	for second, took := range o.took {
		slices.Sort(took)
		require.Less(t, took[len(took)-1], timeout)
		if second == 0 {
			for _, d := range took {
				if d > 0 {
					late++
				}
			}
			continue
		}
		require.Zero(t, took[len(took)-1], "second %d", second)
	}
	require.NotZero(t, late, "the fault has an effect")
}

// silentConns returns the number of silent connections of node 2.
func (h *halfDead) silentConns() int {
	for _, n := range h.session.Stats().Nodes {
		if n.Address == h.Nodes[1].Addr() {
			return n.Silent
		}
	}
	return 0
}

// slowLine delivers a byte a second to the client while sick.
type slowLine struct {
	net.Conn
	sick *atomic.Bool
}

func (c slowLine) Read(b []byte) (int, error) {
	if c.sick.Load() {
		time.Sleep(time.Second)
		b = b[:1]
	}
	return c.Conn.Read(b)
}

// TestFault38PausedNode: one of three nodes stops for two seconds under an open loop.
func TestFault38PausedNode(t *testing.T) {
	for _, rate := range []int{500, 2000} {
		synctest.Test(t, func(t *testing.T) {
			h := newHalfDead(t, func(h *halfDead, _ *vecql.ClusterConfig) { h.pause() })
			h.load(t, rate, 1)
			h.sick.Store(true)
			o := h.load(t, rate, 2)
			evidence(t, fmt.Sprintf("a node that stops for two seconds, idempotent true, %d requests/s", rate), "%v", o)
			o.requireHealed(t, h.timeout)
			require.Equal(t, 2, h.silentConns())
			require.NotZero(t, h.session.Stats().Moved)
			h.sick.Store(false)
			close(h.well)
			time.Sleep(time.Second)
			require.Zero(t, h.silentConns(), "probes were answered")
			require.Empty(t, h.load(t, rate, 1).errs, "late answers of a pause are no overload")
		})
	}
}

// TestFault39Trickle: the answers of one of three nodes arrive at a byte a second.
func TestFault39Trickle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHalfDead(t, func(h *halfDead, _ *vecql.ClusterConfig) {
			h.Wrap = func(n *fakecql.Node, client net.Conn) net.Conn {
				if n == h.Nodes[1] {
					return slowLine{client, &h.sick}
				}
				return client
			}
		})
		h.load(t, 300, 1)
		h.sick.Store(true)
		h.load(t, 300, 30).requireHealed(t, h.timeout)
	})
}

// TestFault40AnswersOptionsOnly: one of three nodes answers OPTIONS, and nothing else. Frequent heartbeats do not hide
// that.
func TestFault40AnswersOptionsOnly(t *testing.T) {
	for _, interval := range []time.Duration{0, 100 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			h := newHalfDead(t, func(h *halfDead, cfg *vecql.ClusterConfig) {
				h.On(func(r *fakecql.Request) bool { return r.Node == h.Nodes[1] && h.sick.Load() })
				cfg.Pool.HeartbeatInterval = interval
			})
			h.load(t, 300, 1)
			h.sick.Store(true)
			h.load(t, 300, 30).requireHealed(t, h.timeout)
			require.Equal(t, 2, h.silentConns(), "the connections stay open")
			h.sick.Store(false)
			time.Sleep(7 * time.Second)
			require.Zero(t, h.silentConns(), "the next probe was answered")
		})
	}
}

// TestFault41BlackHole: the network drops everything to and from one of three nodes.
func TestFault41BlackHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHalfDead(t, func(h *halfDead, _ *vecql.ClusterConfig) { h.pause() })
		h.load(t, 300, 1)
		lost := h.session.Stats().ConnectionsLost
		h.sick.Store(true)
		h.Nodes[1].Change(func(n *fakecql.Node) { n.Silent = true })
		h.load(t, 300, 5).requireHealed(t, h.timeout)
		time.Sleep(time.Second)
		require.EqualValues(t, lost+2, h.session.Stats().ConnectionsLost, "a heartbeat had no answer")
		h.sick.Store(false)
		close(h.well)
	})
}

// TestFault38TimeoutsMoveOn: timeouts of any length, by context or setting, leave time for the next node, on a node
// that has only this one request.
func TestFault38TimeoutsMoveOn(t *testing.T) {
	for _, timeout := range []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 11 * time.Second} {
		for _, byContext := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				h := newHalfDead(t, func(h *halfDead, cfg *vecql.ClusterConfig) {
					h.pause()
					cfg.Timeout = timeout
					cfg.HostSelectionPolicy = tierOf{h.Nodes[1].Addr()}
				})
				require.NoError(t, h.session.Query("INSERT x").Exec(t.Context()))
				h.sick.Store(true)
				ctx := context.Background()
				if byContext {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, timeout)
					defer cancel()
				}
				began := time.Now()
				require.NoError(t, h.session.Query("INSERT x").Exec(ctx))
				require.LessOrEqual(t, time.Since(began), min(timeout, 600*time.Millisecond))
				require.Error(t, h.session.Query("INSERT x").HostID(cql.UUID(h.Nodes[1].ID)).Exec(ctx), "no other node is allowed")
				h.sick.Store(false)
				close(h.well)
			})
		}
	}
}

// tierOf is a policy that prefers the node at an address.
type tierOf struct{ addr string }

func (p tierOf) Tier(h *cql.Host) int {
	if h.Address.String() == p.addr {
		return 0
	}
	return 1
}

// TestFault38NotIdempotent: a request that is not idempotent and may have been executed stays on the silent node until
// its timeout, and is sent once. The next ones go to other nodes.
func TestFault38NotIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHalfDead(t, func(h *halfDead, cfg *vecql.ClusterConfig) {
			h.On(func(r *fakecql.Request) bool { return r.Node == h.Nodes[1] && h.sick.Load() })
			cfg.Defaults.Idempotent = false
			cfg.HostSelectionPolicy = tierOf{h.Nodes[1].Addr()}
		})
		require.NoError(t, h.session.Query("INSERT x").Exec(t.Context()))
		h.sick.Store(true)
		began := time.Now()
		require.ErrorIs(t, h.session.Query("INSERT x").Exec(t.Context()), vecql.ErrTimeoutNoResponse)
		require.GreaterOrEqual(t, time.Since(began), h.timeout)
		sent, _ := h.Count("INSERT x")
		require.Equal(t, 2, sent)
		began = time.Now()
		require.NoError(t, h.session.Query("INSERT x").Exec(t.Context()))
		require.Zero(t, time.Since(began))
	})
}

// TestFault38SlowRequest: a request takes nearly all of its timeout on a node that answers others at once. It is not
// sent a second time, and the node is not silent.
func TestFault38SlowRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHalfDead(t, func(h *halfDead, cfg *vecql.ClusterConfig) {
			cfg.Timeout = 11 * time.Second
			h.On(func(r *fakecql.Request) bool {
				if r.Stmt == "SELECT slow" && r.Op == fakecql.OpExecute {
					r.Node.Server.Go(func() { time.Sleep(10 * time.Second); r.Void() })
					return true
				}
				return false
			})
		})
		for range 6 {
			began := time.Now()
			require.NoError(t, h.session.Query("SELECT slow").Exec(t.Context()))
			require.Equal(t, 10*time.Second, time.Since(began))
		}
		sent, _ := h.Count("SELECT slow")
		require.Equal(t, 6, sent)
		require.Zero(t, h.session.Stats().Moved)
	})
}

// TestFault38AllNodesSilent: all nodes stop for a while that is shorter than the timeout. Requests wait for them.
func TestFault38AllNodesSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHalfDead(t, func(h *halfDead, cfg *vecql.ClusterConfig) {
			cfg.Timeout = 11 * time.Second
			h.On(func(*fakecql.Request) bool {
				if h.sick.Load() {
					<-h.well
				}
				return false
			})
		})
		require.NoError(t, h.session.Query("INSERT x").Exec(t.Context()))
		h.sick.Store(true)
		time.AfterFunc(4*time.Second, func() { h.sick.Store(false); close(h.well) })
		o := h.load(t, 100, 6)
		require.Empty(t, o.errs)
		sent, _ := h.Count("INSERT x")
		require.LessOrEqual(t, sent, 1+6*100*4, "each node at most once, one of them twice")
	})
}

// TestFault38OnlyNodeLeft: the node that stops for a while is the only one with connections. Its requests are sent a
// second time, when the plan begins again, and wait for it.
func TestFault38OnlyNodeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHalfDead(t, func(h *halfDead, cfg *vecql.ClusterConfig) {
			h.pause()
			cfg.Timeout = 11 * time.Second
			cfg.HostSelectionPolicy = tierOf{h.Nodes[1].Addr()}
		})
		require.NoError(t, h.session.Query("INSERT x").Exec(t.Context()))
		h.sick.Store(true)
		h.Nodes[0].Stop()
		h.Nodes[2].Stop()
		time.AfterFunc(3*time.Second, func() { h.sick.Store(false); close(h.well) })
		synctest.Wait()
		began := time.Now()
		require.NoError(t, h.session.Query("INSERT x").Exec(t.Context()))
		require.Equal(t, 3*time.Second, time.Since(began))
		sent, _ := h.Count("INSERT x")
		require.LessOrEqual(t, sent, 1+2)
	})
}

// always is a retry policy.
type always vecql.Decision

func (d always) Decide(context.Context, vecql.Attempt) vecql.Decision { return vecql.Decision(d) }

// TestFault38RetryAfterMove: a request goes on from a silent node to one that refuses it, and is sent there again. The
// move shares the time of one attempt; the retry has the time of its own.
func TestFault38RetryAfterMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused sync.Map // statements
		h := newHalfDead(t, func(h *halfDead, cfg *vecql.ClusterConfig) {
			h.On(func(r *fakecql.Request) bool {
				switch {
				case !h.sick.Load():
					return false
				case r.Node == h.Nodes[1]:
					return true
				case r.Op != fakecql.OpExecute:
					return false
				}
				if _, again := refused.LoadOrStore(r.Stmt, true); again {
					time.AfterFunc(h.timeout*9/10, r.Void)
				} else {
					r.Fail(int32(cql.CodeOverloaded))
				}
				return true
			})
			cfg.Defaults.RetryPolicy = always{Type: vecql.Retry}
			cfg.HostSelectionPolicy = tierOf{h.Nodes[1].Addr()}
		})
		insert := func(i int) error { return h.session.Query(fmt.Sprint("INSERT ", i)).Exec(t.Context()) }
		for i := range 10 {
			require.NoError(t, insert(i))
		}
		h.Nodes[0].Stop()
		h.sick.Store(true)
		var wg sync.WaitGroup
		errs := make([]error, 10)
		for i := range errs {
			wg.Go(func() { errs[i] = insert(i) })
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
		require.NotZero(t, h.session.Stats().Moved)
	})
}

// TestContextEndsOnSilentNodes: a request whose context ends while it goes on from a silent node to the next one ends
// with the error of the context.
func TestContextEndsOnSilentNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHalfDead(t, func(h *halfDead, _ *vecql.ClusterConfig) {
			h.On(func(*fakecql.Request) bool { return h.sick.Load() })
		})
		h.load(t, 100, 1)
		h.sick.Store(true)
		for i := range 300 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%5)*20*time.Millisecond) // ends at a tick
			require.ErrorIs(t, h.session.Query("INSERT x").Exec(ctx), context.DeadlineExceeded)
			cancel()
		}
	})
}
