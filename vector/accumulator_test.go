// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Rows that arrive in parts, and columns.

// TestPartsEqualWhole adds parts of different formats from several goroutines, in any order.
func TestPartsEqualWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	const dim, rows = 40, 6000
	values := randomFloats(r, rows*dim)
	for i := 10 * dim; i < len(values); i += 500 * dim {
		copy(values[i:i+dim], values[:dim]) // ties in different parts
	}
	whole := MatrixOf(values, dim)
	for _, queries := range []int{2, 21} {
		q := append(slices.Clone(values[:dim]), randomFloats(r, (queries-1)*dim)...)
		for _, metric := range metrics {
			want, err := Nearest(t.Context(), whole, q, 15, metric, Options{Workers: 1})
			require.NoError(t, err)
			a, err := New(q, dim, 15, metric)
			require.NoError(t, err)
			var group sync.WaitGroup
			for i, part := range r.Perm(20) {
				group.Go(func() {
					m := encode([]Format{Float32, Float32Big, Float32Little}[i%3], dim, values[part*300*dim:(part+1)*300*dim], i)
					require.NoError(t, a.Add(t.Context(), m, int64(part*300), Options{}))
				})
			}
			group.Wait()
			requireSame(t, want, a.Result(), fmt.Sprintf("%d queries by %v", queries, metric))
			requireSame(t, want, a.Result(), "again")
		}
	}
}

// TestNearestOfCloseRows has rows whose inner products lose the bits that decide.
func TestNearestOfCloseRows(t *testing.T) {
	withKernel(t, func(t *testing.T, k *kernel) {
		r := rand.New(rand.NewPCG(29, 30))
		for _, offset := range []float32{1, 1e3, 1e6} {
			const dim, rows, queries = 33, 700, 20
			v := randomFloats(r, (rows+queries)*dim)
			for i := range v {
				v[i] = offset + 1e-3*v[i]
			}
			m, q := MatrixOf(v[:rows*dim], dim), v[rows*dim:]
			for _, metric := range metrics {
				got, err := Nearest(t.Context(), m, q, 10, metric, Options{})
				require.NoError(t, err)
				requireSame(t, slowly(k, &m, q, 10, metric, everyRow), got, fmt.Sprintf("offset %v by %v", offset, metric))
			}
		}
	})
}

// TestNearestOfEqualRows has rows that differ in their last bits, so that rounding decides the order. The squares of
// the small rows underflow.
func TestNearestOfEqualRows(t *testing.T) {
	withKernel(t, func(t *testing.T, k *kernel) {
		r := rand.New(rand.NewPCG(37, 38))
		const dim, rows = 75, 600
		for i, scale := range []float32{1, 1, 1, 1e-25} {
			queries := []int{3, 16, 16, 16}[i]
			base, q := randomFloats(r, dim), randomFloats(r, queries*dim)
			var v []float32
			for range rows {
				for _, f := range base {
					v = append(v, scale*f*(1+float32(r.IntN(5))*0x1p-23))
				}
			}
			for j := range q {
				q[j] *= []float32{1, 1, 1e10, 1e10}[i]
			}
			m := MatrixOf(v, dim)
			for _, metric := range metrics {
				got, err := Nearest(t.Context(), m, q, 10, metric, Options{})
				require.NoError(t, err)
				requireSame(t, slowly(k, &m, q, 10, metric, everyRow), got, fmt.Sprintf("scale %v by %v", scale, metric))
			}
		}
	})
}

// TestFewRowsSurviveTiles holds that tiles drop most rows: k ln(n/k) rows are expected to be near enough when they
// come.
func TestFewRowsSurviveTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, shape := range [][2]int{{64, 10_000}, {longRow + 300, 1000}} {
		dim, rows := shape[0], shape[1]
		const queries, k = 16, 10
		m, q := MatrixOf(randomFloats(r, rows*dim), dim), randomFloats(r, queries*dim)
		for _, metric := range metrics {
			a, err := New(q, dim, k, metric)
			require.NoError(t, err)
			require.NoError(t, a.Add(t.Context(), m, 0, Options{Workers: 1}))
			if a.kernel.tile != nil {
				require.Less(t, float64(a.all[0].survivors), 1.5*k*math.Log(float64(rows/k))*queries, "%v", metric)
				require.Greater(t, a.all[0].survivors, k*queries, "%v", metric)
			}
		}
	}
}

// TestFewRowsSurviveFloors holds the same of sums of integers.
func TestFewRowsSurviveFloors(t *testing.T) {
	r := rand.New(rand.NewPCG(59, 60))
	const dim, rows, queries, k = 64, 10_000, 3, 10
	m, q := encode(Int8, dim, randomFloats(r, rows*dim), 0), randomFloats(r, queries*dim)
	for _, metric := range metrics {
		a, err := New(q, dim, k, metric)
		require.NoError(t, err)
		require.NoError(t, a.Add(t.Context(), m, 0, Options{Workers: 1, QuantizeQueries: true}))
		require.Less(t, float64(a.all[0].survivors), 1.5*k*math.Log(rows/k)*queries, "%v", metric)
		require.Greater(t, a.all[0].survivors, k*queries, "%v", metric)
	}
}

// TestRowsThatShareCacheSets has lengths that are multiples of 4096 bytes.
func TestRowsThatShareCacheSets(t *testing.T) {
	withKernel(t, func(t *testing.T, k *kernel) {
		r := rand.New(rand.NewPCG(43, 44))
		const dim = 1024
		require.LessOrEqual(t, k.forDim(dim).rows, 6)
		require.Equal(t, k.rows, k.forDim(dim+1).rows)
		require.Equal(t, k.rows, k.forDim(4*dim).rows, "segments are copied")
		m, q := MatrixOf(randomFloats(r, 50*dim), dim), randomFloats(r, 6*dim)
		for _, metric := range metrics {
			got, err := Nearest(t.Context(), m, q, 10, metric, Options{})
			require.NoError(t, err)
			requireSame(t, slowly(k, &m, q, 10, metric, everyRow), got, metric.String())
		}
	})
}

