// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// Streams of ScyllaDB's change data capture (ScyllaDB's docs/dev/cdc.md): generations of the cluster for keyspaces with
// vnodes, sets of streams by table for keyspaces with tablets.

// logSuffix ends the names of the tables of logs. The tablets of a log are where the tablets of its table are.
const logSuffix = "_scylla_cdc_log"

// leeway is how far the timestamp of a write may be from the clock in another generation, or in the future
// (generation_leeway in ScyllaDB's cdc/metadata.cc).
const leeway = 5 * time.Second

// streams is the streams of all tables.
type streams struct {
	cluster *Cluster

	mu     sync.Mutex
	vnodes []generation
	tables map[engine.Name][]generation
}

// A generation is a set of streams from a time on. The streams are computed, not stored.
type generation struct {
	at   int64 // milliseconds since 1970
	seed uint64
	topo *topology // nil means tablets
	n    int       // tablets
	per  int       // streams of each range
}

// ranges returns the number of ranges of tokens.
func (g *generation) ranges() int {
	if g.topo == nil {
		return g.n
	}
	return len(g.topo.tokens)
}

// end returns the last token of range i.
func (g *generation) end(i int) int64 {
	if g.topo == nil {
		return tabletEnd(i, g.n)
	}
	return g.topo.tokens[i]
}

// find returns the range of a token.
func (g *generation) find(tok int64) int {
	if g.topo == nil {
		return tabletIndex(tok, g.n)
	}
	i, _ := slices.BinarySearch(g.topo.tokens, tok)
	return i % len(g.topo.tokens)
}

// id returns the stream of a shard of range i: the token of the range's end, 38 random bits, 22 bits of an index, and 4
// of a version. Streams of one range differ in the random bits.
func (g *generation) id(i, shard int) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(g.end(i)))
	random := mix(g.seed + uint64(i)*31 + uint64(shard)*0x9E3779B97F4A7C15)
	return binary.BigEndian.AppendUint64(b, random<<26|uint64(i)&(1<<22-1)<<4|1)
}

// ids returns the streams of range i.
func (g *generation) ids(i int) [][]byte {
	out := make([][]byte, g.per)
	for shard := range out {
		out[shard] = g.id(i, shard)
	}
	return out
}

// NewGeneration starts a new generation of the streams of change data capture after a time, which ScyllaDB announces up
// to a minute ahead: for tables in keyspaces with vnodes as if a node had joined, for tables with tablets as if all had
// been split and merged. AddNode, RemoveNode and SetTablets start one at once.
func (c *Cluster) NewGeneration(after time.Duration) {
	c.streams.renew(after, false)
	c.streams.renew(after, true)
}

// renew starts a new generation after a time: of the cluster, or of all tables with tablets.
func (s *streams) renew(after time.Duration, tablets bool) {
	if s.cluster == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !tablets {
		s.vnodes = append(s.vnodes, s.next(s.vnodes, after, s.cluster.topo.Load()))
		return
	}
	for name, known := range s.tables {
		s.tables[name] = append(known, s.next(known, after, nil))
	}
}

// next returns the generation that follows others. Callers hold s.mu.
func (s *streams) next(known []generation, after time.Duration, topo *topology) generation {
	g := generation{at: s.cluster.now().Add(after).UnixMilli(), topo: topo, n: s.cluster.tabletCount(), per: 1}
	if topo != nil {
		g.per = s.cluster.cfg.Scylla.Shards
	}
	if len(known) > 0 {
		g.at = max(g.at, known[len(known)-1].at+1)
	}
	g.seed = mix(uint64(g.at))
	return g
}

// Open implements engine.Streams.
func (s *streams) Open(t engine.Name) {
	if !s.hasTablets(t) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tables == nil {
		s.tables = map[engine.Name][]generation{}
	}
	s.tables[t] = []generation{s.next(nil, 0, nil)}
}

// Drop implements engine.Streams.
func (s *streams) Drop(t engine.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tables, t)
}

func (s *streams) hasTablets(t engine.Name) bool {
	p := s.cluster.placement(t.Keyspace)
	return p != nil && p.tablets
}

