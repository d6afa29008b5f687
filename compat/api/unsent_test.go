// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

func TestRequestIsUnsentIfItHasNoAttempt(t *testing.T) {
	failure := errors.New("a value that cannot be encoded")
	require.True(t, IsUnsent(failure))
	require.True(t, IsUnsent(&vecql.RequestFailure{Err: failure}))
	require.True(t, IsUnsent(context.Canceled))
	require.False(t, IsUnsent(nil))
	require.False(t, IsUnsent(&vecql.RequestFailure{Err: failure, Attempts: 1}))
	for _, err := range unsendable {
		require.False(t, IsUnsent(&vecql.RequestFailure{Err: fmt.Errorf("wrapped: %w", err)}), "%v", err)
	}
}

func TestContextHasEnded(t *testing.T) {
	require.True(t, HasEnded(fmt.Errorf("wrapped: %w", context.Canceled)))
	require.True(t, HasEnded(fmt.Errorf("wrapped: %w", context.DeadlineExceeded)))
	require.False(t, HasEnded(errors.New("other")))
	require.False(t, HasEnded(nil))
}

// TestStatementIsPreparedByItsFirstWord, a batch by its last one.
func TestStatementIsPreparedByItsFirstWord(t *testing.T) {
	for stmt, want := range map[string]bool{
		"SELECT 1": true, " \n\tinsert into": true, "Update t": true, "DELETE\tFROM t": true, "BATCH x": true,
		"BEGIN BATCH INSERT; APPLY BATCH": true, "BEGIN BATCH; APPLY BATCH;; \n": true, "begin select": true, "begin batch end": false,
		"CREATE TABLE t": false, "USE shop": false, "": false, "SELECT": false, ";": false, "SELECTED 1": false, " ; SELECT 1": false,
	} {
		require.Equal(t, want, IsPrepared(stmt), "%q", stmt)
	}
}

func TestStatementWithoutMarkersIsSentWithoutItsValues(t *testing.T) {
	none, one := failed(&countFailure{"", 1, 0}), failed(&countFailure{"", 2, 1})
	require.True(t, HasNoMarkers(none, "CREATE TABLE t"))
	require.False(t, HasNoMarkers(none, "SELECT 1"))
	require.False(t, HasNoMarkers(one, "CREATE TABLE t"))
	require.False(t, HasNoMarkers(errors.New("other"), "CREATE TABLE t"))
	require.False(t, HasNoMarkers(nil, "CREATE TABLE t"))
}

// retried is a request that was not sent, with what a policy and an observer of a program see of it.
type retried struct {
	Unsent
	marks    []error
	attempts []UnsentAttempt
	asked    []vecql.Attempt
}

// newRetried returns a request that selects the nodes in their order, and retries by decisions.
func newRetried(err error, nodes []*cql.Host, decisions ...vecql.Decision) *retried {
	r := &retried{}
	next := vecql.HostsInOrder(nodes...)
	r.Unsent = Unsent{
		Err: err, Consistency: cql.Quorum, Idempotent: true, Batch: true,
		Next: func() vecql.SelectedHost {
			s := next()
			s.Mark = func(err error) { r.marks = append(r.marks, err) }
			return s
		},
		Observe: func(a UnsentAttempt) { r.attempts = append(r.attempts, a) },
		Decide: func(_ context.Context, a vecql.Attempt) vecql.Decision {
			r.asked = append(r.asked, a)
			return decisions[min(len(r.asked), len(decisions))-1]
		},
	}
	return r
}

// TestRequestThatIsNotSentHasAttemptsOnNodes, as the retry policy decides. Each is marked and observed.
func TestRequestThatIsNotSentHasAttemptsOnNodes(t *testing.T) {
	nodes := openSession(t).GetHosts()
	failure := errors.New("a value that cannot be encoded")
	r := newRetried(failure, nodes, vecql.Decision{Type: vecql.Retry, Consistency: cql.One, SetConsistency: true},
		vecql.Decision{Type: vecql.RetryNextHost, Consistency: cql.Two}, vecql.Decision{})
	require.Equal(t, 3, r.Attempt(t.Context()))
	require.Equal(t, []error{failure, failure, failure}, r.marks)
	require.Len(t, r.attempts, 3)
	require.Len(t, r.asked, 3)
	for i, want := range []struct {
		host        *cql.Host
		onHost      int
		consistency cql.Consistency
	}{{nodes[0], 1, cql.Quorum}, {nodes[0], 2, cql.One}, {nodes[1], 1, cql.One}} {
		seen := r.attempts[i]
		require.False(t, seen.Time.IsZero())
		seen.Time = r.attempts[0].Time
		require.Equal(t, UnsentAttempt{want.host, failure, i, vecql.HostMetrics{Attempts: want.onHost}, seen.Time}, seen)
		require.Equal(t, vecql.Attempt{
			Number: i + 1, Err: failure, Class: vecql.ErrorClassOf(failure), Consistency: want.consistency, Idempotent: true, Batch: true,
			Host: want.host,
		}, r.asked[i])
	}
}

func TestAttemptsOfARequestThatIsNotSentAreBounded(t *testing.T) {
	nodes := openSession(t).GetHosts()
	failure := errors.New("a value that cannot be encoded")
	r := newRetried(failure, nodes, vecql.Decision{Type: vecql.RetryNextHost})
	require.Equal(t, len(nodes), r.Attempt(t.Context()), "no further node")
	r = newRetried(failure, nodes, vecql.Decision{Type: vecql.Retry})
	require.Equal(t, 100, r.Attempt(t.Context()))
	r = newRetried(failure, nil, vecql.Decision{Type: vecql.Retry})
	require.Zero(t, r.Attempt(t.Context()), "no node")
	r = newRetried(failure, nodes, vecql.Decision{Type: vecql.Retry})
	r.Decide, r.Observe = nil, nil
	require.Equal(t, 1, r.Attempt(t.Context()), "no policy")

	// without a mark
	r.Next = vecql.HostsInOrder(nodes...)
	require.Equal(t, 1, r.Attempt(t.Context()))
}

// TestEndOfAContextIsNotTheNodes: the mark has no error, and no policy is asked.
func TestEndOfAContextIsNotTheNodes(t *testing.T) {
	r := newRetried(context.Canceled, openSession(t).GetHosts(), vecql.Decision{Type: vecql.Retry})
	require.Equal(t, 1, r.Attempt(t.Context()))
	require.Equal(t, []error{nil}, r.marks)
	require.Empty(t, r.asked)
	require.Len(t, r.attempts, 1)
}

// TestRequestsThatAreNotSentBeginWithAnotherNode, of those that are up.
func TestRequestsThatAreNotSentBeginWithAnotherNode(t *testing.T) {
	s := openSession(t)
	first := map[*cql.Host]int{}
	for range 6 {
		next := UpHosts(s)
		var all []*cql.Host
		for h := next().Host; h != nil; h = next().Host {
			all = append(all, h)
		}
		require.ElementsMatch(t, s.GetHosts(), all)
		first[all[0]]++
	}
	require.Len(t, first, 3)
	for _, n := range first {
		require.Equal(t, 2, n)
	}
	s.Close()
	require.Nil(t, UpHosts(s)().Host, "no node is up")
}
