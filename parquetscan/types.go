// SPDX-License-Identifier: Apache-2.0

package parquetscan

import "fmt"

// This file holds the types of columns: what a Parquet schema says about a column, in terms of the Go slices it is read into
// (parquet-format, LogicalTypes.md).

// A Kind says what a column holds, and by that which Go type its values have.
type Kind uint8

// The kinds of columns, and the Go type of their values.
const (
	Bool    Kind = iota + 1 // bool
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
	// Timestamp is an int64: Type.Unit since 1970-01-01 00:00:00, of UTC if Type.UTC, of an unknown local time otherwise. Columns of the
	// deprecated INT96 are timestamps in nanoseconds.
	Timestamp
	Decimal64  // int64: unscaled, precision up to 18; the number is the value times 10^-Scale
	Decimal128 // Int128: unscaled, precision up to 38
	Decimal256 // Int256: unscaled, precision up to 76
	String     // text of any length, UTF-8 by declaration (it is not checked): offsets and bytes, or codes and a dictionary
	Binary     // bytes of any length: as String
	ID         // [16]byte: a UUID, or any other 16 bytes of fixed length
	Fixed      // Type.Width bytes
	// Vector is Type.Elem, Float32 or Float64, as many as Column.Dim says, the same for all rows: one matrix, row after row. The element of
	// a vector is never NULL.
	Vector
	List   // offsets into one child
	Map    // offsets into two children, keys and values
	Struct // one child per field
)

var kindNames = [...]string{
	Bool: "bool", Int8: "int8", Int16: "int16", Int32: "int32", Int64: "int64", Uint8: "uint8", Uint16: "uint16", Uint32: "uint32",
	Uint64: "uint64", Float16: "float16", Float32: "float32", Float64: "float64", Date: "date", Time: "time", Timestamp: "timestamp",
	Decimal64: "decimal64", Decimal128: "decimal128", Decimal256: "decimal256", String: "string", Binary: "binary", ID: "id",
	Fixed: "fixed", Vector: "vector", List: "list", Map: "map", Struct: "struct",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// nested tells whether columns of this kind have children.
func (k Kind) nested() bool { return k == List || k == Map || k == Struct }

// text tells whether values have lengths of their own.
func (k Kind) text() bool { return k == String || k == Binary }

// A Unit is the unit of a Time or Timestamp.
type Unit uint8

// The units that Parquet knows.
const (
	Millis Unit = iota + 1
	Micros
	Nanos
)

func (u Unit) String() string { return [...]string{"", "ms", "us", "ns"}[u&3] }

// An Int128 is an integer of 128 bits, two's complement.
type Int128 struct {
	Lo uint64
	Hi int64
}

// An Int256 is an integer of 256 bits, two's complement, the lowest word first.
type Int256 [4]uint64

// A Type is the type of a column. Fields beside Kind are zero where they mean nothing.
type Type struct {
	Kind             Kind
	Unit             Unit // of Time and Timestamp
	UTC              bool // of Time and Timestamp
	Precision, Scale int  // of decimals
	Width            int  // of Fixed, in bytes
	Elem             Kind // of Vector: Float32 or Float64
}

func (t Type) String() string {
	switch t.Kind {
	case Time, Timestamp:
		zone := ""
		if t.UTC {
			zone = ", UTC"
		}
		return fmt.Sprintf("%v(%v%s)", t.Kind, t.Unit, zone)
	case Decimal64, Decimal128, Decimal256:
		return fmt.Sprintf("%v(%d, %d)", t.Kind, t.Precision, t.Scale)
	case Fixed:
		return fmt.Sprintf("fixed(%d)", t.Width)
	case Vector:
		return fmt.Sprintf("vector<%v>", t.Elem)
	default:
		return t.Kind.String()
	}
}

var kindWidths = [...]uint8{
	Bool: 1, Int8: 1, Int16: 2, Int32: 4, Int64: 8, Uint8: 1, Uint16: 2, Uint32: 4, Uint64: 8, Float16: 2, Float32: 4, Float64: 8,
	Date: 4, Time: 8, Timestamp: 8, Decimal64: 8, Decimal128: 16, Decimal256: 32, ID: 16, Struct: 0,
}

// width returns the bytes of one value, 0 if values differ in that. For vectors it is that of one element.
func (t Type) width() int {
	switch t.Kind {
	case Fixed:
		return t.Width
	case Vector:
		return int(kindWidths[t.Elem])
	}
	if int(t.Kind) < len(kindWidths) {
		return int(kindWidths[t.Kind])
	}
	return 0
}

// A Field is a column of a file's schema, with what lies in it.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
	// Fields are the fields of a Struct, the element of a List, key and value of a Map.
	Fields []Field
}

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
