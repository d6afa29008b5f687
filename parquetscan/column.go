// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"reflect"
	"unsafe"
)

// This file holds batches and their columns: rows as Go slices.

// A Batch is some consecutive rows of one row group, as columns. Its memory belongs to whoever asked for it: [Scan.Batches] and [Scan.All]
// make every Batch anew, [Reader.ReadInto] and [Scan.Borrow] use one again.
type Batch struct {
	Columns []Column // in the order of Options.Columns
	Rows    int
	// File, RowGroup and Row tell where the rows lie: the file's name, the number of the row group in it, the number of the first row in the
	// whole input (all files, one after the other), before any filter. With a filter, rows are no longer consecutive.
	File     string
	RowGroup int
	Row      int64
}

// Column returns the column of this name, or nil.
func (b *Batch) Column(name string) *Column {
	for i := range b.Columns {
		if b.Columns[i].Name == name {
			return &b.Columns[i]
		}
	}
	return nil
}

// A Column is the values of one column in a Batch: a slice of the Go type that its Kind names, see [SliceOf]; for strings offsets and bytes,
// or codes and a dictionary; for nested columns offsets and children. Values of rows that are NULL are zero, or empty.
type Column struct {
	Name string
	Type Type

	n        int
	nulls    int
	dim      int
	validity []byte // a bit per row; meaningful only if nulls > 0
	values   []byte // width bytes each; codes if there is a dictionary
	offsets  []int32
	dict     *Dictionary
	children []Column
}

// Len returns the number of values: the rows of the Batch, or for a child of a list the elements of all rows.
func (c *Column) Len() int { return c.n }

// Nulls returns the number of NULLs.
func (c *Column) Nulls() int { return c.nulls }

// Validity returns a bit per value, 0 if it is NULL, counted from the lowest of each byte, as in Arrow. It is nil if nothing is NULL.
func (c *Column) Validity() []byte {
	if c.nulls == 0 {
		return nil
	}
	return c.validity[: (c.n+7)/8 : (c.n+7)/8]
}

// Null tells whether value i is NULL.
func (c *Column) Null(i int) bool { return c.nulls != 0 && c.validity[i>>3]>>(i&7)&1 == 0 }

// Dim returns the dimension of a Vector column, 0 if it is not known because all rows so far were NULL.
func (c *Column) Dim() int { return c.dim }

// Text returns the strings of a String or Binary column: value i is data[offsets[i]:offsets[i+1]]. It returns nil for a column that came as
// codes and a dictionary ([Column.Codes]); with [Options].Text there is none.
func (c *Column) Text() (data []byte, offsets []int32) {
	if !c.Type.Kind.text() || c.dict != nil {
		return nil, nil
	}
	return c.values, c.offsets
}

// Codes returns the codes and the dictionary of a String or Binary column: value i is dict.Value(codes[i]), unless it is NULL. Without a
// dictionary it returns nil.
func (c *Column) Codes() (codes []uint32, dict *Dictionary) {
	if c.dict == nil {
		return nil, nil
	}
	return sliceOf[uint32](c.values, c.n), c.dict
}

// Bytes returns value i of a String, Binary, ID or Fixed column as bytes, nil if it is NULL. They are the column's own.
func (c *Column) Bytes(i int) []byte {
	if c.Null(i) {
		return nil
	}
	switch {
	case c.dict != nil:
		return c.dict.Value(sliceOf[uint32](c.values, c.n)[i])
	case c.Type.Kind.text():
		return c.values[c.offsets[i]:c.offsets[i+1]:c.offsets[i+1]]
	default:
		w := c.Type.width()
		return c.values[i*w : (i+1)*w : (i+1)*w]
	}
}

// Strings returns the strings of a String or Binary column, "" for NULL: a new slice of views of the column's memory, which must not
// change as long as they are used.
func (c *Column) Strings() []string {
	if !c.Type.Kind.text() {
		return nil
	}
	s := make([]string, c.n)
	for i := range s {
		if b := c.Bytes(i); len(b) > 0 {
			s[i] = unsafe.String(unsafe.SliceData(b), len(b))
		}
	}
	return s
}

// Offsets returns the offsets of a List or Map column: the elements of row i are offsets[i] to offsets[i+1] of its children.
func (c *Column) Offsets() []int32 {
	if c.Type.Kind != List && c.Type.Kind != Map {
		return nil
	}
	return c.offsets
}

// Children returns the columns within a Struct, List or Map.
func (c *Column) Children() []Column { return c.children }

