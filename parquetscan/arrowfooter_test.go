// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Footers that arrow-go parses, the reference of package footer.

// A shape is the expected type of a struct or a list in a footer.
type shape struct {
	element byte             // of lists: the type of elements; 0 for structs
	fields  map[int16]*shape // of structs, or of the structs in a list
}

var (
	structs     = &shape{element: thrift.Struct}
	i32s        = &shape{element: thrift.I32}
	i64s        = &shape{element: thrift.I64}
	footerShape = &shape{fields: map[int16]*shape{2: structs, 5: structs, 7: structs, 4: {thrift.Struct, map[int16]*shape{
		4: structs, 1: {thrift.Struct, map[int16]*shape{ // ColumnChunk
			8: {fields: map[int16]*shape{2: {fields: map[int16]*shape{1: {element: thrift.Binary}}}}},
			3: {fields: map[int16]*shape{ // ColumnMetaData
				2: i32s, 3: {element: thrift.Binary}, 8: structs, 13: structs,
				16: {fields: map[int16]*shape{2: i64s, 3: i64s}}, 17: {fields: map[int16]*shape{2: i32s}},
			}},
		}},
	}}}}
)

// walk walks over a struct. r is bad if a list has elements of another type, which arrow-go reads as elements of the
// right one, allocating as many as they claim.
func (s *shape) walk(r *thrift.Reader) {
	for id, typ := range r.Fields() {
		child := s.fields[id]
		switch {
		case child != nil && child.element == 0 && typ == thrift.Struct:
			child.walk(r)
		case child != nil && child.element != 0 && typ == thrift.List:
			child.walkList(r)
		default:
			r.Skip(typ, 1)
		}
	}
}

func (s *shape) walkList(r *thrift.Reader) {
	integer := func(typ byte) bool { return typ == thrift.I16 || typ == thrift.I32 || typ == thrift.I64 }
	element, n := r.List()
	r.Bad = r.Bad || n > 0 && element != s.element && !(integer(element) && integer(s.element))
	for r.Fits(n); n > 0 && !r.Failed(); n-- {
		if element == thrift.Struct {
			s.walk(r)
		} else {
			r.Skip(element, 1)
		}
	}
}

// errUnfit means that arrow-go must not parse a footer.
var errUnfit = errors.New("the footer would exhaust the memory of arrow-go")

// arrowFooter parses a FileMetaData with arrow-go. Package footer has found the tree of its schema valid.
func arrowFooter(raw []byte) (_ *metadata.FileMetaData, err error) {
	defer guard(&err)
	r := thrift.Reader{B: raw}
	if footerShape.walk(&r); r.Failed() {
		return nil, errUnfit
	}
	return metadata.NewFileMetaData(hideUnknownTypes(raw), nil)
}

// withoutRowGroups returns a FileMetaData with an empty list of row groups.
func withoutRowGroups(raw []byte) []byte {
	r, out, from := thrift.Reader{B: raw}, []byte{}, 0
	for id, typ := range r.Fields() {
		at := r.Pos
		if r.Skip(typ, 1); id == 4 && typ == thrift.List {
			out, from = append(append(out, raw[from:at]...), thrift.Struct), r.Pos
		}
	}
	return append(out, raw[from:]...)
}

// hideUnknownTypes returns a FileMetaData in which logical types that arrow-go does not support, so that it would
// reject the file, have the number of a field that the format does not define. No field follows it.
func hideUnknownTypes(raw []byte) []byte {
	b := bytes.Clone(raw)
	r := thrift.Reader{B: b}
	for id, typ := range r.Fields() {
		if id != 2 || typ != thrift.List { // FileMetaData.schema
			r.Skip(typ, 1)
			continue
		}
		for range r.Structs() {
			hideUnknownType(&r)
		}
	}
	return b
}

