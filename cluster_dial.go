// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/version"
)

// Dialing: the options of connections, and the first connections of a session to the nodes.

// startGrace is how long NewSession waits for further nodes once the first is connected: a node that does not respond
// must not delay the start. The session dials it in the background.
const startGrace = time.Second

// awaitNodes starts the pools. It returns after one attempt to connect to every node, or startGrace after the first
// node was reached.
func (k *cluster) awaitNodes(ctx context.Context) error {
	nodes := k.topo.Load().nodes
	triedNodes := make(chan *node, len(nodes))
	for _, n := range nodes {
		n.pool.refill()
		k.wg.Go(func() {
			select {
			case <-n.pool.firstDone:
			case <-k.ctx.Done():
			}
			triedNodes <- n
		})
	}
	var grace <-chan time.Time
	for range nodes {
		select {
		case n := <-triedNodes:
			if grace == nil && n.pool.isUp() {
				timer := time.NewTimer(startGrace)
				defer timer.Stop()
				grace = timer.C
			}
			continue
		case <-grace:
		case <-ctx.Done():
			return errtext.Errorf("connect to the %d nodes of the cluster: %w", len(nodes), ctx.Err())
		}
		break
	}
	if slices.ContainsFunc(nodes, func(n *node) bool { return n.pool.isUp() }) {
		return nil
	}
	return startError(nodes)
}

// startError returns the error of a start that connected to no node. All nodes agree on the keyspaces, so a missing
// keyspace is one error.
func startError(nodes []*node) error {
	var errs []error
	for _, n := range nodes {
		err := cmp.Or(n.pool.lastError(), conn.ErrClosed) // the pool may not have its error yet
		if errors.Is(err, ErrKeyspaceDoesNotExist) {
			return keyspaceStartError{err}
		}
		errs = append(errs, errtext.Errorf("node %s: %w", n.info.Address, err))
	}
	return errtext.Errorf("%w: %w", ErrNoConnectionsStarted, errtext.Join(errs...))
}

// keyspaceStartError is the error of a start in a keyspace that does not exist. It is ErrNoConnectionsStarted too, but
// without its text, because the contact points were reached.
type keyspaceStartError struct{ err error }

func (e keyspaceStartError) Error() string   { return e.err.Error() }
func (e keyspaceStartError) Unwrap() []error { return []error{e.err, ErrNoConnectionsStarted} }

// newPool returns the pool of a node. The caller starts it.
func (k *cluster) newPool(h *cql.Host) *pool {
	return newPool(k.ctx, k.addrOf(h), poolConfig{
		host: h.ID, size: k.cfg.Pool.NumConns, dial: k.dialNode, shardPort: k.shardPort,
		policy: k.cfg.Pool.ReconnectionPolicy, changed: k.nodesChanged, drainTimeout: k.cfg.Timeout, log: k.log,
	})
}

// dialControl opens a connection to any node of the cluster and registers it for events.
func (k *cluster) dialControl(ctx context.Context, addr string, onEvent func(any),
	closed func(*conn.Conn, error),
) (*conn.Conn, error) {
	to := dialTarget{addr: addr}
	cfg := k.connConfig(to, k.controlHost(addr))
	cfg.OnEvent, cfg.OnClose = k.hearRoutes(onEvent), closed
	if !k.cfg.Protocol.DisableDriverConfig {
		k.addDriverConfig(cfg.Options)
	}
	var initial func(context.Context, *conn.Conn) error
	events := k.cfg.Protocol.Events.names()
	switch {
	case k.routes != nil:
		initial = func(ctx context.Context, c *conn.Conn) error { return k.registerRoutes(ctx, c, events) }
	case len(events) > 0:
		initial = func(ctx context.Context, c *conn.Conn) error { return conn.Register(ctx, c, events) }
	}
	return k.dialVerified(ctx, cfg, to, initial)
}

// controlHost returns the node that a control connection to an address is dialed for. A contact point has the address
// only, unless its node is connected: behind a proxy the address leads to any node, and that node may be gone.
func (k *cluster) controlHost(addr string) *cql.Host {
	host := k.hostAt(addr)
	_, point := k.pointNames.Load(addr)
	if n := k.topo.Load().nodeByID(host.ID); point && n != nil && !n.pool.isUp() {
		return &cql.Host{Address: host.Address}
	}
	return host
}

// addDriverConfig adds the configuration of the session to the options of STARTUP.
func (k *cluster) addDriverConfig(options map[string]string) {
	if text := k.cfg.driverConfig(); text != "" {
		options[keyDriverConfig] = text
	} else {
		k.log.Warn("DRIVER_CONFIG not sent: it is too large", "limit", maxDriverConfig)
	}
}

// dialNode opens a connection to the node with the host id of to and sets the session's keyspace on it.
func (k *cluster) dialNode(ctx context.Context, to dialTarget, hooks conn.Hooks) (*conn.Conn, error) {
	id := to.ids.now
	if k.routes != nil { // the pool may not have the new route yet: its address may be the announced one
		var err error
		if to.addr, err = k.routes.addrOf(id); err != nil {
			return nil, err
		}
	}
	cfg := k.connConfig(to, k.hostByID(id, to.addr))
	cfg.Hooks = hooks
	var initial func(context.Context, *conn.Conn) error
	if k.cfg.Keyspace != "" {
		initial = k.useKeyspace
	}
	c, err := k.dialVerified(ctx, cfg, to, initial)
	if err == nil {
		k.noteFeatures(&c.Features)
	}
	return c, err
}

