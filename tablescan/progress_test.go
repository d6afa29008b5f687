// SPDX-License-Identifier: Apache-2.0

package tablescan_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
)

// TestProgressIsTheShareOfTokens reads four quarters of the ring with a row at the start of each.
func TestProgressIsTheShareOfTokens(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		bounds := []int64{math.MinInt64, math.MinInt64 / 2, 0, math.MaxInt64/2 + 1, math.MaxInt64}
		var ranges []vecql.TokenRange
		for i, start := range bounds[:4] {
			ranges = append(ranges, vecql.TokenRange{Start: start, End: bounds[i+1]})
			c.insert(t, keyOf(start+1), 1)
		}
		s := c.scan(t, selectAll, tablescan.Config{Ordered: true, Ranges: ranges})
		var done []float64
		require.NoError(t, s.Run(t.Context(), func(int, *column.Batch) error {
			done = append(done, s.Progress().Done)
			return nil
		}))
		require.Len(t, done, 4)
		for i := range done {
			require.InDelta(t, float64(i)/4, done[i], .01)
		}
		require.Equal(t, 1.0, s.Progress().Done)
	})
}

// TestStateIsRefusedByEachCode has the codes with which servers of other versions refuse the state of a page.
func TestStateIsRefusedByEachCode(t *testing.T) {
	for name, code := range map[string]int32{
		"invalid": cqltest.CodeInvalid, "protocol": cqltest.CodeProtocol, "server": cqltest.CodeServer,
	} {
		t.Run(name, func(t *testing.T) {
			onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
				rule := c.Inject(cqltest.Fault{
					Op: cqltest.OpExecute, Statement: "token", Times: 4, Error: &cqltest.Error{Code: code},
					Match: func(r cqltest.Request) bool { return r.Paged },
				})
				c.run(t, tablescan.Config{PageBytes: 150}, func(int64) {})
				require.Equal(t, 4, rule.Hits())
			})
		})
	}
}

// TestClosedSessionEndsAScan requires no further attempt after the session was closed.
func TestClosedSessionEndsAScan(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.fill(t)
		s := c.scan(t, selectAll, tablescan.Config{Workers: 1, PageBytes: 150})
		began := time.Now()
		err := s.Run(t.Context(), func(int, *column.Batch) error {
			c.session.Close()
			return nil
		})
		require.ErrorIs(t, err, vecql.ErrSessionClosed)
		require.Zero(t, s.Progress().Failures)
		require.Less(t, time.Since(began), time.Second)
	})
}
