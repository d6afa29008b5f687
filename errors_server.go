// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/vecql/vecql/cql"
)

// Errors that a server reports (native_protocol_v5.spec, section 8).

// A RequestError is an error that a server sent: a *ServerError or one of the *RequestErr types, which have further
// fields. The driver returns pointers. errors.As finds the type by pointer and by value: a target of type
// **RequestErrUnavailable receives the pointer, and one of type *RequestErrUnavailable a copy.
type RequestError interface {
	error
	Code() int       // see Code
	Message() string // as the server sent it
}

// A ServerError is a RequestError without further fields. All other RequestErrors embed it.
type ServerError struct {
	code    cql.Code
	message string
}

// Code returns the error code.
func (e ServerError) Code() int { return int(e.code) }

// Message returns the message that the server sent.
func (e ServerError) Message() string { return e.message }

func (e ServerError) Error() string { return "vecql: server: " + e.code.Error() + ": " + e.message }

// As copies the error to a target of type *ServerError, for errors.As.
func (e ServerError) As(target any) bool { return copyTo(e, target) }

// copyTo copies e to target if target is an *E.
func copyTo[E error](e E, target any) bool {
	to, ok := target.(*E)
	if ok {
		*to = e
	}
	return ok
}

// with returns the text of the error with details that messages of servers may lack.
func (e ServerError) with(format string, args ...any) string {
	return e.Error() + " (" + fmt.Sprintf(format, args...) + ")"
}

// Is reports whether target is e's Code.
func (e ServerError) Is(target error) bool { c, ok := target.(cql.Code); return ok && c == e.code }

// mayHaveApplied reports whether the request may have been executed. For a single statement without a condition,
// servers send the codes listed here before they execute anything.
func (e ServerError) mayHaveApplied() bool {
	switch e.code {
	case cql.CodeProtocol, cql.CodeCredentials, cql.CodeUnavailable, cql.CodeOverloaded, cql.CodeBootstrapping,
		cql.CodeSyntax, cql.CodeUnauthorized, cql.CodeInvalid, cql.CodeConfig, cql.CodeAlreadyExists, cql.CodeUnprepared:
		return false
	}
	return true
}

// A RequestErrUnavailable means that too few replicas were alive.
type RequestErrUnavailable struct {
	ServerError
	Consistency cql.Consistency
	Required    int
	Alive       int
}

// As copies the error to a target of type *RequestErrUnavailable, for errors.As.
func (e RequestErrUnavailable) As(target any) bool { return copyTo(e, target) }

func (e RequestErrUnavailable) Error() string {
	return e.with("%v: %d replicas alive, %d required", e.Consistency, e.Alive, e.Required)
}

// A RequestErrWriteTimeout means that too few replicas acknowledged a write in time. The write may still be applied.
type RequestErrWriteTimeout struct {
	ServerError
	Consistency cql.Consistency
	Received    int
	BlockFor    int
	WriteType   string // SIMPLE, BATCH, UNLOGGED_BATCH, COUNTER, BATCH_LOG, CAS, VIEW or CDC
	Contentions int    // v5, WriteType CAS only
}

// As copies the error to a target of type *RequestErrWriteTimeout, for errors.As.
func (e RequestErrWriteTimeout) As(target any) bool { return copyTo(e, target) }

func (e RequestErrWriteTimeout) Error() string {
	return e.with("%s write at %v: %d of %d replicas acknowledged", e.WriteType, e.Consistency, e.Received, e.BlockFor)
}

// A RequestErrReadTimeout means that too few replicas answered a read in time.
type RequestErrReadTimeout struct {
	ServerError
	Consistency cql.Consistency
	Received    int
	BlockFor    int
	DataPresent byte // 0 means that the replica that was to send the data did not answer
}

// As copies the error to a target of type *RequestErrReadTimeout, for errors.As.
func (e RequestErrReadTimeout) As(target any) bool { return copyTo(e, target) }

func (e RequestErrReadTimeout) Error() string {
	return e.with("%v: %d of %d replicas answered", e.Consistency, e.Received, e.BlockFor)
}

// An ErrorMap maps each replica that failed to its failure code. It is empty on v4, which has only the number of
// failures.
type ErrorMap map[netip.Addr]uint16

