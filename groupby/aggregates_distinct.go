// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Exact counts of distinct values. One hash table with open addressing and linear probing, at most half full, holds all
// pairs of a group and a value: a table per group would cost more than its content. Rows are processed 512 at a time,
// and hashed before they are looked up.

// CountDistinct counts the distinct values of a column that are not NULL: COUNT(DISTINCT). Int64; 0 if all values are
// NULL. NaN is one value, and -0 equals 0. The column has any kind except Decimal, vectors, and kinds with children.
// Memory: 8 bytes per group, and 32 to 64 bytes per distinct value of a group. Values of 16 bytes and text take 48 to
// 96 instead, text also its bytes.
func CountDistinct(name string) Aggregate {
	return call("count_distinct", []string{name}).newWith(func(t column.Type) (Accumulator, error) {
		if !hasOrder(t) {
			return nil, refused(0, "a kind without children, other than decimal and vector")
		}
		d := distinct{width: t.ValueWidth(), seed: maphash.MakeSeed()}
		d.k = maphash.Comparable(d.seed, 0) | 1
		switch keyWidth(t) {
		case 0:
			return &distinctTexts{distinct: d}, nil
		case 16:
			return &distinctIDs{distinct: d}, nil
		}
		return &distinctWords{distinct: d}, nil
	})
}

// distinct is the common part of the accumulators for all types.
type distinct struct {
	width  int // of a value
	seed   maphash.Seed
	k      uint64  // derived from seed, odd
	n      []int64 // by group
	used   int     // slots in use, of all groups
	hashes [distinctRows]uint64
	words  [distinctRows]uint64
	// State uses buf, the values of all groups one after the other, and at, where the values of each group end. They
	// are filled on the first call, and again after a change.
	buf     []byte
	at      []int
	laid    bool
	offsets []int32
}

// distinctRows is the number of rows that are hashed at a time.
const distinctRows = 512

const (
	minDistinctSlots = 256
	golden           = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
)

func (d *distinct) Types() ([]column.Type, column.Field) {
	return []column.Type{typeBytes}, fieldOf(typeInt64)
}

func (d *distinct) Resize(n int) { d.n, d.laid = grown(d.n, n), false }

func (d *distinct) Result(i, j int) (column.Column, error) { return of(d.n[i:j]), nil }

func (d *distinct) size() int64 {
	return int64(cap(d.buf)) + 16*int64(distinctRows) + 8*int64(cap(d.n)+cap(d.at)) + 4*int64(cap(d.offsets))
}

func (d *distinct) reset() { d.n, d.used, d.laid = d.n[:0], 0, false }

// hash hashes a word and a group.
func (d *distinct) hash(w uint64, id uint32) uint64 {
	hi, lo := bits.Mul64(w^d.k, golden^uint64(id)<<32)
	hi, lo = bits.Mul64(hi^lo^uint64(id), d.k)
	return hi ^ lo
}

// values returns a column with the concatenated values of each of groups [i, j). The table is unordered, so it is read
// twice: sizes calls add with the number of bytes of each value, then write copies each value to the slice that place
// returns.
func (d *distinct) values(i, j int, sizes func(add func(id uint32, n int)),
	write func(place func(id uint32, n int) []byte),
) ([]column.Column, error) {
	if !d.laid {
		d.lay(sizes, write)
		d.laid = true
	}
	start := 0
	if i > 0 {
		start = d.at[i-1]
	}
	d.offsets = append(d.offsets[:0], 0)
	for _, end := range d.at[i:j] {
		if end-start > maxText {
			return nil, tooLarge(end - start)
		}
		d.offsets = append(d.offsets, int32(end-start))
	}
	end := start + int(d.offsets[j-i])
	return []column.Column{{Type: typeBytes, Len: j - i, Values: d.buf[start:end:end], Offsets: d.offsets}}, nil
}

// lay fills buf and at.
func (d *distinct) lay(sizes func(add func(id uint32, n int)), write func(place func(id uint32, n int) []byte)) {
	d.at = grown(d.at[:0], len(d.n))
	sizes(func(id uint32, n int) { d.at[id] += n })
	total := 0
	for id, n := range d.at {
		d.at[id] = total
		total += n
	}
	d.buf = grown(d.buf[:0], total)
	write(func(id uint32, n int) []byte {
		at := d.at[id]
		d.at[id] += n
		return d.buf[at : at+n]
	})
}

