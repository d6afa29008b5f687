// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/stats"
)

// Tests of pools that lose connections, or replace them.

// TestPoolDialsOnceTheLastConnectionEnds requires that the wait for a further connection ends when there is none left.
func TestPoolDialsOnceTheLastConnectionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, changed := &dials{}, atomic.Int32{}
		p, log := newDialedPool(t, d, func(cfg *poolConfig) {
			cfg.policy = ConstantReconnectionPolicy{Interval: 10 * time.Hour}
			cfg.changed = func() { changed.Add(1) }
		})
		p.refill()
		synctest.Wait()
		d.change(func() { d.err = io.EOF })
		p.mu.Lock()
		p.cfg.size = 3
		p.mu.Unlock()
		p.refill()
		pass(time.Hour)
		require.Equal(t, 2, d.count())
		require.Equal(t, stats.PoolWaiting, p.stats().State)
		require.False(t, p.stats().NextDial.IsZero())
		d.change(func() { d.err = nil })
		require.EqualValues(t, 1, changed.Load())
		p.pick().Close(io.ErrUnexpectedEOF)
		pass(reconnectMin)
		require.Len(t, p.open.Load().conns, 3)
		require.EqualValues(t, 1+1+3, changed.Load())
		require.Equal(t, stats.PoolOpen, p.stats().State)
		require.Zero(t, p.stats().NextDial)
		require.Equal(t, 1, log.count("node lost"))
		p.remove(&conn.Conn{}, io.EOF)
		require.EqualValues(t, 1+1+3, changed.Load(), "a connection that was never installed")
	})
}

// TestPoolShortLivedConnections requires which lost connections delay the next dial: those that end soon after their
// dial without having answered much. The first one costs nothing while another one is open, and several that are lost
// at once count as one.
func TestPoolShortLivedConnections(t *testing.T) {
	for name, m := range map[string]struct {
		size    int
		before  int           // short-lived connections lost before, a second ago
		age     time.Duration // of the lost connection
		answers uint64        // of the lost connection
		lost    int           // at once
		delayed bool
	}{
		"the only one":                     {size: 1, lost: 1, delayed: true},
		"one of two":                       {size: 2, lost: 1},
		"one of two, the second time":      {size: 2, before: 1, lost: 1, delayed: true},
		"both of two":                      {size: 2, lost: 2},
		"all of four":                      {size: 4, lost: 4},
		"three of four":                    {size: 4, lost: 3},
		"almost old":                       {size: 1, age: reconnectMax - 1, lost: 1, delayed: true},
		"old":                              {size: 1, age: reconnectMax, lost: 1},
		"almost enough answers":            {size: 1, answers: worthDial - 1, lost: 1, delayed: true},
		"enough answers":                   {size: 1, answers: worthDial, lost: 1},
		"enough answers, the second time":  {size: 2, before: 1, answers: worthDial, lost: 1},
		"the second time, an hour later":   {size: 2, before: 1, age: time.Hour, lost: 1},
		"the third time":                   {size: 2, before: 2, lost: 1, delayed: true},
		"the only one, for the third time": {size: 1, before: 2, lost: 1, delayed: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &dials{took: time.Millisecond} // several connections never open at one time
				p, _ := newDialedPool(t, d, func(cfg *poolConfig) { cfg.size = m.size })
				p.refill()
				pass(100 * time.Millisecond)
				for range m.before {
					d.conns[len(d.conns)-1].Close(io.EOF)
					pass(time.Second)
					require.Len(t, p.open.Load().conns, m.size)
				}
				pass(m.age - time.Since(d.conns[len(d.conns)-1].Born))
				lost := d.conns[len(d.conns)-m.lost:]
				if m.before > 0 && m.age == 0 && m.size > 1 {
					lost = d.conns[len(d.conns)-1:]
				}
				began, before := time.Now(), d.count()
				for _, c := range lost {
					c.Overload.Answers.Store(m.answers)
					c.Close(io.EOF)
				}
				pass(time.Minute)
				require.Len(t, p.open.Load().conns, m.size)
				require.Equal(t, m.delayed, d.at[before].After(began), "%v", d.at[before].Sub(began))
				require.LessOrEqual(t, d.at[before].Sub(began), reconnectMin<<m.before)
			})
		})
	}
}

// TestPoolOfAnEndedSession requires that a pool whose session has ended, and which is not closed yet, neither dials nor
// logs when its connections end.
func TestPoolOfAnEndedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{}
		p, log := newDialedPool(t, d)
		p.refill()
		synctest.Wait()
		p.cancel()
		p.pick().Close(io.EOF)
		pass(time.Hour)
		require.Equal(t, 1, d.count())
		require.Zero(t, log.count("\n"))
		require.NoError(t, p.lastError())
		require.Nil(t, p.pick())
	})
}

