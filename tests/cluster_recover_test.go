// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/soak"
)

// Recovery of a session, without a restart of the program, when everything that it stored about the cluster becomes
// wrong.

// names is a DNS server with one name.
type names struct {
	addrs   atomic.Pointer[[]netip.Addr]
	queries atomic.Int64
}

// serveName makes the process resolve names with a DNS server that has only nodes.cqltest.example, until the test ends.
func serveName(t *testing.T, addrs []netip.Addr) (name string, server *names) {
	n := &names{}
	n.addrs.Store(&addrs)
	old := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe() // a stream, so each message follows its length (RFC 1035, section 4.2.2)
		go n.serve(server)
		return client, nil
	}}
	t.Cleanup(func() { net.DefaultResolver = old })
	return "nodes.cqltest.example", n
}

// serve responds to queries until the client closes the connection.
func (n *names) serve(c net.Conn) {
	defer c.Close()
	for {
		var length [2]byte
		if _, err := io.ReadFull(c, length[:]); err != nil {
			return
		}
		q := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(c, q); err != nil {
			return
		}
		a := n.answer(q)
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(a))), a...)); err != nil {
			return
		}
	}
}

// answer responds to a query for IPv4 addresses with all of them, and to any other with none (RFC 1035, section 4.1).
func (n *names) answer(q []byte) []byte {
	const header = 12
	end := header
	for q[end] != 0 { // skip the labels of the name
		end += 1 + int(q[end])
	}
	end += 1 + 4 // type and class
	var addrs []netip.Addr
	if binary.BigEndian.Uint16(q[end-4:]) == 1 {
		addrs = *n.addrs.Load()
		n.queries.Add(1)
	}
	a := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, byte(len(addrs)), 0, 0, 0, 0}, q[header:end]...)
	for _, addr := range addrs {
		ip := addr.As4()
		a = append(a, 0xC0, header, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4) // the same name, A, IN, no time to live, 4 bytes
		a = append(a, ip[:]...)
	}
	return a
}

// TestClusterAllNodesMove moves all nodes to other addresses at once, without events. The session finds them by
// resolving the contact points again.
func TestClusterAllNodesMove(t *testing.T) {
	for name, network := range map[string]cqltest.Config{
		"cassandra": {Network: cqltest.Addresses}, "scylla": {Scylla: &cqltest.Scylla{Shards: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := cqltest.New(t, network)
			embeddedTable(t, cluster, "3")
			addrs := func() (list []netip.Addr) {
				for _, n := range cluster.Nodes() {
					list = append(list, n.Addr().Addr())
				}
				return list
			}
			host, server := serveName(t, addrs())
			cfg := embeddedConfig(cluster)
			cfg.Hosts, cfg.Port = []string{host}, int(cluster.Node(0).Addr().Port())
			s := open(t, cfg)
			require.Positive(t, server.queries.Load())
			awaitUse(t, cluster, s)
			before := addresses(s)

			cluster.MuteEvents(true)
			for _, n := range cluster.Nodes() {
				n.Kill()
			}
			require.Error(t, s.Query(insertPair, 1, 1).Idempotent(true).Exec(t.Context()))
			for _, n := range cluster.Nodes() {
				require.NoError(t, n.Move(netip.Addr{}))
			}
			moved := addrs()
			server.addrs.Store(&moved)
			t.Logf("all nodes served requests again after %v", awaitUse(t, cluster, s).Round(time.Millisecond))
			requireAddresses(t, cluster, s)
			for id, addr := range addresses(s) {
				require.Contains(t, before, id)
				require.NotEqual(t, before[id], addr)
			}
		})
	}
}

// rotating is an Authenticator whose password changes while the program runs.
type rotating struct{ password *atomic.Pointer[string] }

func (r rotating) Challenge(req []byte) ([]byte, cql.Authenticator, error) {
	return vecql.PasswordAuthenticator{Username: "user", Password: *r.password.Load()}.Challenge(req)
}

func (r rotating) Success([]byte) error { return nil }

