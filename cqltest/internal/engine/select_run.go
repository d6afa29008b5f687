// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"math"
)

// Execution of SELECT.

// run executes SELECT and returns one page. A statement that sorts, or aggregates without GROUP BY, has a single page.
func (p *selectPlan) run(ctx context.Context, x *env, r *Request) (*Result, error) {
	limit, err := limitValue(x, p.limit, "LIMIT")
	if err != nil {
		return nil, err
	}
	per, err := limitValue(x, p.perPartition, "LIMIT")
	if err != nil {
		return nil, err
	}
	rd, filter, err := p.reader(x, r)
	if err != nil {
		return nil, err
	}
	res := &Result{Kind: ResultRows, Columns: p.columns}
	if w := p.where.aggregationWarning(); p.aggregated && w != "" {
		res.Warnings = append(res.Warnings, w)
	}
	var target []byte
	index := p.annIndex
	switch {
	case p.ann == nil:
	case x.e.options.Scylla:
		if target, index, res.Warnings, err = p.scyllaTarget(x, r, limit); err != nil {
			return nil, err
		}
	default:
		if target, res.Warnings, err = p.annTarget(x, r, limit, per); err != nil {
			return nil, err
		}
	}
	b := &builder{p: p, x: x, res: res, limit: limit, per: per, left: per, filter: filter, index: index}
	if rd != nil && len(rd.keys) > 0 {
		b.lastKey = rd.keys[len(rd.keys)-1]
	}
	single := p.ann != nil || p.order != nil || p.aggregated && p.group < 0
	if r.PagingState != nil && !single {
		state, err := parsePagingState(r.PagingState, p.t)
		if err != nil {
			return nil, err
		}
		if limit >= 0 {
			if limit = state.left; limit == 0 || limit < 0 {
				return res, nil
			}
			b.limit = limit
		}
		if per >= 0 {
			b.left = state.leftPartition
		}
		if rd != nil {
			if err := rd.resume(state.position); err != nil {
				return nil, err
			}
		}
		b.key = state.key
	}
	switch {
	case rd == nil: // no row can match
	case p.ann != nil:
		return res, b.searchRows(target, limit)
	case p.order != nil:
		if r.PageSize > 0 {
			return nil, invalid("Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either remove the " +
				"ORDER BY or the IN and sort client side, or disable paging for this query")
		}
		return res, b.sorted(ctx, rd, limit)
	default:
		if b.page = int64(r.PageSize); single || b.page <= 0 {
			b.page = math.MaxInt64
		}
		if r.Encode && p.plain != nil {
			b.encoder, res.Encoded = &encoder{columns: p.plain}, r.Room
		}
		if err := b.all(ctx, rd); err != nil {
			return nil, err
		}
	}
	return res, b.finish()
}

// reader returns the reader of the rows and the filter to apply; a nil reader means no rows.
func (p *selectPlan) reader(x *env, r *Request) (*reader, func(*rowView) bool, error) {
	w := p.where
	rd := &reader{t: p.t, st: p.t.store, sec: x.sec, reversed: p.reversed, distinct: p.distinct, statics: p.statics}
	from, to, ok, err := w.tokenRange(x)
	if err != nil {
		return nil, nil, err
	}
	rd.from, rd.to = from, to
	if w.keys {
		parts, err := w.partitions(x)
		if err != nil {
			return nil, nil, err
		}
		rd.keys = [][]byte{}
		for _, k := range parts {
			key, err := partitionKey(k)
			if err != nil {
				return nil, nil, err
			}
			if len(w.tokens) > 0 {
				if t := keyToken(key); t < from || t > to {
					continue
				}
			}
			rd.keys = append(rd.keys, key)
		}
	}
	if p.t.virtual != nil {
		if rd.st, err = p.t.materialize(p.virtualRows(x, r.Node, rd.keys)); err != nil {
			return nil, nil, err
		}
	}
	var exact bool
	if rd.slices, exact, err = w.slices(x); err != nil {
		return nil, nil, err
	}
	filter, err := w.filter(x, exact)
	if err != nil || !ok || w.empty {
		return nil, nil, err
	}
	return rd, filter, nil
}

// builder builds result rows from the rows of a reader.
type builder struct {
	p       *selectPlan
	x       *env
	res     *Result
	filter  func(*rowView) bool
	limit   int64 // rest of LIMIT; -1 means no limit
	per     int64 // PER PARTITION LIMIT
	left    int64 // rest of per in this partition
	page    int64
	cells   [][]byte // of the next rows
	key     []byte   // partition of the last row
	lastKey []byte   // last partition of a read by key; nil means a scan
	last    *rowView
	group   *rowView // first row of the current group; nil means none
	full    bool
	n       int      // rows in the result
	encoder *encoder // nil means that the result has Rows
	index   *index   // of a search by a vector
}

// all reads until the end of the table, the page or the limit.
func (b *builder) all(ctx context.Context, rd *reader) error {
	for {
		rows, err := rd.read(ctx, b.want())
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		for i := range rows {
			if b.filter != nil && !b.filter(&rows[i]) {
				continue
			}
			if err := b.add(&rows[i]); err != nil || b.full {
				return err
			}
		}
	}
}

