// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/stats"
)

// Decisions of retry policies, and their execution by a session.

const idempotentInsert = "INSERT INTO ks.t (id) VALUES (1)"

func TestRetryOfRequestNotExecuted(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Defaults.RetryPolicy = SimpleRetryPolicy{NumRetries: 2}
		s := openSession(t, cfg)
		c.Answer(func(r *fakecql.Request, nth int) {
			if nth < 2 {
				r.Fail(int32(cql.CodeOverloaded)) // the coordinator refuses it before executing anything
				return
			}
			r.Void()
		})
		require.NoError(t, s.Query("UPDATE ks.t SET n = n + 1 WHERE id = 1").Exec(t.Context()), "a retry is safe although the request is not idempotent")
		st := s.Stats()
		require.Equal(t, map[stats.ErrorClass]uint64{stats.ClassOverloaded: 2}, st.Errors)
		require.EqualValues(t, 2, st.Retries)
		require.Zero(t, st.Failed)
	})
}

func TestRetryPolicyIsBounded(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Defaults.RetryPolicy = pushy{Retry, new(atomic.Int32)}
		s := openSession(t, cfg)
		c.Answer(func(r *fakecql.Request, _ int) { r.Fail(int32(cql.CodeServer)) })
		err := s.Query(idempotentInsert).Idempotent(true).Exec(t.Context())
		var f *RequestFailure
		require.ErrorAs(t, err, &f)
		require.Equal(t, maxRetries+1, f.Attempts)
	})
}

// odd is a policy that returns an invalid decision.
type odd struct{}

func (odd) Decide(context.Context, Attempt) Decision { return Decision{Type: 77} }

func TestRetryPolicySeesTheAttempt(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		s := openSession(t, cfg)
		c.Answer(func(r *fakecql.Request, nth int) {
			switch nth {
			case 0:
				r.Fail(int32(cql.CodeOverloaded))
			case 1:
				r.Fail(int32(cql.CodeWriteTimeout), writeTimeoutFields("CAS")...)
			default:
				r.Fail(int32(cql.CodeReadFailure))
			}
		})
		var saw []Attempt
		policy := retryFunc(func(a Attempt) Decision {
			saw = append(saw, a)
			return Decision{Type: RetryNextHost, Consistency: cql.One, SetConsistency: true}
		})
		require.ErrorIs(t, s.Query(idempotentInsert).Idempotent(true).Consistency(cql.All).RetryPolicy(policy).Exec(t.Context()), cql.CodeWriteTimeout, "no third node")
		require.Len(t, saw, 2)
		require.NotEqual(t, saw[0].Host.ID.String(), saw[1].Host.ID.String())
		for i := range saw {
			require.NotNil(t, saw[i].Err)
			saw[i].Err, saw[i].Host = nil, nil
		}
		require.Equal(t, []Attempt{
			{Number: 1, Class: stats.ClassOverloaded, Consistency: cql.All, Idempotent: true},
			{Number: 2, Class: stats.ClassWriteTimeout, Consistency: cql.One, Idempotent: true, WriteType: "CAS", LWT: true, MayHaveApplied: true},
		}, saw)
		saw = nil
		c.Answer(func(r *fakecql.Request, _ int) { r.Fail(int32(cql.CodeOverloaded)) })
		require.Error(t, s.Batch(cql.UnloggedBatch).Query(idempotentInsert).RetryPolicy(policy).Exec(t.Context()))
		require.True(t, saw[0].Batch)
		require.ErrorIs(t, s.Query(idempotentInsert).RetryPolicy(odd{}).Exec(t.Context()), cql.CodeOverloaded, "an invalid decision ends the request")
	})
}

// retryFunc is a function as a retry policy.
type retryFunc func(a Attempt) Decision

func (f retryFunc) Decide(_ context.Context, a Attempt) Decision { return f(a) }

