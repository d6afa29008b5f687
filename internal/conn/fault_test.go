// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/stats"
)

// Faults of connections: concurrent events, and a peer, user or network that misbehaves.

// returns fails the test if f does not return.
func returns(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		buf := make([]byte, 1<<20)
		t.Fatalf("%s hangs:\n%s", what, buf[:runtime.Stack(buf, true)])
	}
}

// TestConnDrainWhileGivenUp drains while a caller leaves: drain does not wait for the orphan.
func TestConnDrainWhileGivenUp(t *testing.T) {
	s := &fakecql.Server{Version: 4, Handle: func(*fakecql.Conn, wire.Header, []byte) {}}
	c := connectTo(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error, 1)
	go func() { _, err := c.ask(ctx, "never"); failed <- err }()
	require.Eventually(t, func() bool { return c.InFlight() == 1 }, 5*time.Second, time.Millisecond)
	drained := make(chan error, 1)
	go func() { drained <- c.Drain(context.Background(), stats.EndClosed) }()
	require.Eventually(t, c.Draining.Load, 5*time.Second, time.Millisecond)
	time.Sleep(5 * time.Millisecond) // drain waits
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	returns(t, "drain", func() { require.NoError(t, <-drained) })
}

// TestConnDrainOutlastsHeartbeat drains for longer than a heartbeat: the heartbeat keeps the connection open.
func TestConnDrainOutlastsHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakecql.Server{Version: 4}
		s.Handle = func(p *fakecql.Conn, h wire.Header, body []byte) {
			time.AfterFunc(time.Minute, func() { fakecql.Echo(p, h, body) })
		}
		c := connectInMemory(t, s, func(cfg *Config) { cfg.Heartbeat, cfg.Timeout = 5*time.Second, 2*time.Minute })
		got := make(chan error, 1)
		go func() { _, err := c.ask(context.Background(), "slow"); got <- err }()
		time.Sleep(time.Second)
		require.NoError(t, c.Drain(context.Background(), stats.EndClosed))
		require.NoError(t, <-got)
		s.Stop()
	})
}

// TestConnDrainWithBlockedCallback has a callback that does not return: the context ends drain.
func TestConnDrainWithBlockedCallback(t *testing.T) {
	block := make(chan struct{})
	s := &fakecql.Server{Version: 4}
	c := connectTo(t, s, func(cfg *Config) { cfg.OnClose = func(*Conn, error) { <-block } })
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	returns(t, "drain", func() { require.ErrorIs(t, c.Drain(ctx, stats.EndClosed), context.DeadlineExceeded) })
	close(block)
}

// slowConn writes rate bytes a second once rate is set.
type slowConn struct {
	net.Conn
	rate *atomic.Int64
}

func (c slowConn) Write(b []byte) (int, error) {
	rate := int(c.rate.Load())
	if rate == 0 {
		return c.Conn.Write(b)
	}
	for at := 0; at < len(b); at += rate {
		time.Sleep(time.Second)
		if _, err := c.Conn.Write(b[at:min(at+rate, len(b))]); err != nil {
			return at, err
		}
	}
	return len(b), nil
}

// TestConnSlowAnswer has a large response that takes much longer than two heartbeats: its bytes count as signs of life.
func TestConnSlowAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rate atomic.Int64
		s := &fakecql.Server{Version: 4, Handle: fakecql.Echo, Wrap: func(c net.Conn) net.Conn { return slowConn{c, &rate} }}
		c := connectInMemory(t, s, func(cfg *Config) { cfg.Heartbeat, cfg.Timeout = 5*time.Second, time.Hour })
		rate.Store(progressSize / 2)
		question := strings.Repeat("q", 100*progressSize)
		answer, err := c.ask(context.Background(), question)
		require.NoError(t, err)
		require.Equal(t, len(question), len(answer))
		rate.Store(0)
		require.NoError(t, c.Drain(context.Background(), stats.EndClosed))
		s.Stop()
	})
}

// hiddenConn hides the type of a connection, as a user's wrapper does.
type hiddenConn struct{ net.Conn }

