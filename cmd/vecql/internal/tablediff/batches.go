// SPDX-License-Identifier: Apache-2.0

package tablediff

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/tablescan"
)

// Comparison of batches, such as the rows of files, with a table.

// A Batches compares batches with a table: each row must be in the table, with the values that writing the batch to an
// empty table results in.
type Batches struct {
	cfg    Config
	target clustertable.Table
	job    string
	resume int64 // rows that are done

	schema column.Schema // of the fields below
	layout *layout
	plan   *codec.RowPlan
	query  rowQuery // of a row
	static rowQuery // of a partition without rows; without columns if there are no static ones

	seed maphash.Seed
	keys []uint64 // hashes of the keys of all rows; nil with Config.AllowExtra

	results
	done int64 // rows; the mutex of results is held
}

// NewBatches prepares a comparison with a table. source is the name of the input, which a checkpoint stores.
func NewBatches(source string, target clustertable.Table, cfg Config) (*Batches, error) {
	d := &Batches{cfg: cfg.withDefaults(), target: target, seed: maphash.MakeSeed()}
	d.cfg.Workers = cmp.Or(cfg.Workers, 64)
	d.job = fmt.Sprintf("compare %s with %s: %s", source, target.Name(), strings.Join(cfg.Columns, ", "))
	if c := cfg.Checkpoint; c != nil {
		d.resume, d.report = c.Done, c.Report
		return d, c.check(d.job)
	}
	return d, nil
}

// prepare makes the plan for the columns of a batch.
func (d *Batches) prepare(ctx context.Context, schema column.Schema) error {
	cfg, t := d.cfg, d.target.Metadata
	if cfg.Columns == nil {
		for _, f := range schema {
			cfg.Columns = append(cfg.Columns, f.Name)
		}
	}
	cfg.WriteTimes = false
	l, err := newLayout(t, t, cfg)
	if err != nil {
		return err
	}
	var all, statics []int
	hasStatics := false
	for _, c := range t.Columns {
		hasStatics = hasStatics || c.Kind == cql.ColumnStatic
	}
	for i, c := range l.columns {
		all = append(all, i)
		if c.Kind == cql.ColumnStatic || c.Kind == cql.ColumnPartitionKey {
			statics = append(statics, i)
		}
	}
	if d.plan, err = clustertable.NewRowPlan(l.columns, schema); err != nil {
		return err
	}
	if d.query, err = d.prepareQuery(ctx, l, schema, l.keys, all, ""); err != nil {
		return err
	}
	if hasStatics {
		if d.static, err = d.prepareQuery(ctx, l, schema, len(l.keyNames), statics, " LIMIT 1"); err != nil {
			return err
		}
	}
	d.layout, d.schema = l, schema
	return nil
}

// A rowQuery reads columns of the row of a key.
type rowQuery struct {
	statement *vecql.RowStatement
	columns   []int // of the layout
}

// prepareQuery returns the query of columns by the first keys columns.
func (d *Batches) prepareQuery(ctx context.Context, l *layout, schema column.Schema, keys int, columns []int,
	rest string,
) (rowQuery, error) {
	all := clustertable.Quoted(clustertable.Names(l.columns))
	names := make([]string, len(columns))
	for k, i := range columns {
		names[k] = all[i]
	}
	where := strings.Join(all[:keys], " = ? AND ") + " = ?"
	q := d.target.Session.Query(d.target.Select(names, where) + rest)
	if d.cfg.Query != nil {
		d.cfg.Query(q)
	}
	statement, err := q.PrepareRows(ctx, schema)
	return rowQuery{statement, columns}, err
}

