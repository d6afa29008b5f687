// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/stats"
)

// Tests of pools with scripted dials: when a pool dials, where, and what it does with the connections.

// dials are the dials of a pool. Each takes a time, and then fails or returns a connection whose goroutines are not
// started.
type dials struct {
	mu       sync.Mutex // guards the fields below
	took     time.Duration
	err      error                // nil means success
	features func() conn.Features // of the next connection; nil means none
	at       []time.Time          // when each dial began
	to       []dialTarget
	conns    []*conn.Conn
}

func (d *dials) dial(ctx context.Context, to dialTarget, hooks conn.Hooks) (*conn.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at, d.to = append(d.at, time.Now()), append(d.to, to)
	if took := d.took; took > 0 {
		d.mu.Unlock()
		select {
		case <-time.After(took):
		case <-ctx.Done():
		}
		d.mu.Lock()
	}
	if err := errors.Join(ctx.Err(), d.err); err != nil {
		return nil, err
	}
	client, server := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, server) }()
	c := conn.New(&conn.Config{Version: frame.V4, Hooks: hooks}, to.addr, client)
	if d.features != nil {
		c.Features = d.features()
	}
	d.conns = append(d.conns, c)
	return c, nil
}

// pass passes a time, and waits until the goroutines have done what it causes.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// change changes the fields.
func (d *dials) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// count returns the number of dials.
func (d *dials) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.at)
}

// waits returns the times between the dials.
func (d *dials) waits() (all []time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.at[1:] {
		all = append(all, d.at[i+1].Sub(d.at[i]))
	}
	return all
}

// newDialedPool returns a pool of node "a:1" with these dials, and the buffer of its log. It ends with the test.
func newDialedPool(t *testing.T, d *dials, change ...func(*poolConfig)) (*pool, *lockedBuffer) {
	log := &lockedBuffer{}
	cfg := poolConfig{
		size: 1, dial: d.dial, policy: ConstantReconnectionPolicy{Interval: 10 * time.Second}, drainTimeout: time.Second,
		log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range change {
		f(&cfg)
	}
	p := newPool(t.Context(), "a:1", cfg)
	t.Cleanup(func() { _ = p.close(context.Background(), stats.EndClosed) })
	return p, log
}

// lockedBuffer is a buffer for the log of several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// count returns how often the text was logged.
func (l *lockedBuffer) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// TestPoolEventDuringADial requires that an UP event during a dial that fails ends the wait after it, and that a storm
// of events adds one dial.
func TestPoolEventDuringADial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{took: time.Second, err: io.EOF}
		p, _ := newDialedPool(t, d)
		began := time.Now()
		p.refill()
		pass(500 * time.Millisecond)
		p.retryNow()
		p.retryNow()
		require.Equal(t, 500*time.Millisecond, time.Since(began), "an event does not block")
		pass(time.Second)
		require.Equal(t, 2, d.count())
		p.retryNow()
		p.retryNow()
		pass(time.Until(d.at[1].Add(1010 * time.Millisecond)))
		p.retryNow() // between the end of the wait and the next dial
		pass(4 * time.Second)
		require.Equal(t, 3, d.count())
		for _, wait := range d.waits() {
			require.GreaterOrEqual(t, wait, time.Second+reconnectMin/2, "events may come in storms")
			require.LessOrEqual(t, wait, time.Second+reconnectMin)
		}
		pass(9 * time.Second)
		require.Equal(t, 4, d.count(), "after the wait of the policy")
		require.GreaterOrEqual(t, d.waits()[2], 6*time.Second)
		require.LessOrEqual(t, d.waits()[2], 11*time.Second)
	})
}

// TestPoolEventResetsTheBackoff requires that the waits between dials grow by the policy, begin anew after an UP event,
// and that no event shortens the wait after a refused login.
func TestPoolEventResetsTheBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{err: io.EOF}
		p, _ := newDialedPool(t, d, func(cfg *poolConfig) {
			cfg.policy = ExponentialReconnectionPolicy{InitialInterval: time.Second, MaxInterval: time.Hour}
		})
		within := func(wait, most time.Duration) {
			t.Helper()
			require.GreaterOrEqual(t, wait, most/2)
			require.LessOrEqual(t, wait, most)
		}
		p.refill()
		pass(10 * time.Minute)
		waits := d.waits()
		require.Greater(t, len(waits), 6)
		for i, wait := range waits {
			within(wait, time.Second<<i)
		}
		p.retryNow()
		pass(10 * time.Minute)
		require.Greater(t, d.count(), 2*len(waits)-2)
		for i, wait := range d.waits()[len(waits)+1:] {
			within(wait, time.Second<<i)
		}
		d.change(func() { d.err = &conn.LoginError{Err: io.EOF} })
		p.retryNow()
		pass(time.Second)
		before := d.count()
		for range 20 {
			p.retryNow()
			pass(100 * time.Millisecond)
		}
		require.Equal(t, before, d.count())
	})
}

