// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Sums of bytes, and searches with quantized queries.

// checkBytes compares the sums of bytes of a kernel with loops.
func checkBytes(t *testing.T, k *kernel, m *Matrix, q []byte) {
	t.Helper()
	products, squares, different := make([]int32, m.Rows()), make([]int32, m.Rows()), make([]float32, m.Rows())
	run := func(f func(*sums), dst unsafe.Pointer) {
		f(&sums{
			dst: (*float32)(dst), src: m.row(0), stride: uintptr(m.stride()), rows: uintptr(m.Rows()),
			query: &q[0], dim: uintptr(m.Dim),
		})
	}
	run(k.integers, unsafe.Pointer(&products[0]))
	run(k.integerSquares, unsafe.Pointer(&squares[0]))
	run(k.hamming, unsafe.Pointer(&different[0]))
	for i := range m.Rows() {
		var product, square, count int64
		for j, b := range unsafe.Slice(m.row(i), m.Dim) {
			product += int64(int8(b)) * int64(int8(q[j]))
			square += int64(int8(b)) * int64(int8(b))
			count += int64(bits.OnesCount8(b ^ q[j]))
		}
		at := fmt.Sprintf("%s dim %d row %d of %d", k.name, m.Dim, i, m.Rows())
		require.Equal(t, product, int64(products[i]), at)
		require.Equal(t, square, int64(squares[i]), at)
		require.Equal(t, float32(count), different[i], at)
	}
}

func TestSumsOfBytesEqualReference(t *testing.T) {
	r := rand.New(rand.NewPCG(49, 50))
	for _, k := range kernels() {
		for _, dim := range dims() {
			rows, stride := 1+r.IntN(9), dim+r.IntN(4)
			m := Matrix{Format: Int8, Dim: dim, Stride: stride, Data: unaligned(Int8, (rows-1)*stride+dim)}
			q := unaligned(Int8, dim)
			for _, b := range [][]byte{m.Data, q} {
				for i := range b {
					b[i] = byte(r.IntN(256))
				}
			}
			checkBytes(t, &k, &m, q)
		}
		for _, value := range []int8{-128, -127, 127} { // the greatest sums
			data := bytes.Repeat([]byte{byte(value)}, maxIntegers)
			m := Matrix{Format: Int8, Dim: maxIntegers, Data: data}
			for _, other := range []byte{0x80, 127} {
				checkBytes(t, &k, &m, bytes.Repeat([]byte{other}, maxIntegers))
			}
		}
	}
}

// slowIntegers is slowly for a query that is rounded: it adds integers, and computes each distance in float64.
func slowIntegers(t *testing.T, m *Matrix, query []float32, n int, metric Metric) ([]int64, []float32) {
	t.Helper()
	blob, err := Quantize(nil, Int8, query)
	require.NoError(t, err)
	h, err := ParseHeader(blob)
	require.NoError(t, err)
	q := blob[HeaderSize:]
	distances, positions := make([]float32, m.Rows()), make([]int64, m.Rows())
	for i := range distances {
		var qx, qq, xx float64
		for j, b := range unsafe.Slice(m.row(i), m.Dim) {
			x, y := float64(int8(b)), float64(int8(q[j]))
			qx, qq, xx = qx+x*y, qq+y*y, xx+x*x // exact
		}
		s, u := float64(h.Scale), float64(m.Scales[i])
		distances[i] = float32(integerDistance(metric, float64(s*u*qx), float64(s*s*qq), float64(u*u*xx)))
		positions[i] = int64(i)
	}
	slices.SortStableFunc(positions, func(a, b int64) int { return compareDistances(distances[a], distances[b]) })
	positions = positions[:min(n, len(positions))]
	nearest := make([]float32, len(positions))
	for i, p := range positions {
		nearest[i] = distances[p]
	}
	return positions, nearest
}

func integerDistance(metric Metric, qx, qq, xx float64) float64 {
	switch metric {
	case Dot:
		return -qx
	case Cosine:
		return 1 - min(max(qx/(math.Sqrt(qq)*math.Sqrt(xx)), -1), 1)
	case L2:
		return math.Sqrt(max(qq+xx-2*qx, 0))
	}
	return max(qq+xx-2*qx, 0)
}

func TestQuantizedQueriesEqualSlowSearch(t *testing.T) {
	withKernel(t, func(t *testing.T, k *kernel) {
		r := rand.New(rand.NewPCG(51, 52))
		for _, dim := range []int{1, 7, 64, 100, 768} {
			rows := 400 + r.IntN(200)
			values := randomFloats(r, rows*dim)
			clear(values[:dim])                                 // no direction
			copy(values[10*dim:11*dim], values[20*dim:21*dim])  // a tie
			copy(values[30*dim:], []float32{1e30})              // a large scale
			copy(values[31*dim:32*dim], make([]float32, dim-1)) // a tiny one
			values[31*dim] = 1e-45
			m := encode(Int8, dim, values, r.IntN(9))
			m.Data[40*m.Stride] = 0x80 // -128
			for _, queries := range []int{1, 7} {
				q := slices.Concat(values[20*dim:21*dim], randomFloats(r, (queries-1)*dim))
				for _, metric := range metrics {
					got, err := Nearest(t.Context(), m, q, 25, metric, Options{Workers: 1 + r.IntN(3), QuantizeQueries: true})
					require.NoError(t, err)
					for i := range queries {
						positions, distances := slowIntegers(t, &m, q[i*dim:(i+1)*dim], 25, metric)
						gotPositions, gotDistances := got.Query(i)
						require.Equal(t, positions, gotPositions, "dim %d by %v", dim, metric)
						require.Equal(t, distances, gotDistances, "dim %d by %v", dim, metric)
					}
				}
			}
		}
	})
}

