// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Errors that a server sends. The driver returns them unwrapped, as pointers, so that type switches find them.

type errorFrame = api.ErrorFrame

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

// plain returns the error that the API returns for an error of vecql.
func plain(err error) error {
	if errors.Is(err, vecql.ErrSchemaAgreement) {
		return nil // a change of the schema succeeded, although the nodes did not agree in time
	}
	return known.Plain(err)
}

// requestError returns an error of a server in the API's shape.
func requestError(err error) error {
	err = fieldsError(err)
	if f, ok := err.(errorFrame); ok { //nolint:errorlint // it is not wrapped
		return plainRequestError(f)
	}
	return err
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
