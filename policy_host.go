// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
)

// Host selection: the distance of nodes, and the use of replicas. Policies are stateless; sessions may share one. A
// policy is called for each node once per snapshot of the cluster. The snapshot stores the results, so that a query
// plan calls no policy and allocates nothing (topology_plan.go).

// A HostSelectionPolicy selects the nodes that requests go to. Several sessions may call its methods at once; the
// driver holds no lock during the call. A panic in a method is an error of NewSession, and later a line in the log.
//
// A policy may also have the method IsLocal(*HostInfo) bool. Remote nodes come after all local nodes, except with
// NonLocalReplicasFallback. Without IsLocal the nodes of tier 0 are local. A policy may also be a HostPicker.
type HostSelectionPolicy interface {
	// Tier returns the distance of the node: 0 for the nearest, negative for a node that receives only the requests
	// that name it. Nodes of one tier share the load. Tier must return the same value for the same node.
	Tier(h *HostInfo) int
}

// A HostPicker is a HostSelectionPolicy that selects the node of each attempt itself.
type HostPicker interface {
	HostSelectionPolicy
	// Pick is called for each request, with its context and on its goroutine, and again when its plan begins again after
	// a wait. Each page of a result is a request, as is the PREPARE of a statement. hosts lists the nodes with a tier of 0
	// or more, the nearest first. Pick may keep and change hosts and the slices of r. A panic in Pick or in the NextHost
	// is the error of the request.
	Pick(ctx context.Context, r RouteInfo, hosts []*HostInfo) NextHost
}

// A NextHost returns the nodes that a request tries, one with each call; a SelectedHost without a Host ends them. Calls
// do not overlap, but speculative executions call from their own goroutines; a call that blocks delays its own request.
// A node may be returned again. The driver skips unknown nodes, nodes with a negative tier and nodes without a
// connection, and tries nodes that answer nothing after all others. It makes a bounded number of calls.
type NextHost func() SelectedHost

// A SelectedHost is a node that a HostPicker has selected.
type SelectedHost struct {
	Host *HostInfo
	// Mark is called after each attempt on Host, on the goroutine of the attempt, with the error of the attempt or nil. A
	// canceled attempt, such as a speculative execution that another one preceded, has the error of its context. nil
	// means none.
	Mark func(err error)
}

// HostsInOrder returns a NextHost that returns each of the hosts once.
func HostsInOrder(hosts ...*HostInfo) NextHost {
	return func() (next SelectedHost) {
		if len(hosts) > 0 {
			next.Host, hosts = hosts[0], hosts[1:]
		}
		return next
	}
}

// RouteInfo describes the routing of a request. See HostPicker, Query.Route and Batch.Route.
type RouteInfo struct {
	Keyspace, Table string      // of the table, empty when unknown
	Token           int64       // of the partition, when HasToken
	HasToken        bool        // the partition is known
	RoutingKey      []byte      // serialized partition key, nil when unknown
	LWT             bool        // the statement is known to be conditional, or a read at a serial consistency
	Idempotent      bool        // the statement is a SELECT, or marked idempotent
	Prepare         bool        // the request prepares the statement, whose partition is not known yet
	Statement       string      // of a batch the first one
	Replicas        []*HostInfo // of the partition, the nearest first; empty when unknown
}

// PoolConfig configures the selection of nodes.
type PoolConfig struct {
	// HostSelectionPolicy selects the nodes of each request. Default TokenAwareHostPolicy(RoundRobinHostPolicy()):
	// replicas first, without a preference for a data center. With several data centers, name the local one:
	// TokenAwareHostPolicy(DCAwareRoundRobinPolicy("dc1")).
	HostSelectionPolicy HostSelectionPolicy
}

// HostPolicyOption is an option of DCAwareRoundRobinPolicy and RackAwareRoundRobinPolicy.
type HostPolicyOption struct{ disableFailover bool }

// DisableDCFailover excludes the nodes of other data centers: a request that no local node takes fails. The session
// still connects to remote nodes, unless DataCenterHostFilter excludes them.
func DisableDCFailover() HostPolicyOption { return HostPolicyOption{disableFailover: true} }

type roundRobinPolicy struct{}

// RoundRobinHostPolicy spreads requests evenly over all nodes.
func RoundRobinHostPolicy() HostSelectionPolicy { return roundRobinPolicy{} }

// Tier implements HostSelectionPolicy.
func (roundRobinPolicy) Tier(*HostInfo) int { return 0 }

// locationPolicy prefers a data center, and in it a rack.
type locationPolicy struct {
	dc, rack        string
	racks           bool
	disableFailover bool
}

// DCAwareRoundRobinPolicy prefers the nodes of a data center. Remote nodes follow only when no local node takes the
// request, at every consistency level. LocalQuorum is then a quorum in the coordinator's data center. DisableDCFailover
// excludes remote nodes.
func DCAwareRoundRobinPolicy(localDC string, opts ...HostPolicyOption) HostSelectionPolicy {
	p := locationPolicy{dc: localDC}
	p.apply(opts)
	return p
}

// RackAwareRoundRobinPolicy prefers the nodes of a rack, then those of its data center. Remote nodes follow as with
// DCAwareRoundRobinPolicy.
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

// IsLocal reports whether h is in the local data center, in any rack.
func (p locationPolicy) IsLocal(h *HostInfo) bool { return h.dc == p.dc }

