// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"

	"github.com/gocql/gocql/internal/frame"
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
	"github.com/vecql/vecql/cql"
)

// Errors. A verb wraps the error of a request that was sent in a QueryError; errors.Is and errors.As find the sentinels
// below and the pointers to the RequestErr types in it. Errors before the first attempt are returned as they are.

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
	ErrNoTable              = errors.New("no table name provided")
	ErrSessionNotReady      = errors.New("session is not ready yet")
	ErrTabletsNotUsed       = errors.New("tablets not used")
	ErrUnknownRetryType     = errors.New("unknown retry type returned by retry policy")
)

// Sentinel errors that no verb returns.
var (
	ErrHostQueryFailed     = errors.New("unable to populate Hosts")
	ErrTooManyTimeouts     = errors.New("gocql: too many query timeouts on the connection")
	ErrUnavailable         = errors.New("unavailable")
	ErrCannotFindHost      = errors.New("cannot find host")
	ErrHostAlreadyExists   = errors.New("host already exists")
	ErrHostDown            = errors.New("gocql: host is nil or down")
	ErrNoPool              = errors.New("gocql: host does not have a pool")
	ErrNoConnectionsInPool = errors.New("gocql: host pool does not have connections")
	ErrReadHeaderTimeout   = errors.New("unable to read frame header")
	ErrorUDTUnavailable    = errors.New("user-defined types need version 3 of the protocol")
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
	Message string
	Code    int
}

func (e Error) Error() string { return e.Message }

// An ErrProtocol means that a response violates the protocol.
type ErrProtocol struct{ error }

// NewErrProtocol returns an ErrProtocol with that text.
func NewErrProtocol(format string, args ...any) error {
	return ErrProtocol{fmt.Errorf(format, args...)}
}

// A RequestErrUnavailable means that too few replicas were alive.
type RequestErrUnavailable struct {
	frame.ErrorFrame
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
	WriteType string
	frame.ErrorFrame
	Received    int
	BlockFor    int
	Consistency Consistency
}

// A RequestErrWriteFailure means that replicas failed a write.
type RequestErrWriteFailure struct {
	ErrorMap  ErrorMap
	WriteType string
	frame.ErrorFrame
	Received    int
	BlockFor    int
	NumFailures int
	Consistency Consistency
}

// A RequestErrCDCWriteFailure means that a write was refused because the CDC log is full.
type RequestErrCDCWriteFailure struct{ frame.ErrorFrame }

// A RequestErrReadTimeout means that too few replicas answered a read in time.
type RequestErrReadTimeout struct {
	frame.ErrorFrame
	Received    int
	BlockFor    int
	Consistency Consistency
	DataPresent byte
}

// A RequestErrAlreadyExists means that a keyspace or a table exists already.
type RequestErrAlreadyExists struct {
	Keyspace string
	Table    string
	frame.ErrorFrame
}

// A RequestErrUnprepared means that the node does not have a prepared statement.
type RequestErrUnprepared struct {
	StatementId []byte
	frame.ErrorFrame
}

// A RequestErrReadFailure means that replicas failed a read.
type RequestErrReadFailure struct {
	ErrorMap ErrorMap
	frame.ErrorFrame
	Received    int
	BlockFor    int
	NumFailures int
	Consistency Consistency
	DataPresent bool
}

// A RequestErrFunctionFailure means that a user-defined function failed.
type RequestErrFunctionFailure struct {
	Keyspace string
	Function string
	ArgTypes []string
	frame.ErrorFrame
}

// A RequestErrCASWriteUnknown means that the outcome of a conditional statement is unknown.
type RequestErrCASWriteUnknown struct {
	frame.ErrorFrame
	Consistency Consistency
	Received    int
	BlockFor    int
}

// An OpType is the kind of a request that a rate limit refused.
type OpType uint8

// The kinds.
const (
	OpTypeRead  OpType = 0
	OpTypeWrite OpType = 1
)

// A RequestErrRateLimitReached means that the rate limit of a partition refused a request.
type RequestErrRateLimitReached struct {
	frame.ErrorFrame
	OpType                OpType
	RejectedByCoordinator bool
}

