// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/stream"
	"github.com/vecql/vecql/internal/wire"
)

// This file holds faults 10 to 12: of stream ids, by which answers are told apart.

// TestFault10ForeignStream: an answer comes on a stream that is free, was never used, can't be, or is the events'. The connection must end, and
// every request on it with an error: none may get what was meant for nobody.
func TestFault10ForeignStream(t *testing.T) {
	for name, answer := range map[string]func(p *fakePeer, h wire.Header){
		"a stream that was never used": func(p *fakePeer, h wire.Header) { p.reply(h.Stream+32, opResult, []byte("a guess")) },
		"the last stream":              func(p *fakePeer, h wire.Header) { p.reply(32767, opResult, []byte("a guess")) },
		"a negative stream":            func(p *fakePeer, h wire.Header) { p.reply(-2, opEvent, nil) },
		"the events' stream":           func(p *fakePeer, h wire.Header) { p.reply(-1, opResult, []byte("a guess")) },
		"a stream that is free":        nil,
		"two answers":                  func(p *fakePeer, h wire.Header) { _, _ = p.conn.Write(twice(p, h.Stream, "the answer")) },
	} {
		for _, version := range []byte{protoV4, protoV5} {
			t.Run(fmt.Sprintf("%s/version=%d", name, version), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const earlier = 100
					var used []int16
					busy := map[int16]bool{}
					s := &fakeServer{version: version, handle: func(p *fakePeer, h wire.Header, body []byte) {
						busy[h.Stream] = true
						switch string(body) {
						case "before":
							if used = append(used, h.Stream); len(used) == earlier { // so many streams were used
								clear(busy)
								for _, stream := range used {
									p.reply(stream, opResult, []byte("before"))
								}
							}
						case "now":
							if answer != nil {
								answer(p, h)
								return
							}
							free := slices.IndexFunc(used, func(stream int16) bool { return !busy[stream] })
							p.reply(used[free], opResult, []byte("a guess"))
						}
					}}
					ended := make(chan error, 1)
					c := s.memory(t, func(cfg *connConfig) { cfg.onClose = func(_ *conn, err error) { ended <- err } })
					var wg sync.WaitGroup
					for range earlier {
						wg.Go(func() {
							if answer, err := c.ask(context.Background(), "before"); err != nil || answer != "before" {
								t.Errorf("got %q, %v", answer, err)
							}
						})
					}
					wg.Wait()
					for range 20 {
						wg.Go(func() {
							if got, err := c.ask(context.Background(), "waits"); !errors.Is(err, ErrConnectionClosed) || !mayHaveLeft(err) {
								t.Errorf("got %q, %v", got, err)
							}
						})
					}
					synctest.Wait()
					got, err := c.ask(context.Background(), "now")
					var broken *ProtocolError
					if name == "two answers" && err == nil {
						require.Equal(t, "the answer", got)
					} else {
						require.ErrorIs(t, err, ErrConnectionClosed)
						require.ErrorAs(t, err, &broken)
					}
					wg.Wait()
					require.ErrorAs(t, <-ended, &broken)
					_, err = c.ask(context.Background(), "after")
					require.ErrorIs(t, err, ErrConnectionClosed)
					require.False(t, mayHaveLeft(err))
					endConn(c, s)
				})
			})
		}
	}
}

// twice returns an answer two times.
func twice(p *fakePeer, stream int16, body string) []byte {
	frame := p.frame(stream, opResult, []byte(body))
	return append(frame, frame...)
}

// TestFault10AnswerBeforeRequest has the server answer a call whose frame was not sent yet: a guess of its stream id.
func TestFault10AnswerBeforeRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var peer *fakePeer
		s := &fakeServer{version: 4, handle: func(p *fakePeer, h wire.Header, b []byte) { peer = p; echo(p, h, b) }}
		c := s.memory(t, func(cfg *connConfig) { cfg.maxStreams = 1 })
		_, err := c.ask(context.Background(), "first")
		require.NoError(t, err)
		c.w.mu.Lock()
		c.w.leading = true
		c.w.pending.B = make([]byte, maxPending+1)
		c.w.mu.Unlock()
		failed := make(chan error, 1)
		go func() { _, err := c.ask(context.Background(), "second"); failed <- err }()
		synctest.Wait()
		require.Equal(t, 1, c.inFlight())
		peer.reply(0, opResult, []byte("a guess"))
		err = <-failed
		var broken *ProtocolError
		require.ErrorAs(t, err, &broken)
		require.False(t, mayHaveLeft(err))
		endConn(c, s)
	})
}

