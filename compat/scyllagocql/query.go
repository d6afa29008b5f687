// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"time"

	api "github.com/vecql/vecql/compat/api"
)

// Query: a statement with its values and options.

// A Query is a statement with its values and options. A setter modifies the query and returns it.
type Query struct {
	query // the first field: see package api
	retried

	session *Session
	quiet   bool // warnings are not handled
}

// QueryWithContext returns a query with a context.
func (s *Session) QueryWithContext(ctx context.Context, stmt string, values ...any) *Query {
	q := s.Query(stmt, values...)
	api.SettingsOf(q).Ctx = ctx
	return q
}

// Attempts returns the number of attempts of all executions of the query so far.
func (q *Query) Attempts() int { return q.attempts(q.query.Attempts()) }

// GetSession returns the session.
func (q *Query) GetSession() *Session { return q.session }

// SetRequestTimeout sets the timeout of an attempt; 0 means none.
func (q *Query) SetRequestTimeout(timeout time.Duration) *Query { api.SetTimeout(q, timeout); return q }

// GetRequestTimeout returns the timeout of an attempt.
func (q *Query) GetRequestTimeout() time.Duration { return api.TimeoutOf(q, q.session.timeout()) }

// IsLWT reports whether the query is conditional, as far as that is known: if it was executed, or by its consistency.
func (q *Query) IsLWT() bool {
	return q.lwt || q.GetConsistency().IsSerial() || api.KnownRoute(&q.query).LWT
}

// GetCustomPartitioner returns nil: vecql routes by the partitioner of the cluster.
func (q *Query) GetCustomPartitioner() Partitioner { return nil }
