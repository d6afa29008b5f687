// SPDX-License-Identifier: Apache-2.0

// Package tablet stores the replicas of token ranges of ScyllaDB tables, called tablets, from the hints of nodes
// (docs/dev/protocol-extensions.md, "Sending tablet info to the drivers"). Reads take no lock: they see immutable data.
package tablet

import (
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// A Replica is a copy of a tablet: a shard of a host.
type Replica struct {
	Host  [16]byte
	Shard int32
}

// A Tablet is the range of tokens above First, up to and including Last, with the replicas that serve it. It must not
// be changed after it was added to a Map.
type Tablet struct {
	First, Last int64
	Replicas    []Replica
	Version     int64 // of tablets-routing-v2, 0 if unknown
}

// Covers reports whether token belongs to the tablet.
func (t *Tablet) Covers(token int64) bool { return t.First < token && token <= t.Last }

// maxChunk is the maximum number of tablets in a chunk. Most hints copy one chunk; a hint that changes where a chunk
// ends copies the list of chunks as well.
const maxChunk = 128

type tableName struct{ keyspace, table string }

// parts is the number of maps among which the tables of a Map are divided. A new table copies one of them.
const parts = 64

var seed = maphash.MakeSeed()

// A Map holds the tablets of all tables. It is safe for use by any number of goroutines. The zero value is empty and
// ready to use.
type Map struct {
	tables [parts]part // by the hash of the table's name
	size   atomic.Int64

	mu sync.Mutex // held by all writers
}

// part is a map of tables, which is copied when a table is added or removed; nil means none.
type part struct {
	tables atomic.Pointer[map[tableName]*table]
}

// part returns the part of a table.
func (m *Map) part(name string) *part { return &m.tables[maphash.String(seed, name)%parts] }

// table returns a table, nil if it has no tablets.
func (p *part) table(key tableName) *table {
	if tables := p.tables.Load(); tables != nil {
		return (*tables)[key]
	}
	return nil
}

// store adds a table, or removes it if t is nil. Callers hold Map.mu.
func (p *part) store(key tableName, t *table) {
	tables := map[tableName]*table{}
	if old := p.tables.Load(); old != nil {
		maps.Copy(tables, *old)
	}
	if t == nil {
		delete(tables, key)
	} else {
		tables[key] = t
	}
	p.tables.Store(&tables)
}

// table is the current list of one table. It outlives lists, so that a hint does not copy the map of tables.
type table struct{ list atomic.Pointer[list] }

// list holds the tablets of a table in the order of their tokens. The tablets do not overlap. A chunk may be replaced
// in place by one that ends at the same token; any other change makes a new list.
type list struct {
	ends   []int64 // ends[i] is where the last tablet of chunks[i] ends
	chunks []atomic.Pointer[chunk]
	guess  guess // the expected position of a token in ends
}

// chunk is immutable and never empty. The fields that a search reads are adjacent, because with many tablets cache
// misses dominate its time.
type chunk struct {
	guess   guess
	n       int
	entries [maxChunk]entry
}

// entry is a tablet with a copy of its range.
type entry struct {
	first, last int64
	tablet      *Tablet
}

// guess interpolates the position of a token. Tables are split into tablets of equal size, so the position is nearly
// always right.
type guess struct {
	first int64
	scale float64 // positions per token
	n     int
}

func newGuess(first, last int64, n int) guess {
	return guess{first: first, scale: float64(n) / float64(uint64(last)-uint64(first)), n: n}
}

// at returns a position from 0 to n-1.
func (g *guess) at(token int64) int {
	if token <= g.first {
		return 0
	}
	if place := float64(uint64(token)-uint64(g.first)) * g.scale; place < float64(g.n-1) {
		return int(place)
	}
	return g.n - 1 // a larger position may overflow int
}

// search returns the index of the first chunk that does not end before token, len(l.ends) if there is none.
func (l *list) search(token int64) int {
	i := l.guess.at(token)
	low, high := 0, len(l.ends) // the result is between low and high, both inclusive
	if l.ends[i] < token {
		low = i + 1
		for step := 1; low < high; step *= 2 {
			next := min(low+step, high) - 1
			if l.ends[next] >= token {
				high = next
				break
			}
			low = next + 1
		}
	} else {
		high = i
		for step := 1; low < high; step *= 2 {
			next := max(high-step, low)
			if l.ends[next] < token {
				low = next + 1
				break
			}
			high = next
		}
	}
	for low < high {
		if mid := int(uint(low+high) >> 1); l.ends[mid] < token {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// search returns the index of the first tablet that does not end before token, c.n if there is none.
func (c *chunk) search(token int64) int {
	i := c.guess.at(token)
	for i < c.n && c.entries[i].last < token {
		i++
	}
	for i > 0 && c.entries[i-1].last >= token {
		i--
	}
	return i
}

// end returns the last token of the last tablet.
func (c *chunk) end() int64 { return c.entries[c.n-1].last }

// Lookup returns the tablet of the table that contains token, nil if it is unknown.
func (m *Map) Lookup(keyspace, name string, token int64) *Tablet {
	if m.size.Load() == 0 { // a cluster without tablets
		return nil
	}
	t := m.part(name).table(tableName{keyspace, name})
	if t == nil {
		return nil
	}
	l := t.list.Load()
	i := l.search(token)
	if i == len(l.ends) {
		return nil
	}
	c := l.chunks[i].Load()
	if e := &c.entries[c.search(token)]; e.first < token { // the chunk ends at or after token, so there is an entry
		return e.tablet
	}
	return nil
}

// Len returns the number of tablets of all tables.
func (m *Map) Len() int { return int(m.size.Load()) }

// Add stores t, which must not be empty (First < Last). It removes every tablet of the table that overlaps t, since
// those were split, merged or moved.
func (m *Map) Add(keyspace, name string, t *Tablet) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := tableName{keyspace, name}
	in := m.part(name)
	at := in.table(key)
	if at == nil {
		at = new(table)
		at.list.Store(newList([]*chunk{newChunk([]entry{{t.First, t.Last, t}})}))
		in.store(key, at)
		m.size.Add(1)
		return
	}
	l := at.list.Load()
	next, removed := l.with(t)
	if next != l {
		at.list.Store(next)
	}
	m.size.Add(int64(1 - removed))
}

// with returns the list with t in place of all tablets that overlap it, and their number. It returns l itself if one
// chunk was replaced.
func (l *list) with(t *Tablet) (next *list, removed int) {
	// Chunks before from end at or before t begins; chunks behind to begin where t ends or later.
	from := min(l.search(t.First+1), len(l.chunks)-1) // t.First < t.Last: this does not overflow
	to := min(l.search(t.Last), len(l.chunks)-1)
	first, last := l.chunks[from].Load(), l.chunks[to].Load()
	left := first.entries[:first.search(t.First+1)] // the tablets that end at or before First
	begin := last.search(t.Last)
	if begin < last.n && last.entries[begin].first < t.Last {
		begin++
	}
	right := last.entries[begin:last.n]
	for i := from; i <= to; i++ {
		removed += l.chunks[i].Load().n
	}
	removed -= len(left) + len(right)

	var room [2*maxChunk + 1]entry
	entries := append(append(append(room[:0], left...), entry{t.First, t.Last, t}), right...)
	if from == to && len(entries) <= maxChunk && entries[len(entries)-1].last == l.ends[from] {
		l.chunks[from].Store(newChunk(entries))
		return l, removed
	}
	chunks := make([]*chunk, 0, len(l.chunks)+2)
	for i := range from {
		chunks = append(chunks, l.chunks[i].Load())
	}
	chunks = cut(chunks, entries)
	for i := to + 1; i < len(l.chunks); i++ {
		chunks = append(chunks, l.chunks[i].Load())
	}
	return newList(chunks), removed
}

// newChunk returns a chunk with a copy of entries, 1 to maxChunk of them.
func newChunk(entries []entry) *chunk {
	c := &chunk{n: len(entries)}
	copy(c.entries[:], entries)
	c.guess = newGuess(c.entries[0].first, c.end(), c.n)
	return c
}

// newList returns the list of chunks, at least one.
func newList(chunks []*chunk) *list {
	l := &list{ends: make([]int64, len(chunks)), chunks: make([]atomic.Pointer[chunk], len(chunks))}
	for i, c := range chunks {
		l.chunks[i].Store(c)
		l.ends[i] = c.end()
	}
	l.guess = newGuess(chunks[0].guess.first, l.ends[len(chunks)-1], len(chunks))
	return l
}

// cut appends entries as the smallest number of chunks, all of about the same size.
func cut(chunks []*chunk, entries []entry) []*chunk {
	pieces := (len(entries) + maxChunk - 1) / maxChunk
	for p := range pieces {
		chunks = append(chunks, newChunk(entries[p*len(entries)/pieces:(p+1)*len(entries)/pieces]))
	}
	return chunks
}

// len returns the number of tablets.
func (l *list) len() (n int) {
	for i := range l.chunks {
		n += l.chunks[i].Load().n
	}
	return n
}

// all yields the tablets in order.
func (l *list) all(yield func(*Tablet) bool) {
	for i := range l.chunks {
		c := l.chunks[i].Load()
		for _, e := range c.entries[:c.n] {
			if !yield(e.tablet) {
				return
			}
		}
	}
}

// All yields the known tablets of a table in the order of their tokens.
func (m *Map) All(keyspace, name string) iter.Seq[*Tablet] {
	return func(yield func(*Tablet) bool) {
		if t := m.part(name).table(tableName{keyspace, name}); t != nil {
			t.list.Load().all(yield)
		}
	}
}

// RemoveTable removes the tablets of a table.
func (m *Map) RemoveTable(keyspace, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := tableName{keyspace, name}
	in := m.part(name)
	if t := in.table(key); t != nil {
		in.store(key, nil)
		m.size.Add(-int64(t.list.Load().len()))
	}
}

// RemoveKeyspace removes the tablets of all tables of a keyspace.
func (m *Map) RemoveKeyspace(keyspace string) {
	m.keep(func(k tableName) bool { return k.keyspace != keyspace }, nil)
}

// RetainKeyspaces removes the tablets of all tables whose keyspace does not exist.
func (m *Map) RetainKeyspaces(exists func(keyspace string) bool) {
	m.keep(func(k tableName) bool { return exists(k.keyspace) }, nil)
}

// RemoveHost removes every tablet that has a replica on host. A server sends a hint only when a request reaches a
// non-replica. An entry that lists too few replicas would never be corrected, so the whole tablet is removed.
func (m *Map) RemoveHost(host [16]byte) {
	m.keep(nil, func(t *Tablet) bool {
		return !slices.ContainsFunc(t.Replicas, func(r Replica) bool { return r.Host == host })
	})
}

// keep removes the tables and the tablets for which these functions return false; a nil function keeps all.
func (m *Map) keep(keepTable func(tableName) bool, keepTablet func(*Tablet) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.tables {
		m.size.Add(-int64(m.tables[i].keep(keepTable, keepTablet)))
	}
}

// keep removes tablets of the tables of one part, as Map.keep does. It returns the number of tablets removed.
func (p *part) keep(keepTable func(tableName) bool, keepTablet func(*Tablet) bool) (removed int) {
	tables := p.tables.Load()
	if tables == nil {
		return 0
	}
	for key, t := range *tables {
		if keepTable != nil && !keepTable(key) {
			p.store(key, nil)
			removed += t.list.Load().len()
			continue
		}
		if keepTablet == nil {
			continue
		}
		kept, total := t.list.Load().filter(keepTablet)
		removed += total - len(kept)
		switch {
		case len(kept) == 0:
			p.store(key, nil)
		case len(kept) < total:
			t.list.Store(newList(cut(nil, kept)))
		}
	}
	return removed
}

// filter returns the entries of the tablets for which keep returns true, and the number of all tablets.
func (l *list) filter(keep func(*Tablet) bool) (kept []entry, total int) {
	for tablet := range l.all {
		total++
		if keep(tablet) {
			kept = append(kept, entry{tablet.First, tablet.Last, tablet})
		}
	}
	return kept, total
}
