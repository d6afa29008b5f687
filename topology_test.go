// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/placement"
)

// Tests of the placement of replicas.

// testNode returns a node named by the last byte of its id.
func testNode(n byte, dc, rack string, tokens ...int64) *node {
	return &node{pool: emptyPool(), info: &cql.Host{
		ID: cql.UUID{15: n}, DataCenter: dc, Rack: rack, Tokens: tokens,
		Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, n}), 9042),
	}}
}

// nodesOf returns hosts as the nodes of a view.
func nodesOf(hosts ...*cql.Host) (nodes []*node) {
	for _, h := range hosts {
		nodes = append(nodes, &node{info: h})
	}
	return nodes
}

// emptyPool returns a pool without connections.
func emptyPool() *pool {
	p := &pool{}
	p.open.Store(&poolView{})
	return p
}

func names(nodes []*node) string {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&b, "%d ", n.info.ID[15])
	}
	return strings.TrimSpace(b.String())
}

const murmur3 = "org.apache.cassandra.dht.Murmur3Partitioner"

// testTopology returns the snapshot of nodes in a session with this policy, which may be nil. Excluded nodes are
// filtered out.
func testTopology(t testing.TB, policy HostSelectionPolicy, nodes []*node, keyspaces map[string]placement.Strategy) *topology {
	t.Helper()
	r := &routing{rules: newPlanRules(policy)}
	view := &clusterView{partitioner: murmur3, keyspaces: keyspaces, nodes: nodes}
	var used []*node
	for _, n := range nodes {
		if n.pool == nil {
			n.pool = emptyPool()
		}
		if !n.excluded {
			require.NoError(t, r.rules.filterNode(n, nil))
			used = append(used, n)
		}
	}
	return newTopology(used, view, r)
}

func TestTopologyReplicas(t *testing.T) {
	sixNodes := func() []*node {
		return []*node{
			testNode(1, "a", "r1", 0), testNode(2, "a", "r1", 100), testNode(3, "a", "r2", 200),
			testNode(4, "b", "r1", 50), testNode(5, "b", "r1", 150), testNode(6, "b", "r1", 250),
			testNode(7, "b", "r9"), // without tokens
		}
	}
	for _, c := range []struct {
		name    string
		options map[string]string
		token   int64
		want    string
	}{
		{"simple", map[string]string{"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": "3"}, 60, "2 5 3"},
		{"simple, token of a node belongs to it", map[string]string{"class": "SimpleStrategy", "replication_factor": "1"}, 100, "2"},
		{"simple wraps", map[string]string{"class": "SimpleStrategy", "replication_factor": "2"}, 251, "1 4"},
		{"simple, more copies than nodes", map[string]string{"class": "SimpleStrategy", "replication_factor": "9"}, 0, "1 4 2 5 3 6"},
		{"simple, transient", map[string]string{"class": "SimpleStrategy", "replication_factor": "3/2"}, 60, "2"},
		{"topology, racks first", map[string]string{"class": "NetworkTopologyStrategy", "a": "2", "b": "1"}, 0, "1 4 3"},
		{"topology, one rack fills in for missing racks", map[string]string{"class": "NetworkTopologyStrategy", "a": "3"}, 0, "1 2 3"},
		{"topology, one rack", map[string]string{"class": "NetworkTopologyStrategy", "b": "2"}, 60, "5 6"},
		{"topology, more copies than nodes", map[string]string{"class": "NetworkTopologyStrategy", "b": "9"}, 160, "6 4 5"},
		{"topology, unknown data center", map[string]string{"class": "NetworkTopologyStrategy", "c": "2"}, 60, ""},
		{"transient replicas store no data", map[string]string{"class": "NetworkTopologyStrategy", "b": "2/1"}, 60, "5"},
		{"transient replicas are missing first", map[string]string{"class": "NetworkTopologyStrategy", "b": "4/1"}, 60, "5 6 4"},
		{"all transient", map[string]string{"class": "NetworkTopologyStrategy", "b": "1/1"}, 60, ""},
		{"more transient replicas than replicas", map[string]string{"class": "NetworkTopologyStrategy", "b": "1/2"}, 60, ""},
		{"everywhere", map[string]string{"class": "org.apache.cassandra.locator.EverywhereStrategy"}, 60, "1 4 2 5 3 6"},
		{"local", map[string]string{"class": "LocalStrategy"}, 60, ""},
		{"unreadable factor", map[string]string{"class": "SimpleStrategy", "replication_factor": "many"}, 60, ""},
		{"unreadable transient factor", map[string]string{"class": "SimpleStrategy", "replication_factor": "3/x"}, 60, ""},
		{"negative factor", map[string]string{"class": "NetworkTopologyStrategy", "b": "-1"}, 60, ""},
		{"racks by name", map[string]string{"class": "NetworkTopologyStrategy", "b": "['r1', 'r2']"}, 60, ""},
		{"nothing", nil, 60, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			topo := testTopology(t, nil, sixNodes(), map[string]placement.Strategy{"ks": placement.ParseStrategy(c.options)})
			require.Equal(t, c.want, names(topo.replicasOf("ks", c.token)))
			require.Empty(t, topo.replicasOf("other", c.token))
		})
	}
}

