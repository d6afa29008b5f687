// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/stats"
)

// Tests of the decisions of retry policies.

func serverError(c cql.Code) cql.ServerError { return cql.ServerError{Code: c, Message: "m"} }

func TestDefaultRetryPolicy(t *testing.T) {
	plain := func(c cql.Code) error { e := serverError(c); return &e }
	unavailable := &cql.UnavailableError{ServerError: serverError(cql.CodeUnavailable)}
	readTimeout := func(received, blockFor int, data byte) error {
		return &cql.ReadTimeoutError{ServerError: serverError(cql.CodeReadTimeout), Received: received, BlockFor: blockFor, DataPresent: data}
	}
	readFailure := func(codes ...uint16) error {
		e := &cql.ReadFailureError{ServerError: serverError(cql.CodeReadFailure), ReasonMap: map[netip.Addr]uint16{}}
		for i, code := range codes {
			e.ReasonMap[netip.AddrFrom4([4]byte{127, 0, 0, byte(i)})] = code
		}
		return e
	}
	writeFailure := func(codes ...uint16) error {
		var read *cql.ReadFailureError
		require.ErrorAs(t, readFailure(codes...), &read)
		return &cql.WriteFailureError{ServerError: serverError(cql.CodeWriteFailure), WriteType: "SIMPLE", ReasonMap: read.ReasonMap}
	}
	writeTimeout := &cql.WriteTimeoutError{ServerError: serverError(cql.CodeWriteTimeout), WriteType: "SIMPLE"}
	limit := func(byCoordinator bool) error {
		return &cql.RateLimitError{ServerError: serverError(0x4321), RejectedByCoordinator: byCoordinator}
	}
	for _, c := range []struct {
		name                      string
		err                       error
		attempt                   int
		notIdempotent, idempotent RetryType
		wait                      time.Duration
	}{
		{"connection lost after the write", fmt.Errorf("%w: reset", conn.ErrClosed), 1, Rethrow, RetryNextHost, 0},
		{"client timeout", conn.ErrTimeout, 1, Rethrow, Rethrow, 0},
		{"context ended", context.DeadlineExceeded, 1, Rethrow, Rethrow, 0},
		{"unavailable", unavailable, 1, RetryNextHost, RetryNextHost, 0},
		{"unavailable again", unavailable, 2, Rethrow, RetryNextHost, 0},
		{"read timeout, only the data is missing", readTimeout(2, 2, 0), 1, Retry, Retry, 0},
		{"read timeout, only the data is missing, again", readTimeout(2, 2, 0), 2, Rethrow, RetryNextHost, 0},
		{"read timeout, too few responses", readTimeout(1, 2, 0), 1, Rethrow, RetryNextHost, 0},
		{"read timeout, data was there", readTimeout(2, 2, 1), 1, Rethrow, RetryNextHost, 0},
		{"read failure of replicas without a reason", readFailure(0, 0), 2, Rethrow, RetryNextHost, 50 * time.Millisecond},
		{"read failure by tombstones", readFailure(0, 1), 1, Rethrow, Rethrow, 0},
		{"read failure by the schema", readFailure(3, 0, 10), 1, Rethrow, RetryNextHost, 25 * time.Millisecond},
		{"write failure by the schema", writeFailure(3, 3), 2, Rethrow, RetryNextHost, 50 * time.Millisecond},
		{"write failure by the ring", writeFailure(9, 10), 1, Rethrow, RetryNextHost, 25 * time.Millisecond},
		{"write failure without a reason", writeFailure(3, 0), 1, Rethrow, Rethrow, 0},
		{"write failure by tombstones", writeFailure(3, 1), 1, Rethrow, Rethrow, 0},
		{"read failure, protocol v4", readFailure(), 1, Rethrow, Rethrow, 0},
		{"write timeout", writeTimeout, 1, Rethrow, RetryNextHost, 0},
		{"bootstrapping", plain(cql.CodeBootstrapping), 1, RetryNextHost, RetryNextHost, 0},
		{"overloaded", plain(cql.CodeOverloaded), 1, RetryNextHost, RetryNextHost, 25 * time.Millisecond},
		{"overloaded, third time", plain(cql.CodeOverloaded), 3, RetryNextHost, RetryNextHost, 100 * time.Millisecond},
		{"rate limit of the coordinator", limit(true), 2, Retry, Retry, 50 * time.Millisecond},
		{"rate limit of a replica", limit(false), 1, Rethrow, Retry, 25 * time.Millisecond},
		{"server error", plain(cql.CodeServer), 1, Rethrow, RetryNextHost, 0},
		{"CAS write unknown", &cql.CASWriteUnknownError{ServerError: serverError(cql.CodeCASWriteUnknown)}, 1, Rethrow, Rethrow, 0},
		{"write failure", &cql.WriteFailureError{ServerError: serverError(cql.CodeWriteFailure)}, 1, Rethrow, Rethrow, 0},
		{"syntax", plain(cql.CodeSyntax), 1, Rethrow, Rethrow, 0},
		{"too many attempts", plain(cql.CodeServer), maxAttempts, Rethrow, Rethrow, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for idempotent, want := range map[bool]RetryType{false: c.notIdempotent, true: c.idempotent} {
				a := Attempt{
					Number: c.attempt, Err: c.err, Class: ErrorClassOf(c.err), Idempotent: idempotent, MayHaveApplied: attemptMayHaveApplied(c.err),
				}
				d := DefaultRetryPolicy{}.Decide(context.Background(), a)
				require.Equal(t, want, d.Type, "idempotent: %v", idempotent)
				if want != Rethrow {
					require.Equal(t, c.wait, d.Wait)
				}
				if d.Type == RetryNextHost && !idempotent {
					require.False(t, attemptMayHaveApplied(c.err), "retried without idempotence, so it must not have been executed")
				}
			}
		})
	}
}

