// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// Faults 16, 19 and 46: statements that nodes forget, and PREPARE.

// TestFault16UnpreparedBatch: a node has forgotten all statements of a batch, and reports one at a time. Each must be
// prepared once more, and the batch must be sent again until it is executed.
func TestFault16UnpreparedBatch(t *testing.T) {
	for _, version := range []byte{fakecql.V4, fakecql.V5} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, version, 1)
			known := map[string]bool{}
			c.On(func(r *fakecql.Request) bool {
				switch r.Op {
				case fakecql.OpPrepare:
					known[r.Stmt] = true
				case fakecql.OpBatch:
					for _, stmt := range r.Stmts {
						if !known[stmt] {
							r.Unprepared(fakecql.StatementID(stmt))
							return true
						}
					}
				}
				return false
			})
			s := sessionOn(c)
			b := s.Batch(cql.LoggedBatch)
			for i := range 20 {
				stmt := fmt.Sprintf("INSERT INTO ks.t%d (id) VALUES (?)", i)
				c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint")})
				b.Query(stmt, i)
			}
			require.NoError(t, b.Exec(t.Context()))
			clear(known)
			require.NoError(t, b.Exec(t.Context()))
			for _, e := range b.Entries {
				_, prepares := c.Count(e.Stmt)
				require.Equal(t, 2, prepares, e.Stmt)
			}
		})
	}
}

// TestFault16UnpreparedThenBroken: a node has forgotten a statement, and its connection breaks while the statement is
// prepared again. The error must report that the request was not executed.
func TestFault16UnpreparedThenBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 1)
		s := sessionOn(c)
		require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
		c.On(func(r *fakecql.Request) bool {
			switch r.Op {
			case fakecql.OpExecute:
				r.Unprepared(fakecql.StatementID("INSERT x"))
			case fakecql.OpPrepare:
				r.HangUp()
			default:
				return false
			}
			return true
		})
		err := s.Query("INSERT x").Exec(t.Context())
		require.ErrorIs(t, err, vecql.ErrConnectionClosed)
		require.False(t, vecql.MayHaveApplied(err))
		sent, _ := c.Count("INSERT x")
		require.Equal(t, 2, sent)
	})
}

// TestFault19SingleFlight: a hundred callers wait for a statement that is being prepared for another caller, whose
// context is canceled. One PREPARE a node must serve them all: with its response, with the server's error, or, if the
// node fails, with another node's response.
func TestFault19SingleFlight(t *testing.T) {
	for _, m := range []struct {
		name   string
		answer func(first, second *fakecql.Request)
		want   error
	}{
		{"answered by the first node", func(r, _ *fakecql.Request) { answerPrepare(r) }, nil},
		{"answered by the second node", func(_, r *fakecql.Request) { answerPrepare(r) }, nil},
		{"refused", func(r, _ *fakecql.Request) { r.Fail(int32(cql.CodeInvalid)) }, cql.CodeInvalid},
		{"the first node goes away", func(r, other *fakecql.Request) { r.HangUp(); answerPrepare(other) }, nil},
	} {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, fakecql.V5, 2)
				var held []*fakecql.Request // guarded by c.Mu
				c.On(func(r *fakecql.Request) bool {
					c.Mu.Lock()
					defer c.Mu.Unlock()
					if r.Op != fakecql.OpPrepare || len(held) == 2 {
						return false
					}
					held = append(held, r)
					return true
				})
				s := sessionOn(c)
				ctx, cancel := context.WithCancel(context.Background())
				leader := make(chan error, 1)
				go func() { leader <- s.Query("SELECT 1").Exec(ctx) }()
				synctest.Wait()
				c.Mu.Lock()
				require.Len(t, held, 1)
				c.Mu.Unlock()
				var wg sync.WaitGroup
				followers := make(chan error, 100)
				for range cap(followers) {
					wg.Go(func() { followers <- s.Query("SELECT 1").Exec(t.Context()) })
				}
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), time.Second)
					defer cancel()
					err := s.Query("SELECT 1").Exec(ctx)
					if !errors.Is(err, context.DeadlineExceeded) || vecql.MayHaveApplied(err) {
						t.Errorf("a follower with a deadline: %v", err)
					}
				})
				synctest.Wait()
				cancel()
				err := <-leader
				require.ErrorIs(t, err, context.Canceled)
				require.False(t, vecql.MayHaveApplied(err))
				time.Sleep(2 * time.Second)
				require.Empty(t, followers, "they wait")
				_, prepares := c.Count("SELECT 1")
				require.Equal(t, 2, prepares)
				c.Mu.Lock()
				first, second := held[0], held[1]
				c.Mu.Unlock()
				m.answer(first, second)
				wg.Wait()
				for range cap(followers) {
					err := <-followers
					require.ErrorIs(t, err, m.want)
					if m.want != nil {
						require.False(t, vecql.MayHaveApplied(err))
					}
				}
			})
		})
	}
}

