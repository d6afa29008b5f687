// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"io"
	mrand "math/rand/v2"
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

// TestConnRoundTrip has many callers send nonces, some of whom give up: nobody may get another one's answer.
func TestConnRoundTrip(t *testing.T) {
	for _, m := range []struct {
		version    byte
		compressor Compressor
	}{{4, nil}, {4, LZ4Compressor{}}, {4, SnappyCompressor{}}, {5, nil}, {5, LZ4Compressor{}}} {
		t.Run(fmt.Sprintf("version=%d/compressor=%T", m.version, m.compressor), func(t *testing.T) {
			s := &testServer{version: m.version, compressor: m.compressor}
			s.handle = func(p *testPeer, h wire.Header, body []byte) {
				if len(body)%7 == 0 { // out of order, and late
					time.AfterFunc(time.Duration(len(body)%5)*time.Millisecond, func() { echo(p, h, body) })
					return
				}
				echo(p, h, body)
			}
			c := s.connect(t, func(cfg *connConfig) { cfg.maxStreams = 1000 })
			var wg sync.WaitGroup
			var answered atomic.Int32
			for w := range 64 {
				wg.Go(func() {
					r := mrand.New(mrand.NewPCG(7, uint64(w)))
					for i := range 60 {
						nonce := fmt.Sprintf("%d/%d %s", w, i, strings.Repeat("x", r.IntN(3000)))
						if r.IntN(40) == 0 {
							nonce += strings.Repeat("large", 60_000) // several segments
						}
						ctx, cancel := context.Background(), context.CancelFunc(func() {})
						if r.IntN(4) == 0 {
							ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(3000))*time.Microsecond)
						}
						got, err := c.ask(ctx, nonce)
						cancel()
						switch {
						case err == nil && got != nonce:
							t.Errorf("got the answer %.20q to %.20q", got, nonce)
						case err == nil:
							answered.Add(1)
						case !errors.Is(err, context.DeadlineExceeded):
							t.Errorf("%v", err)
						}
					}
				})
			}
			wg.Wait()
			require.Greater(t, answered.Load(), int32(2500))
			require.Eventually(t, func() bool { return c.inFlight() == 0 && c.orphans.Load() == 0 }, 5*time.Second, time.Millisecond,
				"orphans are freed when their answers come")
		})
	}
}

// cutConn fails after n bytes written, and closes unless it is to fail silently.
type cutConn struct {
	net.Conn
	left   atomic.Int64
	silent bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	left := c.left.Add(-int64(len(b)))
	if left >= 0 {
		return c.Conn.Write(b)
	}
	n, _ := c.Conn.Write(b[:max(0, int64(len(b))+left)])
	if !c.silent {
		_ = c.Conn.Close()
	}
	return n, io.ErrClosedPipe
}

// TestConnPeerClosesAnywhere cuts the server's side off at every byte of handshake and answer.
func TestConnPeerClosesAnywhere(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			before := outstanding.Load()
			for n, done := int64(0), false; !done; n++ {
				s := &testServer{version: version, handle: echo, auth: passwordAuthenticators[0]}
				s.handle = func(p *testPeer, h wire.Header, body []byte) {
					if opcode(h.Opcode) == opAuthResponse {
						p.reply(h.Stream, opAuthSuccess, []byte{0xFF, 0xFF, 0xFF, 0xFF})
						return
					}
					echo(p, h, body)
				}
				s.wrap = func(c net.Conn) net.Conn { cut := &cutConn{Conn: c}; cut.left.Store(n); return cut }
				cfg := s.testConfig()
				cfg.auth = PasswordAuthenticator{Username: "u", Password: "p"}
				cfg.timeout, cfg.connectTimeout = 5*time.Second, 5*time.Second
				c, err := dialConn(context.Background(), cfg, s.listen(t))
				if err != nil {
					require.NotErrorIs(t, err, context.DeadlineExceeded, "cut after %d bytes: it hung", n)
					continue
				}
				answer, err := c.ask(context.Background(), "question")
				if done = err == nil; done {
					require.Equal(t, "question", answer)
				} else {
					require.ErrorIs(t, err, ErrConnectionClosed, "cut after %d bytes", n)
				}
				c.close(errDrained)
				<-c.gone
			}
			requireNoConnGoroutines(t)
			require.Equal(t, before, outstanding.Load())
		})
	}
}

