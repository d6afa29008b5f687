// SPDX-License-Identifier: Apache-2.0

package nullserver

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"time"
)

// TLS 1.3 on the port of plain connections: the first byte of a connection decides.

// NewCertificate returns a self-signed certificate of the address.
func NewCertificate(ip net.IP) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), IPAddresses: []net.IP{ip},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(30 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// handshakeRecord is the first byte of a TLS connection; that of a plain one is the protocol version.
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
