// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"strconv"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Arrow's schema in the footer: the types that the Parquet schema of a Writer cannot express.

// encodeArrowSchema returns the value of footer.ArrowSchemaKey.
func encodeArrowSchema(fields []*writeNode) string {
	out := make([]footer.ArrowField, len(fields))
	for i, n := range fields {
		out[i] = n.arrow(n.field.Name, true)
	}
	return footer.EncodeArrowSchema(out)
}

// arrow converts the field to Arrow's: Decimal64 as decimal128, a Time in milliseconds as time32, a UUID as 16 bytes of
// fixed size, the zone of UTC times as "UTC". A vector is a list of fixed size if it is not nested and no row is NULL:
// a NULL has no elements in Parquet, and not every reader allocates them. Other vectors are lists.
func (n *writeNode) arrow(name string, top bool) footer.ArrowField {
	out := footer.ArrowField{Name: name, Nullable: n.field.Nullable, Extension: footer.Extensions[n.typ.Kind]}
	for _, kid := range n.children {
		out.Children = append(out.Children, kid.arrow(kid.field.Name, false))
	}
	switch n.field.Type.Kind {
	case column.Vector:
		out.Children = []footer.ArrowField{{Name: column.ElementName, Type: arrowType(column.Type{Kind: n.field.Type.Elem})}}
		if top && n.dim > 0 && !n.nulls {
			out.Type = arrowOf(footer.ArrowFixedSizeList, number(0, n.dim))
			break
		}
		out.Type = arrowOf(footer.ArrowList)
		out.Extension, out.Data = footer.ExtensionVector, strconv.Itoa(max(0, n.dim))
	case column.List:
		out.Type, out.Children[0].Name = arrowOf(footer.ArrowList), column.ElementName
		if k := n.children[0].typ.Kind; k == column.Float32 || k == column.Float64 {
			out.Extension = footer.ExtensionList
		}
	case column.Map:
		out.Children[0].Name, out.Children[1].Name = column.KeyName, column.ValueName
		out.Children = []footer.ArrowField{{Name: "entries", Type: arrowOf(footer.ArrowStruct), Children: out.Children}}
		out.Type = arrowOf(footer.ArrowMap)
	case column.Struct:
		out.Type = arrowOf(footer.ArrowStruct)
	default:
		out.Type = arrowType(n.field.Type)
	}
	return out
}

// arrowOf returns a type of Arrow with parameters.
func arrowOf(member byte, parameters ...footer.ArrowParameter) footer.ArrowType {
	return footer.ArrowType{Member: member, Fields: parameters}
}

// number returns a parameter of 4 bytes, flag one of 1 byte that is true, enum one of 2 bytes.
func number(slot, value int) footer.ArrowParameter {
	return footer.ArrowParameter{Slot: slot, Size: 4, Value: int32(value)}
}

func flag(slot int) footer.ArrowParameter {
	return footer.ArrowParameter{Slot: slot, Size: 1, Value: 1}
}

func enum(slot, value int) footer.ArrowParameter {
	return footer.ArrowParameter{Slot: slot, Size: 2, Value: int32(value)}
}

// arrowUnits are the values of Arrow's TimeUnit.
var arrowUnits = [...]int{column.Millis: 1, column.Micros: 2, column.Nanos: 3}

// arrowType returns the type of Arrow of columns that are not nested.
func arrowType(t column.Type) footer.ArrowType {
	switch t.Kind {
	case column.Bool:
		return arrowOf(footer.ArrowBool)
	case column.Int8, column.Int16, column.Int32, column.Int64:
		return arrowOf(footer.ArrowInt, number(0, 8*t.ValueWidth()), flag(1))
	case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
		return arrowOf(footer.ArrowInt, number(0, 8*t.ValueWidth()))
	case column.Float16, column.Float32, column.Float64: // HALF, SINGLE, DOUBLE
		return arrowOf(footer.ArrowFloatingPoint, enum(0, t.ValueWidth()/4))
	case column.Date:
		return arrowOf(footer.ArrowDate, enum(0, 0)) // DAY
	case column.Time:
		bits := 64
		if t.Unit == column.Millis {
			bits = 32
		}
		return arrowOf(footer.ArrowTime, enum(0, arrowUnits[t.Unit]), number(1, bits))
	case column.Timestamp:
		out := arrowOf(footer.ArrowTimestamp, enum(0, arrowUnits[t.Unit]))
		if t.UTC {
			out.Zone = "UTC"
		}
		return out
	case column.Decimal64, column.Decimal128, column.Decimal256:
		bits := 128
		if t.Kind == column.Decimal256 {
			bits = 256
		}
		return arrowOf(footer.ArrowDecimal, number(0, t.Precision), number(1, t.Scale), number(2, bits))
	case column.String:
		return arrowOf(footer.ArrowUtf8)
	case column.Binary:
		return arrowOf(footer.ArrowBinary)
	}
	return arrowOf(footer.ArrowFixedSizeBinary, number(0, t.ValueWidth())) // UUID, Fixed
}
