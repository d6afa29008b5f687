// SPDX-License-Identifier: Apache-2.0

package background

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStream passes the values of several goroutines on the goroutine of the caller, one at a time.
func TestStream(t *testing.T) {
	failure := errors.New("the end")
	sum := 0 // without a lock
	err := Stream(t.Context(), func(_ context.Context, put func(int) error) error {
		var workers sync.WaitGroup
		for i := range 10 {
			workers.Go(func() {
				for range 10 {
					if err := put(i); err != nil {
						t.Error(err)
					}
				}
			})
		}
		workers.Wait()
		return failure
	}, func(v int) bool {
		sum += v
		return true
	})
	require.Equal(t, failure, err)
	require.Equal(t, 450, sum)
}

// TestStreamLeft leaves the loop, by false, by a panic and by the end of the context. The producer has ended then.
func TestStreamLeft(t *testing.T) {
	ended := errors.New("the context has ended")
	for name, leave := range map[string]func(cancel context.CancelCauseFunc) bool{
		"false": func(context.CancelCauseFunc) bool { return false },
		"panic": func(context.CancelCauseFunc) bool { panic("loop") },
		"cause": func(cancel context.CancelCauseFunc) bool { cancel(ended); return true },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			passed := 0
			var put error
			run := func() (err error) {
				defer Recover(&err)
				return Stream(ctx, func(ctx context.Context, f func(int) error) error {
					for put == nil && ctx.Err() == nil {
						put = f(1)
					}
					<-ctx.Done()
					return context.Cause(ctx)
				}, func(int) bool {
					passed++
					return leave(cancel)
				})
			}
			err := run()
			require.Equal(t, 1, passed)
			switch name {
			case "false":
				require.NoError(t, err)
				require.Equal(t, errLeft, put)
			case "panic":
				require.EqualError(t, err, "panic: loop")
				require.Equal(t, errLeft, put)
			case "cause":
				require.Equal(t, ended, err)
				require.NoError(t, put)
			}
		})
	}
}
