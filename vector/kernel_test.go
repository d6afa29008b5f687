// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Each kernel beside the reference.

var floatFormats = []Format{Float32, Float32Big, Float32Little, Float16, BFloat16, Int8}

// lengths are the dimensions of the tests: all around the steps of the kernels, and some larger ones.
func dims() (all []int) {
	for n := 1; n <= 70; n++ {
		all = append(all, n)
	}
	return append(all, 95, 96, 97, 127, 128, 129, 200, 384, 768, 1001)
}

func randomFloats(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// encode returns a matrix of rows in a format, which rounds the values, at an address that is aligned to 1 byte only,
// with gap bytes between rows. Float32 is aligned to 4 bytes.
func encode(f Format, dim int, values []float32, gap int) Matrix {
	if f == Float32 {
		gap &^= 3
	}
	size := f.Size(dim)
	m := Matrix{Format: f, Dim: dim, Stride: size + gap}
	m.Data = unaligned(f, 0)
	for i := 0; i+dim <= len(values); i += dim {
		row := values[i : i+dim]
		scale := scaleOf(row)
		switch f {
		case Float32:
			m.Data = append(m.Data, MatrixOf(row, dim).Data...)
		case Float32Big, Float32Little:
			for _, v := range row {
				b := math.Float32bits(v)
				word := []byte{byte(b >> 24), byte(b >> 16), byte(b >> 8), byte(b)}
				if f == Float32Little {
					word[0], word[1], word[2], word[3] = word[3], word[2], word[1], word[0]
				}
				m.Data = append(m.Data, word...)
			}
		default:
			m.Data = appendElements(m.Data, f, row, scale)
		}
		m.Data = append(m.Data, make([]byte, gap)...)
		m.Scales = append(m.Scales, scale)
	}
	copied := unaligned(f, len(m.Data))
	copy(copied, m.Data)
	m.Data = copied
	return m
}

func unaligned(f Format, n int) []byte {
	b := make([]byte, n+1)
	if f == Float32 {
		return b[:n:n]
	}
	return b[1:]
}

func (m *Matrix) sumsOf(q []float32) *sums {
	return &sums{
		src: m.row(0), stride: uintptr(m.stride()), rows: uintptr(m.Rows()), query: bytesOf(q), dim: uintptr(m.Dim), scales: m.scale(0),
	}
}

// sumsTogether returns the sums of each row with several queries, and the squares of the rows if the kernel computes
// them: by the kernel, and by one call of sums for each query. Both are nil if the kernel has no such function.
func sumsTogether(k *kernel, m *Matrix, queries []float32, which together) (got, want []float32) {
	run := k.together[m.Format][which]
	if run == nil {
		return nil, nil
	}
	n, o := len(queries)/m.Dim, opDot
	if which == togetherL2 {
		o = opL2
	}
	s := m.sumsOf(queries)
	got, want = make([]float32, m.Rows()*n), make([]float32, m.Rows()*n)
	s.dst, s.pairs = &got[0], uintptr(n/2)
	if which == togetherSquares {
		squares := make([]float32, m.Rows())
		s.squares = &squares[0]
		defer func() { got = append(got, squares...) }()
	}
	run(s)
	one := make([]float32, m.Rows())
	alone := func(o op, i int) {
		s := m.sumsOf(queries[i*m.Dim : (i+1)*m.Dim])
		s.dst = &one[0]
		k.sums[m.Format][o](s)
	}
	for i := range n {
		alone(o, i)
		for r, v := range one {
			want[r*n+i] = v
		}
	}
	if which == togetherSquares {
		alone(opSquares, 0)
		want = append(want, one...)
	}
	return got, want
}

// TestSumsTogether compares the sums of several queries with the sums of each of them, bit for bit.
func TestSumsTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	for _, k := range kernels() {
		for _, f := range floatFormats {
			for _, dim := range dims() {
				m := encode(f, dim, randomFloats(r, 3*dim), dim%3*4)
				for _, n := range []int{2, 4, 6} {
					for which := range togethers {
						if which == togetherSquares {
							n--
						}
						got, want := sumsTogether(&k, &m, randomFloats(r, n*dim), which)
						require.Equal(t, want, got, "%s %v dim %d, %d queries, %d", k.name, f, dim, n, which)
					}
				}
			}
		}
	}
}

