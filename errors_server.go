// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"net/netip"
)

// This file holds the errors that a server reports (native_protocol_v5.spec, section 8).

// Code is the error code of an ERROR frame. It is itself an error, so that errors.Is(err, CodeUnavailable) asks for it.
type Code int32

// The error codes of native_protocol_v5.spec, section 8.
const (
	CodeServer          Code = 0x0000
	CodeProtocol        Code = 0x000A
	CodeCredentials     Code = 0x0100
	CodeUnavailable     Code = 0x1000
	CodeOverloaded      Code = 0x1001
	CodeBootstrapping   Code = 0x1002
	CodeTruncate        Code = 0x1003
	CodeWriteTimeout    Code = 0x1100
	CodeReadTimeout     Code = 0x1200
	CodeReadFailure     Code = 0x1300
	CodeFunctionFailure Code = 0x1400
	CodeWriteFailure    Code = 0x1500
	CodeCDCWriteFailure Code = 0x1600
	CodeCASWriteUnknown Code = 0x1700
	CodeSyntax          Code = 0x2000
	CodeUnauthorized    Code = 0x2100
	CodeInvalid         Code = 0x2200
	CodeConfig          Code = 0x2300
	CodeAlreadyExists   Code = 0x2400
	CodeUnprepared      Code = 0x2500
)

var codeNames = map[Code]string{
	CodeServer: "server error", CodeProtocol: "protocol error", CodeCredentials: "authentication failed", CodeUnavailable: "unavailable",
	CodeOverloaded: "overloaded", CodeBootstrapping: "bootstrapping", CodeTruncate: "truncate error", CodeWriteTimeout: "write timeout",
	CodeReadTimeout: "read timeout", CodeReadFailure: "read failure", CodeFunctionFailure: "function failure",
	CodeWriteFailure: "write failure", CodeCDCWriteFailure: "CDC write failure", CodeCASWriteUnknown: "CAS write unknown",
	CodeSyntax: "syntax error", CodeUnauthorized: "unauthorized", CodeInvalid: "invalid request", CodeConfig: "configuration error",
	CodeAlreadyExists: "already exists", CodeUnprepared: "unprepared",
}

func (c Code) Error() string {
	if s, ok := codeNames[c]; ok {
		return s
	}
	return fmt.Sprintf("error 0x%04x", int32(c))
}

// RequestError is an error that a server sent: a *ServerError or one of the *RequestErr types, which carry more fields.
type RequestError interface {
	error
	Code() int       // see Code
	Message() string // the server's words

	mayHaveApplied() bool
}

// ServerError is a RequestError without further fields, and the part that all others share.
type ServerError struct {
	code    Code
	message string
}

// Code returns the error code.
func (e *ServerError) Code() int { return int(e.code) }

// Message returns the server's words.
func (e *ServerError) Message() string { return e.message }

func (e *ServerError) Error() string { return "vecql: server: " + e.code.Error() + ": " + e.message }

// Is reports whether target is e's Code.
func (e *ServerError) Is(target error) bool { c, ok := target.(Code); return ok && c == e.code }

// mayHaveApplied follows the meaning of each code: the ones named here are given before anything was executed, if the request is a single
// statement without a condition.
func (e *ServerError) mayHaveApplied() bool {
	switch e.code {
	case CodeProtocol, CodeCredentials, CodeUnavailable, CodeOverloaded, CodeBootstrapping, CodeSyntax, CodeUnauthorized, CodeInvalid,
		CodeConfig, CodeAlreadyExists, CodeUnprepared:
		return false
	}
	return true
}

// RequestErrUnavailable says that too few replicas were alive.
type RequestErrUnavailable struct {
	ServerError
	Consistency Consistency
	Required    int
	Alive       int
}

// RequestErrWriteTimeout says that too few replicas answered a write in time. It may still be applied.
type RequestErrWriteTimeout struct {
	ServerError
	Consistency Consistency
	Received    int
	BlockFor    int
	WriteType   string // SIMPLE, BATCH, UNLOGGED_BATCH, COUNTER, BATCH_LOG, CAS, VIEW or CDC
	Contentions int    // v5, WriteType CAS only
}

// RequestErrReadTimeout says that too few replicas answered a read in time.
type RequestErrReadTimeout struct {
	ServerError
	Consistency Consistency
	Received    int
	BlockFor    int
	DataPresent byte // not 0 when the replica asked for data answered
}

// ErrorMap names why each replica failed: replica to failure code. v4 servers send a number only.
type ErrorMap map[netip.Addr]uint16

// RequestErrReadFailure says that replicas failed a read.
type RequestErrReadFailure struct {
	ServerError
	Consistency Consistency
	Received    int
	BlockFor    int
	NumFailures int
	DataPresent bool
	ErrorMap    ErrorMap
}

// RequestErrWriteFailure says that replicas failed a write.
type RequestErrWriteFailure struct {
	ServerError
	Consistency Consistency
	Received    int
	BlockFor    int
	NumFailures int
	WriteType   string
	ErrorMap    ErrorMap
}

// RequestErrFunctionFailure says that a user-defined function failed.
type RequestErrFunctionFailure struct {
	ServerError
	Keyspace string
	Function string
	ArgTypes []string
}

// RequestErrCDCWriteFailure says that a write was refused because the CDC log is full.
type RequestErrCDCWriteFailure struct{ ServerError }

// RequestErrCASWriteUnknown says that a lightweight transaction may or may not have been applied.
type RequestErrCASWriteUnknown struct {
	ServerError
	Consistency Consistency
	Received    int
	BlockFor    int
}

// RequestErrAlreadyExists says that the keyspace, or the table when Table is not empty, exists.
type RequestErrAlreadyExists struct {
	ServerError
	Keyspace string
	Table    string
}

// RequestErrUnprepared says that the node does not know a prepared statement. The session prepares it again by itself.
type RequestErrUnprepared struct {
	ServerError
	StatementId []byte
}

// RequestErrRateLimitReached is ScyllaDB's refusal of a request above a per-partition rate limit.
type RequestErrRateLimitReached struct {
	ServerError
	OpType                byte // 0 read, 1 write
	RejectedByCoordinator bool
}

func (e *RequestErrRateLimitReached) mayHaveApplied() bool { return !e.RejectedByCoordinator }
