// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Requests that fail before they are sent.

// unmarshalable is a value that no API encodes.
type unmarshalable struct{ _ func() }

var errOfProgram = errors.New("of the program")

// failing is a value whose encoder fails.
type failing struct{}

// MarshalCQL implements Marshaler.
func (failing) MarshalCQL(typeInfo) ([]byte, error) { return nil, errOfProgram }

const insert = "INSERT INTO items (id, name) VALUES (?, ?)"

// unsent are the queries that fail before they are sent.
var unsent = map[string]func(s *session) *query{
	"a value of another type": func(s *session) *query { return s.Query(insert, "x", 1) },
	"a value of no type":      func(s *session) *query { return s.Query(insert, 1, unmarshalable{}) },
	"an encoder that fails":   func(s *session) *query { return s.Query(insert, 1, failing{}) },
	"a number that is too big": func(s *session) *query {
		return s.Query(insert, int64(1)<<40, "a")
	},
	"too few values":  func(s *session) *query { return s.Query(insert, 1) },
	"too many values": func(s *session) *query { return s.Query(insert, 1, "a", "b") },
	"no values":       func(s *session) *query { return s.Query(insert) },
	"a binding that fails": func(s *session) *query {
		return s.Bind(insert, func(*queryInfo) ([]any, error) { return nil, errOfProgram })
	},
	"a binding of too few values": func(s *session) *query {
		return s.Bind(insert, func(*queryInfo) ([]any, error) { return []any{1}, nil })
	},
	"a context that has ended": func(s *session) *query {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return s.Query(insert, 1, "a").WithContext(ctx)
	},
	"a context whose time has ended": func(s *session) *query {
		ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
		cancel()
		return s.Query(insert, 1, "a").WithContext(ctx)
	},
	"a statement that changes the keyspace": func(s *session) *query { return s.Query("USE shop") },
	"a select with a value of another type": func(s *session) *query {
		return s.Query("SELECT name FROM items WHERE id = ?", "x")
	},
}

// unsentBatches are the statements of batches that fail before they are sent.
var unsentBatches = map[string]func(b *batch){
	"a value of another type": func(b *batch) { b.Query(insert, "x", 1) },
	"too few values":          func(b *batch) { b.Query(insert, 1) },
	"too many values":         func(b *batch) { b.Query(insert, 1, "a", "b") },
	"a second statement":      func(b *batch) { b.Query(insert, 1, "a"); b.Query(insert, "x", "a") },
	"a binding that fails": func(b *batch) {
		b.Bind(insert, func(*queryInfo) ([]any, error) { return nil, errOfProgram })
	},
	"too many statements": func(b *batch) {
		for range 1 << 16 {
			b.Query("INSERT INTO items (id) VALUES (1)")
		}
	},
}

// retries are the retry policies of the scenarios.
var retries = map[string]func() retryPolicy{
	"no policy":   func() retryPolicy { return nil },
	"two retries": func() retryPolicy { return &simpleRetry{NumRetries: 2} },
	"rethrow":     func() retryPolicy { return decides{3} },
	"unknown":     func() retryPolicy { return decides{77} },
}

// decides is a retry policy of a program that retries once.
type decides struct{ typ retryType }

// Attempt implements RetryPolicy.
func (decides) Attempt(q retryableQuery) bool { return q.Attempts() <= 1 }

// GetRetryType implements RetryPolicy.
func (d decides) GetRetryType(error) retryType { return d.typ }

// text returns an error's type and text.
func text(err error) string {
	if err == nil {
		return "nil"
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if k := kind(e); strings.Contains(k, "MarshalError") {
			return kind(err) + " of " + k // the texts of conversions are vecql's
		}
	}
	return kind(err) + " " + fmt.Sprintf("%q", err)
}

func TestUnsentRequests(t *testing.T) {
	s := open(t, cluster(t, 3))
	var scenarios []scenario
	for policy, newPolicy := range retries {
		for name, newQuery := range unsent {
			scenarios = append(scenarios, scenario{"query, " + policy + ", " + name, func() string {
				w := &watcher{}
				q := newQuery(s).Idempotent(true).Observer(w).RetryPolicy(newPolicy())
				first := q.Exec()
				counted := attempts(q)
				second := q.Iter().Close()
				return fmt.Sprintf("%s, %d attempts, %s, %d attempts; %v", text(first), counted, text(second), attempts(q), w)
			}})
			scenarios = append(scenarios, scenario{"query, no observer, " + policy + ", " + name, func() string {
				q := newQuery(s).Idempotent(true).RetryPolicy(newPolicy())
				return fmt.Sprintf("%s, %d attempts", text(q.Exec()), attempts(q))
			}})
		}
		for name, fill := range unsentBatches {
			scenarios = append(scenarios, scenario{"batch, " + policy + ", " + name, func() string {
				w := &watcher{}
				b := s.NewBatch(loggedBatch).Observer(w).RetryPolicy(newPolicy())
				fill(b)
				for i := range b.Entries {
					b.Entries[i].Idempotent = true
				}
				err := s.ExecuteBatch(b)
				return fmt.Sprintf("%s, %d attempts; %v", text(err), attemptsOfBatch(b), w)
			}})
		}
	}
	compare(t, scenarios, unsentDifferences)
}
