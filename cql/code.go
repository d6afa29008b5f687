// SPDX-License-Identifier: Apache-2.0

package cql

import "fmt"

// Error codes of the server (native_protocol_v5.spec, section 8).

// A Code is the error code of an ERROR frame. It implements error, for use as in errors.Is(err, cql.CodeUnavailable).
type Code int32

// The error codes of native_protocol_v5.spec, section 8.
const (
	CodeServer          Code = 0x0000
	CodeProtocol        Code = 0x000A
	CodeCredentials     Code = 0x0100
	CodeUnavailable     Code = 0x1000
	CodeOverloaded      Code = 0x1001
	CodeBootstrapping   Code = 0x1002
	CodeTruncate        Code = 0x1003
	CodeWriteTimeout    Code = 0x1100
	CodeReadTimeout     Code = 0x1200
	CodeReadFailure     Code = 0x1300
	CodeFunctionFailure Code = 0x1400
	CodeWriteFailure    Code = 0x1500
	CodeCDCWriteFailure Code = 0x1600
	CodeCASWriteUnknown Code = 0x1700
	CodeSyntax          Code = 0x2000
	CodeUnauthorized    Code = 0x2100
	CodeInvalid         Code = 0x2200
	CodeConfig          Code = 0x2300
	CodeAlreadyExists   Code = 0x2400
	CodeUnprepared      Code = 0x2500
)

var codeNames = map[Code]string{
	CodeServer: "server error", CodeProtocol: "protocol error", CodeCredentials: "authentication failed",
	CodeUnavailable: "unavailable", CodeOverloaded: "overloaded", CodeBootstrapping: "bootstrapping",
	CodeTruncate: "truncate error", CodeWriteTimeout: "write timeout", CodeReadTimeout: "read timeout",
	CodeReadFailure: "read failure", CodeFunctionFailure: "function failure", CodeWriteFailure: "write failure",
	CodeCDCWriteFailure: "CDC write failure", CodeCASWriteUnknown: "CAS write unknown", CodeSyntax: "syntax error",
	CodeUnauthorized: "unauthorized", CodeInvalid: "invalid request", CodeConfig: "configuration error",
	CodeAlreadyExists: "already exists", CodeUnprepared: "unprepared",
}

// IsStandard reports whether the protocol's specification defines c. Servers may send other codes.
func (c Code) IsStandard() bool { _, ok := codeNames[c]; return ok }

// Error returns the meaning of the code, e.g. "read timeout".
func (c Code) Error() string {
	if s, ok := codeNames[c]; ok {
		return s
	}
	return fmt.Sprintf("error 0x%04x", int32(c))
}
