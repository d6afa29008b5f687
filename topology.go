// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/internal/token"
)

// This file holds what the driver knows of the cluster: an immutable snapshot of nodes, ring and replicas. The control connection
// builds a new one after each change (control.go) and the session swaps it in with one atomic store; requests read it without a lock.

// HostInfo describes a node, as the system tables did when the snapshot was made. It is immutable.
type HostInfo struct {
	id      UUID
	addr    netip.AddrPort // where clients connect
	dc      string
	rack    string
	version string
	schema  UUID
	tokens  []int64
}

// HostID returns the node's id, which stays the same when its address changes.
func (h *HostInfo) HostID() string { return h.id.String() }

// ConnectAddress returns the address that clients connect to.
func (h *HostInfo) ConnectAddress() net.IP { return net.IP(h.addr.Addr().AsSlice()) }

// ConnectAddressAndPort returns address and port that clients connect to.
func (h *HostInfo) ConnectAddressAndPort() string { return h.addr.String() }

// Port returns the native protocol's port.
func (h *HostInfo) Port() int { return int(h.addr.Port()) }

// DataCenter returns the node's data centre.
func (h *HostInfo) DataCenter() string { return h.dc }

// Rack returns the node's rack.
func (h *HostInfo) Rack() string { return h.rack }

// Version returns the server's release version, e.g. "5.0.9".
func (h *HostInfo) Version() string { return h.version }

// Tokens returns the node's tokens on the Murmur3 ring, as text.
func (h *HostInfo) Tokens() []string {
	s := make([]string, len(h.tokens))
	for i, t := range h.tokens {
		s[i] = strconv.FormatInt(t, 10)
	}
	return s
}

// String returns the address and the data centre.
func (h *HostInfo) String() string { return h.addr.String() + " (" + h.dc + ")" }

// node is a host with the connections to it. The pool outlives snapshots; the description is of one snapshot.
type node struct {
	info *HostInfo
	pool *pool
}

// topology is one snapshot.
type topology struct {
	nodes    []*node            // by host id
	tokens   []int64            // the ring, sorted; empty when the partitioner is not Murmur3
	owners   []*node            // owners[i] owns the range that ends at tokens[i]
	replicas map[string][]group // keyspace -> the replicas of each range, in the order of tokens
}

// group holds the replicas of one range, the primary first.
type group []*node

// replication is a keyspace's strategy from system_schema.keyspaces.
type replication struct {
	class   string         // without package
	factor  int            // SimpleStrategy
	factors map[string]int // NetworkTopologyStrategy: data centre -> replicas
}

// parseReplication reads the replication map of a keyspace. What it can't read replicates nothing: requests go round-robin.
func parseReplication(options map[string]string) replication {
	class := options["class"]
	r := replication{class: class[strings.LastIndexByte(class, '.')+1:], factors: map[string]int{}}
	for k, v := range options {
		if k == "class" {
			continue
		}
		full, _, _ := strings.Cut(v, "/") // "3/1": one of three replicas is transient
		n, err := strconv.Atoi(full)
		if err != nil || n < 0 {
			continue
		}
		if k == "replication_factor" {
			r.factor = n
		} else {
			r.factors[k] = n
		}
	}
	return r
}

// key tells apart strategies that place replicas differently.
func (r replication) key() string {
	dcs := make([]string, 0, len(r.factors))
	for dc, n := range r.factors {
		dcs = append(dcs, dc+"="+strconv.Itoa(n))
	}
	slices.Sort(dcs)
	return r.class + " " + strconv.Itoa(r.factor) + " " + strings.Join(dcs, " ")
}

// newTopology builds the snapshot of nodes with the replicas of every keyspace.
func newTopology(nodes []*node, partitioner string, keyspaces map[string]replication) *topology {
	t := &topology{nodes: nodes, replicas: make(map[string][]group, len(keyspaces))}
	slices.SortFunc(t.nodes, func(a, b *node) int { return slices.Compare(a.info.id[:], b.info.id[:]) })
	if !strings.HasSuffix(partitioner, "Murmur3Partitioner") {
		return t
	}
	type entry struct {
		token int64
		owner *node
	}
	var ring []entry
	for _, n := range nodes {
		for _, tok := range n.info.tokens {
			ring = append(ring, entry{tok, n})
		}
	}
	slices.SortStableFunc(ring, func(a, b entry) int { return cmp.Compare(a.token, b.token) })
	for _, e := range ring {
		t.tokens = append(t.tokens, e.token)
		t.owners = append(t.owners, e.owner)
	}
	groups := map[string][]group{} // keyspaces of the same strategy share their groups
	for name, r := range keyspaces {
		key := r.key()
		g, ok := groups[key]
		if !ok {
			g = t.place(r)
			groups[key] = g
		}
		t.replicas[name] = g
	}
	return t
}

