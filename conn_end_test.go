// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// Causes of the end of a connection.

func TestEndCauses(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for _, m := range []struct {
		err  error
		want EndCause
	}{
		{&endError{EndSurplus, errDrained}, EndSurplus},
		{errorf("read: %w", io.EOF), EndPeer},
		{errorf("read: %w", io.ErrUnexpectedEOF), EndPeer},
		{errorf("write: %w", reset), EndPeer},
		{errorf("write: %w", &net.OpError{Op: "write", Err: syscall.EPIPE}), EndPeer},
		{errorf("write: %w", os.NewSyscallError("write", syscall.EPIPE)), EndPeer},
		{errorf("write: %w", &net.OpError{Op: "write", Err: syscall.ENETDOWN}), EndNetwork},
		{errorf("read: %w", wire.ErrCRC24), EndProtocol},
		{errorf("read: %w", wire.ErrLength), EndProtocol},
		{errorf("read: %w", wire.ErrShort), EndProtocol},
		{errorf("read: %w", &net.OpError{Op: "read", Err: syscall.EHOSTUNREACH}), EndNetwork},
		{errorf("read: %w", &ProtocolError{Message: "frame header"}), EndProtocol},
		{errorf("read: %w", wire.ErrCRC32), EndProtocol},
		{&endError{EndControl, errorf("read system.peers: %w", context.DeadlineExceeded)}, EndControl},
		{errors.New("panic"), EndOther},
	} {
		require.Equal(t, m.want, endCauseOf(m.err), m.err)
	}
	seen := map[string]bool{}
	for cause := range endCauses {
		text, err := cause.MarshalText()
		require.NoError(t, err)
		require.NotEmpty(t, text)
		require.False(t, seen[string(text)])
		seen[string(text)] = true
	}
	require.Equal(t, "other", endCauses.String())
}

// TestCodesOfSystems requires the errors that mean a reset connection, and a local port that cannot be used, of the
// systems that the driver runs on.
func TestCodesOfSystems(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		require.Equal(t, []syscall.Errno{syscall.ECONNRESET, syscall.EPIPE}, resetCodes(goos))
		require.Equal(t, []syscall.Errno{syscall.EADDRINUSE, syscall.EADDRNOTAVAIL}, takenCodes(goos))
	}
	require.Equal(t, []syscall.Errno{10053, 10054}, resetCodes("windows"))
	require.Equal(t, []syscall.Errno{10048, 10049}, takenCodes("windows"))
	for _, code := range takenCodes(runtime.GOOS) {
		require.True(t, portTaken(errorf("dial: %w", &net.OpError{Op: "dial", Err: os.NewSyscallError("bind", code)})))
	}
	require.False(t, portTaken(errorf("dial: %w", syscall.ECONNREFUSED)))
	require.False(t, portTaken(io.EOF))
}
