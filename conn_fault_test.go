// SPDX-License-Identifier: Apache-2.0

package vecql

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

	"github.com/vecql/vecql/internal/wire"
)

// This file holds what must not go wrong when several things happen at once, or when peer, user or network misbehave.

// holdLead takes the lead of c's writer, so that frames gather and nothing is written.
func holdLead(t *testing.T, c *conn) {
	t.Helper()
	require.Eventually(t, func() bool {
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		held := !c.w.leading
		c.w.leading = true
		return held
	}, 5*time.Second, time.Millisecond)
}

// returns fails the test when f does not end.
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

// TestConnDrainWhileGivenUp drains while a caller leaves: what it leaves behind is nothing to wait for.
func TestConnDrainWhileGivenUp(t *testing.T) {
	s := &fakeServer{version: 4, handle: func(*fakePeer, wire.Header, []byte) {}}
	c := s.connect(t)
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error, 1)
	go func() { _, err := c.ask(ctx, "never"); failed <- err }()
	require.Eventually(t, func() bool { return c.inFlight() == 1 }, 5*time.Second, time.Millisecond)
	drained := make(chan error, 1)
	go func() { drained <- c.drain(context.Background()) }()
	require.Eventually(t, c.draining.Load, 5*time.Second, time.Millisecond)
	time.Sleep(5 * time.Millisecond) // it waits
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	returns(t, "drain", func() { require.NoError(t, <-drained) })
}

// TestConnDrainOutlastsHeartbeat drains for longer than a heartbeat: the connection is asked, answers, and lives.
func TestConnDrainOutlastsHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeServer{version: 4}
		s.handle = func(p *fakePeer, h wire.Header, body []byte) {
			time.AfterFunc(time.Minute, func() { echo(p, h, body) })
		}
		c := s.memory(t, func(cfg *connConfig) { cfg.heartbeat, cfg.timeout = 5*time.Second, 2*time.Minute })
		got := make(chan error, 1)
		go func() { _, err := c.ask(context.Background(), "slow"); got <- err }()
		time.Sleep(time.Second)
		require.NoError(t, c.drain(context.Background()))
		require.NoError(t, <-got)
		s.stop()
	})
}

// TestConnDrainWithBlockedCallback has a callback that does not return: drain returns by its context.
func TestConnDrainWithBlockedCallback(t *testing.T) {
	block := make(chan struct{})
	s := &fakeServer{version: 4}
	c := s.connect(t, func(cfg *connConfig) { cfg.onClose = func(*conn, error) { <-block } })
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	returns(t, "drain", func() { require.ErrorIs(t, c.drain(ctx), context.DeadlineExceeded) })
	close(block)
}

// slowConn writes a byte every four seconds once slow is set.
type slowConn struct {
	net.Conn
	slow *atomic.Bool
}

func (c slowConn) Write(b []byte) (int, error) {
	for i := range b {
		if c.slow.Load() {
			time.Sleep(4 * time.Second)
		}
		if _, err := c.Conn.Write(b[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(b), nil
}

// TestConnSlowAnswer has an answer take much longer than two heartbeats: its bytes are signs of life.
func TestConnSlowAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow atomic.Bool
		s := &fakeServer{version: 4, handle: echo, wrap: func(c net.Conn) net.Conn { return slowConn{c, &slow} }}
		c := s.memory(t, func(cfg *connConfig) { cfg.heartbeat, cfg.timeout = 5*time.Second, time.Hour })
		slow.Store(true)
		question := strings.Repeat("q", 100)
		answer, err := c.ask(context.Background(), question)
		require.NoError(t, err)
		require.Equal(t, question, answer)
		slow.Store(false)
		require.NoError(t, c.drain(context.Background()))
		s.stop()
	})
}

// hiddenConn hides the type of a connection, as a user's wrapper does.
type hiddenConn struct{ net.Conn }

