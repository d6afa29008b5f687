// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// Certificates of a cluster: its own authority, one certificate for its nodes and one for its clients.

// Identity is the identity of the clients' certificate for Cassandra's MutualTlsAuthenticator (ADD IDENTITY).
const Identity = "spiffe://vecql/client"

// credentials are the certificates of a cluster, made for it.
type credentials struct {
	config     *tls.Config // the client's
	caFile     string
	certFile   string // the client's
	keyFile    string // the client's
	serverFile string // key, then chain, as PEMBasedSslContextFactory reads it
	storeFile  string // the same as a JKS store
	trustFile  string // the authority's certificate as a JKS store
}

// identity is a certificate and its key.
type identity struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue signs template with the key of by; if by is nil, the certificate is self-signed.
func issue(name string, template *x509.Certificate, by *identity) (*identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, err
	}
	template.Subject = pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(30*24*time.Hour)
	if by == nil {
		by = &identity{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, &key.PublicKey, by.key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &identity{cert, key}, err
}

func (id *identity) certPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: id.cert.Raw})
}

func (id *identity) keyPEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(id.key)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
}

// newCredentials writes certificates for nodes at hosts and for their clients into dir.
func newCredentials(dir string, hosts []string) (*credentials, error) {
	authority, err := issue("vecql test authority", &x509.Certificate{
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("cassandra: certificates: %w", err)
	}
	ips := make([]net.IP, len(hosts))
	for i, host := range hosts {
		ips[i] = net.ParseIP(host)
	}
	server, serverErr := issue("vecql test node", &x509.Certificate{
		DNSNames: []string{"localhost"}, IPAddresses: ips,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, authority)
	client, clientErr := issue("vecql test client", &x509.Certificate{
		URIs:     []*url.URL{{Scheme: "spiffe", Host: "vecql", Path: "/client"}}, // Identity
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, authority)
	if err := errors.Join(serverErr, clientErr); err != nil {
		return nil, fmt.Errorf("cassandra: certificates: %w", err)
	}
	serverKey, serverErr := server.keyPEM()
	store, storeErr := keyStore(server, authority)
	clientKey, clientErr := client.keyPEM()
	c := &credentials{
		caFile:     filepath.Join(dir, "ca.pem"),
		certFile:   filepath.Join(dir, "client.pem"),
		keyFile:    filepath.Join(dir, "client.key"),
		serverFile: filepath.Join(dir, "server.pem"),
		storeFile:  filepath.Join(dir, "server.jks"),
		trustFile:  filepath.Join(dir, "ca.jks"),
		config: &tls.Config{
			MinVersion:   tls.VersionTLS12,
			RootCAs:      x509.NewCertPool(),
			Certificates: []tls.Certificate{{Certificate: [][]byte{client.cert.Raw}, PrivateKey: client.key}},
		},
	}
	c.config.RootCAs.AddCert(authority.cert)
	err = errors.Join(serverErr, clientErr, storeErr,
		os.WriteFile(c.storeFile, store, 0o600),
		os.WriteFile(c.trustFile, trustStore(authority), 0o644),
		os.WriteFile(c.caFile, authority.certPEM(), 0o644),
		os.WriteFile(c.certFile, client.certPEM(), 0o644),
		os.WriteFile(c.keyFile, clientKey, 0o600),
		os.WriteFile(c.serverFile, bytes.Join([][]byte{serverKey, server.certPEM(), authority.certPEM()}, nil), 0o600))
	if err != nil {
		return nil, fmt.Errorf("cassandra: certificates: %w", err)
	}
	return c, nil
}

// useStores names the JKS stores in the place of the PEM files.
func (c *credentials) useStores(encryption map[string]any) {
	delete(encryption, "ssl_context_factory")
	for name, value := range map[string]any{
		"store_type": "JKS", "keystore": c.storeFile, "keystore_password": storePassword,
		"truststore": c.trustFile, "truststore_password": storePassword,
	} {
		encryption[name] = value
	}
}