// A Value is a Go type that columns hold.
type Value interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~[16]byte | Int128 | Int256
}

var goTypes = [...]reflect.Type{
	Bool: reflect.TypeFor[bool](), Int8: reflect.TypeFor[int8](), Int16: reflect.TypeFor[int16](), Int32: reflect.TypeFor[int32](),
	Int64: reflect.TypeFor[int64](), Uint8: reflect.TypeFor[uint8](), Uint16: reflect.TypeFor[uint16](), Uint32: reflect.TypeFor[uint32](),
	Uint64: reflect.TypeFor[uint64](), Float16: reflect.TypeFor[uint16](), Float32: reflect.TypeFor[float32](),
	Float64: reflect.TypeFor[float64](), Date: reflect.TypeFor[int32](), Time: reflect.TypeFor[int64](),
	Timestamp: reflect.TypeFor[int64](), Decimal64: reflect.TypeFor[int64](), Decimal128: reflect.TypeFor[Int128](),
	Decimal256: reflect.TypeFor[Int256](), String: nil, Binary: nil, ID: reflect.TypeFor[[16]byte](), Fixed: reflect.TypeFor[uint8](),
	Vector: nil, List: nil, Map: nil, Struct: nil,
}

// SliceOf returns the values of a column as a slice of T, which must be the Go type of the column's Kind, or a type made of it: a uuid.UUID is
// an ID. For Vector it is the type of the elements, row after row; for Fixed it is uint8, Type.Width of them each. The slice is the
// column's own memory. For another T, and for strings and nested columns, it returns nil and false.
func SliceOf[T Value](c *Column) ([]T, bool) {
	kind, n := c.Type.Kind, c.n
	switch kind {
	case Vector:
		kind, n = c.Type.Elem, c.n*c.dim
	case Fixed:
		n = c.n * c.Type.Width
	}
	if int(kind) >= len(goTypes) || goTypes[kind] == nil {
		return nil, false
	}
	have, want := goTypes[kind], reflect.TypeFor[T]()
	if have != want && (have.Kind() != want.Kind() || have.Size() != want.Size() || have.Kind() == reflect.Struct || kind == Decimal256) {
		return nil, false
	}
	return sliceOf[T](c.values, n), true
}

// Values is SliceOf for columns whose type is known: it panics for another T.
func Values[T Value](c *Column) []T {
	v, ok := SliceOf[T](c)
	if !ok {
		panic(fmt.Sprintf("parquetscan: column %s is %v, not %v", c.Name, c.Type, reflect.TypeFor[T]()))
	}
	return v
}

// sliceOf returns bytes as n values of T.
func sliceOf[T any](b []byte, n int) []T {
	if n == 0 {
		return []T{}
	}
	var zero T
	_ = b[n*int(unsafe.Sizeof(zero))-1]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// A Dictionary is the distinct values of a column chunk, which codes stand for. It never changes, and columns of one column chunk share it:
// what is found out about one of its values holds for all batches that point at the same Dictionary.
type Dictionary struct {
	data    []byte
	offsets []int32
	longest int
}

// Len returns the number of values.
func (d *Dictionary) Len() int { return len(d.offsets) - 1 }

// Value returns value i, which must be less than Len. It is the dictionary's own memory.
func (d *Dictionary) Value(i uint32) []byte {
	return d.data[d.offsets[i]:d.offsets[i+1]:d.offsets[i+1]]
}

// Text returns all values: value i is data[offsets[i]:offsets[i+1]].
func (d *Dictionary) Text() (data []byte, offsets []int32) { return d.data, d.offsets }

// reset makes the column an empty one for a node, with the memory it has.
func (c *Column) reset(name string, nd *node, vector bool) {
	c.Name, c.Type = name, nd.field.Type
	if vector {
		c.Type = Type{Kind: Vector, Elem: nd.children[0].field.Type.Kind}
	}
	c.n, c.nulls, c.dim, c.dict = 0, 0, 0, nil
	c.values, c.offsets = c.values[:0], c.offsets[:0]
	switch c.Type.Kind {
	case String, Binary, List, Map:
		c.offsets = append(c.offsets, 0)
	}
	if !c.Type.Kind.nested() {
		c.children = nil
		return
	}
	if len(c.children) != len(nd.children) {
		c.children = make([]Column, len(nd.children))
	}
	for i, child := range nd.children {
		c.children[i].reset(child.field.Name, child, false)
	}
}
