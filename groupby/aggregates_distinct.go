// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"unsafe"
)

// This file counts distinct values exactly. All pairs of a group and a value are in one table with open addressing and linear probing, at most
// half full: a table per group would cost more than what is in it. Rows go through it a few hundred at a time, first all their hashes.

// CountDistinct counts the distinct values of a column that are not NULL, of any type but vectors: COUNT(DISTINCT). int64, 0 if all values are
// NULL. NaN is one value, and -0 is 0. 8 bytes per group; and per distinct value of a group 32 to 64 bytes, for ids 48 to 96, for strings that
// and their bytes.
func CountDistinct(value int) Aggregate {
	return Aggregate{
		Name: "count(distinct)", Args: []int{value}, reference: referenceDistinct,
		New: func(args []Type) (Accumulator, error) {
			d := distinct{typ: args[0], seed: maphash.MakeSeed()}
			d.k = maphash.Comparable(d.seed, 0) | 1
			switch {
			case args[0].Dim() > 0:
				return nil, badArgs("count(distinct)", args, "no vectors")
			case args[0] == ID:
				return &distinctIDs{distinct: d}, nil
			case args[0] == String:
				return &distinctTexts{distinct: d}, nil
			}
			return &distinctWords{distinct: d}, nil
		},
	}
}

// distinct is what the accumulators of all types have in common.
type distinct struct {
	typ    Type
	seed   maphash.Seed
	k      uint64  // of seed, odd
	n      []int64 // by group
	used   int     // slots, of all groups
	hashes [distinctRows]uint64
	words  [distinctRows]uint64
	buf    []byte // for State
	at     []int
	out    []string
}

// distinctRows is the number of rows that are hashed at a time.
const distinctRows = 512

const (
	minDistinctSlots = 256
	golden           = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
)

func (d *distinct) Types() ([]Type, Type)   { return []Type{String}, Int64 }
func (d *distinct) Resize(n int)            { d.n = grown(d.n, n) }
func (d *distinct) Result() (Column, error) { return Values(d.n), nil }

func (d *distinct) size() int64 {
	return int64(cap(d.buf)) + 16*int64(distinctRows) + 8*int64(cap(d.n)+cap(d.at)) + 16*int64(cap(d.out))
}

// hash hashes a word and a group.
func (d *distinct) hash(w uint64, id uint32) uint64 {
	hi, lo := bits.Mul64(w^d.k, golden^uint64(id)<<32)
	hi, lo = bits.Mul64(hi^lo^uint64(id), d.k)
	return hi ^ lo
}

// strings returns a column with the values of each group one after the other. The table has them in no order, so it is walked twice: sizes is
// to call add with each value's number of bytes, and write is to write each value to what place returns for it.
func (d *distinct) strings(sizes func(add func(id uint32, n int)), write func(place func(id uint32, n int) []byte)) Column {
	d.at = grown(d.at[:0], len(d.n)+1)
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
	d.out = grown(d.out[:0], len(d.n))
	start := 0
	for id := range d.out {
		s := d.buf[start:d.at[id]]
		start = d.at[id]
		d.out[id] = unsafe.String(unsafe.SliceData(s), len(s))
	}
	return Values(d.out)
}

var errDistinctState = errors.New("groupby: malformed state of distinct values")

// distinctWords counts values of at most 64 bits. The state of a group is its values, little-endian in their width, in any order.
type distinctWords struct {
	distinct
	slots []wordSlot
}

// In all slots id is 0 if there is nothing.
type wordSlot struct {
	word uint64
	id   uint32
}

func (d *distinctWords) Reset()      { d.n, d.used = d.n[:0], 0; clear(d.slots) }
func (d *distinctWords) Size() int64 { return d.size() + 16*int64(len(d.slots)) }

