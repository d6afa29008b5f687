// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func serverError(c Code) ServerError { return ServerError{code: c, message: "m"} }

func TestDecideRetry(t *testing.T) {
	plain := func(c Code) error { e := serverError(c); return &e }
	unavailable := &RequestErrUnavailable{ServerError: serverError(CodeUnavailable)}
	readTimeout := func(received, blockFor int, data byte) error {
		return &RequestErrReadTimeout{ServerError: serverError(CodeReadTimeout), Received: received, BlockFor: blockFor, DataPresent: data}
	}
	writeTimeout := &RequestErrWriteTimeout{ServerError: serverError(CodeWriteTimeout), WriteType: "SIMPLE"}
	for _, c := range []struct {
		name                      string
		err                       error
		attempt                   int
		notIdempotent, idempotent retryDecision
	}{
		{"not sent", &notSentError{err: ErrConnectionClosed}, 1, retryNextNode, retryNextNode},
		{"connection lost after the write", fmt.Errorf("%w: reset", ErrConnectionClosed), 1, retryNever, retryNextNode},
		{"client timeout", ErrTimeoutNoResponse, 1, retryNever, retryNever},
		{"context ended", context.DeadlineExceeded, 1, retryNever, retryNever},
		{"unavailable", unavailable, 1, retryNextNode, retryNextNode},
		{"unavailable again", unavailable, 2, retryNever, retryNextNode},
		{"read timeout, only the data is missing", readTimeout(2, 2, 0), 1, retrySameNode, retrySameNode},
		{"read timeout, too few answers", readTimeout(1, 2, 0), 1, retryNever, retryNextNode},
		{"read timeout, data was there", readTimeout(2, 2, 1), 1, retryNever, retryNextNode},
		{"write timeout", writeTimeout, 1, retryNever, retryNextNode},
		{"bootstrapping", plain(CodeBootstrapping), 1, retryNextNode, retryNextNode},
		{"overloaded", plain(CodeOverloaded), 1, retryNever, retryNextNode},
		{"server error", plain(CodeServer), 1, retryNever, retryNextNode},
		{"CAS write unknown", &RequestErrCASWriteUnknown{ServerError: serverError(CodeCASWriteUnknown)}, 1, retryNever, retryNever},
		{"write failure", &RequestErrWriteFailure{ServerError: serverError(CodeWriteFailure)}, 1, retryNever, retryNever},
		{"syntax", plain(CodeSyntax), 1, retryNever, retryNever},
		{"too many attempts", plain(CodeServer), maxAttempts, retryNever, retryNever},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.notIdempotent, decideRetry(c.err, false, c.attempt))
			require.Equal(t, c.idempotent, decideRetry(c.err, true, c.attempt))
			if c.notIdempotent == retryNextNode {
				require.False(t, attemptMayHaveApplied(c.err), "sent again without being idempotent: it must certainly not have been executed")
			}
		})
	}
}

func TestMayHaveApplied(t *testing.T) {
	plain := func(c Code) error { e := serverError(c); return &e }
	for _, c := range []struct {
		err  error
		want bool
	}{
		{ErrTimeoutNoResponse, true},
		{ErrConnectionClosed, true},
		{context.Canceled, true},
		{&ProtocolError{Message: "the answer can't be read"}, true},
		{&notSentError{err: context.Canceled}, false},
		{plain(CodeSyntax), false},
		{plain(CodeServer), true},
		{&RequestErrWriteTimeout{ServerError: serverError(CodeWriteTimeout)}, true},
		{&RequestErrRateLimitReached{ServerError: serverError(0x4321), RejectedByCoordinator: true}, false},
		{&RequestErrRateLimitReached{ServerError: serverError(0x4321)}, true},
	} {
		require.Equal(t, c.want, attemptMayHaveApplied(c.err), "%T %v", c.err, c.err)
	}
	require.False(t, MayHaveApplied(ErrSessionClosed))
	require.False(t, MayHaveApplied(&MarshalError{Err: ErrRange}))
	require.False(t, MayHaveApplied(&RequestFailure{Err: ErrNoConnections}))
	require.True(t, MayHaveApplied(fmt.Errorf("wrapped: %w", &RequestFailure{Err: plain(CodeSyntax), applied: true})), "an earlier attempt")
	require.True(t, MayHaveApplied(&UnmarshalError{Err: ErrRange}))
}

func TestServerErrorIsItsCode(t *testing.T) {
	var err error = &RequestErrUnavailable{ServerError: serverError(CodeUnavailable), Required: 3}
	err = &RequestFailure{Err: err, Attempts: 2}
	require.ErrorIs(t, err, CodeUnavailable)
	require.NotErrorIs(t, err, CodeOverloaded)
	var u *RequestErrUnavailable
	require.ErrorAs(t, err, &u)
	require.Equal(t, 3, u.Required)
	var r RequestError
	require.ErrorAs(t, err, &r)
	require.Equal(t, 0x1000, r.Code())
}
