// SPDX-License-Identifier: Apache-2.0

package conn

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

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/internal/stream"
	"github.com/vecql/vecql/internal/wire"
)

// Faults 10 to 12 on one connection: stream ids, late responses, and abandoned requests.

// TestFault10ForeignStream: a response arrives on a stream that is free, was never used, is invalid, or is the stream
// of events. The connection must close and every request on it fail: none may receive the stray response.
func TestFault10ForeignStream(t *testing.T) {
	for name, answer := range map[string]func(p *fakecql.Conn, h wire.Header){
		"a stream never used": func(p *fakecql.Conn, h wire.Header) { p.Reply(h.Stream+32, fakecql.OpResult, []byte("a guess")) },
		"the last stream":     func(p *fakecql.Conn, h wire.Header) { p.Reply(32767, fakecql.OpResult, []byte("a guess")) },
		"a negative stream":   func(p *fakecql.Conn, h wire.Header) { p.Reply(-2, fakecql.OpEvent, nil) },
		"the events' stream":  func(p *fakecql.Conn, h wire.Header) { p.Reply(-1, fakecql.OpResult, []byte("a guess")) },
		"a free stream":       nil,
		"two answers":         func(p *fakecql.Conn, h wire.Header) { _, _ = p.Conn.Write(twice(p, h.Stream, "the answer")) },
	} {
		for _, version := range []byte{frame.V4, frame.V5} {
			t.Run(fmt.Sprintf("%s/version=%d", name, version), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const earlier = 100
					var used []int16
					busy := map[int16]bool{}
					s := &fakecql.Server{Version: version, Handle: func(p *fakecql.Conn, h wire.Header, body []byte) {
						busy[h.Stream] = true
						switch string(body) {
						case "before":
							if used = append(used, h.Stream); len(used) == earlier { // all of these streams are free afterwards
								clear(busy)
								for _, stream := range used {
									p.Reply(stream, fakecql.OpResult, []byte("before"))
								}
							}
						case "now":
							if answer != nil {
								answer(p, h)
								return
							}
							free := slices.IndexFunc(used, func(stream int16) bool { return !busy[stream] })
							p.Reply(used[free], fakecql.OpResult, []byte("a guess"))
						}
					}}
					ended := make(chan error, 1)
					c := connectInMemory(t, s, func(cfg *Config) { cfg.OnClose = func(_ *Conn, err error) { ended <- err } })
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
							if got, err := c.ask(context.Background(), "waits"); !errors.Is(err, ErrClosed) || !mayHaveLeft(err) {
								t.Errorf("got %q, %v", got, err)
							}
						})
					}
					synctest.Wait()
					got, err := c.ask(context.Background(), "now")
					var broken *cql.ProtocolError
					if name == "two answers" && err == nil {
						require.Equal(t, "the answer", got)
					} else {
						require.ErrorIs(t, err, ErrClosed)
						require.ErrorAs(t, err, &broken)
					}
					wg.Wait()
					require.ErrorAs(t, <-ended, &broken)
					_, err = c.ask(context.Background(), "after")
					require.ErrorIs(t, err, ErrClosed)
					require.False(t, mayHaveLeft(err))
					endConn(c, s)
				})
			})
		}
	}
}

// TestFault10StreamBeyondBound: a response arrives on a stream beyond MaxRequestsPerConn, for which there is no slot.
func TestFault10StreamBeyondBound(t *testing.T) {
	for _, beyond := range []int16{100, 127, 128, 32767} {
		synctest.Test(t, func(t *testing.T) {
			s := &fakecql.Server{Version: frame.V5, Handle: func(p *fakecql.Conn, _ wire.Header, _ []byte) {
				p.Reply(beyond, fakecql.OpResult, []byte("a guess"))
			}}
			c := connectInMemory(t, s, func(cfg *Config) { cfg.MaxStreams = 100 })
			_, err := c.ask(context.Background(), "now")
			var broken *cql.ProtocolError
			require.ErrorAs(t, err, &broken)
			require.ErrorContains(t, err, "never used")
			endConn(c, s)
		})
	}
}

// twice returns a response twice.
func twice(p *fakecql.Conn, stream int16, body string) []byte {
	frame := p.Frame(stream, fakecql.OpResult, []byte(body))
	return append(frame, frame...)
}

