// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql"
)

// Round-robin and token-aware host selection, for a policy of the program around one of the API. A policy of the API
// alone is executed by vecql's.

// A Node is a module's *HostInfo.
type Node[H any] interface {
	comparable
	DataCenter() string
	Rack() string
	IsUp() bool
	Equal(host H) bool
}

// Tiers sorts nodes into tiers and goes round-robin in each. It is embedded in the policies of the modules.
type Tiers[H Node[H]] struct {
	tier    func(H) uint
	most    uint
	native  vecql.HostSelectionPolicy // nil means none
	started atomic.Uint64

	mu    sync.Mutex
	hosts atomic.Pointer[[][]H] // by tier; replaced, never changed
}

// RoundRobin returns the one tier of RoundRobinHostPolicy.
func RoundRobin[H Node[H]]() *Tiers[H] {
	return &Tiers[H]{tier: func(H) uint { return 0 }, native: vecql.RoundRobinHostPolicy()}
}

// DCAware returns the tiers of DCAwareRoundRobinPolicy.
func DCAware[H Node[H]](localDC string) *Tiers[H] {
	t := &Tiers[H]{most: 1, tier: func(h H) uint {
		if h.DataCenter() == localDC {
			return 0
		}
		return 1
	}}
	if localDC != "" { // vecql refuses an empty name
		t.native = vecql.DCAwareRoundRobinPolicy(localDC)
	}
	return t
}

// RackAware returns the tiers of RackAwareRoundRobinPolicy.
func RackAware[H Node[H]](localDC, localRack string) *Tiers[H] {
	t := &Tiers[H]{most: 2, tier: func(h H) uint {
		switch {
		case h.DataCenter() != localDC:
			return 2
		case h.Rack() != localRack:
			return 1
		}
		return 0
	}}
	if localDC != "" && localRack != "" {
		t.native = vecql.RackAwareRoundRobinPolicy(localDC, localRack)
	}
	return t
}

// NativePolicy returns the policy of vecql, nil if there is none.
func (t *Tiers[H]) NativePolicy() vecql.HostSelectionPolicy { return t.native }

// Plan returns the nodes of the first tiers, each from another node on than last time.
func (t *Tiers[H]) Plan(tiers uint) []H {
	start := t.started.Add(1)
	hosts := t.hosts.Load()
	if hosts == nil {
		return nil
	}
	var plan []H
	for _, tier := range (*hosts)[:tiers] {
		if n := uint64(len(tier)); n > 0 {
			plan = append(append(plan, tier[start%n:]...), tier[:start%n]...)
		}
	}
	return plan
}

// change replaces the nodes of the tier of a node.
func (t *Tiers[H]) change(h H, edit func(hosts []H) []H) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := make([][]H, t.most+1)
	if now := t.hosts.Load(); now != nil {
		copy(next, *now)
	}
	i := t.tier(h)
	next[i] = edit(slices.Clone(next[i]))
	t.hosts.Store(&next)
}

// AddHost implements HostStateNotifier.
func (t *Tiers[H]) AddHost(host H) {
	t.change(host, func(hosts []H) []H {
		if slices.ContainsFunc(hosts, host.Equal) {
			return hosts
		}
		return append(hosts, host)
	})
}

// RemoveHost implements HostStateNotifier.
func (t *Tiers[H]) RemoveHost(host H) {
	t.change(host, func(hosts []H) []H { return slices.DeleteFunc(hosts, host.Equal) })
}

// HostUp implements HostStateNotifier.
func (t *Tiers[H]) HostUp(host H) { t.AddHost(host) }

// HostDown implements HostStateNotifier.
func (t *Tiers[H]) HostDown(host H) { t.RemoveHost(host) }

// IsLocal reports whether a node is of tier 0.
func (t *Tiers[H]) IsLocal(host H) bool { return t.tier(host) == 0 }

// HostTier implements HostTierer.
func (t *Tiers[H]) HostTier(host H) uint { return t.tier(host) }

// MaxHostTier implements HostTierer.
func (t *Tiers[H]) MaxHostTier() uint { return t.most }

// SetPartitioner implements SetPartitioner.
func (t *Tiers[H]) SetPartitioner(string) {}

// KeyspaceChanged implements HostSelectionPolicy.
func (t *Tiers[H]) KeyspaceChanged(KeyspaceUpdateEvent) {}

