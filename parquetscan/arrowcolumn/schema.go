// SPDX-License-Identifier: Apache-2.0

package arrowcolumn

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/vecql/vecql/column"
)

// Conversion of schemas and types, in both directions.

// extensionName is the metadata key of a field for the name of an extension (Arrow Columnar Format, "Extension Types").
const extensionName = "ARROW:extension:name"

// The marks of fields whose Arrow type does not determine the kind.
const (
	markUUID      = "arrow.uuid"
	markInet      = "vecql.inet"
	markVarint    = "vecql.varint"
	markDecimal   = "vecql.decimal"
	markDuration  = "vecql.duration" // over utf8; read, not written
	markDecimal64 = "vecql.decimal64"
	markTimeUTC   = "vecql.time_utc"
	markVector    = "vecql.vector"
	markTuple     = "vecql.tuple"
)

// Schema converts a column.Schema to Arrow's, for [RecordAs] and [Reader]. Text is utf8 or binary and never a
// dictionary, because batches of one origin may have codes or not. A Vector of unknown dimension (0) is a list. The
// error wraps [ErrUnsupported].
func Schema(s column.Schema) (*arrow.Schema, error) {
	fields := make([]arrow.Field, len(s))
	for i, f := range s {
		var err error
		if fields[i], err = arrowField(f, nil); err != nil {
			return nil, fmt.Errorf("arrowcolumn: column %s: %w", f.Name, err)
		}
	}
	return arrow.NewSchema(fields, nil), nil
}

// arrowField converts the field of a column. If c is not nil, String and Binary with codes become dictionaries.
func arrowField(f column.Field, c *column.Column) (arrow.Field, error) {
	out := arrow.Field{Name: f.Name, Nullable: f.Nullable}
	if err := f.Type.Check(); err != nil {
		return out, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	if mark := markOf(f.Type); mark != "" {
		out.Metadata = arrow.NewMetadata([]string{extensionName}, []string{mark})
	}
	children := make([]arrow.Field, len(f.Fields))
	for i, child := range f.Fields {
		var of *column.Column
		if c != nil {
			of = &c.Children[i]
		}
		var err error
		if children[i], err = arrowField(child, of); err != nil {
			return out, fmt.Errorf("%s: %w", child.Name, err)
		}
	}
	switch kind, n := f.Type.Kind, len(children); {
	case kind == column.List && n == 1:
		out.Type = arrow.ListOfField(children[0])
	case kind == column.Map && n == 2:
		children[0].Nullable = false
		out.Type = arrow.MapOfFields(children[0], children[1])
	case (kind == column.Struct || kind == column.Tuple) && n > 0:
		out.Type = arrow.StructOf(children...)
	case kind.IsNested():
		return out, fmt.Errorf("%w: a %v of %d fields", ErrUnsupported, f.Type, n)
	case kind == column.Vector:
		element, err := arrowField(column.Field{Name: column.ElementName, Type: column.Type{Kind: f.Type.Elem}}, nil)
		if err != nil {
			return out, err
		}
		out.Type = arrow.ListOfField(element)
		if f.Type.Dim > 0 {
			out.Type = arrow.FixedSizeListOfField(int32(f.Type.Dim), element)
		}
	default:
		out.Type = leafType(f.Type)
	}
	if c != nil && c.Dict != nil && !f.Type.Kind.HasText() {
		out.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: out.Type}
	}
	return out, nil
}

// markOf returns the mark of a type, "" if it needs none.
func markOf(t column.Type) string {
	switch {
	case t.Kind == column.UUID:
		return markUUID
	case t.Kind == column.Inet:
		return markInet
	case t.Kind == column.Varint:
		return markVarint
	case t.Kind == column.Decimal:
		return markDecimal
	case t.Kind == column.Decimal64:
		return markDecimal64
	case t.Kind == column.Tuple:
		return markTuple
	case t.Kind == column.Time && t.UTC:
		return markTimeUTC
	case t.Kind == column.Vector && t.Dim == 0:
		return markVector
	}
	return ""
}

