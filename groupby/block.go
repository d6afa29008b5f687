// SPDX-License-Identifier: Apache-2.0

package groupby

import "unsafe"

// This file holds blocks: rows, or states of groups, with their keys. What is kept of the input beyond a worker's own table is blocks: in
// partitions, in temporary files, in what is sent to other machines.

// A block holds rows that wait to be aggregated, or groups with their states.
type block struct {
	rows keyRows
	// Rows: the values that aggregates use. Groups: the states of all aggregates, one after the other.
	cols []builder
	// The number of each row, or of the first row of each group; empty if nobody asks for it.
	numbers  []int64
	numbered bool
	states   bool
}

// keyRows are keys that are kept. See keys for the words; the bytes of long ones are in text.
type keyRows struct {
	w0, w1 []uint64
	mask   []uint32 // nil, or as long as w0
	text   []byte
	ends   []int64 // of each key's bytes in text; empty as long as no key is long
}

func (r *keyRows) n() int { return len(r.w0) }

func (r *keyRows) reset() {
	r.w0, r.w1, r.mask, r.text, r.ends = r.w0[:0], r.w1[:0], nil, r.text[:0], r.ends[:0]
}

func (r *keyRows) size() int64 {
	return int64(8*cap(r.w0) + 8*cap(r.w1) + 4*cap(r.mask) + cap(r.text) + 8*cap(r.ends))
}

// gather appends keys.
func (r *keyRows) gather(k *keys, sel []uint32) {
	if len(sel) == 0 {
		return
	}
	r.startMask(k.mask != nil, len(sel))
	n := len(r.w0)
	r.w0 = grown(r.w0, n+len(sel))
	gather(&r.w0[n], &k.w0[0], len(k.w0), sel)
	if k.w1 != nil {
		r.w1 = grown(r.w1, n+len(sel))
		gather(&r.w1[n], &k.w1[0], len(k.w1), sel)
	}
	if k.mask != nil {
		gather(&r.mask[n], &k.mask[0], len(k.mask), sel)
	}
	if k.texts != nil || len(r.ends) > 0 {
		r.startEnds(n)
		for _, i := range sel {
			if k.long(i) {
				r.text = append(r.text, k.texts[i]...)
			}
			r.ends = append(r.ends, int64(len(r.text)))
		}
	}
}

// append appends the keys of other from row i on.
func (r *keyRows) append(other *keyRows, i int) {
	r.startMask(other.mask != nil, len(other.w0)-i)
	if other.mask != nil {
		copy(r.mask[len(r.w0):], other.mask[i:])
	}
	r.w0 = append(r.w0, other.w0[i:]...)
	r.w1 = append(r.w1, other.w1[min(i, len(other.w1)):]...)
	if len(other.ends) > 0 || len(r.ends) > 0 {
		r.startEnds(len(r.w0) - (len(other.w0) - i))
	}
	switch {
	case len(other.ends) > 0:
		shift, from := int64(len(r.text)), int64(0)
		if i > 0 {
			from = other.ends[i-1]
		}
		r.text = append(r.text, other.text[from:]...)
		for _, end := range other.ends[i:] {
			r.ends = append(r.ends, end-from+shift)
		}
	case len(r.ends) > 0:
		r.startEnds(len(r.w0))
	}
}

// startEnds makes the ends of the first n rows, as far as they are not there: those of rows that came when no key was long.
func (r *keyRows) startEnds(n int) {
	for len(r.ends) < n {
		r.ends = append(r.ends, int64(len(r.text)))
	}
}

// slice returns a view of rows i to j of keys that have no text.
func (r *keyRows) slice(i, j int) keyRows {
	s := keyRows{w0: r.w0[i:j]}
	if len(r.w1) > 0 {
		s.w1 = r.w1[i:j]
	}
	if r.mask != nil {
		s.mask = r.mask[i:j]
	}
	return s
}

// long returns the bytes of row i, if it is a long key.
func (r *keyRows) long(i uint32) []byte {
	start := int64(0)
	if i > 0 {
		start = r.ends[i-1]
	}
	return r.text[start:r.ends[i]]
}

