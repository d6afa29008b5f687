// SPDX-License-Identifier: Apache-2.0

// Package thrift reads and writes the compact protocol of Apache Thrift (thrift-compact-protocol.md).
package thrift

import (
	"encoding/binary"
	"iter"
)

// The types of fields in the compact protocol.
const (
	True   = 1
	False  = 2
	Byte   = 3
	I16    = 4
	I32    = 5
	I64    = 6
	Double = 7
	Binary = 8
	List   = 9
	Set    = 10
	Map    = 11
	Struct = 12
	UUID   = 13
)

// A Shape is the expected type of a struct or a list.
type Shape struct {
	Element byte     // of lists: the type of elements; 0 for structs
	Fields  []*Shape // by number
	Tree    bool     // the list is the tree of a schema
}

// Field returns the shape of a field, nil if it is not checked, or if the parser skips it because of its wrong type.
func (s *Shape) Field(id int16, typ byte) *Shape {
	if s == nil {
		return nil
	}
	if id < 0 || int(id) >= len(s.Fields) {
		return nil
	}
	f := s.Fields[id]
	if f == nil || (f.Element != 0) != (typ == List) || (f.Element == 0) != (typ == Struct) {
		return nil
	}
	return f
}

// MaxDepth bounds the nesting of values. No file's metadata needs as much.
const MaxDepth = 24

// A Reader reads from b. After the first error it returns zeros; short means that the error was a lack of bytes.
type Reader struct {
	B     []byte
	Pos   int
	Bad   bool
	Short bool
}

func (r *Reader) Failed() bool { return r.Bad || r.Short }

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if r.Pos >= len(r.B) {
		r.Short = true
		return 0
	}
	b := r.B[r.Pos]
	r.Pos++
	return b
}

// Uvarint reads a uvarint. On an error it returns 0 and sets short if the buffer ends in the number, else bad.
func (r *Reader) Uvarint() uint64 {
	if r.Pos < len(r.B) && r.B[r.Pos] < 0x80 { // one byte: nearly all numbers
		r.Pos++
		return uint64(r.B[r.Pos-1])
	}
	v, n := binary.Uvarint(r.B[r.Pos:])
	switch {
	case n > 0:
		r.Pos += n
		return v
	case n == 0:
		r.Short = true
	default:
		r.Bad = true
	}
	return 0
}

