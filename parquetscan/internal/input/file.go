// SPDX-License-Identifier: Apache-2.0

// Package input reads the bytes of files: from a memory map, or through windows of an io.ReaderAt.
package input

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// A File is the bytes of a file. It is safe for concurrent use.
type File struct {
	Reader io.ReaderAt
	Size   int64
	Local  *os.File // nil unless the file is local
	Mapped []byte   // the whole file, nil if it is not mapped
}

// Map maps a local file into memory where the system supports it.
func (f *File) Map() (err error) {
	f.Mapped, err = mapFile(f.Local, f.Size)
	return err
}

// Close closes a local file. The Readers of other files stay open.
func (f *File) Close() error {
	var errs []error
	if f.Mapped != nil {
		errs = append(errs, unmapFile(f.Mapped))
		f.Mapped = nil
	}
	if f.Local != nil {
		errs = append(errs, f.Local.Close())
	}
	return errors.Join(errs...)
}

// CheckSize returns an error if the file is mapped and was truncated: the rest of its last page of memory reads as
// zeros, without a fault.
func (f *File) CheckSize() error {
	if f.Mapped == nil {
		return nil
	}
	info, err := f.Local.Stat()
	if err != nil {
		return err
	}
	if info.Size() < f.Size {
		return fmt.Errorf("%w: it has %d bytes instead of %d", failure.ErrChanged, info.Size(), f.Size)
	}
	return nil
}

// Need begins to load a range of a mapped file, as far as it lies in the file, and does not wait for it.
func (f *File) Need(off, n int64) { willNeed(f.Mapped, off, n) }

// ReadAt fills b, from the memory map if there is one.
func (f *File) ReadAt(b []byte, off int64) (err error) {
	if f.Mapped != nil {
		f.Need(off, int64(len(b)))
		defer CatchFaults()()
		defer func() {
			if r := recover(); r != nil {
				err = FaultError(r)
			}
		}()
		copy(b, f.Mapped[off:])
		return nil
	}
	n, err := f.Reader.ReadAt(b, off)
	if n < len(b) {
		return shortRead(len(b), off, err)
	}
	return nil
}

// shortRead returns the error for less than n bytes at off: ErrChanged where the file ends before its size.
func shortRead(n int, off int64, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", failure.ErrChanged, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("reading %d bytes at %d: %w", n, off, err)
}

// CatchFaults turns memory faults of this goroutine into panics until restore is called: reading beyond the end of a
// truncated mapped file is a fault.
func CatchFaults() (restore func()) {
	before := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(before) }
}

// FaultError returns the error for a panic caused by a fault, and panics again for any other.
func FaultError(recovered any) error {
	if fault, ok := recovered.(interface {
		error
		Addr() uintptr
	}); ok {
		return fmt.Errorf("%w: %w", failure.ErrChanged, fault)
	}
	panic(recovered)
}
