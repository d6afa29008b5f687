// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
)

// Sorts: each goroutine keeps its first rows, or all rows; at the end they are merged.

// A sortOp sorts, and keeps a window of the rows.
type sortOp struct {
	keys   []sortKey
	orders int // of keys, those of the program; the others make the order total
	window
	bound *bound // narrows the source; nil means that it cannot
}

func (op *sortOp) needs(columns map[string]bool) bool {
	for _, k := range op.keys {
		columns[k.name] = true
	}
	return true
}

func (op *sortOp) node(p *plan, in node) (node, error) {
	parts := make([]string, op.orders)
	for i, k := range op.keys[:op.orders] {
		parts[i] = k.name
		if k.desc {
			parts[i] += " desc"
		}
		if k.nullsFirst {
			parts[i] += " nulls first"
		}
	}
	return &sortNode{op, in, p.describe("order by %s%v", list(parts), op.window)}, nil
}

type sortNode struct {
	*sortOp
	in    node
	meter *meter
}

func (n *sortNode) workers() int { return 1 }

// run collects the first rows of each goroutine, and passes on those of all.
func (n *sortNode) run(ctx context.Context, f emit) error {
	if n.limit == 0 {
		return nil
	}
	limit := n.end()
	sorters := make([]sorter, n.in.workers())
	err := n.in.run(ctx, func(worker int, p part) error {
		start := time.Now()
		s := &sorters[worker]
		s.sortKeys, s.limit, s.bound = n.keys, limit, n.bound
		err := s.add(p)
		n.meter.add(0, start)
		return n.failed(err)
	})
	if err != nil {
		return err
	}
	start := time.Now()
	b, err := n.merge(sorters)
	if err != nil {
		return n.failed(err)
	}
	n.meter.add(b.Rows, start)
	return (&memoryNode{batches: []*column.Batch{b}}).run(ctx, f)
}

func (n *sortNode) failed(err error) error {
	if err == nil {
		return nil
	}
	names := make([]string, n.orders)
	for i, k := range n.keys[:n.orders] {
		names[i] = k.name
	}
	return failed("OrderBy", quoted(names), err)
}

// merge returns the window of all rows.
func (n *sortNode) merge(sorters []sorter) (*column.Batch, error) {
	all := &sorters[0]
	for i := range sorters[1:] {
		s := &sorters[i+1]
		for _, r := range s.rows {
			r.batch += int32(len(all.batches))
			all.rows = append(all.rows, r)
		}
		all.batches = append(all.batches, s.batches...)
	}
	all.sort()
	from := int(min(n.offset, int64(len(all.rows))))
	to := len(all.rows)
	if n.limit >= 0 {
		to = int(min(int64(to), n.end()))
	}
	all.rows = all.rows[from:max(from, to)]
	return all.gather()
}

// A bound is the last row that a sort with a limit keeps, so far and among all goroutines.
type bound struct {
	source narrower
	mu     sync.Mutex
	key    []byte // of the first column; nil means none
}

// lower narrows the scan to rows that are not after row i of a batch by a key.
func (d *bound) lower(k sortKey, b *column.Batch, i int) error {
	c, err := keyColumnOf(k, b)
	if err != nil {
		return err
	}
	key := c.append(nil, i)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.key != nil && bytes.Compare(key, d.key) >= 0 {
		return nil
	}
	d.key = key
	if bounds := k.upTo(c.c.Value(i)); bounds != nil {
		return d.source.Narrow([][]expr.Bound{bounds})
	}
	return nil
}

// upTo returns the conditions one of which is true for values that are not after v, which is nil for NULL; nil if these
// are all values.
func (k sortKey) upTo(v any) (bounds []expr.Bound) {
	null := expr.Bound{Column: k.name, Op: expr.OpIsNull}
	switch {
	case v == nil && k.nullsFirst:
		return []expr.Bound{null}
	case v == nil:
		return nil
	}
	op := expr.OpLe
	if k.desc {
		op = expr.OpGe
	}
	bounds = []expr.Bound{{Column: k.name, Op: op, Values: []any{v}}}
	if k.nullsFirst {
		bounds = append(bounds, null)
	}
	return bounds
}

