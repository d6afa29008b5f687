// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/soak"
)

// Faults of overload, and of servers that contradict themselves under load.

// busyNode executes one request at a time, in the order of arrival, and drops those whose connection has closed.
type busyNode struct {
	requests chan *fakecql.Request
}

// serve executes requests, each in took.
func (n *busyNode) serve(took time.Duration, stop <-chan struct{}) {
	for {
		select {
		case r := <-n.requests:
			if r.Conn.Closed() {
				continue
			}
			time.Sleep(took)
			r.Void()
		case <-stop:
			return
		}
	}
}

// TestFault44Overload offers three nodes twice the load that they can execute, for 30 seconds, then half. The timeout
// bounds every request. The nodes spend most of their time on requests whose callers still wait, no node loses its
// connections, and two seconds after the overload no request fails.
func TestFault44Overload(t *testing.T) {
	soak.NoRace(t)
	const took, overloaded, recovery, calm = 2 * time.Millisecond, 30, 2, 4
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		defer close(stop)
		nodes := map[*fakecql.Node]*busyNode{}
		h := newHalfDead(t, func(h *halfDead, _ *vecql.ClusterConfig) {
			for _, n := range h.Nodes {
				b := &busyNode{requests: make(chan *fakecql.Request, 1<<20)}
				nodes[n] = b
				n.Server.Go(func() { b.serve(took, stop) })
			}
			h.On(func(r *fakecql.Request) bool {
				if r.Op != fakecql.OpExecute {
					return false
				}
				nodes[r.Node].requests <- r
				return true
			})
		})
		capacity := len(nodes) * int(time.Second/took)
		o := h.load(t, 2*capacity, overloaded)
		for _, err := range o.errs {
			if !errors.Is(err, vecql.ErrTimeoutNoResponse) && !errors.Is(err, vecql.ErrNodeBusy) {
				t.Fatal(err)
			}
		}
		require.Greater(t, 2*capacity*overloaded-len(o.errs), capacity*overloaded*3/4, "requests answered in time")
		for _, took := range o.took {
			require.LessOrEqual(t, slices.Max(took), h.timeout+2*20*time.Millisecond)
		}
		evidence(t, "twice the load that nodes can execute", "%v", o)
		evidence(t, "the two seconds after the overload", "%v", h.load(t, capacity/2, recovery))
		o = h.load(t, capacity/2, calm)
		evidence(t, "the four seconds after them", "%v", o)
		require.Empty(t, o.errs)
	})
}

// TestFault44LostRaces has speculative executions that always lose, because all nodes are equally slow: they are
// bounded. Executions that win, because one node answers only probes, are not.
func TestFault44LostRaces(t *testing.T) {
	const requests = 1000
	for _, lost := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			h := newHalfDead(t, func(h *halfDead, cfg *vecql.ClusterConfig) {
				cfg.Defaults.SpeculativeExecutionPolicy = &vecql.SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: 20 * time.Millisecond}
				cfg.HostSelectionPolicy = tierOf{h.Nodes[1].Addr()}
				h.On(func(r *fakecql.Request) bool {
					switch {
					case r.Op != fakecql.OpExecute, !lost && r.Node != h.Nodes[1]:
						return false
					case lost:
						r.Node.Server.Go(func() { time.Sleep(100 * time.Millisecond); r.Void() })
					}
					return true
				})
			})
			for range requests {
				require.NoError(t, h.session.Query("INSERT x").Exec(t.Context()))
			}
			st := h.session.Stats()
			if lost {
				require.Zero(t, st.SpeculativeWins)
				require.InDelta(t, 100+requests/5, st.SpeculativeExecutions, 5)
			} else {
				require.EqualValues(t, requests, st.SpeculativeExecutions)
				require.EqualValues(t, requests, st.SpeculativeWins)
			}
		})
	}
}

// TestFault42DuplicatedAnswers sends some answers twice, which ends their connections again and again. Each costs the
// requests in flight on its connection and no others, unless they are idempotent: the successor is dialed at once.
func TestFault42DuplicatedAnswers(t *testing.T) {
	const rate, seconds, every, took = 2000, 10, 500, 5 * time.Millisecond
	for _, idempotent := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var executed, duplicates atomic.Int64
			h := newHalfDead(t, func(h *halfDead, cfg *vecql.ClusterConfig) {
				cfg.Defaults.Idempotent = idempotent
				h.On(func(r *fakecql.Request) bool {
					if r.Op != fakecql.OpExecute {
						return false
					}
					r.Node.Server.Go(func() {
						time.Sleep(took)
						r.Void()
						if executed.Add(1)%every == 0 {
							duplicates.Add(1)
							r.Void()
						}
					})
					return true
				})
			})
			o := h.load(t, rate, seconds)
			evidence(t, fmt.Sprintf("duplicated answers, 0.2 %%, idempotent %v", idempotent), "%v, %d duplicates", o, duplicates.Load())
			require.Greater(t, duplicates.Load(), int64(seconds*rate/every/2))
			onConnection := int64(rate * took / time.Second / 3 / 2) // requests in flight, of three nodes with two connections
			if idempotent {
				onConnection = 0
			}
			require.LessOrEqual(t, int64(len(o.errs)), 4*onConnection*duplicates.Load())
			for _, err := range o.errs {
				require.ErrorIs(t, err, vecql.ErrConnectionClosed)
			}
			time.Sleep(10 * time.Second)
			for _, n := range h.session.Stats().Nodes {
				require.Equal(t, 2, n.Connections)
			}
		})
	}
}

// TestFault42StrayFrame sends one answer twice on a connection that was just opened: its successor is dialed at once.
func TestFault42StrayFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stray atomic.Bool
		h := newHalfDead(t, func(h *halfDead, _ *vecql.ClusterConfig) {
			h.On(func(r *fakecql.Request) bool {
				if r.Op == fakecql.OpExecute && stray.CompareAndSwap(true, false) {
					r.Void()
				}
				return false
			})
		})
		require.NoError(t, h.session.Query("INSERT x").Exec(t.Context()))
		stray.Store(true)
		synctest.Wait()
		opened := h.session.Stats().ConnectionsOpened
		_ = h.session.Query("INSERT x").Exec(t.Context())
		synctest.Wait()
		require.Equal(t, opened+1, h.session.Stats().ConnectionsOpened, "without a wait")
	})
}