// dripConn writes one byte at a time.
type dripConn struct{ net.Conn }

func (c dripConn) Write(b []byte) (int, error) {
	for i := range b {
		if _, err := c.Conn.Write(b[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(b), nil
}

func TestConnOneByteAtATime(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			s := &testServer{version: version, wrap: func(c net.Conn) net.Conn { return dripConn{c} }}
			c := s.connect(t)
			for i := range 20 {
				question := strings.Repeat("q", i*37)
				answer, err := c.ask(context.Background(), question)
				require.NoError(t, err)
				require.Equal(t, question, answer)
			}
		})
	}
}

func TestConnLateAnswerIsDropped(t *testing.T) {
	release := make(chan struct{})
	s := &testServer{version: 4}
	s.handle = func(p *testPeer, h wire.Header, body []byte) {
		if string(body) == "slow" {
			go func() { <-release; echo(p, h, body) }()
			return
		}
		echo(p, h, body)
	}
	c := s.connect(t, func(cfg *connConfig) { cfg.maxStreams = 4 })
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := c.ask(ctx, "slow")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, 1, c.inFlight(), "the stream id stays in use")
	for i := range 20 {
		answer, err := c.ask(context.Background(), fmt.Sprint(i))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), answer)
	}
	close(release)
	require.Eventually(t, func() bool { return c.inFlight() == 0 }, 5*time.Second, time.Millisecond)
	require.False(t, c.closed())
}

