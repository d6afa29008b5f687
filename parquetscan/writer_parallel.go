// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/encoder"
)

// Encoding of row groups by several goroutines (WriterOptions.Workers). The Writer writes encoded row groups in the
// order of the rows.

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

// handOver starts to encode the row group. Before, it waits until fewer than Workers row groups are encoded.
func (w *Writer) handOver(rows int) error {
	if err := w.collect(w.options.Workers - 1); err != nil {
		return err
	}
	j := &groupJob{batches: w.held, rows: rows, encoder: w.newEncoder(), done: make(chan struct{})}
	go j.run()
	w.jobs, w.held = append(w.jobs, j), nil
	return nil
}

// collect writes row groups that are encoded until at most a number of jobs is left.
func (w *Writer) collect(most int) error {
	for len(w.jobs) > most {
		j := w.jobs[0]
		<-j.done
		if j.err != nil {
			return j.err
		}
		if err := w.file.Append(j.rows, j.chunks); err != nil {
			return err
		}
		w.idle = append(w.idle, j.encoder)
		w.jobs[0] = nil
		w.jobs = w.jobs[1:]
	}
	return nil
}

// newEncoder returns an encoder without rows.
func (w *Writer) newEncoder() *columnWriter {
	if n := len(w.idle); n > 0 {
		e := w.idle[n-1]
		w.idle = w.idle[:n-1]
		return e
	}
	columns := make([]*encoder.Column, len(w.schema.leaves))
	for i, leaf := range w.schema.leaves {
		columns[i] = &leaf.column
	}
	return &columnWriter{
		fields: w.schema.fields, pageBytes: w.options.PageBytes, chunks: encoder.NewChunks(columns, &w.pages),
	}
}
