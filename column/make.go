// SPDX-License-Identifier: Apache-2.0

package column

import (
	"fmt"
	"reflect"

	"github.com/vecql/vecql/cql"
)

// Constructors of columns. A column refers to the slices passed to its constructor. The caller keeps ownership; the
// slices are only read, and must not change while the column is in use. Inconsistent lengths and offsets are
// programming errors and panic.

// A Value is a Go type of the rows of a fixed kind. A named type counts as its underlying type, so a uuid.UUID of any
// package is a UUID.
type Value interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~[16]byte |
		Int128 | Int256 | cql.Duration
}

// An Element is a Go type of the elements of vectors.
type Element interface {
	~float32 | ~float64 | ~int32 | ~int64 | ~[16]byte
}

// Of returns a column of v, one row per element. The kind follows the Go type: int32 is Int32, [16]byte is UUID, Int128
// is Decimal128 with 38 digits and scale 0. [Column.WithType] changes the meaning of the values: to a date, a
// timestamp, a decimal.
func Of[T Value](name string, v []T) Column {
	return Column{Name: name, Type: TypeOf[T](), Len: len(v), Values: bytesOf(v)}
}

// TypeOf returns the column type of Of for T.
func TypeOf[T Value]() Type {
	t := reflect.TypeFor[T]()
	switch {
	case t == reflect.TypeFor[cql.Duration]():
		return Type{Kind: Duration}
	case t.Kind() == reflect.Struct:
		return Type{Kind: Decimal128, Precision: maxDigits[Decimal128]}
	case t.Kind() == reflect.Array && t.Size() == 16:
		return Type{Kind: UUID}
	case t.Kind() == reflect.Array:
		return Type{Kind: Decimal256, Precision: maxDigits[Decimal256]}
	}
	return Type{Kind: scalarKinds[t.Kind()]}
}

var scalarKinds = [...]Kind{
	reflect.Bool: Bool, reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64,
	reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64, reflect.Float32: Float32,
	reflect.Float64: Float64,
}

// WithType returns the column with another type of the same layout. int64 may become Time, Timestamp, Decimal64 or
// Int64; int32 Date; uint16 Float16. The precision and scale of a decimal may change. String, Binary, Inet, Varint and
// Decimal may become each other, UUID may become Fixed of 16 bytes, and Struct may become Tuple. Values are neither
// converted nor checked. It returns an error if the layouts differ, or if t is not a type.
func (c Column) WithType(t Type) (Column, error) {
	if err := t.Check(); err != nil {
		return Column{}, fmt.Errorf("column: %s: %w", c.Name, err)
	}
	if c.Type != t && layoutOf(c.Type) != layoutOf(t) {
		return Column{}, fmt.Errorf("column: %s: type %v cannot become %v: the layouts differ", c.Name, c.Type, t)
	}
	c.Type = t
	return c, nil
}

// layoutOf returns a representative of all types with the layout of t.
func layoutOf(t Type) Type {
	switch k := t.Kind; {
	case k.IsText():
		return Type{Kind: Binary}
	case k == UUID:
		return Type{Kind: Fixed, Width: 16}
	case k == Tuple:
		return Type{Kind: Struct}
	case k == Fixed, k == Vector, k.IsNested():
		return t
	case goTypes[k] != nil && goTypes[k].Kind() == reflect.Int64:
		return Type{Kind: Int64}
	case goTypes[k] != nil && goTypes[k].Kind() == reflect.Int32:
		return Type{Kind: Int32}
	case goTypes[k] != nil && goTypes[k].Kind() == reflect.Uint16:
		return Type{Kind: Uint16}
	}
	return Type{Kind: t.Kind}
}

// Matrix returns a Vector column of v: len(v)/dim rows of dim elements each, row by row. It panics unless dim is
// positive and divides len(v).
func Matrix[T Element](name string, v []T, dim int) Column {
	if dim <= 0 || len(v)%dim != 0 {
		panic(fmt.Sprintf("column: %s: %d elements are not a matrix of dimension %d", name, len(v), dim))
	}
	elem := UUID
	if k := reflect.TypeFor[T]().Kind(); k != reflect.Array {
		elem = scalarKinds[k]
	}
	return Column{Name: name, Type: VectorOf(elem, dim), Len: len(v) / dim, Values: bytesOf(v)}
}

// Strings returns a String column with a copy of the bytes of v. It panics if they exceed 2 GiB.
func Strings(name string, v []string) Column { return copied(name, String, v) }

