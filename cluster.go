// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// This file holds the configuration of a session.

// Dialer opens the TCP connections of a session.
type Dialer interface {
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)
}

// ClusterConfig configures sessions. NewCluster fills it with the defaults that the fields name; a zero field in a config that was
// made without it means the same default, unless the field says otherwise. CreateSession copies it.
type ClusterConfig struct {
	// Hosts are the contact points: "host" or "host:port", names or addresses. One that answers is enough; all nodes are found from it.
	Hosts []string
	// Port is used for contact points without one, and for nodes whose port the system tables don't tell. Default 9042.
	Port int
	// Keyspace is in use on every connection, so that tables need no qualified name. Default none.
	Keyspace string
	// ProtoVersion is the native protocol version, 4 or 5. Default 0: the highest that the cluster speaks.
	ProtoVersion int
	// CQLVersion is sent in STARTUP. Default "3.0.0".
	CQLVersion string

	// TLS switches TLS on. Certificates are verified against the name of the contact point, or the address of a node found from it,
	// unless ServerName says another name. Default nil: plain TCP.
	TLS *tls.Config
	// Authenticator answers the server's authentication, e.g. PasswordAuthenticator. Default none.
	Authenticator Authenticator
	// Compressor compresses frames (v4) or segments (v5, LZ4 only). Vectors of floats hardly shrink. Default none.
	Compressor Compressor
	// Dialer opens connections. Default a net.Dialer with TCP keep-alive.
	Dialer Dialer

	// Timeout bounds each request whose context has no deadline. It harms that request only, never its connection. Default 11 s.
	Timeout time.Duration
	// ConnectTimeout bounds dialling and handshake of one connection. Default 11 s.
	ConnectTimeout time.Duration
	// HeartbeatInterval is how long a connection is idle before it is asked whether it lives, and how long the answer may take before
	// it is replaced. Default 30 s; negative: never.
	HeartbeatInterval time.Duration
	// ReconnectInterval is how often the nodes are read again although no event told of a change. Default 60 s.
	ReconnectInterval time.Duration
	// MaxWaitSchemaAgreement bounds the wait for all nodes to agree after a schema change. Default 60 s.
	MaxWaitSchemaAgreement time.Duration

	// NumConns is the number of connections to each node. Default 2.
	NumConns int
	// MaxPreparedStmts is the number of prepared statements kept. Default 1000.
	MaxPreparedStmts int

	// Consistency of requests that name none. Default Quorum. A config that was not made by NewCluster has Any.
	Consistency Consistency
	// SerialConsistency of conditional requests that name none: Serial or LocalSerial. Default 0: the server's, Serial.
	SerialConsistency Consistency
	// PageSize is the number of rows in a page. Default 5000; negative: no paging.
	PageSize int
	// NextPagePrefetch says when the next page is asked for: when no more than this share of the current page is left. Default 0.25;
	// negative: only at its end.
	NextPagePrefetch float64
	// DefaultTimestamp sends the client's clock with every write; the timestamps of a session strictly increase. NewCluster sets it.
	DefaultTimestamp bool
	// DefaultIdempotence marks every statement idempotent: safe to be sent twice. Default false.
	DefaultIdempotence bool

	// Logger receives one record per change of state, never one per request. Default slog.Default.
	Logger *slog.Logger
}

// NewCluster returns the default configuration for a cluster with these contact points.
func NewCluster(hosts ...string) *ClusterConfig {
	return &ClusterConfig{
		Hosts: hosts, Port: 9042, CQLVersion: "3.0.0", Timeout: 11 * time.Second, ConnectTimeout: 11 * time.Second,
		HeartbeatInterval: 30 * time.Second, ReconnectInterval: time.Minute, MaxWaitSchemaAgreement: time.Minute, NumConns: 2,
		MaxPreparedStmts: 1000, Consistency: Quorum, PageSize: 5000, NextPagePrefetch: 0.25, DefaultTimestamp: true,
	}
}

// CreateSession connects to the cluster. It is NewSession with this configuration and no context.
func (c *ClusterConfig) CreateSession() (*Session, error) { return NewSession(*c) }

