// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// Shards and tablets of the emulation of ScyllaDB (ScyllaDB's docs/dev/protocol-extensions.md, docs/dev/sharding.md).

// A Tablet is a range of a table's tokens, First excluded and Last included, with its replicas. In a strongly
// consistent keyspace the first replica is the leader.
type Tablet struct {
	First, Last int64
	Replicas    []TabletReplica
	Version     uint64 // TABLETS_ROUTING_V2
}

// A TabletReplica is a shard of a node.
type TabletReplica struct {
	Node  *Node
	Shard int
}

// tabletTurns is the number of distinct choices of replicas. Replicas are computed, not stored, so that a table of
// 100,000 tablets needs no memory.
const tabletTurns = 1024

// shardOf returns the shard of a token (biased-token-round-robin).
func shardOf(tok int64, shards int, ignoreMSB uint) int {
	biased := (uint64(tok) + 1<<63) << ignoreMSB
	hi, _ := bits.Mul64(biased, uint64(shards))
	return int(hi)
}

func (c *Cluster) tabletCount() int { return int(c.tablets.count.Load()) }

// tabletIndex returns which of count equal ranges holds tok. Ranges are (first, last].
func tabletIndex(tok int64, count int) int {
	hi, _ := bits.Mul64(uint64(tok)+1<<63, uint64(count))
	for int(hi) > 0 && tok <= tabletEnd(int(hi)-1, count) {
		hi--
	}
	return int(hi)
}

// tabletEnd returns the last token of range i of count.
func tabletEnd(i, count int) int64 {
	if i == count-1 {
		return math.MaxInt64
	}
	q, _ := bits.Div64(uint64(i+1), 0, uint64(count))
	return int64(q - 1<<63)
}

// tabletOf returns the tablet that holds the token.
func (c *Cluster) tabletOf(p *placement, table engine.Name, tok int64) Tablet {
	return c.tabletAt(p, table, tabletIndex(tok, c.tabletCount()))
}

// tabletAt returns tablet i. In each data center its replicas are consecutive nodes of placement.nodesOf, from a start
// that depends on table, tablet and generation.
func (c *Cluster) tabletAt(p *placement, table engine.Name, i int) Tablet {
	count := c.tabletCount()
	i = min(i, count-1)
	t := Tablet{First: math.MinInt64, Last: tabletEnd(i, count)}
	if i > 0 {
		t.First = tabletEnd(i-1, count)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(table.Keyspace + "." + strings.TrimSuffix(table.Table, logSuffix)))
	seed := mix(h.Sum64() + c.tablets.generation.Load()*0x9E3779B97F4A7C15 + uint64(i%tabletTurns))
	topo := c.topo.Load()
	for _, dc := range p.dcs {
		nodes := p.nodesOf(topo, dc)
		for k := range min(p.factors[dc], len(nodes)) {
			n := nodes[(seed%uint64(len(nodes))+uint64(k))%uint64(len(nodes))]
			shard := int(mix(seed+uint64(i)*31+uint64(n.number)) % uint64(n.shardCount()))
			t.Replicas = append(t.Replicas, TabletReplica{n, shard})
		}
	}
	if p.leaders {
		c.putLeaderFirst(t.Replicas, seed)
	}
	t.Version = mix(seed ^ uint64(i)<<20 ^ uint64(count))
	for _, r := range t.Replicas {
		t.Version = mix(t.Version + uint64(r.Shard) + uint64(r.Node.number)<<32)
	}
	return t
}

// nodesByRackTurns returns the nodes of a data center round-robin over its racks.
func nodesByRackTurns(all []*Node, dc string) []*Node {
	racks := map[string][]*Node{}
	for _, n := range all {
		if n.dc == dc {
			racks[n.rack] = append(racks[n.rack], n)
		}
	}
	var nodes []*Node
	names := sortedKeys(racks)
	for turn := 0; ; turn++ {
		before := len(nodes)
		for _, r := range names {
			if turn < len(racks[r]) {
				nodes = append(nodes, racks[r][turn])
			}
		}
		if len(nodes) == before {
			return nodes
		}
	}
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	return x ^ x>>31
}

// TabletPayload returns t as the value of the custom payload "tablets-routing-v1": tuple<bigint, bigint,
// list<tuple<uuid, int>>>. It is for a Fault that sends wrong hints.
func TabletPayload(t Tablet) []byte {
	var list []byte
	for _, r := range t.Replicas {
		id := r.Node.HostID()
		replica := appendBytes(nil, id[:])
		replica = appendInt(appendInt(replica, 4), int32(r.Shard))
		list = appendBytes(list, replica)
	}
	list = append(appendInt(nil, int32(len(t.Replicas))), list...)
	b := appendLong(appendInt(nil, 8), t.First)
	b = appendLong(appendInt(b, 8), t.Last)
	return appendBytes(b, list)
}

const (
	tabletsV1 = "tablets-routing-v1"
	tabletsV2 = "tablets-routing-v2"
)

// tabletHint returns the payload for a misrouted request; nil means that the request was routed well. v2 is the last
// byte of EXECUTE with TABLETS_ROUTING_V2: a position in the version that the client has, and the four bits at it.
func (c *Cluster) tabletHint(conn *conn, table engine.Name, tok int64, v2 byte) map[string][]byte {
	if !conn.tabletsV1 && !conn.tabletsV2 {
		return nil
	}
	p := c.placement(table.Keyspace)
	if p == nil || !p.tablets {
		return nil
	}
	t := c.tabletOf(p, table, tok)
	if conn.tabletsV2 {
		if byte(t.Version>>(4*(v2>>4)))&0x0F == v2&0x0F {
			return nil
		}
		b := binary.BigEndian.AppendUint64(appendInt(TabletPayload(t), 8), t.Version)
		return map[string][]byte{tabletsV2: b}
	}
	if slices.Contains(t.Replicas, TabletReplica{conn.node, conn.shard}) {
		return nil
	}
	return map[string][]byte{tabletsV1: TabletPayload(t)}
}

// Tablet returns the tablet of a table that holds the token; false means that the table's keyspace has no tablets.
func (c *Cluster) Tablet(keyspace, table string, tok int64) (Tablet, bool) {
	p := c.placement(keyspace)
	if p == nil || !p.tablets {
		return Tablet{}, false
	}
	return c.tabletOf(p, engine.Name{Keyspace: keyspace, Table: table}, tok), true
}

// MoveTablets changes the replicas of every tablet of every table, as a balancer would over time. Hints sent before are
// wrong from now on.
func (c *Cluster) MoveTablets() { c.tablets.generation.Add(1) }

// SetTablets splits or merges all tables to n tablets. Tables with change data capture get new streams at once.
func (c *Cluster) SetTablets(n int) {
	if n > 0 && c.tabletCount() > 0 {
		c.tablets.count.Store(uint64(n))
		c.streams.renew(0, true)
	}
}
