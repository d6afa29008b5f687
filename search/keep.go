// SPDX-License-Identifier: Apache-2.0

package search

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/vector"
)

// The nearest rows of each query while batches pass: their distances, keys and columns. Rows are copied in chunks, one
// for each batch; chunks with few live rows are compacted into one.

// A keeper keeps the k nearest of the rows that were offered, for each query. Several goroutines may offer rows.
type keeper struct {
	k int
	// key appends the key of a row, by which rows at the same distance are ordered; nil means by position.
	key func(dst []byte, b *column.Batch, row int) ([]byte, error)

	mu sync.Mutex
	// lists have up to 2k rows of each query. Those beyond k are dropped when a list is full, so that sorting costs
	// O(log k) a row.
	lists  []nearList
	chunks []*chunk
	idle   []*chunk   // whose memory is used again
	unused []*keptRow // whose memory is used again
	held   int        // rows of chunks
	live   int        // rows of chunks that a query has
	picks  []int32
}

// A nearList is the rows near to one query, the nearest first up to sorted. No row after last can be one of the k
// nearest.
type nearList struct {
	rows []nearRow
	last nearRow // the k-th nearest when the list was last sorted; without a row if there were fewer
}

type nearRow struct {
	distance float32
	row      *keptRow
}

// A keptRow is a row of a chunk that some queries have. Rows at one distance are ordered by key, then by position.
type keptRow struct {
	chunk    *chunk
	at       int // in the chunk
	queries  int // that have the row
	position int64
	key      []byte
}

// A chunk is copies of rows.
type chunk struct {
	batch column.Batch
	rows  []*keptRow // nil for a row that no query has
	live  int
	place int // in keeper.chunks
}

// spareChunks bounds keeper.idle.
const spareChunks = 16

func newKeeper(queries, k int) *keeper { return &keeper{k: k, lists: make([]nearList, queries)} }

// compare orders rows as results do: NaN is the farthest.
func (a nearRow) compare(b nearRow) int {
	if c := compareDistances(a.distance, b.distance); c != 0 {
		return c
	}
	return cmp.Or(bytes.Compare(a.row.key, b.row.key), cmp.Compare(a.row.position, b.row.position))
}

// compareDistances orders distances, NaN last: cmp.Compare has it first.
func compareDistances(a, b float32) int { return cmp.Compare(-b, -a) }

// offer keeps those rows of b that are among the nearest. near has the rows in the order of their positions; row 0 of
// b has position first.
func (k *keeper) offer(b *column.Batch, first int64, near []vector.Neighbor) error {
	if len(near) == 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.newChunk()
	k.picks = k.picks[:0]
	for i, j := 0, 0; i < len(near); i = j {
		for j = i; j < len(near) && near[j].Position == near[i].Position; j++ {
		}
		if err := k.offerRow(c, b, first, near[i:j]); err != nil {
			return err
		}
	}
	if len(c.rows) == 0 {
		k.recycle(c)
		return nil
	}
	if err := b.TakeInto(&c.batch, k.picks); err != nil {
		return err
	}
	c.place = len(k.chunks)
	k.chunks = append(k.chunks, c)
	k.held += len(c.rows)
	k.sortFull(near)
	return k.compactIf(k.held > 2*k.live+64)
}

// offerRow appends a row to the lists of the queries for which it is near, and then to a chunk.
func (k *keeper) offerRow(c *chunk, b *column.Batch, first int64, near []vector.Neighbor) (err error) {
	row := k.newRow()
	at := near[0].Position - first
	row.position = near[0].Position
	needsKey := k.key != nil
	for _, n := range near {
		list := &k.lists[n.Query]
		if list.last.row != nil && compareDistances(n.Distance, list.last.distance) > 0 {
			continue
		}
		if needsKey {
			if row.key, err = k.key(row.key[:0], b, int(at)); err != nil {
				return err
			}
			needsKey = false
		}
		if found := (nearRow{n.Distance, row}); list.last.row == nil || found.compare(list.last) < 0 {
			list.rows = append(list.rows, found)
			row.queries++
		}
	}
	if row.queries == 0 {
		k.unused = append(k.unused, row)
		return nil
	}
	row.chunk, row.at = c, len(c.rows)
	c.rows = append(c.rows, row)
	c.live++
	k.live++
	k.picks = append(k.picks, int32(at))
	return nil
}

