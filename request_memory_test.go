// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/pooled"
)

// Allocations of requests.

func TestExecAllocates(t *testing.T) {
	const stmt = "INSERT INTO ks.t (id, v) VALUES (?, ?)"
	type record struct {
		ID int64
		V  []float32
	}
	for name, change := range map[string]func(*ClusterConfig){
		"defaults": func(*ClusterConfig) {},
		"with policies, a throttle, a memory budget and limits": func(cfg *ClusterConfig) {
			cfg.Defaults.RetryPolicy = ExponentialBackoffRetryPolicy{NumRetries: 3}
			cfg.Limits.Throttle = Throttle{MaxRequests: 10}
			cfg.Limits.MemoryBudget = 1 << 20
			cfg.Pool.MaxRequestsPerConn = 64
			cfg.Defaults.SpeculativeExecutionPolicy = NonSpeculativeExecution{}
		},
		"with speculation, but not idempotent": func(cfg *ClusterConfig) {
			cfg.Defaults.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 2}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newSocketCluster(t, frame.V5, 1)
			c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint", "v vector<float, 3>"), PK: []int{0}})
			c.On(func(r *fakecql.Request) bool {
				if r.Op == fakecql.OpExecute {
					fakecql.VoidForever(r)
				}
				return r.Op == fakecql.OpExecute
			})
			s := sessionOn(c, change)
			ctx := context.Background()
			insert, err := Prepare[record](ctx, s.Query(stmt))
			require.NoError(t, err)
			r := record{7, []float32{1, 2, 3}}
			once := func() {
				if err := insert.Exec(ctx, &r); err != nil {
					t.Fatal(err)
				}
			}
			for range 1000 {
				once()
			}
			if pooled.Poisoned {
				return // under the race detector pools drop items at random
			}
			require.Zero(t, testing.AllocsPerRun(500, once))
			require.Equal(t, testing.AllocsPerRun(500, func() { // the program's own allocations
				_, cancel := context.WithTimeout(context.Background(), time.Minute)
				cancel()
			}), testing.AllocsPerRun(500, func() {
				bounded, cancel := context.WithTimeout(context.Background(), time.Minute)
				if err := insert.Exec(bounded, &r); err != nil {
					t.Error(err)
				}
				cancel()
			}), "a request must not ask its context for a channel")
		})
	}
}
