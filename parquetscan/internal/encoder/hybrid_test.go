// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// decodeReference decodes n values of a hybrid, bit by bit.
func decodeReference(t testing.TB, data []byte, width uint, n int) (values []uint32) {
	for len(values) < n {
		head, size := binary.Uvarint(data)
		require.Positive(t, size)
		data = data[size:]
		bits := func(at, count uint) (v uint32) {
			for i := range count {
				v |= uint32(data[(at+i)/8]>>((at+i)%8)&1) << i
			}
			return v
		}
		if head&1 == 0 {
			require.NotZero(t, head)
			v := bits(0, width)
			for range head >> 1 {
				values = append(values, v)
			}
			data = data[(width+7)/8:]
			continue
		}
		for i := range uint(head>>1) * groupValues {
			values = append(values, bits(i*width, width))
		}
		data = data[uint(head>>1)*width:]
	}
	require.Empty(t, data)
	for _, v := range values[n:] {
		require.Zero(t, v, "a value that completes the last group")
	}
	return values[:n]
}

// checkHybrid encodes random runs of a width by both methods.
func checkHybrid(t testing.TB, width uint, seed uint64) {
	r := rand.New(rand.NewPCG(seed, uint64(width)))
	var h Hybrid
	for range 3 {
		h.reset(width)
		want := []uint32{}
		for range r.IntN(40) {
			run := make([]uint32, []int{1, 2, 7, 8, 9, 20, 600}[r.IntN(7)])
			v := uint32(r.Uint64() & (1<<width - 1))
			for i := range run {
				if r.IntN(2) == 0 && len(run) != 9 {
					v = uint32(r.Uint64() & (1<<width - 1))
				}
				run[i] = v
			}
			want = append(want, run...)
			if r.IntN(2) == 0 {
				appendHybrid(&h, run)
				continue
			}
			for _, v := range run {
				h.Run(v, 1)
			}
			n := r.IntN(20)
			h.Run(v, n)
			for range n {
				want = append(want, v)
			}
		}
		got := decodeReference(t, h.finish(), width, len(want))
		require.Equal(t, len(want), len(got))
		for i := range want {
			require.Equal(t, want[i], got[i], "value %d of width %d", i, width)
		}
	}
}

func TestHybrid(t *testing.T) {
	for width := range uint(33) {
		for seed := range uint64(10) {
			checkHybrid(t, width, seed)
		}
	}
}

func FuzzHybrid(f *testing.F) {
	f.Add(uint(1), uint64(1))
	f.Fuzz(func(t *testing.T, width uint, seed uint64) { checkHybrid(t, width%33, seed) })
}

// TestHybridOfVectors: the levels of a row of 384 elements take a few bytes.
func TestHybridOfVectors(t *testing.T) {
	var h Hybrid
	h.reset(1)
	for range 100 {
		h.Run(0, 1)
		h.Run(1, 383)
	}
	require.LessOrEqual(t, len(h.finish()), 500)
}
