// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/fakecql"
)

// Fault 6 at the level of a session: expired certificates.

// TestFault06TLSExpires: the certificate of a running cluster expires and is replaced later. Open connections must stay
// usable. New ones must fail with an error that names the reason, and succeed without a restart once the certificate is
// valid.
func TestFault06TLSExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, client := fakecql.TLSPair(t, "127.0.0.1") // valid for an hour
		time.Sleep(50 * time.Minute)
		fresh, _ := fakecql.TLSPair(t, "127.0.0.1")
		leaf, err := x509.ParseCertificate(fresh.Certificates[0].Certificate[0])
		require.NoError(t, err)
		client.RootCAs.AddCert(leaf)
		var cert atomic.Pointer[tls.Certificate]
		cert.Store(&old.Certificates[0])
		server := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return cert.Load(), nil }}
		c := newCluster(t, fakecql.V5, 1, func(n *fakecql.Node) {
			n.Server.Wrap = func(c net.Conn) net.Conn { return tls.Server(c, server) }
		})
		s := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.TLS = client })
		time.Sleep(30 * time.Minute)
		require.NoError(t, s.Query("INSERT x").Exec(t.Context()), "an open connection outlives the certificate")
		c.Nodes[0].HangUp()
		time.Sleep(time.Minute)
		err = s.Query("INSERT x").Exec(t.Context())
		require.ErrorIs(t, err, vecql.ErrNoConnections)
		var invalid x509.CertificateInvalidError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, x509.Expired, invalid.Reason)
		cert.Store(&fresh.Certificates[0])
		time.Sleep(time.Minute)
		require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
		require.Equal(t, 2, c.Nodes[0].Connections(), "including the control connection")
	})
}
