// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Exact counts of distinct texts.

// distinctTexts counts strings. The state of a group is its strings in any order, each preceded by its length as a
// uvarint. The arena has the same form.
type distinctTexts struct {
	distinct
	seed    maphash.Seed // the same for all accumulators of an aggregate
	slots   []textSlot
	arena   []byte
	touched uint32 // result of touch
}

// textSlot is a text in group id.
type textSlot struct {
	hash uint64 // of the string alone
	at   int    // in arena
	id   uint32
}

func (d *distinctTexts) Reset() { d.reset(); d.arena = d.arena[:0]; clear(d.slots) }

func (d *distinctTexts) Size() int64 {
	return d.size() + 24*int64(len(d.slots)) + int64(cap(d.arena))
}

// Add inserts rows a block at a time, without texts that repeat the row before in the same group.
func (d *distinctTexts) Add(rows Rows) error {
	col, last, lastID := &rows.Args[0], "", uint32(0)
	for at := 0; at < len(rows.IDs); at += distinctRows {
		ids := rows.IDs[at:min(at+distinctRows, len(rows.IDs))]
		d.reserve(len(ids))
		n := 0
		for i, id := range ids {
			if id == 0 || col.Null(at+i) {
				continue
			}
			s := textAt(col, at+i)
			if id == lastID && s == last {
				continue
			}
			last, lastID = s, id
			d.rows[n], d.ids[n], d.hashes[n] = uint32(at+i), id, maphash.String(d.seed, s)
			n++
		}
		d.touch(n)
		for i, r := range d.rows[:n] {
			d.add(d.ids[i], textAt(col, int(r)), d.hashes[i])
		}
	}
	return nil
}

// touch reads the home slots of the first n texts of the block, so that their cache misses overlap.
func (d *distinctTexts) touch(n int) {
	ids, last, sum := d.ids[:n], uint64(len(d.slots)-1), uint32(0)
	for i, h := range d.hashes[:n] {
		sum += d.slots[d.hashWord(h, ids[i])&last].id
	}
	d.touched = sum
}

// add inserts a text of a group unless it is there. Slots keep the hash, so that most comparisons do not read the
// arena.
func (d *distinctTexts) add(id uint32, s string, hash uint64) {
	last := uint64(len(d.slots) - 1)
	for h := d.hashWord(hash, id); ; h++ {
		slot := &d.slots[h&last]
		if slot.id == 0 {
			*slot = textSlot{hash, len(d.arena), id}
			d.arena = appendText(d.arena, s)
			d.n[id]++
			d.used++
			d.laid = false
			return
		}
		if slot.hash == hash && slot.id == id {
			if text, _ := d.record(slot); string(text) == s {
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
	old, last := d.slots, uint64(size-1)
	d.slots = makeLarge[textSlot](size)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		h := d.hashWord(s.hash, s.id)
		for d.slots[h&last].id != 0 {
			h++
		}
		d.slots[h&last] = s
	}
}

// join inserts the texts of another accumulator, whose hashes are made alike.
func (d *distinctTexts) join(other Accumulator, groups []uint32) {
	from := other.(*distinctTexts)
	for at := 0; at < len(from.slots); at += distinctRows {
		slots := from.slots[at:min(at+distinctRows, len(from.slots))]
		d.reserve(len(slots))
		n := 0
		for i := range slots {
			if id := groups[slots[i].id]; id != 0 {
				d.rows[n], d.ids[n], d.hashes[n] = uint32(i), id, slots[i].hash
				n++
			}
		}
		d.touch(n)
		for i, r := range d.rows[:n] {
			text, _ := from.record(&slots[r])
			d.add(d.ids[i], stringOf(text), d.hashes[i])
		}
	}
}

// record returns the string of a slot, and the string with its length in front.
func (d *distinctTexts) record(s *textSlot) (text, whole []byte) {
	n, w := binary.Uvarint(d.arena[s.at:])
	whole = d.arena[s.at:][:w+int(n)]
	return whole[w:], whole
}

// State concatenates the texts of each group with their lengths: see concatenated.
func (d *distinctTexts) State(i, j int) ([]column.Column, error) {
	return d.concatenated(i, j, func(add func(uint32, int)) {
		for i := range d.slots {
			if s := &d.slots[i]; s.id != 0 {
				_, whole := d.record(s)
				add(s.id, len(whole))
			}
		}
	}, func(place func(uint32, int) []byte) {
		for i := range d.slots {
			if s := &d.slots[i]; s.id != 0 {
				_, whole := d.record(s)
				copy(place(s.id, len(whole)), whole)
			}
		}
	})
}

// Merge checks the lengths in each state, which may come from a file, and inserts its texts.
func (d *distinctTexts) Merge(ids []uint32, state []column.Column) error {
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
			text := s[w:][:n]
			d.add(id, text, maphash.String(d.seed, text))
			s = s[w:][n:]
		}
	}
	return nil
}
