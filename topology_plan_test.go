// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/placement"
	"github.com/vecql/vecql/internal/stream"
	"github.com/vecql/vecql/internal/tablet"
)

// Tests of query plans.

// plan returns the query plan of a request.
func (t *topology) plan(target planTarget) (p queryPlan) {
	t.startPlan(&p, &target)
	return p
}

// planNodes returns all nodes of a query plan.
func planNodes(r queryPlan) (nodes []*node) {
	for at := r.next(); at.node != nil; at = r.next() {
		nodes = append(nodes, at.node)
	}
	return nodes
}

// threeByThree has nodes 1 to 3 in data center a, 4 to 6 in b, 7 to 9 in c, in three racks each. Keyspace ks has two
// replicas in each.
func threeByThree(t testing.TB, policy HostSelectionPolicy) *topology {
	var nodes []*node
	for i := range 9 {
		nodes = append(nodes, testNode(byte(i+1), string(rune('a'+i/3)), fmt.Sprint("r", i%3), int64(i%3*30+i/3*10)))
	}
	two := placement.Count{All: 2}
	return testTopology(t, policy, nodes, map[string]placement.Strategy{
		"ks": {Class: "NetworkTopologyStrategy", Factors: map[string]placement.Count{"a": two, "b": two, "c": two}},
	})
}

func (t *topology) node(n byte) *node { return t.nodeByID(cql.UUID{15: n}) }

// onToken is a request of keyspace ks for the range that begins at node 1.
func onToken(start uint32) planTarget {
	return planTarget{keyspace: "ks", table: "t", token: 0, hasToken: true, start: start}
}

func TestPlanOrder(t *testing.T) {
	dc := DCAwarePolicy{DataCenter: "b"}
	for _, c := range []struct {
		name   string
		policy HostSelectionPolicy
		lwt    bool
		want   [][]int // groups of equals, in order
	}{
		{"default", nil, false, [][]int{{1, 2, 4, 5, 7, 8}, {3, 6, 9}}},
		{"default, conditional", nil, true, [][]int{{1}, {4}, {7}, {2}, {5}, {8}, {3, 6, 9}}},
		{"round robin ignores replicas", RoundRobinPolicy{}, false, [][]int{{1, 2, 3, 4, 5, 6, 7, 8, 9}}},
		{"data center", dc, false, [][]int{{4, 5, 6}, {1, 2, 3, 7, 8, 9}}},
		{"data center, no other", DCAwarePolicy{DataCenter: "b", NoFailover: true}, false, [][]int{{4, 5, 6}}},
		{"unknown data center", DCAwarePolicy{DataCenter: "x"}, false, [][]int{{1, 2, 3, 4, 5, 6, 7, 8, 9}}},
		{"rack", RackAwarePolicy{DataCenter: "b", Rack: "r1"}, false, [][]int{{5}, {4, 6}, {1, 2, 3, 7, 8, 9}}},
		{"tokens, data center", TokenAwarePolicy{Fallback: dc}, false, [][]int{{4, 5}, {6}, {1, 2, 7, 8}, {3, 9}}},
		{"tokens, data center, conditional", TokenAwarePolicy{Fallback: dc}, true, [][]int{{4}, {5}, {6}, {1}, {7}, {2}, {8}, {3, 9}}},
		{"tokens, data center, in order", TokenAwarePolicy{Fallback: dc, KeepOrder: true}, false, [][]int{{4}, {5}, {6}, {1}, {7}, {2}, {8}, {3, 9}}},
		{"a pointer to a policy", &TokenAwarePolicy{Fallback: dc}, false, [][]int{{4, 5}, {6}, {1, 2, 7, 8}, {3, 9}}},
		{"a policy that embeds one", ownTokenAware{TokenAwarePolicy{Fallback: dc}}, false, [][]int{{4, 5}, {6}, {1, 2, 7, 8}, {3, 9}}},
		{"remote replicas before local nodes", TokenAwarePolicy{Fallback: dc, RemoteReplicas: true}, false, [][]int{{4, 5}, {1, 2, 7, 8}, {6}, {3, 9}}},
		{"tokens, rack", TokenAwarePolicy{Fallback: RackAwarePolicy{DataCenter: "b", Rack: "r1"}}, false, [][]int{{5}, {4}, {6}, {1, 2, 7, 8}, {3, 9}}},
		{"tokens, rack of no replica", TokenAwarePolicy{Fallback: RackAwarePolicy{DataCenter: "b", Rack: "r2"}}, false, [][]int{{4, 5}, {6}, {1, 2, 7, 8}, {3, 9}}},
		{
			"tokens, rack, no other",
			TokenAwarePolicy{Fallback: RackAwarePolicy{DataCenter: "b", Rack: "r1", NoFailover: true}},
			true,
			[][]int{{5}, {4}, {6}},
		},
		{"the user's tiers", TokenAwarePolicy{Fallback: tiersByID{9: 0, 8: 1, 1: 2, 2: 2, 3: 2}}, false, [][]int{{9}, {8}, {1, 2}, {3}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			topo := threeByThree(t, c.policy)
			for i := range uint32(50) {
				target := onToken(i * startStep)
				target.lwt = c.lwt
				got := planNodes(topo.plan(target))
				for _, equals := range c.want {
					require.GreaterOrEqual(t, len(got), len(equals))
					var ids []int
					for _, n := range got[:len(equals)] {
						ids = append(ids, int(n.info.ID[15]))
					}
					require.ElementsMatch(t, equals, ids)
					got = got[len(equals):]
				}
				require.Empty(t, names(got))
			}
		})
	}
}