// TestPoolMovesDuringADial requires that a pool abandons a dial to an address that its node has left, and dials the new
// one at once.
func TestPoolMovesDuringADial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{took: time.Hour}
		p, log := newDialedPool(t, d)
		p.refill()
		synctest.Wait()
		d.change(func() { d.took = 0 })
		p.move("a:1")
		synctest.Wait()
		require.Equal(t, 1, d.count(), "the same address")
		began := time.Now()
		p.move("b:1")
		synctest.Wait()
		require.Equal(t, []dialTarget{{addr: "a:1"}, {addr: "b:1"}}, d.to)
		require.Zero(t, time.Since(began))
		require.Equal(t, "b:1", p.pick().Addr())
		require.NoError(t, p.lastError())
		require.Equal(t, 1, log.count("node has another address"))
		require.Zero(t, log.count("node not reached"))
	})
}

// TestPoolAfterClose requires that a closed pool abandons its dial, has no connections, and dials no more.
func TestPoolAfterClose(t *testing.T) {
	for name, took := range map[string]time.Duration{"connected": 0, "during a dial": time.Hour, "between two dials": -1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &dials{took: took}
				if took < 0 {
					d.err = io.EOF
				}
				d.features = func() conn.Features { return conn.Features{Shards: 1} }
				p, log := newDialedPool(t, d)
				p.refill()
				synctest.Wait()
				require.Equal(t, took == 0, p.isUp())
				began := time.Now()
				require.NoError(t, p.close(t.Context(), stats.EndClosed))
				require.Zero(t, time.Since(began))
				before, lines := d.count(), log.count("\n")
				p.refill()
				p.retryNow()
				p.move("b:1")
				if len(d.conns) > 0 {
					p.replace(d.conns[0])
					require.True(t, d.conns[0].Closed())
				}
				pass(time.Hour)
				require.Equal(t, before, d.count())
				require.Nil(t, p.pick())
				require.False(t, p.isUp())
				require.EqualValues(t, -1, p.shardOf(1))
				require.Equal(t, stats.PoolClosed, p.stats().State)
				require.Equal(t, lines+1, log.count("\n"), "the other address")
			})
		})
	}
}

// TestPoolPicksEachConnection requires that idle connections take turns, and that those that refuse requests or are
// silent are passed.
func TestPoolPicksEachConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{}
		p, _ := newDialedPool(t, d, func(cfg *poolConfig) { cfg.size = 4 })
		p.refill()
		synctest.Wait()
		picked := func() (numbers []int) {
			seen := map[*conn.Conn]bool{}
			for range 40 {
				seen[p.pick()] = true
			}
			for i, c := range d.conns {
				if seen[c] {
					numbers = append(numbers, i)
				}
			}
			return numbers
		}
		require.Equal(t, []int{0, 1, 2, 3}, picked())
		d.conns[1].Silent.Store(true)
		p.silenceChanged(d.conns[2]) // the pool counts silent connections
		require.Equal(t, 1, p.open.Load().silent)
		require.Equal(t, []int{0, 2, 3}, picked())
		d.conns[0].Draining.Store(true)
		require.Equal(t, []int{2, 3}, picked())
		require.True(t, p.serves())
		require.False(t, p.isSilent(-1))
		d.conns[2].Silent.Store(true)
		d.conns[3].Silent.Store(true)
		require.Equal(t, 3, len(picked()), "silent ones, as no other is left")
		require.True(t, p.isSilent(-1))
		require.True(t, p.isUp())
		require.False(t, p.serves(), "the one that is not silent refuses requests")
		for _, c := range d.conns {
			c.Draining.Store(true)
		}
		require.Nil(t, p.pick())
		require.False(t, p.isUp())
		require.False(t, p.isSilent(-1), "a pool without connections is not silent")
	})
}

