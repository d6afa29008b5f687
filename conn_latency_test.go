// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/stats"
)

// Latencies of nodes and connections.

// TestLatencyOfNodes has a node that answers after 40 ms, also to a request that has timed out.
func TestLatencyOfNodes(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		slow := c.Nodes[1]
		c.On(func(r *fakecql.Request) bool {
			if r.Stmt == "SLOW" {
				time.Sleep(40 * time.Millisecond)
			}
			return false
		})
		for range 3 {
			require.NoError(t, s.Query("SLOW").HostID(slow.ID.String()).Exec(t.Context()))
		}
		at := func() stats.Histogram { return s.Stats().Nodes[1].Latency }
		require.EqualValues(t, 3, at().Count())
		require.Equal(t, 40*time.Millisecond, at().Mean())
		require.Error(t, s.Query("SLOW").HostID(slow.ID.String()).RequestTimeout(20*time.Millisecond).Exec(t.Context()))
		time.Sleep(time.Second)
		require.EqualValues(t, 4, at().Count(), "an answer counts even if its caller has left")
		require.Equal(t, 40*time.Millisecond, at().Mean())
		require.Zero(t, s.Stats().Nodes[0].Latency.Count(), "statements of the driver are not counted")
		before := at()
		poolOf(s, slow).pick().close(ErrConnectionClosed)
		time.Sleep(time.Second)
		require.Equal(t, before, at(), "latencies outlive their connections")
	})
}

// TestLatencyOfAnAnswer requires that the latency of an answer is in the histogram and in the usual latency of the
// connection, and nothing if the request has not read the clock.
func TestLatencyOfAnAnswer(t *testing.T) {
	for _, m := range []struct{ began, readAt, want, usual int64 }{
		{0, 1000, 0, 0}, {1, 1601, 1600, 100}, {2000, 1000, 0, -62},
	} {
		c := newIdleConn()
		c.readAt = m.readAt
		require.EqualValues(t, m.want, c.recordLatency(&slot{began: m.began}))
		var h stats.Histogram
		h.Add(&c.latencies)
		require.Equal(t, m.began != 0, h.Count() == 1)
		require.EqualValues(t, m.want, h.Sum())
		require.Equal(t, m.usual, c.usual.Load())
	}
}

// BenchmarkRoundTripLatency is a request on a connection with and without the recording of its latency.
func BenchmarkRoundTripLatency(b *testing.B) {
	for _, inFlight := range []int{1, 256} {
		for _, latency := range []bool{false, true} {
			b.Run(fmt.Sprintf("inflight=%d/latency=%v", inFlight, latency), func(b *testing.B) {
				c := connectTo(b, &fakecql.Server{Version: frame.V5, Handle: fakecql.EchoForever})
				body := getBuffer(1024)
				defer body.release()
				b.ReportAllocs()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				b.ResetTimer()
				for range inFlight {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							req := request{op: frame.OpExecute, body: body}
							if latency {
								req.began = time.Now() // in place of the connection
							}
							resp, err := c.roundTrip(context.Background(), &req)
							if err != nil {
								b.Error(err)
								return
							}
							resp.body.release()
						}
					})
				}
				wg.Wait()
			})
		}
	}
}
