// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"reflect"
	"unsafe"
)

// This file holds columns: what comes in as keys and values, what goes out as results, and what states of aggregates are kept in. A Column
// is a view of slices that somebody else owns; it copies nothing.

// A Type is the type of a column: a kind, and for vectors a dimension (see [Vector]).
type Type uint64

// The scalar types. ID is 16 bytes: a uuid, a timeuuid, an IPv6 address. String is any bytes, text or not.
const (
	Int8 Type = iota + 1
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	Bool
	ID
	String
)

// Vector returns the type of vectors of dim elements each, elem being Float32 or Float64.
func Vector(elem Type, dim int) Type { return elem | Type(dim)<<8 }

// Elem returns the type of a vector's elements, or the type itself.
func (t Type) Elem() Type { return t & 0xff }

// Dim returns the dimension of a vector, or 0.
func (t Type) Dim() int { return int(t >> 8) }

var typeNames = [...]string{
	Int8: "int8", Int16: "int16", Int32: "int32", Int64: "int64", Uint8: "uint8", Uint16: "uint16", Uint32: "uint32", Uint64: "uint64",
	Float32: "float32", Float64: "float64", Bool: "bool", ID: "id", String: "string",
}

func (t Type) String() string {
	e := t.Elem()
	if e == 0 || int(e) >= len(typeNames) {
		return fmt.Sprintf("type(%#x)", uint64(t))
	}
	if d := t.Dim(); d > 0 {
		return fmt.Sprintf("vector<%s,%d>", typeNames[e], d)
	}
	return typeNames[e]
}

var typeWidths = [...]uint8{
	Int8: 1, Int16: 2, Int32: 4, Int64: 8, Uint8: 1, Uint16: 2, Uint32: 4, Uint64: 8, Float32: 4, Float64: 8, Bool: 1, ID: 16, String: 0,
}

// valid tells whether the type is one of those above.
func (t Type) valid() bool {
	e := t.Elem()
	if e == 0 || int(e) >= len(typeNames) {
		return false
	}
	return t.Dim() == 0 || (t.isFloat() && t.Dim() < 1<<24)
}

// width returns the bytes of one value, 0 for strings.
func (t Type) width() int {
	w := int(typeWidths[t.Elem()])
	if d := t.Dim(); d > 0 {
		w *= d
	}
	return w
}

func (t Type) isSigned() bool   { return t >= Int8 && t <= Int64 }
func (t Type) isUnsigned() bool { return t >= Uint8 && t <= Uint64 }
func (t Type) isFloat() bool    { e := t.Elem(); return e == Float32 || e == Float64 }
func (t Type) isNumber() bool   { return t.isSigned() || t.isUnsigned() || t == Float32 || t == Float64 }

// A Column is a view of the values of one column, NULLs included. The zero Column has no type and no rows. Columns are made by [Values],
// [Matrix], [Text] and [Codes]; WithValidity says which rows are NULL. The slices stay the caller's: they are read until the call they are
// given to returns, and never written.
type Column struct {
	typ  Type
	form form
	n    int
	// What data points at depends on form: the values, the headers of strings, the bytes of texts, the codes.
	data     unsafe.Pointer
	offsets  []int32
	dict     *Dictionary
	validity []byte
}

// A form is how the values of a column lie in memory.
type form uint8

const (
	formPlain   form = iota // width bytes each
	formStrings             // a []string
	formText                // bytes and offsets
	formCodes               // []uint32 into a dictionary of strings
	formZero                // all values are zero, nothing lies anywhere
)

// A Value is a Go type whose slices are columns. Named types count as what they are made of: a uuid.UUID is an ID.
type Value interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~bool | ~[16]byte | ~string
}

var typeOfKind = map[reflect.Kind]Type{
	reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64,
	reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64,
	reflect.Float32: Float32, reflect.Float64: Float64, reflect.Bool: Bool, reflect.Array: ID, reflect.String: String,
}

