// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
)

// Rejected records of a load: their bound, and the file that keeps them.

// A rejectedRecord is a line of the file of --rejected.
type rejectedRecord struct {
	File   string `json:"file"`
	Row    int64  `json:"row"` // number of the record in its file, from 0
	Line   int64  `json:"line,omitempty"`
	Column string `json:"column,omitempty"`
	Error  string `json:"error"`
	Record string `json:"record"` // as it was; JSON for Parquet and Arrow
}

// A position identifies a record.
type position struct {
	file string
	row  int64
}

// rejects counts rejected records, once each, and stores them in a file.
type rejects struct {
	limit, path   string        // the flags
	sampled, rows atomic.Uint64 // that a verb which only reads has read: for the types of columns, and after that

	most    int     // records
	percent float64 // of all records
	written func() uint64

	mu   sync.Mutex
	seen map[position]bool
	bad  uint64   // records that are no rows
	file *os.File // nil means none
	err  error    // the first record that was too many
	// shown are the first errors, kept where there is no file.
	shown []string
}

// maxShown is the number of rejected records that are printed.
const maxShown = 5

// addFlags defines the flags of a verb.
func (r *rejects) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.limit, "max-errors", "0", "`number or percentage` of records that may be rejected; a percentage is tested at the end, too")
	f.StringVar(&r.path, "rejected", "", "`file` for rejected records, their positions and errors, as JSON lines")
}

// allowed reports whether a record may be rejected.
func (r *rejects) allowed() bool { return r.most > 0 || r.percent > 0 }

// setMost sets the bound by the flag --max-errors: a number or a percentage.
func (r *rejects) setMost() (err error) {
	flag := r.limit
	if number, ok := strings.CutSuffix(flag, "%"); ok {
		r.percent, err = strconv.ParseFloat(number, 64)
		ok = r.percent >= 0 && r.percent <= 100
		if err == nil && ok {
			return nil
		}
	} else if r.most, err = strconv.Atoi(flag); err == nil && r.most >= 0 {
		return nil
	}
	return usagef("--max-errors is %q, want a number or a percentage such as 1%%", flag)
}

// begin prepares for the records of files, in a verb that only reads. The caller calls end after the last row.
func (r *rejects) begin(e *env, files []string) error {
	r.written = func() uint64 { return max(r.sampled.Load(), r.rows.Load()) }
	err := e.checkOutputs(files, outputFile{"--rejected", r.path})
	if err != nil || r.seen != nil {
		return err
	}
	return r.open(false)
}

// end reports the records that a verb which only reads has rejected. err is the error of its work.
func (r *rejects) end(e *env, err error) error {
	n := r.count() // a record that is read twice, for the types and as a row, is one
	switch {
	case r.err != nil: // without the words of package pipe
		err = r.err
	case err == nil && n > 0:
		r.bad = uint64(n)
		err = r.checkEnd(r.written())
	}
	r.print(e.err)
	if r.file != nil && n > 0 {
		fmt.Fprintf(e.err, "rejected: %s, in %s\n", counted(n, "record"), r.path)
	}
	if err = cmp.Or(err, r.close()); err != nil {
		return err
	}
	return r.outcome(bulk.Stats{})
}

// open opens the file. To resume reads the records that an earlier run has rejected, and removes an incomplete last
// line.
func (r *rejects) open(resume bool) error {
	r.seen = map[position]bool{}
	if r.path == "" {
		return nil
	}
	var kept int64
	if resume {
		content, err := os.ReadFile(r.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for line := range bytes.Lines(content) {
			var record rejectedRecord
			if line[len(line)-1] != '\n' || json.Unmarshal(line, &record) != nil {
				break
			}
			r.seen[position{record.File, record.Row}] = true
			kept += int64(len(line))
		}
	}
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_WRONLY, 0o600) // records are as private as the table
	if err != nil {
		return err
	}
	r.file = f
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() { // a device has no size
		return err
	}
	if err := f.Truncate(kept); err != nil {
		return err
	}
	_, err = f.Seek(kept, io.SeekStart)
	return err
}

