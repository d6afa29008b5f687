// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Errors. A verb returns the sentinels below as they are, and the errors of servers as pointers to the RequestErr
// types, so that ==, type switches, errors.Is and errors.As find them.

// The sentinel errors that verbs return.
var (
	ErrNoHosts              = api.ErrNoHosts
	ErrNoConnectionsStarted = api.ErrNoConnectionsStarted
	ErrQueryArgLength       = api.ErrQueryArgLength
	ErrTimeoutNoResponse    = api.ErrTimeoutNoResponse
	ErrConnectionClosed     = api.ErrConnectionClosed
	ErrNoStreams            = api.ErrNoStreams
	ErrNotFound             = api.ErrNotFound
	ErrUnsupported          = api.ErrUnsupported
	ErrTooManyStmts         = api.ErrTooManyStmts
	ErrUseStmt              = api.ErrUseStmt
	ErrSessionClosed        = api.ErrSessionClosed
	ErrNoConnections        = api.ErrNoConnections
	ErrNoKeyspace           = api.ErrNoKeyspace
	ErrKeyspaceDoesNotExist = api.ErrKeyspaceDoesNotExist
	ErrNoMetadata           = api.ErrNoMetadata
	ErrFrameTooBig          = api.ErrFrameTooBig
	ErrUnknownRetryType     = api.ErrUnknownRetryType
)

// Sentinel errors that no verb returns.
var (
	ErrHostQueryFailed   = api.ErrHostQueryFailed
	ErrTooManyTimeouts   = api.ErrTooManyTimeouts
	ErrUnavailable       = api.ErrUnavailable
	ErrCannotFindHost    = api.ErrCannotFindHost
	ErrHostAlreadyExists = api.ErrHostAlreadyExists
	ErrorUDTUnavailable  = api.ErrorUDTUnavailable
)

// The error codes of the protocol.
const (
	ErrCodeServer          = 0x0000
	ErrCodeProtocol        = 0x000A
	ErrCodeCredentials     = 0x0100
	ErrCodeUnavailable     = 0x1000
	ErrCodeOverloaded      = 0x1001
	ErrCodeBootstrapping   = 0x1002
	ErrCodeTruncate        = 0x1003
	ErrCodeWriteTimeout    = 0x1100
	ErrCodeReadTimeout     = 0x1200
	ErrCodeReadFailure     = 0x1300
	ErrCodeFunctionFailure = 0x1400
	ErrCodeWriteFailure    = 0x1500
	ErrCodeCDCWriteFailure = 0x1600
	ErrCodeCASWriteUnknown = 0x1700
	ErrCodeSyntax          = 0x2000
	ErrCodeUnauthorized    = 0x2100
	ErrCodeInvalid         = 0x2200
	ErrCodeConfig          = 0x2300
	ErrCodeAlreadyExists   = 0x2400
	ErrCodeUnprepared      = 0x2500
)

type (
	// A RequestError is an error that a server sent.
	RequestError = api.RequestError
	// An ErrProtocol means that a response violates the protocol.
	ErrProtocol = api.ErrProtocol
	// An ErrorMap maps the address of each replica that failed to its failure code.
	ErrorMap = api.ErrorMap

	errorFrame = api.ErrorFrame
)

// NewErrProtocol returns an ErrProtocol with that text.
func NewErrProtocol(format string, args ...any) error { return api.NewErrProtocol(format, args...) }

// An Error is an error code with a text. No verb returns it.
type Error struct {
	Code    int
	Message string
}

func (e Error) Error() string { return e.Message }

// A RequestErrUnavailable means that too few replicas were alive.
type RequestErrUnavailable struct {
	errorFrame
	Consistency Consistency
	Required    int
	Alive       int
}

// String returns the fields.
func (e *RequestErrUnavailable) String() string {
	return fmt.Sprintf("[request_error_unavailable consistency=%s required=%d alive=%d]", e.Consistency, e.Required,
		e.Alive)
}

