// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// What the first bytes of a server that does not speak CQL mean.

// TestFirstBytesWithoutTLS requires the remedy in the error of a first frame that cannot be read. Over TLS the server
// has shown that it speaks TLS.
func TestFirstBytesWithoutTLS(t *testing.T) {
	for _, m := range []struct {
		head    string
		overTLS bool
		want    string // empty means the error itself
	}{
		{"HTTP/1.1 ", false, SpeaksHTTP},
		{"HTTP/1.1 ", true, SpeaksHTTP},
		{"HTTP", false, ""},
		{"\x15\x03\x03\x00\x02", false, speaksTLS},
		{"\x15\x03\x01", false, speaksTLS},
		{"\x15\x03\x01", true, ""},
		{"\x15\x02", false, ""},
		{"\x14\x03\x01", false, ""},
		{"\x16\x03\x01", false, ""},
		{"", false, silentPlain + ": EOF"},
		{"", true, ""},
	} {
		c := newIdleConn()
		copy(c.head[:], m.head)
		if m.head != "" {
			c.readAt = 1
		}
		if m.overTLS {
			c.Sock = tls.Client(c.Sock, nil)
		}
		err := c.foreignAnswer(io.EOF)
		if m.want == "" {
			require.Equal(t, io.EOF, err, "%q", m.head)
			continue
		}
		require.ErrorContains(t, err, m.want, "%q", m.head)
		var broken *cql.ProtocolError
		require.Equal(t, m.head != "", errors.As(err, &broken), "%q", m.head)
	}
}

// TestFirstBytesInPlaceOfTLS requires the remedy in the error of a TLS handshake with a server that answers without
// TLS: HTTP, or a response of a known version of CQL.
func TestFirstBytesInPlaceOfTLS(t *testing.T) {
	for _, m := range []struct{ head, want string }{
		{"HTTP/", SpeaksHTTP},
		{"HTTPS", ""},
		{"\x83\x00\x00\x00\x00", SpeaksPlain},
		{"\x84\x00\x00\x00\x00", SpeaksPlain},
		{"\x85\x00\x00\x00\x00", SpeaksPlain},
		{"\x82\x00\x00\x00\x00", ""},
		{"\x86\x00\x00\x00\x00", SpeaksPlain},
		{"\x87\x00\x00\x00\x00", ""},
		{"\x04\x00\x00\x00\x00", ""},
		{"SSH-2", ""},
	} {
		refused := fmt.Errorf("handshake: %w", tls.RecordHeaderError{Msg: "no TLS record", RecordHeader: [5]byte([]byte(m.head))})
		err := foreignTLS(refused)
		require.ErrorIs(t, err, refused)
		var broken *cql.ProtocolError
		require.Equal(t, m.want != "", errors.As(err, &broken), "%q", m.head)
		require.ErrorContains(t, err, m.want)
	}
	require.Equal(t, io.EOF, foreignTLS(io.EOF))
}
