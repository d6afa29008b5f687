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

	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// Dialing and TLS.

// A ShardDialer is a HostDialer that opens connections to a shard of a node.
type ShardDialer interface {
	HostDialer
	// DialShard opens a connection from the source port that ScyllaGetSourcePort returns.
	DialShard(ctx context.Context, host *HostInfo, shardID, nrShards int) (*DialedHost, error)
}

// ErrScyllaSourcePortAlreadyInUse means that a Dialer cannot use the port that ScyllaGetSourcePort returned: the
// session tries another one.
var ErrScyllaSourcePortAlreadyInUse = errors.New("scylla: source port is already in use")

// ErrReadHeaderTimeout is returned by no verb.
var ErrReadHeaderTimeout = errors.New("unable to read frame header")

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
	hosts      *api.Hosts[HostInfo]
}

// DialHost implements vecql.HostDialer.
func (d translatingDialer) DialHost(ctx context.Context, node *cql.Host, addr string) (net.Conn, error) {
	return d.dial(ctx, node, addr, func(to string) (net.Conn, error) { return d.dialer.DialContext(ctx, "tcp", to) })
}

// DialHostLocalPort implements vecql.HostLocalPortDialer.
func (d translatingDialer) DialHostLocalPort(
	ctx context.Context, node *cql.Host, addr string, port int,
) (net.Conn, error) {
	return d.dial(ctx, node, addr, func(to string) (net.Conn, error) {
		return d.dialer.DialContextLocalPort(ctx, "tcp", to, port)
	})
}

// dial opens a connection to a node at the translated address.
func (d translatingDialer) dial(
	ctx context.Context, node *cql.Host, addr string, open func(addr string) (net.Conn, error),
) (net.Conn, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	to, err := d.translator.TranslateHost(d.hosts.Of(node), AddressPort{at.Addr().AsSlice(), at.Port()})
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
	return api.TLSConfig(&api.SslOptions{
		Config: o.Config, CertPath: o.CertPath, KeyPath: o.KeyPath, CaPath: o.CaPath,
		EnableHostVerification: o.EnableHostVerification,
	})
}
