// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file tests what a session does with the decisions of retry policies.

const idempotentInsert = "INSERT INTO ks.t (id) VALUES (1)"

func TestRetryOfWhatWasNotExecuted(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		cfg.RetryPolicy = SimpleRetryPolicy{NumRetries: 2}
		s := openSession(t, cfg)
		c.answer(func(r *fakeRequest, nth int) {
			if nth < 2 {
				r.fail(CodeOverloaded) // the coordinator refused it before doing anything
				return
			}
			r.void()
		})
		require.NoError(t, s.Query("UPDATE ks.t SET n = n + 1 WHERE id = 1").Exec(), "not idempotent, and yet safe")
		st := s.Stats()
		require.Equal(t, map[ErrorClass]uint64{ClassOverloaded: 2}, st.Errors)
		require.EqualValues(t, 2, st.Retries)
		require.Zero(t, st.Failed)
	})
}

func TestRetryPolicyIsBounded(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		cfg.RetryPolicy = pushy{Retry, new(atomic.Int32)}
		s := openSession(t, cfg)
		c.answer(func(r *fakeRequest, _ int) { r.fail(CodeServer) })
		err := s.Query(idempotentInsert).Idempotent(true).Exec()
		var f *RequestFailure
		require.ErrorAs(t, err, &f)
		require.Equal(t, maxRetries+1, f.Attempts)
	})
}

// odd is a policy of a type that is not known.
type odd struct{}

func (odd) Decide(context.Context, Attempt) Decision { return Decision{Type: 77} }

func TestRetryPolicySeesTheAttempt(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		s := openSession(t, cfg)
		c.answer(func(r *fakeRequest, nth int) {
			switch nth {
			case 0:
				r.fail(CodeOverloaded)
			case 1:
				r.fail(CodeWriteTimeout, writeTimeoutFields("CAS")...)
			default:
				r.fail(CodeReadFailure)
			}
		})
		var saw []Attempt
		policy := retryFunc(func(a Attempt) Decision {
			saw = append(saw, a)
			return Decision{Type: RetryNextHost, Consistency: One, SetConsistency: true}
		})
		require.ErrorIs(t, s.Query(idempotentInsert).Idempotent(true).Consistency(All).RetryPolicy(policy).Exec(), CodeWriteTimeout, "no third node")
		require.Len(t, saw, 2)
		require.NotEqual(t, saw[0].Host.HostID(), saw[1].Host.HostID())
		for i := range saw {
			require.NotNil(t, saw[i].Err)
			saw[i].Err, saw[i].Host = nil, nil
		}
		require.Equal(t, []Attempt{
			{Number: 1, Class: ClassOverloaded, Consistency: All, Idempotent: true},
			{Number: 2, Class: ClassWriteTimeout, Consistency: One, Idempotent: true, WriteType: "CAS", LWT: true, MayHaveApplied: true},
		}, saw)
		saw = nil
		c.answer(func(r *fakeRequest, _ int) { r.fail(CodeOverloaded) })
		require.Error(t, s.Batch(UnloggedBatch).Query(idempotentInsert).RetryPolicy(policy).Exec())
		require.True(t, saw[0].Batch)
		require.ErrorIs(t, s.Query(idempotentInsert).RetryPolicy(odd{}).Exec(), CodeOverloaded, "what is no decision ends the request")
	})
}

// retryFunc is a policy.
type retryFunc func(a Attempt) Decision

func (f retryFunc) Decide(_ context.Context, a Attempt) Decision { return f(a) }

func TestRetryChangesConsistency(t *testing.T) {
	for _, m := range []struct {
		name string
		run  func(s *Session, p RetryPolicy) error
		want []Consistency
	}{
		{"query", func(s *Session, p RetryPolicy) error {
			return s.Query(idempotentInsert).Idempotent(true).Consistency(All).RetryPolicy(p).Exec()
		}, []Consistency{All, Two, One}},
		{"with a custom payload", func(s *Session, p RetryPolicy) error {
			q := s.Query(idempotentInsert).Idempotent(true).Consistency(All).RetryPolicy(p)
			return q.CustomPayload(map[string][]byte{"k": {1, 2}}).Exec()
		}, []Consistency{All, Two, One}},
		{"batch", func(s *Session, p RetryPolicy) error {
			return s.Batch(LoggedBatch).Query(idempotentInsert).Idempotent(true).Consistency(All).RetryPolicy(p).Exec()
		}, []Consistency{All, Two, One}},
		{"speculative", func(s *Session, p RetryPolicy) error {
			q := s.Query(idempotentInsert).Idempotent(true).Consistency(All).RetryPolicy(p)
			return q.SetSpeculativeExecutionPolicy(&SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: time.Hour}).Exec()
		}, []Consistency{All, Two, One}},
	} {
		t.Run(m.name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakeCluster) {
				cfg := c.config()
				s := openSession(t, cfg)
				var got []Consistency
				var bodies [][]byte
				c.answer(func(r *fakeRequest, nth int) {
					at := consistencyIn(t, r)
					got = append(got, Consistency(uint16(r.body[at])<<8|uint16(r.body[at+1])))
					r.body[at], r.body[at+1] = 0, 0
					bodies = append(bodies, r.body)
					if nth < 2 {
						r.fail(CodeServer)
						return
					}
					r.void()
				})
				require.NoError(t, m.run(s, DowngradingConsistencyRetryPolicy{[]Consistency{Two, One}}))
				require.Equal(t, m.want, got)
				require.Equal(t, bodies[0], bodies[1], "nothing but the consistency has changed")
				require.Equal(t, bodies[0], bodies[2])
			})
		})
	}
}

// consistencyIn finds the consistency in the body of an EXECUTE or BATCH.
func consistencyIn(t *testing.T, r *fakeRequest) int {
	in := wire.NewReader(r.body)
	if r.op == opExecute {
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

func TestRetryIgnore(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		s := openSession(t, cfg)
		c.answer(func(r *fakeRequest, _ int) { r.fail(CodeWriteTimeout, writeTimeoutFields("SIMPLE")...) })
		ignore := retryFunc(func(Attempt) Decision { return Decision{Type: Ignore} })
		require.NoError(t, s.Query(idempotentInsert).RetryPolicy(ignore).Exec())
		it := s.Query(idempotentInsert).RetryPolicy(ignore).Iter()
		require.False(t, it.Scan())
		require.NotNil(t, it.Host())
		require.NoError(t, it.Close())
		require.ErrorIs(t, s.Query(idempotentInsert).RetryPolicy(ignore).Scan(), ErrNotFound)
		require.NoError(t, s.Batch(LoggedBatch).Query(idempotentInsert).RetryPolicy(ignore).Exec())
		require.Zero(t, s.Stats().Failed)
	})
}