// TestPoolRefusesConnections requires the cause that ends a new connection which a pool does not take: its node has
// moved meanwhile, or the pool was closed. A connection that has ended by itself counts as a failure.
func TestPoolRefusesConnections(t *testing.T) {
	for name, m := range map[string]struct {
		during func(p *pool, c *conn.Conn) // the dial
		cause  stats.EndCause
		err    error // of the attempt
	}{
		"moved":  {func(p *pool, _ *conn.Conn) { p.move("b:1") }, stats.EndMoved, nil},
		"closed": {func(p *pool, _ *conn.Conn) { go func() { _ = p.close(context.Background(), stats.EndClosed) }() }, stats.EndClosed, ErrSessionClosed},
		"ended":  {func(_ *pool, c *conn.Conn) { c.Close(io.EOF) }, stats.EndPeer, conn.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &dials{}
				p, _ := newDialedPool(t, d)
				p.cfg.dial = func(ctx context.Context, to dialTarget, hooks conn.Hooks) (*conn.Conn, error) {
					c, err := d.dial(ctx, to, hooks)
					if d.count() == 1 {
						m.during(p, c)
						time.Sleep(time.Millisecond)
					}
					return c, err
				}
				p.refill()
				pass(time.Second)
				require.True(t, d.conns[0].Closed())
				require.Equal(t, m.cause, conn.EndCauseOf(d.conns[0].CloseErr))
				if m.err != nil {
					require.Equal(t, 1, d.count(), "the end of a connection that was never open is no event")
					require.Nil(t, p.pick())
				}
				if name == "ended" {
					require.ErrorIs(t, p.lastError(), m.err)
					pass(10 * time.Second)
					require.Equal(t, 2, d.count())
				}
				if name == "moved" {
					require.Equal(t, "b:1", p.pick().Addr())
				}
			})
		})
	}
}

// TestPoolDoesNotDialAnAddressThatWasLeft requires that the dial of an address ends at once if the node has moved
// before the dial began.
func TestPoolDoesNotDialAnAddressThatWasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newDialedPool(t, &dials{took: time.Hour})
		began := time.Now()
		require.ErrorIs(t, p.add(dialTarget{addr: "before:1"}), context.Canceled)
		require.Zero(t, time.Since(began))
	})
}

// newShardedPool returns a pool over the plain port of a node whose connections have the shards of the list in turn.
func newShardedPool(t *testing.T, d *dials, shards int32, turns ...int32) (*pool, *lockedBuffer) {
	turn := 0
	d.features = func() conn.Features {
		turn++
		return conn.Features{Shards: shards, Shard: turns[min(turn, len(turns))-1]}
	}
	p, log := newDialedPool(t, d)
	p.refill()
	synctest.Wait()
	return p, log
}

// TestPoolOfReshardedNode requires that the connections of a node that reports another number of shards are drained,
// surplus ones too, and that a node that reports another one each time is dialed with a backoff.
func TestPoolOfReshardedNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{}
		p, log := newShardedPool(t, d, 2, 0, 0, 0, 1)
		require.Equal(t, []int{1, 1}, p.shardCounts())
		require.Len(t, d.conns, 4)
		for _, c := range d.conns[1:3] {
			require.True(t, c.Closed(), "surplus, as all shards are reached")
			require.Equal(t, stats.EndSurplus, conn.EndCauseOf(c.CloseErr))
		}
		d.change(func() { d.features = func() conn.Features { return conn.Features{Shards: 1} } })
		d.conns[3].Close(io.EOF)
		pass(time.Minute)
		require.Equal(t, []int{1}, p.shardCounts())
		require.Len(t, p.open.Load().conns, 1)
		require.Equal(t, stats.EndResharded, conn.EndCauseOf(d.conns[0].CloseErr))
		require.Equal(t, 1, log.count("node has other shards"))

		before, shards := d.count(), int32(1)
		d.change(func() {
			d.features = func() conn.Features {
				shards++
				return conn.Features{Shards: shards}
			}
		})
		pass(time.Hour)
		p.pick().Close(io.EOF)
		pass(time.Minute)
		require.Greater(t, d.count(), before+5)
		require.Less(t, d.count(), before+40)
	})
}

// TestPoolDrainsSurplusOfOtherShards requires that surplus connections end with the shards that they are connected to.
func TestPoolDrainsSurplusOfOtherShards(t *testing.T) {
	for _, down := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d := &dials{}
			p, _ := newShardedPool(t, d, 4, 0)
			surplus := func() []*conn.Conn {
				p.mu.Lock()
				defer p.mu.Unlock()
				return slices.Clone(p.shards.surplus)
			}
			for len(surplus()) == 0 { // between two rounds there are none
				pass(100 * time.Millisecond)
				d.change(func() { d.took = 10 * time.Millisecond })
			}
			old := surplus()
			d.change(func() { d.features = func() conn.Features { return conn.Features{Shards: 2} } })
			if down {
				for p.pick() != nil { // a surplus connection takes the place of each
					p.pick().Close(io.EOF)
					pass(time.Millisecond)
				}
			}
			for len(p.shardCounts()) != 2 {
				pass(time.Millisecond)
			}
			require.Equal(t, []int{1, 0}, p.shardCounts())
			for _, c := range old {
				require.True(t, c.Closed())
			}
		})
	}
}

