// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/vecql/vecql/internal/literals"
	"github.com/vecql/vecql/internal/snappy"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/input"
)

// The pages of a column chunk: header, bytes, checksum, decompression (parquet-format, README.md, "Data Pages").

// A Page is a data or dictionary page in memory.
type Page struct {
	Header
	// data is the decompressed page: repetition levels, definition levels, values. It is valid until the next page.
	Data []byte
}

// Pages reads the pages of a column chunk in order.
type Pages interface {
	// peek returns the header of the next page, or io.EOF.
	Peek() (Header, error)
	// next returns the next page, or io.EOF. The page is valid until the next call.
	Next() (*Page, error)
	// skip skips the next page.
	Skip() error
	// ahead requests the first bytes of the chunk; requested means that they have been requested before.
	Ahead(requested bool)
}

// maxHeaderBytes bounds a page header, which may hold statistics with long values.
const maxHeaderBytes = 16 << 20

// MaxBytes bounds a page: the position of each of its bits is an int. It is 256 MiB on 32-bit machines.
const MaxBytes = math.MaxInt / 8

// A Walker reads pages from the bytes of a column chunk that is not encrypted.
type Walker struct {
	win      *input.Window
	off, end int64 // unread bytes of the chunk
	codec    compress.Codec
	kind     compress.Compression
	limit    int // bytes of a page
	verify   bool
	notPlain bool // no page V2 is uncompressed, whatever its header states: see CompressesAll

	header    Header
	headerLen int // 0 if there is none
	page      Page
	buf       []byte
}

// newWalker returns the pages in the bytes of a window from off to end.
func newWalker(win *input.Window, off, end int64) *Walker {
	return &Walker{win: win, off: off, end: end}
}

// Ahead implements Pages. A second request of cached bytes takes a hundredth of the time of a scan.
func (w *Walker) Ahead(requested bool) {
	to := min(w.end, w.off+2*input.ReadStep)
	if requested {
		w.win.Requested(to)
	}
	w.win.Request(to)
}

// Peek implements Pages.
func (w *Walker) Peek() (Header, error) {
	if w.headerLen > 0 {
		return w.header, nil
	}
	if w.off >= w.end {
		return Header{}, io.EOF
	}
	for length := int64(256); ; length *= 16 {
		length = min(length, w.end-w.off)
		b, err := w.win.Bytes(w.off, int(length), w.end)
		if err != nil {
			return Header{}, err
		}
		h, n, err := ParseHeader(b)
		if err != nil {
			return Header{}, err
		}
		if n == 0 {
			if length >= w.end-w.off || length >= maxHeaderBytes {
				return Header{}, failure.Corrupt("page header is longer than its column chunk")
			}
			continue
		}
		if int64(h.Compressed) > w.end-w.off-int64(n) {
			return Header{}, failure.Corrupt("page of %d bytes, but its column chunk has %d left", h.Compressed,
				w.end-w.off-int64(n))
		}
		w.header, w.headerLen = h, n
		return h, nil
	}
}

// Skip implements Pages.
func (w *Walker) Skip() error {
	h, err := w.Peek()
	if err != nil {
		return err
	}
	w.off += int64(w.headerLen) + int64(h.Compressed)
	w.headerLen = 0
	return nil
}

