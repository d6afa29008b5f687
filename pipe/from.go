// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
)

// Sources of other packages: their batches are checked, and their rows numbered.

type foreignSource[R Rows] struct{ Source[R] }

func (s foreignSource[R]) open(ctx context.Context, _ Config) (opened, error) {
	verb, text := s.Label()
	rows, err := s.Open(ctx)
	if err != nil {
		return nil, failed(verb, text, err)
	}
	in := &input{verb: verb, text: text}
	in.rows = &foreignRows{Rows: rows, failed: in.failed}
	return in, nil
}

// foreignRows are Rows of another package, with no ability but a Filterer's.
type foreignRows struct {
	Rows
	failed     func(error) error
	fields     column.Schema // that are read
	goroutines int
	numbers    atomic.Int64
}

func (r *foreignRows) Filter(b expr.Bound) bool {
	f, ok := r.Rows.(Filterer)
	return ok && f.Filter(b)
}

func (r *foreignRows) Scan(columns []string, workers int) (line string, goroutines int, err error) {
	all := r.Schema()
	for _, name := range columns {
		r.fields = append(r.fields, all[all.Index(name)])
	}
	line, r.goroutines, err = r.Rows.Scan(columns, workers)
	if err == nil && r.goroutines < 1 {
		err = fmt.Errorf("the source has %d goroutines, want at least 1", r.goroutines)
	}
	return line, r.goroutines, err
}

// Run numbers the rows as they come.
func (r *foreignRows) Run(ctx context.Context, f func(worker int, b *column.Batch) error) error {
	return r.failed(r.Rows.Run(ctx, func(worker int, b *column.Batch) error {
		if err := r.check(worker, b); err != nil {
			return err
		}
		rows := int64(b.Rows)
		numbered := column.Batch{Columns: b.Columns[:len(r.fields)], Rows: b.Rows, Source: b.Source}
		numbered.Source.FirstRow = r.numbers.Add(rows) - rows
		return f(worker, &numbered)
	}))
}

// check returns an error unless a batch has the columns of Scan.
func (r *foreignRows) check(worker int, b *column.Batch) error {
	switch {
	case worker < 0 || worker >= r.goroutines:
		return fmt.Errorf("the source passed a batch as goroutine %d, want 0 to %d", worker, r.goroutines-1)
	case b == nil:
		return errors.New("the source passed no batch")
	case len(b.Columns) < len(r.fields):
		return fmt.Errorf("the source passed a batch of %d columns, want %d", len(b.Columns), len(r.fields))
	}
	for i := range r.fields {
		c, want := &b.Columns[i], r.fields[i].Type
		if c.Type.Dim == 0 || want.Dim == 0 { // unknown
			want.Dim = c.Type.Dim
		}
		if c.Name != r.fields[i].Name || c.Type != want {
			return fmt.Errorf("the source passed column %d as %q %v, want %q %v", i, c.Name, c.Type, r.fields[i].Name, want)
		}
	}
	return nil
}
