// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/queue"
)

// Tests of pooled bodies and of their memory.

// drainPools removes the buffers from all pools and returns them by pool.
func drainPools() (found [len(bufferPools)][]*Buffer) {
	for i := range bufferPools {
		for b, _ := bufferPools[i].Get().(*Buffer); b != nil; b, _ = bufferPools[i].Get().(*Buffer) {
			found[i] = append(found[i], b)
		}
	}
	return found
}

// TestBufferCapacity requires that a new buffer has the next power of two as its capacity, from 512 bytes to 32 MiB,
// and a larger one its size.
func TestBufferCapacity(t *testing.T) {
	for _, m := range []struct{ size, want int }{
		{0, 512},
		{1, 512},
		{511, 512},
		{512, 512},
		{513, 1024},
		{1024, 1024},
		{1025, 2048},
		{1<<20 + 1, 2 << 20},
		{1 << 25, 1 << 25},
		{1<<25 + 1, 1<<25 + 1},
	} {
		drainPools()
		b := GetBuffer(m.size)
		require.Len(t, b.B, m.size)
		require.Equal(t, m.want, cap(b.B), "%d bytes", m.size)
		b.Release()
	}
	drainPools()
}

// TestPooledBuffersHaveTheirCapacity requires that a released buffer of any capacity is in a pool whose buffers may be
// as small, or in none, and has no content.
func TestPooledBuffersHaveTheirCapacity(t *testing.T) {
	drainPools()
	for range 20 { // with the race detector, pools drop buffers at random
		for _, capacity := range []int{0, 1, 511, 512, 513, 1023, 1024, 1025, 4096, 5000, 1 << 16, 1<<16 - 1} {
			b := GetBuffer(0)
			b.B = make([]byte, capacity)
			b.Release()
		}
	}
	for i, pooled := range drainPools() {
		for _, b := range pooled {
			require.GreaterOrEqual(t, cap(b.B), 1<<(MinBufferBits+i))
			require.Less(t, cap(b.B), 2<<(MinBufferBits+i), "a buffer of a smaller pool would be new")
			require.Empty(t, b.B)
		}
	}
}

// TestPoisonedBuffer requires that poison overwrites all bytes that a buffer may hold, and refuses a second release.
func TestPoisonedBuffer(t *testing.T) {
	for _, capacity := range []int{0, 1, 2, 3, 7, 8, 1000} {
		b := &Buffer{B: bytes.Repeat([]byte("x"), capacity)[:capacity/2]}
		outstanding.Add(1)
		before := BuffersHeld()
		b.poison()
		require.Equal(t, before-1, BuffersHeld())
		require.Equal(t, bytes.Repeat([]byte{0xDB}, capacity), b.B[:cap(b.B)][:capacity])
		require.PanicsWithValue(t, "vecql: buffer released twice", b.poison)
	}
}

// TestBufferIsCounted requires that a response counts as memory in flight while it arrives, except the part that its
// request has acquired, then as held memory, and no longer after its release. A small one is not counted.
func TestBufferIsCounted(t *testing.T) {
	const size = 2 * SmallBody
	bufferOf := func(size int) *Buffer {
		b := GetBuffer(0)
		b.B = make([]byte, size)
		return b
	}
	for _, acquired := range []int64{0, 1, size - 1, size, size + 1} {
		budget := queue.NewBudget(1<<20, nil)
		require.NoError(t, func() error { _, err := budget.Acquire(t.Context(), acquired, true, 0); return err }())
		usage := func(inFlight, held int64) {
			t.Helper()
			got := budget.Usage()
			require.Equal(t, []int64{inFlight, held}, []int64{got.InFlight, got.Held}, "%d bytes acquired", acquired)
		}
		late := bufferOf(size)
		late.count(budget, 0)
		usage(acquired+size, 0)
		late.Release()
		usage(acquired, 0)
		b := bufferOf(size)
		b.count(budget, acquired)
		usage(max(acquired, size), 0)
		b.Hold(budget, acquired)
		usage(0, size)
		b.Release()
		usage(0, 0)
		budget.Add(acquired)
		small := bufferOf(SmallBody)
		small.count(budget, 0)
		usage(acquired, 0)
		small.Hold(budget, acquired)
		usage(0, 0)
		small.Release()
		budget.Add(acquired)
		voidBody.Hold(budget, acquired)
		voidBody.Release()
		usage(0, 0)
		large := bufferOf(SmallBody + 1)
		large.count(budget, 0)
		usage(SmallBody+1, 0)
		large.Release()
		usage(0, 0)
	}
	free := bufferOf(size)
	free.count(nil, 0)
	require.Nil(t, free.memory)
	free.Release()
}
