// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"slices"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/tablet"
	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// The token ranges of a table, from the ring or from ScyllaDB's tablets, and its tablets.

// TokenRanges returns the token ranges of a table or a materialized view in the order of their tokens, for programs
// that read a whole table in parts (package tablescan does). Every token is in exactly one range, even while the
// cluster changes. The ranges are parts of the ring. For a ScyllaDB table with tablets they are the tablets in
// system.tablets; if the session may not read that table, the tablets that the session has learned from responses, and
// the tokens between them as ranges without replicas.
//
// A range never becomes invalid, because any node serves any token; only its replicas may become outdated. The tablets
// that were read also route later requests.
//
// Errors are the errors of TableMetadata.
func (s *Session) TokenRanges(ctx context.Context, keyspace, table string) ([]TokenRange, error) {
	id, err := s.tableID(ctx, keyspace, table)
	if err != nil {
		return nil, err
	}
	topo := s.topo.Load()
	if topo.hasShards() {
		tablets, err := s.readTablets(ctx, id)
		if ctx.Err() != nil {
			return nil, errtext.Errorf("read the tablets of %s.%s: %w", keyspace, table, context.Cause(ctx))
		}
		if err != nil { // no permission, or a version without tablets
			tablets = slices.Collect(topo.routing.tablets.All(keyspace, table))
		} else {
			s.keepTablets(topo, keyspace, table, tablets)
		}
		if len(tablets) > 0 {
			return topo.tabletRanges(tablets), nil
		}
	}
	return topo.ringRanges(keyspace), nil
}

// tableID returns the id of a table or a materialized view.
func (s *Session) tableID(ctx context.Context, keyspace, table string) (cql.UUID, error) {
	t, err := s.TableMetadata(ctx, keyspace, table)
	if err == nil {
		return t.Id, nil
	}
	if ks, kerr := s.KeyspaceMetadata(ctx, keyspace); kerr == nil && ks.MaterializedViews[table] != nil {
		return ks.MaterializedViews[table].Id, nil
	}
	return cql.UUID{}, err
}

// readTablets reads the tablets of a table from system.tablets (ScyllaDB's docs/dev/topology-over-raft.md). A table on
// the ring has none.
func (s *Session) readTablets(ctx context.Context, id cql.UUID) ([]*tablet.Tablet, error) {
	it := s.Query("SELECT last_token, replicas FROM system.tablets WHERE table_id = ?", id).Consistency(cql.One).Iter(ctx)
	defer func() { _ = it.Close() }()
	var tablets []*tablet.Tablet
	first := int64(token.Min)
	for cells := make([][]byte, 2); len(tablets) < maxTablets && it.NextRaw(cells); {
		last := wire.NewReader(cells[0])
		t := &tablet.Tablet{First: first, Last: last.Long()}
		if last.Err() != nil || t.First >= t.Last {
			return nil, errtext.Errorf("%w: from %d to %d", errTablet, t.First, t.Last)
		}
		list := wire.NewReader(cells[1])
		if err := parseReplicas(t, &list); err != nil {
			return nil, err
		}
		tablets, first = append(tablets, t), t.Last
	}
	return tablets, it.Close()
}

// keepTablets stores tablets for the query plans of later requests.
func (s *Session) keepTablets(topo *topology, keyspace, table string, tablets []*tablet.Tablet) {
	for _, t := range tablets {
		// one on an unknown node, or beyond the limit, is left out
		_ = topo.keepTablet(&planTarget{keyspace: keyspace, table: table, token: t.Last}, t)
	}
	// a snapshot installed meanwhile may have dropped tablets just before these were stored
	if now := s.topo.Load(); now != topo {
		now.followTablets(topo)
	}
}

// hasShards reports whether a node has announced shards, which only ScyllaDB does.
func (t *topology) hasShards() bool {
	return slices.ContainsFunc(t.nodes, func(n *node) bool { return n.pool.shardOf(0) >= 0 })
}

// A Tablet is a range of tokens of a table, with its replicas.
type Tablet struct {
	FirstToken int64 // not part of the range
	LastToken  int64
	Replicas   []Replica
}

// Tablets returns the tablets of a table that the session has received, in the order of their tokens. The session
// receives a tablet in the response of a node that is not a replica: the result may lack tablets, or be empty.
func (s *Session) Tablets(keyspace, table string) []Tablet {
	var out []Tablet
	for t := range s.routing.tablets.All(keyspace, table) {
		known := Tablet{FirstToken: t.First, LastToken: t.Last, Replicas: make([]Replica, len(t.Replicas))}
		for i, r := range t.Replicas {
			known.Replicas[i] = Replica{HostID: r.Host, Shard: int(r.Shard)}
		}
		out = append(out, known)
	}
	return out
}
