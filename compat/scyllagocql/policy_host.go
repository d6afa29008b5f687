// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gocql/gocql/tablets"
	"github.com/vecql/vecql"
)

// Host selection. A policy of this package becomes vecql's of the same name. A policy of the program is asked for the
// nodes of each request.

// A HostStateNotifier receives the changes of the nodes of a session.
type HostStateNotifier interface {
	AddHost(host *HostInfo)
	RemoveHost(host *HostInfo)
	HostUp(host *HostInfo)
	HostDown(host *HostInfo)
}

// A SetPartitioner receives the name of the partitioner of the cluster.
type SetPartitioner interface {
	SetPartitioner(partitioner string)
}

// A SetHosts receives the nodes of a cluster. No function takes one.
type SetHosts interface {
	SetHosts(hosts []*HostInfo)
}

// A KeyspaceUpdateEvent is a change of a keyspace: CREATED, UPDATED or DROPPED, or empty for the keyspace of the
// session at its start.
type KeyspaceUpdateEvent struct {
	Keyspace string
	Change   string
}

// A HostTierer is a HostSelectionPolicy that sorts nodes into tiers, of which 0 is the nearest.
type HostTierer interface {
	HostTier(host *HostInfo) uint
	MaxHostTier() uint
}

// A ReadyPolicy ends the wait for further nodes when a session of gocql starts. No session of vecql asks it.
type ReadyPolicy interface {
	Ready() bool
}

// A HostSelectionPolicy selects the nodes of requests. It belongs to one session.
type HostSelectionPolicy interface {
	HostStateNotifier
	SetPartitioner
	KeyspaceChanged(KeyspaceUpdateEvent)
	// Init is called before the other methods.
	Init(*Session)
	// Reset is not called: a policy serves one session.
	Reset()
	IsLocal(host *HostInfo) bool
	// Pick returns an iterator of the nodes to try for a request.
	Pick(ExecutableQuery) NextHost
	// IsOperational returns an error if the policy cannot serve the session; NewSession then fails with it.
	IsOperational(*Session) error
}

// A SetTablets would receive the tablets. No session calls it.
type SetTablets interface {
	SetTablets(tablets tablets.TabletInfoList)
}

// A Token is a position in the ring of a partitioner.
type Token interface {
	fmt.Stringer
	Less(Token) bool
}

// A Partitioner maps partition keys to tokens. No function returns one.
type Partitioner interface {
	Name() string
	Hash([]byte) Token
	ParseString(string) Token
}

// A NextHost returns the next node to try, nil after the last one.
type NextHost func() SelectedHost

// A SelectedHost is a node that a policy has picked for a request.
type SelectedHost interface {
	Info() *HostInfo
	// Token returns the token of the request, nil if the policy does not know it. It has no effect.
	Token() Token
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
	// GetCustomPartitioner returns nil.
	GetCustomPartitioner() Partitioner
	GetHostID() string

	RetryableQuery

	GetSession() *Session

	// replicas returns the replicas of the request's partition, nil if they are unknown.
	replicas() []*HostInfo
}

// selected is a SelectedHost that ignores marks.
type selected struct{ host *HostInfo }

func (s selected) Info() *HostInfo { return s.host }
func (selected) Token() Token      { return nil }
func (selected) Mark(error)        {}

// hostList is a list of nodes in copy-on-write form.
type hostList struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*HostInfo]
}

func (l *hostList) all() []*HostInfo {
	if p := l.list.Load(); p != nil {
		return *p
	}
	return nil
}

func (l *hostList) add(host *HostInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.all(); !slices.ContainsFunc(old, host.Equal) {
		list := append(slices.Clip(old), host)
		l.list.Store(&list)
	}
}

func (l *hostList) remove(host *HostInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(l.all()), host.Equal)
	l.list.Store(&list)
}

// nativePolicy is a policy of this package that vecql has too.
type nativePolicy interface {
	// native returns vecql's policy, nil if it depends on a policy of the program.
	native() vecql.HostSelectionPolicy
}

// nativeOf returns the policy of vecql that stands for p, nil if there is none.
func nativeOf(p HostSelectionPolicy) vecql.HostSelectionPolicy {
	if n, ok := p.(nativePolicy); ok {
		return n.native()
	}
	return nil
}

// tieredPolicy sorts nodes into tiers and goes round-robin in each.
type tieredPolicy struct {
	tier    func(*HostInfo) uint
	vecql   vecql.HostSelectionPolicy // nil means none
	tiers   []hostList
	started atomic.Uint64

	localOnly bool // nodes of the last tier, those of other data centers, are never selected
}

// RoundRobinHostPolicy spreads requests evenly over all nodes.
func RoundRobinHostPolicy() HostSelectionPolicy {
	return &tieredPolicy{
		tier: func(*HostInfo) uint { return 0 }, tiers: make([]hostList, 1), vecql: vecql.RoundRobinHostPolicy(),
	}
}