// withDefaults returns c with its zero fields filled in, or all its faults joined.
func (c ClusterConfig) withDefaults() (ClusterConfig, error) {
	def := NewCluster()
	setDefault(&c.Port, def.Port)
	setDefault(&c.CQLVersion, def.CQLVersion)
	setDefault(&c.Timeout, def.Timeout)
	setDefault(&c.ConnectTimeout, def.ConnectTimeout)
	setDefault(&c.HeartbeatInterval, def.HeartbeatInterval)
	setDefault(&c.ReconnectInterval, def.ReconnectInterval)
	setDefault(&c.MaxWaitSchemaAgreement, def.MaxWaitSchemaAgreement)
	setDefault(&c.NumConns, def.NumConns)
	setDefault(&c.MaxPreparedStmts, def.MaxPreparedStmts)
	setDefault(&c.PageSize, def.PageSize)
	setDefault(&c.NextPagePrefetch, def.NextPagePrefetch)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Dialer == nil {
		c.Dialer = &net.Dialer{KeepAlive: 15 * time.Second}
	}
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("vecql: ClusterConfig: "+format, args...))
		}
	}
	if len(c.Hosts) == 0 {
		errs = append(errs, ErrNoHosts)
	}
	fault(c.Port < 0 || c.Port > 0xFFFF, "Port is %d", c.Port)
	fault(c.ProtoVersion != 0 && c.ProtoVersion != 4 && c.ProtoVersion != 5, "ProtoVersion is %d, must be 4, 5 or 0 for the highest", c.ProtoVersion)
	fault(c.NumConns < 0, "NumConns is %d", c.NumConns)
	fault(c.MaxPreparedStmts < 0, "MaxPreparedStmts is %d", c.MaxPreparedStmts)
	fault(c.Timeout < 0, "Timeout is %v", c.Timeout)
	fault(c.ConnectTimeout < 0, "ConnectTimeout is %v", c.ConnectTimeout)
	fault(c.ReconnectInterval < 0, "ReconnectInterval is %v", c.ReconnectInterval)
	fault(c.MaxWaitSchemaAgreement < 0, "MaxWaitSchemaAgreement is %v", c.MaxWaitSchemaAgreement)
	fault(int(c.Consistency) >= len(consistencyNames), "Consistency is %v", c.Consistency)
	fault(c.SerialConsistency != 0 && !c.SerialConsistency.IsSerial(), "SerialConsistency is %v", c.SerialConsistency)
	fault(c.NextPagePrefetch > 1, "NextPagePrefetch is %v, must be at most 1", c.NextPagePrefetch)
	_, snappy := c.Compressor.(SnappyCompressor)
	fault(snappy && c.ProtoVersion == 5, "Compressor: protocol v5 has no Snappy")
	return c, errors.Join(errs...)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// contactPoint is one address of a configured host.
type contactPoint struct {
	name string // as configured, when it is a name
	addr netip.Addr
	port uint16
}

// contactPoints resolves the configured hosts; names are looked up anew each time, since nodes may have moved. The error is not nil
// only when no host gave an address.
func (c *ClusterConfig) contactPoints(ctx context.Context) ([]contactPoint, error) {
	var points []contactPoint
	var errs []error
	for _, h := range c.Hosts {
		host, portText, err := net.SplitHostPort(h)
		if err != nil {
			host, portText = strings.Trim(h, "[]"), strconv.Itoa(c.Port)
		}
		port, err := strconv.ParseUint(portText, 10, 16)
		if err != nil {
			errs = append(errs, fmt.Errorf("vecql: contact point %q: %w", h, err))
			continue
		}
		if addr, err := netip.ParseAddr(host); err == nil {
			points = append(points, contactPoint{addr: addr.Unmap(), port: uint16(port)})
			continue
		}
		addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			errs = append(errs, fmt.Errorf("vecql: contact point %q: %w", h, err))
		}
		for _, addr := range addrs {
			points = append(points, contactPoint{name: host, addr: addr.Unmap(), port: uint16(port)})
		}
	}
	if len(points) == 0 {
		return nil, errors.Join(errs...)
	}
	return points, nil
}
