// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/stats"
)

// Classes of request errors: the basis of retry decisions and of counters.

var classOfCode = map[cql.Code]stats.ErrorClass{
	cql.CodeProtocol:        stats.ClassInvalid,
	cql.CodeCredentials:     stats.ClassInvalid,
	cql.CodeSyntax:          stats.ClassInvalid,
	cql.CodeUnauthorized:    stats.ClassInvalid,
	cql.CodeInvalid:         stats.ClassInvalid,
	cql.CodeConfig:          stats.ClassInvalid,
	cql.CodeAlreadyExists:   stats.ClassInvalid,
	cql.CodeFunctionFailure: stats.ClassInvalid,
	cql.CodeUnavailable:     stats.ClassUnavailable,
	cql.CodeOverloaded:      stats.ClassOverloaded,
	cql.CodeBootstrapping:   stats.ClassBootstrapping,
	cql.CodeTruncate:        stats.ClassTruncate,
	cql.CodeReadTimeout:     stats.ClassReadTimeout,
	cql.CodeWriteTimeout:    stats.ClassWriteTimeout,
	cql.CodeReadFailure:     stats.ClassReadFailure,
	cql.CodeWriteFailure:    stats.ClassWriteFailure,
	cql.CodeCDCWriteFailure: stats.ClassWriteFailure,
	cql.CodeCASWriteUnknown: stats.ClassCASWriteUnknown,
}

// ErrorClassOf returns the class of an error that a verb of this package returned or a retry policy received.
func ErrorClassOf(err error) stats.ErrorClass {
	var limit *cql.RateLimitError
	var server *cql.ServerError
	var protocol *cql.ProtocolError
	var memory *MemoryBudgetError
	switch {
	case errors.Is(err, ErrThrottled), errors.As(err, &memory): // before the error of an earlier attempt
		return stats.ClassThrottled
	case errors.Is(err, conn.ErrClosed), errors.Is(err, ErrNoConnections), errors.Is(err, ErrSessionClosed):
		// Before the cause of such an error: a violation of the protocol on another stream, a refused login, a timeout
		// of the driver itself.
		return stats.ClassConnection
	case errors.As(err, &protocol): // it may wrap an error of the server that the driver did not expect
		return stats.ClassProtocol
	case errors.As(err, &limit):
		return stats.ClassRateLimit
	case errors.As(err, &server):
		if class, ok := classOfCode[server.Code]; ok {
			return class
		}
		return stats.ClassServer
	case errors.Is(err, conn.ErrNoStreams), errors.Is(err, conn.ErrNodeBusy):
		return stats.ClassThrottled
	case errors.Is(err, conn.ErrTimeout):
		return stats.ClassTimeout
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return stats.ClassCanceled
	}
	return stats.ClassOther
}
