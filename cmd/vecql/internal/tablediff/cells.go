// SPDX-License-Identifier: Apache-2.0

package tablediff

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/schema"
	"github.com/vecql/vecql/internal/wire"
)

// Comparison and description of cells.

// equal reports whether two cells of a column of two servers are equal: the same bytes, or within the tolerance.
func equal(c *cql.ColumnMetadata, a, b []byte, tolerance float64) bool {
	if schema.IsMultiCell(c) { // a collection without elements is NULL
		a, b = emptyToNil(c, a), emptyToNil(c, b)
	}
	return (a == nil) == (b == nil) && bytes.Equal(a, b) || tolerance > 0 && sameValues{tolerance}.cells(c.Type, a, b)
}

// equalFile reports whether a cell of a server is what a server stores for a cell of a batch: servers sort sets and
// maps, and may leave out the last fields of a user-defined type.
func equalFile(c *cql.ColumnMetadata, batch, stored []byte, tolerance float64) bool {
	if schema.IsMultiCell(c) {
		batch, stored = emptyToNil(c, batch), emptyToNil(c, stored)
	}
	return sameValues{tolerance}.cells(c.Type, batch, stored)
}

// emptyToNil returns nil for a collection without elements.
func emptyToNil(c *cql.ColumnMetadata, cell []byte) []byte {
	if c.Type.Type() != cql.TypeUDT && bytes.Equal(cell, make([]byte, 4)) {
		return nil
	}
	return cell
}

// sameValues compares cells whose bytes may differ: the elements of sets and maps in any order, user-defined types
// without their last fields, floating-point numbers within a tolerance.
type sameValues struct{ tolerance float64 }

// cells reports whether two cells of a type are equal. nil is NULL.
func (s sameValues) cells(t cql.TypeInfo, a, b []byte) bool {
	switch {
	case a == nil || b == nil:
		return a == nil && b == nil
	case bytes.Equal(a, b):
		return true
	}
	var partsA, partsB [][]byte
	var okA, okB bool
	var typeOf func(i int) cql.TypeInfo
	switch t := t.(type) {
	case cql.CollectionType:
		partsA, okA = elements(t, a)
		partsB, okB = elements(t, b)
		typeOf = func(i int) cql.TypeInfo {
			if t.Type() == cql.TypeMap && i%2 == 0 {
				return t.Key
			}
			return t.Elem
		}
	case cql.TupleTypeInfo:
		partsA, okA = fields(len(t.Elems), a)
		partsB, okB = fields(len(t.Elems), b)
		typeOf = func(i int) cql.TypeInfo { return t.Elems[i] }
	case cql.UDTTypeInfo:
		partsA, okA = fields(len(t.Elements), a)
		partsB, okB = fields(len(t.Elements), b)
		typeOf = func(i int) cql.TypeInfo { return t.Elements[i].Type }
	default:
		return s.tolerance > 0 && s.numbers(t, a, b)
	}
	if !okA || !okB || len(partsA) != len(partsB) {
		return false
	}
	for i := range partsA {
		if !s.cells(typeOf(i), partsA[i], partsB[i]) {
			return false
		}
	}
	return true
}

// elements returns the elements of a collection, keys before their values. Elements of sets and maps are sorted by
// their bytes.
func elements(t cql.CollectionType, cell []byte) (parts [][]byte, ok bool) {
	r := wire.NewReader(cell)
	width := 1
	if t.Type() == cql.TypeMap {
		width = 2
	}
	n := r.Count(4 * width)
	entries := make([][][]byte, n)
	for i := range entries {
		for range width {
			entries[i] = append(entries[i], r.Bytes())
		}
	}
	if t.Type() != cql.TypeList {
		slices.SortFunc(entries, func(a, b [][]byte) int { return bytes.Compare(a[0], b[0]) })
	}
	return slices.Concat(entries...), r.Err() == nil && r.Len() == 0
}

// fields returns the n fields of a tuple or a user-defined type. Those that are missing at the end are NULL.
func fields(n int, cell []byte) (parts [][]byte, ok bool) {
	r := wire.NewReader(cell)
	parts = make([][]byte, n)
	for i := 0; i < n && r.Len() > 0; i++ {
		parts[i] = r.Bytes()
	}
	return parts, r.Err() == nil && r.Len() == 0
}

