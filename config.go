// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/queue"
	"github.com/vecql/vecql/internal/stream"
)

// The configuration of a session, and profiles of requests.

// A ClusterConfig configures sessions. A zero field means the field's default; Hosts alone is a complete config.
// NewSession copies the config. The fields that most programs set come first, the others follow in groups.
type ClusterConfig struct {
	// Hosts are the contact points: "host" or "host:port", names or addresses. One reachable contact point is enough:
	// the session reads all other nodes from its system tables.
	Hosts []string
	// Port is the port of contact points without a port, and of nodes whose port is not in the system tables. Default
	// 9042.
	Port int
	// Keyspace is the keyspace of every connection: statements need not qualify its tables. Default none.
	Keyspace string
	// TLS enables TLS. Unless ServerName is set, certificates are verified against the name of the contact point, or
	// against the address of a node read from the system tables. Default nil, which means plain TCP.
	TLS *tls.Config
	// Authenticator answers the server's authentication, e.g. PasswordAuthenticator. Default none.
	Authenticator cql.Authenticator
	// AuthProvider returns the Authenticator of one connection to a node, in place of Authenticator. It is called for
	// each connection whose server requires authentication, on the goroutine that dials; several calls may run at once.
	// A contact point whose node is not known, or is not connected, has the address only. An error fails the connection
	// as a refused login does. Default none.
	AuthProvider func(host *cql.Host) (cql.Authenticator, error)
	// Compressor compresses frames (v4) or segments (v5, LZ4 only). Vectors of floats barely compress. Default none.
	Compressor cql.Compressor
	// Timeout bounds each attempt of a request that has neither a RequestTimeout nor a deadline in its context. A timeout
	// fails the request only; the connection stays open. The attempts of an idempotent request that leaves a silent node
	// for the next one share the timeout. Default 11 s.
	Timeout time.Duration
	// ConnectTimeout bounds the dialing, the handshake and the verification of one connection. Default 11 s.
	ConnectTimeout time.Duration
	// HostSelectionPolicy selects the nodes of each request. Default TokenAwarePolicy{}: replicas first, without a
	// preference for a data center. With several data centers, name the local one:
	// TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "dc1"}}.
	HostSelectionPolicy HostSelectionPolicy
	// Defaults are the settings of requests that do not set their own. The zero value means consistency Quorum, pages of
	// 5000 rows and DefaultRetryPolicy.
	Defaults Profile
	// Profiles are further sets of settings, by name: see Query.Profile. Default none.
	Profiles map[string]Profile
	// Logger receives one record per change of state, never one per request. The attribute "node" is the address,
	// host:port, of a node. Of equal records (level, message, node) Logger receives one in 30 seconds; the attribute
	// "repeated" of the next one is the number of records dropped. Default slog.Default.
	Logger *slog.Logger

	Nodes    NodesConfig    // the nodes of the session
	Pool     PoolConfig     // the connections to each node
	Schema   SchemaConfig   // the cache of the schema
	Limits   LimitsConfig   // bounds of requests and of memory
	Protocol ProtocolConfig // the native protocol
}

