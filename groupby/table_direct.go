// SPDX-License-Identifier: Apache-2.0

package groupby

// Direct tables: arrays for keys of one word that are close to each other.

// A direct is an array that replaces the slots while keys are one word each and close to each other. It has the group
// by key minus base, 0 for none.
type direct struct {
	base uint64
	ids  []uint32 // nil means that the direct table is unused
	null uint32   // the group of NULL if there is one key column
}

const maxDirect = 1 << 18

// find is table.findHome in the direct table.
func (d *direct) find(k *keys, ids, miss []uint32) []uint32 {
	base, known := d.base, d.ids
	w0 := k.w0
	ids = ids[:len(w0)]
	some := uint32(0) // top bit is set if an id is 0
	if k.mask == nil {
		for i, w := range w0 {
			var id uint32
			if x := w - base; x < uint64(len(known)) {
				id = known[x]
			}
			ids[i] = id
			some |= id - 1
		}
	} else {
		mask, null := k.mask[:len(w0)], d.null
		for i, w := range w0 {
			var id uint32
			valid := uint64((int64(mask[i]) - 1) >> 63) // all ones or 0, so that a NULL needs no branch
			if x := (w - base) & valid; x < uint64(len(known)) {
				id = known[x]
			}
			if mask[i] != 0 {
				id = null
			}
			ids[i] = id
			some |= id - 1
		}
	}
	return missing(ids, some, miss)
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

// insertDirect is insert for the direct table. If the new keys do not fit, it moves the groups to slots and continues
// there.
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
		return t.insertSlots(k, ids, miss, dropNulls), nil
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

// move sets the range of the direct table to [lo, hi] or wider.
func (d *direct) move(t *table, lo, hi uint64) {
	room := min(hi-lo+64, maxDirect-(hi-lo)-1) / 2 // slack, so that moves are rare
	lo -= min(room, lo)
	hi += min(room, ^uint64(0)-hi)
	d.base, d.ids = lo, make([]uint32, hi-lo+1)
	for id := 1; id < len(t.w0); id++ {
		if t.mask == nil || t.mask[id] == 0 {
			d.ids[t.w0[id]-lo] = uint32(id)
		}
	}
}

// narrow moves the groups from slots to a direct table if their keys are one word each and close to each other.
func (t *table) narrow() {
	if t.form != keyWord || t.direct.ids != nil {
		return
	}
	lo, hi, null := ^uint64(0), uint64(0), uint32(0)
	for id := uint32(1); id < uint32(len(t.w0)); id++ {
		switch mask := t.maskOf(id); {
		case mask == 0:
			lo, hi = min(lo, t.w0[id]), max(hi, t.w0[id])
		case len(t.types) > 1:
			return // a direct table has no place for it
		default:
			null = id
		}
	}
	if lo <= hi && hi-lo < maxDirect {
		t.direct.move(t, lo, hi)
		t.direct.null = null
	}
}

// leaveDirect moves all groups to slots.
func (t *table) leaveDirect() {
	t.direct = direct{}
	t.makeSlots(len(t.index))
	t.grow()
}
