// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

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

// A ShardDialer is a HostDialer that opens connections to a shard of a node.
type ShardDialer interface {
	HostDialer
	// DialShard opens a connection from the source port that ScyllaGetSourcePort returns.
	DialShard(ctx context.Context, host *HostInfo, shardID, nrShards int) (*DialedHost, error)
}

// ErrScyllaSourcePortAlreadyInUse means that a Dialer cannot use the port that ScyllaGetSourcePort returned: the
// session tries another one.
var ErrScyllaSourcePortAlreadyInUse = errors.New("gocql: the source port is in use")

// sourcePortKey is the key of the source port in a context.
type sourcePortKey struct{}

// ScyllaGetSourcePort returns the source port from which a Dialer must open the connection, 0 for any: by it ScyllaDB
// selects the shard.
func ScyllaGetSourcePort(ctx context.Context) uint16 {
	port, _ := ctx.Value(sourcePortKey{}).(uint16)
	return port
}

// ScyllaShardAwareDialer is net.Dialer from the source port that ScyllaGetSourcePort returns.
type ScyllaShardAwareDialer struct {
	net.Dialer
}

// DialContext implements Dialer.
func (d *ScyllaShardAwareDialer) DialContext(ctx context.Context, network, addr string) (conn net.Conn, err error) {
	dialer := d.Dialer
	if port := ScyllaGetSourcePort(ctx); port != 0 {
		dialer.LocalAddr = &net.TCPAddr{Port: int(port)}
	}
	return dialer.DialContext(ctx, network, addr)
}

// portDialer passes the source port to a Dialer in its context.
type portDialer struct{ Dialer }

// DialContextLocalPort implements vecql.LocalPortDialer.
func (d portDialer) DialContextLocalPort(ctx context.Context, network, addr string, port int) (net.Conn, error) {
	conn, err := d.DialContext(context.WithValue(ctx, sourcePortKey{}, uint16(port)), network, addr)
	if errors.Is(err, ErrScyllaSourcePortAlreadyInUse) {
		err = fmt.Errorf("%w: %w", err, syscall.EADDRINUSE)
	}
	return conn, err
}

// translatingDialer opens connections to the addresses of an AddressTranslatorV2.
type translatingDialer struct {
	translator AddressTranslatorV2
	dialer     portDialer
	tls        *tls.Config
	hosts      *hosts
}

// DialHost implements vecql.HostDialer.
func (d translatingDialer) DialHost(ctx context.Context, node *vecql.HostInfo, addr string) (net.Conn, error) {
	return d.dial(ctx, node, addr, func(to string) (net.Conn, error) { return d.dialer.DialContext(ctx, "tcp", to) })
}

// DialHostLocalPort implements vecql.HostLocalPortDialer.
func (d translatingDialer) DialHostLocalPort(
	ctx context.Context, node *vecql.HostInfo, addr string, port int,
) (net.Conn, error) {
	return d.dial(ctx, node, addr, func(to string) (net.Conn, error) {
		return d.dialer.DialContextLocalPort(ctx, "tcp", to, port)
	})
}

// dial opens a connection to a node at the translated address.
func (d translatingDialer) dial(
	ctx context.Context, node *vecql.HostInfo, addr string, open func(addr string) (net.Conn, error),
) (net.Conn, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	to, err := d.translator.TranslateHost(d.hosts.of(node), AddressPort{at.Addr().AsSlice(), at.Port()})
	if err != nil {
		return nil, err
	}
	conn, err := open(to.ToNetAddr())
	if err != nil {
		return nil, err
	}
	dialed, err := WrapTLS(ctx, conn, to.ToNetAddr(), d.tls)
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
	// DisableStrictCertificateValidation has no effect.
	//
	// Deprecated: as in gocql.
	DisableStrictCertificateValidation bool
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
