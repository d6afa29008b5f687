// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func topologyStrategy(options ...string) Strategy {
	m := map[string]string{"class": "NetworkTopologyStrategy"}
	for i := 0; i < len(options); i += 2 {
		m[options[i]] = options[i+1]
	}
	return ParseStrategy(m)
}

func simple(factor string) Strategy {
	return ParseStrategy(map[string]string{"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": factor})
}

func TestPlace(t *testing.T) {
	members := []Member{{"a", "r1", 0}, {"b", "r1", 0}, {"a", "r1", 0}, {"b", "r1", 0}, {"a", "r2", 0}, {"b", "r1", 0}, {"b", "r9", 0}}
	owners := []int32{0, 1, 2, 3, 4, 5} // the last member owns no range
	for _, c := range []struct {
		name     string
		strategy Strategy
		at       int
		want     []int32
	}{
		{"simple", simple("3"), 2, []int32{2, 3, 4}},
		{"simple, around the end", simple("2"), 5, []int32{5, 0}},
		{"simple, more copies than members", simple("9"), 0, []int32{0, 1, 2, 3, 4, 5}},
		{"simple, transient", simple("3/2"), 2, []int32{2}},
		{"racks first", topologyStrategy("a", "2", "b", "1"), 0, []int32{0, 1, 4}},
		{"several members of one rack if racks are missing", topologyStrategy("a", "3"), 0, []int32{0, 2, 4}},
		{"one rack", topologyStrategy("b", "2"), 2, []int32{3, 5}},
		{"missing copies count as transient first", topologyStrategy("b", "4/1"), 2, []int32{3, 5, 1}},
		{"unknown data center", topologyStrategy("c", "2"), 2, nil},
		{"no number", simple("many"), 2, nil},
		{"a list of racks", topologyStrategy("a:0", "r2", "a:1", "r1"), 0, []int32{0, 4}},
		{"an empty list of racks", topologyStrategy("a:-1", "", "b:0", "1"), 2, []int32{3}},
		{"LocalStrategy", ParseStrategy(map[string]string{"class": "LocalStrategy"}), 2, nil},
		{"nothing", ParseStrategy(nil), 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewRing(slices.Clone(members), slices.Clone(owners)).Place(c.strategy)
			if c.want == nil {
				require.Nil(t, r)
				return
			}
			require.Nil(t, r.Every)
			require.Equal(t, c.want, r.Ranges[c.at])
		})
	}
	everywhere := ParseStrategy(map[string]string{"class": "org.apache.cassandra.locator.EverywhereStrategy"})
	members[3].Rank, members[0].Rank = -1, 1
	r := NewRing(members, owners).Place(everywhere)
	require.Nil(t, r.Ranges)
	require.Equal(t, []int32{1, 2, 4, 5, 0}, r.Every, "the nearest first, without the unlisted member")
	require.Nil(t, NewRing(nil, nil).Place(simple("3")))
	require.Empty(t, NewRing(nil, nil).Place(everywhere).Every)
}

func TestKey(t *testing.T) {
	require.Equal(t, topologyStrategy("a", "1", "b", "2/1").Key(), topologyStrategy("b", "2/1", "a", "1").Key())
	require.NotEqual(t, topologyStrategy("a", "2/1").Key(), topologyStrategy("a", "2").Key())
	require.NotEqual(t, simple("2").Key(), topologyStrategy("replication_factor", "2").Key())
	require.Empty(t, topologyStrategy("a", "1/2", "b", "-1").Factors, "invalid options replicate nothing")
}

