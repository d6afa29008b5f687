// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"slices"

	"github.com/vecql/vecql/internal/tablet"
)

// This file puts nodes into the order in which a request tries them.

// routeStep is what lies between the starts of two routes: the golden ratio of their range. Whatever part of the requests one looks at,
// each second or each seventh, their starts are spread evenly.
const routeStep = 0x9E3779B9

// routeTarget is what a route follows from.
type routeTarget struct {
	keyspace, table string // of the table, empty when not known
	token           int64  // when hasToken
	hasToken        bool
	lwt             bool   // known to be conditional
	host            UUID   // the only one to go to, when not zero
	start           uint32 // where the route begins among equals: from one route to the next by routeStep
}

// maxTabletReplicas bounds the replicas of a tablet that a route has in its order. Others come with the nodes that are no replicas.
const maxTabletReplicas = 12

// hop is the index of a node in topology.nodes and the shard that serves the request there, -1 when only the node itself can tell.
type hop struct{ node, shard int32 }

// route is the order in which a request tries nodes, each once. It is a value and allocates nothing, except for a HostPicker.
type route struct {
	topo  *topology
	err   error // of the HostPicker
	ring  group // the replicas, nearest first; or
	own   [maxTabletReplicas]hop
	owned int // so many in own, by the tablet
	start uint32
	lists listing

	inOrder bool // of replicas that are as near as each other
	avoid   bool // slow replicas are tried later
	slow    uint64

	stage         int // in stages
	begin, end, k int // the k-th of equals from begin to end is next
}

// listing says what a route consists of.
type listing int

const (
	localFirst    listing = iota
	replicasFirst         // also those that are not local
	onlyOwn               // own holds all there is
	onlyRing              // ring holds all there is, in its order
)

// stage is a part of a route: replicas or others, near or far.
type stage struct{ others, slow, far bool }

var stages = [...][]stage{
	localFirst:    {{}, {slow: true}, {others: true}, {far: true}, {far: true, slow: true}, {far: true, others: true}},
	replicasFirst: {{}, {slow: true}, {far: true}, {far: true, slow: true}, {others: true}, {far: true, others: true}},
	onlyOwn:       {{}, {far: true}},
	onlyRing:      {{}},
}

// route returns the order of nodes for a request.
func (t *topology) route(target routeTarget) route {
	r := route{topo: t, start: target.start}
	var found *tablet.Tablet
	if t.routing == nil { // before the first view
		return r
	}
	rules := &t.routing.rules
	if target.hasToken && (rules.tokenAware || rules.picker != nil || target.host != (UUID{})) {
		found = t.routing.tablets.Lookup(target.keyspace, target.table, target.token)
	}
	if target.host != (UUID{}) {
		r.lists = onlyOwn
		if i := t.indexOf(target.host); i >= 0 {
			r.own[0], r.owned = hop{int32(i), shardOn(found, target.host)}, 1
		}
		return r
	}
	if found != nil {
		r.setTablet(found)
	} else if target.hasToken && (rules.tokenAware || rules.picker != nil) {
		r.ring = t.replicasOf(target.keyspace, target.token)
	}
	if rules.picker != nil {
		r.pick(rules.picker, target)
		return r
	}
	r.inOrder = rules.inOrder || target.lwt
	r.avoid = rules.avoidSlow && !target.lwt
	if rules.replicasFirst {
		r.lists = replicasFirst
	}
	return r
}

// shardOn returns the shard of the tablet's replica on a host, -1 where it is not known.
func shardOn(t *tablet.Tablet, host UUID) int32 {
	if t != nil {
		for _, r := range t.Replicas {
			if r.Host == host {
				return r.Shard
			}
		}
	}
	return -1
}

// setTablet lists the tablet's replicas that requests may go to, the nearest first and otherwise in their order.
func (r *route) setTablet(t *tablet.Tablet) {
	for i := range t.Replicas {
		replica := &t.Replicas[i]
		index := r.topo.indexOf(replica.Host)
		if index < 0 || r.topo.nodes[index].rank < 0 {
			continue
		}
		at := r.owned
		for at > 0 && r.topo.nodes[index].rank < r.topo.nodes[r.own[at-1].node].rank {
			at--
		}
		if at == maxTabletReplicas {
			continue
		}
		r.owned = min(r.owned+1, maxTabletReplicas)
		copy(r.own[at+1:r.owned], r.own[at:])
		r.own[at] = hop{int32(index), replica.Shard}
	}
}

// pick has the user's code order the nodes.
func (r *route) pick(p HostPicker, target routeTarget) {
	info := RouteInfo{Keyspace: target.keyspace, Table: target.table, Token: target.token, HasToken: target.hasToken, LWT: target.lwt}
	for i := range r.replicas() {
		info.Replicas = append(info.Replicas, r.replica(i).info)
	}
	hosts, err := callPicker(p, info, r.topo.hosts)
	if err != nil {
		r.err = err
	}
	picked := make(group, 0, len(hosts))
	for _, h := range hosts {
		if h == nil {
			continue
		}
		if n := r.topo.nodeByID(h.id); n != nil && n.rank >= 0 && !slices.Contains(picked, n) {
			picked = append(picked, n)
		}
	}
	r.ring, r.lists = picked, onlyRing // own stays: it tells shards
}

