// SPDX-License-Identifier: Apache-2.0

package conn

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
		h.Add(&c.Latencies)
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
				body := GetBuffer(1024)
				defer body.Release()
				b.ReportAllocs()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				b.ResetTimer()
				for range inFlight {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							req := Request{Op: frame.OpExecute, Body: body}
							if latency {
								req.Began = time.Now() // in place of the connection
							}
							resp, err := c.RoundTrip(context.Background(), &req)
							if err != nil {
								b.Error(err)
								return
							}
							resp.Body.Release()
						}
					})
				}
				wg.Wait()
			})
		}
	}
}
