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
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds faults 1 to 5: of the byte stream below the frames.
//
// The fault tests are numbered: TestFault07... is case 7 of the list of faults that the driver must survive. fault_tls_test.go has 6,
// fault_segment_test.go 7 and 8, fault_protocol_test.go and fault_stream_test.go 9 to 15, fault_statement_test.go 16 to 19,
// pool_test.go and pool_shard_test.go most of 20 to 28, fault_topology_test.go 21, session_notify_test.go 22, exec_fault_test.go 29 to 31
// and 35, fault_semantics_test.go 32 to 34; 36 is in pool_test.go. What belongs to one part of the driver alone is beside its other tests.

// cutLine counts the bytes of one direction of all connections of a session, and breaks them all when its budget is used up.
type cutLine struct {
	mu    sync.Mutex
	left  int // budget
	total int // bytes that went through
	cut   bool
	after int // writes after the cut
	// hangUp closes the ends when the line is cut, as a peer does; else only the write fails.
	hangUp bool
	ends   []net.Conn
}

// cutEnd is an end of a connection whose writes are on the line.
type cutEnd struct {
	net.Conn
	line *cutLine
}

func (l *cutLine) wrap(c net.Conn) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = append(l.ends, c)
	return cutEnd{c, l}
}

func (l *cutLine) passed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

func (c cutEnd) Write(b []byte) (int, error) {
	l := c.line
	l.mu.Lock()
	if l.cut {
		l.after++
	}
	n := min(len(b), l.left)
	l.left -= n
	l.total += n
	cut := n < len(b)
	l.cut = l.cut || cut
	ends := l.ends
	l.mu.Unlock()
	written, err := c.Conn.Write(b[:n])
	if !cut || err != nil {
		return written, err
	}
	if !l.hangUp {
		return written, io.ErrClosedPipe
	}
	for _, end := range ends {
		_ = end.Close()
	}
	return written, io.ErrClosedPipe
}

// requireBroken checks that err says that a connection broke, in a way that a program can tell.
func requireBroken(t *testing.T, err error, at int) {
	t.Helper()
	for _, want := range []error{ErrConnectionClosed, ErrNoConnections, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.ECONNREFUSED} {
		if errors.Is(err, want) {
			return
		}
	}
	t.Fatalf("cut after %d bytes: %v says nothing of a connection that broke", at, err)
}

// TestFault01PeerClosesAnywhere: the peer goes away at each byte of a session's conversation, from OPTIONS to the RESULT of a prepared
// statement that is not idempotent, in what it sends and in what it receives. Every call must end at once, with an error of a known kind,
// and MayHaveApplied must be true exactly where a byte of the EXECUTE had left.
func TestFault01PeerClosesAnywhere(t *testing.T) {
	for _, version := range []byte{protoV4, protoV5} {
		for _, requests := range []bool{false, true} {
			t.Run(fmt.Sprintf("version=%d/requests=%v", version, requests), func(t *testing.T) {
				executed, whole := -1, 0 // bytes on the line when the EXECUTE leaves, and in all
				synctest.Test(t, func(t *testing.T) { whole = peerCloses(t, version, requests, 1<<30, &executed) })
				require.Greater(t, executed, 400)
				require.Greater(t, whole, executed)
				for n := 0; n < whole && !t.Failed(); n++ {
					synctest.Test(t, func(t *testing.T) { peerCloses(t, version, requests, n, &executed) })
					if poison && n < executed-200 {
						n += 7 // the race detector has seen the start often enough
					}
				}
			})
		}
	}
}

