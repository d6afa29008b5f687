// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
)

// Dialers, TLS, compressors and authenticators.

// A HostDialer opens the connections of a session, TLS included.
type HostDialer interface {
	DialHost(ctx context.Context, host *HostInfo) (*DialedHost, error)
}

// A DialedHost is a connection that a HostDialer has opened. DisableCoalesce is not used.
type DialedHost struct {
	Conn            net.Conn
	DisableCoalesce bool
}

// hostDialer adapts the HostDialer of a session.
type hostDialer struct{ s *Session }

// DialHost implements vecql.HostDialer.
func (d hostDialer) DialHost(ctx context.Context, host *vecql.HostInfo, _ string) (net.Conn, error) {
	dialed, err := d.s.cfg.HostDialer.DialHost(ctx, d.s.host(host))
	if err != nil {
		return nil, err
	}
	return dialed.Conn, nil
}

// WrapTLS does the TLS handshake of a connection to addr. A nil tlsConfig means no TLS. It closes the connection after
// an error.
func WrapTLS(ctx context.Context, conn net.Conn, addr string, tlsConfig *tls.Config) (*DialedHost, error) {
	if tlsConfig == nil {
		return &DialedHost{Conn: conn}, nil
	}
	if !tlsConfig.InsecureSkipVerify && tlsConfig.ServerName == "" {
		tlsConfig = tlsConfig.Clone()
		tlsConfig.ServerName = addr
		if colon := strings.LastIndexByte(addr, ':'); colon >= 0 {
			tlsConfig.ServerName = addr[:colon]
		}
	}
	client := tls.Client(conn, tlsConfig)
	if err := client.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &DialedHost{Conn: client, DisableCoalesce: true}, nil
}

// SslOptions configures TLS. The certificates of servers are verified unless Config.InsecureSkipVerify is set and
// EnableHostVerification is not.
type SslOptions struct {
	*tls.Config

	CertPath               string
	KeyPath                string
	CaPath                 string
	EnableHostVerification bool
}

func (o *SslOptions) config() (*tls.Config, error) {
	return compat.TLSOptions{
		Config: o.Config, CertPath: o.CertPath, KeyPath: o.KeyPath, CaPath: o.CaPath,
		EnableHostVerification: o.EnableHostVerification,
	}.TLSConfig()
}

// A Compressor compresses frames (v4) or segments (v5).
type Compressor interface {
	Name() string
	AppendCompressedWithLength(dst, src []byte) ([]byte, error)
	AppendDecompressedWithLength(dst, src []byte) ([]byte, error)
	AppendCompressed(dst, src []byte) ([]byte, error)
	AppendDecompressed(dst, src []byte, decompressedLength uint32) ([]byte, error)
}

// An Authenticator answers the challenges of a server.
type Authenticator = vecql.Authenticator

// PasswordAuthenticator answers with a name and a password. AllowedAuthenticators are the classes of the server that it
// answers; empty means all.
type PasswordAuthenticator struct {
	Username              string
	Password              string
	AllowedAuthenticators []string
}

// Challenge implements Authenticator.
func (p PasswordAuthenticator) Challenge(req []byte) ([]byte, Authenticator, error) {
	if len(p.AllowedAuthenticators) > 0 && !slices.Contains(p.AllowedAuthenticators, string(req)) {
		return nil, nil, fmt.Errorf("gocql: the server's authenticator %q is not in AllowedAuthenticators", req)
	}
	return []byte("\x00" + p.Username + "\x00" + p.Password), nil, nil
}

// Success implements Authenticator.
func (p PasswordAuthenticator) Success([]byte) error { return nil }
