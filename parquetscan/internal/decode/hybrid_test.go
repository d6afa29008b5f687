// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// TestLongestRun reads the header of a run with one value more than there can be.
func TestLongestRun(t *testing.T) {
	for _, m := range []struct {
		values uint64
		err    error
	}{{1<<31 - 1, nil}, {1 << 31, failure.ErrCorrupt}} {
		var h Hybrid
		require.NoError(t, h.Start(append(binary.AppendUvarint(nil, m.values<<1), 1), 1))
		got := make([]uint32, 2)
		require.ErrorIs(t, h.Decode(got), m.err)
		if m.err == nil {
			require.Equal(t, []uint32{1, 1}, got)
		}
	}
}

// FuzzHybrid compares values with the reference's.
func FuzzHybrid(f *testing.F) {
	f.Add([]byte{3, 0x88, 0xc6, 0xfa, 6, 5}, uint(3), uint(20), uint(3))
	f.Add([]byte{6, 5, 3, 0xff}, uint(1), uint(9), uint(1))
	f.Fuzz(func(t *testing.T, data []byte, width, n, skip uint) {
		width, n, skip = width%33, n%2000, skip%100
		var h Hybrid
		require.NoError(t, h.Start(data, width))
		want, wantErr := hybridReference(data, width, int(n+skip))
		got := make([]uint32, n)
		err := h.Skip(int(skip))
		if err == nil {
			err = h.Decode(got)
		}
		if wantErr != nil {
			require.ErrorIs(t, err, failure.ErrCorrupt)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want[skip:], got)
		// same counts the values that equal the first one.
		if n > 0 {
			require.NoError(t, h.Start(data, width))
			require.NoError(t, h.Skip(int(skip)))
			k, err := h.Same(got[0], int(n))
			require.NoError(t, err)
			equal := 0
			for equal < int(n) && got[equal] == got[0] {
				equal++
			}
			require.Equal(t, equal, k)
		}
	})
}

// hybridReference decodes n values, one by one and bit by bit.
func hybridReference(data []byte, width uint, n int) ([]uint32, error) {
	out := []uint32{}
	if width == 0 {
		return make([]uint32, n), nil
	}
	for len(out) < n {
		head, shift := uint64(0), 0
		for {
			if len(data) == 0 || shift > 63 {
				return nil, failure.Corrupt("end")
			}
			head |= uint64(data[0]&0x7f) << shift
			last := data[0] < 0x80
			data = data[1:]
			shift += 7
			if last {
				break
			}
		}
		if head > 1<<32-1 {
			return nil, failure.Corrupt("long")
		}
		if head&1 == 1 {
			bits := int(min(uint64(len(data))*8, head>>1*8*uint64(width)))
			if bits < int(width) {
				return nil, failure.Corrupt("end")
			}
			for i := 0; i+int(width) <= bits; i += int(width) {
				v := uint32(0)
				for b := range int(width) {
					v |= uint32(data[(i+b)/8]>>((i+b)%8)&1) << b
				}
				out = append(out, v)
				if len(out) > n+8 {
					break
				}
			}
			data = data[min(uint64(len(data)), head>>1*uint64(width)):]
			continue
		}
		size := int(width+7) / 8
		if len(data) < size {
			return nil, failure.Corrupt("end")
		}
		v := uint64(0)
		for i := range size {
			v |= uint64(data[i]) << (8 * i)
		}
		if v >= 1<<width {
			return nil, failure.Corrupt("wide")
		}
		data = data[size:]
		for i := uint64(0); i < head>>1 && len(out) < n; i++ {
			out = append(out, uint32(v))
		}
	}
	return out[:n], nil
}
