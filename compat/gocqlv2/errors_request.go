// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Errors that a server sends. The driver returns them unwrapped, as pointers, so that type switches find them.

type errorFrame = api.ErrorFrame

// The errors of servers with further fields.
type (
	// A RequestErrUnavailable means that too few replicas were alive.
	RequestErrUnavailable api.Unavailable[Consistency]
	// A RequestErrWriteTimeout means that too few replicas acknowledged a write in time.
	RequestErrWriteTimeout api.WriteTimeout[Consistency]
	// A RequestErrWriteFailure means that replicas failed a write.
	RequestErrWriteFailure api.WriteFailure[Consistency]
	// A RequestErrCDCWriteFailure means that a write was refused because the CDC log is full.
	RequestErrCDCWriteFailure = api.RequestErrCDCWriteFailure
	// A RequestErrReadTimeout means that too few replicas answered a read in time.
	RequestErrReadTimeout api.ReadTimeout[Consistency]
	// A RequestErrAlreadyExists means that a keyspace or a table exists already.
	RequestErrAlreadyExists = api.RequestErrAlreadyExists
	// A RequestErrUnprepared means that the node does not have a prepared statement.
	RequestErrUnprepared = api.RequestErrUnprepared
	// A RequestErrReadFailure means that replicas failed a read.
	RequestErrReadFailure api.ReadFailure[Consistency]
	// A RequestErrFunctionFailure means that a user-defined function failed.
	RequestErrFunctionFailure = api.RequestErrFunctionFailure
	// A RequestErrCASWriteUnknown means that the outcome of a conditional statement is unknown.
	RequestErrCASWriteUnknown api.CASWriteUnknown[Consistency]
)

// String returns the fields.
func (e *RequestErrUnavailable) String() string {
	return fmt.Sprintf("[request_error_unavailable consistency=%s required=%d alive=%d]", e.Consistency, e.Required,
		e.Alive)
}

// The errors of servers with a code of their own.
type (
	// A RequestErrOverloaded means that the coordinator was overloaded.
	RequestErrOverloaded struct{ errorFrame }
	// A RequestErrBootstrapping means that the coordinator was starting.
	RequestErrBootstrapping struct{ errorFrame }
	// A RequestErrInvalid means that the statement is invalid.
	RequestErrInvalid struct{ errorFrame }
	// A RequestErrConfig means that the statement is invalid by the server's configuration.
	RequestErrConfig struct{ errorFrame }
	// A RequestErrCredentials means that the authentication failed.
	RequestErrCredentials struct{ errorFrame }
	// A RequestErrSyntax means that the statement could not be parsed.
	RequestErrSyntax struct{ errorFrame }
	// A RequestErrTruncate means that a TRUNCATE failed.
	RequestErrTruncate struct{ errorFrame }
	// A RequestErrUnauthorized means that the role may not execute the statement.
	RequestErrUnauthorized struct{ errorFrame }
)

// known are the errors of the API for vecql's errors.
var known = api.Errors{
	Server:    requestError,
	Marshal:   func(text string, _ error) error { return MarshalError(text) },
	Unmarshal: func(text string, _ error) error { return UnmarshalError(text) },
}

// plain returns the error that the API returns for an error of vecql.
func plain(err error) error {
	if errors.Is(err, vecql.ErrSchemaAgreement) {
		return nil // a change of the schema succeeded, although the nodes did not agree in time
	}
	return known.Plain(err)
}

// requestError returns an error of a server in the API's shape.
func requestError(err error) error {
	switch e := api.NewRequestError[Consistency](err).(type) {
	case *api.Unavailable[Consistency]:
		return (*RequestErrUnavailable)(e)
	case *api.WriteTimeout[Consistency]:
		return (*RequestErrWriteTimeout)(e)
	case *api.WriteFailure[Consistency]:
		return (*RequestErrWriteFailure)(e)
	case *api.ReadTimeout[Consistency]:
		return (*RequestErrReadTimeout)(e)
	case *api.ReadFailure[Consistency]:
		return (*RequestErrReadFailure)(e)
	case *api.CASWriteUnknown[Consistency]:
		return (*RequestErrCASWriteUnknown)(e)
	case errorFrame:
		return plainRequestError(e)
	default:
		return e
	}
}

// plainRequestError returns an error without further fields.
func plainRequestError(f errorFrame) error {
	switch f.Code() {
	case ErrCodeOverloaded:
		return &RequestErrOverloaded{f}
	case ErrCodeBootstrapping:
		return &RequestErrBootstrapping{f}
	case ErrCodeInvalid:
		return &RequestErrInvalid{f}
	case ErrCodeConfig:
		return &RequestErrConfig{f}
	case ErrCodeCredentials:
		return &RequestErrCredentials{f}
	case ErrCodeSyntax:
		return &RequestErrSyntax{f}
	case ErrCodeTruncate:
		return &RequestErrTruncate{f}
	case ErrCodeUnauthorized:
		return &RequestErrUnauthorized{f}
	}
	return f
}