// peerCloses runs a session that ends after budget bytes of answers, or of requests, and returns how many went through. Without a
// cut it sets executed.
func peerCloses(t *testing.T, version byte, requests bool, budget int, executed *int) int {
	const stmt = "INSERT INTO ks.t (id) VALUES (?)"
	line := &cutLine{left: budget, hangUp: !requests}
	c := newFakeCluster(t, version, 1, func(n *fakeNode) {
		n.server.auth = passwordAuthenticators[0]
		if !requests {
			n.server.wrap = line.wrap
		}
	})
	if requests {
		c.wrap = func(_ *fakeNode, end net.Conn) net.Conn { return line.wrap(end) }
	}
	c.prepare(stmt, preparedSpec{bind: []ColumnInfo{col("id", tBigint)}, pk: []int{0}})
	c.on(func(r *fakeRequest) bool {
		switch {
		case r.op == opAuthResponse:
			r.peer.reply(r.stream, opAuthSuccess, []byte{0xFF, 0xFF, 0xFF, 0xFF})
			return true
		case r.op == opPrepare && requests && budget == 1<<30, r.op == opExecute && !requests && budget == 1<<30:
			*executed = line.passed()
		}
		return false
	})
	cfg := c.config()
	cfg.ProtoVersion = int(version)
	cfg.Authenticator = PasswordAuthenticator{Username: "u", Password: "p"}
	began := time.Now()
	s, err := cfg.CreateSession()
	if err != nil {
		require.Nil(t, s)
		require.ErrorIs(t, err, ErrNoConnectionsStarted, "cut after %d bytes", budget)
		requireBroken(t, err, budget)
	} else {
		defer s.Close()
		err = s.Query(stmt, 1).Exec()
		sent := budget > *executed
		if !requests {
			sent = budget >= *executed // the answer to it is what is cut
		}
		switch {
		case budget == 1<<30:
			require.NoError(t, err)
		case err == nil:
			t.Fatalf("cut after %d bytes: no error", budget)
		default:
			var f *RequestFailure
			require.ErrorAs(t, err, &f, "cut after %d bytes", budget)
			requireBroken(t, err, budget)
			require.Equal(t, sent, MayHaveApplied(err), "cut after %d bytes, the EXECUTE began at %d: %v", budget, *executed, err)
		}
	}
	require.Less(t, time.Since(began), time.Second, "cut after %d bytes: an error tells, not a timeout", budget)
	return line.passed()
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

// dripReader reads one byte at a time.
type dripReader struct{ net.Conn }

func (c dripReader) Read(b []byte) (int, error) { return c.Conn.Read(b[:min(len(b), 1)]) }

// TestFault02SingleBytes: headers, segments and bodies arrive byte by byte, and many frames arrive in one read. The results must be the
// same as ever.
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
			synctest.Test(t, func(t *testing.T) { // the reader gets one byte at a time
				s := &fakeServer{version: m.version, compressor: m.compressor}
				c := s.memory(t, func(cfg *connConfig) {
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
			synctest.Test(t, func(t *testing.T) { // all answers come with one write
				var mu sync.Mutex
				var frames []byte
				n := 0
				s := &fakeServer{version: m.version, compressor: m.compressor}
				s.handle = func(p *fakePeer, h wire.Header, body []byte) {
					mu.Lock()
					defer mu.Unlock()
					frames = append(frames, p.frame(h.Stream, opResult, body)...)
					if n++; n == len(questions) {
						_, _ = p.conn.Write(frames)
					}
				}
				c := s.memory(t)
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
	t.Run("loopback", func(t *testing.T) { // through a socket, where the system joins bytes as it likes
		s := &fakeServer{version: 5, wrap: func(c net.Conn) net.Conn { return dripConn{c} }}
		c := s.connect(t)
		for _, question := range questions[:10] {
			answer, err := c.ask(context.Background(), question)
			require.NoError(t, err)
			require.Equal(t, question, answer)
		}
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

// TestFault03HalfOpenPeer: the peer falls silent, and nothing closes the connection. The heartbeat must close it, not before an interval
// of silence and not later than two after it began; requests under way must end by their own deadlines, and only those that have none by
// then with the connection.
func TestFault03HalfOpenPeer(t *testing.T) {
	const interval = 30 * time.Second
	for _, version := range []byte{protoV4, protoV5} {
		for _, m := range []struct {
			name   string
			silent func(p *pipeEnd, mute *atomic.Bool)
		}{
			{"requests arrive", func(_ *pipeEnd, mute *atomic.Bool) { mute.Store(true) }},
			{"nothing arrives", func(p *pipeEnd, mute *atomic.Bool) { mute.Store(true); p.fill() }},
		} {
			t.Run(fmt.Sprintf("version=%d/%s", version, m.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var silent atomic.Bool
					var line *pipeEnd
					s := &fakeServer{version: version, handle: echo, wrap: func(c net.Conn) net.Conn { return muteConn{c, &silent} }}
					ended := make(chan error, 1)
					c := s.memory(t, func(cfg *connConfig) {
						cfg.heartbeat, cfg.timeout = interval, 5*time.Second
						cfg.onClose = func(_ *conn, err error) { ended <- err }
						dial := cfg.dial
						cfg.dial = func(ctx context.Context, addr string) (net.Conn, error) {
							c, err := dial(ctx, addr)
							line, _ = c.(*pipeEnd)
							return c, err
						}
					})
					time.Sleep(5*time.Minute + 10*time.Second)
					require.False(t, c.closed(), "it answers")
					_, err := c.ask(context.Background(), "a sign of life")
					require.NoError(t, err)
					m.silent(line, &silent)
					began := time.Now()
					var wg sync.WaitGroup
					for _, own := range []struct {
						deadline time.Duration // of the context; 0: none, so that the connection's timeout holds
						want     error
						after    time.Duration
					}{
						{0, ErrTimeoutNoResponse, 5 * time.Second},
						{time.Second, context.DeadlineExceeded, time.Second},
						{29 * time.Second, context.DeadlineExceeded, 29 * time.Second},
						{time.Hour, ErrConnectionClosed, 2 * interval},
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
					require.ErrorContains(t, err, "no sign of life")
					require.GreaterOrEqual(t, time.Since(began), interval)
					require.LessOrEqual(t, time.Since(began), 2*interval)
					wg.Wait()
					endConn(c, s)
				})
			})
		}
	}
}

// fill takes the window of what p writes: further writes wait, as if the peer had stopped reading.
func (p *pipeEnd) fill() {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	p.out.b = make([]byte, pipeWindow)
}

// TestFault04StalledWrites: the peer's window is zero while requests are queued. Each caller must come back by its own context, whether
// its frame waits in the socket, behind the leader or for room; the connection must be replaced, and other connections must not notice.
func TestFault04StalledWrites(t *testing.T) {
	t.Run("session", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newFakeCluster(t, protoV5, 2)
			var mu sync.Mutex
			var lines []*pipeEnd // to node 2
			c.wrap = func(n *fakeNode, end net.Conn) net.Conn {
				mu.Lock()
				defer mu.Unlock()
				if n == c.nodes[1] {
					lines = append(lines, end.(*pipeEnd))
				}
				return end
			}
			s := c.session(func(cfg *ClusterConfig) { cfg.HeartbeatInterval, cfg.Timeout = 10*time.Second, time.Minute })
			other := s.Query("INSERT x").SetHostID(c.nodes[0].id.String())
			stalled := s.Query("INSERT x").SetHostID(c.nodes[1].id.String())
			require.NoError(t, stalled.Exec())
			mu.Lock()
			line, connections := lines[len(lines)-1], len(lines)
			mu.Unlock()
			line.fill()
			began := time.Now()
			body := strings.Repeat("x", 1<<20)
			var wg sync.WaitGroup
			for i := range 20 { // more than may gather
				wg.Go(func() {
					deadline := time.Duration(i+1) * 100 * time.Millisecond
					ctx, cancel := context.WithTimeout(context.Background(), deadline)
					defer cancel()
					err := s.Query("CREATE " + body).SetHostID(c.nodes[1].id.String()).ExecContext(ctx)
					if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != deadline {
						t.Errorf("%v: got %v after %v", deadline, err, time.Since(began))
					}
				})
				wg.Go(func() {
					if err := other.Exec(); err != nil || time.Since(began) > time.Millisecond {
						t.Errorf("the other node: %v after %v", err, time.Since(began))
					}
				})
			}
			wg.Wait()
			time.Sleep(2*10*time.Second + time.Second - time.Since(began))
			mu.Lock()
			require.Len(t, lines, connections+1, "the connection is replaced")
			mu.Unlock()
			require.NoError(t, stalled.Exec())
		})
	})
	t.Run("waiting for room", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeServer{version: protoV4}
			c := s.memory(t, func(cfg *connConfig) { cfg.timeout = time.Second })
			c.w.mu.Lock()
			c.w.leading = true // nobody writes
			c.w.pending.B = make([]byte, maxPending+1)
			c.w.mu.Unlock()
			for range 100 {
				began := time.Now()
				_, err := c.ask(context.Background(), "question")
				require.ErrorIs(t, err, ErrTimeoutNoResponse)
				require.InDelta(t, time.Second, time.Since(began), float64(2*tickInterval))
				require.False(t, mayHaveLeft(err))
				require.Zero(t, c.inFlight(), "what was not sent is no orphan")
			}
			endConn(c, s)
		})
	})
}

// TestFault05TornWrite: a write ends in the middle of several frames, at each byte of them in turn. The connection must be dead, nothing
// may follow the tear, and only frames of which nothing was written, in v5 nothing of their segment, may be sent again.
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
				if r := n % size; m.body > 1000 && r > 12 && r < size-12 { // nothing happens there
					n += size - 12 - r - 1
				}
			}
		})
	}
}

