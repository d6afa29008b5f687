// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/placement"
	"github.com/vecql/vecql/internal/token"
)

// Topology: an immutable snapshot of nodes, ring and replicas. The control connection triggers a new one after each
// change (control.go), and the session installs it by one atomic store. Requests read it without a lock.

// group lists the replicas of one range that requests may go to, the nearest first. Among equally near ones the primary
// is first.
type group []*node

// replicas are the replicas of a keyspace.
type replicas struct {
	ranges []group // in the order of topology.tokens; nil means that every applies to all ranges
	every  group
}

// node is a host, what filter and policy decide about it, and its pool. The pool outlives snapshots; a node belongs to
// one view, and to the snapshot that the view becomes.
type node struct {
	info     *cql.Host
	pool     *pool // nil until the session installs the view
	excluded bool  // not accepted by HostFilter: counts only for replica placement
	remote   bool  // not local by the policy
	tier     int   // HostSelectionPolicy.Tier
	rank     int32 // rank by distance: equal for equally near nodes, -1 for a node without requests
}

// String returns the address and the data center.
func (n *node) String() string { return n.info.String() }

// topology is one snapshot.
type topology struct {
	nodes     []*node              // by host id
	ids       []cql.UUID           // ids of nodes, in the same order
	former    map[cql.UUID]*node   // nodes by pool.idBefore, when the snapshot was built; nil means none
	usable    []*node              // nodes that requests may go to, the nearest first
	hosts     []*cql.Host          // hosts of usable
	members   []*node              // all nodes of the view, in its order
	excluded  map[cql.UUID]bool    // members of the cluster that HostFilter does not accept
	tokens    []int64              // the sorted ring: range i ends at tokens[i]; empty unless the partitioner is Murmur3
	keyspaces map[string]*replicas // a nil value means unknown replicas
	placing   *placing             // nil unless the partitioner is Murmur3
	leaders   map[string]bool      // the keyspaces whose tablets have leaders; nil means none
	routing   *routing
}

// placing computes the replicas of keyspaces on the ring of a snapshot. cluster.mu guards placing: a placement.Ring
// belongs to one goroutine.
type placing struct {
	ring   *placement.Ring
	owning []*node              // the owners of ranges, by their number on the ring
	same   map[string]*replicas // by strategy: keyspaces with the same strategy share their groups
}

// replicasOf returns the replicas of a keyspace with that strategy, nil if they are unknown.
func (p *placing) replicasOf(strategy placement.Strategy) *replicas {
	key := strategy.Key()
	r, placed := p.same[key]
	if !placed {
		r = newReplicas(p.ring.Place(strategy), p.owning)
		p.same[key] = r
	}
	return r
}

// newTopology builds the snapshot of view. nodes are its nodes that are not excluded.
func newTopology(nodes []*node, view *clusterView, r *routing) *topology {
	t := &topology{
		nodes: nodes, excluded: map[cql.UUID]bool{}, keyspaces: make(map[string]*replicas, len(view.keyspaces)),
		routing: r, members: view.nodes, leaders: view.leaders,
	}
	slices.SortFunc(t.nodes, func(a, b *node) int { return slices.Compare(a.info.ID[:], b.info.ID[:]) })
	for _, n := range nodes {
		n.rank = -1
		t.ids = append(t.ids, n.info.ID)
	}
	t.usable = usableNodes(t.nodes)
	rank := int32(0)
	for i, n := range t.usable {
		if i > 0 && compareDistance(t.usable[i-1], n) != 0 {
			rank++
		}
		n.rank = rank
		t.hosts = append(t.hosts, n.info)
	}
	members := slices.Clone(t.nodes)
	for _, n := range view.nodes {
		if n.excluded {
			n.rank = -1
			t.excluded[n.info.ID] = true
			members = append(members, n) // it still stores data
		}
	}
	if !strings.HasSuffix(view.partitioner, "Murmur3Partitioner") {
		return t
	}
	ring, owning := t.setRing(members)
	t.placing = &placing{ring: ring, owning: owning, same: map[string]*replicas{}}
	for name, strategy := range view.keyspaces {
		t.keyspaces[name] = t.placing.replicasOf(strategy)
	}
	return t
}

// withKeyspace returns a copy of t in which the keyspace has the replicas of strategy; nil means that the keyspace was
// dropped. Callers hold cluster.mu.
func (t *topology) withKeyspace(name string, strategy *placement.Strategy) *topology {
	if t.placing == nil {
		return t
	}
	next := *t
	next.keyspaces = maps.Clone(t.keyspaces)
	if strategy == nil {
		delete(next.keyspaces, name)
	} else {
		next.keyspaces[name] = t.placing.replicasOf(*strategy)
	}
	return &next
}

// withKeyspaces returns a copy of t with the keyspaces of a view and their replicas, t itself if it has them. Callers
// hold cluster.mu.
func (t *topology) withKeyspaces(view *clusterView) *topology {
	next := *t
	next.leaders = view.leaders
	if t.placing != nil {
		next.keyspaces = make(map[string]*replicas, len(view.keyspaces))
		same := make(map[string]*replicas, len(t.placing.same))
		for name, strategy := range view.keyspaces {
			placed := t.placing.replicasOf(strategy)
			next.keyspaces[name], same[strategy.Key()] = placed, placed
		}
		t.placing.same = same // without the strategies of keyspaces that were dropped or altered
	}
	if maps.Equal(next.keyspaces, t.keyspaces) && maps.Equal(next.leaders, t.leaders) {
		return t
	}
	return &next
}