// TestClusterPasswordRotated changes the password on the servers, which close all connections, and only later in the
// program. The session must not retry logins without backoff in between, and must recover afterwards.
func TestClusterPasswordRotated(t *testing.T) {
	soak.NoRace(t)
	synctest.Test(t, func(t *testing.T) {
		cluster := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory, Users: map[string]string{"user": "old"}})
		embeddedTable(t, cluster, "3")
		auth := rotating{new(atomic.Pointer[string])}
		before, now := "old", "new"
		auth.password.Store(&before)
		cfg := embeddedConfig(cluster)
		cfg.Authenticator, cfg.Pool.Dialer = auth, cluster.Dialer()
		s := open(t, cfg)
		awaitUse(t, cluster, s)
		cluster.SetUsers(map[string]string{"user": "new"})
		cluster.ResetStats()
		for _, n := range cluster.Nodes() {
			n.CloseConns()
		}
		time.Sleep(10 * time.Minute)
		err := s.Query(insertPair, 1, 1).Idempotent(true).Exec(t.Context())
		require.ErrorIs(t, err, cql.CodeCredentials, "the error contains the reason of the failed connections")
		logins := cluster.Stats().Requests[cqltest.OpAuthResponse]
		t.Logf("%d logins failed in ten minutes", logins)
		require.Greater(t, logins, 10)
		require.Less(t, logins, 200)
		auth.password.Store(&now)
		t.Logf("all nodes served requests again %v after the program changed its password", awaitUse(t, cluster, s).Round(time.Millisecond))
	})
}

// authority is a certificate authority.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(crand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{cert, key}
}

// sign returns a certificate for the loopback address.
func (a *authority) sign(t *testing.T, serial int64, from, to time.Time) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "node"}, NotBefore: from, NotAfter: to, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(crand.Reader, template, a.cert, &key.PublicKey, a.key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestClusterCertificateReplaced replaces the certificates of servers with mutual TLS: first with an expired one, which
// the session must reject, then with a valid one of another serial number, while the client's certificate changes too.
func TestClusterCertificateReplaced(t *testing.T) {
	ca := newAuthority(t)
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	server := func(cert tls.Certificate) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	}
	now := time.Now()
	first, expired, next := ca.sign(t, 2, now.Add(-time.Hour), now.Add(time.Hour)), ca.sign(t, 3, now.Add(-time.Hour), now.Add(-time.Minute)),
		ca.sign(t, 4, now.Add(-time.Hour), now.Add(time.Hour))
	cluster := cqltest.New(t, cqltest.Config{TLS: server(first)})
	embeddedTable(t, cluster, "3")
	var own atomic.Pointer[tls.Certificate]
	var serial atomic.Int64
	cert := ca.sign(t, 5, now.Add(-time.Hour), now.Add(time.Hour))
	own.Store(&cert)
	cfg := embeddedConfig(cluster)
	cfg.TLS = &tls.Config{
		RootCAs:              pool,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own.Load(), nil },
		VerifyConnection: func(st tls.ConnectionState) error {
			serial.Store(st.PeerCertificates[0].SerialNumber.Int64())
			return nil
		},
	}
	s := open(t, cfg)
	awaitUse(t, cluster, s)
	require.EqualValues(t, 2, serial.Load())
	closeAll := func() {
		for _, n := range cluster.Nodes() {
			n.CloseConns()
		}
	}
	cluster.SetTLS(server(expired))
	closeAll()
	require.Eventually(t, func() bool {
		var wrong x509.CertificateInvalidError
		err := s.Query(insertPair, 1, 1).Idempotent(true).Exec(context.Background())
		return errors.As(err, &wrong) && wrong.Reason == x509.Expired
	}, 5*time.Second, time.Millisecond, "the error contains the reason of the failed connections")
	cluster.SetTLS(server(next))
	other := ca.sign(t, 6, now.Add(-time.Hour), now.Add(time.Hour))
	own.Store(&other)
	t.Logf("all nodes served requests again after %v", awaitUse(t, cluster, s).Round(time.Millisecond))
	require.EqualValues(t, 4, serial.Load())
}