// Next implements Pages.
func (w *Walker) Next() (*Page, error) {
	for {
		h, err := w.Peek()
		if err != nil {
			return nil, err
		}
		at := w.off + int64(w.headerLen)
		if err := w.Skip(); err != nil {
			return nil, err
		}
		if h.Type != Data && h.Type != DataV2 && h.Type != Dictionary {
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
		data, err := w.decompress(&h, src)
		if err != nil {
			return nil, err
		}
		w.page = Page{Header: h, Data: data}
		return &w.page, nil
	}
}

// decompress returns the page's decompressed bytes: in w.buf, or in the memory map if the page is not compressed.
func (w *Walker) decompress(h *Header, src []byte) ([]byte, error) {
	levels := 0
	if h.Type == DataV2 {
		if h.DefLength < 0 || h.RepLength < 0 ||
			int64(h.DefLength)+int64(h.RepLength) > int64(min(h.Compressed, h.uncompressed)) {
			return nil, failure.Corrupt("levels of %d and %d bytes, but the page has %d", h.RepLength, h.DefLength, h.Compressed)
		}
		levels = int(h.DefLength + h.RepLength)
	}
	if w.kind == compress.Codecs.Uncompressed || (h.Type == DataV2 && h.plain && !w.notPlain) {
		if h.Compressed != h.uncompressed {
			return nil, failure.Corrupt("uncompressed page has %d bytes, want %d", h.Compressed, h.uncompressed)
		}
		if !w.win.Lends() { // peek at the next header may move the window
			w.buf = buffer.GrowBytes(w.buf[:0], len(src))
			copy(w.buf, src)
			src = w.buf
		}
		return src, nil
	}
	n := int(h.uncompressed)
	if w.kind == compress.Codecs.Brotli {
		return w.decompressBrotli(src, levels, n)
	}
	if !plausible(w.kind, src[levels:], n-levels) {
		return nil, failure.Corrupt("page of %d bytes of %v cannot decompress to %d", h.Compressed, w.kind, n)
	}
	w.buf = buffer.GrowBytes(w.buf[:0], n)
	copy(w.buf, src[:levels])
	if n == levels {
		return w.buf[:n], nil // no values: some writers compress nothing to some bytes, others to none
	}
	out, err := decompress(w.kind, w.codec, w.buf[levels:n:n+buffer.Slack], src[levels:])
	if errors.Is(err, io.EOF) { // the end of a stream, not of the pages
		err = failure.Corrupt("%v: %w", w.kind, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return nil, err
	}
	if len(out) != n-levels {
		return nil, failure.Corrupt("page decompresses to %d bytes, want %d", len(out), n-levels)
	}
	if &out[0] != &w.buf[levels] { // the codec allocated its own memory
		copy(w.buf[levels:n], out)
	}
	return w.buf[:n], nil
}

// decompressBrotli decodes a page of n bytes that begins with levels. No length of a stream bounds its content, so the
// memory grows with the content that the stream has had so far.
func (w *Walker) decompressBrotli(src []byte, levels, n int) ([]byte, error) {
	stream := w.codec.(compress.StreamingCodec).NewReader(bytes.NewReader(src[levels:]))
	w.buf = buffer.GrowBytes(w.buf[:0], levels)
	copy(w.buf, src[:levels])
	for have := levels; ; {
		if have == len(w.buf) {
			w.buf = buffer.GrowBytes(w.buf, min(n, max(2*have, 4*len(src), 4096)))
		}
		if have == n {
			break
		}
		k, err := stream.Read(w.buf[have:])
		have += k
		switch {
		case errors.Is(err, io.EOF) && have < n:
			return nil, failure.Corrupt("page decompresses to %d bytes, want %d", have-levels, n-levels)
		case err != nil && !errors.Is(err, io.EOF):
			return nil, failure.Corrupt("%v: %w", w.kind, err)
		}
	}
	if k, err := stream.Read(make([]byte, 1)); n > levels && (k != 0 || !errors.Is(err, io.EOF)) {
		return nil, failure.Corrupt("page decompresses to more than %d bytes", n-levels)
	}
	return w.buf, nil
}

// decompress decodes src to dst, which has the expected length, and slack bytes of spare capacity. Its memory is
// bounded by that length.
func decompress(kind compress.Compression, codec compress.Codec, dst, src []byte) (out []byte, err error) {
	defer func() {
		if err != nil {
			err = failure.Corrupt("%v: %w", kind, err)
		}
	}()
	switch kind {
	case compress.Codecs.Snappy:
		return dst, snappy.Decode(dst, src)
	case compress.Codecs.Zstd:
		if literals.Decode(dst, src) {
			return dst, nil
		}
		return zstdDecoder().DecodeAll(src, dst[:0])
	case compress.Codecs.Lz4:
		return decompressLZ4(codec, slices.Clip(dst), src)
	}
	return compress.Decode(codec, slices.Clip(dst), src)
}

// plausible reports whether src may decompress to n bytes, before memory is allocated for them.
func plausible(kind compress.Compression, src []byte, n int) bool {
	most := uint64(len(src)) + 1
	switch kind {
	case compress.Codecs.Snappy:
		most *= 22 // a copy of 64 bytes takes 3
	case compress.Codecs.Lz4, compress.Codecs.Lz4Raw:
		most *= 256 // a byte adds 255 to the length of a match
	case compress.Codecs.Gzip:
		most *= 1032 // two bits are a match of 258 bytes
	case compress.Codecs.Zstd:
		bound, err := zstdBound(src)
		return err == nil && uint64(n) <= bound
	default:
		return true
	}
	return uint64(n) <= most
}

// codecOf returns the codec of a column chunk.
func codecOf(kind compress.Compression) (compress.Codec, error) {
	from := kind
	if kind == compress.Codecs.Lz4 {
		from = compress.Codecs.Lz4Raw // of the blocks in its frames
	}
	codec, err := compress.GetCodec(from)
	if err != nil {
		return nil, fmt.Errorf("%w: codec %v", failure.ErrUnsupported, kind)
	}
	return codec, nil
}
