// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Page headers (parquet.thrift, PageHeader).

// A pageType is the type of a page (parquet.thrift, PageType).
type pageType int32

const (
	dataPage       pageType = 0
	indexPage      pageType = 1
	dictionaryPage pageType = 2
	dataPageV2     pageType = 3
)

// A pageHeader holds the fields of a PageHeader that this package uses.
type pageHeader struct {
	typ          pageType
	uncompressed int32 // length of the page in memory, levels included
	compressed   int32 // length of the page in the file, without this header
	crc          uint32
	hasCRC       bool

	numValues   int32 // levels of data pages, NULLs included; entries of dictionaries
	encoding    int32
	defEncoding int32 // V1
	repEncoding int32 // V1
	numRows     int32 // V2
	defLength   int32 // V2: bytes of the levels, never compressed
	repLength   int32 // V2
	plain       bool  // V2: the values are not compressed
	detail      bool  // the header has the struct of its type
}

// parsePageHeader reads a page's header from the start of b, and returns its length. It returns 0 if b is too short.
func parsePageHeader(b []byte) (h pageHeader, n int, err error) {
	r := thrift.Reader{B: b}
	for id := int16(0); ; {
		next, typ, ok := r.Field(id)
		if !ok {
			break
		}
		id = next
		switch {
		case id == 1 && typ == thrift.I32:
			h.typ = pageType(r.I32())
		case id == 2 && typ == thrift.I32:
			h.uncompressed = r.I32()
		case id == 3 && typ == thrift.I32:
			h.compressed = r.I32()
		case id == 4 && typ == thrift.I32:
			h.crc, h.hasCRC = uint32(r.I32()), true
		case id == 5 && typ == thrift.Struct && h.typ == dataPage:
			h.parseDetail(&r, &h.numValues, &h.encoding, &h.defEncoding, &h.repEncoding)
		case id == 7 && typ == thrift.Struct && h.typ == dictionaryPage:
			h.parseDetail(&r, &h.numValues, &h.encoding)
		case id == 8 && typ == thrift.Struct && h.typ == dataPageV2:
			var nulls int32
			h.parseDetail(&r, &h.numValues, &nulls, &h.numRows, &h.encoding, &h.defLength, &h.repLength)
		default:
			r.Skip(typ, 1)
		}
	}
	switch {
	case r.Bad:
		return h, 0, failure.Corrupt("invalid page header")
	case r.Short:
		return h, 0, nil
	case h.uncompressed < 0 || h.compressed < 0 || h.numValues < 0:
		return h, 0, failure.Corrupt("page header with a negative length")
	case !h.detail && (h.typ == dataPage || h.typ == dictionaryPage || h.typ == dataPageV2):
		return h, 0, failure.Corrupt("page header of type %d lacks the struct of that type", h.typ)
	}
	return h, r.Pos, nil
}

// parseDetail reads the struct of a page type: the first fields are integers, and field 7 of V2 is a boolean.
func (h *pageHeader) parseDetail(r *thrift.Reader, into ...*int32) {
	h.detail = true
	for id := int16(0); ; {
		next, typ, ok := r.Field(id)
		if !ok {
			return
		}
		id = next
		switch {
		case id >= 1 && int(id) <= len(into) && typ == thrift.I32:
			*into[id-1] = r.I32()
		case id == 7 && h.typ == dataPageV2 && typ == thrift.False:
			h.plain = true
		default:
			r.Skip(typ, 2)
		}
	}
}
