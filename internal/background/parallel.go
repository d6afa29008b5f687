// SPDX-License-Identifier: Apache-2.0

package background

import (
	"context"
	"sync"
)

// Parallel calls f for 0 to n-1, up to width calls at a time. The first error ends the context of the other calls, and
// is returned after they have returned.
func Parallel(ctx context.Context, n, width int, f func(ctx context.Context, i int) error) error {
	if n == 1 {
		return f(ctx, 0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	free := make(chan struct{}, width)
	for i := range n {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			defer func() { <-free }()
			if err := f(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}