// place computes the replicas of every range as Cassandra's strategy classes do.
func (t *topology) place(r replication) []group {
	switch r.class {
	case "SimpleStrategy":
		groups := make([]group, len(t.tokens))
		for i := range groups {
			groups[i] = t.placeSimple(i, r.factor)
		}
		return groups
	case "NetworkTopologyStrategy":
		groups := make([]group, len(t.tokens))
		racks := map[string]map[string]bool{} // data centre -> its racks
		for _, n := range t.nodes {
			if racks[n.info.dc] == nil {
				racks[n.info.dc] = map[string]bool{}
			}
			racks[n.info.dc][n.info.rack] = true
		}
		for i := range groups {
			groups[i] = t.placeByRack(i, r.factors, racks)
		}
		return groups
	}
	return nil
}

// placeSimple walks the ring from range i and takes the first factor nodes.
func (t *topology) placeSimple(i, factor int) group {
	var g group
	for k := 0; k < len(t.owners) && len(g) < factor; k++ {
		if n := t.owners[(i+k)%len(t.owners)]; !slices.Contains(g, n) {
			g = append(g, n)
		}
	}
	return g
}

// placeByRack walks the ring from range i and takes, in each data centre, the first node of every rack, then those it passed over
// on the way (NetworkTopologyStrategy.calculateNaturalReplicas).
func (t *topology) placeByRack(i int, factors map[string]int, racks map[string]map[string]bool) group {
	var g group
	type state struct {
		seenRacks map[string]bool
		skipped   []*node
		need      int
	}
	dcs := map[string]*state{}
	for dc, n := range factors {
		dcs[dc] = &state{seenRacks: map[string]bool{}, need: n}
	}
	for k := range t.owners {
		n := t.owners[(i+k)%len(t.owners)]
		dc := dcs[n.info.dc]
		if dc == nil || dc.need == 0 || slices.Contains(g, n) || slices.Contains(dc.skipped, n) {
			continue
		}
		if dc.seenRacks[n.info.rack] && len(dc.seenRacks) < len(racks[n.info.dc]) {
			dc.skipped = append(dc.skipped, n)
			continue
		}
		g = append(g, n)
		dc.need--
		dc.seenRacks[n.info.rack] = true
		if len(dc.seenRacks) == len(racks[n.info.dc]) { // every rack has one: those passed over come next
			for dc.need > 0 && len(dc.skipped) > 0 {
				g = append(g, dc.skipped[0])
				dc.skipped = dc.skipped[1:]
				dc.need--
			}
		}
	}
	return g
}

// replicasOf returns the replicas of a token in keyspace, nil when they are not known.
func (t *topology) replicasOf(keyspace string, tok int64) group {
	groups := t.replicas[keyspace]
	if len(groups) == 0 {
		return nil
	}
	return groups[token.Search(t.tokens, tok)]
}

// nodeByID returns the node with that id, nil when there is none.
func (t *topology) nodeByID(id UUID) *node {
	i, ok := slices.BinarySearchFunc(t.nodes, id, func(n *node, id UUID) int { return slices.Compare(n.info.id[:], id[:]) })
	if !ok {
		return nil
	}
	return t.nodes[i]
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

// route is the order in which a request tries nodes: the replicas, starting at a different one each time, then all others. It is a
// value and allocates nothing. A node is returned once.
type route struct {
	replicas group
	nodes    []*node
	start    uint32
	i        int
}

func (r *route) next() *node {
	for {
		i := r.i
		r.i++
		if i < len(r.replicas) {
			return r.replicas[(uint32(i)+r.start)%uint32(len(r.replicas))]
		}
		if i -= len(r.replicas); i >= len(r.nodes) {
			return nil
		}
		if n := r.nodes[(uint32(i)+r.start)%uint32(len(r.nodes))]; !slices.Contains(r.replicas, n) {
			return n
		}
	}
}
