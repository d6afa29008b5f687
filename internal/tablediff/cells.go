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
	"github.com/vecql/vecql/internal/schema"
)

// Comparison and description of cells.

// equal reports whether two cells of a column are equal. The same bytes are always equal.
func equal(c *vecql.ColumnMetadata, a, b []byte, tolerance float64) bool {
	if schema.IsMultiCell(c) { // a collection without elements is NULL
		a, b = emptyToNil(c, a), emptyToNil(c, b)
	}
	switch {
	case (a == nil) != (b == nil):
		return false
	case bytes.Equal(a, b):
		return true
	}
	va, okA := decode(c.Type, a)
	vb, okB := decode(c.Type, b)
	if !okA || !okB {
		return false
	}
	// Beyond tolerance, values decide where servers may write one value in several ways: sets that a batch has in another
	// order, and user-defined types without their last fields.
	same := sameValues{tolerance: tolerance, unordered: c.Type.Type() == vecql.TypeSet}
	return same.values(reflect.ValueOf(va), reflect.ValueOf(vb))
}

// emptyToNil returns nil for a collection without elements.
func emptyToNil(c *vecql.ColumnMetadata, cell []byte) []byte {
	if c.Type.Type() != vecql.TypeUDT && bytes.Equal(cell, make([]byte, 4)) {
		return nil
	}
	return cell
}

func decode(t vecql.TypeInfo, cell []byte) (v any, ok bool) {
	return v, vecql.Unmarshal(t, cell, &v) == nil
}

// sameValues compares decoded values.
type sameValues struct {
	tolerance float64
	unordered bool // slices are sets
}

// values reports whether two values are equal: of one type, with equal elements.
func (s sameValues) values(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return a.IsValid() == b.IsValid() && !a.IsValid()
	}
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		return s.floats(a.Float(), b.Float(), a.Kind() == reflect.Float32)
	case reflect.Interface:
		return s.values(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		if s.unordered {
			return s.sets(a, b)
		}
		for i := range a.Len() {
			if !s.values(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for it := a.MapRange(); it.Next(); {
			if other := b.MapIndex(it.Key()); !other.IsValid() || !s.values(it.Value(), other) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// sets compares slices whose elements have no order, by their texts.
func (s sameValues) sets(a, b reflect.Value) bool {
	texts := func(v reflect.Value) []string {
		list := make([]string, v.Len())
		for i := range list {
			list[i] = fmt.Sprintf("%#v", v.Index(i).Interface())
		}
		slices.Sort(list)
		return list
	}
	return slices.Equal(texts(a), texts(b))
}

// floats compares numbers. Without tolerance they must have the same bits.
func (s sameValues) floats(a, b float64, single bool) bool {
	switch {
	case s.tolerance > 0:
		return a == b || math.IsNaN(a) && math.IsNaN(b) ||
			math.Abs(a-b) <= s.tolerance*max(1, math.Abs(a), math.Abs(b)) && !math.IsInf(a-b, 0)
	case single:
		return math.Float32bits(float32(a)) == math.Float32bits(float32(b))
	}
	return math.Float64bits(a) == math.Float64bits(b)
}

// describe returns the name of a column with both values.
func describe(c *vecql.ColumnMetadata, a, b []byte) string {
	va, okA := decode(c.Type, a)
	vb, okB := decode(c.Type, b)
	x, y := reflect.ValueOf(va), reflect.ValueOf(vb)
	if _, vector := c.Type.(vecql.VectorType); vector && okA && okB && a != nil && b != nil && x.Len() == y.Len() {
		if first, n := differing(x, y); n > 0 {
			return fmt.Sprintf("%s[%d]: %v in the source, %v in the target (%d of %d elements differ)", c.Name, first,
				x.Index(first), y.Index(first), n, x.Len())
		}
	}
	return fmt.Sprintf("%s: %s in the source, %s in the target", c.Name, format(c.Type, a), format(c.Type, b))
}

// differing returns the first position where two slices of one length differ, and the number of such positions.
func differing(a, b reflect.Value) (first, n int) {
	for i := range a.Len() {
		if !(sameValues{}).values(a.Index(i), b.Index(i)) {
			if n++; n == 1 {
				first = i
			}
		}
	}
	return first, n
}

// maxText is the number of bytes of a printed value.
const maxText = 60

// format returns a cell as text: NULL, quoted text, 0x for bytes.
func format(t vecql.TypeInfo, cell []byte) string {
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
