// SPDX-License-Identifier: Apache-2.0

// Package tablediff compares the rows of a table with the rows of another table, or with batches.
//
// Two tables are compared by a merge: both are read in the order of their tokens, several ranges at a time, and the
// rows of one token are matched by their primary keys. Each row is read once, the order of clustering columns may
// differ, and memory grows only with the number of rows of one token that have no match. A batch is compared by reading
// the row of each primary key; rows of the table that are in no batch are then found by a scan of the keys.
//
// Values are compared as the servers send them, byte by byte, so that no value is taken for equal that is not.
package tablediff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/schema"
	"github.com/vecql/vecql/stats"
)

// A Config configures a comparison.
type Config struct {
	// Columns are compared, beside the primary key. nil means all of the source.
	Columns []string
	// Tolerance is the difference up to which two floating-point numbers are equal, relative to the larger of the two
	// and of 1; also within vectors and collections. 0 means that they must have the same bits.
	Tolerance float64
	// WriteTimes also compares the write times of columns of one cell.
	WriteTimes bool
	// AllowExtra ignores rows of the target that the source does not have.
	AllowExtra bool
	Workers    int // ranges, or rows of a batch, at a time; default 8
	Shown      int // differences that the Report describes; default 10
	Retries    int // failures in a row of a range; default 10
	// Query, if not nil, sets options of each request, such as the consistency.
	Query func(q *vecql.Query)
	// Checkpoint resumes another comparison of the same tables. nil means none.
	Checkpoint *Checkpoint
}

func (c Config) withDefaults() Config {
	c.Workers, c.Shown, c.Retries = cmp.Or(c.Workers, 8), cmp.Or(c.Shown, 10), cmp.Or(c.Retries, 10)
	return c
}

// A Report is the result of a comparison.
type Report struct {
	Rows      int64 `json:"rows"`      // of the source that were compared
	Missing   int64 `json:"missing"`   // rows of the source that the target does not have
	Extra     int64 `json:"extra"`     // rows of the target that the source does not have
	Different int64 `json:"different"` // rows that both have, with other values
	// First describes some of the differences.
	First []Difference `json:"first,omitempty"`
}

// Differences returns the number of rows that are not equal.
func (r Report) Differences() int64 { return r.Missing + r.Extra + r.Different }

func (r *Report) add(o *Report, shown int) {
	r.Rows, r.Missing, r.Extra, r.Different = r.Rows+o.Rows, r.Missing+o.Missing, r.Extra+o.Extra, r.Different+o.Different
	r.First = append(r.First, o.First[:min(len(o.First), max(shown-len(r.First), 0))]...)
}

// note keeps the description of a row, unless there are enough.
func (r *Report) note(l *layout, cells [][]byte, what string, shown int) {
	if len(r.First) < shown {
		r.First = append(r.First, Difference{Key: l.formatKey(cells), What: what})
	}
}

// sorted returns a copy with the differences in the order of their keys.
func (r Report) sorted() Report {
	r.First = slices.Clone(r.First)
	slices.SortFunc(r.First, func(a, b Difference) int { return strings.Compare(a.Key, b.Key) })
	return r
}

// A Difference describes a row that is not equal.
type Difference struct {
	Key  string `json:"key"`  // the primary key
	What string `json:"what"` // Missing, Extra, or the columns with both values
}

// The text of a Difference for a row that one side does not have.
const (
	Missing = "missing in the target"
	Extra   = "only in the target"
)

// String returns the key and what differs.
func (d Difference) String() string { return d.Key + ": " + d.What }

// A Checkpoint is what is left of a comparison. It can be stored as JSON.
type Checkpoint struct {
	Job    string             `json:"job"`            // of the tables and columns
	Left   []vecql.TokenRange `json:"left,omitempty"` // of the tables; those without Replicas
	Done   int64              `json:"done,omitempty"` // rows of the batches
	Report Report             `json:"report"`
}

// ErrCheckpoint means that a checkpoint belongs to another comparison.
var ErrCheckpoint = errors.New("not a checkpoint of this comparison")

// check returns an error unless the checkpoint is of a job.
func (c *Checkpoint) check(job string) error {
	if c.Job != job {
		return fmt.Errorf("%w: it is of %q, want %q", ErrCheckpoint, c.Job, job)
	}
	return nil
}

// results is the report of a comparison that goes on.
type results struct {
	mu     sync.Mutex
	report Report
}

// Report returns the result so far.
func (r *results) Report() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.report.sorted()
}

// minParts is the number of ranges into which a comparison is divided at least.
const minParts = 64

// A Diff compares two tables.
type Diff struct {
	cfg            Config
	layout         *layout
	source, target clustertable.Table
	job            string
	pages          sizer

	results // its mutex is also held for the fields below
	queue   []vecql.TokenRange
	open    map[int]vecql.TokenRange // by worker
}

// New prepares a comparison of two tables. Their primary keys and the compared columns must have the same names and
// types.
func New(ctx context.Context, source, target clustertable.Table, cfg Config) (*Diff, error) {
	cfg = cfg.withDefaults()
	l, err := newLayout(source.Metadata, target.Metadata, cfg)
	if err != nil {
		return nil, err
	}
	d := &Diff{cfg: cfg, layout: l, source: source, target: target, open: map[int]vecql.TokenRange{}}
	d.job = fmt.Sprintf("compare %s with %s: %s", source.Name(), target.Name(), l.names())
	if c := cfg.Checkpoint; c != nil {
		d.queue, d.report = slices.Clone(c.Left), c.Report
		return d, c.check(d.job)
	}
	ranges, err := source.Session.TokenRanges(ctx, source.Metadata.Keyspace, source.Metadata.Name)
	if err != nil {
		return nil, err
	}
	for _, r := range ranges {
		for _, part := range r.Split((minParts + len(ranges) - 1) / len(ranges)) {
			d.queue = append(d.queue, vecql.TokenRange{Start: part.Start, End: part.End})
		}
	}
	return d, nil
}

