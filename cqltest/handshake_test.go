// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"crypto/tls"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersions(t *testing.T) {
	for name, test := range map[string]struct {
		cfg       Config
		asked     byte
		answeredV byte // 0 means that the version is supported
	}{
		"v5": {Config{}, 5, 0}, "v4": {Config{}, 4, 0}, "v6": {Config{}, 6, 5}, "v3": {Config{}, 3, 0}, "v2": {Config{}, 2, 5},
		"v7":       {Config{}, 7, 5},
		"v5 at v4": {Config{Protocol: 4}, 5, 4}, "v7 at v4": {Config{Protocol: 4}, 7, 4}, "v5 at ScyllaDB": {Config{Scylla: &Scylla{}}, 5, 4}, "v4 at v3": {Config{Protocol: 3}, 4, 3},
	} {
		t.Run(name, func(t *testing.T) {
			test.cfg.Network, test.cfg.Nodes = InMemory, 1
			c, _ := startFake(t, test.cfg)
			tc := dial(t, c, c.Hosts()[0], test.asked)
			m := tc.call(OpOptions, 0, nil)
			if test.answeredV == 0 {
				require.Equal(t, OpSupported, m.op)
				return
			}
			require.Equal(t, test.answeredV, m.version)
			require.Equal(t, CodeProtocol, m.errorCode(t))
			if test.asked == betaVersion {
				require.Contains(t, string(m.body), "USE_BETA flag is unset")
				tc = dial(t, c, c.Hosts()[0], test.asked)
				require.Equal(t, OpSupported, tc.call(OpOptions, flagBeta, nil).op)
				require.Equal(t, CodeProtocol, tc.call(OpOptions, 0, nil).errorCode(t), "in each request")
			} else {
				require.Contains(t, string(m.body), "unsupported protocol version")
			}
			_, err := tc.tryRead()
			require.ErrorIs(t, err, io.EOF)
		})
	}
}

func TestHandshakeFaults(t *testing.T) {
	c, _ := startFake(t, Config{Network: InMemory, Nodes: 1, MaxRequest: 1000, Users: map[string]string{"u": "p"}})
	n := c.Node(0)
	login := func(tc *testClient, token string) message {
		return tc.call(OpAuthResponse, 0, appendBytes(nil, []byte(token)))
	}
	for _, version := range []byte{4, 5} {
		tc := dial(t, c, n.Addr().String(), version)
		require.Equal(t, CodeProtocol, tc.query("GET ?", "k").errorCode(t), "before STARTUP")
		require.Equal(t, CodeProtocol, tc.call(OpRegister, 0, appendStringList(nil, nil)).errorCode(t))
		require.Equal(t, CodeProtocol, tc.call(OpAuthResponse, 0, appendBytes(nil, nil)).errorCode(t))
		require.Equal(t, CodeProtocol, tc.call(OpStartup, 0, appendShort(nil, 0)).errorCode(t), "no CQL_VERSION")
		require.Equal(t, CodeProtocol, tc.call(OpStartup, 0, []byte("\x00")).errorCode(t), "malformed")
		require.Equal(t, CodeProtocol, tc.call(OpReady, 0, nil).errorCode(t), "not a request")
		require.Equal(t, OpSupported, tc.call(OpOptions, flagBeta, nil).op)
		require.Equal(t, CodeProtocol, tc.startup(OpError, "COMPRESSION", "zip").errorCode(t))
		tc.compression = ""
		class := tc.startup(OpAuthenticate)
		require.Equal(t, appendString(nil, "org.apache.cassandra.auth.PasswordAuthenticator"), class.body)
		require.Equal(t, CodeProtocol, tc.query("GET ?", "k").errorCode(t), "before the password")
		require.Equal(t, CodeCredentials, login(tc, "\x00u\x00wrong").errorCode(t))
		require.Equal(t, CodeCredentials, login(tc, "\x00other\x00p").errorCode(t))
		require.Equal(t, CodeCredentials, login(tc, "nonsense").errorCode(t))
		require.Equal(t, OpAuthSuccess, login(tc, "\x00u\x00p").op)
		require.Equal(t, CodeProtocol, login(tc, "\x00u\x00p").errorCode(t), "a second time")
		require.Empty(t, tc.query("GET ?", "none").rows(t).cells)
		require.Equal(t, CodeProtocol, tc.call(OpRegister, 0, appendStringList(nil, []string{"NOTHING"})).errorCode(t))
		require.Equal(t, CodeInvalid, tc.query("PUT ?, ?", "k", string(make([]byte, 2000))).errorCode(t), "too large")
		require.Equal(t, OpResult, tc.query("PUT ?, ?", "k", "v").op, "the connection stays open")
		require.Equal(t, CodeProtocol, tc.call(OpQuery, 0, []byte{0, 0, 0, 200, 'x'}).errorCode(t))
		require.Equal(t, CodeProtocol, tc.call(OpExecute, 0, []byte{0}).errorCode(t))
		require.Equal(t, CodeProtocol, tc.call(OpBatch, 0, []byte{9}).errorCode(t))
		require.Equal(t, CodeProtocol, tc.call(OpPrepare, 0, nil).errorCode(t))
		payload := appendBytesMap(nil, map[string][]byte{"k": {1}})
		require.Equal(t, OpResult, tc.call(OpQuery, flagPayload, append(payload, tc.queryBody("GET ?", "k")...)).op)
		info := n.Conns()[len(n.Conns())-1]
		require.Equal(t, "u", info.User)
		require.Equal(t, version, info.Version)
		require.True(t, info.Ready)
	}
	tc := dial(t, c, n.Addr().String(), 5)
	tc.startup(OpAuthenticate)
	wire := tc.bytes(OpOptions, 0, nil)
	wire[7] ^= 1
	_, err := tc.sock.Write(wire)
	require.NoError(t, err)
	require.Equal(t, CodeProtocol, tc.read().errorCode(t), "a damaged segment ends the connection")
	_, err = tc.tryRead()
	require.ErrorIs(t, err, io.EOF)

	tc = dial(t, c, n.Addr().String(), 4)
	tc.startup(OpAuthenticate)
	tc.version = 5
	require.Equal(t, CodeProtocol, tc.call(OpOptions, 0, nil).errorCode(t), "another version")

	c.SetAuthenticator("com.example.Other")
	tc = dial(t, c, n.Addr().String(), 4)
	require.Equal(t, appendString(nil, "com.example.Other"), tc.startup(OpAuthenticate).body)
	c.SetUsers(nil)
	connect(t, c, n, 4)

	server, client := tlsConfigs(t)
	c.SetTLS(server)
	plain := dial(t, c, n.Addr().String(), 4)
	_, err = plain.sock.Write(plain.bytes(OpOptions, 0, nil))
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, plain.sock) // an alert, then EOF
	sock, err := c.Dialer().DialContext(t.Context(), "tcp", n.Addr().String())
	require.NoError(t, err)
	client.ServerName = "127.0.0.1"
	require.Equal(t, OpReady, newTestClient(t, tls.Client(sock, client), 5).startup(OpReady).op)
}
