// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Reading bytes of files: from a memory map, or through windows of an io.ReaderAt.

// A Source is a file to read: a size, and a reader of byte ranges that is safe for concurrent use.
type Source struct {
	// Name identifies the file in Buckets and errors.
	Name   string
	Reader io.ReaderAt
	Size   int64
	// ETag is any text that changes when the content changes, such as an object store's etag. If it is empty, Buckets
	// detect only a change of size, and a [Cache] does not keep the footer.
	ETag string
}

// defaultReadBytes is the size of one read through an io.ReaderAt: large enough that the round trip to an object store
// counts little.
const defaultReadBytes = 4 << 20

// openFile opens a local file as a Source whose identity is its size and time of modification.
func openFile(path string) (Source, *os.File, error) {
	info, err := os.Stat(path) // opening a pipe would block until there is a writer
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return Source{}, nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return Source{}, nil, err
	}
	info, err = f.Stat()
	if err != nil {
		f.Close()
		return Source{}, nil, err
	}
	return Source{
		Name: path, Reader: f, Size: info.Size(),
		ETag: fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixNano()),
	}, f, nil
}

// A window is a view of a range of a file that moves forward. It is used by one goroutine.
type window struct {
	src    *Source
	mapped []byte // the whole file, if it is mapped
	size   int    // bytes to read at once
	buf    []byte
	off    int64 // of buf in the file

	// Of the view of a mapped file: the ends of the bytes that are loaded, and of those that are requested.
	loaded, requested int64
}

// bytes returns n bytes at off, valid until the next call. They must lie before end, which bounds what is read ahead.
func (w *window) bytes(off int64, n int, end int64) ([]byte, error) {
	if off < 0 || n < 0 || off > end || int64(n) > end-off || end > w.src.Size {
		return nil, failure.Corrupt("bytes %d to %d lie beyond %d", off, off+int64(n), min(end, w.src.Size))
	}
	if w.mapped != nil {
		if to := off + int64(n); to > w.loaded {
			w.load(off, to, end)
		}
		return w.mapped[off : off+int64(n) : off+int64(n)], nil
	}
	if off >= w.off && off+int64(n) <= w.off+int64(len(w.buf)) {
		at := off - w.off
		return w.buf[at : at+int64(n) : at+int64(n)], nil
	}
	length := int(min(max(int64(n), int64(w.size)), end-off))
	buf, kept := w.buf, 0
	if cap(buf) < length {
		buf = make([]byte, length)
	}
	buf = buf[:length]
	if at := off - w.off; at >= 0 && at < int64(len(w.buf)) { // the last bytes of the window are the first ones of this
		kept = copy(buf, w.buf[at:])
	}
	w.buf = w.buf[:0]
	m, err := w.src.Reader.ReadAt(buf[kept:], off+int64(kept))
	if m < length-kept {
		return nil, shortRead(length-kept, off+int64(kept), err)
	}
	w.buf, w.off = buf, off
	return w.buf[:n:n], nil
}

// shortRead returns the error for less than n bytes at off: ErrChanged where the file ends before its size.
func shortRead(n int, off int64, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", failure.ErrChanged, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("reading %d bytes at %d: %w", n, off, err)
}

// catchFaults turns memory faults of this goroutine into panics until restore is called: reading beyond the end of a
// truncated mapped file is a fault.
func catchFaults() (restore func()) {
	before := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(before) }
}

// faultError returns the error for a panic caused by a fault, and panics again for any other.
func faultError(recovered any) error {
	if fault, ok := recovered.(interface {
		error
		Addr() uintptr
	}); ok {
		return fmt.Errorf("%w: %w", failure.ErrChanged, fault)
	}
	panic(recovered)
}
