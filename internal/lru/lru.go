// SPDX-License-Identifier: Apache-2.0

// Package lru holds a cache of bounded size that forgets what was used longest ago.
package lru

// Cache maps keys to values, at most as many as New was told. It is not synchronised: Get moves entries too.
type Cache[K comparable, V any] struct {
	max     int
	entries map[K]*entry[K, V]
	root    entry[K, V] // of a ring: root.next was used last, root.prev longest ago
}

type entry[K comparable, V any] struct {
	key        K
	value      V
	prev, next *entry[K, V]
}

// New returns an empty cache for max entries, at least one.
func New[K comparable, V any](max int) *Cache[K, V] {
	if max < 1 {
		max = 1
	}
	c := &Cache[K, V]{max: max, entries: map[K]*entry[K, V]{}}
	c.root.prev, c.root.next = &c.root, &c.root
	return c
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int { return len(c.entries) }

// Get returns the value of key and marks it as used now.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	e, ok := c.entries[key]
	if !ok {
		return value, false
	}
	c.unlink(e)
	c.pushFront(e)
	return e.value, true
}

// Add sets the value of key and marks it as used now. When that is one entry too many, the one used longest ago is removed and returned.
func (c *Cache[K, V]) Add(key K, value V) (evicted V, wasEvicted bool) {
	if e, ok := c.entries[key]; ok {
		e.value = value
		c.unlink(e)
		c.pushFront(e)
		return evicted, false
	}
	e := &entry[K, V]{key: key, value: value}
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

// Remove removes key and reports whether it was there.
func (c *Cache[K, V]) Remove(key K) bool {
	e, ok := c.entries[key]
	if ok {
		c.unlink(e)
		delete(c.entries, key)
	}
	return ok
}

// Each calls f for every entry, the one used last first, until f returns false. f must not change the cache.
func (c *Cache[K, V]) Each(f func(key K, value V) bool) {
	for e := c.root.next; e != &c.root; e = e.next {
		if !f(e.key, e.value) {
			return
		}
	}
}

func (c *Cache[K, V]) unlink(e *entry[K, V]) { e.prev.next, e.next.prev = e.next, e.prev }

func (c *Cache[K, V]) pushFront(e *entry[K, V]) {
	e.prev, e.next = &c.root, c.root.next
	e.prev.next, e.next.prev = e, e
}
