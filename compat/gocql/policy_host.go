// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"sync/atomic"

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

	// replicas returns the replicas of the request's partition, nil if they are unknown.
	replicas() []*HostInfo
}

// selected is a SelectedHost that ignores marks.
type selected struct{ host *HostInfo }

func (s selected) Info() *HostInfo { return s.host }
func (selected) Mark(error)        {}

func nextOf(plan []*HostInfo) func() SelectedHost {
	return api.NextUp(plan, func(h *HostInfo) SelectedHost { return selected{h} })
}

// nativeOf returns the policy of vecql that stands for p, nil for a policy of the program or around one.
func nativeOf(p HostSelectionPolicy) vecql.HostSelectionPolicy {
	switch p := p.(type) {
	case interface {
		NativePolicy() vecql.HostSelectionPolicy
	}:
		return p.NativePolicy()
	case *singleHostReadyPolicy:
		return nativeOf(p.HostSelectionPolicy)
	case *tokenAwareHostPolicy:
		return p.order().Native(nativeOf(p.fallback))
	}
	return nil
}

// tieredPolicy sorts nodes into tiers and goes round-robin in each.
type tieredPolicy struct{ *api.Tiers[*HostInfo] }

// Init implements HostSelectionPolicy.
func (p tieredPolicy) Init(*Session) {}

// Pick implements HostSelectionPolicy.
func (p tieredPolicy) Pick(ExecutableQuery) NextHost { return nextOf(p.Plan(p.MaxHostTier() + 1)) }

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
	return &singleHostReadyPolicy{HostSelectionPolicy: p}
}

// singleHostReadyPolicy is a policy that is ready once a node is up.
type singleHostReadyPolicy struct {
	HostSelectionPolicy
	ready atomic.Bool
}

// HostUp implements HostStateNotifier.
func (p *singleHostReadyPolicy) HostUp(host *HostInfo) {
	p.HostSelectionPolicy.HostUp(host)
	p.ready.Store(true)
}

// Ready implements ReadyPolicy.
func (p *singleHostReadyPolicy) Ready() bool {
	inner, ok := p.HostSelectionPolicy.(ReadyPolicy)
	return p.ready.Load() && (!ok || inner.Ready())
}