// TestPoolLogsSilence requires one record when the first connection of a node becomes silent, and one when the last one
// answers again.
func TestPoolLogsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, changed := &dials{}, atomic.Int32{}
		p, log := newDialedPool(t, d, func(cfg *poolConfig) { cfg.size, cfg.changed = 2, func() { changed.Add(1) } })
		p.refill()
		synctest.Wait()
		require.EqualValues(t, 2, changed.Load())
		for _, m := range []struct {
			conn    int
			silent  bool
			records [2]int // silent, answers again
		}{
			{0, true, [2]int{1, 0}},
			{1, true, [2]int{1, 0}},
			{0, false, [2]int{1, 0}},
			{1, false, [2]int{1, 1}},
			{1, true, [2]int{2, 1}},
			{1, false, [2]int{2, 2}},
			{1, false, [2]int{2, 2}}, // no change
		} {
			before := changed.Load()
			d.conns[m.conn].Silent.Store(m.silent)
			p.silenceChanged(d.conns[m.conn])
			require.Equal(t, m.records, [2]int{log.count("node is silent"), log.count("node answers again")})
			require.EqualValues(t, before+1, changed.Load())
		}
		require.Equal(t, 2, log.count("connections=1 of=2"))
	})
}

// TestPoolLogsEachRecord requires that a pool logs all records that were added under its lock, once.
func TestPoolLogsEachRecord(t *testing.T) {
	p, log := newDialedPool(t, &dials{})
	for _, texts := range [][]string{{"one", "two", "three"}, nil, {"four"}} {
		p.mu.Lock()
		for _, text := range texts {
			p.note(slog.LevelInfo, text)
		}
		p.unlock()
	}
	for _, text := range []string{"one", "two", "three", "four"} {
		require.Equal(t, 1, log.count("msg="+text))
	}
}

// TestPoolGivesUpReplacing requires that a pool whose policy allows no further dial keeps the connection that it was to
// replace, and forgets the replacement.
func TestPoolGivesUpReplacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{}
		p, log := newDialedPool(t, d, func(cfg *poolConfig) { cfg.policy = NoReconnectionPolicy{} })
		p.refill()
		synctest.Wait()
		old := p.pick()
		d.change(func() { d.err = io.EOF })
		p.replace(&conn.Conn{})
		synctest.Wait()
		require.Equal(t, 1, d.count(), "not a connection of the pool")
		p.replace(old)
		synctest.Wait()
		require.Equal(t, 2, d.count())
		require.Equal(t, 1, log.count("replacing a connection"))
		require.Equal(t, stats.PoolGaveUp, p.stats().State)
		require.Same(t, old, p.pick())
		p.replace(old)
		synctest.Wait()
		require.Equal(t, 2, d.count(), "not before the node is named again")
		d.change(func() { d.err = nil })
		p.retryNow()
		synctest.Wait()
		require.Equal(t, 2, d.count())
		require.Same(t, old, p.pick())
		require.Equal(t, stats.PoolOpen, p.stats().State)
		p.replace(old)
		pass(time.Second)
		require.Equal(t, 3, d.count())
		require.NotSame(t, old, p.pick())
		require.True(t, old.Closed())
		require.Len(t, p.open.Load().conns, 1)
	})
}

// TestPoolLogsAttempts requires that a pool logs the first failure of several, the success after them with the number
// of attempts, and the loss of the last connection; that the backoff starts over after a success; and that the pool has
// the error of the last attempt meanwhile.
func TestPoolLogsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{err: io.EOF}
		p, log := newDialedPool(t, d, func(cfg *poolConfig) {
			cfg.policy = ExponentialReconnectionPolicy{InitialInterval: time.Second, MaxInterval: time.Hour}
		})
		p.refill()
		pass(4 * time.Second)
		failed := d.count()
		require.Greater(t, failed, 2)
		require.ErrorIs(t, p.lastError(), io.EOF)
		d.change(func() { d.err = nil })
		pass(time.Minute)
		require.Equal(t, 1, log.count("node not reached"))
		require.Equal(t, 1, log.count("node reached again"))
		require.Equal(t, 1, log.count(fmt.Sprintf("attempts=%d\n", failed+1)))
		require.NoError(t, p.lastError())

		lose := func() {
			pass(time.Hour) // a short-lived connection delays the next dial
			p.pick().Close(io.ErrUnexpectedEOF)
			synctest.Wait()
		}
		lose()
		require.True(t, p.isUp(), "dialed at once")
		require.Equal(t, 1, log.count("node lost"))
		require.Equal(t, 2, log.count("node reached again"))
		require.Equal(t, 1, log.count("attempts=1\n"))

		pass(time.Hour)
		before := d.count()
		d.change(func() { d.err = io.EOF })
		lose()
		require.ErrorIs(t, p.lastError(), io.EOF)
		pass(4 * time.Second)
		require.Greater(t, d.count(), before+2)
		for i, wait := range d.waits()[before:] {
			require.GreaterOrEqual(t, wait, time.Second<<i/2)
			require.LessOrEqual(t, wait, time.Second<<i)
		}
		require.Equal(t, 2, log.count("node lost"))
		require.Equal(t, 2, log.count("node not reached"))
	})
}

