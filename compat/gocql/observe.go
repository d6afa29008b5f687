// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"time"

	api "github.com/vecql/vecql/compat/api"
)

// Observers of queries and batches.

// An ObservedQuery is one attempt of a query.
type ObservedQuery struct {
	Keyspace  string
	Statement string
	Values    []any // as bound, not copied
	Start     time.Time
	End       time.Time
	Rows      int // of the page
	Host      *HostInfo
	Metrics   *api.HostMetrics // of the attempts on Host
	Err       error
	Attempt   int // from 0, over all executions of the query
}

// An ObservedBatch is one attempt of a batch.
type ObservedBatch struct {
	Keyspace   string
	Statements []string
	Values     [][]any
	Start      time.Time
	End        time.Time
	Host       *HostInfo
	Err        error
	Metrics    *api.HostMetrics // of the attempts on Host
	Attempt    int              // from 0, over all executions of the batch
}