// dcAwarePolicyOption is an option of DCAwareRoundRobinPolicy and RackAwareRoundRobinPolicy.
type dcAwarePolicyOption func(p dcFailoverDisabledPolicy)

// dcFailoverDisabledPolicy is a policy with a local data center.
type dcFailoverDisabledPolicy interface {
	setDCFailoverDisabled()
}

// HostPolicyOptionDisableDCFailover never selects nodes of other data centers.
func HostPolicyOptionDisableDCFailover(p dcFailoverDisabledPolicy) { p.setDCFailoverDisabled() }

func (p *tieredPolicy) setDCFailoverDisabled() { p.localOnly, p.vecql = true, nil }

// withOptions applies options.
func (p *tieredPolicy) withOptions(opts []dcAwarePolicyOption) HostSelectionPolicy {
	for _, opt := range opts {
		opt(p)
	}
	return p
}

// DCAwareRoundRobinPolicy prefers the nodes of a data center.
func DCAwareRoundRobinPolicy(localDC string, opts ...dcAwarePolicyOption) HostSelectionPolicy {
	p := &tieredPolicy{tiers: make([]hostList, 2), tier: func(h *HostInfo) uint {
		if h.DataCenter() == localDC {
			return 0
		}
		return 1
	}}
	if localDC != "" {
		p.vecql = vecql.DCAwareRoundRobinPolicy(localDC)
	}
	return p.withOptions(opts)
}

// RackAwareRoundRobinPolicy prefers the nodes of a rack, then those of its data center.
func RackAwareRoundRobinPolicy(localDC string, localRack string, opts ...dcAwarePolicyOption) HostSelectionPolicy {
	p := &tieredPolicy{tiers: make([]hostList, 3), tier: func(h *HostInfo) uint {
		switch {
		case h.DataCenter() != localDC:
			return 2
		case h.Rack() != localRack:
			return 1
		}
		return 0
	}}
	if localDC != "" && localRack != "" {
		p.vecql = vecql.RackAwareRoundRobinPolicy(localDC, localRack)
	}
	return p.withOptions(opts)
}

func (p *tieredPolicy) native() vecql.HostSelectionPolicy { return p.vecql }

func (p *tieredPolicy) Init(*Session)                       {}
func (p *tieredPolicy) Reset()                              {}
func (p *tieredPolicy) SetPartitioner(string)               {}
func (p *tieredPolicy) KeyspaceChanged(KeyspaceUpdateEvent) {}
func (p *tieredPolicy) IsLocal(host *HostInfo) bool         { return p.tier(host) == 0 }
func (p *tieredPolicy) HostTier(host *HostInfo) uint        { return p.tier(host) }
func (p *tieredPolicy) MaxHostTier() uint                   { return uint(len(p.tiers) - 1) }
func (p *tieredPolicy) AddHost(host *HostInfo)              { p.tiers[p.tier(host)].add(host) }
func (p *tieredPolicy) RemoveHost(host *HostInfo)           { p.tiers[p.tier(host)].remove(host) }
func (p *tieredPolicy) HostUp(host *HostInfo)               { p.AddHost(host) }
func (p *tieredPolicy) HostDown(host *HostInfo)             { p.RemoveHost(host) }

// IsOperational returns an error if no node is in the nearest tier.
func (p *tieredPolicy) IsOperational(s *Session) error {
	for _, h := range s.GetHosts() {
		if p.tier(h) == 0 && (s.cfg.HostFilter == nil || s.cfg.HostFilter.Accept(h)) {
			return nil
		}
	}
	return errNotOperational
}

// errNotOperational means that a policy has the wrong name of a data center or rack.
var errNotOperational = errors.New("gocql: no node is in the data center or rack of the host selection policy")

// Pick implements HostSelectionPolicy.
func (p *tieredPolicy) Pick(ExecutableQuery) NextHost {
	start := p.started.Add(1)
	var plan []*HostInfo
	last := len(p.tiers)
	if p.localOnly {
		last--
	}
	for i := range last {
		tier := p.tiers[i].all()
		if n := uint64(len(tier)); n > 0 {
			plan = append(append(plan, tier[start%n:]...), tier[:start%n]...)
		}
	}
	return nextOf(plan)
}

// nextOf returns an iterator of the nodes of a plan that are up.
func nextOf(plan []*HostInfo) NextHost {
	return func() SelectedHost {
		for len(plan) > 0 {
			h := plan[0]
			plan = plan[1:]
			if h.IsUp() {
				return selected{h}
			}
		}
		return nil
	}
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

func (p *singleHostReadyPolicy) native() vecql.HostSelectionPolicy {
	return nativeOf(p.HostSelectionPolicy)
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
