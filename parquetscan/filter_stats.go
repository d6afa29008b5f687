// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// This file holds what a file says about values without showing them: least and greatest value and count of NULLs, of column chunks and of
// pages (parquet-format, parquet.thrift: Statistics, ColumnIndex, ColumnOrder). All of it is a hint: what is missing, odd or of an unknown
// order is taken for unknown.

// A boundValue is a value in the order of its column's kind: the number in the column, unscaled and in its unit, or bytes.
type boundValue struct {
	int   Int256
	float float64
	text  string
}

// bounds is what is known of some rows of a column.
type bounds struct {
	rows  int64
	nulls int64 // -1 if unknown
	// If known, values are min to max. They may be less and greater than any value. Floats can be NaN beside that, unless noNaN.
	known    bool
	min, max boundValue
	noNaN    bool
	// exact tells that min and max are values that are there, and that there is none beside them.
	exact bool
}

// mayMatch tells whether one of the rows may pass a leaf.
func (b *bounds) mayMatch(l *predicateLeaf) bool {
	if l.isNull {
		return b.nulls != 0
	}
	if b.nulls == b.rows {
		return false
	}
	if l.spans.len() == 0 || !b.known {
		return l.spans.len() > 0 || l.invert
	}
	switch l.typ.Kind.order() {
	case orderInts:
		return spansMatch(l.spans.ints, l.invert, b.min.int, b.max.int, compareInts)
	case orderTexts:
		return spansMatch(l.spans.texts, l.invert, b.min.text, b.max.text, compareTexts)
	}
	if !b.noNaN {
		// The span with NaN is the last one.
		last := l.spans.floats[len(l.spans.floats)-1]
		if last.hi != last.hi != l.invert {
			return true
		}
	}
	return spansMatch(l.spans.floats, l.invert, b.min.float, b.max.float, compareFloats)
}

// spansMatch tells whether a value from lo to hi may lie in one of the spans, or if invert outside of them all.
func spansMatch[V any](spans []span[V], invert bool, lo, hi V, compare func(a, b V) int) bool {
	for _, s := range spans {
		top := func(v V) int { // where v lies seen from the span's upper end
			c := compare(v, s.hi)
			if c == 0 && s.open {
				c = 1
			}
			return c
		}
		if invert {
			if compare(s.lo, lo) <= 0 && top(hi) <= 0 {
				return false
			}
		} else if compare(s.lo, hi) <= 0 && top(lo) <= 0 {
			return true
		}
	}
	return invert
}

