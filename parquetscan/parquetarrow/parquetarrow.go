// SPDX-License-Identifier: Apache-2.0

// Package parquetarrow turns the batches of [parquetscan] into Apache Arrow's record batches, and back. Values are not copied where their
// layouts agree, which is nearly always.
//
//	for b, err := range scan.All(ctx) {
//		rec, err := parquetarrow.Record(b, nil)
//	}
//
// What shares memory holds it: a record made of a batch must not be used after that memory is used again, so it is made of batches whose
// memory is fresh ([parquetscan.Scan.Batches], [parquetscan.Scan.All]), or is done with before the next read. Memory is Go's, so that
// forgetting Retain and Release does no harm.
package parquetarrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/vecql/vecql/parquetscan"
)

// This file turns schemas into each other.

// Schema returns the schema of fields: strings are utf8 rather than dictionaries, since a column chunk may come as either; for the rest see
// [parquetscan.Field.Arrow]. dims holds the dimension of Vector columns by name (of those within others by path), which become lists of
// fixed size; without one they are lists.
func Schema(fields []parquetscan.Field, dims map[string]int) *arrow.Schema {
	out := make([]arrow.Field, len(fields))
	for i, f := range fields {
		out[i] = f.Arrow(dims)
	}
	return arrow.NewSchema(out, nil)
}

// Fields returns the fields that [Batch] makes columns of: lists of fixed size of float32 and float64 are Vector, other lists List; 16
// bytes of fixed size are ID, other widths Fixed; large and view types and dictionaries of text are String and Binary; date64 is Date;
// seconds are milliseconds; a timestamp with a zone is UTC, a Time never, since Arrow does not say; decimal32 and decimal64 are Decimal64;
// an extension is what it is stored as. Durations, intervals, unions, null, run-end encoding and list views have no field.
func Fields(schema *arrow.Schema) ([]parquetscan.Field, error) {
	fields := make([]parquetscan.Field, schema.NumFields())
	for i, f := range schema.Fields() {
		var err error
		if fields[i], err = fieldOf(f); err != nil {
			return nil, fmt.Errorf("parquetarrow: column %s: %w", f.Name, err)
		}
	}
	return fields, nil
}

var kinds = map[arrow.Type]parquetscan.Kind{
	arrow.BOOL: parquetscan.Bool, arrow.INT8: parquetscan.Int8, arrow.INT16: parquetscan.Int16, arrow.INT32: parquetscan.Int32,
	arrow.INT64: parquetscan.Int64, arrow.UINT8: parquetscan.Uint8, arrow.UINT16: parquetscan.Uint16, arrow.UINT32: parquetscan.Uint32,
	arrow.UINT64: parquetscan.Uint64, arrow.FLOAT16: parquetscan.Float16, arrow.FLOAT32: parquetscan.Float32,
	arrow.FLOAT64: parquetscan.Float64,
	arrow.DATE32:  parquetscan.Date, arrow.DATE64: parquetscan.Date, arrow.TIME32: parquetscan.Time, arrow.TIME64: parquetscan.Time,
	arrow.TIMESTAMP: parquetscan.Timestamp, arrow.DECIMAL32: parquetscan.Decimal64, arrow.DECIMAL64: parquetscan.Decimal64,
	arrow.DECIMAL128: parquetscan.Decimal128, arrow.DECIMAL256: parquetscan.Decimal256, arrow.STRING: parquetscan.String,
	arrow.LARGE_STRING: parquetscan.String, arrow.STRING_VIEW: parquetscan.String, arrow.BINARY: parquetscan.Binary,
	arrow.LARGE_BINARY: parquetscan.Binary, arrow.BINARY_VIEW: parquetscan.Binary, arrow.FIXED_SIZE_BINARY: parquetscan.Fixed,
	arrow.LIST: parquetscan.List, arrow.LARGE_LIST: parquetscan.List, arrow.FIXED_SIZE_LIST: parquetscan.List, arrow.MAP: parquetscan.Map,
	arrow.STRUCT: parquetscan.Struct,
}

func fieldOf(f arrow.Field) (parquetscan.Field, error) {
	out := parquetscan.Field{Name: f.Name, Nullable: f.Nullable}
	t := f.Type
	for {
		if ext, ok := t.(arrow.ExtensionType); ok {
			t = ext.StorageType()
		} else if dict, ok := t.(*arrow.DictionaryType); ok {
			k := kinds[dict.ValueType.ID()]
			if k != parquetscan.String && k != parquetscan.Binary {
				return out, fmt.Errorf("no field of %v", f.Type)
			}
			t = dict.ValueType
		} else {
			break
		}
	}
	out.Type.Kind = kinds[t.ID()]
	inner := func(fields ...arrow.Field) (parquetscan.Field, error) {
		for _, f := range fields {
			kid, err := fieldOf(f)
			if err != nil {
				return out, fmt.Errorf("%s: %w", f.Name, err)
			}
			out.Fields = append(out.Fields, kid)
		}
		return out, nil
	}
	switch t := t.(type) {
	case *arrow.Time32Type:
		out.Type.Unit = unitOf(t.Unit)
	case *arrow.Time64Type:
		out.Type.Unit = unitOf(t.Unit)
	case *arrow.TimestampType:
		out.Type.Unit, out.Type.UTC = unitOf(t.Unit), t.TimeZone != ""
	case arrow.DecimalType:
		if t.GetScale() < 0 || t.GetScale() > t.GetPrecision() {
			return out, fmt.Errorf("no field of %v: Parquet's scale is between 0 and the precision", f.Type)
		}
		out.Type.Precision, out.Type.Scale = int(t.GetPrecision()), int(t.GetScale())
	case *arrow.FixedSizeBinaryType:
		switch {
		case t.ByteWidth == 16:
			out.Type.Kind = parquetscan.ID
		case t.ByteWidth > 0:
			out.Type.Width = t.ByteWidth
		default:
			return out, fmt.Errorf("no field of %v", f.Type)
		}
	case *arrow.FixedSizeListType:
		if elem := kinds[t.Elem().ID()]; t.Len() > 0 && (elem == parquetscan.Float32 || elem == parquetscan.Float64) {
			out.Type = parquetscan.Type{Kind: parquetscan.Vector, Elem: elem}
			return out, nil
		}
		return inner(t.ElemField())
	case *arrow.ListType:
		return inner(t.ElemField())
	case *arrow.LargeListType:
		return inner(t.ElemField())
	case *arrow.MapType:
		key := t.KeyField()
		key.Nullable = false
		return inner(key, t.ItemField())
	case *arrow.StructType:
		return inner(t.Fields()...)
	}
	if out.Type.Kind == 0 {
		return out, fmt.Errorf("no field of %v", f.Type)
	}
	return out, nil
}

// unitOf returns the unit that times of a unit come in: milliseconds for seconds, which Parquet does not have.
func unitOf(u arrow.TimeUnit) parquetscan.Unit {
	switch u {
	case arrow.Microsecond:
		return parquetscan.Micros
	case arrow.Nanosecond:
		return parquetscan.Nanos
	}
	return parquetscan.Millis
}
