// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Encoded rows: the values of rows as the bytes of a request, for programs that keep rows until they are sent, such as
// package bulk.

// An EncodedRows holds rows of one statement as the bytes that a request sends: a row that waits, or is sent again, is
// encoded once. Several rows of one partition are sent as one unlogged batch. The zero value has no rows. Encoding into
// it reuses its memory. It may be used by one goroutine at a time.
type EncodedRows struct {
	query    *Query   // of the statement; nil without rows
	bound    bindings // its offsets are those of the first row
	cells    []byte
	ends     []int // row i ends at cells[ends[i]]
	token    int64
	hasToken bool
	key      []byte // of the partition, for a HostPicker
}

// Encode makes row i of b the only row of r. b is not retained. Errors are those of ExecRow for a row that is not sent;
// r then has no rows.
func (st *RowStatement) Encode(ctx context.Context, r *EncodedRows, b *column.Batch, i int) error {
	return r.encode(ctx, &st.query, record{rows: &st.source, batch: b, row: i})
}

// Encode is [RowStatement.Encode] for the values of v.
func (st *Statement[P]) Encode(ctx context.Context, r *EncodedRows, v *P) error {
	return r.encode(ctx, &st.query, record{source: &st.source, base: unsafe.Pointer(v)})
}

// encode makes the row with these values the only row.
func (r *EncodedRows) encode(ctx context.Context, q *Query, values record) error {
	r.Reset()
	b := &r.bound
	stmt, err := q.session.prepare(ctx, q.keyspace, q.stmt)
	if err == nil {
		err = values.bind(b, stmt)
	}
	if err == nil {
		r.cells, err = b.appendBound(r.cells)
	}
	if err == nil {
		r.token, r.hasToken, err = b.token(r.cells)
	}
	if err == nil && r.hasToken && q.session.picks() {
		r.key, _, err = b.appendKey(nil, r.cells)
	}
	*b = bindings{stmt: stmt, n: b.n, offsets: b.offsets}
	if err != nil {
		r.hasToken = false
		return err
	}
	r.query, r.ends = q, append(r.ends, len(r.cells))
	return nil
}

// Reset removes the rows and keeps the memory.
func (r *EncodedRows) Reset() {
	*r = EncodedRows{bound: bindings{offsets: r.bound.offsets[:0]}, cells: r.cells[:0], ends: r.ends[:0]}
}

// Rows returns the number of rows.
func (r *EncodedRows) Rows() int { return len(r.ends) }

// Size returns the length of the rows in bytes.
func (r *EncodedRows) Size() int { return len(r.cells) }

// Value returns the encoded value of bind marker i of the first row; nil means that it is NULL or unset. It is a view
// of the memory of r.
func (r *EncodedRows) Value(i int) []byte {
	cell, _ := r.bound.cell(r.cells, i)
	return cell
}

// Join appends the rows of o and reports whether it did: both must be rows of one statement and one partition, whose
// whole key the statement binds. The statement must not be conditional and must not update counters. Partitions are
// compared by their tokens; a batch for two partitions that share a token goes to the right nodes too.
func (r *EncodedRows) Join(o *EncodedRows) bool {
	if r.query == nil || r.query != o.query || r.bound.stmt != o.bound.stmt || !r.hasToken || !o.hasToken ||
		r.token != o.token || len(r.ends)+len(o.ends) > BatchSizeMaximum {
		return false
	}
	for _, end := range o.ends {
		r.ends = append(r.ends, len(r.cells)+end)
	}
	r.cells = append(r.cells, o.cells...)
	return true
}

// ExecOn sends the rows to a node only, without another node after a failure. A zero host id means any node. All rows
// have one write time, unless the statement sets it.
func (r *EncodedRows) ExecOn(ctx context.Context, hostID UUID) error {
	if r.query == nil {
		return nil
	}
	q := r.query
	c := q.session.newCall(&q.options)
	defer c.release()
	if hostID != (UUID{}) {
		c.hostID = hostID
	}
	if err := q.configure(c, nil); err != nil {
		return err
	}
	q.session.counters.of(c).preparedHits.Add(1)
	if err := r.startRequest(c); err != nil {
		return err
	}
	if r.hasToken && !c.hasToken {
		c.token, c.hasToken, c.routingKey = r.token, true, r.key
	}
	if err := q.finish(ctx, c); err != nil {
		return err
	}
	c.answer.body.release()
	return nil
}

// startRequest writes the body: an EXECUTE of one row, or a BATCH.
func (r *EncodedRows) startRequest(c *call) error {
	q, stmt := r.query, r.bound.stmt
	plan, withID := q.usePlan(c, stmt)
	if len(r.ends) == 1 {
		c.bound.stmt, c.bound.n, c.bound.encoded = stmt, r.bound.n, r.cells
		return q.encode(c, stmt, plan, withID)
	}
	const beside = 8 // bytes of a statement in the batch besides its id and its values, and more
	c.batched = len(r.ends)
	err := c.startBody(opBatch, &q.options, len(r.cells)+len(r.ends)*(len(stmt.id)+beside)+128)
	if err == nil {
		c.req.body.b, err = appendRowBatch(c.req.body.b, q.session.version, stmt.id, r.bound.n, r.cells, r.ends, &c.params)
	}
	return err
}
