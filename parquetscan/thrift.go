// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"iter"

	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Thrift's compact protocol (thrift-compact-protocol.md), and page headers (parquet.thrift, PageHeader).

// The types of fields in the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// maxThriftDepth bounds the nesting of values. No file's metadata needs as much.
const maxThriftDepth = 24

// A thriftReader reads from b. After the first error it returns zeros; short means that the error was a lack of bytes.
type thriftReader struct {
	b     []byte
	pos   int
	bad   bool
	short bool
}

func (r *thriftReader) failed() bool { return r.bad || r.short }

func (r *thriftReader) byte() byte {
	if r.pos >= len(r.b) {
		r.short = true
		return 0
	}
	b := r.b[r.pos]
	r.pos++
	return b
}

// uvarint reads a uvarint. On an error it returns 0 and sets short if the buffer ends in the number, else bad.
func (r *thriftReader) uvarint() uint64 {
	if r.pos < len(r.b) && r.b[r.pos] < 0x80 { // one byte: nearly all numbers
		r.pos++
		return uint64(r.b[r.pos-1])
	}
	v, n := binary.Uvarint(r.b[r.pos:])
	switch {
	case n > 0:
		r.pos += n
		return v
	case n == 0:
		r.short = true
	default:
		r.bad = true
	}
	return 0
}

// i64 reads an integer of any width.
func (r *thriftReader) i64() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// i32 reads an integer that must fit into 32 bits.
func (r *thriftReader) i32() int32 {
	v := r.i64()
	if v != int64(int32(v)) {
		r.bad = true
		return 0
	}
	return int32(v)
}

// field reads the header of the next field of a struct; ok is false at its end. A boolean's value is its type.
func (r *thriftReader) field(id int16) (next int16, typ byte, ok bool) {
	b := r.byte()
	if b == 0 || r.failed() {
		return 0, 0, false
	}
	if delta := int16(b >> 4); delta != 0 {
		return id + delta, b & 15, true
	}
	v := r.i64()
	if v != int64(int16(v)) {
		r.bad = true
		return 0, 0, false
	}
	return int16(v), b & 15, !r.failed()
}

// fields returns the numbers and types of the fields of a struct. The caller reads or skips the value of each.
func (r *thriftReader) fields() iter.Seq2[int16, byte] {
	return func(yield func(id int16, typ byte) bool) {
		for id := int16(0); ; {
			next, typ, ok := r.field(id)
			if !ok || !yield(next, typ) {
				return
			}
			id = next
		}
	}
}

// binary reads a string, which stays part of r.b.
func (r *thriftReader) binary() []byte {
	n := r.uvarint()
	if !r.fits(n) {
		return nil
	}
	r.pos += int(n)
	return r.b[r.pos-int(n) : r.pos : r.pos]
}

// list reads the header of a list: the type and the number of its elements, which may exceed the remaining bytes.
func (r *thriftReader) list() (typ byte, n uint64) {
	head := r.byte()
	n = uint64(head >> 4)
	if n == 15 {
		n = r.uvarint()
	}
	return head & 15, n
}

// structs reads the header of a list of structs, and returns their number, at most that of the remaining bytes.
func (r *thriftReader) structs() int {
	typ, n := r.list()
	if n > 0 && typ != thriftStruct {
		r.bad = true
	}
	if !r.fits(n) {
		return 0
	}
	return int(n)
}

// skip walks over a value. It allocates nothing and takes time in proportion to the bytes it walks over: every element
// takes at least one byte, and lists longer than the remaining bytes are errors.
func (r *thriftReader) skip(typ byte, depth int) { r.skipAs(typ, depth, nil) }

// skipAs is skip for a value of the shape as; nil means any.
func (r *thriftReader) skipAs(typ byte, depth int, as *thriftShape) {
	if depth > maxThriftDepth {
		r.bad = true
	}
	if r.failed() {
		return
	}
	switch typ {
	case thriftTrue, thriftFalse: // the value is the type
	case thriftByte:
		r.byte()
	case thriftI16, thriftI32, thriftI64:
		r.uvarint()
	case thriftDouble:
		r.advance(8)
	case thriftUUID:
		r.advance(16)
	case thriftBinary:
		r.advance(r.uvarint())
	case thriftList, thriftSet:
		element, n := r.list()
		if as != nil && typ == thriftList && n > 0 && !sameWire(element, as.element) {
			r.bad = true
		}
		if as == &schemaList && r.fits(n) {
			r.schema(n, depth)
			return
		}
		r.elements(element, n, depth, as)
	case thriftMap:
		n := r.uvarint()
		if n == 0 {
			return
		}
		head := r.byte()
		if !r.fits(n) {
			return
		}
		for ; n > 0 && !r.failed(); n-- {
			r.element(head>>4, depth+1, nil)
			r.element(head&15, depth+1, nil)
		}
	case thriftStruct:
		for id := int16(0); !r.failed(); {
			if as == nil {
				id = r.skipNumbers(id)
			}
			next, typ, ok := r.field(id)
			if !ok {
				return
			}
			id = next
			r.skipAs(typ, depth+1, as.field(id, typ))
		}
	default:
		r.bad = true
	}
}

// skipNumbers walks over integers among the fields of a struct, up to a field that is not one or not a short one. Most
// fields of a footer are integers.
func (r *thriftReader) skipNumbers(id int16) int16 {
	b, at := r.b, r.pos
	for at+12 < len(b) {
		head := b[at]
		if typ := head & 15; head < 16 || typ < thriftI16 || typ > thriftI64 {
			break
		}
		end := at + 1
		for end < at+10 && b[end] >= 0x80 {
			end++
		}
		if b[end] >= 0x80 {
			break
		}
		id, at = id+int16(head>>4), end+1
	}
	r.pos = at
	return id
}

