// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file tests how a connection begins: version, authentication, TLS.

func TestConnAuthentication(t *testing.T) {
	rounds := 0
	s := &fakeServer{version: 5, auth: "com.example.Rounds"}
	s.handle = func(p *fakePeer, h wire.Header, body []byte) {
		switch rounds++; {
		case opcode(h.Opcode) != opAuthResponse:
			echo(p, h, body)
		case rounds < 3:
			p.reply(h.Stream, opAuthChallenge, []byte("\x00\x00\x00\x01?"))
		default:
			p.reply(h.Stream, opAuthSuccess, []byte("\x00\x00\x00\x02ok"))
		}
	}
	addr := s.listen(t)
	dial := func(auth Authenticator) error {
		rounds = 0
		cfg := s.testConfig()
		cfg.auth = auth
		c, err := dialConn(context.Background(), cfg, addr)
		if err == nil {
			c.close(errDrained)
			<-c.gone
		}
		return err
	}
	a := &roundsAuthenticator{}
	require.NoError(t, dial(a))
	require.Equal(t, []string{"com.example.Rounds", "?", "?"}, a.challenges)
	require.Equal(t, "ok", a.success)
	require.ErrorContains(t, dial(nil), "wants credentials")
	require.ErrorContains(t, dial(PasswordAuthenticator{}), "com.example.Rounds")
	require.ErrorContains(t, dial(&roundsAuthenticator{panics: true}), "panic: oops")
}

type roundsAuthenticator struct {
	challenges []string
	success    string
	panics     bool
}

func (a *roundsAuthenticator) Challenge(req []byte) ([]byte, Authenticator, error) {
	if a.panics {
		panic("oops")
	}
	a.challenges = append(a.challenges, string(req))
	return []byte("r"), a, nil
}

func (a *roundsAuthenticator) Success(data []byte) error { a.success = string(data); return nil }

// selfSigned returns a certificate for name and a pool that trusts it.
func selfSigned(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func TestConnTLS(t *testing.T) {
	for _, m := range []struct {
		name, certificate, serverName string
	}{
		{"by address", "127.0.0.1", ""},
		{"by another name", "db.example", "db.example"},
	} {
		t.Run(m.name, func(t *testing.T) {
			server, client := tlsPair(t, m.certificate)
			client.ServerName = m.serverName
			s := &fakeServer{version: 5, handle: echo, wrap: func(c net.Conn) net.Conn { return tls.Server(c, server) }}
			cfg := s.testConfig()
			cfg.tls = client
			c, err := dialConn(context.Background(), cfg, s.listen(t))
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			var wg sync.WaitGroup
			for i := range 50 {
				wg.Go(func() {
					question := strings.Repeat(fmt.Sprint(i), 1000)
					if answer, err := c.ask(ctx, question); err != nil || answer != question {
						t.Errorf("got %.20q, %v", answer, err)
					}
				})
			}
			wg.Wait()
			require.NoError(t, c.drain(ctx))
		})
	}
}