// tiersByID is a policy that returns tiers by the last byte of a node's id; other nodes are never used.
type tiersByID map[byte]int

func (p tiersByID) Tier(h *cql.Host) int {
	if tier, ok := p[h.ID[15]]; ok {
		return tier
	}
	return -1
}

// ownTokenAware is a policy of a program that embeds TokenAwarePolicy.
type ownTokenAware struct{ TokenAwarePolicy }

// TestPlanProperties checks query plans of random clusters under random policies.
func TestPlanProperties(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		nodes := randomNodes(rnd)
		var inner HostSelectionPolicy
		switch rnd.IntN(5) {
		case 0:
			inner = RoundRobinPolicy{}
		case 1:
			inner = DCAwarePolicy{DataCenter: "dc0"}
		case 2:
			inner = DCAwarePolicy{DataCenter: "dc0", NoFailover: true}
		case 3:
			inner = RackAwarePolicy{DataCenter: "dc0", Rack: "r0"}
		case 4:
			tiers := tiersByID{}
			for _, n := range nodes {
				tiers[n.info.ID[15]] = rnd.IntN(5) - 1
			}
			inner = tiers
		}
		replicasBeforeAll := rnd.IntN(2) == 0
		for _, n := range nodes {
			n.excluded = rnd.IntN(10) == 0
		}
		topo := testTopology(t, TokenAwarePolicy{Fallback: inner, RemoteReplicas: replicasBeforeAll}, nodes, map[string]placement.Strategy{
			"ks": {Class: "NetworkTopologyStrategy", Factors: map[string]placement.Count{"dc0": {All: 3}, "dc1": {All: 2}}},
		})
		if rnd.IntN(2) == 0 {
			hint := &tablet.Tablet{First: -1000, Last: 1000}
			for _, i := range rnd.Perm(len(nodes))[:rnd.IntN(min(6, len(nodes)+1))] {
				hint.Replicas = append(hint.Replicas, tablet.Replica{Host: nodes[i].info.ID, Shard: int32(nodes[i].info.ID[15])})
			}
			topo.routing.tablets.Add("ks", "t", hint)
		}
		for range 10 {
			target := planTarget{
				keyspace: "ks", table: "t", token: rnd.Int64N(500) - 250, hasToken: rnd.IntN(5) > 0, lwt: rnd.IntN(3) == 0, start: rnd.Uint32(),
			}
			want := topo.replicasOf("ks", target.token)
			known := topo.routing.tablets.Lookup("ks", "t", target.token)
			if known != nil && target.hasToken {
				want = nil
				for _, replica := range known.Replicas {
					if n := topo.nodeByID(replica.Host); n != nil && n.tier >= 0 {
						want = append(want, n)
					}
				}
			}
			if !target.hasToken {
				want = nil
			}
			r := topo.plan(target)
			var got []*node
			for at := r.next(); at.node != nil; at = r.next() {
				n, shard := at.node, at.shard
				require.False(t, slices.Contains(got, n), "each once")
				require.False(t, n.tier < 0 || n.excluded)
				wantShard := int32(-1)
				if known != nil && target.hasToken && slices.Contains(want, n) {
					wantShard = int32(n.info.ID[15])
				}
				require.True(t, shard == wantShard, "shard %d, want %d", shard, wantShard)
				got = append(got, n)
			}
			require.Len(t, got, len(topo.usable), "all usable nodes")
			rank := func(n *node) int { // the part of the plan that n belongs to
				rank := 0
				if !slices.Contains(want, n) {
					rank++
				}
				if n.remote {
					rank += 2
				}
				if replicasBeforeAll {
					rank = []int{0, 2, 1, 3}[rank]
				}
				return rank
			}
			for i := 1; i < len(got); i++ {
				a, b := got[i-1], got[i]
				if rank(a) > rank(b) || rank(a) == rank(b) && a.tier > b.tier {
					t.Fatalf("%d before %d in %s", a.info.ID[15], b.info.ID[15], names(got))
				}
			}
			if target.lwt && len(want) > 0 {
				slices.SortStableFunc(want, compareDistance)
				i := slices.IndexFunc(got, func(n *node) bool { return slices.Contains(want, n) })
				require.Same(t, want[0], got[i], "the primary of the nearest first")
			}
		}
	}
}