func (d *distinctWords) Add(rows Rows) error {
	col, ids := &rows.Args[0], rows.IDs
	for at := 0; at < len(ids); at += distinctRows {
		part := ids[at:min(at+distinctRows, len(ids))]
		words, hashes := d.words[:len(part)], d.hashes[:len(part)]
		canonicalWords(words, col, at)
		for i, w := range words {
			hashes[i] = d.hash(w, part[i])
		}
		d.reserve(len(part))
		if col.validity == nil {
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

// canonicalWords writes rows at, at+1, ... of a column to words, with one NaN and one zero.
func canonicalWords(words []uint64, col *Column, at int) {
	switch col.typ {
	case Int8, Uint8, Bool:
		widen(words, view[uint8](col)[at:])
	case Int16, Uint16:
		widen(words, view[uint16](col)[at:])
	case Int32, Uint32:
		widen(words, view[uint32](col)[at:])
	case Int64, Uint64:
		copy(words, view[uint64](col)[at:])
	case Float32:
		for i, x := range view[float32](col)[at:][:len(words)] {
			words[i] = uint64(canonical32(x))
		}
	case Float64:
		for i, x := range view[float64](col)[at:][:len(words)] {
			words[i] = canonical64(x)
		}
	}
}

func widen[T unsigned](words []uint64, x []T) {
	for i, v := range x[:len(words)] {
		words[i] = uint64(v)
	}
}

// add adds a value; there must be room for it.
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

// roomFor returns the number of slots for a number of values: size if they are enough.
func roomFor(size, values int) int {
	size = max(size, minDistinctSlots)
	for 2*values > size {
		size *= 2
	}
	return size
}

func (d *distinctWords) State() ([]Column, error) {
	w := d.typ.width()
	return []Column{d.strings(func(add func(uint32, int)) {
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
	})}, nil
}

func (d *distinctWords) Merge(ids []uint32, state []Column) error {
	w := d.typ.width()
	for i, id := range ids {
		if state[0].Null(i) {
			continue
		}
		s := state[0].text(i)
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

// distinctIDs counts ids. The state of a group is its ids one after the other, in any order.
type distinctIDs struct {
	distinct
	slots []idSlot
}

type idSlot struct {
	w0, w1 uint64
	id     uint32
}

func (d *distinctIDs) Reset()      { d.n, d.used = d.n[:0], 0; clear(d.slots) }
func (d *distinctIDs) Size() int64 { return d.size() + 24*int64(len(d.slots)) }

func (d *distinctIDs) Add(rows Rows) error {
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

func (d *distinctIDs) State() ([]Column, error) {
	return []Column{d.strings(func(add func(uint32, int)) {
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
	})}, nil
}

func (d *distinctIDs) Merge(ids []uint32, state []Column) error {
	for i, id := range ids {
		if id == 0 || state[0].Null(i) {
			continue
		}
		s := state[0].text(i)
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

// distinctTexts counts strings. The state of a group is its strings in any order, each after its length as a uvarint; they lie in arena the
// same way.
type distinctTexts struct {
	distinct
	slots []textSlot
	arena []byte
}

type textSlot struct {
	hash uint64 // of the string and the group
	at   int    // in arena
	id   uint32
}

func (d *distinctTexts) Reset() { d.n, d.used, d.arena = d.n[:0], 0, d.arena[:0]; clear(d.slots) }

func (d *distinctTexts) Size() int64 {
	return d.size() + 24*int64(len(d.slots)) + int64(cap(d.arena))
}

func (d *distinctTexts) Add(rows Rows) error {
	col, ids := &rows.Args[0], rows.IDs
	for at := 0; at < len(ids); at += distinctRows {
		end := min(at+distinctRows, len(ids))
		d.reserve(end - at)
		for i := at; i < end; i++ {
			if ids[i] != 0 && !col.Null(i) {
				d.add(ids[i], col.text(i))
			}
		}
	}
	return nil
}

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

// record returns the string of a slot, with its length before it.
func (d *distinctTexts) record(s *textSlot) []byte {
	n, w := binary.Uvarint(d.arena[s.at:])
	return d.arena[s.at:][:w+int(n)]
}

func (d *distinctTexts) State() ([]Column, error) {
	return []Column{d.strings(func(add func(uint32, int)) {
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
	})}, nil
}

func (d *distinctTexts) Merge(ids []uint32, state []Column) error {
	for i, id := range ids {
		if id == 0 || state[0].Null(i) {
			continue
		}
		s := state[0].text(i)
		for len(s) > 0 {
			n, w := binary.Uvarint(unsafe.Slice(unsafe.StringData(s), min(len(s), binary.MaxVarintLen64)))
			if w <= 0 || n > uint64(len(s)-w) {
				return fmt.Errorf("%w: string of %d bytes in %d", errDistinctState, n, len(s))
			}
			d.reserve(1)
			d.add(id, s[w:][:n])
			s = s[w:][n:]
		}
	}
	return nil
}