func TestDefaultRetryPolicyAfterPartsWereWritten(t *testing.T) {
	overloaded := serverError(cql.CodeOverloaded)
	a := Attempt{Number: 1, Err: &overloaded, Class: stats.ClassOverloaded, MayHaveApplied: true}
	require.Equal(t, Decision{}, DefaultRetryPolicy{}.Decide(context.Background(), a))
}

// decisions returns the decisions of p on err, attempt by attempt.
func decisions(p RetryPolicy, err error, attempts int) (ds []Decision) {
	for n := 1; n <= attempts; n++ {
		ds = append(ds, p.Decide(context.Background(), Attempt{
			Number: n, Err: err, Class: ErrorClassOf(err), WriteType: writeTypeOf(err), Consistency: cql.Quorum, Idempotent: true,
		}))
	}
	return ds
}

func TestRetryPolicies(t *testing.T) {
	plain := func(c cql.Code) error { e := serverError(c); return &e }
	next := Decision{Type: RetryNextHost}
	after := func(d time.Duration) Decision { return Decision{Type: RetryNextHost, Wait: d} }
	to := func(typ RetryType, c cql.Consistency) Decision {
		return Decision{Type: typ, Consistency: c, SetConsistency: true}
	}
	writeTimeout := func(typ string, received int) error {
		return &cql.WriteTimeoutError{ServerError: serverError(cql.CodeWriteTimeout), WriteType: typ, Received: received}
	}
	unavailable := func(alive int) error {
		return &cql.UnavailableError{ServerError: serverError(cql.CodeUnavailable), Alive: alive}
	}
	down := DowngradingConsistencyRetryPolicy{ConsistencyLevelsToTry: []cql.Consistency{cql.Two, cql.One}}
	for name, c := range map[string]struct {
		policy RetryPolicy
		err    error
		want   []Decision
	}{
		"simple":                      {SimpleRetryPolicy{NumRetries: 2}, plain(cql.CodeServer), []Decision{next, next, {}}},
		"simple, never":               {SimpleRetryPolicy{}, plain(cql.CodeServer), []Decision{{}}},
		"simple, of no use":           {SimpleRetryPolicy{NumRetries: 2}, plain(cql.CodeSyntax), []Decision{{}}},
		"backoff":                     {ExponentialBackoffRetryPolicy{NumRetries: 3, Min: 2, Max: 7}, conn.ErrTimeout, []Decision{after(2), after(4), after(7), {}}},
		"backoff, defaults":           {ExponentialBackoffRetryPolicy{NumRetries: 1}, plain(cql.CodeServer), []Decision{after(100 * time.Millisecond), {}}},
		"backoff, of no use":          {ExponentialBackoffRetryPolicy{NumRetries: 1}, plain(cql.CodeInvalid), []Decision{{}}},
		"downgrading, replicas alive": {down, unavailable(1), []Decision{to(Retry, cql.Two), to(Retry, cql.One), {}}},
		"downgrading, none alive":     {down, unavailable(0), []Decision{{}}},
		"downgrading, read timeout":   {down, &cql.ReadTimeoutError{ServerError: serverError(cql.CodeReadTimeout)}, []Decision{to(Retry, cql.Two), to(Retry, cql.One), {}}},
		"downgrading, written once":   {down, writeTimeout("SIMPLE", 1), []Decision{{Type: Ignore}}},
		"downgrading, not written":    {down, writeTimeout("COUNTER", 0), []Decision{{}}},
		"downgrading, unlogged batch": {down, writeTimeout("UNLOGGED_BATCH", 0), []Decision{to(Retry, cql.Two)}},
		"downgrading, batch log":      {down, writeTimeout("BATCH_LOG", 1), []Decision{{}}},
		"downgrading, other error":    {down, plain(cql.CodeServer), []Decision{to(RetryNextHost, cql.Two)}},
		"downgrading, of no use":      {down, plain(cql.CodeUnauthorized), []Decision{{}}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, decisions(c.policy, c.err, len(c.want)))
		})
	}
}