// NextUp returns an iterator of the nodes of a plan that are up. selected makes a module's SelectedHost.
func NextUp[S any, H interface{ IsUp() bool }](plan []H, selected func(H) S) func() S {
	return func() (none S) {
		for len(plan) > 0 {
			h := plan[0]
			plan = plan[1:]
			if h.IsUp() {
				return selected(h)
			}
		}
		return none
	}
}

// A TokenOrder is the order of the replicas of a token-aware policy: the local ones, and with NonLocal the others by
// tier. Busy, if it is not nil, returns a larger number for a replica that is tried later.
type TokenOrder[H any] struct {
	Tier     func(H) uint
	NonLocal bool
	Shuffle  bool
	Busy     func(H) int
}

// TierOf returns the tier of a node by a policy: that of a HostTierer, else 0 for a local node and 1 for another.
func TierOf[H any](policy interface{ IsLocal(H) bool }) func(H) uint {
	if t, ok := policy.(HostTierer[H]); ok {
		return t.HostTier
	}
	return func(host H) uint {
		if policy.IsLocal(host) {
			return 0
		}
		return 1
	}
}

// Replicas returns the replicas to try, in their order.
func (o TokenOrder[H]) Replicas(all []H) []H {
	replicas := slices.Clone(all)
	if o.Shuffle {
		rand.Shuffle(len(replicas), func(i, j int) { replicas[i], replicas[j] = replicas[j], replicas[i] })
	}
	if o.NonLocal {
		slices.SortStableFunc(replicas, func(a, b H) int { return int(o.Tier(a)) - int(o.Tier(b)) })
	} else {
		replicas = slices.DeleteFunc(replicas, func(h H) bool { return o.Tier(h) != 0 })
	}
	if o.Busy != nil {
		slices.SortStableFunc(replicas, func(a, b H) int { return o.Busy(a) - o.Busy(b) })
	}
	return replicas
}

// Native returns vecql's token-aware policy around fallback, nil for nil.
func (o TokenOrder[H]) Native(fallback vecql.HostSelectionPolicy, more ...vecql.TokenAwareOption,
) vecql.HostSelectionPolicy {
	if fallback == nil {
		return nil
	}
	order := vecql.DoNotShuffleReplicas()
	if o.Shuffle {
		order = vecql.ShuffleReplicas()
	}
	opts := append([]vecql.TokenAwareOption{order}, more...)
	if o.NonLocal {
		opts = append(opts, vecql.NonLocalReplicasFallback())
	}
	return vecql.TokenAwareHostPolicy(fallback, opts...)
}

// Chain returns an iterator of the nodes of first, then of those of rest, each once. rest is called when first has
// ended. S is a module's SelectedHost, N its NextHost.
func Chain[H comparable, S interface{ Info() H }, N ~func() S](first func() S, rest func() N) func() S {
	used := map[H]bool{}
	var next N
	return func() (none S) {
		if next == nil {
			if s := first(); any(s) != nil {
				used[s.Info()] = true
				return s
			}
			next = rest()
		}
		for s := next(); any(s) != nil; s = next() {
			if !used[s.Info()] {
				used[s.Info()] = true
				return s
			}
		}
		return none
	}
}

// Around passes the nodes and the partitioner to the policy inside of another one.
type Around[H any] struct{ inner Inner[H] }

// Inner is the policy inside of another one.
type Inner[H any] interface {
	HostStateNotifier[H]
	SetPartitioner
	IsLocal(host H) bool
}

// NewAround returns what a policy around inner embeds.
func NewAround[H any](inner Inner[H]) Around[H] { return Around[H]{inner} }

// SetPartitioner implements SetPartitioner.
func (a *Around[H]) SetPartitioner(partitioner string) { a.inner.SetPartitioner(partitioner) }

// IsLocal reports whether a node is local by the policy inside.
func (a *Around[H]) IsLocal(host H) bool { return a.inner.IsLocal(host) }

// AddHost implements HostStateNotifier.
func (a *Around[H]) AddHost(host H) { a.inner.AddHost(host) }

// AddHosts is AddHost for several nodes.
func (a *Around[H]) AddHosts(hosts []H) {
	for _, h := range hosts {
		a.inner.AddHost(h)
	}
}

// RemoveHost implements HostStateNotifier.
func (a *Around[H]) RemoveHost(host H) { a.inner.RemoveHost(host) }

// HostUp implements HostStateNotifier.
func (a *Around[H]) HostUp(host H) { a.inner.HostUp(host) }

// HostDown implements HostStateNotifier.
func (a *Around[H]) HostDown(host H) { a.inner.HostDown(host) }
