// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Errors that a server sends. The driver returns them unwrapped, as pointers, so that type switches find them.

// The codes of ERROR frames (native_protocol_v5.spec, section 8).
const (
	ErrCodeServer          = 0x0000
	ErrCodeProtocol        = 0x000A
	ErrCodeCredentials     = 0x0100
	ErrCodeUnavailable     = 0x1000
	ErrCodeOverloaded      = 0x1001
	ErrCodeBootstrapping   = 0x1002
	ErrCodeTruncate        = 0x1003
	ErrCodeWriteTimeout    = 0x1100
	ErrCodeReadTimeout     = 0x1200
	ErrCodeReadFailure     = 0x1300
	ErrCodeFunctionFailure = 0x1400
	ErrCodeWriteFailure    = 0x1500
	ErrCodeCDCWriteFailure = 0x1600
	ErrCodeCASWriteUnknown = 0x1700
	ErrCodeSyntax          = 0x2000
	ErrCodeUnauthorized    = 0x2100
	ErrCodeInvalid         = 0x2200
	ErrCodeConfig          = 0x2300
	ErrCodeAlreadyExists   = 0x2400
	ErrCodeUnprepared      = 0x2500
)

type errorFrame = api.ErrorFrame

// The errors by code. Their fields are those of the ERROR frame.
type (
	// RequestErrUnavailable means that too few replicas were alive.
	RequestErrUnavailable struct {
		errorFrame
		Consistency Consistency
		Required    int
		Alive       int
	}
	// RequestErrOverloaded means that the coordinator was overloaded.
	RequestErrOverloaded struct{ errorFrame }
	// RequestErrBootstrapping means that the coordinator was starting.
	RequestErrBootstrapping struct{ errorFrame }
	// RequestErrInvalid means that the statement is invalid.
	RequestErrInvalid struct{ errorFrame }
	// RequestErrConfig means that the statement is invalid by the server's configuration.
	RequestErrConfig struct{ errorFrame }
	// RequestErrCredentials means that the authentication failed.
	RequestErrCredentials struct{ errorFrame }
	// RequestErrSyntax means that the statement could not be parsed.
	RequestErrSyntax struct{ errorFrame }
	// RequestErrTruncate means that a TRUNCATE failed.
	RequestErrTruncate struct{ errorFrame }
	// RequestErrUnauthorized means that the role may not execute the statement.
	RequestErrUnauthorized struct{ errorFrame }
	// RequestErrWriteTimeout means that too few replicas acknowledged a write in time.
	RequestErrWriteTimeout struct {
		errorFrame
		Consistency Consistency
		Received    int
		BlockFor    int
		WriteType   string
	}
	// RequestErrWriteFailure means that replicas failed a write.
	RequestErrWriteFailure struct {
		errorFrame
		Consistency Consistency
		Received    int
		BlockFor    int
		NumFailures int
		WriteType   string
		ErrorMap    ErrorMap
	}
	// RequestErrCDCWriteFailure means that the CDC log was full.
	RequestErrCDCWriteFailure struct{ errorFrame }
	// RequestErrReadTimeout means that too few replicas answered a read in time.
	RequestErrReadTimeout struct {
		errorFrame
		Consistency Consistency
		Received    int
		BlockFor    int
		DataPresent byte
	}
	// RequestErrAlreadyExists means that the keyspace or the table exists.
	RequestErrAlreadyExists struct {
		errorFrame
		Keyspace string
		Table    string
	}
	// RequestErrUnprepared means that the server has no prepared statement of that id.
	RequestErrUnprepared struct {
		errorFrame
		StatementId []byte
	}
	// RequestErrReadFailure means that replicas failed a read.
	RequestErrReadFailure struct {
		errorFrame
		Consistency Consistency
		Received    int
		BlockFor    int
		NumFailures int
		DataPresent bool
		ErrorMap    ErrorMap
	}
	// RequestErrFunctionFailure means that a user-defined function failed.
	RequestErrFunctionFailure struct {
		errorFrame
		Keyspace string
		Function string
		ArgTypes []string
	}
	// RequestErrCASWriteUnknown means that the outcome of a lightweight transaction is unknown.
	RequestErrCASWriteUnknown struct {
		errorFrame
		Consistency Consistency
		Received    int
		BlockFor    int
	}
)

func (e *RequestErrUnavailable) String() string {
	return fmt.Sprintf("[request_error_unavailable consistency=%s required=%d alive=%d]", e.Consistency, e.Required,
		e.Alive)
}

// known are the errors of the API for those of vecql.
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
func requestError(err vecql.RequestError) error {
	f := api.NewErrorFrame(err)
	switch e := err.(type) {
	case *vecql.RequestErrUnavailable:
		return &RequestErrUnavailable{f, e.Consistency, e.Required, e.Alive}
	case *vecql.RequestErrWriteTimeout:
		return &RequestErrWriteTimeout{f, e.Consistency, e.Received, e.BlockFor, e.WriteType}
	case *vecql.RequestErrReadTimeout:
		return &RequestErrReadTimeout{f, e.Consistency, e.Received, e.BlockFor, e.DataPresent}
	case *vecql.RequestErrAlreadyExists:
		return &RequestErrAlreadyExists{f, e.Keyspace, e.Table}
	case *vecql.RequestErrUnprepared:
		return &RequestErrUnprepared{f, e.StatementId}
	case *vecql.RequestErrReadFailure:
		return &RequestErrReadFailure{
			f, e.Consistency, e.Received, e.BlockFor, e.NumFailures, e.DataPresent,
			api.NewErrorMap(e.ErrorMap),
		}
	case *vecql.RequestErrWriteFailure:
		return &RequestErrWriteFailure{
			f, e.Consistency, e.Received, e.BlockFor, e.NumFailures, e.WriteType,
			api.NewErrorMap(e.ErrorMap),
		}
	case *vecql.RequestErrFunctionFailure:
		return &RequestErrFunctionFailure{f, e.Keyspace, e.Function, slices.Clone(e.ArgTypes)}
	case *vecql.RequestErrCASWriteUnknown:
		return &RequestErrCASWriteUnknown{f, e.Consistency, e.Received, e.BlockFor}
	case *vecql.RequestErrCDCWriteFailure:
		return &RequestErrCDCWriteFailure{f}
	}
	return plainRequestError(f)
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
