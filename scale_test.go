// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/placement"
	"github.com/vecql/vecql/internal/quietlog"
	"github.com/vecql/vecql/internal/tablet"
)

// The work of an event, for docs/scale.md: BenchmarkScaleView installs a view of the cluster in a session without
// connections.

// scaleView returns a view of n nodes in 3 racks, each with that many tokens, and of 10 keyspaces.
func scaleView(n, tokens int) clusterView {
	view := clusterView{partitioner: "org.apache.cassandra.dht.Murmur3Partitioner", keyspaces: map[string]placement.Strategy{}}
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		h := &cql.Host{ID: scaleID(i), DataCenter: "dc1", Rack: strconv.Itoa(i % 3)}
		h.Address = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 9042)
		for range tokens {
			h.Tokens = append(h.Tokens, int64(rnd.Uint64()))
		}
		view.nodes = append(view.nodes, &node{info: h})
	}
	for i := range 10 {
		view.keyspaces[fmt.Sprint("ks", i)] = placement.ParseStrategy(map[string]string{
			"class": "NetworkTopologyStrategy", "dc1": strconv.Itoa(1 + i%3),
		})
	}
	return view
}

func scaleID(i int) (id cql.UUID) {
	binary.BigEndian.PutUint32(id[:], uint32(i))
	id[15] = 1
	return id
}

// addScaleTablets adds the tablets of tables, each with three replicas among n nodes.
func addScaleTablets(m *tablet.Map, tables, each, n int) {
	width := math.MaxUint64 / uint64(each)
	for i := range tables {
		for j := range each {
			first := math.MinInt64 + int64(uint64(j)*width)
			t := &tablet.Tablet{First: first, Last: first + int64(width-1)}
			for k := range 3 {
				t.Replicas = append(t.Replicas, tablet.Replica{Host: scaleID((i*each + j + k) % n)})
			}
			m.Add(fmt.Sprint("ks", i%10), strconv.Itoa(i), t)
		}
	}
}

func BenchmarkScaleView(b *testing.B) {
	for _, c := range []struct{ nodes, tokens, tables, tabletsEach int }{
		{100, 256, 0, 0},
		{500, 256, 0, 0},
		{500, 1, 0, 0},
		{1000, 1, 0, 0},
		{500, 1, 100, 1000},
		{500, 1, 10_000, 10},
	} {
		name := fmt.Sprintf("nodes=%d/tokens=%d/tables=%d/tablets=%d", c.nodes, c.tokens, c.tables, c.tables*c.tabletsEach)
		b.Run(name, func(b *testing.B) {
			s := scaleSession(b)
			before := scaleHeap()
			addScaleTablets(&s.routing.tablets, c.tables, max(c.tabletsEach, 1), c.nodes)
			tablets := scaleHeap() - before
			s.swapTopology(scaleView(c.nodes, c.tokens))
			view, moved := scaleView(c.nodes, c.tokens), scaleView(c.nodes, c.tokens)
			moved.nodes[0].info.Tokens[0]++ // a view of equal nodes keeps the ring
			b.ReportAllocs()
			for b.Loop() {
				view, moved = moved, view
				s.swapTopology(view)
			}
			b.ReportMetric(float64(tablets)/1e6, "MB-tablets")
			require.Len(b, s.topo.Load().nodes, c.nodes)
			require.Equal(b, c.tables*c.tabletsEach, s.routing.tablets.Len())
		})
	}
}

// BenchmarkScaleSameView installs a view of the nodes that the session has already.
func BenchmarkScaleSameView(b *testing.B) {
	for _, c := range []struct{ nodes, tokens int }{{1000, 1}, {1000, 256}} {
		b.Run(fmt.Sprintf("nodes=%d/tokens=%d", c.nodes, c.tokens), func(b *testing.B) {
			s := scaleSession(b)
			s.swapTopology(scaleView(c.nodes, c.tokens))
			view := scaleView(c.nodes, c.tokens)
			b.ReportAllocs()
			for b.Loop() {
				s.swapTopology(view)
			}
		})
	}
}

// TestViewKeepsRing: a view of equal nodes keeps the snapshot, one of other keyspaces its nodes and ring.
func TestViewKeepsRing(t *testing.T) {
	s := scaleSession(t)
	s.swapTopology(scaleView(4, 2))
	first := s.topo.Load()
	s.swapTopology(scaleView(4, 2))
	require.Same(t, first, s.topo.Load())

	view := scaleView(4, 2)
	delete(view.keyspaces, "ks0")
	view.keyspaces["ks1"] = placement.ParseStrategy(map[string]string{"class": "SimpleStrategy", "replication_factor": "4"})
	s.swapTopology(view)
	next := s.topo.Load()
	require.Same(t, &first.tokens[0], &next.tokens[0])
	require.Same(t, first.nodes[0], next.nodes[0])
	require.Len(t, next.keyspaces, 9)
	require.Len(t, next.replicasOf("ks1", 0), 4)
	require.Len(t, next.replicasOf("ks2", 0), 3)
	require.Nil(t, next.replicasOf("ks0", 0))
	require.Len(t, next.placing.same, 4)
	view = scaleView(4, 2)
	view.keyspaces = map[string]placement.Strategy{"ks3": view.keyspaces["ks3"]}
	s.swapTopology(view)
	require.Len(t, s.topo.Load().placing.same, 1, "strategies that no keyspace has are dropped")
	require.Nil(t, first.replicasOf("more", 0))
	view = scaleView(4, 2)
	view.leaders = map[string]bool{"ks3": true}
	s.swapTopology(view)
	require.True(t, s.topo.Load().leaders["ks3"], "strongly consistent keyspaces")
	require.NotNil(t, first.replicasOf("ks0", 0), "the old snapshot stays")

	for name, change := range map[string]func(*node){
		"a token":    func(n *node) { n.info.Tokens[1]++ },
		"excluded":   func(n *node) { n.excluded = true },
		"remote":     func(n *node) { n.remote = true },
		"the tier":   func(n *node) { n.tier = 2 },
		"an address": func(n *node) { n.info.Address = netip.MustParseAddrPort("10.9.9.9:9042") },
		"a version":  func(n *node) { n.info.Version = "6.0" },
	} {
		t.Run(name, func(t *testing.T) {
			s.swapTopology(scaleView(4, 2))
			before, view := s.topo.Load(), scaleView(4, 2)
			change(view.nodes[3])
			s.swapTopology(view)
			require.NotSame(t, before, s.topo.Load())
			require.True(t, s.topo.Load().hasNodes(view.nodes))
		})
	}
	s.swapTopology(scaleView(3, 2))
	require.Len(t, s.topo.Load().nodes, 3)
	s.closed.Store(true)
	_, nodes := s.swapTopology(scaleView(4, 2))
	require.Empty(t, nodes)
}

// scaleSession returns a session without connections.
func scaleSession(t testing.TB) *Session {
	t.Helper()
	s := bareSession()
	s.log = quietlog.New(slog.New(slog.DiscardHandler), "node")
	s.topo.Store(&topology{routing: &s.routing})
	s.ctx, s.cancel = t.Context(), func() {}
	return s
}

func scaleHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
