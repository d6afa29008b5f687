// SPDX-License-Identifier: Apache-2.0

// Package tablecopy copies the rows of a table to another table, of the same or of another cluster, with the write time
// and the time to live of each column.
//
// A row whose columns have one write time and one time to live is one INSERT. Other rows are one INSERT for each pair.
// Writes carry the write times of the source, so that copying a row twice has the effect of copying it once, and a
// newer value of the target stays.
package tablecopy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/clustertable"
	"github.com/vecql/vecql/internal/cqltext"
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
	source, target clustertable.Table
	plan           *plan
	scan           *tablescan.Scan
	rows           *bulk.Writer
	statics        *bulk.Writer // of partitions without rows; nil without static columns

	gate sync.RWMutex // held for reading while rows are passed to the writers
	mu   sync.Mutex
	late int64 // see Report.Latest
}

// A Report is the result of a copy so far.
type Report struct {
	Rows    int64 // read and passed on, those of earlier runs included
	Written uint64
	Retries uint64
	// Latest counts collections whose elements have several write times or times to live. Their elements were written
	// with the latest ones.
	Latest int64
	// Untimed are the columns whose write times the source does not report: collections before Cassandra 5.0. They are
	// written with the latest write time of their row.
	Untimed []string
}

// New prepares a copy.
func New(ctx context.Context, source, target clustertable.Table, cfg Config) (*Copy, error) {
	if slices.Contains(source.Metadata.Flags, "counter") || hasCounter(source.Metadata) {
		return nil, fmt.Errorf("%w: %s", ErrCounters, source.Name())
	}
	p, err := newPlan(source.Metadata, target.Metadata, cfg)
	if err != nil {
		return nil, err
	}
	c := &Copy{source: source, target: target, plan: p}
	text := func() string { return p.selectText(source, cfg.Where) }
	if c.scan, err = tablescan.New(ctx, source.Session, text(), cfg.Scan); refused(err) && p.dropCollectionTimes() {
		c.scan, err = tablescan.New(ctx, source.Session, text(), cfg.Scan)
	}
	if err != nil {
		return nil, err
	}
	return c, c.openWriters(cfg.Bulk)
}

// refused reports whether the server does not accept a statement.
func refused(err error) bool { return err != nil && vecql.ErrorClassOf(err) == vecql.ClassInvalid }

func hasCounter(t *vecql.TableMetadata) bool {
	for _, c := range t.Columns {
		if c.Type.Type() == vecql.TypeCounter {
			return true
		}
	}
	return false
}

// openWriters opens the writers of the target.
func (c *Copy) openWriters(o bulk.Options) (err error) {
	o.AllowMissing, o.RefuseExtra = true, true
	rows := o
	if !c.plan.noTimes {
		rows.TTLColumn, rows.TimestampColumn = c.plan.ttl, c.plan.writeTime
	}
	if c.rows, err = bulk.Insert(c.target.Session, c.target.CQL(), rows); err != nil {
		return err
	}
	if text := c.plan.staticText(c.target); text != "" {
		o.AllowMissing, o.RefuseExtra = false, false
		if c.statics, err = bulk.New(c.target.Session, text, o); err != nil {
			_ = c.rows.Close(context.Background()) // it has no rows
			return err
		}
	}
	return nil
}

// Run copies the rows that are left. When save is not nil, it is called every interval with a checkpoint whose rows are
// written. After an error of Run, Close stores nothing further.
func (c *Copy) Run(ctx context.Context, interval time.Duration, save func(tablescan.Checkpoint) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var saver sync.WaitGroup
	ended := make(chan struct{})
	if save != nil {
		saver.Go(func() {
			if err := c.saveEvery(ctx, ended, interval, save); err != nil {
				cancel(err)
			}
		})
	}
	err := c.scan.Run(ctx, func(_ int, b *column.Batch) error { return c.write(ctx, b) })
	close(ended)
	saver.Wait()
	return err
}

