// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/internal/token"
)

// Rows of a table: partitions ordered by token, rows in clustering order, cells with timestamps.
//
// Writes are reconciled on arrival, in any order of arrival: deletions remove what they shadow at once, and stay to
// shadow older writes that arrive later. Readers therefore check only expiry. Rows in a partition are immutable: a
// write replaces the row, and a reader may keep the rows that it found.

const noTimestamp = math.MinInt64

// cell is one value, or a tombstone if deleted is set.
type cell struct {
	value   []byte
	ts      int64 // microseconds
	expires int64 // seconds since 1970: expiry of a cell with a ttl, or write time of a tombstone
	ttl     int32 // seconds; 0 means no expiry
	deleted bool
}

// live reports whether the cell is visible at now, in seconds.
func (a *cell) live(now int64) bool { return !a.deleted && (a.ttl == 0 || now < a.expires) }

// supersedes reports whether a wins over b: the later timestamp, then deletion or expiry, then deletion, then the later
// expiry, the shorter ttl, the larger value (Cassandra's Cells.reconcile).
func (a *cell) supersedes(b *cell) bool {
	if a.ts != b.ts {
		return a.ts > b.ts
	}
	if x, y := a.deleted || a.ttl > 0, b.deleted || b.ttl > 0; x != y {
		return x
	} else if x {
		if a.deleted != b.deleted {
			return a.deleted
		}
		if a.expires != b.expires {
			return a.expires > b.expires
		}
		if a.ttl != b.ttl {
			return a.ttl < b.ttl
		}
	}
	return bytes.Compare(a.value, b.value) > 0
}

// element is a cell of a non-frozen collection or user-defined type. path is the key of a map, the element of a set,
// the number of a field (2 bytes), or the place in a list (8 bytes that only define the order).
type element struct {
	path []byte
	cell
}

// columnData is a row's data of one column: a cell, or elements ordered by path.
type columnData struct {
	id       int32 // column.id
	complex  bool
	owned    bool // elements are not shared with another row; only while a row is built
	cell     cell
	deletion int64 // complex: elements up to this timestamp are deleted
	elements []element
}

// row is immutable once it is in a partition.
type row struct {
	clustering [][]byte
	marker     cell  // set by INSERT: the row exists even without cells
	deletion   int64 // writes up to this timestamp are deleted
	columns    []columnData
	layout     *layout // of a packed row; nil means that the cells are in columns
	packed     []byte  // cells in the order of layout
}

func newRow(clustering [][]byte) *row {
	return &row{clustering: clustering, marker: cell{ts: noTimestamp, deleted: true}, deletion: noTimestamp}
}

// live reports whether any part of the row is visible.
func (r *row) live(now int64) bool {
	if r == nil {
		return false
	}
	if r.marker.live(now) {
		return true
	}
	for i := range r.columns {
		if d := &r.columns[i]; d.complex {
			for j := range d.elements {
				if d.elements[j].live(now) {
					return true
				}
			}
		} else if d.cell.live(now) {
			return true
		}
	}
	return false
}

// data returns the row's data of a column; nil means none.
func (r *row) data(id int32) *columnData {
	if r == nil {
		return nil
	}
	r = r.unpacked()
	i, ok := r.find(id)
	if !ok {
		return nil
	}
	return &r.columns[i]
}

// find returns the position of the data of a column, and whether the row has them.
func (r *row) find(id int32) (int, bool) {
	i := sort.Search(len(r.columns), func(i int) bool { return r.columns[i].id >= id })
	return i, i < len(r.columns) && r.columns[i].id == id
}

// bound is one end of a range of clustering keys: a prefix, and whether keys with this prefix are inside.
type bound struct {
	prefix    [][]byte
	inclusive bool
}

// rangeTombstone deletes the rows between two bounds.
type rangeTombstone struct {
	from, to bound
	ts       int64
}

func (t *table) after(key [][]byte, from bound) bool {
	c := t.compareClustering(key, from.prefix)
	return c > 0 || c == 0 && (from.inclusive || len(from.prefix) == 0)
}

func (t *table) before(key [][]byte, to bound) bool {
	c := t.compareClustering(key, to.prefix)
	return c < 0 || c == 0 && (to.inclusive || len(to.prefix) == 0)
}

// partitionHead is the immutable part of a partition.
type partitionHead struct {
	token int64
	key   []byte   // serialized, as tokens are computed from
	parts [][]byte // the columns of the key
}

// partition is the data of one partition key.
type partition struct {
	partitionHead
	deletion int64 // timestamp of the deletion of the whole partition; noTimestamp means none
	ranges   []rangeTombstone
	static   *row // nil means none
	rows     sorted[*row]
}

// store holds the rows of a table.
type store struct {
	number int64 // order of locking
	mu     sync.RWMutex
	parts  sorted[placed]
	// indexes are the vector indexes of the table, which follow its rows.
	indexes []*annData
	expires int64 // when the next row expires, in milliseconds since 1970, if the table has per-row TTL
}

// placed is a partition with its token, so that a search reads the memory of few partitions.
type placed struct {
	token int64
	*partition
}

// compare compares the partition with a key.
func (p placed) compare(at int64, key []byte) int {
	if p.token != at {
		return cmp.Compare(p.token, at)
	}
	return bytes.Compare(p.key, key)
}

var stores atomic.Int64

func newStore() *store { return &store{number: stores.Add(1), expires: neverExpires} }

// partition returns the partition of the key, which it creates if missing. Callers hold the lock for writing.
func (s *store) partition(key []byte, parts [][]byte) *partition {
	tok := token.Murmur3(key)
	at, p := s.search(tok, key)
	if p == nil {
		p = &partition{partitionHead: partitionHead{tok, key, parts}, deletion: noTimestamp}
		s.parts.insert(at, placed{tok, p})
	}
	return p
}

