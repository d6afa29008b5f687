// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql"
)

// Round-robin host selection, for a policy of the program around one of the API. A policy of the API alone is executed
// by vecql's.

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
	of      vecql.HostSelectionPolicy // vecql's; nil means none
	local   bool                      // nodes of the last tier, in other data centers, are never selected
	started atomic.Uint64

	mu    sync.Mutex
	hosts atomic.Pointer[[][]H] // by tier; replaced, never changed
}

// RoundRobin returns the one tier of RoundRobinHostPolicy.
func RoundRobin[H Node[H]]() *Tiers[H] {
	return &Tiers[H]{tier: func(H) uint { return 0 }, of: vecql.RoundRobinPolicy{}}
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
		t.of = vecql.DCAwarePolicy{DataCenter: localDC}
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
		t.of = vecql.RackAwarePolicy{DataCenter: localDC, Rack: localRack}
	}
	return t
}

// DisableFailover leaves the nodes of other data centers out.
func DisableFailover[H Node[H]](t *Tiers[H]) { t.local, t.of = true, nil }

func (t *Tiers[H]) native() vecql.HostSelectionPolicy { return t.of }

// NativeOf returns the policy of vecql that stands for p, a module's HostSelectionPolicy, nil for a policy of the
// program or around one.
func NativeOf(p any) vecql.HostSelectionPolicy {
	if n, ok := p.(interface {
		native() vecql.HostSelectionPolicy
	}); ok {
		return n.native()
	}
	return nil
}

// Plan returns the nodes in their order by tier, in each tier from another node on than last time.
func (t *Tiers[H]) Plan() []H {
	start := t.started.Add(1)
	hosts := t.hosts.Load()
	if hosts == nil {
		return nil
	}
	tiers := *hosts
	if t.local {
		tiers = tiers[:t.most]
	}
	var plan []H
	for _, tier := range tiers {
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

// NextUp returns an iterator of the nodes of a plan that are up. choose makes a module's SelectedHost.
func NextUp[S any, H interface{ IsUp() bool }](plan []H, choose func(host H, mark func(error)) S) func() S {
	return func() (none S) {
		for len(plan) > 0 {
			h := plan[0]
			plan = plan[1:]
			if h.IsUp() {
				return choose(h, nil)
			}
		}
		return none
	}
}

// A Readiness is what SingleHostReadyPolicy adds to a policy.
type Readiness struct {
	policy any // the module's HostSelectionPolicy
	up     atomic.Bool
}

// NewReadiness returns the Readiness of a policy.
func NewReadiness(policy any) Readiness { return Readiness{policy: policy} }

// SetUp makes it ready: a node is up.
func SetUp(r *Readiness) { r.up.Store(true) }

// Ready reports whether a node is up, and the policy ready if it is a ReadyPolicy.
func (r *Readiness) Ready() bool {
	inner, ok := r.policy.(ReadyPolicy)
	return r.up.Load() && (!ok || inner.Ready())
}

func (r *Readiness) native() vecql.HostSelectionPolicy { return NativeOf(r.policy) }
