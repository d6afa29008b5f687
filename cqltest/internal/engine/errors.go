// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
)

// Errors, with Cassandra's texts and codes.

// Error codes (native_protocol_v5.spec, section 9) that the engine uses.
const (
	CodeServer          int32 = 0x0000
	CodeProtocol        int32 = 0x000A
	CodeReadFailure     int32 = 0x1300
	CodeFunctionFailure int32 = 0x1400
	CodeWriteFailure    int32 = 0x1500
	CodeSyntax          int32 = 0x2000
	CodeUnauthorized    int32 = 0x2100
	CodeInvalid         int32 = 0x2200
	CodeConfig          int32 = 0x2300
	CodeAlreadyExists   int32 = 0x2400
)

// An Error is the content of an ERROR message.
type Error struct {
	Code            int32
	Message         string
	Keyspace, Table string // of CodeAlreadyExists; Table is empty for a keyspace. Keyspace is also set with Function
	Function        string // of CodeFunctionFailure
	ArgTypes        []string
	WriteType       string   // of CodeWriteFailure; empty means SIMPLE
	Reason          uint16   // of a failure of a replica; 0 means unknown
	Warnings        []string // sent beside the error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// replicaFailure is the error of a read or write that replicas cannot execute. The node adds which ones.
func replicaFailure(code int32) error { return &Error{Code: code, Message: failedMessage} }

const failedMessage = "Operation failed - received 0 responses and 1 failures"

// ReasonIndexNotAvailable is Cassandra's reason of the failure of a read by an index that is not built.
const ReasonIndexNotAvailable = 6

// warned returns err with warnings, unless there are none.
func warned(err error, warnings []string) error {
	var e *Error
	if len(warnings) == 0 || !errors.As(err, &e) {
		return err
	}
	with := *e
	with.Warnings = append(warnings, e.Warnings...)
	return &with
}

func invalid(format string, args ...any) error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf(format, args...)}
}

func syntaxError(format string, args ...any) error {
	return &Error{Code: CodeSyntax, Message: fmt.Sprintf(format, args...)}
}

func configError(format string, args ...any) error {
	return &Error{Code: CodeConfig, Message: fmt.Sprintf(format, args...)}
}

// badValue is the error of an invalid value, with the server's text, which is capitalized.
func badValue(format string, args ...any) error { return fmt.Errorf(format, args...) }

// asInvalid returns the error of a value as an Error.
func asInvalid(err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return invalid("%s", err.Error())
}

var errNoKeyspace = invalid("No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename")

const filteringMessage = "Cannot execute this query as it might involve data filtering and thus may have unpredictable performance. " +
	"If you want to execute this query despite the performance unpredictability, use ALLOW FILTERING"
