// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"slices"
	"sync/atomic"

	"github.com/vecql/vecql"
)

// hostPicker asks a HostSelectionPolicy of the program for the nodes of each request, and tells it of nodes.

// hostPicker adapts a HostSelectionPolicy. Until start it has the order of vecql.
type hostPicker struct {
	policy  HostSelectionPolicy
	hosts   *hosts
	started atomic.Bool
}

// configurePolicy sets the selection of nodes.
func (s *Session) configurePolicy(c *vecql.ClusterConfig) error {
	policy := s.cfg.PoolConfig.HostSelectionPolicy
	if policy == nil {
		policy = RoundRobinHostPolicy()
	}
	if native := nativeOf(policy); native != nil {
		c.PoolConfig.HostSelectionPolicy = native
		return nil
	}
	s.picker = &hostPicker{policy: policy, hosts: &s.hosts}
	c.PoolConfig.HostSelectionPolicy = s.picker
	c.Metadata.HostListener = vecql.HostListenersConfig{
		HostStateChangeListener: s.picker, TopologyChangeListener: s.picker,
	}
	if !s.cfg.Events.DisableSchemaEvents {
		c.Metadata.SchemaListener.KeyspaceChangeListener = s.picker
	}
	return nil
}

// start tells the policy of the session and its nodes.
func (p *hostPicker) start(s *Session) {
	p.policy.Init(s)
	nodes := s.vecql.GetHosts()
	if len(nodes) > 0 {
		p.policy.SetPartitioner(nodes[0].Partitioner())
	}
	for _, node := range nodes {
		p.policy.AddHost(p.hosts.of(node))
	}
	if s.cfg.Keyspace != "" {
		p.policy.KeyspaceChanged(KeyspaceUpdateEvent{Keyspace: s.cfg.Keyspace})
	}
	p.started.Store(true)
}

// Tier implements vecql.HostSelectionPolicy: the policy orders the nodes, so they are all equally near.
func (p *hostPicker) Tier(*vecql.HostInfo) int { return 0 }

// AppendHosts implements vecql.HostPicker. A node that the policy returns again ends the plan, because the iterator of
// a host pool has no end.
func (p *hostPicker) AppendHosts(dst []*vecql.HostInfo, r vecql.RouteInfo, nodes []*vecql.HostInfo) []*vecql.HostInfo {
	if !p.started.Load() {
		return append(dst, nodes...)
	}
	next := p.policy.Pick(&picked{route: r, hosts: p.hosts})
	for range 2 * len(nodes) {
		s := next()
		if s == nil {
			break
		}
		if host := s.Info(); host != nil && host.IsUp() {
			node := host.get()
			if slices.Contains(dst, node) {
				break
			}
			dst = append(dst, node)
		}
	}
	return dst
}

// OnNewHost implements vecql.TopologyChangeListener.
func (p *hostPicker) OnNewHost(e vecql.NewHostEvent) { p.tell(p.policy.AddHost, e.Host) }

// OnRemovedHost implements vecql.TopologyChangeListener.
func (p *hostPicker) OnRemovedHost(e vecql.RemovedHostEvent) {
	p.tell(p.policy.RemoveHost, e.Host)
	p.hosts.forget(e.Host)
}

// OnHostUp implements vecql.HostStatusChangeListener.
func (p *hostPicker) OnHostUp(e vecql.HostUpEvent) { p.tell(p.policy.HostUp, e.Host) }

// OnHostDown implements vecql.HostStatusChangeListener.
func (p *hostPicker) OnHostDown(e vecql.HostDownEvent) { p.tell(p.policy.HostDown, e.Host) }

func (p *hostPicker) tell(method func(*HostInfo), node *vecql.HostInfo) {
	if p.started.Load() {
		method(p.hosts.of(node))
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
	if p.started.Load() {
		p.policy.KeyspaceChanged(KeyspaceUpdateEvent{Keyspace: keyspace, Change: change})
	}
}