// TestFault11LateAnswer: a request times out, others follow on a connection with so few streams that each is used again and again, and then
// its answer comes. It must be dropped, and its stream be free only from then on.
func TestFault11LateAnswer(t *testing.T) {
	for _, version := range []byte{protoV4, protoV5} {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeServer{version: version}
			s.handle = func(p *fakePeer, h wire.Header, body []byte) {
				if string(body) == "slow" {
					time.AfterFunc(time.Minute, func() { echo(p, h, body) })
					return
				}
				echo(p, h, body)
			}
			c := s.memory(t, func(cfg *connConfig) { cfg.maxStreams = 4 })
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_, err := c.ask(ctx, "slow")
			require.ErrorIs(t, err, context.DeadlineExceeded)
			for i := range 120 { // the late answer comes in the midst of them
				require.Equal(t, i < 59, c.inFlight() == 1, "after %d s", i+1)
				answer, err := c.ask(context.Background(), fmt.Sprint(i))
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint(i), answer)
				time.Sleep(time.Second)
				synctest.Wait()
			}
			require.Zero(t, c.orphans.Load())
			require.False(t, c.closed())
			endConn(c, s)
		})
	}
}

// nonceRequests is how many requests TestFault11Nonces makes in all; under the race detector each costs several times as much.
func nonceRequests() int {
	if poison {
		return 20_000
	}
	return 1_000_000
}

// TestFault11Nonces: 10^6 requests with random timeouts, answered after random delays, so that many an answer comes late, and at the very
// moment of the timeout. Every reply must carry its request's nonce, and at the end no stream, goroutine, socket or buffer may be left.
func TestFault11Nonces(t *testing.T) {
	const workers, step, longest = 512, 100 * time.Microsecond, 40
	synctest.Test(t, func(t *testing.T) {
		before := outstanding.Load()
		s := &fakeServer{version: protoV5, handle: func(p *fakePeer, h wire.Header, body []byte) {
			delay := time.Duration(body[8]) * step
			if delay == 0 {
				echo(p, h, body)
				return
			}
			time.AfterFunc(delay, func() { echo(p, h, body) })
		}}
		c := s.memory(t)
		var next, answered, late atomic.Int64
		total := int64(nonceRequests())
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				r := mrand.New(mrand.NewPCG(11, uint64(w)))
				body := getBuffer(9)
				defer body.release()
				for {
					nonce := next.Add(1)
					if nonce > total {
						return
					}
					body.b = append(binary.BigEndian.AppendUint64(body.b[:0], uint64(nonce)), byte(r.IntN(longest)))
					ctx, cancel := context.Background(), context.CancelFunc(func() {})
					timeout := time.Duration(r.IntN(longest)) * step
					if r.IntN(4) > 0 {
						ctx, cancel = context.WithTimeout(ctx, timeout)
					}
					resp, err := c.roundTrip(ctx, &request{op: opQuery, body: body})
					cancel()
					switch {
					case err == nil:
						answered.Add(1)
						if got := resp.page.b; string(got) != string(body.b) {
							t.Errorf("got the answer to %x for %x", got, body.b)
						}
						resp.page.release()
					case errors.Is(err, context.DeadlineExceeded):
						late.Add(1)
					default:
						t.Errorf("%v", err)
						return
					}
				}
			})
		}
		wg.Wait()
		t.Logf("%d answered, %d given up", answered.Load(), late.Load())
		require.Greater(t, answered.Load(), total/3)
		require.Greater(t, late.Load(), total/5)
		time.Sleep(time.Second)
		require.Zero(t, c.inFlight(), "streams are left")
		require.Zero(t, c.orphans.Load())
		require.False(t, c.closed())
		endConn(c, s) // synctest fails the test when a goroutine is left
		require.Equal(t, before, outstanding.Load(), "buffers not released")
	})
}

