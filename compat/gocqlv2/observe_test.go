// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/vecql/vecql/cqltest"
)

// Observers, tracing and retry policies: what a program observes of attempts, and what it decides.

func TestQueryObserverOfAttempts(t *testing.T) {
	cluster, cfg := start(t, 1)
	var seen []gocql.ObservedQuery
	cfg.QueryObserver = observe(func(o gocql.ObservedQuery) { seen = append(seen, o) })
	s := connect(t, cfg)
	cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Times: 1, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	q := s.Query(insert, 1).Idempotent(true).RetryPolicy(retries{decide: gocql.Retry, most: 3})
	require.NoError(t, q.Exec())
	require.Len(t, seen, 2)
	for i, o := range seen {
		require.Equal(t, insert, o.Statement)
		require.Equal(t, []any{1}, o.Values)
		require.Equal(t, "shop", o.Keyspace)
		require.Equal(t, i, o.Attempt)
		require.Equal(t, i+1, o.Metrics.Attempts)
		require.Positive(t, o.Metrics.TotalLatency)
		require.Same(t, s.GetHosts()[0], o.Host)
		require.Same(t, q, o.Query)
		require.False(t, o.End.Before(o.Start))
	}
	require.IsType(t, &gocql.RequestErrOverloaded{}, seen[0].Err)
	require.NoError(t, seen[1].Err)

	seen = nil
	require.NoError(t, s.Query("SELECT id FROM items").Observer(cfg.QueryObserver).Iter().Close())
	require.Equal(t, 1, seen[0].Rows)
}

type batchObserve func(o gocql.ObservedBatch)

func (f batchObserve) ObserveBatch(_ context.Context, o gocql.ObservedBatch) { f(o) }

func TestBatchObserver(t *testing.T) {
	_, s := open(t)
	var seen gocql.ObservedBatch
	b := s.Batch(gocql.LoggedBatch).Query(insert, 7).Query("DELETE FROM items WHERE id = 8")
	require.NoError(t, b.Observer(batchObserve(func(o gocql.ObservedBatch) { seen = o })).Exec())
	require.Equal(t, []string{insert, "DELETE FROM items WHERE id = 8"}, seen.Statements)
	require.Equal(t, [][]any{{7}, nil}, seen.Values)
	require.Same(t, b, seen.Batch)
	require.Equal(t, 1, seen.Metrics.Attempts)
	require.Equal(t, "shop", seen.Keyspace)
}

// retries is a policy that makes the same decision until there were most attempts.
type retries struct {
	decide gocql.RetryType
	most   int
}

func (r retries) Attempt(q gocql.RetryableQuery) bool    { return q.Attempts() < r.most }
func (r retries) GetRetryType(err error) gocql.RetryType { return r.decide }

func TestRetryPolicies(t *testing.T) {
	require.Zero(t, gocql.Retry, "the zero value retries")
	cluster, s := open(t)
	require.NoError(t, s.Query(insert, 1).Exec(), "prepared")
	failure := func(code int32, writeType string, received int) *cqltest.Error {
		return &cqltest.Error{Code: code, WriteType: writeType, Received: received, Alive: 1, Required: 2}
	}
	for _, c := range []struct {
		name       string
		policy     gocql.RetryPolicy
		err        *cqltest.Error
		idempotent bool
		attempts   int
		ok         bool
	}{
		{"none", nil, failure(cqltest.CodeOverloaded, "", 0), true, 1, false},
		{"not idempotent", retries{gocql.Retry, 3}, failure(cqltest.CodeOverloaded, "", 0), false, 1, false},
		{"retry", retries{gocql.Retry, 3}, failure(cqltest.CodeOverloaded, "", 0), true, 3, false},
		{"simple", &gocql.SimpleRetryPolicy{NumRetries: 2}, failure(cqltest.CodeWriteTimeout, "SIMPLE", 0), true, 1, false},
		{"ignore", retries{gocql.Ignore, 0}, failure(cqltest.CodeOverloaded, "", 0), true, 1, true},
		{"rethrow", retries{gocql.Rethrow, 9}, failure(cqltest.CodeOverloaded, "", 0), true, 1, false},
		{"exponential", &gocql.ExponentialBackoffRetryPolicy{NumRetries: 1, Min: 1, Max: 2}, failure(cqltest.CodeOverloaded, "", 0), true, 1, false},
		{"downgrade", &gocql.DowngradingConsistencyRetryPolicy{ConsistencyLevelsToTry: []gocql.Consistency{gocql.One}}, failure(cqltest.CodeUnavailable, "", 0), true, 2, false},
		{"written", &gocql.DowngradingConsistencyRetryPolicy{ConsistencyLevelsToTry: []gocql.Consistency{gocql.One}}, failure(cqltest.CodeWriteTimeout, "SIMPLE", 1), true, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			rule := cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: c.err})
			defer rule.Remove()
			it := s.Query(insert, 1).RetryPolicy(c.policy).Idempotent(c.idempotent).Iter()
			require.Equal(t, c.ok, it.Close() == nil)
			require.Equal(t, c.attempts, rule.Hits()) // one node: the next one does not exist
		})
	}
}

type tracer func(id []byte)

func (f tracer) Trace(id []byte) { f(id) }

func TestTracing(t *testing.T) {
	_, cfg := start(t, 1)
	var ids [][]byte
	cfg.Tracer = tracer(func(id []byte) { ids = append(ids, id) })
	s := connect(t, cfg)
	require.NoError(t, s.Query(insert, 1).Exec())
	require.NoError(t, s.Batch(gocql.LoggedBatch).Query(insert, 1).Exec())
	require.Len(t, ids, 2)
	require.Len(t, ids[0], 16)
	require.NoError(t, s.Query(insert, 1).Trace(nil).Exec())
	require.Len(t, ids, 2)
}
