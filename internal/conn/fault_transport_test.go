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

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// Faults 1 to 5 on one connection: the byte stream below the frames. Package faults tests faults on the public API; its
// FAULTS.md lists all faults.

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

// dripReader reads one byte at a time.
type dripReader struct{ net.Conn }

func (c dripReader) Read(b []byte) (int, error) { return c.Conn.Read(b[:min(len(b), 1)]) }

// TestFault02SingleBytes: headers, segments and bodies arrive byte by byte, and many frames arrive in one read. The
// results must be the same.
func TestFault02SingleBytes(t *testing.T) {
	questions := make([]string, 40)
	for i := range questions {
		questions[i] = strings.Repeat(fmt.Sprint(i, " "), i*i)
	}
	for _, m := range []struct {
		version    byte
		compressor cql.Compressor
	}{{4, nil}, {4, frame.LZ4{}}, {4, frame.Snappy{}}, {5, nil}, {5, frame.LZ4{}}} {
		t.Run(fmt.Sprintf("version=%d/compressor=%T", m.version, m.compressor), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the reader reads one byte at a time
				s := &fakecql.Server{Version: m.version, Compressor: m.compressor}
				c := connectInMemory(t, s, func(cfg *Config) {
					dial := cfg.Dial
					cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
						c, err := dial(ctx, addr)
						return dripReader{c}, err
					}
				})
				for _, question := range questions {
					answer, err := c.ask(context.Background(), question)
					require.NoError(t, err)
					require.Equal(t, question, answer)
				}
				endConn(c, s)
			})
			synctest.Test(t, func(t *testing.T) { // one write has all responses
				var mu sync.Mutex
				var frames []byte
				n := 0
				s := &fakecql.Server{Version: m.version, Compressor: m.compressor}
				s.Handle = func(p *fakecql.Conn, h wire.Header, body []byte) {
					mu.Lock()
					defer mu.Unlock()
					frames = append(frames, p.Frame(h.Stream, fakecql.OpResult, body)...)
					if n++; n == len(questions) {
						_, _ = p.Conn.Write(frames)
					}
				}
				c := connectInMemory(t, s)
				var wg sync.WaitGroup
				for _, question := range questions {
					wg.Go(func() {
						if answer, err := c.ask(context.Background(), question); err != nil || answer != question {
							t.Errorf("got %.20q, %v", answer, err)
						}
					})
				}
				wg.Wait()
				endConn(c, s)
			})
		})
	}
	t.Run("loopback", func(t *testing.T) { // through a socket, where the kernel coalesces writes
		s := &fakecql.Server{Version: 5, Wrap: func(c net.Conn) net.Conn { return dripConn{c} }}
		c := connectTo(t, s)
		for _, question := range questions[:10] {
			answer, err := c.ask(context.Background(), question)
			require.NoError(t, err)
			require.Equal(t, question, answer)
		}
	})
}

// muteConn discards writes once silent is set.
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

// TestFault03HalfOpenPeer: the server falls silent without closing the connection. While requests wait, a probe and a
// heartbeat must close it. Requests in flight must fail at their deadlines, and those with later ones with the
// connection.
func TestFault03HalfOpenPeer(t *testing.T) {
	const interval, bound = 30 * time.Second, DefaultBeatTimeout + 2*probeTimeout
	for _, version := range []byte{frame.V4, frame.V5} {
		for _, m := range []struct {
			name   string
			silent func(p *fakecql.PipeEnd, mute *atomic.Bool)
		}{
			{"requests arrive", func(_ *fakecql.PipeEnd, mute *atomic.Bool) { mute.Store(true) }},
			{"nothing arrives", func(p *fakecql.PipeEnd, mute *atomic.Bool) { mute.Store(true); p.Fill() }},
		} {
			t.Run(fmt.Sprintf("version=%d/%s", version, m.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var silent atomic.Bool
					var line *fakecql.PipeEnd
					s := &fakecql.Server{Version: version, Handle: fakecql.Echo, Wrap: func(c net.Conn) net.Conn { return muteConn{c, &silent} }}
					ended := make(chan error, 1)
					c := connectInMemory(t, s, func(cfg *Config) {
						cfg.Heartbeat, cfg.Timeout = interval, 5*time.Second
						cfg.OnClose = func(_ *Conn, err error) { ended <- err }
						dial := cfg.Dial
						cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
							c, err := dial(ctx, addr)
							line, _ = c.(*fakecql.PipeEnd)
							return c, err
						}
					})
					time.Sleep(5*time.Minute + 10*time.Second)
					require.False(t, c.Closed(), "the server responds")
					_, err := c.ask(context.Background(), "a sign of life")
					require.NoError(t, err)
					m.silent(line, &silent)
					began := time.Now()
					var wg sync.WaitGroup
					for _, own := range []struct {
						deadline time.Duration // of the context; 0 means none: the timeout of the connection applies
						want     error
						after    time.Duration
					}{
						{0, ErrTimeout, 5 * time.Second},
						{time.Second, context.DeadlineExceeded, time.Second},
						{29 * time.Second, ErrClosed, bound},
						{time.Hour, ErrClosed, bound},
					} {
						wg.Go(func() {
							ctx := context.Background()
							if own.deadline > 0 {
								var cancel context.CancelFunc
								ctx, cancel = context.WithTimeout(ctx, own.deadline)
								defer cancel()
							}
							_, err := c.ask(ctx, "question")
							if !errors.Is(err, own.want) || (m.name == "requests arrive" && !mayHaveLeft(err)) {
								t.Errorf("deadline %v: got %v, want %v", own.deadline, err, own.want)
							}
							if d := time.Since(began); d < own.after-time.Second || d > own.after+2*TickInterval {
								t.Errorf("deadline %v: it took %v", own.deadline, d)
							}
						})
					}
					err = <-ended
					require.ErrorContains(t, err, "no answer received")
					require.LessOrEqual(t, time.Since(began), bound+2*TickInterval)
					wg.Wait()
					endConn(c, s)
				})
			})
		}
	}
}

