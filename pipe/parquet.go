// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/parquetscan"
)

// Parquet files as a source.

type parquetSource struct {
	patterns []string
	files    *parquetscan.Dataset // nil means patterns
}

func (s *parquetSource) open(ctx context.Context, config Config) (opened, error) {
	if s.files != nil {
		return newOpenedParquet(s.files, config.lists, func() error { return nil })
	}
	files, err := parquetscan.Open(ctx, s.patterns...)
	if err != nil {
		return nil, failed("Parquet", quoted(s.patterns), err)
	}
	o, err := newOpenedParquet(files, config.lists, files.Close)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return o, nil
}

type openedParquet struct {
	files    *parquetscan.Dataset
	fields   column.Schema
	filter   []parquetscan.Filter
	pushed   []conjunct // as filter
	selected []conjunct // evaluated while rows are read, before other columns of them are
	numbered bool       // rows have their numbers as a column rowNumbers
	narrows  []string   // columns that narrow tests
	lengths  []string   // columns of texts whose lengths are read in their place
	scanned  *parquetscan.Scan
	lists    []string // columns that are read as lists
	done     func() error
}

// newOpenedParquet returns a source, whose columns named in lists are read as lists, if it has them.
func newOpenedParquet(files *parquetscan.Dataset, lists []string, done func() error) (opened, error) {
	o := &openedParquet{files: files, done: done}
	if err := o.readSchema(); err != nil {
		return nil, err
	}
	for _, name := range lists {
		if o.fields.Index(name) >= 0 {
			o.lists = append(o.lists, name)
		}
	}
	if len(o.lists) == 0 {
		return o, nil
	}
	return o, o.readSchema()
}

// readSchema sets the columns of the files.
func (o *openedParquet) readSchema() error {
	scan, err := o.files.Scan(parquetscan.Options{Lists: o.lists, NumberNames: true})
	if err != nil {
		return failed("Parquet", quoted(o.files.Files()), err)
	}
	o.fields = scan.Schema()
	return nil
}

// listsAmong returns the columns among names that are read as lists.
func (o *openedParquet) listsAmong(names []string) []string {
	return slices.DeleteFunc(slices.Clone(o.lists), func(name string) bool { return !slices.Contains(names, name) })
}

func (o *openedParquet) schema() column.Schema { return o.fields }
func (o *openedParquet) ordered() bool         { return true }
func (o *openedParquet) close() error          { return o.done() }

// rowNumbers is the name of the column of the numbers of rows, which is no name of a program's column.
const rowNumbers = "row\x00"

// push accepts all conditions: comparisons with literals as a filter, which skips pages by statistics, the others as a
// selector, which spares other columns the pages without a selected row.
func (o *openedParquet) push(conditions []conjunct) (rest []conjunct) {
	for _, c := range conditions {
		bound, ok := c.program.Bound()
		f := filterOf(bound)
		if ok {
			_, err := o.files.Scan(parquetscan.Options{Columns: []string{}, Filter: f, NumberNames: true})
			ok = err == nil
		}
		if !ok {
			o.selected = append(o.selected, c)
			continue
		}
		o.filter, o.pushed = append(o.filter, f), append(o.pushed, c)
	}
	return nil
}

// selector returns the conditions that are no filter; nil if there are none.
func (o *openedParquet) selector() *parquetscan.Selector {
	if len(o.selected) == 0 {
		return nil
	}
	s := &parquetscan.Selector{}
	for _, c := range o.selected {
		for _, name := range c.e.Columns() {
			if !slices.Contains(s.Columns, name) {
				s.Columns = append(s.Columns, name)
			}
		}
	}
	s.New = func() func(b *column.Batch, rows []int32) ([]int32, error) {
		return func(b *column.Batch, rows []int32) (_ []int32, err error) {
			for i, c := range o.selected {
				if i == 0 {
					rows, err = c.program.Select(b, rows)
				} else {
					rows, err = c.program.Refine(b, rows)
				}
				if err != nil {
					return nil, c.from.wrapper()(err, b.Source)
				}
			}
			return rows, nil
		}
	}
	return s
}

