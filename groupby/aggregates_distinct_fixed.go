// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Exact counts of distinct values of a fixed width.

// distinctFixed counts values in the form V. The state of a group is its values, little-endian in their width, in any
// order.
type distinctFixed[V comparable] struct {
	distinct
	fixedForm[V]
	slots  []fixedSlot[V]
	values [distinctRows]V // of a block
}

// A fixedSlot is a value in group id. In all kinds of slots, id 0 means an empty slot.
type fixedSlot[V comparable] struct {
	value V
	id    uint32
}

// A fixedForm converts values of one width to V, which is canonical, and back.
type fixedForm[V comparable] struct {
	width int
	read  func(values []V, col *column.Column, at int) // reads rows at, at+1, ... of a column
	hash  func(d *distinct, values []V)                // writes the hashes of values of the groups d.ids to d.hashes
	put   func(to []byte, v V)
	get   func(from string) V
}

// wordForm is the form of values of 1, 2, 4 or 8 bytes.
func wordForm(width int) fixedForm[uint64] {
	return fixedForm[uint64]{
		width: width,
		read:  canonicalWords,
		hash: func(d *distinct, words []uint64) {
			ids, hashes := d.ids[:len(words)], d.hashes[:len(words)]
			for i, w := range words {
				hashes[i] = d.hashWord(w, ids[i])
			}
		},
		put: func(to []byte, w uint64) {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], w)
			copy(to, b[:])
		},
		get: func(from string) uint64 {
			var b [8]byte
			copy(b[:], from)
			return binary.LittleEndian.Uint64(b[:])
		},
	}
}

