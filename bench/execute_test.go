// SPDX-License-Identifier: Apache-2.0

// Package bench compares vecql with its own floor and with other drivers. It is a module of its own, so that what it needs never reaches
// users of the driver.
package bench

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/workload"
)

func connect(tb testing.TB, addr string, version int) *vecql.Session {
	tb.Helper()
	cfg := vecql.NewCluster(addr)
	cfg.ProtoVersion, cfg.NumConns, cfg.Consistency = version, 1, vecql.One
	cfg.Logger = slog.New(slog.DiscardHandler)
	s, err := cfg.CreateSession()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// BenchmarkExecute is one EXECUTE of (uuid, vector<float, 1536>) through one connection. Allocations are those of the client alone.
func BenchmarkExecute(b *testing.B) {
	addr := workload.Addr(b)
	for _, version := range []int{4, 5} {
		for _, inFlight := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("version=%d/inflight=%d", version, inFlight), func(b *testing.B) {
				s := connect(b, addr, version)
				ctx := context.Background()
				m, err := s.StatementMetadata(ctx, workload.InsertVector, "")
				if err != nil || len(m.BindColumns) != 2 || m.BindColumns[1].TypeInfo.String() != "vector<float, 1536>" {
					b.Fatal(m, err)
				}
				if err := s.Query(workload.InsertVector, vecql.UUID(workload.InsertID), make([]float32, 1535)).ExecContext(ctx); err == nil {
					b.Fatal("a vector of the wrong dimension was sent")
				}
				b.SetBytes(16 + 4*1536)
				b.ReportAllocs()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				b.ResetTimer()
				for range inFlight {
					wg.Go(func() {
						id, vector := vecql.UUID(workload.InsertID), workload.InsertedVector
						for left.Add(-1) >= 0 {
							if err := s.Query(workload.InsertVector, id, vector).ExecContext(ctx); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
			})
		}
	}
}

// TestExecuteAllocations bounds what one EXECUTE allocates, so that it can only go down.
func TestExecuteAllocations(t *testing.T) {
	addr := workload.Addr(t)
	for _, version := range []int{4, 5} {
		s := connect(t, addr, version)
		ctx := context.Background()
		id, vector := vecql.UUID(workload.InsertID), workload.InsertedVector
		once := func() {
			if err := s.Query(workload.InsertVector, id, vector).ExecContext(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for range 1000 {
			once()
		}
		got := testing.AllocsPerRun(1000, once)
		t.Logf("version %d: %v allocations", version, got)
		if got > budget {
			t.Errorf("version %d: %v allocations, the budget is %d", version, got, budget)
		}
	}
}

// budget is the list in results/execute.md.
const budget = 4
