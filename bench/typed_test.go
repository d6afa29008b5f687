// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vecql/vecql"
)

// item is a row of the table, for typed statements.
type item struct {
	ID vecql.UUID
	V  []float32
}

func prepare(tb testing.TB, s *vecql.Session) *vecql.Statement[item] {
	tb.Helper()
	st, err := vecql.Prepare[item](context.Background(), s.Query(insert))
	if err != nil {
		tb.Fatal(err)
	}
	return st
}

// BenchmarkTyped is BenchmarkExecute through a typed statement.
func BenchmarkTyped(b *testing.B) {
	addr := startNullServer(b)
	for _, version := range []int{4, 5} {
		for _, inFlight := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("version=%d/inflight=%d", version, inFlight), func(b *testing.B) {
				st := prepare(b, connect(b, addr, version))
				ctx := context.Background()
				b.SetBytes(16 + 4*1536)
				b.ReportAllocs()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				b.ResetTimer()
				for range inFlight {
					wg.Go(func() {
						it := item{vecql.TimeUUID(), make([]float32, 1536)}
						for left.Add(-1) >= 0 {
							if err := st.Exec(ctx, &it); err != nil {
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

// TestTypedAllocations: a typed statement allocates nothing once it is warm.
func TestTypedAllocations(t *testing.T) {
	addr := startNullServer(t)
	for _, version := range []int{4, 5} {
		st := prepare(t, connect(t, addr, version))
		ctx := context.Background()
		it := item{vecql.TimeUUID(), make([]float32, 1536)}
		once := func() {
			if err := st.Exec(ctx, &it); err != nil {
				t.Fatal(err)
			}
		}
		for range 1000 {
			once()
		}
		if got := testing.AllocsPerRun(1000, once); got > 0 {
			t.Errorf("version %d: %v allocations", version, got)
		}
	}
}
