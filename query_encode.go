// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"time"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/frame"
)

// Encoded rows: requests that are encoded before they are sent, for programs that keep rows until they are sent and
// distribute them themselves, such as package bulk; and the nodes that serve them.

// An EncodedRows holds rows of one statement, encoded for one request: a row that waits is encoded once. Several rows
// are sent as one unlogged batch. The zero value has no rows. It may be used by one goroutine at a time.
type EncodedRows struct {
	query    *Query     // nil means that there never were rows
	stmt     *statement // of the query
	token    int64      // of the partition
	hasToken bool
	key      []byte // of the partition, for a HostPicker

	one   *call  // the EXECUTE of the only row; nil means that cells has the rows
	n     int    // values of a row
	cells []byte // of the rows of a batch
	ends  []int  // row i ends at cells[ends[i]]
}

// Encode makes row i of b the only row of r. b is not retained. Errors are the errors of ExecRow for a row that is not
// sent; r then has no rows.
func (st *RowStatement) Encode(ctx context.Context, r *EncodedRows, b *column.Batch, i int) error {
	return r.encode(ctx, &st.query, record{rows: &st.source, batch: b, row: i})
}

// Encode makes the values of v the only row of r, as [RowStatement.Encode] does the values of a row.
func (st *Statement[P]) Encode(ctx context.Context, r *EncodedRows, v *P) error {
	return r.encode(ctx, &st.query, record{source: &st.source, base: unsafe.Pointer(v)})
}

// encode makes the row with these values the only row.
func (r *EncodedRows) encode(ctx context.Context, q *Query, values record) error {
	r.Reset()
	c := q.session.newCall(&q.options)
	err := q.configure(c, nil)
	if err == nil {
		r.token, r.hasToken, err = q.encodeValues(ctx, c, &values)
	}
	if err != nil {
		c.release()
		r.hasToken = false
		return err
	}
	r.query, r.stmt, r.key, r.one, r.n = q, c.stmts[0], c.routingKey, c, c.bound.n
	return nil
}

// Reset removes the rows and keeps memory for others.
func (r *EncodedRows) Reset() {
	if r.one != nil {
		r.one.release()
	}
	*r = EncodedRows{cells: r.cells[:0], ends: r.ends[:0]}
}

// Rows returns the number of rows.
func (r *EncodedRows) Rows() int {
	if r.one != nil {
		return 1
	}
	return len(r.ends)
}

// Size returns the length of the values of the rows in bytes.
func (r *EncodedRows) Size() int { return len(r.bytes()) }

// bytes returns the values of the rows.
func (r *EncodedRows) bytes() []byte {
	if r.one != nil {
		return r.one.bound.cells(r.one.req.Body.B)
	}
	return r.cells
}

// Value returns the encoded value of bind marker i of the only row; nil means that it is NULL or unset, or that there
// is not one row. It is a view of the memory of r.
func (r *EncodedRows) Value(i int) []byte {
	if r.one == nil {
		return nil
	}
	cell, _ := r.one.bound.cell(r.one.req.Body.B, i)
	return cell
}

// Token returns the token of the partition of the first row, if the statement binds the whole partition key.
func (r *EncodedRows) Token() (token int64, ok bool) { return r.token, r.hasToken }

// Join moves the rows of o to r and reports whether it did: both must be rows of one statement that binds the whole
// partition key. The statement must not be conditional and must not update counters. Rows of one partition cost a
// server least. Rows of several partitions should share a replica, to which ExecOn sends them: a node forwards the rows
// that it does not store.
func (r *EncodedRows) Join(o *EncodedRows) bool {
	if r == o || r.Rows() == 0 || o.Rows() == 0 || r.query != o.query || r.stmt != o.stmt || !r.hasToken ||
		!o.hasToken || r.Rows()+o.Rows() > BatchSizeMaximum {
		return false
	}
	if r.one != nil {
		r.cells = append(r.cells, r.bytes()...)
		r.ends = append(r.ends, len(r.cells))
		r.one.release()
		r.one = nil
	}
	before := len(r.cells)
	r.cells = append(r.cells, o.bytes()...)
	for _, end := range o.ends {
		r.ends = append(r.ends, before+end)
	}
	if o.one != nil {
		r.ends = append(r.ends, len(r.cells))
	}
	o.Reset()
	return true
}

