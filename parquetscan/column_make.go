// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"unsafe"
)

// This file makes columns of plain Go slices: what a [Writer] takes, and what a program can hand to code that expects columns of a file. A
// column is a view: the slices stay the caller's, are only read, and must not change as long as the column is used. Lengths and offsets
// that do not fit together are mistakes of the program and panic.

// NewColumn returns a column of v, one row per element. The kind follows the element type: uint16 is Uint16, [16]byte and types made of it
// are ID, [Int128] is Decimal128 with precision 38 and [Int256] is Decimal256 with precision 76, both of scale 0. [Column.As] gives the
// same slice another meaning: a date, a timestamp, a float16.
func NewColumn[T Value](name string, v []T) Column {
	return Column{Name: name, Type: typeOfGo(reflect.TypeFor[T]()), n: len(v), values: bytesOfSlice(v)}
}

// typeOfGo returns the type that columns of a Go type have unless something else is said of them; the Go type is one of Value's.
func typeOfGo(t reflect.Type) Type {
	switch t.Kind() {
	case reflect.Bool:
		return Type{Kind: Bool}
	case reflect.Int8:
		return Type{Kind: Int8}
	case reflect.Int16:
		return Type{Kind: Int16}
	case reflect.Int32:
		return Type{Kind: Int32}
	case reflect.Int64:
		return Type{Kind: Int64}
	case reflect.Uint8:
		return Type{Kind: Uint8}
	case reflect.Uint16:
		return Type{Kind: Uint16}
	case reflect.Uint32:
		return Type{Kind: Uint32}
	case reflect.Uint64:
		return Type{Kind: Uint64}
	case reflect.Float32:
		return Type{Kind: Float32}
	case reflect.Float64:
		return Type{Kind: Float64}
	case reflect.Struct:
		return Type{Kind: Decimal128, Precision: maxPrecision[Decimal128]}
	}
	if t.Size() == 16 {
		return Type{Kind: ID}
	}
	return Type{Kind: Decimal256, Precision: maxPrecision[Decimal256]}
}

// maxPrecision is the number of digits that every decimal of a kind can have.
var maxPrecision = [...]int{Decimal64: 18, Decimal128: 38, Decimal256: 76}

// bytesOfSlice returns the memory of a slice.
func bytesOfSlice[T any](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}

// As returns the column with another type for the same values: int64 as Time, Timestamp, Decimal64 or Int64, int32 as Date, uint16 as
// Float16, another precision and scale of a decimal, text as String or Binary, 16 bytes as ID or Fixed. Values are not converted, and not
// checked. It returns an error if the values of t are of another Go type, or if t makes no sense: a Timestamp without unit.
func (c Column) As(t Type) (Column, error) {
	if err := t.check(); err != nil {
		return Column{}, fmt.Errorf("parquetscan: column %s: %w", c.Name, err)
	}
	from, to := c.Type, t
	sixteen := func(t Type) bool { return t.Kind == ID || t.Kind == Fixed && t.Width == 16 }
	switch {
	case from == to, from.Kind.text() && to.Kind.text(), sixteen(from) && sixteen(to):
	case from.Kind == Fixed || to.Kind == Fixed || goTypes[from.Kind] == nil || goTypes[from.Kind] != goTypes[to.Kind]:
		return Column{}, fmt.Errorf("parquetscan: column %s is %v, which can not be %v", c.Name, from, to)
	}
	c.Type = to
	return c, nil
}

// check returns an error if the fields of a type contradict each other.
func (t Type) check() error {
	want := Type{Kind: t.Kind}
	ok := t.Kind >= Bool && t.Kind <= Struct
	switch t.Kind {
	case Time, Timestamp:
		ok = t.Unit >= Millis && t.Unit <= Nanos
		want.Unit, want.UTC = t.Unit, t.UTC
	case Decimal64, Decimal128, Decimal256:
		ok = t.Precision >= 1 && t.Precision <= maxPrecision[t.Kind] && t.Scale >= 0 && t.Scale <= t.Precision
		want.Precision, want.Scale = t.Precision, t.Scale
	case Fixed:
		ok = t.Width >= 1 && t.Width <= math.MaxInt32
		want.Width = t.Width
	case Vector:
		ok = t.Elem == Float32 || t.Elem == Float64
		want.Elem = t.Elem
	}
	if !ok || t != want {
		type fields Type // without String
		return fmt.Errorf("no such type: %+v", fields(t))
	}
	return nil
}

// NewText returns a String column: row i is data[offsets[i]:offsets[i+1]], as in Arrow. There is one more offset than there are rows; no
// offset at all is no row. It panics if offsets fall or leave data.
func NewText(name string, data []byte, offsets []int32) Column {
	offsets = mustOffsets(name, offsets, len(data))
	return Column{Name: name, Type: Type{Kind: String}, n: len(offsets) - 1, values: data, offsets: offsets}
}

// mustOffsets panics if offsets are not ascending within 0 to end. It returns them, or a single 0 if there are none.
func mustOffsets(name string, offsets []int32, end int) []int32 {
	if len(offsets) == 0 {
		return []int32{0}
	}
	last := int32(0)
	for i, o := range offsets {
		if o < last || int(o) > end {
			panic(fmt.Sprintf("parquetscan: column %s: offset %d is %d after %d, of %d", name, i, o, last, end))
		}
		last = o
	}
	return offsets
}

