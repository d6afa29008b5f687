// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
	"github.com/vecql/vecql/cql"
)

// Dialing, TLS and timeouts.

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
type HostDialer[H any] interface {
	DialHost(ctx context.Context, host H) (*DialedHost, error)
}

// AdaptHostDialer returns d as vecql's interface.
func AdaptHostDialer[H any](d HostDialer[H], hostOf func(*cql.Host) H) vecql.HostDialer {
	return hostDialer[H]{d, hostOf}
}

type hostDialer[H any] struct {
	of     HostDialer[H]
	hostOf func(*cql.Host) H
}

// DialHost implements vecql.HostDialer.
func (d hostDialer[H]) DialHost(ctx context.Context, node *cql.Host, _ string) (net.Conn, error) {
	dialed, err := d.of.DialHost(ctx, d.hostOf(node))
	if err != nil {
		return nil, err
	}
	return dialed.Conn, nil
}

// WrapTLS does the TLS handshake of a client on conn. A config without a name of the server gets the name in addr. A
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

// TLSConfig returns the configuration of TLS, nil for nil.
func TLSConfig(o *SslOptions) (*tls.Config, error) {
	if o == nil {
		return nil, nil
	}
	return compat.TLSOptions{
		Config: o.Config, CertPath: o.CertPath, KeyPath: o.KeyPath, CaPath: o.CaPath,
		EnableHostVerification: o.EnableHostVerification,
	}.TLSConfig()
}

// JoinHostPort returns addr with a port: its own, else the given one.
func JoinHostPort(addr string, port int) string {
	addr = strings.TrimSpace(addr)
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	return net.JoinHostPort(addr, strconv.Itoa(port))
}

// never is a timeout that does not end.
const never = 10000 * time.Hour

// OrNever returns d, or a timeout that does not end for 0, which means none in the API.
func OrNever(d time.Duration) time.Duration {
	if d <= 0 {
		return never
	}
	return d
}
