// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Quantized vectors and their bounds.

// TestHalfRoundsToNearest compares the conversion of each float16 with its definition, and the rounding between each
// pair of neighbors.
func TestHalfRoundsToNearest(t *testing.T) {
	value := func(h uint16) float64 {
		exp, frac := int(h>>10&31), float64(h&0x3ff)
		if exp == 0 {
			return math.Ldexp(frac, -24)
		}
		return math.Ldexp(1024+frac, exp-25)
	}
	for h := uint16(0); h < 0x7c00; h++ {
		low, high := value(h), value(h+1) // the one after the last is 65536
		require.Equal(t, float32(low), fromHalf(h))
		require.Equal(t, float32(-low), fromHalf(h|0x8000))
		require.Equal(t, h, toHalf(float32(low)))
		middle := float32((low + high) / 2) // exact
		require.Equal(t, h+h&1, toHalf(middle), "%v", middle)
		require.Equal(t, h, toHalf(math.Nextafter32(middle, 0)))
		require.Equal(t, h+1, toHalf(math.Nextafter32(middle, infinity)))
		require.Equal(t, h|0x8000, toHalf(float32(-low)))
	}
	require.Equal(t, infinity, fromHalf(0x7c00))
	require.Equal(t, uint16(0x7c00), toHalf(infinity))
	require.True(t, math.IsNaN(float64(fromHalf(0x7c01))))
	require.True(t, math.IsNaN(float64(fromHalf(toHalf(math.Float32frombits(0x7f800001))))))
	require.True(t, math.IsNaN(float64(fromHalf(toHalf(float32(math.NaN()))))))
}

func TestBrainRoundsToNearest(t *testing.T) {
	for b := uint16(0); b < 0x7f80; b++ {
		low := math.Float32frombits(uint32(b) << 16)
		middle := math.Float32frombits(uint32(b)<<16 | 0x8000)
		require.Equal(t, low, fromBrain(b))
		require.Equal(t, b, toBrain(low))
		require.Equal(t, b+b&1, toBrain(middle))
		require.Equal(t, b, toBrain(math.Nextafter32(middle, 0)))
		require.Equal(t, b+1, toBrain(math.Nextafter32(middle, infinity)))
		require.Equal(t, b|0x8000, toBrain(-low))
	}
	require.True(t, math.IsNaN(float64(fromBrain(toBrain(math.Float32frombits(0x7f800001))))))
}

// TestWidenEqualsConversion converts each float16 and bfloat16 by each kernel.
func TestWidenEqualsConversion(t *testing.T) {
	const all = 1 << 16
	src := make([]byte, 2*all)
	for i := range all {
		binary.LittleEndian.PutUint16(src[2*i:], uint16(i))
	}
	dst := make([]float32, all)
	for _, k := range kernels() {
		for f, from := range map[Format]func(uint16) float32{Float16: fromHalf, BFloat16: fromBrain} {
			k.widen[f](&dst[0], &src[0], all, 1)
			for i, got := range dst {
				if want := from(uint16(i)); want == want {
					require.Equal(t, math.Float32bits(want), math.Float32bits(got), "%s %v %x", k.name, f, i)
				} else {
					require.True(t, got != got, "%s %v %x", k.name, f, i)
				}
			}
		}
	}
}

// bound is the documented error of an element.
func bound(f Format, x float32, scale float32) float64 {
	abs := math.Abs(float64(x))
	switch f {
	case Float16:
		return max(0x1p-11*abs, 0x1p-25)
	case BFloat16:
		return max(0x1p-8*abs, 0x1p-134)
	}
	return 0.51 * float64(scale)
}

func TestQuantizeHasStatedError(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for _, f := range []Format{Float16, BFloat16, Int8, Bits} {
		for range 500 {
			checkQuantized(t, f, randomVector(r))
		}
		if f != Float16 {
			checkQuantized(t, f, []float32{1e30, -3e38, 65520})
		}
		if f == Int8 || f == Bits {
			checkQuantized(t, f, []float32{math.MaxFloat32, -1e38, 0})
		}
	}
}