// NodesConfig configures which nodes a session has.
type NodesConfig struct {
	// ClusterName is the name of the cluster. A server of another cluster is refused with a *PeerError. Default the name
	// that the first contact point reports, which is therefore believed.
	ClusterName string
	// LoadBalanced means that any node of the cluster may answer at a node's address, as behind a load balancer. By
	// default a node with another host id is refused with a *PeerError; if other nodes answer at a contact point, the
	// node that answered there first is dialed at the address that it announces.
	LoadBalanced bool
	// DisableInitialHostLookup makes the contact points the only nodes of the session: it does not read the other nodes
	// from the system tables, at the start or later. Set it where these tables have addresses that the program cannot
	// reach and AddressTranslator cannot translate, as behind some proxies. The session then has no token awareness, and
	// of a node only the address: its id is made from it, and data center, rack, version and tokens are empty,
	// which a HostFilter and a HostSelectionPolicy have to accept. Any node of the cluster may answer at the address.
	// Names of contact points are resolved again every ReconnectInterval; a node leaves once it has no connection and no
	// contact point has its address. Default false.
	DisableInitialHostLookup bool
	// HostFilter reports whether the session connects to a node. The session sends no request to a node that is not
	// accepted and opens no connection to it, except for a control connection to a contact point. Default all nodes.
	// The driver calls HostFilter each time it has read the system tables, and holds no lock during the call; several
	// sessions may call it at once. A panic is an error of NewSession, and later a line in the log.
	HostFilter func(host *cql.Host) bool
	// AddressTranslator maps the address that a node announces to the address at which clients reach the node, for
	// example through a gateway. The driver calls it for the addresses in system tables and events, not for contact
	// points, from several goroutines at once, and holds no lock during the call. An invalid result or port 0 means that
	// the node cannot be reached; the session leaves the node out. Default no translation. A panic is an error of
	// NewSession, and later a line in the log.
	AddressTranslator func(netip.AddrPort) netip.AddrPort
	// ClientRoutes are the connection ids of a private network, such as AWS PrivateLink or GCP Private Service Connect, to
	// a ScyllaDB cluster. The session then dials each node at its address and port in the table system.client_routes, or
	// its tls_port with ClusterConfig.TLS, and resolves a host name at each dial. The session follows changes of the
	// table. A node with several connection ids keeps the current one, else the first that has a route is used. A node
	// without a route has no connections: its dial fails with ErrNoRoute. Hosts are addresses of the private network
	// too. Certificates are verified against the host in the table unless ServerName is set. Shard-aware ports are not
	// used, and Host.Address is the address that the node announces. Default none: nodes are dialed at their addresses.
	ClientRoutes []string
	// ReconnectInterval is how often the session reads the nodes from the system tables without an event. Default 60 s.
	ReconnectInterval time.Duration
	// OnChange is called after changes of nodes. Default none.
	//
	// One goroutine of the session makes all calls of it and of SchemaConfig.OnChange, one at a time, in the order of the
	// changes. A function may block, use the session, and close it; a panic in it is logged. While it runs, changes are
	// merged, not queued: the next call reports the difference to the last reported state. A node that went down and came
	// up in between is not reported. Nodes known at the start count as up; NodeDown is reported for each that was not
	// reached. There is no call after Close has returned, but one that was running then may still run.
	OnChange func(NodeChange)
}

// PoolConfig configures the connections to each node.
type PoolConfig struct {
	// NumConns is the number of connections to each node. On a ScyllaDB node every shard has the same number of
	// connections, at least one, and the node at least NumConns. Default 2.
	NumConns int
	// MaxRequestsPerConn is the number of requests in flight on one connection. Further requests wait until their
	// context or timeout ends, then fail with ErrNoStreams. Default 32768, the maximum of the protocol.
	MaxRequestsPerConn int
	// Dialer opens connections. Default a net.Dialer with TCP keep-alive.
	Dialer Dialer
	// HostDialer opens connections in place of Dialer, and receives the node of each. Default none.
	HostDialer HostDialer
	// HeartbeatInterval is how long a connection may be idle before the session sends a heartbeat. Default 30 s;
	// negative means no heartbeats.
	HeartbeatInterval time.Duration
	// HeartbeatTimeout is how long the response to a heartbeat may take before the session replaces the connection.
	// Default 5 s.
	HeartbeatTimeout time.Duration
	// ReconnectionPolicy sets the delays between attempts to reach a node. Default ExponentialReconnectionPolicy{}:
	// exponential backoff from 100 ms to 5 s, without end.
	ReconnectionPolicy ReconnectionPolicy
	// DisableShardAwarePort opens connections to ScyllaDB's shards over the plain port only, where the node chooses the
	// shard. Set it for networks that translate local ports or block the shard-aware port. The driver also detects such
	// networks without the option, at the cost of an occasional extra connection. Default false.
	DisableShardAwarePort bool
	// ShardAwareLocalPorts are the first and the last local port for connections to ScyllaDB's shard-aware port.
	// Default 49152 to 65535.
	ShardAwareLocalPorts [2]uint16
	// ConnectObserver is called after every attempt to connect, on the goroutine that dialed. Default none.
	ConnectObserver func(ObservedConnect)
}

