// SPDX-License-Identifier: Apache-2.0

package fakecql

import (
	"context"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vecql/vecql/internal/token"
)

// The dialer of an in-memory cluster: network faults, and the ports of ScyllaDB.

// A Dial is one attempt to connect to a node in memory.
type Dial struct {
	At        time.Time
	Addr      string
	LocalPort int // 0 means any
	Made      bool
}

// An End is a node's end of a connection in memory.
type End struct {
	*PipeEnd
	Shard int
	Port  int // the port that was dialed
}

// DialContext dials a node in memory. With it a Cluster is a dialer of the driver.
func (c *Cluster) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return c.DialContextLocalPort(ctx, network, addr, 0)
}

// DialContextLocalPort is DialContext from a local port.
func (c *Cluster) DialContextLocalPort(ctx context.Context, _, addr string, localPort int) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	nth := len(c.dials)
	c.dials = append(c.dials, Dial{At: time.Now(), Addr: addr, LocalPort: localPort})
	n, known := c.Hosts[host]
	if n != nil && n.Delay > 0 {
		delay := n.Delay
		c.Mu.Unlock()
		err := sleep(ctx, delay)
		c.Mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	shardAware := port == strconv.Itoa(ShardPort)
	switch {
	case localPort != 0 && c.Taken != nil && c.Taken(localPort):
		return nil, &net.OpError{Op: "dial", Err: syscall.EADDRINUSE}
	case !known:
		return nil, &net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}
	case n == nil || n.Silent:
		c.Mu.Unlock()
		<-ctx.Done()
		c.Mu.Lock()
		return nil, ctx.Err()
	case n.Down || shardAware && (n.NoPort || n.Shards == 0) || !shardAware && port != strconv.Itoa(Port):
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	c.dials[nth].Made = true
	return c.connect(n, shardAware, localPort), nil
}

