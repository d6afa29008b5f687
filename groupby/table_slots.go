// SPDX-License-Identifier: Apache-2.0

package groupby

// Hash tables: open addressing with linear probing. The first lookup reads the home slot alone, to which the hash
// points.

// A slot1 is a slot for a key of one word, a slot2 for other keys. tag is the group, 0 if the slot is empty, with the
// key's mask above it.
type (
	slot1 struct{ w0, tag uint64 }
	slot2 struct{ w0, w1, tag uint64 }
)

const minSlots = 1 << 10

func tagOf(id, mask uint32) uint64 { return uint64(id) | uint64(mask)<<idBits }

// makeSlots makes n empty slots; n is a power of two. Small tables have a lower load, for fewer collisions.
func (t *table) makeSlots(n int) {
	switch {
	case n <= 1<<15:
		t.room = n / 16
	case n <= 1<<16:
		t.room = n / 4
	default:
		t.room = n / 2
	}
	if t.form == keyWord {
		t.slots1 = make([]slot1, n)
	} else {
		t.slots2 = make([]slot2, n)
	}
}

// grow makes more slots: four times as many while the table is small, so that groups are rarely moved.
func (t *table) grow() {
	n := len(t.slots1) + len(t.slots2)
	times := 2
	if n <= 1<<16 {
		times = 4
	}
	for t.room = 0; t.room < len(t.w0); n *= times {
		t.makeSlots(times * n)
	}
	t.fill()
}

// fill inserts all groups into empty slots.
func (t *table) fill() {
	for id := 1; id < len(t.w0); id++ {
		w0, mask := t.w0[id], t.maskOf(uint32(id))
		if t.form == keyWord {
			last := uint64(len(t.slots1) - 1)
			h := t.hash1(w0, mask) >> slotShift
			for t.slots1[h&last].tag != 0 {
				h++
			}
			t.slots1[h&last] = slot1{w0, tagOf(uint32(id), mask)}
			continue
		}
		last := uint64(len(t.slots2) - 1)
		h := t.hash2(w0, t.w1[id], mask) >> slotShift
		for t.slots2[h&last].tag != 0 {
			h++
		}
		t.slots2[h&last] = slot2{w0, t.w1[id], tagOf(uint32(id), mask)}
	}
}

// missing appends the rows whose id is 0 to miss. some is the bitwise OR of all ids less one; its top bit is set if an
// id is 0.
func missing(ids []uint32, some uint32, miss []uint32) []uint32 {
	if some>>31 == 0 {
		return miss
	}
	miss = miss[:len(ids)]
	n := 0
	for i, id := range ids {
		miss[n] = uint32(i)
		if id == 0 {
			n++
		}
	}
	return miss[:n]
}

// findHome1 reads the home slots alone. An empty slot has group 0, so that it needs no case of its own.
func (t *table) findHome1(k *keys, ids, miss []uint32) []uint32 {
	slots, last := t.slots1, uint64(len(t.slots1)-1)
	seed := t.seed[0]
	w0 := k.w0
	ids = ids[:len(w0)]
	some := uint32(0)
	if k.mask == nil && t.mask == nil {
		for i, w := range w0 {
			s := &slots[mix(w)*seed>>slotShift&last]
			id, diff := uint32(s.tag), s.w0^w
			if diff != 0 {
				id = 0
			}
			ids[i] = id
			some |= id - 1
		}
		miss = missing(ids, some, miss)
		for step := uint64(1); step <= homeSteps && len(miss) < len(w0)/4 && len(miss) > 8; step++ {
			miss = t.findNext1(w0, ids, miss, step)
		}
		return miss
	}
	for i, w := range w0 {
		mask := uint64(k.maskOf(uint32(i)))
		s := &slots[mix(w^mask)*seed>>slotShift&last]
		id, diff := uint32(s.tag), (s.w0^w)|(s.tag>>idBits^mask)
		if diff != 0 {
			id = 0
		}
		ids[i] = id
		some |= id - 1
	}
	return missing(ids, some, miss)
}

// homeSteps is the number of slots behind the home slot that are read in the same way for the remaining rows, if these
// are few: most of them were displaced by another key. If they are many, most keys are new.
const homeSteps = 3

// findNext1 reads the slots that are step behind the home slots of the rows in miss, which have no mask. It returns the
// rows whose key is not there either.
func (t *table) findNext1(w0 []uint64, ids, miss []uint32, step uint64) []uint32 {
	slots, last := t.slots1, uint64(len(t.slots1)-1)
	seed := t.seed[0]
	n := 0
	for _, i := range miss {
		w := w0[i]
		s := &slots[(mix(w)*seed>>slotShift+step)&last]
		id, diff := uint32(s.tag), s.w0^w
		if diff != 0 {
			id = 0
		}
		ids[i] = id
		miss[n] = i
		if id == 0 {
			n++
		}
	}
	return miss[:n]
}