// sameWire reports whether two types have the same encoding: integers of 16, 32 and 64 bits do.
func sameWire(a, b byte) bool {
	integer := func(t byte) bool { return t == thriftI16 || t == thriftI32 || t == thriftI64 }
	return a == b || integer(a) && integer(b)
}

// elements walks over n elements of a list.
func (r *thriftReader) elements(typ byte, n uint64, depth int, as *thriftShape) {
	if !r.fits(n) {
		return
	}
	for ; n > 0 && !r.failed(); n-- {
		r.element(typ, depth+1, as)
	}
}

// element walks over an element of a list or map, where a boolean is a byte.
func (r *thriftReader) element(typ byte, depth int, as *thriftShape) {
	if typ == thriftTrue || typ == thriftFalse {
		r.byte()
		return
	}
	if typ != thriftStruct {
		as = nil
	}
	r.skipAs(typ, depth, as)
}

// fits reports whether the remaining bytes can hold n elements of at least one byte.
func (r *thriftReader) fits(n uint64) bool {
	if !r.failed() && n > uint64(len(r.b)-r.pos) {
		r.short = true
	}
	return !r.failed()
}

func (r *thriftReader) advance(n uint64) {
	if r.fits(n) {
		r.pos += int(n)
	}
}

// knownTypes are the logical types that arrow-go supports, by field number in LogicalType.
var knownTypes = [...]bool{
	1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 10: true, 11: true, 12: true, 13: true,
	14: true, 15: true, 16: true, 17: true, 18: true,
}

// hideUnknownTypes hides logical types that arrow-go does not support, because it would reject the file. Readers fall
// back to the physical type (parquet-format, LogicalTypes.md). b has passed checkFooter.
func hideUnknownTypes(b []byte) {
	r := thriftReader{b: b}
	for id, typ := range r.fields() {
		if id != 2 || typ != thriftList { // FileMetaData.schema
			r.skip(typ, 1)
			continue
		}
		for range r.structs() {
			r.hideUnknownType()
		}
		return
	}
}

// hideUnknownType walks over a SchemaElement. A logical type that arrow-go does not support becomes field 11, which the
// format does not define. No field follows it.
func (r *thriftReader) hideUnknownType() {
	const logicalType = 10
	for id := int16(0); ; {
		head := r.pos
		next, typ, ok := r.field(id)
		if !ok {
			return
		}
		if next == logicalType && typ == thriftStruct {
			union := thriftReader{b: r.b, pos: r.pos}
			t, _, ok := union.field(0)
			if known := ok && t > 0 && int(t) < len(knownTypes) && knownTypes[t]; !known {
				switch delta := r.b[head] >> 4; {
				case delta > 0 && delta < 15:
					r.b[head] = (delta+1)<<4 | typ
				case delta == 0 && r.pos == head+2:
					r.b[head+1] = (logicalType + 1) << 1
				}
			}
		}
		id = next
		r.skip(typ, 2)
	}
}

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
	r := thriftReader{b: b}
	for id := int16(0); ; {
		next, typ, ok := r.field(id)
		if !ok {
			break
		}
		id = next
		switch {
		case id == 1 && typ == thriftI32:
			h.typ = pageType(r.i32())
		case id == 2 && typ == thriftI32:
			h.uncompressed = r.i32()
		case id == 3 && typ == thriftI32:
			h.compressed = r.i32()
		case id == 4 && typ == thriftI32:
			h.crc, h.hasCRC = uint32(r.i32()), true
		case id == 5 && typ == thriftStruct && h.typ == dataPage:
			h.parseDetail(&r, &h.numValues, &h.encoding, &h.defEncoding, &h.repEncoding)
		case id == 7 && typ == thriftStruct && h.typ == dictionaryPage:
			h.parseDetail(&r, &h.numValues, &h.encoding)
		case id == 8 && typ == thriftStruct && h.typ == dataPageV2:
			var nulls int32
			h.parseDetail(&r, &h.numValues, &nulls, &h.numRows, &h.encoding, &h.defLength, &h.repLength)
		default:
			r.skip(typ, 1)
		}
	}
	switch {
	case r.bad:
		return h, 0, failure.Corrupt("invalid page header")
	case r.short:
		return h, 0, nil
	case h.uncompressed < 0 || h.compressed < 0 || h.numValues < 0:
		return h, 0, failure.Corrupt("page header with a negative length")
	case !h.detail && (h.typ == dataPage || h.typ == dictionaryPage || h.typ == dataPageV2):
		return h, 0, failure.Corrupt("page header of type %d lacks the struct of that type", h.typ)
	}
	return h, r.pos, nil
}

// parseDetail reads the struct of a page type: the first fields are integers, and field 7 of V2 is a boolean.
func (h *pageHeader) parseDetail(r *thriftReader, into ...*int32) {
	h.detail = true
	for id := int16(0); ; {
		next, typ, ok := r.field(id)
		if !ok {
			return
		}
		id = next
		switch {
		case id >= 1 && int(id) <= len(into) && typ == thriftI32:
			*into[id-1] = r.i32()
		case id == 7 && h.typ == dataPageV2 && typ == thriftFalse:
			h.plain = true
		default:
			r.skip(typ, 2)
		}
	}
}
