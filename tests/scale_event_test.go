// SPDX-License-Identifier: Apache-2.0

//go:build unix

package tests

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
)

// The work of an event in a large cluster: bytes from the servers and time of the processor.

// countingDialer counts the bytes that its connections read.
type countingDialer struct {
	net.Dialer
	read atomic.Int64
}

func (d *countingDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.Dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &countingConn{c, &d.read}, nil
}

type countingConn struct {
	net.Conn
	read *atomic.Int64
}

func (c *countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

// processorTime returns the time that processors ran this process.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkScaleEvent sends events about one node of a large cluster, each after the one before was served: UP and DOWN
// of a known node, whose row is read, and UP of an unknown address, which reads all rows. Metrics of one event: bytes
// that the session read, and time of the processor.
func BenchmarkScaleEvent(b *testing.B) {
	for _, nodes := range []int{100, 1000} {
		hosts, events := startScale(b, nodes, 0)
		dialer := &countingDialer{}
		cfg := vecql.ClusterConfig{Hosts: hosts[:1], Logger: slog.New(slog.DiscardHandler)}
		cfg.Pool.Dialer, cfg.Pool.NumConns, cfg.Pool.HeartbeatInterval = dialer, 1, -1
		cfg.Timeout, cfg.ConnectTimeout, cfg.Nodes.ReconnectInterval = time.Minute, time.Minute, time.Hour
		s, err := vecql.NewSession(b.Context(), cfg)
		require.NoError(b, err)
		for began := time.Now(); s.Stats().ConnectionsOpened < uint64(nodes)+1; time.Sleep(time.Millisecond) {
			require.Less(b, time.Since(began), 2*time.Minute, "connections are missing")
		}
		time.Sleep(3 * time.Second) // the events of the start are served
		for _, event := range []struct {
			name string
			node int
		}{{"UP", nodes - 1}, {"DOWN", nodes - 1}, {"UP", -1}} {
			b.Run(fmt.Sprintf("nodes=%d/event=%s/known=%t", nodes, event.name, event.node >= 0), func(b *testing.B) {
				read, spent := dialer.read.Load(), processorTime(b)
				for b.Loop() {
					before := dialer.read.Load()
					_, err := fmt.Fprintln(events, event.name, event.node)
					require.NoError(b, err)
					for began := time.Now(); dialer.read.Load() < before+500; time.Sleep(200 * time.Millisecond) {
						require.Less(b, time.Since(began), time.Minute, "the event is not served")
					}
					time.Sleep(500 * time.Millisecond) // the rest of the rows
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(dialer.read.Load()-read)/float64(b.N), "B-read/event")
				b.ReportMetric(float64((processorTime(b)-spent).Microseconds())/float64(b.N), "cpu-us/event")
			})
		}
		s.Close()
	}
}
