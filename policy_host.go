// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
)

// Host selection: the distance of nodes, and the use of replicas. Policies are stateless; sessions may share one. A
// policy is called for each node once per snapshot of the cluster. The snapshot stores the results, so that a query
// plan calls no policy and allocates nothing (topology_plan.go).

// A HostSelectionPolicy selects the nodes that requests go to. Several sessions may call its methods at once; the
// driver holds no lock during the call. A panic in a method is an error of NewSession, and later a line in the log.
//
// A policy may also have the method IsLocal(*cql.Host) bool. Remote nodes come after all local nodes, except with
// TokenAwarePolicy.RemoteReplicas. Without IsLocal the nodes of tier 0 are local. A policy may also be a HostPicker.
type HostSelectionPolicy interface {
	// Tier returns the distance of the node: 0 for the nearest, negative for a node that receives only the requests
	// that name it. Nodes of one tier share the load. Tier must return the same value for the same node.
	Tier(h *cql.Host) int
}

// A HostPicker is a HostSelectionPolicy that selects the node of each attempt itself.
type HostPicker interface {
	HostSelectionPolicy
	// Pick is called for each request, with its context and on its goroutine, and again when its plan begins again after
	// a wait. Each page of a result is a request, as is the PREPARE of a statement. hosts lists the nodes with a tier of 0
	// or more, the nearest first. Pick may keep and change hosts and the slices of r. A panic in Pick or in the NextHost
	// is the error of the request.
	Pick(ctx context.Context, r RouteInfo, hosts []*cql.Host) NextHost
}

// A NextHost returns the nodes that a request tries, one with each call; a SelectedHost without a Host ends them. Calls
// do not overlap, but speculative executions call from their own goroutines; a call that blocks delays its own request.
// A node may be returned again. The driver skips unknown nodes, nodes with a negative tier and nodes without a
// connection, and tries nodes that answer nothing after all others. It makes a bounded number of calls.
type NextHost func() SelectedHost

// A SelectedHost is a node that a HostPicker has selected.
type SelectedHost struct {
	Host *cql.Host
	// Mark is called after each attempt on Host, on the goroutine of the attempt, with the error of the attempt or nil. A
	// canceled attempt, such as a speculative execution that another one preceded, has the error of its context. nil
	// means none.
	Mark func(err error)
}

// HostsInOrder returns a NextHost that returns each of the hosts once.
func HostsInOrder(hosts ...*cql.Host) NextHost {
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
	Replicas        []*cql.Host // of the partition, the nearest first; empty when unknown
}

// RoundRobinPolicy is a HostSelectionPolicy that spreads requests evenly over all nodes.
type RoundRobinPolicy struct{}

// Tier implements HostSelectionPolicy.
func (RoundRobinPolicy) Tier(*cql.Host) int { return 0 }

// DCAwarePolicy is a HostSelectionPolicy that prefers the nodes of a data center. Remote nodes follow only when no
// local node takes the request, at every consistency level. LocalQuorum is then a quorum in the coordinator's data
// center.
type DCAwarePolicy struct {
	DataCenter string // the local data center; must not be empty
	// NoFailover excludes the nodes of other data centers: a request that no local node takes fails. The session still
	// connects to remote nodes, unless ClusterConfig.Nodes.HostFilter excludes them.
	NoFailover bool
}

// Tier implements HostSelectionPolicy.
func (p DCAwarePolicy) Tier(h *cql.Host) int {
	switch {
	case h.DataCenter == p.DataCenter:
		return 0
	case p.NoFailover:
		return -1
	}
	return 1
}

func (p DCAwarePolicy) validate() error {
	if p.DataCenter == "" {
		return errors.New("vecql: ClusterConfig: HostSelectionPolicy: the local data center is empty")
	}
	return nil
}

// RackAwarePolicy is a HostSelectionPolicy that prefers the nodes of a rack, then the other nodes of its data center.
// Remote nodes follow as with DCAwarePolicy.
type RackAwarePolicy struct {
	DataCenter, Rack string // the local ones; must not be empty
	NoFailover       bool   // see DCAwarePolicy
}

// Tier implements HostSelectionPolicy.
func (p RackAwarePolicy) Tier(h *cql.Host) int {
	switch {
	case h.DataCenter != p.DataCenter && p.NoFailover:
		return -1
	case h.DataCenter != p.DataCenter:
		return 2
	case h.Rack != p.Rack:
		return 1
	}
	return 0
}

// IsLocal reports whether h is in the local data center, in any rack.
func (p RackAwarePolicy) IsLocal(h *cql.Host) bool { return h.DataCenter == p.DataCenter }

func (p RackAwarePolicy) validate() error {
	if p.Rack == "" && p.DataCenter != "" {
		return errors.New("vecql: ClusterConfig: HostSelectionPolicy: the local rack is empty")
	}
	return DCAwarePolicy{DataCenter: p.DataCenter}.validate()
}