func (p locationPolicy) validate() error {
	if p.dc == "" {
		return errors.New("vecql: ClusterConfig: PoolConfig.HostSelectionPolicy: the local data center is empty")
	}
	if p.racks && p.rack == "" {
		return errors.New("vecql: ClusterConfig: PoolConfig.HostSelectionPolicy: the local rack is empty")
	}
	return nil
}

// TokenAwareOption is an option of TokenAwareHostPolicy.
type TokenAwareOption struct{ set func(*tokenAwarePolicy) }

// ShuffleReplicas spreads the requests of one partition over its replicas. ShuffleReplicas is the default.
func ShuffleReplicas() TokenAwareOption {
	return TokenAwareOption{func(p *tokenAwarePolicy) { p.inOrder = false }}
}

// DoNotShuffleReplicas sends all requests of one partition to the same replica while that replica takes them, to profit
// from its cache.
func DoNotShuffleReplicas() TokenAwareOption {
	return TokenAwareOption{func(p *tokenAwarePolicy) { p.inOrder = true }}
}

// NonLocalReplicasFallback tries remote replicas before local nodes that are not replicas.
func NonLocalReplicasFallback() TokenAwareOption {
	return TokenAwareOption{func(p *tokenAwarePolicy) { p.replicasFirst = true }}
}

// AvoidSlowReplicas moves a replica whose connection has more than maxInFlight requests in flight behind the other
// replicas, local and remote replicas separately. Conditional statements ignore the option.
func AvoidSlowReplicas(maxInFlight int) TokenAwareOption {
	return TokenAwareOption{func(p *tokenAwarePolicy) { p.avoidSlow, p.maxInFlight = true, maxInFlight }}
}

// tokenAwarePolicy is TokenAwareHostPolicy with its options.
type tokenAwarePolicy struct {
	HostSelectionPolicy
	inOrder, replicasFirst bool
	avoidSlow              bool
	maxInFlight            int
}

// TokenAwareHostPolicy sends a request to the replicas of its partition first. fallback returns the distance of nodes
// and replicas; nil means RoundRobinHostPolicy. The order is: local replicas, local nodes, remote replicas, remote
// nodes; the nearest first in each. A conditional statement goes to the replicas in the order of the ring, the primary
// first, so that the conditional statements of one partition meet at one node. A statement is conditional if ScyllaDB's
// mark is in the prepared statement, or IF is in its text.
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

// IsLocal returns the result of the fallback.
func (p tokenAwarePolicy) IsLocal(h *HostInfo) bool { return isLocal(p.HostSelectionPolicy, h) }

func (p tokenAwarePolicy) validate() error { return validatePolicy(p.HostSelectionPolicy) }

func isLocal(p HostSelectionPolicy, h *HostInfo) bool {
	if l, ok := p.(interface{ IsLocal(h *HostInfo) bool }); ok {
		return l.IsLocal(h)
	}
	return p.Tier(h) == 0
}

// validatePolicy returns the configuration error of a policy of this package.
func validatePolicy(p HostSelectionPolicy) error {
	if v, ok := p.(interface{ validate() error }); ok {
		return v.validate()
	}
	return nil
}

// planRules are the settings of a policy for all query plans of a session.
type planRules struct {
	policy        HostSelectionPolicy
	picker        HostPicker // nil means the usual order
	tokenAware    bool
	inOrder       bool
	replicasFirst bool
	avoidSlow     bool
	maxInFlight   int
}

// newPlanRules returns the rules of a policy, which may be nil.
func newPlanRules(p HostSelectionPolicy) planRules {
	if p == nil {
		p = TokenAwareHostPolicy(nil)
	}
	r := planRules{policy: p}
	inner := p
	if t, ok := p.(tokenAwarePolicy); ok {
		r.tokenAware, r.inOrder, r.replicasFirst, r.avoidSlow, r.maxInFlight = true, t.inOrder, t.replicasFirst, t.avoidSlow,
			t.maxInFlight
		inner = t.HostSelectionPolicy
	}
	r.picker, _ = inner.(HostPicker)
	return r
}

// filterHosts applies filter, which may be nil, and the policy to the hosts of a view before the view becomes a
// snapshot.
func (r *planRules) filterHosts(hosts []*HostInfo, filter HostFilter) error {
	accepted, used := 0, 0
	for _, h := range hosts {
		if err := r.filterHost(h, filter); err != nil {
			return errtext.Errorf("node %v: %w", h, err)
		}
		if !h.excluded {
			accepted++
			if h.tier >= 0 {
				used++
			}
		}
	}
	switch {
	case accepted == 0:
		return errtext.Errorf("%w: HostFilter accepts none of %v", ErrNoHosts, hosts)
	case used == 0:
		return errtext.Errorf("%w: the HostSelectionPolicy uses none of %v", ErrNoHosts, hosts)
	}
	return nil
}

// filterHost stores the decisions of the filter and the policy in h: excluded, tier and remote. Both are code of the
// program, so a panic of either becomes the error.
func (r *planRules) filterHost(h *HostInfo, filter HostFilter) (err error) {
	what := "HostFilter"
	defer func() {
		if err != nil {
			err = errtext.Errorf("%s: %w", what, err)
		}
	}()
	defer background.Recover(&err)
	if h.excluded = filter != nil && !filter.Accept(h); h.excluded {
		return nil
	}
	what = "HostSelectionPolicy"
	h.tier = r.policy.Tier(h)
	h.remote = !isLocal(r.policy, h)
	return nil
}
