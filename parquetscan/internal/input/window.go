// SPDX-License-Identifier: Apache-2.0

package input

import "github.com/vecql/vecql/parquetscan/internal/failure"

// Read-ahead in mapped files. A page fault makes the kernel read around the address, megabytes on some machines, and
// most of them belong to columns that are not read. So the bytes of a column chunk are requested before the first
// fault: in the background when its row group is opened, or one row group earlier, and a step at a time while it is
// decoded.

// DefaultReadBytes is the size of one read through an io.ReaderAt: large enough that the round trip to an object store
// counts little.
const DefaultReadBytes = 4 << 20

// ReadStep is the number of bytes of a column chunk that are loaded at once. The next step is requested before.
const ReadStep = 4 << 20

// A Window is a view of a range of a file that moves forward. It is used by one goroutine.
type Window struct {
	file *File
	size int // bytes to read at once
	buf  []byte
	off  int64 // of buf in the file

	// Of the view of a mapped file: the ends of the bytes that are loaded, and of those that are requested.
	loaded, requested int64
}

// NewWindow returns a window of a file that reads size bytes at once; 0 means DefaultReadBytes.
func NewWindow(f *File, size int) *Window {
	if size == 0 {
		size = DefaultReadBytes
	}
	return &Window{file: f, size: size}
}

// SetFile moves the window to a file, and keeps its memory.
func (w *Window) SetFile(f *File) {
	if w.file != f {
		w.file, w.buf = f, w.buf[:0]
	}
}

// Lends reports whether the bytes of the window stay valid: they are in the memory map.
func (w *Window) Lends() bool { return w.file.Mapped != nil }

// Bytes returns n bytes at off, valid until the next call. They must lie before end, which bounds what is read ahead.
func (w *Window) Bytes(off int64, n int, end int64) ([]byte, error) {
	if off < 0 || n < 0 || off > end || int64(n) > end-off || end > w.file.Size {
		return nil, failure.Corrupt("bytes %d to %d lie beyond %d", off, off+int64(n), min(end, w.file.Size))
	}
	if w.file.Mapped != nil {
		if to := off + int64(n); to > w.loaded {
			w.load(off, to, end)
		}
		return w.file.Mapped[off : off+int64(n) : off+int64(n)], nil
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
	m, err := w.file.Reader.ReadAt(buf[kept:], off+int64(kept))
	if m < length-kept {
		return nil, shortRead(length-kept, off+int64(kept), err)
	}
	w.buf, w.off = buf, off
	return w.buf[:n:n], nil
}

// StartMapped begins a view of a range of a mapped file.
func (w *Window) StartMapped(off int64) { w.loaded, w.requested = off, off }

// Request asks for the bytes of a mapped file up to an offset, and does not wait for them.
func (w *Window) Request(to int64) {
	if to > w.requested {
		willNeed(w.file.Mapped, w.requested, to-w.requested)
		w.requested = to
	}
}

// Requested states that the bytes up to an offset have been requested before.
func (w *Window) Requested(to int64) { w.requested = to }

// load loads the bytes from off to to of a mapped file, and the rest of their step, and requests the step after it. end
// bounds all steps.
func (w *Window) load(off, to, end int64) {
	w.loaded = max(w.loaded, off)
	stop := min(end, max(to, w.loaded+ReadStep))
	w.requested = max(w.requested, off)
	w.Request(min(end, stop+ReadStep))
	willRead(w.file.Mapped, w.loaded, stop-w.loaded)
	w.loaded = stop
}
