// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"encoding/base64"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Arrow's schema in the footer: the types that the Parquet schema of a Writer cannot express.

// encodeArrowSchema returns the value of footer.ArrowSchemaKey: Arrow's schema message in base64.
func encodeArrowSchema(fields []*writeNode) (string, error) {
	out := make([]arrow.Field, len(fields))
	for i, n := range fields {
		out[i] = n.arrow(n.field.Name, true)
	}
	payload := ipc.GetSchemaPayload(arrow.NewSchema(out, nil), memory.DefaultAllocator)
	defer payload.Release()
	var b bytes.Buffer
	if _, err := payload.WritePayload(&b); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// arrow converts the field to Arrow's: Decimal64 as decimal128, a Time in milliseconds as time32, a UUID as 16 bytes of
// fixed size, the zone of UTC times as "UTC". A vector is a list of fixed size if it is not nested and no row is NULL:
// a NULL has no elements in Parquet, and not every reader allocates them. Other vectors are lists.
func (n *writeNode) arrow(name string, top bool) arrow.Field {
	out := arrow.Field{Name: name, Nullable: n.field.Nullable}
	mark := func(name, data string) {
		out.Metadata = arrow.NewMetadata([]string{footer.ExtensionName, footer.ExtensionMetadata}, []string{name, data})
	}
	if name := footer.Extensions[n.typ.Kind]; name != "" {
		mark(name, "")
	}
	switch n.field.Type.Kind {
	case column.Vector:
		element := arrow.Field{Name: column.ElementName, Type: arrowType(column.Type{Kind: n.field.Type.Elem})}
		if top && n.dim > 0 && !n.nulls {
			out.Type = arrow.FixedSizeListOfField(int32(n.dim), element)
			break
		}
		out.Type = arrow.ListOfField(element)
		mark(footer.ExtensionVector, strconv.Itoa(max(0, n.dim)))
	case column.List:
		if k := n.children[0].typ.Kind; k == column.Float32 || k == column.Float64 {
			mark(footer.ExtensionList, "")
		}
		out.Type = arrow.ListOfField(n.children[0].arrow(column.ElementName, false))
	case column.Map:
		out.Type = arrow.MapOfFields(n.children[0].arrow(column.KeyName, false), n.children[1].arrow(column.ValueName, false))
	case column.Struct:
		fields := make([]arrow.Field, len(n.children))
		for i, kid := range n.children {
			fields[i] = kid.arrow(kid.field.Name, false)
		}
		out.Type = arrow.StructOf(fields...)
	default:
		out.Type = arrowType(n.field.Type)
	}
	return out
}

// arrowType returns the data type of columns that are not nested.
func arrowType(t column.Type) arrow.DataType {
	unit := [...]arrow.TimeUnit{
		column.Millis: arrow.Millisecond, column.Micros: arrow.Microsecond,
		column.Nanos: arrow.Nanosecond,
	}[t.Unit]
	switch t.Kind {
	case column.Bool:
		return arrow.FixedWidthTypes.Boolean
	case column.Int8:
		return arrow.PrimitiveTypes.Int8
	case column.Int16:
		return arrow.PrimitiveTypes.Int16
	case column.Int32:
		return arrow.PrimitiveTypes.Int32
	case column.Int64:
		return arrow.PrimitiveTypes.Int64
	case column.Uint8:
		return arrow.PrimitiveTypes.Uint8
	case column.Uint16:
		return arrow.PrimitiveTypes.Uint16
	case column.Uint32:
		return arrow.PrimitiveTypes.Uint32
	case column.Uint64:
		return arrow.PrimitiveTypes.Uint64
	case column.Float16:
		return arrow.FixedWidthTypes.Float16
	case column.Float32:
		return arrow.PrimitiveTypes.Float32
	case column.Float64:
		return arrow.PrimitiveTypes.Float64
	case column.Date:
		return arrow.FixedWidthTypes.Date32
	case column.Time:
		if t.Unit == column.Millis {
			return &arrow.Time32Type{Unit: unit}
		}
		return &arrow.Time64Type{Unit: unit}
	case column.Timestamp:
		if t.UTC {
			return &arrow.TimestampType{Unit: unit, TimeZone: "UTC"}
		}
		return &arrow.TimestampType{Unit: unit}
	case column.Decimal64, column.Decimal128:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case column.Decimal256:
		return &arrow.Decimal256Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case column.String:
		return arrow.BinaryTypes.String
	case column.Binary:
		return arrow.BinaryTypes.Binary
	case column.UUID, column.Fixed:
		return &arrow.FixedSizeBinaryType{ByteWidth: t.ValueWidth()}
	}
	return arrow.Null
}
