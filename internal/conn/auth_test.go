// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/stats"
)

// Tests of the start of a connection: version, authentication, TLS.

func TestConnAuthentication(t *testing.T) {
	rounds := 0
	s := &fakecql.Server{Version: 5, Auth: "com.example.Rounds"}
	s.Handle = func(p *fakecql.Conn, h wire.Header, body []byte) {
		switch rounds++; {
		case frame.Opcode(h.Opcode) != frame.OpAuthResponse:
			fakecql.Echo(p, h, body)
		case rounds < 3:
			p.Reply(h.Stream, fakecql.OpAuthChallenge, []byte("\x00\x00\x00\x01?"))
		default:
			p.Reply(h.Stream, fakecql.OpAuthSuccess, []byte("\x00\x00\x00\x02ok"))
		}
	}
	addr := s.Listen(t)
	dial := func(auth cql.Authenticator) error {
		rounds = 0
		cfg := testConfigOf(s)
		cfg.Auth = auth
		c, err := Dial(context.Background(), cfg, addr)
		if err == nil {
			c.Close(ErrDrained)
			<-c.tasks.Done()
		}
		return err
	}
	a := &roundsAuthenticator{}
	require.NoError(t, dial(a))
	require.Equal(t, []string{"com.example.Rounds", "?", "?"}, a.challenges)
	require.Equal(t, "ok", a.success)
	require.ErrorContains(t, dial(nil), "requires credentials")
	require.ErrorContains(t, dial(plainLogin{}), "com.example.Rounds")
	err := dial(&roundsAuthenticator{panics: true})
	var login *LoginError
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
		var broken *cql.ProtocolError
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
		_, err := dialInMemory(s, func(cfg *Config) { cfg.Auth = &roundsAuthenticator{} })
		var broken *cql.ProtocolError
		require.ErrorAs(t, err, &broken)
		require.ErrorContains(t, err, "more than 16 challenges")
		require.Equal(t, maxChallenges, rounds)
		s.Stop()
	})
}

// otherAnswer has a server answer with other frames of v4.
type otherAnswer struct {
	net.Conn
	change func(frame []byte) []byte
}

func (c otherAnswer) Write(b []byte) (int, error) {
	_, err := c.Conn.Write(c.change(bytes.Clone(b)))
	return len(b), err
}

// frameV4 returns a frame of v4 on stream 0.
func frameV4(op frame.Opcode, body string) []byte {
	return append([]byte{0x84, 0, 0, 0, byte(op), 0, 0, 0, byte(len(body))}, body...)
}

// TestConnHandshakeRefusesAnswers requires that an unexpected or damaged answer at any step of the handshake is an
// error with its cause, and leaves no buffer.
func TestConnHandshakeRefusesAnswers(t *testing.T) {
	const accepted, challenge = "\x00\x00\x00\x02ok", "\x00\x00\x00\x01?"
	overloaded := string(fakecql.AppendString(wire.AppendInt(nil, int32(cql.CodeOverloaded)), "later"))
	withFlags := func(op frame.Opcode, flags byte, body string) []byte {
		b := frameV4(op, body)
		b[1] = flags
		return b
	}
	ofVersion := func(version byte, op frame.Opcode) []byte {
		b := frameV4(op, "")
		b[0] = 0x80 | version
		return b
	}
	for name, m := range map[string]struct {
		instead frame.Opcode // of the answer that is replaced
		auth    bool
		frame   []byte
		want    string
	}{
		"OPTIONS: READY":            {frame.OpSupported, false, frameV4(frame.OpReady, ""), "OPTIONS answered with READY"},
		"OPTIONS: half a map":       {frame.OpSupported, false, frameV4(frame.OpSupported, "\x00\x05"), "SUPPORTED"},
		"OPTIONS: an error":         {frame.OpSupported, false, frameV4(frame.OpError, overloaded), "later"},
		"STARTUP: SUPPORTED":        {frame.OpReady, false, frameV4(frame.OpSupported, "\x00\x00"), "STARTUP answered with SUPPORTED"},
		"STARTUP: an error":         {frame.OpReady, false, frameV4(frame.OpError, overloaded), "later"},
		"STARTUP: half an envelope": {frame.OpReady, false, withFlags(frame.OpReady, wire.FlagWarning, "\x00"), "malformed frame"},
		"STARTUP: another version":  {frame.OpReady, false, ofVersion(3, frame.OpReady), "READY in a frame of v3"},
		"AUTHENTICATE: cut off":     {frame.OpAuthenticate, true, frameV4(frame.OpAuthenticate, "\x00\x05org"), "AUTHENTICATE"},
		"AUTH_RESPONSE: READY":      {frame.OpAuthSuccess, true, frameV4(frame.OpReady, accepted), "AUTH_RESPONSE answered with READY"},
		"AUTH_RESPONSE: cut off":    {frame.OpAuthSuccess, true, frameV4(frame.OpAuthSuccess, "\x00\x00\x00\x05ok"), "token"},
		"AUTH_RESPONSE: an error":   {frame.OpAuthSuccess, true, frameV4(frame.OpError, overloaded), "authenticate: "},
		"a challenge too many":      {frame.OpAuthSuccess, true, frameV4(frame.OpAuthChallenge, challenge), "the Authenticator expects no further one"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := outstanding.Load()
				s := &fakecql.Server{Version: 4, Handle: func(p *fakecql.Conn, h wire.Header, _ []byte) {
					p.Reply(h.Stream, fakecql.OpAuthSuccess, []byte(accepted))
				}}
				if m.auth {
					s.Auth = passwordClass
				}
				s.Wrap = func(c net.Conn) net.Conn {
					return otherAnswer{c, func(out []byte) []byte {
						if frame.Opcode(out[4]) == m.instead {
							return m.frame
						}
						return out
					}}
				}
				_, err := dialInMemory(s, func(cfg *Config) { cfg.Auth = plainLogin{} })
				require.ErrorContains(t, err, m.want)
				require.NotContains(t, err.Error(), "%!")
				if m.frame[4] == byte(frame.OpError) {
					require.ErrorIs(t, err, cql.CodeOverloaded)
				}
				s.Stop()
				require.Equal(t, before, outstanding.Load())
			})
		})
	}
}

