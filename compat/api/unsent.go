// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Requests that fail before they are sent: a value that cannot be encoded, another number of values, a function of the
// program that binds them, a context that has ended. In the API they are attempts on a node, which policies and
// observers see. vecql finds such an error before it selects a node.

// unsendable are errors without an attempt in the API too.
var unsendable = []error{
	vecql.ErrSessionClosed, vecql.ErrNoConnections, vecql.ErrNoHosts, vecql.ErrUseStmt, vecql.ErrTooManyStmts,
	vecql.ErrThrottled, vecql.ErrKeyspaceDoesNotExist, vecql.ErrNoKeyspace,
}

// IsUnsent reports whether err, of a request, is an attempt in the API only.
func IsUnsent(err error) bool {
	if attempts, _ := spentOn(err); err == nil || attempts > 0 {
		return false
	}
	for _, e := range unsendable {
		if errors.Is(err, e) {
			return false
		}
	}
	return true
}

// HasNoMarkers reports whether err means that a statement with values has no bind markers, and the API sends it without
// being prepared: it leaves the values out.
func HasNoMarkers(err error, stmt string) bool {
	var count interface{ ValueCount() (values, markers int) }
	if !errors.As(err, &count) {
		return false
	}
	_, markers := count.ValueCount()
	return markers == 0 && !IsPrepared(stmt)
}

// IsPrepared reports whether the API prepares a statement, by its first word, of a batch by its last word.
func IsPrepared(stmt string) bool {
	stmt = strings.TrimLeftFunc(strings.TrimRightFunc(stmt, func(r rune) bool {
		return unicode.IsSpace(r) || r == ';'
	}), unicode.IsSpace)
	word := ""
	if n := strings.IndexFunc(stmt, unicode.IsSpace); n >= 0 {
		word = strings.ToLower(stmt[:n])
	}
	if word == "begin" {
		word = strings.ToLower(stmt[strings.LastIndexFunc(stmt, unicode.IsSpace)+1:])
	}
	return slices.Contains([]string{"select", "insert", "update", "delete", "batch"}, word)
}

// An Unsent is a request that failed before it was sent.
type Unsent struct {
	Err         error // of vecql
	Next        vecql.NextHost
	Consistency cql.Consistency
	Idempotent  bool
	Batch       bool
	Observe     func(UnsentAttempt)                                 // nil means no observer
	Decide      func(context.Context, vecql.Attempt) vecql.Decision // nil means no retry policy
}

// An UnsentAttempt is an attempt of an Unsent for an observer.
type UnsentAttempt struct {
	Host    *cql.Host
	Err     error
	Attempt int               // from 0
	Metrics vecql.HostMetrics // of the attempts on Host
	Time    time.Time
}

// maxUnsent bounds the attempts of an Unsent, as vecql bounds the attempts of a request.
const maxUnsent = 100

// Attempt makes the attempts of a request that was not sent: each is marked for the policy of nodes, observed, and
// followed by a decision of the retry policy. It returns their number.
func (u *Unsent) Attempt(ctx context.Context) (attempts int) {
	ended := HasEnded(u.Err)
	perHost := map[*cql.Host]int{}
	for on := u.Next(); on.Host != nil && attempts < maxUnsent; {
		attempts++
		if u.Observe != nil {
			perHost[on.Host]++
			u.Observe(UnsentAttempt{
				on.Host, u.Err, attempts - 1, vecql.HostMetrics{Attempts: perHost[on.Host]}, time.Now(),
			})
		}
		mark(on, u.Err, ended)
		if ended || u.Decide == nil {
			break
		}
		d := u.Decide(ctx, vecql.Attempt{
			Number: attempts, Err: u.Err, Class: vecql.ErrorClassOf(u.Err), Consistency: u.Consistency,
			Idempotent: u.Idempotent, Batch: u.Batch, Host: on.Host,
		})
		if d.SetConsistency {
			u.Consistency = d.Consistency
		}
		switch d.Type {
		case vecql.Retry:
		case vecql.RetryNextHost:
			on = u.Next()
		default:
			return attempts
		}
	}
	return attempts
}

// HasEnded reports whether err means that a context has ended.
func HasEnded(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// mark passes the outcome of an attempt to the policy that selected the node. The end of a context is not the node's.
func mark(on vecql.SelectedHost, err error, ended bool) {
	switch {
	case on.Mark == nil:
	case ended:
		on.Mark(nil)
	default:
		on.Mark(err)
	}
}

// turns counts the requests that were not sent: each begins with the next node.
var turns atomic.Uint64

// UpHosts returns the nodes that are up, beginning with another one for each request.
func UpHosts(s *vecql.Session) vecql.NextHost {
	var up []*cql.Host
	for _, node := range s.GetHosts() {
		if s.IsUp(node) {
			up = append(up, node)
		}
	}
	if len(up) > 0 {
		first := int(turns.Add(1) % uint64(len(up)))
		up = append(up[first:len(up):len(up)], up[:first]...)
	}
	return vecql.HostsInOrder(up...)
}

// unsent makes the attempts of a request of v1.7 or the fork that failed before it was sent. r may be nil.
func (s *SessionV1[R, C, H, I]) unsent(ctx context.Context, on *vecql.Session, u Unsent, r *Execution, m *Metrics,
	stmt string, request any, observe func(UnsentAttempt),
) {
	u.Next = s.next(ctx, on, request, vecql.RouteInfo{Statement: stmt, Keyspace: s.Keyspace, Idempotent: u.Idempotent})
	switch {
	case r == nil:
		u.Observe = func(UnsentAttempt) { m.Count(1, 0) }
	case r.observer != nil:
		u.Observe = observe
	default: // the retry policy's execution counts the attempts too
		u.Observe = func(a UnsentAttempt) { r.Count(a.Attempt + 1) }
	}
	if r != nil && r.policy != nil {
		u.Decide = r.policy.Decide
	}
	u.Attempt(ctx)
}

// next returns the nodes of a request that was not sent.
func (s *SessionV1[R, C, H, I]) next(ctx context.Context, on *vecql.Session, request any, r vecql.RouteInfo,
) vecql.NextHost {
	if s.Pick == nil {
		return UpHosts(on)
	}
	return s.Pick(WithRequest(ctx, request), r)
}
