// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"

	"github.com/gocql/gocql/tablets"
	api "github.com/vecql/vecql/compat/api"
)

// Host selection as the fork alone has it.

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

// A SelectedHost is a node that a policy has picked for a request.
type SelectedHost interface {
	Info() *HostInfo
	// Token returns the token of the request, nil if the policy has none. It has no effect.
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

	api.Placed[*HostInfo]
}

// IsLWT implements ExecutableQuery.
func (p *picked) IsLWT() bool { return api.RouteOf(&p.routed).LWT || p.GetConsistency().IsSerial() }

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

// chosen is a SelectedHost.
type chosen struct{ api.Chosen[*HostInfo] }

// Token implements SelectedHost.
func (chosen) Token() Token { return nil }

// choose returns a SelectedHost.
func choose(host *HostInfo, mark func(error)) SelectedHost { return chosen{api.Choose(host, mark)} }

// tieredPolicy sorts nodes into tiers and goes round-robin in each.
type tieredPolicy struct{ *api.Tiers[*HostInfo] }

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

func (p *tieredPolicy) setDCFailoverDisabled() { api.DisableFailover(p.Tiers) }

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

// RackAwareRoundRobinPolicy prefers the nodes of a rack, then the nodes of its data center.
func RackAwareRoundRobinPolicy(localDC string, localRack string, opts ...dcAwarePolicyOption) HostSelectionPolicy {
	return &rackAwareRR{newTiered(api.RackAware[*HostInfo](localDC, localRack), opts)}
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
func (p *tieredPolicy) Pick(ExecutableQuery) NextHost { return api.NextUp(p.Plan(), choose) }