// TestFault04StalledTLS is 4 for writes that can't be resumed: neither a context nor a timeout may be held by them.
func TestFault04StalledTLS(t *testing.T) {
	server, client := tlsPair(t, "127.0.0.1")
	for _, m := range []struct {
		name   string
		change func(*connConfig)
		tls    bool
	}{
		{"tls", func(cfg *connConfig) { cfg.tls = client }, true},
		{"tls of the user's dialer", func(cfg *connConfig) {
			cfg.dial = func(ctx context.Context, addr string) (net.Conn, error) {
				c, err := (&tls.Dialer{Config: client}).DialContext(ctx, "tcp", addr)
				return hiddenConn{c}, err
			}
		}, true},
		{"a wrapper", func(cfg *connConfig) {
			cfg.dial = func(ctx context.Context, addr string) (net.Conn, error) {
				c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
				return hiddenConn{c}, err
			}
		}, false},
	} {
		t.Run(m.name, func(t *testing.T) {
			stalled := make(chan struct{})
			defer close(stalled)
			s := &fakeServer{version: 5, handle: func(*fakePeer, wire.Header, []byte) { <-stalled }}
			if m.tls {
				s.wrap = func(c net.Conn) net.Conn { return tls.Server(c, server) }
			}
			c := s.connect(t, func(cfg *connConfig) { m.change(cfg); cfg.timeout = 200 * time.Millisecond })
			body := strings.Repeat("x", 2<<20)
			returns(t, "a caller", func() {
				var wg sync.WaitGroup
				for i := range 12 {
					wg.Go(func() {
						ctx, want := context.Background(), ErrTimeoutNoResponse
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
			require.False(t, c.closed())
			began := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			_ = c.drain(ctx)
			require.Less(t, time.Since(began), 4*time.Second, "the farewell of TLS is not waited for")
		})
	}
}

// TestConnStalledWriteGoesOn has a server that stops reading and goes on: what was interrupted in the middle must arrive whole.
func TestConnStalledWriteGoesOn(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			var once sync.Once
			s := &fakeServer{version: version, handle: func(p *fakePeer, h wire.Header, b []byte) {
				once.Do(func() { time.Sleep(10 * tickInterval) })
				echo(p, h, b)
			}}
			c := s.connect(t)
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
			s := &fakeServer{version: version}
			c := s.connect(t, func(cfg *connConfig) { cfg.timeout = time.Minute })
			largest := 20 << 20
			if poison {
				largest = 4 << 20
			}
			for _, n := range []int{readBufferSize - wire.HeaderSize, wire.MaxPayload - wire.HeaderSize, wire.MaxPayload, readStep + 1, largest} {
				question := strings.Repeat("0123456789abcdef", n/16) + strings.Repeat("x", n%16)
				answer, err := c.ask(context.Background(), question)
				require.NoError(t, err)
				require.True(t, question == answer, "%d bytes: the answer is another one", n)
			}
			c.w.mu.Lock()
			defer c.w.mu.Unlock()
			require.LessOrEqual(t, cap(c.w.spare)+cap(c.w.segments), 2*maxKept, "memory of large chunks is not kept")
		})
	}
	t.Run("above the limit", func(t *testing.T) {
		s := &fakeServer{version: 4}
		c := s.connect(t)
		body := getBuffer(wire.MaxBody + 1)
		defer body.release()
		_, err := c.roundTrip(context.Background(), &request{op: opQuery, body: body})
		require.ErrorIs(t, err, ErrFrameTooBig)
		require.False(t, mayHaveLeft(err))
		_, err = c.ask(context.Background(), "the connection is as before")
		require.NoError(t, err)
	})
}

// badCompressor is a user's, with faults.
type badCompressor struct {
	LZ4Compressor
	send, receive bool // where it panics
}

func (b badCompressor) AppendCompressed(dst, src []byte) ([]byte, error) {
	if b.send {
		panic("oops")
	}
	return b.LZ4Compressor.AppendCompressed(dst, src)
}

func (b badCompressor) AppendCompressedWithLength(dst, src []byte) ([]byte, error) {
	if b.send {
		panic("oops")
	}
	return b.LZ4Compressor.AppendCompressedWithLength(dst, src)
}

func (b badCompressor) AppendDecompressed(dst, src []byte, n int) ([]byte, error) {
	if b.receive {
		panic("oops")
	}
	return b.LZ4Compressor.AppendDecompressed(dst, src, n)
}

func (b badCompressor) AppendDecompressedWithLength(dst, src []byte, limit int) ([]byte, error) {
	if b.receive {
		panic("oops")
	}
	return b.LZ4Compressor.AppendDecompressedWithLength(dst, src, limit)
}

func TestConnCompressorPanics(t *testing.T) {
	question := strings.Repeat("x", 10_000)
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			s := &fakeServer{version: version, compressor: LZ4Compressor{}}
			c := s.connect(t, func(cfg *connConfig) { cfg.compressor = badCompressor{send: true} })
			answer, err := c.ask(context.Background(), question)
			if version == protoV4 {
				require.ErrorContains(t, err, "oops")
				require.False(t, mayHaveLeft(err))
			} else { // a segment may hold frames of others: it goes as it is
				require.NoError(t, err)
				require.Equal(t, question, answer)
			}
			require.False(t, c.closed())
			c.close(io.EOF)
			c = s.connect(t, func(cfg *connConfig) { cfg.compressor = badCompressor{receive: true} })
			_, err = c.ask(context.Background(), question)
			require.ErrorIs(t, err, ErrConnectionClosed)
			require.ErrorContains(t, err, "oops")
		})
	}
}

