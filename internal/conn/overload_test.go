// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// TestOverloadBound has a server whose answers come late, in time, and late again.
func TestOverloadBound(t *testing.T) {
	c := newIdleConn()
	o := &c.Overload
	o.lateAfter.Store(int64(time.Second))
	ticks := func(n int, late uint64) {
		for range n {
			o.Answers.Add(100)
			o.late.Add(late)
			c.adjustLimit()
		}
	}
	ticks(10*lateTicks, 50)
	require.Zero(t, o.Limit.Load(), "half of the answers are in time")
	ticks(lateTicks-1, 100)
	require.Zero(t, o.Limit.Load())
	ticks(1, 100)
	// in half of a second the server answers 25 ticks of 100 requests
	require.InDelta(t, 2500, o.Limit.Load(), 100)
	require.False(t, c.busy())
	bound := o.Limit.Load()
	ticks(1, 0)
	require.Greater(t, o.Limit.Load(), bound, "the bound grows while answers are in time")
	o.lateAfter.Store(1)
	ticks(lateTicksBound, 100)
	require.EqualValues(t, leastLimit, o.Limit.Load())
	for range leastLimit {
		require.False(t, c.busy())
		_, err := c.claim(t.Context(), 0)
		require.NoError(t, err)
	}
	require.True(t, c.busy())
	c.endLimit()
	require.False(t, c.busy())
	ticks(lateTicks-1, 100)
	require.False(t, c.busy(), "earlier ticks do not count")
}

// TestOverloadAtATick requires the step of the bound at one tick: ticks in which most answers are late, the rate of
// answers, the bound from it, and its growth.
func TestOverloadAtATick(t *testing.T) {
	type state struct {
		rate  float64
		ticks int
		bound float64
	}
	for name, m := range map[string]struct {
		before         state
		answered, late uint64
		inFlight       int
		after          state
	}{
		"all in time":           {state{80, 3, 0}, 160, 0, 0, state{90, 0, 0}},
		"half in time":          {state{8, 3, 0}, 8, 4, 0, state{8, 0, 0}},
		"most are late":         {state{8, 3, 0}, 8, 5, 0, state{8, 4, 0}},
		"no answer":             {state{8, 7, 0}, 0, 0, 0, state{7, 7, 0}},
		"one answer":            {state{1, 7, 0}, 1, 0, 0, state{1, 0, 0}},
		"late for some time":    {state{80, lateTicks - 2, 0}, 80, 80, 0, state{80, lateTicks - 1, 0}},
		"late for long":         {state{80, lateTicks - 1, 0}, 80, 80, 0, state{80, lateTicks, 2000}},
		"few answers":           {state{0.1, lateTicks, 0}, 0, 0, 0, state{0.0875, lateTicks, leastLimit}},
		"late again for a tick": {state{80, lateTicksBound - 2, 100}, 80, 80, 50, state{80, lateTicksBound - 1, 100 + 100.0/1024}},
		"late again":            {state{80, lateTicksBound - 1, 100}, 80, 80, 0, state{80, lateTicksBound, 2000}},
		"hardly used":           {state{8, 0, 100}, 8, 0, 49, state{8, 0, 106.25}},
		"half used":             {state{8, 0, 100}, 8, 0, 50, state{8, 0, 100 + 100.0/1024}},
		"unused":                {state{8, 0, 32}, 8, 0, 0, state{8, 0, 34}},
		"above all stream ids":  {state{8, 0, 3999}, 8, 0, 0, state{8, 0, 0}},
	} {
		c := New(&Config{Version: frame.V5, MaxStreams: 4000}, "", nil)
		o := &c.Overload
		o.seen, o.seenLate = 1000, 500
		o.Answers.Store(1000 + m.answered)
		o.late.Store(500 + m.late)
		o.lateAfter.Store(int64(time.Second))
		o.rate, o.ticks, o.bound = m.before.rate, m.before.ticks, m.before.bound
		for range m.inFlight {
			_, err := c.claim(t.Context(), 0)
			require.NoError(t, err)
		}
		c.adjustLimit()
		require.InDelta(t, m.after.rate, o.rate, 1e-9, name)
		require.Equal(t, m.after.ticks, o.ticks, name)
		require.InDelta(t, m.after.bound, o.bound, 1e-9, name)
		require.Equal(t, int32(m.after.bound), o.Limit.Load(), name)
		require.Equal(t, []uint64{1000 + m.answered, 500 + m.late}, []uint64{o.seen, o.seenLate}, name)
		c.endLimit()
		require.Equal(t, []any{0, 0.0, int32(0)}, []any{o.ticks, o.bound, o.Limit.Load()}, name)
	}
}