// NewStrings returns a String column of v. It copies the strings, of which there may be 2 GiB.
func NewStrings(name string, v []string) Column {
	size := 0
	for _, s := range v {
		size += len(s)
	}
	if size > math.MaxInt32 {
		panic(fmt.Sprintf("parquetscan: column %s: %d bytes of text in one column, of at most %d", name, size, math.MaxInt32))
	}
	data, offsets := make([]byte, 0, size), make([]int32, 1, len(v)+1)
	for _, s := range v {
		data = append(data, s...)
		offsets = append(offsets, int32(len(data)))
	}
	return Column{Name: name, Type: Type{Kind: String}, n: len(v), values: data, offsets: offsets}
}

// NewDictionary returns a dictionary: value i is data[offsets[i]:offsets[i+1]]. The slices must never change. A value may occur twice. It
// panics if offsets fall or leave data.
func NewDictionary(data []byte, offsets []int32) *Dictionary {
	d := &Dictionary{data: data, offsets: mustOffsets("of a dictionary", offsets, len(data))}
	for i := range d.Len() {
		d.longest = max(d.longest, int(d.offsets[i+1]-d.offsets[i]))
	}
	return d
}

// NewCodes returns a String column: row i is value codes[i] of the dictionary. Whether codes lie within the dictionary is found out when
// the column is written; those of rows that are NULL do not matter.
func NewCodes(name string, codes []uint32, dict *Dictionary) Column {
	if dict == nil {
		panic(fmt.Sprintf("parquetscan: column %s: codes without a dictionary", name))
	}
	return Column{Name: name, Type: Type{Kind: String}, n: len(codes), values: bytesOfSlice(codes), dict: dict}
}

// NewMatrix returns a Vector column: len(v)/dim rows of dim elements each, row after row. It panics unless dim is positive and divides
// len(v).
func NewMatrix[T ~float32 | ~float64](name string, v []T, dim int) Column {
	if dim <= 0 || len(v)%dim != 0 {
		panic(fmt.Sprintf("parquetscan: column %s: matrix of %d elements and dimension %d", name, len(v), dim))
	}
	t := Type{Kind: Vector, Elem: typeOfGo(reflect.TypeFor[T]()).Kind}
	return Column{Name: name, Type: t, n: len(v) / dim, dim: dim, values: bytesOfSlice(v)}
}

// NewFixed returns a Fixed column: len(v)/width rows of width bytes each. It panics unless width is positive and divides len(v).
func NewFixed(name string, v []byte, width int) Column {
	if width <= 0 || len(v)%width != 0 {
		panic(fmt.Sprintf("parquetscan: column %s: %d bytes of width %d", name, len(v), width))
	}
	return Column{Name: name, Type: Type{Kind: Fixed, Width: width}, n: len(v) / width, values: v}
}

// NewList returns a List column: the elements of row i are offsets[i] to offsets[i+1] of element, whose name becomes "element". No offset
// at all is no row. It panics if offsets fall or leave element.
func NewList(name string, offsets []int32, element Column) Column {
	offsets = mustOffsets(name, offsets, element.n)
	element.Name = elementName
	return Column{Name: name, Type: Type{Kind: List}, n: len(offsets) - 1, offsets: offsets, children: []Column{element}}
}

// NewMap returns a Map column: the entries of row i are offsets[i] to offsets[i+1] of key and value, whose names become "key" and "value".
// It panics if offsets fall or leave key, if key and value differ in length, and if a key is NULL.
func NewMap(name string, offsets []int32, key, value Column) Column {
	if key.n != value.n || key.nulls > 0 {
		panic(fmt.Sprintf("parquetscan: column %s: map of %d keys, %d of them NULL, and %d values", name, key.n, key.nulls, value.n))
	}
	offsets = mustOffsets(name, offsets, key.n)
	key.Name, value.Name = keyName, valueName
	return Column{Name: name, Type: Type{Kind: Map}, n: len(offsets) - 1, offsets: offsets, children: []Column{key, value}}
}

// NewStruct returns a Struct column of fields, which keep their names: row i is value i of each. It panics if there is none, or if they
// differ in length.
func NewStruct(name string, fields ...Column) Column {
	if len(fields) == 0 {
		panic(fmt.Sprintf("parquetscan: column %s: struct without fields", name))
	}
	for i := range fields {
		if fields[i].n != fields[0].n {
			panic(fmt.Sprintf("parquetscan: column %s: struct of fields of %d and %d values", name, fields[0].n, fields[i].n))
		}
	}
	return Column{Name: name, Type: Type{Kind: Struct}, n: fields[0].n, children: fields}
}

// The names of what lies in lists and maps, as the format wants them (LogicalTypes.md, "Nested Types").
const (
	elementName = "element"
	keyName     = "key"
	valueName   = "value"
)

// WithValidity returns the column with NULLs: value i is NULL if bit i is 0, bits counted from the lowest of each byte, as in Arrow. nil
// means no NULLs. What lies in the place of a NULL does not matter to a [Writer]. bits must have at least (Len()+7)/8 bytes, or it panics.
func (c Column) WithValidity(validity []byte) Column {
	c.validity, c.nulls = nil, 0
	if validity == nil {
		return c
	}
	if len(validity) < (c.n+7)/8 {
		panic(fmt.Sprintf("parquetscan: column %s: validity of %d bytes for %d values", c.Name, len(validity), c.n))
	}
	valid := 0
	for _, b := range validity[:c.n>>3] {
		valid += bits.OnesCount8(b)
	}
	if c.n&7 != 0 {
		valid += bits.OnesCount8(validity[c.n>>3] & (1<<(c.n&7) - 1))
	}
	if c.nulls = c.n - valid; c.nulls > 0 {
		c.validity = validity
	}
	return c
}
