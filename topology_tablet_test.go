// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/hex"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/placement"
	"github.com/vecql/vecql/internal/tablet"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of tablets in responses.

// tabletPayload is a tablet as servers encode it, with optional faults.
type tabletPayload struct {
	first, last any // int64, nil for NULL, []byte for other bytes
	replicas    []any
	count       int32 // number of replicas, unless 0
	tail        []byte
}

// replicaCell is one tuple<uuid, int>.
type replicaCell struct{ host, shard any }

func appendTestCell(b []byte, v any) []byte {
	var cell []byte
	switch v := v.(type) {
	case nil:
		return wire.AppendInt(b, wire.Null)
	case int64:
		cell = wire.AppendLong(nil, v)
	case int:
		cell = wire.AppendInt(nil, int32(v))
	case cql.UUID:
		cell = v[:]
	case []byte:
		cell = v
	case replicaCell:
		cell = appendTestCell(appendTestCell(nil, v.host), v.shard)
	}
	b, _ = wire.AppendBytes(b, cell)
	return b
}

func (p tabletPayload) bytes() []byte {
	count := p.count
	if count == 0 {
		count = int32(len(p.replicas))
	}
	list := wire.AppendInt(nil, count)
	for _, r := range p.replicas {
		list = appendTestCell(list, r)
	}
	b := appendTestCell(appendTestCell(nil, p.first), p.last)
	return append(appendTestCell(b, list), p.tail...)
}

func hostID(n byte) cql.UUID { return cql.UUID{15: n} }

// goodTablet covers tokens from -99 to 100, on nodes 1 and 2.
func goodTablet() tabletPayload {
	return tabletPayload{first: int64(-100), last: int64(100), replicas: []any{replicaCell{hostID(1), 0}, replicaCell{hostID(2), 7}}}
}

func TestParseTablet(t *testing.T) {
	b, err := hex.DecodeString("00000008ffffffffffffff9c" + "000000080000000000000064" + // bigint, bigint
		"0000004400000002" + // a list of two
		"0000001c" + "0000001000000000000000000000000000000001" + "0000000400000000" +
		"0000001c" + "0000001000000000000000000000000000000002" + "0000000400000007")
	require.NoError(t, err)
	require.Equal(t, b, goodTablet().bytes())
	got, err := parseTablet(b, 1)
	require.NoError(t, err)
	require.Equal(t, &tablet.Tablet{First: -100, Last: 100, Replicas: []tablet.Replica{{Host: hostID(1)}, {Host: hostID(2), Shard: 7}}}, got)

	withVersion := goodTablet()
	withVersion.tail = appendTestCell(nil, int64(-5))
	got, err = parseTablet(withVersion.bytes(), 2)
	require.NoError(t, err)
	require.EqualValues(t, -5, got.Version)
	got, err = parseTablet(withVersion.bytes(), 1)
	require.NoError(t, err)
	require.Zero(t, got.Version, "version 1 ignores the bytes after the list")
	_, err = parseTablet(goodTablet().bytes(), 2)
	require.ErrorIs(t, err, errTablet)

	for i := range withVersion.bytes() {
		_, err := parseTablet(withVersion.bytes()[:i], 2)
		require.ErrorIs(t, err, errTablet, "the first %d bytes", i)
	}
}

