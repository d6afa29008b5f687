// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"hash/crc32"
	"net"
	"time"

	api "github.com/vecql/vecql/compat/api"
)

// Names that the API exports although programs have no use for them: connections, and checksums of segments.

// errNotHere means that a name of the API exists for the compiler only.
var errNotHere = errors.New("gocql: not available: vecql has no connections that programs use")

// A Conn is a connection. No function returns one: vecql has no connections that programs use.
type Conn struct{ _ uncomparable }

// uncomparable makes a struct that has it as a field incomparable, as the API's structs are.
type uncomparable [0]func()

// Write returns an error.
func (c *Conn) Write([]byte) (n int, err error) { return 0, errNotHere }

// Close does nothing.
func (c *Conn) Close() {}

// Pick returns c.
func (c *Conn) Pick(*Query) *Conn { return c }

// Closed reports true.
func (c *Conn) Closed() bool { return true }

// Address returns the empty text.
func (c *Conn) Address() string { return "" }

// AvailableStreams returns 0.
func (c *Conn) AvailableStreams() int { return 0 }

// UseKeyspace returns an error.
func (c *Conn) UseKeyspace(string) error { return errNotHere }

// A ConnConfig is the configuration of connections. No function takes or returns one.
type ConnConfig api.ConnConfig[*HostInfo, Compressor, Authenticator, StructuredLogger]

// A ConnReader is a connection with a read timeout.
type ConnReader interface {
	net.Conn
	SetTimeout(timeout time.Duration)
	GetTimeout() time.Duration
}

// Crc32 returns the checksum of the payload of a segment (native_protocol_v5.spec, section 2.2).
func Crc32(b []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte{0xFA, 0x2D, 0x55, 0xCA}), crc32.IEEETable, b)
}

// Crc24 returns the checksum of the header of a segment (native_protocol_v5.spec, section 2.2).
func Crc24(buf []byte) uint32 {
	crc := uint32(0x875060)
	for _, b := range buf {
		crc ^= uint32(b) << 16
		for range 8 {
			if crc <<= 1; crc&0x1000000 != 0 {
				crc ^= 0x1974F0B
			}
		}
	}
	return crc
}