// tearWrite has the connection fail after n bytes of frames that are queued, and reports whether that was in the midst of them, and how
// large one was on the wire.
func tearWrite(t *testing.T, version byte, compressor Compressor, body, frames, n int) (torn bool, size int) {
	line := &cutLine{left: 1 << 30}
	var streams []int16
	s := &fakeServer{version: version, compressor: compressor, handle: func(p *fakePeer, h wire.Header, _ []byte) {
		if streams = append(streams, h.Stream); len(streams) == frames { // none is answered before all have left
			for _, stream := range streams {
				p.reply(stream, opResult, nil)
			}
		}
	}}
	c := s.memory(t, func(cfg *connConfig) {
		dial := cfg.dial
		cfg.dial = func(ctx context.Context, addr string) (net.Conn, error) {
			c, err := dial(ctx, addr)
			return line.wrap(c), err
		}
	})
	c.w.mu.Lock()
	c.w.leading = true // it does not write yet
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
	handshake := line.passed()
	line.left = n
	c.flush()
	size, each := wire.HeaderSize+body, 1 // frames to a unit that is written or not
	if version >= protoV5 && body < 1000 {
		each = frames
	} else if version >= protoV5 {
		p := &fakePeer{s: s, seg: true}
		size = len(p.frame(0, opResult, []byte(strings.Repeat("a", body))))
	}
	for i := range errs {
		err := <-errs[i]
		if !line.cut {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrConnectionClosed)
		require.Equal(t, n > i/each*size, mayHaveLeft(err), "frame %d, %d bytes written", i, n)
	}
	if line.cut {
		_, err := c.ask(context.Background(), "after")
		require.ErrorIs(t, err, ErrConnectionClosed)
		require.False(t, mayHaveLeft(err))
		require.Equal(t, handshake+n, line.passed())
		require.Zero(t, line.after, "writes after the tear")
	}
	endConn(c, s)
	return line.cut, size
}

