// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// This file counts the buffers of a session whose requests end in every way there is, over an embedded cluster (builds with poison only).

// TestFault34BuffersOfCluster has requests succeed, time out, fail, be sent again and speculatively, while connections break: afterwards no
// buffer is left.
func TestFault34BuffersOfCluster(t *testing.T) {
	if !poison {
		t.Skip("buffers are counted in builds with -race or the tag poison")
	}
	synctest.Test(t, func(t *testing.T) {
		before := outstanding.Load()
		c := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory})
		require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
			CREATE TABLE ks.t (k int PRIMARY KEY, v int)`))
		cfg := NewCluster(c.Hosts()...)
		cfg.Dialer, cfg.Logger, cfg.Compressor, cfg.Timeout = c.Dialer(), slog.New(slog.DiscardHandler), LZ4Compressor{}, 50*time.Millisecond
		cfg.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 2, TimeoutDelay: 5 * time.Millisecond}
		s, err := cfg.CreateSession()
		require.NoError(t, err)
		sometimes := func(n int) func(cqltest.Request) bool { return func(cqltest.Request) bool { return rand.IntN(n) == 0 } }
		for _, f := range []cqltest.Fault{
			{Match: sometimes(100), Drop: true},
			{Match: sometimes(20), Error: &cqltest.Error{Code: cqltest.CodeOverloaded}},
			{Match: sometimes(500), Close: true, CloseAfter: 5},
			{Match: sometimes(5), Delay: time.Millisecond, Jitter: 20 * time.Millisecond},
		} {
			f.Op = cqltest.OpExecute
			c.Inject(f)
		}
		var wg sync.WaitGroup
		for w := range 16 {
			wg.Go(func() {
				for i := range 100 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+rand.IntN(60))*time.Millisecond)
					var k, v int
					switch i % 4 {
					case 0:
						_ = s.Query("INSERT INTO ks.t (k, v) VALUES (?, ?)", w, i).Idempotent(i%8 == 0).ExecContext(ctx)
					case 1:
						_ = s.Query("SELECT k, v FROM ks.t WHERE k = ?", w).Idempotent(true).ScanContext(ctx, &k, &v)
					case 2:
						_ = s.Batch(LoggedBatch).Query("INSERT INTO ks.t (k, v) VALUES (?, ?)", w, i).ExecContext(ctx)
					default:
						it := s.Query("SELECT k, v FROM ks.t").PageSize(3).Idempotent(true).IterContext(ctx)
						for it.Scan(&k, &v) {
							continue
						}
						_ = it.Close()
					}
					cancel()
				}
			})
		}
		wg.Wait()
		st := s.Stats()
		t.Logf("%d requests, %d failed, %d sent again, %d speculatively, %d connections lost", st.Requests, st.Failed, st.Retries, st.SpeculativeExecutions,
			st.ConnectionsLost)
		require.Positive(t, min(st.Failed, st.Retries, st.SpeculativeExecutions, st.ConnectionsLost))
		s.Close()
		c.Close()
		synctest.Wait()
		require.Equal(t, before, outstanding.Load(), "buffers not released")
	})
}
