// SPDX-License-Identifier: Apache-2.0

package groupby

import "slices"

// Phase 1: the table maps each distinct key to its group, a small dense number. Keys of one word that are close to each
// other index an array (table_direct.go); all others are hashed (table_slots.go). Rows are looked up a chunk at a time.
// First each row is looked up at its most probable place alone, without a branch, since a mispredicted branch costs
// more than the comparison. Rows that were not there are collected and then looked up one by one.

const maxGroups = 1<<31 - 1

// A table numbers distinct keys from 1, in the order of their first appearance. Group 0 has no key: it is a sink for
// rows to be left out.
type table struct {
	*keyPlan
	direct direct
	index  []uint32 // groups by hash, see table_slots.go; 0 means that a slot is empty
	room   int      // the number of groups, including group 0, that the index has room for

	keyRows // by group
}

func newTable(p *keyPlan) *table {
	t := &table{keyPlan: p}
	t.makeSlots(minSlots)
	t.reset()
	return t
}

// groups returns the number of groups, including group 0.
func (t *table) groups() int { return len(t.w0) }

// reset removes all keys.
func (t *table) reset() {
	clear(t.index)
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

// find writes the group of each key to ids, 0 for unknown keys, and returns the rows of unknown keys in miss, which
// must be empty and have room for all rows.
func (t *table) find(k *keys, ids, miss []uint32) []uint32 {
	if t.form == keyWord && t.direct.ids == nil && k.mask == nil && t.mask == nil {
		return t.findKnown1(k.w0, ids, miss)
	}
	miss = t.findHome(k, ids, miss)
	misses := 0
	for _, i := range miss {
		if ids[i] = t.lookup(k, i); ids[i] == 0 {
			miss[misses] = i
			misses++
		}
	}
	return miss[:misses]
}

// insert is find, except that unknown keys become groups, unless they have a NULL and dropNulls is set. It returns the
// rows that created a group, in the order of the groups.
func (t *table) insert(k *keys, ids, miss []uint32, dropNulls bool) ([]uint32, error) {
	miss = t.findHome(k, ids, miss)
	switch {
	case len(miss) == 0:
		return miss, nil
	case len(t.w0)+len(miss) > maxGroups:
		return nil, ErrTooManyGroups
	case t.direct.ids != nil:
		return t.insertDirect(k, ids, miss, dropNulls)
	}
	return t.insertSlots(k, ids, miss, dropNulls), nil
}

// insertLast is insert for keys that are distinct, after which the table is not searched any more: its index does not
// get the new groups.
func (t *table) insertLast(k *keys, ids, miss []uint32, _ bool) ([]uint32, error) {
	miss = t.find(k, ids, miss)
	if len(t.w0)+len(miss) > maxGroups {
		return nil, ErrTooManyGroups
	}
	for _, i := range miss {
		ids[i] = t.add(k, i)
	}
	return miss, nil
}

// findHome looks up each row at one place. It returns the rows for which that did not decide; ids of the others are
// final.
func (t *table) findHome(k *keys, ids, miss []uint32) []uint32 {
	switch {
	case t.direct.ids != nil:
		return t.direct.find(k, ids, miss)
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
		return *t.probe1(k.w0[i], k.maskOf(i))
	}
	return *t.probe2(k, i)
}

func (k *keys) maskOf(i uint32) uint32 {
	if k.mask == nil {
		return 0
	}
	return k.mask[i]
}

// maskOf returns the mask of a group.
func (t *table) maskOf(id uint32) uint32 {
	if t.mask == nil {
		return 0
	}
	return t.mask[id]
}

// add makes a group of the key of row i, which is not in the table. The caller makes it findable.
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
			t.text = appendBytes(t.text, k.texts[i])
		}
		t.ends = append(t.ends, int64(len(t.text)))
	}
	return id
}

// empty reports whether the table has no keys and looks them up in slots.
func (t *table) empty() bool { return len(t.w0) == 1 && t.direct.ids == nil }

// isNarrow reports whether the keys are one word each, close enough to each other for a direct table.
func (t *table) isNarrow() bool {
	return t.form == keyWord && slices.Max(t.w0[1:])-slices.Min(t.w0[1:]) < maxDirect
}

// adopt makes groups of keys, which are distinct, in an empty table.
func (t *table) adopt(rows *keyRows) {
	t.keyRows.append(rows, 0)
	if len(t.w0) > t.room {
		t.grow()
	} else {
		t.fill()
	}
}

// expect prepares an empty table for about this number of groups. Keys of one word are expected between lo and hi.
func (t *table) expect(groups int, lo, hi uint64) {
	if t.form == keyWord && hi-lo < maxDirect {
		t.direct.move(t, lo, hi)
		return
	}
	for t.room < groups {
		t.makeSlots(2 * len(t.index))
	}
}
