// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/cmd/vecql/internal/tablecopy"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/tablescan"
)

// The verb unload: rows of a table to files.

// An unload is the flags and the state of the verb unload.
type unload struct {
	files       fileFlags
	compression string
	summary     string

	statement, table    string
	times               bool
	plan                *tablecopy.Plan // nil without --times
	partRows, partBytes int
	resume              bool
	workers, pageBytes  int
	rowsPerSecond       float64

	path   string
	o      rowfile.WriterOptions
	schema column.Schema
	// encoders belong to the workers: all encode at once, and write one after the other.
	encoders []*rowfile.Encoder
	scan     *tablescan.Scan // nil for a statement that is not run by token ranges

	mu      sync.Mutex // held while rows are written
	out     output
	written int64 // rows, earlier runs included
	empty   int   // cells of 0 bytes that are NULL in the output
	bytes   int64 // of this run
	began   time.Time
	before  int64 // rows of earlier runs
}

// maxEncoders bounds the row groups of Parquet that are encoded at a time, and so the memory of an unload.
const maxEncoders = 4

// An output is where the rows go. Its methods are called with unload.mu held.
type output interface {
	write(ctx context.Context, b rowfile.Block) error
	// finish completes the output. No row follows.
	finish() error
	// abandon ends an output that is not complete. keep means that all rows so far are acknowledged, so that an output
	// that can be resumed keeps them.
	abandon(ctx context.Context, keep bool) error
	files() int
}

// newUnloadCommand returns the verb with its flags.
func newUnloadCommand(e *env) *cobra.Command {
	u := &unload{}
	c := &cobra.Command{
		Use:   "unload TABLE PATH",
		Short: "Write the rows of a table to files",
		Long: `Unload reads a table by ranges of tokens, from all nodes at once, and writes its
rows to one file, to parts in a folder, or with - to standard output. The name of a
file shows the format and the compression. PATH is a folder if it exists or ends
with /; its files are part-000000.parquet and so on.

A file appears under its name when it is complete. An unload to a folder that was
interrupted, or killed, continues with --resume: each row is in one part.`,
		Example: `  vecql unload shop.items items.parquet
  vecql unload shop.items parts/ --part-rows 1000000
  vecql unload shop.items parts/ --part-rows 1000000 --resume
  vecql unload --statement "SELECT id, price FROM shop.items" prices.csv.gz
  vecql unload shop.items - --format csv > items.csv`,
		RunE: func(c *cobra.Command, args []string) error { return e.unload(c.Context(), u, args) },
	}
	e.addClusterFlags(c)
	e.addProgressFlag(c)
	u.files.add(c, false)
	f := c.Flags()
	f.StringVar(&u.statement, "statement", "", "read this `SELECT` in place of TABLE; without GROUP BY, ORDER BY and LIMIT it is run by ranges of tokens")
	f.BoolVar(&u.times, "times", false, "add the write time and the time to live of each column, for load --times")
	f.StringVar(&u.compression, "file-compression", "none", "`compression`: none, gzip or zstd; default by the name")
	f.IntVar(&u.partRows, "part-rows", 0, "most `rows` of a file in a folder; 0 means no limit")
	f.IntVar(&u.partBytes, "part-bytes", 128<<20, "most `bytes` of values of a file in a folder; 0 means no limit")
	f.BoolVar(&u.resume, "resume", false, "continue an unload to a folder, or start it if the folder has none")
	f.IntVar(&u.workers, "workers", 8, "`number` of ranges that are read at a time")
	f.IntVar(&u.pageBytes, "page-bytes", 1<<20, "`bytes` of a page")
	f.Float64Var(&u.rowsPerSecond, "rows-per-second", 0, "highest `rate`; 0 means no limit")
	f.StringVar(&u.summary, "summary", "text", "`form` of the summary at the end: text or json")
	return c
}

