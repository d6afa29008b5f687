// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/soak"
)

// Searches beside the obvious one.

// slowly returns the nearest rows: it computes the distance of each row alone with the kernel, and sorts all rows.
func slowly(k *kernel, m *Matrix, queries []float32, n int, metric Metric, selected func(row int) bool) *Result {
	r := &Result{}
	var rows []float32
	for i := range m.Rows() {
		rows = m.Row(rows, i)
	}
	for at := 0; at < len(queries); at += m.Dim {
		var all []neighbor
		for i := range m.Rows() {
			if selected(i) {
				d := distanceOf(k, metric, queries[at:at+m.Dim], rows[i*m.Dim:(i+1)*m.Dim])
				all = append(all, neighbor{keyOf(d), int64(i)})
			}
		}
		slices.SortStableFunc(all, func(a, b neighbor) int {
			return compareDistances(a.key.distance(), b.key.distance())
		})
		r.K = min(n, len(all))
		for _, found := range all[:r.K] {
			r.Positions, r.Distances = append(r.Positions, found.position), append(r.Distances, found.key.distance())
		}
	}
	return r
}

// compareDistances orders NaN last.
func compareDistances(a, b float32) int {
	switch {
	case a < b || a == a && b != b:
		return -1
	case a > b || a != a && b == b:
		return 1
	}
	return 0
}

// distanceOf computes what Distance does, with a kernel.
func distanceOf(k *kernel, metric Metric, q, x []float32) float32 {
	if metric == Hamming {
		return float32(Reference(metric, q, x))
	}
	sum := func(o op, q, x []float32) float32 {
		m := MatrixOf(x, len(x))
		s, dst := m.sumsOf(q), float32(0)
		s.dst = &dst
		k.sums[Float32][o](s)
		return dst
	}
	d, ok := finish(metric, sum(metric.op(), q, x), float64(sum(opSquares, q, x)), float64(sum(opSquares, q, q)))
	if ok {
		return d
	}
	return float32(Reference(metric, q, x))
}

func squares64(v []float32) (sum float64) {
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	return sum
}

// withKernel runs f with each kernel as the best.
func withKernel(t *testing.T, f func(t *testing.T, k *kernel)) {
	t.Helper()
	old := best
	defer func() { best = old }()
	for i, k := range kernels() {
		if soak.Race && i > 0 {
			break // the race detector does not see what assembly reads
		}
		best = &k
		t.Run(k.name, func(t *testing.T) { f(t, &k) })
	}
}

var metrics = []Metric{SquaredL2, L2, Dot, Cosine}

func requireSame(t *testing.T, want, got *Result, message string) {
	t.Helper()
	require.Equal(t, want.K, got.K, message)
	require.Equal(t, want.Positions, got.Positions, message)
	for i := range want.Distances {
		require.Zero(t, compareDistances(want.Distances[i], got.Distances[i]), "%s: %v, want %v", message, got.Distances[i], want.Distances[i])
	}
}

func everyRow(int) bool { return true }

func TestNearestEqualsSlowSearch(t *testing.T) {
	withKernel(t, func(t *testing.T, k *kernel) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, f := range floatFormats {
			for _, dim := range []int{1, 3, 8, 17, 64, 100} {
				rows := 1 + r.IntN(250)
				m := encode(f, dim, randomFloats(r, rows*dim), r.IntN(9))
				for _, queries := range []int{1, 5, 6, 17, 33} {
					if queries == 33 && dim != 17 {
						continue
					}
					q := randomFloats(r, queries*dim)
					for _, metric := range metrics {
						n := 1 + r.IntN(20)
						got, err := Nearest(t.Context(), m, q, n, metric, Options{Workers: 1 + r.IntN(3)})
						require.NoError(t, err)
						requireSame(t, slowly(k, &m, q, n, metric, everyRow), got, fmt.Sprintf("%v dim %d, %d queries, %d of %d by %v", f, dim, queries, n, rows, metric))
					}
				}
			}
		}
	})
}

// special returns rows; many are equal, zero, tiny, huge, infinite or NaN.
func special(r *rand.Rand, rows, dim int) []float32 {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	v := randomFloats(r, rows*dim)
	for i := range rows {
		row := v[i*dim : (i+1)*dim]
		factor := float32(1)
		switch r.IntN(10) {
		case 0:
			clear(row)
		case 1:
			row[r.IntN(dim)] = []float32{nan, inf, -inf}[r.IntN(3)]
		case 2:
			factor = 1e-42
		case 3:
			factor = 1e-25
		case 4:
			factor = 1e20
		case 5:
			factor = 3e37
		case 6, 7:
			copy(row, v[:dim])
		}
		for j := range row {
			row[j] *= factor
		}
	}
	return v
}

