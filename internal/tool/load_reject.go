// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/internal/rowfile"
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
	most    int     // records
	percent float64 // of all records
	written func() uint64

	mu   sync.Mutex
	seen map[position]bool
	file *os.File // nil means none
	err  error    // the first record that was too many
}

// setMost sets the bound by the flag --max-errors: a number or a percentage.
func (r *rejects) setMost(flag string) (err error) {
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

// open opens the file. To resume reads the records that an earlier run has rejected, and removes an incomplete last
// line.
func (r *rejects) open(path string, resume bool) error {
	r.seen = map[position]bool{}
	if path == "" {
		return nil
	}
	var kept int64
	if resume {
		content, err := os.ReadFile(path)
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
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
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
	n := float64(len(r.seen) + 1)
	const leastRows = 1000 // that a percentage refers to
	if n > float64(r.most) && n > r.percent/100*max(float64(r.written())+n, leastRows) {
		if r.err = cause; len(r.seen) > 0 {
			r.err = fmt.Errorf("%d records were rejected, the last one: %w", len(r.seen)+1, cause)
		}
		r.err = advise(r.err, "--max-errors allows such records, --rejected keeps them")
		return r.err
	}
	r.seen[at] = true
	if r.file == nil {
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

// addRecord adds a record that is not a row.
func (r *rejects) addRecord(e *rowfile.RecordError) error {
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
