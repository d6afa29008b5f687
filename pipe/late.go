// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"slices"
	"time"

	"github.com/vecql/vecql/column"
)

// Late materialization: of the first rows of an order, sources are asked for the columns of the order and the numbers
// of the rows first, and for the other columns of the rows that are kept.

// maxLate is the number of rows up to which columns are read late: each row may need a page of its own.
const maxLate = 10000

// rowNumbers is the name of the column of the numbers of rows, which is no name of a program's column.
const rowNumbers = "row\x00"

// late returns the node of a sort that keeps few rows, with the operations before it, and the operations after it. It
// returns nil if all columns are needed before the sort.
func late(p *plan, source opened, columns []string, ops []operation) (node, []operation, error) {
	reader, ok := able[lateReader](source)
	i := firstOfRows(ops)
	if !ok || i < 0 {
		return nil, nil, nil
	}
	sort, ok := ops[i].(*sortOp)
	if !ok || sort.limit < 0 || sort.end() > maxLate {
		return nil, nil, nil
	}
	early := map[string]bool{}
	for _, k := range sort.keys {
		early[k.Name] = true
	}
	var before []operation
	for _, op := range ops[:i] {
		switch op := op.(type) {
		case *filterOp:
			op.keep[rowNumbers] = true
			add(early, columnsOf(op.conjuncts))
		case *computeOp:
			early[op.name] = true
			add(early, op.e.Columns())
		default:
			continue // a selection of columns: those that are not needed are not read
		}
		before = append(before, op)
	}
	isEarly := func(name string) bool { return early[name] }
	late := slices.DeleteFunc(slices.Clone(columns), isEarly)
	if len(late) == 0 {
		return nil, nil, nil
	}
	reader.NumberRows(rowNumbers)
	n, err := source.scan(p, slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return !early[name] }))
	if err != nil {
		return nil, nil, err
	}
	if n, err = apply(p, n, append(before, sort)); err != nil {
		return nil, nil, err
	}
	meter := p.describe("of these rows, columns %s", list(late))
	return &lateNode{n, reader, source.input().failed, late, meter}, ops[i+1:], nil
}

// A lateNode adds columns to rows with numbers.
type lateNode struct {
	in      node
	source  lateReader
	failed  func(error) error
	columns []string
	meter   *meter
}

func (n *lateNode) workers() int { return n.in.workers() }

func (n *lateNode) run(ctx context.Context, f emit) error {
	return n.in.run(ctx, func(worker int, p part) error {
		start := time.Now()
		b, err := n.read(ctx, p.b)
		if err != nil {
			return n.failed(err)
		}
		n.meter.add(b.Rows, start)
		return f(worker, part{b: b})
	})
}

// read returns the rows with the columns, in place of the numbers.
func (n *lateNode) read(ctx context.Context, b *column.Batch) (*column.Batch, error) {
	numbers, err := column.Slice[int64](b.Column(rowNumbers))
	if err != nil {
		return nil, err
	}
	ascending := slices.Sorted(slices.Values(numbers))
	read, err := n.source.ReadRows(ctx, n.columns, ascending)
	if err != nil {
		return nil, err
	}
	rows := make([]int32, len(numbers))
	for i, number := range numbers {
		at, _ := slices.BinarySearch(ascending, number)
		rows[i] = int32(at)
	}
	if read, err = read.Take(rows); err != nil {
		return nil, err
	}
	out := &column.Batch{Rows: b.Rows, Source: b.Source}
	for i := range b.Columns {
		if b.Columns[i].Name != rowNumbers {
			out.Columns = append(out.Columns, b.Columns[i])
		}
	}
	out.Columns = append(out.Columns, read.Columns...)
	return out, nil
}