// answerPrepare sends the response to a PREPARE that a hook has kept.
func answerPrepare(r *fakecql.Request) {
	r.Conn.Reply(r.Stream, fakecql.OpResult, r.Node.PreparedBody(r.Stmt, false))
}

// TestFault46PrepareIsLost pauses one node of three, which then answers no PREPARE. A new statement must not wait for
// its timeout: another node prepares it. Without any node that answers, the request's own timeout ends it.
func TestFault46PrepareIsLost(t *testing.T) {
	for name, change := range map[string]func(q *vecql.Query) (context.Context, context.CancelFunc){
		"request timeout": func(q *vecql.Query) (context.Context, context.CancelFunc) {
			q.RequestTimeout(50 * time.Millisecond)
			return context.Background(), func() {}
		},
		"deadline": func(*vecql.Query) (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 50*time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
				var all atomic.Bool // nodes are paused
				c.On(func(r *fakecql.Request) bool {
					return r.Op == fakecql.OpPrepare && (all.Load() || r.Node == c.Nodes[0])
				})
				s := sessionOn(c)
				run := func(i int) error {
					q := s.Query(fmt.Sprintf("SELECT v%d FROM ks.t", i))
					ctx, cancel := change(q)
					defer cancel()
					return q.Exec(ctx)
				}
				failed, slowest := 0, time.Duration(0)
				for i := range 12 {
					began := time.Now()
					if err := run(i); err != nil {
						failed++
						t.Error(err)
					}
					slowest = max(slowest, time.Since(began))
				}
				evidence(t, "PREPARE lost by one of three nodes, "+name, "12 new statements, %d failures, slowest %v", failed, slowest)
				require.Less(t, slowest, 50*time.Millisecond)
				time.Sleep(time.Minute) // PREPAREs in the background have ended
				all.Store(true)
				began := time.Now()
				err := run(12)
				require.Equal(t, 50*time.Millisecond, time.Since(began))
				require.True(t, errors.Is(err, vecql.ErrTimeoutNoResponse) || errors.Is(err, context.DeadlineExceeded), "%v", err)
				require.False(t, vecql.MayHaveApplied(err))
			})
		})
	}
}

// TestFault46PrepareEverywhere prepares a statement: all nodes must have it soon after, so that none answers
// UNPREPARED.
func TestFault46PrepareEverywhere(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		const stmt = "INSERT INTO ks.t (id) VALUES (?)"
		c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
		prepared, executed := map[*fakecql.Node]int{}, map[*fakecql.Node]int{}
		c.On(func(r *fakecql.Request) bool {
			c.Mu.Lock()
			defer c.Mu.Unlock()
			if r.Op == fakecql.OpPrepare {
				prepared[r.Node]++
			} else if r.Op == fakecql.OpExecute {
				executed[r.Node]++
			}
			return false
		})
		s := sessionOn(c)
		require.NoError(t, s.Query(stmt, 1).Exec(t.Context()))
		synctest.Wait()
		c.Mu.Lock()
		require.Len(t, prepared, 3)
		clear(prepared)
		c.Mu.Unlock()
		for i := range 200 {
			require.NoError(t, s.Query(stmt, i).Exec(t.Context()))
		}
		c.Mu.Lock()
		defer c.Mu.Unlock()
		require.Empty(t, prepared)
		require.Len(t, executed, 3)
	})
}

