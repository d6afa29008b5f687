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
		compressor Compressor
	}{{4, nil}, {4, LZ4Compressor{}}, {4, SnappyCompressor{}}, {5, nil}, {5, LZ4Compressor{}}} {
		t.Run(fmt.Sprintf("version=%d/compressor=%T", m.version, m.compressor), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the reader reads one byte at a time
				s := &fakecql.Server{Version: m.version, Compressor: m.compressor}
				c := connectInMemory(t, s, func(cfg *connConfig) {
					dial := cfg.dial
					cfg.dial = func(ctx context.Context, addr string) (net.Conn, error) {
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
	const interval, bound = 30 * time.Second, defaultBeatTimeout + 2*probeTimeout
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
					c := connectInMemory(t, s, func(cfg *connConfig) {
						cfg.heartbeat, cfg.timeout = interval, 5*time.Second
						cfg.onClose = func(_ *conn, err error) { ended <- err }
						dial := cfg.dial
						cfg.dial = func(ctx context.Context, addr string) (net.Conn, error) {
							c, err := dial(ctx, addr)
							line, _ = c.(*fakecql.PipeEnd)
							return c, err
						}
					})
					time.Sleep(5*time.Minute + 10*time.Second)
					require.False(t, c.closed(), "the server responds")
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
						{0, ErrTimeoutNoResponse, 5 * time.Second},
						{time.Second, context.DeadlineExceeded, time.Second},
						{29 * time.Second, ErrConnectionClosed, bound},
						{time.Hour, ErrConnectionClosed, bound},
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
							if d := time.Since(began); d < own.after-time.Second || d > own.after+2*tickInterval {
								t.Errorf("deadline %v: it took %v", own.deadline, d)
							}
						})
					}
					err = <-ended
					require.ErrorContains(t, err, "no answer received")
					require.LessOrEqual(t, time.Since(began), bound+2*tickInterval)
					wg.Wait()
					endConn(c, s)
				})
			})
		}
	}
}

// TestFault04StalledWrites: the server's receive window is zero while requests are queued. Each caller must return when
// its context ends, whether its frame waits in the socket, behind the leader or for room. The connection must be
// replaced, and other connections must not be affected.
func TestFault04StalledWrites(t *testing.T) {
	t.Run("session", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newFakeCluster(t, frame.V5, 2)
			var mu sync.Mutex
			var lines []*fakecql.PipeEnd // to node 2
			c.Wrap = func(n *fakecql.Node, end net.Conn) net.Conn {
				mu.Lock()
				defer mu.Unlock()
				if n == c.Nodes[1] {
					lines = append(lines, end.(*fakecql.PipeEnd))
				}
				return end
			}
			s := sessionOn(c, func(cfg *ClusterConfig) { cfg.HeartbeatInterval, cfg.Timeout = 10*time.Second, time.Minute })
			other := s.Query("INSERT x").HostID(c.Nodes[0].ID.String())
			stalled := s.Query("INSERT x").HostID(c.Nodes[1].ID.String())
			require.NoError(t, stalled.Exec(t.Context()))
			mu.Lock()
			line, connections := lines[len(lines)-1], len(lines)
			mu.Unlock()
			line.Fill()
			began := time.Now()
			body := strings.Repeat("x", 1<<20)
			var wg sync.WaitGroup
			for i := range 20 { // more than fit into the pending bytes
				wg.Go(func() {
					deadline := time.Duration(i+1) * 100 * time.Millisecond
					ctx, cancel := context.WithTimeout(context.Background(), deadline)
					defer cancel()
					err := s.Query("CREATE " + body).HostID(c.Nodes[1].ID.String()).Exec(ctx)
					if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != deadline {
						t.Errorf("%v: got %v after %v", deadline, err, time.Since(began))
					}
				})
				wg.Go(func() {
					if err := other.Exec(t.Context()); err != nil || time.Since(began) > time.Millisecond {
						t.Errorf("the other node: %v after %v", err, time.Since(began))
					}
				})
			}
			wg.Wait()
			time.Sleep(2*10*time.Second + time.Second - time.Since(began))
			mu.Lock()
			require.Len(t, lines, connections+1, "the connection is replaced")
			mu.Unlock()
			require.NoError(t, stalled.Exec(t.Context()))
		})
	})
	t.Run("waiting for room", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakecql.Server{Version: frame.V4}
			c := connectInMemory(t, s, func(cfg *connConfig) { cfg.timeout = time.Second })
			synctest.Wait()
			c.w.mu.Lock()
			c.w.leading = true // no caller writes
			c.w.pending.B = make([]byte, maxPending+1)
			c.w.mu.Unlock()
			for range 100 {
				began := time.Now()
				_, err := c.ask(context.Background(), "question")
				require.ErrorIs(t, err, ErrTimeoutNoResponse)
				require.InDelta(t, time.Second, time.Since(began), float64(2*tickInterval))
				require.False(t, mayHaveLeft(err))
				require.Zero(t, c.orphans.Load(), "an unsent request is not an orphan")
			}
			endConn(c, s)
		})
	})
}

