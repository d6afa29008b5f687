// SPDX-License-Identifier: Apache-2.0

package groupby

// This file is phase 1: the table that gives each distinct key its group, a small dense number. Keys that are one word and close to each
// other are looked up directly (table_direct.go), all others by their hash (table_slots.go). Rows are looked up a chunk at a time: first each
// row only where it most probably is, without a branch, as a mispredicted branch costs more than the comparison; those that were not there are
// collected and then looked for one by one.

const (
	idBits    = 32
	maxGroups = 1<<31 - 1
)

// A table numbers distinct keys, from 1 in order of first appearance. Group 0 is that of no key.
type table struct {
	*keyPlan
	direct direct
	slots1 []slot1 // of keys of one word
	slots2 []slot2 // of other keys
	room   int     // the number of groups, group 0 included, that the slots are good for

	keyRows // by group
}

func newTable(p *keyPlan) *table {
	t := &table{keyPlan: p}
	t.makeSlots(minSlots)
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
	switch {
	case len(miss) == 0:
		return miss, nil
	case len(t.w0)+len(miss) > maxGroups:
		return nil, ErrTooManyGroups
	case t.direct.ids != nil:
		return t.insertDirect(k, ids, miss, dropNulls)
	case t.form == keyWord:
		return t.insert1(k, ids, miss, dropNulls), nil
	}
	return t.insert2(k, ids, miss, dropNulls), nil
}

// findHome is the first look: ids of the rows it does not return are right.
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
		return uint32(t.probe1(k.w0[i], k.maskOf(i)).tag)
	}
	return uint32(t.probe2(k, i).tag)
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

// add makes a group of the key of row i, which is not in the table. Where it is found is for the caller to say.
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
		t.ends = append(t.ends, int64(len(t.text)))
	}
	return id
}

// expect prepares an empty table for about so many groups, whose keys are said to lie between lo and hi if they are one word.
func (t *table) expect(groups int, lo, hi uint64) {
	if t.form == keyWord && hi-lo < maxDirect {
		t.direct.move(t, lo, hi)
		return
	}
	for t.room < groups {
		t.makeSlots(2 * (len(t.slots1) + len(t.slots2)))
	}
}
