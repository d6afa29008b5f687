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

// This file holds a node: where it listens, whether it lives, and which connections it has.

// Node is one node of a cluster. Its methods may be called by many at a time.
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
	nextShards atomic.Int64                   // from the next start on
	schema     atomic.Pointer[[16]byte]       // what it says its schema version is; nil: the truth
	addr       atomic.Pointer[netip.AddrPort] // plain port
	shardAware atomic.Pointer[netip.AddrPort] // nil: none
	turn       atomic.Uint64                  // of shards, for connections whose source port says nothing
	stats      stats

	cacheMu  sync.RWMutex
	prepared map[[16]byte]*prepared

	life      sync.Mutex // Kill, Restart, Move: one at a time
	mu        sync.Mutex
	listeners []net.Listener
	conns     map[*conn]struct{}
	unpaused  chan struct{} // closed while not paused
}

func newNode(c *Cluster, number int, dc, rack string) *Node {
	n := &Node{
		cluster: c, number: number, dc: dc, rack: rack, tokens: randomTokens(number, c.cfg.VNodes), started: c.now(),
		prepared: map[[16]byte]*prepared{}, conns: map[*conn]struct{}{}, unpaused: make(chan struct{}),
	}
	close(n.unpaused)
	sum := sha256.Sum256(fmt.Appendf(nil, "cqltest host %d", number))
	copy(n.id[:], sum[:])
	n.id[6], n.id[8] = n.id[6]&0x0F|0x40, n.id[8]&0x3F|0x80
	if s := c.cfg.Scylla; s != nil {
		n.nextShards.Store(int64(s.Shards))
	} else {
		n.nextShards.Store(1)
	}
	return n
}

// Number returns the node's number: 0 for the first.
func (n *Node) Number() int { return n.number }

// HostID returns the node's host id, which is the same for its whole life, and for the node of that number in every cluster.
func (n *Node) HostID() [16]byte { return n.id }

// Addr returns where clients connect to the node, or did before it was killed.
func (n *Node) Addr() netip.AddrPort { return *n.addr.Load() }

// ShardAwareAddr returns the shard-aware port; the zero value when there is none.
func (n *Node) ShardAwareAddr() netip.AddrPort {
	if p := n.shardAware.Load(); p != nil {
		return *p
	}
	return netip.AddrPort{}
}

// DataCenter returns the node's data centre.
func (n *Node) DataCenter() string { return n.dc }

// Rack returns the node's rack.
func (n *Node) Rack() string { return n.rack }

// Tokens returns the node's tokens, sorted. The slice is shared.
func (n *Node) Tokens() []int64 { return n.tokens }

// Shards returns how many shards the node has: 1 without ScyllaDB's emulation.
func (n *Node) Shards() int { return n.shardCount() }

// String returns the host id and the address.
func (n *Node) String() string { return uuid.UUID(n.id).String() + " (" + n.Addr().String() + ")" }

func (n *Node) shardCount() int { return max(1, int(n.shards.Load())) }
func (n *Node) isUp() bool      { return n.up.Load() }

// listen opens the node's ports where it last was, or on new ones. The caller holds Cluster.mu or Node.life.
func (n *Node) listen() error {
	at := n.addr.Load()
	if at == nil {
		return n.move(netip.Addr{})
	}
	return n.open(*at, n.shardAware.Load())
}

// open listens and lets clients in.
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

// Ports are taken from below the range that the system gives to outgoing connections: while a node is down, nobody else gets its port by
// chance.
const (
	lowPort  = 10000
	highPort = 32000
)

