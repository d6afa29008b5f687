// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"fmt"
)

// The frame header (native_protocol_v4.spec, section 2; the envelope header of v5, section 2.4.1).

// HeaderSize is the length of a frame header.
const HeaderSize = 9

// Header flags (section 2.4.1.2).
const (
	FlagCompressed    byte = 0x01 // v4 only: v5 compresses segments
	FlagTracing       byte = 0x02
	FlagCustomPayload byte = 0x04
	FlagWarning       byte = 0x08
	FlagBeta          byte = 0x10
)

// responseBit is the bit of the version byte that marks frames from a server.
const responseBit = 0x80

// A Header is a frame header.
type Header struct {
	Version  byte // without the direction bit
	Response bool
	Flags    byte
	Stream   int16
	Opcode   byte
	Length   int // of the body
}

// PutHeader encodes h into the first HeaderSize bytes of dst.
func PutHeader(dst []byte, h Header) {
	_ = dst[HeaderSize-1]
	dst[0] = h.Version
	if h.Response {
		dst[0] |= responseBit
	}
	dst[1] = h.Flags
	binary.BigEndian.PutUint16(dst[2:], uint16(h.Stream))
	dst[4] = h.Opcode
	binary.BigEndian.PutUint32(dst[5:], uint32(h.Length))
}

// ParseHeader parses a header from the first HeaderSize bytes of b. It returns an error if the length is negative or
// above MaxBody.
func ParseHeader(b []byte) (Header, error) {
	_ = b[HeaderSize-1]
	h := Header{
		Version:  b[0] &^ responseBit,
		Response: b[0]&responseBit != 0,
		Flags:    b[1],
		Stream:   int16(binary.BigEndian.Uint16(b[2:])),
		Opcode:   b[4],
	}
	n := binary.BigEndian.Uint32(b[5:])
	if n > MaxBody {
		return h, fmt.Errorf("%w: frame body of %d bytes, the limit is %d", ErrLength, n, MaxBody)
	}
	h.Length = int(n)
	return h, nil
}