// TestOverloadBoundOfFewStreams requires that a bound above the number of stream ids is none, and that one equal to it
// is a bound.
func TestOverloadBoundOfFewStreams(t *testing.T) {
	for _, m := range []struct {
		streams   int
		lateAfter time.Duration
		want      int32
	}{{64, time.Second, 0}, {leastLimit, 1, leastLimit}, {leastLimit - 1, 1, 0}} {
		c := New(&Config{Version: frame.V5, MaxStreams: m.streams}, "", nil)
		o := &c.Overload
		o.lateAfter.Store(int64(m.lateAfter))
		for range 2 * lateTicks {
			o.Answers.Add(100)
			o.late.Add(100)
			c.adjustLimit()
		}
		require.Equal(t, m.want, o.Limit.Load(), "%+v", m)
		_, err := c.claim(t.Context(), 0)
		require.NoError(t, err)
		require.False(t, c.busy())
	}
}

// TestFewLateAnswersSetNoBound has a server that answers every fourth request after its caller has left, then three
// of four. Only then the connection refuses requests.
func TestFewLateAnswersSetNoBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakecql.Server{Version: frame.V5, Handle: func(p *fakecql.Conn, h wire.Header, body []byte) {
			if string(body) == "late" {
				time.AfterFunc(200*time.Millisecond, func() { fakecql.Echo(p, h, body) })
			} else {
				fakecql.Echo(p, h, body)
			}
		}}
		c := connectInMemory(t, s)
		defer endConn(c, s)
		var refused atomic.Int32
		ask := func(body string) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if _, err := c.ask(ctx, body); errors.Is(err, ErrNodeBusy) {
				refused.Add(1)
			}
		}
		seconds := func(n int, bodies ...string) {
			for end := time.Now().Add(time.Duration(n) * time.Second); time.Now().Before(end); time.Sleep(TickInterval / 2) {
				for _, body := range bodies {
					go ask(body)
				}
			}
		}
		seconds(3, "late", "soon", "soon", "soon")
		require.Zero(t, refused.Load())
		seconds(3, "late", "late", "late", "soon")
		require.Positive(t, refused.Load(), "most answers are late")
		time.Sleep(time.Second)
		require.Zero(t, c.Stats().Limit, "no caller waits")
	})
}

// onlyFirstOptions drops and counts the answers to OPTIONS, except for the first.
type onlyFirstOptions struct {
	net.Conn
	n *atomic.Int32
}

func (c onlyFirstOptions) Write(b []byte) (int, error) {
	if frame.Opcode(b[4]) == frame.OpSupported && c.n.Add(1) > 1 {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// TestHeartbeatIsNotAlone: the server answers requests but no heartbeat.
func TestHeartbeatIsNotAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var options atomic.Int32
		s := &fakecql.Server{Version: 4, Wrap: func(c net.Conn) net.Conn { return onlyFirstOptions{c, &options} }}
		c := connectInMemory(t, s, func(cfg *Config) {
			cfg.Heartbeat, cfg.BeatTimeout = 10*time.Second, 5*time.Second
		})
		time.Sleep(2 * time.Minute)
		require.Greater(t, options.Load(), int32(5))
		require.False(t, c.Closed(), "the server has answered probes")
		_, err := c.ask(context.Background(), "question")
		require.NoError(t, err)
		endConn(c, s)
	})
}
