// SPDX-License-Identifier: Apache-2.0

package groupby

import "github.com/vecql/vecql/column"

// Texts of a group, joined.

// StringAgg joins the texts of a String column, in the order of row numbers, with a separator between them: STRING_AGG.
// A String; NULLs are skipped, and the result is NULL if all values are NULL. Memory: 24 bytes per value, and the
// texts.
func StringAgg(name, separator string) Aggregate {
	return newStringAgg("string_agg", name, separator, false)
}

// StringAggDistinct joins each text once, at its first place; see [StringAgg].
func StringAggDistinct(name, separator string) Aggregate {
	return newStringAgg("string_agg_distinct", name, separator, true)
}

func newStringAgg(fn, name, separator string, distinct bool) Aggregate {
	a := call(fn, []string{name}, separator).newWith(func(t column.Type) (Accumulator, error) {
		if t.Kind != column.String {
			return nil, refused(0, "a string")
		}
		return &joined{gathered: gathered{typ: t}, separator: separator, distinct: distinct}, nil
	})
	a.RowNumbers = true
	return a
}

// joined is StringAgg.
type joined struct {
	gathered
	separator string
	distinct  bool
	known     map[string]struct{}
}

func (s *joined) Result(i, j int) (column.Column, error) {
	s.settle()
	valid := make([]byte, (j-i+7)/8)
	c, err := s.buf.column(i, j, func(dst []byte, id uint32) []byte {
		list := s.list(id)
		if len(list) > 0 {
			valid[(int(id)-i)>>3] |= 1 << ((int(id) - i) & 7)
		}
		return s.join(dst, list)
	})
	if err != nil {
		return c, err
	}
	c.Type = column.Type{Kind: column.String}
	return c.WithValidity(valid), nil
}

// join appends texts with separators between them.
func (s *joined) join(dst []byte, list []gatheredValue) []byte {
	if s.distinct {
		if s.known == nil {
			s.known = map[string]struct{}{}
		}
		clear(s.known)
	}
	for k, e := range list {
		text := s.value(e)
		if s.distinct {
			if _, known := s.known[stringOf(text)]; known {
				continue
			}
			s.known[stringOf(text)] = struct{}{}
		}
		if k > 0 {
			dst = append(dst, s.separator...)
		}
		dst = appendBytes(dst, text)
	}
	return dst
}
