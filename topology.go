// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// This file holds what the driver knows of the cluster: an immutable snapshot of nodes, ring and replicas. The control connection
// builds a new one after each change (control.go) and the session swaps it in with one atomic store; requests read it without a lock.

// node is a host with the connections to it. The pool outlives snapshots; the description is of one snapshot.
type node struct {
	info *HostInfo
	pool *pool
	rank int32 // place in the order of distances: equal for nodes that are as near as each other, -1 for one that requests do not go to
}

// topology is one snapshot.
type topology struct {
	nodes     []*node               // by host id
	ids       []UUID                // of nodes
	order     []*node               // those that requests may go to, the nearest first
	hosts     []*HostInfo           // of order
	barred    map[UUID]bool         // other members of the cluster: HostFilter does not accept them
	tokens    []int64               // the ring, sorted; empty when the partitioner is not Murmur3
	owners    []*node               // owners[i] owns the range that ends at tokens[i]
	keyspaces map[string]*placement // the replicas of each range
	routing   *routing
}

// newTopology builds the snapshot of the nodes of view. nodes are those of its hosts that are not barred.
func newTopology(nodes []*node, view *clusterView, r *routing) *topology {
	t := &topology{nodes: nodes, barred: map[UUID]bool{}, keyspaces: make(map[string]*placement, len(view.keyspaces)), routing: r}
	slices.SortFunc(t.nodes, func(a, b *node) int { return slices.Compare(a.info.id[:], b.info.id[:]) })
	for _, n := range nodes {
		n.info.pool.Store(n.pool)
		n.rank = -1
		t.ids = append(t.ids, n.info.id)
	}
	t.order = usable(t.nodes)
	rank := int32(0)
	for i, n := range t.order {
		if i > 0 && compareDistance(t.order[i-1], n) != 0 {
			rank++
		}
		n.rank = rank
		t.hosts = append(t.hosts, n.info)
	}
	members := slices.Clone(t.nodes)
	for _, h := range view.hosts {
		if h.barred {
			t.barred[h.id] = true
			members = append(members, &node{info: h, rank: -1}) // data lies on it nevertheless
		}
	}
	if !strings.HasSuffix(view.partitioner, "Murmur3Partitioner") {
		return t
	}
	t.setRing(members)
	p := newPlacer(t)
	same := map[string]*placement{} // keyspaces of the same strategy share their groups
	for name, strategy := range view.keyspaces {
		key := strategy.key()
		if same[key] == nil {
			same[key] = p.place(strategy)
		}
		t.keyspaces[name] = same[key]
	}
	return t
}

// setRing sorts the tokens of members. A token that two nodes claim, one of which has gone, belongs to the first of them.
func (t *topology) setRing(members []*node) {
	type entry struct {
		token int64
		owner *node
	}
	var ring []entry
	for _, n := range members {
		for _, tok := range n.info.tokens {
			ring = append(ring, entry{tok, n})
		}
	}
	slices.SortStableFunc(ring, func(a, b entry) int { return cmp.Compare(a.token, b.token) })
	ring = slices.CompactFunc(ring, func(a, b entry) bool { return a.token == b.token })
	t.tokens, t.owners = make([]int64, len(ring)), make([]*node, len(ring))
	for i, e := range ring {
		t.tokens[i], t.owners[i] = e.token, e.owner
	}
}

// usable returns those of nodes that requests may go to, the nearest first and otherwise in their order.
func usable(nodes []*node) []*node {
	list := make([]*node, 0, len(nodes))
	for _, n := range nodes {
		if !n.info.barred && n.info.tier >= 0 {
			list = append(list, n)
		}
	}
	slices.SortStableFunc(list, compareDistance)
	return list
}

// compareDistance orders local nodes before others, and both by their tiers.
func compareDistance(a, b *node) int {
	if a.info.far != b.info.far {
		if b.info.far {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.info.tier, b.info.tier)
}

// nodeByID returns the node with that id, nil when there is none.
func (t *topology) nodeByID(id UUID) *node {
	if i := t.indexOf(id); i >= 0 {
		return t.nodes[i]
	}
	return nil
}

// indexOf returns where in nodes the one with that id is, -1 when there is none.
func (t *topology) indexOf(id UUID) int {
	low, high := 0, len(t.ids)
	for low < high {
		mid := int(uint(low+high) >> 1)
		switch c := bytes.Compare(t.ids[mid][:], id[:]); {
		case c == 0:
			return mid
		case c < 0:
			low = mid + 1
		default:
			high = mid
		}
	}
	return -1
}

// lastErrors joins the errors of the nodes' last attempts to connect.
func (t *topology) lastErrors() error {
	var errs []error
	for _, n := range t.nodes {
		if err := n.pool.lastError(); err != nil {
			errs = append(errs, fmt.Errorf("node %s: %w", n.info.addr, err))
		}
	}
	return errors.Join(errs...)
}
