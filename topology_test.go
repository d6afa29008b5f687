// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testNode returns a node named by the last byte of its id.
func testNode(n byte, dc, rack string, tokens ...int64) *node {
	return &node{info: &HostInfo{
		id: UUID{15: n}, dc: dc, rack: rack, tokens: tokens,
		addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, n}), 9042),
	}}
}

func names(nodes []*node) string {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&b, "%d ", n.info.id[15])
	}
	return strings.TrimSpace(b.String())
}

const murmur3 = "org.apache.cassandra.dht.Murmur3Partitioner"

func TestTopologyReplicas(t *testing.T) {
	sixNodes := func() []*node {
		return []*node{
			testNode(1, "a", "r1", 0), testNode(2, "a", "r1", 100), testNode(3, "a", "r2", 200),
			testNode(4, "b", "r1", 50), testNode(5, "b", "r1", 150), testNode(6, "b", "r1", 250),
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
		{"topology, racks first", map[string]string{"class": "NetworkTopologyStrategy", "a": "2", "b": "1"}, 0, "1 4 3"},
		{"topology, racks first, then those passed over", map[string]string{"class": "NetworkTopologyStrategy", "a": "3"}, 0, "1 3 2"},
		{"topology, one rack", map[string]string{"class": "NetworkTopologyStrategy", "b": "2"}, 60, "5 6"},
		{"topology, unknown data centre", map[string]string{"class": "NetworkTopologyStrategy", "c": "2"}, 60, ""},
		{"transient replicas", map[string]string{"class": "NetworkTopologyStrategy", "b": "2/1"}, 60, "5 6"},
		{"local", map[string]string{"class": "LocalStrategy"}, 60, ""},
		{"unreadable factor", map[string]string{"class": "SimpleStrategy", "replication_factor": "many"}, 60, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			topo := newTopology(sixNodes(), murmur3, map[string]replication{"ks": parseReplication(c.options)})
			require.Equal(t, c.want, names(topo.replicasOf("ks", c.token)))
			require.Empty(t, topo.replicasOf("other", c.token))
		})
	}
}

func TestTopologyUnknownPartitioner(t *testing.T) {
	topo := newTopology([]*node{testNode(1, "a", "r", 1)}, "org.apache.cassandra.dht.ByteOrderedPartitioner",
		map[string]replication{"ks": {class: "SimpleStrategy", factor: 1}})
	require.Empty(t, topo.replicasOf("ks", 5), "token awareness is given up, nothing else")
	require.NotNil(t, topo.nodeByID(UUID{15: 1}))
	require.Nil(t, topo.nodeByID(UUID{15: 2}))
}

func TestRouteTriesEveryNodeOnce(t *testing.T) {
	nodes := []*node{testNode(1, "a", "r"), testNode(2, "a", "r"), testNode(3, "a", "r"), testNode(4, "a", "r")}
	firsts := map[string]int{}
	for start := range uint32(12) {
		r := route{replicas: group{nodes[1], nodes[3]}, nodes: nodes, start: start}
		var order []*node
		for n := r.next(); n != nil; n = r.next() {
			order = append(order, n)
		}
		require.Len(t, order, 4)
		require.ElementsMatch(t, nodes, order)
		require.ElementsMatch(t, group{nodes[1], nodes[3]}, order[:2], "replicas come first")
		firsts[names(order[:1])]++
	}
	require.Equal(t, map[string]int{"2": 6, "4": 6}, firsts, "replicas take turns")
	r := route{nodes: nodes, start: 4294967295}
	require.NotNil(t, r.next())
}

func TestParseHostKeepsWhatItCanRead(t *testing.T) {
	h := parseHost(map[string]any{"host_id": nil, "data_center": 5, "tokens": []string{"1", "x", "-9223372036854775808"}, "native_port": 99999}, 9042)
	require.Equal(t, []int64{1, -9223372036854775808}, h.tokens)
	require.False(t, h.addr.IsValid())
	require.Equal(t, UUID{}, h.id)
}
