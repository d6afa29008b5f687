// SPDX-License-Identifier: Apache-2.0

package parquetscan

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

// A page is a data or dictionary page in memory.
type page struct {
	pageHeader
	// data is the decompressed page: repetition levels, definition levels, values. It is valid until the next page.
	data []byte
}

// pages reads the pages of a column chunk in order.
type pages interface {
	// peek returns the header of the next page, or io.EOF.
	peek() (pageHeader, error)
	// next returns the next page, or io.EOF. The page is valid until the next call.
	next() (*page, error)
	// skip skips the next page.
	skip() error
}

// maxHeaderBytes bounds a page header, which may hold statistics with long values.
const maxHeaderBytes = 16 << 20

// maxPageBytes bounds a page: the position of each of its bits is an int. It is 256 MiB on 32-bit machines.
const maxPageBytes = math.MaxInt / 8

// A pageWalker reads pages from the bytes of a column chunk that is not encrypted.
type pageWalker struct {
	win      *input.Window
	off, end int64 // unread bytes of the chunk
	codec    compress.Codec
	kind     compress.Compression
	limit    int // bytes of a page
	verify   bool
	notPlain bool // no page V2 is uncompressed, whatever its header states: see CompressesAll

	header    pageHeader
	headerLen int // 0 if there is none
	page      page
	buf       []byte
}

// peek implements pages.
func (w *pageWalker) peek() (pageHeader, error) {
	if w.headerLen > 0 {
		return w.header, nil
	}
	if w.off >= w.end {
		return pageHeader{}, io.EOF
	}
	for length := int64(256); ; length *= 16 {
		length = min(length, w.end-w.off)
		b, err := w.win.Bytes(w.off, int(length), w.end)
		if err != nil {
			return pageHeader{}, err
		}
		h, n, err := parsePageHeader(b)
		if err != nil {
			return pageHeader{}, err
		}
		if n == 0 {
			if length >= w.end-w.off || length >= maxHeaderBytes {
				return pageHeader{}, failure.Corrupt("page header is longer than its column chunk")
			}
			continue
		}
		if int64(h.compressed) > w.end-w.off-int64(n) {
			return pageHeader{}, failure.Corrupt("page of %d bytes, but its column chunk has %d left", h.compressed,
				w.end-w.off-int64(n))
		}
		w.header, w.headerLen = h, n
		return h, nil
	}
}

// skip implements pages.
func (w *pageWalker) skip() error {
	h, err := w.peek()
	if err != nil {
		return err
	}
	w.off += int64(w.headerLen) + int64(h.compressed)
	w.headerLen = 0
	return nil
}

// next implements pages.
func (w *pageWalker) next() (*page, error) {
	for {
		h, err := w.peek()
		if err != nil {
			return nil, err
		}
		at := w.off + int64(w.headerLen)
		if err := w.skip(); err != nil {
			return nil, err
		}
		if h.typ != dataPage && h.typ != dataPageV2 && h.typ != dictionaryPage {
			continue // readers skip pages of unknown types (parquet.thrift, PageType)
		}
		if int(h.uncompressed) > w.limit {
			return nil, fmt.Errorf("%w: page of %d bytes", failure.ErrTooLarge, h.uncompressed)
		}
		src, err := w.win.Bytes(at, int(h.compressed), w.end)
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
		w.page = page{pageHeader: h, data: data}
		return &w.page, nil
	}
}

// decompress returns the page's decompressed bytes: in w.buf, or in the memory map if the page is not compressed.
func (w *pageWalker) decompress(h *pageHeader, src []byte) ([]byte, error) {
	levels := 0
	if h.typ == dataPageV2 {
		if h.defLength < 0 || h.repLength < 0 ||
			int64(h.defLength)+int64(h.repLength) > int64(min(h.compressed, h.uncompressed)) {
			return nil, failure.Corrupt("levels of %d and %d bytes, but the page has %d", h.repLength, h.defLength, h.compressed)
		}
		levels = int(h.defLength + h.repLength)
	}
	if w.kind == compress.Codecs.Uncompressed || (h.typ == dataPageV2 && h.plain && !w.notPlain) {
		if h.compressed != h.uncompressed {
			return nil, failure.Corrupt("uncompressed page has %d bytes, want %d", h.compressed, h.uncompressed)
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
		return nil, failure.Corrupt("page of %d bytes of %v cannot decompress to %d", h.compressed, w.kind, n)
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
func (w *pageWalker) decompressBrotli(src []byte, levels, n int) ([]byte, error) {
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

// The encodings that this package handles (parquet.thrift, Encoding).
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingBitPacked       = 4
	encodingDeltaPacked     = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingRLEDictionary   = 8
	encodingByteStreamSplit = 9
)

// dictionaryCoded reports whether the values of the page are dictionary codes.
func (h *pageHeader) dictionaryCoded() bool {
	return h.encoding == encodingPlainDictionary || h.encoding == encodingRLEDictionary
}