var leafTypes = [...]arrow.DataType{
	column.Bool: arrow.FixedWidthTypes.Boolean, column.Int8: arrow.PrimitiveTypes.Int8,
	column.Int16: arrow.PrimitiveTypes.Int16, column.Int32: arrow.PrimitiveTypes.Int32,
	column.Int64: arrow.PrimitiveTypes.Int64, column.Uint8: arrow.PrimitiveTypes.Uint8,
	column.Uint16: arrow.PrimitiveTypes.Uint16, column.Uint32: arrow.PrimitiveTypes.Uint32,
	column.Uint64: arrow.PrimitiveTypes.Uint64, column.Float16: arrow.FixedWidthTypes.Float16,
	column.Float32: arrow.PrimitiveTypes.Float32, column.Float64: arrow.PrimitiveTypes.Float64,
	column.Date: arrow.FixedWidthTypes.Date32, column.Duration: arrow.FixedWidthTypes.MonthDayNanoInterval,
	column.UUID: &arrow.FixedSizeBinaryType{ByteWidth: 16}, column.String: arrow.BinaryTypes.String,
	column.Binary: arrow.BinaryTypes.Binary, column.Inet: arrow.BinaryTypes.String,
	column.Varint: arrow.BinaryTypes.String, column.Decimal: arrow.BinaryTypes.String,
}

