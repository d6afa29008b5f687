// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// The cache of footers.

func TestCacheBound(t *testing.T) {
	c := NewCache(100)
	has := func(name string) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.byKey[cacheKey{name, "1", 7}] != nil
	}
	src := func(name string) *Source { return &Source{Name: name, ETag: "1", Size: 7} }
	for _, name := range []string{"a", "b", "c"} {
		c.put(src(name), &footer.Footer{Length: 30})
	}
	require.NotNil(t, c.get(src("a"))) // now b is the least recently used footer
	c.put(src("d"), &footer.Footer{Length: 30})
	require.Equal(t, []bool{true, false, true, true}, []bool{has("a"), has("b"), has("c"), has("d")})
	c.put(src("e"), &footer.Footer{Length: 60}) // c and a are evicted
	require.Equal(t, []bool{false, false, false, true, true}, []bool{has("a"), has("b"), has("c"), has("d"), has("e")})
	_, _, bytes := c.Stats()
	require.EqualValues(t, 90, bytes)
	c.put(src("f"), &footer.Footer{Length: 101}) // larger than the cache
	require.False(t, has("f"))
	require.True(t, has("d"))
	c.put(src("g"), &footer.Footer{Length: 100})
	require.Equal(t, []bool{false, false, true}, []bool{has("d"), has("e"), has("g")})
	kept := &footer.Footer{Length: 40}
	c.put(src("h"), kept)
	c.put(src("h"), &footer.Footer{Length: 50}) // read twice concurrently: the first footer stays, counted once
	require.Same(t, kept, c.get(src("h")))
	lookups, hits, bytes := c.Stats()
	require.Equal(t, []int64{2, 2, 40}, []int64{lookups, hits, bytes})
	require.Equal(t, c.recent.Len(), len(c.byKey))
}

func TestCacheIdentity(t *testing.T) {
	c := NewCache(1000)
	c.put(&Source{Name: "a", ETag: "1", Size: 7}, &footer.Footer{Length: 10})
	require.NotNil(t, c.get(&Source{Name: "a", ETag: "1", Size: 7}))
	require.Nil(t, c.get(&Source{Name: "a", ETag: "2", Size: 7}))
	require.Nil(t, c.get(&Source{Name: "a", ETag: "1", Size: 8}))
	require.Nil(t, c.get(&Source{Name: "b", ETag: "1", Size: 7}))
	c.put(&Source{Name: "a", Size: 7}, &footer.Footer{Length: 10}) // without an ETag changes are not detected
	require.Nil(t, c.get(&Source{Name: "a", Size: 7}))
	lookups, hits, bytes := c.Stats()
	require.Equal(t, []int64{4, 1, 10}, []int64{lookups, hits, bytes})

	var none *Cache
	none.put(&Source{Name: "a", ETag: "1"}, &footer.Footer{})
	require.Nil(t, none.get(&Source{Name: "a", ETag: "1"}))
	lookups, hits, bytes = none.Stats()
	require.Equal(t, []int64{0, 0, 0}, []int64{lookups, hits, bytes})
	var zero Cache
	zero.put(&Source{Name: "a", ETag: "1"}, &footer.Footer{Length: 1})
	require.Nil(t, zero.get(&Source{Name: "a", ETag: "1"}))
}

// TestCacheHasNoKeys opens a file without keys first: the cached footer must not hide the keys of a later Open.
func TestCacheHasNoKeys(t *testing.T) {
	cache, b := NewCache(1<<20), numbers(0, 3)
	d := openSources(t, Config{Cache: cache}, b)
	require.EqualValues(t, 1, d.FooterReads())
	keys := &Decryption{FooterKey: []byte("0123456789012345"), AllowPlaintext: true}
	d = openSources(t, Config{Cache: cache, Decryption: keys}, b)
	require.EqualValues(t, 1, d.FooterReads())
}

// TestCacheConcurrently opens files concurrently; the cache holds about half of them.
func TestCacheConcurrently(t *testing.T) {
	var sources []Source
	size := int64(0)
	for i := range 10 {
		b := numbers(i, 1+i, 2)
		sources = append(sources, memorySource(fmt.Sprint(i), b))
		d := openSources(t, Config{}, b)
		size += d.files[0].Length
	}
	cache := NewCache(size / 2)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(g)))
			for range 50 {
				i := rng.IntN(len(sources))
				d, err := Config{Cache: cache}.OpenSources(context.Background(), sources[i])
				if err != nil || d.NumRows() != int64(i+3) {
					t.Errorf("file %d: %v", i, err)
					return
				}
				s, err := d.Scan(Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if out, err := readBucket(s, everything(s)); err != nil || len(out) != i+3 {
					t.Errorf("file %d: %d rows, %v", i, len(out), err)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	lookups, hits, bytes := cache.Stats()
	require.EqualValues(t, 400, lookups)
	require.Positive(t, hits)
	require.Less(t, hits, lookups)
	require.LessOrEqual(t, bytes, size/2)
}
