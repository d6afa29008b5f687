// SPDX-License-Identifier: Apache-2.0

package groupby

import "math/bits"

// This file is phase 1: the table that gives each distinct key its group, a small dense number. It has open addressing with linear probing, at
// most half full. Rows are looked up a chunk at a time: first each row only in the slot its hash points to, without a branch, as a mispredicted branch
// costs more than the comparison; those that were not there are collected and then looked for one by one.

// A slot1 is a slot for keys of one word, a slot2 for all others. tag is the group, 0 if the slot is empty, and above it the key's mask.
type (
	slot1 struct{ w0, tag uint64 }
	slot2 struct{ w0, w1, tag uint64 }
)

const (
	minSlots  = 1 << 10
	idBits    = 32
	maxGroups = 1<<31 - 1
)

// A table numbers distinct keys, from 1 in order of first appearance. Group 0 is that of no key.
type table struct {
	*keyPlan
	slots1 []slot1
	slots2 []slot2
	direct direct

	keyRows // by group
}

func newTable(p *keyPlan) *table {
	t := &table{keyPlan: p}
	if p.form == keyWord {
		t.slots1 = make([]slot1, minSlots)
	} else {
		t.slots2 = make([]slot2, minSlots)
	}
	t.reset()
	return t
}

// groups returns the number of groups, group 0 included.
func (t *table) groups() int { return len(t.w0) }

// reset forgets all keys.
func (t *table) reset() {
	clear(t.slots1)
	clear(t.slots2)
	t.direct = direct{}
	t.keyRows.reset()
	t.w0 = append(t.w0, 0)
	if t.form != keyWord {
		t.w1 = append(t.w1, 0)
	}
	if t.form >= keyText {
		t.ends = append(t.ends, 0)
	}
}

// find writes the group of each key to ids, 0 for those the table does not have, and returns the rows of these in miss, which must be empty and
// have room for all rows.
func (t *table) find(k *keys, ids, miss []uint32) []uint32 {
	miss = t.findHome(k, ids, miss)
	strangers := 0
	for _, i := range miss {
		if ids[i] = t.lookup(k, i); ids[i] == 0 {
			miss[strangers] = i
			strangers++
		}
	}
	return miss[:strangers]
}

// insert is find, but for keys the table does not have it makes groups, unless they have a NULL and dropNulls is set. It returns the rows
// that made one, in the order of the groups.
func (t *table) insert(k *keys, ids, miss []uint32, dropNulls bool) ([]uint32, error) {
	miss = t.findHome(k, ids, miss)
	if t.direct.ids != nil && len(miss) > 0 {
		return t.insertDirect(k, ids, miss, dropNulls)
	}
	fresh := 0
	for _, i := range miss {
		id := t.lookup(k, i)
		if id == 0 && (!dropNulls || k.maskOf(i) == 0) {
			if len(t.w0) > maxGroups {
				return nil, ErrTooManyGroups
			}
			id = t.add(k, i)
			t.link(id)
			miss[fresh] = i
			fresh++
		}
		ids[i] = id
	}
	return miss[:fresh], nil
}

// findHome is the first look: ids of the rows it does not return are right.
func (t *table) findHome(k *keys, ids, miss []uint32) []uint32 {
	switch {
	case t.direct.ids != nil && k.mask == nil:
		return t.direct.find(k.w0, ids, miss)
	case t.direct.ids != nil:
		miss = miss[:len(k.w0)]
		for i := range miss {
			miss[i] = uint32(i)
		}
		return miss
	case t.form == keyWord:
		return t.findHome1(k, ids, miss)
	}
	return t.findHome2(k, ids, miss)
}

// lookup returns the group of the key of row i, or 0.
func (t *table) lookup(k *keys, i uint32) uint32 {
	switch {
	case t.direct.ids != nil:
		return t.direct.lookup(k.w0[i], k.maskOf(i))
	case t.form == keyWord:
		return t.lookup1(k.w0[i], k.maskOf(i))
	}
	return t.lookup2(k, i)
}

