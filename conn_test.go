// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file tests connections: events, timeouts, heartbeats, draining, and what a round trip allocates.

func TestConnEvents(t *testing.T) {
	s := &fakeServer{version: 4}
	s.handle = func(p *fakePeer, h wire.Header, body []byte) {
		b, _ := wire.AppendString(nil, "STATUS_CHANGE")
		b, _ = wire.AppendString(b, "UP")
		b = wire.AppendInt(append(b, 4, 127, 0, 0, 1), 9042)
		for range 5 {
			p.reply(-1, opEvent, b)
		}
		p.reply(-1, opEvent, []byte("\x00\x05OTHER"))
		echo(p, h, body)
	}
	block := make(chan struct{})
	got := make(chan any, 10)
	c := s.connect(t, func(cfg *connConfig) { cfg.onEvent = func(e any) { <-block; got <- e } })
	_, err := c.ask(context.Background(), "the reader does not wait for the receiver of events")
	require.NoError(t, err)
	close(block)
	for range 5 {
		require.Equal(t, "UP", (<-got).(statusEvent).change)
	}
}

// TestFault04StalledSocket is 4 on a socket. It has a server that reads nothing any more: callers get back by their contexts, whatever is stuck in the socket.
func TestFault04StalledSocket(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			stalled := make(chan struct{})
			defer close(stalled)
			s := &fakeServer{version: version, handle: func(*fakePeer, wire.Header, []byte) { <-stalled }}
			c := s.connect(t)
			var wg sync.WaitGroup
			body := strings.Repeat("x", 1<<20)
			for i := range 40 {
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(50+10*i)*time.Millisecond)
					defer cancel()
					began := time.Now()
					_, err := c.ask(ctx, body)
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("got %v", err)
					}
					if d := time.Since(began); d > 5*time.Second {
						t.Errorf("it took %v", d)
					}
				})
			}
			wg.Wait()
			require.False(t, c.closed(), "requests that time out don't close a connection")
		})
	}
}

func TestConnTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeServer{version: 4, handle: func(*fakePeer, wire.Header, []byte) {}}
		c := s.memory(t, func(cfg *connConfig) { cfg.timeout = 3 * time.Second })
		began := time.Now()
		_, err := c.ask(context.Background(), "question")
		require.ErrorIs(t, err, ErrTimeoutNoResponse)
		require.InDelta(t, 3*time.Second, time.Since(began), float64(2*tickInterval))
		require.True(t, mayHaveLeft(err))
		require.False(t, c.closed())
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		began = time.Now()
		_, err = c.ask(ctx, "question") // the context's deadline is the only one
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(began))
		c.close(errDrained)
		<-c.gone
		s.stop()
	})
}

// TestConnHeartbeat has a busy connection, which is not asked, fall idle.
func TestConnHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var options atomic.Int32
		s := &fakeServer{version: 4, handle: echo}
		s.wrap = func(c net.Conn) net.Conn { return countOptions{c, &options} }
		c := s.memory(t, func(cfg *connConfig) { cfg.heartbeat = 10 * time.Second })
		asked := options.Load()
		for range 30 {
			_, err := c.ask(context.Background(), "question")
			require.NoError(t, err)
			time.Sleep(5 * time.Second)
		}
		require.Equal(t, asked, options.Load())
		time.Sleep(time.Minute)
		require.Greater(t, options.Load(), asked)
		c.close(errDrained)
		<-c.gone
		s.stop()
	})
}

// countOptions counts the answers to OPTIONS.
type countOptions struct {
	net.Conn
	n *atomic.Int32
}

func (c countOptions) Write(b []byte) (int, error) {
	if opcode(b[4]) == opSupported {
		c.n.Add(1)
	}
	return c.Conn.Write(b)
}

