// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// This file holds the cluster of the tests. Its nodes are reached through memory (fake_net_test.go, fake_pipe_test.go), so that a test may
// run in virtual time (testing/synctest), where hours pass at once, or through sockets; they answer what the driver asks by itself
// (fake_answer_test.go).

// fakePort is where nodes in memory listen, and fakeShardPort where those with shards do, too.
const (
	fakePort      = 9042
	fakeShardPort = 19042
)

// fakeCluster is a set of nodes with addresses from 127.0.0.1 on and one port.
type fakeCluster struct {
	t       testing.TB
	version byte
	port    int
	sockets bool
	nodes   []*fakeNode
	control atomic.Pointer[fakePeer] // who asked for events last

	mu       sync.Mutex
	prepared map[string]preparedSpec // by statement
	hook     func(*fakeRequest) bool // first choice for every request; true: it has answered
	peers    []*fakeNode             // what system.peers tells; all but the node asked
	sent     map[string]int          // how often a statement was executed, by any node
	prepares map[string]int

	// Of clusters in memory.
	hosts map[string]*fakeNode                        // by address; nil: nobody answers there
	taken func(port int) bool                         // local ports that are in use
	dials []fakeDial                                  // all there were
	open  int                                         // clients' ends that are not closed
	wrap  func(n *fakeNode, client net.Conn) net.Conn // of clients' ends
}

// fakeNode is one node. fakeCluster.mu guards its fields.
type fakeNode struct {
	cluster *fakeCluster
	ip      string
	id      UUID
	token   string
	schema  UUID
	server  *fakeServer

	// Of nodes in memory.
	down      bool          // dialling is refused
	silent    bool          // dialling gets no answer
	delay     time.Duration // of dialling
	shards    int           // 0: a node without
	noPort    bool          // nothing listens on the shard-aware port
	portShift int           // what a translation of addresses adds to local ports
	assign    func() int    // the shard of a connection to the plain port; nil: the one with the fewest
	extra     map[string][]string
}

// newFakeCluster returns n nodes in memory, after change has seen them. When the test ends, nothing may be left of sessions.
func newFakeCluster(t testing.TB, version byte, n int, change ...func(*fakeNode)) *fakeCluster {
	t.Helper()
	return makeFakeCluster(t, version, n, false, change)
}

// newSocketCluster is newFakeCluster on loopback sockets.
func newSocketCluster(t testing.TB, version byte, n int, change ...func(*fakeNode)) *fakeCluster {
	t.Helper()
	return makeFakeCluster(t, version, n, true, change)
}

func makeFakeCluster(t testing.TB, version byte, n int, sockets bool, change []func(*fakeNode)) *fakeCluster {
	t.Helper()
	c := &fakeCluster{
		t: t, version: version, port: fakePort, sockets: sockets,
		prepared: map[string]preparedSpec{}, sent: map[string]int{}, prepares: map[string]int{}, hosts: map[string]*fakeNode{},
	}
	if sockets {
		c.port = 0 // any
	}
	t.Cleanup(c.close)
	requireNothingLeft(t)
	for i := range n {
		n := &fakeNode{
			cluster: c, ip: fmt.Sprintf("127.0.0.%d", i+1), id: UUID{0xFA, byte(i + 1)}, token: fmt.Sprint(int64(i) << 60), schema: UUID{1},
		}
		n.server = &fakeServer{version: version, handle: n.handle, supported: n.supported}
		for _, f := range change {
			f(n)
		}
		c.nodes = append(c.nodes, n)
		c.hosts[n.ip] = n
		n.start()
	}
	c.peers = c.nodes
	return c
}

// sharded gives nodes shards.
func sharded(shards int) func(*fakeNode) { return func(n *fakeNode) { n.shards = shards } }

// bubble runs a test in virtual time on a cluster of n nodes in memory that speak v5.
func bubble(t *testing.T, n int, f func(t *testing.T, c *fakeCluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newFakeCluster(t, protoV5, n)) })
}

// close ends all nodes, after it has looked for sockets that are left of sessions.
func (c *fakeCluster) close() {
	none := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.open == 0
	}
	if !within(none) {
		c.t.Error("sockets are left")
	}
	for _, n := range c.nodes {
		n.stop()
	}
	for _, n := range c.nodes {
		n.server.stop()
	}
}

// start has the node listen.
func (n *fakeNode) start() {
	if !n.cluster.sockets {
		n.server.up()
		n.change(func(n *fakeNode) { n.down = false })
		return
	}
	_, port, err := net.SplitHostPort(n.server.listenAt(n.cluster.t, n.addr()))
	require.NoError(n.cluster.t, err)
	n.cluster.port, err = strconv.Atoi(port)
	require.NoError(n.cluster.t, err)
}

// stop ends the node: it refuses, and its connections break.
func (n *fakeNode) stop() {
	n.change(func(n *fakeNode) { n.down = true })
	n.server.down()
}

func (n *fakeNode) addr() string { return fmt.Sprintf("%s:%d", n.ip, n.cluster.port) }

// inet returns the address as events have it.
func (n *fakeNode) inet() net.IP { return net.ParseIP(n.ip).To4() }

// change changes the node while it serves.
func (n *fakeNode) change(f func(n *fakeNode)) {
	n.cluster.mu.Lock()
	defer n.cluster.mu.Unlock()
	f(n)
}

// config returns a configuration that reaches the first node.
func (c *fakeCluster) config() *ClusterConfig {
	cfg := NewCluster(c.nodes[0].addr())
	cfg.Port = c.port
	cfg.NumConns = 1
	cfg.Timeout = 5 * time.Second
	cfg.Logger = slog.New(slog.DiscardHandler)
	cfg.HeartbeatInterval = -1
	if !c.sockets {
		cfg.Dialer = c
	}
	return cfg
}

// session returns a session that is closed when the test ends.
func (c *fakeCluster) session(change ...func(*ClusterConfig)) *Session {
	c.t.Helper()
	cfg := c.config()
	for _, f := range change {
		f(cfg)
	}
	return openSession(c.t, cfg)
}

// openSession returns a session that is closed when the test ends.
func openSession(t testing.TB, cfg *ClusterConfig) *Session {
	t.Helper()
	s, err := cfg.CreateSession()
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// on sets what answers the tests' requests before the script does.
func (c *fakeCluster) on(hook func(r *fakeRequest) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hook = hook
}

func (c *fakeCluster) prepare(stmt string, spec preparedSpec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prepared[stmt] = spec
}

func (c *fakeCluster) count(stmt string) (sent, prepares int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent[stmt], c.prepares[stmt]
}

// event sends an EVENT over the last connection that asked for events.
func (c *fakeCluster) event(kind string, fields ...any) {
	c.control.Load().push(eventBody(kind, fields...))
}

// push sends an EVENT.
func (p *fakePeer) push(body []byte) { p.reply(-1, opEvent, body) }
