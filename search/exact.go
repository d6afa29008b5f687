// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/tablescan"
	"github.com/vecql/vecql/vector"
)

// Exact search of a table, by a scan.

// An exactRequest is an exact search of a table.
type exactRequest struct {
	columns []string    // of the result
	filter  []expr.Expr // all must be true
	queries [][]float32
	k       int
	metric  vector.Metric
	cutoff
	consistency *cql.Consistency // nil means the one of the session
	workers     int              // ranges that are read at a time; 0 means the default of package tablescan
	progress    func(rows int64) // called after each page, by one goroutine at a time; nil means none
}

// exact finds the rows of a table that are nearest to queries. If conditions of the filter state the partition key, it
// reads these partitions, else all ranges of tokens, several at a time, and survives the loss of nodes as package
// tablescan does.
//
// Hits are ordered by distance, then by the cells of their primary keys, so that the result does not depend on the
// order in which pages arrive: AddNear returns also the rows that are as far as the k-th nearest, and the keeper
// chooses among these by their keys.
func (t *table) exact(ctx context.Context, session *vecql.Session, req exactRequest) (*found, error) {
	seek, err := t.newSeeker(&req)
	if err != nil {
		return nil, err
	}
	source := tablescan.Source{Session: session, Table: t.inCQL(), Query: req.setOptions}
	rows, err := source.Open(ctx)
	if err != nil {
		return nil, errorf("exact search of %s: %w", t.target, err)
	}
	defer func() { _ = rows.Close() }()
	read := t.columnsToRead(req.columns, req.filter)
	if err := t.setColumns(seek, &req, rows.Schema(), read); err != nil {
		return nil, err
	}
	for _, b := range boundsOf(req.filter, seek.schema) {
		rows.Filter(b)
	}
	_, goroutines, err := rows.Scan(read, req.workers)
	if err == nil && len(req.queries) > 0 {
		err = seek.scan(ctx, rows, goroutines, req.progress)
	}
	if err != nil {
		return nil, errorf("exact search of %s: %w", t.target, err)
	}
	f, err := seek.found()
	if err != nil {
		return nil, err
	}
	f.batch, err = f.batch.Select(req.columns...)
	if err != nil {
		return nil, errorf("%w", err)
	}
	return f, nil
}

// newSeeker checks the queries against the table.
func (t *table) newSeeker(req *exactRequest) (*seeker, error) {
	for i, q := range req.queries {
		if len(q) != t.dim {
			return nil, errorf("%w", &vector.DimensionError{What: fmt.Sprintf("query %d", i), Got: len(q), Want: t.dim})
		}
	}
	seek, err := newSeeker(req.queries, req.k, req.metric)
	if err != nil {
		return nil, err
	}
	seek.cutoff = req.cutoff
	return seek, nil
}

// setOptions sets the options of a request of the scan. The requests are reads, which may be sent again.
func (req *exactRequest) setOptions(q *vecql.Query) {
	q.Idempotent(true)
	if req.consistency != nil {
		q.Consistency(*req.consistency)
	}
}

// columnsToRead returns the columns of the result, of the filter, the primary key and the vectors, in the order of the
// table.
func (t *table) columnsToRead(columns []string, filter []expr.Expr) (names []string) {
	needed := append(t.keyNames(), t.column)
	needed = append(needed, columns...)
	for _, e := range filter {
		needed = append(needed, e.Columns()...)
	}
	for _, name := range t.meta.OrderedColumns {
		if slices.Contains(needed, name) {
			names = append(names, name)
		}
	}
	return names
}

// setColumns sets the schema of the batches and what is kept of their rows: the columns of the result and the key.
func (t *table) setColumns(seek *seeker, req *exactRequest, all column.Schema, read []string) error {
	var schema column.Schema
	for _, name := range read {
		i, err := indexOfField(all, name)
		if err != nil {
			return err
		}
		schema = append(schema, all[i])
	}
	if err := seek.setSchema(schema, t.column, req.filter); err != nil {
		return err
	}
	var kept column.Schema
	for i, f := range schema {
		if t.isKey(f.Name) || slices.Contains(req.columns, f.Name) {
			seek.columns = append(seek.columns, i)
			kept = append(kept, f)
		}
	}
	plan, err := newCellPlan(t.infosOf(t.keyNames()), kept)
	if err != nil {
		return err
	}
	seek.kept.key = plan.append
	return nil
}

// boundsOf returns the conditions of a filter that a scan may evaluate.
func boundsOf(filter []expr.Expr, schema column.Schema) (bounds []expr.Bound) {
	for _, e := range filter {
		for _, conjunct := range expr.Conjuncts(e) {
			p, err := expr.Compile(conjunct, schema)
			if err != nil { // as a part of the filter it has a type that it lacks alone
				continue
			}
			if b, ok := p.Bound(); ok {
				bounds = append(bounds, b)
			}
		}
	}
	return bounds
}

// scan adds the rows of a table.
func (s *seeker) scan(ctx context.Context, rows *tablescan.SourceRows, goroutines int, progress func(int64)) error {
	s.workers = max(1, runtime.GOMAXPROCS(0)/goroutines)
	scratches := make([]scratch, goroutines)
	var mu sync.Mutex
	return rows.Run(ctx, func(worker int, b *column.Batch) error {
		if err := s.add(ctx, &scratches[worker], b, 0); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if s.read += int64(b.Rows); progress != nil {
			progress(s.read)
		}
		return nil
	})
}

// nullCell is the length of a NULL (native_protocol_v5.spec, section 3).
const nullCell = -1

// A cellPlan encodes the columns of rows as cells.
type cellPlan struct {
	plan  *codec.RowPlan
	cells int
}

func newCellPlan(infos []cql.ColumnInfo, schema column.Schema) (*cellPlan, error) {
	plan, err := codec.NewRowPlan(infos, schema)
	if err != nil {
		return nil, errorf("%w", err)
	}
	return &cellPlan{plan, len(infos)}, nil
}

// append appends the cells of a row, a [bytes] each.
func (p *cellPlan) append(dst []byte, b *column.Batch, row int) (_ []byte, err error) {
	if err := p.plan.Check(b); err != nil {
		return dst, err
	}
	for i := range p.cells {
		if dst, err = p.plan.Append(dst, b, row, i, nullCell); err != nil {
			return dst, err
		}
	}
	return dst, nil
}
