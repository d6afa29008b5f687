// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Targets: the nodes that serve the partition of a row, for programs that distribute rows themselves, such as package
// bulk.

// A Target is a node, and on ScyllaDB a shard of it, that serves a partition.
type Target struct {
	HostID UUID
	Shard  int // -1 means that the node has no shards, or that the shard is unknown
}

// maxOtherTargets bounds the targets of a row whose replicas are unknown.
const maxOtherTargets = 3

// Targets appends to dst the connected replicas of the partition of row i of b, the nearest ones only, in the order of
// a query plan. If the replicas are unknown, Targets appends up to three of the nearest nodes. If the statement does
// not bind the whole partition key, or a HostPicker selects the nodes, Targets appends nothing. size is the length of
// the encoded row in bytes. Errors are those of ExecRow for a row that is not sent.
func (st *RowStatement) Targets(ctx context.Context, dst []Target, b *column.Batch, i int,
) (targets []Target, size int, err error) {
	return st.query.targets(ctx, dst, record{rows: &st.source, batch: b, row: i})
}

// ExecRowOn is ExecRow on the node of a target only, without another node after a failure. A zero host id means any
// node.
func (st *RowStatement) ExecRowOn(ctx context.Context, hostID UUID, b *column.Batch, i int) error {
	return st.query.execOn(ctx, hostID, record{rows: &st.source, batch: b, row: i})
}

// Targets is [RowStatement.Targets] for the values of v.
func (st *Statement[P]) Targets(ctx context.Context, dst []Target, v *P) (targets []Target, size int, err error) {
	return st.query.targets(ctx, dst, record{source: &st.source, base: unsafe.Pointer(v)})
}

// ExecOn is Exec on the node of a target only, without another node after a failure. A zero host id means any node.
func (st *Statement[P]) ExecOn(ctx context.Context, hostID UUID, v *P) error {
	return st.query.execOn(ctx, hostID, record{source: &st.source, base: unsafe.Pointer(v)})
}

func (q *Query) execOn(ctx context.Context, hostID UUID, r record) error {
	c := q.session.newCall(&q.options)
	defer c.release()
	if hostID != (UUID{}) {
		c.hostID = hostID
	}
	err := q.do(ctx, c, &r, nil)
	if err == nil {
		c.answer.body.release()
	}
	return err
}

// targets encodes the record for its token and its size, and drops the encoding: a record that waits to be sent stays
// in the memory of the program.
func (q *Query) targets(ctx context.Context, dst []Target, r record) ([]Target, int, error) {
	s := q.session
	c := s.newCall(&q.options)
	defer c.release()
	stmt, err := s.prepareFor(ctx, c, q.keyspace, q.stmt)
	if err != nil {
		return dst, 0, err
	}
	c.setTable(stmt)
	if err := r.bind(&c.bound, stmt); err != nil {
		return dst, 0, err
	}
	body := c.newBody(max(int(stmt.bodySize.Load()), 512))
	c.req.body = body
	if body.b, err = c.bound.appendBound(body.b[:0]); err != nil {
		return dst, 0, err
	}
	if c.token, c.hasToken, err = c.bound.token(body.b); err != nil || !c.hasToken {
		return dst, len(body.b), err
	}
	s.newPlan(c)
	return s.appendTargets(dst, c), len(body.b), nil
}

// appendTargets appends the first nodes of the query plan of a call that have a connection: those of one rank, and
// either replicas or other nodes.
func (s *Session) appendTargets(dst []Target, c *call) []Target {
	if s.picks() { // the HostPicker selects the node of each attempt
		return dst
	}
	var plan queryPlan
	s.startPlan(context.Background(), &plan, c)
	var first *node
	for count := 0; ; {
		at := plan.next()
		n := at.node
		if n == nil || first != nil && (n.rank != first.rank || plan.isReplica(n) != plan.isReplica(first)) {
			return dst
		}
		shard := c.shardOf(at)
		if n.pool.pickShard(shard) == nil {
			continue
		}
		if first == nil {
			first = n
		}
		dst = append(dst, Target{HostID: n.info.id, Shard: int(shard)})
		if count++; count == maxOtherTargets && !plan.isReplica(n) {
			return dst
		}
	}
}
