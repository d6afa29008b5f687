// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"

	"github.com/vecql/vecql"
)

// Sentinel errors have the texts that programs compare, and wrap those of vecql, so that errors.Is finds them by either
// name.

// A sentinel is a sentinel error that wraps one of vecql.
type sentinel struct {
	text string
	of   error
}

func (s *sentinel) Error() string { return s.text }
func (s *sentinel) Unwrap() error { return s.of }

// sentinels are the sentinels that wrap one of vecql.
var sentinels []*sentinel

func wrapping(of error, text string) error {
	s := &sentinel{text, of}
	sentinels = append(sentinels, s)
	return s
}

// Errors of sessions, requests and metadata.
var (
	ErrNotFound             = wrapping(vecql.ErrNotFound, "not found")
	ErrUnsupported          = wrapping(vecql.ErrUnsupported, "feature not supported")
	ErrTooManyStmts         = wrapping(vecql.ErrTooManyStmts, "too many statements")
	ErrUseStmt              = wrapping(vecql.ErrUseStmt, "use statements aren't supported")
	ErrSessionClosed        = wrapping(vecql.ErrSessionClosed, "session has been closed")
	ErrNoConnections        = wrapping(vecql.ErrNoConnections, "gocql: no hosts available in the pool")
	ErrNoKeyspace           = wrapping(vecql.ErrNoKeyspace, "no keyspace provided")
	ErrKeyspaceDoesNotExist = wrapping(vecql.ErrKeyspaceDoesNotExist, "keyspace does not exist")
	ErrNoMetadata           = wrapping(vecql.ErrNoMetadata, "no metadata available")
	ErrNoHosts              = wrapping(vecql.ErrNoHosts, "no hosts provided")
	ErrNoConnectionsStarted = wrapping(vecql.ErrNoConnectionsStarted,
		"no connections were made when creating the session")
	ErrTimeoutNoResponse = wrapping(vecql.ErrTimeoutNoResponse,
		"gocql: no response received from cassandra within timeout period")
	ErrConnectionClosed = wrapping(vecql.ErrConnectionClosed, "gocql: connection closed waiting for response")
	ErrNoStreams        = wrapping(vecql.ErrNoStreams, "gocql: no streams available on connection")
	ErrFrameTooBig      = wrapping(vecql.ErrFrameTooBig, "frame length is bigger than the maximum allowed")
)

// Errors that no verb returns.
var (
	ErrUnavailable       = errors.New("unavailable")
	ErrHostQueryFailed   = errors.New("unable to populate Hosts")
	ErrTooManyTimeouts   = errors.New("gocql: too many query timeouts on the connection")
	ErrQueryArgLength    = errors.New("gocql: query argument length mismatch")
	ErrCannotFindHost    = errors.New("cannot find host")
	ErrHostAlreadyExists = errors.New("host already exists")
	ErrUnknownRetryType  = errors.New("unknown retry type returned by retry policy")
	ErrorUDTUnavailable  = errors.New("user-defined types need version 3 of the protocol")
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
