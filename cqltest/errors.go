// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// ERROR messages (native_protocol_v4.spec and v5.spec, section 9).

// Error codes (section 9).
const (
	CodeServer          int32 = 0x0000
	CodeProtocol        int32 = 0x000A
	CodeCredentials     int32 = 0x0100
	CodeUnavailable     int32 = 0x1000
	CodeOverloaded      int32 = 0x1001
	CodeBootstrapping   int32 = 0x1002
	CodeTruncate        int32 = 0x1003
	CodeWriteTimeout    int32 = 0x1100
	CodeReadTimeout     int32 = 0x1200
	CodeReadFailure     int32 = 0x1300
	CodeFunctionFailure int32 = 0x1400
	CodeWriteFailure    int32 = 0x1500
	CodeCDCWriteFailure int32 = 0x1600
	CodeCASWriteUnknown int32 = 0x1700
	CodeSyntax          int32 = 0x2000
	CodeUnauthorized    int32 = 0x2100
	CodeInvalid         int32 = 0x2200
	CodeConfig          int32 = 0x2300
	CodeAlreadyExists   int32 = 0x2400
	CodeUnprepared      int32 = 0x2500
	// CodeRateLimit is the code that the emulation of ScyllaDB announces for its rate limit error
	// (SCYLLA_RATE_LIMIT_ERROR). A client that did not negotiate it gets CodeConfig instead.
	CodeRateLimit int32 = 0xF000
)

// An Error is an ERROR message: the error of Cluster.Exec, and the answer of a Fault. Code decides which fields are
// sent; the others are ignored.
type Error struct {
	Code    int32
	Message string // empty means Cassandra's text for the code

	// Consistency is the level in the message; in a Fault 0 (ANY) means the request's.
	Consistency uint16
	Received    int // number of acknowledgements: timeouts, failures, CAS write unknown
	Required    int // number of acknowledgements needed ("blockfor"): the same codes, and unavailable
	Alive       int // unavailable

	// write timeout and failure; empty means SIMPLE; BATCH, UNLOGGED_BATCH, COUNTER, BATCH_LOG, CAS, VIEW, CDC
	WriteType   string
	Contentions int  // write timeout of CAS, v5
	DataPresent bool // read timeout and failure

	// Failures are the failure codes of read and write failures by replica; v4 sends only their number.
	Failures map[netip.Addr]uint16

	Keyspace, Table string   // already exists; Keyspace also function failure
	Function        string   // function failure
	ArgTypes        []string // function failure
	StatementID     []byte   // unprepared; in a Fault nil means the id that the request executed

	Write                 bool // rate limit: the refused request was a write
	RejectedByCoordinator bool // rate limit

	warnings []string // sent beside the error
	reason   uint16   // of the failure of the node itself

	// Extra is appended to the body, to test fields that no specification has.
	Extra []byte
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("cqltest: error 0x%04X: %s", e.Code, e.message()) }

// message returns Message, or the text of Cassandra for the code.
func (e *Error) message() string {
	if e.Message != "" {
		return e.Message
	}
	switch e.Code {
	case CodeUnavailable:
		return "Cannot achieve consistency level " + engine.ConsistencyName(e.Consistency)
	case CodeOverloaded:
		return "Request is too much for the node"
	case CodeBootstrapping:
		return "Cannot read from a bootstrapping node"
	case CodeWriteTimeout, CodeReadTimeout:
		return fmt.Sprintf("Operation timed out - received only %d responses.", e.Received)
	case CodeReadFailure, CodeWriteFailure:
		return fmt.Sprintf("Operation failed - received %d responses and %d failures", e.Received, len(e.Failures))
	case CodeCASWriteUnknown:
		return fmt.Sprintf("CAS operation result is unknown - proposal accepted by %d but not a quorum.", e.Received)
	case CodeUnprepared:
		return fmt.Sprintf("Prepared query with ID %x not found (either the query was not prepared on this host "+
			"(maybe the host has been restarted?) or you have prepared too many queries and it has been evicted from the internal cache)",
			e.StatementID)
	case CodeRateLimit:
		return "Per-partition rate limit reached"
	}
	return fmt.Sprintf("error 0x%04X", e.Code)
}