// TestFault05TornWrite: a write of several frames fails after n bytes, for each n. The connection must close and write
// nothing more. Only frames of which no byte was written (in v5, of their segment) may be retried.
func TestFault05TornWrite(t *testing.T) {
	const frames = 3
	for _, m := range []struct {
		version    byte
		compressor Compressor
		body       int
	}{{4, nil, 91}, {5, nil, 91}, {5, LZ4Compressor{}, 91}, {5, nil, 100_000}, {5, LZ4Compressor{}, 100_000}} {
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
func tearWrite(t *testing.T, version byte, compressor Compressor, body, frames, n int) (torn bool, size int) {
	line := &fakecql.CutLine{Left: 1 << 30}
	var streams []int16
	s := &fakecql.Server{Version: version, Compressor: compressor, Handle: func(p *fakecql.Conn, h wire.Header, _ []byte) {
		if streams = append(streams, h.Stream); len(streams) == frames { // no response before all frames were sent
			for _, stream := range streams {
				p.Reply(stream, fakecql.OpResult, nil)
			}
		}
	}}
	c := connectInMemory(t, s, func(cfg *connConfig) {
		dial := cfg.dial
		cfg.dial = func(ctx context.Context, addr string) (net.Conn, error) {
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
	c.flush()
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
		require.ErrorIs(t, err, ErrConnectionClosed)
		require.Equal(t, n > i/each*size, mayHaveLeft(err), "frame %d, %d bytes written", i, n)
	}
	if line.Cut() {
		_, err := c.ask(context.Background(), "after")
		require.ErrorIs(t, err, ErrConnectionClosed)
		require.False(t, mayHaveLeft(err))
		require.Equal(t, handshake+n, line.Passed())
		require.Zero(t, line.After(), "writes after the tear")
	}
	endConn(c, s)
	return line.Cut(), size
}

// TestFault05RetryAfterTornWrite is fault 5 in a session: a request of which no byte was written is retried on another
// node although it is not idempotent; a request written in part is not.
func TestFault05RetryAfterTornWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := &fakecql.CutLine{Left: 1 << 30}
		c := newFakeCluster(t, frame.V4, 2)
		c.Wrap = func(n *fakecql.Node, end net.Conn) net.Conn {
			if n == c.Nodes[1] {
				return line.Wrap(end)
			}
			return end
		}
		s := sessionOn(c)
		require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
		n := s.topo.Load().nodeByID(cql.UUID(c.Nodes[1].ID))
		conn := n.pool.pick()
		conn.w.mu.Lock()
		conn.w.leading = true
		conn.w.mu.Unlock()
		errs := make(chan error, 8)
		for range cap(errs) {
			go func() { errs <- s.Query("INSERT x").Exec(t.Context()) }()
		}
		synctest.Wait()
		var begun int
		conn.w.mu.Lock()
		queued := len(conn.w.pending.B)
		conn.w.mu.Unlock()
		require.Positive(t, queued, "both nodes have requests")
		line.SetLeft(1) // of the first frame
		conn.flush()
		for range cap(errs) {
			err := <-errs
			if err != nil {
				begun++
				require.ErrorIs(t, err, ErrConnectionClosed)
				require.True(t, MayHaveApplied(err))
			}
		}
		require.Equal(t, 1, begun)
	})
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
					if !errors.Is(err, ErrConnectionClosed) || mayHaveLeft(err) {
						t.Errorf("got %v", err)
					}
				})
			}
			synctest.Wait()
			require.Equal(t, 8, c.inFlight())
			c.close(io.EOF)
			wg.Wait()
			require.Zero(t, c.inFlight())
			endConn(c, s)
		}
	})
}
