// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
)

// This file holds what tests can read of a node: how many requests came to it, to which shard and by which connection.

// counts are the requests by opcode.
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

// stats are those of a node.
type stats struct {
	ops                          counts
	routable, onReplica, onShard atomic.Int64
	shardsMu                     sync.Mutex
	shards                       atomic.Pointer[[]*atomic.Int64]
	hints, unavailable           atomic.Int64
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

// Stats say what has come to a node since it was made or ResetStats was called.
type Stats struct {
	Requests map[Opcode]int // by opcode, answered or not
	Shards   []int          // QUERY, EXECUTE and BATCH by the shard of their connection

	// Of QUERY, EXECUTE and BATCH that are of one partition in a replicated keyspace: how many there were, how many came to a replica, and how
	// many came to a replica's shard that owns the token.
	Routable, OnReplica, OnShard int

	TabletHints int // answers that told a client of a tablet
	Unavailable int // requests refused because too few replicas were up
}

// Stats returns the node's counters.
func (n *Node) Stats() Stats {
	s := Stats{
		Requests: n.stats.ops.read(), Routable: int(n.stats.routable.Load()), OnReplica: int(n.stats.onReplica.Load()),
		OnShard: int(n.stats.onShard.Load()), TabletHints: int(n.stats.hints.Load()), Unavailable: int(n.stats.unavailable.Load()),
	}
	if p := n.stats.shards.Load(); p != nil {
		for _, c := range *p {
			s.Shards = append(s.Shards, int(c.Load()))
		}
	}
	return s
}

// Stats returns the counters of all nodes together; Shards are those of equal numbers.
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
	}
	return sum
}

// ResetStats sets the counters of all nodes to zero.
func (c *Cluster) ResetStats() {
	for _, n := range c.topo.Load().nodes {
		n.ResetStats()
	}
}

// Requests returns how many requests of these opcodes have come to the node; without opcodes, of all.
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
	for _, c := range []*atomic.Int64{&s.routable, &s.onReplica, &s.onShard, &s.hints, &s.unavailable} {
		c.Store(0)
	}
	if p := s.shards.Load(); p != nil {
		for _, c := range *p {
			c.Store(0)
		}
	}
}

// ConnInfo describes a connection.
type ConnInfo struct {
	ID            uint64 // of the cluster's connections, in the order of their arrival
	Local, Remote netip.AddrPort
	ShardAware    bool // came by the shard-aware port
	Shard         int
	Version       byte // of the protocol; 0: no request yet
	Compression   string
	Keyspace      string
	User          string
	Ready         bool              // STARTUP and authentication are over
	Events        []string          // what it registered for
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
