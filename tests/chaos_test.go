// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/soak"
)

// Random disturbances of a cluster, and a check of its rows against the results that the program received.

// register is a row to which one goroutine writes increasing versions.
type register struct {
	tried, acknowledged atomic.Int64
	seen                atomic.Int64 // the latest version returned by a read
}

const chaosKeys = 64

// history records the program's requests to registers, swapped rows and counters.
type history struct {
	t         *testing.T
	s         *vecql.Session
	registers [chaosKeys]register
	good, bad atomic.Int64

	mu       sync.Mutex
	swaps    map[int64]int64 // value that an acknowledged swap replaced -> new value
	proposed map[int64]bool  // new values of all swaps
	counted  atomic.Int64    // acknowledged increments
	counting atomic.Int64    // attempted increments
}

// outcome counts a request and reports whether it succeeded.
func (h *history) outcome(err error) bool {
	if err != nil {
		h.bad.Add(1)
		return false
	}
	h.good.Add(1)
	return true
}

// write writes the next version of a register. The value also contains the register's key.
func (h *history) write(ctx context.Context, k int64) {
	r := &h.registers[k]
	version := r.tried.Add(1)
	if h.outcome(h.s.Query(insertPair, k, k<<32|version).Idempotent(true).Exec(ctx)) {
		r.acknowledged.Store(version)
	}
}

// read reads a register. The version must not be older than any version acknowledged or read before, and must have been
// written.
func (h *history) read(ctx context.Context, k int64) {
	r := &h.registers[k]
	least := max(r.acknowledged.Load(), r.seen.Load())
	if least == 0 {
		return
	}
	var key, v int64
	if !h.outcome(h.s.Query("SELECT k, v FROM ks.t WHERE k = ?", k).Idempotent(true).Scan(ctx, &key, &v)) {
		return
	}
	version := v & (1<<32 - 1)
	if key != k || v>>32 != k {
		h.t.Errorf("register %d: read the row of another register: k %d, v %d", k, key, v>>32)
	}
	if version < least || version > r.tried.Load() {
		h.t.Errorf("register %d: read version %d, want %d to %d", k, version, least, r.tried.Load())
	}
	for seen := r.seen.Load(); version > seen && !r.seen.CompareAndSwap(seen, version); {
		seen = r.seen.Load()
	}
}

