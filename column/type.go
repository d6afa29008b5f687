// SPDX-License-Identifier: Apache-2.0

package column

import (
	"fmt"
	"math"
	"strings"
)

// Types of columns: a kind, which determines the layout of the values, and its parameters.

// A Kind determines the memory layout of the values of a column and their meaning.
type Kind uint8

// The kinds of columns. A fixed kind has one Go value per row: [Slice] returns them. A text kind has bytes of any
// length per row: [Column.Text] returns them. A Vector column is a matrix with the rows of the column: [MatrixOf]
// returns it. A nested kind has children.
const (
	Bool    Kind = iota + 1 // bool; one byte each, 0 or 1, unlike Arrow's bits
	Int8                    // int8
	Int16                   // int16
	Int32                   // int32
	Int64                   // int64
	Uint8                   // uint8
	Uint16                  // uint16
	Uint32                  // uint32
	Uint64                  // uint64
	Float16                 // uint16: the bits of an IEEE 754 binary16
	Float32                 // float32
	Float64                 // float64
	Date                    // int32: days since 1970-01-01
	Time                    // int64: Type.Unit since midnight
	// Timestamp is an int64: Type.Unit since 1970-01-01 00:00:00, in UTC if Type.UTC, otherwise in an unknown local
	// time.
	Timestamp
	Duration   // cql.Duration: months, days and nanoseconds, which do not convert into each other
	Decimal64  // int64: unscaled, up to 18 digits; the number is the value times 10^-Type.Scale
	Decimal128 // Int128: unscaled, up to 38 digits
	Decimal256 // Int256: unscaled, up to 76 digits
	UUID       // cql.UUID: 16 bytes
	Fixed      // Type.Width bytes
	String     // text; UTF-8 by convention, not checked
	Binary     // bytes
	Inet       // bytes: 4 of an IPv4 address, or 16 of an IPv6 address
	Varint     // bytes: an integer of any size, two's complement, the most significant byte first
	// bytes: a decimal with a scale of its own: the scale as 4 bytes, the most significant first; then the unscaled value
	// as a Varint
	Decimal
	// Vector is Type.Dim values of Type.Elem per row: one matrix, row after row. An element of a vector is never NULL.
	Vector
	List   // offsets into one child: a list, a set, an array
	Map    // offsets into two children, keys and values
	Struct // one child per field, by name
	Tuple  // one child per field, by position
)

var kinds = [...]struct {
	name  string
	width int // bytes of one value, 0 if values differ in length or have parameters
}{
	Bool: {"bool", 1}, Int8: {"int8", 1}, Int16: {"int16", 2}, Int32: {"int32", 4}, Int64: {"int64", 8},
	Uint8: {"uint8", 1}, Uint16: {"uint16", 2}, Uint32: {"uint32", 4}, Uint64: {"uint64", 8},
	Float16: {"float16", 2}, Float32: {"float32", 4}, Float64: {"float64", 8},
	Date: {"date", 4}, Time: {"time", 8}, Timestamp: {"timestamp", 8}, Duration: {"duration", 16},
	Decimal64: {"decimal64", 8}, Decimal128: {"decimal128", 16}, Decimal256: {"decimal256", 32}, UUID: {"uuid", 16},
	Fixed: {"fixed", 0}, String: {"string", 0}, Binary: {"binary", 0}, Inet: {"inet", 0}, Varint: {"varint", 0},
	Decimal: {"decimal", 0}, Vector: {"vector", 0}, List: {"list", 0}, Map: {"map", 0}, Struct: {"struct", 0},
	Tuple: {"tuple", 0},
}