func (k *keeper) newChunk() *chunk {
	if n := len(k.idle); n > 0 {
		c := k.idle[n-1]
		k.idle = k.idle[:n-1]
		return c
	}
	return &chunk{}
}

func (k *keeper) newRow() *keptRow {
	if n := len(k.unused); n > 0 {
		row := k.unused[n-1]
		k.unused = k.unused[:n-1]
		*row = keptRow{key: row.key}
		return row
	}
	return &keptRow{}
}

// recycle stores a chunk without rows for the next use of its memory.
func (k *keeper) recycle(c *chunk) {
	c.rows, c.live = c.rows[:0], 0
	if len(k.idle) < spareChunks {
		k.idle = append(k.idle, c)
	}
}

// sortFull sorts the lists of queries that have 2k rows or more, and drops the rows beyond k.
func (k *keeper) sortFull(near []vector.Neighbor) {
	for _, n := range near {
		if len(k.lists[n.Query].rows)-k.k >= k.k {
			k.sort(&k.lists[n.Query])
		}
	}
}

func (k *keeper) sort(list *nearList) {
	slices.SortFunc(list.rows, nearRow.compare)
	if len(list.rows) < k.k {
		return
	}
	for _, r := range list.rows[k.k:] {
		k.release(r.row)
	}
	clear(list.rows[k.k:])
	list.rows = list.rows[:k.k]
	list.last = list.rows[k.k-1]
}

// release drops a row of one query.
func (k *keeper) release(row *keptRow) {
	if row.queries--; row.queries > 0 {
		return
	}
	c := row.chunk
	c.rows[row.at] = nil
	c.live--
	k.live--
	k.unused = append(k.unused, row)
	if c.live > 0 {
		return
	}
	k.held -= len(c.rows)
	last := k.chunks[len(k.chunks)-1]
	last.place, k.chunks[c.place] = c.place, last
	k.chunks = k.chunks[:len(k.chunks)-1]
	k.recycle(c)
}

// compactIf copies the live rows to one chunk.
func (k *keeper) compactIf(needed bool) error {
	if !needed || len(k.chunks) == 0 {
		return nil
	}
	to := &chunk{}
	batches := make([]*column.Batch, len(k.chunks))
	for i, c := range k.chunks {
		k.picks = k.picks[:0]
		for at, row := range c.rows {
			if row != nil {
				k.picks = append(k.picks, int32(at))
				row.chunk, row.at = to, len(to.rows)
				to.rows = append(to.rows, row)
			}
		}
		var err error
		if batches[i], err = c.batch.Take(k.picks); err != nil {
			return err
		}
	}
	all, err := column.Concat(batches...)
	if err != nil {
		return err
	}
	for _, c := range k.chunks {
		k.recycle(c)
	}
	clear(k.chunks)
	to.batch, to.live = *all, len(to.rows)
	k.chunks, k.held = append(k.chunks[:0], to), len(to.rows)
	return nil
}

// nearest returns the rows of each query, the nearest first, and a batch of the columns of all of them, in which rows
// have their place at. Without rows the batch is nil. No row may be offered afterwards.
func (k *keeper) nearest() (rows [][]nearRow, b *column.Batch, err error) {
	for i := range k.lists {
		k.sort(&k.lists[i])
		rows = append(rows, k.lists[i].rows)
	}
	if len(k.chunks) == 0 {
		return rows, nil, nil
	}
	if err := k.compactIf(true); err != nil {
		return nil, nil, err
	}
	return rows, &k.chunks[0].batch, nil
}