// A RequestErrReadFailure means that replicas failed a read.
type RequestErrReadFailure struct {
	ServerError
	Consistency cql.Consistency
	Received    int
	BlockFor    int
	NumFailures int
	DataPresent bool
	ErrorMap    ErrorMap
}

// As copies the error to a target of type *RequestErrReadFailure, for errors.As.
func (e RequestErrReadFailure) As(target any) bool { return copyTo(e, target) }

func (e RequestErrReadFailure) Error() string {
	return e.with("%v: %d of %d replicas answered, %d failed", e.Consistency, e.Received, e.BlockFor, e.NumFailures)
}

// A RequestErrWriteFailure means that replicas failed a write.
type RequestErrWriteFailure struct {
	ServerError
	Consistency cql.Consistency
	Received    int
	BlockFor    int
	NumFailures int
	WriteType   string
	ErrorMap    ErrorMap
}

// As copies the error to a target of type *RequestErrWriteFailure, for errors.As.
func (e RequestErrWriteFailure) As(target any) bool { return copyTo(e, target) }

func (e RequestErrWriteFailure) Error() string {
	return e.with("%s write at %v: %d of %d replicas acknowledged, %d failed", e.WriteType, e.Consistency, e.Received,
		e.BlockFor, e.NumFailures)
}

// A RequestErrFunctionFailure means that a user-defined function failed.
type RequestErrFunctionFailure struct {
	ServerError
	Keyspace string
	Function string
	ArgTypes []string
}

// As copies the error to a target of type *RequestErrFunctionFailure, for errors.As.
func (e RequestErrFunctionFailure) As(target any) bool { return copyTo(e, target) }

func (e RequestErrFunctionFailure) Error() string {
	return e.with("function %s.%s(%s)", e.Keyspace, e.Function, strings.Join(e.ArgTypes, ", "))
}

// A RequestErrCDCWriteFailure means that a write was refused because the CDC log is full.
type RequestErrCDCWriteFailure struct{ ServerError }

// As copies the error to a target of type *RequestErrCDCWriteFailure, for errors.As.
func (e RequestErrCDCWriteFailure) As(target any) bool { return copyTo(e, target) }

// A RequestErrCASWriteUnknown means that the outcome of a lightweight transaction is unknown.
type RequestErrCASWriteUnknown struct {
	ServerError
	Consistency cql.Consistency
	Received    int
	BlockFor    int
}

// As copies the error to a target of type *RequestErrCASWriteUnknown, for errors.As.
func (e RequestErrCASWriteUnknown) As(target any) bool { return copyTo(e, target) }

func (e RequestErrCASWriteUnknown) Error() string {
	return e.with("%v: %d of %d replicas acknowledged", e.Consistency, e.Received, e.BlockFor)
}

// A RequestErrAlreadyExists means that the keyspace already exists, or the table if Table is not empty.
type RequestErrAlreadyExists struct {
	ServerError
	Keyspace string
	Table    string
}

// As copies the error to a target of type *RequestErrAlreadyExists, for errors.As.
func (e RequestErrAlreadyExists) As(target any) bool { return copyTo(e, target) }

// A RequestErrUnprepared means that the node has no prepared statement of that id. The session prepares it again.
type RequestErrUnprepared struct {
	ServerError
	StatementId []byte
}

// As copies the error to a target of type *RequestErrUnprepared, for errors.As.
func (e RequestErrUnprepared) As(target any) bool { return copyTo(e, target) }

// A RequestErrRateLimitReached means that a request exceeded ScyllaDB's per-partition rate limit.
type RequestErrRateLimitReached struct {
	ServerError
	OpType                byte // 0 read, 1 write
	RejectedByCoordinator bool
}

// As copies the error to a target of type *RequestErrRateLimitReached, for errors.As.
func (e RequestErrRateLimitReached) As(target any) bool { return copyTo(e, target) }

func (e RequestErrRateLimitReached) Error() string {
	what, by := "read", "a replica"
	if e.OpType == 1 {
		what = "write"
	}
	if e.RejectedByCoordinator {
		by = "the coordinator"
	}
	return fmt.Sprintf("vecql: server: rate limit: %s (%s rejected by %s)", e.message, what, by)
}

func (e RequestErrRateLimitReached) mayHaveApplied() bool { return !e.RejectedByCoordinator }