// findHome1 looks at the home slots alone.
func (t *table) findHome1(k *keys, ids, miss []uint32) []uint32 {
	slots, last := t.slots1, uint64(len(t.slots1)-1)
	seed := t.seed[0]
	w0 := k.w0
	ids = ids[:len(w0)]
	miss = miss[:len(w0)]
	n := 0
	if k.mask == nil && t.mask == nil {
		for i, w := range w0 {
			s := &slots[fold(w)*seed>>slotShift&last]
			ids[i] = uint32(s.tag)
			miss[n] = uint32(i)
			diff := s.w0 ^ w
			if s.tag == 0 {
				diff = 1
			}
			if diff != 0 {
				n++
			}
		}
		return miss[:n]
	}
	for i, w := range w0 {
		mask := k.maskOf(uint32(i))
		s := &slots[fold(w^uint64(mask))*seed>>slotShift&last]
		ids[i] = uint32(s.tag)
		miss[n] = uint32(i)
		diff := (s.w0 ^ w) | (s.tag>>idBits ^ uint64(mask))
		if s.tag == 0 {
			diff = 1
		}
		if diff != 0 {
			n++
		}
	}
	return miss[:n]
}

func (k *keys) maskOf(i uint32) uint32 {
	if k.mask == nil {
		return 0
	}
	return k.mask[i]
}

// lookup1 returns the group of a key, or 0.
func (t *table) lookup1(w0 uint64, mask uint32) uint32 {
	last := uint64(len(t.slots1) - 1)
	for h := t.hash1(w0, mask) >> slotShift; ; h++ {
		s := &t.slots1[h&last]
		if s.tag == 0 || s.w0 == w0 && s.tag>>idBits == uint64(mask) {
			return uint32(s.tag)
		}
	}
}

func (t *table) findHome2(k *keys, ids, miss []uint32) []uint32 {
	slots, last := t.slots2, uint64(len(t.slots2)-1)
	s0, s1 := t.seed[0], t.seed[1] // as in hash2
	w0 := k.w0
	w1 := k.w1[:len(w0)]
	ids = ids[:len(w0)]
	miss = miss[:len(w0)]
	n := 0
	for i, w := range w0 {
		mask := k.maskOf(uint32(i))
		s := &slots[(fold(w^uint64(mask))*s0+fold(w1[i])*s1)>>slotShift&last]
		ids[i] = uint32(s.tag)
		miss[n] = uint32(i)
		diff := (s.w0 ^ w) | (s.w1 ^ w1[i]) | (s.tag>>idBits ^ uint64(mask))
		if s.tag == 0 {
			diff = 1
		}
		if diff != 0 {
			n++
		}
	}
	miss = miss[:n]
	// What looked found may have been the fingerprint of other bytes.
	for _, i := range k.longs {
		if id := ids[i]; t.w0[id] == w0[i] && t.w1[id] == w1[i] && id != 0 && string(t.long(id)) != k.texts[i] {
			miss = append(miss, i)
		}
	}
	return miss
}

// lookup2 returns the group of the key of row i, or 0.
func (t *table) lookup2(k *keys, i uint32) uint32 {
	last := uint64(len(t.slots2) - 1)
	w0, w1, mask := k.w0[i], k.w1[i], k.maskOf(i)
	for h := t.hash2(w0, w1, mask) >> slotShift; ; h++ {
		s := &t.slots2[h&last]
		if s.tag == 0 {
			return 0
		}
		if s.w0 == w0 && s.w1 == w1 && s.tag>>idBits == uint64(mask) && (!k.long(i) || string(t.long(uint32(s.tag))) == k.texts[i]) {
			return uint32(s.tag)
		}
	}
}

// add makes a group of the key of row i, which is not in the table, but leaves it in no slot.
func (t *table) add(k *keys, i uint32) uint32 {
	id := uint32(len(t.w0))
	mask := k.maskOf(i)
	t.w0 = append(t.w0, k.w0[i])
	if t.form != keyWord {
		t.w1 = append(t.w1, k.w1[i])
	}
	if mask != 0 && t.mask == nil {
		t.mask = make([]uint32, id, cap(t.w0))
	}
	if t.mask != nil {
		t.mask = append(t.mask, mask)
	}
	if t.form >= keyText {
		if k.long(i) {
			t.text = append(t.text, k.texts[i]...)
		}
		t.ends = append(t.ends, len(t.text))
	}
	return id
}

// link puts the newest group into a slot, or all of them if there have to be more.
func (t *table) link(id uint32) {
	if slots := slotsFor(int(id) + 1); slots > len(t.slots1)+len(t.slots2) {
		t.grow(slots)
	} else {
		t.place(id)
	}
}

// slotsFor returns how many slots there are for so many groups: eight times as many while that is little memory, for fewer collisions.
func slotsFor(groups int) int {
	room := 2
	switch {
	case groups <= 1<<11:
		room = 8
	case groups <= 1<<14:
		room = 4
	}
	return max(minSlots, 1<<bits.Len(uint(groups*room-1)))
}