// before4 returns the error that clients of v3 receive, which has no failures of replicas and functions.
func (e *Error) before4() *Error {
	old := *e
	switch e.Code {
	case CodeReadFailure:
		old.Code, old.Message = CodeReadTimeout, ""
	case CodeWriteFailure:
		old.Code, old.Message = CodeWriteTimeout, ""
	case CodeFunctionFailure:
		old.Code, old.Message = CodeInvalid, "ERROR FUNCTION_FAILURE: "+e.message()
	}
	return &old
}

// appendError appends the body of e. rateLimit reports whether the client negotiated CodeRateLimit.
func appendError(dst []byte, e *Error, version byte, rateLimit bool) []byte {
	if version < 4 {
		e = e.before4()
	}
	code := e.Code
	if code == CodeRateLimit && !rateLimit {
		code = CodeConfig
	}
	dst = appendString(appendInt(dst, code), e.message())
	received := func() {
		dst = appendShort(dst, int(e.Consistency))
		dst = appendInt(dst, int32(e.Received))
		dst = appendInt(dst, int32(e.Required))
	}
	failures := func() {
		dst = appendInt(dst, int32(len(e.Failures)))
		if version < 5 {
			return
		}
		addrs := make([]netip.Addr, 0, len(e.Failures))
		for a := range e.Failures {
			addrs = append(addrs, a)
		}
		slices.SortFunc(addrs, netip.Addr.Compare)
		for _, a := range addrs {
			dst = appendShort(appendInetAddr(dst, a), int(e.Failures[a]))
		}
	}
	writeType := e.WriteType
	if writeType == "" {
		writeType = "SIMPLE"
	}
	switch code {
	case CodeUnavailable:
		dst = appendShort(dst, int(e.Consistency))
		dst = appendInt(dst, int32(e.Required))
		dst = appendInt(dst, int32(e.Alive))
	case CodeWriteTimeout:
		received()
		dst = appendString(dst, writeType)
		if version >= 5 && writeType == "CAS" {
			dst = appendShort(dst, e.Contentions)
		}
	case CodeReadTimeout:
		received()
		dst = append(dst, bit(e.DataPresent))
	case CodeReadFailure:
		received()
		failures()
		dst = append(dst, bit(e.DataPresent))
	case CodeWriteFailure:
		received()
		failures()
		dst = appendString(dst, writeType)
	case CodeFunctionFailure:
		dst = appendStringList(appendString(appendString(dst, e.Keyspace), e.Function), e.ArgTypes)
	case CodeCASWriteUnknown:
		received()
	case CodeAlreadyExists:
		dst = appendString(appendString(dst, e.Keyspace), e.Table)
	case CodeUnprepared:
		dst = appendShortBytes(dst, e.StatementID)
	case CodeRateLimit:
		dst = append(dst, bit(e.Write), bit(e.RejectedByCoordinator))
	}
	return append(dst, e.Extra...)
}

// errorOf returns err as the Error that is sent to the client.
func errorOf(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var known *engine.Error
	if errors.As(err, &known) {
		return &Error{
			Code: known.Code, Message: known.Message, Keyspace: known.Keyspace, Table: known.Table,
			Function: known.Function, ArgTypes: known.ArgTypes, WriteType: known.WriteType, warnings: known.Warnings,
			reason: known.Reason,
		}
	}
	if errors.Is(err, errMalformed) || errors.Is(err, errDecompress) {
		return protocolError("%v", err)
	}
	return &Error{Code: CodeServer, Message: err.Error()}
}

func protocolError(format string, args ...any) *Error {
	return &Error{Code: CodeProtocol, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf(format, args...)}
}
