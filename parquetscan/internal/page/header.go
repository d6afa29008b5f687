// SPDX-License-Identifier: Apache-2.0

// Package page reads the pages of column chunks: headers, bytes, checksums, decompression.
package page

import (
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Page headers (parquet.thrift, PageHeader).

// A Header holds the fields of a PageHeader that this package uses.
type Header struct {
	Type         format.PageType
	uncompressed int32 // length of the page in memory, levels included
	Compressed   int32 // length of the page in the file, without this header
	crc          uint32
	hasCRC       bool

	NumValues   int32 // levels of data pages, NULLs included; entries of dictionaries
	Encoding    format.Encoding
	DefEncoding format.Encoding // V1
	RepEncoding format.Encoding // V1
	numRows     int32           // V2
	DefLength   int32           // V2: bytes of the levels, never compressed
	RepLength   int32           // V2
	plain       bool            // V2: the values are not compressed
	detail      bool            // the header has the struct of its type
}

// maxHeaderBytes bounds a page header, which may hold statistics with long values.
const maxHeaderBytes = 16 << 20

// ParseHeader reads a page's header from the start of b, and returns its length. It returns 0 if b is too short.
func ParseHeader(b []byte) (h Header, n int, err error) {
	r := thrift.Reader{B: b}
	for id := int16(0); ; {
		next, typ, ok := r.Field(id)
		if !ok {
			break
		}
		id = next
		switch {
		case id == 1 && typ == thrift.I32:
			h.Type = format.PageType(r.I32())
		case id == 2 && typ == thrift.I32:
			h.uncompressed = r.I32()
		case id == 3 && typ == thrift.I32:
			h.Compressed = r.I32()
		case id == 4 && typ == thrift.I32:
			h.crc, h.hasCRC = uint32(r.I32()), true
		case id == 5 && typ == thrift.Struct && h.Type == format.DataPage:
			h.parseDetail(&r, &h.NumValues, (*int32)(&h.Encoding), (*int32)(&h.DefEncoding), (*int32)(&h.RepEncoding))
		case id == 7 && typ == thrift.Struct && h.Type == format.DictionaryPage:
			h.parseDetail(&r, &h.NumValues, (*int32)(&h.Encoding))
		case id == 8 && typ == thrift.Struct && h.Type == format.DataPageV2:
			var nulls int32
			h.parseDetail(&r, &h.NumValues, &nulls, &h.numRows, (*int32)(&h.Encoding), &h.DefLength, &h.RepLength)
		default:
			r.Skip(typ, 1)
		}
	}
	switch {
	case r.Bad:
		return h, 0, failure.Corrupt("invalid page header")
	case r.Short:
		return h, 0, nil
	case h.uncompressed < 0 || h.Compressed < 0 || h.NumValues < 0:
		return h, 0, failure.Corrupt("page header with a negative length")
	case !h.detail && (h.Type == format.DataPage || h.Type == format.DictionaryPage || h.Type == format.DataPageV2):
		return h, 0, failure.Corrupt("page header of type %d lacks the struct of that type", h.Type)
	}
	return h, r.Pos, nil
}

// parseDetail reads the struct of a page type: the first fields are integers, and field 7 of V2 is a boolean.
func (h *Header) parseDetail(r *thrift.Reader, into ...*int32) {
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
		case id == 7 && h.Type == format.DataPageV2 && typ == thrift.False:
			h.plain = true
		default:
			r.Skip(typ, 2)
		}
	}
}

// Rows returns the number of rows in a data page of a leaf, -1 if the header lacks it.
func (h *Header) Rows(l *footer.Leaf) int64 {
	switch {
	case h.Type == format.DataPage && l.MaxRep == 0:
		return int64(h.NumValues)
	case h.Type == format.DataPageV2:
		return int64(h.numRows)
	}
	return -1
}

// DictionaryCoded reports whether the values of the page are dictionary codes.
func (h *Header) DictionaryCoded() bool {
	return h.Encoding == format.PlainDictionary || h.Encoding == format.RLEDictionary
}
