// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Shard-aware routing on an emulation of ScyllaDB, whose nodes count where requests arrive.

type pair struct{ K, V int64 }

const (
	insertPair = "INSERT INTO ks.t (k, v) VALUES (?, ?)"
	selectPair = "SELECT v FROM ks.t WHERE k = ?"
)

// TestScyllaShards counts where typed statements, queries and batches arrive after the session has sent a request for
// every partition. With tablets, responses to misrouted requests carry tablet hints.
func TestScyllaShards(t *testing.T) {
	for _, c := range []struct {
		name    string
		scylla  cqltest.Scylla
		v2      bool
		tablets int
		move    bool
	}{
		{"tablets", cqltest.Scylla{}, false, 100_000, false},
		{"tablets that move", cqltest.Scylla{}, false, 10_000, true},
		{"tablets v2", cqltest.Scylla{TabletsV2: true}, true, 10_000, true},
		{"v2 is supported and not requested", cqltest.Scylla{TabletsV2: true}, false, 2_000, false},
		{"vnodes", cqltest.Scylla{}, false, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			const shards = 8
			c.tablets = fewer(c.tablets)
			c.scylla.Shards, c.scylla.Tablets = shards, c.tablets
			var seen fortunate
			cluster := cqltest.New(t, cqltest.Config{Scylla: &c.scylla, OnRequest: seen.note})
			embeddedTable(t, cluster, "2") // of three nodes, so that one is wrong
			cfg := embeddedConfig(cluster)
			cfg.Protocol.ExperimentalTabletsRoutingV2 = c.v2
			s := open(t, cfg)
			for _, n := range cluster.Nodes() {
				require.Eventually(t, func() bool { return shardsOfConns(n) == shards }, 10*time.Second, time.Millisecond, "connections to all shards")
			}
			keys := make([]int64, fewer(20_000))
			for i := range keys {
				keys[i] = int64(i)
			}
			if c.tablets > 0 {
				keys = keysOfTablets(cluster, c.tablets)
			}
			insert, err := vecql.Prepare[pair](t.Context(), s.Query(insertPair))
			require.NoError(t, err)
			typed := func(ctx context.Context, k int64) error { return insert.Exec(ctx, &pair{k, -k}) }
			warmUp := func(what string) {
				first := true
				for left, quiet := keys, 0; quiet < 5; first = false {
					seen.keys.Store(new(sync.Map))
					round := during(cluster, func() { inParallel(t, left, typed) })
					if round.log(t, what); first {
						require.Less(t, round.percent(round.OnShard), 60.0, "the session must miss owning shards while it has no tablets")
					}
					if quiet++; round.TabletHints > len(keys)/500 {
						quiet = 0
					}
					if !c.v2 {
						left = seen.of(left) // several quiet rounds: a few keys may have arrived by chance in one
					}
				}
				seen.keys.Store(nil)
			}
			if c.tablets > 0 {
				warmUp("tablets")
			}
			during(cluster, func() { inParallel(t, keys, typed) }).requireAtShards(t, "typed statements", len(keys))
			some := keys[:min(len(keys), fewer(10_000))]
			during(cluster, func() {
				inParallel(t, some, func(ctx context.Context, k int64) error {
					var v int64
					err := s.Query(selectPair, k).Scan(ctx, &v)
					if err == nil && v != -k {
						err = fmt.Errorf("got %d", v)
					}
					return err
				})
			}).requireAtShards(t, "queries", len(some))
			during(cluster, func() {
				inParallel(t, some, func(ctx context.Context, k int64) error {
					return s.Batch(cql.UnloggedBatch).Query(insertPair, k, k).Query(insertPair, k, -k).Exec(ctx)
				})
			}).requireAtShards(t, "batches", len(some))
			if c.move { // under load, as a tablet balancer does
				stop := background(2, func(w, i int) error { return typed(t.Context(), keys[(i*2+w)%len(keys)]) })
				cluster.MoveTablets()
				warmUp("after all tablets have moved")
				moved := during(cluster, func() { inParallel(t, keys, typed) })
				_, errs := stop()
				require.Empty(t, errs)
				moved.requireAtShards(t, "after the move", len(keys))
			}
			require.Zero(t, s.Stats().TabletHintsRefused)
		})
	}
}

// fortunate records the tokens of requests that arrived at the owning shard. With tablets v1 a request that arrived
// there by chance gets no tablet in its response, so a later one may miss.
type fortunate struct{ keys atomic.Pointer[sync.Map] }

func (f *fortunate) note(r cqltest.Request) {
	if m := f.keys.Load(); m != nil && r.OnShard {
		m.Store(r.Token, nil)
	}
}

// of returns the keys whose requests arrived.
func (f *fortunate) of(keys []int64) []int64 {
	m := f.keys.Load()
	return slices.DeleteFunc(slices.Clone(keys), func(k int64) bool {
		_, ok := m.Load(tokenOf(k))
		return !ok
	})
}

// TestScyllaResharding restarts every node with half of its shards, then with all of them, under load. Requests must
// arrive at the owning shards again, and no idempotent request may fail.
func TestScyllaResharding(t *testing.T) {
	for _, c := range []struct {
		name   string
		scylla cqltest.Scylla
	}{
		{"tablets", cqltest.Scylla{Tablets: 1000}},
		{"vnodes", cqltest.Scylla{}},
		{"no shard-aware port", cqltest.Scylla{NoShardAwarePort: true}},
		{"translated ports", cqltest.Scylla{NAT: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.scylla.Shards = 8
			cluster := cqltest.New(t, cqltest.Config{Scylla: &c.scylla})
			embeddedTable(t, cluster, "3")
			s := open(t, embeddedConfig(cluster))
			keys := int64(1000)
			stop := background(4, func(w, i int) error {
				k := int64(i*4+w) % keys
				if i%2 == 0 {
					return s.Query(insertPair, k, k).Idempotent(true).Exec(t.Context())
				}
				return s.Query(selectPair, k).Idempotent(true).Iter(t.Context()).Close()
			})
			awaitAtShards(t, cluster, "at the start")
			for _, shards := range []int{4, 8} {
				for _, n := range cluster.Nodes() {
					n.SetShards(shards)
					require.NoError(t, n.Restart())
					require.Eventually(t, func() bool { return shardsOfConns(n) == shards }, 20*time.Second, time.Millisecond,
						"connections to all %d shards of %v", shards, n)
				}
				t.Logf("converged %v after the last node", awaitAtShards(t, cluster, fmt.Sprint("with ", shards, " shards")).Round(time.Millisecond))
			}
			calls, errs := stop()
			t.Logf("%d requests, %d failed", calls, len(errs))
			require.Empty(t, errs)
		})
	}
}