// exactSum returns a sum in float64, and the bound of its error.
func exactSum(o op, q, x []float32) (sum, bound float64) {
	var all float64
	for i := range q {
		a, b := float64(q[i]), float64(x[i])
		switch o {
		case opL2:
			a -= b
			b = a
		case opSquares:
			a = b
		}
		sum += a * b
		all += math.Abs(a * b)
	}
	return sum, float64(len(q)+4)*0x1p-24*all + float64(len(q))*0x1p-149
}

func TestSumsEqualReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const rows = 3
	for _, k := range kernels() {
		for _, f := range floatFormats {
			t.Run(fmt.Sprintf("%s/%v", k.name, f), func(t *testing.T) {
				for _, dim := range dims() {
					q := randomFloats(r, dim)
					m := encode(f, dim, randomFloats(r, rows*dim), dim%3*4)
					for o := range ops {
						checkSums(t, &k, &m, q, o)
					}
				}
			})
		}
	}
}

// checkSums compares the sums of a kernel with the reference, and with the same kernel on widened rows.
func checkSums(t *testing.T, k *kernel, m *Matrix, q []float32, o op) {
	t.Helper()
	wide := make([]float32, 0, m.Rows()*m.Dim)
	for i := range m.Rows() {
		wide = m.Row(wide, i)
	}
	widened := MatrixOf(wide, m.Dim)
	s := widened.sumsOf(q)
	onWide := make([]float32, m.Rows())
	s.dst = &onWide[0]
	k.sums[Float32][o](s)
	for i, got := range onWide {
		want, bound := exactSum(o, q, wide[i*m.Dim:(i+1)*m.Dim])
		require.InDelta(t, want, float64(got), bound, "%s op %d dim %d row %d", k.name, o, m.Dim, i)
	}
	if run := k.sums[m.Format][o]; run != nil {
		got := make([]float32, m.Rows())
		s = m.sumsOf(q)
		s.dst = &got[0]
		run(s)
		require.Equal(t, onWide, got, "%s op %d dim %d of %v and widened", k.name, o, m.Dim, m.Format)
	}
}

// TestWidenEqualsElements compares each conversion with the values that were encoded.
func TestWidenEqualsElements(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for _, k := range kernels() {
		for _, f := range floatFormats {
			for _, dim := range dims() {
				values := randomFloats(r, 2*dim)
				m := encode(f, dim, values, 3)
				for i := range 2 {
					got := make([]float32, dim)
					k.widen[f](&got[0], m.row(i), uintptr(dim), m.Scales[i])
					for j, v := range values[i*dim : (i+1)*dim] {
						switch f {
						case Float16:
							v = fromHalf(toHalf(v))
						case BFloat16:
							v = fromBrain(toBrain(v))
						case Int8:
							v = m.Scales[i] * float32(code(v, m.Scales[i]))
						}
						require.Equal(t, v, got[j], "%s %v dim %d element %d", k.name, f, dim, j)
					}
				}
			}
		}
	}
}

// TestDirectEqualsKernel compares both ways to call a kernel.
func TestDirectEqualsKernel(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	q, x := randomFloats(r, 77), randomFloats(r, 77)
	m := MatrixOf(x, 77)
	for o := range ops {
		for k, run := range map[*kernel]func(op, *sums){&goKernel: directGo, &kernels()[len(kernels())-1]: direct} {
			var want, got float32
			s := m.sumsOf(q)
			s.dst = &want
			k.sums[Float32][o](s)
			s.dst = &got
			run(o, s)
			require.Equal(t, want, got, "%s op %d", k.name, o)
		}
	}
}

func TestTilesEqualReference(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, k := range kernels() {
		if k.tile == nil {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			for _, dim := range dims() {
				var l limits
				p := make([]params, k.rows)
				for i := range l.above {
					l.above[i], l.slope[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
				}
				for i := range p {
					p[i] = params{float32(r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64()), 0}
				}
				checkTile(t, &k, randomFloats(r, k.rows*dim), randomFloats(r, lanes*dim), r.IntN(dim), &l, p)
			}
		})
	}
}