// numbers reports whether two cells are numbers, or vectors of numbers, within the tolerance.
func (s sameValues) numbers(t cql.TypeInfo, a, b []byte) bool {
	if vector, ok := t.(cql.VectorType); ok {
		width := map[cql.Type]int{cql.TypeFloat: 4, cql.TypeDouble: 8}[vector.SubType.Type()]
		if width == 0 || len(a) != len(b) || len(a)%width != 0 {
			return false
		}
		for i := 0; i < len(a); i += width {
			if !s.numbers(vector.SubType, a[i:i+width], b[i:i+width]) {
				return false
			}
		}
		return true
	}
	switch {
	case t.Type() == cql.TypeFloat && len(a) == 4 && len(b) == 4:
		return s.floats(float64(math.Float32frombits(binary.BigEndian.Uint32(a))),
			float64(math.Float32frombits(binary.BigEndian.Uint32(b))))
	case t.Type() == cql.TypeDouble && len(a) == 8 && len(b) == 8:
		return s.floats(math.Float64frombits(binary.BigEndian.Uint64(a)), math.Float64frombits(binary.BigEndian.Uint64(b)))
	}
	return false
}

// floats reports whether two numbers are within the tolerance.
func (s sameValues) floats(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) ||
		math.Abs(a-b) <= s.tolerance*max(1, math.Abs(a), math.Abs(b)) && !math.IsInf(a-b, 0)
}

func decode(t cql.TypeInfo, cell []byte) (v any, ok bool) {
	return v, vecql.Unmarshal(t, cell, &v) == nil
}

// describe returns the name of a column with both values.
func describe(c *cql.ColumnMetadata, a, b []byte) string {
	va, okA := decode(c.Type, a)
	vb, okB := decode(c.Type, b)
	x, y := reflect.ValueOf(va), reflect.ValueOf(vb)
	if _, vector := c.Type.(cql.VectorType); vector && okA && okB && a != nil && b != nil && x.Len() == y.Len() {
		if first, n := differing(x, y); n > 0 {
			return fmt.Sprintf("%s[%d]: %v in the source, %v in the target (%d of %d elements differ)", c.Name, first,
				x.Index(first), y.Index(first), n, x.Len())
		}
	}
	textA, textB := format(c.Type, a), format(c.Type, b)
	if textA == textB { // other bytes for one value
		textA, textB = shortened(fmt.Sprintf("0x%x", a)), shortened(fmt.Sprintf("0x%x", b))
	}
	return fmt.Sprintf("%s: %s in the source, %s in the target", c.Name, textA, textB)
}

// differing returns the first position where two slices of one length differ, and the number of such positions.
func differing(a, b reflect.Value) (first, n int) {
	for i := range a.Len() {
		if !sameBits(a.Index(i), b.Index(i)) {
			if n++; n == 1 {
				first = i
			}
		}
	}
	return first, n
}

// sameBits reports whether two elements of vectors are equal, numbers bit for bit.
func sameBits(a, b reflect.Value) bool {
	if a.CanFloat() && b.CanFloat() {
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// maxText is the number of bytes of a printed value.
const maxText = 60

// format returns a cell as text: NULL, quoted text, 0x for bytes.
func format(t cql.TypeInfo, cell []byte) string {
	if cell == nil {
		return "NULL"
	}
	text := fmt.Sprintf("0x%x", cell)
	if v, ok := decode(t, cell); ok {
		switch v := v.(type) {
		case string:
			text = strconv.Quote(v)
		case []byte:
			text = fmt.Sprintf("0x%x", v)
		default:
			text = fmt.Sprint(v)
		}
	}
	return shortened(text)
}

// shortened returns a text that is not longer than maxText.
func shortened(text string) string {
	if len(text) <= maxText {
		return text
	}
	end := maxText - 3
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}

// formatTime returns a write time in microseconds since the epoch.
func formatTime(cell []byte) string {
	if len(cell) != 8 {
		return "none"
	}
	return strconv.FormatInt(int64(binary.BigEndian.Uint64(cell)), 10)
}

// formatKey returns the primary key of a row.
func (l *layout) formatKey(cells [][]byte) string {
	parts := make([]string, l.keys)
	for i := range parts {
		parts[i] = l.columns[i].Name + "=" + format(l.columns[i].Type, cells[i])
	}
	return strings.Join(parts, " ")
}
