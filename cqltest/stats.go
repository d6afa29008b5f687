// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
)

// Counters of a node: requests by opcode, by shard and by connection.

// counts are numbers of requests by opcode.
type counts [opcodes]atomic.Int64

func (c *counts) add(op Opcode) {
	if int(op) < len(c) {
		c[op].Add(1)
	}
}

func (c *counts) read() map[Opcode]int {
	m := map[Opcode]int{}
	for op := range c {
		if n := c[op].Load(); n > 0 {
			m[Opcode(op)] = int(n)
		}
	}
	return m
}

// stats are the counters of a node.
type stats struct {
	ops                          counts
	routable, onReplica, onShard atomic.Int64
	shardsMu                     sync.Mutex
	shards                       atomic.Pointer[[]*atomic.Int64]
	hints, unavailable           atomic.Int64
	onLeader, forwarded          atomic.Int64
}

// shard returns the counter of a shard.
func (s *stats) shard(i int) *atomic.Int64 {
	if p := s.shards.Load(); p != nil && i < len(*p) {
		return (*p)[i]
	}
	s.shardsMu.Lock()
	defer s.shardsMu.Unlock()
	var all []*atomic.Int64
	if p := s.shards.Load(); p != nil {
		all = slices.Clone(*p)
	}
	for len(all) <= i {
		all = append(all, new(atomic.Int64))
	}
	s.shards.Store(&all)
	return all[i]
}

// Stats are the counters of a node since its start or since ResetStats.
type Stats struct {
	Requests map[Opcode]int // by opcode, answered or not
	Shards   []int          // number of QUERY, EXECUTE and BATCH by the shard of their connection

	// Routable counts the QUERY, EXECUTE and BATCH for one partition of a replicated keyspace. OnReplica counts the
	// requests that reached a replica, OnShard the requests that reached the replica's shard that owns the token.
	Routable, OnReplica, OnShard int

	// OnLeader and Forwarded count the requests for one partition of a strongly consistent table, without reads at ONE and
	// LOCAL_ONE: the requests that reached the leader of the tablet, and the requests that another node forwards to it.
	OnLeader, Forwarded int

	TabletHints int // number of answers with a tablet hint
	Unavailable int // number of requests refused because too few replicas were up
}

// Stats returns the node's counters.
func (n *Node) Stats() Stats {
	s := Stats{
		Requests: n.stats.ops.read(), Routable: int(n.stats.routable.Load()), OnReplica: int(n.stats.onReplica.Load()),
		OnShard: int(n.stats.onShard.Load()), TabletHints: int(n.stats.hints.Load()),
		Unavailable: int(n.stats.unavailable.Load()),
		OnLeader:    int(n.stats.onLeader.Load()), Forwarded: int(n.stats.forwarded.Load()),
	}
	if p := n.stats.shards.Load(); p != nil {
		for _, c := range *p {
			s.Shards = append(s.Shards, int(c.Load()))
		}
	}
	return s
}

// Stats returns the sums of the counters of all nodes; Shards are added by shard number.
func (c *Cluster) Stats() Stats {
	sum := Stats{Requests: map[Opcode]int{}}
	for _, n := range c.topo.Load().nodes {
		s := n.Stats()
		for op, k := range s.Requests {
			sum.Requests[op] += k
		}
		for i, k := range s.Shards {
			if i == len(sum.Shards) {
				sum.Shards = append(sum.Shards, 0)
			}
			sum.Shards[i] += k
		}
		sum.Routable += s.Routable
		sum.OnReplica += s.OnReplica
		sum.OnShard += s.OnShard
		sum.TabletHints += s.TabletHints
		sum.Unavailable += s.Unavailable
		sum.OnLeader += s.OnLeader
		sum.Forwarded += s.Forwarded
	}
	return sum
}

// ResetStats sets the counters of all nodes to zero.
func (c *Cluster) ResetStats() {
	for _, n := range c.topo.Load().nodes {
		n.ResetStats()
	}
}

// Requests returns the number of requests of these opcodes; no opcodes means all.
func (n *Node) Requests(ops ...Opcode) int {
	total := 0
	for op, count := range n.stats.ops.read() {
		if len(ops) == 0 || slices.Contains(ops, op) {
			total += count
		}
	}
	return total
}

// ResetStats sets the node's counters to zero.
func (n *Node) ResetStats() {
	s := &n.stats
	for op := range s.ops {
		s.ops[op].Store(0)
	}
	for _, c := range []*atomic.Int64{
		&s.routable, &s.onReplica, &s.onShard, &s.hints, &s.unavailable, &s.onLeader, &s.forwarded,
	} {
		c.Store(0)
	}
	if p := s.shards.Load(); p != nil {
		for _, c := range *p {
			c.Store(0)
		}
	}
}

// A ConnInfo describes a connection.
type ConnInfo struct {
	ID            uint64 // number of the connection in the cluster, in the order of arrival
	Local, Remote netip.AddrPort
	ShardAware    bool // whether it uses the shard-aware port
	Shard         int
	Version       byte // of the protocol; 0 means that no request has arrived
	Compression   string
	Keyspace      string
	User          string
	Ready         bool              // whether STARTUP and authentication are complete
	Events        []string          // event types that it registered for
	Options       map[string]string // of STARTUP
	Requests      map[Opcode]int
}

// Conns returns the connections to the node, in the order of their arrival.
func (n *Node) Conns() []ConnInfo {
	var list []ConnInfo
	for _, c := range n.connections() {
		list = append(list, c.info())
	}
	slices.SortFunc(list, func(a, b ConnInfo) int { return int(a.ID) - int(b.ID) })
	return list
}