// Add compares the rows of a batch. After an error the batch may be added again only to another Batches, which resumes.
func (d *Batches) Add(ctx context.Context, b *column.Batch) error {
	if schema := b.Schema(); d.layout == nil || !reflect.DeepEqual(schema, d.schema) {
		if err := d.prepare(ctx, schema); err != nil {
			return err
		}
	}
	if err := d.plan.Check(b); err != nil {
		return err
	}
	first := len(d.keys)
	if !d.cfg.AllowExtra {
		d.keys = append(d.keys, make([]uint64, b.Rows)...)
	}
	skip := int(min(max(d.resume-d.done, 0), int64(b.Rows)))
	var next atomic.Int64
	workers, ctx := errgroup.WithContext(ctx)
	results := make([]Report, min(d.cfg.Workers, b.Rows))
	for w := range results {
		workers.Go(func() error {
			r := newRowDiff(d, d.layout, d.plan, b, &results[w])
			for i := int(next.Add(1)) - 1; i < b.Rows; i = int(next.Add(1)) - 1 {
				if err := r.add(ctx, i, first, i < skip); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range results {
		d.report.add(&results[i], d.cfg.Shown)
	}
	d.done += int64(b.Rows)
	return nil
}

// A rowDiff compares rows of a batch, one at a time.
type rowDiff struct {
	diff   *Batches
	layout *layout
	batch  *column.Batch
	result *Report
	row    clustertable.Row // of the batch
	found  [][]byte         // of the table
}

func newRowDiff(d *Batches, l *layout, plan *codec.RowPlan, b *column.Batch, result *Report) *rowDiff {
	row := clustertable.Row{Plan: plan, Cells: make([][]byte, len(l.columns))}
	return &rowDiff{diff: d, layout: l, batch: b, result: result, row: row}
}

// add compares a row, and stores the hash of its key.
func (r *rowDiff) add(ctx context.Context, row, first int, skip bool) error {
	if err := r.row.Read(r.batch, row); err != nil {
		return err
	}
	if !r.diff.cfg.AllowExtra {
		r.diff.keys[first+row] = maphash.String(r.diff.seed, keyOf(r.row.Cells[:r.layout.keys]))
	}
	if skip {
		return nil
	}
	query := r.diff.query
	if isNil := func(c []byte) bool { return c == nil }; slices.ContainsFunc(r.row.Cells[:r.layout.keys], isNil) {
		query = r.diff.static
		if query.columns == nil || slices.ContainsFunc(r.row.Cells[:len(r.layout.keyNames)], isNil) {
			r.result.Rows++
			r.result.Different++
			r.note("not compared, because its primary key has NULL")
			return nil
		}
	}
	for failures := 0; ; {
		found, err := r.compare(ctx, row, query)
		if err == nil {
			if r.result.Rows++; !found {
				r.result.Missing++
				r.note(Missing)
			}
			return nil
		}
		if failures++; !mayRepeat(ctx, err, failures, r.diff.cfg.Retries) {
			return err
		}
	}
}

// compare reads the row of the table and compares its values.
func (r *rowDiff) compare(ctx context.Context, row int, query rowQuery) (found bool, err error) {
	it := query.statement.Query(r.batch, row).Iter(ctx)
	r.found = slices.Grow(r.found[:0], len(it.Columns()))[:len(it.Columns())]
	if !it.NextRaw(r.found) {
		return false, it.Close()
	}
	var what []string
	for k, i := range query.columns {
		c := r.layout.columns[i]
		if i >= r.layout.keys && !equalFile(c, r.row.Cells[i], r.found[k], r.diff.cfg.Tolerance) {
			what = append(what, describe(c, r.row.Cells[i], r.found[k]))
		}
	}
	if err := it.Close(); err != nil {
		return false, err
	}
	if what != nil {
		r.result.Different++
		r.note(strings.Join(what, "; "))
	}
	return true, nil
}

func (r *rowDiff) note(what string) {
	r.result.note(r.layout, r.row.Cells, what, r.diff.cfg.Shown)
}

// Finish looks for rows of the table that no batch has, unless Config.AllowExtra is set. It keeps eight bytes for each
// row of the batches. A row whose key has the same hash of 64 bits as another one is not found.
func (d *Batches) Finish(ctx context.Context) error {
	if d.cfg.AllowExtra {
		return nil
	}
	slices.Sort(d.keys)
	l, err := newLayout(d.target.Metadata, d.target.Metadata, Config{Columns: []string{}})
	if err != nil {
		return err
	}
	text := d.target.Select([]string{l.names()}, "")
	scan, err := tablescan.New(ctx, d.target.Session, text, tablescan.Config{Query: d.cfg.Query})
	if err != nil {
		return err
	}
	var extra Report
	if err := scan.Run(ctx, func(_ int, b *column.Batch) error { return d.findExtra(l, b, &extra) }); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.report.add(&extra, d.cfg.Shown)
	return nil
}

// findExtra adds the rows of a batch of keys that no batch of the source has.
func (d *Batches) findExtra(l *layout, b *column.Batch, extra *Report) error {
	plan, err := clustertable.NewRowPlan(l.columns, b.Schema())
	if err != nil {
		return err
	}
	r := newRowDiff(d, l, plan, b, extra)
	for row := range b.Rows {
		if err := r.row.Read(b, row); err != nil {
			return err
		}
		if _, found := slices.BinarySearch(d.keys, maphash.String(d.seed, keyOf(r.row.Cells))); found {
			continue
		}
		d.mu.Lock()
		extra.Extra++
		r.note(Extra)
		d.mu.Unlock()
	}
	return nil
}

// Checkpoint returns how many rows are done.
func (d *Batches) Checkpoint() Checkpoint {
	d.mu.Lock()
	defer d.mu.Unlock()
	return Checkpoint{Job: d.job, Done: max(d.done, d.resume), Report: d.report.sorted()}
}