// hideUnknownType walks over a SchemaElement.
func hideUnknownType(r *thrift.Reader) {
	const logicalType = 10
	for id := int16(0); ; {
		head := r.Pos
		next, typ, ok := r.Field(id)
		if !ok {
			return
		}
		if next == logicalType && typ == thrift.Struct {
			union := thrift.Reader{B: r.B, Pos: r.Pos}
			t, _, ok := union.Field(0)
			if known := ok && t > 0 && t <= 18 && t != 9; !known {
				switch delta := r.B[head] >> 4; {
				case delta > 0 && delta < 15:
					r.B[head] = (delta+1)<<4 | typ
				case delta == 0 && r.Pos == head+2:
					r.B[head+1] = (logicalType + 1) << 1
				}
			}
		}
		id = next
		r.Skip(typ, 2)
	}
}

// hasEmptyGroup reports whether a footer has a group without fields, which arrow-go takes for a column.
func hasEmptyGroup(raw []byte) (found bool) {
	r := thrift.Reader{B: raw}
	for id, typ := range r.Fields() {
		if id != 2 || typ != thrift.List {
			r.Skip(typ, 1)
			continue
		}
		for i := range r.Structs() {
			e := format.ReadSchemaElement(&r)
			found = found || i > 0 && e.Type == format.NoType && e.NumChildren == 0
		}
	}
	return found
}

// requireLeaves compares the columns of a footer with arrow-go's.
func requireLeaves(t testing.TB, got *footer.Footer, want *schema.Schema) {
	t.Helper()
	require.Len(t, got.Leaves, want.NumColumns())
	for i, l := range got.Leaves {
		col := want.Column(i)
		require.Equal(t, i, l.Index)
		require.Equal(t, []any{col.Path(), int(col.PhysicalType()), int(col.MaxDefinitionLevel()), int(col.MaxRepetitionLevel())},
			[]any{l.Path, int(l.Physical), l.MaxDef, l.MaxRep})
		require.Equal(t, col.ColumnOrder() == parquet.ColumnOrders.TypeDefinedOrder, l.Ordered)
		if l.Physical == format.FixedLenByteArray {
			require.Equal(t, col.TypeLength(), l.Stored)
		}
		require.True(t, sameLogical(l.Logical, col.LogicalType()), "%+v, want %v", l.Logical, col.LogicalType())
	}
}

// sameLogical reports whether a logical type is arrow-go's.
func sameLogical(got format.LogicalType, want schema.LogicalType) bool {
	units := []schema.TimeUnitType{0, schema.TimeUnitMillis, schema.TimeUnitMicros, schema.TimeUnitNanos}
	switch want := want.(type) {
	case schema.DecimalLogicalType: // its constructor panics at some precisions that files have
		return got.Kind == format.LogicalDecimal && got.Precision == want.Precision() && got.Scale == want.Scale()
	case schema.IntLogicalType:
		return got.Kind == format.LogicalInteger && got.Bits == want.BitWidth() && got.Signed == want.IsSigned()
	case schema.TimeLogicalType:
		return got.Kind == format.LogicalTime && units[got.Unit] == want.TimeUnit() && got.UTC == want.IsAdjustedToUTC()
	case schema.TimestampLogicalType:
		return got.Kind == format.LogicalTimestamp && units[got.Unit] == want.TimeUnit() && got.UTC == want.IsAdjustedToUTC()
	case schema.IntervalLogicalType, schema.UnknownLogicalType, schema.NullLogicalType:
		return got.Kind == format.LogicalUnknown
	case schema.GeometryLogicalType:
		return got.Kind == format.LogicalGeometry
	case schema.GeographyLogicalType:
		return got.Kind == format.LogicalGeography
	}
	return want.Equals(map[format.LogicalKind]schema.LogicalType{
		format.NoLogical: schema.NoLogicalType{}, format.LogicalString: schema.StringLogicalType{}, format.LogicalEnum: schema.EnumLogicalType{},
		format.LogicalDate: schema.DateLogicalType{}, format.LogicalJSON: schema.JSONLogicalType{}, format.LogicalBSON: schema.BSONLogicalType{},
		format.LogicalUUID: schema.UUIDLogicalType{}, format.LogicalFloat16: schema.Float16LogicalType{},
	}[got.Kind])
}
