// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Sessions of v1.7 and of the fork, which began as a copy of it: V1 in a name means both.

// A SessionV1 holds what the queries and batches of a session need. A module's Session has one as a field. R is the
// module's RetryPolicy, C its Consistency, H its HostInfo, I its ColumnInfo.
type SessionV1[R any, C ~uint16, H, I any] struct {
	*Results[H, I]
	*Defaults[C, R]
	// Started returns the session of vecql, an error before it is ready.
	Started func() (*vecql.Session, error)
	// Plain returns the API's error for one of vecql.
	Plain func(error) error
	// Warn receives the warnings of the first page; nil means that they are ignored.
	Warn func(request any, node *cql.Host, warnings []string)
	// Pick returns the nodes of a request by a HostSelectionPolicy of the program; nil means that vecql selects them.
	Pick func(context.Context, vecql.RouteInfo) vecql.NextHost

	// EachCounted means that a request counts the attempts of its last execution, not of all executions.
	EachCounted bool

	// The options of ClusterConfig.
	Keyspace   string
	Timeout    time.Duration // of an attempt; 0 means none
	Serial     cql.Consistency
	Idempotent bool
	Timestamps bool
}

// begin sets the options of a new request to the session's, and returns the consistency. s may be nil.
func (s *SessionV1[R, C, H, I]) begin(o *Settings[R]) (cons C) {
	if s == nil {
		return cons
	}
	d := s.Defaults.get()
	o.Serial, o.Timestamps, o.Shared = s.Serial, s.Timestamps, &d.rare
	return d.cons
}

// started returns the session of vecql. s may be nil.
func (s *SessionV1[R, C, H, I]) started() (*vecql.Session, error) {
	if s == nil || s.Started == nil { // a Session that the program made as a literal
		return nil, ErrSessionClosed
	}
	return s.Started()
}

// context returns the context of a request.
func (s *SessionV1[R, C, H, I]) context(ctx context.Context, request any) context.Context {
	if s.Pick == nil {
		return ctx
	}
	return WithRequest(ctx, request)
}

// beginCounting prepares the metrics of a request for an execution. r may be nil.
func (s *SessionV1[R, C, H, I]) beginCounting(r *Execution, m *Metrics) {
	if s.EachCounted {
		m.Reset()
	}
	r.countIn(m)
}

// warn passes the warnings of the first page on.
func (s *SessionV1[R, C, H, I]) warn(request any, node *cql.Host, warnings []string) {
	if s.Warn != nil && len(warnings) > 0 {
		s.Warn(request, node, warnings)
	}
}

// warnOf passes the warnings of the first page of rows on. An Iter makes its node and warnings when it is asked.
func (s *SessionV1[R, C, H, I]) warnOf(request any, rows *vecql.Iter) {
	if s.Warn != nil {
		s.warn(request, rows.Host(), rows.Warnings())
	}
}

// StartError returns the error of a session that could not start. A missing keyspace, and a filter that accepts no
// node, are ErrNoConnectionsStarted, as in gocql; other errors name their cause.
func StartError(err error) error {
	if errors.Is(err, vecql.ErrKeyspaceDoesNotExist) || errors.Is(err, vecql.ErrNoHosts) {
		return ErrNoConnectionsStarted
	}
	return fmt.Errorf("gocql: unable to create session: %w", err)
}

// SchemaOf returns the metadata of a keyspace in the shape of a module, the same value until the schema changes.
func SchemaOf[R any, C ~uint16, H, I, K any](
	s *SessionV1[R, C, H, I], ks *Keyspaces[K], keyspace string, convert func(*cql.KeyspaceMetadata) (*K, error),
) (*K, error) {
	v, err := s.started()
	if err != nil {
		return nil, err
	}
	k, err := v.KeyspaceMetadata(context.Background(), keyspace)
	if err != nil {
		return nil, s.Plain(err)
	}
	return ks.Of(k, convert)
}

// AwaitAgreement waits until all nodes have the same schema, at most MaxWaitSchemaAgreement.
func AwaitAgreement[R any, C ~uint16, H, I any](ctx context.Context, s *SessionV1[R, C, H, I]) error {
	v, err := s.started()
	if err != nil {
		return err
	}
	return s.Plain(v.AwaitSchemaAgreement(ctx))
}

// timeoutOf returns the timeout of an attempt: the session's, unless the request has its own. ok reports whether the
// request needs it: the session's own timeout applies to contexts without a deadline only.
func (s *Settings[R]) timeoutOf(session time.Duration) (timeout time.Duration, ok bool) {
	if t := s.Rare().Timeout; t != nil {
		return OrNever(*t), true
	}
	if s.Ctx != nil {
		_, ok = s.Ctx.Deadline()
	}
	return OrNever(session), ok
}

// SetHost sets the node of a request by its id; "" means any.
func SetHost[R any](r Set[R], hostID string) {
	r.settings().Change(func(o *Rare[R]) { o.HostID = hostID })
}

// SetKeyspace sets the keyspace of a request; "" means the keyspace of the session.
func SetKeyspace[R any](r Set[R], keyspace string) {
	r.settings().Change(func(o *Rare[R]) { o.Keyspace = keyspace })
}

// SetTimeout sets the timeout of an attempt; 0 means none.
func SetTimeout[R any](r Set[R], timeout time.Duration) {
	r.settings().Change(func(o *Rare[R]) { o.Timeout = &timeout })
}

// SetNow sets the time at which the server evaluates the expiration of cells, in seconds.
func SetNow[R any](r Set[R], now int) {
	r.settings().Change(func(o *Rare[R]) { o.Now = &now })
}

// SetObserver sets the observer of a query, a module's QueryObserver.
func SetObserver[R any](r Set[R], observer any) {
	r.settings().Change(func(o *Rare[R]) { o.Observer = observer })
}

// HostOf returns what SetHost has set.
func HostOf[R any](r Set[R]) string { return r.settings().Rare().HostID }

// TimeoutOf returns what SetTimeout has set, else the timeout of a session.
func TimeoutOf[R any](r Set[R], session time.Duration) time.Duration {
	if t := r.settings().Rare().Timeout; t != nil {
		return *t
	}
	return session
}
