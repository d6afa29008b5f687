// SPDX-License-Identifier: Apache-2.0

// Package tablet remembers which replicas serve which range of tokens of a table: ScyllaDB's tablets, as its nodes tell of them in hints
// (docs/dev/protocol-extensions.md, "Sending tablet info to the drivers"). Readers take no lock: what they look at is immutable.
package tablet

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"
)

// Replica is a copy of a tablet: a shard of a host.
type Replica struct {
	Host  [16]byte
	Shard int32
}

// Tablet is the range of tokens above First, up to and including Last, with the replicas that serve it. It must not be changed once it was
// added to a Map.
type Tablet struct {
	First, Last int64
	Replicas    []Replica
	Version     int64 // of tablets-routing-v2, 0 where it is not known
}

// Covers reports whether token belongs to the tablet.
func (t *Tablet) Covers(token int64) bool { return t.First < token && token <= t.Last }

// maxChunk is the number of tablets in a chunk at most. Most hints copy one chunk, those that change where a chunk ends copy the list of
// chunks as well.
const maxChunk = 128

type tableName struct{ keyspace, table string }

// Map holds the tablets of all tables. It is safe for use by any number of goroutines. The zero value is empty and ready.
type Map struct {
	tables atomic.Pointer[map[tableName]*table] // copied when a table comes or goes
	size   atomic.Int64

	mu sync.Mutex // taken by all that change
}

// table is one table's current list. It outlives lists, so that a hint does not copy the map of tables.
type table struct{ list atomic.Pointer[list] }

// list holds the tablets of a table, which do not overlap, in the order of their tokens. A chunk in it may be replaced by one that ends
// where it ended; whatever else changes makes a new list.
type list struct {
	ends   []int64 // ends[i] is where the last tablet of chunks[i] ends
	chunks []atomic.Pointer[chunk]
	guess  guess // where a token is in ends
}

// chunk is immutable and never empty. What a search looks at lies close together: with many tablets its time is that of cache misses.
type chunk struct {
	guess   guess
	n       int
	entries [maxChunk]entry
}

// entry has the tablet's range beside it.
type entry struct {
	first, last int64
	tablet      *Tablet
}

// guess is where a token is to be expected. Tables are split into tablets of one size, so that it is nearly always right.
type guess struct {
	first int64
	scale float64 // places per token
	n     int
}

func newGuess(first, last int64, n int) guess {
	return guess{first: first, scale: float64(n) / float64(uint64(last)-uint64(first)), n: n}
}

// at returns a place from 0 to n-1.
func (g *guess) at(token int64) int {
	if token <= g.first {
		return 0
	}
	if place := float64(uint64(token)-uint64(g.first)) * g.scale; place < float64(g.n-1) {
		return int(place)
	}
	return g.n - 1 // a place beyond may be beyond every int
}