func TestRetryChangesConsistency(t *testing.T) {
	for _, m := range []struct {
		name string
		run  func(s *Session, p RetryPolicy) error
		want []cql.Consistency
	}{
		{"query", func(s *Session, p RetryPolicy) error {
			return s.Query(idempotentInsert).Idempotent(true).Consistency(cql.All).RetryPolicy(p).Exec(context.Background())
		}, []cql.Consistency{cql.All, cql.Two, cql.One}},
		{"with a custom payload", func(s *Session, p RetryPolicy) error {
			q := s.Query(idempotentInsert).Idempotent(true).Consistency(cql.All).RetryPolicy(p)
			return q.CustomPayload(map[string][]byte{"k": {1, 2}}).Exec(context.Background())
		}, []cql.Consistency{cql.All, cql.Two, cql.One}},
		{"batch", func(s *Session, p RetryPolicy) error {
			return s.Batch(cql.LoggedBatch).Query(idempotentInsert).Idempotent(true).Consistency(cql.All).RetryPolicy(p).Exec(context.Background())
		}, []cql.Consistency{cql.All, cql.Two, cql.One}},
		{"speculative", func(s *Session, p RetryPolicy) error {
			q := s.Query(idempotentInsert).Idempotent(true).Consistency(cql.All).RetryPolicy(p)
			return q.SpeculativeExecutionPolicy(&SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: time.Hour}).Exec(context.Background())
		}, []cql.Consistency{cql.All, cql.Two, cql.One}},
	} {
		t.Run(m.name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
				cfg := configOf(c)
				s := openSession(t, cfg)
				var got []cql.Consistency
				var bodies [][]byte
				c.Answer(func(r *fakecql.Request, nth int) {
					at := consistencyIn(t, r)
					got = append(got, cql.Consistency(uint16(r.Body[at])<<8|uint16(r.Body[at+1])))
					r.Body[at], r.Body[at+1] = 0, 0
					bodies = append(bodies, r.Body)
					if nth < 2 {
						r.Fail(int32(cql.CodeServer))
						return
					}
					r.Void()
				})
				require.NoError(t, m.run(s, DowngradingConsistencyRetryPolicy{[]cql.Consistency{cql.Two, cql.One}}))
				require.Equal(t, m.want, got)
				require.Equal(t, bodies[0], bodies[1], "only the consistency differs")
				require.Equal(t, bodies[0], bodies[2])
			})
		})
	}
}

// consistencyIn returns the consistency in the body of an EXECUTE or BATCH.
func consistencyIn(t *testing.T, r *fakecql.Request) int {
	in := wire.NewReader(r.Body)
	if r.Op == fakecql.OpExecute {
		in.ShortBytes()
		in.ShortBytes()
		return in.Offset()
	}
	in.Byte()
	for range in.Short() {
		if in.Byte() == 0 {
			in.LongString()
		} else {
			in.ShortBytes()
		}
		for range in.Short() {
			in.Value()
		}
	}
	require.NoError(t, in.Err())
	return in.Offset()
}

// A wait lets the plan begin again although the nodes that are left in it have no connection.
func TestRetryAfterWaitPassesUnconnectedNodes(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		for _, n := range c.Nodes[1:] {
			n.Down = true
		}
		s := openSession(t, cfg)
		c.Answer(func(r *fakecql.Request, nth int) {
			if nth%3 < 2 {
				r.Fail(int32(cql.CodeOverloaded))
				return
			}
			r.Void()
		})
		policy := retryFunc(func(Attempt) Decision { return Decision{Type: RetryNextHost, Wait: time.Millisecond} })
		for range 6 { // plans begin at each node in turn
			require.NoError(t, s.Query(idempotentInsert).RetryPolicy(policy).Exec(t.Context()))
		}
		c.Answer(func(r *fakecql.Request, _ int) { r.Fail(int32(cql.CodeOverloaded)) })
		var f *RequestFailure
		require.ErrorAs(t, s.Query(idempotentInsert).RetryPolicy(policy).Exec(t.Context()), &f)
		require.Equal(t, maxRetries+1, f.Attempts, "the retries end")
	})
}

func TestRetryIgnore(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		s := openSession(t, cfg)
		c.Answer(func(r *fakecql.Request, _ int) { r.Fail(int32(cql.CodeWriteTimeout), writeTimeoutFields("SIMPLE")...) })
		ignore := retryFunc(func(Attempt) Decision { return Decision{Type: Ignore} })
		require.NoError(t, s.Query(idempotentInsert).RetryPolicy(ignore).Exec(t.Context()))
		it := s.Query(idempotentInsert).RetryPolicy(ignore).Iter(t.Context())
		require.False(t, it.Scan())
		require.NotNil(t, it.Host())
		require.NoError(t, it.Close())
		require.ErrorIs(t, s.Query(idempotentInsert).RetryPolicy(ignore).Scan(t.Context()), ErrNotFound)
		require.NoError(t, s.Batch(cql.LoggedBatch).Query(idempotentInsert).RetryPolicy(ignore).Exec(t.Context()))
		require.Zero(t, s.Stats().Failed)
	})
}

