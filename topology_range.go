// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/tablet"
	"github.com/vecql/vecql/internal/token"
)

// Token ranges: the ring of a cluster, or the tablets of a table, as values.

// A TokenRange is the tokens above Start, up to and including End. It never wraps around: Start is less than End. The
// token MinInt64 is in no range, because no partition has it.
type TokenRange struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
	// Replicas store the range, the nearest first. They may be outdated, and are empty if unknown.
	Replicas []Replica `json:"replicas,omitempty"`
}

// A Replica is a node that stores a partition, a range of tokens or a tablet, and on ScyllaDB a shard of it.
type Replica struct {
	HostID cql.UUID `json:"host_id"`
	// Shard is -1 if the node has no shards, if the shard is unknown, and for a range of the ring, whose tokens are on all
	// shards.
	Shard int `json:"shard"`
}

// Split cuts the range into n ranges of equal width with the same replicas: at least one, and at most one for each
// token. An invalid range has no parts.
func (r TokenRange) Split(n int) []TokenRange {
	if r.Start >= r.End {
		return nil
	}
	width := uint64(r.End) - uint64(r.Start)
	count := min(uint64(max(n, 1)), width)
	parts := make([]TokenRange, count)
	start := r.Start
	for i := range count {
		high, low := bits.Mul64(width, i+1)
		offset, _ := bits.Div64(high, low, count) // at most width, because i+1 is at most count
		end := int64(uint64(r.Start) + offset)
		parts[i] = TokenRange{Start: start, End: end, Replicas: r.Replicas}
		start = end
	}
	return parts
}

// coverRing returns ranges in the order of their tokens so that each token except the minimum is in exactly one: it
// drops tokens that an earlier range has, and adds ranges without replicas for tokens that no range has.
func coverRing(ranges []TokenRange) []TokenRange {
	slices.SortStableFunc(ranges, func(a, b TokenRange) int { return cmp.Compare(a.Start, b.Start) })
	covered := make([]TokenRange, 0, len(ranges)+1)
	at := int64(token.Min)
	for _, r := range ranges {
		if r.Start = max(r.Start, at); r.Start >= r.End {
			continue
		}
		if at < r.Start {
			covered = append(covered, TokenRange{Start: at, End: r.Start})
		}
		covered = append(covered, r)
		at = r.End
	}
	if at < token.Max {
		covered = append(covered, TokenRange{Start: at, End: token.Max})
	}
	return covered
}

// ringRanges returns the ranges of the ring with the replicas of a keyspace. The range that wraps around becomes two.
func (t *topology) ringRanges(keyspace string) []TokenRange {
	ranges := make([]TokenRange, 0, len(t.tokens)+1)
	start := int64(token.Min)
	for _, end := range t.tokens {
		ranges = append(ranges, TokenRange{Start: start, End: end, Replicas: t.rangeReplicas(keyspace, end)})
		start = end
	}
	if len(t.tokens) > 0 { // the rest belongs to the first token
		ranges = append(ranges, TokenRange{Start: start, End: token.Max, Replicas: t.rangeReplicas(keyspace, token.Max)})
	}
	return coverRing(ranges)
}

// rangeReplicas returns the replicas of a token on the ring.
func (t *topology) rangeReplicas(keyspace string, tok int64) []Replica {
	nodes := t.replicasOf(keyspace, tok)
	replicas := make([]Replica, len(nodes))
	for i, n := range nodes {
		replicas[i] = Replica{HostID: n.info.ID, Shard: -1}
	}
	return replicas
}

// tabletRanges returns the ranges of tablets, with the nearest replicas first.
func (t *topology) tabletRanges(tablets []*tablet.Tablet) []TokenRange {
	ranges := make([]TokenRange, len(tablets))
	for i, found := range tablets {
		ranges[i] = TokenRange{Start: found.First, End: found.Last}
		for _, r := range found.Replicas {
			ranges[i].Replicas = append(ranges[i].Replicas, Replica{HostID: r.Host, Shard: int(r.Shard)})
		}
		slices.SortStableFunc(ranges[i].Replicas, func(a, b Replica) int {
			return cmp.Compare(t.distanceRank(a.HostID), t.distanceRank(b.HostID))
		})
	}
	return coverRing(ranges)
}

// distanceRank returns the rank of a node by distance. Nodes without requests come last.
func (t *topology) distanceRank(id cql.UUID) int {
	if n := t.nodeByID(id); n != nil && n.rank >= 0 {
		return int(n.rank)
	}
	return len(t.nodes)
}
