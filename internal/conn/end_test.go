// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/stats"
)

// Causes of the end of a connection.

func TestEndCauses(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for _, m := range []struct {
		err  error
		want stats.EndCause
	}{
		{&EndError{Cause: stats.EndSurplus, Err: ErrDrained}, stats.EndSurplus},
		{errtext.Errorf("read: %w", io.EOF), stats.EndPeer},
		{errtext.Errorf("read: %w", io.ErrUnexpectedEOF), stats.EndPeer},
		{errtext.Errorf("write: %w", reset), stats.EndPeer},
		{errtext.Errorf("write: %w", &net.OpError{Op: "write", Err: syscall.EPIPE}), stats.EndPeer},
		{errtext.Errorf("write: %w", os.NewSyscallError("write", syscall.EPIPE)), stats.EndPeer},
		{errtext.Errorf("write: %w", &net.OpError{Op: "write", Err: syscall.ENETDOWN}), stats.EndNetwork},
		{errtext.Errorf("read: %w", wire.ErrCRC24), stats.EndProtocol},
		{errtext.Errorf("read: %w", wire.ErrLength), stats.EndProtocol},
		{errtext.Errorf("read: %w", wire.ErrShort), stats.EndProtocol},
		{errtext.Errorf("read: %w", &net.OpError{Op: "read", Err: syscall.EHOSTUNREACH}), stats.EndNetwork},
		{errtext.Errorf("read: %w", &cql.ProtocolError{Message: "frame header"}), stats.EndProtocol},
		{errtext.Errorf("read: %w", wire.ErrCRC32), stats.EndProtocol},
		{&EndError{Cause: stats.EndControl, Err: errtext.Errorf("read system.peers: %w", context.DeadlineExceeded)}, stats.EndControl},
		{errors.New("panic"), stats.EndOther},
	} {
		require.Equal(t, m.want, EndCauseOf(m.err), m.err)
	}
}

// TestEndOfCalls requires that the end of a connection ends a call with its cause, as not sent if no byte of its frame
// was handed to the socket.
func TestEndOfCalls(t *testing.T) {
	for _, m := range []struct {
		start, handed int64
		left          bool
	}{{-1, 0, false}, {-1, 10, false}, {0, 0, false}, {0, 1, true}, {9, 10, true}, {10, 10, false}, {11, 10, false}} {
		for _, cause := range []error{io.EOF, ErrDrained} {
			c := newIdleConn()
			require.Equal(t, ErrClosed, c.ClosedError(), "before the end")
			w := startCall(t, c)
			c.Close(cause)
			w.state.Store(slotWaiting)
			w.start.Store(m.start)
			c.failCall(w.slot, m.handed)
			c.failCall(w.slot, 100) // the outcome stays
			err := w.take(new(Response))
			require.ErrorIs(t, err, ErrClosed)
			require.Equal(t, cause == io.EOF, errors.Is(err, io.EOF))
			require.NotErrorIs(t, err, ErrDrained)
			require.Equal(t, m.left, mayHaveLeft(err), "%+v", m)
			require.Equal(t, slotFree, w.state.Load())
			<-c.tasks.Done()
		}
	}
}

// TestConnOfServerThatStops requires that a connection whose server announces its end refuses calls, and ends when
// those in flight have an answer, or after the timeout, at least a second. The announcement is no event of the cluster.
func TestConnOfServerThatStops(t *testing.T) {
	for _, m := range []struct {
		times                int // of the announcement
		answer, timeout, end time.Duration
	}{
		{1, 100 * time.Millisecond, time.Minute, 100 * time.Millisecond},
		{2, 10 * time.Second, time.Minute, 10 * time.Second},
		{1, time.Hour, 3 * time.Second, 3 * time.Second},
		{2, time.Hour, 100 * time.Millisecond, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &fakecql.Server{Version: frame.V5, Handle: func(p *fakecql.Conn, h wire.Header, body []byte) {
				if string(body) == "question" { // the driver sends probes too
					time.AfterFunc(m.answer, func() { fakecql.Echo(p, h, body) })
					for range m.times {
						p.Push(fakecql.AppendString(nil, frame.EventGraceful))
					}
				}
			}}
			ends := make(chan error, 10)
			c := connectInMemory(t, s, func(cfg *Config) {
				cfg.Timeout = m.timeout
				cfg.OnEvent = func(event any) { t.Errorf("an event: %v", event) }
				cfg.OnClose = func(_ *Conn, err error) { ends <- err }
			})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
			defer cancel()
			began := time.Now()
			got := make(chan error, 1)
			go func() { _, err := c.ask(ctx, "question"); got <- err }()
			synctest.Wait()
			_, err := c.ask(ctx, "refused")
			require.ErrorIs(t, err, ErrClosed)
			require.False(t, mayHaveLeft(err))
			require.False(t, c.Closed())
			if err := <-got; m.end == m.answer {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, errShutdown)
			}
			err = <-ends
			require.Equal(t, m.end, time.Since(began))
			require.Equal(t, stats.EndShutdown, EndCauseOf(err))
			require.True(t, c.Closed())
			endConn(c, s)
			require.Empty(t, ends)
		})
	}
}

// TestConnStats requires each field of the snapshot of a connection.
func TestConnStats(t *testing.T) {
	c := newIdleConn()
	c.local = "127.0.0.1:5000"
	want := stats.Conn{Local: c.local, Remote: "127.0.0.1:9042", Shard: -1, Opened: c.Born, LastAnswer: c.Born}
	require.Equal(t, want, c.Stats())
	for range 3 {
		startCall(t, c)
	}
	c.Orphans.Store(2)
	c.Overload.Limit.Store(40)
	c.Silent.Store(true)
	c.answered.Store(int64(time.Hour))
	c.Draining.Store(true)
	c.Features = Features{Shards: 1}
	want.InFlight, want.Orphans, want.Limit, want.Silent, want.LastAnswer, want.State, want.Shard =
		3, 2, 40, true, c.Born.Add(time.Hour), stats.ConnDraining, 0
	require.Equal(t, want, c.Stats())
}

// TestConnStateTexts requires that each state has a text of its own, which is read as that state.
func TestConnStateTexts(t *testing.T) {
	for state, want := range map[stats.ConnState]string{stats.ConnOpen: "open", stats.ConnSurplus: "surplus", stats.ConnDraining: "draining"} {
		text, err := state.MarshalText()
		require.NoError(t, err)
		require.Equal(t, want, string(text))
		var read stats.ConnState
		require.NoError(t, read.UnmarshalText(text))
		require.Equal(t, state, read)
	}
	kept := stats.ConnSurplus
	require.ErrorIs(t, kept.UnmarshalText([]byte("closed")), cql.ErrConversion)
	require.Equal(t, stats.ConnSurplus, kept)
}

func TestCodesOfResets(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		require.Equal(t, []syscall.Errno{syscall.ECONNRESET, syscall.EPIPE}, resetCodes(goos))
	}
	require.Equal(t, []syscall.Errno{10053, 10054}, resetCodes("windows"))
}
