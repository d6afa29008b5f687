// SPDX-License-Identifier: Apache-2.0

package background

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParallel(t *testing.T) {
	for _, n := range []int{0, 1, 7, 100} {
		var sum, running, most atomic.Int64
		require.NoError(t, Parallel(t.Context(), n, 3, func(_ context.Context, i int) error {
			if now := running.Add(1); now > most.Load() {
				most.Store(now)
			}
			sum.Add(int64(i))
			running.Add(-1)
			return nil
		}))
		require.EqualValues(t, n*(n-1)/2, sum.Load())
		require.LessOrEqual(t, most.Load(), int64(3))
	}
	failed := errors.New("failed")
	err := Parallel(t.Context(), 5, 5, func(ctx context.Context, i int) error {
		if i == 3 {
			return failed
		}
		<-ctx.Done() // the failure ends the other calls
		return ctx.Err()
	})
	require.ErrorIs(t, err, failed)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	require.ErrorIs(t, Parallel(ctx, 5, 1, func(context.Context, int) error { return nil }), stop)
}
