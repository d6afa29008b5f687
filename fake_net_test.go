// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vecql/vecql/internal/token"
)

// This file holds how the nodes of a fakeCluster are reached through memory: its dialer, with all that may be wrong with networks, and with
// ScyllaDB's ports.

// fakeDial is one attempt to connect.
type fakeDial struct {
	at        time.Time
	addr      string
	localPort int // 0: any
	made      bool
}

// fakeEnd is a node's end of a connection.
type fakeEnd struct {
	*pipeEnd
	shard int
	port  int
}

// DialContext implements Dialer.
func (c *fakeCluster) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return c.DialContextLocalPort(ctx, network, addr, 0)
}

// DialContextLocalPort implements LocalPortDialer.
func (c *fakeCluster) DialContextLocalPort(ctx context.Context, _, addr string, localPort int) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	nth := len(c.dials)
	c.dials = append(c.dials, fakeDial{at: time.Now(), addr: addr, localPort: localPort})
	n, known := c.hosts[host]
	if n != nil && n.delay > 0 {
		delay := n.delay
		c.mu.Unlock()
		awake := sleep(ctx, delay)
		c.mu.Lock()
		if !awake {
			return nil, ctx.Err()
		}
	}
	shardAware := port == strconv.Itoa(fakeShardPort)
	switch {
	case localPort != 0 && c.taken != nil && c.taken(localPort):
		return nil, &net.OpError{Op: "dial", Err: syscall.EADDRINUSE}
	case !known:
		return nil, &net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}
	case n == nil || n.silent:
		c.mu.Unlock()
		<-ctx.Done()
		c.mu.Lock()
		return nil, ctx.Err()
	case n.down || shardAware && (n.noPort || n.shards == 0) || !shardAware && port != strconv.Itoa(fakePort):
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	client, server := newPipe()
	end := &fakeEnd{pipeEnd: server, port: fakePort}
	switch {
	case shardAware:
		end.port = fakeShardPort
		if localPort == 0 {
			localPort = 49152 + rand.IntN(1000)
		}
		end.shard = int(token.ShardOfPort(uint16(localPort+n.portShift), int32(n.shards)))
	case n.assign != nil:
		end.shard = n.assign()
	case n.shards > 0:
		end.shard = n.leastConnected()
	}
	c.dials[nth].made = true
	c.open++
	client.closed = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open--
	}
	n.server.accept(end)
	if c.wrap != nil {
		return c.wrap(n, client), nil
	}
	return client, nil
}

// supported is what the node lists on a connection.
func (n *fakeNode) supported(p *fakePeer) map[string][]string {
	n.cluster.mu.Lock()
	defer n.cluster.mu.Unlock()
	s := map[string][]string{"COMPRESSION": {"lz4", "snappy"}}
	if end, ok := p.end.(*fakeEnd); ok && n.shards > 0 {
		s = scyllaSupported(keyShards, strconv.Itoa(n.shards), keyShard, strconv.Itoa(end.shard), keyHostID, n.id.String(), keyTabletsV2, "-")
	}
	for k, v := range n.extra {
		s[k] = v
	}
	return s
}

// leastConnected returns the shard with the fewest connections.
func (n *fakeNode) leastConnected() int {
	count := make([]int, n.shards)
	for _, end := range n.ends() {
		count[end.shard%n.shards]++
	}
	best := 0
	for shard, c := range count {
		if c < count[best] {
			best = shard
		}
	}
	return best
}

// ends returns the node's ends of its connections.
func (n *fakeNode) ends() (ends []*fakeEnd) {
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	for c := range n.server.conns {
		ends = append(ends, c.(*fakeEnd))
	}
	return ends
}

// connections returns how many there are to the node, the control connection included.
func (n *fakeNode) connections() int { return len(n.ends()) }

// hangUp breaks all connections.
func (n *fakeNode) hangUp() { n.server.hangUp() }

// moveTo gives the node another address. Nobody answers at the old one.
func (n *fakeNode) moveTo(ip string) {
	n.change(func(n *fakeNode) {
		n.cluster.hosts[n.ip] = nil
		n.ip = ip
		n.cluster.hosts[ip] = n
	})
}

// dialsSince returns the attempts from then on, to addresses with that prefix.
func (c *fakeCluster) dialsSince(then time.Time, addr string) (found []fakeDial) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.dials {
		if !d.at.Before(then) && strings.HasPrefix(d.addr, addr) {
			found = append(found, d)
		}
	}
	return found
}

// dialCount returns how many attempts there were to reach the node where it is now.
func (n *fakeNode) dialCount() int { return len(n.cluster.dialsSince(time.Time{}, n.addr())) }

// madeCount returns how many connections were made.
func (c *fakeCluster) madeCount() (made int) {
	for _, d := range c.dialsSince(time.Time{}, "") {
		if d.made {
			made++
		}
	}
	return made
}
