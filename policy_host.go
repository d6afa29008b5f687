// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"fmt"
)

// This file decides how near a node is, and how the replicas of a request's partition are used. A policy is a value without state: any
// number of sessions may share it. It is asked about each node once per snapshot of the cluster; what a request needs of that is in the
// snapshot, so that its route costs no call and no allocation (topology_route.go).

// HostSelectionPolicy says which nodes requests go to. It may be called by several sessions at once, never under a lock of the driver; a
// panic in it is an error of NewSession, later a line in the log.
//
// A policy may also have the method IsLocal(*HostInfo) bool: nodes that are not local come after all that are, see
// NonLocalReplicasFallback. Without it the nodes of tier 0 are local. And it may be a HostPicker.
type HostSelectionPolicy interface {
	// Tier returns how near the node is: 0 for the nearest, negative for one that requests never go to unless they name it. Nodes of one
	// tier share the load. It must answer the same for the same node.
	Tier(h *HostInfo) int
}

// HostPicker is a HostSelectionPolicy that orders the nodes of each request itself.
type HostPicker interface {
	HostSelectionPolicy
	// AppendHosts appends to dst the nodes to try for a request, in this order; hosts are those with a tier of 0 or more, the nearest first.
	// What is not in hosts, or comes again, is left out. It must change neither r.Replicas nor hosts. A panic is the request's error.
	AppendHosts(dst []*HostInfo, r RouteInfo, hosts []*HostInfo) []*HostInfo
}

// RouteInfo is what is known of a request when its nodes are chosen.
type RouteInfo struct {
	Keyspace, Table string      // of the table, empty when not known
	Token           int64       // of the partition, when HasToken
	HasToken        bool        // the partition is known
	LWT             bool        // the statement is known to be conditional
	Replicas        []*HostInfo // of the partition, the nearest first; empty when not known
}

// PoolConfig configures the choice of nodes.
type PoolConfig struct {
	// HostSelectionPolicy chooses the nodes of each request. Default TokenAwareHostPolicy(RoundRobinHostPolicy()): replicas first, in all
	// data centres alike. Where there are several, name the local one: TokenAwareHostPolicy(DCAwareRoundRobinPolicy("dc1")).
	HostSelectionPolicy HostSelectionPolicy
}

// HostPolicyOption changes a policy for data centres.
type HostPolicyOption struct{ disableFailover bool }

// DisableDCFailover makes requests fail rather than go to another data centre: nodes there are never used. To have no connections to
// them either, filter them out: DataCenterHostFilter.
func DisableDCFailover() HostPolicyOption { return HostPolicyOption{disableFailover: true} }

type roundRobinPolicy struct{}

// RoundRobinHostPolicy uses all nodes alike.
func RoundRobinHostPolicy() HostSelectionPolicy { return roundRobinPolicy{} }

// Tier implements HostSelectionPolicy.
func (roundRobinPolicy) Tier(*HostInfo) int { return 0 }

// locationPolicy prefers a data centre, and in it a rack.
type locationPolicy struct {
	dc, rack        string
	racks           bool
	disableFailover bool
}

// DCAwareRoundRobinPolicy prefers the nodes of a data centre. Those of others follow only when none of its nodes takes the request,
// whatever its consistency: LocalQuorum is then a quorum of theirs. DisableDCFailover excludes that.
func DCAwareRoundRobinPolicy(localDC string, opts ...HostPolicyOption) HostSelectionPolicy {
	p := locationPolicy{dc: localDC}
	p.apply(opts)
	return p
}

// RackAwareRoundRobinPolicy prefers the nodes of a rack, then those of its data centre. Others follow as with DCAwareRoundRobinPolicy.
func RackAwareRoundRobinPolicy(localDC, localRack string, opts ...HostPolicyOption) HostSelectionPolicy {
	p := locationPolicy{dc: localDC, rack: localRack, racks: true}
	p.apply(opts)
	return p
}

func (p *locationPolicy) apply(opts []HostPolicyOption) {
	for _, o := range opts {
		p.disableFailover = p.disableFailover || o.disableFailover
	}
}

// Tier implements HostSelectionPolicy.
func (p locationPolicy) Tier(h *HostInfo) int {
	switch {
	case h.dc != p.dc && p.disableFailover:
		return -1
	case h.dc != p.dc:
		return 2
	case p.racks && h.rack != p.rack:
		return 1
	}
	return 0
}

// IsLocal tells that all racks of the data centre are local.
func (p locationPolicy) IsLocal(h *HostInfo) bool { return h.dc == p.dc }

func (p locationPolicy) validate() error {
	if p.dc == "" {
		return errors.New("vecql: ClusterConfig: PoolConfig.HostSelectionPolicy: the local data centre is empty")
	}
	if p.racks && p.rack == "" {
		return errors.New("vecql: ClusterConfig: PoolConfig.HostSelectionPolicy: the local rack is empty")
	}
	return nil
}

// TokenAwareOption changes how TokenAwareHostPolicy uses replicas.
type TokenAwareOption struct{ set func(*tokenAwarePolicy) }

// ShuffleReplicas spreads the requests of one partition over its replicas. It is the default.
func ShuffleReplicas() TokenAwareOption {
	return TokenAwareOption{func(p *tokenAwarePolicy) { p.inOrder = false }}
}

