// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"fmt"
	"net/netip"
	"strings"
)

// Errors of servers (native_protocol_v5.spec, section 8).

// A ServerError is an error that a server sent (ERROR). The types below embed it and have further fields. The driver
// returns pointers. errors.As finds a type by pointer and by value, and *ServerError in each of them; errors.Is finds
// the code.
type ServerError struct {
	Code    Code
	Message string // as the server sent it
}

func (e ServerError) Error() string { return "vecql: server: " + e.Code.Error() + ": " + e.Message }

// As stores the error in a target of type *ServerError or **ServerError, for errors.As.
func (e ServerError) As(target any) bool {
	to, ok := target.(**ServerError)
	if ok {
		*to = &e
	}
	return ok || copyTo(e, target)
}

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
func (e ServerError) Is(target error) bool { c, ok := target.(Code); return ok && c == e.Code }

// MayHaveApplied reports whether the server may have executed the request. For a single statement without a condition,
// servers send the codes listed here before they execute anything, except for a change of the schema that Cassandra 6
// has not completed in time: its code is CodeInvalid.
func (e ServerError) MayHaveApplied() bool {
	switch e.Code {
	case CodeInvalid:
		return isUnknownChange(e.Message)
	case CodeProtocol, CodeCredentials, CodeUnavailable, CodeOverloaded, CodeBootstrapping,
		CodeSyntax, CodeUnauthorized, CodeConfig, CodeAlreadyExists, CodeUnprepared:
		return false
	}
	return true
}

// isUnknownChange reports whether the message is of a change of the schema whose commit to the log of the cluster's
// metadata failed or timed out. Cassandra 6 answers every failure of the commit as an invalid request, with the message
// of the failure (Schema.submit, RemoteProcessor.commit, AbstractLocalProcessor.commit).
func isUnknownChange(message string) bool {
	for _, part := range []string{
		"TCM_COMMIT_REQ", "Could not perform commit after", "Could not commit SCHEMA_CHANGE", "Timed out waiting for follower",
	} {
		if strings.Contains(message, part) {
			return true
		}
	}
	return false
}

// An UnavailableError means that too few replicas were alive.
type UnavailableError struct {
	ServerError
	Consistency Consistency
	Required    int
	Alive       int
}

// As copies the error to a target of type *UnavailableError, for errors.As.
func (e UnavailableError) As(target any) bool { return copyTo(e, target) || e.ServerError.As(target) }

func (e UnavailableError) Error() string {
	return e.with("%v: %d replicas alive, %d required", e.Consistency, e.Alive, e.Required)
}

// A WriteTimeoutError means that too few replicas acknowledged a write in time. The write may still be applied.
type WriteTimeoutError struct {
	ServerError
	Consistency Consistency
	Received    int
	BlockFor    int
	WriteType   string // SIMPLE, BATCH, UNLOGGED_BATCH, COUNTER, BATCH_LOG, CAS, VIEW or CDC
	Contentions int    // v5, WriteType CAS only
}

// As copies the error to a target of type *WriteTimeoutError, for errors.As.
func (e WriteTimeoutError) As(target any) bool { return copyTo(e, target) || e.ServerError.As(target) }

func (e WriteTimeoutError) Error() string {
	return e.with("%s write at %v: %d of %d replicas acknowledged", e.WriteType, e.Consistency, e.Received, e.BlockFor)
}

// A ReadTimeoutError means that too few replicas answered a read in time.
type ReadTimeoutError struct {
	ServerError
	Consistency Consistency
	Received    int
	BlockFor    int
	DataPresent byte // 0 means that the replica that was to send the data did not answer
}

// As copies the error to a target of type *ReadTimeoutError, for errors.As.
func (e ReadTimeoutError) As(target any) bool { return copyTo(e, target) || e.ServerError.As(target) }

func (e ReadTimeoutError) Error() string {
	return e.with("%v: %d of %d replicas answered", e.Consistency, e.Received, e.BlockFor)
}

// A ReadFailureError means that replicas failed a read.
type ReadFailureError struct {
	ServerError
	Consistency Consistency
	Received    int
	BlockFor    int
	NumFailures int
	DataPresent bool
	ReasonMap   map[netip.Addr]uint16 // failure codes by replica; empty on v4
}

// As copies the error to a target of type *ReadFailureError, for errors.As.
func (e ReadFailureError) As(target any) bool { return copyTo(e, target) || e.ServerError.As(target) }

