// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"

	api "github.com/vecql/vecql/compat/api"
)

//compat:copy scyllagocql

// Retry policies.

// GetRetryType implements RetryPolicy.
func (d *DowngradingConsistencyRetryPolicy) GetRetryType(err error) RetryType { return downgrade(err) }

// downgrade returns the decision of a DowngradingConsistencyRetryPolicy.
func downgrade(err error) RetryType {
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