func TestConnDrain(t *testing.T) {
	release := make(chan struct{})
	s := &fakeServer{version: 5}
	s.handle = func(p *fakePeer, h wire.Header, body []byte) { go func() { <-release; echo(p, h, body) }() }
	c := s.connect(t)
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			if answer, err := c.ask(context.Background(), fmt.Sprint(i)); err != nil || answer != fmt.Sprint(i) {
				t.Errorf("got %q, %v", answer, err)
			}
		})
	}
	require.Eventually(t, func() bool { return c.inFlight() == 1000 }, 5*time.Second, time.Millisecond)
	drained := make(chan error, 1)
	go func() { drained <- c.drain(context.Background()) }()
	require.Eventually(t, c.draining.Load, 5*time.Second, time.Millisecond)
	_, err := c.ask(context.Background(), "refused")
	require.False(t, mayHaveLeft(err))
	close(release)
	require.NoError(t, <-drained)
	wg.Wait()
	require.True(t, c.closed())
	require.NoError(t, c.drain(context.Background()), "again")
}

func TestConnDrainGivesUp(t *testing.T) {
	s := &fakeServer{version: 4, handle: func(*fakePeer, wire.Header, []byte) {}}
	c := s.connect(t)
	failed := make(chan error, 1)
	go func() { _, err := c.ask(context.Background(), "never"); failed <- err }()
	require.Eventually(t, func() bool { return c.inFlight() == 1 }, 5*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.drain(ctx), context.DeadlineExceeded)
	require.ErrorIs(t, <-failed, ErrConnectionClosed)
}

func TestConnRoundTripAllocates(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			s := &fakeServer{version: version, handle: echoForever}
			c := s.connect(t)
			body := getBuffer(1000)
			defer body.release()
			req := &request{op: opExecute, body: body}
			once := func() {
				resp, err := c.roundTrip(context.Background(), req)
				if err != nil {
					t.Fatal(err)
				}
				resp.page.release()
			}
			for range 2000 { // every stream id has been used, every buffer has its size
				once()
			}
			if poison {
				return // the race detector's pools drop what is put into them now and then
			}
			require.Zero(t, testing.AllocsPerRun(500, once))
		})
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	for _, version := range []byte{4, 5} {
		for _, inFlight := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("version=%d/inflight=%d", version, inFlight), func(b *testing.B) {
				s := &fakeServer{version: version, handle: echoForever}
				c := s.connect(b)
				body := getBuffer(1024)
				defer body.release()
				b.SetBytes(int64(len(body.b)))
				b.ReportAllocs()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				b.ResetTimer()
				for range inFlight {
					wg.Go(func() {
						req := &request{op: opExecute, body: body}
						for left.Add(-1) >= 0 {
							resp, err := c.roundTrip(context.Background(), req)
							if err != nil {
								b.Error(err)
								return
							}
							resp.page.release()
						}
					})
				}
				wg.Wait()
			})
		}
	}
}

// FuzzConnReader has the server send anything, in the handshake or after it: the connection must end, or go on, without a panic, a hang
// or a leak.
func FuzzConnReader(f *testing.F) {
	f.Add(byte(4), true, []byte{0x84, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0})
	f.Add(byte(5), false, []byte{0x85, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0x85, 0, 0, 0, 2, 0, 0, 0, 0})
	f.Add(byte(4), true, []byte{0x84, 0, 0, 0, 8, 0x0F, 0xFF, 0xFF, 0xFF, 1, 2, 3})
	f.Fuzz(func(t *testing.T, version byte, shake bool, data []byte) {
		version = 4 + version%2
		before := outstanding.Load()
		s := &fakeServer{version: version, handle: func(p *fakePeer, h wire.Header, _ []byte) {
			_, _ = p.conn.Write(data)
			_ = p.conn.Close()
		}}
		cfg := s.testConfig()
		cfg.dial = func(context.Context, string) (net.Conn, error) {
			client, server := newPipe()
			if shake {
				s.accept(server)
				return client, nil
			}
			s.wg.Go(func() {
				go func() { _, _ = io.Copy(io.Discard, server) }()
				_, _ = server.Write(data)
				_ = server.Close()
			})
			return client, nil
		}
		if c, err := dialConn(context.Background(), cfg, "127.0.0.1:9042"); err == nil {
			_, _ = c.ask(context.Background(), "question")
			c.close(errDrained)
			<-c.gone
		}
		s.stop()
		if n := outstanding.Load(); n != before {
			t.Fatalf("%d buffers not released", n-before)
		}
	})
}