func TestTopologyFactorsOfManyDigits(t *testing.T) {
	r := placement.ParseStrategy(map[string]string{"class": "NetworkTopologyStrategy", "a": "9223372036854775807/1", "b": "99999999999999999999"})
	topo := testTopology(t, nil, []*node{testNode(1, "a", "r", 1), testNode(2, "a", "r", 2)}, map[string]placement.Strategy{"ks": r})
	require.Equal(t, "1 2", names(topo.replicasOf("ks", 0)))
}

func TestTopologyUnknownPartitioner(t *testing.T) {
	view := &clusterView{
		partitioner: "org.apache.cassandra.dht.ByteOrderedPartitioner",
		keyspaces:   map[string]placement.Strategy{"ks": {Class: "SimpleStrategy", Factor: placement.Count{All: 1}}},
	}
	topo := newTopology([]*node{testNode(1, "a", "r", 1)}, view, &routing{rules: newPlanRules(nil)})
	require.Empty(t, topo.replicasOf("ks", 5), "only token awareness is disabled")
	require.Same(t, topo, topo.withKeyspace("ks", nil), "without replicas nothing changes")
	require.NotNil(t, topo.nodeByID(cql.UUID{15: 1}))
	require.Nil(t, topo.nodeByID(cql.UUID{15: 2}))
	require.Equal(t, "1", names(planNodes(topo.plan(planTarget{keyspace: "ks", token: 5, hasToken: true}))))
}

// TestTopologyOrdersByDistance requires that local nodes come before remote ones, whatever their tiers, and both by
// their tiers. Nodes that are equally near keep their order.
func TestTopologyOrdersByDistance(t *testing.T) {
	var nodes []*node
	for i, m := range []struct {
		remote bool
		tier   int
	}{{true, 0}, {false, 2}, {true, 1}, {false, 1}, {false, -1}, {true, 0}, {false, 2}} {
		n := testNode(byte(i+1), "a", "r")
		n.remote, n.tier = m.remote, m.tier
		nodes = append(nodes, n)
	}
	require.Equal(t, "4 2 7 1 6 3", names(usableNodes(nodes)))
}

func TestTopologyDuplicateTokens(t *testing.T) {
	topo := testTopology(t, nil, []*node{testNode(2, "a", "r", 10, 20), testNode(1, "a", "r", 10, 30), testNode(3, "a", "r", 30)},
		map[string]placement.Strategy{"ks": {Class: "SimpleStrategy", Factor: placement.Count{All: 9}}})
	require.Equal(t, []int64{10, 20, 30}, topo.tokens)
	require.Equal(t, "1 2", names(topo.replicasOf("ks", 5)), "a token has one owner")
}