// TestConnVersionErrors requires that the error of a dial names another version only if the server does not support the
// version that was tried: by the text of its error, or by a frame of another version.
func TestConnVersionErrors(t *testing.T) {
	failure := func(version byte, code cql.Code, text string) []byte {
		b := frameV4(frame.OpError, string(fakecql.AppendString(wire.AppendInt(nil, int32(code)), text)))
		b[0] = 0x80 | version
		return b
	}
	for name, m := range map[string]struct {
		frame     []byte
		supported byte // 0 means another error
	}{
		"an unsupported version":     {failure(4, cql.CodeProtocol, "Invalid or unsupported protocol version (4)"), 4},
		"a frame of another version": {failure(3, cql.CodeProtocol, "unknown"), 3},
		"a malformed message":        {failure(4, cql.CodeProtocol, "truncated body"), 0},
		"an overloaded server":       {failure(4, cql.CodeOverloaded, "of protocol version 4"), 0},
	} {
		for _, instead := range []frame.Opcode{frame.OpSupported, frame.OpReady} {
			synctest.Test(t, func(t *testing.T) {
				s := &fakecql.Server{Version: 4, Wrap: func(c net.Conn) net.Conn {
					return otherAnswer{c, func(out []byte) []byte {
						if frame.Opcode(out[4]) == instead {
							return m.frame
						}
						return out
					}}
				}}
				_, err := dialInMemory(s)
				require.Error(t, err)
				var other *VersionError
				require.Equal(t, m.supported != 0, errors.As(err, &other), "%s: %v", name, err)
				if other != nil {
					require.Equal(t, m.supported, other.Supported, name)
				}
				s.Stop()
			})
		}
	}
}

// namelessConn is a socket of the program without an address.
type namelessConn struct{ net.Conn }

func (namelessConn) LocalAddr() net.Addr { return nil }

// TestConnLocalAddress requires that the address of a socket is in the snapshot, and empty if the socket has none.
func TestConnLocalAddress(t *testing.T) {
	for _, nameless := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &fakecql.Server{Version: 5}
			want := ":0"
			c := connectInMemory(t, s, func(cfg *Config) {
				dial := cfg.Dial
				if nameless {
					want = ""
					cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
						c, err := dial(ctx, addr)
						return namelessConn{c}, err
					}
				}
			})
			require.Equal(t, want, c.Stats().Local)
			require.Nil(t, c.options, "an idle connection does not keep them")
			endConn(c, s)
		})
	}
}

// endingAuthenticator ends the context of the connection at its last step.
type endingAuthenticator struct {
	plainLogin
	cancel context.CancelFunc
}

func (a endingAuthenticator) Challenge([]byte) ([]byte, cql.Authenticator, error) { return nil, a, nil }

func (a endingAuthenticator) Success([]byte) error { a.cancel(); return nil }

