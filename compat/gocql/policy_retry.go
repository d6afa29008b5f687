// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"

	api "github.com/vecql/vecql/compat/api"
)

// Retry policies. Whatever a policy decides, a request that may have been executed is sent again only if it is
// idempotent: marked so, or a SELECT.

type (
	// RetryableQuery is a request as a RetryPolicy sees it: the *Query or the *Batch.
	RetryableQuery = api.RetryableQuery[Consistency]
	// SimpleRetryPolicy retries on the next node, at most NumRetries times.
	SimpleRetryPolicy = api.SimpleRetryPolicy[RetryableQuery]
	// ExponentialBackoffRetryPolicy retries as SimpleRetryPolicy does, with exponential backoff.
	ExponentialBackoffRetryPolicy = api.ExponentialBackoffRetryPolicy[RetryableQuery]
)

// DowngradingConsistencyRetryPolicy retries with the consistencies of its list, one after the other.
type DowngradingConsistencyRetryPolicy struct {
	ConsistencyLevelsToTry []Consistency
}

// Attempt implements RetryPolicy.
func (d *DowngradingConsistencyRetryPolicy) Attempt(q RetryableQuery) bool {
	return api.AttemptDowngraded(q, d.ConsistencyLevelsToTry)
}

// GetRetryType implements RetryPolicy.
func (d *DowngradingConsistencyRetryPolicy) GetRetryType(err error) RetryType {
	var unavailable *RequestErrUnavailable
	var write *RequestErrWriteTimeout
	var read *RequestErrReadTimeout
	switch {
	case errors.As(err, &unavailable):
		return api.DowngradeAfterUnavailable(unavailable.Alive)
	case errors.As(err, &write):
		return api.DowngradeAfterWriteTimeout(write.WriteType, write.Received)
	case errors.As(err, &read):
		return Retry
	}
	return RetryNextHost
}
