// SPDX-License-Identifier: Apache-2.0

package conn

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

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/stats"
)

// Tests of connections: events, timeouts, heartbeats, draining, and the allocations of a round trip.

func TestConnEvents(t *testing.T) {
	s := &fakecql.Server{Version: 4}
	s.Handle = func(p *fakecql.Conn, h wire.Header, body []byte) {
		b, _ := wire.AppendString(nil, "STATUS_CHANGE")
		b, _ = wire.AppendString(b, "UP")
		b = wire.AppendInt(append(b, 4, 127, 0, 0, 1), 9042)
		for range 5 {
			p.Reply(-1, fakecql.OpEvent, b)
		}
		p.Reply(-1, fakecql.OpEvent, []byte("\x00\x05OTHER"))
		fakecql.Echo(p, h, body)
	}
	block := make(chan struct{})
	got := make(chan any, 10)
	c := connectTo(t, s, func(cfg *Config) { cfg.OnEvent = func(e any) { <-block; got <- e } })
	_, err := c.ask(context.Background(), "the reader does not wait for the receiver of events")
	require.NoError(t, err)
	close(block)
	for range 5 {
		require.Equal(t, "UP", (<-got).(frame.StatusEvent).Change)
	}
}

// TestEventsComeOneByOne requires that a slow receiver gets the events in their order, the next one after it has
// returned, also when events arrive after a pause.
func TestEventsComeOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := byte(0)
		s := &fakecql.Server{Version: frame.V5, Handle: func(p *fakecql.Conn, h wire.Header, body []byte) {
			for range 3 {
				sent++
				p.Push(fakecql.EventBody("STATUS_CHANGE", "UP", net.IP{127, 0, 0, sent}))
			}
			fakecql.Echo(p, h, body)
		}}
		var running atomic.Int32
		var got []string
		c := connectInMemory(t, s, func(cfg *Config) {
			cfg.OnEvent = func(e any) {
				if n := running.Add(1); n != 1 {
					t.Errorf("%d events at a time", n)
				}
				time.Sleep(time.Second)
				got = append(got, e.(frame.StatusEvent).Addr.Addr().String())
				running.Add(-1)
			}
		})
		defer endConn(c, s)
		for range 2 {
			_, err := c.ask(t.Context(), "question")
			require.NoError(t, err)
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		require.Equal(t, []string{"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"}, got)
	})
}

// TestFault04StalledSocket is fault 4 on a socket. The server stops reading: the contexts of callers end their calls,
// even if bytes are stuck in the socket.
func TestFault04StalledSocket(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			stalled := make(chan struct{})
			defer close(stalled)
			s := &fakecql.Server{Version: version, Handle: func(*fakecql.Conn, wire.Header, []byte) { <-stalled }}
			c := connectTo(t, s)
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
					if d := time.Since(began); d > 30*time.Second {
						t.Errorf("it took %v", d)
					}
				})
			}
			wg.Wait()
			require.False(t, c.Closed(), "requests that time out do not close a connection")
		})
	}
}

func TestConnTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakecql.Server{Version: 4, Handle: func(*fakecql.Conn, wire.Header, []byte) {}}
		c := connectInMemory(t, s, func(cfg *Config) { cfg.Timeout = 3 * time.Second })
		began := time.Now()
		_, err := c.ask(context.Background(), "question")
		require.ErrorIs(t, err, ErrTimeout)
		require.InDelta(t, 3*time.Second, time.Since(began), float64(2*TickInterval))
		require.True(t, mayHaveLeft(err))
		require.False(t, c.Closed())
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		began = time.Now()
		_, err = c.ask(ctx, "question") // the context's deadline is the only one
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(began))
		c.Close(ErrDrained)
		<-c.tasks.Done()
		s.Stop()
	})
}

// TestConnHeartbeat has a busy connection, which sends no heartbeat, become idle.
func TestConnHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var options atomic.Int32
		s := &fakecql.Server{Version: 4, Handle: fakecql.Echo}
		s.Wrap = func(c net.Conn) net.Conn { return countOptions{c, &options} }
		c := connectInMemory(t, s, func(cfg *Config) { cfg.Heartbeat = 10 * time.Second })
		asked := options.Load()
		for range 30 {
			_, err := c.ask(context.Background(), "question")
			require.NoError(t, err)
			time.Sleep(5 * time.Second)
		}
		require.Equal(t, asked, options.Load())
		time.Sleep(time.Minute)
		require.Greater(t, options.Load(), asked)
		c.Close(ErrDrained)
		<-c.tasks.Done()
		s.Stop()
	})
}

// countOptions counts the responses to OPTIONS.
type countOptions struct {
	net.Conn
	n *atomic.Int32
}

func (c countOptions) Write(b []byte) (int, error) {
	if frame.Opcode(b[4]) == frame.OpSupported {
		c.n.Add(1)
	}
	return c.Conn.Write(b)
}

func TestConnDrain(t *testing.T) {
	release := make(chan struct{})
	var asked atomic.Int32
	s := &fakecql.Server{Version: 5}
	s.Handle = func(p *fakecql.Conn, h wire.Header, body []byte) {
		if !strings.Contains(string(body), probeStatement) { // callers that wait long start probes
			asked.Add(1)
		}
		go func() { <-release; fakecql.Echo(p, h, body) }()
	}
	c := connectTo(t, s)
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			if answer, err := c.ask(context.Background(), fmt.Sprint(i)); err != nil || answer != fmt.Sprint(i) {
				t.Errorf("got %q, %v", answer, err)
			}
		})
	}
	require.Eventually(t, func() bool { return asked.Load() == 1000 }, time.Minute, time.Millisecond)
	drained := make(chan error, 1)
	go func() { drained <- c.Drain(context.Background(), stats.EndClosed) }()
	require.Eventually(t, c.Draining.Load, 5*time.Second, time.Millisecond)
	_, err := c.ask(context.Background(), "refused")
	require.False(t, mayHaveLeft(err))
	close(release)
	require.NoError(t, <-drained)
	wg.Wait()
	require.True(t, c.Closed())
	require.NoError(t, c.Drain(context.Background(), stats.EndClosed), "again")
}