// hostileTablets are invalid for a request for token 5 in a cluster of nodes 1 to 3.
func hostileTablets() map[string]tabletPayload {
	change := func(f func(p *tabletPayload)) tabletPayload {
		p := goodTablet()
		f(&p)
		return p
	}
	many := func(n int) (replicas []any) {
		for i := range n {
			replicas = append(replicas, replicaCell{cql.UUID{byte(i), 15: 1}, 0})
		}
		return replicas
	}
	return map[string]tabletPayload{
		"unknown host":         change(func(p *tabletPayload) { p.replicas[1] = replicaCell{hostID(99), 0} }),
		"shard 10^6":           change(func(p *tabletPayload) { p.replicas[1] = replicaCell{hostID(2), 1_000_000} }),
		"negative shard":       change(func(p *tabletPayload) { p.replicas[0] = replicaCell{hostID(1), -1} }),
		"least shard":          change(func(p *tabletPayload) { p.replicas[0] = replicaCell{hostID(1), math.MinInt32} }),
		"inverted range":       change(func(p *tabletPayload) { p.first, p.last = p.last, p.first }),
		"empty range":          change(func(p *tabletPayload) { p.first = p.last }),
		"another range":        change(func(p *tabletPayload) { p.first = int64(5) }),
		"range before":         change(func(p *tabletPayload) { p.last = int64(4) }),
		"first NULL":           change(func(p *tabletPayload) { p.first = nil }),
		"last NULL":            change(func(p *tabletPayload) { p.last = nil }),
		"short first":          change(func(p *tabletPayload) { p.first = []byte{1, 2, 3} }),
		"long last":            change(func(p *tabletPayload) { p.last = make([]byte, 9) }),
		"no replicas":          change(func(p *tabletPayload) { p.replicas = nil }),
		"NULL replica":         change(func(p *tabletPayload) { p.replicas[1] = nil }),
		"NULL host":            change(func(p *tabletPayload) { p.replicas[1] = replicaCell{nil, 1} }),
		"NULL shard":           change(func(p *tabletPayload) { p.replicas[1] = replicaCell{hostID(2), nil} }),
		"short host":           change(func(p *tabletPayload) { p.replicas[1] = replicaCell{[]byte{1, 2}, 1} }),
		"long host":            change(func(p *tabletPayload) { p.replicas[1] = replicaCell{make([]byte, 17), 1} }),
		"short shard":          change(func(p *tabletPayload) { p.replicas[1] = replicaCell{hostID(2), []byte{1}} }),
		"long shard":           change(func(p *tabletPayload) { p.replicas[1] = replicaCell{hostID(2), make([]byte, 8)} }),
		"truncated tuple":      change(func(p *tabletPayload) { p.replicas[1] = appendTestCell(nil, hostID(2)) }),
		"the same host twice":  change(func(p *tabletPayload) { p.replicas[1] = p.replicas[0] }),
		"negative count":       change(func(p *tabletPayload) { p.count = -1 }),
		"count beyond the end": change(func(p *tabletPayload) { p.count = 3 }),
		"count of 2^31-1":      change(func(p *tabletPayload) { p.count = math.MaxInt32 }),
		"too many replicas":    change(func(p *tabletPayload) { p.replicas = many(maxReplicas + 1) }),
	}
}

// TestFault26HostileTablets checks that invalid hints are counted and ignored, and that query plans stay the same.
func TestFault26HostileTablets(t *testing.T) {
	nodes := func() []*node {
		return []*node{testNode(1, "a", "r", 0), testNode(2, "a", "r", 10), testNode(3, "a", "r", 20)}
	}
	for name, p := range hostileTablets() {
		t.Run(name, func(t *testing.T) {
			topo := testTopology(t, nil, nodes(), nil)
			target := planTarget{keyspace: "ks", table: "t", token: 5, hasToken: true}
			topo.storeTablet(&target, map[string][]byte{payloadTabletsV1: p.bytes()})
			require.EqualValues(t, 1, topo.routing.refused.Load())
			require.Zero(t, topo.routing.stored.Load())
			require.Zero(t, topo.routing.tablets.Len())
			require.Len(t, planNodes(topo.plan(target)), 3)
		})
	}
	t.Run("overlapping ranges", func(t *testing.T) {
		topo := testTopology(t, nil, nodes(), nil)
		target := planTarget{keyspace: "ks", table: "t", token: 5, hasToken: true}
		for _, bounds := range [][2]int64{{-100, 100}, {0, 10}, {4, 5}, {math.MinInt64, math.MaxInt64}, {-7, 50}} {
			p := goodTablet()
			p.first, p.last = bounds[0], bounds[1]
			topo.storeTablet(&target, map[string][]byte{payloadTabletsV1: p.bytes()})
			require.Equal(t, 1, topo.routing.tablets.Len(), "the latest tablet replaces earlier ones")
			require.Equal(t, bounds[0], topo.routing.tablets.Lookup("ks", "t", 5).First)
		}
	})
	t.Run("shard that the node does not have", func(t *testing.T) {
		topo := testTopology(t, nil, nodes(), nil)
		target := planTarget{keyspace: "ks", table: "t", token: 5, hasToken: true}
		p := goodTablet()
		p.replicas = []any{replicaCell{hostID(2), maxShard - 1}}
		topo.storeTablet(&target, map[string][]byte{payloadTabletsV1: p.bytes()})
		r := topo.plan(target)
		at := r.next()
		require.Equal(t, "2", names([]*node{at.node}))
		require.EqualValues(t, maxShard-1, at.shard, "the pool uses any connection for an unknown shard")
	})
}

