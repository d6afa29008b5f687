// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/fakecql"
)

// Sessions with client routes, on nodes behind relays: a private network in small.

// relay forwards the connections to its address to a node.
type relay struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	socks    []net.Conn
	closed   bool
	arrived  atomic.Int64
	wg       sync.WaitGroup
}

func newRelay(t *testing.T, to netip.AddrPort) *relay {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{listener: listener, to: to.String()}
	r.wg.Go(r.accept)
	t.Cleanup(r.close)
	return r
}

func (r *relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.arrived.Add(1)
		node, err := net.Dial("tcp", r.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		r.mu.Lock()
		r.socks = append(r.socks, client, node)
		closed := r.closed
		r.mu.Unlock()
		if closed {
			_, _ = client.Close(), node.Close()
		}
		for _, pair := range [][2]net.Conn{{client, node}, {node, client}} {
			r.wg.Go(func() {
				_, _ = io.Copy(pair[0], pair[1])
				_, _ = pair[0].Close(), pair[1].Close()
			})
		}
	}
}

// close ends the relay and its connections.
func (r *relay) close() {
	_ = r.listener.Close()
	r.mu.Lock()
	r.closed = true
	for _, s := range r.socks {
		_ = s.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

func (r *relay) addr() string { return r.listener.Addr().String() }

func (r *relay) port() int { return r.listener.Addr().(*net.TCPAddr).Port }

// route returns the row that leads to a node through r.
func (r *relay) route(connection string, n *cqltest.Node) cqltest.ClientRoute {
	return cqltest.ClientRoute{ConnectionID: connection, HostID: n.HostID(), Address: "127.0.0.1", Port: r.port()}
}

// recordingDialer is a net.Dialer that records the addresses, and resolves names by a table.
type recordingDialer struct {
	net.Dialer
	mu     sync.Mutex
	dialed []string
	names  map[string]string // host:port to the address of a relay
}

func (d *recordingDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	d.mu.Lock()
	d.dialed = append(d.dialed, addr)
	to, named := d.names[addr]
	d.mu.Unlock()
	if named {
		addr = to
	}
	return d.Dialer.DialContext(ctx, network, addr)
}

// resolve sets the address of a name.
func (d *recordingDialer) resolve(name, to string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names == nil {
		d.names = map[string]string{}
	}
	d.names[name] = to
}

// distinct returns the addresses that were dialed, sorted.
func (d *recordingDialer) distinct() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := slices.Clone(d.dialed)
	slices.Sort(list)
	return slices.Compact(list)
}

// privateNet is a cluster whose nodes are behind relays, one each.
type privateNet struct {
	*cqltest.Cluster
	relays []*relay
	dialer recordingDialer
}

func newPrivateNet(t *testing.T, change ...func(cfg *cqltest.Config)) *privateNet {
	cfg := cqltest.Config{Scylla: &cqltest.Scylla{Shards: 2}}
	for _, f := range change {
		f(&cfg)
	}
	p := &privateNet{Cluster: cqltest.New(t, cfg)}
	require.NoError(t, p.Exec(
		`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE ks.t (id bigint PRIMARY KEY, v bigint)`))
	for _, n := range p.Nodes() {
		p.relays = append(p.relays, newRelay(t, n.Addr()))
	}
	return p
}

// publish writes the routes of the relays for the connection id a.
func (p *privateNet) publish(more ...cqltest.ClientRoute) {
	for i, n := range p.Nodes() {
		if i < len(p.relays) {
			more = append(more, p.relays[i].route("a", n))
		}
	}
	p.SetClientRoutes(more...)
}

// config has the first relay as contact point, and connection id a.
func (p *privateNet) config() *ClusterConfig {
	cfg := &ClusterConfig{Hosts: []string{p.relays[0].addr()}, Logger: slog.New(slog.DiscardHandler)}
	cfg.Nodes.ClientRoutes = []string{"a"}
	cfg.Nodes.ReconnectInterval = time.Hour
	cfg.Pool.Dialer = &p.dialer
	cfg.Pool.ReconnectionPolicy = ConstantReconnectionPolicy{Interval: 10 * time.Millisecond}
	return cfg
}

func (p *privateNet) open(t *testing.T, cfg *ClusterConfig) *Session {
	t.Helper()
	s, err := NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// poolTo returns the pool of a node, nil if the session does not know the node.
func poolTo(s *Session, n *cqltest.Node) *pool {
	if at := s.topo.Load().nodeByID(n.HostID()); at != nil {
		return at.pool
	}
	return nil
}

// awaitConns waits until the session's connections to a node all lead through addr.
func awaitConns(t *testing.T, s *Session, n *cqltest.Node, addr string) {
	t.Helper()
	require.Eventually(t, func() bool {
		p := poolTo(s, n)
		if p == nil || !p.isUp() {
			return false
		}
		for _, c := range p.open.Load().conns {
			if c.Addr() != addr {
				return false
			}
		}
		return true
	}, time.Minute, time.Millisecond, "connections to %s", addr)
}

func insertRoute(t *testing.T, s *Session, id int64) *Query {
	t.Helper()
	return s.Query("INSERT INTO ks.t (id, v) VALUES (?, ?)", id, -id).Idempotent(true)
}

// The session dials the routes and nothing else: several nodes at one host with different ports. Nodes keep the address
// that they announce (scylladb/gocql pull request 675, client_routes.go, TranslateHost). The shard-aware port is not
// used, and all shards are reached over the plain port (scylladb/scylla-rust-driver docs/source/connecting/
// client-routes.md, "basic shard awareness still works"; scylladb/gocql pull request 695).
func TestClientRoutesAreDialed(t *testing.T) {
	p := newPrivateNet(t)
	p.publish()
	s := p.open(t, p.config())
	for i, n := range p.Nodes() {
		awaitConns(t, s, n, p.relays[i].addr())
		require.Eventually(t, func() bool { return len(n.Conns()) > 0 && shardsReached(n) == 2 }, time.Minute, time.Millisecond)
		for _, c := range n.Conns() {
			require.False(t, c.ShardAware)
		}
		host := s.topo.Load().nodeByID(n.HostID()).info
		require.Equal(t, n.Addr().Addr(), host.Address.Addr(), "the announced address")
		p.ResetStats()
		iter := insertRoute(t, s, 1).HostID(host.ID).Iter(t.Context())
		require.NoError(t, iter.Close())
		require.Same(t, host, iter.Host())
		require.Positive(t, n.Requests(cqltest.OpExecute))
	}
	want := []string{p.relays[0].addr(), p.relays[1].addr(), p.relays[2].addr()}
	slices.Sort(want)
	require.Equal(t, want, p.dialer.distinct())
}

// shardsReached counts the shards with a connection.
func shardsReached(n *cqltest.Node) int {
	shards := map[int]bool{}
	for _, c := range n.Conns() {
		shards[c.Shard] = true
	}
	return len(shards)
}

// A node without a route is not dialed at its announced address: its error is ErrNoRoute, until a route appears
// (scylladb/scylla-rust-driver, scylla/src/client/client_routes.rs, NoRuleForHost; scylladb/gocql cluster_config
// BlockUnknownEndpoints, "Unknown endpoints are always blocked").
func TestNodeWithoutClientRoute(t *testing.T) {
	p := newPrivateNet(t)
	last := p.Node(2)
	all := p.relays
	p.relays = all[:2]
	p.publish()
	s := p.open(t, p.config())
	awaitConns(t, s, p.Node(1), p.relays[1].addr())
	require.Eventually(t, func() bool { return errors.Is(poolTo(s, last).lastError(), ErrNoRoute) }, time.Minute, time.Millisecond)
	require.ErrorContains(t, poolTo(s, last).lastError(), "a connection id of a")
	err := insertRoute(t, s, 1).HostID(last.HostID()).Exec(t.Context())
	require.ErrorIs(t, err, ErrNoConnections)
	require.NoError(t, insertRoute(t, s, 1).Exec(t.Context()), "the other nodes serve")
	require.Empty(t, last.Conns())

	p.relays = all
	p.publish()
	awaitConns(t, s, last, all[2].addr())
	require.NoError(t, insertRoute(t, s, 1).HostID(last.HostID()).Exec(t.Context()))
	for _, addr := range p.dialer.distinct() {
		require.True(t, strings.HasPrefix(addr, "127.0.0.1:"), addr)
	}

	// the row is deleted: open connections stay, and a lost one is not replaced
	p.relays = all[:2]
	p.publish()
	require.NoError(t, insertRoute(t, s, 1).HostID(last.HostID()).Exec(t.Context()))
	require.Eventually(t, func() bool { return s.requireRoute(last.HostID()) != nil }, time.Minute, time.Millisecond)
	require.Eventually(t, func() bool {
		last.CloseConns() // also a connection that was being opened when the row was deleted
		return !poolTo(s, last).isUp() && errors.Is(poolTo(s, last).lastError(), ErrNoRoute)
	}, time.Minute, time.Millisecond)
}

// TestNoClientRoutes requires a start without any route to fail with ErrNoRoute, and a server without the table to fail
// with the server's error.
func TestNoClientRoutes(t *testing.T) {
	p := newPrivateNet(t)
	_, err := NewSession(t.Context(), *p.config())
	require.ErrorIs(t, err, ErrNoConnectionsStarted)
	require.ErrorIs(t, err, ErrNoRoute)

	p.publish(cqltest.ClientRoute{ConnectionID: "b", HostID: p.Node(0).HostID(), Address: "127.0.0.1", Port: 1})
	cfg := p.config()
	cfg.Nodes.ClientRoutes = []string{"other"}
	_, err = NewSession(t.Context(), *cfg)
	require.ErrorIs(t, err, ErrNoRoute, "rows of other connection ids only")

	p.Inject(cqltest.Fault{
		Statement: "system.client_routes", Error: &cqltest.Error{Code: cqltest.CodeInvalid, Message: "unconfigured table client_routes"},
	})
	_, err = NewSession(t.Context(), *p.config())
	require.ErrorIs(t, err, ErrNoConnectionsStarted)
	require.ErrorIs(t, err, cql.CodeInvalid)
	require.ErrorContains(t, err, "read system.client_routes: ")
}

// load sends writes from several goroutines until stop, which returns their number and the errors.
func load(t *testing.T, s *Session) (requests *atomic.Int64, stop func() []error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	requests = new(atomic.Int64)
	ctx, cancel := context.WithCancel(t.Context())
	for w := range int64(4) {
		wg.Go(func() {
			for i := int64(0); ctx.Err() == nil; i++ {
				if err := insertRoute(t, s, i*4+w).Exec(t.Context()); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
				requests.Add(1)
			}
		})
	}
	return requests, func() []error {
		cancel()
		wg.Wait()
		return errs
	}
}

// The routes of all nodes change under load, twice, and the old addresses are closed: first one node after the other,
// and at once after the table has changed; then all routes together. No request fails, and no restart is needed
// (scylladb/scylladb pull request 27323; scylladb/scylla-rust-driver pull request 1582, CLIENT_ROUTES_CHANGE).
func TestClientRoutesChangeUnderLoad(t *testing.T) {
	p := newPrivateNet(t)
	p.publish()
	s := p.open(t, p.config())
	for i, n := range p.Nodes() {
		awaitConns(t, s, n, p.relays[i].addr())
	}
	requests, stop := load(t, s)
	for i, n := range p.Nodes() {
		old := p.relays[i]
		p.relays[i] = newRelay(t, n.Addr())
		p.publish()
		old.close()
		awaitConns(t, s, n, p.relays[i].addr())
	}
	old := p.relays
	p.relays = nil
	for _, n := range p.Nodes() {
		p.relays = append(p.relays, newRelay(t, n.Addr()))
	}
	// the control connection may be on its way to another node, which reads the routes too
	p.publish()
	for i, n := range p.Nodes() {
		awaitConns(t, s, n, p.relays[i].addr())
		old[i].close()
	}
	done := requests.Load() + 200
	require.Eventually(t, func() bool { return requests.Load() > done }, time.Minute, time.Millisecond)
	require.Empty(t, stop(), "of %d requests", requests.Load())
	require.Eventually(t, func() bool { return s.control.current() != nil }, time.Minute, time.Millisecond)
}

// A new control connection reads the routes, because events may have been missed meanwhile (scylladb/gocql issue 685,
// ControlConnectionRecreatedEvent; scylladb/python-driver pull request 706, initialize).
func TestClientRoutesAfterReconnect(t *testing.T) {
	p := newPrivateNet(t)
	p.publish()
	s := p.open(t, p.config())
	for i, n := range p.Nodes() {
		awaitConns(t, s, n, p.relays[i].addr())
	}
	p.MuteEvents(true)
	old := p.relays[2]
	p.relays[2] = newRelay(t, p.Node(2).Addr())
	p.publish()
	s.control.current().Close(errors.New("cut by the test"))
	awaitConns(t, s, p.Node(2), p.relays[2].addr())
	old.close()
	require.NoError(t, insertRoute(t, s, 1).HostID(p.Node(2).HostID()).Exec(t.Context()))
}

// A server without the event refuses REGISTER with it, on each control connection. The session registers for the other
// events, logs that once, and follows the table every ReconnectInterval (scylladb/java-driver pull request 807,
// ProtocolInitHandler).
func TestClientRoutesWithoutTheirEvent(t *testing.T) {
	for name, events := range map[string]EventsConfig{
		"": {}, "only": {DisableNodeStatusEvents: true, DisableTopologyEvents: true, DisableSchemaEvents: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPrivateNet(t)
			p.publish()
			refusal := cqltest.Fault{Op: cqltest.OpRegister, Times: 1, Error: &cqltest.Error{
				Code: cqltest.CodeProtocol, Message: "Invalid value 'CLIENT_ROUTES_CHANGE' for Event.Type",
			}}
			first := p.Inject(refusal)
			cfg := p.config()
			cfg.Protocol.Events, cfg.Nodes.ReconnectInterval = events, 100*time.Millisecond
			var logged *fakecql.LogCounter
			logged, cfg.Logger = fakecql.NewLogCounter()
			s := p.open(t, cfg)
			require.Equal(t, 1, first.Hits())
			registered := func() bool { // for the other events, and once
				var types []string
				for _, n := range p.Nodes() {
					for _, c := range n.Conns() {
						types = append(types, c.Events...)
					}
				}
				return slices.Equal(types, events.names())
			}
			require.True(t, registered())

			second := p.Inject(refusal)
			s.control.current().Close(errors.New("cut by the test"))
			require.Eventually(t, func() bool { return second.Hits() == 1 && s.control.current() != nil }, time.Minute, time.Millisecond)
			require.Eventually(t, registered, time.Minute, time.Millisecond)
			p.relays[2] = newRelay(t, p.Node(2).Addr())
			p.publish()
			awaitConns(t, s, p.Node(2), p.relays[2].addr())
			require.Equal(t, 1, logged.Of("no event of client routes: they are read again every ReconnectInterval"))
		})
	}
}

// Any other refusal of REGISTER is the error of the connection.
func TestClientRoutesRegisterFails(t *testing.T) {
	p := newPrivateNet(t)
	p.publish()
	rule := p.Inject(cqltest.Fault{Op: cqltest.OpRegister, Error: &cqltest.Error{Code: cqltest.CodeServer}})
	_, err := NewSession(t.Context(), *p.config())
	require.ErrorIs(t, err, cql.CodeServer)
	require.Equal(t, 1, rule.Hits())
}

// TestClientRoutesNotRead requires the session to read the cluster soon when it could not read the routes after an
// event.
func TestClientRoutesNotRead(t *testing.T) {
	p := newPrivateNet(t)
	p.publish()
	s := p.open(t, p.config())
	refused := p.Inject(cqltest.Fault{
		Statement: "system.client_routes", Times: 1, Error: &cqltest.Error{Code: cqltest.CodeServer, Message: "not now"},
	})
	p.publish(cqltest.ClientRoute{ConnectionID: "b", HostID: p.Node(0).HostID(), Address: "127.0.0.1", Port: 1})
	require.Eventually(t, func() bool {
		s.control.mu.Lock()
		defer s.control.mu.Unlock()
		return s.control.due.view
	}, time.Minute, time.Millisecond)
	require.Equal(t, 1, refused.Hits())
	require.NoError(t, insertRoute(t, s, 1).Exec(t.Context()))
}

// A name is resolved at each dial, not when the table is read: a private network that is deployed again changes its
// addresses behind the names (scylladb/python-driver pull request 706, cassandra/connection.py,
// ClientRoutesEndPoint.resolve; scylladb/ scylla-rust-driver, client_routes.rs, "resolution happens on every connection
// attempt").
func TestClientRouteIsResolvedAtEachDial(t *testing.T) {
	p := newPrivateNet(t)
	var routes []cqltest.ClientRoute
	for i, n := range p.Nodes() {
		p.dialer.resolve("node.pl.test:"+string(rune('1'+i)), p.relays[i].addr())
		routes = append(routes, cqltest.ClientRoute{ConnectionID: "a", HostID: n.HostID(), Address: "node.pl.test", Port: 1 + i})
	}
	p.SetClientRoutes(routes...)
	s := p.open(t, p.config())
	awaitConns(t, s, p.Node(1), "node.pl.test:2")
	require.Positive(t, p.relays[1].arrived.Load())

	moved := newRelay(t, p.Node(1).Addr())
	p.dialer.resolve("node.pl.test:2", moved.addr())
	p.relays[1].close()
	require.Eventually(t, func() bool { // the end of an old connection may not be noticed yet
		return insertRoute(t, s, 1).HostID(p.Node(1).HostID()).Exec(t.Context()) == nil && moved.arrived.Load() > 0
	}, time.Minute, time.Millisecond)
}

// With TLS the session dials tls_port, and verifies the certificate against the host of the route, unless ServerName is
// set (scylladb/gocql pull request 675, pickTLSPorts; scylladb/python-driver pull request 706 refuses the verification,
// because the proxies of ScyllaDB Cloud have certificates of other names).
func TestClientRoutesWithTLS(t *testing.T) {
	for _, m := range []struct{ certificate, serverName string }{{"localhost", ""}, {"node.pl.test", "node.pl.test"}} {
		server, client := fakecql.TLSPair(t, m.certificate)
		p := newPrivateNet(t, func(cfg *cqltest.Config) { cfg.Nodes, cfg.TLS = 1, server })
		route := cqltest.ClientRoute{
			ConnectionID: "a", HostID: p.Node(0).HostID(), Address: "localhost", Port: 1, TLSPort: p.relays[0].port(),
		}
		p.SetClientRoutes(route)
		_, port, err := net.SplitHostPort(p.relays[0].addr())
		require.NoError(t, err)
		at := net.JoinHostPort("localhost", port)
		cfg := p.config()
		cfg.Hosts = []string{at}
		verify := func(name string) {
			cfg.TLS = client.Clone() // sessions share it
			cfg.TLS.ServerName = name
		}
		verify(m.serverName)
		s := p.open(t, cfg)
		awaitConns(t, s, p.Node(0), at)
		require.NoError(t, insertRoute(t, s, 1).Consistency(cql.One).Exec(t.Context()))

		verify("other")
		_, err = NewSession(t.Context(), *cfg)
		require.ErrorContains(t, err, "certificate is valid for "+m.certificate)
		verify(m.serverName)
		route.TLSPort = 0
		p.SetClientRoutes(route)
		_, err = NewSession(t.Context(), *cfg)
		require.ErrorIs(t, err, ErrNoRoute)
		require.ErrorContains(t, err, "has no tls_port")
	}
}

// TestClientRouteToAnotherNode requires a route that leads to another node to be refused, as every wrong peer is.
func TestClientRouteToAnotherNode(t *testing.T) {
	p := newPrivateNet(t)
	p.relays[1], p.relays[2] = p.relays[2], p.relays[1]
	p.publish()
	s := p.open(t, p.config())
	require.Eventually(t, func() bool {
		var wrong *PeerError
		return errors.As(poolTo(s, p.Node(1)).lastError(), &wrong) && wrong.Got.HostID == cql.UUID(p.Node(2).HostID())
	}, time.Minute, time.Millisecond)
	p.relays[1], p.relays[2] = p.relays[2], p.relays[1]
	p.publish()
	awaitConns(t, s, p.Node(1), p.relays[1].addr())
}

// TestClientRoutesConfig requires the options that contradict client routes to be refused (scylladb/gocql pull request
// 675, cluster.go, "AddressTranslator and ClientRoutesConfig should not be set at the same time", "missing
// ConnectionID").
func TestClientRoutesConfig(t *testing.T) {
	for want, change := range map[string]func(cfg *ClusterConfig){
		"Nodes.ClientRoutes and Nodes.AddressTranslator are both set": func(cfg *ClusterConfig) {
			cfg.Nodes.AddressTranslator = func(a netip.AddrPort) netip.AddrPort { return a }
		},
		"Nodes.ClientRoutes and Nodes.DisableInitialHostLookup are both set": func(cfg *ClusterConfig) {
			cfg.Nodes.DisableInitialHostLookup = true
		},
		"Nodes.ClientRoutes has an empty connection id": func(cfg *ClusterConfig) { cfg.Nodes.ClientRoutes = []string{"a", ""} },
	} {
		cfg := ClusterConfig{Hosts: []string{"127.0.0.1"}}
		cfg.Nodes.ClientRoutes = []string{"a"}
		change(&cfg)
		_, err := NewSession(t.Context(), cfg)
		require.ErrorContains(t, err, want)
	}
}