func TestNearestOfSpecialValues(t *testing.T) {
	withKernel(t, func(t *testing.T, k *kernel) {
		r := rand.New(rand.NewPCG(9, 10))
		for range soak.Rounds(8) {
			dim := 1 + r.IntN(40)
			rows := 1 + r.IntN(400)
			m := MatrixOf(special(r, rows, dim), dim)
			for _, queries := range []int{3, 20} {
				var q []float32
				for len(q) < queries*dim {
					v := special(r, 1, dim)
					if s := squares64(v); s > 0 && s-s == 0 {
						q = append(q, v...)
					}
				}
				for _, metric := range metrics {
					for _, n := range []int{1, 10, rows + 3} {
						got, err := Nearest(t.Context(), m, q, n, metric, Options{Workers: 2})
						require.NoError(t, err)
						requireSame(t, slowly(k, &m, q, n, metric, everyRow), got, fmt.Sprintf("dim %d, %d queries, %d of %d by %v", dim, queries, n, rows, metric))
					}
				}
			}
		}
	})
}

func TestHammingEqualsSlowSearch(t *testing.T) {
	withKernel(t, func(t *testing.T, k *kernel) {
		r := rand.New(rand.NewPCG(11, 12))
		for _, dim := range []int{1, 8, 63, 100, 768} {
			m := encode(Bits, dim, randomFloats(r, 500*dim), r.IntN(3))
			q := randomFloats(r, 6*dim)
			got, err := Nearest(t.Context(), m, q, 9, Hamming, Options{})
			require.NoError(t, err)
			requireSame(t, slowly(k, &m, q, 9, Hamming, everyRow), got, fmt.Sprint(dim))
		}
	})
}

// TestNearestOfLongRows has rows whose elements are multiplied in segments: with and without a short last segment, with
// lengths that share cache sets, and more rows than a block.
func TestNearestOfLongRows(t *testing.T) {
	soak.NoRace(t)
	withKernel(t, func(t *testing.T, k *kernel) {
		r := rand.New(rand.NewPCG(45, 46))
		for i, dim := range []int{longRow, longRow + 1, 5 * segmentLength, 4096, 4097} {
			rows := 49 + r.IntN(20)
			m := encode(floatFormats[i], dim, special(r, rows, dim), 8*(i%2))
			m.Validity = bytes.Repeat([]byte{0xff}, rows)
			m.Validity[r.IntN(6)] = 0x5a
			valid := func(i int) bool { return m.Validity[i>>3]>>(i&7)&1 != 0 }
			queries := []int{6, 17, 4, 17, 6}[i]
			q := randomFloats(r, queries*dim)
			for _, metric := range metrics {
				got, err := Nearest(t.Context(), m, q, 7, metric, Options{Workers: 2})
				require.NoError(t, err)
				requireSame(t, slowly(k, &m, q, 7, metric, valid), got, fmt.Sprintf("dim %d, %d queries, %d rows by %v", dim, queries, rows, metric))
			}
		}
	})
}

// TestNearestOfManyWorkers has enough rows for several chunks, and equal rows in all of them.
func TestNearestOfManyWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	const dim, rows = 64, 9_000
	values := randomFloats(r, rows*dim)
	for i := 50 * dim; i < len(values); i += 100 * dim {
		copy(values[i:i+dim], values[:dim])
	}
	m := MatrixOf(values, dim)
	for _, queries := range []int{1, 20} {
		q := append(slices.Clone(values[:dim]), randomFloats(r, (queries-1)*dim)...)
		for _, metric := range metrics {
			want := slowly(best, &m, q, 30, metric, everyRow)
			for _, workers := range []int{0, 1, 2, 7} {
				got, err := Nearest(t.Context(), m, q, 30, metric, Options{Workers: workers})
				require.NoError(t, err)
				requireSame(t, want, got, fmt.Sprintf("%d queries by %v, %d workers", queries, metric, workers))
			}
		}
	}
}

func TestNearestOfSelectedRows(t *testing.T) {
	withKernel(t, func(t *testing.T, k *kernel) {
		r := rand.New(rand.NewPCG(15, 16))
		for _, share := range []float64{0, 0.01, 0.5, 0.97, 1} {
			const dim, rows = 24, 3000
			m := encode(Float32, dim, randomFloats(r, rows*dim), 0)
			m.Validity = make([]byte, (rows+7)/8)
			valid, selected := make([]bool, rows), make([]bool, rows)
			selection := []int32{}
			for i := range rows {
				if valid[i] = r.Float64() < share; valid[i] {
					m.Validity[i>>3] |= 1 << (i & 7)
				}
				if selected[i] = r.Float64() < 0.9; selected[i] {
					selection = append(selection, int32(i))
				}
			}
			for _, queries := range []int{2, 18} {
				q := randomFloats(r, queries*dim)
				got, err := Nearest(t.Context(), m, q, 12, SquaredL2, Options{})
				require.NoError(t, err)
				requireSame(t, slowly(k, &m, q, 12, SquaredL2, func(i int) bool { return valid[i] }), got, "validity")
				got, err = Nearest(t.Context(), m, q, 12, SquaredL2, Options{Selection: selection})
				require.NoError(t, err)
				requireSame(t, slowly(k, &m, q, 12, SquaredL2, func(i int) bool { return valid[i] && selected[i] }), got, "selection")
			}
		}
	})
}
