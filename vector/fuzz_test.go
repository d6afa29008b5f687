// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Fuzz targets.

// FuzzSums compares the sums of all kernels with the reference on the bits of any floats.
func FuzzSums(f *testing.F) {
	f.Add([]byte{0, 0, 0x80, 0x3f, 0, 0, 0xc0, 0x7f}, uint8(0), uint8(1), uint8(0))
	f.Add(make([]byte, 400), uint8(2), uint8(33), uint8(1))
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, uint8(5), uint8(3), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, format, length, gap uint8) {
		form := floatFormats[int(format)%len(floatFormats)]
		dim := 1 + int(length)%80
		size := form.Size(dim)
		stride := size + int(gap)%16*4
		if len(data) < size {
			return
		}
		copied := unaligned(form, len(data)/stride*stride+size*min(1, (len(data)%stride)/size))
		copy(copied, data)
		m := Matrix{Format: form, Dim: dim, Data: copied, Stride: stride, Scales: make([]float32, len(data))}
		if m.Rows() == 0 {
			return
		}
		for i := range m.Scales {
			m.Scales[i] = float32(i) - 1
		}
		q := m.Row(nil, m.Rows()-1)
		for _, k := range kernels() {
			for o := range ops {
				fuzzSums(t, &k, &m, q, o)
			}
		}
	})
}

// fuzzSums compares sums, if no intermediate sum overflows.
func fuzzSums(t *testing.T, k *kernel, m *Matrix, q []float32, o op) {
	t.Helper()
	wide := make([]float32, 0, m.Rows()*m.Dim)
	for i := range m.Rows() {
		wide = m.Row(wide, i)
	}
	widened := MatrixOf(wide, m.Dim)
	onWide, got := make([]float32, m.Rows()), make([]float32, m.Rows())
	s := widened.sumsOf(q)
	s.dst = &onWide[0]
	k.sums[Float32][o](s)
	if run := k.sums[m.Format][o]; run != nil {
		s = m.sumsOf(q)
		s.dst = &got[0]
		run(s)
		for i := range got {
			require.True(t, got[i] == onWide[i] || got[i] != got[i] && onWide[i] != onWide[i], "%s %v: %v and %v", k.name, m.Format, got[i], onWide[i])
		}
	}
	for i, sum := range onWide {
		want, bound := exactSum(o, q, wide[i*m.Dim:(i+1)*m.Dim])
		switch {
		case want != want:
			require.True(t, sum != sum)
		case bound < 1e30:
			require.InDelta(t, want, float64(sum), bound, "%s op %d", k.name, o)
		}
	}
}

// FuzzBytes compares the sums of bytes of all kernels with the reference: a row of any bytes beside the query, which is
// the last one.
func FuzzBytes(f *testing.F) {
	f.Add([]byte{1, 2, 0x80, 0xff, 127, 3}, uint8(1), uint8(0))
	f.Add(make([]byte, 500), uint8(63), uint8(1))
	f.Add([]byte("a text whose bytes are numbers of all magnitudes, more or less, as it may happen in files"), uint8(16), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, length, gap uint8) {
		dim := 1 + int(length)
		stride := dim + int(gap)%5
		if len(data) < dim {
			return
		}
		m := Matrix{Format: Int8, Dim: dim, Stride: stride, Data: unaligned(Int8, (len(data)-dim)/stride*stride+dim)}
		copy(m.Data, data)
		for _, k := range kernels() {
			checkBytes(t, &k, &m, data[len(data)-dim:])
		}
	})
}

// FuzzNearest compares searches with the slow one, by all kernels, on the bits of any floats.
func FuzzNearest(f *testing.F) {
	f.Add([]byte{0, 0, 0x80, 0x3f, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0}, uint8(0), uint8(1), uint8(1), uint8(0))
	f.Add(make([]byte, 400), uint8(7), uint8(3), uint8(3), uint8(3))
	f.Add([]byte("a text whose bytes are floats of all magnitudes, more or less, as it may happen in files"), uint8(9), uint8(1), uint8(2), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, queries, length, k, metric uint8) {
		dim := 1 + int(length)%20
		var values []float32
		for ; len(data) >= 4; data = data[4:] {
			values = append(values, math.Float32frombits(uint32(data[0])|uint32(data[1])<<8|uint32(data[2])<<16|uint32(data[3])<<24))
		}
		values = values[:len(values)/dim*dim]
		if len(values) == 0 {
			return
		}
		by := metrics[int(metric)%len(metrics)]
		m := MatrixOf(values, dim)
		var q []float32
		for i := range 1 + int(queries)%40 {
			row := m.Row(nil, i%m.Rows())
			if (&query{vector: row}).check(by, 0) == nil {
				q = append(q, row...)
			}
		}
		withKernelOf(func(kernel *kernel) {
			got, err := Nearest(t.Context(), m, q, 1+int(k)%10, by, Options{})
			require.NoError(t, err)
			requireSame(t, slowly(kernel, &m, q, 1+int(k)%10, by, everyRow), got, fmt.Sprintf("%s dim %d by %v", kernel.name, dim, by))
		})
	})
}

// withKernelOf calls f with each kernel as the best.
func withKernelOf(f func(k *kernel)) {
	old := best
	defer func() { best = old }()
	for _, k := range kernels() {
		best = &k
		f(&k)
	}
}

// FuzzBlob holds that any bytes are refused, or come back as they were where the format allows it.
func FuzzBlob(f *testing.F) {
	for _, format := range []Format{Float16, BFloat16, Int8, Bits} {
		blob, err := Quantize(nil, format, []float32{1, -2, 0.5})
		require.NoError(f, err)
		f.Add(blob)
	}
	f.Fuzz(func(t *testing.T, blob []byte) {
		h, err := ParseHeader(blob)
		if err != nil {
			require.ErrorIs(t, err, ErrBlob)
			return
		}
		v, err := Dequantize(nil, blob)
		require.NoError(t, err)
		require.Len(t, v, h.Dim)
		again, err := Quantize(nil, h.Format, v)
		if err != nil {
			require.ErrorIs(t, err, ErrNonFinite)
			return
		}
		w, err := Dequantize(nil, again)
		require.NoError(t, err)
		h, err = ParseHeader(again)
		require.NoError(t, err)
		for i := range v {
			if h.Format == Int8 {
				require.LessOrEqual(t, math.Abs(float64(v[i])-float64(w[i])), bound(Int8, v[i], h.Scale))
			} else {
				require.Equal(t, v[i], w[i])
			}
		}
	})
}