// SchemaConfig configures what a session knows of the schema.
type SchemaConfig struct {
	// Metadata sets how much of the schema the session caches. Default MetadataFull: each keyspace that was requested.
	Metadata MetadataMode
	// MaxWaitAgreement bounds the wait for schema agreement after a schema change. Default 60 s.
	MaxWaitAgreement time.Duration
	// OnChange is called after changes of the schema, as NodesConfig.OnChange is after changes of nodes. A table that was
	// created and dropped during a call is not reported. Default none.
	//
	// With OnChange the session reads the whole schema at its start, and the changed parts after changes. The objects of
	// a created or dropped keyspace are reported too: created after the keyspace, dropped before it. Metadata must not be
	// MetadataNone; with MetadataKeyspaces only changes of keyspaces are reported.
	OnChange func(SchemaChange)
}

// LimitsConfig bounds the requests and the memory of a session.
type LimitsConfig struct {
	// Throttle bounds the requests in flight on all connections together. Default no bound.
	Throttle Throttle
	// MemoryBudget bounds the memory, in bytes, of requests in flight, of their answers, and of the pages that open rows
	// hold, pages requested ahead included. A request that does not fit waits until its context or timeout ends, then
	// fails with a *MemoryBudgetError and was not sent; no page is requested ahead meanwhile. Requests without a page,
	// such as the requests of Exec and Scan, do not wait for the pages of the program. When the program releases no page
	// for a second, one request is sent beyond the budget. Rows that are not closed stay counted. Default 0: nothing is
	// bounded or counted, because a bound makes programs wait that hold many pages, and only the program knows how much
	// memory it has.
	MemoryBudget int64
	// MaxPreparedStmts is the size of the cache of prepared statements. Default 1000.
	MaxPreparedStmts int
}

// ProtocolConfig configures what a session and a server agree on.
type ProtocolConfig struct {
	// Version is the native protocol version, 3, 4 or 5. Default 0, which means the highest that the cluster supports.
	// v3 has no UnsetValue, no custom payloads and no warnings, and its servers report failures of replicas as timeouts;
	// statements with named markers have no token awareness.
	Version int
	// Beta allows version 6, which is a beta of Cassandra 4.0 and later, and by default tries it first. It has no
	// specification: so far Cassandra treats it as version 5, and any release may change that. Not for production.
	// Default false.
	Beta bool
	// CQLVersion is sent in STARTUP. Default "3.0.0".
	CQLVersion string
	// ApplicationInfo is the name, version and client id of the program, sent in STARTUP. Default none.
	ApplicationInfo ApplicationInfo
	// DisableDriverConfig leaves DRIVER_CONFIG out of STARTUP. By default the control connection sends the configuration of
	// the session to the server, as ScyllaDB's drivers do, for operators: ScyllaDB lists it in system.clients, Cassandra
	// in system_views.clients. It has timeouts, sizes and policies, and neither secrets, addresses, keyspaces nor names of
	// users. Default false.
	DisableDriverConfig bool
	// Events disables events of the server. Default none disabled.
	Events EventsConfig
	// ExperimentalTabletsRoutingV2 uses ScyllaDB's extension TABLETS_ROUTING_V2_EXPERIMENTAL on nodes that support it.
	// The format of the extension may still change. Requests to strongly consistent tables then go to the leader of their
	// tablet first: see TokenAwarePolicy. Default false.
	ExperimentalTabletsRoutingV2 bool
}

