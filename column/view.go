// SPDX-License-Identifier: Apache-2.0

package column

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/vecql/vecql/cql"
)

// Typed views of a column. A view is the column's own memory, is valid as long as the column, and is read-only.

// ErrNoColumn means that a batch has no column with the requested name. The views of the column that [Batch.Column]
// returns report it.
var ErrNoColumn = errors.New("no such column")

// A TypeError means that a column does not have the requested Go type.
type TypeError struct {
	Column string
	Type   Type   // of the column
	Want   string // the Go type, or the requested view
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("column: %s is %v, not %s", e.Column, e.Type, e.Want)
}

var goTypes = [Tuple + 1]reflect.Type{
	Bool: reflect.TypeFor[bool](), Int8: reflect.TypeFor[int8](), Int16: reflect.TypeFor[int16](),
	Int32: reflect.TypeFor[int32](), Int64: reflect.TypeFor[int64](), Uint8: reflect.TypeFor[uint8](),
	Uint16: reflect.TypeFor[uint16](), Uint32: reflect.TypeFor[uint32](), Uint64: reflect.TypeFor[uint64](),
	Float16: reflect.TypeFor[uint16](), Float32: reflect.TypeFor[float32](), Float64: reflect.TypeFor[float64](),
	Date: reflect.TypeFor[int32](), Time: reflect.TypeFor[int64](), Timestamp: reflect.TypeFor[int64](),
	Duration: reflect.TypeFor[cql.Duration](), Decimal64: reflect.TypeFor[int64](), Decimal128: reflect.TypeFor[Int128](),
	Decimal256: reflect.TypeFor[Int256](), UUID: reflect.TypeFor[cql.UUID](),
}

// Slice returns the rows of a column of a fixed kind as a slice of T, the Go type of the kind or a named type of it.
// The value of a NULL row is undefined ([Column.Null]). The slice is the column's memory. The error is a *TypeError, or
// wraps ErrNoColumn.
func Slice[T Value](c *Column) ([]T, error) {
	want := reflect.TypeFor[T]()
	if err := c.have(goTypes[c.Type.Kind], want, want.String); err != nil {
		return nil, err
	}
	return cast[T](c.Values, c.Len), nil
}

// have returns an error unless the column exists and its Go type has the underlying type of want.
func (c *Column) have(have, want reflect.Type, name func() string) error {
	switch {
	case c.missing != nil:
		return c.missing
	case have == want:
		return nil
	case have == nil || have.Kind() != want.Kind() || have.Size() != want.Size() || have.Kind() == reflect.Struct:
		return &TypeError{Column: c.Name, Type: c.Type, Want: name()}
	}
	return nil
}

// A MatrixView is the rows of a Vector column: row i is Data[i*Dim : (i+1)*Dim].
type MatrixView[T Element] struct {
	Data []T
	Rows int
	Dim  int
}

// Row returns row i. It shares the memory of Data; append does not extend it into the next row.
func (m MatrixView[T]) Row(i int) []T { return m.Data[i*m.Dim : (i+1)*m.Dim : (i+1)*m.Dim] }

// MatrixOf returns the rows of a Vector column. T is the Go type of the elements, or a named type of it. The elements
// of a NULL row are undefined ([Column.Null]). Data is the column's memory. The error is a *TypeError, or wraps
// ErrNoColumn.
func MatrixOf[T Element](c *Column) (MatrixView[T], error) {
	var have reflect.Type
	if c.Type.Kind == Vector {
		have = goTypes[c.Type.Elem]
	}
	want := reflect.TypeFor[T]()
	if err := c.have(have, want, func() string { return "a vector of " + want.String() }); err != nil {
		return MatrixView[T]{}, err
	}
	return MatrixView[T]{Data: cast[T](c.Values, c.Len*c.Type.Dim), Rows: c.Len, Dim: c.Type.Dim}, nil
}

// A TextView is the rows of a column of text, with or without a dictionary.
type TextView struct {
	column *Column
	codes  []uint32 // nil means no dictionary
}

// Text returns the rows of a column of text: String, Binary, Inet, Varint, Decimal. The error is a *TypeError, or wraps
// ErrNoColumn.
func (c *Column) Text() (TextView, error) {
	switch {
	case c.missing != nil:
		return TextView{}, c.missing
	case !c.Type.Kind.IsText():
		return TextView{}, &TypeError{Column: c.Name, Type: c.Type, Want: "text"}
	}
	return TextView{column: c, codes: c.codes()}, nil
}

// codes returns the codes of a column with a dictionary, otherwise nil.
func (c *Column) codes() []uint32 {
	if c.Dict == nil {
		return nil
	}
	return cast[uint32](c.Values, c.Len)
}

// Len returns the number of rows.
func (t TextView) Len() int { return t.column.Len }

// Bytes returns row i, or nil if it is NULL. It is the memory of the column or of the dictionary.
func (t TextView) Bytes(i int) []byte {
	c := t.column
	switch {
	case c.Null(i):
		return nil
	case t.codes != nil:
		return c.Dict.Bytes(t.codes[i])
	}
	return c.Values[c.Offsets[i]:c.Offsets[i+1]:c.Offsets[i+1]]
}

// String returns a copy of row i as a string, or "" if it is NULL.
func (t TextView) String(i int) string { return string(t.Bytes(i)) }

// Codes returns one code per row and the dictionary with the values: row i is dict.Bytes(codes[i]) unless it is NULL.
// Both are nil if the column has no dictionary. They are the column's memory.
func (c *Column) Codes() (codes []uint32, dict *Dictionary) { return c.codes(), c.Dict }

// Elements returns the range of child rows, from i up to but not including j, that are the elements of a row of a List
// or Map.
func (c *Column) Elements(row int) (i, j int) { return int(c.Offsets[row]), int(c.Offsets[row+1]) }