// A request whose PREPARE failed, and whose policy ignores that, is a success without rows. Another request for the
// same statement fails.
func TestRetryIgnorePrepare(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := openSession(t, configOf(c))
		c.On(func(r *fakecql.Request) bool {
			if r.Op != fakecql.OpPrepare {
				return false
			}
			time.Sleep(time.Second)
			r.Fail(int32(cql.CodeInvalid))
			return true
		})
		ignore := retryFunc(func(Attempt) Decision { return Decision{Type: Ignore} })
		waiting := make(chan error, 1)
		time.AfterFunc(time.Second/2, func() { waiting <- s.Query(idempotentInsert, 1).Exec(t.Context()) })
		require.NoError(t, s.Query(idempotentInsert, 1).RetryPolicy(ignore).Exec(t.Context()))
		require.ErrorIs(t, <-waiting, cql.CodeInvalid)
		it := s.Query(idempotentInsert, 1).RetryPolicy(ignore).Iter(t.Context())
		require.False(t, it.Scan())
		require.NotNil(t, it.Host())
		require.Equal(t, 1, it.Attempts())
		require.NoError(t, it.Close())
		require.NoError(t, s.Batch(cql.LoggedBatch).Query(idempotentInsert, 1).RetryPolicy(ignore).Exec(t.Context()))
		_, err := s.Query(idempotentInsert, 1).RetryPolicy(ignore).Route(t.Context())
		require.ErrorIs(t, err, cql.CodeInvalid, "there is no statement to route")
	})
}

// TestFault10StrayFrameIsRetried: a node answers every second attempt on a stream without a request, which ends the
// connection. An idempotent request must succeed on another node.
func TestFault10StrayFrameIsRetried(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		c.Answer(func(r *fakecql.Request, nth int) {
			if nth%2 == 0 {
				r.Conn.Reply(1000, fakecql.OpResult, wire.AppendInt(nil, fakecql.ResultVoid))
				return
			}
			r.Void()
		})
		const requests = 30
		for range requests {
			require.NoError(t, s.Query(idempotentInsert).Idempotent(true).Exec(t.Context()))
			time.Sleep(time.Minute) // until the pool has replaced the connection
		}
		require.Equal(t, map[stats.ErrorClass]uint64{stats.ClassConnection: requests}, s.Stats().Errors)
		err := s.Query(idempotentInsert).Exec(t.Context())
		require.ErrorIs(t, err, conn.ErrClosed)
		var broken *cql.ProtocolError
		require.ErrorAs(t, err, &broken, "the cause")
		require.True(t, MayHaveApplied(err))
	})
}