// TokenAwarePolicy is a HostSelectionPolicy that sends a request to the replicas of its partition first. The order is:
// local replicas, local nodes, remote replicas, remote nodes; the nearest first in each. A conditional statement goes
// to the replicas in the order of the ring, the primary first, so that the conditional statements of one partition meet
// at one node. A statement is conditional if ScyllaDB's mark is in the prepared statement, or IF is in its text.
//
// In a strongly consistent keyspace of ScyllaDB (consistency = 'global') the leader of the tablet comes before all
// other nodes, remote or not, because it runs all writes, and all reads except reads at One and LocalOne. The session
// knows the leaders with ClusterConfig.Protocol.ExperimentalTabletsRoutingV2. A leader that Fallback or a HostFilter
// excludes is not asked; another replica forwards the request.
type TokenAwarePolicy struct {
	Fallback HostSelectionPolicy // the distance of nodes and replicas; nil means RoundRobinPolicy
	// KeepOrder sends all requests of one partition to the same replica while that replica takes them, to profit from
	// its cache. By default they are spread over the replicas.
	KeepOrder bool
	// RemoteReplicas tries remote replicas before local nodes that are not replicas.
	RemoteReplicas bool
	// MaxInFlight moves a replica whose connection has more requests in flight behind the other replicas, local and
	// remote replicas separately; 0 means no limit. Conditional statements ignore it.
	MaxInFlight int
}

// Tier returns the tier of Fallback.
func (p TokenAwarePolicy) Tier(h *cql.Host) int { return p.fallback().Tier(h) }

// IsLocal reports whether h is local by Fallback.
func (p TokenAwarePolicy) IsLocal(h *cql.Host) bool { return isLocal(p.fallback(), h) }

func (p TokenAwarePolicy) fallback() HostSelectionPolicy {
	if p.Fallback == nil {
		return RoundRobinPolicy{}
	}
	return p.Fallback
}

func (p TokenAwarePolicy) validate() error {
	if p.MaxInFlight < 0 {
		return errtext.Errorf("ClusterConfig: HostSelectionPolicy: MaxInFlight is %d, must not be negative",
			p.MaxInFlight)
	}
	return validatePolicy(p.Fallback)
}

// replicaOrder returns p. Only a TokenAwarePolicy, a pointer to one, or a policy that embeds one has the method.
func (p TokenAwarePolicy) replicaOrder() TokenAwarePolicy { return p }

func isLocal(p HostSelectionPolicy, h *cql.Host) bool {
	if l, ok := p.(interface{ IsLocal(h *cql.Host) bool }); ok {
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
	policy     HostSelectionPolicy
	picker     HostPicker // nil means the usual order
	tokenAware bool       // replicas come first, in the order of replicas
	replicas   TokenAwarePolicy
}

// newPlanRules returns the rules of a policy, which may be nil.
func newPlanRules(p HostSelectionPolicy) planRules {
	if p == nil {
		p = TokenAwarePolicy{}
	}
	r := planRules{policy: p}
	r.picker, _ = p.(HostPicker)
	if t, ok := p.(interface{ replicaOrder() TokenAwarePolicy }); ok {
		r.tokenAware, r.replicas = true, t.replicaOrder()
		if r.picker == nil {
			r.picker, _ = r.replicas.Fallback.(HostPicker)
		}
	}
	return r
}

// filterNodes applies filter, which may be nil, and the policy to the nodes of a view before the view becomes a
// snapshot.
func (r *planRules) filterNodes(nodes []*node, filter func(*cql.Host) bool) error {
	accepted, used := 0, 0
	for _, n := range nodes {
		if err := r.filterNode(n, filter); err != nil {
			return errtext.Errorf("node %v: %w", n, err)
		}
		if !n.excluded {
			accepted++
			if n.tier >= 0 {
				used++
			}
		}
	}
	switch {
	case accepted == 0:
		return errtext.Errorf("%w: HostFilter accepts none of %v", ErrNoHosts, nodes)
	case used == 0:
		return errtext.Errorf("%w: the HostSelectionPolicy uses none of %v", ErrNoHosts, nodes)
	}
	return nil
}

// filterNode stores the decisions of the filter and the policy in n: excluded, tier and remote. Both are code of the
// program, so a panic of either becomes the error.
func (r *planRules) filterNode(n *node, filter func(*cql.Host) bool) (err error) {
	what := "HostFilter"
	defer func() {
		if err != nil {
			err = errtext.Errorf("%s: %w", what, err)
		}
	}()
	defer background.Recover(&err)
	if n.excluded = filter != nil && !filter(n.info); n.excluded {
		return nil
	}
	what = "HostSelectionPolicy"
	n.tier = r.policy.Tier(n.info)
	n.remote = !isLocal(r.policy, n.info)
	return nil
}
