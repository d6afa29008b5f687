// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
)

// answers is a policy with fixed results that records its arguments.
type answers struct {
	retry bool
	typ   RetryType
	set   vecql.Consistency
	err   error
	ctx   context.Context
}

func (a *answers) Attempt(q RetryableQuery) bool {
	a.ctx = q.Context()
	if a.set != 0 {
		q.SetConsistency(a.set)
	}
	return a.retry
}

func (a *answers) GetRetryType(err error) RetryType {
	a.err = err
	return a.typ
}

// lwtAnswers is a policy of the fork, which retries conditional statements only.
type lwtAnswers struct{ answers }

func (a *lwtAnswers) AttemptLWT(RetryableQuery) bool      { return true }
func (a *lwtAnswers) GetRetryTypeLWT(err error) RetryType { return Retry }

func TestAdaptRetryPolicy(t *testing.T) {
	require.Zero(t, Retry, "the zero value retries")
	timeout := &vecql.RequestErrReadTimeout{}
	a := vecql.Attempt{Number: 1, Err: failed(timeout), Consistency: vecql.Quorum}
	for _, row := range []struct {
		policy RetryPolicy
		ignore bool
		want   vecql.Decision
	}{
		{nil, true, vecql.Decision{}},
		{&answers{typ: Retry}, true, vecql.Decision{}},
		{&answers{retry: true, typ: Retry}, true, vecql.Decision{Type: vecql.Retry}},
		{&answers{retry: true, typ: RetryNextHost}, true, vecql.Decision{Type: vecql.RetryNextHost}},
		{&answers{retry: true, typ: Rethrow}, true, vecql.Decision{Type: vecql.Rethrow}},
		{&answers{retry: true, typ: Ignore}, true, vecql.Decision{Type: vecql.Ignore}},
		{&answers{retry: true, typ: Ignore}, false, vecql.Decision{Type: vecql.Rethrow}},
		{&answers{retry: true, typ: 9}, true, vecql.Decision{Type: vecql.Rethrow}},
		{&answers{retry: true, set: vecql.One}, true, vecql.Decision{Type: vecql.Retry, Consistency: vecql.One, SetConsistency: true}},
		{&lwtAnswers{}, true, vecql.Decision{}},
		{&SimpleRetryPolicy{NumRetries: 1}, true, vecql.Decision{Type: vecql.RetryNextHost}},
		{&SimpleRetryPolicy{}, true, vecql.Decision{}},
	} {
		d := AdaptRetryPolicy(row.policy, row.ignore).Decide(t.Context(), a)
		if !d.SetConsistency {
			d.Consistency = 0
		}
		require.Equal(t, row.want, d, "%+v", row.policy)
	}
	policy := &answers{retry: true}
	AdaptRetryPolicy(policy, true).Decide(t.Context(), a)
	require.True(t, policy.err == error(timeout), "the server's error itself")
	require.Equal(t, t.Context(), policy.ctx)
	a.LWT = true
	require.Equal(t, vecql.Retry, AdaptRetryPolicy(&lwtAnswers{}, true).Decide(t.Context(), a).Type)
}

func TestExponentialBackoffRetryPolicy(t *testing.T) {
	p := &ExponentialBackoffRetryPolicy{NumRetries: 3, Min: time.Second, Max: 3 * time.Second}
	synctest.Test(t, func(t *testing.T) {
		for i, bounds := range [][2]time.Duration{
			{500 * time.Millisecond, 1500 * time.Millisecond},
			{1500 * time.Millisecond, 2500 * time.Millisecond},
			{3 * time.Second, 3 * time.Second},
		} {
			start := time.Now()
			d := AdaptRetryPolicy(p, true).Decide(t.Context(), vecql.Attempt{Number: i + 1})
			require.Equal(t, vecql.RetryNextHost, d.Type)
			require.GreaterOrEqual(t, time.Since(start), bounds[0])
			require.LessOrEqual(t, time.Since(start), bounds[1])
		}
		start := time.Now()
		require.Zero(t, AdaptRetryPolicy(p, true).Decide(t.Context(), vecql.Attempt{Number: 4}))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Zero(t, AdaptRetryPolicy(p, true).Decide(ctx, vecql.Attempt{Number: 3}))
		require.Zero(t, time.Since(start))
	})
	require.LessOrEqual(t, (&ExponentialBackoffRetryPolicy{}).wait(1), 150*time.Millisecond)
	require.Equal(t, 10*time.Second, (&ExponentialBackoffRetryPolicy{}).wait(500))
}

func TestDowngradingConsistencyRetryPolicy(t *testing.T) {
	p := &DowngradingConsistencyRetryPolicy{ConsistencyLevelsToTry: []vecql.Consistency{vecql.Two, vecql.One}}
	q := &retryableQuery{attempts: 2}
	require.True(t, p.Attempt(q))
	require.Equal(t, vecql.One, q.consistency)
	q.attempts = 3
	require.False(t, p.Attempt(q))
	for _, row := range []struct {
		err  error
		want RetryType
	}{
		{&vecql.RequestErrUnavailable{Alive: 1}, Retry},
		{&vecql.RequestErrUnavailable{}, Rethrow},
		{&vecql.RequestErrWriteTimeout{WriteType: "SIMPLE", Received: 1}, Ignore},
		{&vecql.RequestErrWriteTimeout{WriteType: "COUNTER"}, Rethrow},
		{&vecql.RequestErrWriteTimeout{WriteType: "UNLOGGED_BATCH"}, Retry},
		{&vecql.RequestErrWriteTimeout{WriteType: "CAS"}, Rethrow},
		{&vecql.RequestErrReadTimeout{}, Retry},
		{vecql.ErrConnectionClosed, RetryNextHost},
	} {
		require.Equal(t, row.want, p.GetRetryType(row.err), "%T", row.err)
	}
}
