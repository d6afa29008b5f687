// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// nearSlowly returns the rows of the last part that are not farther than the k-th nearest of all rows so far: all
// rows and queries of m, sorted.
func nearSlowly(k *kernel, m *Matrix, first int, queries []float32, n int, metric Metric) (near []Neighbor) {
	all := slowly(k, m, queries, m.Rows(), metric, everyRow)
	for q := range len(queries) / m.Dim {
		positions, distances := all.Query(q)
		last := keyOf(distances[min(n, len(distances))-1])
		for i, p := range positions {
			if p >= int64(first) && keyOf(distances[i]) <= last {
				near = append(near, Neighbor{p, int32(q), distances[i]})
			}
		}
	}
	return near
}

// ordered returns neighbors with comparable distances, in the order of AddNear.
func ordered(list []Neighbor) []string {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Neighbor) int {
		if a.Position != b.Position {
			return int(a.Position - b.Position)
		}
		return int(a.Query - b.Query)
	})
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = fmt.Sprintf("%d %d %08x", n.Position, n.Query, keyOf(n.Distance))
	}
	return texts
}

// withTies returns rows with duplicates and rows that are NaN.
func withTies(r *rand.Rand, rows, dim int) []float32 {
	values := randomFloats(r, rows*dim)
	for i := range rows {
		switch r.IntN(8) {
		case 0:
			copy(values[i*dim:(i+1)*dim], values[:dim])
		case 1:
			values[i*dim] = float32(math.NaN())
		}
	}
	return values
}

// TestNearEqualsSlowSearch adds parts one after the other, so that the near rows are defined.
func TestNearEqualsSlowSearch(t *testing.T) {
	withKernel(t, func(t *testing.T, kernel *kernel) {
		r := rand.New(rand.NewPCG(41, 42))
		const dim, rows, part = 19, 120, 40
		for _, queries := range []int{1, 20} {
			for _, k := range []int{1, 7, 50, 1000} {
				for _, metric := range metrics {
					values, q := withTies(r, rows, dim), randomFloats(r, queries*dim)
					a, err := New(q, dim, k, metric)
					require.NoError(t, err)
					for first := 0; first < rows; first += part {
						head := []Neighbor{{Position: -1}}
						m := MatrixOf(values[first*dim:(first+part)*dim], dim)
						got, err := a.AddNear(t.Context(), head, m, int64(first), Options{Workers: 1})
						require.NoError(t, err)
						require.Equal(t, head[0], got[0])
						whole := MatrixOf(values[:(first+part)*dim], dim)
						want := nearSlowly(kernel, &whole, first, q, k, metric)
						require.Equal(t, ordered(want), ordered(got[1:]), "%d queries, k %d by %v, row %d", queries, k, metric, first)
						require.True(t, slices.IsSortedFunc(got[1:], func(a, b Neighbor) int { return int(a.Position - b.Position) }))
					}
				}
			}
		}
	})
}

// TestNearOfManyWorkers requires every row that is near at the end, also ties of the last one, among the near rows of
// parts that are searched at once.
func TestNearOfManyWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	const dim, rows, part, k = 24, 2000, 125, 9
	for _, queries := range []int{3, 17} {
		values, q := withTies(r, rows, dim), randomFloats(r, queries*dim)
		copy(q, values[:dim]) // a query with more ties than k
		a, err := New(q, dim, k, L2)
		require.NoError(t, err)
		var mu sync.Mutex
		found := map[string]int{}
		var group sync.WaitGroup
		for i := range rows / part {
			group.Go(func() {
				m := MatrixOf(values[i*part*dim:(i+1)*part*dim], dim)
				near, err := a.AddNear(t.Context(), nil, m, int64(i*part), Options{Workers: 1 + i%3})
				require.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				for _, text := range ordered(near) {
					found[text]++
				}
			})
		}
		group.Wait()
		whole := MatrixOf(values, dim)
		for _, text := range ordered(nearSlowly(best.forDim(dim), &whole, 0, q, k, L2)) {
			require.Equal(t, 1, found[text], text)
		}
		require.Less(t, len(found), rows*queries/3)
	}
}

// TestNearRefuses requires the destination unchanged after an error.
func TestNearRefuses(t *testing.T) {
	a, err := New([]float32{1, 2}, 2, 1, Dot)
	require.NoError(t, err)
	dst := []Neighbor{{Position: 5}}
	got, err := a.AddNear(t.Context(), dst, MatrixOf([]float32{1, 2, 3}, 3), 0, Options{})
	var dimension *DimensionError
	require.ErrorAs(t, err, &dimension)
	require.Equal(t, dst, got)
	got, err = a.AddNear(t.Context(), dst, Matrix{}, 0, Options{})
	require.NoError(t, err)
	require.Equal(t, dst, got)
}

// TestNearAllocations holds the memory of the list of workers.
func TestNearAllocations(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	const dim, rows = 16, 2000
	m := MatrixOf(randomFloats(r, rows*dim), dim)
	a, err := New(randomFloats(r, 8*dim), dim, 10, Cosine)
	require.NoError(t, err)
	var near []Neighbor
	allocations := testing.AllocsPerRun(50, func() {
		near, err = a.AddNear(t.Context(), near[:0], m, 0, Options{Workers: 1})
		require.NoError(t, err)
	})
	require.LessOrEqual(t, allocations, 4.0, "per part of %d rows", rows)
}
