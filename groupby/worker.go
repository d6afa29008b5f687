// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math"
	"slices"

	"github.com/vecql/vecql/column"
)

// Workers: a worker examines the data and chooses between its own table and the partitions.
//
// A worker starts with its own table, unless a sample shows too many groups. When the number of groups has doubled,
// from some mark on, and most rows belonged to existing groups, as with skewed keys, the table is frozen: it accepts no
// new groups, and only rows of other groups go to the partitions. When the table has grown to the size of the cache
// without that, the worker abandons it: its groups move to the partitions, and all later rows go there.

// A worker adds rows for one goroutine.
type worker struct {
	store   *store
	plan    *plan
	maker   *keyMaker
	mode    mode
	local   *merger // nil in modeScatter
	merging *merger // for partitions

	coded  codedGroups
	sparse *sparseTexts // nil until the first column that is mostly empty
	picked gatherer
	part   []column.Column // the arguments of a chunk

	// rows and misses since the last choice of the mode.
	rows, misses int
	mark         int  // groups at which the table may be frozen; 0 before the first rows
	from         int  // groups at the mark before, from which rows counts; 0 before the first mark
	sampled      bool // a sample of the first rows showed that the groups fit in the table

	missed *block // rows that the table did not accept, until they are enough for scatter; nil before the first
	out    [partitions]*block
	sent   [partitions]int // rows, to size the next block
	mem    *slab           // of blocks; nil with a memory limit, since a slab stays as long as any of its blocks
	text   int             // bytes of long keys in the rows sent
	texts  int             // rows sent
	parts  [scatterRows]uint8
	sel    [scatterRows]uint32
}

type mode uint8

const (
	modeNew     mode = iota // no rows yet
	modeTable               // all rows to the table
	modeFrozen              // known groups to the table, misses to the partitions
	modeScatter             // all rows to the partitions
)

func newWorker(s *stage) *worker {
	w := &worker{store: s.store, plan: s.plan, maker: newKeyMaker(s.plan.keys)}
	w.part = make([]column.Column, len(s.plan.rowTypes))
	if s.plan.MemoryLimit == 0 {
		w.mem = &slab{}
	}
	return w
}

