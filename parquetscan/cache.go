// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"container/list"
	"sync"

	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// The cache of parsed footers.

// A Cache is an LRU cache of the footers of files. The key is name, size and Source.ETag, which for local files is the
// time of modification; footers of sources without an ETag and of encrypted files are not kept. It is safe for
// concurrent use. A nil Cache keeps nothing.
type Cache struct {
	mu      sync.Mutex
	most    int64
	bytes   int64
	byKey   map[cacheKey]*list.Element
	recent  list.List // of *cached, the most recently used one first
	hits    int64
	lookups int64
}

// cacheKey identifies the content of a file.
type cacheKey struct {
	name, etag string
	size       int64
}

// cached is an entry of a Cache.
type cached struct {
	key    cacheKey
	footer *footer.Footer
}

// NewCache returns a Cache for footers of maxBytes in total, counted by their size in files. A parsed footer takes
// about 1 KiB per column more.
func NewCache(maxBytes int64) *Cache {
	return &Cache{most: maxBytes, byKey: map[cacheKey]*list.Element{}}
}

// Stats returns the number of lookups, the number of hits, and the size of the cached footers in their files, in bytes.
func (c *Cache) Stats() (lookups, hits, bytes int64) {
	if c == nil {
		return 0, 0, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lookups, c.hits, c.bytes
}

// get returns the footer of a source, nil if there is none or the source has no ETag.
func (c *Cache) get(s *Source) *footer.Footer {
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

// put stores a footer and removes those used least recently until all fit. Footers that can decrypt are not stored:
// other datasets may lack the keys.
func (c *Cache) put(s *Source, f *footer.Footer) {
	if c == nil || s.ETag == "" || f.Secrets != nil || f.Length > c.most {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey{s.Name, s.ETag, s.Size}
	if c.byKey[key] != nil {
		return
	}
	c.byKey[key] = c.recent.PushFront(&cached{key, f})
	c.bytes += f.Length
	for c.bytes > c.most {
		last := c.recent.Back()
		old := c.recent.Remove(last).(*cached)
		delete(c.byKey, old.key)
		c.bytes -= old.footer.Length
	}
}
