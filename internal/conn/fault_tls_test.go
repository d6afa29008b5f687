// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/wire"
)

// Fault 6 on one connection: TLS peers that hang up, present a wrong certificate or renegotiate. The driver must never
// continue without TLS.

// tapConn records the bytes written.
type tapConn struct {
	net.Conn
	mu      sync.Mutex
	written []byte
}

func (c *tapConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.written = append(c.written, b...)
	c.mu.Unlock()
	return c.Conn.Write(b)
}

func (c *tapConn) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.written)
}

// tap stores a tapConn of the connection's socket in *to.
func tap(to **tapConn) func(*Config) {
	return func(cfg *Config) {
		dial := cfg.Dial
		cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			c, err := dial(ctx, addr)
			*to = &tapConn{Conn: c}
			return *to, err
		}
	}
}

// requireOnlyTLS checks that b consists of TLS records without CQL in plaintext.
func requireOnlyTLS(t *testing.T, b []byte) {
	t.Helper()
	require.NotContains(t, string(b), "CQL_VERSION")
	for len(b) > 0 {
		require.GreaterOrEqual(t, len(b), 5)
		require.Contains(t, []byte{20, 21, 22, 23}, b[0], "not a TLS record: % x", b[:5])
		b = b[5+int(binary.BigEndian.Uint16(b[3:])):]
	}
}

// TestFault06TLSRefused: the certificate of the server is expired, for another name or of an unknown authority, or the
// server does not use TLS. The dial must fail with an error that names the cause, and send no CQL in plaintext.
func TestFault06TLSRefused(t *testing.T) {
	server, client := fakecql.TLSPair(t, "127.0.0.1")
	elsewhere, trusting := fakecql.TLSPair(t, "db.example")
	_, unknownCA := fakecql.TLSPair(t, "127.0.0.1")
	later := client.Clone()
	later.Time = func() time.Time { return time.Now().Add(2 * time.Hour) }
	overTLS := func(cfg *tls.Config) func(net.Conn) net.Conn {
		return func(c net.Conn) net.Conn { return tls.Server(c, cfg) }
	}
	for _, m := range []struct {
		name   string
		client *tls.Config
		server func(net.Conn) net.Conn
		check  func(err error) bool
	}{
		{"expired", later, overTLS(server), func(err error) bool {
			var e x509.CertificateInvalidError
			return errors.As(err, &e) && e.Reason == x509.Expired
		}},
		{"wrong name", trusting, overTLS(elsewhere), func(err error) bool {
			var e x509.HostnameError
			return errors.As(err, &e)
		}},
		{"unknown authority", unknownCA, overTLS(server), func(err error) bool {
			var e x509.UnknownAuthorityError
			return errors.As(err, &e)
		}},
		{"a server that hangs up", client, func(c net.Conn) net.Conn {
			_, _ = c.Read(make([]byte, 100))
			_ = c.Close()
			return c
		}, func(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) }},
		{"a server that responds in plaintext", client, func(c net.Conn) net.Conn {
			_, _ = c.Write([]byte{0x85, 0, 0, 0, 2, 0, 0, 0, 0}) // READY
			return c
		}, func(err error) bool {
			var e tls.RecordHeaderError
			return errors.As(err, &e)
		}},
	} {
		t.Run(m.name, func(t *testing.T) {
			before := outstanding.Load()
			var sock *tapConn
			s := &fakecql.Server{Version: 5, Wrap: m.server}
			_, err := dialInMemory(s, tap(&sock), func(cfg *Config) { cfg.TLS = m.client })
			require.ErrorContains(t, err, "tls: ")
			require.NotContains(t, err.Error(), "tls: tls: ")
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			require.True(t, m.check(err), "%v", err)
			requireOnlyTLS(t, sock.bytes())
			s.Stop()
			require.Equal(t, before, outstanding.Load())
		})
	}
}