// TestFault05TornWrite: a write of several frames fails after n bytes, for each n. The connection must close and write
// nothing more. Only frames without a written byte (in v5, of their segment) may be retried.
func TestFault05TornWrite(t *testing.T) {
	const frames = 3
	for _, m := range []struct {
		version    byte
		compressor cql.Compressor
		body       int
	}{{4, nil, 91}, {5, nil, 91}, {5, frame.LZ4{}, 91}, {5, nil, 100_000}, {5, frame.LZ4{}, 100_000}} {
		t.Run(fmt.Sprintf("version=%d/compressor=%T/body=%d", m.version, m.compressor, m.body), func(t *testing.T) {
			for n := 0; ; n++ {
				torn, size := false, wire.HeaderSize+m.body // of a frame's own segment
				synctest.Test(t, func(t *testing.T) { torn, size = tearWrite(t, m.version, m.compressor, m.body, frames, n) })
				if !torn {
					break
				}
				if poison {
					n += 2
				}
				if r := n % size; m.body > 1000 && r > 12 && r < size-12 { // inside a large body all bytes are alike
					n += size - 12 - r - 1
				}
			}
		})
	}
}

// tearWrite makes a write of queued frames fail after n bytes. It reports whether that was inside the frames, and
// returns the size of one on the wire.
func tearWrite(t *testing.T, version byte, compressor cql.Compressor, body, frames, n int) (torn bool, size int) {
	line := &fakecql.CutLine{Left: 1 << 30}
	var streams []int16
	s := &fakecql.Server{Version: version, Compressor: compressor, Handle: func(p *fakecql.Conn, h wire.Header, _ []byte) {
		if streams = append(streams, h.Stream); len(streams) == frames { // no response before all frames were sent
			for _, stream := range streams {
				p.Reply(stream, fakecql.OpResult, nil)
			}
		}
	}}
	c := connectInMemory(t, s, func(cfg *Config) {
		dial := cfg.Dial
		cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			c, err := dial(ctx, addr)
			return line.Wrap(c), err
		}
	})
	c.w.mu.Lock()
	c.w.leading = true // hold writes back until all frames are queued
	c.w.mu.Unlock()
	errs := make([]chan error, frames)
	for i := range errs {
		errs[i] = make(chan error, 1)
		go func() {
			_, err := c.ask(context.Background(), strings.Repeat(string(rune('a'+i)), body))
			errs[i] <- err
		}()
		synctest.Wait()
	}
	handshake := line.Passed()
	line.Left = n
	c.Flush()
	size, each := wire.HeaderSize+body, 1 // each is the number of frames that are written together
	if version >= frame.V5 && body < 1000 {
		each = frames
	} else if version >= frame.V5 {
		p := &fakecql.Conn{Server: s, Segments: true}
		size = len(p.Frame(0, fakecql.OpResult, []byte(strings.Repeat("a", body))))
	}
	for i := range errs {
		err := <-errs[i]
		if !line.Cut() {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrClosed)
		require.Equal(t, n > i/each*size, mayHaveLeft(err), "frame %d, %d bytes written", i, n)
	}
	if line.Cut() {
		_, err := c.ask(context.Background(), "after")
		require.ErrorIs(t, err, ErrClosed)
		require.False(t, mayHaveLeft(err))
		require.Equal(t, handshake+n, line.Passed())
		require.Zero(t, line.After(), "writes after the tear")
	}
	endConn(c, s)
	return line.Cut(), size
}

// TestFault04ClosedWhileWaitingForRoom closes a connection while callers wait for room in the writer.
func TestFault04ClosedWhileWaitingForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			s := &fakecql.Server{Version: 4}
			c := connectInMemory(t, s)
			synctest.Wait()
			c.w.mu.Lock()
			c.w.leading = true
			c.w.pending.B = make([]byte, maxPending+1)
			c.w.mu.Unlock()
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					_, err := c.ask(context.Background(), "question")
					if !errors.Is(err, ErrClosed) || mayHaveLeft(err) {
						t.Errorf("got %v", err)
					}
				})
			}
			synctest.Wait()
			require.Equal(t, 8, c.InFlight())
			c.Close(io.EOF)
			wg.Wait()
			require.Zero(t, c.InFlight())
			endConn(c, s)
		}
	})
}

// TestFault04WaitForRoom is fault 4 for calls that wait until other frames have left.
func TestFault04WaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakecql.Server{Version: frame.V4}
		c := connectInMemory(t, s, func(cfg *Config) { cfg.Timeout = time.Second })
		synctest.Wait()
		c.w.mu.Lock()
		c.w.leading = true // no caller writes
		c.w.pending.B = make([]byte, maxPending+1)
		c.w.mu.Unlock()
		for range 100 {
			began := time.Now()
			_, err := c.ask(context.Background(), "question")
			require.ErrorIs(t, err, ErrTimeout)
			require.InDelta(t, time.Second, time.Since(began), float64(2*TickInterval))
			require.False(t, mayHaveLeft(err))
			require.Zero(t, c.Orphans.Load(), "an unsent request is not an orphan")
		}
		endConn(c, s)
	})
}