var errDistinctState = errors.New("groupby: malformed state of distinct values")

// distinctWords counts values of at most 64 bits. The state of a group is its values, little-endian in their width, in
// any order.
type distinctWords struct {
	distinct
	slots []wordSlot
}

// In all kinds of slots, id 0 means an empty slot.
type wordSlot struct {
	word uint64
	id   uint32
}

func (d *distinctWords) Reset()      { d.reset(); clear(d.slots) }
func (d *distinctWords) Size() int64 { return d.size() + 16*int64(len(d.slots)) }

// Add hashes a block of rows before it looks them up, so that the cache misses of a block overlap.
func (d *distinctWords) Add(rows Rows) error {
	d.laid = false
	col, ids := &rows.Args[0], rows.IDs
	for at := 0; at < len(ids); at += distinctRows {
		part := ids[at:min(at+distinctRows, len(ids))]
		words, hashes := d.words[:len(part)], d.hashes[:len(part)]
		canonicalWords(words, col, at)
		for i, w := range words {
			hashes[i] = d.hash(w, part[i])
		}
		d.reserve(len(part))
		if col.Nulls == 0 {
			for i, id := range part {
				d.add(id, words[i], hashes[i])
			}
			continue
		}
		for i, id := range part {
			if !col.Null(at + i) {
				d.add(id, words[i], hashes[i])
			}
		}
	}
	return nil
}

// canonicalWords writes rows at, at+1, ... of a column to words. NaN and zero have one form each.
func canonicalWords(words []uint64, col *column.Column, at int) {
	switch kind := col.Type.Kind; {
	case kind == column.Float16:
		for i, x := range view[uint16](col)[at:][:len(words)] {
			words[i] = uint64(canonical16(x))
		}
	case kind == column.Float32:
		for i, x := range view[float32](col)[at:][:len(words)] {
			words[i] = uint64(canonical32(x))
		}
	case kind == column.Float64:
		for i, x := range view[float64](col)[at:][:len(words)] {
			words[i] = canonical64(x)
		}
	case col.Type.ValueWidth() == 1:
		widen(words, view[uint8](col)[at:])
	case col.Type.ValueWidth() == 2:
		widen(words, view[uint16](col)[at:])
	case col.Type.ValueWidth() == 4:
		widen(words, view[uint32](col)[at:])
	default:
		copy(words, view[uint64](col)[at:])
	}
}

func widen[T unsigned](words []uint64, x []T) {
	for i, v := range x[:len(words)] {
		words[i] = uint64(v)
	}
}

// add adds a value; the caller has reserved room for it.
func (d *distinctWords) add(id uint32, word, hash uint64) {
	if id == 0 {
		return
	}
	last := uint64(len(d.slots) - 1)
	for ; ; hash++ {
		switch s := &d.slots[hash&last]; {
		case s.id == id && s.word == word:
			return
		case s.id == 0:
			*s = wordSlot{word, id}
			d.n[id]++
			d.used++
			return
		}
	}
}

// reserve makes room for n more values.
func (d *distinctWords) reserve(n int) {
	size := roomFor(len(d.slots), d.used+n)
	if size == len(d.slots) {
		return
	}
	old := d.slots
	d.slots = make([]wordSlot, size)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		h := d.hash(s.word, s.id)
		for d.slots[h&uint64(size-1)].id != 0 {
			h++
		}
		d.slots[h&uint64(size-1)] = s
	}
}

// roomFor returns the number of slots for a number of values, at least size.
func roomFor(size, values int) int {
	size = max(size, minDistinctSlots)
	for 2*values > size {
		size *= 2
	}
	return size
}

// State concatenates the values of each group: see values.
func (d *distinctWords) State(i, j int) ([]column.Column, error) {
	w := d.width
	return d.values(i, j, func(add func(uint32, int)) {
		for id, n := range d.n {
			add(uint32(id), w*int(n))
		}
	}, func(place func(uint32, int) []byte) {
		var b [8]byte
		for _, s := range d.slots {
			if s.id != 0 {
				binary.LittleEndian.PutUint64(b[:], s.word)
				copy(place(s.id, w), b[:])
			}
		}
	})
}