// TestFault04StalledTLS is fault 4 over TLS, and for sockets whose writes cannot be continued: they delay neither a
// context nor a timeout.
func TestFault04StalledTLS(t *testing.T) {
	server, client := fakecql.TLSPair(t, "127.0.0.1")
	for _, m := range []struct {
		name   string
		change func(*Config)
		tls    bool
	}{
		{"tls", func(cfg *Config) { cfg.TLS = client }, true},
		{"TLS of the user's dialer", func(cfg *Config) {
			cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
				c, err := (&tls.Dialer{Config: client}).DialContext(ctx, "tcp", addr)
				return hiddenConn{c}, err
			}
		}, true},
		{"a wrapper", func(cfg *Config) {
			cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
				c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
				return hiddenConn{c}, err
			}
		}, false},
	} {
		t.Run(m.name, func(t *testing.T) {
			stalled := make(chan struct{})
			defer close(stalled)
			s := &fakecql.Server{Version: 5, Handle: func(*fakecql.Conn, wire.Header, []byte) { <-stalled }}
			if m.tls {
				s.Wrap = func(c net.Conn) net.Conn { return tls.Server(c, server) }
			}
			c := connectTo(t, s, func(cfg *Config) { m.change(cfg); cfg.Timeout = 200 * time.Millisecond })
			body := strings.Repeat("x", 2<<20)
			returns(t, "a caller", func() {
				var wg sync.WaitGroup
				for i := range 12 {
					wg.Go(func() {
						ctx, want := context.Background(), ErrTimeout
						if i%2 == 0 {
							var cancel context.CancelFunc
							ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
							defer cancel()
							want = context.DeadlineExceeded
						}
						if _, err := c.ask(ctx, body); !errors.Is(err, want) {
							t.Errorf("got %v, want %v", err, want)
						}
					})
				}
				wg.Wait()
			})
			require.False(t, c.Closed())
			began := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			_ = c.Drain(ctx, stats.EndClosed)
			require.Less(t, time.Since(began), 4*time.Second, "closing does not wait for the TLS close alert")
		})
	}
}

// TestConnStalledWriteGoesOn has a server that stops reading and continues: an interrupted write must arrive whole.
func TestConnStalledWriteGoesOn(t *testing.T) {
	server, client := fakecql.TLSPair(t, "127.0.0.1")
	for _, m := range []struct {
		version byte
		tls     bool
	}{{4, false}, {5, false}, {4, true}, {5, true}} {
		t.Run(fmt.Sprintf("version=%d/tls=%v", m.version, m.tls), func(t *testing.T) {
			var once sync.Once
			s := &fakecql.Server{Version: m.version, Handle: func(p *fakecql.Conn, h wire.Header, b []byte) {
				once.Do(func() { time.Sleep(10 * TickInterval) })
				fakecql.Echo(p, h, b)
			}}
			if m.tls {
				s.Wrap = func(c net.Conn) net.Conn { return tls.Server(c, server) }
			}
			c := connectTo(t, s, func(cfg *Config) {
				if m.tls {
					cfg.TLS, cfg.Timeout = client, time.Minute
				}
			})
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() {
					question := strings.Repeat(fmt.Sprintf("%02d.", i), 1<<19)
					if answer, err := c.ask(context.Background(), question); err != nil || answer != question {
						t.Errorf("%d: got %.10q of %d bytes, %v", i, answer, len(answer), err)
					}
				})
			}
			returns(t, "a caller", wg.Wait)
		})
	}
}

func TestConnLargeFrames(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			s := &fakecql.Server{Version: version}
			c := connectTo(t, s, func(cfg *Config) { cfg.Timeout = time.Minute })
			largest := 20 << 20
			if poison {
				largest = 4 << 20
			}
			for _, n := range []int{wire.InputLeast - wire.HeaderSize, wire.InputMost - wire.HeaderSize, wire.MaxPayload - wire.HeaderSize, wire.MaxPayload, readStep + 1, largest} {
				question := strings.Repeat("0123456789abcdef", n/16) + strings.Repeat("x", n%16)
				answer, err := c.ask(context.Background(), question)
				require.NoError(t, err)
				require.True(t, question == answer, "%d bytes: the response differs", n)
			}
			c.w.mu.Lock()
			defer c.w.mu.Unlock()
			require.LessOrEqual(t, cap(c.w.spare)+cap(c.w.segments)+cap(c.w.sealed), 2*maxKept, "memory of large chunks is dropped")
		})
	}
	t.Run("above the limit", func(t *testing.T) {
		s := &fakecql.Server{Version: 4}
		c := connectTo(t, s)
		body := GetBuffer(wire.MaxBody + 1)
		defer body.Release()
		_, err := c.RoundTrip(context.Background(), &Request{Op: frame.OpQuery, Body: body})
		require.ErrorIs(t, err, frame.ErrTooBig)
		require.False(t, mayHaveLeft(err))
		_, err = c.ask(context.Background(), "the connection still works")
		require.NoError(t, err)
	})
}

// badCompressor is a faulty Compressor of a user.
type badCompressor struct {
	frame.LZ4
	send, receive bool // whether compression or decompression panics
}

func (b badCompressor) AppendCompressed(dst, src []byte) ([]byte, error) {
	if b.send {
		panic("oops")
	}
	return b.LZ4.AppendCompressed(dst, src)
}

func (b badCompressor) AppendCompressedWithLength(dst, src []byte) ([]byte, error) {
	if b.send {
		panic("oops")
	}
	return b.LZ4.AppendCompressedWithLength(dst, src)
}

func (b badCompressor) AppendDecompressed(dst, src []byte, n int) ([]byte, error) {
	if b.receive {
		panic("oops")
	}
	return b.LZ4.AppendDecompressed(dst, src, n)
}

func (b badCompressor) AppendDecompressedWithLength(dst, src []byte, limit int) ([]byte, error) {
	if b.receive {
		panic("oops")
	}
	return b.LZ4.AppendDecompressedWithLength(dst, src, limit)
}

