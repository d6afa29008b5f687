// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vecql/vecql/cqltest"
)

// The attempts of requests that a server refuses, by all policies.

// failures are the errors of servers.
var failures = map[string]cqltest.Error{
	"server error":          {Code: cqltest.CodeServer},
	"protocol error":        {Code: cqltest.CodeProtocol},
	"overloaded":            {Code: cqltest.CodeOverloaded},
	"bootstrapping":         {Code: cqltest.CodeBootstrapping},
	"truncate error":        {Code: cqltest.CodeTruncate},
	"no replica alive":      {Code: cqltest.CodeUnavailable, Required: 2},
	"one replica alive":     {Code: cqltest.CodeUnavailable, Required: 2, Alive: 1},
	"write timeout of none": {Code: cqltest.CodeWriteTimeout, Required: 2},
	"write timeout of one":  {Code: cqltest.CodeWriteTimeout, Required: 2, Received: 1},
	"batch log timeout":     {Code: cqltest.CodeWriteTimeout, Required: 2, WriteType: "BATCH_LOG"},
	"batch timeout":         {Code: cqltest.CodeWriteTimeout, Required: 2, Received: 1, WriteType: "BATCH"},
	"unlogged timeout":      {Code: cqltest.CodeWriteTimeout, Required: 2, Received: 1, WriteType: "UNLOGGED_BATCH"},
	"counter timeout":       {Code: cqltest.CodeWriteTimeout, Required: 2, Received: 1, WriteType: "COUNTER"},
	"CAS timeout":           {Code: cqltest.CodeWriteTimeout, Required: 2, WriteType: "CAS"},
	"read timeout":          {Code: cqltest.CodeReadTimeout, Required: 2, Received: 1},
	"read failure":          {Code: cqltest.CodeReadFailure, Required: 2, Received: 1},
	"write failure":         {Code: cqltest.CodeWriteFailure, Required: 2, Received: 1},
	"function failure":      {Code: cqltest.CodeFunctionFailure},
	"syntax error":          {Code: cqltest.CodeSyntax},
	"unauthorized":          {Code: cqltest.CodeUnauthorized},
	"invalid":               {Code: cqltest.CodeInvalid},
	"config error":          {Code: cqltest.CodeConfig},
	"already exists":        {Code: cqltest.CodeAlreadyExists},
}

const (
	one    consistency = 1
	two    consistency = 2
	quorum consistency = 4
)

// policies are the retry policies.
var policies = map[string]func() retryPolicy{
	"no policy":                   func() retryPolicy { return nil },
	"no retry":                    func() retryPolicy { return &simpleRetry{} },
	"one retry":                   func() retryPolicy { return &simpleRetry{NumRetries: 1} },
	"four retries":                func() retryPolicy { return &simpleRetry{NumRetries: 4} },
	"backoff":                     func() retryPolicy { return &backoffRetry{NumRetries: 2, Min: time.Microsecond, Max: time.Millisecond} },
	"downgrading to nothing":      func() retryPolicy { return &downgradeRetry{} },
	"downgrading to one":          func() retryPolicy { return &downgradeRetry{ConsistencyLevelsToTry: []consistency{one}} },
	"downgrading to two, one":     func() retryPolicy { return &downgradeRetry{ConsistencyLevelsToTry: []consistency{two, one}} },
	"a program's retry":           func() retryPolicy { return decides{0} },
	"a program's retry elsewhere": func() retryPolicy { return decides{1} },
	"a program's ignore":          func() retryPolicy { return decides{2} },
	"a program's rethrow":         func() retryPolicy { return decides{3} },
	"a program's own type":        func() retryPolicy { return decides{77} },
}

// tried reports whether a policy is tried with an error: those that look at the error, and one other, with all of them.
func tried(policy, failure string) bool {
	return policy == "one retry" || strings.HasPrefix(policy, "downgrading") ||
		slices.Contains([]string{"overloaded", "write timeout of one", "read timeout", "invalid"}, failure)
}

// timesOf returns how often the error is tried: 0 means for ever.
func timesOf(policy string) []int {
	if policy == "four retries" || policy == "no policy" {
		return []int{0, 1}
	}
	return []int{0}
}

// verbs run a request twice, and return what the program sees.
var verbs = map[string]func(s *session, w *watcher, idempotent bool, p retryPolicy) string{
	"select": func(s *session, w *watcher, idempotent bool, p retryPolicy) string {
		return runTwice(s.Query("SELECT name FROM items WHERE id = ?", 1), w, idempotent, p)
	},
	"insert": func(s *session, w *watcher, idempotent bool, p retryPolicy) string {
		return runTwice(s.Query(insert, 1, "a"), w, idempotent, p)
	},
	"batch": func(s *session, w *watcher, idempotent bool, p retryPolicy) string {
		b := s.NewBatch(loggedBatch).Observer(w)
		if p != nil {
			b.RetryPolicy(p)
		}
		b.SetConsistency(quorum)
		b.Query(insert, 1, "a")
		b.Entries[0].Idempotent = idempotent
		first := s.ExecuteBatch(b)
		counted := attemptsOfBatch(b)
		return fmt.Sprintf("%s %d %v, %s %d %v", kind(first), counted, b.GetConsistency(), kind(s.ExecuteBatch(b)),
			attemptsOfBatch(b), b.GetConsistency())
	},
}

func runTwice(q *query, w *watcher, idempotent bool, p retryPolicy) string {
	q = q.Observer(w).Idempotent(idempotent).Consistency(quorum)
	if p != nil {
		q.RetryPolicy(p)
	}
	first := q.Exec()
	counted := attempts(q)
	return fmt.Sprintf("%s %d %v, %s %d %v", kind(first), counted, q.GetConsistency(), kind(q.Iter().Close()), attempts(q),
		q.GetConsistency())
}

func TestAttempts(t *testing.T) {
	c := cluster(t, 3)
	s := open(t, c)
	for _, verb := range verbs { // so that later requests do not prepare
		for range 6 {
			verb(s, &watcher{}, false, nil)
		}
	}
	var scenarios []scenario
	for verb, run := range verbs {
		for policy, newPolicy := range policies {
			for failure, e := range failures {
				if !tried(policy, failure) {
					continue
				}
				for _, idempotent := range []bool{true, false} {
					for _, times := range timesOf(policy) {
						name := fmt.Sprintf("%s, idempotent %v, %s, %s, %d times", verb, idempotent, policy, failure, times)
						scenarios = append(scenarios, scenario{name, func() string {
							return attemptsOf(c, s, e, times, func(w *watcher) string { return run(s, w, idempotent, newPolicy()) })
						}})
					}
				}
			}
		}
	}
	compare(t, scenarios, attemptsDifferences)
}

// attemptsOf returns what a program sees of a request that the nodes refuse, and the attempts that observers see.
func attemptsOf(c *cqltest.Cluster, s *session, e cqltest.Error, times int, run func(*watcher) string) string {
	fault := cqltest.Fault{Times: times, Error: &e, Match: func(r cqltest.Request) bool {
		return r.Op == cqltest.OpExecute || r.Op == cqltest.OpBatch
	}}
	rule := c.Inject(fault)
	defer rule.Remove()
	w := &watcher{short: true}
	return run(w) + "; " + strings.ReplaceAll(w.String(), "; ", " ")
}