// place stores a new partition, unless there is one of its key. It returns the partition of the key, and whether it
// is the new one. Callers hold the lock for writing.
func (s *store) place(p *singleRow) (*partition, bool) {
	p.token = token.Murmur3(p.key)
	at, old := s.search(p.token, p.key)
	if old != nil {
		return old, false
	}
	s.parts.insert(at, placed{p.token, &p.partition})
	return &p.partition, true
}

// search returns the place of the partition of a key, and the partition; nil means that it is missing.
func (s *store) search(tok int64, key []byte) (place, *partition) {
	at := s.parts.search(func(o placed) bool { return o.compare(tok, key) < 0 })
	if o, ok := s.parts.get(at); ok && o.compare(tok, key) == 0 {
		return at, o.partition
	}
	return at, nil
}

// find returns the partition of a key; nil means that it is missing. Callers hold the lock.
func (s *store) find(key []byte) *partition {
	_, p := s.search(token.Murmur3(key), key)
	return p
}

// clear deletes all partitions.
func (s *store) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = sorted[placed]{}
	for _, d := range s.indexes {
		d.clear()
	}
}

// row returns the row of a clustering key; nil means none.
func (p *partition) row(t *table, clustering [][]byte) *row {
	r, ok := p.rows.get(p.find(t, clustering))
	if !ok || t.compareClustering(r.clustering, clustering) != 0 {
		return nil
	}
	return r
}

func (p *partition) find(t *table, clustering [][]byte) place {
	return p.rows.search(func(r *row) bool { return t.compareClustering(r.clustering, clustering) < 0 })
}

// shadow returns the timestamp up to which deletions of ranges or of the partition delete writes to the row.
func (p *partition) shadow(t *table, clustering [][]byte, static bool) int64 {
	ts := p.deletion
	if !static {
		for i := range p.ranges {
			if r := &p.ranges[i]; r.ts > ts && t.after(clustering, r.from) && t.before(clustering, r.to) {
				ts = r.ts
			}
		}
	}
	return ts
}

// put stores r as the row of its key, or as the static row.
func (p *partition) put(t *table, r *row, static bool) {
	if static {
		p.static = r
		return
	}
	at := p.find(t, r.clustering)
	if old, ok := p.rows.get(at); ok && t.compareClustering(old.clustering, r.clustering) == 0 {
		p.rows.set(at, r)
		return
	}
	p.rows.insert(at, r)
}

// delete deletes the whole partition up to ts.
func (p *partition) delete(ts int64) {
	if ts <= p.deletion {
		return
	}
	p.deletion = ts
	p.ranges = slices.DeleteFunc(p.ranges, func(r rangeTombstone) bool { return r.ts <= ts })
	if p.static = p.static.shadowed(ts); p.static.empty() {
		p.static = nil
	}
	var rows sorted[*row]
	for _, chunk := range p.rows.chunks {
		for _, r := range chunk {
			if r = r.shadowed(ts); !r.empty() {
				rows.insert(place{len(rows.chunks), 0}, r)
			}
		}
	}
	p.rows = rows
}

// deleteRange deletes a range of rows.
func (p *partition) deleteRange(t *table, d rangeTombstone) {
	if d.ts <= p.deletion {
		return
	}
	p.ranges = slices.DeleteFunc(p.ranges, func(r rangeTombstone) bool {
		return r.ts <= d.ts && sameBound(t, r.from, d.from) && sameBound(t, r.to, d.to)
	})
	p.ranges = append(p.ranges, d)
	at := p.rows.search(func(r *row) bool { return !t.after(r.clustering, d.from) })
	for {
		r, ok := p.rows.get(at)
		if !ok || !t.before(r.clustering, d.to) {
			return
		}
		if r = r.shadowed(d.ts); r.empty() {
			p.rows.remove(at)
			at = p.rows.search(func(o *row) bool { return t.compareClustering(o.clustering, r.clustering) <= 0 })
			continue
		}
		p.rows.set(at, r)
		at = p.rows.next(at)
	}
}

func sameBound(t *table, a, b bound) bool {
	return len(a.prefix) == len(b.prefix) && a.inclusive == b.inclusive && t.compareClustering(a.prefix, b.prefix) == 0
}

// empty reports whether the row holds neither data nor deletions.
func (r *row) empty() bool {
	return r == nil || r.marker.ts == noTimestamp && r.deletion == noTimestamp && len(r.columns) == 0
}

// shadowed returns the row without the writes up to ts.
func (r *row) shadowed(ts int64) *row {
	if r == nil {
		return nil
	}
	r = r.unpacked()
	out := &row{clustering: r.clustering, marker: r.marker, deletion: r.deletion}
	if out.deletion <= ts {
		out.deletion = noTimestamp
	}
	if out.marker.ts <= ts {
		out.marker = cell{ts: noTimestamp, deleted: true}
	}
	for i := range r.columns {
		if d := r.columns[i].shadowed(ts); !d.empty() {
			out.columns = append(out.columns, d)
		}
	}
	return out
}

// shadowed returns d without what a deletion at ts deletes. d is unchanged.
func (d columnData) shadowed(ts int64) columnData {
	if !d.complex {
		if d.cell.ts <= ts {
			d.cell = cell{ts: noTimestamp, deleted: true}
		}
		return d
	}
	if d.deletion <= ts {
		d.deletion = noTimestamp
	}
	var kept []element
	for i := range d.elements {
		if d.elements[i].ts > ts {
			kept = append(kept, d.elements[i])
		}
	}
	d.elements = kept
	return d
}

func (d columnData) empty() bool {
	if d.complex {
		return d.deletion == noTimestamp && len(d.elements) == 0
	}
	return d.cell.ts == noTimestamp
}