// useKeyspace sets the session's keyspace on a connection.
func (k *cluster) useKeyspace(ctx context.Context, c *conn.Conn) error {
	if _, err := systemQuery(ctx, c, `USE `+cqltext.QuoteIdentifier(k.cfg.Keyspace)); err != nil {
		if errors.Is(err, cql.CodeInvalid) {
			return errtext.Errorf("%w: ClusterConfig.Keyspace is %q: %w", ErrKeyspaceDoesNotExist, k.cfg.Keyspace, err)
		}
		return errtext.Errorf("use keyspace %q: %w", k.cfg.Keyspace, err)
	}
	return nil
}

// hostByID returns the node with that id, or what is known of the node at addr after it has left the cluster.
func (k *cluster) hostByID(id cql.UUID, addr string) *cql.Host {
	if n := k.topo.Load().nodeByID(id); n != nil {
		return n.info
	}
	return k.hostAt(addr)
}

// connConfig returns the configuration of a connection to a node.
func (k *cluster) connConfig(to dialTarget, host *cql.Host) *conn.Config {
	options := map[string]string{
		"CQL_VERSION": k.cfg.Protocol.CQLVersion, "SESSION_ID": k.id.String(),
		"DRIVER_NAME": "vecql", "DRIVER_VERSION": version.Version,
	}
	k.cfg.Protocol.ApplicationInfo.startup(options)
	dialer := k.cfg.dialerOf(host)
	var authFor func() (cql.Authenticator, error)
	if k.cfg.AuthProvider != nil {
		authFor = func() (cql.Authenticator, error) { return k.cfg.AuthProvider(host) }
	}
	return &conn.Config{
		Dial:      func(ctx context.Context, addr string) (net.Conn, error) { return k.dialSocket(ctx, dialer, to) },
		TLS:       k.tlsConfig(to.addr),
		DialerTLS: k.cfg.Pool.HostDialer != nil,
		Version:   k.version, Compressor: k.cfg.Compressor, Auth: k.cfg.Authenticator, AuthFor: authFor,
		NoTablets: k.cfg.Nodes.DisableInitialHostLookup,
		TabletsV2: k.cfg.Protocol.ExperimentalTabletsRoutingV2, Options: options, Timeout: k.cfg.Timeout,
		ConnectTimeout: k.cfg.ConnectTimeout, Heartbeat: max(k.cfg.Pool.HeartbeatInterval, 0),
		BeatTimeout: k.cfg.Pool.HeartbeatTimeout, Logger: k.log, MaxStreams: k.cfg.Pool.MaxRequestsPerConn,
		Memory: k.memory,
	}
}

// dialObserved is conn.Dial. It counts the attempt and reports it to the ConnectObserver.
func (k *cluster) dialObserved(ctx context.Context, cfg *conn.Config, addr string) (*conn.Conn, error) {
	closed := cfg.OnClose
	var decided atomic.Bool // whether the connection opened or ended, the first of both
	cfg.OnClose = func(c *conn.Conn, err error) {
		if opened := !decided.CompareAndSwap(false, true); opened {
			k.counters.ended[conn.EndCauseOf(err)].Add(1)
			if !errors.Is(err, conn.ErrDrained) {
				k.counters.lost.Add(1)
			}
		}
		closed(c, err)
	}
	began := time.Now()
	c, err := conn.Dial(ctx, cfg, addr)
	if err == nil && !decided.CompareAndSwap(false, true) {
		c, err = nil, c.ClosedError()
	}
	switch {
	case err == nil:
		k.counters.opened.Add(1)
	case !errors.Is(err, context.Canceled): // which means that the session was closed
		k.counters.connectFailures.Add(1)
	}
	if k.cfg.Pool.ConnectObserver != nil {
		k.observeConnect(ObservedConnect{Host: k.hostAt(addr), Start: began, End: time.Now(), Err: err})
	}
	return c, err
}

// dialSocket opens a TCP connection, to the shard-aware port if to names one.
func (k *cluster) dialSocket(ctx context.Context, d Dialer, to dialTarget) (net.Conn, error) {
	if to.port == 0 {
		return d.DialContext(ctx, "tcp", to.addr)
	}
	host, _, err := net.SplitHostPort(to.addr)
	if err != nil {
		return nil, err
	}
	addr := net.JoinHostPort(host, strconv.Itoa(int(to.port)))
	ports := portRange{k.cfg.Pool.ShardAwareLocalPorts[0], k.cfg.Pool.ShardAwareLocalPorts[1]}
	return dialShard(ctx, ports, to.shard, to.shards, func(ctx context.Context, port int) (net.Conn, error) {
		return dialFromPort(ctx, d, addr, port)
	})
}

// shardPort returns the shard-aware port of the node of a connection. 0 means that there is none or that it cannot be
// used. The proxies of client routes do not keep local ports.
func (k *cluster) shardPort(c *conn.Conn) uint16 {
	switch {
	case k.cfg.Pool.DisableShardAwarePort || k.routes != nil || !choosesPorts(k.cfg.dialerOf(nil)):
		return 0
	case conn.IsTLS(c.Sock):
		return c.Features.ShardAwarePortSSL
	}
	return c.Features.ShardAwarePort
}

// dialFromPort opens a TCP connection from a local port.
func dialFromPort(ctx context.Context, d Dialer, addr string, port int) (net.Conn, error) {
	if d, ok := d.(LocalPortDialer); ok {
		return d.DialContextLocalPort(ctx, "tcp", addr, port)
	}
	standard, ok := d.(*net.Dialer)
	if !ok {
		return nil, errors.New("the dialer cannot choose local ports")
	}
	bound := *standard
	local := net.TCPAddr{Port: port}
	if given, ok := bound.LocalAddr.(*net.TCPAddr); ok {
		local.IP, local.Zone = given.IP, given.Zone
	}
	bound.LocalAddr = &local
	return bound.DialContext(ctx, "tcp", addr)
}
