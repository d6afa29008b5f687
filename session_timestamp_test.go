// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
)

// Write timestamps under fault 32, a clock that steps back.

// TestFault32ClockStepsBack: the wall clock steps back by an hour, many times, during requests. The timestamps of a
// session must strictly increase, and follow the clock again once it has caught up.
func TestFault32ClockStepsBack(t *testing.T) {
	t.Run("one caller", func(t *testing.T) {
		s := bareSession()
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		last := s.nextTimestamp(now)
		require.Equal(t, now.UnixMicro(), last)
		for _, step := range []time.Duration{0, time.Microsecond, -time.Hour, 0, -time.Nanosecond, time.Second, -24 * time.Hour} {
			now = now.Add(step)
			next := s.nextTimestamp(now)
			require.Greater(t, next, last, "the clock was set by %v", step)
			last = next
		}
		now = now.Add(48 * time.Hour)
		require.Equal(t, now.UnixMicro(), s.nextTimestamp(now), "the timestamp follows the clock")
	})
	t.Run("many callers", func(t *testing.T) {
		s := bareSession()
		began := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
		var wg sync.WaitGroup
		given := make([][]int64, 8)
		for g := range given {
			wg.Go(func() {
				for i := range 2000 {
					clock := began.Add(time.Duration(i) * time.Millisecond)
					if i/100%2 == 1 {
						clock = clock.Add(-time.Hour)
					}
					given[g] = append(given[g], s.nextTimestamp(clock))
				}
			})
		}
		wg.Wait()
		all := slices.Concat(given...)
		for _, own := range given {
			require.True(t, slices.IsSorted(own))
		}
		slices.Sort(all)
		require.Len(t, slices.Compact(slices.Clone(all)), 8*2000, "a timestamp was used twice")
		later := began.Add(time.Hour)
		require.Equal(t, later.UnixMicro(), s.nextTimestamp(later))
	})
	t.Run("on the wire", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newFakeCluster(t, frame.V5, 1)
			var sent []int64
			c.On(func(r *fakecql.Request) bool {
				if r.Op == fakecql.OpExecute {
					sent = append(sent, r.Timestamp)
				}
				return false
			})
			s := sessionOn(c)
			require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
			require.Equal(t, time.Now().UnixMicro(), sent[0])
			ahead := time.Now().Add(time.Hour)
			s.nextTimestamp(ahead) // as by a request an hour ahead
			for range 50 {
				require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
				time.Sleep(10 * time.Second)
			}
			require.Equal(t, ahead.UnixMicro()+1, sent[1])
			for i := 1; i < len(sent); i++ {
				require.Greater(t, sent[i], sent[i-1])
			}
			time.Sleep(time.Hour)
			require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
			require.Equal(t, time.Now().UnixMicro(), sent[len(sent)-1], "the clock has caught up")
		})
	})
}