// TestSurplusConnectionTakesThePlace requires that a surplus connection which replaces a lost one is surplus no more.
func TestSurplusConnectionTakesThePlace(t *testing.T) {
	p, _ := newDialedPool(t, &dials{err: io.EOF})
	connOn := func(shard int32) *conn.Conn {
		client, server := net.Pipe()
		_ = server.Close()
		c := conn.New(&conn.Config{}, "a:1", client)
		c.Features = conn.Features{Shards: 4, Shard: shard}
		return c
	}
	lost, other, spare, next := connOn(2), connOn(1), connOn(2), connOn(2)
	p.open.Store(newPoolView([]*conn.Conn{lost, other}))
	p.shards.surplus = []*conn.Conn{connOn(3), spare, next}
	p.remove(lost, io.EOF)
	require.ElementsMatch(t, []*conn.Conn{other, spare}, p.open.Load().conns)
	require.Equal(t, []*conn.Conn{next}, p.shards.surplus[1:])
	p.remove(next, io.EOF)
	require.Len(t, p.shards.surplus, 1)
	p.mu.Lock()
	p.drainSurplus()
	require.Empty(t, p.shards.surplus)
	p.mu.Unlock()
	require.NoError(t, p.close(t.Context(), stats.EndClosed))
	require.Empty(t, p.open.Load().conns)
	require.Empty(t, p.shards.surplus)
	require.EqualValues(t, -1, p.shardOf(1))
	require.True(t, spare.Closed())
}

// TestPoolLosesAnotherWhileReplacing requires that a pool which replaces a connection goes on to do so after another
// one has ended, and gives up if the connection itself has ended.
func TestPoolLosesAnotherWhileReplacing(t *testing.T) {
	for _, other := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			d := &dials{}
			p, _ := newDialedPool(t, d, func(cfg *poolConfig) { cfg.size = 2 })
			p.refill()
			pass(time.Hour)
			worn, kept := d.conns[0], d.conns[1]
			d.change(func() { d.took = time.Second })
			p.replace(worn)
			pass(500 * time.Millisecond)
			if other {
				kept.Close(io.EOF)
			} else {
				worn.Close(io.EOF)
			}
			pass(time.Minute)
			require.Len(t, p.open.Load().conns, 2)
			require.True(t, worn.Closed())
			require.Equal(t, other, kept.Closed())
			if other {
				require.Equal(t, stats.EndOrphans, conn.EndCauseOf(worn.CloseErr))
				require.Equal(t, 4, d.count())
			} else {
				require.Equal(t, 3, d.count())
			}
		})
	}
}

// TestPoolReplacesWithinTheShard requires that the successor of a connection to a shard is dialed to that shard.
func TestPoolReplacesWithinTheShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{}
		p, _ := newDialedPool(t, d, func(cfg *poolConfig) {
			cfg.shardPort = func(*conn.Conn) uint16 { return 19042 }
			cfg.dial = func(ctx context.Context, to dialTarget, hooks conn.Hooks) (*conn.Conn, error) {
				d.change(func() { d.features = func() conn.Features { return conn.Features{Shards: 3, Shard: to.shard} } })
				return d.dial(ctx, to, hooks)
			}
		})
		p.refill()
		synctest.Wait()
		require.Equal(t, []int{1, 1, 1}, p.shardCounts())
		for _, shard := range []int32{2, 0, 1} {
			before, old := d.count(), p.pickShard(shard)
			p.replace(old)
			pass(time.Second)
			require.Equal(t, []dialTarget{{addr: "a:1", port: 19042, shard: shard, shards: 3}}, d.to[before:])
			require.True(t, old.Closed())
			require.NotSame(t, old, p.pickShard(shard))
			require.Equal(t, []int{1, 1, 1}, p.shardCounts())
		}
	})
}

// TestSilenceOfOneConnection requires that the other connections of a node must prove that they answer once one of them
// is silent, and not when it answers again.
func TestSilenceOfOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{}
		p, _ := newDialedPool(t, d, func(cfg *poolConfig) { cfg.size = 2 })
		p.refill()
		synctest.Wait()
		p.silenceChanged(d.conns[0])
		require.False(t, d.conns[1].Probing.Load())
		d.conns[0].Silent.Store(true)
		p.silenceChanged(d.conns[0])
		require.True(t, d.conns[1].Probing.Load())
	})
}
