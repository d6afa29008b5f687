// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
)

// The way of a worker's rows and groups to the partitions: they are sorted by partition, a chunk at a time, and
// appended to one block for each partition.

// flush moves the groups of a merger, which is not used afterwards, to the partitions.
func (w *worker) flush(m *merger) error {
	defer w.store.countMerger(m, true)
	var out [partitions]*block
	var numbers []int64
	for i := 0; i < m.groups(); i += chunkRows {
		j := min(i+chunkRows, m.groups())
		states, err := m.states(i, j)
		if err != nil {
			return err
		}
		k := &m.view
		m.t.view(k, i, j, w.maker.buf.texts)
		if m.plan.rowNumbers {
			numbers = m.numbers[i:j]
		}
		from := 0
		if i == 0 {
			from = 1 // group 0
		}
		sel, ends := w.sort(k, nil, from)
		start := 0
		for p, end := range ends {
			if end > start {
				if out[p] == nil {
					out[p] = w.plan.newBlock(true)
					out[p].distinct = true
				}
				out[p].gather(k, states, numbers, 0, sel[start:end])
			}
			start = end
		}
		k.dropTexts()
	}
	return w.put(&out)
}

// put puts blocks into the partitions.
func (w *worker) put(out *[partitions]*block) error {
	for p, b := range out {
		if b != nil {
			out[p] = nil
			if err := w.store.put(p, b, w.merger); err != nil {
				return err
			}
		}
	}
	return nil
}

// merger returns the merger for partitions.
func (w *worker) merger() *merger {
	if w.merging == nil {
		w.merging = newMerger(w.plan)
	}
	return w.merging
}

// sort sorts rows by the partitions of their keys: the rows sel, or, if it is nil, all rows from first on. It returns
// the sorted rows, and the end of each partition among them. Rows that DropNulls skips are omitted.
func (w *worker) sort(k *keys, sel []uint32, first int) ([]uint32, *[partitions]int) {
	n := len(k.w0)
	parts := w.parts[:n]
	w.plan.keys.partitionOf(k, parts)
	drop := w.plan.DropNulls && k.mask != nil
	if sel == nil && drop {
		for i := first; i < n; i++ {
			sel = append(sel, uint32(i))
		}
	}
	if drop {
		sel = slices.DeleteFunc(sel, func(i uint32) bool { return k.mask[i] != 0 })
	}
	var ends [partitions]int
	count := len(sel)
	if sel == nil {
		count = n - first
		countParts(parts[first:], &ends)
	}
	for _, i := range sel {
		ends[parts[i]]++
	}
	at := 0
	for p, c := range ends {
		ends[p] = at
		at += c
	}
	out := w.sel[:count]
	if sel == nil {
		for i := first; i < n; i++ {
			p := parts[i]
			out[ends[p]] = uint32(i)
			ends[p]++
		}
	}
	for _, i := range sel {
		p := parts[i]
		out[ends[p]] = i
		ends[p]++
	}
	return out, &ends
}

// countParts adds the number of occurrences of each partition to counts. Two counters alternate, so that one increment
// does not wait for the one before.
func countParts(parts []uint8, counts *[partitions]int) {
	var odd [partitions]int
	for ; len(parts) >= 2; parts = parts[2:] {
		counts[parts[0]]++
		odd[parts[1]]++
	}
	if len(parts) > 0 {
		counts[parts[0]]++
	}
	for p, n := range odd {
		counts[p] += n
	}
}

// addMisses adds the rows misses of a chunk, which the table did not accept, to the partitions. Rows are collected
// first, since few of a chunk belong to the same partition.
func (w *worker) addMisses(c *chunk, misses []uint32) error {
	if len(misses) == 0 {
		return nil
	}
	if err := w.plan.checkText(c.values, 2*w.plan.blockText); err != nil {
		return err
	}
	if w.missed == nil {
		w.missed = w.plan.newBlock(false)
	}
	b := w.missed
	b.gather(c.keys, c.values, c.numbers, c.start, misses)
	if w.plan.MemoryLimit > 0 {
		w.store.count(b)
	}
	if b.n()+chunkRows > min(scatterRows, partitions*w.plan.blockRows) || b.fullOfText(w.plan) {
		return w.scatterMissed()
	}
	return nil
}

// scatterMissed moves the rows that addMisses collected to the partitions. The keys of the maker become invalid.
func (w *worker) scatterMissed() error {
	b := w.missed
	if b == nil || b.n() == 0 {
		return nil
	}
	k := &w.local.view
	b.rows.view(k, 0, b.n(), w.maker.buf.texts)
	defer k.dropTexts()
	c := chunk{keys: k, values: make([]column.Column, len(b.cols)), numbers: b.numbers}
	for i := range b.cols {
		c.values[i] = b.cols[i].column()
	}
	if err := w.scatter(&c, nil); err != nil {
		return err
	}
	b.begin(w.plan, false)
	if b.size() > 1<<20 { // of long texts
		w.dropMissed()
	}
	return nil
}

// dropMissed releases the memory of the rows that addMisses collected.
func (w *worker) dropMissed() {
	if w.missed != nil {
		w.store.held.Add(-w.missed.counted)
		w.missed = nil
	}
}

// checkText returns an error if a column of a chunk does not fit into a builder beside so many other bytes of text.
func (p *plan) checkText(values []column.Column, others int) error {
	for k := range values {
		if size := textSize(&values[k], 0, values[k].Len); size > maxText-others {
			return fmt.Errorf("groupby: %d bytes of text in %d rows exceed the limit of %d; add smaller batches", size,
				values[k].Len, maxText-others)
		}
	}
	return nil
}

// scatter adds rows to the partitions: the rows sel, or all rows if it is nil.
func (w *worker) scatter(c *chunk, sel []uint32) error {
	if err := w.plan.checkText(c.values, w.plan.blockText); err != nil {
		return err
	}
	if sel == nil && w.plan.keysOnly {
		sel = c.changes(w.changed)
	}
	rows, ends := w.sort(c.keys, sel, 0)
	start := 0
	for p, end := range ends {
		if end == start {
			continue
		}
		b := w.out[p]
		if b != nil && b.full(w.plan, end-start) {
			w.out[p] = nil
			if err := w.store.put(p, b, w.merger); err != nil {
				return err
			}
			b = nil
		}
		if b == nil {
			b = w.plan.newRows()
			n := min(w.plan.blockRows, max(256, w.sent[p]))
			b.reserve(w.plan, n, min(w.plan.blockText, w.text*n/max(1, w.texts)), w.mem)
			w.out[p] = b
		}
		numbers := c.numbers
		before := len(b.rows.text)
		b.gather(c.keys, c.values, numbers, c.start, rows[start:end])
		if w.plan.MemoryLimit > 0 {
			w.store.count(b)
		}
		w.text += len(b.rows.text) - before
		w.texts += end - start
		w.sent[p] += end - start
		start = end
	}
	return nil
}
