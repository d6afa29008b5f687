// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// All values of a group, in the order of rows: what aggregates of whole lists of values are computed from.

// A gatheredValue is a value of a group, in the memory of all values.
type gatheredValue struct {
	number int64 // of the row
	from   int
	id     uint32
	size   uint32 // noValue means NULL
}

const noValue = math.MaxUint32

// gathered has the values of groups. They are stored as they come, and sorted when a state or a result is wanted.
type gathered struct {
	typ     column.Type
	nulls   bool // NULL is a value, too
	n       int  // groups
	entries []gatheredValue
	bytes   []byte
	starts  []int // of the entries of each group, and their end; nil means that entries are not sorted
	buf     textBuffer
}

// newGathered returns the base of an accumulator of the values of a type.
func newGathered(t column.Type, nulls bool) (gathered, error) {
	if t.Kind == column.Vector || t.Kind.IsNested() {
		return gathered{}, refused(0, wantFlat+", and no vector")
	}
	return gathered{typ: t, nulls: nulls}, nil
}

func (s *gathered) Types() ([]column.Type, column.Field) {
	return []column.Type{typeBytes}, fieldOf(s.typ)
}

func (s *gathered) Resize(n int) { s.n, s.starts = n, nil }

func (s *gathered) Reset() {
	s.n, s.entries, s.bytes, s.starts = 0, s.entries[:0], s.bytes[:0], nil
}

func (s *gathered) Size() int64 {
	return int64(24*cap(s.entries)+cap(s.bytes)+8*cap(s.starts)) + s.buf.size()
}

func (s *gathered) Add(rows Rows) error {
	col := &rows.Args[0]
	if s.nulls && col.Nulls > 0 {
		for i, id := range rows.IDs {
			s.push(id, rows.Number(i), textAt(col, i), col.Null(i))
		}
		return nil
	}
	forValid(col, func(i int) { s.push(rows.IDs[i], rows.Number(i), textAt(col, i), false) })
	return nil
}

// push stores a value. Group 0 has none.
func (s *gathered) push(id uint32, number int64, value string, null bool) {
	if id == 0 {
		return
	}
	e := gatheredValue{number: number, from: len(s.bytes), id: id, size: noValue}
	if !null {
		e.size = uint32(len(value))
		s.bytes = appendBytes(s.bytes, value)
	}
	s.entries, s.starts = append(s.entries, e), nil
}

// settle sorts the values by group and row number.
func (s *gathered) settle() {
	if s.starts != nil {
		return
	}
	before := func(a, b gatheredValue) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.number, b.number)) }
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

// list returns the values of a settled group.
func (s *gathered) list(id uint32) []gatheredValue { return s.entries[s.starts[id]:s.starts[id+1]] }

// value returns the bytes of a value, none of NULL.
func (s *gathered) value(e gatheredValue) []byte {
	if e.size == noValue {
		return nil
	}
	return s.bytes[e.from : e.from+int(e.size)]
}

// The state of a group is its values: for each the row number, 8 bytes little-endian, then 0 for NULL, else its length
// plus 1 as a uvarint, and its bytes.
func (s *gathered) State(i, j int) ([]column.Column, error) {
	s.settle()
	c, err := s.buf.column(i, j, func(dst []byte, id uint32) []byte {
		for _, e := range s.list(id) {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(e.number))
			if e.size == noValue {
				dst = append(dst, 0)
				continue
			}
			dst = appendBytes(binary.AppendUvarint(dst, uint64(e.size)+1), s.value(e))
		}
		return dst
	})
	return []column.Column{c}, err
}

var errGatheredState = errors.New("groupby: malformed state of values")

// Merge stores the values of the states, which may come from a file.
func (s *gathered) Merge(ids []uint32, state []column.Column) error {
	width := s.typ.ValueWidth()
	for i, id := range ids {
		if state[0].Null(i) {
			continue
		}
		text := textAt(&state[0], i)
		for b := unsafe.Slice(unsafe.StringData(text), len(text)); len(b) > 0; {
			if len(b) < 9 {
				return errGatheredState
			}
			number := int64(binary.LittleEndian.Uint64(b))
			value, null, rest, ok := cutPayload(b[8:])
			if !ok || null && !s.nulls || !null && width > 0 && len(value) != width {
				return errGatheredState
			}
			s.push(id, number, stringOf(value), null)
			b = rest
		}
	}
	return nil
}

// appendValue appends a value to a column of the type.
func (s *gathered) appendValue(to *builder, e gatheredValue) {
	b := s.value(e)
	c := column.Column{Type: s.typ, Len: 1, Values: b}
	if e.size == noValue {
		c.Nulls, c.Validity = 1, []byte{0}
		if !to.isText() {
			c.Values = make([]byte, to.width)
		}
	}
	if to.isText() {
		c.Offsets = []int32{0, int32(len(b))}
	}
	to.append(&c, 0, 1)
}

// aValueOf returns the column with one value of each group [i, j), which pick selects among the values of a group that
// has some; NULL for other groups.
func (s *gathered) aValueOf(
	to *builder, i, j int, pick func(list []gatheredValue) gatheredValue,
) (column.Column, error) {
	s.settle()
	to.begin(s.typ)
	for id := i; id < j; id++ {
		e := gatheredValue{size: noValue}
		if list := s.list(uint32(id)); len(list) > 0 {
			e = pick(list)
		}
		if s.appendValue(to, e); len(to.text) > maxText {
			return column.Column{}, tooLarge(len(to.text))
		}
	}
	return to.column(), nil
}