// TestPlanSpreads counts first and second nodes of plans: the load of a failed node goes to all others.
func TestPlanSpreads(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 7, 12} {
		for _, every := range []uint32{1, 2, 3, 7} { // a program that alternates between several kinds of requests
			const rounds = 12000
			firsts, seconds := map[int]int{}, map[[2]int]int{}
			for i := range uint32(rounds) {
				start := i * every * startStep
				first := spread(start, 0, n)
				firsts[first]++
				seconds[[2]int{first, spread(start, 1, n)}]++
				seen := map[int]bool{}
				if i < 100 {
					for k := range n {
						seen[spread(start, k, n)] = true
					}
					require.Len(t, seen, n)
				}
			}
			for i := range n {
				require.InDelta(t, rounds/n, firsts[i], rounds/20, "%d nodes", n)
			}
			for pair, count := range seconds {
				require.NotEqual(t, pair[0], pair[1])
				if n > 2 {
					require.Less(t, count, rounds/n*7/10, "%d nodes, %v", n, pair)
				}
			}
		}
	}
}

func TestPlanOneHost(t *testing.T) {
	topo := threeByThree(t, TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "a", NoFailover: true}})
	topo.routing.tablets.Add("ks", "t", &tablet.Tablet{First: -5, Last: 5, Replicas: []tablet.Replica{{Host: cql.UUID{15: 8}, Shard: 3}}})
	target := onToken(7)
	target.host = cql.UUID{15: 8}
	r := topo.plan(target)
	at := r.next()
	require.Equal(t, "8", names([]*node{at.node}), "a request that names an unused node still reaches it")
	require.EqualValues(t, 3, at.shard)
	require.Nil(t, r.next().node)
	target.host = cql.UUID{15: 2}
	r = topo.plan(target)
	require.EqualValues(t, -1, r.next().shard)
	target.host = cql.UUID{15: 99}
	require.Empty(t, planNodes(topo.plan(target)))
	require.Empty(t, planNodes((&topology{}).plan(target)))
	require.Empty(t, planNodes((&topology{}).plan(onToken(0))))
}

// withLoad sets for each node a pool of one connection with the given number of requests in flight.
func withLoad(t *testing.T, topo *topology, load map[byte]int) {
	for _, n := range topo.nodes {
		n.pool = newPool(context.Background(), "", poolConfig{})
		t.Cleanup(n.pool.cancel)
		c := &conn.Conn{Streams: stream.New(1000)}
		for range load[n.info.ID[15]] {
			_, ok := c.Streams.Claim()
			require.True(t, ok)
		}
		n.pool.open.Store(newPoolView([]*conn.Conn{c}))
	}
}