// A Throttle bounds the requests in flight of a session. The zero value bounds nothing and costs nothing. An attempt
// counts from its sending to its response; PREPAREs count, waits between two attempts do not. A request above the bound
// waits in a FIFO queue until its context or timeout ends. It then fails with ErrThrottled and was not sent.
type Throttle struct {
	MaxRequests int // attempts in flight; 0 means no bound
	MaxWaiting  int // requests in the queue; further ones fail at once. 0 means no bound, negative means no queue
}

// newThrottle returns the queue of requests for t. nil means that t bounds nothing.
func newThrottle(t Throttle) *queue.Queue {
	if t.MaxRequests <= 0 {
		return nil
	}
	return queue.New(queue.Limits{Requests: t.MaxRequests, Waiting: t.MaxWaiting}, ErrThrottled)
}

// EventsConfig disables events of the server. Without them a session finds changes of nodes at the next
// ReconnectInterval.
type EventsConfig struct {
	DisableNodeStatusEvents bool // a node is up or down
	DisableTopologyEvents   bool // a node is new, or has left
	DisableSchemaEvents     bool // the schema has changed
}

// names returns the types of events for REGISTER.
func (c *EventsConfig) names() []string {
	var names []string
	if !c.DisableTopologyEvents {
		names = append(names, frame.EventTopology)
	}
	if !c.DisableNodeStatusEvents {
		names = append(names, frame.EventStatus)
	}
	if !c.DisableSchemaEvents {
		names = append(names, frame.EventSchema)
	}
	return names
}

// withDefaults returns c with defaults in place of zero fields.
func (c ClusterConfig) withDefaults() (ClusterConfig, error) {
	setDefault(&c.Port, 9042)
	setDefault(&c.Timeout, 11*time.Second)
	setDefault(&c.ConnectTimeout, 11*time.Second)
	setDefault(&c.Defaults.Consistency, cql.Quorum)
	setDefault(&c.Defaults.PageSize, 5000)
	setDefault(&c.Defaults.Prefetch, 0.25)
	setDefault(&c.Nodes.ReconnectInterval, time.Minute)
	setDefault(&c.Schema.MaxWaitAgreement, time.Minute)
	setDefault(&c.Limits.MaxPreparedStmts, 1000)
	setDefault(&c.Protocol.CQLVersion, "3.0.0")
	c.Pool.setDefaults()
	c.Profiles = maps.Clone(c.Profiles)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c, c.validate()
}

func (p *PoolConfig) setDefaults() {
	setDefault(&p.NumConns, 2)
	setDefault(&p.MaxRequestsPerConn, stream.MaxStreams)
	setDefault(&p.HeartbeatInterval, 30*time.Second)
	setDefault(&p.HeartbeatTimeout, conn.DefaultBeatTimeout)
	setDefault(&p.ShardAwareLocalPorts, [2]uint16{49152, 65535})
	if p.ReconnectionPolicy == nil {
		p.ReconnectionPolicy = ExponentialReconnectionPolicy{}
	}
	if p.Dialer == nil && p.HostDialer == nil {
		p.Dialer = &net.Dialer{KeepAlive: 15 * time.Second}
	}
}