// move opens the ports on a new address: addr, or one that is free.
func (n *Node) move(addr netip.Addr) error {
	c := n.cluster
	aware := c.cfg.Scylla != nil && !c.cfg.Scylla.NoShardAwarePort
	switch c.cfg.Network {
	case InMemory:
		if !addr.IsValid() {
			turn := n.turn.Add(1) - 1
			addr = netip.AddrFrom4([4]byte{10, byte(turn), byte(n.number >> 8), byte(n.number)})
			addr = addr.Next()
		}
		var second *netip.AddrPort
		if aware {
			p := netip.AddrPortFrom(addr, 19042)
			second = &p
		}
		return n.open(netip.AddrPortFrom(addr, 9042), second)
	case Addresses:
		return n.moveToAddress(addr, aware)
	}
	if !addr.IsValid() {
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	var err error
	for range 100 {
		plain := netip.AddrPortFrom(addr, lowPort+rand.N[uint16](highPort-lowPort))
		var second *netip.AddrPort
		if aware {
			p := netip.AddrPortFrom(addr, plain.Port()+1)
			second = &p
		}
		if err = n.open(plain, second); err == nil {
			return nil
		}
	}
	return err
}

// moveToAddress opens the cluster's ports on an address of 127.0.0.0/8. The first node chooses the ports.
func (n *Node) moveToAddress(addr netip.Addr, aware bool) error {
	c := n.cluster
	var err error
	for range 100 {
		if c.ports[0] == 0 || n.number == 0 && n.addr.Load() == nil {
			c.prefix = [2]byte{byte(1 + rand.N(254)), byte(rand.N(256))}
			c.ports[0] = lowPort + rand.N[uint16](highPort-lowPort)
			c.ports[1] = c.ports[0] + 1
		}
		to := addr
		if !to.IsValid() {
			last := 1 + n.number
			if n.addr.Load() != nil { // it has moved before
				last = 100 + rand.N(150)
			}
			to = netip.AddrFrom4([4]byte{127, c.prefix[0], c.prefix[1], byte(last)})
		}
		var second *netip.AddrPort
		if aware {
			p := netip.AddrPortFrom(to, c.ports[1])
			second = &p
		}
		if err = n.open(netip.AddrPortFrom(to, c.ports[0]), second); err == nil || addr.IsValid() {
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

// stop closes everything, as kill -9 does.
func (n *Node) stop() {
	n.life.Lock()
	defer n.life.Unlock()
	n.shut()
}

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

// Kill ends the node at once: its ports and connections are closed, what it has prepared is lost. Clients of other nodes hear DOWN.
// The data is the cluster's and stays. Killing a dead node does nothing.
func (n *Node) Kill() {
	n.life.Lock()
	defer n.life.Unlock()
	if !n.isUp() {
		return
	}
	n.shut()
	n.Forget()
	n.cluster.happened("STATUS_CHANGE", "DOWN", n.Addr())
}

// Restart starts a node at its address again, or ends and starts one that is up. A new number of shards is in force from then on. Clients
// of all nodes hear UP.
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

// Move gives the node another address, the zero value for any that is free, and starts it there. Its host id and tokens are the same.
// Clients hear DOWN and REMOVED_NODE of the old address, NEW_NODE and UP of the new one. Where the cluster has one address (Ports) the port
// is another one.
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

// Pause stops the node from reading and writing; its connections stay open, and new ones are taken but not answered. What it has read
// before is executed still.
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

// gate returns a channel that is closed when the node is not paused; nil for now.
func (n *Node) gate() <-chan struct{} {
	if !n.paused.Load() {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.unpaused
}

// SetShards sets the number of shards that the node has after its next Restart or Move.
func (n *Node) SetShards(shards int) { n.nextShards.Store(int64(max(1, shards))) }

// Forget makes the node forget its prepared statements, as a restart or a full cache does.
func (n *Node) Forget() {
	n.cacheMu.Lock()
	defer n.cacheMu.Unlock()
	clear(n.prepared)
}

// SetSchemaVersion makes the node report a schema version of its own, so that there is no agreement; nil: the true one again.
func (n *Node) SetSchemaVersion(version *[16]byte) { n.schema.Store(version) }

func (n *Node) schemaVersion() [16]byte {
	if v := n.schema.Load(); v != nil {
		return *v
	}
	return n.cluster.db.SchemaVersion()
}

// CloseConns closes the connections to the node, which stays up.
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
			c.push(appendFrame(nil, header{version: c.version, stream: eventStream, op: OpEvent}, body))
		}
	}
}
