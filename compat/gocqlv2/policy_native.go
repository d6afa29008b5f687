// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// The execution of host selection policies: the API's own by vecql's policies, a program's by a vecql.HostPicker.

// adaptPolicy returns vecql's policy of a session.
func (s *Session) adaptPolicy() vecql.HostSelectionPolicy {
	p := s.cfg.PoolConfig.HostSelectionPolicy
	if p == nil {
		return vecql.RoundRobinPolicy{}
	}
	if native := api.NativeOf(p); native != nil {
		return native
	}
	s.picker = api.NewPicker[*HostInfo](p, s.hosts.Of, s.pick)
	p.Init(s)
	return s.picker
}

// picking returns the context of a request of q, a *Query or *Batch. The policy finds the statement there.
func (s *Session) picking(ctx context.Context, q statement) context.Context {
	if s.picker == nil {
		return ctx
	}
	return api.WithRequest(ctx, q)
}

// startPicker passes the nodes and the keyspaces to the policy of the program, then lets the listeners continue.
func (s *Session) startPicker() {
	s.picker.Start(s.driver, func() {}, func() {
		if s.cfg.Metadata.CacheMode == Disabled {
			return
		}
		all, err := s.driver.AllKeyspaceMetadata(context.Background())
		if err != nil {
			s.log(err)
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			s.cfg.PoolConfig.HostSelectionPolicy.KeyspaceChanged(KeyspaceUpdateEvent{
				Keyspace: name, Change: SchemaChangeTypeCreated,
			})
		}
	})
}

// pick returns the nodes of a request, in the order of the policy of the program.
func (s *Session) pick(ctx context.Context, r vecql.RouteInfo) vecql.NextHost {
	stmt, _ := api.RequestOf(ctx).(statement)
	if stmt == nil { // a request of Session.Vecql
		stmt = s.Query(r.Statement).Idempotent(r.Idempotent)
	}
	next := s.cfg.PoolConfig.HostSelectionPolicy.Pick(&pickedRequest{api.NewRouted(stmt, r, s.hosts), stmt})
	return api.Selected(next, s.hosts, markedError)
}

// markedError returns the error of an attempt for a policy. An error that is not the node's counts as none.
func markedError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return plain(err)
}

// statement is a *Query or *Batch.
type statement interface {
	Statement
	Keyspace() string
	IsIdempotent() bool
	getHostID() string
}

func (q *Query) getHostID() string { return q.GetHostID() }
func (b *Batch) getHostID() string { return "" }

// pickedRequest is an ExecutableStatement.
type pickedRequest struct {
	routed
	statement statement
}

type routed = api.Routed[HostInfo]

func (r *pickedRequest) IsIdempotent() bool   { return r.statement.IsIdempotent() }
func (r *pickedRequest) GetHostID() string    { return r.statement.getHostID() }
func (r *pickedRequest) Statement() Statement { return r.statement }