// checkTile compares a tile with the reference. If first is not 0, the elements from it on are a second step.
func checkTile(t *testing.T, k *kernel, rows, queries []float32, first int, l *limits, p []params) {
	t.Helper()
	dim := len(queries) / lanes
	a := &Accumulator{dim: dim, queries: make([]query, lanes)}
	for i := range lanes {
		a.queries[i].vector = queries[i*dim : (i+1)*dim]
	}
	a.pack()
	scores := make([]float32, k.rows*lanes)
	tl := &tile{
		src: (*byte)(unsafe.Pointer(&rows[0])), stride: uintptr(4 * dim), panel: &a.panels[0], dim: uintptr(dim),
		from: &noScores[0], to: &scores[0], params: &p[0], next: uintptr(unsafe.Pointer(&rows[0])),
	}
	if first > 0 {
		tl.dim = uintptr(first)
		k.tile(tl)
		require.Zero(t, tl.any)
		tl.dim, tl.from, tl.panel = uintptr(dim-first), tl.to, &a.panels[first*lanes]
		tl.src = (*byte)(unsafe.Pointer(&rows[first]))
	}
	tl.limits = l
	k.tile(tl)
	for i := range k.rows {
		for lane := range lanes {
			want, bound := exactSum(opDot, queries[lane*dim:(lane+1)*dim], rows[i*dim:(i+1)*dim])
			score, at := float64(scores[i*lanes+lane]), fmt.Sprintf("%s dim %d row %d query %d", k.name, dim, i, lane)
			if bound < 1e30 {
				require.InDelta(t, want, score, bound, at)
			} else if want != want {
				require.True(t, score != score, at)
			}
		}
	}
	checkMasks(t, k, tl)
}

// checkMasks compares the masks of a tile with its scores and limits, except where rounding decides.
func checkMasks(t *testing.T, k *kernel, tl *tile) {
	t.Helper()
	p := unsafe.Slice(tl.params, k.rows)
	var any uint16
	for r := range k.rows {
		any |= tl.masks[r]
		for lane := range lanes {
			above, slope := float64(tl.limits.above[lane])*float64(p[r].scale), float64(tl.limits.slope[lane])*float64(p[r].length)
			d := float64(unsafe.Slice(tl.to, k.rows*lanes)[r*lanes+lane]) - (above + slope + float64(p[r].bias))
			all := math.Abs(above) + math.Abs(slope) + math.Abs(float64(p[r].bias))
			switch set := tl.masks[r]>>lane&1 != 0; {
			case all > 1e37: // a sum may overflow
			case d != d:
				require.True(t, set, "row %d query %d", r, lane)
			case math.Abs(d) > 1e-6*all+1e-40:
				require.Equal(t, d > 0, set, "row %d query %d", r, lane)
			}
		}
	}
	require.Equal(t, any != 0, tl.any != 0)
}

func TestTileMasksOfSpecialValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	special := []float32{0, 1, -1, nan, inf, -inf}
	for _, k := range kernels() {
		if k.tile == nil {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			for _, value := range special {
				for _, above := range special {
					for _, bias := range special {
						rows, panel := make([]float32, k.rows), make([]float32, lanes)
						p := make([]params, k.rows)
						for i := range rows {
							rows[i], p[i] = value, params{scale: 1, bias: bias}
						}
						var l limits
						for i := range panel {
							panel[i], l.above[i] = 1, above
						}
						tl := &tile{
							src: (*byte)(unsafe.Pointer(&rows[0])), stride: 4, panel: &panel[0], dim: 1, limits: &l, params: &p[0],
							from: &noScores[0], to: &make([]float32, k.rows*lanes)[0], next: uintptr(unsafe.Pointer(&rows[0])),
						}
						k.tile(tl)
						want := uint16(0)
						if !(value < above+bias) {
							want = 1<<lanes - 1
						}
						require.Equal(t, want, tl.masks[k.rows-1], "%v < %v + %v", value, above, bias)
					}
				}
			}
		})
	}
}

func TestHammingEqualReference(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, k := range kernels() {
		for _, dim := range dims() {
			q := randomFloats(r, dim)
			m := encode(Bits, dim, randomFloats(r, (1+dim%9)*dim), dim%5)
			b := appendBits(nil, q)
			s := m.sumsOf(q)
			s.query, s.dim = &b[0], uintptr(len(b))
			got := make([]float32, m.Rows())
			s.dst = &got[0]
			k.hamming(s)
			for i := range got {
				require.Equal(t, Reference(Hamming, q, m.Row(nil, i)), float64(got[i]), "%s dim %d", k.name, dim)
			}
		}
	}
}
