// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// This file is what happens to a batch: a worker looks at the data and chooses between its own table and the partitions.
//
// It begins with a table of its own, unless a sample says that there are too many groups for that. When the table has grown to the size of
// the cache there are two cases. If most rows meet groups that are there already, as with skewed keys, the table is frozen: it takes in
// no more groups, and only strangers go to the partitions. If not, what it has goes to the partitions, and all rows after that.

// A Worker adds batches to its Grouper on behalf of one goroutine. Workers do not wait for each other. Rows added are part of the result
// when the goroutine has ended its calls before Finish.
type Worker struct {
	g     *Grouper
	plan  *plan
	maker *keyMaker
	mode  mode
	local *folder // nil when scattering
	fold  *folder // for partitions

	coded  codedGroups
	values []Column // the columns of plan.used
	part   []Column // and a chunk of them

	// For the choice of the mode: rows seen, and strangers among them, since the last look.
	rows, strangers int
	half            bool // the table is half as large as it may be; rows counts from there

	out   [partitions]*block
	sent  [partitions]int // rows, for the size of the next block
	mem   slab            // of blocks
	text  int             // bytes of the long keys of rows sent
	texts int             // rows sent
	parts [scatterRows]uint8
	sel   [scatterRows]uint32
}

type mode uint8

const (
	modeNew     mode = iota // no rows yet
	modeTable               // all rows to the table
	modeFrozen              // known groups to the table, strangers to the partitions
	modeScatter             // all rows to the partitions
)

func newWorker(g *Grouper) *Worker {
	w := &Worker{g: g, plan: g.plan, maker: newKeyMaker(g.plan.keys)}
	w.values = make([]Column, len(g.plan.used))
	w.part = make([]Column, len(g.plan.used))
	return w
}

// Add adds a batch. After an error the Grouper is of no more use: rows may be missing.
func (w *Worker) Add(ctx context.Context, b Batch) error {
	if err := w.g.begin(); err != nil {
		return err
	}
	n, err := w.plan.check(b)
	if err != nil {
		return err // nothing was added
	}
	for i := 0; i < n; i += w.plan.morsel {
		if err := ctx.Err(); err != nil {
			return w.g.fail(fmt.Errorf("groupby: %d of %d rows added: %w", i, n, err))
		}
		if err := w.add(&b, i, min(i+w.plan.morsel, n), n); err != nil {
			return w.g.fail(err)
		}
	}
	return nil
}

// add adds rows i to j of a checked batch of n rows; i is a multiple of 64. It keeps nothing of the batch.
func (w *Worker) add(b *Batch, i, j, n int) error {
	defer w.release()
	for k, v := range w.plan.used {
		w.values[k] = b.Values[v]
	}
	if w.mode == modeNew {
		w.choose(b, n)
	}
	for i < j {
		rows := chunkRows
		if w.mode == modeScatter {
			rows = scatterRows
		}
		end := min(i+rows, j)
		for k := range w.values {
			w.part[k] = w.values[k].Slice(i, end)
		}
		c := chunk{keys: &w.maker.keys, values: w.part, start: b.Start + int64(i)}
		codes := w.codesOf(b.Keys, i, end)
		if ids := w.known(codes); ids != nil {
			if err := w.addLocated(&c, ids, nil); err != nil {
				return err
			}
			i = end
			continue
		}
		w.maker.make(b.Keys, i, end)
		var err error
		if w.mode == modeScatter {
			err = w.scatter(&c, nil)
		} else {
			err = w.addLocal(&c)
		}
		w.learn(codes)
		if err != nil {
			return err
		}
		i = end
	}
	return nil
}

// release forgets the batch, which would otherwise stay in memory as long as the worker does.
func (w *Worker) release() {
	clear(w.values)
	clear(w.part)
	w.maker.release()
	if w.local != nil {
		w.local.release()
	}
}

// addLocal adds a chunk to the table, and what the table does not take in to the partitions.
func (w *Worker) addLocal(c *chunk) error {
	ids, strangers, err := w.local.locate(c, w.mode == modeTable)
	if err != nil {
		return err
	}
	return w.addLocated(c, ids, strangers)
}

// addLocated adds a chunk whose groups are known.
func (w *Worker) addLocated(c *chunk, ids, strangers []uint32) error {
	if err := w.local.accumulate(c, ids); err != nil {
		return err
	}
	w.rows += len(ids)
	if w.mode == modeFrozen {
		w.strangers += len(strangers)
		if len(strangers) > 0 {
			if err := w.scatter(c, strangers); err != nil {
				return err
			}
		}
		if w.rows >= w.plan.morsel {
			if w.strangers > w.rows/2 {
				return w.thaw()
			}
			w.rows, w.strangers = 0, 0
		}
		return nil
	}
	groups := w.local.groups()
	if !w.half && groups > w.plan.local/2 {
		w.half, w.rows = true, 0
	}
	if groups > w.plan.local || w.plan.MemoryLimit > 0 && groups > 1024 && w.local.size() > w.plan.MemoryLimit/4/int64(w.plan.Workers) {
		if w.half && w.plan.local/2 < w.rows/4 {
			w.mode, w.rows, w.strangers = modeFrozen, 0, 0
			return nil
		}
		return w.thaw()
	}
	return nil
}

