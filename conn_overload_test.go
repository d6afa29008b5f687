// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
)

// TestOverloadBound has a server whose answers come late, in time, and late again.
func TestOverloadBound(t *testing.T) {
	c := newIdleConn()
	o := &c.overload
	o.lateAfter.Store(int64(time.Second))
	ticks := func(n int, late uint64) {
		for range n {
			o.answers.Add(100)
			o.late.Add(late)
			c.adjustLimit()
		}
	}
	ticks(10*lateTicks, 50)
	require.Zero(t, o.limit.Load(), "half of the answers are in time")
	ticks(lateTicks-1, 100)
	require.Zero(t, o.limit.Load())
	ticks(1, 100)
	// in half of a second the server answers 25 ticks of 100 requests
	require.InDelta(t, 2500, o.limit.Load(), 100)
	require.False(t, c.busy())
	bound := o.limit.Load()
	ticks(1, 0)
	require.Greater(t, o.limit.Load(), bound, "the bound grows while answers are in time")
	o.lateAfter.Store(1)
	ticks(lateTicksBound, 100)
	require.EqualValues(t, leastLimit, o.limit.Load())
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

// onlyFirstOptions drops and counts the answers to OPTIONS, except for the first.
type onlyFirstOptions struct {
	net.Conn
	n *atomic.Int32
}

func (c onlyFirstOptions) Write(b []byte) (int, error) {
	if opcode(b[4]) == opSupported && c.n.Add(1) > 1 {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// TestHeartbeatIsNotAlone: the server answers requests but no heartbeat.
func TestHeartbeatIsNotAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var options atomic.Int32
		s := &fakecql.Server{Version: 4, Wrap: func(c net.Conn) net.Conn { return onlyFirstOptions{c, &options} }}
		c := connectInMemory(t, s, func(cfg *connConfig) {
			cfg.heartbeat, cfg.beatTimeout = 10*time.Second, 5*time.Second
		})
		time.Sleep(2 * time.Minute)
		require.Greater(t, options.Load(), int32(5))
		require.False(t, c.closed(), "the server has answered probes")
		_, err := c.ask(context.Background(), "question")
		require.NoError(t, err)
		endConn(c, s)
	})
}