// randomVector returns up to 100 elements of one magnitude, which every format can have.
func randomVector(r *rand.Rand) []float32 {
	v := randomFloats(r, r.IntN(100))
	factor := float32(math.Ldexp(1, r.IntN(160)-150))
	for i := range v {
		v[i] *= factor
	}
	return v
}

func checkQuantized(t *testing.T, f Format, v []float32) {
	t.Helper()
	blob, err := Quantize([]byte("before"), f, v)
	require.NoError(t, err)
	require.Equal(t, "before", string(blob[:6]))
	blob = blob[6:]
	h, err := ParseHeader(blob)
	require.NoError(t, err)
	require.Equal(t, Header{f, len(v), h.Scale}, h)
	got, err := Dequantize([]float32{7}, blob)
	require.NoError(t, err)
	require.Equal(t, float32(7), got[0])
	require.Len(t, got, len(v)+1)
	for i, x := range v {
		if f == Bits {
			require.Equal(t, x > 0, got[i+1] == 1)
			require.True(t, got[i+1] == 1 || got[i+1] == -1)
			continue
		}
		require.LessOrEqual(t, math.Abs(float64(x)-float64(got[i+1])), bound(f, x, h.Scale), "%v of %v, scale %v", f, x, h.Scale)
	}
}

func TestBlobHasStatedBytes(t *testing.T) {
	v := []float32{1, -0.5, 127}
	for _, c := range []struct {
		format Format
		want   []byte
	}{
		{Float16, []byte{0x13, 3, 0, 0, 0, 0, 0x80, 0x3f, 0, 0x3c, 0, 0xb8, 0xf0, 0x57}},
		{BFloat16, []byte{0x14, 3, 0, 0, 0, 0, 0x80, 0x3f, 0x80, 0x3f, 0, 0xbf, 0xfe, 0x42}},
		{Int8, []byte{0x15, 3, 0, 0, 0, 0, 0x80, 0x3f, 1, 0, 127}},
		{Bits, []byte{0x16, 3, 0, 0, 0, 0, 0x80, 0x3f, 0b101}},
	} {
		got, err := Quantize(nil, c.format, v)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%v", c.format)
	}
}

func TestQuantizeRefuses(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		format Format
		value  float32
		text   string
	}{
		{Float16, 65520, "vector: quantize: element 1 is 65520: not a finite float16"},
		{Float16, nan, "vector: quantize: element 1 is NaN: not a finite float16"},
		{BFloat16, math.MaxFloat32, "vector: quantize: element 1 is 3.4028235e+38: not a finite bfloat16"},
		{Int8, infinity, "vector: quantize: element 1 is +Inf: not a finite int8"},
		{Bits, -infinity, "vector: quantize: element 1 is -Inf: not a finite bits"},
	} {
		dst, err := Quantize([]byte{1}, c.format, []float32{0, c.value})
		require.EqualError(t, err, c.text)
		require.ErrorIs(t, err, ErrNonFinite)
		var element *ElementError
		require.ErrorAs(t, err, &element)
		require.Equal(t, 1, element.Element)
		require.Equal(t, []byte{1}, dst)
	}
	_, err := Quantize(nil, Float32, nil)
	require.ErrorIs(t, err, ErrShape)
	_, err = Quantize(nil, Bits, make([]float32, maxDim+1))
	require.ErrorIs(t, err, ErrShape)
}

