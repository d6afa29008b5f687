// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/vecql/vecql"
)

// Errors as gocql returns them: programs compare them with == and by type switch.

// connectionSentinels come before the cause that the driver wraps in them: a timeout of a dial, a refused login.
var connectionSentinels = []error{
	vecql.ErrSessionClosed, vecql.ErrConnectionClosed, vecql.ErrNoConnections, vecql.ErrTimeoutNoResponse,
	context.Canceled, context.DeadlineExceeded,
}

// sentinels are the other errors that programs compare with ==.
var sentinels = []error{
	vecql.ErrNotFound, vecql.ErrNoStreams, vecql.ErrNoHosts, vecql.ErrNoConnectionsStarted, vecql.ErrKeyspaceDoesNotExist,
	vecql.ErrNoKeyspace, vecql.ErrNoMetadata, vecql.ErrUseStmt, vecql.ErrTooManyStmts, vecql.ErrFrameTooBig,
	vecql.ErrUnsupported,
}

// OfServer returns the error of a server that err wraps, one of the types of package cql, nil if there is none.
func OfServer(err error) error {
	var server interface {
		error
		MayHaveApplied() bool
	}
	if errors.As(err, &server) {
		return server
	}
	return nil
}

// Error returns the error that gocql returns for err, an error of package vecql: a sentinel itself, the error of a
// context itself, the error of the server itself. Other errors are returned without the RequestFailure around them, and
// errors of other packages as they are.
func Error(err error) error {
	if err == nil {
		return nil
	}
	if lost := lostConnection(err); lost != nil {
		return lost
	}
	if e := sentinelOf(err, connectionSentinels); e != nil {
		return e
	}
	if server := OfServer(err); server != nil {
		return server
	}
	if e := sentinelOf(err, sentinels); e != nil {
		return e
	}
	var failure *vecql.RequestFailure
	if errors.As(err, &failure) {
		return failure.Err
	}
	return err
}

// lostConnection returns the error of the socket if a server has closed the connection of a request or the network
// has failed, nil for another error. gocql returns it as it is: io.EOF, or a *net.OpError.
func lostConnection(err error) error {
	if !errors.Is(err, vecql.ErrConnectionClosed) {
		return nil
	}
	var network *net.OpError
	switch {
	case errors.As(err, &network) && !network.Timeout():
		return network
	case errors.Is(err, io.EOF):
		return io.EOF
	}
	return nil
}

// sentinelOf returns the first sentinel that err wraps. nil means none.
func sentinelOf(err error, sentinels []error) error {
	for _, e := range sentinels {
		if errors.Is(err, e) {
			return e
		}
	}
	return nil
}
