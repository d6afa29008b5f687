// SPDX-License-Identifier: Apache-2.0

package thrift

import "encoding/binary"

// Writing structs in the compact protocol.

// A Writer appends structs to B. The fields of a struct are written in the order of their numbers.
type Writer struct {
	B    []byte
	last []int16 // the number of the last field of each open struct
}

// field appends the header of a field.
func (w *Writer) field(id int16, typ byte) {
	last := &w.last[len(w.last)-1]
	if delta := id - *last; delta > 0 && delta < 16 {
		w.B = append(w.B, byte(delta)<<4|typ)
	} else {
		w.B = binary.AppendVarint(append(w.B, typ), int64(id))
	}
	*last = id
}

// Open begins a struct that is a field. The number 0 begins a struct without a field header: the outermost one, or an
// element of a list.
func (w *Writer) Open(id int16) {
	if id != 0 {
		w.field(id, Struct)
	}
	w.last = append(w.last, 0)
}

// Close ends the struct that was opened last.
func (w *Writer) Close() {
	w.B = append(w.B, 0)
	w.last = w.last[:len(w.last)-1]
}

// Bool appends a field.
func (w *Writer) Bool(id int16, v bool) {
	typ := byte(False)
	if v {
		typ = True
	}
	w.field(id, typ)
}

// Byte appends a field.
func (w *Writer) Byte(id int16, v byte) {
	w.field(id, Byte)
	w.B = append(w.B, v)
}

// I16 appends a field.
func (w *Writer) I16(id, v int16) {
	w.field(id, I16)
	w.Int(int64(v))
}

// I32 appends a field.
func (w *Writer) I32(id int16, v int32) {
	w.field(id, I32)
	w.Int(int64(v))
}

// I64 appends a field.
func (w *Writer) I64(id int16, v int64) {
	w.field(id, I64)
	w.Int(v)
}

// Binary appends a field.
func (w *Writer) Binary(id int16, v []byte) {
	w.field(id, Binary)
	w.Bytes(v)
}

// List appends the header of a field of n elements, which follow.
func (w *Writer) List(id int16, element byte, n int) {
	w.field(id, List)
	if n < 15 {
		w.B = append(w.B, byte(n)<<4|element)
		return
	}
	w.B = binary.AppendUvarint(append(w.B, 15<<4|element), uint64(n))
}

// Int appends an integer that is an element of a list.
func (w *Writer) Int(v int64) { w.B = binary.AppendVarint(w.B, v) }

// Flag appends a boolean that is an element of a list.
func (w *Writer) Flag(v bool) {
	if v {
		w.B = append(w.B, True)
		return
	}
	w.B = append(w.B, False)
}

// Bytes appends a string that is an element of a list.
func (w *Writer) Bytes(v []byte) {
	w.B = append(binary.AppendUvarint(w.B, uint64(len(v))), v...)
}

// Raw appends a field that is a struct which another Writer wrote.
func (w *Writer) Raw(id int16, v []byte) {
	w.field(id, Struct)
	w.B = append(w.B, v...)
}
