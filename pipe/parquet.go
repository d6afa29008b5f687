// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"errors"
	"fmt"
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

func (s *parquetSource) open(ctx context.Context, _ Config) (opened, error) {
	if s.files != nil {
		return newOpenedParquet(s.files, func() error { return nil })
	}
	files, err := parquetscan.Open(ctx, s.patterns...)
	if err != nil {
		return nil, failed("Parquet", quoted(s.patterns), err)
	}
	o, err := newOpenedParquet(files, files.Close)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return o, nil
}

type openedParquet struct {
	files  *parquetscan.Dataset
	fields column.Schema
	filter []parquetscan.Filter
	pushed []conjunct
	done   func() error
}

func newOpenedParquet(files *parquetscan.Dataset, done func() error) (opened, error) {
	scan, err := files.Scan(parquetscan.Options{})
	if err != nil {
		return nil, failed("Parquet", quoted(files.Files()), err)
	}
	return &openedParquet{files: files, fields: scan.Schema(), done: done}, nil
}

func (o *openedParquet) schema() column.Schema { return o.fields }
func (o *openedParquet) ordered() bool         { return true }
func (o *openedParquet) close() error          { return o.done() }

func (o *openedParquet) push(conditions []conjunct) (rest []conjunct) {
	for _, c := range conditions {
		bound, ok := c.program.Bound()
		f := filterOf(bound)
		if ok {
			_, err := o.files.Scan(parquetscan.Options{Columns: []string{}, Filter: f})
			ok = err == nil
		}
		if !ok {
			rest = append(rest, c)
			continue
		}
		o.filter, o.pushed = append(o.filter, f), append(o.pushed, c)
	}
	return rest
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
	}
	compare := map[expr.Op]func(string, any) parquetscan.Filter{
		expr.OpEq: parquetscan.Eq, expr.OpNe: parquetscan.Ne, expr.OpLt: parquetscan.Lt, expr.OpLe: parquetscan.Le,
		expr.OpGt: parquetscan.Gt, expr.OpGe: parquetscan.Ge,
	}[b.Op]
	if compare == nil || len(b.Values) != 1 {
		return parquetscan.Filter{}
	}
	return compare(b.Column, b.Values[0])
}

// scan returns the rows that the pushed conditions select.
func (o *openedParquet) scan(p *plan, columns []string) (node, error) {
	if columns == nil {
		columns = []string{}
	}
	options := parquetscan.Options{Columns: columns, Workers: p.workers()}
	if len(o.filter) > 0 {
		options.Filter = parquetscan.And(o.filter...)
	}
	scan, err := o.files.Scan(options)
	if err != nil {
		return nil, failed("Parquet", quoted(o.files.Files()), err)
	}
	n := &parquetNode{plan: p, scan: scan, goroutines: p.workers()}
	n.meter = p.describe("parquet %s: %d rows in %d row groups, columns %s", files(o.files.Files()), o.files.NumRows(),
		o.files.NumRowGroups(), list(columns))
	if len(o.pushed) > 0 {
		p.lines = append(p.lines, p.indent+"  pushed: "+textOf(o.pushed))
	}
	return n, nil
}

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

func (n *parquetNode) run(ctx context.Context, f emit) error {
	buckets := n.scan.SplitByBytes(0)
	for _, b := range buckets {
		n.plan.bytes.Add(b.Bytes)
	}
	last := make([]time.Time, n.goroutines)
	start := time.Now()
	for i := range last {
		last[i] = start
	}
	return n.scan.Borrow(ctx, buckets, func(worker int, b *column.Batch) error {
		n.meter.add(b.Rows, last[worker])
		err := f(worker, part{b: b})
		last[worker] = time.Now()
		return err
	})
}
