// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"github.com/vecql/vecql/column"
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
	path   string
	file   *os.File // temporary, in the same folder; nil after Close and Abort
	buffer *bufio.Writer
	mode   fs.FileMode // of the file that is replaced, 0 if there is none
}

// Create returns a FileWriter for a path. It writes to a temporary file in the same folder. Close replaces an existing
// file and keeps its permissions; if path is a symbolic link, Close replaces the file that it points at. The caller
// must call Close or Abort.
func Create(path string, schema column.Schema, o WriterOptions) (*FileWriter, error) {
	w := &FileWriter{path: path}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		w.path = target
	}
	switch info, err := os.Stat(w.path); {
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("parquetscan: %s is not a regular file", path)
	case err == nil:
		w.mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	var err error
	for range 100 {
		dir, base := filepath.Split(w.path)
		name := filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", base, rand.Uint32()))
		if w.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	w.buffer = bufio.NewWriterSize(w.file, 1<<16)
	if w.writer, err = NewWriter(w.buffer, schema, o); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// Write adds the rows of a batch: see [Writer.Write].
func (w *FileWriter) Write(b *column.Batch) error { return w.writer.Write(b) }

// Close writes the remaining rows, syncs the file to disk, and renames it to its path. After an error, also one of
// Write, it removes the temporary file. A second Close does nothing.
func (w *FileWriter) Close() error {
	if w.file == nil {
		return w.writer.Close()
	}
	if err := w.finish(); err != nil {
		return errors.Join(err, w.Abort())
	}
	return nil
}

// finish makes the temporary file appear under its name: it syncs the content, renames the file and syncs the folder,
// so that a crash leaves the old file or the complete new one.
func (w *FileWriter) finish() error {
	if err := w.writer.Close(); err != nil {
		return err
	}
	err := w.buffer.Flush()
	if err == nil && w.mode != 0 {
		err = w.file.Chmod(w.mode)
	}
	if err == nil {
		err = w.file.Sync() // the content before the name
	}
	if err != nil {
		return fmt.Errorf("parquetscan: %w", err)
	}
	name := w.file.Name()
	if err = w.file.Close(); err == nil {
		err = os.Rename(name, w.path)
	}
	if err != nil {
		return fmt.Errorf("parquetscan: %w", err)
	}
	w.file = nil
	return syncFolder(filepath.Dir(w.path))
}

// syncFolder syncs the names in a folder to disk, where the system supports it.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err == nil {
		err = errors.Join(dir.Sync(), dir.Close())
	}
	if err != nil {
		return fmt.Errorf("parquetscan: %w", err)
	}
	return nil
}

// Abort removes the temporary file. After Close it does nothing.
func (w *FileWriter) Abort() error {
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	_ = f.Close() // it may be closed
	if w.writer != nil && w.writer.err == nil {
		w.writer.err = errWriterClosed
	}
	if err := os.Remove(f.Name()); err != nil {
		return fmt.Errorf("parquetscan: %w", err)
	}
	return nil
}
