// SPDX-License-Identifier: Apache-2.0

package fakecql

import (
	"fmt"
	"math"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/leak"
)

// Clusters and nodes.

// Port is the port of nodes in memory, ShardPort the shard-aware port of nodes in memory that have shards.
const (
	Port      = 9042
	ShardPort = 19042
)

// A Cluster is a set of nodes with the addresses 127.0.0.1, 127.0.0.2, ... and one port.
type Cluster struct {
	T       testing.TB
	Version byte
	Name    string // of the cluster; New sets "fake"
	Port    int    // of all nodes
	Nodes   []*Node

	sockets bool
	control atomic.Pointer[Conn] // the connection of the latest REGISTER

	// Mu guards the fields below and the fields of nodes. Hold it to change them while the cluster serves.
	Mu       sync.Mutex
	Peers    []*Node          // rows of system.peers; a node omits itself
	Hosts    map[string]*Node // in memory: nodes by address; nil means that dialing the address blocks
	Taken    func(port int) bool
	Wrap     func(n *Node, client net.Conn) net.Conn // in memory: wraps the client's end of a new connection
	prepared map[string]Prepared                     // by statement
	hook     func(*Request) bool
	sent     map[string]int // executions by statement
	prepares map[string]int // PREPARE requests by statement
	dials    []Dial
	open     int // clients' ends that are open
}

// A Node is one node of a Cluster. Cluster.Mu guards its fields.
type Node struct {
	Cluster *Cluster
	IP      string
	ID      UUID
	Token   string
	Schema  [16]byte // schema version
	DC      string   // data center; empty means dc1
	Server  *Server

	// The rest applies to nodes in memory.
	Down      bool          // dialing is refused
	Silent    bool          // dialing blocks until the caller's context ends
	Delay     time.Duration // of dialing
	Shards    int           // number of shards; 0 means a node of Cassandra
	NoPort    bool          // the shard-aware port is closed
	PortShift int           // added to local ports, as address translation does
	Assign    func() int    // returns the shard of a connection to Port; nil means the shard with the fewest connections
	Extra     map[string][]string
}

// A UUID is the id of a node.
type UUID [16]byte

// String returns u in hexadecimal with hyphens.
func (u UUID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// New returns a cluster of n nodes in memory. The functions in change run on each node before it starts. The test fails
// when it leaves a client's socket open or a goroutine of the driver running.
func New(t testing.TB, version byte, n int, change ...func(*Node)) *Cluster {
	t.Helper()
	return newCluster(t, version, n, false, change)
}

// NewOnSockets returns a cluster, as New does, with nodes on loopback sockets.
func NewOnSockets(t testing.TB, version byte, n int, change ...func(*Node)) *Cluster {
	t.Helper()
	return newCluster(t, version, n, true, change)
}

// newCluster returns a started cluster of n nodes, each first passed to all functions of change. It ends with the test,
// which fails if a goroutine remains.
func newCluster(t testing.TB, version byte, n int, sockets bool, change []func(*Node)) *Cluster {
	t.Helper()
	c := &Cluster{
		T: t, Version: version, Name: "fake", Port: Port, sockets: sockets,
		prepared: map[string]Prepared{}, sent: map[string]int{}, prepares: map[string]int{}, Hosts: map[string]*Node{},
	}
	if sockets {
		c.Port = 0 // the first node takes a free one
	}
	t.Cleanup(c.close)
	leak.Require(t)
	for i := range n {
		token := int64(i) << 60
		if n > 16 {
			token = int64(uint64(i) * (math.MaxUint64 / uint64(n)))
		}
		n := &Node{
			Cluster: c, IP: fmt.Sprintf("127.0.%d.%d", (i+1)>>8, (i+1)&0xFF), ID: UUID{0xFA, byte(i + 1), byte((i + 1) >> 8)},
			Token: fmt.Sprint(token), Schema: [16]byte{1},
		}
		n.Server = &Server{Version: version, Handle: n.handle, Supported: n.supported}
		for _, f := range change {
			f(n)
		}
		c.Nodes = append(c.Nodes, n)
		c.Hosts[n.IP] = n
		n.Start()
	}
	c.Peers = c.Nodes
	return c
}

// Sharded returns a change for New that sets the number of shards of a node.
func Sharded(shards int) func(*Node) { return func(n *Node) { n.Shards = shards } }

// InMemory reports whether the cluster's DialContext reaches its nodes.
func (c *Cluster) InMemory() bool { return !c.sockets }

// close fails the test when a client's socket is open, then stops all nodes.
func (c *Cluster) close() {
	none := func() bool {
		c.Mu.Lock()
		defer c.Mu.Unlock()
		return c.open == 0
	}
	if !Within(none) {
		c.T.Error("sockets are left")
	}
	for _, n := range c.Nodes {
		n.Stop()
	}
	for _, n := range c.Nodes {
		n.Server.Stop()
	}
}

// Start makes the node listen.
func (n *Node) Start() {
	if !n.Cluster.sockets {
		n.Server.up()
		n.Change(func(n *Node) { n.Down = false })
		return
	}
	_, port, err := net.SplitHostPort(n.Server.listenAt(n.Cluster.T, n.Addr()))
	require.NoError(n.Cluster.T, err)
	n.Cluster.Port, err = strconv.Atoi(port)
	require.NoError(n.Cluster.T, err)
}

// Stop makes the node refuse connections, and breaks its open connections.
func (n *Node) Stop() {
	n.Change(func(n *Node) { n.Down = true })
	n.Server.down()
}

// HangUp breaks all connections of the node.
func (n *Node) HangUp() { n.Server.HangUp() }

// Addr returns the node's address with its port.
func (n *Node) Addr() string { return fmt.Sprintf("%s:%d", n.IP, n.Cluster.Port) }

// Inet returns the node's address as EventBody takes it.
func (n *Node) Inet() net.IP { return net.ParseIP(n.IP).To4() }

// Change calls f under Cluster.Mu.
func (n *Node) Change(f func(n *Node)) {
	n.Cluster.Mu.Lock()
	defer n.Cluster.Mu.Unlock()
	f(n)
}

// On sets a function that receives every request before the nodes do. The function returns true if it has responded. It
// does not receive the requests of the handshake.
func (c *Cluster) On(hook func(r *Request) bool) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.hook = hook
}

// Answer makes f respond to every EXECUTE and BATCH. nth counts these requests from 0. f runs on its own goroutine and
// may block.
func (c *Cluster) Answer(f func(r *Request, nth int)) {
	nth := 0
	c.On(func(r *Request) bool {
		if r.Op != OpExecute && r.Op != OpBatch {
			return false
		}
		c.Mu.Lock()
		n := nth
		nth++
		c.Mu.Unlock()
		r.Node.Server.Go(func() { f(r, n) })
		return true
	})
}

// Prepare sets the response to PREPARE of the statement.
func (c *Cluster) Prepare(stmt string, p Prepared) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.prepared[stmt] = p
}

// Count returns how often the statement was executed and prepared, summed over all nodes.
func (c *Cluster) Count(stmt string) (sent, prepares int) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.sent[stmt], c.prepares[stmt]
}

// Control returns the connection of the latest REGISTER.
func (c *Cluster) Control() *Conn { return c.control.Load() }

// Event sends an EVENT on the connection of the latest REGISTER. The fields are as in EventBody.
func (c *Cluster) Event(kind string, fields ...any) { c.Control().Push(EventBody(kind, fields...)) }

// Within polls f for up to 5 s until it returns true, and returns its last result.
func Within(f func() bool) bool {
	for range 5000 {
		if f() {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}
