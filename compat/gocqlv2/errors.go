// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"

	"github.com/vecql/vecql"
)

// Sentinel errors. Those that vecql has too are vecql's own values, so that errors.Is finds them by either name.

// Errors of sessions, requests and metadata.
var (
	ErrNotFound             = vecql.ErrNotFound
	ErrUnavailable          = errors.New("gocql: unavailable")
	ErrUnsupported          = vecql.ErrUnsupported
	ErrTooManyStmts         = vecql.ErrTooManyStmts
	ErrUseStmt              = vecql.ErrUseStmt
	ErrSessionClosed        = vecql.ErrSessionClosed
	ErrNoConnections        = vecql.ErrNoConnections
	ErrNoKeyspace           = vecql.ErrNoKeyspace
	ErrKeyspaceDoesNotExist = vecql.ErrKeyspaceDoesNotExist
	ErrNoMetadata           = vecql.ErrNoMetadata
	ErrNoHosts              = vecql.ErrNoHosts
	ErrNoConnectionsStarted = vecql.ErrNoConnectionsStarted
	ErrHostQueryFailed      = errors.New("gocql: the nodes could not be read")
	ErrTimeoutNoResponse    = vecql.ErrTimeoutNoResponse
	ErrConnectionClosed     = vecql.ErrConnectionClosed
	ErrNoStreams            = vecql.ErrNoStreams
	// Deprecated: ErrTooManyTimeouts is not returned.
	ErrTooManyTimeouts   = errors.New("gocql: too many timeouts on the connection")
	ErrQueryArgLength    = errors.New("gocql: the number of values differs from the number of bind markers")
	ErrCannotFindHost    = errors.New("gocql: cannot find the host")
	ErrHostAlreadyExists = errors.New("gocql: the host exists already")
	ErrFrameTooBig       = vecql.ErrFrameTooBig
	ErrUnknownRetryType  = errors.New("gocql: the retry policy returned an unknown retry type")
	ErrorUDTUnavailable  = errors.New("gocql: the protocol version has no user-defined types")
)

// errNotHere means that a name of the API exists for the compiler only.
var errNotHere = errors.New("gocql: not available: vecql has no connections that programs use")

// An ErrProtocol is an error of the native protocol.
type ErrProtocol struct{ error }

// NewErrProtocol returns an ErrProtocol with a formatted text.
func NewErrProtocol(format string, args ...any) error {
	return ErrProtocol{fmt.Errorf(format, args...)}
}

// Error is not returned by the driver.
//
// Deprecated: see RequestError.
type Error struct {
	Code    int
	Message string
}

func (e Error) Error() string { return e.Message }

// A MarshalError means that a value could not be encoded.
type MarshalError string

func (m MarshalError) Error() string { return string(m) }

// An UnmarshalError means that a cell could not be decoded.
type UnmarshalError string

func (m UnmarshalError) Error() string { return string(m) }
