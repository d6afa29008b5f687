// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/stats"
)

// Responses to concurrent requests: each must go to the request it belongs to.

// TestClusterMillion sends a million requests (fewer outside of soak tests) with random timeouts while responses come
// late and in any order. Each concurrent request reads a different row, so a response to another request is detected.
// Afterwards no stream, goroutine, socket or memory may be in use.
func TestClusterMillion(t *testing.T) {
	const workers = 256
	rows := int64(fewer(1<<16) / workers * workers) // a multiple of workers, so that no two workers read the same row
	total := int64(soak.Size(100_000, 1_000_000))
	if soak.Race {
		total = 40_000
	}
	cluster := cqltest.New(t, cqltest.Config{})
	embeddedTable(t, cluster, "3")
	before := sockets()
	cfg := embeddedConfig(cluster)
	cfg.Pool.NumConns = 1 // one connection reuses its streams more often
	s, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer s.Close()
	value := func(k int64) int64 { return k*0x9E3779B97F4A7C ^ 42 }
	keys := make([]int64, rows)
	for i := range keys {
		keys[i] = int64(i)
	}
	insert, err := vecql.Prepare[pair](t.Context(), s.Query(insertPair))
	require.NoError(t, err)
	written := time.Now()
	inParallel(t, keys, func(ctx context.Context, k int64) error { return insert.Exec(ctx, &pair{k, value(k)}) })
	usual := time.Since(written) * workers / time.Duration(rows) // time of a request under this load
	memory := heap()

	late := cluster.Inject(cqltest.Fault{
		Op: cqltest.OpExecute, Match: func(cqltest.Request) bool { return rand.IntN(8) == 0 },
		Delay: 10 * time.Millisecond, Jitter: 80 * time.Millisecond, // requests look at their context every 20 ms
	})
	read, err := vecql.Prepare[int64](t.Context(), s.Query("SELECT k, v FROM ks.t WHERE k = ?").Idempotent(true))
	require.NoError(t, err)
	began := time.Now()
	var next, answered, gaveUp atomic.Int64
	patience := func() time.Duration { // the load may have grown since usual was measured
		if 3*answered.Load() < next.Load()-workers {
			return 64 * usual
		}
		return 8 * usual
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := int64(0); next.Add(1) <= total; i++ {
				nonce := (i*workers + int64(w)) % rows
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(1+rand.N(patience())))
				var k, v int64
				err := read.Scan(ctx, &nonce, &k, &v)
				cancel()
				switch {
				case err == nil && (k != nonce || v != value(nonce)):
					t.Errorf("request for row %d returned row %d: %d", nonce, k, v)
				case err == nil:
					answered.Add(1)
				case errors.Is(err, context.DeadlineExceeded):
					gaveUp.Add(1)
				default:
					t.Errorf("key %d: %v", nonce, err)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	late.Remove()
	st := s.Stats()
	t.Logf("%d requests in %v: %d answered, %d canceled; %d late responses; %d connections replaced", total, took.Round(time.Millisecond),
		answered.Load(), gaveUp.Load(), late.Hits(), st.ConnectionsOpened-4) // three nodes, and the control connection
	require.Greater(t, answered.Load(), total/5)
	require.Greater(t, gaveUp.Load(), total/20)
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(s.Stats().Nodes, func(n stats.Node) bool { return n.InFlight > 0 || n.Orphans > 0 })
	}, 5*time.Second, time.Millisecond, "streams are free again after their late responses")
	s.Close()
	requireNothingLeft(t, before)
	after := heap()
	t.Logf("%d KiB of memory in use before the requests, %d KiB after them", memory>>10, after>>10)
	require.Less(t, after, memory+4<<20)
	cluster.Close()
}