// A RequestErrWriteTimeout means that too few replicas acknowledged a write in time.
type RequestErrWriteTimeout struct {
	errorFrame
	Consistency Consistency
	Received    int
	BlockFor    int
	WriteType   string
}

// A RequestErrWriteFailure means that replicas failed a write.
type RequestErrWriteFailure struct {
	errorFrame
	Consistency Consistency
	Received    int
	BlockFor    int
	NumFailures int
	WriteType   string
	ErrorMap    ErrorMap
}

// A RequestErrCDCWriteFailure means that a write was refused because the CDC log is full.
type RequestErrCDCWriteFailure struct{ errorFrame }

// A RequestErrReadTimeout means that too few replicas answered a read in time.
type RequestErrReadTimeout struct {
	errorFrame
	Consistency Consistency
	Received    int
	BlockFor    int
	DataPresent byte
}

// A RequestErrAlreadyExists means that a keyspace or a table exists already.
type RequestErrAlreadyExists struct {
	errorFrame
	Keyspace string
	Table    string
}

// A RequestErrUnprepared means that the node does not have a prepared statement.
type RequestErrUnprepared struct {
	errorFrame
	StatementId []byte
}

// A RequestErrReadFailure means that replicas failed a read.
type RequestErrReadFailure struct {
	errorFrame
	Consistency Consistency
	Received    int
	BlockFor    int
	NumFailures int
	DataPresent bool
	ErrorMap    ErrorMap
}

// A RequestErrFunctionFailure means that a user-defined function failed.
type RequestErrFunctionFailure struct {
	errorFrame
	Keyspace string
	Function string
	ArgTypes []string
}

// A RequestErrCASWriteUnknown means that the outcome of a conditional statement is unknown.
type RequestErrCASWriteUnknown struct {
	errorFrame
	Consistency Consistency
	Received    int
	BlockFor    int
}

// known are the errors of this API for those of vecql.
var known = api.Errors{
	Server:    requestError,
	Marshal:   func(text string, _ error) error { return MarshalError(text) },
	Unmarshal: func(text string, _ error) error { return UnmarshalError(text) },
}

// plain returns the error that this API has for an error of vecql.
func plain(err error) error { return known.Plain(err) }

// requestError returns the RequestError of this API. A code without a type of its own is an errorFrame.
func requestError(err vecql.RequestError) error {
	f := api.NewErrorFrame(err)
	switch e := any(err).(type) { // it is not wrapped
	case *vecql.RequestErrUnavailable:
		return &RequestErrUnavailable{f, Consistency(e.Consistency), e.Required, e.Alive}
	case *vecql.RequestErrWriteTimeout:
		return &RequestErrWriteTimeout{f, Consistency(e.Consistency), e.Received, e.BlockFor, e.WriteType}
	case *vecql.RequestErrReadTimeout:
		return &RequestErrReadTimeout{f, Consistency(e.Consistency), e.Received, e.BlockFor, e.DataPresent}
	case *vecql.RequestErrReadFailure:
		return &RequestErrReadFailure{
			f, Consistency(e.Consistency), e.Received, e.BlockFor, e.NumFailures, e.DataPresent, api.NewErrorMap(e.ErrorMap),
		}
	case *vecql.RequestErrWriteFailure:
		return &RequestErrWriteFailure{
			f, Consistency(e.Consistency), e.Received, e.BlockFor, e.NumFailures, e.WriteType, api.NewErrorMap(e.ErrorMap),
		}
	case *vecql.RequestErrFunctionFailure:
		return &RequestErrFunctionFailure{f, e.Keyspace, e.Function, e.ArgTypes}
	case *vecql.RequestErrCDCWriteFailure:
		return &RequestErrCDCWriteFailure{f}
	case *vecql.RequestErrCASWriteUnknown:
		return &RequestErrCASWriteUnknown{f, Consistency(e.Consistency), e.Received, e.BlockFor}
	case *vecql.RequestErrAlreadyExists:
		return &RequestErrAlreadyExists{f, e.Keyspace, e.Table}
	case *vecql.RequestErrUnprepared:
		return &RequestErrUnprepared{f, e.StatementId}
	}
	return f
}
