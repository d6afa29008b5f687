// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// run is an execution of a module.
type run struct {
	Execution
	finished int
}

func (r *run) Decide(context.Context, vecql.Attempt) vecql.Decision  { return vecql.Decision{} }
func (r *run) ObserveAttempt(context.Context, vecql.ObservedAttempt) {}
func (r *run) Finished()                                             { r.finished++ }
func newRun(retried, observed bool, m *Metrics) (of *run, e *Execution) {
	of = &run{}
	e = of.Begin(of, retried, observed)
	e.countIn(m)
	return of, e
}

func TestAttemptsOfAnExecutionAreCountedOnce(t *testing.T) {
	var m Metrics
	of, e := newRun(true, false, &m)
	e.Count(1)
	e.Count(2)
	e.Count(2)
	require.Equal(t, 2, m.Attempts())
	require.NoError(t, e.finish(&m, 3, 10))
	require.Equal(t, 3, m.Attempts())
	require.EqualValues(t, 10, m.Latency(), "each attempt took 10 ns")
	require.Equal(t, 1, of.finished)
	e.Count(9)
	require.Equal(t, 3, m.Attempts(), "further pages are requests of their own")

	var none *Execution
	none.countIn(&m)
	require.NoError(t, none.finish(&m, 1, 50))
	require.Equal(t, 4, m.Attempts())
	require.EqualValues(t, 20, m.Latency())
}

func TestObserverCountsTheAttempts(t *testing.T) {
	var m Metrics
	of, e := newRun(false, true, &m)
	e.Count(1)
	require.Zero(t, m.Attempts())
	m.Count(1, 0) // of an execution before
	attempt, on := e.Observe("a", 7, 10*time.Nanosecond, vecql.HostMetrics{})
	require.Equal(t, 1, attempt)
	require.Equal(t, &HostMetrics{1, 10}, on)
	require.NoError(t, e.finish(&m, 1, 10))
	require.Zero(t, of.finished, "no retry policy")
	require.Equal(t, 2, m.Attempts())
	require.EqualValues(t, 5, m.Latency())
	attempt, on = e.Observe("a", 7, 10, vecql.HostMetrics{Attempts: 3, TotalLatency: 4})
	require.Equal(t, 7, attempt, "of a further page")
	require.Equal(t, &HostMetrics{3, 4}, on)
	require.Equal(t, 2, m.Attempts())
}

func TestDecisionsOfAProgram(t *testing.T) {
	var m Metrics
	_, e := newRun(true, false, &m)
	d := vecql.Decision{Consistency: cql.One, SetConsistency: true}
	for typ, want := range map[RetryType]vecql.Decision{
		Retry:         {Type: vecql.Retry, Consistency: cql.One, SetConsistency: true},
		RetryNextHost: {Type: vecql.RetryNextHost, Consistency: cql.One, SetConsistency: true},
		Ignore:        {},
		Rethrow:       {},
	} {
		require.Equal(t, want, e.Decided(d, typ))
	}
	require.NoError(t, e.finish(&m, 0, 0))
	require.Equal(t, vecql.Decision{}, e.Decided(d, 99))
	require.Equal(t, ErrUnknownRetryType, e.finish(&m, 0, 0))
}

func TestTimeOfARequestThatFailed(t *testing.T) {
	attempts, latency := spentOn(&vecql.RequestFailure{Attempts: 3, Elapsed: 9})
	require.Equal(t, 3, attempts)
	require.EqualValues(t, 3, latency)
	attempts, latency = spentOn(&vecql.RequestFailure{Elapsed: 9})
	require.Zero(t, attempts)
	require.EqualValues(t, 9, latency)
	attempts, latency = spentOn(context.Canceled)
	require.Zero(t, attempts)
	require.Zero(t, latency)
}
