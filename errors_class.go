// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"

	"github.com/vecql/vecql/cql"
)

// Classes of request errors: the basis of retry decisions and of counters.

// An ErrorClass is the class of an attempt's error.
type ErrorClass uint8

// The classes. Errors of a server are classified by their code (native_protocol_v5.spec, section 8).
const (
	// any error not named below, such as a value that cannot be encoded or a policy that panicked
	ClassOther           ErrorClass = iota
	ClassThrottled                  // not sent, or too late: ErrThrottled, MemoryBudgetError, ErrNoStreams, ErrNodeBusy
	ClassCanceled                   // the caller's context ended
	ClassTimeout                    // the server did not respond in time: ErrTimeoutNoResponse
	ClassConnection                 // no connection, or the connection broke
	ClassProtocol                   // the response cannot be parsed
	ClassInvalid                    // refused permanently: syntax, permissions, a missing table, a failing function
	ClassUnavailable                // too few replicas are alive
	ClassOverloaded                 // the coordinator is overloaded
	ClassRateLimit                  // ScyllaDB's per-partition rate limit
	ClassBootstrapping              // the coordinator is still bootstrapping
	ClassTruncate                   // a TRUNCATE failed
	ClassReadTimeout                // too few replicas answered a read in time
	ClassWriteTimeout               // too few replicas acknowledged a write in time; it may still be applied
	ClassReadFailure                // replicas failed a read
	ClassWriteFailure               // replicas failed a write, or the CDC log is full
	ClassCASWriteUnknown            // a lightweight transaction with an unknown outcome
	ClassServer                     // any other error of a server
	classes
)

var classNames = [classes]string{
	"other", "throttled", "canceled", "timeout", "connection", "protocol", "invalid", "unavailable", "overloaded",
	"rate_limit", "bootstrapping", "truncate", "read_timeout", "write_timeout", "read_failure", "write_failure",
	"cas_write_unknown", "server",
}

// String returns the name in lower case with underscores, suitable as the label of a metric.
func (c ErrorClass) String() string {
	if c < classes {
		return classNames[c]
	}
	return classNames[ClassOther]
}

var classOfCode = map[cql.Code]ErrorClass{
	cql.CodeProtocol:        ClassInvalid,
	cql.CodeCredentials:     ClassInvalid,
	cql.CodeSyntax:          ClassInvalid,
	cql.CodeUnauthorized:    ClassInvalid,
	cql.CodeInvalid:         ClassInvalid,
	cql.CodeConfig:          ClassInvalid,
	cql.CodeAlreadyExists:   ClassInvalid,
	cql.CodeFunctionFailure: ClassInvalid,
	cql.CodeUnavailable:     ClassUnavailable,
	cql.CodeOverloaded:      ClassOverloaded,
	cql.CodeBootstrapping:   ClassBootstrapping,
	cql.CodeTruncate:        ClassTruncate,
	cql.CodeReadTimeout:     ClassReadTimeout,
	cql.CodeWriteTimeout:    ClassWriteTimeout,
	cql.CodeReadFailure:     ClassReadFailure,
	cql.CodeWriteFailure:    ClassWriteFailure,
	cql.CodeCDCWriteFailure: ClassWriteFailure,
	cql.CodeCASWriteUnknown: ClassCASWriteUnknown,
}

// ErrorClassOf returns the class of an error that a verb of this package returned or a retry policy received.
func ErrorClassOf(err error) ErrorClass {
	var limit *cql.RateLimitError
	var server *cql.ServerError
	var protocol *ProtocolError
	var memory *MemoryBudgetError
	switch {
	case errors.Is(err, ErrThrottled), errors.As(err, &memory): // before the error of an earlier attempt
		return ClassThrottled
	case errors.Is(err, ErrConnectionClosed), errors.Is(err, ErrNoConnections), errors.Is(err, ErrSessionClosed):
		// Before the cause of such an error: a violation of the protocol on another stream, a refused login, a timeout
		// of the driver itself.
		return ClassConnection
	case errors.As(err, &protocol): // it may wrap an error of the server that the driver did not expect
		return ClassProtocol
	case errors.As(err, &limit):
		return ClassRateLimit
	case errors.As(err, &server):
		if class, ok := classOfCode[server.Code]; ok {
			return class
		}
		return ClassServer
	case errors.Is(err, ErrNoStreams), errors.Is(err, ErrNodeBusy):
		return ClassThrottled
	case errors.Is(err, ErrTimeoutNoResponse):
		return ClassTimeout
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return ClassCanceled
	}
	return ClassOther
}
