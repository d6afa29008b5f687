// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"github.com/vecql/vecql/column"
)

// Views of columns, for tests. They panic if a column has another type.

// valuesOf returns the values of a column of a fixed kind, the elements of a Vector, or the bytes of a Fixed.
func valuesOf[T column.Value](c *column.Column) []T {
	flat := *c
	switch {
	case c.Type.Kind == column.Vector:
		flat.Type, flat.Len = column.Type{Kind: c.Type.Elem}, c.Len*c.Type.Dim
	case c.Type.Kind == column.Fixed:
		flat.Type, flat.Len = column.Type{Kind: column.Uint8}, c.Len*c.Type.Width
	}
	v, err := column.Slice[T](&flat)
	if err != nil {
		panic(err)
	}
	return v
}

// bytesAt returns row i of a column of text, UUID or Fixed, nil if it is NULL.
func bytesAt(c *column.Column, i int) []byte {
	if c.Null(i) {
		return nil
	}
	if text, err := c.Text(); err == nil {
		return text.Bytes(i)
	}
	w := c.Type.ValueWidth()
	return c.Values[i*w : (i+1)*w]
}

// stringsOf returns the rows of a column of text, "" for NULL.
func stringsOf(c *column.Column) []string {
	s := make([]string, c.Len)
	for i := range s {
		s[i] = string(bytesAt(c, i))
	}
	return s
}
