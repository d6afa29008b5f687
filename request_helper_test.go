// SPDX-License-Identifier: Apache-2.0

package vecql

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

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/flight"
	"github.com/vecql/vecql/stats"
)

// Requests that the driver makes within a request: they have its deadline and its next nodes, and no other idempotence
// than their own.

// forgetAll makes every node forget its statements.
func forgetAll(c *fakecql.Cluster) {
	for _, n := range c.Nodes {
		n.Forget()
	}
}

// TestPrepareAgainHasTheDeadline requires that a request whose node must prepare its statement again ends in the time
// of one attempt: when the PREPARE has no answer, and when PREPARE and EXECUTE together take too long.
func TestPrepareAgainHasTheDeadline(t *testing.T) {
	const timeout, half = 100 * time.Millisecond, 60 * time.Millisecond
	for name, m := range map[string]struct {
		prepare, execute time.Duration // of the answers; 0 means none
		mayHaveApplied   bool
	}{
		"PREPARE has no answer":    {0, time.Millisecond, false},
		"EXECUTE has no answer":    {time.Millisecond, 0, true},
		"both are slow":            {half, half, true},
		"PREPARE takes too long":   {3 * timeout, time.Millisecond, false},
		"EXECUTE takes too long":   {half, 3 * timeout, true},
		"both are fast (no fault)": {time.Millisecond, time.Millisecond, false},
	} {
		for _, byContext := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, context %v", name, byContext), func(t *testing.T) {
				bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
					s := sessionOn(c)
					require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
					synctest.Wait()
					forgetAll(c)
					c.On(func(r *fakecql.Request) bool {
						delay := m.prepare
						switch r.Op {
						case fakecql.OpExecute:
							delay = m.execute
						case fakecql.OpPrepare:
						default:
							return false
						}
						if delay > 0 {
							time.AfterFunc(delay, func() {
								if r.Op == fakecql.OpExecute {
									r.Void()
								} else {
									r.Conn.Reply(r.Stream, fakecql.OpResult, r.Node.PreparedBody(r.Stmt, false))
								}
							})
						}
						return true
					})
					ctx, q := t.Context(), s.Query(idempotentInsert).RetryPolicy(retryFunc(func(Attempt) Decision { return Decision{} }))
					if byContext {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, timeout)
						defer cancel()
					} else {
						q.RequestTimeout(timeout)
					}
					began := time.Now()
					err := q.Exec(ctx)
					took := time.Since(began)
					if m.prepare > 0 && m.execute > 0 && m.prepare+m.execute < timeout {
						require.NoError(t, err)
						require.Equal(t, m.prepare+m.execute, took)
					} else {
						require.Error(t, err)
						require.Contains(t, []stats.ErrorClass{stats.ClassTimeout, stats.ClassCanceled}, ErrorClassOf(err))
						require.Equal(t, m.mayHaveApplied, MayHaveApplied(err))
						require.GreaterOrEqual(t, took, timeout)
						require.Less(t, took, timeout+2*conn.TickInterval)
					}
					time.Sleep(time.Second) // late answers
				})
			})
		}
	}
}

// TestPrepareAgainGoesOnToOtherNodes requires that a request leaves a node that does not answer the PREPARE of its
// statement, also a request that is not idempotent, since the node has not executed it: when the node is silent, and
// when it answers everything else.
func TestPrepareAgainGoesOnToOtherNodes(t *testing.T) {
	for _, silent := range []bool{false, true} {
		for _, kind := range []string{"query", "batch"} {
			t.Run(fmt.Sprintf("%s, silent %v", kind, silent), func(t *testing.T) {
				bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
					const insert = "INSERT INTO ks.t (id) VALUES (?)"
					c.Prepare(insert, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
					s := sessionOn(c)
					requireAllUp(t, s)
					require.NoError(t, s.Query(insert, 1).Exec(t.Context()))
					synctest.Wait()
					lost := c.Nodes[0]
					lost.Forget()
					var prepares, executed atomic.Int32
					c.On(func(r *fakecql.Request) bool {
						switch {
						case r.Op == fakecql.OpExecute || r.Op == fakecql.OpBatch:
							executed.Add(1)
						case r.Node == lost && r.Op == fakecql.OpPrepare:
							prepares.Add(1)
							return true
						case r.Node == lost && silent:
							return true
						}
						return false
					})
					for i := range 12 {
						began := time.Now()
						var err error
						if kind == "batch" {
							err = s.Batch(cql.LoggedBatch).Query(insert, i).Query(insert, i).Exec(t.Context())
						} else {
							err = s.Query(insert, i).Exec(t.Context())
						}
						require.NoError(t, err)
						require.Less(t, time.Since(began), 3*time.Second, "the timeout is five seconds")
					}
					require.Positive(t, prepares.Load())
					require.EqualValues(t, 12, executed.Load())
				})
			})
		}
	}
}