func TestConnCompressionNotShared(t *testing.T) {
	s := &fakeServer{version: 5}
	c := s.connect(t, func(cfg *connConfig) { cfg.compressor = SnappyCompressor{} })
	require.Nil(t, c.compress, "v5 has no Snappy, whatever the server lists")
	_, err := c.ask(context.Background(), strings.Repeat("x", 10_000))
	require.NoError(t, err)
}

// TestConnDialEnds has a server fall silent at each step of the handshake, and dialers that misbehave.
func TestConnDialEnds(t *testing.T) {
	server, client := tlsPair(t, "127.0.0.1")
	for step := range 4 {
		t.Run(fmt.Sprint("silent from step ", step), func(t *testing.T) {
			before := outstanding.Load()
			s := &fakeServer{version: 5, auth: passwordAuthenticators[0], handle: func(*fakePeer, wire.Header, []byte) {}}
			s.wrap = func(c net.Conn) net.Conn {
				if step == 0 { // not even TLS
					return &quietConn{Conn: c}
				}
				return &quietConn{Conn: tls.Server(c, server), writes: step - 1}
			}
			cfg := s.testConfig()
			cfg.tls, cfg.connectTimeout = client, 50*time.Millisecond
			cfg.auth = PasswordAuthenticator{Username: "u", Password: "p"}
			cfg.onClose = func(*conn, error) { t.Error("it never was a connection") }
			addr := s.listen(t)
			returns(t, "dialConn", func() {
				_, err := dialConn(context.Background(), cfg, addr)
				require.ErrorIs(t, err, context.DeadlineExceeded)
			})
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(10*time.Millisecond, cancel)
			cfg.connectTimeout = 0
			returns(t, "dialConn", func() {
				_, err := dialConn(ctx, cfg, addr)
				require.ErrorIs(t, err, context.Canceled)
			})
			requireNoGoroutines(t)
			require.Equal(t, before, outstanding.Load())
		})
	}
	dial := func(f func(context.Context, string) (net.Conn, error)) error {
		_, err := dialConn(context.Background(), &connConfig{version: 4, dial: f}, "127.0.0.1:1")
		return err
	}
	require.ErrorContains(t, dial(func(context.Context, string) (net.Conn, error) { panic("oops") }), "panic: oops")
	require.ErrorContains(t, dial(func(context.Context, string) (net.Conn, error) { return nil, nil }), "neither")
	require.Error(t, dial(nil), "nothing listens there")
}

// quietConn swallows all writes after the first few.
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

// handingAuthenticator hands over to another one after its challenge.
type handingAuthenticator struct {
	next      *roundsAuthenticator
	succeeded bool
}

func (a *handingAuthenticator) Challenge([]byte) ([]byte, Authenticator, error) {
	if a.next == nil {
		return nil, nil, nil
	}
	return nil, a.next, nil
}

func (a *handingAuthenticator) Success([]byte) error { a.succeeded = true; return nil }

// TestConnSuccessGoesOn says which Authenticator hears of success: the one that was to go on, else the last one.
func TestConnSuccessGoesOn(t *testing.T) {
	s := &fakeServer{version: 4, auth: "com.example.Once"}
	s.handle = func(p *fakePeer, h wire.Header, _ []byte) {
		p.reply(h.Stream, opAuthSuccess, []byte("\x00\x00\x00\x02ok"))
	}
	next := &roundsAuthenticator{}
	first := &handingAuthenticator{next: next}
	s.connect(t, func(cfg *connConfig) { cfg.auth = first }).close(io.EOF)
	require.Equal(t, "ok", next.success)
	require.False(t, first.succeeded)
	alone := &handingAuthenticator{}
	s.connect(t, func(cfg *connConfig) { cfg.auth = alone })
	require.True(t, alone.succeeded)
}