// saveEvery saves a checkpoint every interval until the copy has ended.
func (c *Copy) saveEvery(ctx context.Context, ended <-chan struct{}, interval time.Duration,
	save func(tablescan.Checkpoint) error,
) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			checkpoint, err := c.Flush(ctx)
			if err == nil {
				err = save(checkpoint)
			}
			if err != nil {
				return err
			}
		case <-ended:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// write passes a batch of the source to the writers.
func (c *Copy) write(ctx context.Context, b *column.Batch) error {
	c.gate.RLock()
	defer c.gate.RUnlock()
	rows, statics, late, err := c.plan.split(b)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.late += late
	c.mu.Unlock()
	if rows != nil {
		if err := c.rows.Write(ctx, rows); err != nil {
			return err
		}
	}
	if statics != nil {
		return c.statics.Write(ctx, statics)
	}
	return nil
}

// Flush waits until all rows that were read are written, and returns the checkpoint of that moment.
func (c *Copy) Flush(ctx context.Context) (tablescan.Checkpoint, error) {
	c.gate.Lock() // else rows that are read meanwhile prolong the flush
	defer c.gate.Unlock()
	checkpoint := c.scan.Checkpoint()
	err := c.rows.Flush(ctx)
	if err == nil && c.statics != nil {
		err = c.statics.Flush(ctx)
	}
	return checkpoint, err
}

// Close waits until all rows are written and ends the writers. When it returns nil, the checkpoint of all that was read
// is valid.
func (c *Copy) Close(ctx context.Context) (tablescan.Checkpoint, error) {
	checkpoint := c.scan.Checkpoint()
	err := c.rows.Close(ctx)
	if c.statics != nil {
		err = errors.Join(err, c.statics.Close(ctx))
	}
	return checkpoint, err
}

// Progress returns the progress of reading.
func (c *Copy) Progress() tablescan.Progress { return c.scan.Progress() }

// Stats returns the statistics of writing.
func (c *Copy) Stats() bulk.Stats { return c.rows.Stats() }

// Report returns the result so far.
func (c *Copy) Report() Report {
	s := c.rows.Stats()
	r := Report{Rows: c.scan.Progress().Rows, Written: s.Rows, Retries: s.Retries, Untimed: c.plan.untimed}
	if c.statics != nil {
		r.Written += c.statics.Stats().Rows
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Latest = c.late
	return r
}

// selectText returns the SELECT of the source.
func (p *plan) selectText(s clustertable.Table, where string) string {
	var columns []string
	for _, c := range p.columns {
		columns = append(columns, cqltext.QuoteIdentifier(c.Name))
	}
	for _, i := range p.timed {
		name := cqltext.QuoteIdentifier(p.columns[i].Name)
		columns = append(columns, "WRITETIME("+name+")", "TTL("+name+")")
	}
	text := "SELECT " + strings.Join(columns, ", ") + " FROM " + s.CQL()
	if where != "" {
		text += " WHERE " + where
	}
	return text
}

// staticText returns the INSERT for a partition without rows; empty if the copied columns have no static one.
func (p *plan) staticText(s clustertable.Table) string {
	var names, markers []string
	statics := 0
	for _, c := range p.columns {
		if c.Kind == vecql.ColumnPartitionKey || c.Kind == vecql.ColumnStatic {
			names = append(names, cqltext.QuoteIdentifier(c.Name))
			markers = append(markers, ":"+cqltext.QuoteIdentifier(c.Name))
		}
		if c.Kind == vecql.ColumnStatic {
			statics++
		}
	}
	if statics == 0 {
		return ""
	}
	text := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", s.CQL(), strings.Join(names, ", "),
		strings.Join(markers, ", "))
	if !p.noTimes {
		text += " USING TTL :" + cqltext.QuoteIdentifier(p.ttl) + " AND TIMESTAMP :" + cqltext.QuoteIdentifier(p.writeTime)
	}
	return text
}
