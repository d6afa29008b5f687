// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bytes"
	"crypto/tls"
	"errors"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// Servers that speak another protocol at the dialed port: HTTP, TLS although ClusterConfig.TLS is nil, or CQL without
// TLS although it is set. Their first bytes identify them. The errors name the remedy.

const (
	SpeaksHTTP  = "the server speaks HTTP: dial the port of the native protocol, by default 9042"
	speaksTLS   = "the server speaks TLS: set ClusterConfig.TLS"
	SpeaksPlain = "the server speaks the native protocol without TLS: set ClusterConfig.TLS to nil, or dial its port for TLS"
	silentPlain = "no byte received: if the server expects TLS, set ClusterConfig.TLS"
)

// tlsAlert is the first byte of a TLS record with an alert, which refuses what is not TLS (RFC 8446, section 5.1).
const tlsAlert = 0x15

// foreignAnswer returns the error of reading the first frame of a connection, which failed with err.
func (c *Conn) foreignAnswer(err error) error {
	got := c.head[:] // zeros after the bytes received
	switch {
	case bytes.HasPrefix(got, []byte("HTTP/")):
		return &cql.ProtocolError{Message: SpeaksHTTP}
	case IsTLS(c.Sock):
		return err
	case got[0] == tlsAlert && got[1] == 3:
		return &cql.ProtocolError{Message: speaksTLS}
	case c.readAt == 0:
		return errtext.Errorf(silentPlain+": %w", err)
	}
	return err
}

// foreignTLS returns the error of a TLS handshake, which failed with err.
func foreignTLS(err error) error {
	var record tls.RecordHeaderError
	if !errors.As(err, &record) {
		return err
	}
	head := record.RecordHeader[:]
	out := append(bytes.Clone(head), make([]byte, wire.HeaderSize-len(head))...)
	h, malformed := wire.ParseHeader(out)
	switch {
	case bytes.HasPrefix(head, []byte("HTTP/")):
		return &cql.ProtocolError{Message: SpeaksHTTP, Err: err}
	case malformed == nil && h.Response && h.Version >= frame.V3 && h.Version <= frame.V6:
		return &cql.ProtocolError{Message: SpeaksPlain, Err: err}
	}
	return err
}
