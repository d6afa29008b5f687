// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"sync/atomic"

	"github.com/vecql/vecql"
)

// hostPicker calls a HostSelectionPolicy of the program: Pick for each request, and its methods for changes of nodes.

// hostPicker adapts a HostSelectionPolicy.
type hostPicker struct {
	policy  HostSelectionPolicy
	session *Session
	started atomic.Bool   // the policy knows the session and its nodes
	done    chan struct{} // closed when started is final: events wait for it
}

// configurePolicy sets the selection of nodes.
func (s *Session) configurePolicy(c *vecql.ClusterConfig) {
	policy := s.cfg.PoolConfig.HostSelectionPolicy
	if policy == nil {
		policy = RoundRobinHostPolicy()
	}
	if native := nativeOf(policy); native != nil {
		c.PoolConfig.HostSelectionPolicy = native
		return
	}
	p := &hostPicker{policy: policy, session: s, done: make(chan struct{})}
	s.picker = p
	c.PoolConfig.HostSelectionPolicy = p
	if !s.cfg.Events.DisableSchemaEvents {
		c.Metadata.SchemaListener.KeyspaceChangeListener = p
	}
}

// start passes the session and its nodes to the policy, unless the session did not start.
func (p *hostPicker) start() {
	defer close(p.done)
	if p.session.Vecql() == nil {
		return
	}
	p.policy.Init(p.session)
	nodes := p.session.Vecql().GetHosts()
	if len(nodes) > 0 {
		p.policy.SetPartitioner(nodes[0].Partitioner())
	}
	for _, node := range nodes {
		p.policy.AddHost(p.session.hosts.of(node))
	}
	if keyspace := p.session.cfg.Keyspace; keyspace != "" {
		p.policy.KeyspaceChanged(KeyspaceUpdateEvent{Keyspace: keyspace})
	}
	p.started.Store(true)
}

// Tier implements vecql.HostSelectionPolicy: the policy orders the nodes, so they are all equally near.
func (p *hostPicker) Tier(*vecql.HostInfo) int { return 0 }

// Pick implements vecql.HostPicker.
func (p *hostPicker) Pick(ctx context.Context, r vecql.RouteInfo, nodes []*vecql.HostInfo) vecql.NextHost {
	if !p.started.Load() {
		return vecql.HostsInOrder(nodes...)
	}
	request, _ := ctx.Value(requestKey{}).(ExecutableQuery)
	if request == nil { // a request of Session.Vecql
		q := p.session.Query(r.Statement).WithContext(ctx)
		q.idempotent = r.Idempotent
		request = q
	}
	next := p.policy.Pick(&picked{ExecutableQuery: request, route: r, hosts: &p.session.hosts})
	return func() vecql.SelectedHost {
		for s := next(); s != nil; s = next() {
			if node := vecqlOf(s.Info()); node != nil {
				return vecql.SelectedHost{Host: node, Mark: func(err error) { s.Mark(plain(err)) }}
			}
		}
		return vecql.SelectedHost{}
	}
}

// vecqlOf returns the node of a HostInfo, nil for none.
func vecqlOf(host *HostInfo) *vecql.HostInfo {
	if host == nil {
		return nil
	}
	return host.vecql()
}

// OnNewHost implements vecql.TopologyChangeListener.
func (p *hostPicker) OnNewHost(e vecql.NewHostEvent) { p.tell(p.policy.AddHost, e.Host) }

// OnRemovedHost implements vecql.TopologyChangeListener.
func (p *hostPicker) OnRemovedHost(e vecql.RemovedHostEvent) { p.tell(p.policy.RemoveHost, e.Host) }

// OnHostUp implements vecql.HostStatusChangeListener.
func (p *hostPicker) OnHostUp(e vecql.HostUpEvent) { p.tell(p.policy.HostUp, e.Host) }

// OnHostDown implements vecql.HostStatusChangeListener.
func (p *hostPicker) OnHostDown(e vecql.HostDownEvent) { p.tell(p.policy.HostDown, e.Host) }

func (p *hostPicker) tell(method func(*HostInfo), node *vecql.HostInfo) {
	if <-p.done; p.started.Load() {
		method(p.session.hosts.of(node))
	}
}

// OnKeyspaceCreated implements vecql.KeyspaceChangeListener.
func (p *hostPicker) OnKeyspaceCreated(e vecql.OnKeyspaceCreatedEvent) {
	p.keyspaceChanged(e.Keyspace.Name, "CREATED")
}

// OnKeyspaceUpdated implements vecql.KeyspaceChangeListener.
func (p *hostPicker) OnKeyspaceUpdated(e vecql.OnKeyspaceUpdatedEvent) {
	p.keyspaceChanged(e.New.Name, "UPDATED")
}

// OnKeyspaceDropped implements vecql.KeyspaceChangeListener.
func (p *hostPicker) OnKeyspaceDropped(e vecql.OnKeyspaceDroppedEvent) {
	p.keyspaceChanged(e.Keyspace.Name, "DROPPED")
}

func (p *hostPicker) keyspaceChanged(keyspace, change string) {
	if <-p.done; p.started.Load() {
		p.policy.KeyspaceChanged(KeyspaceUpdateEvent{Keyspace: keyspace, Change: change})
	}
}
