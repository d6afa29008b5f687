// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"context"
	"encoding/binary"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/internal/token"
)

// Helpers of the tests that run only on an embedded cluster (package cqltest), which counts where requests arrive.

// fewer returns n in a soak test without the race detector, otherwise a tenth of n.
func fewer(n int) int {
	if soak.Race || !soak.On() {
		return n / 10
	}
	return n
}

// embeddedConfig returns a configuration for the cluster with LOCAL_QUORUM, long request timeouts and no log.
func embeddedConfig(c *cqltest.Cluster) *vecql.ClusterConfig {
	cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
	cfg.Defaults.Consistency = cql.LocalQuorum
	cfg.Timeout, cfg.ConnectTimeout = 20*time.Second, 5*time.Second
	cfg.Logger = slog.New(slog.DiscardHandler)
	return cfg
}

// embeddedTable creates ks.t (k bigint, v bigint) with the given number of replicas.
func embeddedTable(t *testing.T, c *cqltest.Cluster, replicas string) {
	t.Helper()
	require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': `+replicas+`};
		CREATE TABLE ks.t (k bigint PRIMARY KEY, v bigint)`))
}

// open opens a session. The test closes it at its end and checks that no goroutine or socket of the driver remains.
func open(t *testing.T, cfg *vecql.ClusterConfig) *vecql.Session {
	t.Helper()
	before := sockets()
	s, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		s.Close()
		requireNothingLeft(t, before)
	})
	return s
}

// requireNothingLeft fails if goroutines of the driver remain, or more sockets than before. The peers of closed sockets
// close a moment later.
func requireNothingLeft(t *testing.T, before int) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for time.Now().Before(deadline) && sockets() > before {
		time.Sleep(10 * time.Millisecond)
	}
	require.LessOrEqual(t, sockets(), before, "sockets remain open")
	leak.RequireNone(t, leak.Driver)
}

// heap returns the number of bytes in use.
func heap() uint64 {
	var m runtime.MemStats
	for range 3 { // a sync.Pool drops its values over two collections
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// tokenOf returns the token of a bigint.
func tokenOf(k int64) int64 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(k))
	return token.Murmur3(b[:])
}

// keysOfTablets returns one key of each tablet of ks.t, in an order that is random because it follows their hashes.
func keysOfTablets(c *cqltest.Cluster, tablets int) []int64 {
	found := make(map[int64]struct{}, tablets)
	keys := make([]int64, 0, tablets)
	for k := int64(0); len(keys) < tablets; k++ {
		tab, _ := c.Tablet("ks", "t", tokenOf(k))
		if _, ok := found[tab.Last]; !ok {
			found[tab.Last] = struct{}{}
			keys = append(keys, k)
		}
	}
	return keys
}

// inParallel calls do for every key, from 32 goroutines.
func inParallel(t *testing.T, keys []int64, do func(ctx context.Context, k int64) error) {
	t.Helper()
	var next, failed atomic.Int64
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(keys)) && failed.Load() == 0; i = next.Add(1) - 1 {
				if err := do(t.Context(), keys[i]); err != nil {
					failed.Add(1)
					t.Errorf("key %d: %v", keys[i], err)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() > 0 {
		t.FailNow()
	}
}

// arrived counts the requests by where they arrived, as counted by the nodes.
type arrived struct {
	cqltest.Stats
	took time.Duration
}

// percent returns n as a percentage of the routable requests.
func (a arrived) percent(n int) float64 { return 100 * float64(n) / float64(max(a.Routable, 1)) }

// during returns the counts of the requests that do makes.
func during(c *cqltest.Cluster, do func()) arrived {
	c.ResetStats()
	began := time.Now()
	do()
	return arrived{c.Stats(), time.Since(began)}
}

// log logs the figures.
func (a arrived) log(t *testing.T, what string) {
	t.Helper()
	t.Logf("%s: %d requests in %v, %.2f %% at a replica, %.2f %% at the owning shard, %d tablet hints", what, a.Routable,
		a.took.Round(time.Millisecond), a.percent(a.OnReplica), a.percent(a.OnShard), a.TabletHints)
}

// requireAtShards fails if fewer than n requests were routable, or if less than 99 % of them arrived at the owning
// shard.
func (a arrived) requireAtShards(t *testing.T, what string, n int) {
	t.Helper()
	a.log(t, what)
	require.GreaterOrEqual(t, a.Routable, n, what)
	require.GreaterOrEqual(t, a.percent(a.OnShard), 99.0, what)
}

// awaitAtShards blocks until at least 99 % of the requests of a tenth of a second arrive at the owning shard. It
// returns the time that took.
func awaitAtShards(t *testing.T, c *cqltest.Cluster, what string) time.Duration {
	t.Helper()
	began := time.Now()
	var last arrived
	for time.Since(began) < 30*time.Second {
		last = during(c, func() { time.Sleep(100 * time.Millisecond) })
		if last.Routable >= 100 && last.percent(last.OnShard) >= 99 {
			last.log(t, what)
			return time.Since(began)
		}
	}
	last.log(t, what)
	t.Fatalf("%s: less than 99 %% of requests arrive at the owning shard", what)
	return 0
}

// shardsOfConns returns the number of shards of the node that have a connection of a session.
func shardsOfConns(n *cqltest.Node) int {
	shards := map[int]bool{}
	for _, c := range n.Conns() {
		if c.Ready && len(c.Events) == 0 { // the connection with events is the control connection
			shards[c.Shard] = true
		}
	}
	return len(shards)
}

// background calls do repeatedly from n goroutines until stop is called. stop returns the number of calls and their
// errors.
func background(n int, do func(worker, i int) error) (stop func() (calls int, errs []error)) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var calls atomic.Int64
	var ended atomic.Bool
	var errs []error
	for w := range n {
		wg.Go(func() {
			for i := 0; !ended.Load(); i++ {
				calls.Add(1)
				if err := do(w, i); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	return func() (int, []error) {
		ended.Store(true)
		wg.Wait()
		return int(calls.Load()), errs
	}
}