func TestPlanAvoidsSlowReplicas(t *testing.T) {
	policy := TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "b"}, MaxInFlight: 10}
	for _, c := range []struct {
		name string
		load map[byte]int
		lwt  bool
		want [][]int
	}{
		{"none is slow", map[byte]int{4: 10, 5: 10}, false, [][]int{{4, 5}, {6}, {1, 2, 7, 8}, {3, 9}}},
		{"one is", map[byte]int{4: 11}, false, [][]int{{5}, {4}, {6}, {1, 2, 7, 8}, {3, 9}}},
		{"all are", map[byte]int{4: 11, 5: 12, 1: 50}, false, [][]int{{4, 5}, {6}, {2, 7, 8}, {1}, {3, 9}}},
		{"conditional", map[byte]int{4: 11}, true, [][]int{{4}, {5}, {6}, {1}, {7}, {2}, {8}, {3, 9}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			topo := threeByThree(t, policy)
			withLoad(t, topo, c.load)
			for i := range uint32(20) {
				target := onToken(i * startStep)
				target.lwt = c.lwt
				got := planNodes(topo.plan(target))
				for _, equals := range c.want {
					var ids []int
					for _, n := range got[:len(equals)] {
						ids = append(ids, int(n.info.ID[15]))
					}
					require.ElementsMatch(t, equals, ids)
					got = got[len(equals):]
				}
			}
		})
	}
	topo := threeByThree(t, policy)
	withLoad(t, topo, map[byte]int{4: 11, 5: 0})
	r := topo.plan(onToken(0))
	require.Equal(t, topo.node(5), r.next().node)
	for id := range 11 { // a node that becomes idle between two calls must be listed exactly once
		topo.node(4).pool.open.Load().conns[0].Streams.Release(id)
	}
	require.Equal(t, "4", names(planNodes(r)[:1]))
	require.Len(t, planNodes(topo.plan(onToken(0))), 9)
	topo.node(4).pool.open.Store(&poolView{})
	require.Len(t, planNodes(topo.plan(onToken(0))), 9, "a node without connections")
}

func TestPlanOfTabletWithManyReplicas(t *testing.T) {
	var nodes []*node
	hint := &tablet.Tablet{First: -5, Last: 5}
	for i := range byte(20) {
		nodes = append(nodes, testNode(i+1, fmt.Sprint("dc", i%2), "r"))
		hint.Replicas = append(hint.Replicas, tablet.Replica{Host: cql.UUID{15: i + 1}, Shard: int32(i)})
	}
	topo := testTopology(t, TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "dc1"}}, nodes, nil)
	topo.routing.tablets.Add("ks", "t", hint)
	got := planNodes(topo.plan(onToken(3 << 28)))
	require.Len(t, got, 20)
	for _, n := range got[:10] {
		require.Equal(t, "dc1", n.info.DataCenter)
	}
}

func TestPlanAllocatesNothing(t *testing.T) {
	topo := threeByThree(t, TokenAwarePolicy{Fallback: RackAwarePolicy{DataCenter: "b", Rack: "r1"}, MaxInFlight: 5})
	withLoad(t, topo, map[byte]int{5: 9})
	start, steps := uint32(0), 0
	count := func() float64 {
		return testing.AllocsPerRun(200, func() {
			start += startStep
			r := topo.plan(onToken(start))
			for at := r.next(); at.node != nil; at = r.next() {
				steps++
			}
		})
	}
	require.Zero(t, count())
	topo.routing.tablets.Add("ks", "t", &tablet.Tablet{First: -5, Last: 5, Replicas: []tablet.Replica{{Host: cql.UUID{15: 5}}, {Host: cql.UUID{15: 1}}}})
	require.Zero(t, count())
	require.Equal(t, 2*201*9, steps)
}

func BenchmarkPlan(b *testing.B) {
	topo := threeByThree(b, TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "b"}})
	run := func(name string) {
		b.Run("by="+name, func(b *testing.B) {
			b.ReportAllocs()
			start := uint32(0)
			for b.Loop() {
				start += startStep
				r := topo.plan(onToken(start))
				if r.next().node == nil {
					b.Fatal("no node")
				}
			}
		})
	}
	run("ring")
	topo.routing.tablets.Add("ks", "t", &tablet.Tablet{First: -5, Last: 5, Replicas: []tablet.Replica{{Host: cql.UUID{15: 5}}, {Host: cql.UUID{15: 1}}, {Host: cql.UUID{15: 4}}}})
	run("tablet")
	topo.routing.tablets.Add("ks", "t", strongTablet())
	topo.leaders = map[string]bool{"ks": true}
	run("leader")
}

// TestPlanSilentNodes has a silent node come last, wherever it would have been, and once. A node that the request names
// is used nevertheless.
func TestPlanSilentNodes(t *testing.T) {
	for name, policy := range map[string]HostSelectionPolicy{
		"replica": TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "a"}}, "round robin": RoundRobinPolicy{}, "picker": pickAll{},
	} {
		t.Run(name, func(t *testing.T) {
			topo := threeByThree(t, policy)
			for _, n := range []byte{1, 5} {
				c := conn.New(&conn.Config{Version: frame.V4}, "127.0.0.1:9042", nil)
				c.Silent.Store(true)
				topo.node(n).pool.open.Store(newPoolView([]*conn.Conn{c}))
			}
			for i := range uint32(20) {
				r := topo.plan(onToken(i * startStep))
				var got []int
				for r.more() {
					got = append(got, int(r.next().node.info.ID[15]))
				}
				require.Len(t, got, 9)
				require.ElementsMatch(t, []int{1, 5}, got[7:])
			}
			target := onToken(0)
			target.host = cql.UUID{15: 1}
			require.Equal(t, "1", names(planNodes(topo.plan(target))))
		})
	}
}