// TestFault10AnswerBeforeRequest: the server guesses a stream id and responds to a call whose frame was not sent yet.
func TestFault10AnswerBeforeRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var peer *fakecql.Conn
		s := &fakecql.Server{Version: 4, Handle: func(p *fakecql.Conn, h wire.Header, b []byte) { peer = p; fakecql.Echo(p, h, b) }}
		c := connectInMemory(t, s, func(cfg *Config) { cfg.MaxStreams = 1 })
		_, err := c.ask(context.Background(), "first")
		require.NoError(t, err)
		c.w.mu.Lock()
		c.w.leading = true
		c.w.pending.B = make([]byte, maxPending+1)
		c.w.mu.Unlock()
		failed := make(chan error, 1)
		go func() { _, err := c.ask(context.Background(), "second"); failed <- err }()
		synctest.Wait()
		require.Equal(t, 1, c.InFlight())
		peer.Reply(0, fakecql.OpResult, []byte("a guess"))
		err = <-failed
		var broken *cql.ProtocolError
		require.ErrorAs(t, err, &broken)
		require.False(t, mayHaveLeft(err))
		endConn(c, s)
	})
}

// TestFault11LateAnswer: a request times out, other requests reuse the few streams of the connection many times, and
// then the late response arrives. It must be dropped, and its stream must stay in use until then.
func TestFault11LateAnswer(t *testing.T) {
	for _, version := range []byte{frame.V4, frame.V5} {
		synctest.Test(t, func(t *testing.T) {
			s := &fakecql.Server{Version: version}
			s.Handle = func(p *fakecql.Conn, h wire.Header, body []byte) {
				if string(body) == "slow" {
					time.AfterFunc(time.Minute, func() { fakecql.Echo(p, h, body) })
					return
				}
				fakecql.Echo(p, h, body)
			}
			c := connectInMemory(t, s, func(cfg *Config) { cfg.MaxStreams = 4 })
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_, err := c.ask(ctx, "slow")
			require.ErrorIs(t, err, context.DeadlineExceeded)
			for i := range 120 { // the late response arrives during these
				require.Equal(t, i < 59, c.InFlight() == 1, "after %d s", i+1)
				answer, err := c.ask(context.Background(), fmt.Sprint(i))
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint(i), answer)
				time.Sleep(time.Second)
				synctest.Wait()
			}
			require.Zero(t, c.Orphans.Load())
			require.False(t, c.Closed())
			endConn(c, s)
		})
	}
}

// nonceRequests is the number of requests of TestFault11Nonces: a million in soak tests, fewer under the race detector,
// where each costs several times as much.
func nonceRequests() int {
	if poison {
		return 20_000
	}
	return soak.Size(100_000, 1_000_000)
}