func TestStoreTablet(t *testing.T) {
	nodes := []*node{testNode(1, "a", "r", 0), testNode(2, "b", "r", 10), testNode(3, "a", "r", 20)}
	nodes[1].excluded = true
	topo := testTopology(t, nil, nodes, nil)
	good := map[string][]byte{payloadTabletsV1: goodTablet().bytes()}
	target := planTarget{keyspace: "ks", table: "t", token: 5, hasToken: true}
	for _, unknown := range []planTarget{{}, {keyspace: "ks", table: "t"}, {token: 5, hasToken: true}} {
		topo.storeTablet(&unknown, good)
	}
	topo.storeTablet(&target, nil)
	topo.storeTablet(&target, map[string][]byte{"other": {1}})
	(&topology{}).storeTablet(&target, good)
	require.Zero(t, topo.routing.stored.Load()+topo.routing.refused.Load())

	topo.storeTablet(&target, good)
	require.EqualValues(t, 1, topo.routing.stored.Load(), "a replica may be on an excluded node")
	require.Equal(t, "1", names(planNodes(topo.plan(target))[:1]))

	v2 := goodTablet()
	v2.tail = appendTestCell(nil, int64(0x0123456789ABCDEF))
	topo.storeTablet(&target, map[string][]byte{payloadTabletsV2: v2.bytes(), payloadTabletsV1: {1}})
	require.EqualValues(t, int64(0x0123456789ABCDEF), topo.routing.tablets.Lookup("ks", "t", 5).Version)
}

func TestTabletsAreBounded(t *testing.T) {
	topo := testTopology(t, nil, []*node{testNode(1, "a", "r", 0), testNode(2, "a", "r", 10)}, nil)
	topo.routing.limit = 2
	store := func(first int64, host byte) {
		p := goodTablet()
		p.first, p.last, p.replicas = first, first+10, []any{replicaCell{hostID(host), 0}}
		target := planTarget{keyspace: "ks", table: "t", token: first + 5, hasToken: true}
		topo.storeTablet(&target, map[string][]byte{payloadTabletsV1: p.bytes()})
	}
	for i := range int64(4) {
		store(10*i, 1)
	}
	require.Equal(t, 2, topo.routing.tablets.Len())
	require.EqualValues(t, 2, topo.routing.refused.Load())
	store(10, 2)
	require.Equal(t, 2, topo.routing.tablets.Len())
	require.EqualValues(t, hostID(2), topo.routing.tablets.Lookup("ks", "t", 15).Replicas[0].Host, "a stored tablet is updated")
}