// Of implements engine.Streams, with the checks of ScyllaDB's cdc::metadata::get_stream.
func (s *streams) Of(t engine.Name, micros, tok int64) ([]byte, error) {
	now := s.cluster.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.tables[t]
	if known == nil {
		known = s.vnodes
	}
	at := time.UnixMicro(micros)
	if at.After(now.Add(leeway)) {
		return nil, refused("cdc: attempted to get a stream \"from the future\" (%v; current server time: %v)", at, now)
	}
	i := operating(known, at)
	if i < 0 || i < operating(known, now) && at.Before(now.Add(-leeway)) {
		return nil, refused("cdc: attempted to get a stream from an earlier generation than the currently used one (%v; "+
			"current server time: %v)", at, now)
	}
	g := &known[i]
	return g.id(g.find(tok), shardOf(tok, g.per, uint(s.cluster.cfg.Scylla.IgnoreMSB))), nil
}

func refused(format string, args ...any) error {
	return &engine.Error{Code: engine.CodeInvalid, Message: fmt.Sprintf(format, args...)}
}

// operating returns the index of the generation that operates at a time, -1 for a time before the first.
func operating(known []generation, at time.Time) int {
	i := len(known) - 1
	for i >= 0 && at.Before(time.UnixMilli(known[i].at)) {
		i--
	}
	return i
}

// addTables adds the tables that describe the streams.
func (s *streams) addTables(add func(keyspace, name, columns string, rows func(n *Node) []Row)) {
	add("system_distributed", "cdc_generation_timestamps", "key text p; time timestamp c; expired timestamp",
		func(*Node) []Row {
			return s.vnodeRows(func(g *generation) []Row {
				return []Row{{"key": "timestamps", "time": time.UnixMilli(g.at)}}
			})
		})
	add("system_distributed", "cdc_streams_descriptions_v2",
		"time timestamp p; range_end bigint c; streams frozen<set<blob>>", func(*Node) []Row {
			return s.vnodeRows((*generation).describe)
		})
	add("system", "cdc_timestamps", "keyspace_name text p; table_name text p; timestamp timestamp c",
		func(*Node) []Row {
			return s.tabletRows(func(known []generation, i int) []Row {
				return []Row{{"timestamp": time.UnixMilli(known[i].at)}}
			})
		})
	add("system", "cdc_streams", `keyspace_name text p; table_name text p; timestamp timestamp c; stream_state tinyint c;
		stream_id blob c`, func(*Node) []Row { return s.tabletRows(stateRows) })
}

// vnodeRows returns rows for each generation of the cluster.
func (s *streams) vnodeRows(rows func(g *generation) []Row) []Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Row
	for i := range s.vnodes {
		out = append(out, rows(&s.vnodes[i])...)
	}
	return out
}

// describe returns the rows of cdc_streams_descriptions_v2.
func (g *generation) describe() []Row {
	var out []Row
	for i := range g.ranges() {
		ids := g.ids(i)
		slices.SortFunc(ids, slices.Compare[[]byte])
		set := appendInt(nil, int32(len(ids)))
		for _, id := range ids {
			set = appendBytes(set, id)
		}
		out = append(out, Row{"time": time.UnixMilli(g.at), "range_end": g.end(i), "streams": set})
	}
	return out
}

// tabletRows returns rows for each set of streams of each table.
func (s *streams) tabletRows(rows func(known []generation, i int) []Row) []Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Row
	for name, known := range s.tables {
		for i := range known {
			for _, r := range rows(known, i) {
				r["keyspace_name"], r["table_name"] = name.Keyspace, name.Table
				out = append(out, r)
			}
		}
	}
	return out
}

// stateRows returns the rows of system.cdc_streams: the streams of a set, those it opens and those that it closes.
func stateRows(known []generation, i int) []Row {
	const current, closed, opened = 0, 1, 2
	var out []Row
	add := func(g *generation, state byte) {
		for r := range g.ranges() {
			out = append(out, Row{
				"timestamp": time.UnixMilli(known[i].at), "stream_state": []byte{state}, "stream_id": g.id(r, 0),
			})
		}
	}
	add(&known[i], current)
	if i > 0 {
		add(&known[i-1], closed)
		add(&known[i], opened)
	}
	return out
}