// Merge checks the length of each state, which may come from a file, and inserts its values.
func (d *distinctWords) Merge(ids []uint32, state []column.Column) error {
	d.laid = false
	w := d.width
	for i, id := range ids {
		if state[0].Null(i) {
			continue
		}
		s := textAt(&state[0], i)
		if len(s)%w != 0 {
			return errDistinctState
		}
		d.reserve(len(s) / w)
		for at := 0; at < len(s); at += w {
			var b [8]byte
			copy(b[:], s[at:at+w])
			word := binary.LittleEndian.Uint64(b[:])
			d.add(id, word, d.hash(word, id))
		}
	}
	return nil
}

// distinctIDs counts UUIDs and other values of 16 bytes. The state of a group is its values one after the other, in any
// order.
type distinctIDs struct {
	distinct
	slots []idSlot
}

// idSlot is a value of 16 bytes in group id.
type idSlot struct {
	w0, w1 uint64
	id     uint32
}

func (d *distinctIDs) Reset()      { d.reset(); clear(d.slots) }
func (d *distinctIDs) Size() int64 { return d.size() + 24*int64(len(d.slots)) }

// Add makes room for a block of rows at once, and so probes without a check of the table's size.
func (d *distinctIDs) Add(rows Rows) error {
	d.laid = false
	col, ids := &rows.Args[0], rows.IDs
	x := view[[16]byte](col)[:len(ids)]
	for at := 0; at < len(ids); at += distinctRows {
		end := min(at+distinctRows, len(ids))
		d.reserve(end - at)
		for i := at; i < end; i++ {
			if ids[i] != 0 && !col.Null(i) {
				d.add(ids[i], binary.LittleEndian.Uint64(x[i][:8]), binary.LittleEndian.Uint64(x[i][8:]))
			}
		}
	}
	return nil
}

// add inserts a value of a group unless it is there: linear probing in one hash table of all groups, where id 0 marks
// an empty slot. reserve has made room.
func (d *distinctIDs) add(id uint32, w0, w1 uint64) {
	last := uint64(len(d.slots) - 1)
	for hash := d.hash2(w0, w1, id); ; hash++ {
		switch s := &d.slots[hash&last]; {
		case s.id == id && s.w0 == w0 && s.w1 == w1:
			return
		case s.id == 0:
			*s = idSlot{w0, w1, id}
			d.n[id]++
			d.used++
			return
		}
	}
}

func (d *distinctIDs) hash2(w0, w1 uint64, id uint32) uint64 { return d.hash(d.hash(w0, id)^w1, id) }

// reserve makes room for n more values.
func (d *distinctIDs) reserve(n int) {
	size := roomFor(len(d.slots), d.used+n)
	if size == len(d.slots) {
		return
	}
	old := d.slots
	d.slots = make([]idSlot, size)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		h := d.hash2(s.w0, s.w1, s.id)
		for d.slots[h&uint64(size-1)].id != 0 {
			h++
		}
		d.slots[h&uint64(size-1)] = s
	}
}

// State concatenates the values of each group: see values.
func (d *distinctIDs) State(i, j int) ([]column.Column, error) {
	return d.values(i, j, func(add func(uint32, int)) {
		for id, n := range d.n {
			add(uint32(id), 16*int(n))
		}
	}, func(place func(uint32, int) []byte) {
		for _, s := range d.slots {
			if s.id != 0 {
				b := place(s.id, 16)
				binary.LittleEndian.PutUint64(b, s.w0)
				binary.LittleEndian.PutUint64(b[8:], s.w1)
			}
		}
	})
}

// Merge checks the length of each state, which may come from a file, and inserts its values.
func (d *distinctIDs) Merge(ids []uint32, state []column.Column) error {
	d.laid = false
	for i, id := range ids {
		if id == 0 || state[0].Null(i) {
			continue
		}
		s := textAt(&state[0], i)
		if len(s)%16 != 0 {
			return errDistinctState
		}
		d.reserve(len(s) / 16)
		for at := 0; at < len(s); at += 16 {
			d.add(id, le64(s, at), le64(s, at+8))
		}
	}
	return nil
}

