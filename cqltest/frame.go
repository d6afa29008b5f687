// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"sort"
)

// Frames and the notations of their bodies (native_protocol_v4.spec and v5.spec, sections 2 and 3). The code is written
// from the specification alone and shares nothing with the driver, so that each checks the other.

// An Opcode is the kind of a message (section 2.4.1.4).
type Opcode byte

// Opcodes (section 2.4.1.4).
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

const opcodes = 0x11 // one more than the last

var opcodeNames = [opcodes]string{
	"ERROR", "STARTUP", "READY", "AUTHENTICATE", "", "OPTIONS", "SUPPORTED", "QUERY", "RESULT", "PREPARE", "EXECUTE",
	"REGISTER", "EVENT", "BATCH", "AUTH_CHALLENGE", "AUTH_RESPONSE", "AUTH_SUCCESS",
}

// String returns the name in the specification.
func (o Opcode) String() string {
	if int(o) < len(opcodeNames) && opcodeNames[o] != "" {
		return opcodeNames[o]
	}
	return fmt.Sprintf("opcode 0x%02X", byte(o))
}

// request reports whether clients send messages of this opcode.
func (o Opcode) request() bool {
	switch o {
	case OpStartup, OpOptions, OpQuery, OpPrepare, OpExecute, OpRegister, OpBatch, OpAuthResponse:
		return true
	}
	return false
}

// Flags of a frame (section 2.4.1.2).
const (
	flagCompressed byte = 0x01 // v4 only
	flagTracing    byte = 0x02
	flagPayload    byte = 0x04
	flagWarning    byte = 0x08
	flagBeta       byte = 0x10
)

const (
	headerSize  = 9
	responseBit = 0x80
	eventStream = -1
)

// header is the header of a frame.
type header struct {
	version  byte // without the direction bit
	response bool
	flags    byte
	stream   int16
	op       Opcode
	length   uint32 // of the body
}

// parseHeader reads the first headerSize bytes of b.
func parseHeader(b []byte) header {
	return header{
		version:  b[0] &^ responseBit,
		response: b[0]&responseBit != 0,
		flags:    b[1],
		stream:   int16(binary.BigEndian.Uint16(b[2:])),
		op:       Opcode(b[4]),
		length:   binary.BigEndian.Uint32(b[5:]),
	}
}

// appendFrame appends a response frame.
func appendFrame(dst []byte, h header, body []byte) []byte {
	dst = append(dst, h.version|responseBit, h.flags, byte(uint16(h.stream)>>8), byte(h.stream), byte(h.op))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(body)))
	return append(dst, body...)
}

// errMalformed means that a body ends early or has impossible lengths.
var errMalformed = errors.New("malformed body")

// reader reads a body from its front. After the first error it returns zero values, so that callers read all fields and
// check err once at the end. Returned bytes alias the body.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", errMalformed, fmt.Sprintf(format, args...))
	}
}

// take reads n bytes.
func (r *reader) take(n int, what string) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.b) {
		r.fail("%s of %d bytes, %d left", what, n, len(r.b))
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1, "[byte]"); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) short() uint16 {
	if b := r.take(2, "[short]"); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) int() int32 {
	if b := r.take(4, "[int]"); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) long() int64 {
	if b := r.take(8, "[long]"); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) string() string     { return string(r.take(int(r.short()), "[string]")) }
func (r *reader) longString() string { return string(r.take(int(r.int()), "[long string]")) }
func (r *reader) shortBytes() []byte { return r.take(int(r.short()), "[short bytes]") }

// bytes reads [bytes]: any negative length is null.
func (r *reader) bytes() []byte {
	n := r.int()
	if n < 0 {
		return nil
	}
	return r.take(int(n), "[bytes]")
}

// count reads a [short] that counts items of at least size bytes. It fails if the rest of the body is too short for
// them, which bounds allocations by the bytes received.
func (r *reader) count(size int) int {
	n := int(r.short())
	if r.err == nil && n > len(r.b)/size {
		r.fail("%d items in %d bytes", n, len(r.b))
		return 0
	}
	return n
}

func (r *reader) stringList() []string {
	list := make([]string, 0, 4)
	for n := r.count(2); n > 0; n-- {
		list = append(list, r.string())
	}
	return list
}

func (r *reader) stringMap() map[string]string {
	m := map[string]string{}
	for n := r.count(4); n > 0; n-- {
		k := r.string()
		m[k] = r.string()
	}
	return m
}

func (r *reader) bytesMap() map[string][]byte {
	m := map[string][]byte{}
	for n := r.count(6); n > 0; n-- {
		k := r.string()
		m[k] = r.bytes()
	}
	return m
}

func appendShort(dst []byte, n int) []byte { return binary.BigEndian.AppendUint16(dst, uint16(n)) }
func appendInt(dst []byte, n int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(n)) }
func appendLong(dst []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(n))
}

// appendString appends a [string], truncated to the limit of 65535 bytes.
func appendString(dst []byte, s string) []byte {
	s = s[:min(len(s), math.MaxUint16)]
	return append(appendShort(dst, len(s)), s...)
}

func appendShortBytes(dst, b []byte) []byte { return append(appendShort(dst, len(b)), b...) }

// appendBytes appends [bytes]; nil is null.
func appendBytes(dst, b []byte) []byte {
	if b == nil {
		return appendInt(dst, -1)
	}
	return append(appendInt(dst, int32(len(b))), b...)
}

func appendStringList(dst []byte, list []string) []byte {
	dst = appendShort(dst, len(list))
	for _, s := range list {
		dst = appendString(dst, s)
	}
	return dst
}

// appendStringMultimap appends the keys in sorted order, so that equal options have equal bytes.
func appendStringMultimap(dst []byte, m map[string][]string) []byte {
	dst = appendShort(dst, len(m))
	for _, k := range sortedKeys(m) {
		dst = appendStringList(appendString(dst, k), m[k])
	}
	return dst
}

func appendBytesMap(dst []byte, m map[string][]byte) []byte {
	dst = appendShort(dst, len(m))
	for _, k := range sortedKeys(m) {
		dst = appendBytes(appendString(dst, k), m[k])
	}
	return dst
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// appendInetAddr appends an [inetaddr].
func appendInetAddr(dst []byte, a netip.Addr) []byte {
	b := a.Unmap().AsSlice()
	return append(append(dst, byte(len(b))), b...)
}

// appendInet appends an [inet].
func appendInet(dst []byte, a netip.AddrPort) []byte {
	return appendInt(appendInetAddr(dst, a.Addr()), int32(a.Port()))
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
