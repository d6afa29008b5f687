// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Opcodes (native_protocol_v5.spec, section 2.4.1.4) and protocol versions. The frame layer encodes and decodes the
// bodies of messages; it does no I/O. internal/wire contains the notations and the header.

// The supported protocol versions. ScyllaDB supports v4 at most, with extensions.
const (
	protoV4 byte = 4
	protoV5 byte = 5
)

// opcode is the kind of a message.
type opcode byte

const (
	opError         opcode = 0x00
	opStartup       opcode = 0x01
	opReady         opcode = 0x02
	opAuthenticate  opcode = 0x03
	opOptions       opcode = 0x05
	opSupported     opcode = 0x06
	opQuery         opcode = 0x07
	opResult        opcode = 0x08
	opPrepare       opcode = 0x09
	opExecute       opcode = 0x0A
	opRegister      opcode = 0x0B
	opEvent         opcode = 0x0C
	opBatch         opcode = 0x0D
	opAuthChallenge opcode = 0x0E
	opAuthResponse  opcode = 0x0F
	opAuthSuccess   opcode = 0x10
)

var opcodeNames = [...]string{
	opError: "ERROR", opStartup: "STARTUP", opReady: "READY", opAuthenticate: "AUTHENTICATE", opOptions: "OPTIONS",
	opSupported: "SUPPORTED", opQuery: "QUERY", opResult: "RESULT", opPrepare: "PREPARE", opExecute: "EXECUTE",
	opRegister: "REGISTER", opEvent: "EVENT", opBatch: "BATCH", opAuthChallenge: "AUTH_CHALLENGE",
	opAuthResponse: "AUTH_RESPONSE", opAuthSuccess: "AUTH_SUCCESS",
}

// String returns the name of op in the specification, or "opcode 0x…".
func (op opcode) String() string {
	if int(op) < len(opcodeNames) && opcodeNames[op] != "" {
		return opcodeNames[op]
	}
	return fmt.Sprintf("opcode 0x%02x", byte(op))
}

// malformed returns r's error as a *ProtocolError, nil if r has none.
func malformed(what string, r *wire.Reader) error {
	if err := r.Err(); err != nil {
		return &cql.ProtocolError{Message: "malformed " + what, Err: err}
	}
	return nil
}
