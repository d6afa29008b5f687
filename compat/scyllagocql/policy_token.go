// SPDX-License-Identifier: Apache-2.0

package gocql

import api "github.com/vecql/vecql/compat/api"

// Token awareness. Around a policy of this package it is vecql's. Around a policy of the program, or inside one, it
// orders the replicas that vecql reports for each request.

// tokenAwareHostPolicy implements TokenAwareHostPolicy.
type tokenAwareHostPolicy struct {
	aware
	fallback HostSelectionPolicy
	session  *Session

	_ []byte // not comparable, as in gocql
}

// TokenAwareHostPolicy sends a request to the replicas of its partition first, then to the nodes of fallback.
func TokenAwareHostPolicy(fallback HostSelectionPolicy, opts ...func(*tokenAwareHostPolicy)) HostSelectionPolicy {
	p := &tokenAwareHostPolicy{aware: api.NewTokenAware[*HostInfo](fallback, true), fallback: fallback}
	for _, opt := range opts {
		opt(p)
	}
	return p
}

// DontShuffleReplicas sends the requests of a partition to its first replica.
func DontShuffleReplicas() func(*tokenAwareHostPolicy) {
	return func(p *tokenAwareHostPolicy) { api.OrderOf(&p.aware).Shuffle = false }
}

// AvoidSlowReplicas tries replicas with at least that many requests without a response last. It sets
// MAX_IN_FLIGHT_THRESHOLD.
func AvoidSlowReplicas(max_in_flight_threshold int) func(policy *tokenAwareHostPolicy) {
	return func(p *tokenAwareHostPolicy) {
		api.OrderOf(&p.aware).Slow = max_in_flight_threshold
		MAX_IN_FLIGHT_THRESHOLD = max_in_flight_threshold
	}
}

// busy returns 1 for a node that is tried last, else 0.
func (p *tokenAwareHostPolicy) busy(host *HostInfo) int {
	if pool := p.session.GetHostPoolByID(host.HostID()); pool != nil && pool.InFlight() >= api.OrderOf(&p.aware).Slow {
		return 1
	}
	return 0
}

// Init implements HostSelectionPolicy.
func (p *tokenAwareHostPolicy) Init(s *Session) { p.session = s }

// Reset implements HostSelectionPolicy.
func (p *tokenAwareHostPolicy) Reset() {}

// IsOperational implements HostSelectionPolicy.
func (p *tokenAwareHostPolicy) IsOperational(s *Session) error { return p.fallback.IsOperational(s) }

// KeyspaceChanged implements HostSelectionPolicy.
func (p *tokenAwareHostPolicy) KeyspaceChanged(KeyspaceUpdateEvent) {}

// Pick implements HostSelectionPolicy: local replicas, with NonLocalReplicasFallback the other replicas by tier, then
// the nodes of the fallback.
func (p *tokenAwareHostPolicy) Pick(q ExecutableQuery) NextHost {
	order := *api.OrderOf(&p.aware)
	order.Shuffle = order.Shuffle && q != nil && !q.IsLWT()
	if order.Slow > 0 && p.session != nil {
		order.Busy = p.busy
	}
	return api.PickAware(&p.aware, order, q, choose, func() NextHost { return p.fallback.Pick(q) })
}
