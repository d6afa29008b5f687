// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file tests sums where they are hard.

func TestSumOverflow(t *testing.T) {
	ctx := context.Background()
	const maxInt, minInt = math.MaxInt64, math.MinInt64
	for _, row := range []struct {
		name     string
		column   Column
		fails    bool
		wrap     any
		asFloat  float64
		repeated int
	}{
		{"beyond on the way alone", Values([]int64{maxInt, maxInt, minInt, minInt, 7}), false, int64(5), 5, 1},
		{"greatest", Values([]int64{maxInt - 1, 1}), false, int64(maxInt), maxInt, 1},
		{"one beyond", Values([]int64{maxInt, 1}), true, int64(minInt), 1 << 63, 1},
		{"one below", Values([]int64{minInt, -1}), true, int64(maxInt), minInt, 1},
		{"unsigned greatest", Values([]uint64{math.MaxUint64 - 1, 1}), false, uint64(math.MaxUint64), math.MaxUint64, 1},
		{"unsigned beyond", Values([]uint64{math.MaxUint64, 1}), true, uint64(0), 1 << 64, 1},
		{"far beyond", Values([]int64{maxInt, maxInt, maxInt}), true, int64(maxInt - 2), 3 * 0x1p63, 1},
		{"narrow", Values([]int8{-128, -128, 127}), false, int64(-129), -129, 1},
		{"narrow unsigned", Values([]uint8{255, 255, 255}), false, uint64(765), 765, 1},
	} {
		for _, workers := range []int{1, 4} {
			n := row.column.Len()
			for _, overflow := range []Overflow{OverflowFail, OverflowWrap, OverflowFloat} {
				c := Config{Values: []Type{row.column.Type()}, Aggregates: []Aggregate{SumOverflow(0, overflow), Mean(0)}}
				g, err := New(c)
				require.NoError(t, err)
				var ws []*Worker
				for range workers {
					ws = append(ws, g.Worker())
				}
				for i := range n { // row by row, each by another worker: states are merged in some other order
					one, err := referenceColumn(row.column.Type(), referenceValues(row.column)[i:i+1])
					require.NoError(t, err)
					require.NoError(t, ws[i%workers].Add(ctx, Batch{Values: []Column{one}, Start: int64(i)}))
				}
				r, err := g.Finish(ctx)
				if overflow == OverflowFail && row.fails {
					var oe *OverflowError
					require.ErrorAs(t, err, &oe, row.name)
					require.Equal(t, "sum", oe.Aggregate)
					continue
				}
				require.NoError(t, err, row.name)
				got := referenceValues(r.Aggregate(0))[0]
				switch {
				case overflow == OverflowFloat:
					require.Equal(t, row.asFloat, got, row.name)
				default:
					require.Equal(t, row.wrap, got, row.name)
				}
				mean, _ := SliceOf[float64](r.Aggregate(1))
				require.InEpsilon(t, row.asFloat/float64(n), mean[0], 1e-12, row.name)
			}
		}
	}
}

// TestSumCompensated: what is small survives what is great.
func TestSumCompensated(t *testing.T) {
	values := []float64{1, 1e100, 1, -1e100}
	var keys []int64
	var all []float64
	for i := range 10000 {
		keys, all = append(keys, int64(i/4)), append(all, values[i%4])
	}
	gc := groupCase{limits: defaultLimits, config: Config{Keys: []Type{Int64}, Values: []Type{Float64}, Aggregates: []Aggregate{SumCompensated(0)}}}
	for i := 0; i < len(keys); i += 1000 {
		gc.batches = append(gc.batches, Batch{Keys: []Column{Values(keys[i : i+1000])}, Values: []Column{Values(all[i : i+1000])}, Start: int64(i)})
	}
	for _, workers := range []int{0, 1, 3} {
		for _, local := range []int{1, 100, 1 << 20} {
			gc.workers, gc.limits.local = workers, local
			require.NoError(t, gc.check(nil))
		}
	}
}
