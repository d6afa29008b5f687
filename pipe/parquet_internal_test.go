// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// A row group is read by all goroutines if no other one matches. Each goroutine waits for the others here.
func TestRowGroupIsShared(t *testing.T) {
	values := make([]int64, 1<<19)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range values {
		values[i] = random.Int64()
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	require.NoError(t, parquetscan.WriteFile(t.Context(), path, column.NewBatch(column.Of("i", values))))

	p, err := newPlan(t.Context(), Parquet(path).chain, Config{Workers: 2})
	require.NoError(t, err)
	defer p.end()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errors.New("one goroutine reads all rows"))
	defer cancel()
	var mu sync.Mutex
	arrived, all := map[int]bool{}, make(chan struct{})
	rows := 0
	require.NoError(t, p.root.run(ctx, func(worker int, part part) error {
		mu.Lock()
		rows += part.count()
		if !arrived[worker] {
			if arrived[worker] = true; len(arrived) == 2 {
				close(all)
			}
		}
		mu.Unlock()
		select {
		case <-all:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}))
	require.Equal(t, len(values), rows)
}
