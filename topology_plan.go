// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"slices"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/tablet"
)

// Query plans: the order in which a request tries nodes.

// startStep is the difference between the starts of two plans: the golden ratio of their range. It spreads the starts
// of any regular subset of the requests, such as every second or every seventh, evenly.
const startStep = 0x9E3779B9

// planTarget is the input of a query plan.
type planTarget struct {
	keyspace, table string // of the table, empty when unknown
	token           int64  // when hasToken
	hasToken        bool
	lwt             bool // known to be conditional
	consistency     cql.Consistency
	host            cql.UUID  // the only node to use; zero means any
	picking         *picking  // for a HostPicker; nil without one
	now             time.Time // about; slow replicas are those that lag at that time
	start           uint32    // selects the first among equals; advances by startStep from plan to plan
}

// maxTabletReplicas bounds the replicas of a tablet that a plan orders. Further replicas are tried among the other
// nodes.
const maxTabletReplicas = 12

// tabletReplica is an index in topology.nodes, and the shard that serves the request there; -1 means that the node's
// pool computes it.
type tabletReplica struct{ node, shard int32 }

// A candidate is a node of a query plan. The zero value ends the plan.
type candidate struct {
	node  *node
	shard int32       // that serves the request there; -1 means that the node's pool computes it from the token
	mark  func(error) // SelectedHost.Mark; nil means none
}

// queryPlan is the order in which a request tries nodes, each once. It is a value and allocates nothing, except with a
// HostPicker.
type queryPlan struct {
	topo        *topology
	picked      *pickedNodes // of the HostPicker; nil without one
	listed      group        // the replicas, the nearest first, unless a tablet names them
	tablet      [maxTabletReplicas]tabletReplica
	tabletCount int // replicas in tablet
	start       uint32
	order       planOrder
	token       int64 // when hasToken
	hasToken    bool
	tried       int         // nodes returned, passed included
	passed      *node       // tried before by another plan; nil means none
	silent      []candidate // nodes that were skipped as silent; they come last

	leader  int8      // 1 + the number of the replica that leads the tablet and comes first; 0 means none
	led     bool      // the leader was returned
	inOrder bool      // equally near replicas are tried in their order
	avoid   bool      // slow replicas are tried later
	now     time.Time // see planTarget
	swapped bool      // the first two of equal nodes have changed places
	slow    uint64    // bit i means that replica i was skipped as slow
	at      planCursor
}

// planCursor is the position in a plan. A plan is a list of steps, and each step goes once over its nodes, which are
// sorted by rank. Nodes of one rank are equals; they are tried in the order of spread, which differs from plan to plan:
//
//	replicas   A  B  C | D  E | F        rank 0, 0, 0 | 1, 1 | 2
//	                     ^      ^
//	                 first      end      the equals D and E
//	visited = 1                          one of them has been considered, so spread(start, 1, 2) is next
//
// When all equals have been considered (first + visited == end), the next equals begin at end. Nodes of one rank are
// all local or all remote, so a step for local nodes skips remote equals as a whole, and a step for remote nodes skips
// local ones.
type planCursor struct {
	step    int // in planSteps
	first   int
	end     int
	visited int
}

// planOrder names the steps of a plan.
type planOrder int

const (
	localFirst    planOrder = iota
	replicasFirst           // all replicas come first, remote ones included
	tabletOnly              // tablet lists all nodes
)

// planStep is a part of a plan: replicas or other nodes, local or remote. A slow step tries the replicas that were
// skipped as slow.
type planStep struct{ others, slow, remote bool }

var planSteps = [...][]planStep{
	localFirst: {
		{},
		{slow: true},
		{others: true},
		{remote: true},
		{remote: true, slow: true},
		{remote: true, others: true},
	},
	replicasFirst: {
		{},
		{slow: true},
		{remote: true},
		{remote: true, slow: true},
		{others: true},
		{remote: true, others: true},
	},
	tabletOnly: {{}, {remote: true}},
}

// startPlan sets p, which must be zero, to the query plan of a request. Plans are large, so they are not copied.
func (t *topology) startPlan(p *queryPlan, target *planTarget) {
	p.topo, p.start, p.token, p.hasToken = t, target.start, target.token, target.hasToken
	if t.routing == nil { // before the first view
		return
	}
	rules := &t.routing.rules
	if target.host != (cql.UUID{}) {
		p.order = tabletOnly
		if i := t.find(target.host); i >= 0 {
			p.tablet[0], p.tabletCount = tabletReplica{int32(i), shardOn(t.tabletOf(target), target.host)}, 1
		}
		return
	}
	if rules.tokenAware || rules.picker != nil {
		p.setReplicas(target)
	}
	if rules.picker != nil {
		p.picked = pick(rules.picker, p, target)
		return
	}
	p.inOrder = rules.replicas.KeepOrder || target.lwt
	p.avoid, p.now = !target.lwt && p.replicas() > 1, target.now
	if rules.replicas.RemoteReplicas {
		p.order = replicasFirst
	}
}

