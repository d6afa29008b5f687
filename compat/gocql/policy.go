// SPDX-License-Identifier: Apache-2.0

package gocql

import api "github.com/vecql/vecql/compat/api"

//compat:copy gocqlv2 scyllagocql

// Policies that all editions have.

// DowngradingConsistencyRetryPolicy retries with the consistencies of its list, one after the other.
type DowngradingConsistencyRetryPolicy struct {
	ConsistencyLevelsToTry []Consistency
}

// Attempt implements RetryPolicy.
func (d *DowngradingConsistencyRetryPolicy) Attempt(q RetryableQuery) bool {
	return api.AttemptDowngraded(q, d.ConsistencyLevelsToTry)
}

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

// RackAwareRoundRobinPolicy prefers the nodes of a rack, then the nodes of its data center.
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

type aware = api.TokenAware[*HostInfo]

// ShuffleReplicas spreads the requests of a partition over its replicas.
func ShuffleReplicas() func(*tokenAwareHostPolicy) {
	return func(p *tokenAwareHostPolicy) { api.OrderOf(&p.aware).Shuffle = true }
}

// NonLocalReplicasFallback tries remote replicas before the nodes of the fallback.
func NonLocalReplicasFallback() func(policy *tokenAwareHostPolicy) {
	return func(p *tokenAwareHostPolicy) { api.OrderOf(&p.aware).NonLocal = true }
}

// TokenAwareHostPolicy sends a request to the replicas of its partition first, then to the nodes of fallback.
func TokenAwareHostPolicy(fallback HostSelectionPolicy, opts ...func(*tokenAwareHostPolicy)) HostSelectionPolicy {
	p := &tokenAwareHostPolicy{aware: api.NewTokenAware[*HostInfo](fallback, false), fallback: fallback}
	for _, opt := range opts {
		opt(p)
	}
	return p
}
