// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// One node: its addresses, its state and its connections.

// A Node is one node of a cluster. Its methods are safe for concurrent use.
type Node struct {
	cluster  *Cluster
	number   int
	id       [16]byte
	dc, rack string
	tokens   []int64
	started  time.Time

	up         atomic.Bool
	paused     atomic.Bool
	removed    atomic.Bool
	shards     atomic.Int64
	nextShards atomic.Int64                   // used from the next start on
	schema     atomic.Pointer[[16]byte]       // the schema version that the node reports; nil means the true one
	addr       atomic.Pointer[netip.AddrPort] // plain port
	shardAware atomic.Pointer[netip.AddrPort] // nil means none
	// round-robin over shards, for connections whose source port does not select one
	turn  atomic.Uint64
	stats stats

	cacheMu  sync.RWMutex
	prepared map[[16]byte]*prepared

	life      sync.Mutex // serializes Kill, Restart and Move
	mu        sync.Mutex
	listeners []net.Listener
	conns     map[*conn]struct{}
	unpaused  chan struct{} // closed while not paused
}

// newNode returns a node that is not listening. Its host id and tokens are derived from its number, so they are the
// same in every cluster.
func newNode(c *Cluster, number int, dc, rack string) *Node {
	n := &Node{
		cluster: c, number: number, dc: dc, rack: rack, tokens: randomTokens(number, c.cfg.VNodes), started: c.now(),
		prepared: map[[16]byte]*prepared{}, conns: map[*conn]struct{}{}, unpaused: make(chan struct{}),
	}
	close(n.unpaused)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s host %d", c.cfg.ClusterName, number))
	copy(n.id[:], sum[:])
	n.id[6], n.id[8] = n.id[6]&0x0F|0x40, n.id[8]&0x3F|0x80
	if s := c.cfg.Scylla; s != nil {
		n.nextShards.Store(int64(s.Shards))
	} else {
		n.nextShards.Store(1)
	}
	return n
}

// Number returns the node's number; the first node has number 0.
func (n *Node) Number() int { return n.number }

// HostID returns the node's host id. It never changes, and nodes of the same number have the same id in every cluster
// of the same name.
func (n *Node) HostID() [16]byte { return n.id }

// Addr returns the address that clients connect to. A killed node keeps its last address.
func (n *Node) Addr() netip.AddrPort { return *n.addr.Load() }

// ShardAwareAddr returns the shard-aware port; the zero value means none.
func (n *Node) ShardAwareAddr() netip.AddrPort {
	if p := n.shardAware.Load(); p != nil {
		return *p
	}
	return netip.AddrPort{}
}

// DataCenter returns the node's data center.
func (n *Node) DataCenter() string { return n.dc }

// Rack returns the node's rack.
func (n *Node) Rack() string { return n.rack }

// Tokens returns the node's tokens, sorted. The slice is shared.
func (n *Node) Tokens() []int64 { return n.tokens }

// Shards returns the number of shards: 1 without the emulation of ScyllaDB.
func (n *Node) Shards() int { return n.shardCount() }

// String returns the host id and the address.
func (n *Node) String() string { return uuid.UUID(n.id).String() + " (" + n.Addr().String() + ")" }

// IsUp reports whether the node is up: from its start or Restart to Kill or RemoveNode. A paused node is up.
func (n *Node) IsUp() bool { return n.up.Load() }

func (n *Node) shardCount() int { return max(1, int(n.shards.Load())) }

// listen opens the node's ports at its last address, or at a new one. Callers hold Cluster.mu or Node.life.
func (n *Node) listen() error {
	if at := n.addr.Load(); at != nil {
		return n.open(*at, n.shardAware.Load())
	}
	if cfg := n.cluster.cfg; n.number < len(cfg.Addrs) {
		at := cfg.Addrs[n.number]
		return n.open(at, n.cluster.shardAwareOf(at))
	}
	return n.move(netip.Addr{})
}

// shardAwareOf returns the shard-aware port beside a plain one, nil if the cluster has none.
func (c *Cluster) shardAwareOf(plain netip.AddrPort) *netip.AddrPort {
	if c.cfg.Scylla == nil || c.cfg.Scylla.NoShardAwarePort {
		return nil
	}
	port := plain.Port() + 1
	if c.cfg.Network == InMemory {
		port = 19042
	}
	aware := netip.AddrPortFrom(plain.Addr(), port)
	return &aware
}