// want returns the number of rows to read next: those that the page and the limit leave, or a chunk if rows may be left
// out or are counted in groups.
func (b *builder) want() int64 {
	if b.filter != nil || b.p.aggregated {
		return readChunk
	}
	n := b.page - int64(b.n)
	if b.limit > 0 {
		n = min(n, b.limit)
	}
	return n
}

// add adds one row.
func (b *builder) add(v *rowView) error {
	if b.per < 0 && !b.p.aggregated {
		return b.addPlain(v)
	}
	sameKey := b.key != nil && bytes.Equal(b.key, v.p.key)
	if b.p.aggregated {
		return b.addGrouped(v, sameKey)
	}
	if !sameKey {
		b.key, b.left = v.p.key, b.per
	}
	if b.per >= 0 && b.left == 0 {
		return nil
	}
	if err := b.emit(v); err != nil {
		return err
	}
	b.left--
	b.last = v
	b.count()
	return nil
}

// addPlain adds one row without PER PARTITION LIMIT.
func (b *builder) addPlain(v *rowView) error {
	if err := b.emit(v); err != nil {
		return err
	}
	b.last = v
	b.count()
	return nil
}

// count updates the limits for an added row.
func (b *builder) count() {
	if b.limit > 0 {
		b.limit--
	}
	if b.limit == 0 {
		b.full = true
		return
	}
	if int64(b.n) >= b.page {
		b.full = true
		b.state()
	}
}

// state sets the paging state after the last row. There is no further page if the last partition can have no further
// row; after groups there always is one, as in Cassandra.
func (b *builder) state() {
	s := pagingState{left: b.limit, leftPartition: -1}
	s.token, s.key = b.last.p.token, b.last.p.key
	if b.per >= 0 {
		s.leftPartition = b.left
	}
	if s.done = b.p.distinct || b.last.row == nil; !s.done {
		s.clustering = b.last.row.clustering
		if len(b.p.t.ck) == 0 {
			s.done, s.clustering = true, nil
		}
	}
	last := s.done && b.p.group < 0 || b.per >= 0 && b.left <= 0
	if last && bytes.Equal(s.key, b.lastKey) {
		return
	}
	b.res.PagingState = s.bytes()
}

// emit evaluates the selectors for a row.
func (b *builder) emit(v *rowView) error {
	b.n++
	if b.encoder != nil {
		b.res.Encoded = b.encoder.append(b.res.Encoded, v, b.x.sec)
		b.res.Count = b.n
		return nil
	}
	b.x.view = *v
	n := len(b.p.nodes)
	if len(b.cells) < n {
		b.cells = make([][]byte, n*min(max(len(b.res.Rows), 1), readChunk))
	}
	out := b.cells[:n:n]
	b.cells = b.cells[n:]
	for i, n := range b.p.nodes {
		var err error
		if out[i], err = n.eval(b.x); err != nil {
			return err
		}
		if isUnset(out[i]) {
			return invalid("Invalid unset value for %s", b.p.columns[i].Name)
		}
	}
	b.res.Rows = append(b.res.Rows, out)
	return nil
}

// addGrouped adds one row to an aggregate. A page ends at the first row after its last group.
func (b *builder) addGrouped(v *rowView, sameKey bool) error {
	same := b.group != nil && (b.p.group < 0 || sameKey && b.sameGroup(v))
	if !same {
		if b.group != nil {
			if err := b.endGroup(); err != nil || b.full {
				return err
			}
		}
		if !sameKey {
			b.key, b.left = v.p.key, b.per
		}
		if b.per >= 0 && b.left == 0 {
			b.group = nil
			return nil
		}
		b.group = v
		b.x.sums = newSums(b.p.aggs)
	}
	b.last = v
	b.x.view = *v
	for _, a := range b.x.sums {
		if err := a.(*argument).addRow(b.x); err != nil {
			return asInvalid(err)
		}
	}
	return nil
}

func newSums(makers []func() aggregator) []aggregator {
	out := make([]aggregator, len(makers))
	for i, m := range makers {
		out[i] = m()
	}
	return out
}

func (b *builder) sameGroup(v *rowView) bool {
	if b.p.group == 0 {
		return true
	}
	if b.group.row == nil || v.row == nil {
		return b.group.row == v.row
	}
	return b.p.t.compareClustering(b.group.row.clustering[:b.p.group], v.row.clustering[:b.p.group]) == 0
}

func (b *builder) endGroup() error {
	if err := b.emit(b.group); err != nil {
		return asInvalid(err)
	}
	b.group = nil
	b.left--
	b.count()
	return nil
}

// finish adds the last group. An aggregate over no rows yields one row, unless it has GROUP BY.
func (b *builder) finish() error {
	if !b.p.aggregated || b.full {
		return nil
	}
	if b.group == nil {
		if b.p.group >= 0 {
			return nil
		}
		b.x.sums = newSums(b.p.aggs)
		b.group = &rowView{t: b.p.t, absent: true, p: &partitionHead{}}
		b.last = b.group
	}
	return b.endGroup()
}