// TestFault05RetryAfterTornWrite is 5 in a session: what was not begun goes to another node, though it is not idempotent, and what was
// begun does not.
func TestFault05RetryAfterTornWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := &cutLine{left: 1 << 30}
		c := newFakeCluster(t, protoV4, 2)
		c.wrap = func(n *fakeNode, end net.Conn) net.Conn {
			if n == c.nodes[1] {
				return line.wrap(end)
			}
			return end
		}
		s := c.session()
		require.NoError(t, s.Query("INSERT x").Exec())
		n := s.topo.Load().nodeByID(c.nodes[1].id)
		conn := n.pool.pick()
		conn.w.mu.Lock()
		conn.w.leading = true
		conn.w.mu.Unlock()
		errs := make(chan error, 8)
		for range cap(errs) {
			go func() { errs <- s.Query("INSERT x").Exec() }()
		}
		synctest.Wait()
		var begun int
		conn.w.mu.Lock()
		queued := len(conn.w.pending.B)
		conn.w.mu.Unlock()
		require.Positive(t, queued, "the other node serves some, this one has some")
		line.mu.Lock()
		line.left = 1 // of the first frame
		line.mu.Unlock()
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

// TestFault04ClosedWhileWaitingForRoom has callers wait until the writer has room, and ends the connection.
func TestFault04ClosedWhileWaitingForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			s := &fakeServer{version: 4}
			c := s.memory(t)
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
