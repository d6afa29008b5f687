// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"net"

	"github.com/vecql/vecql/cql"
)

// Dialers of a session.

// A Dialer opens the TCP connections of a session.
type Dialer interface {
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)
}

// A LocalPortDialer is a Dialer that can choose the local port, which ScyllaDB's shard-aware port needs. A *net.Dialer
// whose LocalAddr has no port counts as one. With any other Dialer the session opens connections over the plain port
// until all shards are reached.
type LocalPortDialer interface {
	Dialer
	// DialContextLocalPort is DialContext from the local port localPort. If the port is in use, the error must wrap
	// syscall.EADDRINUSE or syscall.EADDRNOTAVAIL; the session then tries another port.
	DialContextLocalPort(ctx context.Context, network, addr string, localPort int) (net.Conn, error)
}

// A HostDialer opens the connections of a session and receives the node of each, for example to route by host id
// through a proxy. The session verifies each connection as usual.
type HostDialer interface {
	// DialHost opens a connection to addr, host:port, which is the address of host or another port of host. A contact
	// point whose node is not known, or is not connected, has the address only: any node may answer. A connection with
	// the method ConnectionState() tls.ConnectionState, such as a *tls.Conn, is used as it is; on any other connection
	// ClusterConfig.TLS applies.
	DialHost(ctx context.Context, host *cql.Host, addr string) (net.Conn, error)
}

// A HostLocalPortDialer is a HostDialer that can choose the local port: see LocalPortDialer.
type HostLocalPortDialer interface {
	HostDialer
	// DialHostLocalPort is DialHost from the local port localPort. Its errors are the errors of
	// LocalPortDialer.DialContextLocalPort.
	DialHostLocalPort(ctx context.Context, host *cql.Host, addr string, localPort int) (net.Conn, error)
}

// hostDialer is a HostDialer as the Dialer of connections to one node.
type hostDialer struct {
	HostDialer

	host *cql.Host
}

// DialContext implements Dialer.
func (d hostDialer) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	return d.DialHost(ctx, d.host, addr)
}

// hostPortDialer is hostDialer for a HostLocalPortDialer.
type hostPortDialer struct {
	HostLocalPortDialer

	host *cql.Host
}

// DialContext implements Dialer.
func (d hostPortDialer) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	return d.DialHost(ctx, d.host, addr)
}

// DialContextLocalPort implements LocalPortDialer.
func (d hostPortDialer) DialContextLocalPort(ctx context.Context, _, addr string, localPort int) (net.Conn, error) {
	return d.DialHostLocalPort(ctx, d.host, addr, localPort)
}

// dialerOf returns the Dialer of connections to a node.
func (c *ClusterConfig) dialerOf(host *cql.Host) Dialer {
	switch d := c.Pool.HostDialer.(type) {
	case nil:
		return c.Pool.Dialer
	case HostLocalPortDialer:
		return hostPortDialer{d, host}
	default:
		return hostDialer{d, host}
	}
}

// choosesPorts reports whether a Dialer can dial from a given local port.
func choosesPorts(d Dialer) bool {
	if d, ok := d.(*net.Dialer); ok {
		local, ok := d.LocalAddr.(*net.TCPAddr)
		return d.LocalAddr == nil || ok && local.Port == 0
	}
	_, ok := d.(LocalPortDialer)
	return ok
}
