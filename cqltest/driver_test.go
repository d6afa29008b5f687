// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/leak"
)

// Tests of the nodes with the driver, which shares no frame code with them.

// requireNothingLeft fails if a goroutine of a cluster or of the driver is left.
func requireNothingLeft(t testing.TB) {
	t.Helper()
	leak.RequireNone(t, leak.Driver)
	leak.RequireNone(t, func() []string { return leak.Of(leak.Module + "/cqltest") })
}

// tlsConfigs returns the configurations of a server on the loopback addresses and of its clients.
func tlsConfigs(t testing.TB) (server, client *tls.Config) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "cqltest"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, &tls.Config{RootCAs: pool}
}

// clusterConfig returns a driver's configuration for c.
func clusterConfig(c *Cluster) *vecql.ClusterConfig {
	cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
	cfg.Logger = slog.New(slog.DiscardHandler)
	cfg.Defaults.Consistency = cql.One
	if c.memory != nil {
		cfg.Pool.Dialer = c.Dialer()
	}
	return cfg
}

func TestDriverOverFake(t *testing.T) {
	server, client := tlsConfigs(t)
	users := map[string]string{"user": "password"}
	for name, m := range map[string]struct {
		cluster Config
		change  func(cfg *vecql.ClusterConfig)
	}{
		"v5":           {Config{}, nil},
		"v4":           {Config{Protocol: 4}, nil},
		"v6":           {Config{}, func(cfg *vecql.ClusterConfig) { cfg.Protocol.Beta = true }},
		"v6 lz4":       {Config{}, func(cfg *vecql.ClusterConfig) { cfg.Protocol.Beta, cfg.Compressor = true, vecql.LZ4Compressor{} }},
		"beta of v4":   {Config{Protocol: 4}, func(cfg *vecql.ClusterConfig) { cfg.Protocol.Beta = true }},
		"v3":           {Config{Protocol: 3}, nil},
		"v3 lz4":       {Config{Protocol: 3}, func(cfg *vecql.ClusterConfig) { cfg.Compressor = vecql.LZ4Compressor{} }},
		"v3 snappy":    {Config{}, func(cfg *vecql.ClusterConfig) { cfg.Compressor, cfg.Protocol.Version = vecql.SnappyCompressor{}, 3 }},
		"v5 lz4":       {Config{}, func(cfg *vecql.ClusterConfig) { cfg.Compressor = vecql.LZ4Compressor{} }},
		"v4 lz4":       {Config{Protocol: 4}, func(cfg *vecql.ClusterConfig) { cfg.Compressor = vecql.LZ4Compressor{} }},
		"v4 snappy":    {Config{Protocol: 4}, func(cfg *vecql.ClusterConfig) { cfg.Compressor, cfg.Protocol.Version = vecql.SnappyCompressor{}, 4 }},
		"TLS":          {Config{TLS: server}, func(cfg *vecql.ClusterConfig) { cfg.TLS = client }},
		"memory":       {Config{Network: InMemory}, nil},
		"small window": {Config{Network: InMemory, Window: 16}, nil},
		"addresses":    {Config{Network: Addresses}, nil},
		"scylla":       {Config{Scylla: &Scylla{}}, nil},
		"password": {Config{Users: users}, func(cfg *vecql.ClusterConfig) {
			cfg.Authenticator = vecql.PasswordAuthenticator{Username: "user", Password: "password"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			defer requireNothingLeft(t)
			c, _ := startFake(t, m.cluster)
			cfg := clusterConfig(c)
			if m.change != nil {
				m.change(cfg)
			}
			s, err := vecql.NewSession(t.Context(), *cfg)
			require.NoError(t, err)
			defer c.Close()
			defer s.Close()
			require.Len(t, s.GetHosts(), 3)
			require.Equal(t, strings.HasPrefix(name, "v6"), s.ProtoVersion() == betaVersion)
			for i := range 50 {
				require.NoError(t, s.Query("PUT ?, ?", fmt.Sprint("key ", i), strings.Repeat("v", i*37)).Exec(t.Context()))
			}
			for i := range 50 {
				var v string
				require.NoError(t, s.Query("GET ?", fmt.Sprint("key ", i)).Scan(t.Context(), &v))
				require.Len(t, v, i*37)
			}
			it := s.Query("LIST").PageSize(7).Iter(t.Context())
			n := 0
			for it.Scan(nil) {
				n++
			}
			require.NoError(t, it.Close())
			require.Equal(t, 50, n)
			if _, ok := cfg.Authenticator.(vecql.PasswordAuthenticator); ok {
				cfg.Authenticator = vecql.PasswordAuthenticator{Username: "user", Password: "wrong"}
				_, err := vecql.NewSession(t.Context(), *cfg)
				require.ErrorIs(t, err, cql.CodeCredentials)
			}
		})
	}
}

func TestDriverInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := startFake(t, Config{Network: InMemory})
		s, err := vecql.NewSession(t.Context(), *clusterConfig(c))
		require.NoError(t, err)
		began := time.Now()
		c.Inject(Fault{Op: OpExecute, Statement: "PUT", Delay: 3 * time.Second, Times: 1})
		require.NoError(t, s.Query("PUT ?, ?", "k", "v").Exec(t.Context()))
		require.Equal(t, 3*time.Second, time.Since(began).Truncate(time.Second))
		c.Node(1).Kill()
		time.Sleep(time.Minute)
		require.NoError(t, c.Node(1).Restart())
		time.Sleep(time.Minute)
		require.NotEmpty(t, c.Node(1).Conns())
		for range 9 {
			require.NoError(t, s.Query("PUT ?, ?", "k", "v").Exec(t.Context()))
		}
		s.Close()
		c.Close()
		synctest.Wait()
		requireNothingLeft(t)
	})
}