// leafType returns the Arrow type of a type without children.
func leafType(t column.Type) arrow.DataType {
	unit := [...]arrow.TimeUnit{
		column.Millis: arrow.Millisecond, column.Micros: arrow.Microsecond,
		column.Nanos: arrow.Nanosecond,
	}[t.Unit]
	switch t.Kind {
	case column.Time:
		if t.Unit == column.Millis {
			return arrow.FixedWidthTypes.Time32ms
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
	case column.Fixed:
		return &arrow.FixedSizeBinaryType{ByteWidth: t.Width}
	}
	return leafTypes[t.Kind]
}

// Fields returns the columns of the batches that [Batch] returns for records of a schema. Types convert to the kind of
// the same layout, and:
//
//	date64                                        Date
//	seconds                                       Time and Timestamp in milliseconds
//	timestamp with any time zone                  Timestamp of UTC
//	duration, and intervals of any unit           Duration
//	decimal32, decimal64                          Decimal64
//	large_utf8, utf8_view, large_binary, ...      String, Binary
//	dictionary                                    the kind of its values; String and Binary have codes
//	run-end encoding                              the kind of its values
//	fixed_size_list of float, double, int32,      Vector; a batch with a NULL element in a row that is not NULL has a List
//	int64, arrow.uuid
//	other lists, list views                       List
//	null                                          String, all NULL
//	extension types                               the kind of the mark (see the package comment); otherwise of the storage
//
// A mark on any other type is ignored. Unions, and decimals whose scale is negative or above the precision, are an
// error that wraps [ErrUnsupported].
func Fields(schema *arrow.Schema) (column.Schema, error) {
	fields := make(column.Schema, schema.NumFields())
	for i, f := range schema.Fields() {
		var err error
		if fields[i], err = columnField(f); err != nil {
			return nil, fmt.Errorf("arrowcolumn: column %s: %w", f.Name, err)
		}
	}
	return fields, nil
}

var kinds = map[arrow.Type]column.Kind{
	arrow.BOOL: column.Bool, arrow.INT8: column.Int8, arrow.INT16: column.Int16, arrow.INT32: column.Int32,
	arrow.INT64: column.Int64, arrow.UINT8: column.Uint8, arrow.UINT16: column.Uint16, arrow.UINT32: column.Uint32,
	arrow.UINT64: column.Uint64, arrow.FLOAT16: column.Float16, arrow.FLOAT32: column.Float32,
	arrow.FLOAT64: column.Float64, arrow.DATE32: column.Date, arrow.DATE64: column.Date, arrow.TIME32: column.Time,
	arrow.TIME64: column.Time, arrow.TIMESTAMP: column.Timestamp, arrow.DURATION: column.Duration,
	arrow.INTERVAL_MONTHS: column.Duration, arrow.INTERVAL_DAY_TIME: column.Duration,
	arrow.INTERVAL_MONTH_DAY_NANO: column.Duration, arrow.DECIMAL32: column.Decimal64, arrow.DECIMAL64: column.Decimal64,
	arrow.DECIMAL128: column.Decimal128, arrow.DECIMAL256: column.Decimal256, arrow.STRING: column.String,
	arrow.LARGE_STRING: column.String, arrow.STRING_VIEW: column.String, arrow.NULL: column.String,
	arrow.BINARY: column.Binary, arrow.LARGE_BINARY: column.Binary, arrow.BINARY_VIEW: column.Binary,
	arrow.FIXED_SIZE_BINARY: column.Fixed, arrow.LIST: column.List, arrow.LARGE_LIST: column.List,
	arrow.LIST_VIEW: column.List, arrow.LARGE_LIST_VIEW: column.List, arrow.FIXED_SIZE_LIST: column.List,
	arrow.MAP: column.Map, arrow.STRUCT: column.Struct,
}

// storage returns the storage type of an extension type, and the extension's name.
func storage(t arrow.DataType) (arrow.DataType, string) {
	if ext, ok := t.(arrow.ExtensionType); ok {
		return ext.StorageType(), ext.ExtensionName()
	}
	return t, ""
}

// decoded returns the type of the values of extension types, dictionaries and runs, and the name of the extension.
func decoded(t arrow.DataType) (plain arrow.DataType, mark string) {
	for {
		switch encoded := t.(type) {
		case arrow.ExtensionType:
			t, mark = storage(t)
		case *arrow.DictionaryType:
			t = encoded.ValueType
		case *arrow.RunEndEncodedType:
			t = encoded.Encoded()
		default:
			return t, mark
		}
	}
}

// columnField converts an Arrow field to the field of a column.
func columnField(f arrow.Field) (column.Field, error) {
	t, mark := decoded(f.Type)
	if mark == "" {
		mark, _ = f.Metadata.GetValue(extensionName)
	}
	out := column.Field{Name: f.Name, Nullable: f.Nullable, Type: column.Type{Kind: kinds[t.ID()]}}
	switch t := t.(type) {
	case *arrow.Time32Type:
		out.Type.Unit = unitOf(t.Unit)
	case *arrow.Time64Type:
		out.Type.Unit = unitOf(t.Unit)
	case *arrow.TimestampType:
		out.Type.Unit, out.Type.UTC = unitOf(t.Unit), t.TimeZone != ""
	case arrow.DecimalType:
		out.Type.Precision, out.Type.Scale = int(t.GetPrecision()), int(t.GetScale())
	case *arrow.FixedSizeBinaryType:
		out.Type.Width = t.ByteWidth
	}
	if err := out.Type.Check(); err != nil || out.Type.Kind == 0 {
		return out, fmt.Errorf("%w: %v", ErrUnsupported, f.Type)
	}
	for _, child := range childFields(t) {
		inner, err := columnField(child)
		if err != nil {
			return out, fmt.Errorf("%s: %w", child.Name, err)
		}
		out.Fields = append(out.Fields, inner)
	}
	if out.Type.Kind == column.Struct && len(out.Fields) == 0 {
		return out, fmt.Errorf("%w: a struct without fields", ErrUnsupported)
	}
	applyMark(&out, mark)
	if list, ok := t.(*arrow.FixedSizeListType); ok && list.Len() > 0 && out.Fields[0].Type.Kind.IsVectorElement() {
		out.Type, out.Fields = column.VectorOf(out.Fields[0].Type.Kind, int(list.Len())), nil
	}
	return out, nil
}

// childFields returns the fields of a nested type. Fields of lists and maps have the names used in columns.
func childFields(t arrow.DataType) []arrow.Field {
	switch t := t.(type) {
	case *arrow.MapType:
		key, value := t.KeyField(), t.ItemField()
		key.Name, value.Name, key.Nullable = column.KeyName, column.ValueName, false
		return []arrow.Field{key, value}
	case arrow.ListLikeType:
		element := t.ElemField()
		element.Name = column.ElementName
		return []arrow.Field{element}
	case *arrow.StructType:
		return t.Fields()
	}
	return nil
}

// applyMark sets the type of a field to the type of its mark, if the mark fits the field's storage type.
func applyMark(f *column.Field, mark string) {
	t := &f.Type
	text := map[string]column.Kind{
		markInet: column.Inet, markVarint: column.Varint, markDecimal: column.Decimal,
		markDuration: column.Duration,
	}[mark]
	switch {
	case text != 0 && t.Kind == column.String:
		t.Kind = text
	case mark == markUUID && t.Kind == column.Fixed && t.Width == 16:
		*t = column.Type{Kind: column.UUID}
	case mark == markDecimal64 && t.Kind == column.Decimal128 && t.Precision <= 18:
		t.Kind = column.Decimal64
	case mark == markTimeUTC && t.Kind == column.Time:
		t.UTC = true
	case mark == markTuple && t.Kind == column.Struct:
		t.Kind = column.Tuple
	case mark == markVector && t.Kind == column.List && f.Fields[0].Type.Kind.IsVectorElement():
		*t, f.Fields = column.VectorOf(f.Fields[0].Type.Kind, 0), nil
	}
}

// unitOf converts the unit of times. Seconds become milliseconds, because columns have no seconds.
func unitOf(u arrow.TimeUnit) column.Unit {
	switch u {
	case arrow.Microsecond:
		return column.Micros
	case arrow.Nanosecond:
		return column.Nanos
	}
	return column.Millis
}
