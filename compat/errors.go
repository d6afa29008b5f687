// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"errors"

	"github.com/vecql/vecql"
)

// Errors as gocql returns them: programs compare them with == and by type switch.

// sentinels are the errors that programs compare with ==, the most particular first.
var sentinels = []error{
	context.Canceled, context.DeadlineExceeded, vecql.ErrNotFound, vecql.ErrTimeoutNoResponse, vecql.ErrSessionClosed,
	vecql.ErrNoConnectionsStarted, vecql.ErrNoConnections, vecql.ErrConnectionClosed, vecql.ErrNoStreams,
	vecql.ErrKeyspaceDoesNotExist, vecql.ErrNoKeyspace, vecql.ErrNoMetadata, vecql.ErrUseStmt, vecql.ErrTooManyStmts,
	vecql.ErrNoHosts, vecql.ErrFrameTooBig, vecql.ErrUnsupported,
}

// Error returns the error that gocql returns for err, an error of package vecql: the error of the server itself, a
// sentinel itself, the error of a context itself. Other errors are returned without the RequestFailure around them.
func Error(err error) error {
	if err == nil {
		return nil
	}
	var server vecql.RequestError
	if errors.As(err, &server) {
		return server
	}
	for _, e := range sentinels {
		if errors.Is(err, e) {
			return e
		}
	}
	var failure *vecql.RequestFailure
	if errors.As(err, &failure) {
		return failure.Err
	}
	return err
}