// add counts and stores a record, whose error with its position is cause. The error means that it is one too many, or
// that the file cannot be written.
func (r *rejects) add(record rejectedRecord, cause error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := position{record.File, record.Row}
	if r.err != nil || r.seen[at] {
		return r.err
	}
	if errors.Is(cause, vecql.ErrNoConnections) { // no row can be written, and none is at fault
		r.err = cause
		return r.err
	}
	n := len(r.seen) + 1
	const leastRows = 1000 // that a percentage refers to before the end
	if r.isTooMany(n, max(float64(r.written())+float64(n), leastRows)) {
		if r.err = cause; len(r.seen) > 0 {
			r.err = fmt.Errorf("%d records were rejected, the last one: %w", len(r.seen)+1, cause)
		}
		r.err = advise(r.err, "--max-errors allows such records, --rejected keeps them")
		return r.err
	}
	r.seen[at] = true
	if r.file == nil {
		if len(r.shown) < maxShown {
			r.shown = append(r.shown, explain(cause))
		}
		return nil
	}
	line, err := json.Marshal(record)
	if err == nil {
		_, err = r.file.Write(append(line, '\n'))
	}
	if err != nil {
		r.err = fmt.Errorf("write the rejected records: %w", err)
	}
	return r.err
}

// isTooMany reports whether n rejected records of a number of all records are more than the bound allows.
func (r *rejects) isTooMany(n int, all float64) bool {
	return n > r.most && float64(n) > r.percent/100*all
}

// checkEnd returns an error if more records were rejected than the bound allows, or if none was a row. read is the
// number of rows that were read.
func (r *rejects) checkEnd(read uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, all := len(r.seen), read+r.bad
	switch {
	case r.bad > 0 && read == 0:
		return advise(fmt.Errorf("none of %s is a row", counted(r.bad, "record")), "--format and --delimiter say how to read them")
	case r.isTooMany(n, float64(all)):
		return fmt.Errorf("%d of %s were rejected, more than %v%%", n, counted(all, "record"), r.percent)
	}
	return nil
}

// print prints the first rejected records, unless a file has them.
func (r *rejects) print(w io.Writer) {
	for _, text := range r.shown {
		fmt.Fprintf(w, "rejected: %s\n", oneLine(text))
	}
	if more := len(r.seen) - len(r.shown); len(r.shown) > 0 && more > 0 {
		fmt.Fprintf(w, "rejected: %d more\n", more)
	}
}

// total returns the number of rejected records, earlier runs included.
func (r *rejects) total(s bulk.Stats) int {
	if r.file != nil { // open has read the records of earlier runs
		return r.count()
	}
	return r.count() + int(s.SkippedRejected)
}

// outcome returns a rejectedError if records were rejected and no file has them.
func (r *rejects) outcome(s bulk.Stats) error {
	if n := r.total(s); n > 0 && r.file == nil {
		return rejectedError{n}
	}
	return nil
}

// A rejectedError means that a load has ended and that records were rejected that no file has: exit code 3.
type rejectedError struct{ records int }

func (e rejectedError) Error() string {
	verb := "were"
	if e.records == 1 {
		verb = "was"
	}
	return fmt.Sprintf("%s %s rejected; --rejected keeps them in a file", counted(e.records, "record"), verb)
}

// addRecord adds a record that is not a row.
func (r *rejects) addRecord(e *rowfile.RecordError) error {
	r.mu.Lock()
	r.bad++
	r.mu.Unlock()
	return r.add(rejectedRecord{
		File: e.File, Row: e.Row, Line: e.Line, Column: e.Column, Error: e.Err.Error(), Record: e.Record,
	}, e)
}

// addRow adds a row that was not written.
func (r *rejects) addRow(row bulk.Rejection) error {
	return r.add(rejectedRecord{
		File: row.Source, Row: row.Index, Error: explain(row.Err), Record: string(rowfile.AppendRecord(nil, row.Batch, 0)),
	}, fmt.Errorf("%s, row %d: %w", row.Source, row.Index, row.Err))
}

func (r *rejects) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen)
}

func (r *rejects) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