// pairForm is the form of UUIDs and other values of 16 bytes.
var pairForm = fixedForm[[2]uint64]{
	width: 16,
	read: func(pairs [][2]uint64, col *column.Column, at int) {
		for i, x := range view[[16]byte](col)[at:][:len(pairs)] {
			pairs[i] = [2]uint64{binary.LittleEndian.Uint64(x[:8]), binary.LittleEndian.Uint64(x[8:])}
		}
	},
	hash: func(d *distinct, pairs [][2]uint64) {
		ids, hashes := d.ids[:len(pairs)], d.hashes[:len(pairs)]
		for i, p := range pairs {
			hashes[i] = d.hashWord(d.hashWord(p[0], ids[i])^p[1], ids[i])
		}
	},
	put: func(to []byte, p [2]uint64) {
		binary.LittleEndian.PutUint64(to, p[0])
		binary.LittleEndian.PutUint64(to[8:], p[1])
	},
	get: func(from string) [2]uint64 { return [2]uint64{le64(from, 0), le64(from, 8)} },
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
		canonicalBits(words, view[uint64](col)[at:])
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

func (d *distinctFixed[V]) Reset() { d.reset(); clear(d.slots) }

func (d *distinctFixed[V]) Size() int64 {
	return d.size() + int64(unsafe.Sizeof(d.values)) + int64(len(d.slots))*int64(unsafe.Sizeof(fixedSlot[V]{}))
}

// Add inserts rows a block at a time.
func (d *distinctFixed[V]) Add(rows Rows) error {
	col := &rows.Args[0]
	for at := 0; at < len(rows.IDs); at += distinctRows {
		ids := rows.IDs[at:min(at+distinctRows, len(rows.IDs))]
		d.reserve(len(ids))
		d.read(d.values[:len(ids)], col, at)
		d.locate(ids, col, at)
		d.insert(d.unrepeated(len(ids)))
	}
	return nil
}

// unrepeated removes, from the first n values of the block, values that have no group, or repeat the value before in
// the same group. It returns the number of the others.
func (d *distinctFixed[V]) unrepeated(n int) int {
	values, ids := d.values[:n], d.ids[:n]
	var last V
	lastID, to := uint32(0), 0
	for i, v := range values {
		id := ids[i]
		values[to], ids[to] = v, id
		to += (1 - bit(v == last)&bit(id == lastID)) & bit(id != 0)
		last, lastID = v, id
	}
	return to
}

// insert adds the first n values of the block, for which the caller has reserved room. It reads all home slots first,
// without a branch.
func (d *distinctFixed[V]) insert(n int) {
	d.laid = false
	values, ids, hashes, rows := d.values[:n], d.ids[:n], d.hashes[:n], d.rows[:n]
	d.hash(&d.distinct, values)
	slots, last := d.slots, uint64(len(d.slots)-1)
	misses := 0
	for i, h := range hashes {
		s := &slots[h&last]
		rows[misses] = uint32(i)
		misses += 1 - bit(s.value == values[i])&bit(s.id == ids[i])
	}
	for _, i := range rows[:misses] {
		d.add(ids[i], values[i], hashes[i])
	}
}

// add inserts a value unless it is there: linear probing in one hash table of all groups.
func (d *distinctFixed[V]) add(id uint32, v V, hash uint64) {
	last := uint64(len(d.slots) - 1)
	for ; ; hash++ {
		switch s := &d.slots[hash&last]; {
		case s.id == id && s.value == v:
			return
		case s.id == 0:
			*s = fixedSlot[V]{v, id}
			d.n[id]++
			d.used++
			return
		}
	}
}

// reserve makes room for n more values. It overwrites the block.
func (d *distinctFixed[V]) reserve(n int) {
	size := roomFor(len(d.slots), d.used+n)
	if size == len(d.slots) {
		return
	}
	old, last := d.slots, uint64(size-1)
	d.slots = makeLarge[fixedSlot[V]](size)
	for at := 0; at < len(old); at += distinctRows {
		values := d.values[:d.take(old[at:min(at+distinctRows, len(old))], nil)]
		d.hash(&d.distinct, values)
		for i, v := range values {
			h := d.hashes[i]
			for d.slots[h&last].id != 0 {
				h++
			}
			d.slots[h&last] = fixedSlot[V]{v, d.ids[i]}
		}
	}
}

// take writes the values of at most distinctRows slots to the block, and returns their number. If groups is not nil,
// group id of the slots is groups[id] in the block. Values of group 0 are left out, without a branch.
func (d *distinctFixed[V]) take(slots []fixedSlot[V], groups []uint32) int {
	n := 0
	for i := range slots {
		id := slots[i].id
		if groups != nil {
			id = groups[id]
		}
		d.values[n], d.ids[n] = slots[i].value, id
		n += bit(id != 0)
	}
	return n
}

// join inserts the values of another accumulator a block at a time.
func (d *distinctFixed[V]) join(other Accumulator, groups []uint32) {
	slots := other.(*distinctFixed[V]).slots
	for at := 0; at < len(slots); at += distinctRows {
		d.reserve(distinctRows)
		d.insert(d.take(slots[at:min(at+distinctRows, len(slots))], groups))
	}
}

// State concatenates the values of each group: see values.
func (d *distinctFixed[V]) State(i, j int) ([]column.Column, error) {
	w := d.width
	return d.concatenated(i, j, func(add func(uint32, int)) {
		for id, n := range d.n {
			add(uint32(id), w*int(n))
		}
	}, func(place func(uint32, int) []byte) {
		for i := range d.slots {
			if s := &d.slots[i]; s.id != 0 {
				d.put(place(s.id, w), s.value)
			}
		}
	})
}

// Merge checks the length of each state, which may come from a file, and inserts its values a block at a time.
func (d *distinctFixed[V]) Merge(ids []uint32, state []column.Column) error {
	n := 0
	d.reserve(distinctRows)
	for i, id := range ids {
		if id == 0 || state[0].Null(i) {
			continue
		}
		s := textAt(&state[0], i)
		if len(s)%d.width != 0 {
			return errDistinctState
		}
		for ; len(s) > 0; s = s[d.width:] {
			if n == distinctRows {
				d.insert(n)
				d.reserve(distinctRows)
				n = 0
			}
			d.values[n], d.ids[n] = d.get(s[:d.width]), id
			n++
		}
	}
	d.insert(n)
	return nil
}
