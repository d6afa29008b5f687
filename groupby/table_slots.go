// SPDX-License-Identifier: Apache-2.0

package groupby

import "unsafe"

// Hash tables: an index of groups by the hash of their keys, with open addressing and linear probing. The keys are in
// keyRows, by group, so that the index stays small: 4 bytes per slot. The first lookup reads the home slot alone, to
// which the hash points.

const minSlots = 1 << 10

// makeSlots makes n empty slots; n is a power of two. Small tables have a lower load, for fewer collisions.
func (t *table) makeSlots(n int) {
	switch {
	case n <= 1<<16:
		t.room = n / 8
	case n <= 1<<20:
		t.room = n / 4
	default:
		t.room = n / 2
	}
	t.index = make([]uint32, n)
}

// grow makes more slots: four times as many while the table is small, so that groups are rarely moved.
func (t *table) grow() {
	n := len(t.index)
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
	index, last := t.index, uint64(len(t.index)-1)
	for id := 1; id < len(t.w0); id++ {
		h := t.hashOf(uint32(id)) >> slotShift
		for index[h&last] != 0 {
			h++
		}
		index[h&last] = uint32(id)
	}
}

// hashOf returns the hash of a group's key.
func (t *table) hashOf(id uint32) uint64 {
	if t.form == keyWord {
		return t.hash1(t.w0[id], t.maskOf(id))
	}
	return t.hash2(t.w0[id], t.w1[id], t.maskOf(id))
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

// findHome1 reads the home slots alone.
func (t *table) findHome1(k *keys, ids, miss []uint32) []uint32 {
	w0 := k.w0
	ids, miss = ids[:len(w0)], miss[:len(w0)]
	if k.mask == nil && t.mask == nil {
		miss = miss[:findWords(t.index, t.w0, w0, t.seed[0], ids, miss)]
		for step := uint64(1); step <= homeSteps && len(miss) < len(w0)/4 && len(miss) > 8; step++ {
			miss = t.findNext1(w0, ids, miss, step)
		}
		return miss
	}
	index, last := t.index, uint64(len(t.index)-1)
	n := 0
	for i, w := range w0 {
		mask := k.maskOf(uint32(i))
		id := index[mix(w^uint64(mask))*t.seed[0]>>slotShift&last]
		if (t.w0[id]^w)|uint64(t.maskOf(id)^mask) != 0 {
			id = 0
		}
		ids[i] = id
		miss[n] = uint32(i)
		if id == 0 {
			n++
		}
	}
	return miss[:n]
}

// findWords reads the home slots of keys of one word without a mask. It writes their groups to ids, the rows whose key
// is not there to miss, and returns their number. An empty slot has group 0, so that it needs no case of its own: the
// row stays in group 0 whether the word of group 0 is equal or not. ids and miss have the length of w0, and groups in
// the index are less than len(of). The pointers keep all variables in registers.
func findWords(index []uint32, of, w0 []uint64, seed uint64, ids, miss []uint32) int {
	last := uint64(len(index) - 1)
	slots, words := unsafe.Pointer(unsafe.SliceData(index)), unsafe.Pointer(unsafe.SliceData(of))
	groups, rows := unsafe.Pointer(unsafe.SliceData(ids)), unsafe.Pointer(unsafe.SliceData(miss))
	n := 0
	for i, w := range w0 {
		id := *(*uint32)(unsafe.Add(slots, 4*(mix(w)*seed>>slotShift&last)))
		if *(*uint64)(unsafe.Add(words, 8*uintptr(id))) != w {
			id = 0
		}
		*(*uint32)(unsafe.Add(groups, 4*i)) = id
		*(*uint32)(unsafe.Add(rows, 4*n)) = uint32(i)
		n += int((id - 1) >> 31) // 1 for group 0
	}
	return n
}

// homeSteps is the number of slots behind the home slot that are read in the same way for the remaining rows, if these
// are few: most of them were displaced by another key. If they are many, most keys are new.
const homeSteps = 3

// findNext1 reads the slots that are step behind the home slots of the rows in miss, which have no mask. It returns the
// rows whose key is not there either.
func (t *table) findNext1(w0 []uint64, ids, miss []uint32, step uint64) []uint32 {
	index, last := t.index, uint64(len(t.index)-1)
	seed, of := t.seed[0], t.w0
	n := 0
	for _, i := range miss {
		w := w0[i]
		id := index[(mix(w)*seed>>slotShift+step)&last]
		if of[id] != w {
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

// findKnown1 is find for at most chunkRows keys of one word without a mask. Most rows that are not at their home slot
// have an empty one, which decides.
func (t *table) findKnown1(w0 []uint64, ids, miss []uint32) []uint32 {
	var displaced [chunkRows]uint32
	index, last, seed := t.index, uint64(len(t.index)-1), t.seed[0]
	miss = miss[:len(w0)]
	miss = miss[:findWords(index, t.w0, w0, seed, ids[:len(w0)], miss)]
	n := 0
	for _, i := range miss {
		displaced[n%chunkRows] = i
		if index[mix(w0[i])*seed>>slotShift&last] != 0 {
			n++
		}
	}
	for _, i := range displaced[:n] {
		ids[i] = *t.probe1(w0[i], 0)
	}
	n = 0
	for _, i := range miss {
		miss[n] = i
		if ids[i] == 0 {
			n++
		}
	}
	return miss[:n]
}

// probe1 returns the slot of a key, or the empty slot to insert it.
func (t *table) probe1(w0 uint64, mask uint32) *uint32 {
	index, last := t.index, uint64(len(t.index)-1)
	for h := t.hash1(w0, mask) >> slotShift; ; h++ {
		s := &index[h&last]
		if id := *s; id == 0 || t.w0[id] == w0 && t.maskOf(id) == mask {
			return s
		}
	}
}

// findHome2 is findHome1 for keys of two words. It compares the bytes of long keys.
func (t *table) findHome2(k *keys, ids, miss []uint32) []uint32 {
	w0 := k.w0
	ids, miss = ids[:len(w0)], miss[:len(w0)]
	if k.mask == nil && t.mask == nil {
		miss = miss[:t.findPairs(w0, k.w1[:len(w0)], ids, miss)]
		for step := uint64(1); step <= homeSteps && len(miss) < len(w0)/4 && len(miss) > 8; step++ {
			miss = t.findNext2(k, ids, miss, step)
		}
	} else {
		miss = t.findMasked2(k, ids, miss)
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

// findPairs is findWords for keys of two words.
func (t *table) findPairs(w0, w1 []uint64, ids, miss []uint32) int {
	const rows = 256 // the slots of so many rows are computed first, in two loops that have all variables in registers
	var hashes [rows]uint64
	last, n := uint64(len(t.index)-1), 0
	for at := 0; at < len(w0); at += rows {
		end := min(at+rows, len(w0))
		part := hashes[:end-at]
		hashPairs(w0[at:end], w1[at:end], part, t.seed, last)
		n += matchPairs(t.index, &t.keyRows, part, w0[at:end], w1[at:end], ids[at:end], miss[n:], uint32(at))
	}
	return n
}

// hashPairs writes the home slots of keys of two words.
func hashPairs(w0, w1, hashes []uint64, seed [2]uint64, last uint64) {
	w1, hashes = w1[:len(w0)], hashes[:len(w0)]
	s0, s1 := seed[0], seed[1]
	for i, w := range w0 {
		hashes[i] = (mix(w)*s0 + mix(w1[i])*s1) >> slotShift & last
	}
}

// matchPairs is findWords for keys with known home slots. The first row has the number start.
func matchPairs(index []uint32, of *keyRows, hashes, w0, w1 []uint64, ids, miss []uint32, start uint32) int {
	w1, ids = w1[:len(hashes)], ids[:len(hashes)]
	of0, of1 := unsafe.Pointer(unsafe.SliceData(of.w0)), unsafe.Pointer(unsafe.SliceData(of.w1))
	slots, rows := unsafe.Pointer(unsafe.SliceData(index)), unsafe.Pointer(unsafe.SliceData(miss))
	words := unsafe.Pointer(unsafe.SliceData(w0))
	n := 0
	for i, h := range hashes {
		id := *(*uint32)(unsafe.Add(slots, 4*h))
		word := *(*uint64)(unsafe.Add(words, 8*i))
		diff := (*(*uint64)(unsafe.Add(of0, 8*uintptr(id))) ^ word) | (*(*uint64)(unsafe.Add(of1, 8*uintptr(id))) ^ w1[i])
		if diff != 0 {
			id = 0
		}
		ids[i] = id
		*(*uint32)(unsafe.Add(rows, 4*n)) = start + uint32(i)
		n += int((id - 1) >> 31) // 1 for group 0
	}
	return n
}

// noMask is the mask of keys without NULL.
var noMask [scatterRows]uint32

// findMasked2 is findHome2 for keys or groups with a mask, without the comparison of long keys.
func (t *table) findMasked2(k *keys, ids, miss []uint32) []uint32 {
	const rows = 256 // as in findPairs
	var hashes [rows]uint64
	if t.mask == nil {
		t.mask = make([]uint32, len(t.w0), cap(t.w0))
	}
	mask := k.mask
	if mask == nil {
		mask = noMask[:len(k.w0)]
	}
	last, n := uint64(len(t.index)-1), 0
	for at := 0; at < len(k.w0); at += rows {
		end := min(at+rows, len(k.w0))
		w0, w1, part := k.w0[at:end], k.w1[at:end], hashes[:end-at]
		hashMasked(w0, w1, mask[at:end], part, t.seed, last)
		n += matchMasked(t.index, &t.keyRows, part, w0, w1, mask[at:end], ids[at:end], miss[n:], uint32(at))
	}
	miss = miss[:n]
	for step := uint64(1); step <= homeSteps && len(miss) < len(k.w0)/4 && len(miss) > 8; step++ {
		miss = t.findNextMasked2(k, mask, ids, miss, step)
	}
	return miss
}

// hashMasked is hashPairs for keys with a mask.
func hashMasked(w0, w1 []uint64, mask []uint32, hashes []uint64, seed [2]uint64, last uint64) {
	w1, mask, hashes = w1[:len(w0)], mask[:len(w0)], hashes[:len(w0)]
	s0, s1 := seed[0], seed[1]
	for i, w := range w0 {
		hashes[i] = (mix(w^uint64(mask[i]))*s0 + mix(w1[i])*s1) >> slotShift & last
	}
}

// matchMasked is matchPairs for keys and groups with a mask.
func matchMasked(
	index []uint32, of *keyRows, hashes, w0, w1 []uint64, mask, ids, miss []uint32, start uint32,
) int {
	w0, w1, mask, ids = w0[:len(hashes)], w1[:len(hashes)], mask[:len(hashes)], ids[:len(hashes)]
	of0, of1 := unsafe.Pointer(unsafe.SliceData(of.w0)), unsafe.Pointer(unsafe.SliceData(of.w1))
	masks, slots := unsafe.Pointer(unsafe.SliceData(of.mask)), unsafe.Pointer(unsafe.SliceData(index))
	n := 0
	for i, h := range hashes {
		id := *(*uint32)(unsafe.Add(slots, 4*h))
		diff := (*(*uint64)(unsafe.Add(of0, 8*uintptr(id))) ^ w0[i]) | (*(*uint64)(unsafe.Add(of1, 8*uintptr(id))) ^ w1[i])
		diff |= uint64(*(*uint32)(unsafe.Add(masks, 4*uintptr(id))) ^ mask[i])
		if diff != 0 {
			id = 0
		}
		ids[i] = id
		miss[n] = start + uint32(i)
		n += int((id - 1) >> 31) // 1 for group 0
	}
	return n
}

// findNextMasked2 is findNext2 for keys and groups with a mask.
func (t *table) findNextMasked2(k *keys, masks, ids, miss []uint32, step uint64) []uint32 {
	index, last := t.index, uint64(len(t.index)-1)
	of0, of1, of := t.w0, t.w1[:len(t.w0)], t.mask[:len(t.w0)]
	n := 0
	for _, i := range miss {
		w, v, mask := k.w0[i], k.w1[i], masks[i]
		id := index[(t.hash2(w, v, mask)>>slotShift+step)&last]
		if (of0[id]^w)|(of1[id]^v)|uint64(of[id]^mask) != 0 {
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

// findNext2 is findNext1 for keys of two words.
func (t *table) findNext2(k *keys, ids, miss []uint32, step uint64) []uint32 {
	index, last := t.index, uint64(len(t.index)-1)
	s0, s1 := t.seed[0], t.seed[1]
	of0, of1 := t.w0, t.w1[:len(t.w0)]
	n := 0
	for _, i := range miss {
		w, v := k.w0[i], k.w1[i]
		id := index[((mix(w)*s0+mix(v)*s1)>>slotShift+step)&last]
		if (of0[id]^w)|(of1[id]^v) != 0 {
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
func (t *table) probe2(k *keys, i uint32) *uint32 {
	index, last := t.index, uint64(len(t.index)-1)
	w0, w1, mask := k.w0[i], k.w1[i], k.maskOf(i)
	for h := t.hash2(w0, w1, mask) >> slotShift; ; h++ {
		s := &index[h&last]
		if id := *s; id == 0 || t.w0[id] == w0 && t.w1[id] == w1 && t.maskOf(id) == mask &&
			(!k.long(i) || string(t.long(id)) == k.texts[i]) {
			return s
		}
	}
}

// insertSlots is table.insert for the rows that findHome1 or findHome2 returned.
func (t *table) insertSlots(k *keys, ids, miss []uint32, dropNulls bool) []uint32 {
	if t.form == keyWord && k.mask == nil && t.mask == nil {
		return t.insertWords(k.w0, ids, miss)
	}
	fresh := 0
	for _, i := range miss {
		mask := k.maskOf(i)
		var s *uint32
		if t.form == keyWord {
			s = t.probe1(k.w0[i], mask)
		} else {
			s = t.probe2(k, i)
		}
		ids[i] = *s
		if *s != 0 || dropNulls && mask != 0 {
			continue
		}
		id := t.add(k, i)
		*s, ids[i] = id, id
		miss[fresh] = i
		fresh++
		if len(t.w0) > t.room {
			t.grow()
		}
	}
	return miss[:fresh]
}

// insertWords is insertSlots for keys of one word without a mask.
func (t *table) insertWords(w0 []uint64, ids, miss []uint32) []uint32 {
	index, last, of := t.index, uint64(len(t.index)-1), t.w0
	seed, fresh := t.seed[0], 0
	for _, i := range miss {
		w := w0[i]
		h := mix(w) * seed >> slotShift
		id := index[h&last]
		for id != 0 && of[id] != w {
			h++
			id = index[h&last]
		}
		if id == 0 {
			id = uint32(len(of))
			of = append(of, w)
			index[h&last] = id
			miss[fresh] = i
			fresh++
			if len(of) > t.room {
				t.w0 = of
				t.grow()
				index, last = t.index, uint64(len(t.index)-1)
			}
		}
		ids[i] = id
	}
	t.w0 = of
	return miss[:fresh]
}