// TypeOf returns the type of a column of T.
func TypeOf[T Value]() Type { return typeOfKind[reflect.TypeFor[T]().Kind()] }

// Values returns a column of v.
func Values[T Value](v []T) Column {
	c := Column{typ: TypeOf[T](), n: len(v), data: unsafe.Pointer(unsafe.SliceData(v))}
	if c.typ == String {
		c.form = formStrings
	}
	return c
}

// Matrix returns a column of vectors of dim elements each, row after row: len(v) must be a multiple of dim, and dim positive.
func Matrix[T ~float32 | ~float64](v []T, dim int) Column {
	if dim <= 0 || len(v)%dim != 0 {
		panic(fmt.Sprintf("groupby: matrix of %d elements and dimension %d", len(v), dim))
	}
	return Column{typ: Vector(TypeOf[T](), dim), n: len(v) / dim, data: unsafe.Pointer(unsafe.SliceData(v))}
}

// Text returns a column of strings: row i is data[offsets[i]:offsets[i+1]], as in Arrow. There is one more offset than there are rows (no
// offset at all is no row). Offsets are checked when the column is used.
func Text(data []byte, offsets []int32) Column {
	c := Column{typ: String, form: formText, data: unsafe.Pointer(unsafe.SliceData(data)), offsets: offsets, n: max(0, len(offsets)-1)}
	last := int32(0)
	for i, o := range offsets {
		if o < last || int(o) > len(data) {
			panic(fmt.Sprintf("groupby: offset %d of a text column is %d after %d, of %d bytes", i, o, last, len(data)))
		}
		last = o
	}
	return c
}

// A Dictionary is the distinct strings that codes stand for. Columns that share a *Dictionary share what was found out about it, so make it
// once per file or page rather than once per batch. It must not change after its first use, and an entry may occur twice.
type Dictionary struct{ entries Column }

// NewDictionary returns the dictionary of the strings of a column made by Values or Text. The column must stay unchanged.
func NewDictionary(entries Column) *Dictionary {
	if entries.typ != String || entries.form == formCodes {
		panic("groupby: a dictionary holds strings")
	}
	return &Dictionary{entries: entries}
}

// Len returns the number of entries.
func (d *Dictionary) Len() int { return d.entries.n }

// Codes returns a column of strings: row i is entry codes[i] of the dictionary. A code beyond the dictionary is an error when the column is
// added, unless the row is NULL.
func Codes(codes []uint32, dict *Dictionary) Column {
	return Column{typ: String, form: formCodes, n: len(codes), data: unsafe.Pointer(unsafe.SliceData(codes)), dict: dict}
}

// zeroColumn returns n zeros: a state that needs no memory.
func zeroColumn(t Type, n int) Column { return Column{typ: t, form: formZero, n: n} }

// WithValidity returns the column with NULLs: row i is NULL if bit i is 0, bits counted from the lowest of each byte, as in Arrow. nil means
// no NULLs. bits must have at least (Len()+7)/8 bytes.
func (c Column) WithValidity(bits []byte) Column {
	if bits != nil && len(bits) < (c.n+7)/8 {
		panic(fmt.Sprintf("groupby: validity of %d bytes for %d rows", len(bits), c.n))
	}
	c.validity = bits
	return c
}

// Len returns the number of rows.
func (c Column) Len() int { return c.n }

// Type returns the column's type.
func (c Column) Type() Type { return c.typ }

// Validity returns the bits given to WithValidity, nil if no row is NULL.
func (c Column) Validity() []byte { return c.validity }

// Null tells whether row i is NULL.
func (c Column) Null(i int) bool { return c.validity != nil && c.validity[i>>3]>>(i&7)&1 == 0 }

