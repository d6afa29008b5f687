// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/placement"
	"github.com/vecql/vecql/internal/wire"
)

// Races between tablets stored from responses and tablets dropped by new views.

func TestTabletStoredWhileItsNodeLeaves(t *testing.T) {
	payload := map[string][]byte{payloadTabletsV1: goodTablet().bytes()}
	c := &call{callState: callState{keyspace: "ks", table: "t", token: 5, hasToken: true}}
	s := &Session{}
	view := func(ids ...byte) (*clusterView, []*node) {
		v := &clusterView{partitioner: "Murmur3Partitioner", keyspaces: map[string]placement.Strategy{"ks": {Class: "SimpleStrategy"}}}
		var nodes []*node
		for _, id := range ids {
			h := &HostInfo{id: hostID(id), tokens: []int64{int64(id)}}
			v.hosts = append(v.hosts, h)
			nodes = append(nodes, &node{info: h})
		}
		return v, nodes
	}
	stale := 0
	for range 3000 {
		full, nodes := view(1, 2)
		old := newTopology(nodes, full, &s.routing)
		s.topo.Store(old)
		rest, nodes := view(1)
		now := newTopology(nodes, rest, &s.routing)
		var wg sync.WaitGroup
		wg.Go(func() { s.storeTablet(c, payload) })
		wg.Go(func() {
			s.topo.Store(now)
			now.followTablets(old)
		})
		wg.Wait()
		stale += s.routing.tablets.Len()
		s.routing.tablets.RemoveKeyspace("ks")
	}
	require.Zero(t, stale, "tablets with a replica on a removed node")
}

// Executions share a query plan: one may restart it while another reads its error.
func TestSharedPlanIsGuarded(t *testing.T) {
	w := sharedPlan{mu: new(sync.Mutex)}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 1000 {
				w.restart(&queryPlan{topo: &topology{}, picked: &pickedNodes{err: fmt.Errorf("%w: %d", wire.ErrLength, i)}})
				require.Error(t, w.err())
				w.next()
			}
		})
	}
	wg.Wait()
}
