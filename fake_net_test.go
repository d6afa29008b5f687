// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// This file holds the network of the pools' tests: ScyllaDB nodes with shards, connected by pipes, so that the tests can run in virtual
// time.

const (
	memPort      = 9042
	memShardPort = 19042
)

// memNet is a Dialer to scripted nodes.
type memNet struct {
	t       testing.TB
	cluster *fakeCluster

	mu      sync.Mutex
	hosts   map[string]*memNode    // by address
	taken   func(port int) bool    // local ports that are in use
	dials   []memDial              // all there were
	control map[*testPeer]struct{} // connections that registered for events
}

// memDial is one attempt to connect.
type memDial struct {
	at        time.Time
	addr      string
	localPort int // 0: any
}

// memNode is one node. memNet.mu guards its fields.
type memNode struct {
	*fakeNode
	net       *memNet
	shards    int // 0: a node without
	down      bool
	silent    bool          // connections to it get no answer
	delay     time.Duration // of dialling
	noPort    bool          // nothing listens on the shard-aware port
	portShift int           // what a translation of addresses adds to local ports
	assign    func() int    // the shard of a connection to the plain port; nil: the one with the fewest
	live      map[*memConn]struct{}
	extra     map[string][]string // in SUPPORTED
}

// memConn is a node's end of a connection.
type memConn struct {
	net.Conn
	node  *memNode
	shard int
	port  int
}

// newMemNet returns a network of n nodes with that many shards, at 10.0.0.1 and on.
func newMemNet(t testing.TB, n, shards int) *memNet {
	m := &memNet{t: t, hosts: map[string]*memNode{}, control: map[*testPeer]struct{}{}}
	m.cluster = &fakeCluster{
		t: t, version: protoV4, port: memPort, prepared: map[string]preparedSpec{}, sent: map[string]int{}, prepares: map[string]int{},
	}
	for i := range n {
		f := &fakeNode{
			cluster: m.cluster, ip: fmt.Sprintf("10.0.0.%d", i+1), id: UUID{0xFA, byte(i + 1)}, token: fmt.Sprint(int64(i) << 60), schema: UUID{1},
		}
		f.server = &testServer{version: protoV4, handle: f.handle, supported: memSupported}
		m.cluster.nodes = append(m.cluster.nodes, f)
		m.hosts[f.ip] = &memNode{fakeNode: f, net: m, shards: shards, live: map[*memConn]struct{}{}}
	}
	m.cluster.peers = m.cluster.nodes
	m.on(func(*fakeRequest) bool { return false })
	t.Cleanup(func() {
		for _, f := range m.cluster.nodes {
			f.server.stop()
		}
	})
	return m
}

// on is fakeCluster.on; connections for events are remembered.
func (m *memNet) on(hook func(r *fakeRequest) bool) {
	m.cluster.on(func(r *fakeRequest) bool {
		if r.op == opRegister {
			m.mu.Lock()
			m.control[r.peer] = struct{}{}
			m.mu.Unlock()
		}
		return hook(r)
	})
}

// memSupported is what a node lists on a connection.
func memSupported(p *testPeer) map[string][]string {
	c := p.conn.(*memConn)
	c.node.net.mu.Lock()
	defer c.node.net.mu.Unlock()
	s := map[string][]string{"COMPRESSION": {"lz4"}}
	if n := c.node.shards; n > 0 {
		s = scyllaSupported(keyShards, strconv.Itoa(n), keyShard, strconv.Itoa(c.shard), keyHostID, c.node.id.String(), keyTabletsV2, "-")
	}
	for k, v := range c.node.extra {
		s[k] = v
	}
	return s
}

// DialContext implements Dialer.
func (m *memNet) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return m.DialContextLocalPort(ctx, network, addr, 0)
}