// swap replaces the value of a row with a lightweight transaction. No two swaps may replace the same value.
func (h *history) swap(ctx context.Context, to int64) {
	var from int64
	if !h.outcome(h.s.Query("SELECT v FROM ks.swapped WHERE k = 0").Consistency(cql.Serial).Scan(ctx, &from)) {
		return
	}
	h.mu.Lock()
	if from != 0 && !h.proposed[from] {
		h.t.Errorf("swapped row: read value %d, which was never written", from)
	}
	h.proposed[to] = true
	h.mu.Unlock()
	var was int64
	applied, err := h.s.Query("UPDATE ks.swapped SET v = ? WHERE k = 0 IF v = ?", to, from).ScanCAS(ctx, &was)
	if !h.outcome(err) || !applied {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if other, ok := h.swaps[from]; ok {
		h.t.Errorf("value %d was replaced by %d and by %d", from, other, to)
	}
	h.swaps[from] = to
}

// count increments a counter. An increment is not idempotent, so it must not be applied twice.
func (h *history) count(ctx context.Context) {
	h.counting.Add(1)
	if h.outcome(h.s.Query("UPDATE ks.counted SET n = n + 1 WHERE k = 0").Exec(ctx)) {
		h.counted.Add(1)
	}
}

// check compares the rows with the recorded results.
func (h *history) check(ctx context.Context) {
	for k := range int64(chaosKeys) {
		r := &h.registers[k]
		h.read(ctx, k)
		require.GreaterOrEqual(h.t, r.seen.Load(), r.acknowledged.Load(), "register %d", k)
	}
	var n int64
	require.NoError(h.t, h.s.Query("SELECT n FROM ks.counted WHERE k = 0").Scan(ctx, &n))
	require.GreaterOrEqual(h.t, n, h.counted.Load(), "acknowledged increments are missing")
	require.LessOrEqual(h.t, n, h.counting.Load(), "increments were applied twice")
	require.NotEmpty(h.t, h.swaps)
	var versions int64
	for i := range h.registers {
		versions += h.registers[i].acknowledged.Load()
	}
	h.t.Logf("%d requests succeeded, %d failed; %d versions, %d swaps, %d increments acknowledged, %d applied", h.good.Load(), h.bad.Load(), versions,
		len(h.swaps), h.counted.Load(), n)
}

// disturb disturbs the cluster in a random way. At most one node is down and at most one other is paused at a time.
func disturb(t *testing.T, c *cqltest.Cluster, r *rand.Rand, step int) string {
	n := c.Node(r.IntN(len(c.Nodes())))
	switch what := r.IntN(13); what {
	case 0, 1:
		n.Kill()
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
		n.SetShards([]int{4, 8}[r.IntN(2)])
		require.NoError(t, n.Restart())
		return "restart"
	case 2, 3:
		n.Pause()
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		n.Resume()
		return "pause"
	case 4:
		n.CloseConns()
		return "connections closed"
	case 5:
		n.Forget()
		return "statements forgotten"
	case 6:
		c.Inject(cqltest.Fault{Node: n, Times: 4, Drop: true, Op: cqltest.OpExecute})
		return "answers dropped"
	case 7:
		c.Inject(cqltest.Fault{Node: n, Times: 20, Execute: true, Delay: 10 * time.Millisecond, Jitter: 200 * time.Millisecond})
		return "answers delayed"
	case 8:
		c.Inject(cqltest.Fault{Node: n, Times: 20, Before: time.Duration(r.IntN(100)) * time.Millisecond, Op: cqltest.OpExecute})
		return "requests delayed"
	case 9:
		c.Inject(cqltest.Fault{Node: n, Times: 3, Close: true, CloseAfter: r.IntN(40)})
		c.InjectConn(cqltest.ConnFault{Node: n, Times: 1, CloseAfterRead: 1 + r.IntN(500)})
		return "connections cut"
	case 10:
		c.Inject(cqltest.Fault{Times: 20, Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
		return "overload"
	case 11:
		c.MoveTablets()
		return "tablets moved"
	default:
		require.NoError(t, c.Exec(fmt.Sprintf(`ALTER TABLE ks.t ADD added%d int; CREATE TABLE ks.other%d (k int PRIMARY KEY, v int)`, step, step)))
		if r.IntN(2) == 0 {
			require.NoError(t, c.Exec(fmt.Sprintf(`ALTER TABLE ks.t DROP added%d; DROP TABLE ks.other%d`, step, step)))
		}
		return "schema changed"
	}
}

// TestClusterChaos disturbs a cluster for some seconds while a program reads, writes, swaps and increments. Requests
// may fail, but no acknowledged write may be lost, no response may belong to another request, and no increment may be
// applied twice.
func TestClusterChaos(t *testing.T) {
	for name, m := range map[string]struct {
		cfg  cqltest.Config
		comp cql.Compressor
	}{
		"cassandra":     {cqltest.Config{Nodes: 5}, nil},
		"cassandra lz4": {cqltest.Config{Nodes: 5}, vecql.LZ4Compressor{}},
		"scylla":        {cqltest.Config{Nodes: 5, Scylla: &cqltest.Scylla{Shards: 4, Tablets: 32}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			cluster := cqltest.New(t, m.cfg)
			embeddedTable(t, cluster, "3")
			require.NoError(t, cluster.Exec(`CREATE TABLE ks.swapped (k int PRIMARY KEY, v bigint);
				CREATE TABLE ks.counted (k int PRIMARY KEY, n counter);
				INSERT INTO ks.swapped (k, v) VALUES (0, 0)`))
			cfg := embeddedConfig(cluster)
			cfg.Compressor = m.comp
			cfg.Timeout, cfg.Pool.HeartbeatInterval = 300*time.Millisecond, 300*time.Millisecond
			cfg.ConnectTimeout, cfg.Nodes.ReconnectInterval = time.Second, time.Second
			if soak.Race {
				cfg.Timeout, cfg.Pool.HeartbeatInterval = time.Second, time.Second
			}
			s := open(t, cfg)
			h := &history{t: t, s: s, swaps: map[int64]int64{}, proposed: map[int64]bool{}}
			const writers = 4
			var value atomic.Int64
			stop := background(2*writers+3, func(w, i int) error {
				switch {
				case w < writers:
					h.write(t.Context(), int64(w+writers*(i%(chaosKeys/writers))))
				case w < 2*writers:
					h.read(t.Context(), rand.Int64N(chaosKeys))
				case w < 2*writers+2:
					h.swap(t.Context(), value.Add(1))
				default:
					h.count(t.Context())
				}
				time.Sleep(200 * time.Microsecond) // leave processor time for other tests
				return nil
			})
			r := rand.New(rand.NewPCG(seed, seed))
			done := map[string]int{}
			length := time.Duration(soak.Size(1, 4)) * time.Second
			began := time.Now()
			for step := 0; time.Since(began) < length; step++ {
				done[disturb(t, cluster, r, step)]++
				time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
			}
			cluster.ClearFaults()
			meanwhile := h.good.Load()
			t.Logf("%d requests succeeded during the disturbances, %d failed", meanwhile, h.bad.Load())
			t.Logf("all nodes served requests again after %v", awaitCalm(t, cluster, s, h).Round(time.Millisecond))
			stop()
			for _, what := range slices.Sorted(maps.Keys(done)) {
				t.Logf("%2d times: %s", done[what], what)
			}
			h.check(t.Context())
			require.Greater(t, meanwhile, int64(20), "the program goes on; backoff and timeouts leave few requests in the worst second")
		})
	}
}

// awaitCalm blocks until all nodes serve requests again and no request fails for 500 ms. It returns the time that took.
func awaitCalm(t *testing.T, c *cqltest.Cluster, s *vecql.Session, h *history) time.Duration {
	t.Helper()
	began := time.Now()
	for time.Since(began) < 30*time.Second {
		c.ResetStats()
		bad, calm := h.bad.Load(), time.Now()
		time.Sleep(500 * time.Millisecond)
		used := !slices.ContainsFunc(c.Nodes(), func(n *cqltest.Node) bool { return n.Stats().OnReplica == 0 })
		if used && h.bad.Load() == bad {
			return calm.Sub(began)
		}
	}
	t.Fatalf("requests still fail, or some nodes serve none: %+v", s.Stats())
	return 0
}
