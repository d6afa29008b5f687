// SPDX-License-Identifier: Apache-2.0

package format

import "github.com/vecql/vecql/parquetscan/internal/thrift"

// Reading of the page index.

// ReadColumnIndex reads a ColumnIndex. It returns false if b is none, or if its lists differ in length.
func ReadColumnIndex(b []byte) (x ColumnIndex, ok bool) {
	r, seen := thrift.Reader{B: b}, 0
	for id, typ := range r.Fields() {
		switch {
		case id == 1 && typ == thrift.List:
			x.NullPages = readFlags(&r)
		case id == 2 && typ == thrift.List:
			x.Min = readTexts(&r)
		case id == 3 && typ == thrift.List:
			x.Max = readTexts(&r)
		case id == 4 && typ == thrift.I32:
			x.Order = BoundaryOrder(r.I32())
		case id == 5 && typ == thrift.List:
			x.NullCounts = readInts(&r)
		default:
			r.Skip(typ, 1)
			continue
		}
		seen |= 1 << id
	}
	const required = 1<<1 | 1<<2 | 1<<3 | 1<<4
	n := len(x.NullPages)
	return x, !r.Failed() && seen&required == required && len(x.Min) == n && len(x.Max) == n &&
		(x.NullCounts == nil || len(x.NullCounts) == n)
}

// ReadOffsetIndex returns the places of pages in an OffsetIndex, and false if b is none.
func ReadOffsetIndex(b []byte) (pages []PageLocation, ok bool) {
	r := thrift.Reader{B: b}
	for id, typ := range r.Fields() {
		if id != 1 || typ != thrift.List {
			r.Skip(typ, 1)
			continue
		}
		pages, ok = make([]PageLocation, r.Structs()), true
		for i := range pages {
			pages[i] = readPageLocation(&r)
		}
	}
	return pages, ok && !r.Failed()
}

// readPageLocation reads a PageLocation. Without a required field r is bad.
func readPageLocation(r *thrift.Reader) (p PageLocation) {
	seen := 0
	for id, typ := range r.Fields() {
		switch {
		case id == 1 && typ == thrift.I64:
			p.Offset = r.I64()
		case id == 2 && typ == thrift.I32:
			p.Size = r.I32()
		case id == 3 && typ == thrift.I64:
			p.FirstRow = r.I64()
		default:
			r.Skip(typ, 2)
			continue
		}
		seen |= 1 << id
	}
	r.Bad = r.Bad || seen != 1<<1|1<<2|1<<3
	return p
}

// elements reads the header of a list of a type, and returns the number of elements, at most the remaining bytes.
func elements(r *thrift.Reader, want byte) int {
	typ, n := r.List()
	r.Bad = r.Bad || n > 0 && typ != want
	if !r.Fits(n) {
		return 0
	}
	return int(n)
}

// readFlags reads a list of booleans, whose type is written as the type of true or of false.
func readFlags(r *thrift.Reader) []bool {
	typ, n := r.List()
	r.Bad = r.Bad || n > 0 && typ != thrift.True && typ != thrift.False
	if !r.Fits(n) {
		return nil
	}
	flags := make([]bool, n)
	for i := range flags {
		flags[i] = r.Byte() == thrift.True
	}
	return flags
}

// readTexts reads a list of strings, which stay part of the reader's bytes.
func readTexts(r *thrift.Reader) [][]byte {
	texts := make([][]byte, elements(r, thrift.Binary))
	for i := range texts {
		texts[i] = r.Binary()
	}
	return texts
}

// readInts reads a list of integers.
func readInts(r *thrift.Reader) []int64 {
	ints := make([]int64, elements(r, thrift.I64))
	for i := range ints {
		ints[i] = r.I64()
	}
	return ints
}