// connect makes a connection to n and returns the client's end. Callers hold c.Mu.
func (c *Cluster) connect(n *Node, shardAware bool, localPort int) net.Conn {
	client, server := NewPipe()
	end := &End{PipeEnd: server, Port: Port}
	switch {
	case shardAware:
		end.Port = ShardPort
		if localPort == 0 {
			localPort = 49152 + rand.IntN(1000)
		}
		end.Shard = int(token.ShardOfPort(uint16(localPort+n.PortShift), int32(n.Shards)))
	case n.Assign != nil:
		end.Shard = n.Assign()
	case n.Shards > 0:
		end.Shard = n.leastConnected()
	}
	c.open++
	client.OnClose = func() {
		c.Mu.Lock()
		defer c.Mu.Unlock()
		c.open--
	}
	n.Server.Accept(end)
	if c.Wrap != nil {
		return c.Wrap(n, client)
	}
	return client
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// supported returns the options of the node's SUPPORTED.
func (n *Node) supported(p *Conn) map[string][]string {
	n.Cluster.Mu.Lock()
	defer n.Cluster.Mu.Unlock()
	s := map[string][]string{"COMPRESSION": {"lz4", "snappy"}}
	if end, ok := p.End.(*End); ok && n.Shards > 0 {
		s = ScyllaSupported("SCYLLA_NR_SHARDS", strconv.Itoa(n.Shards), "SCYLLA_SHARD", strconv.Itoa(end.Shard),
			"SCYLLA_HOST_ID", n.ID.String(), "TABLETS_ROUTING_V2_EXPERIMENTAL", "-")
	}
	for k, v := range n.Extra {
		s[k] = v
	}
	return s
}

// ScyllaSupported returns the options of ScyllaDB's SUPPORTED with changes: pairs of a key and its value, where "-"
// removes the key.
func ScyllaSupported(changes ...string) map[string][]string {
	m := map[string][]string{
		"COMPRESSION": {"lz4"}, "SCYLLA_SHARD": {"3"}, "SCYLLA_NR_SHARDS": {"8"},
		"SCYLLA_PARTITIONER":        {"org.apache.cassandra.dht.Murmur3Partitioner"},
		"SCYLLA_SHARDING_ALGORITHM": {"biased-token-round-robin"}, "SCYLLA_SHARDING_IGNORE_MSB": {"12"},
		"SCYLLA_SHARD_AWARE_PORT": {"19042"}, "SCYLLA_SHARD_AWARE_PORT_SSL": {"19142"},
		"SCYLLA_HOST_ID":               {"11111111-2222-3333-4444-555555555555"},
		"SCYLLA_LWT_ADD_METADATA_MARK": {"LWT_OPTIMIZATION_META_BIT_MASK=2147483648"},
		"SCYLLA_RATE_LIMIT_ERROR":      {"ERROR_CODE=17185"}, "TABLETS_ROUTING_V1": {""},
		"TABLETS_ROUTING_V2_EXPERIMENTAL": {""}, "SCYLLA_USE_METADATA_ID": {""},
	}
	for i := 0; i < len(changes); i += 2 {
		if m[changes[i]] = []string{changes[i+1]}; changes[i+1] == "-" {
			delete(m, changes[i])
		}
	}
	return m
}

// leastConnected returns the shard with the fewest connections.
func (n *Node) leastConnected() int {
	count := make([]int, n.Shards)
	for _, end := range n.Ends() {
		count[end.Shard%n.Shards]++
	}
	best := 0
	for shard, c := range count {
		if c < count[best] {
			best = shard
		}
	}
	return best
}

// Ends returns the node's ends of its connections.
func (n *Node) Ends() (ends []*End) {
	n.Server.mu.Lock()
	defer n.Server.mu.Unlock()
	for c := range n.Server.conns {
		ends = append(ends, c.(*End))
	}
	return ends
}

// Connections returns the number of connections to the node, control connections included.
func (n *Node) Connections() int { return len(n.Ends()) }

// ShardCounts returns the number of connections to each shard, except the connection of the latest REGISTER.
func (n *Node) ShardCounts() []int {
	n.Cluster.Mu.Lock()
	count := make([]int, n.Shards)
	n.Cluster.Mu.Unlock()
	for _, end := range n.endsOfRequests() {
		for end.Shard >= len(count) { // from before a change of Shards
			count = append(count, 0)
		}
		count[end.Shard]++
	}
	return count
}

// HangUpShard breaks the connections to a shard, except the connection of the latest REGISTER.
func (n *Node) HangUpShard(shard int) {
	for _, end := range n.endsOfRequests() {
		if end.Shard == shard {
			_ = end.Close()
		}
	}
}

// endsOfRequests returns Ends without the end of the latest REGISTER.
func (n *Node) endsOfRequests() []*End {
	control := n.Cluster.Control()
	return slices.DeleteFunc(n.Ends(), func(end *End) bool { return control != nil && control.End == end })
}

// MoveTo changes the address of the node. Dialing the old address blocks afterwards.
func (n *Node) MoveTo(ip string) {
	n.Change(func(n *Node) {
		n.Cluster.Hosts[n.IP] = nil
		n.IP = ip
		n.Cluster.Hosts[ip] = n
	})
}

// DialsSince returns the dials since then whose address begins with addr.
func (c *Cluster) DialsSince(then time.Time, addr string) (found []Dial) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	for _, d := range c.dials {
		if !d.At.Before(then) && strings.HasPrefix(d.Addr, addr) {
			found = append(found, d)
		}
	}
	return found
}

// DialCount returns the number of dials of the node's present address.
func (n *Node) DialCount() int { return len(n.Cluster.DialsSince(time.Time{}, n.Addr())) }

// MadeCount returns the number of connections established.
func (c *Cluster) MadeCount() (made int) {
	for _, d := range c.DialsSince(time.Time{}, "") {
		if d.Made {
			made++
		}
	}
	return made
}
