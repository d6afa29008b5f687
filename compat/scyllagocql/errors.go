// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"

	"github.com/gocql/gocql/internal/frame"
	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// Errors. A verb wraps the error of a request that was sent in a QueryError; errors.Is and errors.As find the sentinels
// below and the pointers to the RequestErr types in it. Errors of a session that is closed or has no node
// are returned as they are.

// An Error is an error code with a text. No verb returns it.
type Error struct {
	Message string
	Code    int
}

func (e Error) Error() string { return e.Message }

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

// A QueryError is the error of a request that was sent, or failed before: by its values or its context.
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

// sentError returns the error of this API for the error of a request. A request whose context has ended counts as
// executed, even if it was not sent.
func sentError(err error, idempotent bool) error {
	var failure *vecql.RequestFailure
	if sent := errors.As(err, &failure) && failure.Attempts > 0; !sent && !api.IsUnsent(err) {
		return plain(err)
	}
	return &QueryError{
		err: plain(err), potentiallyExecuted: vecql.MayHaveApplied(err) || api.HasEnded(err), isIdempotent: idempotent,
	}
}

// attemptError returns the error of an attempt for an observer: an error of a connection or a context in a
// QueryError, as connections of the API return it, others as they are.
func attemptError(err error) error {
	if !errors.Is(err, vecql.ErrConnectionClosed) && !errors.Is(err, vecql.ErrTimeoutNoResponse) && !api.HasEnded(err) {
		return plain(err)
	}
	return &QueryError{err: plain(err), potentiallyExecuted: !api.IsUnsent(err)}
}

// known are the errors of this API for vecql's errors.
var known = api.Errors{
	Server:    requestError,
	Marshal:   func(text string, cause error) error { return MarshalError{msg: text, cause: cause} },
	Unmarshal: func(text string, cause error) error { return UnmarshalError{msg: text, cause: cause} },
}

// plain returns the error that this API has for an error of vecql, without a QueryError.
func plain(err error) error { return known.Plain(err) }

// requestError returns the error of this API for an error of a server. A code without a type of its own is an
// ErrorFrame, or an UnknownServerError if the protocol does not have it.
func requestError(err error) error {
	var base *cql.ServerError
	errors.As(err, &base)
	f := frame.ErrorFrame{FrameHeader: frame.FrameHeader{Op: frame.OpError}, Code: int(base.Code), Message: base.Message}
	switch e := err.(type) { //nolint:errorlint // it is not wrapped
	case *cql.UnavailableError:
		return &RequestErrUnavailable{f, e.Consistency, e.Required, e.Alive}
	case *cql.WriteTimeoutError:
		return &RequestErrWriteTimeout{e.WriteType, f, e.Received, e.BlockFor, e.Consistency}
	case *cql.ReadTimeoutError:
		return &RequestErrReadTimeout{f, e.Received, e.BlockFor, e.Consistency, e.DataPresent}
	case *cql.ReadFailureError:
		return &RequestErrReadFailure{
			api.NewErrorMap(e.ReasonMap), f, e.Received, e.BlockFor, e.NumFailures, e.Consistency, e.DataPresent,
		}
	case *cql.WriteFailureError:
		return &RequestErrWriteFailure{
			api.NewErrorMap(e.ReasonMap), e.WriteType, f, e.Received, e.BlockFor, e.NumFailures, e.Consistency,
		}
	case *cql.FunctionFailureError:
		return &RequestErrFunctionFailure{e.Keyspace, e.Function, e.ArgTypes, f}
	case *cql.CDCWriteFailureError:
		return &RequestErrCDCWriteFailure{f}
	case *cql.CASWriteUnknownError:
		return &RequestErrCASWriteUnknown{f, e.Consistency, e.Received, e.BlockFor}
	case *cql.AlreadyExistsError:
		return &RequestErrAlreadyExists{e.Keyspace, e.Table, f}
	case *cql.UnpreparedError:
		return &RequestErrUnprepared{e.StatementID, f}
	case *cql.RateLimitError:
		return &RequestErrRateLimitReached{f, OpType(e.OpType), e.RejectedByCoordinator}
	}
	if !base.Code.IsStandard() {
		return &UnknownServerError{f}
	}
	return f
}