// A sorter keeps the first limit rows of those that are added, with their keys; -1 means all.
type sorter struct {
	sortKeys []sortKey
	limit    int64
	rows     []sortRow
	batches  []*column.Batch
	columns  []keyColumn
	selected []int32
	memory   []byte // of keys
	full     bool   // rows[limit-1] was the last of the first rows; no later row is wanted unless it comes before
	last     sortRow
	bound    *bound
}

// A sortRow is a row of one of the batches.
type sortRow struct {
	prefix     uint64 // of key
	key        []byte
	position   int64
	batch, row int32
}

func compareRows(a, b sortRow) int {
	if c := cmp.Compare(a.prefix, b.prefix); c != 0 {
		return c
	}
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c
	}
	return cmp.Compare(a.position, b.position)
}

func (s *sorter) sort() { slices.SortFunc(s.rows, compareRows) }

// add adds the rows of a part that may be among the first, and copies them.
func (s *sorter) add(p part) error {
	s.columns = s.columns[:0]
	for _, k := range s.sortKeys {
		c, err := keyColumnOf(k, p.b)
		if err != nil {
			return err
		}
		s.columns = append(s.columns, c)
	}
	s.selected = s.selected[:0]
	for i := range p.count() {
		row := int32(i)
		if p.rows != nil {
			row = p.rows[i]
		}
		s.offer(row, p.b.Source.FirstRow+int64(row))
	}
	if len(s.selected) == 0 {
		return nil
	}
	b, err := p.b.Take(s.selected)
	if err != nil {
		return err
	}
	s.batches = append(s.batches, b)
	if n := int64(len(s.rows)); s.limit > 0 && ((n-sortSlack)/2 > s.limit || !s.full && n >= s.limit) {
		return s.cut()
	}
	return nil
}

// sortSlack is the number of rows beyond twice the limit that a sorter holds before it cuts. The fewer, the sooner a
// bound is known.
const sortSlack = 64

// offer adds a row of the current part, unless it comes after the first ones.
func (s *sorter) offer(row int32, position int64) {
	r := sortRow{position: position, batch: int32(len(s.batches)), row: int32(len(s.selected))}
	if len(s.columns) > 0 {
		r.prefix = s.columns[0].prefix(int(row))
	}
	if s.full && r.prefix > s.last.prefix {
		return
	}
	if cap(s.memory)-len(s.memory) < 256 {
		s.memory = make([]byte, 0, 64<<10)
	}
	from := len(s.memory)
	for k := range s.columns {
		s.memory = s.columns[k].append(s.memory, int(row))
	}
	r.key = s.memory[from:len(s.memory):len(s.memory)]
	if s.full && compareRows(r, s.last) > 0 {
		s.memory = s.memory[:from]
		return
	}
	s.rows = append(s.rows, r)
	s.selected = append(s.selected, row)
}

// cut keeps the first rows only.
func (s *sorter) cut() error {
	s.sort()
	s.rows = s.rows[:s.limit]
	b, err := s.gather()
	if err != nil {
		return err
	}
	s.batches, s.memory = []*column.Batch{b}, nil
	size := 0
	for i := range s.rows {
		size += len(s.rows[i].key)
	}
	keys := make([]byte, 0, size)
	for i := range s.rows {
		r := &s.rows[i]
		from := len(keys)
		keys = append(keys, r.key...)
		r.key, r.batch, r.row = keys[from:len(keys):len(keys)], 0, int32(i)
	}
	s.full, s.last = true, s.rows[s.limit-1]
	if s.bound != nil {
		return s.bound.lower(s.sortKeys[0], b, int(s.limit-1))
	}
	return nil
}

// gather returns the rows in their order.
func (s *sorter) gather() (*column.Batch, error) {
	all, err := column.Concat(s.batches...)
	if err != nil {
		return nil, err
	}
	starts := make([]int32, len(s.batches))
	at := 0
	for i, b := range s.batches {
		starts[i] = int32(at)
		at += b.Rows
	}
	if int(int32(at)) != at {
		return nil, fmt.Errorf("%d rows: %w", at, column.ErrTooLarge)
	}
	rows := make([]int32, len(s.rows))
	for i, r := range s.rows {
		rows[i] = starts[r.batch] + r.row
	}
	return all.Take(rows)
}
