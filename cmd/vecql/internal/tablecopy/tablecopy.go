// SPDX-License-Identifier: Apache-2.0

// Package tablecopy copies the rows of a table to another table, of the same or of another cluster, with the write time
// and the time to live of each column.
//
// A row whose columns have one write time and one time to live is one INSERT. Other rows are one INSERT for each pair,
// and an UPDATE for each pair of elements of a set, a map or a user-defined type. Writes carry the write times of the
// source, so that copying a row twice has the effect of copying it once, and a newer value of the target stays. Values
// are the bytes that the source has sent.
package tablecopy

import (
	"context"
	"errors"
	"sync"

	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/tablescan"
)

// A Config configures a copy.
type Config struct {
	Columns []string         // to copy, beside the primary key; nil means all
	Where   string           // condition of the SELECT, without the word WHERE; empty means all rows
	NoTimes bool             // do not keep write times and times to live
	Scan    tablescan.Config // of the source, with the checkpoint to resume
	Bulk    bulk.Options     // of the target: rates and bounds
}

// ErrCounters means that a table has counters, whose values can only be incremented: copying a row twice would add to
// them twice.
var ErrCounters = errors.New("tables of counters cannot be copied")

// A Copy copies a table.
type Copy struct {
	plan   *Plan
	scan   *tablescan.Scan
	writer *Writer
	gate   sync.RWMutex // held for reading while rows are passed to the writer
}

// A Report is the result of a copy so far.
type Report struct {
	Rows    int64 // read and passed on, earlier runs included
	Written uint64
	Retries uint64
	// Latest counts lists whose elements have several write times or times to live. Their elements were written with the
	// latest ones, because CQL cannot write them one by one.
	Latest int64
	// Untimed are the columns whose write times the source does not report: collections before Cassandra 5.0. They are
	// written with the latest write time of their row.
	Untimed []string
}

// New prepares a copy.
func New(ctx context.Context, source, target clustertable.Table, cfg Config) (*Copy, error) {
	p, err := newPlan(source.Metadata, target.Metadata, cfg)
	if err != nil {
		return nil, err
	}
	c := &Copy{plan: p}
	cfg.Scan.Cells = true // a copy of bytes
	text, err := p.SelectTimes(ctx, source, cfg.Where)
	if err != nil {
		return nil, err
	}
	if c.scan, err = tablescan.New(ctx, source.Session, text, cfg.Scan); err != nil {
		return nil, err
	}
	p.setStatements(target)
	c.writer, err = NewWriter(ctx, target, p, cfg.Bulk)
	return c, err
}

// Run copies the rows that are left.
func (c *Copy) Run(ctx context.Context) error {
	return c.scan.Run(ctx, func(_ int, b *column.Batch) error { return c.write(ctx, b) })
}

// write passes a copy of a batch, which belongs to the scan, to the writer.
func (c *Copy) write(ctx context.Context, b *column.Batch) error {
	c.gate.RLock()
	defer c.gate.RUnlock()
	rows := b.Clone()
	rows.Source = column.Source{}
	return c.writer.Write(ctx, rows)
}

// Flush waits until all rows that were read are written, and returns the checkpoint of that moment.
func (c *Copy) Flush(ctx context.Context) (tablescan.Checkpoint, error) {
	c.gate.Lock() // else rows that are read meanwhile prolong the flush
	defer c.gate.Unlock()
	checkpoint := c.scan.Checkpoint()
	return checkpoint, c.writer.Flush(ctx)
}

// Close waits until all rows are written and ends the writer. When it returns nil, the checkpoint of all that was read
// is valid.
func (c *Copy) Close(ctx context.Context) (tablescan.Checkpoint, error) {
	checkpoint := c.scan.Checkpoint()
	return checkpoint, c.writer.Close(ctx)
}

// Progress returns the progress of reading.
func (c *Copy) Progress() tablescan.Progress { return c.scan.Progress() }

// Stats returns the statistics of writing.
func (c *Copy) Stats() bulk.Stats { return c.writer.Stats() }

// Checkpoint returns what was read, whose rows need not be written: before Run, the start of the copy.
func (c *Copy) Checkpoint() tablescan.Checkpoint { return c.scan.Checkpoint() }

// Report returns the result so far.
func (c *Copy) Report() Report {
	s := c.writer.Stats()
	return Report{
		Rows: c.scan.Progress().Rows, Written: s.Rows, Retries: s.Retries, Latest: c.writer.late.Load(),
		Untimed: c.plan.untimed,
	}
}

// Plan returns the columns, and what the copy cannot carry.
func (c *Copy) Plan() *Plan { return c.plan }
