// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
)

// Nodes that get other host ids. The tests of fault 63 in package faults use whole clusters.

// ringHost returns a node with the address and the two tokens that its number selects.
func ringHost(id, number byte, change ...func(h *cql.Host)) *cql.Host {
	h := &cql.Host{
		ID: hostID(id), Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, number}), 9042), DataCenter: "dc1", Rack: "r1",
		Tokens: []int64{int64(number), int64(number) + 100}, ClusterName: "one", Partitioner: "Murmur3Partitioner",
	}
	for _, f := range change {
		f(h)
	}
	return h
}

// TestRenamed: a node of a view is a known node with another id only at its address and in its place in the ring, which
// no second node has.
func TestRenamed(t *testing.T) {
	known := newTopology(nodesOf(ringHost(1, 1), ringHost(2, 2), ringHost(3, 3)), &clusterView{}, &routing{})
	for name, c := range map[string]struct {
		view []*cql.Host // the first one is new
		want byte        // the id of the known node; 0 means none
	}{
		"another id":     {[]*cql.Host{ringHost(12, 2), ringHost(1, 1), ringHost(3, 3)}, 2},
		"all other ids":  {[]*cql.Host{ringHost(11, 1), ringHost(12, 2), ringHost(13, 3)}, 1},
		"a further node": {[]*cql.Host{ringHost(14, 4), ringHost(1, 1), ringHost(2, 2)}, 0},
		"another address": {[]*cql.Host{ringHost(12, 2, func(h *cql.Host) {
			h.Address = ringHost(9, 9).Address
		})}, 0},
		"other tokens": {[]*cql.Host{ringHost(12, 2, func(h *cql.Host) { h.Tokens = []int64{2, 103} })}, 0},
		"no tokens":    {[]*cql.Host{ringHost(12, 2, func(h *cql.Host) { h.Tokens = nil })}, 0},
		"another data center": {[]*cql.Host{ringHost(12, 2, func(h *cql.Host) {
			h.DataCenter = "other"
		})}, 0},
		"another rack":         {[]*cql.Host{ringHost(12, 2, func(h *cql.Host) { h.Rack = "other" })}, 0},
		"another cluster":      {[]*cql.Host{ringHost(12, 2, func(h *cql.Host) { h.ClusterName = "two" })}, 0},
		"another partitioner":  {[]*cql.Host{ringHost(12, 2, func(h *cql.Host) { h.Partitioner = "RandomPartitioner" })}, 0},
		"the old node is left": {[]*cql.Host{ringHost(12, 2), ringHost(2, 4)}, 0},
		"two in its place":     {[]*cql.Host{ringHost(12, 2), ringHost(13, 2)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := known.renamed(c.view[0], nodesOf(c.view...))
			if c.want == 0 {
				require.Nil(t, got)
				return
			}
			require.NotNil(t, got)
			require.Equal(t, hostID(c.want), got.info.ID)
		})
	}
	none := newTopology(nodesOf(ringHost(1, 1, func(h *cql.Host) { h.Tokens = nil })), &clusterView{}, &routing{})
	bare := ringHost(11, 1, func(h *cql.Host) { h.Tokens = nil })
	require.Nil(t, none.renamed(bare, nodesOf(bare)), "nodes without tokens have no place in the ring")
}

// TestPoolRenamed: dials accept the id before until one is answered with the new id, or the node moves.
func TestPoolRenamed(t *testing.T) {
	one, two := hostID(1), hostID(2)
	for name, c := range map[string]struct {
		answered cql.UUID // by the connection opened after the change
		moves    bool
		want     hostIDs
	}{
		"answered with the old id": {one, false, hostIDs{two, one}},
		"answered with the new id": {two, false, hostIDs{two, cql.UUID{}}},
		"the node moves":           {one, true, hostIDs{two, cql.UUID{}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &dials{features: func() conn.Features { return conn.Features{HostID: one} }}
				p, _ := newDialedPool(t, d, func(cfg *poolConfig) { cfg.host = one })
				p.refill()
				synctest.Wait()
				first := p.pick()
				p.rename(two)
				p.retryNow()
				synctest.Wait()
				require.Same(t, first, p.pick())
				require.Equal(t, one, p.idBefore())
				d.change(func() { d.features = func() conn.Features { return conn.Features{HostID: c.answered} } })
				if c.moves {
					p.move("b:1")
				} else {
					first.Close(conn.ErrClosed)
				}
				time.Sleep(time.Minute)
				require.NotSame(t, first, p.pick())
				require.Equal(t, hostIDs{one, cql.UUID{}}, d.to[0].ids)
				require.Equal(t, two, d.to[1].ids.now)
				p.mu.Lock()
				defer p.mu.Unlock()
				require.Equal(t, c.want, p.ids)
			})
		})
	}
}

// TestPoolRenamedDuringADial: an attempt that was verified by the old id failed for a reason that is past. The next one
// follows at once.
func TestPoolRenamedDuringADial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{took: time.Second, err: &PeerError{}}
		p, _ := newDialedPool(t, d, func(cfg *poolConfig) { cfg.host = hostID(1) })
		p.refill()
		synctest.Wait()
		p.rename(hostID(2))
		d.change(func() { d.took = 0 })
		time.Sleep(2 * time.Second)
		require.Equal(t, 2, d.count())
	})
}

// TestListenersOfRenamedNodes: a node with another id is added next to the removal of the old id.
func TestListenersOfRenamedNodes(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		var r listenerLog
		sessionOn(c, r.listen, func(cfg *ClusterConfig) { cfg.Schema.OnChange = nil })
		after(time.Second)
		require.Empty(t, r.take())
		for i, n := range c.Nodes {
			n.Change(func(n *fakecql.Node) { n.ID = fakecql.UUID{0xFB, byte(i + 1)} })
		}
		after(2 * time.Minute)
		events := r.take()
		for _, n := range c.Nodes {
			require.Contains(t, events, fmt.Sprintf("down %[1]s, removed %[1]s, added %[1]s, up %[1]s", n.IP))
		}
		require.Len(t, strings.Split(events, ", "), 12)
	})
}