// TestConnDialEndsWithItsContext requires that a context that ends at the last step of a handshake returns no
// connection, and that one that ends later changes nothing.
func TestConnDialEndsWithItsContext(t *testing.T) {
	for _, early := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := &fakecql.Server{Version: 5, Auth: "com.example.Any", Handle: func(p *fakecql.Conn, h wire.Header, b []byte) {
				if frame.Opcode(h.Opcode) == frame.OpAuthResponse {
					p.Reply(h.Stream, fakecql.OpAuthSuccess, []byte("\x00\x00\x00\x02ok"))
				} else {
					fakecql.Echo(p, h, b)
				}
			}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			auth := endingAuthenticator{cancel: func() {}}
			if early {
				auth.cancel = cancel
			}
			client, server := fakecql.NewPipe()
			s.Accept(server)
			c, err := Dial(ctx, &Config{
				Version: 5, Auth: auth, Dial: func(context.Context, string) (net.Conn, error) { return client, nil },
			}, "127.0.0.1:9042")
			if early {
				require.ErrorIs(t, err, context.Canceled)
				s.Stop()
				return
			}
			require.NoError(t, err)
			cancel()
			synctest.Wait()
			_, err = c.ask(t.Context(), "question")
			require.NoError(t, err)
			endConn(c, s)
		})
	}
}

// TestConnDialErrors requires that the error of a dialer names the operation once.
func TestConnDialErrors(t *testing.T) {
	for op, want := range map[string]string{"dial": "vecql: dial tcp: refused", "read": "vecql: dial: read tcp: refused"} {
		_, err := Dial(t.Context(), &Config{Version: 5, Dial: func(context.Context, string) (net.Conn, error) {
			return nil, &net.OpError{Op: op, Net: "tcp", Err: errors.New("refused")}
		}}, "127.0.0.1:9042")
		require.EqualError(t, err, want)
	}
	_, err := Dial(t.Context(), &Config{Version: 5, Dial: func(context.Context, string) (net.Conn, error) {
		return nil, io.ErrClosedPipe
	}}, "127.0.0.1:9042")
	require.EqualError(t, err, "vecql: dial: io: read/write on closed pipe")
}

// TestConnSelectsCompression requires that a connection uses the compression that the server and the version of the
// protocol support, and logs that there is none.
func TestConnSelectsCompression(t *testing.T) {
	for _, m := range []struct {
		version byte
		server  []string
		wanted  cql.Compressor
		used    bool
	}{
		{4, []string{"snappy", "lz4"}, frame.LZ4{}, true},
		{4, []string{"snappy", "lz4"}, frame.Snappy{}, true},
		{4, []string{"snappy"}, frame.LZ4{}, false},
		{4, []string{"lz4"}, nil, false},
		{5, []string{"snappy", "lz4"}, frame.LZ4{}, true},
		{5, []string{"snappy", "lz4"}, frame.Snappy{}, false},
		{5, nil, frame.LZ4{}, false},
	} {
		for _, logs := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				s := &fakecql.Server{Version: m.version, Supported: func(*fakecql.Conn) map[string][]string {
					return map[string][]string{"COMPRESSION": m.server}
				}}
				if m.used {
					s.Compressor = m.wanted
				}
				counter, logger := fakecql.NewLogCounter()
				c := connectInMemory(t, s, func(cfg *Config) {
					if cfg.Compressor = m.wanted; !logs {
						logger = nil
					}
					cfg.Logger = logger
				})
				defer endConn(c, s)
				require.Equal(t, m.used, c.compress != nil, "%+v", m)
				warned := counter.Of("no compression: the server or the protocol version does not support it")
				require.Equal(t, logs && m.wanted != nil && !m.used, warned == 1, "%+v", m)
				question := strings.Repeat("x", 10_000)
				answer, err := c.ask(t.Context(), question)
				require.NoError(t, err)
				require.Equal(t, question, answer)
			})
		}
	}
}

type roundsAuthenticator struct {
	challenges []string
	success    string
	panics     bool // in Challenge

	successPanics bool
}

func (a *roundsAuthenticator) Challenge(req []byte) ([]byte, cql.Authenticator, error) {
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
			cfg.TLS = client
			c, err := Dial(context.Background(), cfg, s.Listen(t))
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
			require.NoError(t, c.Drain(ctx, stats.EndClosed))
		})
	}
}

// TestConnDialsItself requires that a connection without a dialer of the program dials the address.
func TestConnDialsItself(t *testing.T) {
	c := connectTo(t, &fakecql.Server{Version: 5}, func(cfg *Config) { cfg.Dial = nil })
	answer, err := c.ask(t.Context(), "question")
	require.NoError(t, err)
	require.Equal(t, "question", answer)
}

// passwordClass is the server's class for user names and passwords.
const passwordClass = "org.apache.cassandra.auth.PasswordAuthenticator"

// plainLogin sends a user name and a password to passwordClass only.
type plainLogin struct{}

func (plainLogin) Challenge(class []byte) ([]byte, cql.Authenticator, error) {
	if string(class) != passwordClass {
		return nil, nil, fmt.Errorf("unknown authenticator %q", class)
	}
	return []byte("\x00u\x00p"), nil, nil
}

func (plainLogin) Success([]byte) error { return nil }
