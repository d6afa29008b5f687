// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// The ring of tokens, and the replicas of partitions by the replication strategy of their keyspace.

// topology is an immutable snapshot of the nodes and their ring.
type topology struct {
	nodes  []*Node
	tokens []int64            // sorted
	owners []*Node            // owners[i] owns the range that ends at tokens[i]
	byDC   map[string][]*Node // nodes round-robin over racks
}

// newTopology returns the ring of the nodes: their tokens in ascending order with the owner of each.
func newTopology(nodes []*Node) *topology {
	t := &topology{nodes: nodes, byDC: map[string][]*Node{}}
	for _, n := range nodes {
		if t.byDC[n.dc] == nil {
			t.byDC[n.dc] = nodesByRackTurns(nodes, n.dc)
		}
	}
	type entry struct {
		token int64
		owner *Node
	}
	var ring []entry
	for _, n := range nodes {
		for _, tok := range n.tokens {
			ring = append(ring, entry{tok, n})
		}
	}
	slices.SortStableFunc(ring, func(a, b entry) int { return cmp.Compare(a.token, b.token) })
	for _, e := range ring {
		t.tokens, t.owners = append(t.tokens, e.token), append(t.owners, e.owner)
	}
	return t
}

func (t *topology) allUp() bool {
	return !slices.ContainsFunc(t.nodes, func(n *Node) bool { return !n.IsUp() })
}

// randomTokens returns the tokens of a node. They depend only on its number, so they are the same in every cluster.
func randomTokens(node, count int) []int64 {
	r := rand.New(rand.NewPCG(0x746f6b656e73, uint64(node)))
	tokens := make([]int64, count)
	for i := range tokens {
		tokens[i] = int64(r.Uint64())
	}
	slices.Sort(tokens)
	return tokens
}

// placement is the replicas of the partitions of one keyspace.
type placement struct {
	total    int                 // replicas of each partition, in all data centers together
	factors  map[string]int      // NetworkTopologyStrategy: by data center; otherwise nil
	dcs      []string            // the keys of factors, sorted
	racks    map[string][]string // ScyllaDB: the racks of a data center that have replicas; none means all
	tablets  bool
	leaders  bool      // the tablets have leaders: the keyspace is strongly consistent
	replicas [][]*Node // of topology.tokens[i], the primary first; nil with tablets
}

// placements are the placements of all keyspaces under one topology and one schema.
type placements struct {
	topo   *topology
	schema [16]byte
	m      map[string]*placement // nil entries are keyspaces local to each node
}

// placement returns the placement of a keyspace; nil means that the keyspace is local to each node or does not exist.
func (c *Cluster) placement(keyspace string) *placement {
	topo, schema := c.topo.Load(), c.db.SchemaVersion()
	known := c.placed.Load()
	if known != nil && known.topo == topo && known.schema == schema {
		if p, ok := known.m[keyspace]; ok {
			return p
		}
	}
	next := &placements{topo: topo, schema: schema, m: map[string]*placement{}}
	if known != nil && known.topo == topo && known.schema == schema {
		for k, v := range known.m {
			next.m[k] = v
		}
	}
	p := c.place(topo, keyspace)
	next.m[keyspace] = p
	c.placed.Store(next) // a concurrent Store may be lost: it is computed again
	return p
}

// systemKeyspaces are local to every node, regardless of their replication in system_schema.
var systemKeyspaces = []string{
	"system", "system_schema", "system_auth", "system_distributed", "system_distributed_everywhere",
	"system_replicated_keys", "system_traces", "system_views", "system_virtual_schema",
}

// place returns the replicas of every range of the ring for a keyspace. nil means that placement does not matter: the
// keyspace is unknown, local, or on every node. With tablets there are factors only.
func (c *Cluster) place(topo *topology, keyspace string) *placement {
	options, ok := c.db.Replication(keyspace)
	if !ok || slices.Contains(systemKeyspaces, keyspace) {
		return nil
	}
	class := options["class"]
	class = class[strings.LastIndexByte(class, '.')+1:]
	p := &placement{}
	switch class {
	case "SimpleStrategy":
		p.total = factorOf(options["replication_factor"])
	case "NetworkTopologyStrategy":
		p.factors, p.racks = map[string]int{}, map[string][]string{}
		if all := options["replication_factor"]; all != "" {
			for _, n := range topo.nodes {
				p.factors[n.dc] = factorOf(all)
			}
		}
		p.setFactors(options)
		for _, n := range p.factors {
			p.total += n
		}
		p.dcs = sortedKeys(p.factors)
		p.tablets = c.cfg.Scylla != nil && c.cfg.Scylla.Tablets > 0 && c.db.UsesTablets(keyspace)
		p.leaders = p.tablets && c.db.Consistency(keyspace) == "global"
	default: // LocalStrategy, EverywhereStrategy
		return nil
	}
	if p.tablets {
		return p
	}
	p.replicas = make([][]*Node, len(topo.tokens))
	for i := range topo.tokens {
		p.replicas[i] = p.walk(topo, i)
	}
	return p
}

