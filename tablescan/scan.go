// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// The scan: its configuration and its state.

const defaultWorkers = 8

// A Config configures a scan. The zero value reads the whole table.
type Config struct {
	// Workers is the number of ranges that are read at a time. Default 8.
	Workers int
	// PageBytes is the size of pages that the scan aims at, in bytes of the batch. The first page of a scan has a few
	// rows; the size of the rows read so far bounds the next ones. Default 1 MiB.
	PageBytes int
	// Retries is the number of times that a range may fail in a row, without a page in between, before the scan fails.
	// From the second failure on the range is cut into halves. Default 10.
	Retries int
	// SplitBytes is the size of the parts into which ranges are split, by the estimates of the nodes. Default 64 MiB.
	SplitBytes int64
	// Ordered reads the ranges one after the other, so that all rows come in the order of their tokens. Workers and
	// SplitBytes are ignored, and the estimates of the nodes are not read.
	Ordered bool
	// Values are the values of the statement's bind markers, in order.
	Values []any
	// Ranges limits the scan to ranges that do not overlap, such as some of Session.TokenRanges, so that several
	// processes can share a table. nil means the whole ring.
	Ranges []vecql.TokenRange
	// Checkpoint resumes another scan of the same statement. nil means none. It replaces Ranges.
	Checkpoint *Checkpoint
	// Tokens adds the token of each row to the batches, as their last column, with the name TokenColumn.
	Tokens bool
	// Cells makes batches of the cells as the server sent them, which PrepareRows and package bulk write as they are,
	// for any CQL type. A copy of cells keeps what columns of other types cannot hold: empty values of numbers, NULLs
	// within collections, and values in other than their shortest encoding. The content of the columns, binary, is as in
	// Iter.NextRaw.
	Cells bool
	// Query, if not nil, is called for each request, on several goroutines at once, to set options such as Consistency.
	Query func(q *vecql.Query)
}

// ErrRunning means that Run or Batches was called while the scan was running.
var ErrRunning = errors.New("tablescan: run: the scan is running already")

// ErrPartitioner means that the tokens of a table are not 64-bit integers, because its partitioner is not Murmur3.
var ErrPartitioner = errors.New("tablescan: tokens are not of type bigint")

// A RangeError means that a range failed more often than Config.Retries.
type RangeError struct {
	Part     Part // what is left of the range
	Failures int
	Err      error // the last failure
}

// Error returns the range and the last failure.
func (e *RangeError) Error() string {
	return fmt.Sprintf("tablescan: read tokens above %d up to %d: failed %d times: %v",
		e.Part.Start, e.Part.End, e.Failures, e.Err)
}

// Unwrap returns Err.
func (e *RangeError) Unwrap() error { return e.Err }

// A Scan reads a table. Its methods may be called by several goroutines, but only one Run or Batches at a time. After
// one of these has failed, another call continues where it ended.
type Scan struct {
	session   *vecql.Session
	cfg       Config
	statement string // of New
	text      string // with the token and its range
	before    int    // bind markers before the markers of the range
	pages     *pager
	budget    int64 // the memory budget of the session; 0 means none

	mu       sync.Mutex
	queue    []work       // unread parts that no worker reads
	open     map[int]work // by worker
	total    float64      // tokens
	rows     int64
	bytes    int64
	failures int64
	running  bool
	began    time.Time     // of the current run
	elapsed  time.Duration // of earlier runs
	resumed  float64       // tokens left when the first run began
}

// work is a part with the number of its failures since it last advanced.
type work struct {
	Part
	failures int
}

// New prepares a scan of a SELECT; see the package documentation for what it may contain. It reads the schema, the
// token ranges and the size estimates of the table. The error is a *StatementError, wraps ErrCheckpoint or
// ErrPartitioner, or comes from a request.
func New(ctx context.Context, session *vecql.Session, statement string, cfg Config) (*Scan, error) {
	src, err := parse(statement)
	if err != nil {
		return nil, err
	}
	return newScan(ctx, session, src, statement, cfg)
}

