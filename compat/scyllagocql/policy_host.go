// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gocql/gocql/tablets"
	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Host selection. A policy of this package becomes vecql's of the same name. A policy of the program is asked for the
// nodes of each request.

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

func nextOf(plan []*HostInfo) func() SelectedHost {
	return api.NextUp(plan, func(h *HostInfo) SelectedHost { return selected{h} })
}

// nativeOf returns the policy of vecql that stands for p, nil for a policy of the program or around one.
func nativeOf(p HostSelectionPolicy) vecql.HostSelectionPolicy {
	switch p := p.(type) {
	case interface {
		native() vecql.HostSelectionPolicy
	}:
		return p.native()
	case *singleHostReadyPolicy:
		return nativeOf(p.HostSelectionPolicy)
	case *tokenAwareHostPolicy:
		if p.slow > 0 {
			return p.order().Native(nativeOf(p.fallback), vecql.AvoidSlowReplicas(p.slow))
		}
		return p.order().Native(nativeOf(p.fallback))
	}
	return nil
}

// tieredPolicy sorts nodes into tiers and goes round-robin in each.
type tieredPolicy struct {
	*api.Tiers[*HostInfo]

	localOnly bool // nodes of the last tier, those of other data centers, are never selected
}

// RoundRobinHostPolicy spreads requests evenly over all nodes.
func RoundRobinHostPolicy() HostSelectionPolicy {
	return &roundRobinHostPolicy{newTiered(api.RoundRobin[*HostInfo](), nil)}
}

// The types of policies have the names of the API: programs print them, and compare them in tests.
type (
	roundRobinHostPolicy struct{ *tieredPolicy }
	dcAwareRR            struct{ *tieredPolicy }
	rackAwareRR          struct{ *tieredPolicy }
)

// dcAwarePolicyOption is an option of DCAwareRoundRobinPolicy and RackAwareRoundRobinPolicy.
type dcAwarePolicyOption func(p dcFailoverDisabledPolicy)

// dcFailoverDisabledPolicy is a policy with a local data center.
type dcFailoverDisabledPolicy interface {
	setDCFailoverDisabled()
}

// HostPolicyOptionDisableDCFailover never selects nodes of other data centers.
func HostPolicyOptionDisableDCFailover(p dcFailoverDisabledPolicy) { p.setDCFailoverDisabled() }

func (p *tieredPolicy) setDCFailoverDisabled() { p.localOnly = true }

// newTiered returns the policy of tiers with options.
func newTiered(tiers *api.Tiers[*HostInfo], opts []dcAwarePolicyOption) *tieredPolicy {
	p := &tieredPolicy{Tiers: tiers}
	for _, opt := range opts {
		opt(p)
	}
	return p
}

// DCAwareRoundRobinPolicy prefers the nodes of a data center.
func DCAwareRoundRobinPolicy(localDC string, opts ...dcAwarePolicyOption) HostSelectionPolicy {
	return &dcAwareRR{newTiered(api.DCAware[*HostInfo](localDC), opts)}
}

// RackAwareRoundRobinPolicy prefers the nodes of a rack, then those of its data center.
func RackAwareRoundRobinPolicy(localDC string, localRack string, opts ...dcAwarePolicyOption) HostSelectionPolicy {
	return &rackAwareRR{newTiered(api.RackAware[*HostInfo](localDC, localRack), opts)}
}

// native returns the policy of vecql that stands for p, nil if there is none.
func (p *tieredPolicy) native() vecql.HostSelectionPolicy {
	if p.localOnly {
		return nil
	}
	return p.NativePolicy()
}

// Init implements HostSelectionPolicy.
func (p *tieredPolicy) Init(*Session) {}

// Reset implements HostSelectionPolicy.
func (p *tieredPolicy) Reset() {}

// IsOperational returns an error if no node is in the nearest tier.
func (p *tieredPolicy) IsOperational(s *Session) error {
	for _, h := range s.GetHosts() {
		if p.IsLocal(h) && (s.cfg.HostFilter == nil || s.cfg.HostFilter.Accept(h)) {
			return nil
		}
	}
	return errNotOperational
}

// errNotOperational means that a policy has the wrong name of a data center or rack.
var errNotOperational = errors.New("gocql: no node is in the data center or rack of the host selection policy")

// Pick implements HostSelectionPolicy.
func (p *tieredPolicy) Pick(ExecutableQuery) NextHost {
	if p.localOnly {
		return nextOf(p.Plan(p.MaxHostTier()))
	}
	return nextOf(p.Plan(p.MaxHostTier() + 1))
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
