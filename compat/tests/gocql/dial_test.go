// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// serverTLS returns the configuration of a server on 127.0.0.1, and a file with the certificate of its authority.
func serverTLS(t *testing.T) (server *tls.Config, caFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, caFile
}

// TestTLSVerifiesServersUnlessItsOwnSwitchIsOff.
func TestTLSVerifiesServersUnlessItsOwnSwitchIsOff(t *testing.T) {
	server, caFile := serverTLS(t)
	c := newCluster(t, cqltest.Config{TLS: server, Nodes: 1})
	for name, test := range map[string]struct {
		opts gocql.SslOptions
		ok   bool
	}{
		"authority of the server": {gocql.SslOptions{CaPath: caFile}, true},
		"verification asked for":  {gocql.SslOptions{CaPath: caFile, EnableHostVerification: true}, true},
		"another authority":       {gocql.SslOptions{}, false},
		"own switch":              {gocql.SslOptions{Config: &tls.Config{InsecureSkipVerify: true}}, true},
		"own switch overridden":   {gocql.SslOptions{Config: &tls.Config{InsecureSkipVerify: true}, EnableHostVerification: true}, false},
		"no such file":            {gocql.SslOptions{CaPath: "none.pem"}, false},
		"no certificate":          {gocql.SslOptions{CertPath: caFile, KeyPath: caFile}, false},
	} {
		cfg := gocql.NewCluster(c.Hosts()...)
		cfg.SslOpts, cfg.Consistency = &test.opts, gocql.One
		s, err := cfg.CreateSession()
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			s.Close()
		}
	}
}

// hostDialer records the nodes that it dials.
type hostDialer struct {
	mu    sync.Mutex
	hosts []*gocql.HostInfo
	tls   *tls.Config
}

func (d *hostDialer) DialHost(ctx context.Context, host *gocql.HostInfo) (*gocql.DialedHost, error) {
	d.mu.Lock()
	d.hosts = append(d.hosts, host)
	d.mu.Unlock()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host.ConnectAddressAndPort())
	if err != nil {
		return nil, err
	}
	return gocql.WrapTLS(ctx, conn, host.ConnectAddressAndPort(), d.tls)
}

// TestHostDialer receives the node of each connection and does TLS itself.
func TestHostDialer(t *testing.T) {
	server, caFile := serverTLS(t)
	ca, err := os.ReadFile(caFile)
	if err != nil {
		t.Fatal(err)
	}
	d := &hostDialer{tls: &tls.Config{RootCAs: x509.NewCertPool()}}
	d.tls.RootCAs.AppendCertsFromPEM(ca)
	for name, opts := range map[string]*gocql.SslOptions{"SslOpts nil": nil, "SslOpts ignored": {}} {
		c := newCluster(t, cqltest.Config{TLS: server, Nodes: 1})
		s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
			cfg.HostDialer, cfg.SslOpts, cfg.Consistency = d, opts, gocql.One
		})
		run(t, s, "INSERT INTO items (id) VALUES (?)", 1)
		d.mu.Lock()
		if !slices.ContainsFunc(d.hosts, func(h *gocql.HostInfo) bool { return h.HostID() != "" && h.DataCenter() == "datacenter1" }) {
			t.Error(name, d.hosts)
		}
		d.mu.Unlock()
	}
}

