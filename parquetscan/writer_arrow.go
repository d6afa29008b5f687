// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"encoding/base64"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// This file holds what fields are in Arrow, and the schema that a Writer leaves in the footer for readers that know Arrow.

// arrowSchemaKey is the footer's key under which Arrow's implementations keep the schema that a file was written with.
const arrowSchemaKey = "ARROW:schema"

// Arrow returns the field as Arrow has it. dims holds the dimension of Vector fields by name, those within structs, lists and maps as
// "name.field", "name.element", "name.value": they are lists of fixed size, those without a dimension lists. Elements are never NULL.
// Decimal64 is decimal128, a Time in milliseconds is time32, an ID is 16 bytes of fixed size, the zone of times that are UTC is "UTC".
func (f Field) Arrow(dims map[string]int) arrow.Field { return f.arrow(f.Name, dims) }

func (f Field) arrow(path string, dims map[string]int) arrow.Field {
	inner := func(i int, name string) arrow.Field {
		kid := f.Fields[i]
		if name != "" {
			kid.Name = name
		}
		return kid.arrow(path+"."+kid.Name, dims)
	}
	out := arrow.Field{Name: f.Name, Nullable: f.Nullable}
	switch f.Type.Kind {
	case Vector:
		element := arrow.Field{Name: elementName, Type: Type{Kind: f.Type.Elem}.arrow()}
		if dim := dims[path]; dim > 0 {
			out.Type = arrow.FixedSizeListOfField(int32(dim), element)
		} else {
			out.Type = arrow.ListOfField(element)
		}
	case List:
		out.Type = arrow.ListOfField(inner(0, elementName))
	case Map:
		key := inner(0, keyName)
		key.Nullable = false
		out.Type = arrow.MapOfFields(key, inner(1, valueName))
	case Struct:
		fields := make([]arrow.Field, len(f.Fields))
		for i := range fields {
			fields[i] = inner(i, "")
		}
		out.Type = arrow.StructOf(fields...)
	default:
		out.Type = f.Type.arrow()
	}
	return out
}

// arrow returns the data type of scalars.
func (t Type) arrow() arrow.DataType {
	unit := [...]arrow.TimeUnit{Millis: arrow.Millisecond, Micros: arrow.Microsecond, Nanos: arrow.Nanosecond}[t.Unit]
	switch t.Kind {
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	case Int8:
		return arrow.PrimitiveTypes.Int8
	case Int16:
		return arrow.PrimitiveTypes.Int16
	case Int32:
		return arrow.PrimitiveTypes.Int32
	case Int64:
		return arrow.PrimitiveTypes.Int64
	case Uint8:
		return arrow.PrimitiveTypes.Uint8
	case Uint16:
		return arrow.PrimitiveTypes.Uint16
	case Uint32:
		return arrow.PrimitiveTypes.Uint32
	case Uint64:
		return arrow.PrimitiveTypes.Uint64
	case Float16:
		return arrow.FixedWidthTypes.Float16
	case Float32:
		return arrow.PrimitiveTypes.Float32
	case Float64:
		return arrow.PrimitiveTypes.Float64
	case Date:
		return arrow.FixedWidthTypes.Date32
	case Time:
		if t.Unit == Millis {
			return &arrow.Time32Type{Unit: unit}
		}
		return &arrow.Time64Type{Unit: unit}
	case Timestamp:
		if t.UTC {
			return &arrow.TimestampType{Unit: unit, TimeZone: "UTC"}
		}
		return &arrow.TimestampType{Unit: unit}
	case Decimal64, Decimal128:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case Decimal256:
		return &arrow.Decimal256Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case String:
		return arrow.BinaryTypes.String
	case Binary:
		return arrow.BinaryTypes.Binary
	case ID, Fixed:
		return &arrow.FixedSizeBinaryType{ByteWidth: t.width()}
	}
	return arrow.Null
}

// encodeArrowSchema returns the value of arrowSchemaKey: Arrow's schema message in base64. Vectors are lists of fixed size in it if no row
// is NULL: a NULL has no elements in Parquet, and not every reader makes room for them.
func encodeArrowSchema(fields []*writeNode) (string, error) {
	dims := map[string]int{}
	out := make([]arrow.Field, len(fields))
	for _, n := range fields {
		if n.field.Type.Kind == Vector && n.dim > 0 && !n.nulls {
			dims[n.field.Name] = n.dim
		}
	}
	for i, n := range fields {
		out[i] = n.field.Arrow(dims)
	}
	payload := ipc.GetSchemaPayload(arrow.NewSchema(out, nil), memory.DefaultAllocator)
	defer payload.Release()
	var b bytes.Buffer
	if _, err := payload.WritePayload(&b); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
