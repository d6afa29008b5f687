// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"unsafe"

	"github.com/vecql/vecql/column"
)

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
		return &joined{separator: separator, distinct: distinct}, nil
	})
	a.RowNumbers = true
	return a
}

// A joinedText is a text of a group, in the memory of all texts.
type joinedText struct {
	number   int64 // of the row
	from     int
	id, size uint32
}

// joined is StringAgg. Texts are stored as they come, and sorted when a state or a result is wanted.
type joined struct {
	separator string
	distinct  bool
	n         int // groups
	entries   []joinedText
	texts     []byte
	starts    []int // of the entries of each group, and their end; nil means that entries are not sorted
	known     map[string]struct{}
	buf       textBuffer
}

func (s *joined) Types() ([]column.Type, column.Field) {
	return []column.Type{typeBytes}, fieldOf(column.Type{Kind: column.String})
}

func (s *joined) Resize(n int) { s.n, s.starts = n, nil }

func (s *joined) Reset() {
	s.n, s.entries, s.texts, s.starts = 0, s.entries[:0], s.texts[:0], nil
}

func (s *joined) Size() int64 {
	return int64(24*cap(s.entries)+cap(s.texts)+8*cap(s.starts)) + s.buf.size()
}

func (s *joined) Add(rows Rows) error {
	col := &rows.Args[0]
	forValid(col, func(i int) { s.push(rows.IDs[i], rows.Number(i), textAt(col, i)) })
	return nil
}

// push stores a text. Group 0 has none.
func (s *joined) push(id uint32, number int64, text string) {
	if id == 0 {
		return
	}
	s.entries = append(s.entries, joinedText{number: number, from: len(s.texts), id: id, size: uint32(len(text))})
	s.texts = appendBytes(s.texts, text)
	s.starts = nil
}

// settle sorts the texts by group and row number.
func (s *joined) settle() {
	if s.starts != nil {
		return
	}
	before := func(a, b joinedText) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.number, b.number)) }
	if !slices.IsSortedFunc(s.entries, before) {
		slices.SortFunc(s.entries, before)
	}
	s.starts = make([]int, s.n+1)
	for _, e := range s.entries {
		s.starts[e.id+1]++
	}
	for id := range s.n {
		s.starts[id+1] += s.starts[id]
	}
}

// list returns the texts of a settled group.
func (s *joined) list(id uint32) []joinedText { return s.entries[s.starts[id]:s.starts[id+1]] }

func (s *joined) text(e joinedText) []byte { return s.texts[e.from : e.from+int(e.size)] }

// The state of a group is its texts: for each the row number, 8 bytes little-endian, its length as a uvarint, and its
// bytes.
func (s *joined) State(i, j int) ([]column.Column, error) {
	s.settle()
	c, err := s.buf.column(i, j, func(dst []byte, id uint32) []byte {
		for _, e := range s.list(id) {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(e.number))
			dst = appendText(dst, stringOf(s.text(e)))
		}
		return dst
	})
	return []column.Column{c}, err
}

var errJoinedState = errors.New("groupby: malformed state of joined texts")

// Merge stores the texts of the states, which may come from a file.
func (s *joined) Merge(ids []uint32, state []column.Column) error {
	for i, id := range ids {
		if state[0].Null(i) {
			continue
		}
		text := textAt(&state[0], i)
		for b := unsafe.Slice(unsafe.StringData(text), len(text)); len(b) > 0; {
			if len(b) < 9 {
				return errJoinedState
			}
			number := int64(binary.LittleEndian.Uint64(b))
			size, w := binary.Uvarint(b[8:])
			if w <= 0 || size > uint64(len(b)-8-w) {
				return errJoinedState
			}
			b = b[8+w:]
			s.push(id, number, stringOf(b[:size]))
			b = b[size:]
		}
	}
	return nil
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
func (s *joined) join(dst []byte, list []joinedText) []byte {
	if s.distinct {
		if s.known == nil {
			s.known = map[string]struct{}{}
		}
		clear(s.known)
	}
	for k, e := range list {
		text := s.text(e)
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