// startMask makes mask if there is one now, and room for n more.
func (r *keyRows) startMask(now bool, n int) {
	if now && r.mask == nil {
		r.mask = make([]uint32, len(r.w0), cap(r.w0))
	}
	if r.mask != nil {
		r.mask = grown(r.mask, len(r.w0)+n)
	}
}

// view sets k to rows i to j, with texts made in the memory given, as long as that is enough.
func (r *keyRows) view(k *keys, i, j int, texts []string) {
	longs := k.longs[:0]
	*k = keys{w0: r.w0[i:j]}
	if len(r.w1) > 0 {
		k.w1 = r.w1[i:j]
	}
	if r.mask != nil {
		k.mask = r.mask[i:j]
	}
	if len(r.ends) > 0 {
		for n, w := range k.w1 {
			if w>>tagShift == tagLong {
				longs = append(longs, uint32(n))
			}
		}
		k.longs = longs
		k.texts = texts[:j-i]
		start := int64(0)
		if i > 0 {
			start = r.ends[i-1]
		}
		for n, end := range r.ends[i:j] {
			k.texts[n] = ""
			if end > start {
				k.texts[n] = unsafe.String(&r.text[start], end-start)
			}
			start = end
		}
	}
}

func (p *plan) newBlock(states bool) *block {
	b := &block{}
	b.begin(p, states)
	return b
}

// begin makes an empty block for a plan of one that may have served another.
func (b *block) begin(p *plan, states bool) {
	b.states, b.numbered = states, p.rowNumbers
	b.rows.reset()
	b.numbers = b.numbers[:0]
	types := p.rowTypes
	if states {
		types = p.stateTypes
	}
	if cap(b.cols) < len(types) {
		b.cols = append(b.cols[:cap(b.cols)], make([]builder, len(types)-cap(b.cols))...)
	}
	b.cols = b.cols[:len(types)]
	for i, t := range types {
		b.cols[i].begin(t)
	}
}

// reserve makes room in an empty block for n rows, with so many bytes of long keys.
func (b *block) reserve(p *plan, n, text int, mem *slab) {
	if cap(b.rows.w0) < n {
		b.rows.w0 = mem.take(n)
	}
	if p.keys.form != keyWord && cap(b.rows.w1) < n {
		b.rows.w1 = mem.take(n)
	}
	if cap(b.rows.text) < text {
		b.rows.text = mem.takeBytes(text + text/8)
	}
	if text > 0 && cap(b.rows.ends) < n {
		w := mem.take(n)
		b.rows.ends = unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(w))), cap(w))[:0]
	}
	if b.numbered && cap(b.numbers) < n {
		w := mem.take(n)
		b.numbers = unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(w))), cap(w))[:0]
	}
	for i := range b.cols {
		b.cols[i].reserve(n, mem)
	}
}

// gather appends the rows sel of a chunk: keys, columns, and numbers, which are start and on if they are nil; they are kept if the plan wants
// them.
func (b *block) gather(k *keys, cols []Column, numbers []int64, start int64, sel []uint32) {
	b.rows.gather(k, sel)
	for i := range b.cols {
		b.cols[i].gather(&cols[i], sel)
	}
	if !b.numbered {
		return
	}
	for _, i := range sel {
		if numbers != nil {
			b.numbers = append(b.numbers, numbers[i])
		} else {
			b.numbers = append(b.numbers, start+int64(i))
		}
	}
}

func (b *block) n() int { return b.rows.n() }

// check returns an error if a column has more text than it can hold.
func (b *block) check() error {
	for i := range b.cols {
		if err := b.cols[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (b *block) size() int64 {
	s := b.rows.size() + int64(8*cap(b.numbers))
	for i := range b.cols {
		s += b.cols[i].size()
	}
	return s
}

// full tells whether another n rows had better go to another block.
func (b *block) full(p *plan, n int) bool {
	if b.n() == 0 {
		return false
	}
	if b.n()+n > p.blockRows || len(b.rows.text) > p.blockText {
		return true
	}
	for i := range b.cols {
		if len(b.cols[i].text) > p.blockText {
			return true
		}
	}
	return false
}