// TestConnBadPeer sends what no server may send: the connection must end, and with it the call.
func TestConnBadPeer(t *testing.T) {
	frame := func(p *testPeer, version byte, stream int16, op opcode, body string) {
		b := make([]byte, wire.HeaderSize)
		wire.PutHeader(b, wire.Header{Version: version, Response: true, Stream: stream, Opcode: byte(op), Length: len(body)})
		if b = append(b, body...); p.seg {
			b, _ = wire.AppendSegments(nil, b, nil)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		_, _ = p.conn.Write(b)
	}
	for _, m := range []struct {
		name    string
		version byte
		answer  func(p *testPeer, h wire.Header)
	}{
		{"another stream", 4, func(p *testPeer, h wire.Header) { frame(p, 4, h.Stream+1, opResult, "") }},
		{"a stream beyond the last", 4, func(p *testPeer, h wire.Header) { frame(p, 4, 32767, opResult, "") }},
		{"a negative stream", 4, func(p *testPeer, h wire.Header) { frame(p, 4, -2, opEvent, "") }},
		{"an answer on the event stream", 4, func(p *testPeer, h wire.Header) { frame(p, 4, -1, opResult, "") }},
		{"a malformed event", 4, func(p *testPeer, h wire.Header) { frame(p, 4, -1, opEvent, "\x00\x0dSTATUS_CHANGE\x00") }},
		{"another version", 4, func(p *testPeer, h wire.Header) { frame(p, 5, h.Stream, opResult, "") }},
		{"a request", 4, func(p *testPeer, h wire.Header) { _, _ = p.conn.Write([]byte{4, 0, 0, 0, 7, 0, 0, 0, 0}) }},
		{"a body beyond the limit", 4, func(p *testPeer, h wire.Header) { _, _ = p.conn.Write([]byte{0x84, 0, 0, 0, 8, 0x7F, 0, 0, 0}) }},
		{"a negative length", 4, func(p *testPeer, h wire.Header) { _, _ = p.conn.Write([]byte{0x84, 0, 0, 0, 8, 0xFF, 0, 0, 0}) }},
		{"compressed without agreement", 4, func(p *testPeer, h wire.Header) { _, _ = p.conn.Write([]byte{0x84, 1, 0, 0, 8, 0, 0, 0, 0}) }},
		{"wrong CRC24", 5, func(p *testPeer, h wire.Header) {
			b := p.frame(h.Stream, opResult, nil)
			b[3] ^= 1
			_, _ = p.conn.Write(b)
		}},
		{"wrong CRC32", 5, func(p *testPeer, h wire.Header) {
			b := p.frame(h.Stream, opResult, nil)
			b[len(b)-1] ^= 1
			_, _ = p.conn.Write(b)
		}},
		{"flipped payload", 5, func(p *testPeer, h wire.Header) {
			b := p.frame(h.Stream, opResult, []byte("x"))
			b[12] ^= 1
			_, _ = p.conn.Write(b)
		}},
	} {
		t.Run(m.name, func(t *testing.T) {
			ended := make(chan error, 1)
			s := &testServer{version: m.version, handle: func(p *testPeer, h wire.Header, _ []byte) { m.answer(p, h) }}
			c := s.connect(t, func(cfg *connConfig) { cfg.onClose = func(_ *conn, err error) { ended <- err } })
			_, err := c.ask(context.Background(), "question")
			require.ErrorIs(t, err, ErrConnectionClosed)
			require.True(t, mayHaveLeft(err))
			require.Error(t, <-ended)
			_, err = c.ask(context.Background(), "after")
			require.ErrorIs(t, err, ErrConnectionClosed)
			require.False(t, mayHaveLeft(err))
		})
	}
	t.Run("a second answer", func(t *testing.T) {
		s := &testServer{version: 4, handle: func(p *testPeer, h wire.Header, b []byte) { echo(p, h, b); echo(p, h, b) }}
		c := s.connect(t)
		_, _ = c.ask(context.Background(), "question")
		require.Eventually(t, c.closed, 5*time.Second, time.Millisecond)
	})
}

func TestConnEvents(t *testing.T) {
	s := &testServer{version: 4}
	s.handle = func(p *testPeer, h wire.Header, body []byte) {
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

// TestConnStalledPeer has a server that reads nothing any more: callers get back by their contexts, whatever is stuck in the socket.
func TestConnStalledPeer(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			stalled := make(chan struct{})
			defer close(stalled)
			s := &testServer{version: version, handle: func(*testPeer, wire.Header, []byte) { <-stalled }}
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

func TestConnOutOfStreams(t *testing.T) {
	release := make(chan struct{})
	s := &testServer{version: 4}
	s.handle = func(p *testPeer, h wire.Header, body []byte) { go func() { <-release; echo(p, h, body) }() }
	c := s.connect(t, func(cfg *connConfig) { cfg.maxStreams = 8; cfg.maxOrphans = 100 })
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			answer, err := c.ask(context.Background(), fmt.Sprint(i))
			if err != nil || answer != fmt.Sprint(i) {
				t.Errorf("got %q, %v", answer, err)
			}
		})
	}
	require.Eventually(t, func() bool { return c.inFlight() == 8 }, 5*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := c.ask(ctx, "no room")
	require.ErrorIs(t, err, ErrNoStreams)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.False(t, mayHaveLeft(err))
	close(release)
	wg.Wait()
}

func TestConnTooManyOrphans(t *testing.T) {
	s := &testServer{version: 4, handle: func(p *testPeer, h wire.Header, body []byte) {}}
	ended := make(chan error, 1)
	c := s.connect(t, func(cfg *connConfig) {
		cfg.maxOrphans, cfg.timeout = 5, time.Second
		cfg.onClose = func(_ *conn, err error) { ended <- err }
	})
	for i := range 6 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		_, err := c.ask(ctx, fmt.Sprint(i))
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	require.ErrorContains(t, <-ended, "given up")
	_, err := c.ask(context.Background(), "after")
	require.False(t, mayHaveLeft(err))
}

// pipe connects to s through net.Pipe, which works in virtual time.
func (s *testServer) pipe(t *testing.T, change func(*connConfig)) *conn {
	t.Helper()
	cfg := s.testConfig()
	cfg.dial = func(context.Context, string) (net.Conn, error) {
		client, server := net.Pipe()
		s.wg.Go(func() { s.serve(server) })
		return client, nil
	}
	change(cfg)
	c, err := dialConn(context.Background(), cfg, "127.0.0.1:9042")
	require.NoError(t, err)
	return c
}

func TestConnTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &testServer{version: 4, handle: func(*testPeer, wire.Header, []byte) {}}
		c := s.pipe(t, func(cfg *connConfig) { cfg.timeout = 3 * time.Second })
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

func TestConnHeartbeat(t *testing.T) {
	t.Run("a silent peer is given up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var silent atomic.Bool
			s := &testServer{version: 4, handle: echo}
			s.wrap = func(c net.Conn) net.Conn { return muteConn{c, &silent} }
			var ended error
			c := s.pipe(t, func(cfg *connConfig) {
				cfg.heartbeat = 10 * time.Second
				cfg.onClose = func(_ *conn, err error) { ended = err }
			})
			time.Sleep(time.Minute)
			require.False(t, c.closed(), "it answers")
			silent.Store(true)
			began := time.Now()
			<-c.done
			require.LessOrEqual(t, time.Since(began), 20*time.Second+time.Second)
			<-c.gone
			require.ErrorContains(t, ended, "no sign of life")
			s.stop()
		})
	})
	t.Run("a busy connection is not asked", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var options atomic.Int32
			s := &testServer{version: 4, handle: echo}
			s.wrap = func(c net.Conn) net.Conn { return countOptions{c, &options} }
			c := s.pipe(t, func(cfg *connConfig) { cfg.heartbeat = 10 * time.Second })
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
	})
}

