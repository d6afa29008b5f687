// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/pooled"
)

// TestIterClosesPageAhead closes an Iter while the page that it has requested ahead is in each state. The cluster
// checks that no buffer is left.
func TestIterClosesPageAhead(t *testing.T) {
	for name, m := range map[string]struct {
		answer  time.Duration // of the node, for the next page
		observe time.Duration // of an observer, before the page is handed over
		wait    time.Duration // before Close
		took    time.Duration // by Close
	}{
		"the page has arrived":     {wait: time.Second},
		"the page is awaited":      {answer: time.Minute, wait: time.Second},
		"the page is handed over":  {observe: 3 * time.Second, wait: time.Second, took: 2 * time.Second},
		"the page was not written": {answer: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
				columns := threeColumns(c)
				c.On(func(r *fakecql.Request) bool {
					if r.Op == fakecql.OpExecute {
						if r.State != nil {
							time.Sleep(m.answer)
						}
						r.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(0, 2), State: "next"})
					}
					return r.Op == fakecql.OpExecute
				})
				s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Timeout = 2 * time.Minute })
				pages := 0
				observer := Observer(func(context.Context, ObservedAttempt) {
					if pages++; pages == 2 {
						time.Sleep(m.observe)
					}
				})
				it := s.Query(selectRows).Prefetch(1).Observer(observer).Iter(t.Context())
				require.True(t, it.Scan(nil, nil, nil))
				require.NotNil(t, it.ahead)
				time.Sleep(m.wait)
				synctest.Wait()
				began := time.Now()
				require.NoError(t, it.Close())
				require.Equal(t, m.took, time.Since(began))
				require.Nil(t, it.ahead)
				require.NoError(t, it.Close(), "a second Close does nothing")
			})
		})
	}
}

// TestPageIsReleasedEarly counts the buffers of pages: none while a page is awaited, nor while the program has the rows
// of a page as a batch or a slice.
func TestPageIsReleasedEarly(t *testing.T) {
	if !pooled.Poisoned {
		t.Skip("buffers are counted in poisoned builds only")
	}
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		columns := threeColumns(c)
		held := make(chan int64, 100)
		var none int64
		requests := 0
		c.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpExecute {
				if time.Sleep(time.Millisecond); r.State != nil { // virtual: the client waits
					held <- pooled.Held.Load() - none
				}
				requests++
				r.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(0, 2), State: strconv.Itoa(requests)})
			}
			return r.Op == fakecql.OpExecute
		})
		s, ctx := sessionOn(c), context.Background()
		require.NoError(t, s.Query(selectRows).Exec(t.Context()))
		synctest.Wait()
		none = pooled.Held.Load()
		pages := s.Query(selectRows).Prefetch(-1)
		for _, err := range Rows[map[string]any](ctx, pages) {
			if require.NoError(t, err); len(held) > 1 {
				break
			}
		}
		for range 2 {
			require.EqualValues(t, 1, <-held, "the body of the request")
		}
		for _, err := range Pages[map[string]any](ctx, pages.PageState(cql.PageToken("first"))) {
			require.NoError(t, err)
			require.Equal(t, none, pooled.Held.Load())
			<-held
		}
		n := 0
		for _, err := range s.Query(selectRows).Batches(ctx) {
			require.NoError(t, err)
			synctest.Wait()
			if n++; n == 2 {
				require.Equal(t, none+1, pooled.Held.Load(), "the page ahead")
				break
			}
		}
	})
}