// filterOf returns a bound as a filter of package parquetscan. Both compare exactly, and have the same order.
func filterOf(b expr.Bound) parquetscan.Filter {
	switch b.Op {
	case expr.OpIn:
		return parquetscan.In(b.Column, b.Values...)
	case expr.OpIsNull:
		return parquetscan.IsNull(b.Column)
	case expr.OpNotNull:
		return parquetscan.NotNull(b.Column)
	case expr.OpNotContains:
		return parquetscan.Not(parquetscan.Contains(b.Column, b.Values[0]))
	}
	compare := map[expr.Op]func(string, any) parquetscan.Filter{
		expr.OpEq: parquetscan.Eq, expr.OpNe: parquetscan.Ne, expr.OpLt: parquetscan.Lt, expr.OpLe: parquetscan.Le,
		expr.OpGt: parquetscan.Gt, expr.OpGe: parquetscan.Ge, expr.OpContains: parquetscan.Contains,
	}[b.Op]
	if compare == nil {
		return parquetscan.Filter{}
	}
	return compare(b.Column, b.Values[0])
}

// scan returns the rows that the pushed conditions select.
func (o *openedParquet) scan(p *plan, columns []string) (node, error) {
	if columns == nil {
		columns = []string{}
	}
	options := parquetscan.Options{
		Columns: columns, NumberNames: true, Workers: p.workers(), Selector: o.selector(), Narrow: o.narrows,
		Lengths: o.lengths,
	}
	if o.numbered {
		options.RowNumbers = rowNumbers
	}
	if len(o.filter) > 0 {
		options.Filter = parquetscan.And(o.filter...)
	}
	read := slices.Clone(columns)
	for _, c := range slices.Concat(o.pushed, o.selected) {
		read = append(read, c.e.Columns()...)
	}
	options.Lists = o.listsAmong(read)
	scan, err := o.files.Scan(options)
	if err != nil {
		return nil, failed("Parquet", quoted(o.files.Files()), err)
	}
	o.scanned = scan
	p.scans = append(p.scans, scan)
	n := &parquetNode{plan: p, scan: scan, goroutines: p.workers()}
	names := slices.Clone(columns)
	for i, name := range names {
		if slices.Contains(o.lengths, name) {
			names[i] = "length of " + name
		}
	}
	n.meter = p.describe("parquet %s: %s in %s, columns %s", files(o.files.Files()), counted(o.files.NumRows(), "row"),
		counted(o.files.NumRowGroups(), "row group"), list(names))
	if len(o.pushed) > 0 {
		p.lines = append(p.lines, p.indent+"  pushed: "+textOf(o.pushed))
	}
	if len(o.selected) > 0 {
		p.lines = append(p.lines, p.indent+"  selected: "+textOf(o.selected))
	}
	return n, nil
}

// narrow leaves out rows of the scan from now on.
func (o *openedParquet) narrow(f parquetscan.Filter) error { return o.scanned.Narrow(f) }

// files returns the names of files, shortened.
func files(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
	}
	return strings.Join(names, ", ")
}

// list returns names, "none" if there are none.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

type parquetNode struct {
	plan       *plan
	scan       *parquetscan.Scan
	goroutines int
	meter      *meter
}

func (n *parquetNode) workers() int { return n.goroutines }

// run reads all row groups.
func (n *parquetNode) run(ctx context.Context, f emit) error {
	for _, b := range n.scan.SplitByBytes(0) {
		n.plan.bytes.Add(b.Bytes)
	}
	last := make([]time.Time, n.goroutines)
	start := time.Now()
	for i := range last {
		last[i] = start
	}
	err := n.scan.Borrow(ctx, nil, func(worker int, b *column.Batch) error {
		n.meter.add(b.Rows, last[worker])
		err := f(worker, part{b: b})
		last[worker] = time.Now()
		return err
	})
	if e := new(Error); errors.As(err, &e) {
		return e // of a selector, with its verb and place
	}
	return err
}
