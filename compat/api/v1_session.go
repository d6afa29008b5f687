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
	*Defaults[C]
	// Started returns the session of vecql, an error before it is ready.
	Started func() (*vecql.Session, error)
	// Plain returns the API's error for one of vecql.
	Plain func(error) error
	// Warn receives the warnings of the first page; nil means that they are ignored.
	Warn    func(request any, node *vecql.HostInfo, warnings []string)
	Picking bool // a HostSelectionPolicy of the program needs the requests

	// The options of ClusterConfig.
	Keyspace    string
	Timeout     time.Duration // of an attempt; 0 means none
	Retry       R
	Serial      cql.Consistency
	Idempotent  bool
	Timestamps  bool
	AllMetadata bool // each page has the metadata of the result
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
	if !s.Picking {
		return ctx
	}
	return WithRequest(ctx, request)
}

// warn passes the warnings of the first page on.
func (s *SessionV1[R, C, H, I]) warn(request any, node *vecql.HostInfo, warnings []string) {
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
	k, err := v.KeyspaceMetadata(keyspace)
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

// A target holds where and how a request of the fork is executed. Queries and batches of v1.7 leave it empty.
type target struct {
	hostID   string         // of the node to use; "" means any
	keyspace string         // "" means that of the session
	timeout  *time.Duration // of an attempt, 0 for none; nil means that of the session
	now      *int           // in seconds, for the expiration of cells; nil means the time of the server
}

// timeoutOf returns the timeout of an attempt, that of a session unless the request has its own. ok reports whether the
// request needs it: the session's own timeout applies to contexts without a deadline only.
func (t *target) timeoutOf(ctx context.Context, session time.Duration) (timeout time.Duration, ok bool) {
	if t.timeout != nil {
		return OrNever(*t.timeout), true
	}
	if ctx != nil {
		_, ok = ctx.Deadline()
	}
	return OrNever(session), ok
}

// A Targeted is a query or a batch of v1.7 or the fork. The methods of the fork set its target by the functions below.
type Targeted interface{ at() *target }

func (t *target) at() *target { return t }

// SetHost sets the node of a request by its id; "" means any.
func SetHost(r Targeted, hostID string) { r.at().hostID = hostID }

// SetKeyspace sets the keyspace of a request; "" means that of the session.
func SetKeyspace(r Targeted, keyspace string) { r.at().keyspace = keyspace }

// SetTimeout sets the timeout of an attempt; 0 means none.
func SetTimeout(r Targeted, timeout time.Duration) { r.at().timeout = &timeout }

// SetNow sets the time at which the server evaluates the expiration of cells, in seconds.
func SetNow(r Targeted, now int) { r.at().now = &now }

// HostOf returns what SetHost has set.
func HostOf(r Targeted) string { return r.at().hostID }

// TimeoutOf returns what SetTimeout has set, else the timeout of a session.
func TimeoutOf(r Targeted, session time.Duration) time.Duration {
	if t := r.at().timeout; t != nil {
		return *t
	}
	return session
}
