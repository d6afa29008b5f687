// SPDX-License-Identifier: Apache-2.0

package flight

// lru is a map of bounded size that evicts the least recently used entry. It is not synchronized; get also moves
// entries.
type lru[K comparable, V any] struct {
	max     int
	entries map[K]*lruEntry[K, V]
	root    lruEntry[K, V] // of a ring: root.next is the most recently used entry, root.prev the least recently used
}

// lruEntry is an entry in the list of an LRU, between the more and the less recently used one.
type lruEntry[K comparable, V any] struct {
	key        K
	value      V
	prev, next *lruEntry[K, V]
}

// newLRU returns an empty map for max entries, at least one.
func newLRU[K comparable, V any](max int) *lru[K, V] {
	if max < 1 {
		max = 1
	}
	c := &lru[K, V]{max: max, entries: map[K]*lruEntry[K, V]{}}
	c.root.prev, c.root.next = &c.root, &c.root
	return c
}

// len returns the number of entries.
func (c *lru[K, V]) len() int { return len(c.entries) }

// get returns the value of key and marks it as used.
func (c *lru[K, V]) get(key K) (value V, ok bool) {
	e, ok := c.entries[key]
	if !ok {
		return value, false
	}
	c.unlink(e)
	c.pushFront(e)
	return e.value, true
}

// add sets the value of key and marks it as used. If the map exceeds its size, add evicts and returns the least
// recently used entry.
func (c *lru[K, V]) add(key K, value V) (evicted V, wasEvicted bool) {
	if e, ok := c.entries[key]; ok {
		e.value = value
		c.unlink(e)
		c.pushFront(e)
		return evicted, false
	}
	e := &lruEntry[K, V]{key: key, value: value}
	c.entries[key] = e
	c.pushFront(e)
	if len(c.entries) <= c.max {
		return evicted, false
	}
	last := c.root.prev
	c.unlink(last)
	delete(c.entries, last.key)
	return last.value, true
}

// remove removes key and reports whether it was present.
func (c *lru[K, V]) remove(key K) bool {
	e, ok := c.entries[key]
	if ok {
		c.unlink(e)
		delete(c.entries, key)
	}
	return ok
}

// each calls f for every entry, the most recently used first, until f returns false. f must not change the map.
func (c *lru[K, V]) each(f func(key K, value V) bool) {
	for e := c.root.next; e != &c.root; e = e.next {
		if !f(e.key, e.value) {
			return
		}
	}
}

func (c *lru[K, V]) unlink(e *lruEntry[K, V]) { e.prev.next, e.next.prev = e.next, e.prev }

func (c *lru[K, V]) pushFront(e *lruEntry[K, V]) {
	e.prev, e.next = &c.root, c.root.next
	e.prev.next, e.next.prev = e, e
}