// reference is SimpleStrategy and NetworkTopologyStrategy for one range, with sets and lists.
func reference(members []Member, owners []int32, s Strategy, at int) []int32 {
	racks, owning := map[string]map[string]bool{}, map[string]map[int32]bool{}
	for _, m := range owners {
		dc := members[m].DC
		if racks[dc] == nil {
			racks[dc], owning[dc] = map[string]bool{}, map[int32]bool{}
		}
		racks[dc][members[m].Rack] = true
		owning[dc][m] = true
	}
	var chosen, full []int32
	left, repeats, transient := map[string]int{}, map[string]int{}, map[string]int{}
	for dc, f := range s.Factors {
		left[dc] = min(f.All, len(owning[dc]))
		repeats[dc] = f.All - len(racks[dc])
		transient[dc] = max(0, f.Transient-(f.All-left[dc]))
	}
	seen := map[string]bool{}
	for k := range owners {
		m := owners[(at+k)%len(owners)]
		dc := members[m].DC
		if left[dc] <= 0 || slices.Contains(chosen, m) {
			continue
		}
		if rack := dc + "/" + members[m].Rack; !seen[rack] {
			seen[rack] = true
		} else if repeats[dc] > 0 {
			repeats[dc]--
		} else {
			continue
		}
		chosen = append(chosen, m)
		if left[dc] > transient[dc] {
			full = append(full, m)
		}
		left[dc]--
	}
	full = slices.DeleteFunc(full, func(m int32) bool { return members[m].Rank < 0 })
	slices.SortStableFunc(full, func(a, b int32) int { return cmp.Compare(members[a].Rank, members[b].Rank) })
	return full
}

func TestPlaceAgainstReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		dcs, racks := 1+rnd.IntN(3), 1+rnd.IntN(4)
		members := make([]Member, 1+rnd.IntN(20))
		for i := range members {
			members[i] = Member{fmt.Sprint("dc", rnd.IntN(dcs)), fmt.Sprint("r", rnd.IntN(racks)), int32(rnd.IntN(4)) - 1}
		}
		owners := make([]int32, rnd.IntN(60))
		for i := range owners {
			owners[i] = int32(rnd.IntN(len(members)))
		}
		s := Strategy{Class: "NetworkTopologyStrategy", Factors: map[string]Count{}}
		for i := range 4 {
			n := Count{All: rnd.IntN(7)}
			n.Transient = max(0, rnd.IntN(n.All+1)-2)
			s.Factors[fmt.Sprint("dc", i)] = n
		}
		r := NewRing(members, owners).Place(s)
		for at := range owners {
			var got []int32
			if r != nil {
				got = r.Ranges[at]
			}
			require.ElementsMatch(t, reference(members, owners, s, at), got)
			require.Equal(t, fmt.Sprint(reference(members, owners, s, at)), fmt.Sprint(got))
		}
	}
}

// simpleReference computes SimpleStrategy for one range: the first members around the ring, full ones before transient
// ones.
func simpleReference(members []Member, owners []int32, n Count, at int) []int32 {
	var all []int32
	for k := range owners {
		if m := owners[(at+k)%len(owners)]; !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	taken := min(n.All, len(all))
	transient := max(0, n.Transient-(n.All-taken))
	full := slices.DeleteFunc(all[:taken-transient], func(m int32) bool { return members[m].Rank < 0 })
	slices.SortStableFunc(full, func(a, b int32) int { return cmp.Compare(members[a].Rank, members[b].Rank) })
	return full
}

// TestSimpleAgainstReference has members that own any number of ranges: each is a replica once.
func TestSimpleAgainstReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		members := make([]Member, 1+rnd.IntN(12))
		for i := range members {
			members[i] = Member{"dc", "r", int32(rnd.IntN(4)) - 1}
		}
		owners := make([]int32, 1+rnd.IntN(40))
		for i := range owners {
			owners[i] = int32(rnd.IntN(len(members)))
		}
		n := Count{All: 1 + rnd.IntN(8)}
		n.Transient = rnd.IntN(n.All)
		r := NewRing(slices.Clone(members), slices.Clone(owners)).Place(Strategy{Class: "SimpleStrategy", Factor: n})
		for at := range owners {
			want := simpleReference(members, owners, n, at)
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(r.Ranges[at]), "%v of %v", n, owners)
		}
		every := NewRing(slices.Clone(members), slices.Clone(owners)).Place(Strategy{Class: "EverywhereStrategy"}).Every
		require.Equal(t, fmt.Sprint(simpleReference(members, owners, Count{All: len(members)}, 0)), fmt.Sprint(every))
	}
}