// TestAuthentication by an Authenticator, and by an AuthProvider for each node.
func TestAuthentication(t *testing.T) {
	c := newCluster(t, cqltest.Config{Users: map[string]string{"ann": "secret"}, Nodes: 1})
	connect := func(change func(*gocql.ClusterConfig)) error {
		cfg := gocql.NewCluster(c.Hosts()...)
		cfg.Consistency = gocql.One
		change(cfg)
		s, err := cfg.CreateSession()
		if err == nil {
			s.Close()
		}
		return err
	}
	right := gocql.PasswordAuthenticator{Username: "ann", Password: "secret"}
	if err := connect(func(cfg *gocql.ClusterConfig) { cfg.Authenticator = right }); err != nil {
		t.Error(err)
	}
	if err := connect(func(cfg *gocql.ClusterConfig) { cfg.Authenticator = gocql.PasswordAuthenticator{Username: "ann"} }); err == nil {
		t.Error("a wrong password was accepted")
	}
	if err := connect(func(cfg *gocql.ClusterConfig) { cfg.Authenticator = twoSteps{right} }); err != nil {
		t.Error("an Authenticator of the program:", err)
	}
	var mu sync.Mutex
	var asked []*gocql.HostInfo
	provider := func(h *gocql.HostInfo) (gocql.Authenticator, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, h)
		return right, nil
	}
	if err := connect(func(cfg *gocql.ClusterConfig) { cfg.AuthProvider = provider }); err != nil || len(asked) == 0 || asked[0] == nil {
		t.Error(asked, err)
	}
	if err := connect(func(cfg *gocql.ClusterConfig) { cfg.AuthProvider, cfg.Authenticator = provider, right }); err == nil {
		t.Error("both were accepted")
	}
}

// twoSteps is an Authenticator of a program.
type twoSteps struct{ gocql.PasswordAuthenticator }

func (a twoSteps) Challenge(req []byte) ([]byte, gocql.Authenticator, error) {
	resp, _, err := a.PasswordAuthenticator.Challenge(req)
	return resp, a, err
}

// connections records the opened connections, frames and streams.
type connections struct {
	mu       sync.Mutex
	opened   []gocql.ObservedConnect
	frames   []gocql.ObservedFrameHeader
	started  int
	finished int
}

func (c *connections) lock() func() { c.mu.Lock(); return c.mu.Unlock }

func (c *connections) ObserveConnect(o gocql.ObservedConnect) {
	defer c.lock()()
	c.opened = append(c.opened, o)
}

func (c *connections) ObserveFrameHeader(_ context.Context, o gocql.ObservedFrameHeader) {
	defer c.lock()()
	c.frames = append(c.frames, o)
}

func (c *connections) StreamContext(context.Context) gocql.StreamObserverContext { return c }
func (c *connections) StreamStarted(gocql.ObservedStream)                        { defer c.lock()(); c.started++ }
func (c *connections) StreamAbandoned(gocql.ObservedStream)                      {}
func (c *connections) StreamFinished(gocql.ObservedStream)                       { defer c.lock()(); c.finished++ }

// TestObserversOfConnections, frames and streams.
func TestObserversOfConnections(t *testing.T) {
	o := &connections{}
	s := newSession(t, newCluster(t, cqltest.Config{}), func(cfg *gocql.ClusterConfig) {
		cfg.ConnectObserver, cfg.FrameHeaderObserver, cfg.StreamObserver = o, o, o
	})
	run(t, s, "SELECT id FROM items")
	defer o.lock()()
	if len(o.opened) == 0 || o.opened[0].Host == nil || o.opened[0].Err != nil || o.opened[0].End.Before(o.opened[0].Start) {
		t.Errorf("%+v", o.opened)
	}
	if n := len(o.frames); n == 0 || o.frames[n-1].Opcode.String() != "RESULT" {
		t.Error(o.frames)
	}
	if o.finished == 0 || o.started < o.finished { // a PREPARE on another node may be in flight
		t.Error(o.started, o.finished)
	}
}

// TestNoInitialHostLookup: the contact points are the only nodes.
func TestNoInitialHostLookup(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.Hosts, cfg.DisableInitialHostLookup = cfg.Hosts[:1], true
	})
	addresses := map[string]bool{}
	for range 4 {
		it := s.Query("SELECT id FROM items").Iter()
		addresses[it.Host().ConnectAddressAndPort()] = true
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(addresses) != 1 || !addresses[c.Hosts()[0]] {
		t.Error(addresses)
	}
}

// TestWrapTLSClosesTheConnection if the handshake fails.
func TestWrapTLSClosesTheConnection(t *testing.T) {
	client, server := net.Pipe()
	server.Close()
	if _, err := gocql.WrapTLS(t.Context(), client, "example.com:9042", &tls.Config{}); err == nil {
		t.Error("no error")
	}
	if _, err := client.Write(nil); err == nil {
		t.Error("the connection is open")
	}
}