// grow makes the slots anew, so many.
func (t *table) grow(slots int) {
	if t.form == keyWord {
		t.slots1 = make([]slot1, slots)
	} else {
		t.slots2 = make([]slot2, slots)
	}
	for id := 1; id < len(t.w0); id++ {
		t.place(uint32(id))
	}
}

// place puts a group into the first free slot.
func (t *table) place(id uint32) {
	w0, tag := t.w0[id], uint64(id)
	var mask uint32
	if t.mask != nil {
		mask = t.mask[id]
		tag |= uint64(mask) << idBits
	}
	if t.form == keyWord {
		last := uint64(len(t.slots1) - 1)
		h := t.hash1(w0, mask) >> slotShift
		for t.slots1[h&last].tag != 0 {
			h++
		}
		t.slots1[h&last] = slot1{w0, tag}
		return
	}
	last := uint64(len(t.slots2) - 1)
	h := t.hash2(w0, t.w1[id], mask) >> slotShift
	for t.slots2[h&last].tag != 0 {
		h++
	}
	t.slots2[h&last] = slot2{w0, t.w1[id], tag}
}

// expect prepares an empty table for about so many groups, whose keys are said to lie between lo and hi if they are one word.
func (t *table) expect(groups int, lo, hi uint64) {
	if t.form == keyWord && hi-lo < maxDirect {
		t.direct.move(t, lo, hi)
		return
	}
	if slots := slotsFor(groups); slots > len(t.slots1)+len(t.slots2) {
		t.grow(slots)
	}
}

// A direct is what takes the place of slots while keys are one word each and close to each other: the group by key minus base, 0 for none.
type direct struct {
	base uint64
	ids  []uint32 // nil: it is not used
	null uint32   // the group of NULL, if the key is one column
}

const maxDirect = 1 << 18

// find is table.findHome in the direct table.
func (d *direct) find(w0 []uint64, ids, miss []uint32) []uint32 {
	base, known := d.base, d.ids
	ids = ids[:len(w0)]
	miss = miss[:len(w0)]
	n := 0
	for i, w := range w0 {
		var id uint32
		if x := w - base; x < uint64(len(known)) {
			id = known[x]
		}
		ids[i] = id
		miss[n] = uint32(i)
		if id == 0 {
			n++
		}
	}
	return miss[:n]
}

func (d *direct) lookup(w uint64, mask uint32) uint32 {
	switch {
	case mask == 1:
		return d.null
	case mask == 0 && w-d.base < uint64(len(d.ids)):
		return d.ids[w-d.base]
	}
	return 0
}

// insertDirect is insert while the direct table is used. Where that can not be any longer, it goes on with slots.
func (t *table) insertDirect(k *keys, ids, miss []uint32, dropNulls bool) ([]uint32, error) {
	d := &t.direct
	lo, hi := d.base, d.base+uint64(len(d.ids))-1
	newLo, newHi, masks := lo, hi, uint32(0)
	for _, i := range miss {
		if mask := k.maskOf(i); mask != 0 {
			masks |= mask
		} else {
			newLo, newHi = min(newLo, k.w0[i]), max(newHi, k.w0[i])
		}
	}
	if newHi-newLo >= maxDirect || masks > 1 || masks == 1 && len(t.types) > 1 {
		t.leaveDirect()
		return t.insert(k, ids, miss[:0], dropNulls)
	}
	if newLo != lo || newHi != hi {
		d.move(t, newLo, newHi)
	}
	fresh := 0
	for _, i := range miss {
		mask := k.maskOf(i)
		at := &d.null
		if mask == 0 {
			at = &d.ids[k.w0[i]-d.base]
		}
		if *at == 0 && (!dropNulls || mask == 0) {
			*at = t.add(k, i)
			miss[fresh] = i
			fresh++
		}
		ids[i] = *at
	}
	return miss[:fresh], nil
}

// move sets the limits of the direct table to lo and hi, or wider.
func (d *direct) move(t *table, lo, hi uint64) {
	room := min(hi-lo+64, maxDirect-(hi-lo)-1) / 2 // so that they do not move often
	lo -= min(room, lo)
	hi += min(room, ^uint64(0)-hi)
	d.base, d.ids = lo, make([]uint32, hi-lo+1)
	for id := 1; id < len(t.w0); id++ {
		if t.mask == nil || t.mask[id] == 0 {
			d.ids[t.w0[id]-lo] = uint32(id)
		}
	}
}

// leaveDirect puts all groups into slots.
func (t *table) leaveDirect() {
	t.direct = direct{}
	t.grow(max(slotsFor(len(t.w0)), len(t.slots1)))
}