// Tokens prepares a scan of the tokens of all rows of a table, named as in CQL: the cheapest scan that meets each row
// once. Its batches have the one column TokenColumn. The numbers of rows by range, by node (Session.TokenRanges has the
// nodes of a range) and by partition follow: the rows of a partition have one token, and follow each other within a
// batch and from batch to batch of a worker.
func Tokens(ctx context.Context, session *vecql.Session, table string, cfg Config) (*Scan, error) {
	src, err := parse("SELECT * FROM " + table)
	if err != nil {
		return nil, err
	}
	src.onlyTokens, cfg.Tokens = true, true
	return newScan(ctx, session, src, "SELECT token FROM "+table, cfg)
}

// newScan prepares the scan of a parsed statement. statement is its text in checkpoints.
func newScan(ctx context.Context, session *vecql.Session, src *source, statement string, cfg Config) (*Scan, error) {
	cfg.Workers, cfg.PageBytes = cmp.Or(max(cfg.Workers, 0), defaultWorkers), cmp.Or(max(cfg.PageBytes, 0), 1<<20)
	if cfg.Ordered {
		cfg.Workers = 1
	}
	cfg.Retries, cfg.SplitBytes = cmp.Or(max(cfg.Retries, 0), 10), cmp.Or(max(cfg.SplitBytes, 0), 64<<20)
	keyspace := cmp.Or(src.keyspace, session.Query("").GetKeyspace())
	s := &Scan{
		session: session, cfg: cfg, statement: statement, pages: newPager(cfg.PageBytes), open: map[int]work{},
		budget: session.Stats().Memory.Budget,
	}
	id, err := s.setText(ctx, src, keyspace)
	if err != nil {
		return nil, err
	}
	ranges, err := session.TokenRanges(ctx, keyspace, src.table)
	if err != nil {
		return nil, err
	}
	left, err := s.restore()
	if err != nil {
		return nil, err
	}
	counts := slices.Repeat([]int{1}, len(ranges))
	if !cfg.Ordered {
		sizes := sizesOf(ranges, readEstimates(ctx, session, tableName{keyspace, src.table, id}, hasTablets(ranges)))
		counts = splitCounts(ranges, sizes, cfg.SplitBytes, cfg.Workers)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("tablescan: plan %q: %w", statement, context.Cause(ctx))
	}
	for _, p := range plan(left, ranges, counts) {
		s.queue = append(s.queue, work{Part: p})
	}
	return s, nil
}

// setText sets the statement that the scan runs, from the schema of the table, and returns the id of the table.
func (s *Scan) setText(ctx context.Context, src *source, keyspace string) (id cql.UUID, err error) {
	ks, err := s.session.KeyspaceMetadata(ctx, keyspace)
	if err != nil {
		return id, err
	}
	if name := src.callsAny(ks.Aggregates); name != "" {
		return id, src.refuse("it calls the aggregate " + name)
	}
	var key []*cql.ColumnMetadata
	var columns []string
	switch table, view := ks.Tables[src.table], ks.MaterializedViews[src.table]; {
	case table != nil:
		key, columns, id = table.PartitionKey, table.OrderedColumns, table.Id
	case view != nil:
		key, columns, id = view.PartitionKey, view.OrderedColumns, view.Id
	default:
		_, err := s.session.TableMetadata(ctx, keyspace, src.table)
		return id, cmp.Or(err, fmt.Errorf("tablescan: %w: %s.%s, until a moment ago", vecql.ErrNoTable, keyspace, src.table))
	}
	names := make([]string, len(key))
	for i, c := range key {
		names[i] = c.Name
	}
	s.text, s.before = src.ranged(names, columns)
	if markers := len(cqltext.BindMarkers(s.text)) - 2; markers != len(s.cfg.Values) {
		return id, src.refuse(fmt.Sprintf("it has %d bind markers, Config.Values has %d values", markers, len(s.cfg.Values)))
	}
	m, err := s.session.StatementMetadata(ctx, s.text, "")
	if err != nil {
		return id, err
	}
	if len(m.BindMarkers) < s.before+2 || m.BindMarkers[s.before].TypeInfo.Type() != cql.TypeBigInt {
		return id, fmt.Errorf("%w: %s.%s", ErrPartitioner, keyspace, src.table)
	}
	return id, nil
}