// TestPrepareAgainHasNoIdempotence requires that a failed PREPARE of a statement that a node has forgotten does not end
// a request that is not idempotent: the retry policy decides about it as about a request that was refused.
func TestPrepareAgainHasNoIdempotence(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		requireAllUp(t, s)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		synctest.Wait()
		for name, fail := range map[string]func(r *fakecql.Request){
			"overloaded": func(r *fakecql.Request) { r.Fail(int32(cql.CodeOverloaded)) },
			"hang up":    func(r *fakecql.Request) { r.HangUp() },
		} {
			forgetAll(c)
			var failed atomic.Bool
			c.On(func(r *fakecql.Request) bool {
				if r.Op != fakecql.OpPrepare || !failed.CompareAndSwap(false, true) {
					return false
				}
				fail(r)
				return true
			})
			var asked []Attempt
			policy := retryFunc(func(a Attempt) Decision {
				asked = append(asked, a)
				return Decision{Type: RetryNextHost}
			})
			require.NoError(t, s.Query(idempotentInsert).RetryPolicy(policy).Exec(t.Context()), name)
			require.Len(t, asked, 1, name)
			require.False(t, asked[0].MayHaveApplied, name)
		}
	})
}

// TestVerbsThatPrepareHaveTheOptions requires that verbs which only prepare have the timeout and the retry policy of
// their query.
func TestVerbsThatPrepareHaveTheOptions(t *testing.T) {
	type row struct{ ID int64 }
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		const insert = "INSERT INTO ks.t (id) VALUES (?)"
		c.Prepare(insert, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
		s := sessionOn(c)
		requireAllUp(t, s)
		for name, prepare := range map[string]func(q *Query) error{
			"Prepare":     func(q *Query) error { _, err := Prepare[row](t.Context(), q); return err },
			"PrepareRows": func(q *Query) error { _, err := q.PrepareRows(t.Context(), nil); return err },
		} {
			c.On(func(r *fakecql.Request) bool { return r.Op == fakecql.OpPrepare })
			began := time.Now()
			require.ErrorIs(t, prepare(s.Query(insert).RequestTimeout(100*time.Millisecond)), conn.ErrTimeout, name)
			require.Equal(t, 100*time.Millisecond, time.Since(began), name)
			time.Sleep(time.Minute) // the PREPAREs have ended
			failPrepares(c, cql.CodeServer, 9)
			asked := 0
			policy := retryFunc(func(a Attempt) Decision {
				asked++
				return Decision{}
			})
			require.ErrorIs(t, prepare(s.Query(insert).RetryPolicy(policy)), cql.CodeServer, name)
			require.Equal(t, 1, asked, name)
		}
	})
}

