// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Host selection: the interfaces of policies, and the policies of the API. A session executes the API's own policies by
// those of vecql (policy_native.go). Their Pick serves policies of programs that wrap them.

// A HostStateNotifier receives the nodes of the cluster and their states.
type HostStateNotifier interface {
	AddHost(host *HostInfo)
	RemoveHost(host *HostInfo)
	HostUp(host *HostInfo)
	HostDown(host *HostInfo)
}

// SetHosts is implemented by policies that receive all nodes at once.
type SetHosts interface {
	SetHosts(hosts []*HostInfo)
}

// SetPartitioner receives the class name of the cluster's partitioner.
type SetPartitioner interface {
	SetPartitioner(partitioner string)
}

// A KeyspaceUpdateEvent is a change of a keyspace: SchemaChangeTypeCreated and the others.
type KeyspaceUpdateEvent struct {
	Keyspace string
	Change   string
}

// A HostTierer sorts nodes into tiers, 0 for the nearest.
type HostTierer interface {
	HostTier(host *HostInfo) uint
	MaxHostTier() uint
}

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

// nothing implements the methods that most policies do not need.
type nothing struct{}

func (nothing) KeyspaceChanged(KeyspaceUpdateEvent) {}
func (nothing) SetPartitioner(string)               {}
func (nothing) Init(*Session)                       {}

// tiers are the nodes of a policy by tier. Each request begins at another node of each tier.
type tiers struct {
	nothing

	tier  func(h *HostInfo) uint
	mu    sync.Mutex
	hosts atomic.Pointer[[3][]*HostInfo] // replaced, never changed
	turn  atomic.Uint64
}

// change replaces the nodes of the tier of a node.
func (t *tiers) change(h *HostInfo, edit func(hosts []*HostInfo) []*HostInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var next [3][]*HostInfo
	if now := t.hosts.Load(); now != nil {
		next = *now
	}
	i := t.tier(h)
	next[i] = edit(slices.Clone(next[i]))
	t.hosts.Store(&next)
}

// AddHost implements HostStateNotifier.
func (t *tiers) AddHost(host *HostInfo) {
	t.change(host, func(hosts []*HostInfo) []*HostInfo {
		if slices.ContainsFunc(hosts, host.Equal) {
			return hosts
		}
		return append(hosts, host)
	})
}

// RemoveHost implements HostStateNotifier.
func (t *tiers) RemoveHost(host *HostInfo) {
	t.change(host, func(hosts []*HostInfo) []*HostInfo { return slices.DeleteFunc(hosts, host.Equal) })
}

// HostUp implements HostStateNotifier.
func (t *tiers) HostUp(host *HostInfo) { t.AddHost(host) }

// HostDown implements HostStateNotifier.
func (t *tiers) HostDown(host *HostInfo) { t.RemoveHost(host) }

// IsLocal reports whether a node is of tier 0.
func (t *tiers) IsLocal(host *HostInfo) bool { return t.tier(host) == 0 }

// Pick implements HostSelectionPolicy: the nodes that are up, the nearest first.
func (t *tiers) Pick(ExecutableStatement) NextHost {
	var plan []*HostInfo
	if hosts := t.hosts.Load(); hosts != nil {
		turn := t.turn.Add(1)
		for _, tier := range hosts {
			for i := range tier {
				plan = append(plan, tier[(turn+uint64(i))%uint64(len(tier))])
			}
		}
	}
	return inOrder(plan)
}

// inOrder returns a NextHost that returns the nodes of plan that are up.
func inOrder(plan []*HostInfo) NextHost {
	return func() SelectedHost {
		for len(plan) > 0 {
			h := plan[0]
			if plan = plan[1:]; h.IsUp() {
				return (*selectedHost)(h)
			}
		}
		return nil
	}
}

// RoundRobinHostPolicy spreads requests evenly over all nodes.
func RoundRobinHostPolicy() HostSelectionPolicy {
	return &roundRobinHostPolicy{tiers{tier: func(*HostInfo) uint { return 0 }}}
}

type roundRobinHostPolicy struct{ tiers }

// DCAwareRoundRobinPolicy prefers the nodes of a data center.
func DCAwareRoundRobinPolicy(localDC string) HostSelectionPolicy {
	return &dcAwareRR{local: localDC, tiers: tiers{tier: func(h *HostInfo) uint {
		if h.DataCenter() == localDC {
			return 0
		}
		return 1
	}}}
}

type dcAwareRR struct {
	tiers

	local string
}

// RackAwareRoundRobinPolicy prefers the nodes of a rack, then those of its data center.
func RackAwareRoundRobinPolicy(localDC string, localRack string) HostSelectionPolicy {
	return &rackAwareRR{localDC: localDC, localRack: localRack, tiers: tiers{tier: func(h *HostInfo) uint {
		switch {
		case h.DataCenter() != localDC:
			return 2
		case h.Rack() != localRack:
			return 1
		}
		return 0
	}}}
}

type rackAwareRR struct {
	tiers

	localDC, localRack string
}

// HostTier implements HostTierer.
func (d *rackAwareRR) HostTier(host *HostInfo) uint { return d.tier(host) }

// MaxHostTier implements HostTierer.
func (d *rackAwareRR) MaxHostTier() uint { return 2 }

// A ReadyPolicy reports whether enough nodes are up for a session to begin. vecql returns a session one second after
// the first node was reached; the result of Ready has no effect.
type ReadyPolicy interface {
	Ready() bool
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
