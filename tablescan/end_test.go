// SPDX-License-Identifier: Apache-2.0

package tablescan_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
)

// Ends of scans: loops that panic, contexts that end, failures that the driver repairs.

// TestPanicOfALoopAcknowledgesNothing panics in a loop, and reads on: the value at which it has panicked comes again.
func TestPanicOfALoopAcknowledgesNothing(t *testing.T) {
	type row struct {
		ID []byte
		N  int
	}
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.insert(t, []byte{7}, 40)
		want := c.all(t)
		panicking := func(f func()) {
			defer func() { require.Equal(t, "loop", recover()) }()
			f()
		}
		s := c.scan(t, selectAll, tablescan.Config{Workers: 1, PageBytes: 300})
		panicking(func() {
			for _, err := range s.Batches(t.Context()) {
				require.NoError(t, err)
				panic("loop")
			}
		})
		require.Zero(t, s.Progress().Rows)
		got := &rows{}
		for b, err := range s.Batches(t.Context()) {
			require.NoError(t, err)
			got.add(t, b)
		}
		requireSame(t, want, got)

		s = c.scan(t, selectAll, tablescan.Config{Workers: 1, PageBytes: 300})
		panicking(func() {
			for _, err := range tablescan.Rows[row](t.Context(), s) {
				require.NoError(t, err)
				panic("loop")
			}
		})
		require.Zero(t, s.Progress().Rows)
		n := 0
		for _, err := range tablescan.Rows[row](t.Context(), s) {
			require.NoError(t, err)
			n++
		}
		require.Len(t, want.count, n)
	})
}

// TestContextEndsAWaitForRows has pages without rows, which are requested at a bounded rate.
func TestContextEndsAWaitForRows(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.insert(t, []byte{7}, 5)
		s := c.scan(t, selectAll, tablescan.Config{Workers: 1})
		stop := errors.New("stop")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, stop)
		defer cancel()
		asked := c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", EmptyPage: true})
		require.ErrorIs(t, s.Run(ctx, func(int, *column.Batch) error { return nil }), stop)
		require.Greater(t, asked.Hits(), 100)
		require.Zero(t, s.Progress().Rows)
	})
}

// TestDriverRepeatsRequestsOfAScan fails one request on one node: the range does not fail.
func TestDriverRepeatsRequestsOfAScan(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.insert(t, []byte{7}, 5)
		s := c.scan(t, selectAll, tablescan.Config{Workers: 1})
		fault := c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", Times: 1, Close: true})
		require.NoError(t, s.Run(t.Context(), func(int, *column.Batch) error { return nil }))
		require.Equal(t, 1, fault.Hits())
		require.Zero(t, s.Progress().Failures)
	})
}

// TestBytesAreThoseOfTheBatches adds up batches of several pages. A scan acknowledges each batch as a whole.
func TestBytesAreThoseOfTheBatches(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.insert(t, []byte{7}, 300)
		s := c.scan(t, selectAll, tablescan.Config{Workers: 1, Tokens: true})
		want := 0
		require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error {
			for _, col := range b.Columns {
				want += len(col.Values) + 4*len(col.Offsets) + len(col.Validity)
			}
			return nil
		}))
		require.EqualValues(t, want, s.Progress().Bytes)
	})
}

func TestTokensOfATableWithoutAName(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		for _, table := range []string{"", "1", "t x", "ks."} {
			s, err := tablescan.Tokens(t.Context(), c.session, table, tablescan.Config{})
			var refused *tablescan.StatementError
			require.ErrorAs(t, err, &refused, table)
			require.Nil(t, s)
		}
	})
}

// TestRunEndsAfterItsRequests ends a scan while a request ahead is being made: Config.Query is not called, and no page
// is filled, after Run has returned.
func TestRunEndsAfterItsRequests(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.insert(t, keyOf(5), 300)
		made, release := 0, make(chan struct{})
		s := c.scan(t, selectAll, tablescan.Config{Ranges: []vecql.TokenRange{{Start: 0, End: 10}}, Query: func(*vecql.Query) {
			if made++; made == 2 {
				<-release
			}
		}})
		stop := errors.New("stop")
		ended := make(chan error, 1)
		go func() { ended <- s.Run(t.Context(), func(int, *column.Batch) error { return stop }) }()
		synctest.Wait()
		require.Empty(t, ended, "the request ahead has not ended")
		close(release)
		require.ErrorIs(t, <-ended, stop)
		require.Equal(t, 2, made)
	})
}

// TestDefaultWorkers has a batch of each worker at a time.
func TestDefaultWorkers(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.fill(t)
		s := c.scan(t, selectAll, tablescan.Config{})
		var mu sync.Mutex
		workers, release := map[int]bool{}, make(chan struct{})
		ended := make(chan error, 1)
		go func() {
			ended <- s.Run(t.Context(), func(worker int, _ *column.Batch) error {
				mu.Lock()
				workers[worker] = true
				mu.Unlock()
				<-release
				return nil
			})
		}()
		synctest.Wait()
		require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, slices.Sorted(maps.Keys(workers)))
		close(release)
		require.NoError(t, <-ended)
	})
}