// probe1 returns the slot of a key, or the empty slot to insert it.
func (t *table) probe1(w0 uint64, mask uint32) *slot1 {
	last := uint64(len(t.slots1) - 1)
	for h := t.hash1(w0, mask) >> slotShift; ; h++ {
		s := &t.slots1[h&last]
		if s.tag == 0 || s.w0 == w0 && s.tag>>idBits == uint64(mask) {
			return s
		}
	}
}

// insert1 is table.insert for the rows that findHome1 returned.
func (t *table) insert1(k *keys, ids, miss []uint32, dropNulls bool) []uint32 {
	fresh := 0
	for _, i := range miss {
		w0, mask := k.w0[i], k.maskOf(i)
		s := t.probe1(w0, mask)
		ids[i] = uint32(s.tag)
		if s.tag != 0 || dropNulls && mask != 0 {
			continue
		}
		id := t.add(k, i)
		*s = slot1{w0, tagOf(id, mask)}
		ids[i] = id
		miss[fresh] = i
		fresh++
		if len(t.w0) > t.room {
			t.grow()
		}
	}
	return miss[:fresh]
}

// findHome2 is findHome1 for keys of two words. It tests the first homeSteps slots further on if most rows were found,
// and compares the bytes of long keys.
func (t *table) findHome2(k *keys, ids, miss []uint32) []uint32 {
	slots, last := t.slots2, uint64(len(t.slots2)-1)
	s0, s1 := t.seed[0], t.seed[1] // as in hash2
	w0 := k.w0
	w1 := k.w1[:len(w0)]
	ids = ids[:len(w0)]
	some := uint32(0)
	if k.mask == nil && t.mask == nil {
		for i, w := range w0 {
			v := w1[i]
			s := &slots[(mix(w)*s0+mix(v)*s1)>>slotShift&last]
			id, diff := uint32(s.tag), (s.w0^w)|(s.w1^v)
			if diff != 0 {
				id = 0
			}
			ids[i] = id
			some |= id - 1
		}
	} else {
		for i, w := range w0 {
			mask := uint64(k.maskOf(uint32(i)))
			s := &slots[(mix(w^mask)*s0+mix(w1[i])*s1)>>slotShift&last]
			id, diff := uint32(s.tag), (s.w0^w)|(s.w1^w1[i])|(s.tag>>idBits^mask)
			if diff != 0 {
				id = 0
			}
			ids[i] = id
			some |= id - 1
		}
	}
	miss = missing(ids, some, miss)
	if k.mask == nil && t.mask == nil {
		for step := uint64(1); step <= homeSteps && len(miss) < len(w0)/4 && len(miss) > 8; step++ {
			miss = t.findNext2(k, ids, miss, step)
		}
	}
	// A match of words may be the fingerprint of other bytes.
	for _, i := range k.longs {
		if id := ids[i]; id != 0 && string(t.long(id)) != k.texts[i] {
			ids[i] = 0
			miss = append(miss, i)
		}
	}
	return miss
}

// findNext2 is findNext1 for keys of two words.
func (t *table) findNext2(k *keys, ids, miss []uint32, step uint64) []uint32 {
	slots, last := t.slots2, uint64(len(t.slots2)-1)
	s0, s1 := t.seed[0], t.seed[1]
	n := 0
	for _, i := range miss {
		w, v := k.w0[i], k.w1[i]
		s := &slots[((mix(w)*s0+mix(v)*s1)>>slotShift+step)&last]
		id, diff := uint32(s.tag), (s.w0^w)|(s.w1^v)
		if diff != 0 {
			id = 0
		}
		ids[i] = id
		miss[n] = i
		if id == 0 {
			n++
		}
	}
	return miss[:n]
}

// probe2 returns the slot of the key of row i, or the empty slot to insert it.
func (t *table) probe2(k *keys, i uint32) *slot2 {
	last := uint64(len(t.slots2) - 1)
	w0, w1, mask := k.w0[i], k.w1[i], k.maskOf(i)
	for h := t.hash2(w0, w1, mask) >> slotShift; ; h++ {
		s := &t.slots2[h&last]
		if s.tag == 0 || s.w0 == w0 && s.w1 == w1 && s.tag>>idBits == uint64(mask) &&
			(!k.long(i) || string(t.long(uint32(s.tag))) == k.texts[i]) {
			return s
		}
	}
}

// insert2 is table.insert for the rows that findHome2 returned.
func (t *table) insert2(k *keys, ids, miss []uint32, dropNulls bool) []uint32 {
	fresh := 0
	for _, i := range miss {
		mask := k.maskOf(i)
		s := t.probe2(k, i)
		ids[i] = uint32(s.tag)
		if s.tag != 0 || dropNulls && mask != 0 {
			continue
		}
		id := t.add(k, i)
		*s = slot2{k.w0[i], k.w1[i], tagOf(id, mask)}
		ids[i] = id
		miss[fresh] = i
		fresh++
		if len(t.w0) > t.room {
			t.grow()
		}
	}
	return miss[:fresh]
}
