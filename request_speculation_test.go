// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
)

// Speculative execution: outcomes, counters, and the budget of lost races.

// reply is what a node does with one execution of a request: after a time it responds with a row, or fails.
type reply struct {
	after time.Duration
	fails bool // with code; false means a row
	code  cql.Code
}

const never = time.Hour

// TestSpeculativeOutcome requires the outcome of a request whose executions respond and fail at set times, and its
// counters: the first response wins, and a failure counts once no other execution runs. Executions begin 100 ms after
// each other.
func TestSpeculativeOutcome(t *testing.T) {
	const (
		ms   = time.Millisecond
		read = "SELECT v FROM ks.t WHERE id = 1"

		either = -2
	)
	ints := fakecql.Columns("v int")
	for name, m := range map[string]struct {
		replies  []reply // of the executions in their order
		attempts int     // of the policy
		winner   int     // whose row is the result; -1 means an error
		took     time.Duration
		err      error
		wins     int
		seen     int // attempts that the observer sees
		failed   int // attempts of the error
		mayHave  bool
		ended    int // further executions that end with the request, which may count
	}{
		"the first one in time":               {replies: []reply{{after: 50 * ms}}, attempts: 2, took: 50 * ms, seen: 1},
		"the policy allows none":              {replies: []reply{{after: 500 * ms}}, took: 500 * ms, seen: 1},
		"the second one wins":                 {replies: []reply{{after: never}, {after: 50 * ms}}, attempts: 1, winner: 1, took: 150 * ms, wins: 1, seen: 2},
		"the third one wins":                  {replies: []reply{{after: never}, {after: never}, {after: 1 * ms}}, attempts: 2, winner: 2, took: 201 * ms, wins: 1, seen: 2, ended: 1},
		"two respond at once":                 {replies: []reply{{after: 150 * ms}, {after: 50 * ms}}, attempts: 1, winner: either, took: 150 * ms, wins: either, seen: 1, ended: 1},
		"one further one is allowed":          {replies: []reply{{after: 900 * ms}, {after: never}}, attempts: 1, took: 900 * ms, seen: 1, ended: 1},
		"the first one fails, then another":   {replies: []reply{{150 * ms, true, cql.CodeServer}, {after: 100 * ms}}, attempts: 1, winner: 1, took: 200 * ms, wins: 1, seen: 2},
		"another one fails, then the first":   {replies: []reply{{after: 300 * ms}, {50 * ms, true, cql.CodeServer}}, attempts: 1, took: 300 * ms, seen: 2},
		"all fail, the first one last":        {replies: []reply{{300 * ms, true, cql.CodeServer}, {50 * ms, true, cql.CodeOverloaded}}, attempts: 1, winner: -1, took: 300 * ms, err: cql.CodeServer, seen: 2, failed: 2, mayHave: true},
		"all fail, the first one first":       {replies: []reply{{150 * ms, true, cql.CodeOverloaded}, {150 * ms, true, cql.CodeServer}}, attempts: 1, winner: -1, took: 250 * ms, err: cql.CodeServer, seen: 2, failed: 2, mayHave: true},
		"all are refused":                     {replies: []reply{{150 * ms, true, cql.CodeOverloaded}, {150 * ms, true, cql.CodeOverloaded}}, attempts: 1, winner: -1, took: 250 * ms, err: cql.CodeOverloaded, seen: 2, failed: 2},
		"the failure of one is final":         {replies: []reply{{after: never}, {50 * ms, true, cql.CodeSyntax}}, attempts: 1, winner: -1, took: 150 * ms, err: cql.CodeSyntax, seen: 2, failed: 2, mayHave: true},
		"the failure of the first is final":   {replies: []reply{{150 * ms, true, cql.CodeSyntax}, {after: never}}, attempts: 1, winner: -1, took: 150 * ms, err: cql.CodeSyntax, seen: 1, failed: 1, mayHave: true, ended: 1},
		"it fails before the second one":      {replies: []reply{{50 * ms, true, cql.CodeServer}}, attempts: 1, winner: -1, took: 50 * ms, err: cql.CodeServer, seen: 1, failed: 1, mayHave: true},
		"none responds before the deadline":   {replies: []reply{{after: never}, {after: never}}, attempts: 1, winner: -1, took: time.Second, err: context.DeadlineExceeded, seen: 1, failed: 1, mayHave: true, ended: 1},
		"the first failed before no response": {replies: []reply{{50 * ms, true, cql.CodeServer}, {after: never}}, attempts: 0, winner: -1, took: 50 * ms, err: cql.CodeServer, seen: 1, failed: 1, mayHave: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
				c.Prepare(read, fakecql.Prepared{Result: ints})
				var seen attemptRecorder
				s := sessionOn(c, func(cfg *ClusterConfig) {
					cfg.Defaults.RetryPolicy = SimpleRetryPolicy{}
					cfg.Defaults.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: m.attempts, TimeoutDelay: 100 * ms}
				})
				requireAllUp(t, s)
				_, err := s.StatementMetadata(t.Context(), read, "")
				require.NoError(t, err)
				synctest.Wait()
				c.Answer(func(r *fakecql.Request, nth int) {
					switch now := m.replies[nth]; {
					case now.after == never:
					case now.fails:
						time.Sleep(now.after)
						r.Fail(int32(now.code))
					default:
						time.Sleep(now.after)
						r.Rows(fakecql.Rows{Columns: ints, Cells: [][]byte{{0, 0, 0, byte(nth)}}})
					}
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				v := -1
				err = s.Query(read).Observer(seen.observe).Scan(ctx, &v)
				require.Equal(t, m.took, time.Since(began))
				if m.winner == either {
					require.Contains(t, []int{0, 1}, v)
				} else {
					require.Equal(t, m.winner, v)
				}
				require.ErrorIs(t, err, m.err)
				var f *RequestFailure
				if m.err != nil {
					require.ErrorAs(t, err, &f)
					require.Contains(t, []int{m.failed, m.failed + m.ended}, f.Attempts)
					require.Equal(t, m.mayHave, MayHaveApplied(err))
					require.Equal(t, m.took, f.Elapsed)
					require.Equal(t, read, f.Statement)
				}
				synctest.Wait()
				sent, _ := c.Count(read)
				require.Len(t, m.replies[:sent], sent)
				st := s.Stats()
				require.EqualValues(t, sent-1, st.SpeculativeExecutions)
				if m.wins == either {
					m.wins = int(min(st.SpeculativeWins, 1))
				}
				require.EqualValues(t, m.wins, st.SpeculativeWins)
				require.EqualValues(t, 1, st.Requests)
				require.Equal(t, m.err != nil, st.Failed == 1)
				require.Contains(t, []int{m.seen, m.seen + m.ended}, len(seen.queries))
				for i, o := range seen.queries {
					require.Equal(t, i, o.Attempt)
					require.Equal(t, goroutineID(), seen.goroutines[i], "observers run on the goroutine of the caller")
				}
			})
		})
	}
}