// referenceReplicas computes the replicas of one token by Cassandra's NetworkTopologyStrategy and SimpleStrategy, with
// sets and lists.
func referenceReplicas(nodes []*node, r placement.Strategy, tok int64) []*node {
	type entry struct {
		token int64
		n     *node
	}
	ring := map[int64]*node{}
	for _, n := range nodes { // by id: the first claim wins
		for _, t := range n.info.Tokens {
			if ring[t] == nil {
				ring[t] = n
			}
		}
	}
	var clockwise []entry
	for t, n := range ring {
		clockwise = append(clockwise, entry{t, n})
	}
	slices.SortFunc(clockwise, func(a, b entry) int {
		if (a.token >= tok) != (b.token >= tok) { // tokens before tok come after the wrap
			if a.token >= tok {
				return -1
			}
			return 1
		}
		if a.token < b.token {
			return -1
		}
		return 1
	})
	inDC, racksOf := map[string]map[*node]bool{}, map[string]map[string]bool{}
	for _, e := range clockwise {
		dc := e.n.info.DataCenter
		if inDC[dc] == nil {
			inDC[dc], racksOf[dc] = map[*node]bool{}, map[string]bool{}
		}
		inDC[dc][e.n] = true
		racksOf[dc][e.n.info.Rack] = true
	}
	var chosen []*node
	if r.Class == "SimpleStrategy" {
		for _, e := range clockwise {
			if len(chosen) < r.Factor.All && !slices.Contains(chosen, e.n) {
				chosen = append(chosen, e.n)
			}
		}
		transient := max(0, r.Factor.Transient-(r.Factor.All-len(chosen)))
		return chosen[:len(chosen)-transient]
	}
	left, repeats, racks, transient := map[string]int{}, map[string]int{}, map[string]bool{}, map[string]int{}
	for dc, f := range r.Factors {
		left[dc] = min(f.All, len(inDC[dc]))
		repeats[dc] = f.All - len(racksOf[dc])
		transient[dc] = max(0, f.Transient-(f.All-left[dc]))
	}
	var full []*node
	for _, e := range clockwise {
		dc := e.n.info.DataCenter
		if left[dc] == 0 || slices.Contains(chosen, e.n) {
			continue
		}
		if at := dc + "/" + e.n.info.Rack; !racks[at] {
			racks[at] = true
		} else if repeats[dc] > 0 {
			repeats[dc]--
		} else {
			continue
		}
		chosen = append(chosen, e.n)
		if left[dc] > transient[dc] {
			full = append(full, e.n)
		}
		left[dc]--
	}
	return full
}

// randomNodes returns up to 20 nodes over some data centers and racks, a few without tokens, a few claiming the same.
func randomNodes(rnd *rand.Rand) []*node {
	dcs, racks := 1+rnd.IntN(3), 1+rnd.IntN(4)
	nodes := make([]*node, 1+rnd.IntN(20))
	for i := range nodes {
		nodes[i] = testNode(byte(i+1), fmt.Sprint("dc", rnd.IntN(dcs)), fmt.Sprint("r", rnd.IntN(racks)))
		for range rnd.IntN(6) {
			nodes[i].info.Tokens = append(nodes[i].info.Tokens, rnd.Int64N(400)-200)
		}
	}
	return nodes
}

func TestTopologyReplicasAgainstReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		nodes := randomNodes(rnd)
		factor := func() placement.Count {
			n := placement.Count{All: rnd.IntN(7)}
			n.Transient = max(0, rnd.IntN(n.All+1)-2)
			return n
		}
		strategies := map[string]placement.Strategy{
			"simple":   {Class: "SimpleStrategy", Factor: factor()},
			"topology": {Class: "NetworkTopologyStrategy", Factors: map[string]placement.Count{"dc0": factor(), "dc1": factor(), "dc2": factor(), "dc9": factor()}},
		}
		topo := testTopology(t, RoundRobinPolicy{}, slices.Clone(nodes), strategies)
		for range 15 {
			tok := rnd.Int64N(500) - 250
			for name, r := range strategies {
				require.Equal(t, names(referenceReplicas(nodes, r, tok)), names(topo.replicasOf(name, tok)), "%s %v token %d", name, r, tok)
			}
		}
	}
}

// TestTopologyExcludedNodesHoldReplicas filters nodes out: no other node becomes a replica in their place.
func TestTopologyExcludedNodesHoldReplicas(t *testing.T) {
	nodes := []*node{testNode(1, "a", "r", 0), testNode(2, "a", "r", 10), testNode(3, "a", "r", 20), testNode(4, "a", "r", 30)}
	nodes[1].excluded = true
	topo := testTopology(t, nil, nodes, map[string]placement.Strategy{"ks": {Class: "SimpleStrategy", Factor: placement.Count{All: 2}}})
	require.Equal(t, "3", names(topo.replicasOf("ks", 5)))
	require.Equal(t, "1 3 4", names(topo.nodes))
	require.Nil(t, topo.nodeByID(cql.UUID{15: 2}))
	require.True(t, topo.excluded[cql.UUID{15: 2}])
}

