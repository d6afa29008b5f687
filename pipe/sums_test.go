// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// sumTexts are arguments of sums. The second column is a copy of the argument as Go's arithmetic has it.
var sumTexts = []string{
	"x", "x + 1", "x - 7", "3 + x", "x + 2147483647", "x - 2147483647", "x + 2147483648", "x + 1.5", "x * 2", "5 - x", "x + x", "y + 4",
	"y - 1", "z + 1", "x + 1 + 1", "f + 1", "-x + 1", "x + 0",
}

// TestShiftedSums compares sums of expressions with sums of columns that hold their values.
func TestShiftedSums(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(5, 6))
	for _, rows := range []int{0, 1, 300} {
		for _, nulls := range []int{0, 3, rows} {
			x, y, z, f, null := make([]int32, rows), make([]int8, rows), make([]int64, rows), make([]float64, rows), make([]bool, rows)
			for i := range x {
				x[i], y[i], z[i], f[i] = int32(r.Uint32()), int8(r.Uint32()), r.Int64N(1000), float64(r.IntN(9))
				null[i] = i < nulls
			}
			b := column.NewBatch(column.Of("x", x).WithNulls(null), column.Of("y", y), column.Of("z", z), column.Of("f", f))
			p := pipe.Batches(b)
			var sums, plain []groupby.Aggregate
			stored := p
			for i, text := range sumTexts {
				name := string(rune('a' + i))
				sums = append(sums, groupby.Sum(text).As(name))
				stored = stored.With("stored "+name, text)
				plain = append(plain, groupby.Sum("stored "+name).As(name))
			}
			sums = append(sums, groupby.Count(), groupby.SumOverflow("x + 9", groupby.OverflowFloat).As("float"),
				groupby.SumOverflow("x + 9", groupby.OverflowWrap).As("wrap"))
			stored = stored.With("nine", "x + 9")
			plain = append(plain, groupby.Count(), groupby.SumOverflow("nine", groupby.OverflowFloat).As("float"),
				groupby.SumOverflow("nine", groupby.OverflowWrap).As("wrap"))
			memory, err := stored.Batch(ctx)
			require.NoError(t, err)
			want, err := pipe.Batches(memory).Aggregate(plain...).Batch(ctx)
			require.NoError(t, err)
			got, err := p.Aggregate(sums...).Batch(ctx)
			require.NoError(t, err)
			require.Empty(t, column.Diff(got, want))
			plan, err := p.Aggregate(sums...).Explain(ctx)
			require.NoError(t, err)
			require.Contains(t, plan, "with 9 sums of columns plus constants")
		}
	}
}

// TestShiftedSumsOverflow requires that sums that can overflow are not rewritten.
func TestShiftedSumsOverflow(t *testing.T) {
	b := column.NewBatch(column.Of("z", []int64{math.MaxInt64, 0}), column.Of("x", []int32{1, 2}))
	var overflow *groupby.OverflowError
	_, err := pipe.Batches(b).Aggregate(groupby.Sum("z - 1"), groupby.Sum("z - 2"), groupby.Sum("z - 3"), groupby.Sum("x + z")).
		Batch(context.Background())
	require.ErrorContains(t, err, "x + z: the result is out of range")
	_, err = pipe.Batches(b).Aggregate(groupby.Sum("z + 0"), groupby.Sum("x + 9223372036854775000"), groupby.Sum("x + 9223372036854775001"),
		groupby.Sum("x + 9223372036854775002")).Batch(context.Background())
	require.ErrorAs(t, err, &overflow)
}
