// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"strconv"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// Nested values to literals of CQL: the inverse of literal_scan.go.

// appendLiteral appends row i as a literal of a type.
func (v *Values) appendLiteral(dst []byte, info cql.TypeInfo, c *column.Column, i int) ([]byte, error) {
	if c.Null(i) {
		return append(dst, "null"...), nil
	}
	switch info := info.(type) {
	case cql.CollectionType:
		return v.appendCollection(dst, info, c, i)
	case cql.VectorType:
		elements, first, end := elementsOf(c, i)
		return appendParts(dst, "[]", first, end, func(dst []byte, i int) ([]byte, error) {
			return v.appendLiteral(dst, info.SubType, &elements, i)
		})
	case cql.TupleTypeInfo:
		return appendParts(dst, "()", 0, len(info.Elems), func(dst []byte, field int) ([]byte, error) {
			return v.appendLiteral(dst, info.Elems[field], &c.Children[field], i)
		})
	case cql.UDTTypeInfo:
		return appendParts(dst, "{}", 0, len(info.Elements), func(dst []byte, field int) ([]byte, error) {
			dst = append(append(dst, cqltext.Identifier(info.Elements[field].Name)...), ": "...)
			return v.appendLiteral(dst, info.Elements[field].Type, &c.Children[field], i)
		})
	}
	return v.appendConstant(dst, c, i)
}

// appendCollection appends row i as a list, a set or a map.
func (v *Values) appendCollection(dst []byte, info cql.CollectionType, c *column.Column, i int) ([]byte, error) {
	first, end := c.Elements(i)
	brackets := "[]"
	switch info.Type() {
	case cql.TypeMap:
		return appendParts(dst, "{}", first, end, func(dst []byte, i int) ([]byte, error) {
			dst, err := v.appendLiteral(dst, info.Key, &c.Children[0], i)
			if err != nil {
				return dst, err
			}
			return v.appendLiteral(append(dst, ": "...), info.Elem, &c.Children[1], i)
		})
	case cql.TypeSet:
		brackets = "{}"
	}
	return appendParts(dst, brackets, first, end, func(dst []byte, i int) ([]byte, error) {
		return v.appendLiteral(dst, info.Elem, &c.Children[0], i)
	})
}

// elementsOf returns the elements of the vector in row i, as rows of a column.
func elementsOf(c *column.Column, i int) (elements column.Column, first, end int) {
	if c.Type.Kind == column.Vector {
		dim := c.Type.Dim
		return column.Column{Type: column.Type{Kind: c.Type.Elem}, Len: c.Len * dim, Values: c.Values}, i * dim, (i + 1) * dim
	}
	first, end = c.Elements(i)
	return c.Children[0], first, end
}

// appendParts appends the parts of a literal in brackets.
func appendParts(
	dst []byte, brackets string, first, end int, part func(dst []byte, i int) ([]byte, error),
) ([]byte, error) {
	dst = append(dst, brackets[0])
	for i := first; i < end; i++ {
		if i > first {
			dst = append(dst, ", "...)
		}
		var err error
		if dst, err = part(dst, i); err != nil {
			return dst, err
		}
	}
	return append(dst, brackets[1]), nil
}

// appendConstant appends a scalar: text, dates, times and addresses in quotes.
func (v *Values) appendConstant(dst []byte, c *column.Column, i int) ([]byte, error) {
	switch kind := c.Type.Kind; {
	case kind == column.Bool:
		return strconv.AppendBool(dst, c.Values[i] != 0), nil
	case isNumber(kind):
		return appendNumber(dst, c, i)
	case kind == column.UUID, kind == column.Binary, kind == column.Fixed, kind == column.Duration:
		return v.appendValue(dst, c, i)
	}
	first := len(dst)
	dst, err := v.appendValue(append(dst, '\''), c, i)
	if text := dst[first+1:]; bytes.IndexByte(text, '\'') >= 0 {
		dst = append(dst[:first+1], bytes.ReplaceAll(text, []byte("'"), []byte("''"))...)
	}
	return append(dst, '\''), err
}