// muteConn swallows what is written once silent is set.
type muteConn struct {
	net.Conn
	silent *atomic.Bool
}

func (c muteConn) Write(b []byte) (int, error) {
	if c.silent.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
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
	s := &testServer{version: 5}
	s.handle = func(p *testPeer, h wire.Header, body []byte) { go func() { <-release; echo(p, h, body) }() }
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
	s := &testServer{version: 4, handle: func(*testPeer, wire.Header, []byte) {}}
	c := s.connect(t)
	failed := make(chan error, 1)
	go func() { _, err := c.ask(context.Background(), "never"); failed <- err }()
	require.Eventually(t, func() bool { return c.inFlight() == 1 }, 5*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.drain(ctx), context.DeadlineExceeded)
	require.ErrorIs(t, <-failed, ErrConnectionClosed)
}

// TestConnTornWrite breaks the client's side in the middle of a frame: only frames that were not begun may be sent again.
func TestConnTornWrite(t *testing.T) {
	s := &testServer{version: 4, handle: func(*testPeer, wire.Header, []byte) {}}
	var cut *cutConn
	c := s.connect(t, func(cfg *connConfig) {
		dial := cfg.dial
		cfg.dial = func(ctx context.Context, addr string) (net.Conn, error) {
			conn, err := dial(ctx, addr)
			cut = &cutConn{Conn: conn, silent: true}
			cut.left.Store(1 << 40)
			return cut, err
		}
	})
	// Queue three frames behind a leader that does not write yet.
	c.w.mu.Lock()
	c.w.leading = true
	c.w.mu.Unlock()
	errs := make(chan error, 3)
	for i := range 3 {
		go func() { _, err := c.ask(context.Background(), strings.Repeat("x", 91)); errs <- err }() // 100 bytes with its header
		require.Eventually(t, func() bool {
			c.w.mu.Lock()
			defer c.w.mu.Unlock()
			return c.w.queued == int64(100*(i+1))
		}, 5*time.Second, time.Millisecond)
	}
	cut.left.Store(150)
	c.flush()
	sent := 0
	for range 3 {
		err := <-errs
		require.ErrorIs(t, err, ErrConnectionClosed)
		if mayHaveLeft(err) {
			sent++
		}
	}
	require.Equal(t, 2, sent, "150 of 300 bytes were written: the third frame was not begun")
}

func TestConnRoundTripAllocates(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			s := &testServer{version: version, handle: echoForever}
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
				s := &testServer{version: version, handle: echoForever}
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
		s := &testServer{version: version, handle: func(p *testPeer, h wire.Header, _ []byte) {
			_, _ = p.conn.Write(data)
			_ = p.conn.Close()
		}}
		cfg := s.testConfig()
		cfg.dial = func(context.Context, string) (net.Conn, error) {
			client, server := net.Pipe()
			s.wg.Go(func() {
				if shake {
					s.serve(server)
					return
				}
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
