// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
	"github.com/vecql/vecql/cql"
)

// Errors. Sentinel errors have the texts that programs compare, and wrap vecql's errors, so that errors.Is finds them
// by either name.

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

// The sentinel errors that verbs return. v2 does not return ErrQueryArgLength.
var (
	ErrNoHosts              = wrapping(vecql.ErrNoHosts, "no hosts provided")
	ErrNoConnectionsStarted = wrapping(vecql.ErrNoConnectionsStarted,
		"no connections were made when creating the session")
	ErrQueryArgLength    = errors.New("gocql: query argument length mismatch")
	ErrTimeoutNoResponse = wrapping(vecql.ErrTimeoutNoResponse,
		"gocql: no response received from cassandra within timeout period")
	ErrConnectionClosed = wrapping(vecql.ErrConnectionClosed, "gocql: connection closed waiting for response")
	ErrNoStreams        = wrapping(vecql.ErrNoStreams, "gocql: no streams available on connection")
	ErrNotFound         = wrapping(vecql.ErrNotFound, "not found")
	ErrUnsupported      = wrapping(vecql.ErrUnsupported, "feature not supported")
	ErrTooManyStmts     = wrapping(vecql.ErrTooManyStmts, "too many statements")
	ErrUseStmt          = wrapping(vecql.ErrUseStmt,
		"use statements aren't supported. Please see https://github.com/apache/cassandra-gocql-driver for explanation.")
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
	ErrorUDTUnavailable  = errors.New("UDT are not available on protocols less than 3, please update config")
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

// errorFrame is a RequestError of v1.7 or v2 without further fields. It is the error itself for codes without a type.
type errorFrame struct {
	frameHeader
	code    int
	message string
}

// An ErrorFrame is embedded in the errors of servers of v1.7 and v2.
type ErrorFrame = errorFrame

// NewErrorFrame returns the frame of an error of a server, which must be one of the types of package cql.
func NewErrorFrame(err error) ErrorFrame {
	var base *cql.ServerError
	errors.As(err, &base)
	return errorFrame{code: int(base.Code), message: base.Message}
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

// frameHeader stands for the header of the frame of an error, which vecql does not keep.
type frameHeader struct {
	_ []string // not comparable, as in gocql
}

// String returns the opcode.
func (f frameHeader) String() string { return fmt.Sprintf("[header op=%s]", FrameOp(0)) }

// Header returns f.
func (f frameHeader) Header() frameHeader { return f }

// An ErrorMap maps the address of each replica that failed to its failure code.
type ErrorMap map[string]uint16

// NewErrorMap returns m with textual addresses, nil for nil.
func NewErrorMap(m map[netip.Addr]uint16) ErrorMap {
	if m == nil {
		return nil
	}
	out := make(ErrorMap, len(m))
	for addr, code := range m {
		out[addr.String()] = code
	}
	return out
}

// A programError is an error that code of the program returned: a Marshaler, an Unmarshaler, a function that binds
// values. Verbs return it as it is.
type programError struct{ error }

func (e *programError) Unwrap() error { return e.error }

// FromProgram returns err as an error of the program, nil for nil.
func FromProgram(err error) error {
	if err == nil {
		return nil
	}
	return &programError{err}
}

// countError returns the API's error for another number of values than bind markers, nil for another error.
func countError(err error) error {
	var count interface{ ValueCount() (values, markers int) }
	if !errors.As(err, &count) {
		return nil
	}
	values, markers := count.ValueCount()
	text := fmt.Sprintf("expected %d values send got %d", markers, values)
	var failure *vecql.RequestFailure
	if errors.As(err, &failure) {
		err = failure.Err
	}
	var n int
	if found, _ := fmt.Sscanf(err.Error(), "vecql: batch statement %d:", &n); found == 1 {
		text = fmt.Sprintf("batch statement %d %s", n, text)
	}
	return &sentinel{"gocql: " + text, err}
}

// Errors are a module's errors for errors of vecql: of a server, and of values with their text and the cause.
type Errors struct {
	Server    func(err error) error
	Marshal   func(text string, cause error) error
	Unmarshal func(text string, cause error) error
}

// Plain returns the API's error for an error of vecql, nil for nil.
func (e *Errors) Plain(err error) error {
	if err == nil {
		return nil
	}
	var own *programError
	if errors.As(err, &own) {
		return own.error
	}
	if count := countError(err); count != nil {
		return count
	}
	err = compat.Error(err)
	for _, s := range sentinels {
		if s.of == err { //nolint:errorlint // compat.Error returns it unwrapped
			return s
		}
	}
	if server := compat.OfServer(err); server != nil {
		return e.Server(server)
	}
	var marshal *cql.MarshalError
	var unmarshal *cql.UnmarshalError
	var protocol *cql.ProtocolError
	switch {
	case errors.As(err, &marshal):
		return e.Marshal(err.Error(), marshal.Err)
	case errors.As(err, &unmarshal):
		return e.Unmarshal(err.Error(), unmarshal.Err)
	case errors.As(err, &protocol):
		return ErrProtocol{err}
	}
	return err
}