// hasNodes reports whether a view has the nodes of t, with equal rows and equal decisions of filter and policy, in one
// order: ring and ranks are equal, too.
func (t *topology) hasNodes(nodes []*node) bool {
	return slices.EqualFunc(t.members, nodes, func(a, b *node) bool {
		return a.excluded == b.excluded && a.remote == b.remote && a.tier == b.tier && sameHost(a.info, b.info)
	})
}

// setRing sorts the tokens of members. It returns the ring, and the owners of ranges by their number on the ring. A
// token that two nodes claim, because one has left, belongs to the first of them.
func (t *topology) setRing(members []*node) (ring *placement.Ring, owning []*node) {
	type entry struct {
		token int64
		owner *node
	}
	var entries []entry
	for _, n := range members {
		for _, tok := range n.info.Tokens {
			entries = append(entries, entry{tok, n})
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.token, b.token) })
	entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.token == b.token })
	var places []placement.Member
	numbers := make(map[*node]int32, len(members))
	owners := make([]int32, len(entries))
	t.tokens = make([]int64, len(entries))
	for i, e := range entries {
		number, known := numbers[e.owner]
		if !known {
			number = int32(len(owning))
			numbers[e.owner] = number
			owning = append(owning, e.owner)
			places = append(places, placement.Member{DC: e.owner.info.DataCenter, Rack: e.owner.info.Rack, Rank: e.owner.rank})
		}
		t.tokens[i], owners[i] = e.token, number
	}
	return placement.NewRing(places, owners), owning
}

// newReplicas converts the node numbers of r to nodes; nil for nil.
func newReplicas(r *placement.Replicas, nodes []*node) *replicas {
	if r == nil {
		return nil
	}
	total := len(r.Every)
	for _, list := range r.Ranges {
		total += len(list)
	}
	slab := make([]*node, 0, total)
	groupOf := func(list []int32) group {
		begin := len(slab)
		for _, i := range list {
			slab = append(slab, nodes[i])
		}
		return slab[begin:len(slab):len(slab)]
	}
	out := &replicas{every: groupOf(r.Every), ranges: make([]group, len(r.Ranges))}
	for i, list := range r.Ranges {
		out.ranges[i] = groupOf(list)
	}
	return out
}

// replicasOf returns the replicas of a token in keyspace, nil if they are unknown.
func (t *topology) replicasOf(keyspace string, tok int64) group {
	r := t.keyspaces[keyspace]
	switch {
	case r == nil:
		return nil
	case len(r.ranges) > 0:
		return r.ranges[token.Search(t.tokens, tok)]
	}
	return r.every
}

// usableNodes returns the nodes that requests may go to, the nearest first; equally near nodes keep their order.
func usableNodes(nodes []*node) []*node {
	list := make([]*node, 0, len(nodes))
	for _, n := range nodes {
		if n.tier >= 0 {
			list = append(list, n)
		}
	}
	slices.SortStableFunc(list, compareDistance)
	return list
}

// compareDistance orders local nodes before remote ones, and both by tier.
func compareDistance(a, b *node) int {
	if a.remote != b.remote {
		if b.remote {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.tier, b.tier)
}

// nodeByID returns the node with that id, nil if there is none.
func (t *topology) nodeByID(id cql.UUID) *node {
	if i := t.indexOf(id); i >= 0 {
		return t.nodes[i]
	}
	return nil
}

// indexOf returns the index in nodes of the node with that id, -1 if there is none.
func (t *topology) indexOf(id cql.UUID) int {
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

// same returns the node of t that is the node n of another snapshot, nil if there is none: by its host id, else by its
// pool, which it keeps when it gets another host id.
func (t *topology) same(n *node) *node {
	if known := t.nodeByID(n.info.ID); known != nil {
		return known
	}
	if i := slices.IndexFunc(t.nodes, func(other *node) bool { return other.pool == n.pool }); i >= 0 {
		return t.nodes[i]
	}
	return nil
}

// find is indexOf, and finds a node also by the host id that it had before it got another one: requests and policies of
// the program may still have that id.
func (t *topology) find(id cql.UUID) int {
	i := t.indexOf(id)
	if i >= 0 || t.former == nil {
		return i
	}
	if n := t.former[id]; n != nil && n.pool.idBefore() == id {
		return t.indexOf(n.info.ID)
	}
	return -1
}

// setFormer sets former.
func (t *topology) setFormer() {
	for _, n := range t.nodes {
		if id := n.pool.idBefore(); id != (cql.UUID{}) {
			if t.former == nil {
				t.former = map[cql.UUID]*node{}
			}
			t.former[id] = n
		}
	}
}

// renamed returns the node of t that has got the host id of h, a new node of a view; nil means none. It has the address
// and the place in the ring of h, which no other node of the view has, and the view lacks its id. A node that replaces
// a dead one at its address and in its place looks the same; the requests for that place are right for both.
func (t *topology) renamed(h *cql.Host, view []*node) *node {
	if len(h.Tokens) == 0 {
		return nil
	}
	for _, old := range t.nodes {
		if !sharePlace(old.info, h) || old.info.ClusterName != h.ClusterName || old.info.Partitioner != h.Partitioner {
			continue
		}
		if slices.ContainsFunc(view, func(n *node) bool {
			return n.info.ID == old.info.ID || n.info != h && sharePlace(n.info, h)
		}) {
			return nil
		}
		return old
	}
	return nil
}

// lastErrors joins the errors of the nodes' last attempts to connect.
func (t *topology) lastErrors() error {
	var errs []error
	for _, n := range t.nodes {
		if err := n.pool.lastError(); err != nil {
			errs = append(errs, errtext.Errorf("node %s: %w", n.info.Address, err))
		}
	}
	return errtext.Join(errs...)
}
