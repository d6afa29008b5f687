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

// Structs reads the header of a list of structs, and returns their number, at most the number of the remaining bytes.
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
func (r *Reader) Skip(typ byte, depth int) {
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
		r.elements(element, n, depth)
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
			r.element(head>>4, depth+1)
			r.element(head&15, depth+1)
		}
	case Struct:
		for id := int16(0); !r.Failed(); {
			next, typ, ok := r.Field(r.skipNumbers(id))
			if !ok {
				return
			}
			id = next
			r.Skip(typ, depth+1)
		}
	default:
		r.Bad = true
	}
}

// skipNumbers walks over integers among the fields of a struct, up to a field that is not one or not a short one. Most
// fields of a footer are integers. An integer of ten bytes may have more than 64 bits: Uvarint judges it.
func (r *Reader) skipNumbers(id int16) int16 {
	b, at := r.B, r.Pos
	for at+12 < len(b) {
		head := b[at]
		if typ := head & 15; head < 16 || typ < I16 || typ > I64 {
			break
		}
		end := at + 1
		for end < at+9 && b[end] >= 0x80 {
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

// elements walks over n elements of a list.
func (r *Reader) elements(typ byte, n uint64, depth int) {
	if !r.Fits(n) {
		return
	}
	for ; n > 0 && !r.Failed(); n-- {
		r.element(typ, depth+1)
	}
}

// element walks over an element of a list or map, where a boolean is a byte.
func (r *Reader) element(typ byte, depth int) {
	if typ == True || typ == False {
		r.Byte()
		return
	}
	r.Skip(typ, depth)
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