// DialContextLocalPort implements LocalPortDialer.
func (m *memNet) DialContextLocalPort(ctx context.Context, _, addr string, localPort int) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.dials = append(m.dials, memDial{time.Now(), addr, localPort})
	node := m.hosts[host]
	if node != nil && node.delay > 0 {
		delay := node.delay
		m.mu.Unlock()
		if !sleep(ctx, delay) {
			return nil, ctx.Err()
		}
		m.mu.Lock()
	}
	if localPort != 0 && m.taken != nil && m.taken(localPort) {
		m.mu.Unlock()
		return nil, &net.OpError{Op: "dial", Err: syscall.EADDRINUSE}
	}
	shardAware := port == strconv.Itoa(memShardPort)
	if node == nil || node.silent {
		m.mu.Unlock()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if node.down || shardAware && (node.noPort || node.shards == 0) || !shardAware && port != strconv.Itoa(memPort) {
		m.mu.Unlock()
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	client, server := net.Pipe()
	c := &memConn{Conn: server, node: node, port: memPort}
	switch {
	case shardAware:
		c.port = memShardPort
		if localPort == 0 {
			localPort = 49152 + rand.IntN(1000)
		}
		c.shard = int(token.ShardOfPort(uint16(localPort+node.portShift), int32(node.shards)))
	case node.assign != nil:
		c.shard = node.assign()
	case node.shards > 0:
		c.shard = node.leastConnected()
	}
	node.live[c] = struct{}{}
	s := node.server
	s.wg.Go(func() {
		s.serve(c)
		m.mu.Lock()
		delete(node.live, c)
		m.mu.Unlock()
	})
	m.mu.Unlock()
	return client, nil
}

// leastConnected returns the shard with the fewest connections.
func (n *memNode) leastConnected() int {
	count := n.counts()
	best := 0
	for shard, c := range count {
		if c < count[best] {
			best = shard
		}
	}
	return best
}

// counts returns the connections of each shard. memNet.mu is held.
func (n *memNode) counts() []int {
	count := make([]int, max(n.shards, 1))
	for c := range n.live {
		count[c.shard%len(count)]++
	}
	return count
}

func (n *memNode) change(f func(n *memNode)) {
	n.net.mu.Lock()
	defer n.net.mu.Unlock()
	f(n)
}

// connections returns how many there are to the node, the control connection included.
func (n *memNode) connections() int {
	n.net.mu.Lock()
	defer n.net.mu.Unlock()
	return len(n.live)
}

// kill breaks all connections and refuses new ones.
func (n *memNode) kill() {
	n.change(func(n *memNode) {
		n.down = true
		for c := range n.live {
			_ = c.Close()
		}
	})
}

// hangUp breaks all connections.
func (n *memNode) hangUp() {
	n.change(func(n *memNode) {
		for c := range n.live {
			_ = c.Close()
		}
	})
}

func (n *memNode) revive() { n.change(func(n *memNode) { n.down = false }) }

// moveTo gives the node another address.
func (n *memNode) moveTo(ip string) {
	n.cluster.mu.Lock()
	old := n.ip
	n.ip = ip
	n.cluster.mu.Unlock()
	n.net.mu.Lock()
	defer n.net.mu.Unlock()
	if n.net.hosts[old] == n {
		delete(n.net.hosts, old)
	}
	n.net.hosts[ip] = n
}

// node returns the i-th node.
func (m *memNet) node(i int) *memNode {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.hosts {
		if n.fakeNode == m.cluster.nodes[i] {
			return n
		}
	}
	return nil
}

// dialsSince returns the attempts from then on, to addresses with that prefix.
func (m *memNet) dialsSince(then time.Time, addr string) []memDial {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []memDial
	for _, d := range m.dials {
		if !d.at.Before(then) && len(d.addr) >= len(addr) && d.addr[:len(addr)] == addr {
			found = append(found, d)
		}
	}
	return found
}

// statusEvent tells every control connection that a node is UP or DOWN.
func (m *memNet) statusEvent(change string, ip string) {
	b := mustString(mustString(nil, eventStatus), change)
	b = append(append(b, 4), net.ParseIP(ip).To4()...)
	b = wire.AppendInt(b, memPort)
	m.mu.Lock()
	peers := make([]*testPeer, 0, len(m.control))
	for p := range m.control {
		peers = append(peers, p)
	}
	m.mu.Unlock()
	for _, p := range peers {
		p.reply(-1, opEvent, b)
	}
}

// config returns a configuration that reaches the first node.
func (m *memNet) config() *ClusterConfig {
	cfg := NewCluster(m.cluster.nodes[0].ip)
	cfg.NumConns = 1
	cfg.Timeout = 2 * time.Second
	cfg.ConnectTimeout = 2 * time.Second
	cfg.Logger = slog.New(slog.DiscardHandler)
	cfg.HeartbeatInterval = -1
	cfg.Dialer = m
	return cfg
}

// session returns a session that is closed when the test ends, after which nothing of it may be left.
func (m *memNet) session(change ...func(*ClusterConfig)) *Session {
	m.t.Helper()
	requireNothingLeft(m.t)
	cfg := m.config()
	for _, f := range change {
		f(cfg)
	}
	s, err := cfg.CreateSession()
	require.NoError(m.t, err)
	m.t.Cleanup(s.Close)
	return s
}

// poolOf returns the session's pool of a node.
func poolOf(s *Session, n *memNode) *pool { return s.topo.Load().nodeByID(n.id).pool }

// shardCounts returns how many connections a pool has to each shard.
func (p *pool) shardCounts() []int {
	v := p.open.Load()
	count := make([]int, len(v.byShard))
	for i, conns := range v.byShard {
		count[i] = len(conns)
	}
	return count
}

// repeat returns n times v.
func repeat(n, v int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// countedLogger counts records by message.
type countedLogger struct {
	slog.Handler
	mu    sync.Mutex
	count map[string]int
	call  func() // by each record
}

func newCountedLogger() (*countedLogger, *slog.Logger) {
	h := &countedLogger{Handler: slog.DiscardHandler, count: map[string]int{}}
	return h, slog.New(h)
}

func (h *countedLogger) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }
func (h *countedLogger) WithAttrs([]slog.Attr) slog.Handler           { return h }
func (h *countedLogger) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	h.count[r.Message]++
	call := h.call
	h.mu.Unlock()
	if call != nil {
		call()
	}
	return nil
}

func (h *countedLogger) of(message string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count[message]
}