func TestConnDrainGivesUp(t *testing.T) {
	s := &fakecql.Server{Version: 4, Handle: func(*fakecql.Conn, wire.Header, []byte) {}}
	c := connectTo(t, s)
	failed := make(chan error, 1)
	go func() { _, err := c.ask(context.Background(), "never"); failed <- err }()
	require.Eventually(t, func() bool { return c.InFlight() == 1 }, 5*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.Drain(ctx, stats.EndClosed), context.DeadlineExceeded)
	require.ErrorIs(t, <-failed, ErrClosed)
}

func TestConnRoundTripAllocates(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			s := &fakecql.Server{Version: version, Handle: fakecql.EchoForever}
			c := connectTo(t, s)
			body := GetBuffer(1000)
			defer body.Release()
			req := &Request{Op: frame.OpExecute, Body: body}
			once := func() {
				resp, err := c.RoundTrip(context.Background(), req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Release()
			}
			for range 2000 { // use every stream id and grow every buffer first
				once()
			}
			if poison {
				return // with the race detector, pools drop buffers at random
			}
			require.Zero(t, testing.AllocsPerRun(500, once))
		})
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	for _, version := range []byte{4, 5} {
		for _, inFlight := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("version=%d/inflight=%d", version, inFlight), func(b *testing.B) {
				s := &fakecql.Server{Version: version, Handle: fakecql.EchoForever}
				c := connectTo(b, s)
				body := GetBuffer(1024)
				defer body.Release()
				b.SetBytes(int64(len(body.B)))
				b.ReportAllocs()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				b.ResetTimer()
				for range inFlight {
					wg.Go(func() {
						req := &Request{Op: frame.OpExecute, Body: body}
						for left.Add(-1) >= 0 {
							resp, err := c.RoundTrip(context.Background(), req)
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

// FuzzConnReader has the server send any bytes, in the handshake or after it: the connection must end or continue,
// without a panic, a hang or a leak.
func FuzzConnReader(f *testing.F) {
	f.Add(byte(4), true, []byte{0x84, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0})
	f.Add(byte(5), false, []byte{0x85, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0x85, 0, 0, 0, 2, 0, 0, 0, 0})
	f.Add(byte(4), true, []byte{0x84, 0, 0, 0, 8, 0x0F, 0xFF, 0xFF, 0xFF, 1, 2, 3})
	f.Fuzz(func(t *testing.T, version byte, shake bool, data []byte) {
		version = 4 + version%2
		before := outstanding.Load()
		s := &fakecql.Server{Version: version, Handle: func(p *fakecql.Conn, h wire.Header, _ []byte) {
			_, _ = p.Conn.Write(data)
			_ = p.Conn.Close()
		}}
		cfg := testConfigOf(s)
		cfg.Dial = func(context.Context, string) (net.Conn, error) {
			client, server := fakecql.NewPipe()
			if shake {
				s.Accept(server)
				return client, nil
			}
			s.Go(func() {
				go func() { _, _ = io.Copy(io.Discard, server) }()
				_, _ = server.Write(data)
				_ = server.Close()
			})
			return client, nil
		}
		if c, err := Dial(context.Background(), cfg, "127.0.0.1:9042"); err == nil {
			_, _ = c.ask(context.Background(), "question")
			c.Close(ErrDrained)
			<-c.tasks.Done()
		}
		s.Stop()
		if n := outstanding.Load(); n != before {
			t.Fatalf("%d buffers not released", n-before)
		}
	})
}

// TestCanceledCallIsNotSent requires that a call whose context has ended is not sent, and that one of a context that
// ends later may have been.
func TestCanceledCallIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		s := &fakecql.Server{Version: 4, Handle: func(_ *fakecql.Conn, _ wire.Header, b []byte) {
			if string(b) == "question" { // the driver sends probes too
				asked.Add(1)
			}
		}}
		c := connectInMemory(t, s)
		defer endConn(c, s)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := c.ask(ctx, "question")
		require.ErrorIs(t, err, context.Canceled)
		require.True(t, mayHaveLeft(err))
		require.EqualValues(t, 1, asked.Load())
		_, err = c.ask(ctx, "question")
		require.ErrorIs(t, err, context.Canceled)
		require.False(t, mayHaveLeft(err))
		synctest.Wait()
		require.EqualValues(t, 1, asked.Load())
	})
}

// TestRegistrationThatCannotBeWritten requires that an event type longer than its length field is an error, and sent
// nowhere.
func TestRegistrationThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		s := &fakecql.Server{Version: frame.V5, Handle: func(p *fakecql.Conn, h wire.Header, _ []byte) {
			asked.Add(1)
			p.Reply(h.Stream, fakecql.OpReady, nil)
		}}
		c := connectInMemory(t, s)
		defer endConn(c, s)
		require.ErrorIs(t, Register(t.Context(), c, []string{strings.Repeat("x", 1<<16)}), wire.ErrTooLong)
		require.Zero(t, asked.Load())
		require.NoError(t, Register(t.Context(), c, []string{strings.Repeat("x", 1<<16-1)}))
		require.EqualValues(t, 1, asked.Load())
	})
}