func TestParseHeaderRefuses(t *testing.T) {
	good, err := Quantize(nil, Int8, []float32{1, 2})
	require.NoError(t, err)
	change := func(at int, b byte) []byte {
		c := append([]byte{}, good...)
		c[at] = b
		return c
	}
	for text, blob := range map[string][]byte{
		"vector: blob of 0 bytes: a header has 8 bytes: not a quantized vector":                 nil,
		"vector: blob of 7 bytes: a header has 8 bytes: not a quantized vector":                 good[:7],
		"vector: blob of 9 bytes: 2 elements of int8 have 10 bytes: not a quantized vector":     good[:9],
		"vector: blob of 10 bytes: version 2: not a quantized vector":                           change(0, 0x25),
		"vector: blob of 10 bytes: format 0: not a quantized vector":                            change(0, 0x10),
		"vector: blob of 10 bytes: format 7: not a quantized vector":                            change(0, 0x17),
		"vector: blob of 10 bytes: 3 elements of int8 have 11 bytes: not a quantized vector":    change(1, 3),
		"vector: blob of 10 bytes: scale -0.015748031: not a quantized vector":                  change(7, 0xbc),
		"vector: blob of 10 bytes: scale +Inf: not a quantized vector":                          {0x15, 2, 0, 0, 0, 0, 0x80, 0x7f, 1, 2},
		"vector: blob of 10 bytes: scale NaN: not a quantized vector":                           {0x15, 2, 0, 0, 0, 0, 0xc0, 0x7f, 1, 2},
		"vector: blob of 10 bytes: 2 elements of float16 have 12 bytes: not a quantized vector": change(0, 0x13),
	} {
		_, err := ParseHeader(blob)
		require.EqualError(t, err, text)
		require.ErrorIs(t, err, ErrBlob)
		dst, err := Dequantize([]float32{5}, blob)
		require.ErrorIs(t, err, ErrBlob)
		require.Equal(t, []float32{5}, dst)
	}
}

func TestMatrixOfBlobs(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, f := range []Format{Float16, BFloat16, Int8, Bits} {
		const dim, rows = 20, 100
		values := randomFloats(r, dim*rows)
		var blobs []byte
		var err error
		for i := range rows {
			blobs, err = Quantize(blobs, f, values[i*dim:(i+1)*dim])
			require.NoError(t, err)
		}
		width := len(blobs) / rows
		m, err := MatrixOfBlobs(blobs, width, nil)
		require.NoError(t, err)
		require.Equal(t, rows, m.Rows())
		for i := range rows {
			want, err := Dequantize(nil, blobs[i*width:(i+1)*width])
			require.NoError(t, err)
			require.Equal(t, want, m.Row(nil, i))
		}
		validity := make([]byte, (rows+7)/8)
		validity[3] = 0x30 // rows 28 and 29
		clear(blobs[:28*width])
		m, err = MatrixOfBlobs(blobs, width, validity)
		require.NoError(t, err)
		for i, scale := range m.Scales {
			require.Equal(t, i == 28 || i == 29, scale != 0, "%v row %d", f, i)
		}
		metric := Dot
		if f == Bits {
			metric = Hamming
		}
		result, err := Nearest(t.Context(), m, values[28*dim:29*dim], 5, metric, Options{})
		require.NoError(t, err)
		require.Equal(t, []int64{28, 29}, result.Positions)
		_, err = MatrixOfBlobs(blobs, width, nil)
		require.ErrorIs(t, err, ErrBlob)
	}
	m, err := MatrixOfBlobs(make([]byte, 40), 20, []byte{0})
	require.NoError(t, err)
	require.Zero(t, m.Dim)
	a, err := Quantize(nil, Int8, make([]float32, 4))
	require.NoError(t, err)
	b, err := Quantize(a, Float16, make([]float32, 2))
	require.NoError(t, err)
	for width, message := range map[int]string{
		7:  "vector: 24 bytes are not blobs of 7 bytes: invalid shape",
		9:  "vector: 24 bytes are not blobs of 9 bytes: invalid shape",
		12: "vector: row 1 has 2 elements of float16, the rows before have 4 of int8: invalid shape",
	} {
		_, err = MatrixOfBlobs(b, width, nil)
		require.EqualError(t, err, message)
	}
	a, err = Quantize(nil, Bits, make([]float32, 3))
	require.NoError(t, err)
	a, err = Quantize(a, Bits, make([]float32, 4))
	require.NoError(t, err)
	_, err = MatrixOfBlobs(a, 9, nil)
	require.EqualError(t, err, "vector: row 1 has 4 elements of bits, the rows before have 3 of bits: invalid shape")
	_, err = MatrixOfBlobs(b, 12, []byte{})
	require.EqualError(t, err, "vector: validity of 0 bytes for 2 blobs: invalid shape")
}
