// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Rows of a batch to bound values: one plan per bind marker, made once for the schema of the batches, without
// allocations per row.

// A RowPlan encodes rows of batches of one schema as the values of a statement's bind markers. It is immutable and may
// be used by any number of goroutines.
type RowPlan struct {
	infos []cql.ColumnInfo
	cells []cellPlan
}

// A cellPlan encodes one bind marker from one column.
type cellPlan struct {
	position int // of the column in the batch
	field    column.Field
	append   appendRow
}

// appendRow appends row i of c, which is not NULL, as a [bytes].
type appendRow func(dst []byte, c *column.Column, i int) ([]byte, error)

// NewRowPlan returns the plan for bind markers that take their values from the columns of the same name. The error is a
// *cql.MarshalError for a bind marker without a column, or for a pair of types without a conversion.
func NewRowPlan(infos []cql.ColumnInfo, schema column.Schema) (*RowPlan, error) {
	p := &RowPlan{infos: infos, cells: make([]cellPlan, len(infos))}
	for i, info := range infos {
		at := schema.Index(info.Name)
		if at < 0 {
			return nil, p.fault(i, "batch", fmt.Errorf("%w: the batch has no column for the bind marker; it has: %v",
				cql.ErrConversion, schema))
		}
		f := schema[at]
		plan, err := planColumn(info.TypeInfo, f)
		if err != nil {
			return nil, p.fault(i, fieldName(f), err)
		}
		p.cells[i] = cellPlan{position: at, field: f, append: plan}
	}
	return p, nil
}

func fieldName(f column.Field) string {
	if len(f.Fields) > 0 {
		return fmt.Sprintf("column %v", f)
	}
	return fmt.Sprintf("column of %v", f.Type)
}

func (p *RowPlan) fault(i int, what string, err error) error {
	info := &p.infos[i]
	return &cql.MarshalError{Column: info.Name, Type: info.TypeInfo, GoType: what, Err: err}
}

// Check returns a *cql.MarshalError if a column of the batch differs from the schema of the plan. Callers call it once
// per batch or row.
func (p *RowPlan) Check(b *column.Batch) error {
	for i := range p.cells {
		cell := &p.cells[i]
		if cell.position < len(b.Columns) {
			if c := &b.Columns[cell.position]; c.Name == cell.field.Name && sameField(c, &cell.field) {
				continue
			}
		}
		return p.fault(i, "batch", fmt.Errorf("%w: column %d is not %v, as in the prepared schema; the batch has: %v",
			cql.ErrConversion, cell.position, cell.field, b.Schema()))
	}
	return nil
}

// sameField reports whether a column has the type of a field, ignoring its name. The dimension of a vector is checked
// for each row.
func sameField(c *column.Column, f *column.Field) bool {
	if c.Type.Kind != f.Type.Kind {
		return false
	}
	switch {
	case c.Type.Kind == column.Vector:
		return c.Type.Elem == f.Type.Elem
	case c.Type != f.Type || len(c.Children) != len(f.Fields):
		return false
	}
	for i := range c.Children {
		if c.Type.Kind == column.Struct && c.Children[i].Name != f.Fields[i].Name ||
			!sameField(&c.Children[i], &f.Fields[i]) {
			return false
		}
	}
	return true
}

// Append appends bind marker i of row as a [value]: NULL as null, the length of the value, or unset. b has passed
// Check. The error is a *cql.MarshalError.
func (p *RowPlan) Append(dst []byte, b *column.Batch, row, i int, null int32) ([]byte, error) {
	cell := &p.cells[i]
	c := &b.Columns[cell.position]
	if c.Null(row) {
		return wire.AppendInt(dst, null), nil
	}
	out, err := cell.append(dst, c, row)
	if err != nil {
		return dst, p.fault(i, fieldName(cell.field), fmt.Errorf("row %d: %w", row, err))
	}
	return out, nil
}

// noColumn is the error for a pair of types without a conversion.
func noColumn(info cql.TypeInfo, f column.Field) error {
	if isNative(info, cql.TypeFloat) && f.Type.Kind == column.Float64 {
		return errNotNarrowed
	}
	return fmt.Errorf("%w: %v and a column of %v", cql.ErrConversion, info, f.Type)
}