// TestFault16UnpreparedOnce: a node has forgotten a statement. The statement must be prepared once more and the request
// sent again, even if it is not idempotent, because the node has refused it.
func TestFault16UnpreparedOnce(t *testing.T) {
	for _, v := range []byte{fakecql.V4, fakecql.V5} {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			c := newCluster(t, v, 1)
			const stmt = "INSERT INTO ks.t (id) VALUES (?)"
			c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
			var forgotten atomic.Bool
			c.On(func(r *fakecql.Request) bool {
				if (r.Op == fakecql.OpExecute || r.Op == fakecql.OpBatch) && forgotten.CompareAndSwap(true, false) {
					r.Unprepared(fakecql.StatementID(stmt))
					return true
				}
				return false
			})
			s := sessionOn(c)
			require.NoError(t, s.Query(stmt, 1).Exec(t.Context()))
			forgotten.Store(true)
			require.NoError(t, s.Query(stmt, 2).Exec(t.Context()), "safe to resend although not idempotent, because the node refused it")
			sent, prepares := c.Count(stmt)
			require.Equal(t, 3, sent)
			require.Equal(t, 2, prepares)
			forgotten.Store(true)
			require.NoError(t, s.Batch(cql.LoggedBatch).Query(stmt, 3).Query("DELETE FROM ks.t WHERE id = 1").Query(stmt, 4).Exec(t.Context()))
			_, prepares = c.Count(stmt)
			require.Equal(t, 3, prepares)
		})
	}
}

// TestFault16UnpreparedAlways: a node forgets a statement immediately, every time. The request must fail after a few
// attempts.
func TestFault16UnpreparedAlways(t *testing.T) {
	c := newCluster(t, fakecql.V5, 1)
	c.On(func(r *fakecql.Request) bool {
		if r.Op == fakecql.OpExecute {
			r.Unprepared(fakecql.StatementID("SELECT 1"))
		}
		return r.Op == fakecql.OpExecute
	})
	s := sessionOn(c)
	err := s.Query("SELECT 1").Exec(t.Context())
	require.ErrorIs(t, err, cql.CodeUnprepared)
	require.False(t, vecql.MayHaveApplied(err))
	sent, _ := c.Count("SELECT 1")
	require.LessOrEqual(t, sent, 3)
}

// TestFault16UnpreparedOtherID: a node reports another statement than the one sent as unprepared, or returns another id
// when it is prepared again. Values encoded for one id must not be sent with another.
func TestFault16UnpreparedOtherID(t *testing.T) {
	t.Run("of a statement that was not sent", func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 1)
		c.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpExecute {
				r.Unprepared("another statement's id")
			}
			return r.Op == fakecql.OpExecute
		})
		err := sessionOn(c).Query("SELECT 1").Exec(t.Context())
		var broken *cql.ProtocolError
		require.ErrorAs(t, err, &broken)
		require.False(t, vecql.MayHaveApplied(err), "the node refused the request")
	})
	t.Run("of the same statement", func(t *testing.T) { // nodes of several versions compute ids in different ways
		c := newCluster(t, fakecql.V5, 1)
		const stmt = "INSERT INTO ks.t (id) VALUES (?)"
		c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), ID: "old"})
		s := sessionOn(c)
		require.NoError(t, s.Query(stmt, 1).Exec(t.Context()))
		c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), ID: "new"})
		refused := 0
		c.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpExecute && bytes.Contains(r.Body, []byte("old")) {
				refused++
				r.Unprepared("old")
				return true
			}
			return false
		})
		for id := range 3 {
			require.NoError(t, s.Query(stmt, id).Exec(t.Context()))
		}
		require.Equal(t, 1, refused)
	})
	t.Run("after the table changed", func(t *testing.T) { // values encoded for the old columns must not be sent
		c := newCluster(t, fakecql.V5, 1)
		const stmt = "INSERT INTO ks.t (id) VALUES (?)"
		c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), ID: "old"})
		s := sessionOn(c)
		require.NoError(t, s.Query(stmt, 1).Exec(t.Context()))
		c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id text"), ID: "new"})
		c.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpExecute && bytes.Contains(r.Body, []byte("old")) {
				r.Unprepared("old")
				return true
			}
			return false
		})
		err := s.Query(stmt, 1).Exec(t.Context())
		var marshal *cql.MarshalError
		require.ErrorAs(t, err, &marshal, "an int is no text")
		require.False(t, vecql.MayHaveApplied(err))
		require.NoError(t, s.Query(stmt, "1").Exec(t.Context()))
	})
}
