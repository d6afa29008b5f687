// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/encoder"
)

// Encoding of row groups, by the caller or by several goroutines (WriterOptions.Workers). Encoded row groups are
// written in the order of the rows.

// groupEncoders encode the row groups of a file.
type groupEncoders struct {
	file    *encoder.File
	schema  *writeSchema
	pages   encoder.Options
	workers int

	// The row group that is not full: its rows are in current, or with workers in held.
	current *columnWriter // nil means that the row group has no rows
	held    []*column.Batch

	jobs []*groupJob     // row groups not yet written, in the order of rows
	idle []*columnWriter // between row groups
}

// A groupJob is a row group that a goroutine encodes.
type groupJob struct {
	batches []*column.Batch // its rows; the job owns them
	rows    int
	encoder *columnWriter
	done    chan struct{} // closed when chunks or err is set
	chunks  []*encoder.Encoded
	err     error
}

// run encodes the row group.
func (j *groupJob) run() {
	defer close(j.done)
	defer func() {
		if r := recover(); r != nil {
			j.err = fmt.Errorf("encode a row group: panic: %v", r)
		}
	}()
	for i, b := range j.batches {
		if j.err = j.encoder.writeRows(b, 0, b.Rows); j.err != nil {
			return
		}
		j.batches[i] = nil
	}
	j.chunks, j.err = j.encoder.finish()
}

// writeRows adds rows [from, to) to the current row group.
func (e *groupEncoders) writeRows(b *column.Batch, from, to int) error {
	if e.workers > 1 {
		e.held = append(e.held, b.Slice(from, to).Clone())
		return nil
	}
	if e.current == nil {
		e.current = e.take()
	}
	return e.current.writeRows(b, from, to)
}

// endGroup ends the current row group. With workers, it starts to encode the row group, and before waits until fewer
// than workers row groups are encoded.
func (e *groupEncoders) endGroup(rows int) error {
	if e.workers <= 1 {
		chunks, err := e.current.finish()
		if err != nil {
			return err
		}
		e.idle, e.current = append(e.idle, e.current), nil
		return e.file.Append(rows, chunks)
	}
	if err := e.collect(e.workers - 1); err != nil {
		return err
	}
	j := &groupJob{batches: e.held, rows: rows, encoder: e.take(), done: make(chan struct{})}
	go j.run()
	e.jobs, e.held = append(e.jobs, j), nil
	return nil
}

// collect writes row groups that are encoded until at most a number of jobs is left.
func (e *groupEncoders) collect(most int) error {
	for len(e.jobs) > most {
		j := e.jobs[0]
		<-j.done
		if j.err != nil {
			return j.err
		}
		if err := e.file.Append(j.rows, j.chunks); err != nil {
			return err
		}
		e.idle = append(e.idle, j.encoder)
		e.jobs[0] = nil
		e.jobs = e.jobs[1:]
	}
	return nil
}

// take returns a columnWriter without rows.
func (e *groupEncoders) take() *columnWriter {
	if n := len(e.idle); n > 0 {
		w := e.idle[n-1]
		e.idle = e.idle[:n-1]
		return w
	}
	columns := make([]*encoder.Column, len(e.schema.leaves))
	for i, leaf := range e.schema.leaves {
		columns[i] = &leaf.column
	}
	pages := e.pages // a copy, because Close drops e while goroutines may still encode
	return &columnWriter{
		fields: e.schema.fields, pageBytes: pages.PageBytes, chunks: encoder.NewChunks(columns, &pages),
	}
}
