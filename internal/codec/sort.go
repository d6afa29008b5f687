// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Sorted sets and maps. A server sorts the elements of a set, and the entries of a map, that a program binds, but not
// those within tuples, user-defined types and vectors, and from Cassandra 6 on not those within collections: it stores
// what the program sends. Literals are sorted at every depth. So encoders of these types sort what they contain, and
// the session sorts partition keys, because the token is made of the sorted key.

// A Sorter sorts the elements of sets and the keys of maps in cells of one type, as servers do: at every depth, except
// in tuples, user-defined types and vectors, whose encoders sort what they contain.
type Sorter struct {
	parts   []*Sorter  // of the elements, or of keys and values; nil where nothing is sorted
	compare comparison // of the elements of a set or the keys of a map; nil for a list
}

// NewSorter returns the Sorter of cells of type info. nil means that there is nothing to sort.
func NewSorter(info cql.TypeInfo) *Sorter {
	t, ok := info.(cql.CollectionType)
	if !ok {
		return nil
	}
	elem := NewSorter(t.Elem)
	switch {
	case t.Type() == cql.TypeMap:
		return &Sorter{parts: []*Sorter{NewSorter(t.Key), elem}, compare: comparisonOf(t.Key)}
	case t.Type() == cql.TypeSet:
		return &Sorter{parts: []*Sorter{elem}, compare: comparisonOf(t.Elem)}
	case elem != nil:
		return &Sorter{parts: []*Sorter{elem}}
	}
	return nil
}

// SortCell sorts the cell from position at to the end of dst, and returns dst, which may be shorter. NULL, an unset
// value and a malformed cell, which a Marshaler may return, stay as they are.
func (s *Sorter) SortCell(dst []byte, at int) []byte {
	cell := dst[at+4:]
	if s == nil || int32(binary.BigEndian.Uint32(dst[at:])) < 0 || s.isSorted(cell) {
		return dst
	}
	if sorted, ok := s.append(nil, cell); ok {
		binary.BigEndian.PutUint32(dst[at:], uint32(len(sorted)))
		dst = append(dst[:at+4], sorted...)
	}
	return dst
}

// isSorted reports whether a collection without collections has ascending elements. It does not allocate.
func (s *Sorter) isSorted(cell []byte) bool {
	if len(cell) < 4 || s.compare == nil || s.parts[0] != nil || s.parts[len(s.parts)-1] != nil {
		return false
	}
	var last []byte
	rest := cell[4:]
	for i := 0; len(rest) > 0; i++ {
		value, next, err := cutCell(rest)
		if err != nil {
			return false
		}
		if rest = next; i%len(s.parts) != 0 {
			continue
		}
		if i > 0 && s.compare(last, value) >= 0 {
			return false
		}
		last = value
	}
	return true
}

// append appends the sorted content of cell. ok is false if the cell is malformed.
func (s *Sorter) append(dst, cell []byte) (out []byte, ok bool) {
	entries, ok := s.entries(cell)
	if !ok {
		return dst, false
	}
	if s.compare != nil {
		entries = sortEntries(entries, s.compare)
	}
	dst = wire.AppendInt(dst, int32(len(entries)))
	for _, e := range entries {
		for _, value := range e[:len(s.parts)] {
			dst = wire.AppendInt(dst, int32(len(value)))
			dst = append(dst, value...)
		}
	}
	return dst, true
}

// An entry is an element, or a key and a value.
type entry [2][]byte

// entries returns the entries of a collection, each of them sorted.
func (s *Sorter) entries(cell []byte) (entries []entry, ok bool) {
	if len(cell) < 4 {
		return nil, false
	}
	count := int64(binary.BigEndian.Uint32(cell))
	rest := cell[4:]
	for len(rest) > 0 {
		var e entry
		for i, part := range s.parts {
			value, next, err := cutCell(rest)
			if err != nil || value == nil {
				return nil, false
			}
			if part != nil {
				if value, ok = part.append(nil, value); !ok {
					return nil, false
				}
			}
			e[i], rest = value, next
		}
		entries = append(entries, e)
	}
	return entries, count == int64(len(entries))
}

// sortEntries sorts entries by their keys. Of equal keys the first one and the last value stay, as in the tree of a
// server.
func sortEntries(entries []entry, compare comparison) []entry {
	slices.SortStableFunc(entries, func(a, b entry) int { return compare(a[0], b[0]) })
	kept := entries[:0]
	for _, e := range entries {
		if n := len(kept); n > 0 && compare(kept[n-1][0], e[0]) == 0 {
			kept[n-1][1] = e[1]
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// sortedEncode returns encode, which may be nil, with sorted sets and maps.
func sortedEncode(info cql.TypeInfo, encode EncodeAt) EncodeAt {
	s := NewSorter(info)
	if s == nil || encode == nil {
		return encode
	}
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) {
		at := len(dst)
		dst, err := encode(dst, p)
		if err != nil {
			return dst, err
		}
		return s.SortCell(dst, at), nil
	}
}

// sortedRows is sortedEncode for rows of columns.
func sortedRows(info cql.TypeInfo, plan appendRow) appendRow {
	s := NewSorter(info)
	if s == nil || plan == nil {
		return plan
	}
	return func(dst []byte, c *column.Column, i int) ([]byte, error) {
		at := len(dst)
		dst, err := plan(dst, c, i)
		if err != nil {
			return dst, err
		}
		return s.SortCell(dst, at), nil
	}
}

// sortedContent returns the content of a cell with sorted sets and maps. It is the reference of sortedEncode.
func sortedContent(info cql.TypeInfo, content []byte) []byte {
	if s := NewSorter(info); s != nil {
		if sorted, ok := s.append(nil, content); ok {
			return sorted
		}
	}
	return content
}
