// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"

	api "github.com/vecql/vecql/compat/api"
)

//compat:copy gocqlv2

// Errors. A verb returns the sentinels below as they are, and the errors of servers as pointers to the RequestErr
// types, so that ==, type switches, errors.Is and errors.As find them.

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

// known are the errors of this API for vecql's errors.
var known = api.Errors{
	Server:    requestError,
	Marshal:   func(text string, _ error) error { return MarshalError(text) },
	Unmarshal: func(text string, _ error) error { return UnmarshalError(text) },
}

// fieldsError returns the error of this API for an error of a server. An error without further fields is an ErrorFrame.
func fieldsError(err error) error {
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
	default:
		return e
	}
}

// plain returns the error that this API has for an error of vecql.
func plain(err error) error { return known.Plain(err) }

// requestError returns the error of this API for an error of a server.
func requestError(err error) error { return fieldsError(err) }