// open listens and accepts connections.
func (n *Node) open(plain netip.AddrPort, aware *netip.AddrPort) error {
	first, err := n.cluster.listenOn(plain)
	if err != nil {
		return err
	}
	listeners := []net.Listener{first}
	if aware != nil {
		second, err := n.cluster.listenOn(*aware)
		if err != nil {
			_ = first.Close()
			return err
		}
		listeners = append(listeners, second)
	}
	n.shards.Store(n.nextShards.Load())
	n.addr.Store(&plain)
	n.shardAware.Store(aware)
	n.mu.Lock()
	n.listeners = listeners
	n.mu.Unlock()
	n.up.Store(true)
	for i, l := range listeners {
		n.cluster.wg.Go(func() { n.accept(l, i == 1) })
	}
	return nil
}

func (c *Cluster) listenOn(at netip.AddrPort) (net.Listener, error) {
	if c.memory != nil {
		return c.memory.listen(at)
	}
	return tcpListen(at)
}

// Ports are below the range that the system assigns to outgoing connections: while a node is down, no other program
// gets its port by chance.
const (
	lowPort  = 10000
	highPort = 32000
)

// move opens the ports at a new address: addr, or a free one.
func (n *Node) move(addr netip.Addr) error {
	c := n.cluster
	switch c.cfg.Network {
	case InMemory:
		if !addr.IsValid() {
			turn := n.turn.Add(1) - 1
			addr = netip.AddrFrom4([4]byte{10, byte(turn), byte(n.number >> 8), byte(n.number)})
			addr = addr.Next()
		}
		plain := netip.AddrPortFrom(addr, 9042)
		return n.open(plain, c.shardAwareOf(plain))
	case Addresses:
		return n.moveToAddress(addr)
	}
	if !addr.IsValid() {
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	var err error
	for range 100 {
		plain := netip.AddrPortFrom(addr, lowPort+rand.N[uint16](highPort-lowPort))
		if err = n.open(plain, c.shardAwareOf(plain)); err == nil {
			return nil
		}
	}
	return err
}

// moveToAddress opens the cluster's ports on an address of 127.0.0.0/8. The first node chooses the plain port.
func (n *Node) moveToAddress(addr netip.Addr) error {
	c := n.cluster
	var err error
	for range 100 {
		if c.port == 0 || n.number == 0 && n.addr.Load() == nil {
			c.prefix = [2]byte{byte(1 + rand.N(254)), byte(rand.N(256))}
			c.port = lowPort + rand.N[uint16](highPort-lowPort)
		}
		to := addr
		if !to.IsValid() {
			last := 1 + n.number
			if n.addr.Load() != nil { // it has moved before
				last = 100 + rand.N(150)
			}
			to = netip.AddrFrom4([4]byte{127, c.prefix[0], c.prefix[1] + byte(last>>8), byte(last)})
		}
		plain := netip.AddrPortFrom(to, c.port)
		if err = n.open(plain, c.shardAwareOf(plain)); err == nil || addr.IsValid() {
			return err
		}
	}
	return err
}

func (n *Node) accept(l net.Listener, aware bool) {
	for {
		sock, err := l.Accept()
		if err != nil {
			return
		}
		n.serve(sock, aware)
	}
}

// stop closes everything at once, like kill -9.
func (n *Node) stop() {
	n.life.Lock()
	defer n.life.Unlock()
	n.shut()
}

// shut closes listeners and connections. It closes connections without n.mu, because their goroutines take it.
func (n *Node) shut() {
	n.mu.Lock()
	n.up.Store(false)
	for _, l := range n.listeners {
		_ = l.Close()
	}
	n.listeners = nil
	conns := make([]*conn, 0, len(n.conns))
	for c := range n.conns {
		conns = append(conns, c)
	}
	n.mu.Unlock()
	for _, c := range conns {
		c.close()
	}
}

// Kill stops the node at once: its ports and connections are closed, its prepared statements are lost. Clients of other
// nodes receive DOWN. The data belongs to the cluster and stays. Killing a dead node does nothing.
func (n *Node) Kill() {
	n.life.Lock()
	defer n.life.Unlock()
	if !n.IsUp() {
		return
	}
	n.shut()
	n.Forget()
	n.cluster.happened("STATUS_CHANGE", "DOWN", n.Addr())
}

// Shutdown stops the node as nodetool drain does. With Config.GracefulDisconnect it closes its ports, sends
// GRACEFUL_DISCONNECT to the connections that registered for it, and waits until their clients have closed them, at
// most for grace. Then it is Kill. Shutdown reports whether the clients closed all these connections.
func (n *Node) Shutdown(grace time.Duration) (closed bool) {
	n.mu.Lock()
	for _, l := range n.listeners {
		_ = l.Close()
	}
	n.listeners = nil
	n.mu.Unlock()
	end := time.NewTimer(grace)
	defer end.Stop()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	announced := map[*conn]bool{}
	for closed = !n.announce(announced); !closed; closed = !n.announce(announced) {
		select {
		case <-poll.C:
			continue
		case <-end.C:
		}
		break
	}
	n.Kill()
	return closed
}

// announce sends GRACEFUL_DISCONNECT to the connections that registered for it and are not in announced, to which it
// adds them: a client may register while the node stops. It reports whether a connection that registered is open.
func (n *Node) announce(announced map[*conn]bool) (open bool) {
	for _, c := range n.connections() {
		if !c.registered(gracefulDisconnect) {
			continue
		}
		if open = true; !announced[c] {
			announced[c] = true
			c.pushEvent(appendString(nil, gracefulDisconnect))
		}
	}
	return open
}

// Restart starts a node at its last address; a node that is up is stopped first. A new number of shards takes effect.
// Clients of all nodes receive UP.
func (n *Node) Restart() error {
	n.Kill()
	n.life.Lock()
	defer n.life.Unlock()
	if n.cluster.ctx.Err() != nil || n.removed.Load() {
		return errClosed
	}
	if err := n.listen(); err != nil {
		return err
	}
	n.cluster.happened("STATUS_CHANGE", "UP", n.Addr())
	return nil
}

// Move starts the node at another address; the zero value means any free one. Host id and tokens stay. Clients receive
// DOWN and REMOVED_NODE for the old address, NEW_NODE and UP for the new one. On a cluster with one address (Ports)
// only the port changes.
func (n *Node) Move(addr netip.Addr) error {
	n.Kill()
	n.life.Lock()
	defer n.life.Unlock()
	c := n.cluster
	old := n.Addr()
	c.mu.Lock()
	if c.closed || n.removed.Load() {
		c.mu.Unlock()
		return errClosed
	}
	err := n.move(addr)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	c.happened("TOPOLOGY_CHANGE", "REMOVED_NODE", old)
	c.happened("TOPOLOGY_CHANGE", "NEW_NODE", n.Addr())
	c.happened("STATUS_CHANGE", "UP", n.Addr())
	return nil
}

// Pause stops the node from reading and writing. Its connections stay open; new ones are accepted but not answered.
// Requests that the node has already read are still executed.
func (n *Node) Pause() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.paused.Swap(true) {
		n.unpaused = make(chan struct{})
	}
}

