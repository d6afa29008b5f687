// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of the start of a connection: version, authentication, TLS.

func TestConnAuthentication(t *testing.T) {
	rounds := 0
	s := &fakecql.Server{Version: 5, Auth: "com.example.Rounds"}
	s.Handle = func(p *fakecql.Conn, h wire.Header, body []byte) {
		switch rounds++; {
		case opcode(h.Opcode) != opAuthResponse:
			fakecql.Echo(p, h, body)
		case rounds < 3:
			p.Reply(h.Stream, fakecql.OpAuthChallenge, []byte("\x00\x00\x00\x01?"))
		default:
			p.Reply(h.Stream, fakecql.OpAuthSuccess, []byte("\x00\x00\x00\x02ok"))
		}
	}
	addr := s.Listen(t)
	dial := func(auth Authenticator) error {
		rounds = 0
		cfg := testConfigOf(s)
		cfg.auth = auth
		c, err := dialConn(context.Background(), cfg, addr)
		if err == nil {
			c.close(errDrained)
			<-c.tasks.Done()
		}
		return err
	}
	a := &roundsAuthenticator{}
	require.NoError(t, dial(a))
	require.Equal(t, []string{"com.example.Rounds", "?", "?"}, a.challenges)
	require.Equal(t, "ok", a.success)
	require.ErrorContains(t, dial(nil), "requires credentials")
	require.ErrorContains(t, dial(PasswordAuthenticator{}), "com.example.Rounds")
	err := dial(&roundsAuthenticator{panics: true})
	var login *loginError
	require.ErrorAs(t, err, &login, "reconnection waits as after a refused login")
	require.ErrorContains(t, err, "authenticate: panic: oops")
	require.ErrorContains(t, dial(&roundsAuthenticator{successPanics: true}), "authenticate: panic: oops")
}

// otherStream moves the frames of a server from stream 0 to stream 1.
type otherStream struct{ net.Conn }

func (c otherStream) Write(b []byte) (int, error) {
	moved := bytes.Clone(b)
	moved[3] = 1
	return c.Conn.Write(moved)
}

func TestConnHandshakeOnOtherStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakecql.Server{Version: 4, Wrap: func(c net.Conn) net.Conn { return otherStream{c} }}
		_, err := dialInMemory(s)
		var broken *ProtocolError
		require.ErrorAs(t, err, &broken)
		require.ErrorContains(t, err, "answered on stream 1")
		s.Stop()
	})
}

// TestConnAuthenticationIsBounded: a server sends one challenge after the other.
func TestConnAuthenticationIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakecql.Server{Version: 5, Auth: "com.example.Rounds"}
		rounds := 0
		s.Handle = func(p *fakecql.Conn, h wire.Header, _ []byte) {
			if rounds++; rounds > 10*maxChallenges {
				_ = p.Conn.Close()
				return
			}
			p.Reply(h.Stream, fakecql.OpAuthChallenge, []byte("\x00\x00\x00\x01?"))
		}
		_, err := dialInMemory(s, func(cfg *connConfig) { cfg.auth = &roundsAuthenticator{} })
		var broken *ProtocolError
		require.ErrorAs(t, err, &broken)
		require.ErrorContains(t, err, "more than 16 challenges")
		require.Equal(t, maxChallenges, rounds)
		s.Stop()
	})
}

type roundsAuthenticator struct {
	challenges []string
	success    string
	panics     bool // in Challenge

	successPanics bool
}

func (a *roundsAuthenticator) Challenge(req []byte) ([]byte, Authenticator, error) {
	if a.panics {
		panic("oops")
	}
	a.challenges = append(a.challenges, string(req))
	return []byte("r"), a, nil
}

func (a *roundsAuthenticator) Success(data []byte) error {
	if a.successPanics {
		panic("oops")
	}
	a.success = string(data)
	return nil
}

func TestConnTLS(t *testing.T) {
	for _, m := range []struct {
		name, certificate, serverName string
	}{
		{"by address", "127.0.0.1", ""},
		{"by another name", "db.example", "db.example"},
	} {
		t.Run(m.name, func(t *testing.T) {
			server, client := fakecql.TLSPair(t, m.certificate)
			client.ServerName = m.serverName
			s := &fakecql.Server{Version: 5, Handle: fakecql.Echo, Wrap: func(c net.Conn) net.Conn { return tls.Server(c, server) }}
			cfg := testConfigOf(s)
			cfg.tls = client
			c, err := dialConn(context.Background(), cfg, s.Listen(t))
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
			require.NoError(t, c.drain(ctx, EndClosed))
		})
	}
}