// TestPoolBackoffStartsOver requires that the waits of a pool begin anew after a success, also while further
// connections are missing, and that the move of a node ends a wait.
func TestPoolBackoffStartsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{}
		p, _ := newDialedPool(t, d, func(cfg *poolConfig) {
			cfg.size = 2
			cfg.policy = ExponentialReconnectionPolicy{InitialInterval: time.Second, MaxInterval: time.Hour}
			cfg.dial = func(ctx context.Context, to dialTarget, hooks conn.Hooks) (*conn.Conn, error) {
				d.change(func() {
					if d.err = io.EOF; len(d.at) == 4 {
						d.err = nil
					}
				})
				return d.dial(ctx, to, hooks)
			}
		})
		p.refill()
		pass(time.Minute)
		waits := d.waits()
		for i, most := range []time.Duration{1, 2, 4, 8, 0, 1, 2, 4} {
			require.GreaterOrEqual(t, waits[i], most*time.Second/2)
			require.LessOrEqual(t, waits[i], most*time.Second)
		}
		before := d.count()
		p.move("b:1")
		pass(reconnectMin)
		require.Equal(t, before+1, d.count())
		require.Equal(t, "b:1", d.to[before].addr)
	})
}

// TestPoolFillsWithoutARecord requires that further connections of a node that was reached are not logged.
func TestPoolFillsWithoutARecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{err: io.EOF}
		p, log := newDialedPool(t, d, func(cfg *poolConfig) { cfg.size = 3 })
		p.refill()
		synctest.Wait()
		d.change(func() { d.err = nil })
		pass(time.Hour)
		require.Len(t, p.open.Load().conns, 3)
		p.pick().Close(io.EOF)
		pass(time.Hour)
		require.Len(t, p.open.Load().conns, 3)
		require.Equal(t, 1, log.count("node reached again"))
		require.Equal(t, 1, log.count("connection lost"))
		require.Zero(t, log.count("node lost"))
	})
}

// TestPoolLeavesShardPort requires that a pool goes on at once over the plain port after the shard-aware port has
// failed, without an error of the node, and returns to the port after its pause.
func TestPoolLeavesShardPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shard := int32(-1)
		d := &dials{features: func() conn.Features {
			shard = (shard + 1) % 3
			return conn.Features{Shards: 3, Shard: shard}
		}}
		p, log := newDialedPool(t, d, func(cfg *poolConfig) { cfg.shardPort = func(*conn.Conn) uint16 { return 19042 } })
		p.cfg.dial = func(ctx context.Context, to dialTarget, hooks conn.Hooks) (*conn.Conn, error) {
			c, err := d.dial(ctx, to, hooks)
			if to.port != 0 && len(d.to) == 2 {
				c.Close(io.EOF)
				shard--
				return nil, io.EOF
			}
			return c, err
		}
		began := time.Now()
		p.refill()
		synctest.Wait()
		require.Zero(t, time.Since(began))
		require.Equal(t, []dialTarget{
			{addr: "a:1"}, {addr: "a:1", port: 19042, shard: 1, shards: 3}, {addr: "a:1"}, {addr: "a:1"},
		}, d.to)
		require.Equal(t, []int{1, 1, 1}, p.shardCounts())
		require.NoError(t, p.lastError())
		require.Equal(t, 1, log.count("shard-aware port does not work"))
		require.Zero(t, log.count("node not reached"))
		pass(portCoolDown)
		p.pickShard(2).Close(io.EOF)
		pass(time.Minute)
		require.Equal(t, dialTarget{addr: "a:1", port: 19042, shard: 2, shards: 3}, d.to[4])
	})
}

// TestPoolWaitsAfterRefusedLogin requires the waits after refused logins, which are longer than the waits of the
// policy.
func TestPoolWaitsAfterRefusedLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{err: &conn.LoginError{Err: io.EOF}}
		p, _ := newDialedPool(t, d, func(cfg *poolConfig) { cfg.policy = ConstantReconnectionPolicy{Interval: time.Second} })
		p.refill()
		pass(24 * time.Hour)
		waits := d.waits()
		require.Greater(t, len(waits), 20, "dialing continues")
		for i, wait := range waits {
			most := max(time.Second, background.Exponential(loginMin, loginMax, i))
			require.GreaterOrEqual(t, wait, most/2, "wait %d", i)
			require.LessOrEqual(t, wait, most, "wait %d", i)
		}
	})
}