func TestForgetTablets(t *testing.T) {
	fill := func() *topology {
		topo := threeByThree(t, nil)
		for _, table := range []string{"t", "u"} {
			topo.routing.tablets.Add("ks", table, &tablet.Tablet{First: -5, Last: 5, Replicas: []tablet.Replica{{Host: hostID(3)}}})
		}
		return topo
	}
	for _, c := range []struct {
		event frame.SchemaEvent
		left  int
	}{
		{frame.SchemaEvent{Change: "DROPPED", Target: "TABLE", Keyspace: "ks", Name: "t"}, 1},
		{frame.SchemaEvent{Change: "CREATED", Target: "TABLE", Keyspace: "ks", Name: "t"}, 1},
		{frame.SchemaEvent{Change: "UPDATED", Target: "TABLE", Keyspace: "ks", Name: "t"}, 2},
		{frame.SchemaEvent{Change: "DROPPED", Target: "TABLE", Keyspace: "other", Name: "t"}, 2},
		{frame.SchemaEvent{Change: "DROPPED", Target: "TYPE", Keyspace: "ks", Name: "t"}, 2},
		{frame.SchemaEvent{Change: "UPDATED", Target: "KEYSPACE", Keyspace: "ks"}, 0},
		{frame.SchemaEvent{Change: "DROPPED", Target: "KEYSPACE", Keyspace: "ks"}, 0},
	} {
		topo := fill()
		topo.routing.forgetTablets(c.event)
		require.Equal(t, c.left, topo.routing.tablets.Len(), "%v", c.event)
	}

	topo := fill()
	next := *topo
	next.followTablets(topo)
	require.Equal(t, 2, topo.routing.tablets.Len(), "no change")
	smaller := newTopology([]*node{testNode(1, "a", "r", 0)}, &clusterView{partitioner: "Murmur3Partitioner", keyspaces: map[string]placement.Strategy{"ks": {}}}, topo.routing)
	smaller.followTablets(topo)
	require.Zero(t, topo.routing.tablets.Len(), "node 3 is gone")

	// a node that a filter excludes keeps its tablets as long as it is in the cluster
	topo = fill()
	excluded, keyspaces := map[cql.UUID]bool{hostID(3): true}, map[string]placement.Strategy{"ks": {}}
	before := newTopology([]*node{testNode(1, "a", "r", 0)}, &clusterView{partitioner: "Murmur3Partitioner", keyspaces: keyspaces}, topo.routing)
	before.excluded = excluded
	before.followTablets(topo)
	require.Equal(t, 2, topo.routing.tablets.Len(), "node 3 is excluded")
	same := *before
	same.followTablets(before)
	require.Equal(t, 2, topo.routing.tablets.Len(), "node 3 is still excluded")
	after := newTopology([]*node{testNode(1, "a", "r", 0)}, &clusterView{partitioner: "Murmur3Partitioner", keyspaces: keyspaces}, topo.routing)
	after.followTablets(before)
	require.Zero(t, topo.routing.tablets.Len(), "node 3, which was excluded, is gone")

	topo = fill()
	delete(topo.keyspaces, "ks")
	topo.followTablets(topo)
	require.Zero(t, topo.routing.tablets.Len(), "the keyspace is gone")
}

func TestAppendTabletBlock(t *testing.T) {
	topo := threeByThree(t, nil)
	target := onToken(0)
	const version = 0x0123456789ABCDEF
	sent := map[byte]bool{}
	const enough = 1000 // for a random number to reach all 16 values
	for range enough {
		b := topo.appendTabletBlock([]byte{9}, &target)
		require.Len(t, b, 2)
		require.Zero(t, b[1]&0xF, "version 0 for an unknown tablet")
		sent[b[1]>>4] = true
	}
	require.Len(t, sent, 16)
	topo.routing.tablets.Add("ks", "t", &tablet.Tablet{First: -5, Last: 5, Version: version})
	var held uint64
	for range enough {
		for range 15 { // other requests in turns with it
			topo.appendTabletBlock(nil, &planTarget{})
		}
		b := topo.appendTabletBlock(nil, &target)
		held |= uint64(b[0]&0xF) << (4 * (b[0] >> 4))
	}
	require.EqualValues(t, int64(version), held)
	require.Len(t, topo.appendTabletBlock(nil, &planTarget{}), 1)
	require.Len(t, (&topology{}).appendTabletBlock(nil, &target), 1)
}

func FuzzParseTablet(f *testing.F) {
	f.Add(goodTablet().bytes())
	for _, p := range hostileTablets() {
		f.Add(p.bytes())
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for version := 1; version <= 2; version++ {
			got, err := parseTablet(payload, version)
			if err != nil {
				require.ErrorIs(t, err, errTablet)
				continue
			}
			require.Less(t, got.First, got.Last)
			require.NotEmpty(t, got.Replicas)
			require.LessOrEqual(t, 28*len(got.Replicas), len(payload))
			for _, r := range got.Replicas {
				require.GreaterOrEqual(t, r.Shard, int32(0))
				require.Less(t, r.Shard, int32(maxShard))
			}
		}
	})
}

