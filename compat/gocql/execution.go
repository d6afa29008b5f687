// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"time"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// An execution is one run of a query or batch with its retry policy and observer.
type execution struct {
	api.Execution
	request RetryableQuery // the *Query or *Batch
	retry   RetryPolicy
}

// newExecution returns the execution of a request, nil if the request has neither a retry policy nor an observer.
func newExecution(request RetryableQuery, set *api.Settings[RetryPolicy], c *counted, observed bool) *execution {
	if set.Retry == nil && !observed {
		return nil
	}
	r := &execution{request: request, retry: set.Retry}
	r.Begin(api.MetricsOf(c), observed)
	return r
}

// counts returns what counts the attempts of r, which may be nil.
func (r *execution) counts() *api.Execution {
	if r == nil {
		return nil
	}
	return &r.Execution
}

func (r *execution) finish(c *counted, attempts int, latency time.Duration) error {
	return r.counts().Finish(api.MetricsOf(c), attempts, latency)
}

// Decide implements vecql.RetryPolicy.
func (r *execution) Decide(_ context.Context, a vecql.Attempt) vecql.Decision {
	r.Count(a.Number)
	if !r.retry.Attempt(r.request) {
		return vecql.Decision{}
	}
	d := vecql.Decision{Consistency: cql.Consistency(r.request.GetConsistency())}
	d.SetConsistency = d.Consistency != a.Consistency
	return r.Decided(d, r.retry.GetRetryType(plain(a.Err)))
}