// add adds rows [i, j) of an input; i is a multiple of 64. It does not retain the input.
func (w *worker) add(in *input, i, j int) error {
	defer w.release()
	if w.mode == modeNew {
		w.choose(in)
	}
	for i < j {
		rows := chunkRows
		if w.mode == modeScatter {
			rows = scatterRows
		}
		end := min(i+rows, j)
		if err := w.addChunk(in, i, end); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// addChunk adds rows [i, j) of an input, which are a chunk.
func (w *worker) addChunk(in *input, i, j int) error {
	c := chunk{keys: &w.maker.keys, values: w.part, start: in.start + int64(i)}
	cols := in.cols
	if in.rows != nil {
		var err error
		if cols, err = w.picked.chunk(in, i, j, &c, w.plan.rowNumbers); err != nil {
			return err
		}
		i, j = 0, j-i
	}
	keys, values := cols[:len(w.plan.Keys)], cols[len(w.plan.Keys):]
	for k := range values {
		w.part[k] = sliceRows(&values[k], i, j)
	}
	if ids := w.onlyGroup(j - i); ids != nil {
		c.only = true
		return w.addLocated(&c, ids, nil)
	}
	codes := w.codesOf(keys, i, j)
	if ids := w.known(codes); ids != nil {
		return w.addLocated(&c, ids, nil)
	}
	ids, err := w.locateSparse(&c, keys, i, j)
	if err != nil {
		return err
	}
	if ids != nil {
		c.only = w.plan.rowsOnly
		return w.addLocated(&c, ids, nil)
	}
	w.maker.make(keys, i, j)
	if w.mode == modeScatter {
		err = w.scatter(&c, nil)
	} else {
		err = w.addLocal(&c)
	}
	w.cacheCodes(codes)
	return err
}

// release drops references to the batch, which would otherwise stay in memory as long as the worker.
func (w *worker) release() {
	clear(w.part)
	w.picked.release()
	w.maker.release()
	if w.sparse != nil {
		w.sparse.cols[0] = column.Column{}
	}
	if w.local != nil {
		w.local.release()
	}
}

// addLocal adds a chunk to the table; rows that the table does not accept go to the partitions.
func (w *worker) addLocal(c *chunk) error {
	ids, misses, err := w.local.locate(c, w.mode == modeTable)
	if err != nil {
		return err
	}
	return w.addLocated(c, ids, misses)
}

// addLocated adds a chunk whose groups are known. Rows in misses go to the partitions.
func (w *worker) addLocated(c *chunk, ids, misses []uint32) error {
	if err := w.local.accumulate(c, ids); err != nil {
		return err
	}
	w.rows += len(ids)
	if w.mode == modeFrozen {
		w.misses += len(misses)
		if err := w.addMisses(c, misses); err != nil {
			return err
		}
		if w.rows >= w.plan.morsel {
			if w.misses > w.rows/2 || w.tooLarge() {
				return w.abandonTable()
			}
			w.rows, w.misses = 0, 0
		}
		return nil
	}
	groups := w.local.groups()
	tooLarge := w.tooLarge()
	if w.mark == 0 {
		w.mark = w.plan.firstMark()
	}
	if groups <= w.mark && !tooLarge {
		return nil
	}
	if w.from >= w.plan.firstFrozen() && groups-w.from < w.rows/4 {
		w.mode, w.rows, w.misses = modeFrozen, 0, 0
		return nil
	}
	if groups > w.plan.local || tooLarge || w.nearlyDistinct(groups) {
		return w.abandonTable()
	}
	w.from, w.rows = groups, 0
	for w.mark < groups {
		w.mark = min(2*w.mark, w.plan.local)
	}
	return nil
}

// nearlyDistinct reports whether the rows until the first mark show that the table will not have room for the groups.
// Keys that come in order, as counters do, all differ at first: a sample of them, or their range, is better evidence.
func (w *worker) nearlyDistinct(groups int) bool {
	return w.from == 0 && !w.sampled && groupsOf(w.rows, w.rows-groups) > w.plan.local && !w.local.t.isNarrow()
}

// firstMark returns the number of groups from which the worker counts rows. The rows until then show whether nearly all
// keys differ, in batches too small for a sample.
func (p *plan) firstMark() int { return max(1, min(p.local/2, max(p.local/8, 4096))) }

// firstFrozen returns the mark from which a table may be frozen. With skewed keys a small table has most rows, and
// stays in the cache. Tables of texts are frozen late, since misses are copied.
func (p *plan) firstFrozen() int {
	if p.keys.form <= keyWords {
		return 1
	}
	return max(1, p.local/2)
}

// groupsOf estimates the number of groups from which a number of keys was drawn, some of them again. Of n keys drawn
// from g groups, about n*n/2g were drawn before. If most were, nearly all groups were drawn.
func groupsOf(keys, again int) int {
	if again > keys/2 {
		return keys - again
	}
	return int(min(float64(keys)*float64(keys)/2/float64(max(1, again)), maxGroups))
}

// tooLarge counts the memory of the table, and reports whether it exceeds its part of the memory limit. A table of few
// groups and less than 1 MiB never does, since the partitions would take more.
func (w *worker) tooLarge() bool {
	if w.plan.MemoryLimit == 0 {
		return false
	}
	w.store.countMerger(w.local, false)
	size := w.local.counted
	return size > w.plan.MemoryLimit/4/int64(w.plan.Workers) && (w.local.groups() > 1024 || size > 1<<20)
}

// sampleRows is the number of rows that are sampled before the first is added.
const sampleRows = 4096

// choose selects the mode for the first rows, from a sample of their input.
func (w *worker) choose(in *input) {
	w.mode = modeTable
	w.local = newMerger(w.plan)
	n, keys := in.n, in.cols[:len(w.plan.Keys)]
	if n < w.plan.sample || len(keys) == 0 {
		return
	}
	sel := w.sel[:sampleRows]
	limit := min(uint64(n), math.MaxUint32)
	x := limit
	for k := range sel {
		x = x*6364136223846793005 + 1442695040888963407
		sel[k] = uint32(in.row(int((x >> 32) * limit >> 32)))
	}
	cols := make([]column.Column, len(keys))
	for k := range cols {
		s := newBuilder(keys[k].Type)
		s.gather(&keys[k], sel)
		cols[k] = s.column()
	}
	t := newTable(w.plan.keys)
	lo, hi := ^uint64(0), uint64(0)
	for i := 0; i < sampleRows; i += chunkRows {
		w.maker.make(cols, i, i+chunkRows)
		k := &w.maker.keys
		if _, err := t.insert(k, w.local.ids[:], w.local.miss[:0], false); err != nil {
			return
		}
		for i, x := range k.w0 {
			if k.maskOf(uint32(i)) == 0 {
				lo, hi = min(lo, x), max(hi, x)
			}
		}
	}
	again := sampleRows - (t.groups() - 1)
	groups := groupsOf(sampleRows, again)
	if groups > w.plan.local {
		w.mode, w.local = modeScatter, nil
		return
	}
	w.sampled = true
	w.local.t.expect(groups, lo, hi)
}

// abandonTable moves the groups of the table to the partitions, and sends all later rows there.
func (w *worker) abandonTable() error {
	if err := w.scatterMissed(); err != nil {
		return err
	}
	f := w.local
	w.local, w.mode = nil, modeScatter
	return w.flush(f)
}

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

// sort sorts rows by the partitions of their keys: the rows sel, or, if it is nil, all rows from from. It returns the
// sorted rows, and the end of each partition among them. Rows that DropNulls skips are omitted.
func (w *worker) sort(k *keys, sel []uint32, from int) ([]uint32, *[partitions]int) {
	n := len(k.w0)
	parts := w.parts[:n]
	w.plan.keys.partitionOf(k, parts)
	drop := w.plan.DropNulls && k.mask != nil
	if sel == nil && drop {
		for i := from; i < n; i++ {
			sel = append(sel, uint32(i))
		}
	}
	if drop {
		sel = slices.DeleteFunc(sel, func(i uint32) bool { return k.mask[i] != 0 })
	}
	var ends [partitions]int
	count := len(sel)
	if sel == nil {
		count = n - from
		countParts(parts[from:], &ends)
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
		for i := from; i < n; i++ {
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

// finish moves all data of the worker to the partitions.
func (w *worker) finish() error {
	if err := w.scatterMissed(); err != nil {
		return err
	}
	w.dropMissed()
	if w.local != nil {
		f := w.local
		w.local = nil
		if err := w.flush(f); err != nil {
			return err
		}
	}
	w.mode = modeScatter
	return w.put(&w.out)
}
