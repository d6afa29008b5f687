// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/pipe/internal/order"
)

// Sorts: each goroutine keeps its first rows, or all rows; at the end they are merged.

// A sortOp sorts, and keeps a window of the rows.
type sortOp struct {
	keys   []order.Key
	orders int // of keys, the keys of the program; the others make the order total
	window
	bound *bound // narrows the source; nil means that it cannot
}

func (op *sortOp) needs(columns map[string]bool) bool {
	for _, k := range op.keys {
		columns[k.Name] = true
	}
	return true
}

func (op *sortOp) node(p *plan, in node) (node, error) {
	parts := make([]string, op.orders)
	for i, k := range op.keys[:op.orders] {
		parts[i] = k.Name
		if k.Desc {
			parts[i] += " desc"
		}
		if k.NullsFirst {
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

// run collects the first rows of each goroutine, and passes on the first rows of all.
func (n *sortNode) run(ctx context.Context, f emit) error {
	if n.limit == 0 {
		return nil
	}
	sorters := make([]order.Sorter, n.in.workers())
	if n.bound != nil {
		n.bound.kept = make([][]boundRow, len(sorters))
	}
	for i := range sorters {
		sorters[i] = order.Sorter{Keys: n.keys, Limit: n.end()}
		if n.bound != nil {
			sorters[i].Cut = func(k order.Key, b *column.Batch, last int) error { return n.bound.lower(i, k, b, last) }
		}
	}
	err := n.in.run(ctx, func(worker int, p part) error {
		start := time.Now()
		err := sorters[worker].Add(p.b, p.rows)
		n.meter.add(0, start)
		return n.failed(err)
	})
	if err != nil {
		return err
	}
	start := time.Now()
	b, err := order.Merge(sorters, n.offset)
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
		names[i] = k.Name
	}
	return failed("OrderBy", quoted(names), err)
}

// A bound is the last row that a sort with a limit keeps, so far and among all goroutines.
type bound struct {
	source narrower
	mu     sync.Mutex
	kept   [][]boundRow // by worker: the rows that its sorter keeps, in their order
	key    []byte       // of the first column; nil means none
}

// A boundRow is the first column of a row.
type boundRow struct {
	key   []byte // in the order of bytes
	value any
}

// mostShared is the greatest limit of a sort whose goroutines share the rows that they keep. With greater limits the
// last row of each goroutine is a bound.
const mostShared = 256

// lower narrows the scan to rows that are not after the last of the first rows by a key. A worker's sorter keeps the
// rows 0 to last of a batch.
func (d *bound) lower(worker int, k order.Key, b *column.Batch, last int) error {
	c, err := order.ColumnOf(k, b)
	if err != nil {
		return err
	}
	from := 0
	if last >= mostShared {
		from = last
	}
	rows := make([]boundRow, 0, last+1-from)
	for i := from; i <= last; i++ {
		rows = append(rows, boundRow{c.Append(nil, i), c.Value(i)})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	row := rows[last-from]
	if from == 0 {
		d.kept[worker] = rows
		all := slices.Concat(d.kept...)
		slices.SortFunc(all, func(a, b boundRow) int { return bytes.Compare(a.key, b.key) })
		row = all[last]
	}
	if d.key != nil && bytes.Compare(row.key, d.key) >= 0 {
		return nil
	}
	d.key = row.key
	if bounds := upTo(k, row.value); bounds != nil {
		return d.source.Narrow([][]expr.Bound{bounds})
	}
	return nil
}

// upTo returns conditions. One is true for values that are not after v, which is nil for NULL; nil if these
// are all values.
func upTo(k order.Key, v any) (bounds []expr.Bound) {
	null := expr.Bound{Column: k.Name, Op: expr.OpIsNull}
	switch {
	case v == nil && k.NullsFirst:
		return []expr.Bound{null}
	case v == nil:
		return nil
	}
	op := expr.OpLe
	if k.Desc {
		op = expr.OpGe
	}
	bounds = []expr.Bound{{Column: k.Name, Op: op, Values: []any{v}}}
	if k.NullsFirst {
		bounds = append(bounds, null)
	}
	return bounds
}