// TestFault11NoncesOverSockets is TestFault11Nonces in real time, over sockets, for each version and compression, with bodies of all sizes.
func TestFault11NoncesOverSockets(t *testing.T) {
	for _, m := range []struct {
		version    byte
		compressor Compressor
	}{{4, nil}, {4, LZ4Compressor{}}, {4, SnappyCompressor{}}, {5, nil}, {5, LZ4Compressor{}}} {
		t.Run(fmt.Sprintf("version=%d/compressor=%T", m.version, m.compressor), func(t *testing.T) {
			s := &fakeServer{version: m.version, compressor: m.compressor}
			s.handle = func(p *fakePeer, h wire.Header, body []byte) {
				if len(body)%7 == 0 { // out of order, and late
					time.AfterFunc(time.Duration(len(body)%5)*time.Millisecond, func() { echo(p, h, body) })
					return
				}
				echo(p, h, body)
			}
			c := s.connect(t, func(cfg *connConfig) { cfg.maxStreams = 1000 })
			rounds := 60
			if poison {
				rounds = 10
			}
			var wg sync.WaitGroup
			var answered atomic.Int64
			for w := range 64 {
				wg.Go(func() {
					r := mrand.New(mrand.NewPCG(7, uint64(w)))
					for i := range rounds {
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
			require.Greater(t, answered.Load(), int64(64*rounds/2))
			require.Eventually(t, func() bool { return c.inFlight() == 0 && c.orphans.Load() == 0 }, 5*time.Second, time.Millisecond,
				"orphans are freed when their answers come")
		})
	}
}

// TestFault11NoncesOfSession is TestFault11Nonces for statements of a session: what a caller scans is the row that belongs to the value it bound.
func TestFault11NoncesOfSession(t *testing.T) {
	const stmt, workers, step, longest = "SELECT nonce FROM ks.t WHERE nonce = ?", 128, 100 * time.Microsecond, 40
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, protoV5, 3)
		columns := []ColumnInfo{col("nonce", tBigint)}
		c.prepare(stmt, preparedSpec{bind: columns, pk: []int{0}, result: columns, resultID: "m"})
		c.on(func(r *fakeRequest) bool {
			if r.op != opExecute {
				return false
			}
			answer := func() { r.rows(fakeResult{columns: columns, cells: [][]byte{r.values[0]}}) }
			if delay := time.Duration(r.values[0][7]) % longest * step; delay > 0 {
				time.AfterFunc(delay, answer)
			} else {
				answer()
			}
			return true
		})
		s := c.session()
		var next, answered, late atomic.Int64
		total := int64(nonceRequests() / 20)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				r := mrand.New(mrand.NewPCG(12, uint64(w)))
				for nonce := next.Add(1); nonce <= total; nonce = next.Add(1) {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(2*longest))*step)
					var got int64
					err := s.Query(stmt, nonce).ScanContext(ctx, &got)
					cancel()
					switch {
					case err == nil && got != nonce:
						t.Errorf("got %d for %d", got, nonce)
					case err == nil:
						answered.Add(1)
					case errors.Is(err, context.DeadlineExceeded):
						late.Add(1)
					default:
						t.Errorf("%v", err)
					}
				}
			})
		}
		wg.Wait()
		t.Logf("%d answered, %d given up", answered.Load(), late.Load())
		require.Greater(t, answered.Load(), total/3)
		require.Greater(t, late.Load(), total/5)
	})
}

// TestFault12AllStreams: as many requests are under way as there are stream ids, and more want to be. Those must wait for a free one, each as
// long as its context or timeout allows, and get it when an answer comes; all answers must arrive.
func TestFault12AllStreams(t *testing.T) {
	streams := stream.MaxStreams
	if poison {
		streams = 4000 // the race detector allows 8128 goroutines
	}
	synctest.Test(t, func(t *testing.T) {
		before := outstanding.Load()
		var mu sync.Mutex
		var queue []func()
		s := &fakeServer{version: protoV5, handle: func(p *fakePeer, h wire.Header, body []byte) {
			mu.Lock()
			defer mu.Unlock()
			queue = append(queue, func() { echo(p, h, body) })
		}}
		answer := func(n int) {
			for range n {
				mu.Lock()
				next := queue[0]
				queue = queue[1:]
				mu.Unlock()
				next()
			}
		}
		c := s.memory(t, func(cfg *connConfig) { cfg.maxStreams, cfg.timeout = streams, time.Hour })
		var wg sync.WaitGroup
		ask := func(i int) {
			if answer, err := c.ask(context.Background(), fmt.Sprint(i)); err != nil || answer != fmt.Sprint(i) {
				t.Errorf("got %q, %v, want %d", answer, err, i)
			}
		}
		for i := range streams {
			wg.Go(func() { ask(i) })
		}
		synctest.Wait()
		require.Equal(t, streams, c.inFlight())
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := c.ask(ctx, "no room")
		require.ErrorIs(t, err, ErrNoStreams)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.False(t, mayHaveLeft(err))
		require.Equal(t, time.Second, time.Since(began))
		var got atomic.Int32
		for i := range 30 {
			wg.Go(func() { ask(streams + i); got.Add(1) })
		}
		synctest.Wait()
		require.Equal(t, streams, c.inFlight())
		require.Zero(t, got.Load())
		answer(1) // one of those who wait goes on
		synctest.Wait()
		require.Equal(t, streams, c.inFlight())
		require.EqualValues(t, 29, c.waiting.Load())
		answer(streams)
		synctest.Wait()
		require.Equal(t, 29, c.inFlight())
		answer(29)
		wg.Wait()
		require.Zero(t, c.inFlight())
		endConn(c, s)
		require.Equal(t, before, outstanding.Load())
	})
}

