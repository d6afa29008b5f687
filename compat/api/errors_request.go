// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"slices"

	"github.com/vecql/vecql/cql"
)

// Errors of servers in v1.7 and v2. The modules define their RequestErr types by the ones below, so that these have
// their package. C is a module's Consistency.

// Unavailable is RequestErrUnavailable.
type Unavailable[C any] struct {
	errorFrame

	Consistency C
	Required    int
	Alive       int
}

// WriteTimeout is RequestErrWriteTimeout.
type WriteTimeout[C any] struct {
	errorFrame

	Consistency C
	Received    int
	BlockFor    int
	WriteType   string
}

// WriteFailure is RequestErrWriteFailure.
type WriteFailure[C any] struct {
	errorFrame

	Consistency C
	Received    int
	BlockFor    int
	NumFailures int
	WriteType   string
	ErrorMap    ErrorMap
}

// ReadTimeout is RequestErrReadTimeout.
type ReadTimeout[C any] struct {
	errorFrame

	Consistency C
	Received    int
	BlockFor    int
	DataPresent byte
}

// ReadFailure is RequestErrReadFailure.
type ReadFailure[C any] struct {
	errorFrame

	Consistency C
	Received    int
	BlockFor    int
	NumFailures int
	DataPresent bool
	ErrorMap    ErrorMap
}

// CASWriteUnknown is RequestErrCASWriteUnknown.
type CASWriteUnknown[C any] struct {
	errorFrame

	Consistency C
	Received    int
	BlockFor    int
}

// A RequestErrAlreadyExists means that a keyspace or a table exists already.
type RequestErrAlreadyExists struct {
	errorFrame

	Keyspace string
	Table    string
}

// A RequestErrUnprepared means that the node does not have a prepared statement.
type RequestErrUnprepared struct {
	errorFrame

	StatementId []byte
}

// A RequestErrFunctionFailure means that a user-defined function failed.
type RequestErrFunctionFailure struct {
	errorFrame

	Keyspace string
	Function string
	ArgTypes []string
}

// A RequestErrCDCWriteFailure means that a write was refused because the CDC log is full.
type RequestErrCDCWriteFailure struct{ errorFrame }

// NewRequestError returns the error of a server: a pointer to one of the types above, an ErrorFrame for another code.
func NewRequestError[C ~uint16](err error) RequestError {
	f := NewErrorFrame(err)
	switch e := err.(type) { //nolint:errorlint // it is not wrapped
	case *cql.UnavailableError:
		return &Unavailable[C]{f, C(e.Consistency), e.Required, e.Alive}
	case *cql.WriteTimeoutError:
		return &WriteTimeout[C]{f, C(e.Consistency), e.Received, e.BlockFor, e.WriteType}
	case *cql.ReadTimeoutError:
		return &ReadTimeout[C]{f, C(e.Consistency), e.Received, e.BlockFor, e.DataPresent}
	case *cql.ReadFailureError:
		return &ReadFailure[C]{
			f, C(e.Consistency), e.Received, e.BlockFor, e.NumFailures, e.DataPresent, NewErrorMap(e.ReasonMap),
		}
	case *cql.WriteFailureError:
		return &WriteFailure[C]{
			f, C(e.Consistency), e.Received, e.BlockFor, e.NumFailures, e.WriteType, NewErrorMap(e.ReasonMap),
		}
	case *cql.CASWriteUnknownError:
		return &CASWriteUnknown[C]{f, C(e.Consistency), e.Received, e.BlockFor}
	case *cql.FunctionFailureError:
		return &RequestErrFunctionFailure{f, e.Keyspace, e.Function, slices.Clone(e.ArgTypes)}
	case *cql.CDCWriteFailureError:
		return &RequestErrCDCWriteFailure{f}
	case *cql.AlreadyExistsError:
		return &RequestErrAlreadyExists{f, e.Keyspace, e.Table}
	case *cql.UnpreparedError:
		return &RequestErrUnprepared{f, e.StatementID}
	}
	return f
}