// TestDecisionBeforeTheRetryPolicy requires which failures go on to another node, which are tried again on the same
// node, and which end the request, without the retry policy.
func TestDecisionBeforeTheRetryPolicy(t *testing.T) {
	asked := false
	c := &call{}
	c.policies = &policies{retry: retryFunc(func(Attempt) Decision { asked = true; return Decision{Type: RetryNextHost} })}
	open, refusing := &conn.Conn{}, &conn.Conn{}
	refusing.Draining.Store(true)
	for name, m := range map[string]struct {
		conn     *conn.Conn
		attempts int
		err      error
		want     RetryType
	}{
		"the time ended in the queue of the writer": {open, 1, &conn.NotSentError{Err: conn.ErrTimeout}, Rethrow},
		"the time ended on a connection that ends":  {refusing, 1, &conn.NotSentError{Err: conn.ErrTimeout}, Rethrow},
		"throttled":              {open, 1, ErrThrottled, Rethrow},
		"no stream":              {open, 1, &conn.NotSentError{Err: conn.ErrNoStreams}, Rethrow},
		"a frame too big":        {open, 1, &conn.NotSentError{Err: frame.ErrTooBig}, Rethrow},
		"no memory":              {open, 1, &MemoryBudgetError{}, Rethrow},
		"closed":                 {open, 1, ErrSessionClosed, Rethrow},
		"changed":                {open, 1, &conn.NotSentError{Err: ErrStatementChanged}, Rethrow},
		"a busy node":            {open, 1, &conn.NotSentError{Err: conn.ErrNodeBusy}, RetryNextHost},
		"the connection ended":   {open, 1, &conn.NotSentError{Err: conn.ErrClosed}, RetryNextHost},
		"the connection ends":    {refusing, 1, &conn.NotSentError{Err: conn.ErrClosed}, Retry},
		"it ends all the time":   {refusing, maxAttempts - 1, &conn.NotSentError{Err: conn.ErrClosed}, Retry},
		"it ends too many times": {refusing, maxAttempts, &conn.NotSentError{Err: conn.ErrClosed}, RetryNextHost},
	} {
		x := execution{failure: RequestFailure{Attempts: m.attempts}}
		d := (*sender)(nil).decideRetry(t.Context(), c, m.conn, &node{info: &cql.Host{}}, &x, m.err)
		require.Equal(t, m.want, d.Type, name)
		require.Zero(t, x.decided, name)
		require.False(t, asked, name)
	}
	for decided := range maxRetries + 1 {
		x := execution{decided: decided}
		c.idempotent = true
		d := (*sender)(nil).decideRetry(t.Context(), c, open, &node{info: &cql.Host{}}, &x, conn.ErrClosed)
		require.Equal(t, decided < maxRetries, d.Type == RetryNextHost, decided)
	}
}

// TestRetryWaits requires that a retry follows after the wait of the policy, and how a context or Close ends the wait.
func TestRetryWaits(t *testing.T) {
	const wait = 10 * time.Second
	for name, m := range map[string]struct {
		end      func(s *Session, cancel func()) // after a second; nil means nothing
		want     error
		attempts int
	}{
		"until it ends":  {nil, nil, 2},
		"canceled":       {func(_ *Session, cancel func()) { cancel() }, context.Canceled, 1},
		"session closed": {func(s *Session, _ func()) { s.Close() }, ErrSessionClosed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
				s := sessionOn(c)
				sent := 0
				c.Answer(func(r *fakecql.Request, nth int) {
					if sent++; nth == 0 {
						r.Fail(int32(cql.CodeOverloaded))
						return
					}
					r.Void()
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if m.end != nil {
					time.AfterFunc(time.Second, func() { m.end(s, cancel) })
				}
				policy := retryFunc(func(Attempt) Decision { return Decision{Type: Retry, Wait: wait} })
				began := time.Now()
				err := s.Query(idempotentInsert).RetryPolicy(policy).Exec(ctx)
				took := time.Since(began)
				require.ErrorIs(t, err, m.want)
				require.Equal(t, m.attempts, sent)
				if m.want == nil {
					require.GreaterOrEqual(t, took, wait/2)
					require.LessOrEqual(t, took, wait)
					return
				}
				require.Equal(t, time.Second, took)
				require.ErrorIs(t, err, cql.CodeOverloaded, "the failure before the wait")
				require.False(t, MayHaveApplied(err))
			})
		})
	}
}

// TestRetryThatIsNotAdmitted requires that a retry which the throttle refuses fails with both errors, and is no
// attempt.
func TestRetryThatIsNotAdmitted(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Limits.Throttle = Throttle{MaxRequests: 1} })
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		c.Answer(func(r *fakecql.Request, nth int) {
			if nth == 0 {
				r.Fail(int32(cql.CodeOverloaded))
				return
			}
			time.Sleep(4 * time.Second)
			r.Void()
		})
		policy := retryFunc(func(Attempt) Decision { return Decision{Type: Retry, Wait: 2 * time.Second} })
		other := make(chan error, 1)
		time.AfterFunc(time.Second/2, func() { other <- s.Query(idempotentInsert).Exec(t.Context()) })
		err := s.Query(idempotentInsert).RequestTimeout(time.Second).RetryPolicy(policy).Exec(t.Context())
		require.ErrorIs(t, err, ErrThrottled)
		require.ErrorIs(t, err, cql.CodeOverloaded)
		require.False(t, MayHaveApplied(err))
		var f *RequestFailure
		require.ErrorAs(t, err, &f)
		require.Equal(t, 1, f.Attempts)
		require.NoError(t, <-other)
	})
}

