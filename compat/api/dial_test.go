// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vecql/vecql/cql"
)

func TestPortOfAnAddress(t *testing.T) {
	for addr, want := range map[string]string{
		"10.0.0.1": "10.0.0.1:9042", "10.0.0.1:1": "10.0.0.1:1", " name ": "name:9042", " name:2 ": "name:2", "::1": "[::1]:9042", "[::1]:3": "[::1]:3",
	} {
		require.Equal(t, want, JoinHostPort(addr, 9042))
	}
}

func TestTimeoutOfZeroDoesNotEnd(t *testing.T) {
	require.Equal(t, time.Duration(1), OrNever(1))
	require.Greater(t, OrNever(0), 365*24*time.Hour)
	require.Greater(t, OrNever(-1), 365*24*time.Hour)
}

// dials is a HostDialer of a module whose HostInfo is a text.
type dials struct {
	conn net.Conn
	err  error
	host string
}

func (d *dials) DialHost(_ context.Context, host string) (*DialedHost, error) {
	if d.host = host; d.err != nil {
		return nil, d.err
	}
	return &DialedHost{Conn: d.conn}, nil
}

func TestHostDialerOfTheProgramGetsTheNode(t *testing.T) {
	conn, other := net.Pipe()
	defer conn.Close()
	defer other.Close()
	d := &dials{conn: conn}
	adapted := AdaptHostDialer(d, func(*cql.Host) string { return "node" })
	got, err := adapted.DialHost(t.Context(), nil, "")
	require.NoError(t, err)
	require.Equal(t, conn, got)
	require.Equal(t, "node", d.host)
	d.err = errors.New("refused")
	_, err = adapted.DialHost(t.Context(), nil, "")
	require.Equal(t, d.err, err)
}

// TestWrapTLSVerifiesTheNameOfTheAddress, unless the configuration has one.
func TestWrapTLSVerifiesTheNameOfTheAddress(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS() // with a certificate for example.com
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	for _, test := range []struct {
		addr   string
		config *tls.Config
		ok     bool
	}{
		{"example.com:9042", &tls.Config{RootCAs: pool}, true},
		{"example.com", &tls.Config{RootCAs: pool}, true},
		{"other.org:9042", &tls.Config{RootCAs: pool}, false},
		{"other.org:9042", &tls.Config{RootCAs: pool, ServerName: "example.com"}, true},
		{"example.com:9042", &tls.Config{RootCAs: pool, ServerName: "other.org"}, false},
		{"other.org:9042", &tls.Config{InsecureSkipVerify: true}, true},
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		name := test.config.ServerName
		dialed, err := WrapTLS(t.Context(), conn, test.addr, test.config)
		require.Equal(t, test.ok, err == nil, "%s: %v", test.addr, err)
		require.Equal(t, name, test.config.ServerName, "the configuration of the program is not changed")
		if err == nil {
			require.IsType(t, &tls.Conn{}, dialed.Conn)
			require.True(t, dialed.DisableCoalesce)
			require.NoError(t, dialed.Conn.Close())
		} else {
			require.ErrorIs(t, conn.SetDeadline(time.Time{}), net.ErrClosed)
		}
	}
	conn, other := net.Pipe()
	defer conn.Close()
	defer other.Close()
	dialed, err := WrapTLS(t.Context(), conn, "example.com", nil)
	require.NoError(t, err)
	require.Equal(t, &DialedHost{Conn: conn}, dialed)
}

func TestOptionsOfTLS(t *testing.T) {
	config, err := TLSConfig(nil)
	require.NoError(t, err)
	require.Nil(t, config)
	config, err = TLSConfig(&SslOptions{Config: &tls.Config{ServerName: "name", InsecureSkipVerify: true}})
	require.NoError(t, err)
	require.Equal(t, "name", config.ServerName)
	require.True(t, config.InsecureSkipVerify)
	config, err = TLSConfig(&SslOptions{Config: &tls.Config{InsecureSkipVerify: true}, EnableHostVerification: true})
	require.NoError(t, err)
	require.False(t, config.InsecureSkipVerify)
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, o := range []SslOptions{{CaPath: "none.pem"}, {CertPath: "none.pem", KeyPath: empty}, {CertPath: empty, KeyPath: "none.pem"}} {
		_, err := TLSConfig(&o)
		require.ErrorContains(t, err, "none.pem", "%+v", o)
	}
}
