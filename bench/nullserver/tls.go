// SPDX-License-Identifier: Apache-2.0

package nullserver

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"time"
)

// TLS 1.3 on the port of plain connections: the first byte of a connection decides.

// NewCertificate returns a certificate of the address and the certificate of its issuer, as DER. They differ because
// rustls rejects a server's certificate that is its own issuer.
func NewCertificate(ip net.IP) (cert tls.Certificate, issuer []byte, err error) {
	now := time.Now()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "null server"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(30 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano() + 1), IPAddresses: []net.IP{ip},
		NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, nil, err
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, nil, err
	}
	if issuer, err = x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey); err != nil {
		return cert, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, root, leafKey.Public(), rootKey)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: leafKey}, issuer, err
}

// handshakeRecord is the first byte of a TLS connection; the first byte of a plain one is the protocol version.
const handshakeRecord = 22

// handle serves a connection.
func (s *Server) handle(c net.Conn) {
	first := make([]byte, 1)
	if _, err := io.ReadFull(c, first); err != nil {
		_ = c.Close()
		return
	}
	if first[0] != handshakeRecord {
		serving := newConn(s, c)
		serving.end = copy(serving.in, first)
		serving.serve()
		return
	}
	newConn(s, tls.Server(&begun{Conn: c, in: io.MultiReader(bytes.NewReader(first), c)}, s.tls)).serve()
}

// begun is a connection whose first byte was read.
type begun struct {
	net.Conn
	in io.Reader
}

func (b *begun) Read(p []byte) (int, error) { return b.in.Read(p) }