// Resume ends Pause.
func (n *Node) Resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.paused.Swap(false) {
		close(n.unpaused)
	}
}

// gate returns a channel that is closed when the node is not paused; nil means that it is not paused now.
func (n *Node) gate() <-chan struct{} {
	if !n.paused.Load() {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.unpaused
}

// SetShards sets the number of shards after the next Restart or Move.
func (n *Node) SetShards(shards int) { n.nextShards.Store(int64(max(1, shards))) }

// Forget drops the node's prepared statements, like a restart or a full cache.
func (n *Node) Forget() {
	n.cacheMu.Lock()
	defer n.cacheMu.Unlock()
	clear(n.prepared)
}

// SetSchemaVersion sets the schema version that the node reports, so that the nodes disagree; nil means the true one.
func (n *Node) SetSchemaVersion(version *[16]byte) { n.schema.Store(version) }

func (n *Node) schemaVersion() [16]byte {
	if v := n.schema.Load(); v != nil {
		return *v
	}
	return n.cluster.db.SchemaVersion()
}

// CloseConns closes the connections to the node. The node stays up.
func (n *Node) CloseConns() {
	for _, c := range n.connections() {
		c.close()
	}
}

func (n *Node) connections() []*conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := make([]*conn, 0, len(n.conns))
	for c := range n.conns {
		list = append(list, c)
	}
	return list
}

// event pushes an event to the connections that registered for its type.
func (n *Node) event(typ string, body []byte) {
	for _, c := range n.connections() {
		if c.registered(typ) {
			c.pushEvent(body)
		}
	}
}

func (c *conn) pushEvent(body []byte) {
	c.push(appendFrame(nil, header{version: c.version, stream: eventStream, op: OpEvent}, body))
}