// ExecOn sends the rows to a node only, without another node after a failure. A zero host id means any node. r then has
// no rows, but still their targets: another attempt encodes the rows again. All rows have one write time, unless the
// statement sets it.
func (r *EncodedRows) ExecOn(ctx context.Context, hostID cql.UUID) error {
	if r.Rows() == 0 {
		return nil
	}
	q, c := r.query, r.one
	r.one = nil
	if c == nil {
		var err error
		if c, err = r.newBatch(); err != nil {
			return err
		}
	}
	defer c.release()
	c.began = time.Now()
	c.req.Began = c.began
	if hostID != (cql.UUID{}) {
		c.hostID = hostID
	}
	if err := q.finish(ctx, c); err != nil {
		return err
	}
	c.answer.resp.Body.Release()
	return nil
}

// newBatch returns the call of a BATCH of the rows, and removes them.
func (r *EncodedRows) newBatch() (*call, error) {
	const beside = 8 // bytes of a statement in a batch besides its id and its values, and more
	q := r.query
	c := q.session.newCall(&q.options)
	err := q.configure(c, nil)
	q.usePlan(c, r.stmt)
	if c.batched = len(r.ends); !c.hasToken {
		c.token, c.hasToken, c.routingKey = r.token, true, r.key
	}
	if err == nil {
		err = c.startBody(q.session.version, frame.OpBatch, &q.options, len(r.cells)+len(r.ends)*(len(r.stmt.id)+beside)+128)
	}
	if err == nil {
		q.session.counters.of(c.stripe).preparedHits.Add(1)
		c.req.Body.B, err = frame.AppendRowBatch(c.req.Body.B, q.session.version, r.stmt.id, r.n, r.cells, r.ends, &c.params)
	}
	r.cells, r.ends = r.cells[:0], r.ends[:0]
	if err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

// maxOtherTargets bounds the targets of a row whose replicas are unknown.
const maxOtherTargets = 3

// Targets appends to dst the connected replicas of the partition of the rows, the nearest ones only, in the order of a
// query plan. If the replicas are unknown, Targets appends up to three of the nearest nodes. If the statement does not
// bind the whole partition key, or a HostPicker selects the nodes, Targets appends nothing.
func (r *EncodedRows) Targets(dst []Replica) []Replica {
	if !r.hasToken || r.query.session.picks() { // the HostPicker selects the node of each attempt
		return dst
	}
	s, stmt := r.query.session, r.stmt
	target := planTarget{
		token: r.token, hasToken: true, lwt: stmt.lwt || r.query.consistency.IsSerial(), host: r.query.hostID,
		now: time.Now(), start: s.start.Add(startStep), consistency: r.query.consistency,
	}
	target.keyspace, target.table = stmt.table()
	var plan queryPlan
	s.topo.Load().startPlan(&plan, &target)
	return plan.appendTargets(dst)
}

// appendTargets appends the first nodes of the plan that have a connection: nodes of one rank, and either replicas or
// other nodes.
func (p *queryPlan) appendTargets(dst []Replica) []Replica {
	var first *node
	for count := 0; ; {
		at := p.next()
		n := at.node
		if n == nil || first != nil && (n.rank != first.rank || p.isReplica(n) != p.isReplica(first)) {
			return dst
		}
		shard := at.shard
		if shard < 0 {
			shard = n.pool.shardOf(p.token)
		}
		if n.pool.pickShard(shard) == nil {
			continue
		}
		if first == nil {
			first = n
		}
		dst = append(dst, Replica{HostID: n.info.ID, Shard: int(shard)})
		if count++; count == maxOtherTargets && !p.isReplica(n) || p.isLeader(n) {
			return dst
		}
	}
}

// Route returns the routing of the query as its values are now. It prepares the statement if it is not in the session's
// cache, encodes the values, and sends nothing else. The replicas store the partition under
// every HostSelectionPolicy.
func (q *Query) Route(ctx context.Context) (RouteInfo, error) {
	c := q.session.newCall(&q.options)
	defer c.release()
	if err := q.configure(c, nil); err != nil {
		return RouteInfo{}, err
	}
	c.observer = nil
	if !q.isUnprepared(&q.record) {
		if _, _, err := q.encodeValues(ctx, c, &q.record); err != nil {
			return RouteInfo{}, err
		}
		c.keepKey(&c.bound)
	}
	return q.session.routeInfo(ctx, c), nil
}

// Route returns the routing of the batch: its first statement with a partition key decides it. See Query.Route.
func (b *Batch) Route(ctx context.Context) (RouteInfo, error) {
	c := b.session.newCall(&b.options)
	defer c.release()
	first, err := b.encode(ctx, c)
	if err != nil {
		return RouteInfo{}, err
	}
	if first != nil {
		c.keepKey(first)
	}
	return b.session.routeInfo(ctx, c), nil
}
