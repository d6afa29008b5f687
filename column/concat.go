// SPDX-License-Identifier: Apache-2.0

package column

import (
	"errors"
	"fmt"

	"github.com/vecql/vecql/internal/bitmap"
)

// Concat and Clone: copies of rows in new memory.

// ErrTooLarge means that a text column exceeds 2^31-1 bytes, or a list column 2^31-1 elements: offsets have 32 bits.
// Split such rows into several batches.
var ErrTooLarge = errors.New("column: more than 2^31-1 bytes or elements in one column")

// Clone returns a copy of the batch in new memory. It shares dictionaries, which are immutable.
func (b *Batch) Clone() *Batch {
	clone, err := Concat(b)
	if err != nil {
		panic(err.Error()) // a copy of one batch cannot exceed the limits
	}
	return clone
}

// Concat returns the rows of several batches as one batch in new memory, with the names and the Source of the first. It
// matches columns by position. Strings keep their codes only if all batches have the same dictionary. The error names a
// column whose type differs from the first batch, or wraps [ErrTooLarge].
func Concat(batches ...*Batch) (*Batch, error) {
	if len(batches) == 0 {
		return &Batch{}, nil
	}
	first := batches[0]
	out := &Batch{Source: first.Source, Columns: make([]Column, len(first.Columns))}
	for _, b := range batches {
		if len(b.Columns) != len(first.Columns) {
			return nil, fmt.Errorf("column: concat: a batch has %d columns, the first one has %d", len(b.Columns),
				len(first.Columns))
		}
		out.Rows += b.Rows
	}
	parts := make([]*Column, len(batches))
	for i := range out.Columns {
		for k, b := range batches {
			parts[k] = &b.Columns[i]
		}
		c, err := concat(parts)
		if err != nil {
			return nil, err
		}
		out.Columns[i] = c
	}
	return out, nil
}

// concat returns the rows of columns one after the other.
func concat(parts []*Column) (Column, error) {
	first := parts[0]
	out := Column{Name: first.Name, Type: first.Type, Dict: first.Dict}
	for _, c := range parts {
		if out.Type.Kind == Vector && out.Type.Dim == 0 {
			out.Type = c.Type // all rows so far are NULL
		}
		dimless := c.Type.Kind == Vector && c.Type.Elem == out.Type.Elem && c.Type.Dim == 0
		if c.Type != out.Type && !dimless || len(c.Children) != len(first.Children) {
			return Column{}, fmt.Errorf("column: concat: %s is %v, in the first batch %v", out.Name, c.Field(), first.Field())
		}
		out.Len += c.Len
		out.Nulls += c.Nulls
		if c.Dict != out.Dict {
			out.Dict = nil
		}
	}
	if out.Nulls > 0 {
		out.Validity = concatValidity(parts, out.Len)
	}
	var err error
	switch kind := out.Type.Kind; {
	case kind == Struct || kind == Tuple:
		err = out.concatChildren(parts, func(c, child *Column) Column { return child.Slice(0, c.Len) })
	case kind.IsList():
		err = out.concatLists(parts)
	case kind.IsText() && out.Dict == nil:
		err = out.concatText(parts)
	default:
		width := out.width()
		out.Values = make([]byte, 0, out.Len*width)
		for _, c := range parts {
			if c.width() < width { // vectors without a dimension: all rows are NULL
				out.Values = append(out.Values, make([]byte, c.Len*width)...)
				continue
			}
			out.Values = append(out.Values, c.Values[:c.Len*width]...)
		}
	}
	return out, err
}

// concatValidity returns the validity of n rows, of all parts in turn.
func concatValidity(parts []*Column, n int) []byte {
	bits := make([]byte, (n+7)/8)
	at := 0
	for _, c := range parts {
		if c.Nulls > 0 {
			bitmap.Copy(bits, at, c.Validity, 0, c.Len)
		} else {
			bitmap.Fill(bits, at, c.Len)
		}
		at += c.Len
	}
	return bits
}

// concatText fills Values and Offsets with the texts of all parts. Parts with a dictionary are expanded, because
// dictionaries differ between parts.
func (c *Column) concatText(parts []*Column) error {
	size := 0
	for _, p := range parts {
		size += p.textBytes()
	}
	if size > maxOffset {
		return fmt.Errorf("column: %s: %d bytes: %w", c.Name, size, ErrTooLarge)
	}
	c.Values, c.Offsets = make([]byte, 0, size), make([]int32, 1, c.Len+1)
	for _, p := range parts {
		if texts, ok := p.plainTexts(); ok {
			c.Offsets = appendOffsets(c.Offsets, p)
			c.Values = append(c.Values, texts...)
			continue
		}
		text := TextView{p, p.codes()}
		for i := range p.Len {
			c.Values = append(c.Values, text.Bytes(i)...)
			c.Offsets = append(c.Offsets, int32(len(c.Values)))
		}
	}
	return nil
}

// plainTexts returns the bytes of all rows of a text column, one after the other; false if the column has NULLs, whose
// bytes are undefined, or a dictionary.
func (c *Column) plainTexts() (texts []byte, ok bool) {
	switch {
	case c.Nulls > 0 || c.Dict != nil:
		return nil, false
	case c.Len == 0:
		return nil, true
	}
	return c.Values[c.Offsets[0]:c.Offsets[c.Len]], true
}

// appendOffsets appends the offsets of the rows of p, which follow the rows before.
func appendOffsets(offsets []int32, p *Column) []int32 {
	if p.Len == 0 {
		return offsets
	}
	base := offsets[len(offsets)-1] - p.Offsets[0]
	for _, o := range p.Offsets[1 : p.Len+1] {
		offsets = append(offsets, base+o)
	}
	return offsets
}

// textBytes returns the number of bytes of all non-NULL rows of a text column.
func (c *Column) textBytes() int {
	if texts, ok := c.plainTexts(); ok {
		return len(texts)
	}
	size := 0
	text := TextView{c, c.codes()}
	for i := range c.Len {
		size += len(text.Bytes(i))
	}
	return size
}

// concatLists fills Offsets and Children. It takes only the elements between the first and last offset of a part, which
// may be a slice.
func (c *Column) concatLists(parts []*Column) error {
	total := 0
	for _, p := range parts {
		if p.Len > 0 {
			total += int(p.Offsets[p.Len] - p.Offsets[0])
		}
	}
	if total > maxOffset {
		return fmt.Errorf("column: %s: %d elements: %w", c.Name, total, ErrTooLarge)
	}
	c.Offsets = make([]int32, 1, c.Len+1)
	for _, p := range parts {
		c.Offsets = appendOffsets(c.Offsets, p)
	}
	return c.concatChildren(parts, func(p, child *Column) Column {
		if p.Len == 0 {
			return child.Slice(0, 0)
		}
		return child.Slice(int(p.Offsets[0]), int(p.Offsets[p.Len]))
	})
}

// concatChildren concatenates the children of parts into c. rows returns the child rows in use of a part.
func (c *Column) concatChildren(parts []*Column, rows func(c, child *Column) Column) error {
	c.Children = make([]Column, len(parts[0].Children))
	for k := range c.Children {
		used := make([]*Column, len(parts))
		for i, p := range parts {
			child := rows(p, &p.Children[k])
			used[i] = &child
		}
		var err error
		if c.Children[k], err = concat(used); err != nil {
			return fmt.Errorf("column: %s: %w", c.Name, err)
		}
	}
	return nil
}
