// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// Calls that are not sent, and the times of calls on the clock of their connection.

// TestCallsThatAreNotSent requires the error of each call that a connection does not send. Requests of the driver
// itself are also sent while the connection refuses calls, or has as many as the server answers.
func TestCallsThatAreNotSent(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	bytes := make([]byte, wire.MaxBody+1)
	for name, m := range map[string]struct {
		draining, busy, probe bool
		size                  int
		ctx                   context.Context
		want                  error
	}{
		"sent":                     {ctx: t.Context()},
		"draining":                 {draining: true, ctx: t.Context(), want: ErrClosed},
		"draining and busy":        {draining: true, busy: true, ctx: t.Context(), want: ErrClosed},
		"a probe while draining":   {draining: true, probe: true, ctx: t.Context()},
		"busy":                     {busy: true, ctx: t.Context(), want: ErrNodeBusy},
		"a probe of a busy server": {busy: true, probe: true, ctx: t.Context()},
		"the largest body":         {size: wire.MaxBody, ctx: t.Context()},
		"too large":                {size: wire.MaxBody + 1, ctx: t.Context(), want: frame.ErrTooBig},
		"a probe that has ended":   {draining: true, probe: true, ctx: ended, want: context.Canceled},
		"ended":                    {ctx: ended, want: context.Canceled},
	} {
		c := newIdleConn()
		c.Draining.Store(m.draining)
		if startCall(t, c); m.busy {
			c.Overload.Limit.Store(1)
		}
		err := c.admit(m.ctx, &Request{probe: m.probe, Body: &Buffer{B: bytes[:m.size]}})
		require.ErrorIs(t, err, m.want, name)
	}
}

// TestConnClock requires the start of a request on the connection's clock, now if the request has not read the time.
// The clock never shows 0, which means unknown.
func TestConnClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newIdleConn()
		require.EqualValues(t, 1, c.now())
		require.EqualValues(t, 1, c.clock(&Request{Began: time.Now()}))
		time.Sleep(time.Second)
		began := time.Now()
		time.Sleep(time.Second)
		require.EqualValues(t, 1+2*time.Second, c.now())
		require.EqualValues(t, 1+2*time.Second, c.clock(&Request{}))
		require.EqualValues(t, 1+time.Second, c.clock(&Request{Began: began}))
	})
}

// TestCallThatWasNotQueued requires that a call whose frame was not queued leaves a free slot and a free stream id. If
// the end of the connection is being delivered to it, the call waits for that, whatever tokens it gets.
func TestCallThatWasNotQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newIdleConn()
		w := startCall(t, c)
		c.withdraw(w.slot, w.id)
		require.Equal(t, slotFree, w.state.Load())
		require.Zero(t, c.InFlight())

		w = startCall(t, c)
		require.True(t, w.startDelivery())
		returned := make(chan struct{})
		go func() {
			c.withdraw(w.slot, w.id)
			close(returned)
		}()
		synctest.Wait()
		w.signal() // a stale token
		synctest.Wait()
		require.Equal(t, slotDelivering, w.state.Load())
		require.Equal(t, 1, c.InFlight())
		w.err = io.EOF
		w.state.Store(slotAnswered)
		w.signal()
		<-returned
		require.Equal(t, slotFree, w.state.Load())
		require.NoError(t, w.err, "the next call has no error")
		require.Zero(t, c.InFlight())
	})
}

// TestWaitForCalls requires that a drain ends when no caller waits, or when the connection has ended, and reports
// whether its context has ended before.
func TestWaitForCalls(t *testing.T) {
	for name, m := range map[string]struct {
		end  func(c *Conn, w *waiter, cancel context.CancelFunc)
		want bool
	}{
		"an answer":                 {func(c *Conn, w *waiter, _ context.CancelFunc) { c.release(w.id) }, true},
		"a caller that leaves":      {func(c *Conn, w *waiter, _ context.CancelFunc) { c.leave(w, io.EOF) }, true},
		"the end of the context":    {func(_ *Conn, _ *waiter, cancel context.CancelFunc) { cancel() }, false},
		"the end of the connection": {func(c *Conn, _ *waiter, _ context.CancelFunc) { c.Close(ErrDrained) }, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newIdleConn()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			require.True(t, c.awaitCalls(ctx), "there is no call")
			w := startCall(t, c)
			c.Draining.Store(true)
			ended := make(chan bool, 1)
			go func() { ended <- c.awaitCalls(ctx) }()
			synctest.Wait()
			require.Empty(t, ended)
			m.end(c, w, cancel)
			require.Equal(t, m.want, <-ended, name)
		})
	}
}

// TestTokensDoNotBlock requires that calls that end while nothing waits for their tokens are not blocked.
func TestTokensDoNotBlock(t *testing.T) {
	c := newIdleConn()
	c.Draining.Store(true)
	c.waiting.Store(1)
	for range 3 {
		c.passToken()
		c.callEnded()
	}
	require.Len(t, c.streamWake, 1)
	require.Len(t, c.drainWake, 1)
	w := startCall(t, c)
	for range 3 {
		w.signal()
	}
	require.Len(t, w.wake, 1)
}

// TestManyCallsDoNotDelayATimeout requires that a call ends at its deadline also if others begin all the time.
func TestManyCallsDoNotDelayATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakecql.Server{Version: frame.V5, Handle: func(*fakecql.Conn, wire.Header, []byte) {}}
		c := connectInMemory(t, s, func(cfg *Config) { cfg.Timeout = time.Second })
		defer endConn(c, s)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		got := make(chan error, 1)
		go func() { _, err := c.ask(t.Context(), "first"); got <- err }()
		for time.Since(began) < time.Second+2*TickInterval {
			go func() { _, _ = c.ask(ctx, "others") }()
			time.Sleep(TickInterval / 2)
		}
		synctest.Wait()
		require.Len(t, got, 1)
		require.ErrorIs(t, <-got, ErrTimeout)
	})
}