// TestBatchPreparesInOneTimeout requires that the PREPAREs of a batch share one timeout, and that the request itself
// has a whole one.
func TestBatchPreparesInOneTimeout(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		const each, timeout = 40 * time.Millisecond, 100 * time.Millisecond
		s := sessionOn(c)
		batchOf := func(first, n int) *Batch {
			b := s.Batch(cql.LoggedBatch).RequestTimeout(timeout)
			for i := range n {
				stmt := fmt.Sprintf("INSERT INTO ks.t%d (id) VALUES (?)", first+i)
				c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
				b.Query(stmt, 1)
			}
			return b
		}
		c.On(func(r *fakecql.Request) bool {
			switch r.Op {
			case fakecql.OpPrepare:
				time.AfterFunc(each, func() {
					r.Conn.Reply(r.Stream, fakecql.OpResult, r.Node.PreparedBody(r.Stmt, false))
				})
			case fakecql.OpBatch:
				time.AfterFunc(timeout-10*time.Millisecond, r.Void)
			default:
				return false
			}
			return true
		})
		began := time.Now()
		require.NoError(t, batchOf(0, 2).Exec(t.Context()))
		require.Equal(t, 2*each+timeout-10*time.Millisecond, time.Since(began))
		began = time.Now()
		require.ErrorIs(t, batchOf(10, 20).Exec(t.Context()), conn.ErrTimeout)
		require.Equal(t, timeout, time.Since(began))
		time.Sleep(time.Second)
	})
}

// TestSchemaAgreementAfterSilence requires that the wait for schema agreement goes on to other nodes when the node that
// made the change does not answer any more.
func TestSchemaAgreementAfterSilence(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		requireAllUp(t, s)
		for range 6 {
			var lost atomic.Pointer[fakecql.Node]
			c.On(func(r *fakecql.Request) bool {
				if r.Stmt == "CREATE TABLE ks.t" {
					lost.Store(r.Node)
					body := fakecql.Message(fakecql.Ints(fakecql.ResultSchemaChange), 7, "CREATED", 5, "TABLE", 2, "ks", 1, "t")
					r.Conn.Reply(r.Stream, fakecql.OpResult, body)
					return true
				}
				return r.Node == lost.Load()
			})
			began := time.Now()
			require.NoError(t, s.Query("CREATE TABLE ks.t").Exec(t.Context()))
			require.NotNil(t, lost.Load())
			require.Less(t, time.Since(began), 10*time.Second)
			c.On(nil)
			time.Sleep(time.Minute)
		}
	})
}

// TestPrepareAgainEachStatement requires that a node which has forgotten all statements of a batch, and reports one at
// a time, prepares each one again.
func TestPrepareAgainEachStatement(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		b := s.Batch(cql.LoggedBatch)
		for i := range 5 {
			stmt := fmt.Sprintf("INSERT INTO ks.t%d (id) VALUES (?)", i)
			c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
			b.Query(stmt, i)
		}
		require.NoError(t, b.Exec(t.Context()))
		forgetAll(c)
		require.NoError(t, b.Exec(t.Context()))
		require.EqualValues(t, 5, s.Stats().PreparedAgain)
		require.Empty(t, s.Stats().Errors)
	})
}

// TestTimeoutOfPrepareAgain requires the time of a PREPARE within an attempt: the rest of the attempt, or half of it if
// there is another node.
func TestTimeoutOfPrepareAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, m := range map[string]struct {
			timeout, deadline, def time.Duration // of the call, of its context, of the session; 0 means none
			alone, beside          time.Duration // without and with another node
		}{
			"of the session":            {0, 0, 4 * time.Second, 4 * time.Second, 2 * time.Second},
			"of the call":               {time.Second, 0, 4 * time.Second, time.Second, time.Second / 2},
			"of the context":            {0, 400 * time.Millisecond, 4 * time.Second, 400 * time.Millisecond, 200 * time.Millisecond},
			"of the call, with context": {time.Second, time.Minute, 0, time.Second, time.Second / 2},
			"none":                      {0, 0, 0, 0, spreadTimeout},
			"the context has ended":     {0, -time.Second, 0, conn.TickInterval, conn.TickInterval / 2},
		} {
			ctx := t.Context()
			if m.deadline != 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, m.deadline)
				defer cancel()
			}
			c := &call{callState: callState{req: conn.Request{Timeout: m.timeout}}}
			require.Equal(t, m.alone, c.timeoutAgain(ctx, m.def), name)
			c.others = true
			require.Equal(t, m.beside, c.timeoutAgain(ctx, m.def), name)
		}
	})
}