// tabletOf returns the tablet of a request, nil if it is unknown.
func (t *topology) tabletOf(target *planTarget) *tablet.Tablet {
	if !target.hasToken {
		return nil
	}
	return t.routing.tablets.Lookup(target.keyspace, target.table, target.token)
}

// setReplicas lists the replicas of the partition of target: the replicas of its tablet if that is known, else the
// replicas of its range of the ring.
func (p *queryPlan) setReplicas(target *planTarget) {
	if found := p.topo.tabletOf(target); found != nil {
		p.setTablet(found)
		if p.topo.leaders != nil {
			p.setLeader(found, target)
		}
	} else if target.hasToken {
		p.listed = p.topo.replicasOf(target.keyspace, target.token)
	}
}

// shardOn returns the shard of the tablet's replica on a host, -1 if unknown.
func shardOn(t *tablet.Tablet, host cql.UUID) int32 {
	if t != nil {
		for _, r := range t.Replicas {
			if r.Host == host {
				return r.Shard
			}
		}
	}
	return -1
}

// setTablet lists the tablet's replicas that requests may go to, the nearest first; equally near ones keep their order.
func (p *queryPlan) setTablet(t *tablet.Tablet) {
	for i := range t.Replicas {
		replica := &t.Replicas[i]
		index := p.topo.indexOf(replica.Host)
		if index < 0 || p.topo.nodes[index].rank < 0 {
			continue
		}
		at := p.tabletCount
		for at > 0 && p.topo.nodes[index].rank < p.topo.nodes[p.tablet[at-1].node].rank {
			at--
		}
		if at == maxTabletReplicas {
			continue
		}
		p.tabletCount = min(p.tabletCount+1, maxTabletReplicas)
		copy(p.tablet[at+1:p.tabletCount], p.tablet[at:])
		p.tablet[at] = tabletReplica{int32(index), replica.Shard}
	}
}

// replicas returns the number of replicas.
func (p *queryPlan) replicas() int {
	if p.tabletCount > 0 {
		return p.tabletCount
	}
	return len(p.listed)
}

// replica returns replica number i.
func (p *queryPlan) replica(i int) *node {
	if p.tabletCount > 0 {
		return p.topo.nodes[p.tablet[i].node]
	}
	return p.listed[i]
}

// isReplica reports whether n is among the replicas.
func (p *queryPlan) isReplica(n *node) bool {
	for i := range p.replicas() {
		if p.replica(i) == n {
			return true
		}
	}
	return false
}

// tabletShard returns the shard of n in tablet, -1 if n is not in it.
func (p *queryPlan) tabletShard(n *node) int32 {
	for i := range p.tabletCount {
		if p.topo.nodes[p.tablet[i].node] == n {
			return p.tablet[i].shard
		}
	}
	return -1
}

// next returns the next node. Silent nodes come last.
func (p *queryPlan) next() candidate {
	next := p.advance()
	for next.node != nil && (next.node == p.passed || p.isSilent(next)) {
		if next.node != p.passed {
			p.silent = append(p.silent, next)
		}
		next = p.advance()
	}
	if next.node == nil && len(p.silent) > 0 {
		next, p.silent = p.silent[0], p.silent[1:]
	}
	if next.node != nil {
		p.tried++
	}
	return next
}

// pass removes a node that was tried before.
func (p *queryPlan) pass(n *node) { p.passed, p.tried = n, 1 }

// more reports whether next returns another node. With a HostPicker it reports whether next may do so.
func (p *queryPlan) more() bool {
	switch {
	case p.topo == nil || p.order == tabletOnly:
		return false
	case p.picked != nil && p.picked.left == 0:
		return len(p.silent) > 0
	}
	return p.tried < len(p.topo.usable)
}

// isSilent reports whether the connections for a request on a node are silent.
func (p *queryPlan) isSilent(at candidate) bool {
	if at.node.pool.open.Load().silent == 0 || p.order == tabletOnly { // the usual case, and the only node
		return false
	}
	return at.node.pool.isSilent(p.shardAt(at.node, at.shard))
}

// shardAt returns the shard of n that serves the request, which a tablet may name; -1 means unknown.
func (p *queryPlan) shardAt(n *node, tablet int32) int32 {
	if tablet < 0 && p.hasToken {
		return n.pool.shardOf(p.token)
	}
	return tablet
}