// check returns a usage error for flags that contradict each other, and sets table and path from arguments.
func (u *unload) check(args []string) (err error) {
	if u.statement != "" {
		if u.statement, err = oneStatement(u.statement); err != nil {
			return err
		}
	} else if len(args) > 0 {
		u.table, args = args[0], args[1:]
	}
	if len(args) == 1 {
		u.path = args[0]
	}
	err = checkFlags([]flagFault{
		{u.statement == "" && u.table == "", "a table or --statement is missing"},
		{len(args) != 1, "want one file or folder; - is standard output"},
		{u.statement != "" && u.times, "--times is for a table, not for --statement"},
		{u.resume && !u.isFolder(), "--resume is for a folder of parts"},
		{u.summary != "text" && u.summary != "json", "--summary is neither text nor json"},
		{min(u.partRows, u.partBytes, u.workers-1, u.pageBytes-1) < 0 || u.rowsPerSecond < 0, "a number is too small"},
	})
	if err != nil {
		return err
	}
	if u.o, err = u.files.writeOptions(u.compression); err != nil {
		return err
	}
	if u.o.Dialect.Comma == 0 {
		u.o.Dialect.Comma = rowfile.Delimiter(u.path)
	}
	format, compression := rowfile.ByName(u.path)
	switch {
	case u.isFolder() && u.o.Format == 0:
		u.o.Format = rowfile.Parquet
	case u.path == rowfile.Stdin && u.o.Format == 0:
		return usagef("standard output needs --format")
	case u.o.Format == 0:
		u.o.Format = format
	}
	if u.o.Format == 0 {
		return usagef("the name %q does not show a format: --format or an extension such as .parquet is missing", u.path)
	}
	if u.o.Compression == rowfile.Plain && !u.isFolder() {
		u.o.Compression = compression
	}
	u.o.Stream = u.path == rowfile.Stdin || !u.isFolder() && rowfile.IsStream(u.path)
	u.o.Workers = min(u.workers, runtime.GOMAXPROCS(0), maxEncoders)
	return nil
}

// isFolder reports whether the path names a folder of parts.
func (u *unload) isFolder() bool {
	info, err := os.Stat(u.path)
	last := len(u.path) - 1
	return last >= 0 && os.IsPathSeparator(u.path[last]) || err == nil && info.IsDir()
}

// unload executes the verb.
func (e *env) unload(ctx context.Context, u *unload, args []string) error {
	if err := u.check(args); err != nil {
		return err
	}
	session, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	if err := u.setStatement(ctx, session); err != nil {
		return err
	}
	if err := u.open(ctx, e, session); err != nil {
		return err
	}
	e.noteUntimed(u.plan)
	u.began = e.now()
	stop, err := e.startProgress(u.state)
	if err != nil {
		return err
	}
	defer stop()
	if u.scan != nil {
		err = u.scan.Run(ctx, func(worker int, b *column.Batch) error { return u.page(ctx, worker, b) })
	} else {
		err = u.readInOrder(ctx, session)
	}
	stop()
	u.mu.Lock()
	defer u.mu.Unlock()
	if err == nil {
		err = u.out.finish()
	}
	if err != nil {
		return u.fail(ctx, err)
	}
	if u.empty > 0 {
		fmt.Fprintf(e.err, "warning: %s of 0 bytes written as NULL: files do not have such values, vecql copy keeps them\n",
			counted(u.empty, "cell"))
	}
	if u.path == rowfile.Stdin {
		return nil // the summary would be part of the rows
	}
	return e.writeSummary(u.summary, u.result(e.now().Sub(u.began)))
}

// fail ends an output that is not complete.
func (u *unload) fail(ctx context.Context, err error) error {
	var write *writeError
	keep := u.scan != nil && !errors.As(err, &write)
	if failed := u.out.abandon(context.WithoutCancel(ctx), keep); failed != nil && keep {
		return withEnd(err, failed)
	}
	if u.isFolder() && u.scan != nil {
		return advise(err, "--resume continues the unload")
	}
	return err
}

// A writeError means that rows could not be written to the output.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// setStatement sets the statement and the columns of its result.
func (u *unload) setStatement(ctx context.Context, session *vecql.Session) error {
	if u.statement == "" {
		t, err := findTable(ctx, session, u.table)
		if err != nil {
			return err
		}
		if u.statement, err = u.selectOf(ctx, t); err != nil {
			return err
		}
	}
	if !cqltext.IsSelect(u.statement) {
		return usagef("--statement is not a SELECT")
	}
	m, err := session.StatementMetadata(ctx, u.statement, "")
	if err != nil {
		return err
	}
	if len(m.BindMarkers) > 0 {
		return usagef("--statement has bind markers, but no values")
	}
	for _, c := range m.ResultColumns {
		u.schema = append(u.schema, codec.ColumnField(c.Name, c.TypeInfo))
		if u.files.copyForm == copyFrom {
			u.o.Types = append(u.o.Types, c.TypeInfo)
		}
	}
	return nil
}

// selectOf returns the statement for a table: all columns, and with --times the columns of writetime and ttl.
func (u *unload) selectOf(ctx context.Context, t clustertable.Table) (string, error) {
	if u.times {
		return u.timedSelect(ctx, t)
	}
	columns := t.Metadata.OrderedColumns
	if u.files.copyForm == copyFrom {
		columns = copyOrder(t.Metadata)
	}
	return t.Select(clustertable.Quoted(columns), ""), nil
}

