// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"

	"github.com/vecql/vecql"
)

// The execution of host selection policies: the API's own by those of vecql, a program's by a vecql.HostPicker.

// adaptPolicy returns vecql's policy of a session.
func (s *Session) adaptPolicy() vecql.HostSelectionPolicy {
	p := s.cfg.PoolConfig.HostSelectionPolicy
	if p == nil {
		return vecql.RoundRobinHostPolicy()
	}
	if native := nativePolicy(p); native != nil {
		return native
	}
	s.picker = &picker{session: s, policy: p, ready: make(chan struct{})}
	p.Init(s)
	return s.picker
}

// nativePolicy returns vecql's policy for one of the API, nil for a program's.
func nativePolicy(p HostSelectionPolicy) vecql.HostSelectionPolicy {
	switch p := p.(type) {
	case *roundRobinHostPolicy:
		return vecql.RoundRobinHostPolicy()
	case *dcAwareRR:
		if p.local != "" { // vecql refuses an empty name
			return vecql.DCAwareRoundRobinPolicy(p.local)
		}
	case *rackAwareRR:
		if p.localDC != "" && p.localRack != "" {
			return vecql.RackAwareRoundRobinPolicy(p.localDC, p.localRack)
		}
	case *singleHostReadyPolicy:
		return nativePolicy(p.HostSelectionPolicy)
	case *tokenAwareHostPolicy:
		fallback := nativePolicy(p.fallback)
		if fallback == nil {
			return nil
		}
		options := []vecql.TokenAwareOption{vecql.DoNotShuffleReplicas()}
		if p.shuffle {
			options[0] = vecql.ShuffleReplicas()
		}
		if p.replicasFirst {
			options = append(options, vecql.NonLocalReplicasFallback())
		}
		return vecql.TokenAwareHostPolicy(fallback, options...)
	}
	return nil
}

// picker executes a policy of the program.
type picker struct {
	session *Session
	policy  HostSelectionPolicy
	ready   chan struct{} // closed when the policy has the nodes of the start
}

// pickedStatement is the key of the statement in the context of a request.
type pickedStatement struct{}

// picking returns the context of a request of q, a *Query or *Batch. The policy finds the statement there.
func (s *Session) picking(ctx context.Context, q statement) context.Context {
	if s.picker == nil {
		return ctx
	}
	return context.WithValue(ctx, pickedStatement{}, q)
}

// start passes the nodes to the policy, then lets the listeners continue.
func (p *picker) start() {
	defer close(p.ready)
	hosts := p.session.GetHosts()
	if len(hosts) > 0 {
		p.policy.SetPartitioner(hosts[0].Partitioner())
	}
	switch all := p.policy.(type) {
	case interface{ AddHosts(hosts []*HostInfo) }:
		all.AddHosts(hosts)
	default:
		for _, h := range hosts {
			p.policy.AddHost(h)
		}
	}
	for _, h := range hosts {
		if h.IsUp() {
			p.policy.HostUp(h)
		}
	}
}

// Tier implements vecql.HostSelectionPolicy. The policy itself selects the nodes.
func (p *picker) Tier(*vecql.HostInfo) int { return 0 }

// Pick implements vecql.HostPicker.
func (p *picker) Pick(ctx context.Context, r vecql.RouteInfo, _ []*vecql.HostInfo) vecql.NextHost {
	stmt, _ := ctx.Value(pickedStatement{}).(statement)
	if stmt == nil { // a request of Session.Vecql
		stmt = &Query{session: p.session, stmt: r.Statement, idempotent: r.Idempotent}
	}
	next := p.policy.Pick(&pickedRequest{statement: stmt, session: p.session, route: r})
	return func() vecql.SelectedHost {
		for next != nil {
			selected := next()
			if selected == nil {
				break
			}
			if h := selected.Info(); h != nil && h.row().node != nil {
				return vecql.SelectedHost{Host: h.row().node, Mark: func(err error) { mark(selected, err) }}
			}
		}
		return vecql.SelectedHost{}
	}
}

// mark passes the error of an attempt to a policy. An error that is not the node's counts as none.
func mark(host SelectedHost, err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	host.Mark(plain(err))
}

// statement is a *Query or *Batch.
type statement interface {
	Statement
	Keyspace() string
	IsIdempotent() bool
	getHostID() string
}

func (q *Query) getHostID() string { return q.hostID }
func (b *Batch) getHostID() string { return "" }

// pickedRequest is an ExecutableStatement.
type pickedRequest struct {
	statement statement
	session   *Session
	route     vecql.RouteInfo
}

func (r *pickedRequest) GetRoutingKey() ([]byte, error) { return r.route.RoutingKey, nil }
func (r *pickedRequest) Table() string                  { return r.route.Table }
func (r *pickedRequest) IsIdempotent() bool             { return r.statement.IsIdempotent() }
func (r *pickedRequest) GetHostID() string              { return r.statement.getHostID() }
func (r *pickedRequest) Statement() Statement           { return r.statement }

func (r *pickedRequest) Keyspace() string {
	if r.route.Keyspace != "" {
		return r.route.Keyspace
	}
	return r.statement.Keyspace()
}

// replicas returns the replicas of the partition, the nearest first.
func (r *pickedRequest) replicas() []*HostInfo {
	hosts := make([]*HostInfo, len(r.route.Replicas))
	for i, n := range r.route.Replicas {
		hosts[i] = r.session.host(n)
	}
	return hosts
}

// The picker is a listener for nodes and keyspaces.

func (p *picker) host(n *vecql.HostInfo) *HostInfo {
	<-p.ready
	return p.session.host(n)
}

// OnHostUp implements vecql.HostStatusChangeListener.
func (p *picker) OnHostUp(e vecql.HostUpEvent) { p.policy.HostUp(p.host(e.Host)) }

// OnHostDown implements vecql.HostStatusChangeListener.
func (p *picker) OnHostDown(e vecql.HostDownEvent) { p.policy.HostDown(p.host(e.Host)) }

// OnNewHost implements vecql.TopologyChangeListener.
func (p *picker) OnNewHost(e vecql.NewHostEvent) { p.policy.AddHost(p.host(e.Host)) }

// OnRemovedHost implements vecql.TopologyChangeListener.
func (p *picker) OnRemovedHost(e vecql.RemovedHostEvent) { p.policy.RemoveHost(p.host(e.Host)) }

// OnKeyspaceCreated implements vecql.KeyspaceChangeListener.
func (p *picker) OnKeyspaceCreated(e vecql.OnKeyspaceCreatedEvent) {
	p.keyspaceChanged(e.Keyspace, SchemaChangeTypeCreated)
}

// OnKeyspaceUpdated implements vecql.KeyspaceChangeListener.
func (p *picker) OnKeyspaceUpdated(e vecql.OnKeyspaceUpdatedEvent) {
	p.keyspaceChanged(e.New, SchemaChangeTypeUpdated)
}

// OnKeyspaceDropped implements vecql.KeyspaceChangeListener.
func (p *picker) OnKeyspaceDropped(e vecql.OnKeyspaceDroppedEvent) {
	p.keyspaceChanged(e.Keyspace, SchemaChangeTypeDropped)
}

func (p *picker) keyspaceChanged(k *vecql.KeyspaceMetadata, change string) {
	<-p.ready
	p.policy.KeyspaceChanged(KeyspaceUpdateEvent{Keyspace: k.Name, Change: change})
}
