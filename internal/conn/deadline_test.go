// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"fmt"
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
	"github.com/vecql/vecql/internal/stream"
	"github.com/vecql/vecql/internal/wire"
)

// Times of calls: how long a call waits, when it starts probes, and when it ends without an answer.

// TestDeadlineAndPatience requires the deadline of a call, 0 for none, and that its patience is a quarter of its time,
// within bounds. The timeout of the connection applies to a call without any other bound.
func TestDeadlineAndPatience(t *testing.T) {
	const ms = time.Millisecond
	for _, m := range []struct{ ctx, timeout, conn, deadline, patience time.Duration }{
		{0, 0, 0, 0, probeTimeout},
		{0, 0, 400 * ms, 400 * ms, 100 * ms},
		{0, -1, 400 * ms, 400 * ms, 100 * ms},
		{0, 0, 10_000 * ms, 10_000 * ms, probeTimeout},
		{0, 200 * ms, 10_000 * ms, 200 * ms, 50 * ms},
		{0, 8 * ms, 0, 8 * ms, leastPatience},
		{80 * ms, 0, 10_000 * ms, 0, 20 * ms},
		{80 * ms, 400 * ms, 10_000 * ms, 400 * ms, 20 * ms},
		{400 * ms, 80 * ms, 10_000 * ms, 80 * ms, 20 * ms},
		{10_000 * ms, 0, 0, 0, probeTimeout},
		{8 * ms, 0, 0, 0, leastPatience},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newIdleConn()
			c.Config.Timeout = m.conn
			time.Sleep(time.Second)
			ctx := t.Context()
			if m.ctx > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, m.ctx)
				defer cancel()
			}
			w := waiter{sent: c.now()}
			c.bound(ctx, &w, m.timeout)
			if m.deadline > 0 {
				m.deadline += time.Duration(w.sent)
			}
			require.EqualValues(t, m.deadline, w.deadline, "%+v", m)
			require.InDelta(t, m.patience, w.patience, float64(time.Microsecond), "%+v", m)
		})
	}
}

// TestCallWithoutAnswer requires what a call does that waits for its answer: after one patience it starts probes, after
// two it ends if it may move, and at its deadline it ends. An earlier answer to another call postpones the first two.
func TestCallWithoutAnswer(t *testing.T) {
	const patience, deadline = 100 * time.Millisecond, 250 * time.Millisecond
	for _, m := range []struct{ movable, refuses, answered bool }{
		{movable: false}, {movable: true}, {movable: true, refuses: true}, {movable: true, answered: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newIdleConn()
			time.Sleep(time.Second)
			w := startCall(t, c)
			w.movable, w.patience, w.deadline = m.movable, int64(patience), w.sent+int64(deadline)
			c.Draining.Store(m.refuses)
			first := w.sent
			at := func(d time.Duration, due time.Duration, want error, probing bool) {
				t.Helper()
				time.Sleep(d - time.Duration(c.now()-w.sent))
				require.Equal(t, want, c.checkWait(t.Context(), w), "%+v", m)
				if want == nil {
					require.EqualValues(t, due, w.due.Load()-w.sent, "%+v", m)
				}
				require.Equal(t, probing && !m.refuses, c.Probing.Load(), "%+v", m)
			}
			if m.answered {
				at(50*time.Millisecond, patience, nil, false)
				c.answered.Store(c.now())
				at(149*time.Millisecond, 150*time.Millisecond, nil, false)
				at(150*time.Millisecond, deadline, nil, true)
				at(249*time.Millisecond, deadline, nil, true)
				at(deadline, 0, ErrTimeout, true)
			} else {
				at(99*time.Millisecond, patience, nil, false)
				at(patience, 2*patience, nil, true)
				at(199*time.Millisecond, 2*patience, nil, true)
				if m.movable && !m.refuses {
					at(2*patience, 0, ErrSilent, true)
				} else {
					at(2*patience, deadline, nil, true)
				}
				at(deadline, 0, ErrTimeout, true)
			}
			require.Equal(t, first, w.sent)
			w.deadline = 0
			w.movable = false
			at(deadline+time.Millisecond, deadline+time.Millisecond+patience, nil, true)
			c.release(w.id)
			c.Close(ErrDrained)
			<-c.tasks.Done()
		})
	}
}

