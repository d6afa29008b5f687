// SPDX-License-Identifier: Apache-2.0

package gocql

import api "github.com/vecql/vecql/compat/api"

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

// choose returns a SelectedHost.
func choose(host *HostInfo, mark func(error)) SelectedHost { return api.Choose(host, mark) }

// tieredPolicy sorts nodes into tiers and goes round-robin in each.
type tieredPolicy struct{ *api.Tiers[*HostInfo] }

// Init implements HostSelectionPolicy.
func (p tieredPolicy) Init(*Session) {}

// Pick implements HostSelectionPolicy: the nodes that are up, the nearest first.
func (p tieredPolicy) Pick(ExecutableStatement) NextHost { return api.NextUp(p.Plan(), choose) }

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
	return &singleHostReadyPolicy{p, api.NewReadiness(p)}
}

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
