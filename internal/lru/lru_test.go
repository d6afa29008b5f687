// SPDX-License-Identifier: Apache-2.0

package lru

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func keys(c *Cache[int, string]) (list []int) {
	c.Each(func(k int, _ string) bool { list = append(list, k); return true })
	return list
}

func TestCache(t *testing.T) {
	c := New[int, string](2)
	_, ok := c.Get(1)
	require.False(t, ok)
	_, evicted := c.Add(1, "one")
	require.False(t, evicted)
	c.Add(2, "two")
	v, ok := c.Get(1)
	require.True(t, ok)
	require.Equal(t, "one", v)
	v, evicted = c.Add(3, "three")
	require.True(t, evicted)
	require.Equal(t, "two", v, "1 was used after it")
	require.Equal(t, []int{3, 1}, keys(c))
	_, evicted = c.Add(1, "uno")
	require.False(t, evicted)
	v, _ = c.Get(1)
	require.Equal(t, "uno", v)
	require.True(t, c.Remove(1))
	require.False(t, c.Remove(1))
	require.Equal(t, 1, c.Len())
	c.Each(func(int, string) bool { return false })
	require.Equal(t, 1, New[int, int](-5).max)
}

// FuzzCache holds the cache to a slice in the order of use.
func FuzzCache(f *testing.F) {
	f.Add(byte(3), []byte{1, 2, 3, 4, 1, 130, 66})
	f.Fuzz(func(t *testing.T, size byte, steps []byte) {
		limit := 1 + int(size)%8
		c := New[int, string](limit)
		var order []int // used last first
		use := func(k int) {
			order = slices.DeleteFunc(order, func(o int) bool { return o == k })
			order = slices.Insert(order, 0, k)
		}
		for _, s := range steps {
			k := int(s % 16)
			switch s / 64 {
			case 0, 1:
				_, evicted := c.Add(k, "v")
				use(k)
				require.Equal(t, len(order) > limit, evicted)
				order = order[:min(len(order), limit)]
			case 2:
				_, ok := c.Get(k)
				require.Equal(t, slices.Contains(order, k), ok)
				if ok {
					use(k)
				}
			default:
				require.Equal(t, slices.Contains(order, k), c.Remove(k))
				order = slices.DeleteFunc(order, func(o int) bool { return o == k })
			}
			require.Equal(t, len(order), c.Len())
			require.True(t, slices.Equal(order, keys(c)), "%v %v", order, keys(c))
		}
	})
}
