// SPDX-License-Identifier: Apache-2.0

// Package parquet has the rows of Parquet files as a source of package pipe.
package parquet

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/parquetscan"
)

// The rows of files, and what package pipe may ask of them: the methods implement its interfaces, in source.go there.

// Rows are the rows of a Dataset in one run.
type Rows struct {
	files    *parquetscan.Dataset
	all      *parquetscan.Scan // of all columns, for their types and statistics
	fields   column.Schema
	lists    []string // columns that are read as lists
	done     func() error
	filter   []parquetscan.Filter
	tested   []string // columns of filter and selector
	selector *parquetscan.Selector
	numbers  string   // the column of the numbers of rows; "" means none
	narrows  []string // columns that narrow tests
	begin    parquetscan.Beginning
	lengths  []string // columns of texts whose lengths are read in their place
	scanned  *parquetscan.Scan
	bytes    atomic.Int64

	mu     sync.Mutex
	ragged []string // columns of ReadRows that are lists, but vectors in the schema; guarded by mu during Run
}

// New returns the rows of files, whose columns named in lists are read as lists, if the files have them. Close calls
// done.
func New(files *parquetscan.Dataset, lists []string, done func() error) (*Rows, error) {
	r := &Rows{files: files, done: done}
	if err := r.readSchema(); err != nil {
		return nil, err
	}
	for _, name := range lists {
		if r.fields.Index(name) >= 0 {
			r.lists = append(r.lists, name)
		}
	}
	if len(r.lists) == 0 {
		return r, nil
	}
	return r, r.readSchema()
}

// readSchema sets the columns of the files.
func (r *Rows) readSchema() (err error) {
	if r.all, err = r.files.Scan(parquetscan.Options{Lists: r.lists, NumberNames: true}); err != nil {
		return err
	}
	r.fields = r.all.Schema()
	return nil
}

// listsAmong returns the columns among names that are read as lists.
func (r *Rows) listsAmong(names []string) []string {
	return slices.DeleteFunc(slices.Clone(r.lists), func(name string) bool { return !slices.Contains(names, name) })
}

func (r *Rows) Schema() column.Schema        { return r.fields }
func (r *Rows) NumRows() int64               { return r.files.NumRows() }
func (r *Rows) Close() error                 { return r.done() }
func (r *Rows) Bytes() int64                 { return r.bytes.Load() }
func (r *Rows) NarrowBy(columns []string)    { r.narrows = columns }
func (r *Rows) ReadLengths(columns []string) { r.lengths = append(r.lengths, columns...) }
func (r *Rows) NumberRows(column string)     { r.numbers = column }

// BeginWith begins with the row groups that have the least values of a column, or the greatest.
func (r *Rows) BeginWith(column string, greatest bool) {
	r.begin = parquetscan.Beginning{Column: column, Greatest: greatest}
}

// String returns the names of the files, shortened.
func (r *Rows) String() string {
	names := r.files.Files()
	if len(names) > 3 {
		return fmt.Sprintf("parquet %s and %d more", names[0], len(names)-1)
	}
	return "parquet " + strings.Join(names, ", ")
}

// Filter accepts the conditions that filters of files can express. They skip row groups and pages by statistics.
func (r *Rows) Filter(b expr.Bound) bool {
	f := filterOf(b)
	if _, err := r.files.Scan(parquetscan.Options{Columns: []string{}, Filter: f, NumberNames: true}); err != nil {
		return false
	}
	r.filter, r.tested = append(r.filter, f), append(r.tested, b.Column)
	return true
}

// Select spares other columns the pages without a selected row.
func (r *Rows) Select(columns []string, newSelect func() func(*column.Batch, []int32) ([]int32, error)) {
	r.selector = &parquetscan.Selector{Columns: columns, New: newSelect}
	r.tested = append(r.tested, columns...)
}

// Scan prepares the read.
func (r *Rows) Scan(columns []string, workers int) (line string, goroutines int, err error) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	options := parquetscan.Options{
		Columns: columns, NumberNames: true, Workers: workers, Selector: r.selector, Narrow: r.narrows, Lengths: r.lengths,
		RowNumbers: r.numbers, Begin: r.begin,
	}
	if columns == nil {
		options.Columns = []string{}
	}
	if len(r.filter) > 0 {
		options.Filter = parquetscan.And(r.filter...)
	}
	options.Lists = r.listsAmong(slices.Concat(columns, r.tested))
	r.scanned, err = r.files.Scan(options)
	return r.describe(columns), workers, err
}

// describe returns the line of Explain.
func (r *Rows) describe(columns []string) string {
	names := make([]string, len(columns))
	for i, name := range columns {
		if names[i] = name; slices.Contains(r.lengths, name) {
			names[i] = "length of " + name
		}
	}
	if len(names) == 0 {
		names = []string{"none"}
	}
	return fmt.Sprintf("%v: %s in %s, columns %s", r, counted(r.files.NumRows(), "row"),
		counted(int64(r.files.NumRowGroups()), "row group"), strings.Join(names, ", "))
}

// counted returns a number with its noun.
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Run reads all row groups.
func (r *Rows) Run(ctx context.Context, f func(worker int, b *column.Batch) error) error {
	for _, b := range r.scanned.SplitByBytes(0) {
		r.bytes.Add(b.Bytes)
	}
	return r.scanned.Borrow(ctx, nil, f)
}

// Narrow replaces the filter of the scan beside the filter of Filter.
func (r *Rows) Narrow(all [][]expr.Bound) error {
	filters := make([]parquetscan.Filter, len(all))
	for i, bounds := range all {
		alternatives := make([]parquetscan.Filter, len(bounds))
		for k, b := range bounds {
			alternatives[k] = filterOf(b)
		}
		filters[i] = joined(parquetscan.Or, alternatives)
	}
	return r.scanned.Narrow(joined(parquetscan.And, filters))
}

// joined returns several filters as one.
func joined(join func(...parquetscan.Filter) parquetscan.Filter, filters []parquetscan.Filter) parquetscan.Filter {
	if len(filters) == 1 {
		return filters[0]
	}
	return join(filters...)
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
	return map[expr.Op]func(string, any) parquetscan.Filter{
		expr.OpEq: parquetscan.Eq, expr.OpNe: parquetscan.Ne, expr.OpLt: parquetscan.Lt, expr.OpLe: parquetscan.Le,
		expr.OpGt: parquetscan.Gt, expr.OpGe: parquetscan.Ge, expr.OpContains: parquetscan.Contains,
	}[b.Op](b.Column, b.Values[0])
}