// Run compares the rows that are left. It may be called again after an error, and continues.
func (d *Diff) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	for i := range d.cfg.Workers {
		workers.Go(func() {
			if err := d.work(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.open {
		d.queue = append(d.queue, r)
	}
	clear(d.open)
	if len(d.queue) > 0 {
		return context.Cause(ctx)
	}
	return nil
}

// Checkpoint returns what is left. It may be called at any time.
func (d *Diff) Checkpoint() Checkpoint {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := Checkpoint{Job: d.job, Report: d.report.sorted(), Left: slices.Clone(d.queue)}
	for _, r := range d.open {
		c.Left = append(c.Left, r)
	}
	slices.SortFunc(c.Left, func(a, b vecql.TokenRange) int { return cmp.Compare(a.Start, b.Start) })
	return c
}

// Done returns the share of the ring that has been compared, 0 to 1.
func (d *Diff) Done() float64 {
	left := 0.0
	for _, r := range d.Checkpoint().Left {
		left += float64(uint64(r.End) - uint64(r.Start))
	}
	return 1 - left/(1<<64)
}

func (d *Diff) take(worker int) (r vecql.TokenRange, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) == 0 {
		return r, false
	}
	r = d.queue[0]
	d.queue = d.queue[1:]
	d.open[worker] = r
	return r, true
}

// advance stores that a range is compared up to its new start, with the result since the last call.
func (d *Diff) advance(worker int, r vecql.TokenRange, result *Report) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.report.add(result, d.cfg.Shown)
	*result = Report{}
	d.open[worker] = r
	if r.Start == r.End {
		delete(d.open, worker)
	}
}

// The wait before a failed range is read again.
const (
	firstWait = 100 * time.Millisecond
	longWait  = 5 * time.Second
)

// work compares ranges until none is left.
func (d *Diff) work(ctx context.Context, worker int) error {
	for ctx.Err() == nil {
		r, ok := d.take(worker)
		if !ok {
			return nil
		}
		for failures := 0; r.Start < r.End; {
			from := r.Start
			m := &merge{diff: d, worker: worker, left: r}
			err := m.run(ctx)
			if r = m.left; r.Start > from {
				failures = 0
			}
			if err == nil {
				break
			}
			if failures++; !mayRepeat(ctx, err, failures, d.cfg.Retries) {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// mayRepeat waits, and reports whether a request that has failed so many times may be sent again.
func mayRepeat(ctx context.Context, err error, failures, retries int) bool {
	if ctx.Err() != nil || vecql.ErrorClassOf(err) == stats.ClassInvalid || failures > retries {
		return false
	}
	return background.Sleep(ctx, background.Jitter(background.Exponential(firstWait, longWait, failures-1)))
}

// A layout is the columns of a comparison: the columns of the primary key, then the compared ones, then write times.
type layout struct {
	columns  []*cql.ColumnMetadata
	keys     int
	timed    []string // columns whose write times are compared
	keyNames []string // of the partition key
}

// newLayout returns the columns of a source, which the target must have, too.
func newLayout(source, target *cql.TableMetadata, cfg Config) (*layout, error) {
	if got, want := keyText(target), keyText(source); got != want {
		return nil, fmt.Errorf("the primary key of %s.%s is %s, in %s.%s it is %s", target.Keyspace, target.Name, got,
			source.Keyspace, source.Name, want)
	}
	columns, err := clustertable.Columns(source, target, cfg.Columns)
	if err != nil {
		return nil, err
	}
	l := &layout{columns: columns, keys: len(clustertable.PrimaryKey(source))}
	l.keyNames = clustertable.Names(source.PartitionKey)
	for _, c := range columns[l.keys:] {
		if cfg.WriteTimes && !schema.IsMultiCell(c) && c.Type.Type() != cql.TypeCounter {
			l.timed = append(l.timed, c.Name)
		}
	}
	return l, nil
}

// keyText returns the columns of a primary key with their types.
func keyText(t *cql.TableMetadata) string {
	list := func(columns []*cql.ColumnMetadata) string {
		parts := make([]string, len(columns))
		for i, c := range columns {
			parts[i] = c.Name + " " + c.Validator
		}
		return strings.Join(parts, ", ")
	}
	return "((" + list(t.PartitionKey) + "), " + list(t.ClusteringColumns) + ")"
}

// names returns the quoted names of the columns.
func (l *layout) names() string {
	return strings.Join(clustertable.Quoted(clustertable.Names(l.columns)), ", ")
}

// rangeQuery returns the text of a SELECT of the columns of a table and the token, for a range of tokens.
func (l *layout) rangeQuery(t clustertable.Table) string {
	columns := []string{l.names()}
	for _, name := range clustertable.Quoted(l.timed) {
		columns = append(columns, "WRITETIME("+name+")")
	}
	tok := "token(" + strings.Join(clustertable.Quoted(l.keyNames), ", ") + ")"
	return t.Select(append(columns, tok), tok+" > ? AND "+tok+" <= ?")
}
