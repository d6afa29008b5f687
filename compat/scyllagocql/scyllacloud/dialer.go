// SPDX-License-Identifier: Apache-2.0

package scyllacloud

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"

	"github.com/gocql/gocql"
	"golang.org/x/net/proxy"
)

// Dialing: all nodes of a data center have one address; the name in the TLS handshake selects the node.

// SniHostDialer opens connections to the nodes of a bundle.
type SniHostDialer struct {
	config *ConnectionConfig
	dialer gocql.Dialer
}

// NewSniHostDialer returns a HostDialer.
func NewSniHostDialer(connConfig *ConnectionConfig, dialer gocql.Dialer) *SniHostDialer {
	return &SniHostDialer{connConfig, dialer}
}

// DialHost implements gocql.HostDialer. A node without an id is a contact point.
func (s *SniHostDialer) DialHost(ctx context.Context, host *gocql.HostInfo) (*gocql.DialedHost, error) {
	if host.HostID() == "" {
		return s.dialContactPoint(ctx)
	}
	dc := s.config.Datacenters[host.DataCenter()]
	if dc == nil {
		return nil, fmt.Errorf("scyllacloud: the bundle has no data center %q", host.DataCenter())
	}
	roots, err := s.config.GetDatacenterCAPool(host.DataCenter())
	if err != nil {
		return nil, err
	}
	dialer := s.dialer
	if dc.ProxyURL != "" {
		if dialer, err = throughProxy(ctx, dialer, dc.ProxyURL); err != nil {
			return nil, err
		}
	}
	return s.connect(ctx, dialer, dc.Server, host.HostID()+"."+dc.NodeDomain, roots, dc.InsecureSkipTLSVerify)
}

func (s *SniHostDialer) dialContactPoint(ctx context.Context) (*gocql.DialedHost, error) {
	dc, err := s.config.GetCurrentDatacenterConfig()
	if err != nil {
		return nil, err
	}
	roots, err := s.config.GetRootCAPool()
	if err != nil {
		return nil, err
	}
	name := dc.NodeDomain
	if name == "" {
		name = dc.Server
	}
	return s.connect(ctx, s.dialer, dc.Server, name, roots, s.config.insecure())
}

// connect opens a connection to server, with TLS under the given name.
func (s *SniHostDialer) connect(
	ctx context.Context, dialer gocql.Dialer, server, name string, roots *x509.CertPool, insecure bool,
) (*gocql.DialedHost, error) {
	cert, err := s.config.GetClientCertificate()
	if err != nil {
		return nil, err
	}
	conn, err := dialer.DialContext(ctx, "tcp", server)
	if err != nil {
		return nil, fmt.Errorf("scyllacloud: connect to %s: %w", server, err)
	}
	dialed, err := gocql.WrapTLS(ctx, conn, server, &tls.Config{
		ServerName: name, RootCAs: roots, Certificates: []tls.Certificate{*cert},
		InsecureSkipVerify: insecure, //nolint:gosec // the bundle decides
	})
	if err != nil {
		return nil, fmt.Errorf("scyllacloud: TLS handshake with %s as %s: %w", server, name, err)
	}
	return dialed, nil
}

// throughProxy returns a dialer that connects through a proxy, to which dialer connects.
func throughProxy(ctx context.Context, dialer gocql.Dialer, address string) (gocql.Dialer, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("scyllacloud: read the URL of the proxy: %w", err)
	}
	d, err := proxy.FromURL(u, dialFunc(func(network, addr string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, addr)
	}))
	if err != nil {
		return nil, fmt.Errorf("scyllacloud: connect through the proxy: %w", err)
	}
	with, ok := d.(proxy.ContextDialer)
	if !ok {
		return nil, fmt.Errorf("scyllacloud: proxies of the kind %q are not supported", u.Scheme)
	}
	return with, nil
}

// dialFunc adapts a function to proxy.Dialer.
type dialFunc func(network, addr string) (net.Conn, error)

// Dial implements proxy.Dialer.
func (d dialFunc) Dial(network, addr string) (net.Conn, error) { return d(network, addr) }