// TestPrepareAgainCountsForTheNextNode requires that a request which leaves a node that does not answer a PREPARE has
// only the rest of its time at the next node.
func TestPrepareAgainCountsForTheNextNode(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		const timeout, slow = 400 * time.Millisecond, 100 * time.Millisecond
		s := sessionOn(c)
		requireAllUp(t, s)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		synctest.Wait()
		var first *fakecql.Node
		c.On(func(r *fakecql.Request) bool {
			c.Mu.Lock()
			defer c.Mu.Unlock()
			switch {
			case r.Op == fakecql.OpExecute && first == nil:
				first = r.Node
				time.AfterFunc(slow, func() { r.Unprepared(fakecql.StatementID(idempotentInsert)) })
				return true
			case r.Op == fakecql.OpExecute, r.Op == fakecql.OpPrepare:
				return true
			}
			return false
		})
		began := time.Now()
		policy := retryFunc(func(Attempt) Decision { return Decision{} })
		err := s.Query(idempotentInsert).RequestTimeout(timeout).RetryPolicy(policy).Exec(t.Context())
		require.ErrorIs(t, err, conn.ErrTimeout)
		require.GreaterOrEqual(t, time.Since(began), timeout)
		require.Less(t, time.Since(began), timeout+2*conn.TickInterval)
		sent, _ := c.Count(idempotentInsert)
		require.Equal(t, 3, sent)
		require.EqualValues(t, 1, s.Stats().Moved)
		require.Zero(t, s.Stats().Retries)
	})
}

// TestOutdatedValuesAreNotSent requires that a request which waits while its statement changes is not sent with the
// values of the old types.
func TestOutdatedValuesAreNotSent(t *testing.T) {
	const insert = "INSERT INTO ks.t (id) VALUES (?)"
	prepared := func(version string, typ string) fakecql.Prepared {
		return fakecql.Prepared{Bind: fakecql.Columns("id " + typ), PK: []int{0}, ID: version}
	}
	for name, exec := range map[string]func(s *Session) error{
		"query": func(s *Session) error { return s.Query(insert, 7).Exec(context.Background()) },
		"batch": func(s *Session) error {
			return s.Batch(cql.LoggedBatch).Query("INSERT other", 7).Query(insert, 7).Exec(context.Background())
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
				c.Prepare(insert, prepared("old", "int"))
				c.Prepare("INSERT other", prepared("other", "int"))
				s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Limits.Throttle = Throttle{MaxRequests: 1} })
				require.NoError(t, exec(s))
				asked, old := 0, 0
				c.On(func(r *fakecql.Request) bool {
					if r.Op != fakecql.OpExecute && r.Op != fakecql.OpBatch {
						return false
					}
					if asked++; asked == 1 {
						c.Prepare(insert, prepared("new", "bigint"))
						time.AfterFunc(time.Second, func() { r.Unprepared("old") })
						return true
					}
					if bytes.Contains(r.Body, []byte("old")) {
						old++
					}
					return false
				})
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() { require.NoError(t, exec(s)) })
				}
				wg.Wait()
				require.Equal(t, 4, asked)
				require.Zero(t, old)
			})
		})
	}
}

// TestPrepareAgainBehindAStalledWrite requires that a request whose PREPARE waits for a stalled socket until its time
// is up goes on to another node, and fails if there is none.
func TestPrepareAgainBehindAStalledWrite(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		stmt := s.statements.Known(flight.Key{Text: idempotentInsert})
		require.NotNil(t, stmt)
		stalled := idleConn()
		stalled.Stall(true)
		for _, others := range []bool{true, false} {
			of := &call{callState: callState{others: others, req: conn.Request{Timeout: time.Second}}}
			err := s.prepareAgain(t.Context(), stalled, of, stmt)
			require.ErrorIs(t, err, conn.ErrTimeout)
			require.Equal(t, others, errors.Is(err, conn.ErrSilent))
			require.Equal(t, others, attemptMayHaveApplied(err))
			require.ErrorContains(t, err, idempotentInsert)
		}
		stalled.Close(conn.ErrDrained)
	})
}