// search returns the index of the first chunk that does not end before token, len(l.ends) when there is none.
func (l *list) search(token int64) int {
	i := l.guess.at(token)
	low, high := 0, len(l.ends) // the answer is at low or behind, and at high or before
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

// search returns the index of the first tablet that does not end before token, c.n when there is none.
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

// end returns where the last tablet ends.
func (c *chunk) end() int64 { return c.entries[c.n-1].last }

// Lookup returns the tablet of the table that token belongs to, nil when it is not known.
func (m *Map) Lookup(keyspace, name string, token int64) *Tablet {
	tables := m.tables.Load()
	if tables == nil {
		return nil
	}
	t := (*tables)[tableName{keyspace, name}]
	if t == nil {
		return nil
	}
	l := t.list.Load()
	i := l.search(token)
	if i == len(l.ends) {
		return nil
	}
	c := l.chunks[i].Load()
	if e := &c.entries[c.search(token)]; e.first < token { // the chunk ends at or behind token, so there is one
		return e.tablet
	}
	return nil
}

// Len returns the number of tablets of all tables.
func (m *Map) Len() int { return int(m.size.Load()) }

// Add remembers t, which must not be empty (First < Last), and forgets every tablet of the table that overlaps it: they were split,
// merged or moved since.
func (m *Map) Add(keyspace, name string, t *Tablet) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := tableName{keyspace, name}
	var old map[tableName]*table
	if p := m.tables.Load(); p != nil {
		old = *p
	}
	at := old[key]
	if at == nil {
		at = new(table)
		at.list.Store(newList([]*chunk{newChunk([]entry{{t.First, t.Last, t}})}))
		tables := make(map[tableName]*table, len(old)+1)
		for k, v := range old {
			tables[k] = v
		}
		tables[key] = at
		m.tables.Store(&tables)
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

// with returns the list with t in place of all that overlaps it, and how many these were: l itself where one chunk has been replaced.
func (l *list) with(t *Tablet) (next *list, removed int) {
	// Chunks before from end at or before t begins; chunks behind to begin where t ends or later.
	from := min(l.search(t.First+1), len(l.chunks)-1) // t.First < t.Last: this does not overflow
	to := min(l.search(t.Last), len(l.chunks)-1)
	first, last := l.chunks[from].Load(), l.chunks[to].Load()
	left := first.entries[:first.search(t.First+1)] // those that end at or before First
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

// newChunk returns a chunk with a copy of entries: one at least, maxChunk at most.
func newChunk(entries []entry) *chunk {
	c := &chunk{n: len(entries)}
	copy(c.entries[:], entries)
	c.guess = newGuess(c.entries[0].first, c.end(), c.n)
	return c
}

// newList returns the list of these chunks; there is at least one.
func newList(chunks []*chunk) *list {
	l := &list{ends: make([]int64, len(chunks)), chunks: make([]atomic.Pointer[chunk], len(chunks))}
	for i, c := range chunks {
		l.chunks[i].Store(c)
		l.ends[i] = c.end()
	}
	l.guess = newGuess(chunks[0].guess.first, l.ends[len(chunks)-1], len(chunks))
	return l
}

// cut appends chunks of entries: as few as need be, all of about the same size.
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

// All yields the tablets that are known of a table, in the order of their tokens.
func (m *Map) All(keyspace, name string) iter.Seq[*Tablet] {
	return func(yield func(*Tablet) bool) {
		if tables := m.tables.Load(); tables != nil {
			if t := (*tables)[tableName{keyspace, name}]; t != nil {
				t.list.Load().all(yield)
			}
		}
	}
}

// RemoveTable forgets the tablets of a table.
func (m *Map) RemoveTable(keyspace, name string) {
	m.keep(func(k tableName) bool { return k.keyspace != keyspace || k.table != name }, nil)
}

// RemoveKeyspace forgets the tablets of all tables of a keyspace.
func (m *Map) RemoveKeyspace(keyspace string) {
	m.keep(func(k tableName) bool { return k.keyspace != keyspace }, nil)
}

// RetainKeyspaces forgets the tablets of all tables whose keyspace exists denies.
func (m *Map) RetainKeyspaces(exists func(keyspace string) bool) {
	m.keep(func(k tableName) bool { return exists(k.keyspace) }, nil)
}

// RemoveHost forgets every tablet that has a replica on host. The other replicas of such a tablet go as well: a server corrects who asks a
// node that has no replica, never who asks only some of them.
func (m *Map) RemoveHost(host [16]byte) {
	m.keep(nil, func(t *Tablet) bool {
		return !slices.ContainsFunc(t.Replicas, func(r Replica) bool { return r.Host == host })
	})
}

// keep forgets the tables and the tablets that these functions deny; nil keeps all.
func (m *Map) keep(keepTable func(tableName) bool, keepTablet func(*Tablet) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.tables.Load()
	if p == nil {
		return
	}
	tables := make(map[tableName]*table, len(*p))
	size := 0
	for key, t := range *p {
		if keepTable != nil && !keepTable(key) {
			continue
		}
		if keepTablet == nil {
			tables[key] = t
			size += t.list.Load().len()
			continue
		}
		var kept []entry
		total := 0
		for tablet := range t.list.Load().all {
			total++
			if keepTablet(tablet) {
				kept = append(kept, entry{tablet.First, tablet.Last, tablet})
			}
		}
		if len(kept) == 0 {
			continue
		}
		if len(kept) < total {
			t.list.Store(newList(cut(nil, kept)))
		}
		tables[key] = t
		size += len(kept)
	}
	if len(tables) < len(*p) {
		m.tables.Store(&tables)
	}
	m.size.Store(int64(size))
}