// TestSilentNodeIsLeftOnce requires that an idempotent request leaves a silent node for the next one, asks it again if
// no other one is connected, and then waits for the rest of its time.
func TestSilentNodeIsLeftOnce(t *testing.T) {
	for name, m := range map[string]struct {
		nodes, attempts int
		moved           uint64
	}{
		"the only node":           {1, 1, 0},
		"the only node connected": {2, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, m.nodes, func(t *testing.T, c *fakecql.Cluster) {
				for _, n := range c.Nodes[1:] {
					n.Down = true
				}
				s := sessionOn(c)
				require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
				for range 4 { // plans begin at each node in turn
					before, _ := c.Count(idempotentInsert)
					moved := s.Stats().Moved
					c.On(func(r *fakecql.Request) bool { return true })
					began := time.Now()
					policy := retryFunc(func(Attempt) Decision { return Decision{} })
					err := s.Query(idempotentInsert).Idempotent(true).RequestTimeout(4 * time.Second).RetryPolicy(policy).Exec(t.Context())
					require.ErrorIs(t, err, conn.ErrTimeout)
					require.GreaterOrEqual(t, time.Since(began), 4*time.Second)
					require.Less(t, time.Since(began), 4*time.Second+2*conn.TickInterval)
					after, _ := c.Count(idempotentInsert)
					if attempts := after - before; m.nodes == 1 || s.Stats().Moved > moved {
						require.Equal(t, m.attempts, attempts)
						require.Equal(t, m.moved, s.Stats().Moved-moved)
					}
					c.On(nil)
					time.Sleep(time.Minute)
				}
				require.Equal(t, m.moved > 0, s.Stats().Moved > 0)
			})
		})
	}
}

// TestFailuresNameTheRequest requires the request, its statement and its duration in errors.
func TestFailuresNameTheRequest(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		c.Answer(func(r *fakecql.Request, _ int) {
			time.Sleep(time.Second)
			r.Fail(int32(cql.CodeInvalid))
		})
		batchOf := func(n int) *Batch {
			b := s.Batch(cql.LoggedBatch)
			for range n {
				b.Query(idempotentInsert)
			}
			return b
		}
		fails := func(took time.Duration, request string, exec func(context.Context) error) {
			t.Helper()
			err := exec(t.Context())
			var f *RequestFailure
			require.ErrorAs(t, err, &f)
			require.Equal(t, idempotentInsert, f.Statement)
			require.Equal(t, took, f.Elapsed)
			require.ErrorContains(t, err, request)
		}
		fails(time.Second, "vecql: execute \""+idempotentInsert, s.Query(idempotentInsert).Exec)
		fails(time.Second, "execute batch of 1, the first \"", batchOf(1).Exec)
		fails(time.Second, "execute batch of 2, the first \"", batchOf(2).Exec)
		s.Close()
		fails(0, "execute batch of 2, the first \"", batchOf(2).Exec)
		fails(0, "execute \""+idempotentInsert, s.Query(idempotentInsert).Exec)
		fails(0, "prepare \""+idempotentInsert, func(ctx context.Context) error {
			_, err := s.prepareWithin(ctx, 0, s.defaultPolicies, "ks", idempotentInsert)
			return err
		})
	})
}

// TestBusyNodeIsPassed requires that a request goes on to another node if the connection of the first one admits no
// more, without the retry policy and its count of retries, and that the connection is no failure of the request.
func TestBusyNodeIsPassed(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		requireAllUp(t, s)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		synctest.Wait()
		busy := poolOf(s, c.Nodes[0]).pick()
		id, ok := busy.Streams.Claim()
		require.True(t, ok)
		busy.Overload.Limit.Store(1)
		policy := retryFunc(func(Attempt) Decision { t.Error("asked"); return Decision{} })
		for range 8 { // plans begin at each node in turn
			require.NoError(t, s.Query(idempotentInsert).RetryPolicy(policy).Exec(t.Context()))
		}
		require.Zero(t, s.Stats().Retries)
		require.Zero(t, s.Stats().Failed)
		require.Positive(t, s.Stats().Errors[ErrorClassOf(conn.ErrNodeBusy)])
		busy.Streams.Release(id)
	})
}