// TestCallSeesTheEndOfItsContext cancels calls of any age, lets deadlines pass, and requires that each call ends within
// the pause between two looks at its context, rounded up to a tick; at once if it is prompt.
func TestCallSeesTheEndOfItsContext(t *testing.T) {
	for _, age := range []time.Duration{0, time.Millisecond, 30 * time.Millisecond, 400 * time.Millisecond, 5 * time.Second} {
		for _, m := range []struct {
			prompt, deadline bool
			want             error
		}{
			{want: context.Canceled},
			{prompt: true, want: context.Canceled},
			{deadline: true, want: context.DeadlineExceeded},
			{deadline: true, prompt: true, want: context.DeadlineExceeded},
		} {
			synctest.Test(t, func(t *testing.T) {
				s := &fakecql.Server{Version: 5, Handle: func(*fakecql.Conn, wire.Header, []byte) {}}
				c := connectInMemory(t, s)
				defer endConn(c, s)
				body := GetBuffer(10)
				defer body.Release()
				ctx, cancel := context.WithCancel(t.Context())
				if m.deadline {
					ctx, cancel = context.WithTimeout(t.Context(), age)
				} else {
					time.AfterFunc(age, cancel)
				}
				defer cancel()
				began := time.Now()
				_, err := c.RoundTrip(ctx, &Request{Op: frame.OpQuery, Body: body, Timeout: time.Minute, Prompt: m.prompt})
				require.ErrorIs(t, err, m.want, "%v %+v", age, m)
				late := time.Since(began) - age
				switch {
				case m.prompt:
					require.Zero(t, late, "%v %+v", age, m)
				case m.deadline:
					require.LessOrEqual(t, late, TickInterval, "%v %+v", age, m)
				default:
					require.LessOrEqual(t, late, min(max(age/8, TickInterval), longestLook)+TickInterval, "%v %+v", age, m)
				}
			})
		}
	}
}

// TestTimeOfLateAnswers requires that a call that ends by its time sets how long late requests wait, and one that the
// program cancels does not.
func TestTimeOfLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newIdleConn()
		for _, m := range []struct {
			err  error
			want time.Duration
		}{
			{context.Canceled, 0},
			{fmt.Errorf("own: %w", context.Canceled), 0},
			{context.DeadlineExceeded, 3 * time.Second},
			{ErrTimeout, 3 * time.Second},
		} {
			time.Sleep(time.Minute)
			c.Overload.lateAfter.Store(0)
			w := startCall(t, c)
			w.due.Store(1 << 62)
			time.Sleep(3 * time.Second)
			require.True(t, c.leave(w, m.err))
			require.Equal(t, m.want, time.Duration(c.Overload.lateAfter.Load()))
			require.Equal(t, c.now(), w.due.Load(), "the age of the orphan counts from now")
		}
	})
}

// TestOneTokenForSeveralStreams requires that all callers that wait for a stream id get one, even if only one token
// stands for the ids, and that nothing is left of their wait.
func TestOneTokenForSeveralStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 4
		c := New(&Config{Version: frame.V5, MaxStreams: n}, "", nil)
		for range n {
			_, err := c.claim(t.Context(), 0)
			require.NoError(t, err)
		}
		got := make(chan int, n)
		for range n {
			go func() {
				id, err := c.claim(t.Context(), c.now()+int64(time.Hour))
				if err != nil {
					id = -1
				}
				got <- id
			}()
		}
		synctest.Wait()
		require.Empty(t, got)
		for id := range n {
			c.Streams.Release(id)
		}
		c.passToken()
		synctest.Wait()
		ids := map[int]bool{}
		for range n {
			ids[<-got] = true
		}
		require.Equal(t, map[int]bool{0: true, 1: true, 2: true, 3: true}, ids)
		require.Zero(t, c.waiting.Load())
	})
}