func TestConnCompressorPanics(t *testing.T) {
	question := strings.Repeat("x", 10_000)
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			s := &fakecql.Server{Version: version, Compressor: frame.LZ4{}}
			c := connectTo(t, s, func(cfg *Config) { cfg.Compressor = badCompressor{send: true} })
			answer, err := c.ask(context.Background(), question)
			if version == frame.V4 {
				require.ErrorContains(t, err, "oops")
				require.False(t, mayHaveLeft(err))
			} else { // a segment may contain frames of other callers: it is sent uncompressed
				require.NoError(t, err)
				require.Equal(t, question, answer)
			}
			require.False(t, c.Closed())
			c.Close(io.EOF)
			c = connectTo(t, s, func(cfg *Config) { cfg.Compressor = badCompressor{receive: true} })
			_, err = c.ask(context.Background(), question)
			require.ErrorIs(t, err, ErrClosed)
			require.ErrorContains(t, err, "oops")
		})
	}
}

func TestConnCompressionNotShared(t *testing.T) {
	s := &fakecql.Server{Version: 5}
	c := connectTo(t, s, func(cfg *Config) { cfg.Compressor = frame.Snappy{} })
	require.Nil(t, c.compress, "v5 does not support Snappy, even if the server lists it")
	_, err := c.ask(context.Background(), strings.Repeat("x", 10_000))
	require.NoError(t, err)
}

// TestConnDialEnds has a server that falls silent at each step of the handshake, and dialers that misbehave.
func TestConnDialEnds(t *testing.T) {
	server, client := fakecql.TLSPair(t, "127.0.0.1")
	for step := range 4 {
		t.Run(fmt.Sprint("silent from step ", step), func(t *testing.T) {
			before := outstanding.Load()
			s := &fakecql.Server{Version: 5, Auth: passwordClass, Handle: func(*fakecql.Conn, wire.Header, []byte) {}}
			s.Wrap = func(c net.Conn) net.Conn {
				if step == 0 { // not even TLS
					return &quietConn{Conn: c}
				}
				return &quietConn{Conn: tls.Server(c, server), writes: step - 1}
			}
			cfg := testConfigOf(s)
			cfg.TLS, cfg.ConnectTimeout = client, 50*time.Millisecond
			cfg.Auth = plainLogin{}
			cfg.OnClose = func(*Conn, error) { t.Error("onClose called for a connection that was never ready") }
			addr := s.Listen(t)
			returns(t, "dialConn", func() {
				_, err := Dial(context.Background(), cfg, addr)
				require.ErrorIs(t, err, context.DeadlineExceeded)
			})
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(10*time.Millisecond, cancel)
			cfg.ConnectTimeout = 0
			returns(t, "dialConn", func() {
				_, err := Dial(ctx, cfg, addr)
				require.ErrorIs(t, err, context.Canceled)
			})
			leak.RequireNone(t, leak.Driver)
			require.Equal(t, before, outstanding.Load())
		})
	}
	dial := func(f func(context.Context, string) (net.Conn, error)) error {
		_, err := Dial(context.Background(), &Config{Version: 4, Dial: f}, "127.0.0.1:1")
		return err
	}
	require.ErrorContains(t, dial(func(context.Context, string) (net.Conn, error) { panic("oops") }), "panic: oops")
	require.ErrorContains(t, dial(func(context.Context, string) (net.Conn, error) { return nil, nil }), "neither")
	require.Error(t, dial(nil), "no listener at the address")
}

// quietConn drops all writes after the first few.
type quietConn struct {
	net.Conn
	writes int
}

func (c *quietConn) Write(b []byte) (int, error) {
	if c.writes--; c.writes < 0 {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// handingAuthenticator returns another Authenticator from its challenge.
type handingAuthenticator struct {
	next      *roundsAuthenticator
	succeeded bool
}

func (a *handingAuthenticator) Challenge([]byte) ([]byte, cql.Authenticator, error) {
	if a.next == nil {
		return nil, nil, nil
	}
	return nil, a.next, nil
}

func (a *handingAuthenticator) Success([]byte) error { a.succeeded = true; return nil }

// TestConnSuccessGoesOn checks the receiver of Success: the Authenticator that Challenge returned, else its receiver.
func TestConnSuccessGoesOn(t *testing.T) {
	s := &fakecql.Server{Version: 4, Auth: "com.example.Once"}
	s.Handle = func(p *fakecql.Conn, h wire.Header, _ []byte) {
		p.Reply(h.Stream, fakecql.OpAuthSuccess, []byte("\x00\x00\x00\x02ok"))
	}
	next := &roundsAuthenticator{}
	first := &handingAuthenticator{next: next}
	connectTo(t, s, func(cfg *Config) { cfg.Auth = first }).Close(io.EOF)
	require.Equal(t, "ok", next.success)
	require.False(t, first.succeeded)
	alone := &handingAuthenticator{}
	connectTo(t, s, func(cfg *Config) { cfg.Auth = alone })
	require.True(t, alone.succeeded)
}
