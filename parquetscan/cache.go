// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"container/list"
	"sync"
)

// This file keeps parsed footers.

// A Cache keeps the footers of files that were opened, the least recently used ones leaving first. Files are told apart by name, size and
// Source.ETag, which for local files is the time of modification; sources without an ETag and encrypted files are not kept. It may be used by
// many goroutines at once. A nil Cache keeps nothing.
type Cache struct {
	mu      sync.Mutex
	most    int64
	bytes   int64
	byKey   map[cacheKey]*list.Element
	recent  list.List // of *cached, the most recently used one first
	hits    int64
	lookups int64
}

type cacheKey struct {
	name, etag string
	size       int64
}

type cached struct {
	key    cacheKey
	footer *footer
}

// NewCache returns a Cache for footers of maxBytes in all, as long as they are in their files. Parsed, they take some five times as much memory.
func NewCache(maxBytes int64) *Cache {
	return &Cache{most: maxBytes, byKey: map[cacheKey]*list.Element{}}
}

// Stats returns how often a footer was looked for and found, and the bytes that are kept.
func (c *Cache) Stats() (lookups, hits, bytes int64) {
	if c == nil {
		return 0, 0, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lookups, c.hits, c.bytes
}

func (c *Cache) get(s *Source) *footer {
	if c == nil || s.ETag == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lookups++
	e := c.byKey[cacheKey{s.Name, s.ETag, s.Size}]
	if e == nil {
		return nil
	}
	c.hits++
	c.recent.MoveToFront(e)
	return e.Value.(*cached).footer
}

func (c *Cache) put(s *Source, f *footer) {
	if c == nil || s.ETag == "" || f.decrypting != nil || f.size > c.most {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey{s.Name, s.ETag, s.Size}
	if c.byKey[key] != nil {
		return
	}
	c.byKey[key] = c.recent.PushFront(&cached{key, f})
	c.bytes += f.size
	for c.bytes > c.most {
		last := c.recent.Back()
		old := c.recent.Remove(last).(*cached)
		delete(c.byKey, old.key)
		c.bytes -= old.footer.size
	}
}