// String returns the fields.
func (e *RequestErrRateLimitReached) String() string {
	op := "Other"
	switch e.OpType {
	case OpTypeRead:
		op = "Read"
	case OpTypeWrite:
		op = "Write"
	}
	return fmt.Sprintf("[request_error_rate_limit_reached OpType=%s RejectedByCoordinator=%t]", op, e.RejectedByCoordinator)
}

// An UnknownServerError is an error of a server with a code that this API does not have.
type UnknownServerError struct{ frame.ErrorFrame }

// An ErrSchemaMismatch means that nodes have different schemas.
type ErrSchemaMismatch struct {
	err error
	_   []string // not comparable, as in gocql
}

func (e *ErrSchemaMismatch) Error() string { return e.err.Error() }

// A QueryError is the error of a request that was sent.
type QueryError struct {
	err                 error
	potentiallyExecuted bool
	isIdempotent        bool
}

// IsIdempotent reports whether the request was idempotent.
func (e *QueryError) IsIdempotent() bool { return e.isIdempotent }

// PotentiallyExecuted reports whether a server may have executed the request.
func (e *QueryError) PotentiallyExecuted() bool { return e.potentiallyExecuted }

func (e *QueryError) Error() string {
	return fmt.Sprintf("%s (potentially executed: %v)", e.err, e.potentiallyExecuted)
}

// Unwrap returns the error of the last attempt.
func (e *QueryError) Unwrap() error { return e.err }

// sentError returns the error of this API for the error of a request.
func sentError(err error, idempotent bool) error {
	var failure *vecql.RequestFailure
	if !errors.As(err, &failure) || failure.Attempts == 0 {
		return plain(err)
	}
	return &QueryError{err: plain(err), potentiallyExecuted: vecql.MayHaveApplied(err), isIdempotent: idempotent}
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

// plain returns the error that this API has for an error of vecql, without a QueryError.
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
		return MarshalError{msg: err.Error(), cause: marshal.Err}
	case errors.As(err, &unmarshal):
		return UnmarshalError{msg: err.Error(), cause: unmarshal.Err}
	case errors.As(err, &protocol):
		return ErrProtocol{err}
	}
	return err
}

// requestError returns the error of this API for an error of a server. A code without a type of its own is an
// ErrorFrame, or an UnknownServerError if the protocol does not have it.
func requestError(err vecql.RequestError) error {
	f := frame.ErrorFrame{FrameHeader: frame.FrameHeader{Op: frame.OpError}, Code: err.Code(), Message: err.Message()}
	switch e := any(err).(type) { // it is not wrapped
	case *vecql.RequestErrUnavailable:
		return &RequestErrUnavailable{f, Consistency(e.Consistency), e.Required, e.Alive}
	case *vecql.RequestErrWriteTimeout:
		return &RequestErrWriteTimeout{e.WriteType, f, e.Received, e.BlockFor, Consistency(e.Consistency)}
	case *vecql.RequestErrReadTimeout:
		return &RequestErrReadTimeout{f, e.Received, e.BlockFor, Consistency(e.Consistency), e.DataPresent}
	case *vecql.RequestErrReadFailure:
		return &RequestErrReadFailure{
			errorMap(e.ErrorMap), f, e.Received, e.BlockFor, e.NumFailures, Consistency(e.Consistency), e.DataPresent,
		}
	case *vecql.RequestErrWriteFailure:
		return &RequestErrWriteFailure{
			errorMap(e.ErrorMap), e.WriteType, f, e.Received, e.BlockFor, e.NumFailures, Consistency(e.Consistency),
		}
	case *vecql.RequestErrFunctionFailure:
		return &RequestErrFunctionFailure{e.Keyspace, e.Function, e.ArgTypes, f}
	case *vecql.RequestErrCDCWriteFailure:
		return &RequestErrCDCWriteFailure{f}
	case *vecql.RequestErrCASWriteUnknown:
		return &RequestErrCASWriteUnknown{f, Consistency(e.Consistency), e.Received, e.BlockFor}
	case *vecql.RequestErrAlreadyExists:
		return &RequestErrAlreadyExists{e.Keyspace, e.Table, f}
	case *vecql.RequestErrUnprepared:
		return &RequestErrUnprepared{e.StatementId, f}
	case *vecql.RequestErrRateLimitReached:
		return &RequestErrRateLimitReached{f, OpType(e.OpType), e.RejectedByCoordinator}
	}
	if !cql.Code(err.Code()).IsStandard() {
		return &UnknownServerError{f}
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
