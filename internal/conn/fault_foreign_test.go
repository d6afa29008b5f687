// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
)

// Fault 15 at its extreme: the server at the port does not speak the native protocol, or one side alone uses TLS.

// answering returns a dial function for a server that reads some bytes, writes answer, and closes the connection if
// hangUp is set.
func answering(t *testing.T, answer []byte, hangUp bool) func(context.Context, string) (net.Conn, error) {
	return func(context.Context, string) (net.Conn, error) {
		client, server := fakecql.NewPipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = server.Read(make([]byte, 4096))
			_, _ = server.Write(answer)
			if hangUp {
				_ = server.Close()
			}
		}()
		t.Cleanup(func() { _ = server.Close(); <-done })
		return client, nil
	}
}

func TestFault47OtherProtocol(t *testing.T) {
	withTLS := &tls.Config{ServerName: "db"}
	for name, m := range map[string]struct {
		answer []byte
		hangUp bool
		tls    *tls.Config
		want   string
	}{
		"HTTP":                  {[]byte("HTTP/1.1 400 Bad Request\r\n"), false, nil, SpeaksHTTP},
		"HTTP, TLS set":         {[]byte("HTTP/1.1 400 Bad Request\r\n"), true, withTLS, SpeaksHTTP},
		"a TLS alert":           {[]byte{0x15, 3, 3, 0, 2, 2, 10}, true, nil, speaksTLS},
		"a TLS alert, and more": {[]byte{0x15, 3, 1, 0, 2, 2, 10, 0x15, 3, 3}, false, nil, speaksTLS},
		"silence":               {nil, false, nil, silentPlain},
		"an end without a byte": {nil, true, nil, silentPlain},
		"CQL v5, TLS set":       {[]byte{0x85, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 10}, false, withTLS, SpeaksPlain},
		"CQL v4, TLS set":       {[]byte{0x84, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 10}, false, withTLS, SpeaksPlain},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := testConfigOf(&fakecql.Server{Version: frame.V5})
				cfg.Dial, cfg.TLS = answering(t, m.answer, m.hangUp), m.tls
				_, err := Dial(t.Context(), cfg, "127.0.0.1:9042")
				require.ErrorContains(t, err, m.want)
				require.NotContains(t, err.Error(), "impossible length")
				if m.want != silentPlain {
					var broken *cql.ProtocolError
					require.ErrorAs(t, err, &broken)
				}
				if m.answer == nil && !m.hangUp {
					require.ErrorIs(t, err, context.DeadlineExceeded)
				}
			})
		})
	}
}
