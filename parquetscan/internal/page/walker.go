// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/input"
)

// The pages of a column chunk: header, bytes, checksum, decompression (parquet-format, README.md, "Data Pages").

// A Page is a data or dictionary page in memory.
type Page struct {
	Header
	// data is the decompressed page: repetition levels, definition levels, values. It is valid until the next page.
	Data []byte
}

// MaxBytes bounds a page: the position of each of its bits is an int. It is 256 MiB on 32-bit machines.
const MaxBytes = math.MaxInt / 8

// A Walker reads the pages of a column chunk in order.
type Walker struct {
	win      *input.Window
	off, end int64 // unread bytes of the chunk
	codec    format.Codec
	limit    int // bytes of a page
	verify   bool
	notPlain bool // no page V2 is uncompressed, whatever its header states: see CompressesAll

	header    Header
	headerLen int // 0 if there is none
	page      Page
	memory    memory // of page, unless that is in the memory map
	secret    secret // of an encrypted chunk
}

// newWalker returns the pages in the bytes of a window from off to end.
func newWalker(win *input.Window, off, end int64) *Walker {
	return &Walker{win: win, off: off, end: end}
}

// Ahead requests the first bytes of the chunk; requested means that they have been requested before. A second request
// of cached bytes takes a hundredth of the time of a scan.
func (w *Walker) Ahead(requested bool) {
	to := min(w.end, w.off+2*input.ReadStep)
	if requested {
		w.win.Requested(to)
	}
	w.win.Request(to)
}

// Peek returns the header of the next page, or io.EOF.
func (w *Walker) Peek() (Header, error) {
	if w.headerLen > 0 {
		return w.header, nil
	}
	if w.off >= w.end {
		return Header{}, io.EOF
	}
	h, n, err := w.readHeader()
	if err != nil {
		return Header{}, err
	}
	if left := w.end - w.off - int64(n); int64(h.Compressed) > left {
		return Header{}, failure.Corrupt("page of %d bytes, but its column chunk has %d left", h.Compressed, left)
	}
	w.header, w.headerLen = h, n
	return h, nil
}

// readHeader returns the header of the next page, and its length in the file.
func (w *Walker) readHeader() (Header, int, error) {
	if w.secret.chunk != nil {
		return w.secret.header(w.win, w.off, w.end)
	}
	for length := int64(256); ; length *= 16 {
		length = min(length, w.end-w.off)
		b, err := w.win.Bytes(w.off, int(length), w.end)
		if err != nil {
			return Header{}, 0, err
		}
		h, n, err := ParseHeader(b)
		if err != nil {
			return Header{}, 0, err
		}
		if n > 0 {
			return h, n, nil
		}
		if length >= w.end-w.off || length >= maxHeaderBytes {
			return Header{}, 0, failure.Corrupt("page header is longer than its column chunk")
		}
	}
}

// Skip skips the next page.
func (w *Walker) Skip() error {
	h, err := w.Peek()
	if err != nil {
		return err
	}
	w.secret.pass(&h)
	w.off += int64(w.headerLen) + int64(h.Compressed)
	w.headerLen = 0
	return nil
}

// Next returns the next page, or io.EOF. The page is valid until the next call.
func (w *Walker) Next() (*Page, error) {
	for {
		h, err := w.Peek()
		if err != nil {
			return nil, err
		}
		at, place := w.off+int64(w.headerLen), w.secret.place
		if err := w.Skip(); err != nil {
			return nil, err
		}
		if h.Type != format.DataPage && h.Type != format.DataPageV2 && h.Type != format.DictionaryPage {
			continue // readers skip pages of unknown types (parquet.thrift, PageType)
		}
		if int(h.uncompressed) > w.limit {
			return nil, fmt.Errorf("%w: page of %d bytes", failure.ErrTooLarge, h.uncompressed)
		}
		src, err := w.win.Bytes(at, int(h.Compressed), w.end)
		if err != nil {
			return nil, err
		}
		if w.verify && h.hasCRC && crc32.ChecksumIEEE(src) != h.crc {
			return nil, failure.Corrupt("checksum of a page does not match")
		}
		if w.secret.chunk != nil {
			if src, err = w.secret.content(src, place); err != nil {
				return nil, err
			}
			h.Compressed = int32(len(src))
		}
		data, err := w.decompress(&h, src)
		if err != nil {
			return nil, err
		}
		w.page = Page{Header: h, Data: data}
		return &w.page, nil
	}
}

// Release ends the use of the current page, whose memory others may use then.
func (w *Walker) Release() {
	w.page.Data = nil
	w.memory.release()
}

// decompress returns the page's decompressed bytes: in w.memory, or in the memory map if the page is not compressed.
func (w *Walker) decompress(h *Header, src []byte) (_ []byte, err error) {
	levels := 0
	if h.Type == format.DataPageV2 {
		if h.DefLength < 0 || h.RepLength < 0 ||
			int64(h.DefLength)+int64(h.RepLength) > int64(min(h.Compressed, h.uncompressed)) {
			return nil, failure.Corrupt("levels of %d and %d bytes, but the page has %d", h.RepLength, h.DefLength, h.Compressed)
		}
		levels = int(h.DefLength + h.RepLength)
	}
	if w.codec == format.Uncompressed || (h.Type == format.DataPageV2 && h.plain && !w.notPlain) {
		if h.Compressed != h.uncompressed {
			return nil, failure.Corrupt("uncompressed page has %d bytes, want %d", h.Compressed, h.uncompressed)
		}
		if !w.win.Lends() { // peek at the next header may move the window
			to := w.memory.grow(len(src))
			copy(to, src)
			src = to
		}
		return src, nil
	}
	n := int(h.uncompressed)
	if w.codec == format.Brotli {
		w.memory.bytes, err = decompressBrotli(w.memory.bytes, src, levels, n)
		return w.memory.bytes, err
	}
	if !plausible(w.codec, src[levels:], n-levels) {
		return nil, failure.Corrupt("page of %d bytes of %v cannot decompress to %d", h.Compressed, w.codec, n)
	}
	to := w.memory.grow(n)
	copy(to, src[:levels])
	if n == levels {
		return to, nil // no values: some writers compress nothing to some bytes, others to none
	}
	return to, decompress(w.codec, to[levels:n:n+buffer.Slack], src[levels:])
}
