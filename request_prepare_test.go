// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
)

// A PREPARE that fails counts as the attempts of the request that needs the statement.

// failPrepares makes the first n PREPAREs fail, and those after them succeed.
func failPrepares(c *fakecql.Cluster, code cql.Code, n int) {
	c.On(func(r *fakecql.Request) bool {
		if r.Op != fakecql.OpPrepare {
			return false
		}
		c.Mu.Lock()
		defer c.Mu.Unlock()
		n--
		if n >= 0 {
			r.Fail(int32(code))
		}
		return n >= 0
	})
}

func TestFailedPrepareIsAnAttempt(t *testing.T) {
	for name, m := range map[string]struct {
		failures, retries, attempts int
	}{
		"once":                {1, 0, 1},
		"on two nodes":        {9, 1, 2},
		"until there is none": {9, 7, 3},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
				s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Keyspace = "ks" })
				requireAllUp(t, s)
				failPrepares(c, cql.CodeInvalid, m.failures)
				type key struct{}
				ctx := context.WithValue(t.Context(), key{}, "mine")
				var asked []Attempt
				policy := contextRetry(func(ctx context.Context, a Attempt) Decision {
					require.Equal(t, "mine", ctx.Value(key{}))
					require.NoError(t, ctx.Err())
					asked = append(asked, a)
					if a.Number > m.retries {
						return Decision{}
					}
					return Decision{Type: RetryNextHost}
				})
				var seen attemptRecorder
				it := s.Query(idempotentInsert).RetryPolicy(policy).Observer(seen.observe).Iter(ctx)
				require.Equal(t, m.attempts, it.Attempts())
				var f *RequestFailure
				require.ErrorAs(t, it.Close(), &f)
				require.Equal(t, m.attempts, f.Attempts)
				require.Equal(t, f.Host, it.Host().Address)
				require.Contains(t, s.GetHosts(), it.Host())
				require.False(t, MayHaveApplied(f))
				require.Len(t, asked, m.attempts)
				require.Len(t, seen.queries, m.attempts)
				for i, o := range seen.queries {
					require.Equal(t, []any{i, "ks", idempotentInsert, asked[i].Host}, []any{o.Attempt, o.Keyspace, o.Statements[0], o.Host})
					require.ErrorIs(t, o.Err, cql.CodeInvalid)
					require.Equal(t, 1, o.Metrics.Attempts)
				}
				if m.failures == 1 {
					require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()), "errors are not cached")
					return
				}
				require.Error(t, s.Batch(cql.LoggedBatch).Query(idempotentInsert, 1).RetryPolicy(policy).Observer(seen.observe).Exec(ctx))
				require.Len(t, seen.batches, m.attempts)
			})
		})
	}
}

// contextRetry is a function as a retry policy, with the context.
type contextRetry func(ctx context.Context, a Attempt) Decision

func (f contextRetry) Decide(ctx context.Context, a Attempt) Decision { return f(ctx, a) }

// TestFailedPrepareIsShared requires that calls at the same time share one PREPARE, and that each sees its failure.
func TestFailedPrepareIsShared(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		var sent atomic.Int32
		c.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpPrepare {
				sent.Add(1)
				time.AfterFunc(100*time.Millisecond, func() { r.Fail(int32(cql.CodeServer)) })
			}
			return r.Op == fakecql.OpPrepare
		})
		var asked int
		policy := retryFunc(func(Attempt) Decision { asked++; return Decision{} })
		var seen [5]attemptRecorder
		var wg sync.WaitGroup
		for i := range seen {
			wg.Go(func() {
				it := s.Query(idempotentInsert).RetryPolicy(policy).Observer(seen[i].observe).Iter(t.Context())
				require.Equal(t, 1, it.Attempts())
				require.NotNil(t, it.Host())
				require.ErrorIs(t, it.Close(), cql.CodeServer)
			})
		}
		wg.Wait()
		require.Equal(t, 1, asked)
		require.EqualValues(t, 1, sent.Load())
		for i := range seen {
			require.Len(t, seen[i].queries, 1)
		}
	})
}

// TestPrepareWithoutAnswer requires that a call whose wait for a PREPARE has ended names the node that was asked.
func TestPrepareWithoutAnswer(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		c.On(func(r *fakecql.Request) bool { return r.Op == fakecql.OpPrepare })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, m := range []struct {
			ctx  context.Context
			want error
		}{{t.Context(), conn.ErrTimeout}, {ctx, context.DeadlineExceeded}} {
			var seen attemptRecorder
			it := s.Query(idempotentInsert).Observer(seen.observe).RequestTimeout(2 * time.Second).Iter(m.ctx)
			if m.want != conn.ErrTimeout {
				require.ErrorIs(t, it.Close(), m.want)
			}
			require.Equal(t, 1, it.Attempts())
			require.Equal(t, s.GetHosts()[0], it.Host())
			require.Len(t, seen.queries, 1)
			require.Error(t, seen.queries[0].Err)
			require.False(t, MayHaveApplied(it.Close()))
		}
		synctest.Wait()
	})
}

