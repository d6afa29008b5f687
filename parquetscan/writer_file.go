// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bufio"
	"context"
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/atomicfile"
)

// Atomic writing of files: a file appears under its name complete or not at all.

// WriteFile writes batches to a file, with the zero WriterOptions. All batches must have the columns of the first one.
// The file appears under its name when it is complete and on disk: after an error or a crash there is no file, or the
// previous one.
func WriteFile(ctx context.Context, path string, batches ...*column.Batch) error {
	if len(batches) == 0 {
		return fmt.Errorf("parquetscan: %s: no batches, so the columns are unknown", path)
	}
	w, err := Create(path, batches[0].Schema(), WriterOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = w.Abort() }() // does nothing after Close
	for _, b := range batches {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.Write(b); err != nil {
			return err
		}
	}
	return w.Close()
}

// A FileWriter writes a file that appears under its name when Close has completed it. It is not safe for concurrent
// use.
type FileWriter struct {
	writer *Writer
	file   *atomicfile.File
	buffer *bufio.Writer
}

// Create returns a FileWriter for a path. It writes to a temporary file in the same folder. Close replaces an existing
// file and keeps its permissions; if path is a symbolic link, Close replaces the file that it points at. The caller
// must call Close or Abort.
func Create(path string, schema column.Schema, o WriterOptions) (*FileWriter, error) {
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	w := &FileWriter{file: f, buffer: bufio.NewWriterSize(f, 1<<16)}
	if w.writer, err = NewWriter(w.buffer, schema, o); err != nil {
		_ = w.Abort() // the first error is the cause
		return nil, err
	}
	return w, nil
}

// Write adds the rows of a batch: see [Writer.Write].
func (w *FileWriter) Write(b *column.Batch) error { return w.writer.Write(b) }

// Close writes the remaining rows, syncs the file to disk, and renames it to its path. After an error, also one of
// Write, it removes the temporary file. A second Close does nothing.
func (w *FileWriter) Close() error {
	if w.writer.closed {
		return w.writer.Close()
	}
	err := w.writer.Close()
	if err == nil {
		if err = w.buffer.Flush(); err == nil {
			err = w.file.Commit()
		}
		if err != nil {
			err = fmt.Errorf("parquetscan: %w", err)
		}
	}
	if err != nil {
		w.writer.err = err
		_ = w.file.Abort() // the first error is the cause
		return err
	}
	return nil
}

// Abort removes the temporary file. After Close it does nothing.
func (w *FileWriter) Abort() error {
	if w.writer != nil && w.writer.err == nil && !w.writer.closed {
		w.writer.err = errWriterClosed
	}
	if err := w.file.Abort(); err != nil {
		return fmt.Errorf("parquetscan: %w", err)
	}
	return nil
}
