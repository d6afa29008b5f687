// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
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
		"HTTP":                  {[]byte("HTTP/1.1 400 Bad Request\r\n"), false, nil, speaksHTTP},
		"HTTP, TLS set":         {[]byte("HTTP/1.1 400 Bad Request\r\n"), true, withTLS, speaksHTTP},
		"a TLS alert":           {[]byte{0x15, 3, 3, 0, 2, 2, 10}, true, nil, speaksTLS},
		"a TLS alert, and more": {[]byte{0x15, 3, 1, 0, 2, 2, 10, 0x15, 3, 3}, false, nil, speaksTLS},
		"silence":               {nil, false, nil, silentPlain},
		"an end without a byte": {nil, true, nil, silentPlain},
		"CQL v5, TLS set":       {[]byte{0x85, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 10}, false, withTLS, speaksPlain},
		"CQL v4, TLS set":       {[]byte{0x84, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 10}, false, withTLS, speaksPlain},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := testConfigOf(&fakecql.Server{Version: frame.V5})
				cfg.dial, cfg.tls = answering(t, m.answer, m.hangUp), m.tls
				_, err := dialConn(t.Context(), cfg, "127.0.0.1:9042")
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

// TestFault47OtherProtocolOfServers is TestFault47OtherProtocol with servers of other packages.
func TestFault47OtherProtocolOfServers(t *testing.T) {
	serverTLS, clientTLS := fakecql.TLSPair(t, "127.0.0.1")
	web, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{ReadHeaderTimeout: 100 * time.Millisecond}
	go func() { _ = server.Serve(web) }()
	t.Cleanup(func() { _ = server.Close() })
	secured, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = secured.Close() })
	go func() {
		for {
			conn, err := secured.Accept()
			if err != nil {
				return
			}
			_ = tls.Server(conn, serverTLS).Handshake()
			_ = conn.Close()
		}
	}()
	plain := cqltest.New(t, cqltest.Config{Nodes: 1})
	for name, m := range map[string]struct {
		addr string
		tls  *tls.Config
		want string
	}{
		"a web server":                 {web.Addr().String(), nil, speaksHTTP},
		"a web server, TLS set":        {web.Addr().String(), clientTLS, speaksHTTP},
		"a server with TLS":            {secured.Addr().String(), nil, "ClusterConfig.TLS"},
		"a server without it, TLS set": {plain.Hosts()[0], clientTLS, speaksPlain},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := &ClusterConfig{Hosts: []string{m.addr}}
			cfg.TLS, cfg.ConnectTimeout = m.tls, 5*time.Second
			_, err := NewSession(t.Context(), *cfg)
			require.ErrorIs(t, err, ErrNoConnectionsStarted)
			require.ErrorContains(t, err, m.want)
			require.ErrorContains(t, err, "node "+m.addr)
			t.Log(err)
		})
	}
}