// distinctTexts counts strings. The state of a group is its strings in any order, each preceded by its length as a
// uvarint. The arena has the same form.
type distinctTexts struct {
	distinct
	slots []textSlot
	arena []byte
}

// textSlot is a text in group id.
type textSlot struct {
	hash uint64 // of the string and the group
	at   int    // in arena
	id   uint32
}

func (d *distinctTexts) Reset() { d.reset(); d.arena = d.arena[:0]; clear(d.slots) }

func (d *distinctTexts) Size() int64 {
	return d.size() + 24*int64(len(d.slots)) + int64(cap(d.arena))
}

// Add makes room for a block of rows at once, and so probes without a check of the table's size.
func (d *distinctTexts) Add(rows Rows) error {
	d.laid = false
	col, ids := &rows.Args[0], rows.IDs
	for at := 0; at < len(ids); at += distinctRows {
		end := min(at+distinctRows, len(ids))
		d.reserve(end - at)
		for i := at; i < end; i++ {
			if ids[i] != 0 && !col.Null(i) {
				d.add(ids[i], textAt(col, i))
			}
		}
	}
	return nil
}

// add inserts a text of a group unless it is there. Slots keep the hash, so that most comparisons do not read the
// arena.
func (d *distinctTexts) add(id uint32, s string) {
	hash := d.hash(maphash.String(d.seed, s), id)
	last := uint64(len(d.slots) - 1)
	for h := hash; ; h++ {
		slot := &d.slots[h&last]
		if slot.id == 0 {
			*slot = textSlot{hash, len(d.arena), id}
			d.arena = appendText(d.arena, s)
			d.n[id]++
			d.used++
			return
		}
		if slot.hash == hash && slot.id == id {
			if n, w := binary.Uvarint(d.arena[slot.at:]); string(d.arena[slot.at+w:][:n]) == s {
				return
			}
		}
	}
}

// reserve makes room for n more values. It uses the hashes in the slots.
func (d *distinctTexts) reserve(n int) {
	size := roomFor(len(d.slots), d.used+n)
	if size == len(d.slots) {
		return
	}
	old := d.slots
	d.slots = make([]textSlot, size)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		h := s.hash
		for d.slots[h&uint64(size-1)].id != 0 {
			h++
		}
		d.slots[h&uint64(size-1)] = s
	}
}

// record returns the string of a slot, with its length in front.
func (d *distinctTexts) record(s *textSlot) []byte {
	n, w := binary.Uvarint(d.arena[s.at:])
	return d.arena[s.at:][:w+int(n)]
}

// State concatenates the texts of each group with their lengths: see values.
func (d *distinctTexts) State(i, j int) ([]column.Column, error) {
	return d.values(i, j, func(add func(uint32, int)) {
		for i := range d.slots {
			if s := &d.slots[i]; s.id != 0 {
				add(s.id, len(d.record(s)))
			}
		}
	}, func(place func(uint32, int) []byte) {
		for i := range d.slots {
			if s := &d.slots[i]; s.id != 0 {
				r := d.record(s)
				copy(place(s.id, len(r)), r)
			}
		}
	})
}

// Merge checks the lengths in each state, which may come from a file, and inserts its texts.
func (d *distinctTexts) Merge(ids []uint32, state []column.Column) error {
	d.laid = false
	for i, id := range ids {
		if id == 0 || state[0].Null(i) {
			continue
		}
		s := textAt(&state[0], i)
		for len(s) > 0 {
			n, w := binary.Uvarint(unsafe.Slice(unsafe.StringData(s), min(len(s), binary.MaxVarintLen64)))
			if w <= 0 || n > uint64(len(s)-w) {
				return fmt.Errorf("%w: a string of %d bytes in %d bytes", errDistinctState, n, len(s))
			}
			d.reserve(1)
			d.add(id, s[w:][:n])
			s = s[w:][n:]
		}
	}
	return nil
}
