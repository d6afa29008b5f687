// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
)

// This file sorts the errors of requests into classes: what retry policies decide by, and what is counted.

// ErrorClass says what kind of error an attempt ended with.
type ErrorClass uint8

// The classes. Those that a server's ERROR stands behind follow its code (native_protocol_v5.spec, section 8).
const (
	ClassOther           ErrorClass = iota // none of those below: a value that could not be encoded, a policy that panicked
	ClassThrottled                         // the driver held it back too long: ErrThrottled, ErrNoStreams
	ClassCanceled                          // the caller's context ended
	ClassTimeout                           // the server did not answer in time: ErrTimeoutNoResponse
	ClassConnection                        // there was no connection, or it broke
	ClassProtocol                          // an answer that can't be read
	ClassInvalid                           // refused, and would be again: syntax, rights, a table that is not there, a failing function
	ClassUnavailable                       // too few replicas are alive
	ClassOverloaded                        // the coordinator refused it for its load
	ClassRateLimit                         // ScyllaDB's per-partition rate limit
	ClassBootstrapping                     // the coordinator is not ready yet
	ClassTruncate                          // a TRUNCATE failed
	ClassReadTimeout                       // too few replicas answered the coordinator in time
	ClassWriteTimeout                      // the same of a write, which may still be applied
	ClassReadFailure                       // replicas failed
	ClassWriteFailure                      // the same of a write, or the CDC log is full
	ClassCASWriteUnknown                   // a lightweight transaction with an unknown outcome
	ClassServer                            // any other error of a server
	classes
)

var classNames = [classes]string{
	"other", "throttled", "canceled", "timeout", "connection", "protocol", "invalid", "unavailable", "overloaded", "rate_limit",
	"bootstrapping", "truncate", "read_timeout", "write_timeout", "read_failure", "write_failure", "cas_write_unknown", "server",
}

// String returns the name in lower case with underscores, fit for a metric's label.
func (c ErrorClass) String() string {
	if c < classes {
		return classNames[c]
	}
	return classNames[ClassOther]
}

var classOfCode = map[Code]ErrorClass{
	CodeProtocol: ClassInvalid, CodeCredentials: ClassInvalid, CodeSyntax: ClassInvalid, CodeUnauthorized: ClassInvalid, CodeInvalid: ClassInvalid,
	CodeConfig: ClassInvalid, CodeAlreadyExists: ClassInvalid, CodeFunctionFailure: ClassInvalid, CodeUnavailable: ClassUnavailable,
	CodeOverloaded: ClassOverloaded, CodeBootstrapping: ClassBootstrapping, CodeTruncate: ClassTruncate, CodeReadTimeout: ClassReadTimeout,
	CodeWriteTimeout: ClassWriteTimeout, CodeReadFailure: ClassReadFailure, CodeWriteFailure: ClassWriteFailure,
	CodeCDCWriteFailure: ClassWriteFailure, CodeCASWriteUnknown: ClassCASWriteUnknown,
}

// ErrorClassOf returns the class of an error that a verb of this package returned, or that a retry policy was given.
func ErrorClassOf(err error) ErrorClass {
	var limit *RequestErrRateLimitReached
	var server RequestError
	var protocol *ProtocolError
	switch {
	case errors.As(err, &protocol): // it may wrap the server's error that made no sense
		return ClassProtocol
	case errors.As(err, &limit):
		return ClassRateLimit
	case errors.As(err, &server):
		if class, ok := classOfCode[Code(server.Code())]; ok {
			return class
		}
		return ClassServer
	case errors.Is(err, ErrThrottled), errors.Is(err, ErrNoStreams):
		return ClassThrottled
	case errors.Is(err, ErrConnectionClosed), errors.Is(err, ErrNoConnections), errors.Is(err, ErrSessionClosed): // their cause may be a timeout of the driver's own
		return ClassConnection
	case errors.Is(err, ErrTimeoutNoResponse):
		return ClassTimeout
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return ClassCanceled
	}
	return ClassOther
}
