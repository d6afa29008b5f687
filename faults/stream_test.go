// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/pooled"
)

// Faults 11 and 12 at the level of a session: late responses and floods of abandoned requests.

// TestFault11NoncesOfSession: responses arrive after the timeouts of their requests. Every caller must scan the row
// that belongs to the value it bound.
func TestFault11NoncesOfSession(t *testing.T) {
	const stmt, workers, step, longest = "SELECT nonce FROM ks.t WHERE nonce = ?", 128, 10 * time.Millisecond, 40
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 3)
		columns := fakecql.Columns("nonce bigint")
		c.Prepare(stmt, fakecql.Prepared{Bind: columns, PK: []int{0}, Result: columns, ResultID: "m"})
		c.On(func(r *fakecql.Request) bool {
			if r.Op != fakecql.OpExecute {
				return false
			}
			answer := func() { r.Rows(fakecql.Rows{Columns: columns, Cells: [][]byte{r.Values[0]}}) }
			if delay := time.Duration(r.Values[0][7]) % longest * step; delay > 0 {
				time.AfterFunc(delay, answer)
			} else {
				answer()
			}
			return true
		})
		s := sessionOn(c)
		var next, answered, late atomic.Int64
		total := int64(50_000)
		if pooled.Poisoned {
			total = 1000 // the race detector makes each request several times as expensive
		}
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(12, uint64(w)))
				for nonce := next.Add(1); nonce <= total; nonce = next.Add(1) {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(2*longest))*step)
					var got int64
					err := s.Query(stmt, nonce).Scan(ctx, &got)
					cancel()
					switch {
					case err == nil && got != nonce:
						t.Errorf("got %d for %d", got, nonce)
					case err == nil:
						answered.Add(1)
					case errors.Is(err, context.DeadlineExceeded):
						late.Add(1)
					default:
						t.Errorf("%v", err)
					}
				}
			})
		}
		wg.Wait()
		t.Logf("%d answered, %d timed out", answered.Load(), late.Load())
		require.Greater(t, answered.Load(), total/3)
		require.Greater(t, late.Load(), total/5)
	})
}

// TestFault12OrphanFloodOfSession: a node never responds to a flood of requests, whose callers give up. The only
// connection must be replaced, and all requests that the node answers must succeed meanwhile.
func TestFault12OrphanFloodOfSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 1)
		c.On(func(r *fakecql.Request) bool { return r.Stmt == "SELECT never" && r.Op == fakecql.OpExecute })
		s := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.Timeout = 2 * time.Second })
		require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
		dials := c.MadeCount()
		for range 40 {
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
					defer cancel()
					if err := s.Query("SELECT never").Exec(ctx); err == nil {
						t.Error("a request without a response succeeded")
					}
				})
			}
			wg.Wait()
			require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
		}
		require.Equal(t, dials, c.MadeCount(), "young orphans do not count")
		for range 100 {
			time.Sleep(20 * time.Millisecond)
			require.NoError(t, s.Query("INSERT x").Exec(t.Context()), "the successor is open before the connection closes")
		}
		require.Equal(t, dials+1, c.MadeCount(), "the connection is replaced")
		require.Zero(t, s.Stats().Nodes[0].Orphans)
	})
}