// validate returns an error that joins all invalid fields. Zero fields have their defaults.
func (c *ClusterConfig) validate() error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, errtext.Errorf("ClusterConfig: "+format, args...))
		}
	}
	negative := func(v int64, name string, value any) { fault(v < 0, "%s is %v, must not be negative", name, value) }
	if len(c.Hosts) == 0 {
		errs = append(errs, errtext.Errorf("ClusterConfig: Hosts is empty: %w", ErrNoHosts))
	}
	fault(c.Authenticator != nil && c.AuthProvider != nil, "Authenticator and AuthProvider are both set")
	fault(c.Port < 0 || c.Port > 0xFFFF, "Port is %d, must be at most 65535", c.Port)
	negative(int64(c.Timeout), "Timeout", c.Timeout)
	negative(int64(c.ConnectTimeout), "ConnectTimeout", c.ConnectTimeout)
	if wrong := c.Defaults.check(); wrong != "" {
		fault(true, "Defaults.%s", wrong)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		p := c.Profiles[name]
		wrong := p.check()
		fault(wrong != "", "Profiles[%q]: %s", name, wrong)
	}
	negative(int64(c.Nodes.ReconnectInterval), "Nodes.ReconnectInterval", c.Nodes.ReconnectInterval)
	routes := c.Nodes.ClientRoutes
	fault(slices.Contains(routes, ""), "Nodes.ClientRoutes has an empty connection id")
	fault(len(routes) > 0 && c.Nodes.AddressTranslator != nil, "Nodes.ClientRoutes and Nodes.AddressTranslator are both set")
	fault(len(routes) > 0 && c.Nodes.DisableInitialHostLookup,
		"Nodes.ClientRoutes and Nodes.DisableInitialHostLookup are both set: routes need the host ids of the nodes")
	pool, ports := &c.Pool, c.Pool.ShardAwareLocalPorts
	fault(pool.Dialer != nil && pool.HostDialer != nil, "Pool.Dialer and Pool.HostDialer are both set")
	negative(int64(pool.NumConns), "Pool.NumConns", pool.NumConns)
	negative(int64(pool.HeartbeatTimeout), "Pool.HeartbeatTimeout", pool.HeartbeatTimeout)
	fault(ports[0] == 0 || ports[0] > ports[1], "Pool.ShardAwareLocalPorts are %d to %d, want the first and the last port",
		ports[0], ports[1])
	fault(pool.MaxRequestsPerConn < 0 || pool.MaxRequestsPerConn > stream.MaxStreams,
		"Pool.MaxRequestsPerConn is %d, must be 0 to %d", pool.MaxRequestsPerConn, stream.MaxStreams)
	schema := &c.Schema
	negative(int64(schema.MaxWaitAgreement), "Schema.MaxWaitAgreement", schema.MaxWaitAgreement)
	fault(schema.Metadata > MetadataNone, "Schema.Metadata is %d, must be MetadataFull, MetadataKeyspaces or MetadataNone",
		schema.Metadata)
	fault(schema.Metadata == MetadataNone && schema.OnChange != nil,
		"Schema.Metadata is MetadataNone, Schema.OnChange needs a cache")
	negative(int64(c.Limits.Throttle.MaxRequests), "Limits.Throttle.MaxRequests", c.Limits.Throttle.MaxRequests)
	negative(c.Limits.MemoryBudget, "Limits.MemoryBudget", c.Limits.MemoryBudget)
	negative(int64(c.Limits.MaxPreparedStmts), "Limits.MaxPreparedStmts", c.Limits.MaxPreparedStmts)
	version := c.Protocol.Version
	fault(version == 6 && !c.Protocol.Beta, "Protocol.Version is 6, a beta version: set Protocol.Beta")
	fault(version != 0 && (version < 3 || version > 6),
		"Protocol.Version is %d, must be 3, 4, 5 or 0 for the highest", version)
	_, snappy := c.Compressor.(SnappyCompressor)
	fault(snappy && version >= 5,
		"Compressor is Snappy, which protocol v5 does not support: set LZ4 or Protocol.Version 4")
	return errtext.Join(append(errs, validatePolicy(c.HostSelectionPolicy))...)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// highestVersion returns the protocol version that is tried first.
func (c *ClusterConfig) highestVersion() byte {
	_, snappy := c.Compressor.(SnappyCompressor)
	switch {
	case c.Protocol.Version != 0:
		return byte(c.Protocol.Version)
	case snappy: // which v5 does not have
		return frame.V4
	case c.Protocol.Beta:
		return frame.V6
	}
	return frame.V5
}

