// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"

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
	unexamined   int  // rows until the keys are examined for a direct table; 0 or less: they were

	missed *block // rows that the table did not accept, until they are enough for scatter; nil before the first
	out    [partitions]*block
	sent   [partitions]int // rows, to size the next block
	mem    *slab           // of blocks; nil with a memory limit, since a slab stays as long as any of its blocks
	text   int             // bytes of long keys in the rows sent
	texts  int             // rows sent
	parts  [scatterRows]uint8
	sel    [scatterRows]uint32
	// The rows of a chunk whose key differs from the key of the row before; nil unless the plan is keysOnly.
	changed []uint32
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
	if s.plan.keysOnly {
		w.changed = make([]uint32, scatterRows)
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
	ids, err := w.locateCodes(&c, keys, codes, i)
	if err != nil {
		return err
	}
	if ids != nil {
		return w.addLocated(&c, ids, nil)
	}
	if ids, err = w.locateSparse(&c, keys, i, j); err != nil {
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
	if w.unexamined > 0 {
		if w.unexamined -= len(ids); w.unexamined <= 0 {
			w.local.t.narrow()
		}
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
		w.unexamined = w.plan.sample
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
