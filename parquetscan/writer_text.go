// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/bitmap"
)

// Columns of kinds that Parquet does not have, in the form in which they are stored: Inet, Varint, Decimal and Duration
// as canonical text, a Tuple as a Struct.

// isStoredAsIs reports whether the column and its children are stored with their own kinds.
func (n *writeNode) isStoredAsIs() bool {
	if n.typ.Kind != n.field.Type.Kind {
		return false
	}
	for _, kid := range n.children {
		if !kid.isStoredAsIs() {
			return false
		}
	}
	return true
}

// stored converts a column to the kinds that it is stored as. Rows whose bit in there is 0 are part of a NULL; they
// become NULL, because their values may be invalid. nil means that no row is part of a NULL.
func (n *writeNode) stored(c *column.Column, there []byte) (column.Column, error) {
	if n.isStoredAsIs() {
		return *c, nil
	}
	out := c.WithValidity(intersect(c.ValidityBits(), there, c.Len))
	if n.typ.Kind.HasText() {
		return column.FormatText(&out)
	}
	inner := out.ValidityBits()
	if n.typ.Kind.IsList() {
		inner = elementsThere(&out)
	}
	out.Type = n.field.Type
	out.Children = make([]column.Column, len(c.Children))
	for i, kid := range n.children {
		var err error
		if out.Children[i], err = kid.stored(&c.Children[i], inner); err != nil {
			return column.Column{}, err
		}
	}
	return out, nil
}

// intersect returns the bits that are 1 in both a and b; nil is all ones.
func intersect(a, b []byte, n int) []byte {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	both := make([]byte, (n+7)/8)
	for i := range both {
		both[i] = a[i] & b[i]
	}
	return both
}

// elementsThere returns a bit for each element of a List or Map, 1 if its row is not NULL; nil means that no row is
// NULL.
func elementsThere(c *column.Column) []byte {
	count, used := c.Children[0].Len, 0
	bits := make([]byte, (count+7)/8)
	for i := range c.Len {
		if from, to := c.Elements(i); !c.Null(i) {
			bitmap.Fill(bits, from, to-from)
			used += to - from
		}
	}
	if used == count {
		return nil
	}
	return bits
}