// contactPoint is one address of a configured host.
type contactPoint struct {
	name string // as configured; empty for a host that is an address
	addr netip.Addr
	port uint16
}

// contactPoints resolves the configured hosts. It looks names up on every call, since nodes may have moved. The error
// joins the hosts without an address.
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
			errs = append(errs, errtext.Errorf("contact point %q: %w", h, err))
			continue
		}
		if addr, err := netip.ParseAddr(host); err == nil {
			points = append(points, contactPoint{addr: addr.Unmap(), port: uint16(port)})
			continue
		}
		addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			errs = append(errs, errtext.Errorf("contact point %q: %w", h, err))
		}
		for _, addr := range addrs {
			points = append(points, contactPoint{name: host, addr: addr.Unmap(), port: uint16(port)})
		}
	}
	return points, errtext.Join(errs...)
}

// A Profile is a set of settings of queries and batches: of all requests of a session (ClusterConfig.Defaults), or of
// those that name it (ClusterConfig.Profiles, Query.Profile). Query and Batch have setters of the same names for one
// request. A zero field leaves the setting unchanged: a profile can set neither consistency Any nor a flag to false.
type Profile struct {
	// Consistency is the consistency of requests. Default Quorum.
	Consistency cql.Consistency
	// SerialConsistency is the consistency of the Paxos phase of conditional requests: Serial or LocalSerial. Default the
	// server's, Serial.
	SerialConsistency cql.Consistency
	// RequestTimeout bounds each attempt, whether or not the context has a deadline: see Query.RequestTimeout. Default
	// none.
	RequestTimeout time.Duration
	// TotalTimeout bounds a whole request, of a query each page, with its preparation, retries and waits: see
	// Query.TotalTimeout. Default none.
	TotalTimeout time.Duration
	// PageSize is the number of rows in a page of a query. Default 5000; negative means no paging.
	PageSize int
	// Prefetch is the share of the current page, 0 to 1, that is left when the session requests the next page. Default
	// 0.25; negative means at the end of the page.
	Prefetch float64
	// Idempotent marks the statements idempotent: they may be executed twice. Default false, but see Query.Idempotent.
	Idempotent bool
	// DisableSelectIdempotence makes a SELECT idempotent only if it is marked so, like every other statement. Default
	// false: a SELECT is idempotent unless Query.Idempotent(false) is set, because executing it again writes nothing.
	DisableSelectIdempotence bool
	// ServerTimestamps leaves the timestamps of writes to the coordinators. Default false, which means that requests
	// carry the client's clock; the timestamps of a session strictly increase.
	ServerTimestamps bool
	// RetryPolicy decides whether a failed request is sent again. Default DefaultRetryPolicy.
	RetryPolicy RetryPolicy
	// SpeculativeExecutionPolicy sends a slow idempotent request to another node as well. Default none.
	SpeculativeExecutionPolicy SpeculativeExecutionPolicy
	// Observer is called after every attempt of a request. Default none.
	Observer Observer
}

// check describes the first invalid field of the profile. Empty means that the profile is valid.
func (p *Profile) check() string {
	switch {
	case p.Consistency > cql.LocalOne:
		return fmt.Sprintf("Consistency is %v, not a consistency level", p.Consistency)
	case p.SerialConsistency != 0 && !p.SerialConsistency.IsSerial():
		return fmt.Sprintf("SerialConsistency is %v, must be SERIAL or LOCAL_SERIAL", p.SerialConsistency)
	case p.RequestTimeout < 0:
		return fmt.Sprintf("RequestTimeout is %v, must not be negative", p.RequestTimeout)
	case p.TotalTimeout < 0:
		return fmt.Sprintf("TotalTimeout is %v, must not be negative", p.TotalTimeout)
	case !(p.Prefetch <= 1):
		return fmt.Sprintf("Prefetch is %v, must be at most 1", p.Prefetch)
	}
	return ""
}