func TestNothingToSearch(t *testing.T) {
	r, err := Nearest(t.Context(), MatrixOf(nil, 3), []float32{1, 2, 3}, 5, Dot, Options{})
	require.NoError(t, err)
	require.Equal(t, &Result{}, r)
	r, err = Nearest(t.Context(), MatrixOf([]float32{1, 2, 3}, 3), nil, 5, Dot, Options{})
	require.NoError(t, err)
	require.Equal(t, &Result{}, r)
	r, err = Nearest(t.Context(), MatrixOf([]float32{1, 2, 3}, 3), []float32{1, 2, 3}, 5, Dot, Options{Selection: []int32{}})
	require.NoError(t, err)
	require.Equal(t, &Result{}, r)
}

// TestColumns searches several batches; one has only NULLs, and therefore no dimension.
func TestColumns(t *testing.T) {
	a, err := New([]float32{0, 0}, 2, 3, L2)
	require.NoError(t, err)
	none := column.Column{Name: "v", Type: column.VectorOf(column.Float32, 0), Len: 4}.WithNulls([]bool{true, true, true, true})
	some := column.Matrix("v", []float32{3, 4, 0, 1, 6, 8}, 2).WithNulls([]bool{false, true, false})
	first := int64(0)
	for _, c := range []column.Column{none, some} {
		m, err := MatrixOfColumn(&c)
		require.NoError(t, err)
		require.NoError(t, a.Add(t.Context(), m, first, Options{}))
		first += int64(c.Len)
	}
	require.Equal(t, &Result{K: 2, Positions: []int64{4, 6}, Distances: []float32{5, 10}}, a.Result())
	var blobs []byte
	for _, v := range [][]float32{{1, 2}, {3, 4}} {
		blobs, err = Quantize(blobs, Float16, v)
		require.NoError(t, err)
	}
	c := column.FixedBytes("v", blobs, len(blobs)/2)
	m, err := MatrixOfColumn(&c)
	require.NoError(t, err)
	require.NoError(t, a.Add(t.Context(), m, 100, Options{}))
	require.Equal(t, []int64{100, 4, 101}, a.Result().Positions)
}

// TestWorkersAreUsedAgain holds that a worker serves one goroutine at a time, and then the next one.
func TestWorkersAreUsedAgain(t *testing.T) {
	a, err := New([]float32{1}, 1, 1, Dot)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, a.Add(t.Context(), MatrixOf([]float32{1, 2}, 1), 0, Options{}))
	}
	require.Len(t, a.all, 1)
	require.NotSame(t, a.take(), a.take())
	require.Len(t, a.all, 2)
}

// An endedContext has ended, which its Err reports from the second call on.
type endedContext struct {
	context.Context
	calls int
}

var errEnded = errors.New("ended")

func (*endedContext) Done() <-chan struct{} { c := make(chan struct{}); close(c); return c }

func (c *endedContext) Err() error {
	if c.calls++; c.calls > 1 {
		return errEnded
	}
	return nil
}

// TestAddOfEndedContext ends the context before and after the first look at it.
func TestAddOfEndedContext(t *testing.T) {
	m := MatrixOf(make([]float32, 100), 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnded)
	_, err := Nearest(ctx, m, []float32{1, 2}, 1, Dot, Options{})
	require.Equal(t, errEnded, err)
	a, err := New([]float32{1, 2}, 2, 1, Dot)
	require.NoError(t, err)
	require.Equal(t, errEnded, a.Add(ctx, m, 0, Options{}))
	require.NoError(t, a.Add(t.Context(), m, 0, Options{}), "no row was searched twice")
	require.Equal(t, 1, a.Result().K)
	require.Equal(t, errEnded, a.Add(&endedContext{Context: t.Context()}, m, 50, Options{}))
	require.Equal(t, errEnded, a.Add(t.Context(), m, 50, Options{}), "some rows would be searched twice")
}

// TestAddIsCanceled cancels a search of seconds once it has found rows.
func TestAddIsCanceled(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 48))
	const dim, rows, queries = 64, 20_000, 4000
	a, err := New(randomFloats(r, queries*dim), dim, 3, SquaredL2)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for a.queries[0].bound.Load() == uint32(none) && ctx.Err() == nil {
			time.Sleep(time.Microsecond)
		}
		cancel(errEnded)
	}()
	require.Equal(t, errEnded, a.Add(ctx, MatrixOf(randomFloats(r, rows*dim), dim), 0, Options{}))
	require.Len(t, a.idle, len(a.all), "no worker is at work")
}

// TestSearchAllocates holds that a search allocates for its queries, workers and result only, not for each row.
func TestSearchAllocates(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	const dim = 16
	m := MatrixOf(randomFloats(r, 50_000*dim), dim)
	rounded := encode(Int8, dim, randomFloats(r, 50_000*dim), 0)
	for _, queries := range []int{1, 20} {
		q := randomFloats(r, queries*dim)
		a, err := New(q, dim, 10, Dot)
		require.NoError(t, err)
		for _, m := range []Matrix{m, rounded} {
			add := func() { _ = a.Add(t.Context(), m, 0, Options{Workers: 1, QuantizeQueries: true}) }
			add()
			require.LessOrEqual(t, testing.AllocsPerRun(3, add), 2.0)
		}
	}
}