// advance is next without regard to silence.
func (p *queryPlan) advance() candidate {
	if p.picked != nil {
		return p.nextPicked()
	}
	if p.leader > 0 && !p.led {
		return p.lead()
	}
	for steps := planSteps[p.order]; p.at.step < len(steps); p.at = (planCursor{step: p.at.step + 1}) {
		s := steps[p.at.step]
		if s.slow && p.slow == 0 {
			continue
		}
		if s.others {
			if n := p.nextOther(s.remote); n != nil {
				return candidate{node: n, shard: -1}
			}
		} else if n, shard := p.nextReplica(s); n != nil {
			return candidate{node: n, shard: shard}
		}
	}
	return candidate{}
}

// nextReplica returns the next replica of a step, nil after the last.
func (p *queryPlan) nextReplica(s planStep) (*node, int32) {
	for count := p.replicas(); ; p.at.visited++ {
		if p.at.first+p.at.visited == p.at.end { // the next equals
			p.at.first, p.at.visited = p.at.end, 0
			if p.at.first == count {
				return nil, -1
			}
			first := p.replica(p.at.first)
			for p.at.end++; p.at.end < count && first.rank == p.replica(p.at.end).rank; {
				p.at.end++
			}
			if first.remote != s.remote {
				p.at.visited = p.at.end - p.at.first - 1
				continue
			}
		}
		i := p.at.first + p.at.visited
		if !p.inOrder {
			i = p.at.first + spread(p.start, p.at.visited, p.at.end-p.at.first)
		}
		if i+1 == int(p.leader) { // it was the first of all
			continue
		}
		n, shard := p.replica(i), int32(-1)
		if p.tabletCount > 0 {
			shard = p.tablet[i].shard
		}
		switch bit := uint64(1) << i; { // 0 for i beyond placement.MaxReplicas (EverywhereStrategy)
		case s.slow:
			if p.slow&bit == 0 {
				continue
			}
		case p.avoid && bit != 0 && p.isSlow(n, shard):
			p.slow |= bit
			continue
		}
		p.at.visited++
		return n, shard
	}
}

// isSlow reports whether a replica is tried after the others: its connection lags, or MaxInFlight applies.
func (p *queryPlan) isSlow(n *node, shard int32) bool {
	if limit := p.topo.routing.rules.replicas.MaxInFlight; limit > 0 && n.busy(shard, limit) {
		return true
	}
	return n.pool.lags(p.shardAt(n, shard), p.now)
}

// nextOther returns the next node that is not a replica, nil after the last.
func (p *queryPlan) nextOther(remote bool) *node {
	for nodes := p.topo.usable; ; p.at.visited++ {
		if p.at.first+p.at.visited == p.at.end {
			p.at.first, p.at.visited = p.at.end, 0
			if p.at.first == len(nodes) {
				return nil
			}
			first := nodes[p.at.first]
			for p.at.end++; p.at.end < len(nodes) && first.rank == nodes[p.at.end].rank; {
				p.at.end++
			}
			if first.remote != remote {
				p.at.visited = p.at.end - p.at.first - 1
				continue
			}
		}
		if n := p.otherAt(p.at.visited); !p.isReplica(n) {
			p.at.visited++
			return n
		}
	}
}

// otherAt returns the k-th of equal nodes that are not replicas. The first two change places if only the first lags.
func (p *queryPlan) otherAt(k int) *node {
	at := func(k int) *node { return p.topo.usable[p.at.first+spread(p.start, k, p.at.end-p.at.first)] }
	if k == 0 {
		p.swapped = p.at.end-p.at.first > 1 && at(0).pool.lags(-1, p.now) && !at(1).pool.lags(-1, p.now)
	}
	if p.swapped && k < 2 {
		k = 1 - k
	}
	return at(k)
}

// busy reports whether the connection for a request has more than limit requests in flight. A node without a connection
// is not busy: an attempt there fails at once.
func (n *node) busy(shard int32, limit int) bool {
	c := n.pool.pickShard(shard)
	return c != nil && c.InFlight() > limit
}

// strides are primes above any number of nodes, so that steps of one stride visit all nodes. They are balanced modulo
// small numbers: as many go around three nodes one way as the other.
var strides = [...]uint64{
	1000037, 1000231, 1000249, 1000403, 1000409, 1000429, 1000453, 1000577,
	1000723, 1000931, 1001197, 1001321, 1001569, 1001683, 1001807, 1001831,
}

