// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
	"github.com/apache/cassandra-gocql-driver/v2/snappy"
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// Connections: dialers, TLS, authentication, compression, protocol versions.

// hostDialer dials the nodes of a cluster and counts.
type hostDialer struct {
	dialer *cqltest.Dialer
	known  atomic.Int32 // dials with a host id
}

func (d *hostDialer) DialHost(ctx context.Context, host *gocql.HostInfo) (*gocql.DialedHost, error) {
	if host.HostID() != "" {
		d.known.Add(1)
	}
	conn, err := d.dialer.DialContext(ctx, "tcp", host.ConnectAddressAndPort())
	if err != nil {
		return nil, err
	}
	return gocql.WrapTLS(ctx, conn, host.HostnameAndPort(), nil)
}

func TestHostDialer(t *testing.T) {
	cluster, cfg := start(t, 2)
	d := &hostDialer{dialer: cluster.Dialer()}
	cfg.Dialer, cfg.HostDialer = nil, d
	s := connect(t, cfg)
	require.NoError(t, s.Query(insert, 1).Exec())
	require.Positive(t, d.known.Load())
}

func TestAuthentication(t *testing.T) {
	cluster, cfg := start(t, 1)
	cluster.SetUsers(map[string]string{"ann": "secret"})
	_, err := cfg.CreateSession()
	require.Error(t, err)
	cfg.Authenticator = gocql.PasswordAuthenticator{Username: "ann", Password: "secret"}
	require.NoError(t, connect(t, cfg).Query(insert, 1).Exec())
	cfg.Authenticator = gocql.PasswordAuthenticator{Username: "ann", Password: "secret", AllowedAuthenticators: []string{"other"}}
	_, err = cfg.CreateSession()
	require.Error(t, err)

	var hosts atomic.Int32
	cfg.Authenticator = nil
	cfg.AuthProvider = func(h *gocql.HostInfo) (gocql.Authenticator, error) {
		if h.ConnectAddress() != nil {
			hosts.Add(1)
		}
		return gocql.PasswordAuthenticator{Username: "ann", Password: "secret"}, nil
	}
	require.NoError(t, connect(t, cfg).Query(insert, 1).Exec())
	require.Positive(t, hosts.Load())
}

// Certificates are verified by default; the options' own switch is respected.
func TestTLSOptions(t *testing.T) {
	server := httptest.NewUnstartedServer(nil) // for its certificate
	server.StartTLS()
	defer server.Close()
	cluster, cfg := start(t, 1)
	cluster.SetTLS(&tls.Config{Certificates: server.TLS.Certificates})
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(ca, block, 0o600))
	connects := func(o *gocql.SslOptions) bool {
		cfg.SslOpts = o
		s, err := cfg.CreateSession()
		if err == nil {
			s.Close()
		}
		return err == nil
	}
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	named := func() *tls.Config { return &tls.Config{ServerName: "example.com", RootCAs: pool} }
	require.False(t, connects(&gocql.SslOptions{}), "unknown issuer")
	require.False(t, connects(&gocql.SslOptions{CaPath: ca}), "another name")
	require.True(t, connects(&gocql.SslOptions{CaPath: ca, Config: &tls.Config{ServerName: "example.com"}}))
	require.True(t, connects(&gocql.SslOptions{Config: named()}))
	require.True(t, connects(&gocql.SslOptions{Config: &tls.Config{InsecureSkipVerify: true}}))
	require.False(t, connects(&gocql.SslOptions{Config: &tls.Config{InsecureSkipVerify: true}, EnableHostVerification: true}))
	require.False(t, connects(&gocql.SslOptions{CaPath: "absent.pem"}))

	cfg.SslOpts = nil
	cfg.HostDialer, cfg.Dialer = tlsDialer{cluster.Dialer(), named()}, nil
	require.NoError(t, connect(t, cfg).Query(insert, 1).Exec(), "a HostDialer does TLS itself")
}

type tlsDialer struct {
	dialer *cqltest.Dialer
	config *tls.Config
}

func (d tlsDialer) DialHost(ctx context.Context, host *gocql.HostInfo) (*gocql.DialedHost, error) {
	conn, err := d.dialer.DialContext(ctx, "tcp", host.ConnectAddressAndPort())
	if err != nil {
		return nil, err
	}
	return gocql.WrapTLS(ctx, conn, host.HostnameAndPort(), d.config)
}

func TestCompressors(t *testing.T) {
	for _, c := range []struct {
		compressor gocql.Compressor
		version    int
	}{
		{lz4.LZ4Compressor{}, 5},
		{&lz4.LZ4Compressor{}, 4},
		{snappy.SnappyCompressor{}, 4},
		{&snappy.SnappyCompressor{}, 3},
	} {
		cluster, cfg := start(t, 1)
		cfg.Compressor, cfg.ProtoVersion = c.compressor, c.version
		s := connect(t, cfg)
		require.NoError(t, s.Query(insert, 1).Exec())
		for _, conn := range cluster.Node(0).Conns() {
			if !conn.Ready {
				continue
			}
			require.Equal(t, c.compressor.Name(), conn.Compression)
			require.EqualValues(t, max(c.version, 4), conn.Version)
		}
	}
}

// The options of protocol v5 have no effect on v4.
func TestOptionsOfProtocolV5(t *testing.T) {
	cluster, cfg := start(t, 1)
	require.NoError(t, cluster.Exec("CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"))
	require.NoError(t, cluster.Exec("CREATE TABLE other.items (id int PRIMARY KEY)"))
	for _, version := range []int{4, 5} {
		cfg.ProtoVersion = version
		s := connect(t, cfg)
		require.NoError(t, s.Query(insert, version).SetKeyspace("other").WithNowInSeconds(1).Exec())
		require.NoError(t, s.Batch(gocql.LoggedBatch).SetKeyspace("other").WithNowInSeconds(1).Query(insert, 10+version).Exec())
	}
	s := connect(t, cfg)
	var n int
	require.NoError(t, s.Query("SELECT count(*) FROM other.items").Scan(&n))
	require.Equal(t, 2, n)
	require.NoError(t, s.Query("SELECT count(*) FROM shop.items").Scan(&n))
	require.Equal(t, 2, n)
}

func TestContactPointsOnly(t *testing.T) {
	cluster, cfg := start(t, 3)
	cfg.Hosts = cfg.Hosts[:1]
	cfg.DisableInitialHostLookup = true
	s := connect(t, cfg)
	require.Len(t, s.GetHosts(), 1)
	require.NoError(t, s.Query(insert, 1).Exec())
	require.Empty(t, cluster.Node(2).Conns())
}

// The session of vecql shares the connections.
func TestVecql(t *testing.T) {
	_, s := open(t)
	require.NoError(t, s.Query("INSERT INTO items (id, name) VALUES (1, 'lamp')").Exec())
	type item struct {
		ID   int
		Name string
	}
	one, err := vecql.OneRow[item](context.Background(), s.Vecql().Query("SELECT id, name FROM items WHERE id = ?", 1))
	require.NoError(t, err)
	require.Equal(t, item{1, "lamp"}, one)
}

func TestWrapTLSClosesTheConnection(t *testing.T) {
	client, server := net.Pipe()
	require.NoError(t, server.Close())
	_, err := gocql.WrapTLS(context.Background(), client, "example.com:9042", &tls.Config{})
	require.Error(t, err)
	_, err = client.Write(nil)
	require.Error(t, err)
}
