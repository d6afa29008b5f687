// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
)

// Arrow types of CQL types: the types of package arrowcolumn, changed by the options of a statement.

// decimalDigits is the precision of the type decimal256.
const decimalDigits = 76

// A shape decides the Arrow types of a result.
type shape struct {
	uuidText, durationText bool
	varintDecimal          bool
	decimalScale           int // of decimal256; -1 means text
}

// shape returns the shape of results by the options of an object.
func (o *optionSet) shape() shape {
	scale, _ := decimalScale(o.get(optionDecimal)) // SetOption has checked the value
	return shape{
		uuidText: o.get(optionUUID) == "string", durationText: o.get(optionDuration) == "string",
		varintDecimal: o.get(optionVarint) == "decimal256", decimalScale: scale,
	}
}

// schema returns the Arrow schema of a result.
func (s shape) schema(columns []cql.ColumnInfo) (*arrow.Schema, error) {
	fields := make(column.Schema, len(columns))
	for i, c := range columns {
		fields[i] = s.field(codec.ColumnField(c.Name, c.TypeInfo))
	}
	out, err := arrowcolumn.Schema(fields)
	return out, wrapped("the schema of the result", err)
}

// schemaOf returns the Arrow schema of a batch.
func (s shape) schemaOf(b *column.Batch) (*arrow.Schema, error) {
	fields := b.Schema()
	for i := range fields {
		fields[i] = s.field(fields[i])
	}
	out, err := arrowcolumn.Schema(fields)
	return out, wrapped("the schema of the result", err)
}

// field returns the field of a column that convert returns for a column of f.
func (s shape) field(f column.Field) column.Field {
	switch t := s.target(f.Type); {
	case t.Kind == column.List && f.Type.Kind == column.Vector:
		f.Fields = []column.Field{{Name: column.ElementName, Type: column.Type{Kind: column.String}, Nullable: true}}
		f.Type = t
	default:
		f.Type, f.Fields = t, slices.Clone(f.Fields)
		for i := range f.Fields {
			f.Fields[i] = s.field(f.Fields[i])
		}
	}
	return f
}

// target returns the type that a type becomes.
func (s shape) target(t column.Type) column.Type {
	switch {
	case t.Kind == column.UUID && s.uuidText, t.Kind == column.Duration && s.durationText:
		return column.Type{Kind: column.String}
	case t.Kind == column.Vector && t.Elem == column.UUID && s.uuidText:
		return column.Type{Kind: column.List}
	case t.Kind == column.Varint && s.varintDecimal:
		return column.Type{Kind: column.Decimal256, Precision: decimalDigits}
	case t.Kind == column.Decimal && s.decimalScale >= 0:
		return column.Type{Kind: column.Decimal256, Precision: decimalDigits, Scale: s.decimalScale}
	}
	return t
}

// batch returns a batch with the columns of the shape. It shares memory with b.
func (s shape) batch(b *column.Batch) (*column.Batch, error) {
	if s == (shape{decimalScale: -1}) {
		return b, nil
	}
	out := *b
	out.Columns = make([]column.Column, len(b.Columns))
	for i := range b.Columns {
		var err error
		if out.Columns[i], err = s.column(&b.Columns[i]); err != nil {
			return nil, fmt.Errorf("column %s: %w", b.Columns[i].Name, err)
		}
	}
	return &out, nil
}

// column returns a column of the shape.
func (s shape) column(c *column.Column) (column.Column, error) {
	switch t := s.target(c.Type); {
	case t.Kind == column.Decimal256 && c.Type.Kind != column.Decimal256:
		return decimal256(c, t)
	case t.Kind == column.String && c.Type.Kind == column.Duration:
		return column.FormatText(c)
	case t.Kind == column.String && c.Type.Kind == column.UUID:
		return uuidText(c.Name, c.Values[:16*c.Len]).WithValidity(c.ValidityBits()), nil
	case t.Kind == column.List && c.Type.Kind == column.Vector:
		elements := uuidText(column.ElementName, c.Values[:16*c.Len*c.Type.Dim])
		offsets := make([]int32, c.Len+1)
		for i := range offsets {
			offsets[i] = int32(i * c.Type.Dim)
		}
		return column.Lists(c.Name, offsets, elements).WithValidity(c.ValidityBits()), nil
	}
	out := *c
	out.Children = slices.Clone(c.Children)
	for i := range out.Children {
		var err error
		if out.Children[i], err = s.column(&c.Children[i]); err != nil {
			return out, err
		}
	}
	return out, nil
}

// uuidText returns UUIDs, 16 bytes each, as text.
func uuidText(name string, values []byte) column.Column {
	const size = 36
	rows := len(values) / 16
	text, offsets := make([]byte, 0, rows*size), make([]int32, rows+1)
	for i := range rows {
		for k, part := range [][2]int{{0, 4}, {4, 6}, {6, 8}, {8, 10}, {10, 16}} {
			if k > 0 {
				text = append(text, '-')
			}
			text = hex.AppendEncode(text, values[16*i+part[0]:16*i+part[1]])
		}
		offsets[i+1] = int32(len(text))
	}
	return column.StringBuffers(name, text, offsets)
}

// decimal256 converts a column of Varint or Decimal. A number that needs more than 76 digits, or more digits after the
// point than the scale has, is an error.
func decimal256(c *column.Column, t column.Type) (column.Column, error) {
	values := make([]column.Int256, c.Len)
	for i := range values {
		if c.Null(i) {
			continue
		}
		var number cql.Decimal
		switch v := c.Value(i).(type) {
		case *big.Int:
			number.Unscaled = v
		case cql.Decimal:
			number = v
		}
		unscaled, ok := rescaled(number, t.Scale)
		if !ok {
			return column.Column{}, fmt.Errorf("row %d: %w: %v does not fit %v", i, cql.ErrRange, c.Format(i, 100), t)
		}
		values[i] = int256(unscaled)
	}
	out, err := column.Of(c.Name, values).WithType(t)
	return out.WithValidity(c.ValidityBits()), err
}

// rescaled returns the unscaled value of a number with another scale, if that is exact and has at most 76 digits.
func rescaled(number cql.Decimal, scale int) (*big.Int, bool) {
	const farScale = 1 << 12 // beyond any scale of a number that fits; powers of ten stay small
	shift := int64(scale) - int64(number.Scale)
	unscaled := number.Unscaled
	switch {
	case unscaled == nil || unscaled.Sign() == 0:
		return new(big.Int), true
	case shift > decimalDigits || shift < -farScale:
		return nil, false
	case shift >= 0:
		unscaled = new(big.Int).Mul(unscaled, tenTo(shift))
	default:
		var rest *big.Int
		if unscaled, rest = new(big.Int).QuoRem(unscaled, tenTo(-shift), new(big.Int)); rest.Sign() != 0 {
			return nil, false
		}
	}
	return unscaled, unscaled.CmpAbs(tenTo(decimalDigits)) < 0
}

func tenTo(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// int256 returns a number in two's complement.
func int256(n *big.Int) column.Int256 {
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	var bytes [32]byte
	n.FillBytes(bytes[:])
	var out column.Int256
	for i := range out {
		out[i] = binary.BigEndian.Uint64(bytes[8*(3-i):])
	}
	return out
}
