// SPDX-License-Identifier: Apache-2.0

package flight

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func keys(c *lru[int, string]) (list []int) {
	c.each(func(k int, _ string) bool { list = append(list, k); return true })
	return list
}

func TestLRU(t *testing.T) {
	c := newLRU[int, string](2)
	_, ok := c.get(1)
	require.False(t, ok)
	_, evicted := c.add(1, "one")
	require.False(t, evicted)
	c.add(2, "two")
	v, ok := c.get(1)
	require.True(t, ok)
	require.Equal(t, "one", v)
	v, evicted = c.add(3, "three")
	require.True(t, evicted)
	require.Equal(t, "two", v, "key 1 was used later")
	require.Equal(t, []int{3, 1}, keys(c))
	_, evicted = c.add(1, "uno")
	require.False(t, evicted)
	v, _ = c.get(1)
	require.Equal(t, "uno", v)
	require.True(t, c.remove(1))
	require.False(t, c.remove(1))
	require.Equal(t, 1, c.len())
	c.each(func(int, string) bool { return false })
	require.Equal(t, 1, newLRU[int, int](-5).max)
}

// FuzzLRU compares the map with a slice in the order of use.
func FuzzLRU(f *testing.F) {
	f.Add(byte(3), []byte{1, 2, 3, 4, 1, 130, 66})
	f.Fuzz(func(t *testing.T, size byte, steps []byte) {
		limit := 1 + int(size)%8
		c := newLRU[int, string](limit)
		var order []int // most recently used first
		use := func(k int) {
			order = slices.DeleteFunc(order, func(o int) bool { return o == k })
			order = slices.Insert(order, 0, k)
		}
		for _, s := range steps {
			k := int(s % 16)
			switch s / 64 {
			case 0, 1:
				_, evicted := c.add(k, "v")
				use(k)
				require.Equal(t, len(order) > limit, evicted)
				order = order[:min(len(order), limit)]
			case 2:
				_, ok := c.get(k)
				require.Equal(t, slices.Contains(order, k), ok)
				if ok {
					use(k)
				}
			default:
				require.Equal(t, slices.Contains(order, k), c.remove(k))
				order = slices.DeleteFunc(order, func(o int) bool { return o == k })
			}
			require.Equal(t, len(order), c.len())
			require.True(t, slices.Equal(order, keys(c)), "%v %v", order, keys(c))
		}
	})
}