func TestErrorClassOf(t *testing.T) {
	plain := func(c cql.Code) error { e := serverError(c); return &e }
	for _, c := range []struct {
		err  error
		want stats.ErrorClass
		name string
	}{
		{plain(cql.CodeSyntax), stats.ClassInvalid, "invalid"},
		{plain(cql.CodeServer), stats.ClassServer, "server"},
		{plain(0x7777), stats.ClassServer, "server"},
		{&cql.RateLimitError{ServerError: serverError(0x4321)}, stats.ClassRateLimit, "rate_limit"},
		{&cql.CASWriteUnknownError{ServerError: serverError(cql.CodeCASWriteUnknown)}, stats.ClassCASWriteUnknown, "cas_write_unknown"},
		{&RequestFailure{Err: plain(cql.CodeOverloaded)}, stats.ClassOverloaded, "overloaded"},
		{&cql.ProtocolError{Err: plain(cql.CodeUnprepared)}, stats.ClassProtocol, "protocol"},
		{fmt.Errorf("%w: %w", conn.ErrClosed, &cql.ProtocolError{Message: "a stray frame"}), stats.ClassConnection, "connection"},
		{fmt.Errorf("%w: %w", ErrNoConnections, plain(cql.CodeCredentials)), stats.ClassConnection, "connection"},
		{fmt.Errorf("%w, after: %w", ErrThrottled, conn.ErrClosed), stats.ClassThrottled, "throttled"},
		{fmt.Errorf("%w: %w", conn.ErrNoStreams, context.Canceled), stats.ClassThrottled, "throttled"},
		{&conn.NotSentError{Err: context.Canceled}, stats.ClassCanceled, "canceled"},
		{fmt.Errorf("%w: no byte received: %w", conn.ErrClosed, context.DeadlineExceeded), stats.ClassConnection, "connection"},
		{conn.ErrTimeout, stats.ClassTimeout, "timeout"},
		{ErrValueCount, stats.ClassOther, "other"},
	} {
		require.Equal(t, c.want, ErrorClassOf(c.err), c.err)
		require.Equal(t, c.name, c.want.String())
	}
	require.Equal(t, "other", stats.ErrorClass(200).String())
}

func TestJittered(t *testing.T) {
	for _, d := range []time.Duration{1, 2, 3, time.Second} {
		least, most := d, time.Duration(0)
		for range 1000 {
			j := background.Jitter(d)
			least, most = min(least, j), max(most, j)
		}
		require.GreaterOrEqual(t, least, d/2)
		require.LessOrEqual(t, most, d)
		if d == time.Second {
			require.Greater(t, most-least, 300*time.Millisecond)
		}
	}
}

func TestMayHaveApplied(t *testing.T) {
	plain := func(c cql.Code) error { e := serverError(c); return &e }
	for _, c := range []struct {
		err  error
		want bool
	}{
		{conn.ErrTimeout, true},
		{conn.ErrClosed, true},
		{context.Canceled, true},
		{&cql.ProtocolError{Message: "malformed response"}, true},
		{&conn.NotSentError{Err: context.Canceled}, false},
		{plain(cql.CodeSyntax), false},
		{plain(cql.CodeServer), true},
		{&cql.WriteTimeoutError{ServerError: serverError(cql.CodeWriteTimeout)}, true},
		{&cql.RateLimitError{ServerError: serverError(0x4321), RejectedByCoordinator: true}, false},
		{&cql.RateLimitError{ServerError: serverError(0x4321)}, true},
	} {
		require.Equal(t, c.want, attemptMayHaveApplied(c.err), "%T %v", c.err, c.err)
	}
	require.False(t, MayHaveApplied(ErrSessionClosed))
	require.False(t, MayHaveApplied(&cql.MarshalError{Err: cql.ErrRange}))
	require.False(t, MayHaveApplied(&RequestFailure{Err: ErrNoConnections}))
	require.True(t, MayHaveApplied(fmt.Errorf("wrapped: %w", &RequestFailure{Err: plain(cql.CodeSyntax), applied: true})), "an earlier attempt")
	require.True(t, MayHaveApplied(&cql.UnmarshalError{Err: cql.ErrRange}))
}

func TestServerErrorIsItsCode(t *testing.T) {
	var err error = &cql.UnavailableError{ServerError: serverError(cql.CodeUnavailable), Required: 3}
	err = &RequestFailure{Err: err, Attempts: 2}
	require.ErrorIs(t, err, cql.CodeUnavailable)
	require.NotErrorIs(t, err, cql.CodeOverloaded)
	var u *cql.UnavailableError
	require.ErrorAs(t, err, &u)
	require.Equal(t, 3, u.Required)
	var r *cql.ServerError
	require.ErrorAs(t, err, &r)
	require.Equal(t, cql.CodeUnavailable, r.Code)
}