func callPicker(p HostPicker, info RouteInfo, all []*HostInfo) (hosts []*HostInfo, err error) {
	defer func() {
		if err != nil {
			hosts, err = nil, fmt.Errorf("vecql: HostPicker: %w", err)
		}
	}()
	defer recovered(&err)
	return p.AppendHosts(nil, info, slices.Clone(all)), nil
}

// replicas returns the number of replicas.
func (r *route) replicas() int {
	if r.owned > 0 {
		return r.owned
	}
	return len(r.ring)
}

// replica returns replica number i.
func (r *route) replica(i int) *node {
	if r.owned > 0 {
		return r.topo.nodes[r.own[i].node]
	}
	return r.ring[i]
}

// isReplica reports whether n is among the replicas.
func (r *route) isReplica(n *node) bool {
	for i := range r.replicas() {
		if r.replica(i) == n {
			return true
		}
	}
	return false
}

// ownShard returns the shard that own tells for n, -1 when n is not there.
func (r *route) ownShard(n *node) int32 {
	for i := range r.owned {
		if r.topo.nodes[r.own[i].node] == n {
			return r.own[i].shard
		}
	}
	return -1
}

// next returns the next node and the shard that serves the request there, nil when there is none left. The shard is -1 where no tablet
// tells it: the node's pool knows how tokens are spread over its shards.
func (r *route) next() (*node, int32) {
	if r.lists == onlyRing {
		if r.k == len(r.ring) {
			return nil, -1
		}
		r.k++
		return r.ring[r.k-1], r.ownShard(r.ring[r.k-1])
	}
	for plan := stages[r.lists]; r.stage < len(plan); r.stage, r.begin, r.end, r.k = r.stage+1, 0, 0, 0 {
		s := plan[r.stage]
		if s.slow && r.slow == 0 {
			continue
		}
		if s.others {
			if n := r.nextOther(s.far); n != nil {
				return n, -1
			}
		} else if n, shard := r.nextReplica(s); n != nil {
			return n, shard
		}
	}
	return nil, -1
}

// nextReplica returns the next replica of the stage.
func (r *route) nextReplica(s stage) (*node, int32) {
	for count := r.replicas(); ; r.k++ {
		if r.begin+r.k == r.end { // on to the next of equals
			r.begin, r.k = r.end, 0
			if r.begin == count {
				return nil, -1
			}
			first := r.replica(r.begin)
			for r.end++; r.end < count && first.rank == r.replica(r.end).rank; {
				r.end++
			}
			if first.info.far != s.far {
				r.k = r.end - r.begin - 1
				continue
			}
		}
		i := r.begin + r.k
		if !r.inOrder {
			i = r.begin + spread(r.start, r.k, r.end-r.begin)
		}
		n, shard := r.replica(i), int32(-1)
		if r.owned > 0 {
			shard = r.own[i].shard
		}
		switch bit := uint64(1) << i; { // 0 beyond maxGroup: EverywhereStrategy's
		case s.slow:
			if r.slow&bit == 0 {
				continue
			}
		case r.avoid && bit != 0 && n.busy(shard, r.topo.routing.rules.maxInFlight):
			r.slow |= bit
			continue
		}
		r.k++
		return n, shard
	}
}

// nextOther returns the next node that is no replica, nil after the last.
func (r *route) nextOther(far bool) *node {
	for nodes := r.topo.order; ; r.k++ {
		if r.begin+r.k == r.end {
			r.begin, r.k = r.end, 0
			if r.begin == len(nodes) {
				return nil
			}
			first := nodes[r.begin]
			for r.end++; r.end < len(nodes) && first.rank == nodes[r.end].rank; {
				r.end++
			}
			if first.info.far != far {
				r.k = r.end - r.begin - 1
				continue
			}
		}
		if n := nodes[r.begin+spread(r.start, r.k, r.end-r.begin)]; !r.isReplica(n) {
			r.k++
			return n
		}
	}
}

// busy reports whether the connection that a request would take has more than limit requests under way. A node without a connection is
// not busy: whoever tries it finds out.
func (n *node) busy(shard int32, limit int) bool {
	c := n.pool.pickShard(shard)
	return c != nil && c.inFlight() > limit
}

// strides are prime and above any number of nodes, so that steps of one of them come by all nodes; for three nodes there are as many that
// go one way round as the other, and so on.
var strides = [...]uint64{
	1000037, 1000231, 1000249, 1000403, 1000409, 1000429, 1000453, 1000577,
	1000723, 1000931, 1001197, 1001321, 1001569, 1001683, 1001807, 1001831,
}

// spread returns where in a random order of n equals the k-th is. The start says which one is the first and, so that those behind a node
// that fails do not have to take its load alone, in which steps it goes on.
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
