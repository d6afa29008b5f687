// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sync"
	"time"
)

// The content of a vector index: the vectors of rows beside each other, changed with the rows of the table. ScyllaDB's
// index is changed later, if the vector store has a lag, and keeps what the expiry of single cells removes from rows.

// annData is the content of an index. Callers hold the lock of the store of its table.
type annData struct {
	column  *column // of vectors
	hamming bool
	lag     time.Duration
	accepts func(vector []byte) bool // nil means all vectors

	mu       sync.RWMutex
	slots    map[string]int // by row
	entries  []annEntry     // by slot
	vectors  []byte         // by slot, width bytes each: serialized floats, or the bits of their signs if hamming is set
	specials int            // entries that are special
	pending  []annChange    // by time
}

// annEntry is a row in an index.
type annEntry struct {
	key     string
	part    *partition
	row     *row // when the index saw it
	special bool // has an element that is not finite, or only zeros
}

// annChange is a change that the index does not have yet.
type annChange struct {
	due  time.Time
	part *partition
	row  *row // nil means that it was deleted
	key  string
}

// rowKey returns the primary key of a row as one text.
func rowKey(p *partition, clustering [][]byte) string {
	if len(clustering) == 0 {
		return string(p.key)
	}
	b := appendBytes(nil, p.key)
	for _, c := range clustering {
		b = appendBytes(b, c)
	}
	return string(b)
}

// newANNData returns the content of an index of the rows that are live at sec.
func newANNData(s *store, c *column, v *vectorIndex, accepts func([]byte) bool, sec int64) *annData {
	d := &annData{column: c, hamming: v.hamming, accepts: accepts, slots: map[string]int{}}
	for _, chunk := range s.parts.chunks {
		for _, p := range chunk {
			for _, rows := range p.rows.chunks {
				for _, r := range rows {
					if r.live(sec) {
						d.set(p.partition, r, r.value(c, sec), rowKey(p.partition, r.clustering))
					}
				}
			}
		}
	}
	return d
}

// unexpired is a time before all expiries: cells with a TTL are live.
const unexpired = math.MinInt64

// change applies the change of a row, or notes it for later. nil means that the row is gone.
func (d *annData) change(p *partition, r *row, key string, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lag == 0 {
		d.apply(annChange{part: p, row: r, key: key})
		return
	}
	c := annChange{at.Add(d.lag), p, r, key}
	i, _ := slices.BinarySearchFunc(d.pending, c, func(o, c annChange) int {
		return cmp.Or(o.due.Compare(c.due), -1)
	})
	d.pending = slices.Insert(d.pending, i, c)
}

// settle applies the changes that are due.
func (d *annData) settle(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for n < len(d.pending) && !d.pending[n].due.After(now) {
		d.apply(d.pending[n])
		n++
	}
	d.pending = d.pending[n:]
}

// apply sets the vector of a row, or removes the row. Callers hold the lock for writing.
func (d *annData) apply(c annChange) {
	if c.row != nil {
		d.set(c.part, c.row, c.row.value(d.column, unexpired), c.key)
		return
	}
	d.remove(c.key)
}

// set sets the vector of a row; none, and one that the index does not accept, removes the row.
func (d *annData) set(p *partition, r *row, vector []byte, key string) {
	if len(vector) == 0 || d.accepts != nil && !d.accepts(vector) {
		d.remove(key)
		return
	}
	i, ok := d.slots[key]
	if !ok {
		i = len(d.entries)
		d.slots[key] = i
		d.entries = append(d.entries, annEntry{})
		d.vectors = append(d.vectors, make([]byte, d.width())...)
	}
	e := &d.entries[i]
	d.specials -= btoi(e.special)
	*e = annEntry{key: key, part: p, row: r, special: isSpecial(vector)}
	d.specials += btoi(e.special)
	if d.hamming {
		vector = signBits(vector)
	}
	copy(d.vectors[i*d.width():], vector)
}

// remove removes a row: the last one takes its slot.
func (d *annData) remove(key string) {
	i, ok := d.slots[key]
	if !ok {
		return
	}
	delete(d.slots, key)
	last := len(d.entries) - 1
	d.specials -= btoi(d.entries[i].special)
	if i != last {
		d.entries[i] = d.entries[last]
		d.slots[d.entries[i].key] = i
		copy(d.vectors[i*d.width():], d.vectors[last*d.width():])
	}
	d.entries[last] = annEntry{}
	d.entries, d.vectors = d.entries[:last], d.vectors[:last*d.width()]
}

// clear removes all rows.
func (d *annData) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.slots)
	d.entries, d.vectors, d.specials, d.pending = nil, nil, 0, nil
}

// known returns the clustering columns of the rows of a partition that the index has or will have, by key.
func (d *annData) known(p *partition) map[string][][]byte {
	d.mu.RLock()
	defer d.mu.RUnlock()
	rows := map[string][][]byte{}
	for i := range d.entries {
		if e := &d.entries[i]; e.part == p {
			rows[e.key] = e.row.clustering
		}
	}
	for i := range d.pending {
		if c := &d.pending[i]; c.part == p && c.row != nil {
			rows[c.key] = c.row.clustering
		}
	}
	return rows
}

// follow changes the vector indexes of the table after a mutation. Callers hold the lock for writing.
func (s *store) follow(m *mutation, clock func() time.Time) {
	if len(s.indexes) == 0 {
		return
	}
	p, now := s.find(m.key), clock()
	for _, d := range s.indexes {
		if m.deletion != noTimestamp || len(m.ranges) > 0 {
			for key, clustering := range d.known(p) {
				d.follow(m.t, p, clustering, key, now)
			}
		}
		if m.packed != nil {
			d.follow(m.t, p, m.packed.first.clustering, rowKey(p, m.packed.first.clustering), now)
		}
		for i := range m.rows {
			if w := &m.rows[i]; !w.static {
				d.follow(m.t, p, w.clustering, rowKey(p, w.clustering), now)
			}
		}
	}
}

// follow reads a row again.
func (d *annData) follow(t *table, p *partition, clustering [][]byte, key string, now time.Time) {
	r := p.row(t, clustering)
	if !r.live(unexpired) {
		r = nil
	}
	d.change(p, r, key, now)
}

// width returns the bytes of a vector.
func (d *annData) width() int {
	if d.hamming {
		return (d.column.typ.Dim + 7) / 8
	}
	return 4 * d.column.typ.Dim
}

// signBits returns a bit for each element of a serialized vector: whether it is greater than 0.
func signBits(vector []byte) []byte {
	out := make([]byte, (len(vector)/4+7)/8)
	for i := range len(vector) / 4 {
		if element32(vector, i) > 0 {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}

// compare orders entries as their table does: by token, key and clustering columns.
func (e *annEntry) compare(o *annEntry, t *table) int {
	return cmp.Or(cmp.Compare(e.part.token, o.part.token), bytes.Compare(e.part.key, o.part.key),
		t.compareClustering(e.row.clustering, o.row.clustering))
}