// TestRaceBudget requires that a session may lose a hundred races at once, one more for each five requests, and any
// number that it wins.
func TestRaceBudget(t *testing.T) {
	var b raceBudget
	lose := func() (lost int) {
		for b.enter() {
			lost++
		}
		return lost
	}
	b.earn() // saves nothing
	require.Equal(t, 100, lose())
	for range 4 {
		b.earn()
	}
	require.Zero(t, lose())
	b.earn()
	require.Equal(t, 1, lose())
	for range 20 {
		b.earn()
	}
	require.Equal(t, 4, lose())
	for range 10 {
		b.earn()
	}
	for range 1000 { // a race that is won costs nothing
		require.True(t, b.enter())
		b.won()
	}
	require.Equal(t, 2, lose())
	for range 1000 {
		b.earn()
	}
	require.Equal(t, 100, lose())
}

// TestNoFurtherExecution requires that no further execution starts after the request, without one that is left, or
// while requests wait for the throttle.
func TestNoFurtherExecution(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.Limits.Throttle = Throttle{MaxRequests: 2}
			cfg.Defaults.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: 100 * time.Millisecond}
		})
		requireAllUp(t, s)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		synctest.Wait()
		for name, m := range map[string]struct {
			x    *speculation
			want bool
		}{
			"one is left":    {&speculation{left: 1}, true},
			"over":           {&speculation{left: 1, over: true}, false},
			"none is left":   {&speculation{}, false},
			"over, and none": {&speculation{over: true}, false},
		} {
			m.x.session, m.x.call.shared = &s.sender, &sharedBody{}
			require.Equal(t, m.want, m.x.enter(), name)
			require.Equal(t, m.want, m.x.running == 1, name)
		}
		c.Answer(func(r *fakecql.Request, _ int) {
			time.Sleep(time.Second)
			r.Void()
		})
		executions := func(requests int) uint64 {
			before := s.Stats().SpeculativeExecutions
			var wg sync.WaitGroup
			for range requests {
				wg.Go(func() { require.NoError(t, s.Query(idempotentInsert).Idempotent(true).Exec(t.Context())) })
			}
			wg.Wait()
			time.Sleep(time.Minute)
			return s.Stats().SpeculativeExecutions - before
		}
		require.EqualValues(t, 1, executions(1))
		require.Zero(t, executions(2), "the throttle is full")
	})
}

// TestPrepareIsNoSpeculation requires that the executions of a PREPARE, which has no policy of the program, do not
// count as speculative.
func TestPrepareIsNoSpeculation(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		requireAllUp(t, s)
		asked := 0
		c.On(func(r *fakecql.Request) bool {
			c.Mu.Lock()
			defer c.Mu.Unlock()
			if r.Op == fakecql.OpPrepare {
				asked++
			}
			return r.Op == fakecql.OpPrepare && asked == 1
		})
		began := time.Now()
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		require.Equal(t, prepareDelay, time.Since(began))
		require.Zero(t, s.Stats().SpeculativeExecutions)
		require.Zero(t, s.Stats().SpeculativeWins)
	})
}

