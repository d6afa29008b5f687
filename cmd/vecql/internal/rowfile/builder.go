// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"fmt"
	"math"
	"slices"

	"github.com/vecql/vecql/column"
)

// Columns that grow row by row.

// A builder is a column that grows. A row is appended by its parts, which append to the buffers, and by end, which
// counts it. After an error truncate removes what was appended.
type builder struct {
	field    column.Field
	rows     int
	nulls    int
	valid    []byte
	values   []byte
	offsets  []int32
	children []*builder
}

func newBuilder(f column.Field) *builder {
	b := &builder{field: f}
	for _, child := range f.Fields {
		b.children = append(b.children, newBuilder(child))
	}
	b.reset(0, 0)
	return b
}

// minBuffer is the smallest capacity of a buffer: its memory is then aligned to 8 bytes, as column.Column requires.
const minBuffer = 64

// reset makes buffers for a new column of about that size.
func (b *builder) reset(rows, bytes int) {
	b.rows, b.nulls, b.offsets = 0, 0, nil
	b.valid = make([]byte, 0, rows/8+1)
	b.values = make([]byte, 0, max(bytes, minBuffer))
	if b.hasOffsets() {
		b.offsets = make([]int32, 1, rows+1)
	}
}

func (b *builder) hasOffsets() bool { return b.field.Type.Kind.IsText() || b.field.Type.Kind.IsList() }

// end counts a row whose parts have been appended.
func (b *builder) end() error { return b.count(true) }

// appendNull appends a NULL.
func (b *builder) appendNull() error {
	b.values = append(b.values, make([]byte, b.field.Type.ValueWidth())...)
	if !b.field.Type.Kind.IsList() {
		for _, child := range b.children {
			if err := child.appendNull(); err != nil {
				return err
			}
		}
	}
	return b.count(false)
}

// count counts a row, which is NULL unless it is valid.
func (b *builder) count(valid bool) error {
	if b.rows%8 == 0 {
		b.valid = append(b.valid, 0)
	}
	if valid {
		b.valid[b.rows/8] |= 1 << (b.rows % 8)
	} else {
		b.nulls++
	}
	b.rows++
	if !b.hasOffsets() {
		return nil
	}
	size := len(b.values)
	if b.field.Type.Kind.IsList() {
		size = b.children[0].rows
	}
	if size > math.MaxInt32 {
		return fmt.Errorf("column %s: %w", b.field.Name, column.ErrTooLarge)
	}
	b.offsets = append(b.offsets, int32(size))
	return nil
}

// repeats reports whether two of the rows from a number on have the same bytes. Fields of nested types are not
// compared.
func (b *builder) repeats(first int) bool {
	n, width := b.rows-first, b.field.Type.ValueWidth()
	if n < 2 || len(b.children) > 0 || !b.field.Type.Kind.IsText() && width == 0 {
		return false
	}
	seen := make(map[string]bool, n)
	for i := first; i < b.rows; i++ {
		value := b.values[i*width : (i+1)*width]
		if b.field.Type.Kind.IsText() {
			value = b.values[b.offsets[i]:b.offsets[i+1]]
		}
		if seen[string(value)] {
			return true
		}
		seen[string(value)] = true
	}
	return false
}

// truncate removes all rows from a number on, and what was appended of another row.
func (b *builder) truncate(rows int) {
	for i := rows; i < b.rows; i++ {
		if b.valid[i/8]>>(i%8)&1 == 0 {
			b.nulls--
		}
	}
	b.rows = min(b.rows, rows)
	b.valid = b.valid[:(b.rows+7)/8]
	if b.rows%8 > 0 {
		b.valid[b.rows/8] &= 1<<(b.rows%8) - 1
	}
	childRows := b.rows
	switch {
	case b.hasOffsets():
		b.offsets = b.offsets[:b.rows+1]
		childRows = int(b.offsets[b.rows])
		if b.field.Type.Kind.IsText() {
			b.values = b.values[:childRows]
		}
	default:
		b.values = b.values[:b.rows*b.field.Type.ValueWidth()]
	}
	for _, child := range b.children {
		child.truncate(childRows)
	}
}

// setDim sets the dimension of a vector that the type leaves open, by the first row that is not NULL.
func (b *builder) setDim(dim int) {
	b.field.Type.Dim = dim
	b.values = append(slices.Repeat([]byte{0}, b.rows*b.field.Type.ValueWidth()), b.values...)
}

// take returns the column, and begins a new one.
func (b *builder) take() column.Column {
	c := column.Column{Name: b.field.Name, Type: b.field.Type, Len: b.rows, Values: b.values, Offsets: b.offsets}
	if b.nulls > 0 {
		c.Nulls, c.Validity = b.nulls, b.valid
	}
	for _, child := range b.children {
		c.Children = append(c.Children, child.take())
	}
	b.reset(b.rows, len(b.values))
	return c
}
