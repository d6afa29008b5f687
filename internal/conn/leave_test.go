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

// Callers that leave while the reader delivers their answer. The two agree by the state of the slot: either the caller
// takes the answer, or the reader frees the slot.

// newIdleConn returns a connection whose goroutines are not started.
func newIdleConn() *Conn {
	sock, _ := fakecql.NewPipe()
	return New(&Config{Version: frame.V5}, "127.0.0.1:9042", sock)
}

// startCall returns a call of c whose frame counts as sent. The call is prompt, since no tick wakes it.
func startCall(t *testing.T, c *Conn) *waiter {
	id, err := c.claim(t.Context(), 0)
	require.NoError(t, err)
	w := &waiter{slot: c.slots.claimed(id), id: id, sent: c.now(), patience: int64(time.Hour), prompt: true}
	w.start.Store(0)
	w.state.Store(slotWaiting)
	return w
}

// A caller whose context ends between the two steps of a delivery waits for the second one and takes the answer.
func TestCallerLeavesDuringDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newIdleConn()
		w := startCall(t, c)
		require.True(t, w.startDelivery())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var got Response
		var err error
		var returned atomic.Bool
		go func() {
			err = c.wait(ctx, w, &got)
			returned.Store(true)
		}()
		synctest.Wait()
		require.False(t, returned.Load(), "the answer is being delivered")
		body := GetBuffer(1)
		w.resp = Response{Body: body}
		w.state.Store(slotAnswered)
		w.signal()
		synctest.Wait()
		require.True(t, returned.Load())
		require.NoError(t, err)
		require.Same(t, body, got.Body)
		require.Equal(t, slotFree, w.state.Load())
		require.Zero(t, c.InFlight())
		require.Zero(t, c.Orphans.Load())
		body.Release()
	})
}

// A caller that leaves before the first step keeps the slot as an orphan. The reader must not claim it.
func TestDeliveryAfterCallerHasLeft(t *testing.T) {
	c := newIdleConn()
	w := startCall(t, c)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	err := c.wait(gone, w, new(Response))
	require.ErrorIs(t, err, context.Canceled)
	require.LessOrEqual(t, w.due.Load(), c.now(), "the age of the orphan counts from now")
	require.False(t, w.startDelivery())
	require.Equal(t, slotOrphaned, w.state.Load())
	require.Equal(t, 1, c.InFlight())
	require.EqualValues(t, 1, c.Orphans.Load())
	require.NoError(t, c.deliver(wire.Header{Version: frame.V5, Stream: int16(w.id)}, GetBuffer(1)))
	require.False(t, w.startDelivery())
	require.Equal(t, slotFree, w.state.Load())
	require.Zero(t, c.InFlight())
	require.Zero(t, c.Orphans.Load())
}
