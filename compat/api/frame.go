// SPDX-License-Identifier: Apache-2.0

package gocql

import "fmt"

// Frame headers, as observers have them.

// A ProtoVersion is the version byte of a frame: the version, and the direction in its highest bit.
type ProtoVersion byte

// String returns the version and the direction.
func (p ProtoVersion) String() string {
	direction := "REQ"
	if p&0x80 != 0 {
		direction = "RESP"
	}
	return fmt.Sprintf("[version=%d direction=%s]", byte(p)&0x7F, direction)
}

// A FrameOp is the opcode of a frame.
type FrameOp byte

// opcodes are the names of the opcodes.
var opcodes = [...]string{
	0x00: "ERROR", 0x01: "STARTUP", 0x02: "READY", 0x03: "AUTHENTICATE", 0x05: "OPTIONS", 0x06: "SUPPORTED",
	0x07: "QUERY", 0x08: "RESULT", 0x09: "PREPARE", 0x0A: "EXECUTE", 0x0B: "REGISTER", 0x0C: "EVENT", 0x0D: "BATCH",
	0x0E: "AUTH_CHALLENGE", 0x0F: "AUTH_RESPONSE", 0x10: "AUTH_SUCCESS",
}

// String returns the name of the opcode.
func (op FrameOp) String() string {
	if int(op) < len(opcodes) && opcodes[op] != "" {
		return opcodes[op]
	}
	return fmt.Sprintf("UNKNOWN_OP_%d", byte(op))
}
