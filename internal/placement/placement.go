// SPDX-License-Identifier: Apache-2.0

// Package placement computes the replicas of token ranges by replication strategy, as the servers do (Cassandra's
// org.apache.cassandra.locator, ScyllaDB's locator/).
package placement

import (
	"cmp"
	"slices"
)

// MaxReplicas limits the listed replicas of a range. Without it, a large cluster with a keyspace on every node would
// need memory quadratic in its size. The list includes the primary and the nearest replicas.
const MaxReplicas = 64

// A Member is a node that owns tokens.
type Member struct {
	DC, Rack string
	// position in the order of distances, 0 for the nearest. A member with a negative rank is never listed, even though it
	// has data.
	Rank int32
}

// Replicas lists the members that replicate each range of a ring, as indexes: the nearest first, and the primary before
// others at the same distance.
type Replicas struct {
	Ranges [][]int32 // by range; nil if Every holds for all ranges
	Every  []int32
}

// dcRing is the part of the ring that belongs to a data center.
type dcRing struct {
	positions []int32 // on the whole ring
	members   int
	racks     int
}

// A Ring computes the replicas of keyspaces on one token ring. It numbers data centers and racks, so that the walks
// around the ring, one for each range, compare integers only. A Ring belongs to one goroutine.
type Ring struct {
	members []Member
	owner   []int32            // by range: index in members
	rack    []int32            // by member: its rack. Data centers do not share racks.
	dcs     map[string]*dcRing // of members that own a range
	seen    []int32            // by member: the last walk that took it
	visited []int32            // by rack: the last walk that passed it
	turn    int32
}

// NewRing returns the ring on which owners[i], an index in members, owns range i. Ranges are in the order of their
// tokens. The Ring takes ownership of the slices.
func NewRing(members []Member, owners []int32) *Ring {
	r := &Ring{members: members, owner: owners, rack: make([]int32, len(members)), dcs: map[string]*dcRing{}}
	type place struct{ dc, rack string }
	racks := map[place]int32{}
	r.seen = make([]int32, len(members))
	for i, m := range owners {
		dc, rack := members[m].DC, members[m].Rack
		ring := r.dcs[dc]
		if ring == nil {
			ring = &dcRing{}
			r.dcs[dc] = ring
		}
		if r.seen[m] == 0 {
			r.seen[m] = 1
			number, known := racks[place{dc, rack}]
			if !known {
				number = int32(len(racks))
				racks[place{dc, rack}] = number
				ring.racks++
			}
			r.rack[m] = number
			ring.members++
		}
		ring.positions = append(ring.positions, int32(i))
	}
	r.turn = 1
	r.visited = make([]int32, len(racks))
	return r
}

// owning returns the number of members that own a range.
func (r *Ring) owning() int {
	n := 0
	for _, dc := range r.dcs {
		n += dc.members
	}
	return n
}

// Place returns the replicas of every range, nil for a strategy that is unknown or does not use the ring, such as
// LocalStrategy.
func (r *Ring) Place(s Strategy) *Replicas {
	switch s.Class {
	case "SimpleStrategy":
		return r.merge([]taken{r.takeSimple(s.Factor)})
	case "NetworkTopologyStrategy":
		var lists []taken
		for dc, n := range s.Factors {
			if ring := r.dcs[dc]; ring != nil && n.All > 0 {
				lists = append(lists, r.takeByRack(ring, n))
			}
		}
		return r.merge(lists)
	case "EverywhereStrategy": // ScyllaDB's
		return &Replicas{Every: r.everywhere()}
	}
	return nil
}

// everywhere returns all members that own a range, in the order of the ring and then by distance.
func (r *Ring) everywhere() []int32 {
	list := []int32{}
	r.turn++
	for _, m := range r.owner {
		if r.seen[m] != r.turn {
			r.seen[m] = r.turn
			if r.members[m].Rank >= 0 {
				list = append(list, m)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(r.members[a].Rank, r.members[b].Rank) })
	return list
}

// taken holds the replicas found by walks around the ring: list[i*width:][:width] are the positions found from from[i],
// in the order in which they were found.
type taken struct {
	from  []int32
	list  []int32
	width int
}

// takeSimple walks the ring from each position and takes the first members (SimpleStrategy.calculateNaturalReplicas).
func (r *Ring) takeSimple(factor Count) taken {
	n := len(r.owner)
	count := min(factor.All, r.owning())
	t := taken{from: make([]int32, n), width: min(factor.full(count), MaxReplicas)}
	t.list = make([]int32, 0, n*t.width)
	for i := range n {
		t.from[i] = int32(i)
		r.turn++
		for k, found := i, 0; found < t.width; k++ {
			at := k % n
			if m := r.owner[at]; r.seen[m] != r.turn {
				r.seen[m] = r.turn
				t.list = append(t.list, int32(at))
				found++
			}
		}
	}
	return t
}

// takeByRack walks a data center's part of the ring from each position. It takes the first member of every rack. If
// there are fewer racks than replicas, it takes that many further members
// (NetworkTopologyStrategy.calculateNaturalReplicas).
func (r *Ring) takeByRack(dc *dcRing, factor Count) taken {
	n := len(dc.positions)
	count := min(factor.All, dc.members)
	t := taken{from: dc.positions, width: min(factor.full(count), MaxReplicas)}
	t.list = make([]int32, 0, n*t.width)
	for i := range n {
		r.turn++
		repeats := factor.All - dc.racks
		for k, found := i, 0; found < t.width; k++ {
			at := dc.positions[k%n]
			m := r.owner[at]
			switch rack := r.rack[m]; {
			case r.seen[m] == r.turn:
				continue
			case r.visited[rack] != r.turn:
				r.visited[rack] = r.turn
			case repeats > 0:
				repeats--
			default:
				continue
			}
			r.seen[m] = r.turn
			t.list = append(t.list, at)
			found++
		}
	}
	return t
}

// merge lists the replicas of every range from the results of each data center: in the order of the ring, which puts
// the owner of the range first, then by distance.
func (r *Ring) merge(lists []taken) *Replicas {
	n, width := len(r.owner), 0
	next := make([]int, len(lists)) // in lists[l].from: the first position at or after the range
	for _, l := range lists {
		width += l.width
	}
	if width == 0 {
		return nil
	}
	slab := make([]int32, 0, n*width)
	ranges := make([][]int32, n)
	around := make([]int32, 0, width) // positions, counted past the end of the ring
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
			if m := r.owner[int(at)%n]; r.members[m].Rank >= 0 {
				slab = append(slab, m)
			}
		}
		list := slab[begin:len(slab):len(slab)]
		for a := 1; a < len(list); a++ { // insertion sort: the list is short and mostly sorted
			for b := a; b > 0 && r.members[list[b]].Rank < r.members[list[b-1]].Rank; b-- {
				list[b], list[b-1] = list[b-1], list[b]
			}
		}
		ranges[i] = list[:min(len(list), MaxReplicas)]
	}
	return &Replicas{Ranges: ranges}
}