// restore sets the counters, and returns the parts to read in the order of their tokens.
func (s *Scan) restore() ([]Part, error) {
	if c := s.cfg.Checkpoint; c != nil {
		if err := c.check(s.statement); err != nil {
			return nil, err
		}
		s.rows, s.bytes, s.total, s.resumed = c.Rows, c.Bytes, c.Total, width(c.Left)
		return c.Left, nil
	}
	left := []Part{{Start: math.MinInt64, End: math.MaxInt64}}
	if s.cfg.Ranges != nil {
		left = left[:0]
		for _, r := range s.cfg.Ranges {
			left = append(left, Part{Start: r.Start, End: r.End})
		}
		slices.SortFunc(left, func(a, b Part) int { return cmp.Compare(a.Start, b.Start) })
		for i, p := range left {
			if !p.valid() || i > 0 && p.Start < left[i-1].End {
				return nil, fmt.Errorf("tablescan: Config.Ranges: %d to %d is empty or overlaps another range", p.Start, p.End)
			}
		}
	}
	s.total, s.resumed = width(left), width(left)
	return left, nil
}

// width returns the number of tokens of parts.
func width(parts []Part) float64 {
	sum := 0.0
	for _, p := range parts {
		sum += p.width()
	}
	return sum
}

// left returns the unread parts, in any order. Callers hold s.mu.
func (s *Scan) left() []Part {
	parts := make([]Part, 0, len(s.queue)+len(s.open))
	for _, w := range s.queue {
		parts = append(parts, w.Part)
	}
	for _, w := range s.open {
		parts = append(parts, w.Part)
	}
	return parts
}

// A Progress is a snapshot of a scan.
type Progress struct {
	Rows     int64 `json:"rows"`     // acknowledged, earlier scans of the checkpoint included
	Bytes    int64 `json:"bytes"`    // of these rows in batches
	Failures int64 `json:"failures"` // of ranges, which were then read again
	// TotalRows and TotalBytes are estimates for the whole scan, from the rows and the share of the tokens so far; 0 if
	// unknown. Tokens are hashes, so that this is close unless few partitions have most of the rows.
	TotalRows  int64         `json:"total_rows"`
	TotalBytes int64         `json:"total_bytes"`
	Done       float64       `json:"done"`    // share of the tokens that are read, 0 to 1
	Elapsed    time.Duration `json:"elapsed"` // while the scan was running
	Left       time.Duration `json:"left"`    // an estimate; 0 if unknown or done
}

// Progress returns a snapshot. It may be called at any time.
func (s *Scan) Progress() Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := width(s.left())
	p := Progress{Rows: s.rows, Bytes: s.bytes, Failures: s.failures, Done: 1, Elapsed: s.elapsed}
	if s.running {
		p.Elapsed += time.Since(s.began)
	}
	if s.total > 0 {
		p.Done = min(max(1-left/s.total, 0), 1)
	}
	if p.Done > 0 {
		p.TotalRows = int64(min(float64(p.Rows)/p.Done, math.MaxInt64/2))
		p.TotalBytes = int64(min(float64(p.Bytes)/p.Done, math.MaxInt64/2))
	}
	if read := s.resumed - left; read > 0 {
		p.Left = time.Duration(min(float64(p.Elapsed)*left/read, math.MaxInt64/2))
	}
	return p
}