// TestFault11Nonces makes 10^6 requests (fewer outside of soak tests) with random timeouts and random response delays:
// many responses are late, some arrive at the moment of the timeout. Half of the callers are prompt, the others look at
// their contexts. Every response must have its request's nonce. In
// the end no stream, goroutine, socket or buffer may be left.
func TestFault11Nonces(t *testing.T) {
	const workers, step, longest = 512, 2 * time.Millisecond, 40
	synctest.Test(t, func(t *testing.T) {
		before := outstanding.Load()
		s := &fakecql.Server{Version: frame.V5, Handle: func(p *fakecql.Conn, h wire.Header, body []byte) {
			delay := time.Duration(body[8]) * step
			if delay == 0 {
				fakecql.Echo(p, h, body)
				return
			}
			time.AfterFunc(delay, func() { fakecql.Echo(p, h, body) })
		}}
		c := connectInMemory(t, s)
		var next, answered, late atomic.Int64
		total := int64(nonceRequests())
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				r := mrand.New(mrand.NewPCG(11, uint64(w)))
				body := GetBuffer(9)
				defer body.Release()
				for {
					nonce := next.Add(1)
					if nonce > total {
						return
					}
					body.B = append(binary.BigEndian.AppendUint64(body.B[:0], uint64(nonce)), byte(r.IntN(longest)))
					ctx, cancel := context.Background(), context.CancelFunc(func() {})
					timeout := time.Duration(r.IntN(longest)) * step
					if r.IntN(4) > 0 {
						ctx, cancel = context.WithTimeout(ctx, timeout)
					}
					resp, err := c.RoundTrip(ctx, &Request{Op: frame.OpQuery, Body: body, Prompt: r.IntN(2) == 0})
					cancel()
					switch {
					case err == nil:
						answered.Add(1)
						if got := resp.Body.B; string(got) != string(body.B) {
							t.Errorf("got the answer to %x for %x", got, body.B)
						}
						resp.Body.Release()
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
		t.Logf("%d answered, %d timed out", answered.Load(), late.Load())
		require.Greater(t, answered.Load(), total/3)
		require.Greater(t, late.Load(), total/5)
		time.Sleep(time.Second)
		require.Zero(t, c.InFlight(), "streams still in use")
		require.Zero(t, c.Orphans.Load())
		require.False(t, c.Closed())
		endConn(c, s) // synctest fails the test if a goroutine is left
		require.Equal(t, before, outstanding.Load(), "buffers not released")
	})
}

// TestFault11NoncesOverSockets is TestFault11Nonces in real time over sockets, for each version and compression, with
// bodies of many sizes.
func TestFault11NoncesOverSockets(t *testing.T) {
	for _, m := range []struct {
		version    byte
		compressor cql.Compressor
	}{{4, nil}, {4, frame.LZ4{}}, {4, frame.Snappy{}}, {5, nil}, {5, frame.LZ4{}}} {
		t.Run(fmt.Sprintf("version=%d/compressor=%T", m.version, m.compressor), func(t *testing.T) {
			s := &fakecql.Server{Version: m.version, Compressor: m.compressor}
			s.Handle = func(p *fakecql.Conn, h wire.Header, body []byte) {
				if len(body)%7 == 0 { // out of order, and late
					time.AfterFunc(time.Duration(len(body)%5)*time.Millisecond, func() { fakecql.Echo(p, h, body) })
					return
				}
				fakecql.Echo(p, h, body)
			}
			c := connectTo(t, s, func(cfg *Config) { cfg.MaxStreams = 1000 })
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
			require.Eventually(t, func() bool { return c.InFlight() == 0 && c.Orphans.Load() == 0 }, 5*time.Second, time.Millisecond,
				"orphans are freed when their answers come")
		})
	}
}

// TestFault12AllStreams: all stream ids are in use and further requests are made. Each must wait for a free stream id
// until its context or timeout ends, and get one when a response arrives. All responses must arrive.
func TestFault12AllStreams(t *testing.T) {
	streams := stream.MaxStreams
	if poison {
		streams = 4000 // the race detector allows 8128 goroutines
	}
	synctest.Test(t, func(t *testing.T) {
		before := outstanding.Load()
		var mu sync.Mutex
		var queue []func()
		s := &fakecql.Server{Version: frame.V5, Handle: func(p *fakecql.Conn, h wire.Header, body []byte) {
			mu.Lock()
			defer mu.Unlock()
			queue = append(queue, func() { fakecql.Echo(p, h, body) })
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
		c := connectInMemory(t, s, func(cfg *Config) { cfg.MaxStreams, cfg.Timeout = streams, time.Hour })
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
		require.Equal(t, streams, c.InFlight())
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
		require.Equal(t, streams, c.InFlight())
		require.Zero(t, got.Load())
		answer(1) // one waiting request proceeds
		synctest.Wait()
		require.Equal(t, streams, c.InFlight())
		require.EqualValues(t, 29, c.waiting.Load())
		answer(streams)
		synctest.Wait()
		require.Equal(t, 29, c.InFlight())
		answer(29)
		wg.Wait()
		require.Zero(t, c.InFlight())
		endConn(c, s)
		require.Equal(t, before, outstanding.Load())
	})
}

// TestFault12OrphanFlood: the server responds to no request and all time out. Beyond the limit of old orphans the
// connection must refuse new requests, wait for those in flight, and close.
func TestFault12OrphanFlood(t *testing.T) {
	for _, m := range []struct{ streams, orphans, limit int }{
		{0, 0, 1024}, {0, 5, 5}, {400, 0, 100}, {1, 0, 1},
	} {
		t.Run(fmt.Sprintf("streams=%d/orphans=%d", m.streams, m.orphans), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := outstanding.Load()
				s := &fakecql.Server{Version: frame.V5, Handle: func(*fakecql.Conn, wire.Header, []byte) {}}
				ended := make(chan error, 1)
				c := connectInMemory(t, s, func(cfg *Config) {
					cfg.MaxStreams, cfg.maxOrphans, cfg.Timeout = m.streams, m.orphans, 10*time.Second
					cfg.OnClose = func(_ *Conn, err error) { ended <- err }
				})
				giveUp := func() {
					ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
					defer cancel()
					if _, err := c.ask(ctx, "question"); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("got %v", err)
					}
				}
				var wg sync.WaitGroup
				for range m.limit {
					wg.Go(giveUp)
				}
				wg.Wait()
				require.False(t, c.Refuses())
				if m.streams == 1 { // too few streams to exceed the limit
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
				time.Sleep(orphanAge - 10*time.Millisecond)
				require.False(t, c.Refuses(), "young orphans do not count")
				time.Sleep(orphanAge)
				require.True(t, c.Refuses())
				_, err := c.ask(context.Background(), "after")
				require.ErrorIs(t, err, ErrClosed)
				require.False(t, mayHaveLeft(err))
				require.ErrorIs(t, <-slow, context.DeadlineExceeded)
				require.ErrorContains(t, <-ended, "without a response")
				require.Equal(t, 5*time.Second, time.Since(began), "after the last waiting caller")
				endConn(c, s)
				require.Equal(t, before, outstanding.Load())
			})
		})
	}
}