// largeCluster returns n nodes with 16 tokens each in five data centers. One data center has one node.
func largeCluster(n int) []*node {
	rnd := rand.New(rand.NewPCG(3, 4))
	nodes := make([]*node, n)
	for i := range nodes {
		nodes[i] = testNode(0, fmt.Sprint("dc", i%4), fmt.Sprint("r", i%12))
		nodes[i].info.ID = cql.UUID{byte(i >> 8), byte(i)}
		for range 16 {
			nodes[i].info.Tokens = append(nodes[i].info.Tokens, int64(rnd.Uint64()))
		}
	}
	nodes[5].info.DataCenter, nodes[6].info.Rack = "small", "lonely"
	return nodes
}

// TestTopologyOfLargeCluster: a snapshot of four times as many nodes needs about four times the memory, also with
// keyspaces that have replicas on many nodes or on all.
func TestTopologyOfLargeCluster(t *testing.T) {
	three := placement.Count{All: 3}
	keyspaces := map[string]placement.Strategy{
		"system":  {Class: "LocalStrategy"},
		"simple":  {Class: "SimpleStrategy", Factor: three},
		"one":     {Class: "NetworkTopologyStrategy", Factors: map[string]placement.Count{"dc1": three}},
		"all":     {Class: "NetworkTopologyStrategy", Factors: map[string]placement.Count{"dc0": three, "dc1": three, "dc2": three, "dc3": three, "small": three}},
		"again":   {Class: "NetworkTopologyStrategy", Factors: map[string]placement.Count{"dc1": three}},
		"every":   {Class: "EverywhereStrategy"},
		"hundred": {Class: "NetworkTopologyStrategy", Factors: map[string]placement.Count{"dc2": {All: 100}}},
	}
	var topo *topology
	memory := func(n int) uint64 {
		nodes := largeCluster(n)
		return leak.Allocated(func() {
			topo = testTopology(t, TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "dc1"}}, nodes, keyspaces)
		})
	}
	few := memory(500) // dc2 has 125: more than the replicas of "hundred", as in the large one
	many := memory(2000)
	t.Logf("500 nodes x 16 tokens, 7 keyspaces: %d bytes; 2000 nodes: %d bytes", few, many)
	require.Less(t, many, 5*few)
	require.Len(t, topo.replicasOf("all", 5), 13)
	require.Len(t, topo.replicasOf("every", 5), 2000)
	require.Len(t, topo.replicasOf("hundred", 5), placement.MaxReplicas)
	require.Equal(t, "dc1", topo.replicasOf("all", 5)[0].info.DataCenter, "the nearest come first")
}

// TestNodeByIDReadsFewIDs counts the ids that a search reads: those whose change to the id sought changes the result. A
// new view searches once for each node (setView), which would be quadratic work if a search read them all.
func TestNodeByIDReadsFewIDs(t *testing.T) {
	const n = 1000
	var top topology
	for i := range n {
		top.ids = append(top.ids, scaleID(i))
	}
	for _, at := range []int{0, 1, n / 2, n - 1} {
		id, read := top.ids[at], 0
		for i, other := range top.ids {
			top.ids[i] = id
			if top.indexOf(id) != at {
				read++
			}
			top.ids[i] = other
		}
		require.Equal(t, at, top.indexOf(id))
		require.LessOrEqual(t, read, bits.Len(n))
	}
}

// TestHostAtAllocatesOnce: the search by address compares parsed addresses. With as many texts as nodes, dialing all
// nodes of a cluster would be quadratic work.
func TestHostAtAllocatesOnce(t *testing.T) {
	s := bareSession()
	top := &topology{nodes: scaleView(1000, 0).nodes}
	s.topo.Store(top)
	for _, h := range []*cql.Host{top.nodes[0].info, top.nodes[999].info, {Address: netip.MustParseAddrPort("[2001:db8::1]:9042")}} {
		addr := h.Address.String()
		require.Equal(t, h.Address, s.hostAt(addr).Address)
		require.LessOrEqual(t, testing.AllocsPerRun(10, func() { s.hostAt(addr) }), 1.0)
	}
}
