// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"errors"
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Kinds that Parquet does not have, converted from decoded columns: kinds stored as text, and vectors within other
// columns.

// convert converts a column to its type, after decoding and filtering.
func (c *Cursor) convert(dst *column.Column) error {
	if !c.Parsed && !c.Inner {
		return nil
	}
	vectors := c.Inner && !c.Shared.Ragged.Load()
	if vectors {
		if err := checkVectors(c.node, dst, c.Limit); err != nil {
			if c.Must || !errors.Is(err, failure.ErrRagged) {
				return err
			}
			c.Shared.Ragged.Store(true)
			vectors = false
		}
	}
	return convert(c.node, dst, vectors)
}

// checkVectors returns an error if the rows of a list that becomes a vector differ in length, or if the vectors would
// take more than limit bytes. NULLs take the bytes of a vector, too.
func checkVectors(n *footer.Node, c *column.Column, limit int) error {
	if !n.Fixed {
		for i, child := range n.Children {
			if err := checkVectors(child, &c.Children[i], limit); err != nil {
				return err
			}
		}
		return nil
	}
	if nulls := c.Children[0].Nulls; nulls > 0 {
		return fmt.Errorf("%w: %d elements of %s are NULL", failure.ErrRagged, nulls, c.Name)
	}
	if width := int64(n.Dim) * int64(n.Children[0].Leaf.Width); c.Len > 0 && width > int64(limit/c.Len) {
		return fmt.Errorf("%w: more than %d bytes in a batch", failure.ErrTooLarge, limit)
	}
	for i := range c.Len {
		if from, to := c.Elements(i); !c.Null(i) && (to-from != n.Dim || n.Dim == 0) {
			return fmt.Errorf("%w: %d elements of %s instead of %d", failure.ErrRagged, to-from, c.Name, n.Dim)
		}
	}
	return nil
}

// convert replaces text by the kind stored in it, and lists of one length by vectors, in all columns of the node.
func convert(n *footer.Node, c *column.Column, vectors bool) error {
	switch {
	case n.Leaf != nil && n.Leaf.Type.Kind != n.Field.Type.Kind:
		parsed, err := column.ParseText(c, n.Field.Type)
		if err != nil {
			return failure.Corrupt("%w", err)
		}
		*c = parsed
		return nil
	case n.Fixed && vectors:
		toVector(n, c)
		return nil
	}
	for i, child := range n.Children {
		if err := convert(child, &c.Children[i], vectors); err != nil {
			return err
		}
	}
	return nil
}

// toVector converts a List that passed checkVectors to a Vector. NULL rows become zeros.
func toVector(n *footer.Node, c *column.Column) {
	element := &c.Children[0]
	out := column.Column{
		Name: c.Name, Type: column.VectorOf(element.Type.Kind, n.Dim), Len: c.Len, Nulls: c.Nulls,
		Validity: c.Validity,
	}
	if out.Values = element.Values; c.Nulls > 0 {
		width := out.Type.ValueWidth()
		out.Values = buffer.GrowBytes(nil, c.Len*width)
		from := 0
		for i := range c.Len {
			row := out.Values[i*width : (i+1)*width]
			if c.Null(i) {
				clear(row)
				continue
			}
			from += copy(row, element.Values[from:])
		}
	}
	*c = out
}

// finish implements Task.Finish for a task of a cursor.
func finish(t reader, c *Cursor, dst *column.Column, read bool, r Rows) error {
	if !read {
		if err := t.Read(dst, r); err != nil {
			return err
		}
	}
	return c.convert(dst)
}

// A reader is the part of a Task that reads.
type reader interface {
	Read(dst *column.Column, r Rows) error
}