// String returns the kind's name in lower case, "none" for 0.
func (k Kind) String() string {
	switch {
	case k == 0:
		return "none"
	case int(k) < len(kinds):
		return kinds[k].name
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// IsText reports whether the values of kind k are bytes of any length: String, Binary, Inet, Varint, Decimal.
func (k Kind) IsText() bool { return k >= String && k <= Decimal }

// IsInteger reports whether the values of kind k are integers of a fixed width: Int8 to Int64, Uint8 to Uint64.
func (k Kind) IsInteger() bool { return k >= Int8 && k <= Uint64 }

// IsFloat reports whether the values of kind k are floats: Float16, Float32, Float64.
func (k Kind) IsFloat() bool { return k >= Float16 && k <= Float64 }

// IsNested reports whether columns of kind k have children.
func (k Kind) IsNested() bool { return k >= List && k <= Tuple }

// IsList reports whether columns of kind k have offsets into children: List and Map.
func (k Kind) IsList() bool { return k == List || k == Map }

// IsVectorElement reports whether vectors can have elements of kind k: Float32, Float64, Int32, Int64, UUID.
func (k Kind) IsVectorElement() bool {
	return k == Float32 || k == Float64 || k == Int32 || k == Int64 || k == UUID
}

// A Unit is the unit of a Time or Timestamp.
type Unit uint8

// The units.
const (
	Millis Unit = iota + 1
	Micros
	Nanos
)

// String returns "ms", "us" or "ns".
func (u Unit) String() string { return [...]string{"", "ms", "us", "ns"}[u&3] }

// PerSecond returns the number of units per second.
func (u Unit) PerSecond() int64 { return [...]int64{1, 1e3, 1e6, 1e9}[u&3] }

// A Type is the type of a column. Types are comparable. Fields that do not apply to the kind are zero.
type Type struct {
	Kind      Kind
	Unit      Unit // of Time and Timestamp
	UTC       bool // of Time and Timestamp
	Elem      Kind // of Vector
	Precision int  // of Decimal64, Decimal128 and Decimal256: decimal digits
	Scale     int  // of Decimal64, Decimal128 and Decimal256: digits after the decimal point
	Width     int  // of Fixed, in bytes
	Dim       int  // of Vector: elements per row; 0 if no non-NULL row has been seen
}

// VectorOf returns the type of vectors of dim elements of kind elem.
func VectorOf(elem Kind, dim int) Type { return Type{Kind: Vector, Elem: elem, Dim: dim} }

// String returns the type as in the header of a printed column, for example "timestamp(ms, UTC)" or "vector<float32,
// 384>".
func (t Type) String() string {
	switch t.Kind {
	case Time, Timestamp:
		if t.UTC {
			return fmt.Sprintf("%v(%v, UTC)", t.Kind, t.Unit)
		}
		return fmt.Sprintf("%v(%v)", t.Kind, t.Unit)
	case Decimal64, Decimal128, Decimal256:
		return fmt.Sprintf("%v(%d, %d)", t.Kind, t.Precision, t.Scale)
	case Fixed:
		return fmt.Sprintf("fixed(%d)", t.Width)
	case Vector:
		return fmt.Sprintf("vector<%v, %d>", t.Elem, t.Dim)
	default:
		return t.Kind.String()
	}
}

// ValueWidth returns the number of bytes per row in [Column].Values, 0 for text and nested kinds, whose rows vary.
func (t Type) ValueWidth() int {
	switch {
	case t.Kind == Fixed:
		return t.Width
	case t.Kind == Vector:
		return int(min(int64(t.Dim)*int64(kinds[t.Elem].width), math.MaxInt))
	case int(t.Kind) < len(kinds):
		return kinds[t.Kind].width
	}
	return 0
}

// maxDigits is the number of decimal digits that a kind can always represent.
var maxDigits = [...]int{Decimal64: 18, Decimal128: 38, Decimal256: 76}

// Check returns an error if the fields of the type are inconsistent: a Timestamp without unit, a Float64 with a width.
func (t Type) Check() error {
	want := Type{Kind: t.Kind}
	ok := t.Kind >= Bool && t.Kind <= Tuple
	switch t.Kind {
	case Time, Timestamp:
		ok = t.Unit >= Millis && t.Unit <= Nanos
		want.Unit, want.UTC = t.Unit, t.UTC
	case Decimal64, Decimal128, Decimal256:
		ok = t.Precision >= 1 && t.Precision <= maxDigits[t.Kind] && t.Scale >= 0 && t.Scale <= t.Precision
		want.Precision, want.Scale = t.Precision, t.Scale
	case Fixed:
		ok = t.Width >= 1 && t.Width <= math.MaxInt32
		want.Width = t.Width
	case Vector:
		ok = t.Elem.IsVectorElement() && t.Dim >= 0 && t.Dim <= math.MaxInt32
		want.Elem, want.Dim = t.Elem, t.Dim
	}
	if !ok || t != want {
		type fields Type // without String
		return fmt.Errorf("column: not a type: %+v", fields(t))
	}
	return nil
}

// An Int128 is an integer of 128 bits in two's complement.
type Int128 struct {
	Lo uint64
	Hi int64
}

// An Int256 is an integer of 256 bits in two's complement, the least significant word first.
type Int256 [4]uint64

// A Field describes a column without its values: name, type, and child fields.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
	// Fields are the fields of a Struct or Tuple, the element of a List, the key and the value of a Map.
	Fields []Field
}

// String returns the name and type of the field, "?" if it is nullable, and its child fields.
func (f Field) String() string {
	null := ""
	if f.Nullable {
		null = "?"
	}
	if len(f.Fields) == 0 {
		return fmt.Sprintf("%s %v%s", f.Name, f.Type, null)
	}
	return fmt.Sprintf("%s %v%s%v", f.Name, f.Type, null, f.Fields)
}

// A Schema is the fields of a batch in order.
type Schema []Field

// Index returns the position of the first column with that name, -1 if there is none.
func (s Schema) Index(name string) int {
	for i := range s {
		if s[i].Name == name {
			return i
		}
	}
	return -1
}

// Names returns the names of the fields, in fresh memory.
func (s Schema) Names() []string {
	names := make([]string, len(s))
	for i := range s {
		names[i] = s[i].Name
	}
	return names
}

// Empty returns a batch of no rows with a column for each field.
func (s Schema) Empty() *Batch {
	b := &Batch{Columns: make([]Column, len(s))}
	for i, f := range s {
		b.Columns[i] = f.empty()
	}
	return b
}

func (f Field) empty() Column {
	c := Column{Name: f.Name, Type: f.Type}
	for _, child := range f.Fields {
		c.Children = append(c.Children, child.empty())
	}
	return c
}

// String returns the fields, separated by commas.
func (s Schema) String() string {
	fields := make([]string, len(s))
	for i, f := range s {
		fields[i] = f.String()
	}
	return strings.Join(fields, ", ")
}

// The names of the children of lists and maps, as in Parquet (parquet-format, LogicalTypes.md, "Nested Types").
const (
	ElementName = "element"
	KeyName     = "key"
	ValueName   = "value"
)
