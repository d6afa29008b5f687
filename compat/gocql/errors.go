// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
)

// Errors. A verb returns the sentinels below as they are, and the errors of servers as pointers to the RequestErr
// types, so that ==, type switches, errors.Is and errors.As find them.

// A sentinel is a sentinel error with the text that programs compare. It wraps that of vecql.
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

// The sentinel errors that verbs return.
var (
	ErrNoHosts              = wrapping(vecql.ErrNoHosts, "no hosts provided")
	ErrNoConnectionsStarted = wrapping(vecql.ErrNoConnectionsStarted,
		"no connections were made when creating the session")
	ErrQueryArgLength    = wrapping(vecql.ErrValueCount, "gocql: query argument length mismatch")
	ErrTimeoutNoResponse = wrapping(vecql.ErrTimeoutNoResponse,
		"gocql: no response received from cassandra within timeout period")
	ErrConnectionClosed     = wrapping(vecql.ErrConnectionClosed, "gocql: connection closed waiting for response")
	ErrNoStreams            = wrapping(vecql.ErrNoStreams, "gocql: no streams available on connection")
	ErrNotFound             = wrapping(vecql.ErrNotFound, "not found")
	ErrUnsupported          = wrapping(vecql.ErrUnsupported, "feature not supported")
	ErrTooManyStmts         = wrapping(vecql.ErrTooManyStmts, "too many statements")
	ErrUseStmt              = wrapping(vecql.ErrUseStmt, "use statements aren't supported")
	ErrSessionClosed        = wrapping(vecql.ErrSessionClosed, "session has been closed")
	ErrNoConnections        = wrapping(vecql.ErrNoConnections, "gocql: no hosts available in the pool")
	ErrNoKeyspace           = wrapping(vecql.ErrNoKeyspace, "no keyspace provided")
	ErrKeyspaceDoesNotExist = wrapping(vecql.ErrKeyspaceDoesNotExist, "keyspace does not exist")
	ErrNoMetadata           = wrapping(vecql.ErrNoMetadata, "no metadata available")
	ErrFrameTooBig          = wrapping(vecql.ErrFrameTooBig, "frame length is bigger than the maximum allowed")
	ErrUnknownRetryType     = errors.New("unknown retry type returned by retry policy")
)

// Sentinel errors that no verb returns.
var (
	ErrHostQueryFailed   = errors.New("unable to populate Hosts")
	ErrTooManyTimeouts   = errors.New("gocql: too many query timeouts on the connection")
	ErrUnavailable       = errors.New("unavailable")
	ErrCannotFindHost    = errors.New("cannot find host")
	ErrHostAlreadyExists = errors.New("host already exists")
	ErrorUDTUnavailable  = errors.New("user-defined types need version 3 of the protocol")
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

// A RequestError is an error that a server sent.
type RequestError interface {
	// Code returns one of the ErrCode constants.
	Code() int
	// Message returns the text that the server sent.
	Message() string
	Error() string
}

// An Error is an error code with a text. No verb returns it.
type Error struct {
	Code    int
	Message string
}

func (e Error) Error() string { return e.Message }

// An ErrProtocol means that a response violates the protocol.
type ErrProtocol struct{ error }

// NewErrProtocol returns an ErrProtocol with that text.
func NewErrProtocol(format string, args ...any) error {
	return ErrProtocol{fmt.Errorf(format, args...)}
}

// errorFrame is a RequestError without further fields.
type errorFrame struct {
	frameHeader
	code    int
	message string
}

// Code implements RequestError.
func (e errorFrame) Code() int { return e.code }

// Message implements RequestError.
func (e errorFrame) Message() string { return e.message }

func (e errorFrame) Error() string { return e.message }

// String returns the code and the message.
func (e errorFrame) String() string {
	return fmt.Sprintf("[error code=%x message=%q]", e.code, e.message)
}

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

// An ErrorMap maps the address of each replica that failed to its failure code.
type ErrorMap map[string]uint16

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

// A programError is an error that code of the program returned: a Marshaler, an Unmarshaler, a function that binds
// values. Verbs return it as it is.
type programError struct{ error }

func (e *programError) Unwrap() error { return e.error }

// fromProgram returns err as an error of the program, nil for nil.
func fromProgram(err error) error {
	if err == nil {
		return nil
	}
	return &programError{err}
}

// plain returns the error that this API has for an error of vecql.
func plain(err error) error {
	if err == nil {
		return nil
	}
	var own *programError
	if errors.As(err, &own) {
		return own.error
	}
	err = compat.Error(err)
	for _, s := range sentinels {
		if s.of == err { //nolint:errorlint // compat.Error returns it unwrapped
			return s
		}
	}
	var server vecql.RequestError
	var marshal *vecql.MarshalError
	var unmarshal *vecql.UnmarshalError
	var protocol *vecql.ProtocolError
	switch {
	case errors.As(err, &server):
		return requestError(server)
	case errors.As(err, &marshal):
		return MarshalError(err.Error())
	case errors.As(err, &unmarshal):
		return UnmarshalError(err.Error())
	case errors.As(err, &protocol):
		return ErrProtocol{err}
	}
	return err
}

// requestError returns the RequestError of this API. A code without a type of its own is an errorFrame.
func requestError(err vecql.RequestError) error {
	f := errorFrame{frameHeader{op: opError}, err.Code(), err.Message()}
	switch e := any(err).(type) { // it is not wrapped
	case *vecql.RequestErrUnavailable:
		return &RequestErrUnavailable{f, Consistency(e.Consistency), e.Required, e.Alive}
	case *vecql.RequestErrWriteTimeout:
		return &RequestErrWriteTimeout{f, Consistency(e.Consistency), e.Received, e.BlockFor, e.WriteType}
	case *vecql.RequestErrReadTimeout:
		return &RequestErrReadTimeout{f, Consistency(e.Consistency), e.Received, e.BlockFor, e.DataPresent}
	case *vecql.RequestErrReadFailure:
		return &RequestErrReadFailure{
			f, Consistency(e.Consistency), e.Received, e.BlockFor, e.NumFailures, e.DataPresent, errorMap(e.ErrorMap),
		}
	case *vecql.RequestErrWriteFailure:
		return &RequestErrWriteFailure{
			f, Consistency(e.Consistency), e.Received, e.BlockFor, e.NumFailures, e.WriteType, errorMap(e.ErrorMap),
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

func errorMap(m vecql.ErrorMap) ErrorMap {
	if m == nil {
		return nil
	}
	out := make(ErrorMap, len(m))
	for addr, code := range m {
		out[addr.String()] = code
	}
	return out
}
