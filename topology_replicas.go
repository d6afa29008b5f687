// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/internal/token"
)

// This file places replicas as the servers' strategy classes do (Cassandra's org.apache.cassandra.locator, ScyllaDB's locator/).

// group holds replicas of one range that requests may go to, the nearest first, and the primary before others that are as near.
type group []*node

// maxGroup bounds the replicas of a range that are remembered, so that large clusters that keep some keyspace on every node do not need
// memory by the square of their size. The primary and the nearest are among them.
const maxGroup = 64

// replicas is how many copies there are, and how many of these are transient: they hold data only while a full one cannot be reached
// ("3/1": three, one of them transient).
type replicas struct{ all, transient int }

// replication is a keyspace's strategy from system_schema.keyspaces.
type replication struct {
	class   string              // without package
	factor  replicas            // SimpleStrategy
	factors map[string]replicas // NetworkTopologyStrategy: by data centre
}

// parseReplication reads the replication map of a keyspace. What it can't read replicates nothing: requests go round-robin.
func parseReplication(options map[string]string) replication {
	class := options["class"]
	r := replication{class: class[strings.LastIndexByte(class, '.')+1:], factors: map[string]replicas{}}
	for k, v := range options {
		if k == "class" {
			continue
		}
		all, transient, found := strings.Cut(v, "/")
		var n replicas
		var err error
		if n.all, err = strconv.Atoi(all); err == nil && found {
			n.transient, err = strconv.Atoi(transient)
		}
		if err != nil || n.transient < 0 || n.all < n.transient {
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
		dcs = append(dcs, strconv.Quote(dc)+"="+n.String())
	}
	slices.Sort(dcs)
	return r.class + " " + r.factor.String() + " " + strings.Join(dcs, " ")
}

// String returns e.g. "3" or "3/1".
func (r replicas) String() string {
	if r.transient == 0 {
		return strconv.Itoa(r.all)
	}
	return strconv.Itoa(r.all) + "/" + strconv.Itoa(r.transient)
}

// full returns how many of the nodes that are taken, fewer than all where there are not enough, hold data always.
func (r replicas) full(taken int) int {
	missing := r.all - taken // transient ones are missing first
	return taken - max(0, r.transient-missing)
}

// placement holds the replicas of each range of the ring.
type placement struct {
	ranges []group // in the order of tokens, or
	every  group   // the same for all of them
}

// replicasOf returns the replicas of a token in keyspace, nil when they are not known.
func (t *topology) replicasOf(keyspace string, tok int64) group {
	p := t.keyspaces[keyspace]
	switch {
	case p == nil:
		return nil
	case len(p.ranges) > 0:
		return p.ranges[token.Search(t.tokens, tok)]
	}
	return p.every
}

// placer places keyspaces on one ring. Nodes, data centres and racks are numbers in it, so that the walks around the ring, one for each
// token, compare numbers only.
type placer struct {
	t       *topology
	members []*node
	owner   []int32            // by position on the ring: index in members
	rack    []int32            // by member: its rack, no two data centres share one
	racks   int                // of all data centres
	dcs     map[string]*dcRing // of members with tokens
	seen    []int32            // by member: the last walk that took it
	visited []int32            // by rack: the last walk that came by
	walk    int32
}

// dcRing is the part of the ring that belongs to a data centre.
type dcRing struct {
	positions []int32 // on the whole ring
	nodes     int
	racks     int
}

func newPlacer(t *topology) *placer {
	p := &placer{t: t, owner: make([]int32, len(t.owners)), dcs: map[string]*dcRing{}}
	index := make(map[*node]int32, len(t.nodes))
	type place struct{ dc, rack string }
	racks := map[place]int32{}
	for i, n := range t.owners {
		dc := p.dcs[n.info.dc]
		if dc == nil {
			dc = &dcRing{}
			p.dcs[n.info.dc] = dc
		}
		m, known := index[n]
		if !known {
			m = int32(len(p.members))
			index[n] = m
			p.members = append(p.members, n)
			at := place{n.info.dc, n.info.rack}
			if _, known := racks[at]; !known {
				racks[at] = int32(len(racks))
				dc.racks++
			}
			p.rack = append(p.rack, racks[at])
			dc.nodes++
		}
		p.owner[i] = m
		dc.positions = append(dc.positions, int32(i))
	}
	p.racks = len(racks)
	p.seen, p.visited = make([]int32, len(p.members)), make([]int32, p.racks)
	return p
}

// place returns the replicas of every range, nil for a strategy that is not known or has no ring, such as LocalStrategy.
func (p *placer) place(r replication) *placement {
	switch r.class {
	case "SimpleStrategy":
		return p.placeAll([]taken{p.takeSimple(r.factor)})
	case "NetworkTopologyStrategy":
		var lists []taken
		for dc, n := range r.factors {
			if ring := p.dcs[dc]; ring != nil && n.all > 0 {
				lists = append(lists, p.takeByRack(ring, n))
			}
		}
		return p.placeAll(lists)
	case "EverywhereStrategy": // ScyllaDB's
		return &placement{every: usable(p.members)}
	}
	return nil
}

// taken are the replicas that the walks from some positions of the ring found: list[i*width:][:width] are the positions of those whose
// walk began at from[i], in the order in which they were found.
type taken struct {
	from  []int32
	list  []int32
	width int
}

// takeSimple walks the ring from each position and takes the first nodes (SimpleStrategy.calculateNaturalReplicas).
func (p *placer) takeSimple(factor replicas) taken {
	n := len(p.owner)
	count := min(factor.all, len(p.members))
	t := taken{from: make([]int32, n), width: min(factor.full(count), maxGroup)}
	t.list = make([]int32, 0, n*t.width)
	for i := range n {
		t.from[i] = int32(i)
		p.walk++
		for k, found := i, 0; found < t.width; k++ {
			at := k % n
			if m := p.owner[at]; p.seen[m] != p.walk {
				p.seen[m] = p.walk
				t.list = append(t.list, int32(at))
				found++
			}
		}
	}
	return t
}

// takeByRack walks a data centre's part of the ring from each position. It takes the first node of every rack, and as many others as racks
// are missing for every replica to have its own (NetworkTopologyStrategy.calculateNaturalReplicas).
func (p *placer) takeByRack(dc *dcRing, factor replicas) taken {
	n := len(dc.positions)
	count := min(factor.all, dc.nodes)
	t := taken{from: dc.positions, width: min(factor.full(count), maxGroup)}
	t.list = make([]int32, 0, n*t.width)
	for i := range n {
		p.walk++
		repeats := factor.all - dc.racks
		for k, found := i, 0; found < t.width; k++ {
			at := dc.positions[k%n]
			m := p.owner[at]
			switch rack := p.rack[m]; {
			case p.seen[m] == p.walk:
				continue
			case p.visited[rack] != p.walk:
				p.visited[rack] = p.walk
			case repeats > 0:
				repeats--
			default:
				continue
			}
			p.seen[m] = p.walk
			t.list = append(t.list, at)
			found++
		}
	}
	return t
}

// placeAll makes the group of every range from what was taken in each data centre: in the order of the ring, which makes the owner of the
// range the first, then by distance.
func (p *placer) placeAll(lists []taken) *placement {
	n, width := len(p.owner), 0
	next := make([]int, len(lists)) // in lists[l].from: the first position at or behind the range
	for _, l := range lists {
		width += l.width
	}
	if width == 0 {
		return nil
	}
	slab := make([]*node, 0, n*width)
	ranges := make([]group, n)
	around := make([]int32, 0, width) // positions, counted on beyond the end of the ring
	for i := range n {
		around = around[:0]
		for l := range lists {
			t := &lists[l]
			for next[l] < len(t.from) && int(t.from[next[l]]) < i {
				next[l]++
			}
			from := next[l] % len(t.from)
			for _, at := range t.list[from*t.width : (from+1)*t.width] {
				if int(at) < i {
					at += int32(n)
				}
				around = append(around, at)
			}
		}
		if len(lists) > 1 {
			slices.Sort(around)
		}
		begin := len(slab)
		for _, at := range around {
			if m := p.members[p.owner[int(at)%n]]; m.rank >= 0 {
				slab = append(slab, m)
			}
		}
		g := slab[begin:len(slab):len(slab)]
		for a := 1; a < len(g); a++ { // by insertion: a few, in order most of the time
			for b := a; b > 0 && g[b].rank < g[b-1].rank; b-- {
				g[b], g[b-1] = g[b-1], g[b]
			}
		}
		ranges[i] = g[:min(len(g), maxGroup)]
	}
	return &placement{ranges: ranges}
}