// TestIterAfterFailure requires that an Iter names the node and the attempts of a request that failed.
func TestIterAfterFailure(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		requireAllUp(t, s)
		const read = "SELECT v FROM ks.t"
		ints := fakecql.Columns("v int")
		c.Prepare(read, fakecql.Prepared{Result: ints})
		var failed string
		c.Answer(func(r *fakecql.Request, nth int) {
			if nth == 0 {
				r.Rows(fakecql.Rows{Columns: ints, Cells: [][]byte{{0, 0, 0, 1}}, State: "more"})
				return
			}
			failed = r.Node.IP
			r.Fail(int32(cql.CodeServer))
		})
		policy := retryFunc(func(a Attempt) Decision {
			if a.Number < 2 {
				return Decision{Type: Retry}
			}
			return Decision{}
		})
		it := s.Query(read).Prefetch(-1).RetryPolicy(policy).Iter(t.Context())
		var v int
		require.True(t, it.Scan(&v))
		require.Equal(t, 1, it.Attempts())
		require.False(t, it.Scan(&v))
		require.Equal(t, 2, it.Attempts(), "of the second page")
		require.Equal(t, failed, it.Host().Address.Addr().String())
		require.ErrorIs(t, it.Close(), cql.CodeServer)
		it = s.Query(read).HostID(hostID(99)).Iter(t.Context())
		require.Zero(t, it.Attempts())
		require.Nil(t, it.Host(), "no node was asked")
		require.ErrorIs(t, it.Close(), ErrNoConnections)
	})
}

// panickingSpeculation is a policy that panics.
type panickingSpeculation struct{ SimpleSpeculativeExecution }

func (*panickingSpeculation) Delay() time.Duration { panic("mine") }

// TestDelayOfSecondPrepare requires when a PREPARE is sent to a second node: after a quarter of a second, or of the
// time of the request, or by the policy of the request, whichever is first.
func TestDelayOfSecondPrepare(t *testing.T) {
	delayed := func(d time.Duration) SpeculativeExecutionPolicy {
		return &SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: d}
	}
	synctest.Test(t, func(t *testing.T) {
		for name, m := range map[string]struct {
			deadline time.Duration // of the request; 0 means none
			policy   SpeculativeExecutionPolicy
			want     time.Duration
		}{
			"no deadline":           {0, nil, 250 * time.Millisecond},
			"a long deadline":       {time.Minute, nil, 250 * time.Millisecond},
			"a short deadline":      {400 * time.Millisecond, nil, 100 * time.Millisecond},
			"the deadline has come": {-time.Second, nil, 0},
			"the policy is faster":  {time.Minute, delayed(7 * time.Millisecond), 7 * time.Millisecond},
			"the policy is slower":  {400 * time.Millisecond, delayed(time.Second), 100 * time.Millisecond},
			"a negative delay":      {0, delayed(-time.Second), 0},
			"the policy panics":     {0, &panickingSpeculation{}, 250 * time.Millisecond},
		} {
			ctx := t.Context()
			if m.deadline != 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, m.deadline)
				defer cancel()
			}
			p := preparePolicies(ctx, &policies{retry: SimpleRetryPolicy{}, speculative: m.policy}, new(atomic.Bool))
			want := &SimpleSpeculativeExecution{NumAttempts: 2, TimeoutDelay: m.want}
			require.Equal(t, SpeculativeExecutionPolicy(want), p.speculative, name)
		}
	})
}

// TestContextOfPolicies requires that the context of a PREPARE has the values of the request, and beside them the
// values of the session, whose end it has.
func TestContextOfPolicies(t *testing.T) {
	type key int
	session, end := context.WithCancel(context.WithValue(context.WithValue(t.Context(), key(1), "session"), key(2), "session"))
	request := context.WithValue(t.Context(), key(1), "request")
	ctx := valuesContext{session, context.WithoutCancel(request)}
	require.Equal(t, []any{"request", "session", nil}, []any{ctx.Value(key(1)), ctx.Value(key(2)), ctx.Value(key(3))})
	child, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	end()
	require.ErrorIs(t, child.Err(), context.Canceled, "at once")
}

// TestPrepareKeepsItsTextInRetries requires that a retry policy which changes the consistency does not change a
// PREPARE, which has none.
func TestPrepareKeepsItsTextInRetries(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		requireAllUp(t, s)
		var texts []string
		c.On(func(r *fakecql.Request) bool {
			if r.Op != fakecql.OpPrepare {
				return false
			}
			c.Mu.Lock()
			defer c.Mu.Unlock()
			if texts = append(texts, r.Stmt); len(texts) == 1 {
				r.Fail(int32(cql.CodeServer))
			}
			return len(texts) == 1
		})
		policy := retryFunc(func(Attempt) Decision {
			return Decision{Type: RetryNextHost, Consistency: cql.LocalQuorum, SetConsistency: true}
		})
		require.NoError(t, s.Query(idempotentInsert).RetryPolicy(policy).Exec(t.Context()))
		synctest.Wait()
		require.Equal(t, []string{idempotentInsert, idempotentInsert}, texts[:2])
	})
}
