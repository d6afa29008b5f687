// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"slices"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// Late materialization: of the first rows of an order, files are asked for the columns of the order and the numbers of
// the rows first, and for the other columns of the rows that are kept.

// maxLate is the number of rows up to which columns are read late: each row may need a page of its own.
const maxLate = 10000

// late returns the node of a sort that keeps few rows, with the operations before it, and the operations after it. It
// returns nil if all columns are needed before the sort.
func (p *plan) late(source opened, columns []string, ops []operation) (node, []operation, error) {
	o, ok := source.(*openedParquet)
	i := slices.IndexFunc(ops, func(op operation) bool {
		_, ok := op.(rowOperation)
		return !ok
	})
	if !ok || i < 0 {
		return nil, nil, nil
	}
	sort, ok := ops[i].(*sortOp)
	if !ok || sort.limit < 0 || sort.end() > maxLate {
		return nil, nil, nil
	}
	early := map[string]bool{}
	for _, k := range sort.keys {
		early[k.name] = true
	}
	var before []operation
	for _, op := range ops[:i] {
		switch op := op.(type) {
		case *filterOp:
			op.keep[rowNumbers] = true
			for _, c := range op.conjuncts {
				add(early, c.e.Columns())
			}
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
	o.numbered = true
	n, err := source.scan(p, slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return !early[name] }))
	if err != nil {
		return nil, nil, err
	}
	if n, err = apply(p, n, append(before, sort)); err != nil {
		return nil, nil, err
	}
	return &lateNode{p, n, o, late, p.describe("of these rows, columns %s", list(late))}, ops[i+1:], nil
}

func add(set map[string]bool, names []string) {
	for _, name := range names {
		set[name] = true
	}
}

// A lateNode adds columns to rows with numbers.
type lateNode struct {
	plan    *plan
	in      node
	source  *openedParquet
	columns []string
	meter   *meter
}

func (n *lateNode) workers() int { return n.in.workers() }

func (n *lateNode) run(ctx context.Context, f emit) error {
	return n.in.run(ctx, func(worker int, p part) error {
		start := time.Now()
		b, err := n.read(ctx, p.b)
		if err != nil {
			return failed("Parquet", quoted(n.source.files.Files()), err)
		}
		n.meter.add(b.Rows, start)
		return f(worker, part{b: b})
	})
}

// count adds the bytes of the columns in the row groups of the rows.
func (n *lateNode) count(ascending []int64) error {
	scan, err := n.source.files.Scan(parquetscan.Options{Columns: n.columns, NumberNames: true})
	if err != nil {
		return err
	}
	end := int64(0)
	for _, b := range scan.SplitByBytes(0) { // a bucket for each row group
		end += b.Rows
		within, _ := slices.BinarySearch(ascending, end)
		if ascending = ascending[within:]; within > 0 {
			n.plan.bytes.Add(b.Bytes)
		}
	}
	return nil
}

// compare notes the columns that are lists, and vectors in the schema.
func (n *lateNode) compare(b *column.Batch) {
	fields := n.source.fields
	for _, f := range b.Schema() {
		if becameList(fields[fields.Index(f.Name)], f) {
			n.plan.mu.Lock()
			n.plan.lists = append(n.plan.lists, f.Name)
			n.plan.mu.Unlock()
		}
	}
}

// becameList reports whether a vector, or one within another column, is a list now.
func becameList(was, is column.Field) bool {
	if was.Type.Kind == column.Vector {
		return is.Type.Kind == column.List
	}
	for i := range was.Fields {
		if becameList(was.Fields[i], is.Fields[i]) {
			return true
		}
	}
	return false
}

// read returns the rows with the columns, in place of the numbers.
func (n *lateNode) read(ctx context.Context, b *column.Batch) (*column.Batch, error) {
	numbers, err := column.Slice[int64](b.Column(rowNumbers))
	if err != nil {
		return nil, err
	}
	ascending := slices.Sorted(slices.Values(numbers))
	o := parquetscan.Options{Columns: n.columns, Lists: n.source.listsAmong(n.columns), NumberNames: true}
	read, err := n.source.files.Rows(ctx, o, ascending)
	if err != nil {
		return nil, err
	}
	n.compare(read)
	if err := n.count(ascending); err != nil {
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
