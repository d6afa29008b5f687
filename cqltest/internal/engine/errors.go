// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
)

// This file holds what goes wrong, in the words and codes of Cassandra.

// Error codes (native_protocol_v5.spec, section 9) that the engine uses.
const (
	CodeServer          int32 = 0x0000
	CodeProtocol        int32 = 0x000A
	CodeFunctionFailure int32 = 0x1400
	CodeSyntax          int32 = 0x2000
	CodeUnauthorized    int32 = 0x2100
	CodeInvalid         int32 = 0x2200
	CodeConfig          int32 = 0x2300
	CodeAlreadyExists   int32 = 0x2400
)

// Error is what the server sends in an ERROR message.
type Error struct {
	Code            int32
	Message         string
	Keyspace, Table string // of CodeAlreadyExists; Table is empty for a keyspace. Keyspace is also that of Function
	Function        string // of CodeFunctionFailure
	ArgTypes        []string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func invalid(format string, args ...any) error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf(format, args...)}
}

func configError(format string, args ...any) error {
	return &Error{Code: CodeConfig, Message: fmt.Sprintf(format, args...)}
}

// badValue is a fault of a value, in the words of the server, which begin with a capital.
func badValue(format string, args ...any) error { return fmt.Errorf(format, args...) }

// asInvalid makes an Error of a fault in a value.
func asInvalid(err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return invalid("%s", err.Error())
}

const filteringMessage = "Cannot execute this query as it might involve data filtering and thus may have unpredictable performance. " +
	"If you want to execute this query despite the performance unpredictability, use ALLOW FILTERING"