// sampleRows is the number of rows looked at before the first is added.
const sampleRows = 4096

// choose chooses the mode for the first rows, from a sample of their batch. Of n keys drawn from g groups about n*n/2g have been drawn before.
func (w *Worker) choose(b *Batch, n int) {
	w.mode = modeTable
	w.local = newFolder(w.plan)
	if n < w.plan.sample || len(b.Keys) == 0 {
		return
	}
	sel := w.sel[:sampleRows]
	n = min(n, math.MaxUint32)
	x := uint64(n)
	for k := range sel {
		x = x*6364136223846793005 + 1442695040888963407
		sel[k] = uint32((x >> 32) * uint64(n) >> 32)
	}
	cols := make([]Column, len(b.Keys))
	for k := range cols {
		s := newBuilder(b.Keys[k].typ)
		s.gather(&b.Keys[k], sel)
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
	groups := sampleRows * sampleRows / 2 / max(1, again)
	if groups > w.plan.local {
		w.mode, w.local = modeScatter, nil
		return
	}
	if again > sampleRows/2 {
		groups = t.groups()
	}
	w.local.t.expect(groups, lo, hi)
}

// thaw moves the groups of the table to the partitions, and all rows from now on.
func (w *Worker) thaw() error {
	f := w.local
	w.local, w.mode = nil, modeScatter
	return w.flush(f)
}

// flush puts the groups of a folder into the partitions.
func (w *Worker) flush(f *folder) error {
	states, err := f.states()
	if err != nil {
		return err
	}
	var out [partitions]*block
	var numbers []int64
	for i := 0; i < f.groups(); i += chunkRows {
		j := min(i+chunkRows, f.groups())
		var k keys
		f.t.view(&k, i, j, w.maker.buf.texts)
		part := make([]Column, len(states))
		for n := range states {
			part[n] = states[n].Slice(i, j)
		}
		if f.rowNumbers {
			numbers = f.numbers[i:j]
		}
		from := 0
		if i == 0 {
			from = 1 // group 0
		}
		sel, ends := w.sort(&k, nil, from)
		start := 0
		for p, end := range ends {
			if end > start {
				if out[p] == nil {
					out[p] = w.plan.newBlock(true)
				}
				out[p].gather(&k, part, numbers, 0, sel[start:end])
			}
			start = end
		}
	}
	return w.put(&out)
}

// put puts blocks into the partitions.
func (w *Worker) put(out *[partitions]*block) error {
	for p, b := range out {
		if b != nil {
			out[p] = nil
			if err := w.g.store.put(p, b, w.folder); err != nil {
				return err
			}
		}
	}
	return nil
}

// folder returns the folder for partitions.
func (w *Worker) folder() *folder {
	if w.fold == nil {
		w.fold = newFolder(w.plan)
	}
	return w.fold
}

// sort sorts rows by the partitions of their keys: those of sel, or if it is nil all from from on. It returns the rows in order, and where
// those of each partition end. Rows that DropNulls leaves out are not among them.
func (w *Worker) sort(k *keys, sel []uint32, from int) ([]uint32, *[partitions]int) {
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
		for _, p := range parts[from:] {
			ends[p]++
		}
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

// scatter puts rows into the partitions: those of sel, or all if that is nil.
func (w *Worker) scatter(c *chunk, sel []uint32) error {
	for k := range c.values {
		if size := textSize(&c.values[k], 0, c.values[k].n); size > maxText-w.plan.blockText {
			return fmt.Errorf("groupby: %d bytes of text in %d rows: at most %d", size, c.values[k].n, maxText-w.plan.blockText)
		}
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
			if err := w.g.store.put(p, b, w.folder); err != nil {
				return err
			}
			b = nil
		}
		if b == nil {
			b = w.plan.newRows()
			n := min(w.plan.blockRows, max(256, w.sent[p]))
			b.reserve(w.plan, n, min(w.plan.blockText, w.text*n/max(1, w.texts)), &w.mem)
			w.out[p] = b
		}
		numbers := c.numbers
		before := len(b.rows.text)
		b.gather(c.keys, c.values, numbers, c.start, rows[start:end])
		w.text += len(b.rows.text) - before
		w.texts += end - start
		w.sent[p] += end - start
		start = end
	}
	return nil
}

// finish puts everything that the worker has into the partitions.
func (w *Worker) finish() error {
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
