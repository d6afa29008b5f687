// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/stats"
)

// The end of a connection: draining, closing, and the cause.

// EndError is the error of a connection that the driver itself ends.
type EndError struct {
	Cause stats.EndCause
	Err   error
}

func (e *EndError) Error() string { return e.Err.Error() }
func (e *EndError) Unwrap() error { return e.Err }

// EndCauseOf returns the cause of the end of a connection that was closed with err.
func EndCauseOf(err error) stats.EndCause {
	var end *EndError
	var protocol *cql.ProtocolError
	var network net.Error
	switch {
	case errors.As(err, &end):
		return end.Cause
	case errors.As(err, &protocol), errors.Is(err, wire.ErrCRC24), errors.Is(err, wire.ErrCRC32),
		errors.Is(err, wire.ErrLength), errors.Is(err, wire.ErrShort):
		return stats.EndProtocol
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), isReset(err):
		return stats.EndPeer
	case errors.As(err, &network):
		return stats.EndNetwork
	}
	return stats.EndOther
}

// isReset reports whether err means that the peer has reset the connection.
func isReset(err error) bool {
	var code syscall.Errno
	return errors.As(err, &code) && slices.Contains(resetCodes(runtime.GOOS), code)
}

// resetCodes returns the errors of a connection that the peer has reset.
func resetCodes(goos string) []syscall.Errno {
	if goos == "windows" {
		return []syscall.Errno{10053, 10054} // WSAECONNABORTED, WSAECONNRESET
	}
	return []syscall.Errno{syscall.ECONNRESET, syscall.EPIPE}
}

// ErrDrained means that the driver itself closed the connection.
var ErrDrained = errors.New("closed by the driver")

// Drain refuses further calls, waits for those in flight until ctx ends, and closes the connection for a cause. It
// returns when all goroutines of the connection have ended. It returns ctx's error if it interrupted calls, or if ctx
// ends while a callback is still running.
func (c *Conn) Drain(ctx context.Context, cause stats.EndCause) error {
	c.Draining.Store(true)
	var err error
	if !c.awaitCalls(ctx) {
		err = ctx.Err()
	}
	c.Close(&EndError{Cause: cause, Err: ErrDrained})
	if late := background.Await(ctx, c.tasks.Done()); late != nil {
		return late
	}
	return err
}

// Close ends the connection and all its calls. It does not wait for the connection's goroutines.
func (c *Conn) Close(err error) {
	c.closeOnce.Do(func() {
		c.Draining.Store(true)
		c.CloseErr = err
		close(c.done)
		c.isClosed.Store(true)
		handed := c.w.stop()
		c.slots.each(func(s *slot) { c.failCall(s, handed) })
		if c.Config.OnClose != nil {
			c.tasks.Go(func() { c.Config.OnClose(c, err) })
		}
		c.tasks.End()
		c.closeSocket()
	})
}

// closeSocket closes the socket, which ends the reader and the writer.
func (c *Conn) closeSocket() {
	if c.Sock != c.raw && errors.Is(c.CloseErr, ErrDrained) {
		// TLS sends a close alert, and would block for up to five seconds on a full socket.
		defer time.AfterFunc(background.Grace, func() { _ = c.raw.Close() }).Stop()
		c.w.records.store(false)
		_ = c.Sock.Close()
	}
	_ = c.raw.Close()
}

// failCall delivers the end of the connection to a call. handed is the number of queued bytes that were handed to the
// socket.
func (c *Conn) failCall(s *slot, handed int64) {
	if !s.startDelivery() {
		return
	}
	s.err = c.ClosedError()
	if start := s.start.Load(); start < 0 || start >= handed {
		s.err = &NotSentError{Err: s.err}
	}
	s.state.Store(slotAnswered)
	s.signal()
}

// ClosedError returns ErrConnectionClosed, with the cause if there is one.
func (c *Conn) ClosedError() error {
	select {
	case <-c.done:
		if c.CloseErr != nil && !errors.Is(c.CloseErr, ErrDrained) {
			return errtext.Errorf("%w: %w", ErrClosed, c.CloseErr)
		}
	default:
	}
	return ErrClosed
}

// Errors of calls. The root package exports and describes them.
var (
	ErrClosed    = errors.New("vecql: connection is closed")
	ErrNoStreams = errors.New("vecql: no stream id is free")
	ErrNodeBusy  = errors.New("vecql: the node is behind with its answers")
	ErrTimeout   = errors.New("vecql: no answer from the server in time")
)

// NotSentError means that no byte of the request was written to the socket: a retry is safe.
type NotSentError struct{ Err error }

func (e *NotSentError) Error() string { return errtext.Prefix + "not sent: " + errtext.Of(e.Err) }
func (e *NotSentError) Unwrap() error { return e.Err }
