// SPDX-License-Identifier: Apache-2.0

// Package frame encodes and decodes the bodies of the messages of the native protocol, v3 to v6
// (native_protocol_v5.spec, section 4). It does no I/O. internal/wire has the notations and the header.
package frame

import (
	"errors"
	"fmt"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Opcodes (native_protocol_v5.spec, section 2.4.1.4) and protocol versions.

// The supported protocol versions. ScyllaDB supports v4 at most, with extensions. V6 is a beta of Cassandra 4.0 and
// later: its frames have wire.FlagBeta, and nothing else differs from v5 so far.
const (
	V3 byte = 3
	V4 byte = 4
	V5 byte = 5
	V6 byte = 6
)

// Opcode is the kind of a message.
type Opcode byte

const (
	OpError         Opcode = 0x00
	OpStartup       Opcode = 0x01
	OpReady         Opcode = 0x02
	OpAuthenticate  Opcode = 0x03
	OpOptions       Opcode = 0x05
	OpSupported     Opcode = 0x06
	OpQuery         Opcode = 0x07
	OpResult        Opcode = 0x08
	OpPrepare       Opcode = 0x09
	OpExecute       Opcode = 0x0A
	OpRegister      Opcode = 0x0B
	OpEvent         Opcode = 0x0C
	OpBatch         Opcode = 0x0D
	OpAuthChallenge Opcode = 0x0E
	OpAuthResponse  Opcode = 0x0F
	OpAuthSuccess   Opcode = 0x10
)

var opcodeNames = [...]string{
	OpError: "ERROR", OpStartup: "STARTUP", OpReady: "READY", OpAuthenticate: "AUTHENTICATE", OpOptions: "OPTIONS",
	OpSupported: "SUPPORTED", OpQuery: "QUERY", OpResult: "RESULT", OpPrepare: "PREPARE", OpExecute: "EXECUTE",
	OpRegister: "REGISTER", OpEvent: "EVENT", OpBatch: "BATCH", OpAuthChallenge: "AUTH_CHALLENGE",
	OpAuthResponse: "AUTH_RESPONSE", OpAuthSuccess: "AUTH_SUCCESS",
}

// String returns the name of op in the specification, or "opcode 0x…".
func (op Opcode) String() string {
	if int(op) < len(opcodeNames) && opcodeNames[op] != "" {
		return opcodeNames[op]
	}
	return fmt.Sprintf("opcode 0x%02x", byte(op))
}

// Errors of requests that cannot be encoded. The root package exports and describes them.
var (
	ErrTooBig        = errors.New("vecql: frame is larger than 256 MiB")
	ErrTooManyStmts  = errors.New("vecql: too many statements in a batch")
	ErrTooManyValues = errors.New("vecql: too many values for one statement")
	ErrUnsupported   = errors.New("vecql: not supported by the protocol version in use")
)

// malformed returns r's error as a *ProtocolError, nil if r has none.
func malformed(what string, r *wire.Reader) error {
	if err := r.Err(); err != nil {
		return &cql.ProtocolError{Message: "malformed " + what, Err: err}
	}
	return nil
}
