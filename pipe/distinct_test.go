// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// Counts of distinct values equal the counts of groupby's accumulator, which a pipe uses beside other aggregates and
// under a memory limit.
func TestCountDistinctAsGroups(t *testing.T) {
	const rows = 3000
	region, user, weight, phrase := make([]int32, rows), make([]int64, rows), make([]float64, rows), make([]string, rows)
	valid := make([]byte, (rows+7)/8)
	for i := range rows {
		region[i], user[i] = int32(i*i%7), int64(i*7919%251)
		weight[i] = []float64{0, math.Copysign(0, -1), math.NaN(), 1.5, math.Float64frombits(0xfff8000000000123)}[i%5]
		phrase[i] = fmt.Sprint("phrase of some length ", i%97)[:i%24]
		if i%5 != 0 && i*i%7 != 4 { // the values of region 4 are all NULL
			valid[i>>3] |= 1 << (i & 7)
		}
	}
	all := column.NewBatch(column.Of("region", region), column.Of("user", user).WithValidity(valid),
		column.Of("weight", weight).WithValidity(valid), column.Strings("phrase", phrase).WithValidity(valid))
	first, rest, none := all.Slice(0, 1024), all.Slice(1024, rows), all.Slice(0, 0)
	for _, arg := range []string{"user", "weight", "phrase", "region"} {
		for _, keys := range [][]string{nil, {"region"}, {"phrase"}, {"phrase", "region"}} {
			for _, batches := range [][]*column.Batch{{first, rest}, {none}} {
				a, b := groupby.CountDistinct(arg).As("a"), groupby.CountDistinct(arg).As("b")
				got, err := pipe.Batches(batches...).GroupBy(keys...).Aggregate(a, b).OrderBy(orders(keys)...).Batch(t.Context())
				require.NoError(t, err)
				want, err := pipe.Batches(batches...).GroupBy(keys...).Aggregate(a, b, groupby.Count().As("rows")).
					OrderBy(orders(keys)...).Select(append(keys[:len(keys):len(keys)], "a", "b")...).Batch(t.Context())
				require.NoError(t, err)
				require.Empty(t, column.Diff(got, want), "%s by %v", arg, keys)
			}
		}
	}
	top, err := pipe.Batches(first, rest).GroupBy("region").Aggregate(groupby.CountDistinct("user").As("u")).
		OrderBy(pipe.Descending("u"), pipe.Ascending("region")).Limit(2).Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, top.Rows)
}

func orders(keys []string) []pipe.Order {
	by := []pipe.Order{pipe.Ascending("a")}
	for _, k := range keys {
		by = append(by, pipe.Ascending(k))
	}
	return by
}
