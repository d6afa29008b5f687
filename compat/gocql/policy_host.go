// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Host selection. A policy of this package becomes vecql's of the same name. A policy of the program is asked for the
// nodes of each request.

// A HostSelectionPolicy selects the nodes of requests. It belongs to one session.
type HostSelectionPolicy interface {
	HostStateNotifier
	SetPartitioner
	KeyspaceChanged(KeyspaceUpdateEvent)
	// Init is called before the other methods.
	Init(*Session)
	IsLocal(host *HostInfo) bool
	// Pick returns an iterator of the nodes to try for a request.
	Pick(ExecutableQuery) NextHost
}

// A NextHost returns the next node to try, nil after the last one.
type NextHost func() SelectedHost

// A SelectedHost is a node that a policy has picked for a request.
type SelectedHost interface {
	Info() *HostInfo
	// Mark is called with the error of the attempt on the node, nil for a success.
	Mark(error)
}

// An ExecutableQuery is a request as a HostSelectionPolicy sees it.
type ExecutableQuery interface {
	// GetRoutingKey returns the serialized partition key, nil if it is unknown.
	GetRoutingKey() ([]byte, error)
	Keyspace() string
	Table() string
	IsIdempotent() bool

	RetryableQuery
	api.Placed[*HostInfo]
}

// picked is a request as a HostSelectionPolicy of the program receives it.
type picked struct {
	routed // its methods are in place of those of the request
	request
}

type (
	routed  = api.Routed[HostInfo]
	request struct{ ExecutableQuery }
)

// configurePolicy sets the selection of nodes.
func (s *Session) configurePolicy(c *vecql.ClusterConfig) {
	policy := s.cfg.PoolConfig.HostSelectionPolicy
	if policy == nil {
		policy = RoundRobinHostPolicy()
	}
	if c.PoolConfig.HostSelectionPolicy = api.NativeOf(policy); c.PoolConfig.HostSelectionPolicy != nil {
		return
	}
	p := api.NewPicker[*HostInfo](policy, s.hosts.Of, s.pick)
	s.picker = p
	c.PoolConfig.HostSelectionPolicy = p
	c.Metadata.HostListener = vecql.HostListenersConfig{HostStateChangeListener: p, TopologyChangeListener: p}
	if !s.cfg.Events.DisableSchemaEvents {
		c.Metadata.SchemaListener.KeyspaceChangeListener = p
	}
}

// pick returns the nodes of a request, in the order of a policy of the program.
func (s *Session) pick(ctx context.Context, r vecql.RouteInfo) vecql.NextHost {
	of, _ := api.RequestOf(ctx).(ExecutableQuery)
	if of == nil { // a request of Session.Vecql
		of = s.Query(r.Statement).WithContext(ctx).Idempotent(r.Idempotent)
	}
	next := s.cfg.PoolConfig.HostSelectionPolicy.Pick(&picked{api.NewRouted(of, r, s.hosts), request{of}})
	return api.Selected(next, s.hosts, plain)
}

// choose returns a SelectedHost.
func choose(host *HostInfo, mark func(error)) SelectedHost { return api.Choose(host, mark) }

// tieredPolicy sorts nodes into tiers and goes round-robin in each.
type tieredPolicy struct{ *api.Tiers[*HostInfo] }

// Init implements HostSelectionPolicy.
func (p tieredPolicy) Init(*Session) {}

// Pick implements HostSelectionPolicy.
func (p tieredPolicy) Pick(ExecutableQuery) NextHost { return api.NextUp(p.Plan(), choose) }

// RoundRobinHostPolicy spreads requests evenly over all nodes.
func RoundRobinHostPolicy() HostSelectionPolicy {
	return &roundRobinHostPolicy{tieredPolicy{api.RoundRobin[*HostInfo]()}}
}

// The types of policies have the names of the API: programs print them, and compare them in tests.
type (
	roundRobinHostPolicy struct{ tieredPolicy }
	dcAwareRR            struct{ tieredPolicy }
	rackAwareRR          struct{ tieredPolicy }
)

// DCAwareRoundRobinPolicy prefers the nodes of a data center.
func DCAwareRoundRobinPolicy(localDC string) HostSelectionPolicy {
	return &dcAwareRR{tieredPolicy{api.DCAware[*HostInfo](localDC)}}
}

// RackAwareRoundRobinPolicy prefers the nodes of a rack, then those of its data center.
func RackAwareRoundRobinPolicy(localDC string, localRack string) HostSelectionPolicy {
	return &rackAwareRR{tieredPolicy{api.RackAware[*HostInfo](localDC, localRack)}}
}

// SingleHostReadyPolicy is p with a Ready that is true once a node is up.
func SingleHostReadyPolicy(p HostSelectionPolicy) *singleHostReadyPolicy {
	return &singleHostReadyPolicy{p, api.NewReadiness(p)}
}

// singleHostReadyPolicy is a policy that is ready once a node is up.
type singleHostReadyPolicy struct {
	HostSelectionPolicy
	readiness
}

type readiness = api.Readiness

// HostUp implements HostStateNotifier.
func (p *singleHostReadyPolicy) HostUp(host *HostInfo) {
	p.HostSelectionPolicy.HostUp(host)
	api.SetUp(&p.readiness)
}