func (e ReadFailureError) Error() string {
	return e.with("%v: %d of %d replicas answered, %d failed", e.Consistency, e.Received, e.BlockFor, e.NumFailures)
}

// A WriteFailureError means that replicas failed a write.
type WriteFailureError struct {
	ServerError
	Consistency Consistency
	Received    int
	BlockFor    int
	NumFailures int
	WriteType   string
	ReasonMap   map[netip.Addr]uint16 // failure codes by replica; empty on v4
}

// As copies the error to a target of type *WriteFailureError, for errors.As.
func (e WriteFailureError) As(target any) bool { return copyTo(e, target) || e.ServerError.As(target) }

func (e WriteFailureError) Error() string {
	return e.with("%s write at %v: %d of %d replicas acknowledged, %d failed", e.WriteType, e.Consistency, e.Received,
		e.BlockFor, e.NumFailures)
}

// A FunctionFailureError means that a user-defined function failed.
type FunctionFailureError struct {
	ServerError
	Keyspace string
	Function string
	ArgTypes []string
}

// As copies the error to a target of type *FunctionFailureError, for errors.As.
func (e FunctionFailureError) As(target any) bool {
	return copyTo(e, target) || e.ServerError.As(target)
}

func (e FunctionFailureError) Error() string {
	return e.with("function %s.%s(%s)", e.Keyspace, e.Function, strings.Join(e.ArgTypes, ", "))
}

// A CDCWriteFailureError means that a write was refused because the CDC log is full.
type CDCWriteFailureError struct{ ServerError }

// As copies the error to a target of type *CDCWriteFailureError, for errors.As.
func (e CDCWriteFailureError) As(target any) bool {
	return copyTo(e, target) || e.ServerError.As(target)
}

// A CASWriteUnknownError means that the outcome of a lightweight transaction is unknown.
type CASWriteUnknownError struct {
	ServerError
	Consistency Consistency
	Received    int
	BlockFor    int
}

// As copies the error to a target of type *CASWriteUnknownError, for errors.As.
func (e CASWriteUnknownError) As(target any) bool {
	return copyTo(e, target) || e.ServerError.As(target)
}

func (e CASWriteUnknownError) Error() string {
	return e.with("%v: %d of %d replicas acknowledged", e.Consistency, e.Received, e.BlockFor)
}

// An AlreadyExistsError means that the keyspace already exists, or the table if Table is not empty.
type AlreadyExistsError struct {
	ServerError
	Keyspace string
	Table    string
}

// As copies the error to a target of type *AlreadyExistsError, for errors.As.
func (e AlreadyExistsError) As(target any) bool { return copyTo(e, target) || e.ServerError.As(target) }

// An UnpreparedError means that the node has no prepared statement of that id. The session prepares it again.
type UnpreparedError struct {
	ServerError
	StatementID []byte
}

// As copies the error to a target of type *UnpreparedError, for errors.As.
func (e UnpreparedError) As(target any) bool { return copyTo(e, target) || e.ServerError.As(target) }

// A RateLimitError means that a request exceeded ScyllaDB's per-partition rate limit.
type RateLimitError struct {
	ServerError
	OpType                byte // 0 read, 1 write
	RejectedByCoordinator bool
}

// As copies the error to a target of type *RateLimitError, for errors.As.
func (e RateLimitError) As(target any) bool { return copyTo(e, target) || e.ServerError.As(target) }

func (e RateLimitError) Error() string {
	what, by := "read", "a replica"
	if e.OpType == 1 {
		what = "write"
	}
	if e.RejectedByCoordinator {
		by = "the coordinator"
	}
	return fmt.Sprintf("vecql: server: rate limit: %s (%s rejected by %s)", e.Message, what, by)
}

// MayHaveApplied reports whether a replica may have executed the request.
func (e RateLimitError) MayHaveApplied() bool { return !e.RejectedByCoordinator }

// A ProtocolError means that the server violated the native protocol. A connection whose frames cannot be read is
// closed.
type ProtocolError struct {
	Message string
	Err     error // nil means none
}

func (e *ProtocolError) Error() string {
	if e.Err != nil {
		return "vecql: protocol: " + e.Message + ": " + strings.TrimPrefix(e.Err.Error(), "vecql: ")
	}
	return "vecql: protocol: " + e.Message
}

// Unwrap returns Err.
func (e *ProtocolError) Unwrap() error { return e.Err }