// Slice returns rows i to j of the column; i must be a multiple of 8 if the column has NULLs.
func (c Column) Slice(i, j int) Column {
	if i < 0 || j < i || j > c.n {
		panic(fmt.Sprintf("groupby: rows %d to %d of a column of %d", i, j, c.n))
	}
	if c.validity != nil {
		if i&7 != 0 {
			panic("groupby: a column with NULLs is cut at multiples of 8 rows")
		}
		c.validity = c.validity[i>>3 : (j+7)>>3 : (j+7)>>3]
	}
	c.n = j - i
	if c.n == 0 { // a pointer must not point at the end of its memory
		i = 0
	}
	switch c.form {
	case formPlain:
		c.data = unsafe.Add(c.data, i*c.typ.width())
	case formStrings:
		c.data = unsafe.Add(c.data, i*int(unsafe.Sizeof("")))
	case formText:
		if len(c.offsets) > 0 {
			c.offsets = c.offsets[i : i+c.n+1]
		}
	case formCodes:
		c.data = unsafe.Add(c.data, i*4)
	}
	return c
}

// SliceOf returns the values of a column as a slice of T, whose kind must be the column's (for vectors: the elements', row after row): the
// column's own memory, except for strings, which are views of it in a slice made for the call, "" for NULL. It returns nil and false for another type.
func SliceOf[T Value](c Column) ([]T, bool) {
	if TypeOf[T]() != c.typ.Elem() {
		return nil, false
	}
	if c.typ == String && c.form != formStrings {
		s := make([]string, c.n)
		for i := range s {
			if !c.Null(i) {
				s[i] = c.text(i)
			}
		}
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), c.n), true
	}
	n := c.n * max(1, c.typ.Dim())
	if c.form == formZero {
		return make([]T, n), true
	}
	return unsafe.Slice((*T)(c.data), n), true
}

// Strings returns the values of a column of strings, "" for NULL. They are views of the column's memory.
func (c Column) Strings() []string { s, _ := SliceOf[string](c); return s }

// text returns string i, a view. It must not be NULL if the form is formCodes.
func (c *Column) text(i int) string {
	switch c.form {
	case formStrings:
		return *(*string)(unsafe.Add(c.data, i*int(unsafe.Sizeof(""))))
	case formText:
		if c.offsets[i] == c.offsets[i+1] {
			return ""
		}
		return unsafe.String((*byte)(unsafe.Add(c.data, c.offsets[i])), c.offsets[i+1]-c.offsets[i])
	case formCodes:
		if c.Null(i) {
			return ""
		}
		return c.dict.entries.text(int(c.codes()[i]))
	}
	return ""
}

func (c *Column) codes() []uint32 { return unsafe.Slice((*uint32)(c.data), c.n) }

// view returns the values as a slice of a type of the same width; the caller knows the type.
func view[T any](c *Column) []T {
	if c.form == formZero {
		return make([]T, c.n*max(1, c.typ.Dim()))
	}
	return unsafe.Slice((*T)(c.data), c.n*max(1, c.typ.Dim()))
}

// check returns an error if the column can not be used as what is wanted of it: its type, and codes within their dictionary.
func (c *Column) check(want Type) error {
	if c.typ != want {
		return fmt.Errorf("%s, not %s", c.typ, want)
	}
	if c.form == formCodes {
		limit := uint32(c.dict.Len())
		for i, code := range c.codes() {
			if code >= limit && !c.Null(i) {
				return fmt.Errorf("row %d: code %d of a dictionary of %d", i, code, limit)
			}
		}
	}
	return nil
}

// validWord returns the validity of rows i to i+63, i being a multiple of 64 less than the number of rows: bits beyond the last row are 0.
func (c *Column) validWord(i int) uint64 {
	n := c.n - i
	if n >= 64 && c.validity == nil {
		return ^uint64(0)
	}
	var w uint64
	if c.validity == nil {
		w = ^uint64(0)
	} else {
		b := c.validity[i>>3:]
		if len(b) >= 8 {
			w = uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		} else {
			for k, x := range b {
				w |= uint64(x) << (8 * k)
			}
		}
	}
	if n < 64 {
		w &= 1<<n - 1
	}
	return w
}
