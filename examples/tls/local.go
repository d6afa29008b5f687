// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/vecql/vecql/cqltest"
)

// A cluster in this process, with certificates of its own.

// An authority signs certificates.
type authority struct{ certificate tls.Certificate }

// newAuthority returns an authority, whose certificate signs itself.
func newAuthority(name string) (authority, error) {
	certificate, err := sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	return authority{certificate}, err
}

// pool returns a pool that trusts the authority.
func (a authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate.Leaf)
	return pool
}

// issue returns a certificate for a name, of a node or of a client.
func (a authority) issue(name string) (tls.Certificate, error) {
	return sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, &a.certificate)
}

// sign makes a key, and a certificate of it that is valid for a day. No parent means that the certificate signs itself.
func sign(template *x509.Certificate, parent *tls.Certificate) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	if parent == nil {
		parent = &tls.Certificate{Leaf: template, PrivateKey: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent.Leaf, &key.PublicKey, parent.PrivateKey)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}

// local connects to a cluster in this process, as it should be and in three wrong ways.
func local(ctx context.Context, out io.Writer) error {
	ours, err1 := newAuthority("shop authority")
	other, err2 := newAuthority("other authority")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	node, err1 := ours.issue("db.example")
	client, err2 := ours.issue("shop")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	cluster, err := cqltest.Start(cqltest.Config{TLS: &tls.Config{
		Certificates: []tls.Certificate{node}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.pool(),
	}})
	if err != nil {
		return err
	}
	defer cluster.Close()
	right := &tls.Config{RootCAs: ours.pool(), ServerName: "db.example", Certificates: []tls.Certificate{client}}
	if err := connect(ctx, cluster.Hosts(), right, out); err != nil {
		return err
	}
	for _, wrong := range []struct {
		what   string
		change func(c *tls.Config)
	}{
		{"wrong authority", func(c *tls.Config) { c.RootCAs = other.pool() }},
		{"wrong name", func(c *tls.Config) { c.ServerName = "other.example" }},
		{"no client certificate", func(c *tls.Config) { c.Certificates = nil }},
	} {
		config := right.Clone()
		wrong.change(config)
		err := connect(ctx, cluster.Hosts()[:1], config, io.Discard)
		fmt.Fprintf(out, "%s: %s\n", wrong.what, reason(err))
	}
	return nil
}

// reason returns the cause of an error of connect.
func reason(err error) string {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case err == nil:
		return "no error"
	case errors.As(err, &authority):
		return authority.Error()
	case errors.As(err, &name):
		return name.Error()
	default: // an alert of TLS if the node's last bytes arrive, else a closed connection
		return "refused by the node"
	}
}