// TestSessionStoresTablets sends requests to nodes that return hints, some of them hostile.
func TestSessionStoresTablets(t *testing.T) {
	c := newFakeCluster(t, frame.V4, 3)
	const stmt = "INSERT INTO ks.t (id) VALUES (?)"
	c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
	var mu sync.Mutex
	var hint []byte
	hits := map[string]int{}
	c.On(func(r *fakecql.Request) bool {
		if r.Op != fakecql.OpExecute && r.Op != fakecql.OpBatch {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		hits[r.Node.IP]++
		if hint == nil {
			return false
		}
		body := fakecql.AppendString(wire.AppendShort(nil, 1), payloadTabletsV1)
		body, _ = wire.AppendBytes(body, hint)
		r.Conn.ReplyFlags(r.Stream, fakecql.OpResult, wire.FlagCustomPayload, wire.AppendInt(body, int32(frame.ResultVoid)))
		hint = nil
		return true
	})
	s := sessionOn(c)
	requireAllUp(t, s)
	answerWith := func(p tabletPayload) {
		mu.Lock()
		hint = p.bytes()
		clear(hits)
		mu.Unlock()
		for range 11 {
			require.NoError(t, s.Query(stmt, 1).Exec(t.Context()))
		}
	}
	whole := tabletPayload{first: int64(math.MinInt64), last: int64(math.MaxInt64), replicas: []any{replicaCell{cql.UUID(c.Nodes[2].ID), 1}}}
	for name, p := range hostileTablets() {
		if p.first == any(int64(-100)) && p.last == any(int64(100)) {
			p.first, p.last = int64(math.MinInt64), int64(math.MaxInt64) // so that its range alone is no reason to refuse it
		}
		answerWith(p)
		require.Len(t, hits, 1, name)
	}
	require.EqualValues(t, len(hostileTablets()), s.routing.refused.Load())
	require.Zero(t, s.routing.tablets.Len())
	for _, n := range []*fakecql.Node{c.Nodes[2], c.Nodes[0], c.Nodes[1]} {
		whole.replicas = []any{replicaCell{cql.UUID(n.ID), 1}}
		answerWith(whole)
		require.GreaterOrEqual(t, hits[n.IP], 10, "after the first response")
	}
	require.EqualValues(t, 3, s.routing.stored.Load())
	for _, mixed := range []bool{false, true} {
		mu.Lock()
		hint = whole.bytes()
		mu.Unlock()
		b := s.Batch(cql.UnloggedBatch).Query(stmt, 1).Query(stmt, 2)
		if mixed {
			b.Query("INSERT INTO ks.other (id) VALUES (1)")
		}
		require.NoError(t, b.Exec(t.Context()))
		require.EqualValues(t, 4, s.routing.stored.Load(), "a tablet for a batch only if it has one table")
	}
	b := s.appendTabletBlock([]byte{1}, &call{callState: callState{keyspace: "ks", table: "t", hasToken: true}})
	require.Len(t, b, 2)
	require.Zero(t, b[1]&0xF, "version 1 has no version field")
	s.schemaChanged(frame.SchemaEvent{Change: "DROPPED", Target: "TABLE", Keyspace: "ks", Name: "t"})
	require.Zero(t, s.routing.tablets.Len())
}

// requireAllUp blocks until every node has a connection.
func requireAllUp(t *testing.T, s *Session) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, h := range s.GetHosts() {
			if !s.IsUp(h) {
				return false
			}
		}
		return true
	}, 5*time.Second, time.Millisecond)
}

// TestTabletsOfNodesThatLeft requires that a new snapshot drops each tablet with a replica on a node that has left, of
// those that were excluded too, and keeps the others.
func TestTabletsOfNodesThatLeft(t *testing.T) {
	view := func(used, excluded []byte) (*clusterView, []*node) {
		v := &clusterView{partitioner: murmur3, keyspaces: map[string]placement.Strategy{"ks": {Class: "SimpleStrategy"}}}
		var nodes []*node
		for _, id := range slices.Concat(used, excluded) {
			n := testNode(id, "a", "r", int64(id))
			n.excluded = slices.Contains(excluded, id)
			v.nodes = append(v.nodes, n)
			if !n.excluded {
				nodes = append(nodes, n)
			}
		}
		return v, nodes
	}
	for _, hosts := range [][]byte{{2}, {3}, {4}, {2, 3, 4}, {1}, {1, 3, 4}} {
		r := &routing{}
		full, nodes := view([]byte{1, 2}, []byte{3, 4})
		old := newTopology(nodes, full, r)
		kept := 0
		for i, host := range hosts {
			first := int64(i) * 100
			r.tablets.Add("ks", "t", &tablet.Tablet{First: first, Last: first + 100, Replicas: []tablet.Replica{{Host: hostID(host)}}})
			if host == 1 {
				kept++
			}
		}
		rest, nodes := view([]byte{1}, nil)
		newTopology(nodes, rest, r).followTablets(old)
		require.Equal(t, kept, r.tablets.Len(), "%v", hosts)
	}
}