// planColumn returns the function that appends rows of a column of field f as values of a CQL type. It accepts pairs of
// types that lose nothing. A value that does not fit, such as a number out of range, is an error of its row.
func planColumn(info cql.TypeInfo, f column.Field) (appendRow, error) {
	if f.Type == CellType {
		return appendRawCell, nil
	}
	var plan appendRow
	var err error
	switch info := info.(type) {
	case cql.NativeType:
		plan = planNative(cql.Type(info), f.Type)
	case cql.CustomType:
		plan = planBytes(f.Type, column.Binary)
	case cql.VectorType:
		plan, err = planVectorColumn(info, f)
	case cql.CollectionType:
		plan, err = planCollection(info, f)
	case cql.TupleTypeInfo:
		plan, err = planTuple(info, f)
	case cql.UDTTypeInfo:
		plan, err = planUDT(info, f)
	}
	if err == nil && plan == nil {
		err = noColumn(info, f)
	}
	return plan, err
}

// CellType is the type of columns of cells as servers send them: bytes that are values of any CQL type as they are. The
// width distinguishes it from columns of bytes, which are values of blobs and of a few other types only.
var CellType = column.Type{Kind: column.Binary, Width: -1}

// AppendCellRow appends a row to a column of CellType; nil is NULL. The bit of a row is set in Validity also while no
// row is NULL. The error is column.ErrTooLarge.
func AppendCellRow(c *column.Column, cell []byte) error {
	if len(cell) > math.MaxInt32-len(c.Values) {
		return column.ErrTooLarge
	}
	if c.Len%8 == 0 {
		c.Validity = append(c.Validity, 0)
	}
	if cell == nil {
		c.Nulls++
	} else {
		c.Validity[c.Len/8] |= 1 << (c.Len % 8)
	}
	c.Values = append(c.Values, cell...)
	c.Offsets = append(c.Offsets, int32(len(c.Values)))
	c.Len++
	return nil
}

// appendRawCell appends a row of a column of CellType.
func appendRawCell(dst []byte, c *column.Column, i int) ([]byte, error) {
	return appendContentOf(dst, textAt(c, i)), nil
}

// planNative returns the function for rows of a column of type t as values of a native CQL type. nil means that there
// is no conversion, here and in the functions it calls.
func planNative(typ cql.Type, t column.Type) appendRow {
	switch typ {
	case cql.TypeBoolean:
		return planBoolean(t)
	case cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter:
		return planInteger(typ, t)
	case cql.TypeFloat, cql.TypeDouble:
		return planFloat(typ, t)
	case cql.TypeVarint:
		return planVarint(t)
	case cql.TypeDecimal:
		return planDecimal(t)
	case cql.TypeAscii, cql.TypeText, cql.TypeVarchar:
		return planBytes(t, column.String, column.Binary)
	case cql.TypeBlob, cql.TypeCustom:
		return planBytes(t, column.Binary, column.String, column.Fixed)
	case cql.TypeUUID, cql.TypeTimeUUID:
		return planUUID(t)
	case cql.TypeInet:
		return planInet(t)
	case cql.TypeDate:
		return planDate(t)
	case cql.TypeTime:
		return planTime(t)
	case cql.TypeTimestamp:
		return planTimestamp(t)
	case cql.TypeDuration:
		return planDuration(t)
	}
	return nil
}

func planBoolean(t column.Type) appendRow {
	if t.Kind != column.Bool {
		return nil
	}
	return func(dst []byte, c *column.Column, i int) ([]byte, error) {
		return append(dst, 0, 0, 0, 1, c.Values[i]&1), nil
	}
}

// uint32At and uint64At return the bits of row i of a column whose rows have 4 or 8 bytes.
func uint32At(c *column.Column, i int) uint32 { return binary.NativeEndian.Uint32(c.Values[4*i:]) }
func uint64At(c *column.Column, i int) uint64 { return binary.NativeEndian.Uint64(c.Values[8*i:]) }

// integerAt returns row i of a column of integers. above reports whether the value exceeds int64; v then has its bits.
func integerAt(c *column.Column, i int) (v int64, above bool) {
	switch c.Type.Kind {
	case column.Int8:
		return int64(int8(c.Values[i])), false
	case column.Uint8:
		return int64(c.Values[i]), false
	case column.Int16:
		return int64(int16(binary.NativeEndian.Uint16(c.Values[2*i:]))), false
	case column.Uint16:
		return int64(binary.NativeEndian.Uint16(c.Values[2*i:])), false
	case column.Int32:
		return int64(int32(uint32At(c, i))), false
	case column.Uint32:
		return int64(uint32At(c, i)), false
	case column.Uint64:
		v := uint64At(c, i)
		return int64(v), v > math.MaxInt64
	}
	return int64(uint64At(c, i)), false
}