// TestQuantizedQueriesOfEqualRows has rows in one direction, and in a close one: the last bits of distances, and of the
// floor, decide.
func TestQuantizedQueriesOfEqualRows(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	const dim, rows = 20, 500
	row := randomFloats(r, dim)
	m := encode(Int8, dim, slices.Repeat(row, rows), 0)
	for i := range m.Scales {
		m.Scales[i] *= 1 + float32(r.IntN(4))*0x1p-23
		m.Data[i*dim] += byte(r.IntN(2))
	}
	for _, metric := range metrics {
		for _, factor := range []float32{1, 3, 1e-20} {
			q := slices.Clone(row)
			for i := range q {
				q[i] *= factor
			}
			positions, distances := slowIntegers(t, &m, q, 12, metric)
			got, err := Nearest(t.Context(), m, q, 12, metric, Options{QuantizeQueries: true})
			require.NoError(t, err)
			requireSame(t, &Result{12, positions, distances}, got, metric.String())
		}
	}
}

// TestQuantizedQueriesOfSelectedRows has runs of rows, and all rows at the end of a sorted result.
func TestQuantizedQueriesOfSelectedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	const dim, rows = 33, 3000
	values := randomFloats(r, rows*dim)
	m, q := encode(Int8, dim, values, 0), randomFloats(r, 2*dim)
	m.Validity = bytes.Repeat([]byte{0b1101_0111}, rows/8)
	var selection []int32
	for i := range int32(rows) {
		if r.IntN(3) > 0 {
			selection = append(selection, i)
		}
	}
	got, err := Nearest(t.Context(), m, q, rows, L2, Options{QuantizeQueries: true, Selection: selection})
	require.NoError(t, err)
	for i := range 2 {
		want, _ := slowIntegers(t, &m, q[i*dim:(i+1)*dim], rows, L2)
		want = slices.DeleteFunc(want, func(p int64) bool {
			_, selected := slices.BinarySearch(selection, int32(p))
			return !selected || m.Validity[p>>3]>>(p&7)&1 == 0
		})
		positions, _ := got.Query(i)
		require.Equal(t, want, positions)
	}
}

// TestQuantizedQueriesHaveStatedError compares the distances with the distances of the floats.
func TestQuantizedQueriesHaveStatedError(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 56))
	for _, dim := range []int{1, 3, 50, 300} {
		const rows = 200
		values := randomFloats(r, rows*dim)
		for i := range rows {
			for j := range dim {
				values[i*dim+j] *= float32(math.Ldexp(1, i%40-20))
			}
		}
		m, q := encode(Int8, dim, values, 0), randomFloats(r, dim)
		for _, metric := range metrics {
			got, err := Nearest(t.Context(), m, q, rows, metric, Options{QuantizeQueries: true})
			require.NoError(t, err)
			for i, p := range got.Positions {
				x := values[int(p)*dim : int(p+1)*dim]
				want := Reference(metric, q, x)
				bound := quantizedBound(metric, q, x, m.Row(nil, int(p))) + 0x1p-23*math.Abs(want)
				require.InDelta(t, want, float64(got.Distances[i]), bound, "dim %d row %d by %v", dim, p, metric)
			}
		}
	}
}

// quantizedBound is the documented error of a distance. rounded is the row of Int8.
func quantizedBound(metric Metric, q, x, rounded []float32) float64 {
	var q1, x1 float64
	for i := range q {
		q1 += math.Abs(float64(q[i]))
		x1 += math.Abs(float64(rounded[i]))
	}
	s, u, root := float64(scaleOf(q)), float64(scaleOf(x)), math.Sqrt(float64(len(q)))
	switch metric {
	case Dot:
		return 0.51 * (s*x1 + u*q1)
	case Cosine:
		return 1.02 * root * (s/math.Sqrt(squares64(q)) + u/math.Sqrt(squares64(x)))
	case L2:
		return 0.51 * root * (s + u)
	}
	e := 0.51 * root * (s + u)
	return e * (2*Reference(L2, q, x) + e)
}

// TestQuantizedQueriesOfOtherFormats holds that rows of floats and bits are searched as without the option.
func TestQuantizedQueriesOfOtherFormats(t *testing.T) {
	r := rand.New(rand.NewPCG(57, 58))
	const dim = 20
	for _, f := range []Format{Float32, Float16, Bits} {
		m, q, metric := encode(f, dim, randomFloats(r, 100*dim), 0), randomFloats(r, 2*dim), Dot
		if f == Bits {
			metric = Hamming
		}
		want, err := Nearest(t.Context(), m, q, 9, metric, Options{})
		require.NoError(t, err)
		got, err := Nearest(t.Context(), m, q, 9, metric, Options{QuantizeQueries: true})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// TestDistancesAreInOrder holds that more integer products are nearer.
func TestDistancesAreInOrder(t *testing.T) {
	q, x := measuresOf(0.5, 900), measuresOf(0.25, 1600)
	for _, metric := range metrics {
		var all []float32
		for sum := int32(1200); sum >= -1200; sum -= 100 {
			all = append(all, metric.distanceOf(sum, q, x))
		}
		require.True(t, slices.IsSortedFunc(all, cmp.Compare[float32]), "%v: %v", metric, all)
	}
	require.Zero(t, L2.distanceOf(1<<30, q, x), "no root of a negative number")
	require.True(t, math.IsNaN(float64(Cosine.distanceOf(0, q, measures{}))))
}