// TestFault06TLSCut: the server closes the socket inside a record, during the handshake or in a response. The call must
// fail at once.
func TestFault06TLSCut(t *testing.T) {
	server, client := fakecql.TLSPair(t, "127.0.0.1")
	before := outstanding.Load()
	attempt := func(budget int) (passed int, err error) {
		line := &fakecql.CutLine{Left: budget, HangUp: true}
		var sock *tapConn
		s := &fakecql.Server{Version: 5, Wrap: func(c net.Conn) net.Conn { return tls.Server(line.Wrap(c), server) }}
		c, err := dialInMemory(s, tap(&sock), func(cfg *Config) { cfg.TLS = client })
		if err == nil {
			_, err = c.ask(context.Background(), "question")
			if err != nil {
				require.ErrorIs(t, err, ErrClosed, "cut after %d bytes", budget)
			}
			endConn(c, s)
		}
		s.Stop()
		requireOnlyTLS(t, sock.bytes())
		return line.Passed(), err
	}
	whole, err := attempt(1 << 30)
	require.NoError(t, err)
	for n := 0; ; n++ {
		began := time.Now()
		passed, err := attempt(n)
		if err == nil { // the length of signatures varies by a byte or two
			require.Equal(t, n, max(n, passed))
			require.InDelta(t, whole, passed, 10)
			break
		}
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.Less(t, time.Since(began), 30*time.Second, "cut after %d bytes: it hung", n)
		if n < whole-120 {
			n += 30 // fewer cuts: handshakes take time, and the certificate is long
		}
	}
	require.Equal(t, before, outstanding.Load())
}

// TestFault06TLSRenegotiation: the server requests a new handshake (HelloRequest, RFC 5246, section 7.4.1.1), which
// could present another certificate. The connection must close with an error that names the renegotiation.
func TestFault06TLSRenegotiation(t *testing.T) {
	server, client := fakecql.TLSPair(t, "127.0.0.1")
	var secrets bytes.Buffer
	server.KeyLogWriter = &secrets
	server.MaxVersion = tls.VersionTLS12
	server.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
	var below *tapConn
	s := &fakecql.Server{Version: 5, Wrap: func(c net.Conn) net.Conn {
		below = &tapConn{Conn: c}
		return tls.Server(below, server)
	}}
	s.Handle = func(p *fakecql.Conn, h wire.Header, _ []byte) {
		_, _ = below.Write(helloRequest(t, below.bytes(), secrets.String()))
	}
	c := connectInMemory(t, s, func(cfg *Config) { cfg.TLS = client })
	_, err := c.ask(context.Background(), "question")
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorContains(t, err, "no renegotiation")
	require.True(t, mayHaveLeft(err))
	endConn(c, s)
}

// helloRequest returns the encrypted record of a HelloRequest that follows the records in sent. keyLog is in the format
// of tls.Config.KeyLogWriter; the cipher is AES-128-GCM (RFC 5288).
func helloRequest(t *testing.T, sent []byte, keyLog string) []byte {
	fields := strings.Fields(keyLog)
	require.Equal(t, "CLIENT_RANDOM", fields[0])
	clientRandom, err := hex.DecodeString(fields[1])
	require.NoError(t, err)
	master, err := hex.DecodeString(fields[2])
	require.NoError(t, err)
	serverRandom := sent[11:43] // of the ServerHello in the first record
	seq, encrypted := uint64(0), false
	for b := sent; len(b) > 0; b = b[5+int(binary.BigEndian.Uint16(b[3:])):] {
		if encrypted {
			seq++
		}
		encrypted = encrypted || b[0] == 20 // ChangeCipherSpec
	}
	sum := func(b ...[]byte) []byte {
		h := hmac.New(sha256.New, master)
		for _, part := range b {
			h.Write(part)
		}
		return h.Sum(nil)
	}
	seed := append(append([]byte("key expansion"), serverRandom...), clientRandom...)
	var keys []byte // client's key, server's key, client's nonce, server's nonce: RFC 5246, section 6.3
	for a := sum(seed); len(keys) < 16+16+4+4; a = sum(a) {
		keys = append(keys, sum(a, seed)...)
	}
	block, err := aes.NewCipher(keys[16:32])
	require.NoError(t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)
	explicit := binary.BigEndian.AppendUint64(nil, seq)
	message := []byte{0, 0, 0, 0}
	extra := append(bytes.Clone(explicit), 22, 3, 3, 0, byte(len(message)))
	sealed := gcm.Seal(nil, append(bytes.Clone(keys[36:40]), explicit...), message, extra)
	record := append([]byte{22, 3, 3, 0, byte(len(explicit) + len(sealed))}, explicit...)
	return append(record, sealed...)
}
