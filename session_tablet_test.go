// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/placement"
	"github.com/vecql/vecql/internal/tablet"
	"github.com/vecql/vecql/internal/wire"
)

// Races between tablets stored from responses and tablets dropped by new views.

func TestTabletStoredWhileItsNodeLeaves(t *testing.T) {
	payload := map[string][]byte{payloadTabletsV1: goodTablet().bytes()}
	c := &call{callState: callState{keyspace: "ks", table: "t", token: 5, hasToken: true}}
	s := bareSession()
	view := func(ids ...byte) (*clusterView, []*node) {
		v := &clusterView{partitioner: "Murmur3Partitioner", keyspaces: map[string]placement.Strategy{"ks": {Class: "SimpleStrategy"}}}
		var nodes []*node
		for _, id := range ids {
			h := &cql.Host{ID: hostID(id), Tokens: []int64{int64(id)}}
			nodes = append(nodes, &node{info: h})
		}
		v.nodes = nodes
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
		wg.Go(func() { s.storeTablet(old, c, payload) })
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
	var calls, most atomic.Int32 // of NextHost at a time
	next := func() SelectedHost {
		most.Store(max(most.Load(), calls.Add(1)))
		runtime.Gosched()
		calls.Add(-1)
		return SelectedHost{}
	}
	for i := range 4 {
		wg.Go(func() {
			for range 1000 {
				w.restart(&queryPlan{topo: &topology{}, picked: &pickedNodes{err: fmt.Errorf("%w: %d", wire.ErrLength, i)}})
				require.Error(t, w.err())
				w.more()
				w.next()
				w.restart(&queryPlan{topo: &topology{}, picked: &pickedNodes{err: wire.ErrLength, next: next, left: 1}})
				w.next()
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, most.Load(), "NextHost is called by one execution at a time")
}

// TestTabletsOfATable requires the tablets that were learned, in the order of their tokens, without shared memory.
func TestTabletsOfATable(t *testing.T) {
	s := bareSession()
	require.Empty(t, s.Tablets("ks", "t"))
	for _, first := range []int64{100, -100} {
		s.routing.tablets.Add("ks", "t", &tablet.Tablet{
			First: first, Last: first + 50, Replicas: []tablet.Replica{{Host: hostID(1), Shard: 3}},
		})
	}
	replicas := []Replica{{HostID: hostID(1), Shard: 3}}
	want := []Tablet{{-100, -50, replicas}, {100, 150, replicas}}
	got := s.Tablets("ks", "t")
	require.Equal(t, want, got)
	got[0].Replicas[0].Shard = 9
	require.Equal(t, 3, s.Tablets("ks", "t")[0].Replicas[0].Shard)
	require.Empty(t, s.Tablets("ks", "other"))
}
