// SPDX-License-Identifier: Apache-2.0

package vecql

import "errors"

// This file decides whether a failed request is sent again. The rule: a statement that is not marked idempotent is sent again only
// when it certainly was not executed.

// maxAttempts bounds how often one request is handed to a connection.
const maxAttempts = 5

type retryDecision int

const (
	retryNever retryDecision = iota
	retrySameNode
	retryNextNode
)

// decideRetry judges the error of attempt number attempts (from 1).
func decideRetry(err error, idempotent bool, attempts int) retryDecision {
	var notSent *notSentError
	if errors.As(err, &notSent) {
		return retryNextNode
	}
	if attempts >= maxAttempts {
		return retryNever
	}
	var readTimeout *RequestErrReadTimeout
	switch {
	case errors.Is(err, CodeBootstrapping):
		return retryNextNode
	case errors.Is(err, CodeUnavailable) && attempts == 1:
		return retryNextNode // another coordinator may see more replicas alive
	case errors.As(err, &readTimeout) && attempts == 1 && readTimeout.Received >= readTimeout.BlockFor && readTimeout.DataPresent == 0:
		return retrySameNode // enough replicas answered, only the one with the data did not: its digest mates are awake
	}
	if !idempotent {
		return retryNever
	}
	if errors.Is(err, ErrConnectionClosed) {
		return retryNextNode
	}
	for _, c := range []Code{CodeServer, CodeOverloaded, CodeTruncate, CodeReadTimeout, CodeWriteTimeout, CodeUnavailable} {
		if errors.Is(err, c) {
			return retryNextNode
		}
	}
	return retryNever
}