// setFactors sets the factors of the data centers that options names, by a number or by a list of racks.
func (p *placement) setFactors(options map[string]string) {
	for k, v := range options {
		dc, isRack := engine.RackOption(k)
		switch {
		case k == "class", k == "replication_factor":
		case !isRack:
			p.factors[k] = factorOf(v)
		case v == "":
			p.factors[dc] = 0
		default:
			p.factors[dc]++
			p.racks[dc] = append(p.racks[dc], v)
		}
	}
}

// nodesOf returns the nodes of a data center that may have replicas, round-robin over racks.
func (p *placement) nodesOf(topo *topology, dc string) []*Node {
	nodes := topo.byDC[dc]
	if racks := p.racks[dc]; racks != nil {
		nodes = slices.DeleteFunc(slices.Clone(nodes), func(n *Node) bool { return !slices.Contains(racks, n.rack) })
	}
	return nodes
}

// factorOf parses a replication factor; "3/1" means three replicas, one of them transient.
func factorOf(s string) int {
	s, _, _ = strings.Cut(s, "/")
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// walk returns the replicas of the range that ends at token i.
func (p *placement) walk(topo *topology, i int) []*Node {
	var replicas []*Node
	if p.factors == nil {
		for k := range topo.owners {
			if n := topo.owners[(i+k)%len(topo.owners)]; len(replicas) < p.total && !slices.Contains(replicas, n) {
				replicas = append(replicas, n)
			}
		}
		return replicas
	}
	// In each data center every rack gets one replica before any rack gets a second one. With fewer racks than
	// replicas, the next nodes of the ring fill up.
	type place struct {
		left, repeats int
		racks         map[string]bool
	}
	dcs := map[string]*place{}
	for dc, factor := range p.factors {
		racks, nodes := map[string]bool{}, 0
		for _, n := range topo.nodes {
			if n.dc == dc {
				racks[n.rack], nodes = true, nodes+1
			}
		}
		dcs[dc] = &place{left: min(factor, nodes), repeats: factor - len(racks), racks: map[string]bool{}}
	}
	for k := range topo.owners {
		n := topo.owners[(i+k)%len(topo.owners)]
		dc := dcs[n.dc]
		switch {
		case dc == nil || dc.left == 0 || slices.Contains(replicas, n):
			continue
		case !dc.racks[n.rack]:
			dc.racks[n.rack] = true
		case dc.repeats > 0:
			dc.repeats--
		default:
			continue
		}
		dc.left--
		replicas = append(replicas, n)
	}
	return replicas
}

// replicasOf returns the replicas of a partition, the primary first.
func (c *Cluster) replicasOf(p *placement, table engine.Name, tok int64) []*Node {
	topo := c.topo.Load()
	if p.tablets {
		tablet := c.tabletOf(p, table, tok)
		nodes := make([]*Node, len(tablet.Replicas))
		for i, r := range tablet.Replicas {
			nodes[i] = r.Node
		}
		return nodes
	}
	if len(p.replicas) == 0 || len(p.replicas) != len(topo.tokens) {
		return nil
	}
	i, _ := slices.BinarySearch(topo.tokens, tok) // the first token that is not below
	return p.replicas[i%len(p.replicas)]
}

// allReplicas returns every set of replicas of a table's partitions at least once.
func (c *Cluster) allReplicas(p *placement, table engine.Name) [][]*Node {
	if !p.tablets {
		return p.replicas
	}
	// The sets repeat after tabletTurns tablets: see tabletAt.
	var sets [][]*Node
	for i := range min(c.tabletCount(), tabletTurns) {
		var nodes []*Node
		for _, r := range c.tabletAt(p, table, i).Replicas {
			nodes = append(nodes, r.Node)
		}
		sets = append(sets, nodes)
	}
	return sets
}

// Replicas returns the nodes that hold the partition with the token, the primary first. The table matters only with
// tablets. nil means that the keyspace does not exist or is local to each node.
func (c *Cluster) Replicas(keyspace, table string, tok int64) []*Node {
	p := c.placement(keyspace)
	if p == nil {
		return nil
	}
	return slices.Clone(c.replicasOf(p, engine.Name{Keyspace: keyspace, Table: table}, tok))
}