// timedSelect returns the statement for a table with times. Servers before Cassandra 5.0 do not report the times of
// collections.
func (u *unload) timedSelect(ctx context.Context, t clustertable.Table) (string, error) {
	p, err := tablecopy.NewPlan(t)
	if err != nil {
		return "", fmt.Errorf("--times: %w", err)
	}
	u.plan = p
	return p.SelectTimes(ctx, t, "")
}

// open makes the scan and opens the output.
func (u *unload) open(ctx context.Context, e *env, session *vecql.Session) (err error) {
	u.encoders = make([]*rowfile.Encoder, u.workers)
	for i := range u.encoders {
		if u.encoders[i], err = rowfile.NewEncoder(u.schema, u.o); err != nil {
			return err
		}
	}
	cfg := tablescan.Config{Workers: u.workers, PageBytes: u.pageBytes}
	var parts *partsOutput
	if u.isFolder() {
		if parts, err = u.openFolder(); err != nil {
			return err
		}
		cfg.Checkpoint = parts.resumed
	}
	u.scan, err = tablescan.New(ctx, session, u.statement, cfg)
	var inOrder *tablescan.StatementError
	if errors.As(err, &inOrder) && cfg.Checkpoint == nil {
		u.scan, err = nil, nil
	}
	if err != nil {
		return err
	}
	if parts != nil && u.scan != nil {
		parts.checkpoint = u.scan.Checkpoint
	}
	switch {
	case parts != nil:
		u.out, err = parts, parts.start()
	case u.path == rowfile.Stdin:
		u.out, err = newStreamOutput(e.out, u.schema, u.o)
	default:
		u.out, err = newFileOutput(u.path, u.schema, u.o)
	}
	return err
}

// page writes the rows of a page. tablescan acknowledges them when page has returned.
func (u *unload) page(ctx context.Context, worker int, b *column.Batch) error {
	block, err := u.encoders[worker].Encode(b)
	if err != nil {
		return &writeError{fmt.Errorf("write %s: %w", u.path, err)}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := u.out.write(ctx, block); err != nil {
		return &writeError{err}
	}
	u.written += int64(b.Rows)
	u.empty += b.Source.EmptyCells
	u.bytes += int64(rowfile.Size(b))
	if u.rowsPerSecond > 0 {
		due := u.began.Add(time.Duration(float64(u.written-u.before) / u.rowsPerSecond * float64(time.Second)))
		background.Sleep(ctx, time.Until(due))
	}
	return nil
}

// readInOrder reads the pages of a statement one after the other.
func (u *unload) readInOrder(ctx context.Context, session *vecql.Session) error {
	for b, err := range session.Query(u.statement).BorrowBatches(ctx) {
		if err != nil {
			return err
		}
		if b.Rows > 0 {
			if err := u.page(ctx, 0, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// state returns the progress.
func (u *unload) state() state {
	u.mu.Lock()
	rows, bytes, began := u.written, u.bytes, u.began
	u.mu.Unlock()
	seconds := max(time.Since(began).Seconds(), 1e-3)
	speed := fmt.Sprintf("%.0f rows/s, %.1f MB/s", float64(rows-u.before)/seconds, float64(bytes)/1e6/seconds)
	s := state{
		-1, counted(rows, "row") + ", " + speed,
		counts{rows: uint64(rows - u.before), bytes: uint64(bytes), skipped: uint64(u.before)},
	}
	if u.scan != nil {
		p := u.scan.Progress()
		s.fraction, s.counts.retries = p.Done, uint64(p.Failures)
		if p.Failures > 0 {
			s.text += fmt.Sprintf(", %d retries", p.Failures)
		}
	}
	return s
}

// result returns the summary.
func (u *unload) result(elapsed time.Duration) summary {
	rows := uint64(u.written - u.before)
	r := summary{
		Rows: rows, Skipped: uint64(u.before), Bytes: uint64(u.bytes), Files: u.out.files(), EmptyCells: u.empty,
		Seconds: elapsed.Seconds(),
	}
	if elapsed > 0 {
		r.RowsPerSecond = float64(rows) / elapsed.Seconds()
	}
	r.text = fmt.Sprintf("unloaded %s to %s", counted(rows, "row"), u.path)
	if u.isFolder() {
		r.text += fmt.Sprintf(", %s", counted(r.Files, "file"))
	}
	if u.before > 0 {
		r.text += fmt.Sprintf(", %s unloaded before", counted(u.before, "row"))
	}
	return r
}