// Binaries returns a Binary column with a copy of the bytes of v. nil means NULL. It panics if the bytes exceed 2 GiB.
func Binaries(name string, v [][]byte) Column {
	c := copied(name, Binary, v)
	null, any := make([]bool, len(v)), false
	for i := range v {
		null[i] = v[i] == nil
		any = any || null[i]
	}
	if any {
		return c.WithNulls(null)
	}
	return c
}

// copied returns a column of texts with the values copied to one buffer. It panics if they exceed the offsets' range.
func copied[T string | []byte](name string, kind Kind, v []T) Column {
	size := 0
	for _, s := range v {
		size += len(s)
	}
	if size > maxOffset {
		panic(fmt.Sprintf("column: %s: %d bytes exceed the limit of one column, %d", name, size, maxOffset))
	}
	c := Column{
		Name: name, Type: Type{Kind: kind}, Len: len(v), Values: make([]byte, 0, size),
		Offsets: make([]int32, 1, len(v)+1),
	}
	for _, s := range v {
		c.Values = append(c.Values, s...)
		c.Offsets = append(c.Offsets, int32(len(c.Values)))
	}
	return c
}

// StringBuffers returns a String column whose row i is bytes[offsets[i]:offsets[i+1]], as in Arrow. There is one more
// offset than rows; without offsets there are no rows. It panics if offsets decrease or exceed bytes.
func StringBuffers(name string, bytes []byte, offsets []int32) Column {
	c := Column{Name: name, Type: Type{Kind: String}, Len: max(0, len(offsets)-1), Values: bytes, Offsets: offsets}
	c.mustCheck()
	return c
}

// Codes returns a String column whose row i is entry codes[i] of the dictionary. Readers check the codes of non-NULL
// rows against the dictionary.
func Codes(name string, codes []uint32, dict *Dictionary) Column {
	if dict == nil {
		panic(fmt.Sprintf("column: %s: codes without a dictionary", name))
	}
	return Column{Name: name, Type: Type{Kind: String}, Len: len(codes), Values: bytesOf(codes), Dict: dict}
}

// FixedBytes returns a Fixed column: len(v)/width rows of width bytes each. It panics unless width is positive and
// divides len(v).
func FixedBytes(name string, v []byte, width int) Column {
	if width <= 0 || len(v)%width != 0 {
		panic(fmt.Sprintf("column: %s: %d bytes are not rows of %d bytes", name, len(v), width))
	}
	return Column{Name: name, Type: Type{Kind: Fixed, Width: width}, Len: len(v) / width, Values: v}
}

// Lists returns a List column: the elements of row i are rows offsets[i] to offsets[i+1] of element, which is renamed
// to "element". Without offsets there are no rows. It panics if offsets decrease or exceed element.
func Lists(name string, offsets []int32, element Column) Column {
	element.Name = ElementName
	c := Column{
		Name: name, Type: Type{Kind: List}, Len: max(0, len(offsets)-1), Offsets: offsets,
		Children: []Column{element},
	}
	c.mustCheck()
	return c
}

// Maps returns a Map column: the entries of row i are rows offsets[i] to offsets[i+1] of key and value, which are
// renamed to "key" and "value". It panics if offsets decrease or exceed key, if key and value differ in length, or if a
// key is NULL.
func Maps(name string, offsets []int32, key, value Column) Column {
	key.Name, value.Name = KeyName, ValueName
	if key.Nulls > 0 {
		panic(fmt.Sprintf("column: %s: %d of %d keys are NULL", name, key.Nulls, key.Len))
	}
	c := Column{
		Name: name, Type: Type{Kind: Map}, Len: max(0, len(offsets)-1), Offsets: offsets,
		Children: []Column{key, value},
	}
	c.mustCheck()
	return c
}

// Structs returns a Struct column of fields, which keep their names: row i is row i of each field. It panics if there
// are no fields, or if their lengths differ.
func Structs(name string, fields ...Column) Column { return fieldsOf(name, Struct, fields) }

// Tuples returns a Tuple column of fields, which are renamed to their positions, from "0". It panics like Structs.
func Tuples(name string, fields ...Column) Column {
	c := fieldsOf(name, Tuple, append([]Column(nil), fields...))
	for i := range c.Children {
		c.Children[i].Name = fmt.Sprint(i)
	}
	return c
}

func fieldsOf(name string, kind Kind, fields []Column) Column {
	if len(fields) == 0 {
		panic(fmt.Sprintf("column: %s: a %v without fields", name, kind))
	}
	c := Column{Name: name, Type: Type{Kind: kind}, Len: fields[0].Len, Children: fields}
	c.mustCheck()
	return c
}

func (c *Column) mustCheck() {
	if err := c.check(); err != nil {
		panic(fmt.Sprintf("column: %s: %v", c.Name, err))
	}
}