// TestFault12OrphanFlood: the server takes requests and answers none, and all are given up. Beyond the limit the connection must take no
// further ones, let those under way have their time, and end.
func TestFault12OrphanFlood(t *testing.T) {
	for _, m := range []struct{ streams, orphans, limit int }{
		{0, 0, 1024}, {0, 5, 5}, {400, 0, 100}, {1, 0, 1},
	} {
		t.Run(fmt.Sprintf("streams=%d/orphans=%d", m.streams, m.orphans), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := outstanding.Load()
				s := &fakeServer{version: protoV5, handle: func(*fakePeer, wire.Header, []byte) {}}
				ended := make(chan error, 1)
				c := s.memory(t, func(cfg *connConfig) {
					cfg.maxStreams, cfg.maxOrphans, cfg.timeout = m.streams, m.orphans, 10*time.Second
					cfg.onClose = func(_ *conn, err error) { ended <- err }
				})
				giveUp := func() {
					ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
					defer cancel()
					_, err := c.ask(ctx, "question")
					require.ErrorIs(t, err, context.DeadlineExceeded)
				}
				for range m.limit {
					giveUp()
				}
				require.False(t, c.refuses())
				if m.streams == 1 { // no stream is left to go beyond the limit
					endConn(c, s)
					return
				}
				began := time.Now()
				slow := make(chan error, 1)
				go func() {
					ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
					defer cancel()
					_, err := c.ask(ctx, "has its time")
					slow <- err
				}()
				synctest.Wait()
				giveUp()
				require.True(t, c.refuses())
				_, err := c.ask(context.Background(), "after")
				require.ErrorIs(t, err, ErrConnectionClosed)
				require.False(t, mayHaveLeft(err))
				require.ErrorIs(t, <-slow, context.DeadlineExceeded)
				require.ErrorContains(t, <-ended, "given up")
				require.Equal(t, 5*time.Second, time.Since(began), "when nobody waits any more")
				endConn(c, s)
				require.Equal(t, before, outstanding.Load())
			})
		})
	}
}

// TestFault12OrphanFloodOfSession: a node takes requests and answers none of a flood of them that is given up. Its connection must be
// replaced, and requests that the node does answer go on meanwhile.
func TestFault12OrphanFloodOfSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, protoV5, 1)
		c.on(func(r *fakeRequest) bool { return r.stmt == "SELECT never" && r.op == opExecute })
		s := c.session(func(cfg *ClusterConfig) { cfg.Timeout = 2 * time.Second })
		require.NoError(t, s.Query("INSERT x").Exec())
		dials := c.madeCount()
		var failed, answered int
		for range 40 {
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
					defer cancel()
					if err := s.Query("SELECT never").ExecContext(ctx); err == nil {
						t.Error("nobody answered")
					}
				})
			}
			wg.Wait()
			if err := s.Query("INSERT x").Exec(); err != nil {
				require.ErrorIs(t, err, ErrNoConnections, "the one connection is on its way out")
				failed++
			} else {
				answered++
			}
		}
		time.Sleep(10 * time.Second)
		require.NoError(t, s.Query("INSERT x").Exec())
		require.Greater(t, c.madeCount(), dials, "the connection is replaced")
		require.Greater(t, answered, 10)
		t.Logf("%d answered, %d without a connection", answered, failed)
	})
}
