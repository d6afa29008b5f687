// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// memPair returns both ends of a connection with a window.
func memPair(t testing.TB, window int) (client, server net.Conn) {
	m := newMemNet(window)
	at := netip.MustParseAddrPort("10.0.0.1:9042")
	l, err := m.listen(at)
	require.NoError(t, err)
	_, err = m.listen(at)
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	client, err = m.dial(t.Context(), 0, at.String())
	require.NoError(t, err)
	server, err = l.Accept()
	require.NoError(t, err)
	require.Equal(t, client.LocalAddr(), server.RemoteAddr())
	require.Equal(t, client.RemoteAddr(), server.LocalAddr())
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = m.dial(t.Context(), 0, at.String())
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = m.dial(canceled, 0, at.String())
	require.ErrorIs(t, err, context.Canceled)
	_, err = m.dial(t.Context(), 0, "no address")
	require.Error(t, err)
	return client, server
}

func TestMemNet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := memPair(t, 10)
		// A write that exceeds the window blocks, and returns the number of bytes written when its deadline passes.
		began := time.Now()
		require.NoError(t, client.SetWriteDeadline(time.Now().Add(time.Second)))
		n, err := client.Write(make([]byte, 25))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, 10, n)
		require.Equal(t, time.Second, time.Since(began))
		require.NoError(t, client.SetWriteDeadline(time.Time{}))
		done := make(chan error, 1)
		go func() {
			_, err := client.Write(make([]byte, 15))
			done <- err
		}()
		got := make([]byte, 25)
		_, err = io.ReadFull(server, got)
		require.NoError(t, err)
		require.NoError(t, <-done)

		require.NoError(t, server.SetReadDeadline(time.Now().Add(time.Minute)))
		_, err = server.Read(got)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		var timeout net.Error
		require.True(t, errors.As(err, &timeout) && timeout.Timeout())
		require.NoError(t, server.SetDeadline(time.Now().Add(time.Minute)))
		require.NoError(t, server.SetDeadline(time.Time{}))

		// Half-closed: bytes in flight arrive, and the other direction stays open.
		_, err = server.Write([]byte("last"))
		require.NoError(t, err)
		require.NoError(t, server.(halfCloser).CloseWrite())
		all, err := io.ReadAll(client)
		require.NoError(t, err)
		require.Equal(t, "last", string(all))
		_, err = client.Write([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, server.Close())
		require.Error(t, server.Close())
		_, err = client.Write([]byte("x"))
		require.ErrorIs(t, err, syscall.EPIPE)
		_, err = server.Read(got)
		require.ErrorIs(t, err, net.ErrClosed)
		_, err = server.Write(got)
		require.ErrorIs(t, err, net.ErrClosed)

		// Close unblocks pending calls.
		client, server = memPair(t, 1)
		go func() {
			_, err := client.Read(make([]byte, 1))
			done <- err
		}()
		go func() {
			_, err := client.Write(make([]byte, 9))
			done <- err
		}()
		synctest.Wait()
		require.NoError(t, client.Close())
		require.ErrorIs(t, <-done, net.ErrClosed)
		require.ErrorIs(t, <-done, net.ErrClosed)
		require.NoError(t, server.Close())
	})
}
