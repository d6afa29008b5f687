// SPDX-License-Identifier: Apache-2.0

package page

import (
	"github.com/vecql/vecql/parquetscan/internal/crypt"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/input"
)

// Encrypted pages: the header and the content are modules of their own (parquet-format, Encryption.md).

// A secret decrypts the pages of a column chunk.
type secret struct {
	chunk *crypt.Chunk // nil if the chunk is not encrypted
	place crypt.Page   // of the next page
	plain []byte       // the content of a page
}

// header returns the header of the page at off, and the length of its module. The chunk ends at end.
func (s *secret) header(win *input.Window, off, end int64) (h Header, length int, err error) {
	b, err := win.Bytes(off, int(min(256, end-off)), end)
	if err != nil {
		return h, 0, err
	}
	n := crypt.ModuleLength(b)
	if n == 0 || n > min(end-off, maxHeaderBytes) {
		return h, 0, failure.Corrupt("page header is longer than its column chunk")
	}
	if n > int64(len(b)) {
		if b, err = win.Bytes(off, int(n), end); err != nil {
			return h, 0, err
		}
	}
	plain, err := s.chunk.Header(nil, b[:n], s.place)
	if err != nil {
		return h, 0, err
	}
	h, whole, err := ParseHeader(plain)
	if err == nil && whole == 0 {
		err = failure.Corrupt("page header is longer than its encrypted module")
	}
	return h, int(n), err
}

// content returns the content of a page, which is valid until the next one.
func (s *secret) content(src []byte, place crypt.Page) (_ []byte, err error) {
	s.plain, err = s.chunk.Page(s.plain[:0], src, place)
	return s.plain, err
}

// pass moves place behind a page.
func (s *secret) pass(h *Header) {
	switch {
	case s.place.Dictionary || h.Type == format.DictionaryPage:
		s.place.Dictionary = false
	case h.Type == format.DataPage || h.Type == format.DataPageV2:
		s.place.Ordinal++
	}
}
