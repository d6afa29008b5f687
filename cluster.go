// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/internal/stream"
)

// This file holds the configuration of a session.

// Dialer opens the TCP connections of a session.
type Dialer interface {
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)
}

// LocalPortDialer is a Dialer that can choose the local port, which ScyllaDB's shard-aware port needs. *net.Dialer, unless its LocalAddr
// has a port already, counts as one. With any other Dialer connections are opened over the plain port until all shards are reached.
type LocalPortDialer interface {
	Dialer
	// DialContextLocalPort is DialContext from that local port. When it is in use the error must wrap syscall.EADDRINUSE or
	// syscall.EADDRNOTAVAIL; then another one is tried.
	DialContextLocalPort(ctx context.Context, network, addr string, localPort int) (net.Conn, error)
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

	// Timeout bounds each attempt of a request whose context has no deadline (see Query.SetRequestTimeout). It harms that request only, never
	// its connection. Default 11 s.
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

	// PoolConfig chooses the nodes of each request. Default: the replicas of its partition, then all others.
	PoolConfig PoolConfig
	// HostFilter says which nodes are used, e.g. DataCenterHostFilter. Default all.
	HostFilter HostFilter
	// AddressTranslator gives the address at which clients reach a node, where it is not the one that the node tells. Default none.
	AddressTranslator AddressTranslator

	// NumConns is the number of connections to each node. A ScyllaDB node has at least one to every shard: so many that each shard has the
	// same number, and all together are not fewer than NumConns. Default 2.
	NumConns int
	// ReconnectionPolicy says when a node that could not be reached is tried again. Default ExponentialReconnectionPolicy{}: after
	// 100 ms, and twice as long each time up to 5 s, without end.
	ReconnectionPolicy ReconnectionPolicy
	// DisableShardAwarePort opens connections to ScyllaDB's shards over the plain port only, where the node chooses the shard: for
	// networks that translate local ports, or let no other port through. The driver finds out by itself, at the cost of a connection now
	// and then. Default false.
	DisableShardAwarePort bool
	// ShardAwareLocalPorts are the first and the last local port for connections to ScyllaDB's shard-aware port. Default 49152 to 65535.
	ShardAwareLocalPorts [2]uint16
	// ExperimentalTabletsRoutingV2 uses ScyllaDB's extension TABLETS_ROUTING_V2_EXPERIMENTAL where a node has it. Its format may still
	// change. Default false.
	ExperimentalTabletsRoutingV2 bool
	// ApplicationInfo names the program to the server. Default: nothing.
	ApplicationInfo ApplicationInfo
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

	// RetryPolicy decides whether a failed request is sent again. Default DefaultRetryPolicy.
	RetryPolicy RetryPolicy
	// SpeculativeExecutionPolicy sends idempotent requests that take long to another node as well. Default none.
	SpeculativeExecutionPolicy SpeculativeExecutionPolicy
	// Profiles are named sets of settings: see Query.Profile. Default none.
	Profiles map[string]Profile
	// MaxRequestsPerConn is the number of requests under way on one connection; further ones wait, as long as their context or timeout
	// allows, and fail with ErrNoStreams. Default 32768, what the protocol has.
	MaxRequestsPerConn int
	// Throttle bounds what the session has under way on all connections together. Default nothing.
	Throttle Throttle

	// QueryObserver and BatchObserver are told of every attempt of a request, ConnectObserver of every attempt to connect,
	// FrameHeaderObserver and StreamObserver of the answers and streams of requests. Default nobody.
	QueryObserver       QueryObserver
	BatchObserver       BatchObserver
	ConnectObserver     ConnectObserver
	FrameHeaderObserver FrameHeaderObserver
	StreamObserver      StreamObserver
	// Events says which events of the server the session does without. Default none.
	Events EventsConfig
	// Metadata says how much of the schema is kept, and who is told of changes. Default: what was asked for, and nobody.
	Metadata MetadataConfig

	// Logger receives one record per change of state, never one per request. Of equal ones (level, message, node) it gets one in 30 seconds,
	// the next one with the number of those left out, "repeated". Default slog.Default.
	Logger *slog.Logger
}

// EventsConfig switches off events of the server. What they would have told is found at the next ReconnectInterval.
type EventsConfig struct {
	DisableNodeStatusEvents bool // a node is up or down
	DisableTopologyEvents   bool // a node is new, or has left
	DisableSchemaEvents     bool // the schema has changed
}

// names returns what REGISTER asks for.
func (c *EventsConfig) names() []string {
	var names []string
	if !c.DisableTopologyEvents {
		names = append(names, eventTopology)
	}
	if !c.DisableNodeStatusEvents {
		names = append(names, eventStatus)
	}
	if !c.DisableSchemaEvents {
		names = append(names, eventSchema)
	}
	return names
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
	c.Profiles = maps.Clone(c.Profiles)
	setDefault(&c.ShardAwareLocalPorts, [2]uint16{49152, 65535})
	if c.ReconnectionPolicy == nil {
		c.ReconnectionPolicy = ExponentialReconnectionPolicy{}
	}
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
	ports := c.ShardAwareLocalPorts
	fault(ports[0] == 0 || ports[0] > ports[1], "ShardAwareLocalPorts are %d to %d", ports[0], ports[1])
	fault(c.MaxPreparedStmts < 0, "MaxPreparedStmts is %d", c.MaxPreparedStmts)
	fault(c.Timeout < 0, "Timeout is %v", c.Timeout)
	fault(c.ConnectTimeout < 0, "ConnectTimeout is %v", c.ConnectTimeout)
	fault(c.ReconnectInterval < 0, "ReconnectInterval is %v", c.ReconnectInterval)
	fault(c.MaxWaitSchemaAgreement < 0, "MaxWaitSchemaAgreement is %v", c.MaxWaitSchemaAgreement)
	fault(int(c.Consistency) >= len(consistencyNames), "Consistency is %v", c.Consistency)
	fault(c.SerialConsistency != 0 && !c.SerialConsistency.IsSerial(), "SerialConsistency is %v", c.SerialConsistency)
	fault(!(c.NextPagePrefetch <= 1), "NextPagePrefetch is %v, must be at most 1", c.NextPagePrefetch)
	fault(c.MaxRequestsPerConn < 0 || c.MaxRequestsPerConn > stream.MaxStreams, "MaxRequestsPerConn is %d", c.MaxRequestsPerConn)
	fault(c.Throttle.MaxRequests < 0, "Throttle.MaxRequests is %d", c.Throttle.MaxRequests)
	fault(c.Throttle.MaxBytes < 0, "Throttle.MaxBytes is %d", c.Throttle.MaxBytes)
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		p := c.Profiles[name]
		wrong := p.check()
		fault(wrong != "", "Profiles[%q]: %s", name, wrong)
	}
	m := &c.Metadata
	fault(m.CacheMode < Full || m.CacheMode > Disabled, "Metadata.CacheMode is %d", m.CacheMode)
	fault(m.CacheMode == Disabled && m.SchemaListener.any(), "Metadata: CacheMode is Disabled, which leaves nothing to tell schema listeners")
	fault(m.CacheMode == KeyspaceOnly && m.SchemaListener.inKeyspaces(), "Metadata: CacheMode is KeyspaceOnly, with listeners for what is in keyspaces")
	errs = append(errs, validatePolicy(c.PoolConfig.HostSelectionPolicy), validateFilter(c.HostFilter))
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
