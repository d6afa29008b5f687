// SPDX-License-Identifier: Apache-2.0

package predicate

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Statistics: minimum, maximum and count of NULLs of column chunks and of pages (parquet-format, parquet.thrift:
// Statistics, ColumnIndex, ColumnOrder). They are hints: statistics that are missing, inconsistent or of an unknown
// order count as unknown.

// A boundValue is a value in the order of its column's kind: the number in the column, unscaled and in its unit, or
// bytes.
type boundValue struct {
	int   wide
	float float64
	text  string
}

// bounds are the statistics of some rows of a column.
type bounds struct {
	Rows  int64
	Nulls int64 // -1 if unknown
	// If known, all values lie between min and max, which need not be values themselves. Floats may also be NaN, unless
	// noNaN.
	Known    bool
	Min, Max boundValue
	noNaN    bool
	// exact means that min and max are values of the rows, and that all values, NaN included, lie between them.
	Exact bool
}

// mayMatch reports whether one of the rows may pass a leaf.
func (b *bounds) mayMatch(l *leafTerm) bool {
	if l.isNull {
		return b.Nulls != 0
	}
	if b.Nulls == b.Rows {
		return false
	}
	if l.part != nil {
		return true
	}
	if l.spans.len() == 0 || !b.Known {
		return l.spans.len() > 0 || l.invert
	}
	switch OrderOf(l.typ.Kind) {
	case orderInts:
		return spansMatch(l.spans.ints, l.invert, b.Min.int, b.Max.int, compareInts)
	case OrderTexts:
		return spansMatch(l.spans.texts, l.invert, b.Min.text, b.Max.text, compareTexts)
	}
	if !b.noNaN {
		// The span that includes NaN is the last one.
		last := l.spans.floats[len(l.spans.floats)-1]
		if last.hi != last.hi != l.invert {
			return true
		}
	}
	return spansMatch(l.spans.floats, l.invert, b.Min.float, b.Max.float, compareFloats)
}

// spansMatch reports whether a value from lo to hi may lie in one of the spans, or with invert, outside all of them.
func spansMatch[V any](spans []span[V], invert bool, lo, hi V, compare func(a, b V) int) bool {
	for _, s := range spans {
		top := func(v V) int { // compares v with the span's upper end
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

// decodeBound returns the minimum or maximum in the statistics of a leaf of the schema, which is encoded as PLAIN
// without a length. It returns false if the bytes are no value of the type.
func decodeBound(raw []byte, typ column.Type, leaf *footer.Leaf) (v boundValue, ok bool) {
	order, decimal := OrderOf(typ.Kind), isDecimal(typ.Kind)
	switch leaf.Physical {
	case format.Boolean:
		if ok = typ.Kind == column.Bool && len(raw) == 1 && raw[0] < 2; ok {
			v.int[0] = uint64(raw[0])
		}
	case format.Int32:
		if ok = order == orderInts && typ.Kind != column.Bool && len(raw) == 4; !ok {
			break
		}
		if u := binary.LittleEndian.Uint32(raw); isUnsigned(typ.Kind) {
			v.int[0] = uint64(u)
		} else {
			v.int = wideOf64(int64(int32(u)))
		}
	case format.Int64:
		if ok = order == orderInts && typ.Kind != column.Bool && len(raw) == 8; !ok {
			break
		}
		if u := binary.LittleEndian.Uint64(raw); isUnsigned(typ.Kind) {
			v.int[0] = u
		} else {
			v.int = wideOf64(int64(u))
		}
	case format.Float:
		if ok = typ.Kind == column.Float32 && len(raw) == 4; ok {
			v.float = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		}
	case format.Double:
		if ok = typ.Kind == column.Float64 && len(raw) == 8; ok {
			v.float = math.Float64frombits(binary.LittleEndian.Uint64(raw))
		}
	case format.ByteArray:
		switch {
		case typ.Kind.IsText():
			v.text, ok = string(raw), true
		case decimal:
			v.int, ok = wideOfBytes(raw)
		}
	case format.FixedLenByteArray:
		switch {
		case typ.Kind == column.Float16:
			if ok = len(raw) == 2; ok {
				v.float = float64(float16Value(binary.LittleEndian.Uint16(raw)))
			}
		case decimal:
			if ok = len(raw) == leaf.Stored; ok {
				v.int, ok = wideOfBytes(raw)
			}
		case order == OrderTexts:
			v.text, ok = string(raw), true
		}
	}
	return v, ok
}

// setRange sets the bounds to encoded values if both are valid and in order. NaN is never in order.
func (b *bounds) setRange(lo, hi []byte, typ column.Type, leaf *footer.Leaf) {
	var okMin, okMax bool
	b.Min, okMin = decodeBound(lo, typ, leaf)
	b.Max, okMax = decodeBound(hi, typ, leaf)
	b.Known = okMin && okMax && compareInts(b.Min.int, b.Max.int) <= 0 && b.Min.float <= b.Max.float &&
		b.Min.text <= b.Max.text
}

// ordersOf reports whether the order of this package applies to min_value and max_value of a leaf, and whether it
// applies to the deprecated min and max, which are ordered as signed numbers only.
func ordersOf(f *footer.Footer, leaf *footer.Leaf, typ column.Type) (ordered, signed bool) {
	want := orderSigned
	if isUnsigned(typ.Kind) || OrderOf(typ.Kind) == OrderTexts {
		want = orderUnsigned
	}
	if storedOrder(leaf) != want || !f.Writer.CorrectStatistics(leaf, want == orderSigned) {
		return false, false
	}
	return leaf.Ordered, want == orderSigned && leaf.Physical != format.ByteArray &&
		leaf.Physical != format.FixedLenByteArray
}

// The orders of statistics (parquet.thrift, ColumnOrder): of signed numbers, and of unsigned numbers or bytes.
const (
	orderUnknown = iota
	orderSigned
	orderUnsigned
)

// storedOrder returns the order of the statistics of a column.
func storedOrder(leaf *footer.Leaf) int {
	switch t := &leaf.Logical; t.Kind {
	case format.NoLogical:
		switch leaf.Physical {
		case format.ByteArray, format.FixedLenByteArray:
			return orderUnsigned
		case format.Int96:
			return orderUnknown
		}
		return orderSigned
	case format.LogicalString, format.LogicalEnum, format.LogicalJSON, format.LogicalBSON, format.LogicalUUID:
		return orderUnsigned
	case format.LogicalDecimal, format.LogicalDate, format.LogicalTime, format.LogicalTimestamp, format.LogicalFloat16:
		return orderSigned
	case format.LogicalInteger:
		if t.Signed {
			return orderSigned
		}
		return orderUnsigned
	}
	return orderUnknown
}

// ChunkBounds returns the statistics of a leaf in a row group, from the footer. It returns none for columns that are
// encrypted with their own keys.
func ChunkBounds(f *footer.Footer, group, leaf int, typ column.Type) bounds {
	b := bounds{Rows: f.Groups[group].Rows, Nulls: -1}
	col := f.Leaves[leaf]
	if col.MaxRep > 0 || OrderOf(typ.Kind) == OrderNone {
		return b
	}
	m, err := f.PlainChunk(group, leaf)
	s, ok := f.Statistics(&m)
	if err != nil || !ok || m.Values != b.Rows {
		return b
	}
	if s.Nulls >= 0 && s.Nulls <= b.Rows {
		b.Nulls = s.Nulls
	}
	ordered, signed := ordersOf(f, col, typ)
	switch {
	case ordered && s.MinValue != nil && s.MaxValue != nil:
		b.setRange(s.MinValue, s.MaxValue, typ, col)
		b.Exact = s.MinExact == thrift.True && s.MaxExact == thrift.True
		if col.Physical != format.ByteArray && OrderOf(typ.Kind) == orderInts { // writers never truncate numbers
			b.Exact = s.MinExact != thrift.False && s.MaxExact != thrift.False
		}
	case signed && s.Min != nil && s.Max != nil:
		b.setRange(s.Min, s.Max, typ, col)
		b.Exact = OrderOf(typ.Kind) == orderInts
	}
	if b.Nulls == b.Rows && (s.MinValue != nil || s.Min != nil) { // a minimum without values
		b.Nulls, b.Known = -1, false
	}
	b.noNaN = s.Nans == 0
	b.Exact = b.Exact && b.Known && (OrderOf(typ.Kind) != OrderFloats || b.noNaN)
	return b
}

// Value returns a bound as a value of the type, false if it is out of range.
func (v *boundValue) Value(typ column.Type) (any, bool) {
	if OrderOf(typ.Kind) == orderInts {
		lowest, highest := limitsOf(typ.Kind)
		if compareInts(v.int, wideOfBig(lowest)) < 0 || compareInts(v.int, wideOfBig(highest)) > 0 {
			return nil, false
		}
	}
	word := v.int[0]
	switch typ.Kind {
	case column.Bool:
		return word != 0, true
	case column.Int8:
		return int8(word), true
	case column.Int16:
		return int16(word), true
	case column.Int32, column.Date:
		return int32(word), true
	case column.Int64, column.Time, column.Timestamp, column.Decimal64:
		return int64(word), true
	case column.Uint8:
		return uint8(word), true
	case column.Uint16:
		return uint16(word), true
	case column.Uint32:
		return uint32(word), true
	case column.Uint64:
		return word, true
	case column.Decimal128:
		return column.Int128{Lo: word, Hi: int64(v.int[1])}, true
	case column.Decimal256:
		return column.Int256(v.int), true
	case column.Float16:
		bits, ok := float16Bits(v.float)
		return bits, ok
	case column.Float32:
		return float32(v.float), true
	case column.Float64:
		return v.float, true
	case column.String:
		return v.text, true
	case column.UUID:
		if len(v.text) == 16 {
			return cql.UUID([]byte(v.text)), true
		}
	}
	return slices.Clone([]byte(v.text)), OrderOf(typ.Kind) == OrderTexts
}