// TestHeartbeatWakesCallerForStream requires that a caller gets a stream id that was held while the heartbeat dropped
// unused slots.
func TestHeartbeatWakesCallerForStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newIdleConn()
		c.Config.Heartbeat = time.Minute
		c.Streams = stream.New(2 * firstSlots)
		require.True(t, c.Streams.Hold(firstSlots, firstSlots))
		for range firstSlots {
			_, err := c.claim(t.Context(), 0)
			require.NoError(t, err)
		}
		got := make(chan error, 1)
		go func() { _, err := c.claim(t.Context(), 0); got <- err }()
		time.Sleep(2 * time.Minute)
		require.Empty(t, got)
		c.Streams.Free(firstSlots, firstSlots)
		began := time.Now()
		go c.beat()
		require.NoError(t, <-got)
		require.Zero(t, time.Since(began))
		c.Close(ErrDrained)
		<-c.tasks.Done()
	})
}

// interruptedConn counts the deadlines in the past that interrupt its writes.
type interruptedConn struct {
	net.Conn
	times atomic.Int32
}

func (c *interruptedConn) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() && at.Before(time.Now()) {
		c.times.Add(1)
	}
	return c.Conn.SetWriteDeadline(at)
}

// TestOnlyStalledWritesAreInterrupted requires that a write of a caller is interrupted after more than two ticks, and
// that calls that wait for their answers interrupt nothing.
func TestOnlyStalledWritesAreInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakecql.Server{Version: frame.V5, Handle: func(p *fakecql.Conn, h wire.Header, body []byte) {
			time.Sleep(time.Second)
			fakecql.Echo(p, h, body)
		}}
		var sock *interruptedConn
		c := connectInMemory(t, s, func(cfg *Config) {
			dial := cfg.Dial
			cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
				c, err := dial(ctx, addr)
				sock = &interruptedConn{Conn: c}
				return sock, err
			}
		})
		defer endConn(c, s)
		c.resumable = true // as a TCP connection
		var wg sync.WaitGroup
		ask := func(question string) {
			wg.Go(func() {
				if answer, err := c.ask(t.Context(), question); err != nil || answer != question {
					t.Errorf("got %.10q, %v", answer, err)
				}
			})
		}
		ask("short")
		wg.Wait()
		require.Zero(t, sock.times.Load())
		ask("the server reads nothing for a second")
		ask(strings.Repeat("x", 1<<20))
		time.Sleep(2*TickInterval + TickInterval/2)
		require.Zero(t, sock.times.Load(), "the write may continue")
		time.Sleep(TickInterval)
		require.EqualValues(t, 1, sock.times.Load())
		wg.Wait()
		require.EqualValues(t, 1, sock.times.Load())
	})
}

// TestHeartbeatOfSilentConnection requires that a silent connection sends a heartbeat as often as one may take, and
// closes soon after the server answers nothing at all.
func TestHeartbeatOfSilentConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var options atomic.Int32
		s := &fakecql.Server{Version: 4, Handle: func(*fakecql.Conn, wire.Header, []byte) {}}
		s.Wrap = func(c net.Conn) net.Conn { return countOptions{c, &options} }
		c := connectInMemory(t, s, func(cfg *Config) { cfg.Heartbeat, cfg.BeatTimeout = time.Hour, 5*time.Second })
		defer endConn(c, s)
		time.Sleep(time.Minute)
		before := options.Load()
		c.Suspect()
		time.Sleep(probeTimeout + TickInterval + time.Millisecond)
		require.True(t, c.Silent.Load())
		require.Equal(t, before+1, options.Load(), "the first one follows at once")
		time.Sleep(20 * time.Second)
		require.Equal(t, before+5, options.Load())
		require.False(t, c.Closed())
	})
}

// TestNoHeartbeatUnlessConfigured requires that a connection without a heartbeat sends none, also when it is silent.
func TestNoHeartbeatUnlessConfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var options atomic.Int32
		s := &fakecql.Server{Version: 4}
		s.Wrap = func(c net.Conn) net.Conn { return countOptions{c, &options} }
		c := connectInMemory(t, s)
		defer endConn(c, s)
		require.EqualValues(t, 1, options.Load(), "of the handshake")
		for _, silent := range []bool{false, true, false} {
			c.SetSilent(silent)
			time.Sleep(time.Hour)
			require.EqualValues(t, 1, options.Load())
		}
	})
}
