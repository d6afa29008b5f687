// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// failed returns err as the error of a request.
func failed(err error) error {
	return &vecql.RequestFailure{Err: fmt.Errorf("attempt: %w", err), Statement: "SELECT 1"}
}

func TestErrorSentinels(t *testing.T) {
	for _, e := range append(append([]error{}, connectionSentinels...), sentinels...) {
		require.True(t, Error(failed(e)) == e, "%v", e)
		require.True(t, Error(e) == e, "%v", e)
	}
	require.NoError(t, Error(nil))
	dial := fmt.Errorf("%w: %w", vecql.ErrNoConnections, context.DeadlineExceeded)
	require.True(t, Error(failed(dial)) == vecql.ErrNoConnections, "a timeout of the driver itself")
	ended := fmt.Errorf("%w: %w", context.Canceled, &cql.ReadTimeoutError{})
	require.True(t, Error(failed(ended)) == context.Canceled, "the error of an earlier attempt")
	login := fmt.Errorf("%w: %w", vecql.ErrNoConnectionsStarted, &cql.ServerError{})
	require.IsType(t, &cql.ServerError{}, Error(login))
}

func TestErrorOfServer(t *testing.T) {
	for _, e := range []error{
		&cql.ServerError{}, &cql.UnavailableError{}, &cql.WriteTimeoutError{}, &cql.ReadTimeoutError{},
		&cql.ReadFailureError{}, &cql.WriteFailureError{}, &cql.FunctionFailureError{},
		&cql.CDCWriteFailureError{}, &cql.CASWriteUnknownError{}, &cql.AlreadyExistsError{},
		&cql.UnpreparedError{}, &cql.RateLimitError{},
	} {
		require.True(t, Error(failed(e)) == e, "%T", e)
	}
}

func TestErrorOfOthers(t *testing.T) {
	mine := errors.New("mine")
	require.True(t, Error(mine) == mine)
	require.Equal(t, "attempt: mine", Error(failed(mine)).Error())
	s := newSession(t, wideSchema)
	require.IsType(t, &cql.ServerError{}, Error(s.Query("SELECT x FROM ks.nothing").Exec(t.Context())))
	var n int
	require.True(t, Error(s.Query("SELECT id FROM ks.t WHERE id = 1").Scan(t.Context(), &n)) == vecql.ErrNotFound)
	err := Error(s.Query("SELECT id FROM ks.t WHERE id = ?", "x").Exec(t.Context()))
	require.IsType(t, &cql.MarshalError{}, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.True(t, Error(s.Query("SELECT id FROM ks.t").Exec(ctx)) == context.Canceled)
}

// TestErrorOfALostConnectionIsThatOfItsSocket, unless it is a timeout, which the driver itself has set.
func TestErrorOfALostConnectionIsThatOfItsSocket(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}
	late := &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
	lost := func(cause error) error { return fmt.Errorf("%w: %w", vecql.ErrConnectionClosed, cause) }
	for _, row := range []struct{ err, want error }{
		{lost(reset), reset},
		{lost(late), vecql.ErrConnectionClosed},
		{lost(io.EOF), io.EOF},
		{lost(fmt.Errorf("%w: %w", late, io.EOF)), io.EOF},
		{lost(errors.New("closed by the program")), vecql.ErrConnectionClosed},
		{fmt.Errorf("%w: %w", vecql.ErrNoConnections, reset), vecql.ErrNoConnections},
	} {
		require.True(t, Error(row.err) == row.want, "%v", row.err)
		require.True(t, Error(failed(row.err)) == row.want, "%v", row.err)
	}
	require.True(t, Error(io.EOF) == io.EOF)
}
