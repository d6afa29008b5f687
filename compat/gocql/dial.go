// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
)

// Dialing and TLS.

// A Dialer opens connections.
type Dialer interface {
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)
}

// A DialedHost is an open connection to a node.
type DialedHost struct {
	Conn net.Conn
	// DisableCoalesce has no effect.
	DisableCoalesce bool
}

// A HostDialer opens the connections to nodes, with TLS if it is wanted.
type HostDialer interface {
	DialHost(ctx context.Context, host *HostInfo) (*DialedHost, error)
}

// hostDialer adapts a HostDialer.
type hostDialer struct {
	of    HostDialer
	hosts *hosts
}

// DialHost implements vecql.HostDialer.
func (d hostDialer) DialHost(ctx context.Context, node *vecql.HostInfo, _ string) (net.Conn, error) {
	dialed, err := d.of.DialHost(ctx, d.hosts.of(node))
	if err != nil {
		return nil, err
	}
	return dialed.Conn, nil
}

// WrapTLS does the TLS handshake of a client on conn. If the config has no name of the server, it is that of addr. A
// nil config means no TLS.
func WrapTLS(ctx context.Context, conn net.Conn, addr string, tlsConfig *tls.Config) (*DialedHost, error) {
	if tlsConfig == nil {
		return &DialedHost{Conn: conn}, nil
	}
	if !tlsConfig.InsecureSkipVerify && tlsConfig.ServerName == "" {
		name, _, err := net.SplitHostPort(addr)
		if err != nil {
			name = addr
		}
		tlsConfig = tlsConfig.Clone()
		tlsConfig.ServerName = name
	}
	secure := tls.Client(conn, tlsConfig)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the error of the handshake is the cause
		return nil, err
	}
	return &DialedHost{Conn: secure, DisableCoalesce: true}, nil
}

// SslOptions configures TLS. The certificates of servers are verified unless Config.InsecureSkipVerify is set and
// EnableHostVerification is not.
type SslOptions struct {
	*tls.Config

	CertPath string
	KeyPath  string
	CaPath   string
	// EnableHostVerification verifies the certificates of servers.
	EnableHostVerification bool
}

// config returns the configuration of TLS, nil for nil.
func (o *SslOptions) config() (*tls.Config, error) {
	if o == nil {
		return nil, nil
	}
	return compat.TLSOptions{
		Config: o.Config, CertPath: o.CertPath, KeyPath: o.KeyPath, CaPath: o.CaPath,
		EnableHostVerification: o.EnableHostVerification,
	}.TLSConfig()
}

// An AddressTranslator maps the address that a node announces to the address at which clients reach it.
type AddressTranslator interface {
	Translate(addr net.IP, port int) (net.IP, int)
}

// AddressTranslatorFunc adapts a function to AddressTranslator.
type AddressTranslatorFunc func(addr net.IP, port int) (net.IP, int)

// Translate implements AddressTranslator.
func (fn AddressTranslatorFunc) Translate(addr net.IP, port int) (net.IP, int) { return fn(addr, port) }

// IdentityTranslator returns every address unchanged.
func IdentityTranslator() AddressTranslator {
	return AddressTranslatorFunc(func(addr net.IP, port int) (net.IP, int) { return addr, port })
}
