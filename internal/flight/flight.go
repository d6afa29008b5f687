// SPDX-License-Identifier: Apache-2.0

// Package flight caches values that are expensive to produce. The cache is bounded (LRU), and concurrent callers of one
// key share one production of the value (singleflight).
package flight

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// A Key identifies a value: a text, such as a statement, in a scope, such as a keyspace.
type Key struct{ Scope, Text string }

// recentKeys is the size of the table that is read without a lock, a power of 2. Keys with the same slot evict each
// other from it.
const recentKeys = 256

// A Cache holds values by Key. The methods may be called by any number of goroutines.
type Cache[V any] struct {
	recent [recentKeys]atomic.Pointer[entry[V]] // by hash: a subset of kept that is read without mu
	seed   maphash.Seed

	mu   sync.Mutex
	kept *lru[Key, *entry[V]]
}

// entry is a value being produced, or the outcome once done is closed.
type entry[V any] struct {
	key      Key
	done     chan struct{}
	value    *V
	err      error
	outdated bool // not kept once it is produced; guarded by Cache.mu
}

// New returns an empty cache of at most max values, at least one.
func New[V any](max int) *Cache[V] {
	return &Cache[V]{kept: newLRU[Key, *entry[V]](max), seed: maphash.MakeSeed()}
}

// place returns the slot of recent for the key.
func (c *Cache[V]) place(key Key) *atomic.Pointer[entry[V]] {
	return &c.recent[maphash.String(c.seed, key.Text)%recentKeys]
}

// Known returns the value of key, nil if the cache has none yet. It does not block. A value found without the lock is
// not marked as used, so the cache may evict it too early; that costs at most one extra production per capacity of the
// cache.
func (c *Cache[V]) Known(key Key) *V {
	place := c.place(key)
	if e := place.Load(); e != nil && e.key == key {
		return e.value
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.kept.get(key)
	if !ok {
		return nil
	}
	select {
	case <-e.done:
		if e.value != nil { // nil after an error
			place.Store(e)
		}
		return e.value
	default:
		return nil
	}
}

// leave removes an evicted entry from recent. Callers hold c.mu.
func (c *Cache[V]) leave(e *entry[V]) {
	c.place(e.key).CompareAndSwap(e, nil)
}

// Get returns the value of key. If there is none, it calls produce, at most once at a time. Errors are not cached.
// produce runs on its own goroutine and under no caller's context, so that a canceled caller does not fail the others.
func (c *Cache[V]) Get(ctx context.Context, key Key, produce func() (*V, error)) (*V, error) {
	c.mu.Lock()
	e, ok := c.kept.get(key)
	if !ok {
		e = c.begin(key, produce)
	}
	c.mu.Unlock()
	select {
	case <-e.done:
		return e.value, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin starts the production of a value. Callers hold c.mu.
func (c *Cache[V]) begin(key Key, produce func() (*V, error)) *entry[V] {
	e := &entry[V]{key: key, done: make(chan struct{})}
	if old, evicted := c.kept.add(key, e); evicted {
		c.leave(old)
	}
	go func() {
		e.value, e.err = produce()
		c.end(e)
	}()
	return e
}

// end closes e.done. It removes an entry that must not be kept, unless another one has replaced it.
func (c *Cache[V]) end(e *entry[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, ok := c.kept.get(e.key); ok && now == e && (e.err != nil || e.outdated) {
		c.kept.remove(e.key)
	}
	close(e.done)
}

// Drop removes value, which is out of date, unless another one has replaced it.
func (c *Cache[V]) Drop(key Key, value *V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, ok := c.kept.get(key)
	if !ok {
		return
	}
	select {
	case <-now.done:
		if now.value == value {
			c.kept.remove(key)
			c.leave(now)
		}
	default: // another value is being produced
	}
}

// DropWhere removes the values that are out of date. A value that is being produced is not kept: it may be based on
// what was true before.
func (c *Cache[V]) DropWhere(outdated func(*V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var dropped []*entry[V]
	c.kept.each(func(_ Key, e *entry[V]) bool {
		select {
		case <-e.done:
			if e.value != nil && outdated(e.value) {
				dropped = append(dropped, e)
			}
		default:
			e.outdated = true
		}
		return true
	})
	for _, e := range dropped {
		c.kept.remove(e.key)
		c.leave(e)
	}
}

// Len returns the number of values cached or being produced.
func (c *Cache[V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.len()
}
