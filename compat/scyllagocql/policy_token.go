// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"math/rand/v2"
	"slices"

	"github.com/vecql/vecql"
)

// Token awareness. Around a policy of this package it is vecql's. Around a policy of the program, or inside one, it
// orders the replicas that vecql reports for each request.

// tokenAwareHostPolicy is TokenAwareHostPolicy with its options.
type tokenAwareHostPolicy struct {
	fallback HostSelectionPolicy
	shuffle  bool
	nonLocal bool
	slow     int // requests in flight of a replica that is tried last; 0 means none
	session  *Session

	_ []byte // not comparable, as in gocql
}

// ShuffleReplicas spreads the requests of a partition over its replicas. It is the default.
func ShuffleReplicas() func(*tokenAwareHostPolicy) {
	return func(p *tokenAwareHostPolicy) { p.shuffle = true }
}

// DontShuffleReplicas sends the requests of a partition to its first replica.
func DontShuffleReplicas() func(*tokenAwareHostPolicy) {
	return func(p *tokenAwareHostPolicy) { p.shuffle = false }
}

// AvoidSlowReplicas tries replicas with at least that many requests without a response last. It sets
// MAX_IN_FLIGHT_THRESHOLD.
func AvoidSlowReplicas(max_in_flight_threshold int) func(policy *tokenAwareHostPolicy) {
	return func(p *tokenAwareHostPolicy) {
		p.slow = max_in_flight_threshold
		MAX_IN_FLIGHT_THRESHOLD = max_in_flight_threshold
	}
}

// NonLocalReplicasFallback tries remote replicas before the nodes of the fallback.
func NonLocalReplicasFallback() func(policy *tokenAwareHostPolicy) {
	return func(p *tokenAwareHostPolicy) { p.nonLocal = true }
}

// TokenAwareHostPolicy sends a request to the replicas of its partition first, then to the nodes of fallback.
func TokenAwareHostPolicy(fallback HostSelectionPolicy, opts ...func(*tokenAwareHostPolicy)) HostSelectionPolicy {
	p := &tokenAwareHostPolicy{fallback: fallback, shuffle: true}
	for _, opt := range opts {
		opt(p)
	}
	return p
}

func (p *tokenAwareHostPolicy) native() vecql.HostSelectionPolicy {
	fallback := nativeOf(p.fallback)
	if fallback == nil {
		return nil
	}
	order := vecql.DoNotShuffleReplicas()
	if p.shuffle {
		order = vecql.ShuffleReplicas()
	}
	opts := []vecql.TokenAwareOption{order}
	if p.nonLocal {
		opts = append(opts, vecql.NonLocalReplicasFallback())
	}
	if p.slow > 0 {
		opts = append(opts, vecql.AvoidSlowReplicas(p.slow))
	}
	return vecql.TokenAwareHostPolicy(fallback, opts...)
}

func (p *tokenAwareHostPolicy) Init(s *Session)                     { p.session = s }
func (p *tokenAwareHostPolicy) Reset()                              {}
func (p *tokenAwareHostPolicy) IsOperational(s *Session) error      { return p.fallback.IsOperational(s) }
func (p *tokenAwareHostPolicy) KeyspaceChanged(KeyspaceUpdateEvent) {}
func (p *tokenAwareHostPolicy) SetPartitioner(partitioner string) {
	p.fallback.SetPartitioner(partitioner)
}
func (p *tokenAwareHostPolicy) IsLocal(host *HostInfo) bool { return p.fallback.IsLocal(host) }
func (p *tokenAwareHostPolicy) AddHost(host *HostInfo)      { p.fallback.AddHost(host) }
func (p *tokenAwareHostPolicy) RemoveHost(host *HostInfo)   { p.fallback.RemoveHost(host) }

// AddHosts is AddHost for several nodes.
func (p *tokenAwareHostPolicy) AddHosts(hosts []*HostInfo) {
	for _, h := range hosts {
		p.fallback.AddHost(h)
	}
}

func (p *tokenAwareHostPolicy) HostUp(host *HostInfo)   { p.fallback.HostUp(host) }
func (p *tokenAwareHostPolicy) HostDown(host *HostInfo) { p.fallback.HostDown(host) }

// busy returns 1 for a node that is tried last, else 0.
func (p *tokenAwareHostPolicy) busy(host *HostInfo) int {
	if pool := p.session.GetHostPoolByID(host.HostID()); pool != nil && pool.InFlight() >= p.slow {
		return 1
	}
	return 0
}

// tierOf returns the tier of a node by the fallback.
func (p *tokenAwareHostPolicy) tierOf(host *HostInfo) uint {
	if t, ok := p.fallback.(HostTierer); ok {
		return t.HostTier(host)
	}
	if p.fallback.IsLocal(host) {
		return 0
	}
	return 1
}

// Pick implements HostSelectionPolicy: local replicas, with NonLocalReplicasFallback the other replicas by tier, then
// the nodes of the fallback.
func (p *tokenAwareHostPolicy) Pick(q ExecutableQuery) NextHost {
	if q == nil {
		return p.fallback.Pick(q)
	}
	replicas := slices.Clone(q.replicas())
	if len(replicas) == 0 {
		return p.fallback.Pick(q)
	}
	if p.shuffle && !q.IsLWT() {
		rand.Shuffle(len(replicas), func(i, j int) { replicas[i], replicas[j] = replicas[j], replicas[i] })
	}
	if p.nonLocal {
		slices.SortStableFunc(replicas, func(a, b *HostInfo) int { return int(p.tierOf(a)) - int(p.tierOf(b)) })
	} else {
		replicas = slices.DeleteFunc(replicas, func(h *HostInfo) bool { return p.tierOf(h) != 0 })
	}
	if p.slow > 0 && p.session != nil {
		slices.SortStableFunc(replicas, func(a, b *HostInfo) int { return p.busy(a) - p.busy(b) })
	}
	first, used := nextOf(replicas), map[*HostInfo]bool{}
	var rest NextHost
	return func() SelectedHost {
		if s := first(); s != nil {
			used[s.Info()] = true
			return s
		}
		if rest == nil {
			rest = p.fallback.Pick(q)
		}
		for s := rest(); s != nil; s = rest() {
			if !used[s.Info()] {
				used[s.Info()] = true
				return s
			}
		}
		return nil
	}
}
