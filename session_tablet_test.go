// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file tests that what answers teach and what views take back do not pass each other.

func TestTabletLearntWhileItsNodeLeaves(t *testing.T) {
	payload := map[string][]byte{payloadTabletsV1: goodTablet().bytes()}
	c := &call{keyspace: "ks", table: "t", token: 5, hasToken: true}
	s := &Session{}
	view := func(ids ...byte) (*clusterView, []*node) {
		v := &clusterView{partitioner: "Murmur3Partitioner", keyspaces: map[string]replication{"ks": {class: "SimpleStrategy"}}}
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
		wg.Go(func() { s.learnTablet(c, payload) })
		wg.Go(func() {
			s.topo.Store(now)
			now.followTablets(old)
		})
		wg.Wait()
		stale += s.routing.tablets.Len()
		s.routing.tablets.RemoveKeyspace("ks")
	}
	require.Zero(t, stale, "tablets with a replica on a node that has left")
}

// A walk is shared by executions, one of which may begin it anew while another one asks what is wrong with it.
func TestSharedWalkIsGuarded(t *testing.T) {
	w := walk{mu: new(sync.Mutex)}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 1000 {
				w.restart(route{topo: &topology{}, err: fmt.Errorf("%w: %d", wire.ErrLength, i)})
				require.Error(t, w.err())
				w.next()
			}
		})
	}
	wg.Wait()
}
