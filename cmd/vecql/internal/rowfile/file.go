// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/atomicfile"
)

// Writing rows to a file.

// A File is a file of rows, which appears under its name when Close has completed it.
type File struct {
	writer Writer
	buffer *bufio.Writer
	target target
	path   string
	done   bool
}

// A target is where the bytes of a file go.
type target interface {
	io.Writer
	Commit() error
	Abort() error
}

// Create returns a File for a path. Without a format in the options the name decides, and without a compression, too. A
// device or a pipe is written in place. The caller must call Close or Abort.
func Create(path string, schema column.Schema, o WriterOptions) (*File, error) {
	format, compression := ByName(path)
	if o.Format == 0 {
		o.Format = format
	}
	if o.Format == 0 {
		return nil, fmt.Errorf("%s: the name does not show the format", path)
	}
	if o.Compression == Plain {
		o.Compression = compression
	}
	if o.Dialect.Comma == 0 {
		o.Dialect.Comma = Delimiter(path)
	}
	to, err := openTarget(path)
	if err != nil {
		return nil, err
	}
	f := &File{buffer: bufio.NewWriterSize(to, 1<<16), target: to, path: path}
	if f.writer, err = NewWriter(f.buffer, schema, o); err != nil {
		_ = to.Abort() // the first error is the cause
		return nil, writeError(path, err)
	}
	return f, nil
}

// writeError returns the error of a write to a file. The text has the path once, and not the temporary name.
func writeError(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("write %s: %w", path, err)
}

func openTarget(path string) (target, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return device{f}, err
	}
	return atomicfile.Create(path)
}

// A device is a target that has no temporary name.
type device struct{ *os.File }

func (d device) Commit() error { return d.Close() }
func (d device) Abort() error  { return d.Close() }

// Write adds rows. After an error the file can only be aborted.
func (f *File) Write(b *column.Batch) error { return f.WriteBlock(Block{Batch: b}) }

// WriteBlock writes the block of an Encoder.
func (f *File) WriteBlock(b Block) error {
	if err := b.Write(f.writer); err != nil {
		return writeError(f.path, err)
	}
	return nil
}

// Close completes the file, syncs it to disk, and renames it to its path. After an error there is no file.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	err := f.writer.Close()
	if err == nil {
		err = f.buffer.Flush()
	}
	if err != nil {
		_ = f.target.Abort() // the first error is the cause
	} else {
		err = f.target.Commit()
	}
	if err != nil {
		return writeError(f.path, err)
	}
	return nil
}

// Abort removes the file. After Close it does nothing.
func (f *File) Abort() error {
	if f.done {
		return nil
	}
	f.done = true
	return f.target.Abort()
}