// TestObserverRunsAfterTheOthersEnd requires that the other executions of a request are canceled before an observer,
// which may block, sees its attempts.
func TestObserverRunsAfterTheOthersEnd(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.Defaults.RetryPolicy = SimpleRetryPolicy{NumRetries: 1}
			cfg.Defaults.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: 100 * time.Millisecond}
		})
		requireAllUp(t, s)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		synctest.Wait()
		c.Answer(func(r *fakecql.Request, nth int) {
			switch nth {
			case 0:
				time.Sleep(500 * time.Millisecond)
				r.Void()
			case 1:
				r.Fail(int32(cql.CodeServer)) // its retry has no answer
			}
		})
		var waiting []int
		seen := attemptRecorder{do: func() {
			time.Sleep(time.Second)
			n := 0
			for _, node := range s.Stats().Nodes {
				n += node.InFlight - node.Orphans
			}
			waiting = append(waiting, n)
		}}
		require.NoError(t, s.Query(idempotentInsert).Idempotent(true).Observer(seen.observe).Exec(t.Context()))
		require.Len(t, seen.queries, 2)
		require.ErrorIs(t, seen.queries[1].Err, cql.CodeServer)
		require.Zero(t, waiting[1])
	})
}

// TestCloseAwaitsFurtherExecutions requires that closing a session waits for executions whose retry policy blocks, as
// long as its context allows.
func TestCloseAwaitsFurtherExecutions(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		free := make(chan struct{})
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.Defaults.RetryPolicy = retryFunc(func(Attempt) Decision { <-free; return Decision{} })
			cfg.Defaults.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: 100 * time.Millisecond}
		})
		requireAllUp(t, s)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		synctest.Wait()
		c.Answer(func(r *fakecql.Request, nth int) {
			if nth == 0 {
				time.Sleep(500 * time.Millisecond)
				r.Void()
				return
			}
			r.Fail(int32(cql.CodeServer))
		})
		require.NoError(t, s.Query(idempotentInsert).Idempotent(true).Exec(t.Context()))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, s.Shutdown(ctx), context.DeadlineExceeded)
		require.Equal(t, 3*time.Second, time.Since(began))
		close(free)
	})
}

// TestExecutionsShareThePlan requires that two executions never call the NextHost of their request at the same time.
func TestExecutionsShareThePlan(t *testing.T) {
	c := newFakeCluster(t, frame.V5, 2)
	var most atomic.Int32
	picker := nextOf{func(hosts []*cql.Host) NextHost {
		var calls atomic.Int32
		return func() SelectedHost {
			most.Store(max(most.Load(), calls.Add(1)))
			for range 1000 {
				runtime.Gosched()
			}
			calls.Add(-1)
			return SelectedHost{Host: hosts[0]}
		}
	}}
	s := sessionOn(c, func(cfg *ClusterConfig) { cfg.HostSelectionPolicy = picker })
	require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
	at := &SimpleSpeculativeExecution{NumAttempts: 8}
	for range 20 {
		require.NoError(t, s.Query(idempotentInsert).Idempotent(true).SpeculativeExecutionPolicy(at).Exec(t.Context()))
	}
	require.EqualValues(t, 1, most.Load())
}

// nextOf is a HostPicker that is a function of the nodes.
type nextOf struct {
	next func(hosts []*cql.Host) NextHost
}

func (nextOf) Tier(*cql.Host) int { return 0 }

func (p nextOf) Pick(_ context.Context, _ RouteInfo, hosts []*cql.Host) NextHost {
	return p.next(hosts)
}

// TestResponsesAtOnce requires that a request whose executions have responses at the same time returns one of them, and
// that the buffers of all are released, which the cluster checks.
func TestResponsesAtOnce(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		const read = "SELECT v FROM ks.t WHERE id = 1"
		ints := fakecql.Columns("v int")
		c.Prepare(read, fakecql.Prepared{Result: ints})
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.Defaults.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 2, TimeoutDelay: time.Millisecond}
		})
		requireAllUp(t, s)
		require.NoError(t, s.Query(read).Exec(t.Context()))
		for range 30 {
			synctest.Wait()
			at := time.Now().Add(time.Second)
			c.Answer(func(r *fakecql.Request, nth int) {
				time.Sleep(time.Until(at))
				r.Rows(fakecql.Rows{Columns: ints, Cells: [][]byte{{0, 0, 0, byte(nth)}}})
			})
			var v int
			require.NoError(t, s.Query(read).Scan(t.Context(), &v))
			require.Contains(t, []int{0, 1, 2}, v)
		}
	})
}
