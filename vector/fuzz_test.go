// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
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
			for which := range togethers {
				queries := slices.Concat(q, m.Row(nil, 0), q)
				if which != togetherSquares {
					queries = queries[:2*dim]
				}
				got, want := sumsTogether(&k, &m, queries, which)
				for i := range got {
					require.True(t, got[i] == want[i] || got[i] != got[i] && want[i] != want[i], "%s %v %d: %v and %v", k.name, form, which, got, want)
				}
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

// FuzzTiles compares the tiles of all kernels with the reference on the bits of any floats: rows, then queries, then
// limits, from data that is repeated.
func FuzzTiles(f *testing.F) {
	f.Add([]byte{0, 0, 0x80, 0x3f, 0, 0, 0xc0, 0x7f}, uint8(1), uint8(0))
	f.Add(make([]byte, 400), uint8(33), uint8(8))
	f.Add([]byte("a text whose bytes are floats of all magnitudes, more or less, as it may happen in files"), uint8(19), uint8(7))
	f.Fuzz(func(t *testing.T, data []byte, length, first uint8) {
		values, dim := floatsOf(data), 1+int(length)%60
		if len(values) == 0 {
			return
		}
		at := 0
		take := func(n int) []float32 {
			v := make([]float32, n)
			for i := range v {
				v[i] = values[at%len(values)]
				at++
			}
			return v
		}
		for _, k := range kernels() {
			if k.tile == nil {
				continue
			}
			rows, queries, l, p := take(k.rows*dim), take(lanes*dim), &limits{}, make([]params, k.rows)
			copy(l.above[:], take(lanes))
			copy(l.slope[:], take(lanes))
			for i := range p {
				v := take(3)
				p[i] = params{v[0], v[1], v[2], 0}
			}
			checkTile(t, &k, rows, queries, int(first)%dim, l, p)
		}
	})
}

// floatsOf returns the floats that have the bytes.
func floatsOf(data []byte) (values []float32) {
	for ; len(data) >= 4; data = data[4:] {
		values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return values
}

// FuzzWiden compares the conversions of all kernels with the ones of single elements.
func FuzzWiden(f *testing.F) {
	f.Add([]byte{0, 0x3c, 1, 0, 0xff, 0x7b, 0, 0xfc}, uint8(3), float32(1))
	f.Add(make([]byte, 400), uint8(4), float32(2))
	f.Add([]byte("a text whose bytes are elements of all magnitudes, more or less, as it may happen in files"), uint8(5), float32(-0.1))
	f.Fuzz(func(t *testing.T, data []byte, format uint8, scale float32) {
		form := floatFormats[int(format)%len(floatFormats)]
		dim := len(data) / form.Size(1)
		if dim == 0 {
			return
		}
		src := unaligned(form, form.Size(dim))
		copy(src, data)
		got := make([]float32, dim)
		for _, k := range kernels() {
			k.widen[form](&got[0], &src[0], uintptr(dim), scale)
			for i, v := range got {
				want := elementOf(form, src[form.Size(i):], scale)
				require.True(t, math.Float32bits(v) == math.Float32bits(want) || v != v && want != want, "%s %v element %d: %v, want %v", k.name, form, i, v, want)
			}
		}
	})
}

// elementOf returns the element of a format at the start of b.
func elementOf(f Format, b []byte, scale float32) float32 {
	switch f {
	case Float16:
		return fromHalf(binary.LittleEndian.Uint16(b))
	case BFloat16:
		return fromBrain(binary.LittleEndian.Uint16(b))
	case Int8:
		return scale * float32(int8(b[0]))
	case Float32Big:
		return math.Float32frombits(binary.BigEndian.Uint32(b))
	case Float32Little:
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	}
	return math.Float32frombits(binary.NativeEndian.Uint32(b))
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
	f.Add([]byte("a text of a prime number of floats"), uint8(16), uint8(251), uint8(2), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, queries, length, k, metric uint8) {
		dim := 1 + int(length)%20
		values := floatsOf(data)
		if length >= 250 { // segments of long rows, from data that is repeated
			dim = longRow + int(length)
			for len(values) > 0 && len(values) < 15*dim {
				values = append(values, values...)
			}
			values = values[:min(len(values), 15*dim)]
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

// FuzzQuantizedQueries compares searches of any bytes with the slow one, by all kernels.
func FuzzQuantizedQueries(f *testing.F) {
	f.Add([]byte{0, 0, 0x80, 0x3f, 127, 0x80, 1, 2, 3}, uint8(0), uint8(1), float32(1))
	f.Add(make([]byte, 400), uint8(3), uint8(33), float32(0))
	f.Add([]byte("a text whose bytes are numbers of all magnitudes, more or less, as it may happen in files"), uint8(2), uint8(6), float32(1e30))
	f.Fuzz(func(t *testing.T, data []byte, metric, length uint8, scale float32) {
		dim, by := 1+int(length)%70, metrics[int(metric)%len(metrics)]
		if len(data) < 5*dim {
			return
		}
		q := floatsOf(data[:4*dim])
		if (&query{vector: q}).check(by, 0) != nil {
			return
		}
		m := Matrix{Format: Int8, Dim: dim, Data: data[4*dim : len(data)-len(data)%dim]}
		for i := range m.Rows() {
			m.Scales = append(m.Scales, scale*float32(i%3))
		}
		positions, distances := slowIntegers(t, &m, q, 10, by)
		withKernelOf(func(kernel *kernel) {
			got, err := Nearest(t.Context(), m, q, 10, by, Options{QuantizeQueries: true})
			require.NoError(t, err)
			requireSame(t, &Result{len(positions), positions, distances}, got, fmt.Sprintf("%s dim %d by %v", kernel.name, dim, by))
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
