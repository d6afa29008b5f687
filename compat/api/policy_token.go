// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"math/rand/v2"
	"slices"

	"github.com/vecql/vecql"
)

// Token-aware host selection. Around a policy of the API it is vecql's. Around a policy of the program, or inside one,
// it orders the replicas that vecql reports for each request.

// A TokenOrder is the order of the replicas of a token-aware policy: the local ones, and with NonLocal the others by
// tier.
type TokenOrder[H any] struct {
	NonLocal bool
	Shuffle  bool
	Slow     int         // requests in flight of a replica that is tried last; 0 means none
	Busy     func(H) int // returns a larger number for a replica that is tried later; nil means none
}

// tierOf returns the tier of a node by a policy: the tier of a HostTierer, else 0 for a local node and 1 for another.
func tierOf[H any](policy interface{ IsLocal(H) bool }) func(H) uint {
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

// replicas returns the replicas to try, in their order. tier returns the tier of a node.
func (o TokenOrder[H]) replicas(all []H, tier func(H) uint) []H {
	replicas := slices.Clone(all)
	if o.Shuffle {
		rand.Shuffle(len(replicas), func(i, j int) { replicas[i], replicas[j] = replicas[j], replicas[i] })
	}
	if o.NonLocal {
		slices.SortStableFunc(replicas, func(a, b H) int { return int(tier(a)) - int(tier(b)) })
	} else {
		replicas = slices.DeleteFunc(replicas, func(h H) bool { return tier(h) != 0 })
	}
	if o.Busy != nil {
		slices.SortStableFunc(replicas, func(a, b H) int { return o.Busy(a) - o.Busy(b) })
	}
	return replicas
}

// PickAware returns an iterator of the replicas of a request of the program that are up, in the order o, then of the
// nodes that rest returns, each once. A request whose replicas are unknown has the nodes of rest. choose makes a
// module's SelectedHost.
func PickAware[S Selection[H], N ~func() S, H Node[H]](
	p *TokenAware[H], o TokenOrder[H], request any, choose func(host H, mark func(error)) S, rest func() N,
) N {
	placed, ok := request.(Placed[H])
	if !ok {
		return rest()
	}
	replicas := placed.replicas()
	if len(replicas) == 0 {
		return rest()
	}
	return chain[H](NextUp(o.replicas(replicas, tierOf(p.inner)), choose), rest)
}

// chain returns an iterator of the nodes of first, then of rest, each once. rest is called when first has ended. S is
// a module's SelectedHost, N its NextHost.
func chain[H comparable, S interface{ Info() H }, N ~func() S](first func() S, rest func() N) func() S {
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

// Inner is the policy inside of a token-aware one.
type Inner[H any] interface {
	HostStateNotifier[H]
	SetPartitioner
	IsLocal(host H) bool
}

// A TokenAware is TokenAwareHostPolicy without its Pick. It passes the nodes and the partitioner to the policy inside.
type TokenAware[H any] struct {
	inner Inner[H]
	order TokenOrder[H]
}

// NewTokenAware returns what a token-aware policy around inner embeds.
func NewTokenAware[H any](inner Inner[H], shuffle bool) TokenAware[H] {
	return TokenAware[H]{inner, TokenOrder[H]{Shuffle: shuffle}}
}

// OrderOf returns the order of the replicas, which options change.
func OrderOf[H any](p *TokenAware[H]) *TokenOrder[H] { return &p.order }

// native returns vecql's token-aware policy, nil if the policy inside is not one of the API.
func (a *TokenAware[H]) native() vecql.HostSelectionPolicy {
	fallback := NativeOf(a.inner)
	if fallback == nil {
		return nil
	}
	return vecql.TokenAwarePolicy{
		Fallback: fallback, KeepOrder: !a.order.Shuffle, RemoteReplicas: a.order.NonLocal, MaxInFlight: max(a.order.Slow, 0),
	}
}

// SetPartitioner implements SetPartitioner.
func (a *TokenAware[H]) SetPartitioner(partitioner string) { a.inner.SetPartitioner(partitioner) }

// IsLocal reports whether a node is local by the policy inside.
func (a *TokenAware[H]) IsLocal(host H) bool { return a.inner.IsLocal(host) }

// AddHost implements HostStateNotifier.
func (a *TokenAware[H]) AddHost(host H) { a.inner.AddHost(host) }

// AddHosts adds several nodes, as AddHost does.
func (a *TokenAware[H]) AddHosts(hosts []H) {
	for _, h := range hosts {
		a.inner.AddHost(h)
	}
}

// RemoveHost implements HostStateNotifier.
func (a *TokenAware[H]) RemoveHost(host H) { a.inner.RemoveHost(host) }

// HostUp implements HostStateNotifier.
func (a *TokenAware[H]) HostUp(host H) { a.inner.HostUp(host) }

// HostDown implements HostStateNotifier.
func (a *TokenAware[H]) HostDown(host H) { a.inner.HostDown(host) }