// I64 reads an integer of any width.
func (r *Reader) I64() int64 {
	v := r.Uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// I32 reads an integer that must fit into 32 bits.
func (r *Reader) I32() int32 {
	v := r.I64()
	if v != int64(int32(v)) {
		r.Bad = true
		return 0
	}
	return int32(v)
}

// Field reads the header of the next field of a struct; ok is false at its end. A boolean's value is its type.
func (r *Reader) Field(id int16) (next int16, typ byte, ok bool) {
	b := r.Byte()
	if b == 0 || r.Failed() {
		return 0, 0, false
	}
	if delta := int16(b >> 4); delta != 0 {
		return id + delta, b & 15, true
	}
	v := r.I64()
	if v != int64(int16(v)) {
		r.Bad = true
		return 0, 0, false
	}
	return int16(v), b & 15, !r.Failed()
}

// Fields returns the numbers and types of the fields of a struct. The caller reads or skips the value of each.
func (r *Reader) Fields() iter.Seq2[int16, byte] {
	return func(yield func(id int16, typ byte) bool) {
		for id := int16(0); ; {
			next, typ, ok := r.Field(id)
			if !ok || !yield(next, typ) {
				return
			}
			id = next
		}
	}
}

// Binary reads a string, which stays part of r.b.
func (r *Reader) Binary() []byte {
	n := r.Uvarint()
	if !r.Fits(n) {
		return nil
	}
	r.Pos += int(n)
	return r.B[r.Pos-int(n) : r.Pos : r.Pos]
}

// List reads the header of a list: the type and the number of its elements, which may exceed the remaining bytes.
func (r *Reader) List() (typ byte, n uint64) {
	head := r.Byte()
	n = uint64(head >> 4)
	if n == 15 {
		n = r.Uvarint()
	}
	return head & 15, n
}

// Structs reads the header of a list of structs, and returns their number, at most that of the remaining bytes.
func (r *Reader) Structs() int {
	typ, n := r.List()
	if n > 0 && typ != Struct {
		r.Bad = true
	}
	if !r.Fits(n) {
		return 0
	}
	return int(n)
}

// Skip walks over a value. It allocates nothing and takes time in proportion to the bytes it walks over: every element
// takes at least one byte, and lists longer than the remaining bytes are errors.
func (r *Reader) Skip(typ byte, depth int) { r.SkipAs(typ, depth, nil) }

// SkipAs is skip for a value of the shape as; nil means any.
func (r *Reader) SkipAs(typ byte, depth int, as *Shape) {
	if depth > MaxDepth {
		r.Bad = true
	}
	if r.Failed() {
		return
	}
	switch typ {
	case True, False: // the value is the type
	case Byte:
		r.Byte()
	case I16, I32, I64:
		r.Uvarint()
	case Double:
		r.Advance(8)
	case UUID:
		r.Advance(16)
	case Binary:
		r.Advance(r.Uvarint())
	case List, Set:
		element, n := r.List()
		if as != nil && typ == List && n > 0 && !sameWire(element, as.Element) {
			r.Bad = true
		}
		if as != nil && as.Tree && r.Fits(n) {
			r.tree(n, depth)
			return
		}
		r.elements(element, n, depth, as)
	case Map:
		n := r.Uvarint()
		if n == 0 {
			return
		}
		head := r.Byte()
		if !r.Fits(n) {
			return
		}
		for ; n > 0 && !r.Failed(); n-- {
			r.element(head>>4, depth+1, nil)
			r.element(head&15, depth+1, nil)
		}
	case Struct:
		for id := int16(0); !r.Failed(); {
			if as == nil {
				id = r.skipNumbers(id)
			}
			next, typ, ok := r.Field(id)
			if !ok {
				return
			}
			id = next
			r.SkipAs(typ, depth+1, as.Field(id, typ))
		}
	default:
		r.Bad = true
	}
}

// skipNumbers walks over integers among the fields of a struct, up to a field that is not one or not a short one. Most
// fields of a footer are integers.
func (r *Reader) skipNumbers(id int16) int16 {
	b, at := r.B, r.Pos
	for at+12 < len(b) {
		head := b[at]
		if typ := head & 15; head < 16 || typ < I16 || typ > I64 {
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
	r.Pos = at
	return id
}

// sameWire reports whether two types have the same encoding: integers of 16, 32 and 64 bits do.
func sameWire(a, b byte) bool {
	integer := func(t byte) bool { return t == I16 || t == I32 || t == I64 }
	return a == b || integer(a) && integer(b)
}

// elements walks over n elements of a list.
func (r *Reader) elements(typ byte, n uint64, depth int, as *Shape) {
	if !r.Fits(n) {
		return
	}
	for ; n > 0 && !r.Failed(); n-- {
		r.element(typ, depth+1, as)
	}
}

// element walks over an element of a list or map, where a boolean is a byte.
func (r *Reader) element(typ byte, depth int, as *Shape) {
	if typ == True || typ == False {
		r.Byte()
		return
	}
	if typ != Struct {
		as = nil
	}
	r.SkipAs(typ, depth, as)
}

// Fits reports whether the remaining bytes can hold n elements of at least one byte.
func (r *Reader) Fits(n uint64) bool {
	if !r.Failed() && n > uint64(len(r.B)-r.Pos) {
		r.Short = true
	}
	return !r.Failed()
}

func (r *Reader) Advance(n uint64) {
	if r.Fits(n) {
		r.Pos += int(n)
	}
}

// MaxTreeDepth bounds the nesting of groups: a list takes two, and so does a map.
const MaxTreeDepth = 256

// tree walks over a schema of n elements, each group followed by its fields. The total length of all paths must not be
// much longer than the footer, because arrow-go keeps each path as a string.
func (r *Reader) tree(n uint64, depth int) {
	type group struct {
		fields uint64 // not yet read
		path   uint64 // bytes
	}
	var open [MaxTreeDepth]group
	level, paths := 0, uint64(0)
	for i := range n {
		fields, name := r.treeElement(depth + 1)
		if r.Failed() {
			return
		}
		path := uint64(0)
		if i > 0 {
			if level == 0 { // more fields than the root has
				r.Bad = true
				return
			}
			g := &open[level-1]
			g.fields--
			path = g.path + 1 + name
		}
		paths += path
		if fields < 0 || uint64(fields) > n-1-i || paths > 16*uint64(len(r.B))+1<<20 {
			r.Bad = true
			return
		}
		if fields > 0 {
			if level == MaxTreeDepth {
				r.Bad = true
				return
			}
			open[level] = group{uint64(fields), path}
			level++
		}
		for level > 0 && open[level-1].fields == 0 {
			level--
		}
	}
	if level > 0 {
		r.Bad = true
	}
}

// treeElement walks over a SchemaElement, and returns its number of fields and the length of its name.
func (r *Reader) treeElement(depth int) (fields int32, name uint64) {
	for id := int16(0); ; {
		next, typ, ok := r.Field(id)
		if !ok {
			return fields, name
		}
		id = next
		switch {
		case id == 4 && typ == Binary:
			name = r.Uvarint()
			r.Advance(name)
		case id == 5 && typ == I32:
			fields = r.I32()
		default:
			r.Skip(typ, depth+1)
		}
	}
}
