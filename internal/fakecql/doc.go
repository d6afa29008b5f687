// SPDX-License-Identifier: Apache-2.0

// Package fakecql is the scripted cluster of the driver's tests. Its nodes speak the native protocol v3 to v6. They
// respond to the statements that a driver sends on its own (system tables, PREPARE, REGISTER), and pass every other
// request to a function of the test. A node answers UNPREPARED to a statement that it has not prepared.
//
// Nodes listen in memory or on loopback sockets. Nodes in memory run in virtual time (testing/synctest), where hours
// pass at once.
//
// The package does not import the driver. It has its own encoder of types, cells and frames, so that an error in the
// driver's encoding is not hidden by the same error in the cluster.
package fakecql

import "fmt"

// The protocol versions.
const (
	V3 byte = 3
	V4 byte = 4
	V5 byte = 5
	V6 byte = 6 // a beta
)

// An Opcode is the kind of a message (native_protocol_v5.spec, section 2.4.1.4).
type Opcode byte

// The opcodes.
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

// String returns the opcode in hexadecimal.
func (op Opcode) String() string { return fmt.Sprintf("opcode 0x%02x", byte(op)) }

// The kinds of a RESULT.
const (
	ResultVoid         int32 = 1
	ResultRows         int32 = 2
	ResultSetKeyspace  int32 = 3
	ResultPrepared     int32 = 4
	ResultSchemaChange int32 = 5
)

// The flags of the metadata of a RESULT.
const (
	HasMorePages    int32 = 0x02
	NoMetadata      int32 = 0x04
	MetadataChanged int32 = 0x08
)

// The error codes in responses that nodes send on their own.
const (
	codeProtocol   = 0x000A
	codeUnprepared = 0x2500
	codeInvalid    = 0x2200
)

// The flags of QUERY and EXECUTE.
const (
	flagValues            = 0x01
	flagSkipMetadata      = 0x02
	flagPageSize          = 0x04
	flagPagingState       = 0x08
	flagSerialConsistency = 0x10
	flagTimestamp         = 0x20
)