// TestPlanAvoidsSilentShards requires that a node comes last when the connection to the shard of the request is silent
// or lags: the shard of the token, or the one that a tablet names. Its other shards do not matter.
func TestPlanAvoidsSilentShards(t *testing.T) {
	const shards = 2
	low, high := int64(math.MinInt64+1), int64(math.MaxInt64) // tokens of the shards 0 and 1
	for name, m := range map[string]struct {
		token  int64
		tablet int32 // the shard that a tablet names; -1 means no tablet
		slow   int32 // the shard of node 1 whose connection is silent or lags
		avoids bool
	}{
		"the shard of the token":           {low, -1, 0, true},
		"another shard":                    {low, -1, 1, false},
		"the other token":                  {high, -1, 1, true},
		"the other token, another shard":   {high, -1, 0, false},
		"the tablet's shard":               {low, 1, 1, true},
		"the token's shard, with a tablet": {low, 1, 0, false},
		"the tablet's first shard":         {high, 0, 0, true},
	} {
		for _, silent := range []bool{true, false} {
			topo := testTopology(t, TokenAwarePolicy{Fallback: RoundRobinPolicy{}}, []*node{testNode(1, "a", "r", -5), testNode(2, "a", "r", 5)},
				map[string]placement.Strategy{"ks": {Class: "SimpleStrategy", Factor: placement.Count{All: 2}}})
			for _, n := range topo.nodes {
				var conns []*conn.Conn
				for shard := range int32(shards) {
					c := &conn.Conn{Streams: stream.New(1000), Features: conn.Features{Shards: shards, Shard: shard}}
					if n.info.ID[15] == 1 && shard == m.slow {
						c.Silent.Store(silent)
						for range 2 * conn.LagWaiting {
							_, ok := c.Streams.Claim()
							require.True(t, ok || silent)
						}
					}
					conns = append(conns, c)
				}
				n.pool = newPool(t.Context(), "", poolConfig{})
				n.pool.open.Store(newPoolView(conns))
			}
			require.Equal(t, m.token == high, topo.nodes[0].pool.shardOf(m.token) == 1)
			if m.tablet >= 0 {
				topo.routing.tablets.Add("ks", "t", &tablet.Tablet{First: math.MinInt64, Last: math.MaxInt64, Replicas: []tablet.Replica{
					{Host: hostID(1), Shard: m.tablet}, {Host: hostID(2), Shard: m.tablet},
				}})
			}
			first := map[byte]bool{}
			for i := range uint32(20) {
				got := planNodes(topo.plan(planTarget{
					keyspace: "ks", table: "t", token: m.token, hasToken: true, start: i * startStep, now: time.Now(),
				}))
				require.Len(t, got, 2)
				first[got[0].info.ID[15]] = true
			}
			require.Equal(t, map[byte]bool{1: !m.avoids, 2: true}, map[byte]bool{1: first[1], 2: first[2]}, "%s, silent %v", name, silent)
		}
	}
}

// TestPlanPassesANode requires that a plan leaves out a node that another plan has tried, and counts it.
func TestPlanPassesANode(t *testing.T) {
	topo := testTopology(t, RoundRobinPolicy{}, []*node{testNode(1, "a", "r", 0), testNode(2, "a", "r", 5), testNode(3, "a", "r", 9)}, nil)
	for i := range uint32(20) {
		p := topo.plan(planTarget{start: i * startStep})
		p.pass(topo.node(2))
		require.True(t, p.more())
		first := p.next().node
		require.True(t, p.more())
		require.ElementsMatch(t, []*node{topo.node(1), topo.node(3)}, []*node{first, p.next().node})
		require.False(t, p.more())
		require.Nil(t, p.next().node)
	}
	p := topo.plan(planTarget{host: cql.UUID{15: 2}})
	require.False(t, p.more(), "the only node has no next one")
	require.Same(t, topo.node(2), p.next().node)
	require.False(t, p.more())
	require.False(t, (&queryPlan{}).more())
}

