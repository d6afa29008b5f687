// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryIDOnce(t *testing.T) {
	for _, n := range []int{1, 2, 63, 64, 65, 1000, MaxStreams} {
		table := New(n)
		require.Equal(t, n, table.Cap())
		seen := make([]bool, n)
		for range n {
			id, ok := table.Claim()
			require.True(t, ok)
			require.False(t, seen[id], "id %d twice", id)
			seen[id] = true
		}
		require.Equal(t, n, table.InUse())
		_, ok := table.Claim()
		require.False(t, ok)
		require.True(t, table.Release(n-1))
		id, ok := table.Claim()
		require.True(t, ok)
		require.Equal(t, n-1, id)
	}
}

func TestBounds(t *testing.T) {
	require.Equal(t, 1, New(0).Cap())
	require.Equal(t, MaxStreams, New(MaxStreams+1).Cap())
	table := New(10)
	id, _ := table.Claim()
	require.True(t, table.Release(id))
	require.False(t, table.Release(id), "twice")
	for _, id := range []int{-1, 10, 63, 64, MaxStreams} {
		require.False(t, table.Release(id), "id %d is outside of the table", id)
	}
	require.Zero(t, table.InUse())
}

func TestHold(t *testing.T) {
	const n = 700
	table := New(n)
	var ids []int
	for range n {
		id, ok := table.Claim()
		require.True(t, ok)
		ids = append(ids, id)
	}
	for _, id := range ids {
		if id >= 8 {
			require.True(t, table.Release(id))
		}
	}
	require.False(t, table.Hold(0, 8), "in use")
	require.False(t, table.Hold(7, 9), "one is in use")
	for first := 8; first < n; first *= 2 {
		require.True(t, table.Hold(first, first))
		require.False(t, table.Hold(first, first), "twice")
	}
	require.Equal(t, 8, table.InUse())
	_, ok := table.Claim()
	require.False(t, ok, "all others are held")
	for first := 8; first < n; first *= 2 {
		table.Free(first, first)
	}
	for range n - 8 {
		_, ok := table.Claim()
		require.True(t, ok)
	}
	table.Release(300)
	require.False(t, table.Hold(64, 500))
	require.True(t, table.Hold(300, 1), "a Hold that fails frees what it has claimed, and no more")
}

// Idle connections take turns among few ids, and callers spread over words as their number grows.
func TestFewIDs(t *testing.T) {
	table := New(MaxStreams)
	last := -1
	for range 1000 {
		id, _ := table.Claim()
		require.Less(t, id, turns)
		require.NotEqual(t, last, id, "an id is not reused at once")
		last = id
		table.Release(id)
	}
	used := map[int]bool{}
	for range 100 {
		id, _ := table.Claim()
		used[id/wordBits] = true
	}
	require.Greater(t, len(used), 4)
}

func TestConcurrentClaims(t *testing.T) {
	const n, workers, rounds = 100, 16, 2000
	table := New(n)
	var holders [n]atomic.Int32
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range rounds {
				id, ok := table.Claim()
				if !ok {
					continue
				}
				if holders[id].Add(1) != 1 {
					t.Errorf("id %d was claimed twice", id)
				}
				holders[id].Add(-1)
				if !table.Release(id) {
					t.Errorf("id %d was free", id)
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, table.InUse())
}

// FuzzTable compares the table with a map.
func FuzzTable(f *testing.F) {
	f.Add(uint16(70), []byte{0, 0, 1, 0, 200, 3})
	f.Fuzz(func(t *testing.T, size uint16, steps []byte) {
		n := 1 + int(size)%200
		table, held := New(n), map[int]bool{}
		for _, s := range steps {
			if s%2 == 0 {
				id, ok := table.Claim()
				require.Equal(t, len(held) < n, ok)
				if ok {
					require.False(t, held[id])
					require.Less(t, id, n)
					held[id] = true
				}
				continue
			}
			require.Equal(t, held[int(s)], table.Release(int(s)))
			delete(held, int(s))
		}
		require.Equal(t, len(held), table.InUse())
	})
}

func BenchmarkClaimRelease(b *testing.B) {
	table := New(MaxStreams)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id, _ := table.Claim()
			table.Release(id)
		}
	})
}
