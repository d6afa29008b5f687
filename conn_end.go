// SPDX-License-Identifier: Apache-2.0

package vecql

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

// endError is the error of a connection that the driver itself ends.
type endError struct {
	cause stats.EndCause
	err   error
}

func (e *endError) Error() string { return e.err.Error() }
func (e *endError) Unwrap() error { return e.err }

// endCauseOf returns the cause of the end of a connection that was closed with err.
func endCauseOf(err error) stats.EndCause {
	var end *endError
	var protocol *cql.ProtocolError
	var network net.Error
	switch {
	case errors.As(err, &end):
		return end.cause
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

// errDrained means that the driver itself closed the connection.
var errDrained = errors.New("closed by the driver")

// drain refuses further calls, waits for those in flight until ctx ends, and closes the connection for a cause. It
// returns when all goroutines of the connection have ended. It returns ctx's error if it interrupted calls, or if ctx
// ends while a callback is still running.
func (c *conn) drain(ctx context.Context, cause stats.EndCause) error {
	c.draining.Store(true)
	var err error
	if !c.awaitCalls(ctx) {
		err = ctx.Err()
	}
	c.close(&endError{cause, errDrained})
	if late := background.Await(ctx, c.tasks.Done()); late != nil {
		return late
	}
	return err
}

// close ends the connection and all its calls. It does not wait for the connection's goroutines.
func (c *conn) close(err error) {
	c.closeOnce.Do(func() {
		c.draining.Store(true)
		c.closeErr = err
		close(c.done)
		c.isClosed.Store(true)
		handed := c.w.stop()
		c.slots.each(func(s *slot) { c.failCall(s, handed) })
		if c.cfg.onClose != nil {
			c.tasks.Go(func() { c.cfg.onClose(c, err) })
		}
		c.tasks.End()
		c.closeSocket()
	})
}

// closeSocket closes the socket, which ends the reader and the writer.
func (c *conn) closeSocket() {
	if c.sock != c.raw && errors.Is(c.closeErr, errDrained) {
		// TLS sends a close alert, and would block for up to five seconds on a full socket.
		defer time.AfterFunc(background.Grace, func() { _ = c.raw.Close() }).Stop()
		c.w.records.store(false)
		_ = c.sock.Close()
	}
	_ = c.raw.Close()
}

// failCall delivers the end of the connection to a call. handed is the number of queued bytes that were handed to the
// socket.
func (c *conn) failCall(s *slot, handed int64) {
	if !s.startDelivery() {
		return
	}
	s.err = c.closedError()
	if start := s.start.Load(); start < 0 || start >= handed {
		s.err = &notSentError{err: s.err}
	}
	s.state.Store(slotAnswered)
	s.signal()
}

// closedError returns ErrConnectionClosed, with the cause if there is one.
func (c *conn) closedError() error {
	select {
	case <-c.done:
		if c.closeErr != nil && !errors.Is(c.closeErr, errDrained) {
			return errtext.Errorf("%w: %w", ErrConnectionClosed, c.closeErr)
		}
	default:
	}
	return ErrConnectionClosed
}