// spread returns the index of the k-th of n equals in an order that start selects. start selects the first index and
// the stride, so that the load of a failed node spreads over all the others.
func spread(start uint32, k, n int) int {
	if n == 1 {
		return 0
	}
	first := uint64(start) * uint64(n) >> 32
	if k == 0 {
		return int(first)
	}
	return int((first + uint64(k)*strides[start>>4%uint32(len(strides))]) % uint64(n))
}

// Query plans of a HostPicker: the program selects the node of each attempt.

// picking describes a request to a HostPicker, beyond its planTarget.
type picking struct {
	ctx        context.Context
	statement  string
	routingKey []byte // nil means unknown
	idempotent bool
	prepare    bool
}

// pickedNodes are the nodes that a HostPicker selects for one request.
type pickedNodes struct {
	next NextHost
	left int   // calls of next that may follow; 0 after its end
	err  error // a panic of the program
}

// pick calls a HostPicker for the plan p of target.
func pick(picker HostPicker, p *queryPlan, target *planTarget) *pickedNodes {
	picked := &pickedNodes{left: maxRetries + len(p.topo.usable)}
	info, ctx := p.routeInfo(target), context.Background()
	if target.picking != nil {
		ctx = target.picking.ctx
	}
	picked.call(func() { picked.next = picker.Pick(ctx, info, slices.Clone(p.topo.hosts)) })
	if picked.next == nil {
		picked.left = 0
	}
	return picked
}

// routeInfo describes the request of target, whose replicas p has.
func (p *queryPlan) routeInfo(target *planTarget) RouteInfo {
	info := RouteInfo{
		Keyspace: target.keyspace, Table: target.table, Token: target.token, HasToken: target.hasToken, LWT: target.lwt,
	}
	if r := target.picking; r != nil {
		info.Statement, info.RoutingKey, info.Idempotent, info.Prepare = r.statement, r.routingKey, r.idempotent, r.prepare
	}
	for i := range p.replicas() {
		info.Replicas = append(info.Replicas, p.replica(i).info)
	}
	return info
}

// call calls code of the program. A panic ends the plan, as no next node is set.
func (p *pickedNodes) call(f func()) {
	defer func() {
		if p.err != nil {
			p.err = errtext.Errorf("HostPicker: %w", p.err)
		}
	}()
	defer background.Recover(&p.err)
	f()
}

// nextPicked returns the next node of the HostPicker.
func (p *queryPlan) nextPicked() candidate {
	for p.picked.left > 0 {
		var selected SelectedHost
		p.picked.left--
		p.picked.call(func() { selected = p.picked.next() })
		if selected.Host == nil {
			p.picked.left = 0
			return candidate{}
		}
		if i := p.topo.find(selected.Host.ID); i >= 0 && p.topo.nodes[i].rank >= 0 {
			n := p.topo.nodes[i]
			return candidate{node: n, shard: p.tabletShard(n), mark: selected.Mark}
		}
	}
	return candidate{}
}

// Leaders of tablets. In a strongly consistent keyspace of ScyllaDB, which has the option consistency = 'global', each
// tablet is a Raft group. Its leader runs all writes and all reads except reads at ONE and LOCAL_ONE; another node
// forwards them to the leader. With TABLETS_ROUTING_V2 the leader is the first replica of the tablet (scylladb
// docs/dev/tablets-routing-v2.md). The plan of a request therefore begins with the leader, remote or not: a nearer
// replica would only add a hop (scylladb/python-driver pull request 913, cassandra/policies.py).
//
// A request to another keyspace pays for the comparison of topology.leaders, which is nil without such keyspaces.

// setLeader makes the leader of t the first node of the plan, unless any replica serves the request, or requests may
// not go to the leader. A tablet of version 1 of the extension, which has no version, lists its replicas in any order.
func (p *queryPlan) setLeader(t *tablet.Tablet, target *planTarget) {
	if t.Version == 0 || !p.topo.leaders[target.keyspace] ||
		target.consistency == cql.One || target.consistency == cql.LocalOne {
		return
	}
	leader := int32(p.topo.indexOf(t.Replicas[0].Host))
	for i := range p.tabletCount {
		if p.tablet[i].node == leader {
			p.leader = int8(i + 1)
		}
	}
}

// lead returns the leader. A leader that lags comes first too, because the other replicas would wait for the leader.
func (p *queryPlan) lead() candidate {
	p.led = true
	i := int(p.leader) - 1
	return candidate{node: p.replica(i), shard: p.tablet[i].shard}
}

// isLeader reports whether n is the leader that comes first.
func (p *queryPlan) isLeader(n *node) bool { return p.leader > 0 && p.replica(int(p.leader)-1) == n }