// planInteger accepts every integer column for every integer CQL type and checks the range of each row.
func planInteger(typ cql.Type, t column.Type) appendRow {
	switch {
	case typ == cql.TypeInt && t.Kind == column.Int32:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			return appendBits32(dst, uint32At(c, i)), nil
		}
	case (typ == cql.TypeBigInt || typ == cql.TypeCounter) && t.Kind == column.Int64:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			return appendBits64(dst, uint64At(c, i)), nil
		}
	case !t.Kind.IsInteger():
		return nil
	}
	size := map[cql.Type]int{
		cql.TypeTinyInt: 1, cql.TypeSmallInt: 2, cql.TypeInt: 4, cql.TypeBigInt: 8,
		cql.TypeCounter: 8,
	}[typ]
	limit := int64(1)<<(8*size-1) - 1
	return func(dst []byte, c *column.Column, i int) ([]byte, error) {
		v, above := integerAt(c, i)
		if above || v > limit || v < -limit-1 {
			return dst, fmt.Errorf("%w: %v does not fit %v", cql.ErrRange, c.Value(i), typ)
		}
		dst = wire.AppendInt(dst, int32(size))
		for shift := 8 * (size - 1); shift >= 0; shift -= 8 {
			dst = append(dst, byte(v>>shift))
		}
		return dst, nil
	}
}

// planFloat accepts columns that are at most as wide as the CQL type, so that no precision is lost.
func planFloat(typ cql.Type, t column.Type) appendRow {
	switch {
	case typ == cql.TypeFloat && t.Kind == column.Float32:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			return appendBits32(dst, uint32At(c, i)), nil
		}
	case typ == cql.TypeDouble && t.Kind == column.Float64:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			return appendBits64(dst, uint64At(c, i)), nil
		}
	case typ == cql.TypeDouble && t.Kind == column.Float32:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			return appendBits64(dst, math.Float64bits(float64(math.Float32frombits(uint32At(c, i))))), nil
		}
	case t.Kind == column.Float16:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			v := c.Value(i).(float32)
			if typ == cql.TypeFloat {
				return appendBits32(dst, math.Float32bits(v)), nil
			}
			return appendBits64(dst, math.Float64bits(float64(v))), nil
		}
	}
	return nil
}

// textAt returns the bytes of row i of a column of text, which is not NULL.
func textAt(c *column.Column, i int) []byte {
	if c.Dict != nil {
		return c.Dict.Bytes(uint32At(c, i))
	}
	return c.Values[c.Offsets[i]:c.Offsets[i+1]]
}

func appendContentOf(dst, content []byte) []byte {
	return append(wire.AppendInt(dst, int32(len(content))), content...)
}

// planBytes returns the plan for types whose values are arbitrary bytes, from columns of these kinds.
func planBytes(t column.Type, kinds ...column.Kind) appendRow {
	for _, k := range kinds {
		switch {
		case k != t.Kind:
		case k == column.Fixed:
			return func(dst []byte, c *column.Column, i int) ([]byte, error) {
				return appendContentOf(dst, c.Values[i*t.Width:(i+1)*t.Width]), nil
			}
		default:
			return func(dst []byte, c *column.Column, i int) ([]byte, error) {
				return appendContentOf(dst, textAt(c, i)), nil
			}
		}
	}
	return nil
}

// planUUID accepts 16 bytes, or a String column with UUIDs in their text form.
func planUUID(t column.Type) appendRow {
	switch {
	case t.Kind == column.UUID, t.Kind == column.Fixed && t.Width == 16:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			return append(append(dst, 0, 0, 0, 16), c.Values[16*i:16*i+16]...), nil
		}
	case t.Kind == column.Binary:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			b := textAt(c, i)
			if len(b) != 16 {
				return dst, exactSize(len(b), 16)
			}
			return appendContentOf(dst, b), nil
		}
	case t.Kind == column.String:
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			u, err := cql.ParseUUID(string(textAt(c, i)))
			if err != nil {
				return dst, fmt.Errorf("%w: %w", cql.ErrConversion, err)
			}
			return appendContentOf(dst, u[:]), nil
		}
	}
	return nil
}
