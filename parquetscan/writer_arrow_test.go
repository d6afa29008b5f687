// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// TestArrowSchema compares the schema of a footer, as arrow-go reads it, with the schema that arrow-go's types
// describe.
func TestArrowSchema(t *testing.T) {
	for _, field := range columntest.Fields() {
		field.Name += "é"
		for _, nullable := range []bool{false, true} {
			field.Nullable = nullable
			s, err := newWriteSchema(column.Schema{field})
			require.NoError(t, err)
			n := s.fields[0]
			for _, dim := range []int{-1, 0, 3} {
				if n.field.Type.Kind == column.Vector {
					n.dim = dim
				}
				b, err := base64.StdEncoding.DecodeString(encodeArrowSchema(s.fields))
				require.NoError(t, err)
				r, err := ipc.NewReader(bytes.NewReader(b))
				require.NoError(t, err)
				want := arrow.NewSchema([]arrow.Field{referenceField(n, n.field.Name, true)}, nil)
				require.True(t, want.Equal(r.Schema()), "want %v\ngot %v", want, r.Schema())
				require.Equal(t, want.String(), r.Schema().String())
			}
		}
	}
}

// referenceField converts a field to Arrow's: Decimal64 as decimal128, a Time in milliseconds as time32, a UUID as 16
// bytes of fixed size, the zone of UTC times as "UTC". A vector is a list of fixed size if it is not nested and no row
// is NULL: a NULL has no elements in Parquet, and not every reader allocates them. Other vectors are lists.
func referenceField(n *writeNode, name string, top bool) arrow.Field {
	out := arrow.Field{Name: name, Nullable: n.field.Nullable}
	mark := func(name, data string) {
		out.Metadata = arrow.NewMetadata([]string{footer.ExtensionName, footer.ExtensionMetadata}, []string{name, data})
	}
	if name := footer.Extensions[n.typ.Kind]; name != "" {
		mark(name, "")
	}
	switch n.field.Type.Kind {
	case column.Vector:
		element := arrow.Field{Name: column.ElementName, Type: referenceType(column.Type{Kind: n.field.Type.Elem})}
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
		out.Type = arrow.ListOfField(referenceField(n.children[0], column.ElementName, false))
	case column.Map:
		out.Type = arrow.MapOfFields(referenceField(n.children[0], column.KeyName, false), referenceField(n.children[1], column.ValueName, false))
	case column.Struct:
		fields := make([]arrow.Field, len(n.children))
		for i, kid := range n.children {
			fields[i] = referenceField(kid, kid.field.Name, false)
		}
		out.Type = arrow.StructOf(fields...)
	default:
		out.Type = referenceType(n.field.Type)
	}
	return out
}

// referenceType returns the data type of columns that are not nested.
func referenceType(t column.Type) arrow.DataType {
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
