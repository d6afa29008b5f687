// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"slices"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Blocks: rows, or states of groups, with their keys. Partitions, temporary files and partials consist of blocks; only
// a worker's own table does not.

// A block holds rows that wait for aggregation, or groups with their states.
type block struct {
	rows keyRows
	// In a block of rows, the values that aggregates use. In a block of groups, the states of all aggregates, one after
	// the other.
	cols []builder
	// The number of each row, or of the first row of each group; empty unless the plan needs numbers.
	numbers  []int64
	numbered bool
	states   bool
	distinct bool  // no two rows have the same key
	counted  int64 // bytes in store.held
}

// keyRows are stored keys. The words are described at keys; text has the bytes of long keys.
type keyRows struct {
	w0, w1 []uint64
	mask   []uint32 // nil, or as long as w0
	text   []byte
	ends   []int64 // end of each key's bytes in text; empty until the first long key
}

func (r *keyRows) n() int { return len(r.w0) }

func (r *keyRows) reset() {
	r.w0, r.w1, r.mask, r.text, r.ends = r.w0[:0], r.w1[:0], nil, r.text[:0], r.ends[:0]
}

func (r *keyRows) size() int64 {
	return int64(8*cap(r.w0) + 8*cap(r.w1) + 4*cap(r.mask) + cap(r.text) + 8*cap(r.ends))
}

// gather appends the keys of rows sel.
func (r *keyRows) gather(k *keys, sel []uint32) {
	if len(sel) == 0 {
		return
	}
	r.startMask(k.mask != nil, len(sel))
	n := len(r.w0)
	r.w0 = extended(r.w0, n+len(sel))
	gather(&r.w0[n], &k.w0[0], len(k.w0), sel)
	if k.w1 != nil {
		r.w1 = extended(r.w1, n+len(sel))
		gather(&r.w1[n], &k.w1[0], len(k.w1), sel)
	}
	if k.mask != nil {
		gather(&r.mask[n], &k.mask[0], len(k.mask), sel)
	}
	if k.texts != nil || len(r.ends) > 0 {
		r.startEnds(n)
		r.gatherTexts(k, sel)
	}
}

// gatherTexts appends the bytes of the rows sel, whose words are the last of w1, and their ends.
func (r *keyRows) gatherTexts(k *keys, sel []uint32) {
	n := len(r.w0) - len(sel)
	at, size := len(r.text), 0
	if k.texts != nil {
		for _, i := range sel {
			if k.long(i) {
				size += len(k.texts[i])
			}
		}
	}
	r.text = extended(r.text, at+size)
	r.ends = slices.Grow(r.ends, len(sel))[:n+len(sel)]
	text, ends := r.text, r.ends[n:]
	for j, i := range sel {
		if k.long(i) {
			at += copy(text[at:], k.texts[i])
		}
		ends[j] = int64(at)
	}
}

// append appends the keys of other from row i.
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
		r.text = appendBytes(r.text, other.text[from:])
		r.ends = slices.Grow(r.ends, len(other.ends)-i)
		for _, end := range other.ends[i:] {
			r.ends = append(r.ends, end-from+shift)
		}
	case len(r.ends) > 0:
		r.startEnds(len(r.w0))
	}
}

// startEnds adds the missing ends of the first n rows, which came before the first long key.
func (r *keyRows) startEnds(n int) {
	for len(r.ends) < n {
		r.ends = append(r.ends, int64(len(r.text)))
	}
}

// textBytes returns the number of bytes of long keys among rows [i, j).
func (r *keyRows) textBytes(i, j int) int {
	if len(r.ends) == 0 || i == j {
		return 0
	}
	start := int64(0)
	if i > 0 {
		start = r.ends[i-1]
	}
	return int(r.ends[j-1] - start)
}

// long returns the bytes of row i, which is a long key.
func (r *keyRows) long(i uint32) []byte {
	start := int64(0)
	if i > 0 {
		start = r.ends[i-1]
	}
	return r.text[start:r.ends[i]]
}

// reserveText makes room for more bytes of long keys, unless there is as much.
func (r *keyRows) reserveText(n int) { r.text = roomForText(r.text, n) }

// startMask creates the mask if now is set, and extends an existing mask by n rows.
func (r *keyRows) startMask(now bool, n int) {
	if now && r.mask == nil {
		r.mask = make([]uint32, len(r.w0), cap(r.w0))
	}
	if r.mask != nil {
		r.mask = grown(r.mask, len(r.w0)+n)
	}
}

// view sets k to rows [i, j). texts is the memory of its strings, and must have room for j-i. Strings of rows that are
// not long are unspecified.
func (r *keyRows) view(k *keys, i, j int, texts []string) {
	*k = keys{w0: r.w0[i:j], longs: k.longs[:0]}
	if len(r.w1) > 0 {
		k.w1 = r.w1[i:j]
	}
	if r.mask != nil {
		k.mask = r.mask[i:j]
	}
	if len(r.ends) == 0 {
		return
	}
	k.texts = texts[:j-i]
	k.longs = extended(k.longs, j-i)
	longs := 0
	for n, w := range k.w1 {
		k.longs[longs] = uint32(n)
		if w>>tagShift == tagLong {
			longs++
		}
	}
	k.longs = k.longs[:longs]
	for _, n := range k.longs {
		k.texts[n] = stringOf(r.long(uint32(i) + n))
	}
}

// dropTexts drops references to the bytes of long keys.
func (k *keys) dropTexts() {
	for _, n := range k.longs {
		k.texts[n] = ""
	}
}

func (p *plan) newBlock(states bool) *block {
	b := &block{}
	b.begin(p, states)
	return b
}

// begin resets a block for a plan. The block may have served another plan.
func (b *block) begin(p *plan, states bool) {
	b.states, b.distinct, b.numbered = states, false, p.rowNumbers
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

// reserve makes room in an empty block for n rows with text bytes of long keys.
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

// gather appends the rows sel of a chunk: keys, columns and, if the plan needs them, numbers. If numbers is nil, row i
// has the number start+i.
func (b *block) gather(k *keys, cols []column.Column, numbers []int64, start int64, sel []uint32) {
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

// check returns an error if a column has too much text for its offsets.
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

// full reports whether the next n rows should go to another block.
func (b *block) full(p *plan, n int) bool {
	return b.n() > 0 && (b.n()+n > p.blockRows || b.fullOfText(p))
}

// fullOfText reports whether the block has more text than the plan puts into one.
func (b *block) fullOfText(p *plan) bool {
	if len(b.rows.text) > p.blockText {
		return true
	}
	for i := range b.cols {
		if len(b.cols[i].text) > p.blockText {
			return true
		}
	}
	return false
}