// DoNotShuffleReplicas sends the requests of one partition to the same replica as long as it takes them, for its cache's sake.
func DoNotShuffleReplicas() TokenAwareOption {
	return TokenAwareOption{func(p *tokenAwarePolicy) { p.inOrder = true }}
}

// NonLocalReplicasFallback tries the replicas that are not local before local nodes that are no replicas.
func NonLocalReplicasFallback() TokenAwareOption {
	return TokenAwareOption{func(p *tokenAwarePolicy) { p.replicasFirst = true }}
}

// AvoidSlowReplicas tries replicas whose connection has more than maxInFlight requests under way after the others that are local, or not
// local, as they are. It does not concern conditional statements.
func AvoidSlowReplicas(maxInFlight int) TokenAwareOption {
	return TokenAwareOption{func(p *tokenAwarePolicy) { p.avoidSlow, p.maxInFlight = true, maxInFlight }}
}

type tokenAwarePolicy struct {
	HostSelectionPolicy
	inOrder, replicasFirst bool
	avoidSlow              bool
	maxInFlight            int
}

// TokenAwareHostPolicy sends a request to the replicas of its partition first. fallback says how near nodes are, replicas too; nil is
// RoundRobinHostPolicy. The order is: local replicas, local nodes, other replicas, other nodes; the nearest first in each. A conditional
// statement goes to the replicas in the order of the ring, the primary first, so that those of one partition meet at one node; it is
// known by ScyllaDB's mark in the prepared statement, or by IF in its text.
func TokenAwareHostPolicy(fallback HostSelectionPolicy, opts ...TokenAwareOption) HostSelectionPolicy {
	if fallback == nil {
		fallback = RoundRobinHostPolicy()
	}
	p := tokenAwarePolicy{HostSelectionPolicy: fallback}
	for _, o := range opts {
		if o.set != nil {
			o.set(&p)
		}
	}
	return p
}

// ShuffledTokenAwareHostPolicy is TokenAwareHostPolicy with ShuffleReplicas.
func ShuffledTokenAwareHostPolicy(fallback HostSelectionPolicy, opts ...TokenAwareOption) HostSelectionPolicy {
	return TokenAwareHostPolicy(fallback, append([]TokenAwareOption{ShuffleReplicas()}, opts...)...)
}

// IsLocal is the fallback's.
func (p tokenAwarePolicy) IsLocal(h *HostInfo) bool { return isLocal(p.HostSelectionPolicy, h) }

func (p tokenAwarePolicy) validate() error { return validatePolicy(p.HostSelectionPolicy) }

func isLocal(p HostSelectionPolicy, h *HostInfo) bool {
	if l, ok := p.(interface{ IsLocal(h *HostInfo) bool }); ok {
		return l.IsLocal(h)
	}
	return p.Tier(h) == 0
}

// validatePolicy returns what is wrong with a policy of this package.
func validatePolicy(p HostSelectionPolicy) error {
	if v, ok := p.(interface{ validate() error }); ok {
		return v.validate()
	}
	return nil
}

// routeRules are a policy's settings for all routes of a session.
type routeRules struct {
	policy        HostSelectionPolicy
	picker        HostPicker // nil: the route has the usual order
	tokenAware    bool
	inOrder       bool
	replicasFirst bool
	avoidSlow     bool
	maxInFlight   int
}

// newRouteRules returns the rules of a policy, which may be nil.
func newRouteRules(p HostSelectionPolicy) routeRules {
	if p == nil {
		p = TokenAwareHostPolicy(nil)
	}
	r := routeRules{policy: p}
	inner := p
	if t, ok := p.(tokenAwarePolicy); ok {
		r.tokenAware, r.inOrder, r.replicasFirst, r.avoidSlow, r.maxInFlight = true, t.inOrder, t.replicasFirst, t.avoidSlow, t.maxInFlight
		inner = t.HostSelectionPolicy
	}
	r.picker, _ = inner.(HostPicker)
	return r
}

// judge asks filter, which may be nil, and policy about the hosts of a view, which no snapshot has yet.
func (r *routeRules) judge(hosts []*HostInfo, filter HostFilter) error {
	accepted, used := 0, 0
	for _, h := range hosts {
		if err := r.judgeOne(h, filter); err != nil {
			return fmt.Errorf("node %v: %w", h, err)
		}
		if !h.barred {
			accepted++
			if h.tier >= 0 {
				used++
			}
		}
	}
	switch {
	case accepted == 0:
		return fmt.Errorf("%w: HostFilter accepts none of %v", ErrNoHosts, hosts)
	case used == 0:
		return fmt.Errorf("%w: the HostSelectionPolicy uses none of %v", ErrNoHosts, hosts)
	}
	return nil
}

func (r *routeRules) judgeOne(h *HostInfo, filter HostFilter) (err error) {
	what := "HostFilter"
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
	}()
	defer recovered(&err)
	if h.barred = filter != nil && !filter.Accept(h); h.barred {
		return nil
	}
	what = "HostSelectionPolicy"
	h.tier = r.policy.Tier(h)
	h.far = !isLocal(r.policy, h)
	return nil
}
