// SPDX-License-Identifier: Apache-2.0

package page

import (
	"github.com/vecql/vecql/parquetscan/internal/crypt"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Encrypted pages: the header and the content are modules of their own (parquet-format, Encryption.md).

// decryptHeader returns the header of the next page, and the length of its module.
func (w *Walker) decryptHeader() (Header, int, error) {
	left := w.end - w.off
	b, err := w.win.Bytes(w.off, int(min(256, left)), w.end)
	if err != nil {
		return Header{}, 0, err
	}
	length := crypt.ModuleLength(b)
	if length == 0 || length > min(left, maxHeaderBytes) {
		return Header{}, 0, failure.Corrupt("page header is longer than its column chunk")
	}
	if length > int64(len(b)) {
		if b, err = w.win.Bytes(w.off, int(length), w.end); err != nil {
			return Header{}, 0, err
		}
	}
	plain, err := w.secret.Header(nil, b[:length], w.place)
	if err != nil {
		return Header{}, 0, err
	}
	h, n, err := ParseHeader(plain)
	if err == nil && n == 0 {
		err = failure.Corrupt("page header is longer than its encrypted module")
	}
	return h, int(length), err
}

// decrypt returns the content of a page, and sets its length in the header.
func (w *Walker) decrypt(h *Header, src []byte, place crypt.Page) (_ []byte, err error) {
	if w.plain, err = w.secret.Page(w.plain[:0], src, place); err != nil {
		return nil, err
	}
	h.Compressed = int32(len(w.plain))
	return w.plain, nil
}

// pass moves place behind a page.
func (w *Walker) pass(h *Header) {
	switch {
	case w.place.Dictionary || h.Type == format.DictionaryPage:
		w.place.Dictionary = false
	case h.Type == format.DataPage || h.Type == format.DataPageV2:
		w.place.Ordinal++
	}
}