// TestPlanOfManyTabletReplicas requires that a plan which cannot order all replicas of a tablet has the nearest ones.
func TestPlanOfManyTabletReplicas(t *testing.T) {
	var nodes []*node
	replicas := make([]tablet.Replica, 0, maxTabletReplicas+3)
	for n := byte(1); n <= maxTabletReplicas+3; n++ {
		dc := "remote"
		if n == maxTabletReplicas+3 {
			dc = "local"
		}
		nodes = append(nodes, testNode(n, dc, "r", int64(n)))
		replicas = append(replicas, tablet.Replica{Host: hostID(n), Shard: int32(n)})
	}
	topo := testTopology(t, TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "local"}}, nodes, nil)
	topo.routing.tablets.Add("ks", "t", &tablet.Tablet{First: math.MinInt64, Last: math.MaxInt64, Replicas: replicas})
	p := topo.plan(onToken(0))
	require.Equal(t, maxTabletReplicas, p.replicas())
	first := p.next()
	require.EqualValues(t, maxTabletReplicas+3, first.node.info.ID[15])
	require.EqualValues(t, maxTabletReplicas+3, first.shard)
	require.Len(t, planNodes(topo.plan(onToken(0))), maxTabletReplicas+3, "the others come last")
}

// TestBusyNodes requires that only a policy with MaxInFlight avoids a node by the number of its requests, and
// only above its limit.
func TestBusyNodes(t *testing.T) {
	for name, m := range map[string]struct {
		policy HostSelectionPolicy
		load   int
		first  bool // node 4 is the first of some plans
	}{
		"at the limit":    {TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "b"}, MaxInFlight: 10}, 10, true},
		"above the limit": {TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "b"}, MaxInFlight: 10}, 11, false},
		"no limit":        {TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "b"}}, 50, true},
	} {
		topo := threeByThree(t, m.policy)
		withLoad(t, topo, map[byte]int{4: m.load})
		first := false
		for i := range uint32(20) {
			first = first || planNodes(topo.plan(onToken(i * startStep)))[0] == topo.node(4)
		}
		require.Equal(t, m.first, first, name)
	}
	require.False(t, testNode(1, "a", "r").busy(-1, 0), "without a connection")
}

// TestPlanWithoutTokenIgnoresShards requires that a request without a token uses a node with one silent shard.
func TestPlanWithoutTokenIgnoresShards(t *testing.T) {
	topo := testTopology(t, RoundRobinPolicy{}, []*node{testNode(1, "a", "r"), testNode(2, "a", "r")}, nil)
	n := topo.node(1)
	n.pool = newPool(t.Context(), "", poolConfig{})
	var conns []*conn.Conn
	for shard := range int32(2) {
		conns = append(conns, &conn.Conn{Streams: stream.New(10), Features: conn.Features{Shards: 2, Shard: shard}})
	}
	n.pool.open.Store(newPoolView(conns))
	silent := conns[n.pool.shardOf(0)]
	silent.Silent.Store(true)
	n.pool.open.Store(newPoolView(conns))
	first := map[*node]bool{}
	for i := range uint32(20) {
		first[planNodes(topo.plan(planTarget{start: i * startStep}))[0]] = true
		require.Same(t, topo.node(2), planNodes(topo.plan(planTarget{start: i * startStep, hasToken: true}))[0])
	}
	require.Len(t, first, 2)
}

// TestPlanOfTwoNodesAvoidsTheLaggingOne requires that the lagging one of two equal nodes comes second, in every plan.
// If both lag, each comes first in some.
func TestPlanOfTwoNodesAvoidsTheLaggingOne(t *testing.T) {
	topo := testTopology(t, RoundRobinPolicy{}, []*node{testNode(1, "a", "r"), testNode(2, "a", "r")}, nil)
	withLoad(t, topo, nil)
	firsts := func() map[*node]bool {
		first := map[*node]bool{}
		for i := range uint32(20) {
			got := planNodes(topo.plan(planTarget{start: i * startStep, now: time.Now()}))
			require.Len(t, got, 2)
			first[got[0]] = true
		}
		return first
	}
	require.Len(t, firsts(), 2)
	withLag(t, topo.node(1))
	require.Equal(t, map[*node]bool{topo.node(2): true}, firsts())
	withLag(t, topo.node(2))
	require.Len(t, firsts(), 2)
}
