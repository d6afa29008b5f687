// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"

	api "github.com/vecql/vecql/compat/api"
)

// Errors without fields of a server.

// errNotHere means that a name of the API exists for the compiler only.
var errNotHere = errors.New("gocql: not available: vecql has no connections that programs use")

type (
	// A RequestError is an error that a server sent.
	RequestError = api.RequestError
	// An ErrProtocol is an error of the native protocol.
	ErrProtocol = api.ErrProtocol
	// An ErrorMap maps the address of each replica that failed to its failure code.
	ErrorMap = api.ErrorMap
)

// Error is not returned by the driver.
//
// Deprecated: see RequestError.
type Error struct {
	Code    int
	Message string
}

func (e Error) Error() string { return e.Message }

// A MarshalError means that a value could not be encoded.
type MarshalError string

func (m MarshalError) Error() string { return string(m) }

// An UnmarshalError means that a cell could not be decoded.
type UnmarshalError string

func (m UnmarshalError) Error() string { return string(m) }
