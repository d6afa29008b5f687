// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"sync/atomic"

	api "github.com/vecql/vecql/compat/api"
)

// Host selection: the interfaces of policies, and the policies of the API. A session executes the API's own policies by
// those of vecql (policy_native.go). Their Pick serves policies of programs that wrap them.

// A HostSelectionPolicy selects the nodes of each request.
type HostSelectionPolicy interface {
	HostStateNotifier
	SetPartitioner
	KeyspaceChanged(KeyspaceUpdateEvent)
	Init(*Session)
	IsLocal(host *HostInfo) bool
	Pick(statement ExecutableStatement) NextHost
}

// A SelectedHost is a node that a policy has selected. Mark receives the error of the attempt on it, nil for success.
type SelectedHost interface {
	Info() *HostInfo
	Mark(error)
}

// NextHost returns the next node to try; nil ends the request.
type NextHost func() SelectedHost

// selectedHost is a SelectedHost without a Mark.
type selectedHost HostInfo

func (host *selectedHost) Info() *HostInfo { return (*HostInfo)(host) }
func (host *selectedHost) Mark(error)      {}

func nextOf(plan []*HostInfo) func() SelectedHost {
	return api.NextUp(plan, func(h *HostInfo) SelectedHost { return (*selectedHost)(h) })
}

// tieredPolicy sorts nodes into tiers and goes round-robin in each.
type tieredPolicy struct{ *api.Tiers[*HostInfo] }

// Init implements HostSelectionPolicy.
func (p tieredPolicy) Init(*Session) {}

// Pick implements HostSelectionPolicy: the nodes that are up, the nearest first.
func (p tieredPolicy) Pick(ExecutableStatement) NextHost { return nextOf(p.Plan(p.MaxHostTier() + 1)) }

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

// SingleHostReadyPolicy is p, ready when a node is up.
func SingleHostReadyPolicy(p HostSelectionPolicy) *singleHostReadyPolicy {
	return &singleHostReadyPolicy{HostSelectionPolicy: p}
}

type singleHostReadyPolicy struct {
	HostSelectionPolicy

	ready atomic.Bool
}

// HostUp implements HostStateNotifier.
func (s *singleHostReadyPolicy) HostUp(host *HostInfo) {
	s.HostSelectionPolicy.HostUp(host)
	s.ready.Store(true)
}

// Ready implements ReadyPolicy.
func (s *singleHostReadyPolicy) Ready() bool {
	inner, ok := s.HostSelectionPolicy.(ReadyPolicy)
	return s.ready.Load() && (!ok || inner.Ready())
}