func compareTexts(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// decodeBound returns the least or greatest value of statistics of a leaf of the schema, which are encoded as PLAIN without a length. It
// returns false if that is no value of the type.
func decodeBound(raw []byte, typ Type, leaf *schema.Column) (v boundValue, ok bool) {
	order, decimal := typ.Kind.order(), typ.Kind.decimal()
	switch leaf.PhysicalType() {
	case parquet.Types.Boolean:
		if ok = typ.Kind == Bool && len(raw) == 1 && raw[0] < 2; ok {
			v.int[0] = uint64(raw[0])
		}
	case parquet.Types.Int32:
		if ok = order == orderInts && typ.Kind != Bool && len(raw) == 4; !ok {
			break
		}
		if u := binary.LittleEndian.Uint32(raw); typ.Kind.unsigned() {
			v.int[0] = uint64(u)
		} else {
			v.int = wideOf64(int64(int32(u)))
		}
	case parquet.Types.Int64:
		if ok = order == orderInts && typ.Kind != Bool && len(raw) == 8; !ok {
			break
		}
		if u := binary.LittleEndian.Uint64(raw); typ.Kind.unsigned() {
			v.int[0] = u
		} else {
			v.int = wideOf64(int64(u))
		}
	case parquet.Types.Float:
		if ok = typ.Kind == Float32 && len(raw) == 4; ok {
			v.float = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		}
	case parquet.Types.Double:
		if ok = typ.Kind == Float64 && len(raw) == 8; ok {
			v.float = math.Float64frombits(binary.LittleEndian.Uint64(raw))
		}
	case parquet.Types.ByteArray:
		switch {
		case typ.Kind.text():
			v.text, ok = string(raw), true
		case decimal:
			v.int, ok = wideOfBytes(raw)
		}
	case parquet.Types.FixedLenByteArray:
		switch {
		case typ.Kind == Float16:
			if ok = len(raw) == 2; ok {
				v.float = float64(float16Value(binary.LittleEndian.Uint16(raw)))
			}
		case decimal:
			if ok = len(raw) == leaf.TypeLength(); ok {
				v.int, ok = wideOfBytes(raw)
			}
		case order == orderTexts:
			v.text, ok = string(raw), true
		}
	}
	return v, ok
}

// setRange makes encoded values the bounds, if both are values and in order, which NaN never is.
func (b *bounds) setRange(lo, hi []byte, typ Type, leaf *schema.Column) {
	var okMin, okMax bool
	b.min, okMin = decodeBound(lo, typ, leaf)
	b.max, okMax = decodeBound(hi, typ, leaf)
	b.known = okMin && okMax && compareInts(b.min.int, b.max.int) <= 0 && b.min.float <= b.max.float && b.min.text <= b.max.text
}

// ordersOf tells whether min_value and max_value of a leaf are in the order that this package compares by, and whether the deprecated min
// and max are, which know signed numbers only.
func ordersOf(md *metadata.FileMetaData, leaf int, typ Type) (ordered, signed bool) {
	column := md.Schema.Column(leaf)
	order := schema.SortSIGNED
	if typ.Kind.unsigned() || typ.Kind.order() == orderTexts {
		order = schema.SortUNSIGNED
	}
	physical := column.PhysicalType()
	if column.SortOrder() != order || // that of INT96 is unknown
		!md.WriterVersion().HasCorrectStatistics(physical, column.LogicalType(), metadata.EncodedStatistics{}, order) {
		return false, false
	}
	ordered = len(md.ColumnOrders) == md.Schema.NumColumns() && md.ColumnOrders[leaf].IsSetTYPE_ORDER()
	return ordered, order == schema.SortSIGNED && physical != parquet.Types.ByteArray && physical != parquet.Types.FixedLenByteArray
}

// chunkBounds returns what the footer says of a leaf in a row group. It says nothing of columns that are encrypted with keys of their own:
// arrow-go's decryptors are not made for several goroutines. Calls are to be guarded, since footers may lack what they should have.
func chunkBounds(md *metadata.FileMetaData, rowGroup, leaf int, typ Type) bounds {
	rg := md.RowGroups[rowGroup]
	b := bounds{rows: rg.NumRows, nulls: -1}
	column, chunk := md.Schema.Column(leaf), rg.Columns[leaf]
	if column.MaxRepetitionLevel() > 0 || typ.Kind.order() == orderNone || b.rows < 0 {
		return b
	}
	ordered, signed := ordersOf(md, leaf, typ)
	if chunk.MetaData == nil || chunk.MetaData.Statistics == nil || chunk.MetaData.NumValues != b.rows {
		return b
	}
	s := chunk.MetaData.Statistics
	if s.NullCount != nil && *s.NullCount >= 0 && *s.NullCount <= b.rows {
		b.nulls = *s.NullCount
	}
	switch {
	case ordered && s.MinValue != nil && s.MaxValue != nil:
		b.setRange(s.MinValue, s.MaxValue, typ, column)
		b.exact = s.IsMinValueExact != nil && *s.IsMinValueExact && s.IsMaxValueExact != nil && *s.IsMaxValueExact
		if column.PhysicalType() != parquet.Types.ByteArray && typ.Kind.order() == orderInts { // no writer cuts numbers
			b.exact = (s.IsMinValueExact == nil || *s.IsMinValueExact) && (s.IsMaxValueExact == nil || *s.IsMaxValueExact)
		}
	case signed && s.Min != nil && s.Max != nil:
		b.setRange(s.Min, s.Max, typ, column)
		b.exact = typ.Kind.order() == orderInts
	}
	if b.nulls == b.rows && (s.MinValue != nil || s.Min != nil) { // a least value of no values
		b.nulls, b.known = -1, false
	}
	b.noNaN = s.NanCount != nil && *s.NanCount == 0
	b.exact = b.exact && b.known && (typ.Kind.order() != orderFloats || b.noNaN)
	return b
}

// value returns a bound as a value of the type, false if it is out of range.
func (v *boundValue) value(typ Type) (any, bool) {
	if typ.Kind.order() == orderInts {
		lowest, highest := typ.Kind.limits()
		if compareInts(v.int, wideOfBig(lowest)) < 0 || compareInts(v.int, wideOfBig(highest)) > 0 {
			return nil, false
		}
	}
	word := v.int[0]
	switch typ.Kind {
	case Bool:
		return word != 0, true
	case Int8:
		return int8(word), true
	case Int16:
		return int16(word), true
	case Int32, Date:
		return int32(word), true
	case Int64, Time, Timestamp, Decimal64:
		return int64(word), true
	case Uint8:
		return uint8(word), true
	case Uint16:
		return uint16(word), true
	case Uint32:
		return uint32(word), true
	case Uint64:
		return word, true
	case Decimal128:
		return Int128{Lo: word, Hi: int64(v.int[1])}, true
	case Decimal256:
		return v.int, true
	case Float16:
		bits, ok := float16Bits(v.float)
		return bits, ok
	case Float32:
		return float32(v.float), true
	case Float64:
		return v.float, true
	case String:
		return v.text, true
	case ID:
		if len(v.text) == 16 {
			return [16]byte([]byte(v.text)), true
		}
	}
	return slices.Clone([]byte(v.text)), typ.Kind.order() == orderTexts
}

// guarded calls fn, which reads what a file says, and returns false if it panics.
func guarded(fn func()) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	fn()
	return true
}
