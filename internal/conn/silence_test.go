// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// TestSilenceEndsMovableCalls: a call that may move ends as soon as its connection becomes silent, unless the
// connection was silent at its start.
func TestSilenceEndsMovableCalls(t *testing.T) {
	c := newIdleConn()
	for _, m := range []struct{ silent, movable, before, ends bool }{
		{silent: false, movable: true, before: false, ends: false},
		{silent: true, movable: true, before: false, ends: true},
		{silent: true, movable: true, before: true, ends: false},
		{silent: true, movable: false, before: false, ends: false},
	} {
		c.Silent.Store(m.silent)
		w := startCall(t, c)
		w.movable, w.silent = m.movable, m.before
		err := c.checkWait(t.Context(), w)
		if m.ends {
			require.ErrorIs(t, err, ErrSilent)
		} else {
			require.NoError(t, err, "%+v", m)
		}
	}
}

// TestCallOnSilentConnection requires that a call that may move, and starts on a silent connection, waits for twice its
// patience, as the other connections may be silent too.
func TestCallOnSilentConnection(t *testing.T) {
	for _, silent := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := &fakecql.Server{Version: 5, Handle: func(*fakecql.Conn, wire.Header, []byte) {}}
			c := connectInMemory(t, s)
			defer endConn(c, s)
			c.SetSilent(silent)
			body := GetBuffer(10)
			defer body.Release()
			for _, patience := range []time.Duration{100 * time.Millisecond, probeTimeout} {
				began := time.Now()
				_, err := c.RoundTrip(t.Context(), &Request{Op: frame.OpQuery, Body: body, Timeout: 4 * patience, Movable: true})
				require.ErrorIs(t, err, ErrSilent)
				require.InDelta(t, 2*patience, time.Since(began), float64(2*TickInterval))
				require.Equal(t, silent, c.Silent.Load())
				if !silent {
					break
				}
			}
		})
	}
}

// TestSilenceWakesCallers requires that a call that may move ends at once when its connection becomes silent, and any
// other one waits on.
func TestSilenceWakesCallers(t *testing.T) {
	for _, movable := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := newIdleConn()
			w := startCall(t, c)
			w.movable = movable
			ctx, cancel := context.WithCancel(t.Context())
			got := make(chan error, 1)
			go func() { got <- c.wait(ctx, w, new(Response)) }()
			synctest.Wait()
			require.Empty(t, got)
			began := time.Now()
			c.SetSilent(true)
			synctest.Wait()
			if movable {
				require.ErrorIs(t, <-got, ErrSilent)
				cancel()
			} else {
				require.Empty(t, got)
				cancel()
				require.ErrorIs(t, <-got, context.Canceled)
			}
			require.Zero(t, time.Since(began))
		})
	}
}

// TestSilenceEndsByProbesInARow: a server answers every second probe for a minute, then all. Only probes in a row end
// the silence.
func TestSilenceEndsByProbesInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes atomic.Int32
		var healthy atomic.Bool
		s := &fakecql.Server{Version: 5, Handle: func(p *fakecql.Conn, h wire.Header, b []byte) {
			if probes.Add(1)%2 == 0 || healthy.Load() {
				fakecql.Echo(p, h, b)
			}
		}}
		var changes atomic.Int32
		c := connectInMemory(t, s, func(cfg *Config) { cfg.OnSilence = func(*Conn) { changes.Add(1) } })
		c.Suspect()
		time.Sleep(time.Minute)
		require.True(t, c.Silent.Load())
		require.EqualValues(t, 1, changes.Load())
		require.Greater(t, probes.Load(), int32(2*probesGood))
		healthy.Store(true)
		time.Sleep(probeLost + time.Second)
		require.False(t, c.Silent.Load())
		require.EqualValues(t, 2, changes.Load())
		_, err := c.ask(context.Background(), "question")
		require.NoError(t, err)
		endConn(c, s)
	})
}

// TestSilenceEndsAfterGoodProbes requires how many probes in a row end a silence, also after one that was not answered,
// and that the goroutine of the probes ends at once with the connection.
func TestSilenceEndsAfterGoodProbes(t *testing.T) {
	for _, ends := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var answered atomic.Int32
			var healthy atomic.Bool
			s := &fakecql.Server{Version: 5, Handle: func(p *fakecql.Conn, h wire.Header, b []byte) {
				if healthy.Load() {
					answered.Add(1)
					fakecql.Echo(p, h, b)
				}
			}}
			var atEnd atomic.Int32
			c := connectInMemory(t, s, func(cfg *Config) {
				cfg.OnSilence = func(c *Conn) {
					if !c.Silent.Load() {
						atEnd.Store(answered.Load())
					}
				}
			})
			c.Suspect()
			time.Sleep(time.Second)
			require.True(t, c.Silent.Load())
			if ends {
				healthy.Store(true)
				time.Sleep(probeLost + time.Second)
				require.EqualValues(t, probesGood, atEnd.Load())
				require.False(t, c.Probing.Load())
			}
			began := time.Now()
			endConn(c, s)
			require.Zero(t, time.Since(began))
		})
	}
}

// TestProbeIsARequest requires that a probe is a request that the server executes, also if the connection has as many
// requests as the server answers, and that a probe that is not answered in time has failed.
func TestProbeIsARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan string, 10)
		s := &fakecql.Server{Version: 5, Handle: func(p *fakecql.Conn, h wire.Header, b []byte) {
			asked <- frame.Opcode(h.Opcode).String() + " " + string(b)
			if len(asked) == 1 {
				fakecql.Echo(p, h, b)
			}
		}}
		c := connectInMemory(t, s)
		defer endConn(c, s)
		c.Probing.Store(true) // the test sends the probes
		c.Overload.Limit.Store(1)
		_, err := c.claim(t.Context(), 0)
		require.NoError(t, err)
		require.True(t, c.busy())
		before := outstanding.Load()
		require.NoError(t, c.sendProbe())
		began := time.Now()
		require.ErrorIs(t, c.sendProbe(), ErrTimeout)
		require.InDelta(t, probeTimeout, time.Since(began), float64(2*TickInterval))
		require.Equal(t, before, outstanding.Load())
		for range 2 {
			require.Regexp(t, "^QUERY .*"+probeStatement, <-asked)
		}
		c.Draining.Store(true)
		require.ErrorIs(t, c.sendProbe(), ErrClosed)
		require.Empty(t, asked)
	})
}
