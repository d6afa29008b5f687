// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTableOfDistinctKeysIsAbandonedEarly adds batches that are too small for a sample. A table stays only if its
// groups fit, which is seen at its first mark, 4096 groups.
func TestTableOfDistinctKeysIsAbandonedEarly(t *testing.T) {
	for _, test := range []struct {
		groups, rows int
		mode         mode
		most         int // groups in the table
	}{
		{1 << 20, 6000, modeScatter, 6000},
		{10_000, 20_000, modeTable, 10_000},
		{1000, 20_000, modeTable, 1000},
		{5000, 100_000, modeTable, 5000}, // most keys were seen before: see below
	} {
		for _, text := range []bool{false, true} {
			random := rand.New(rand.NewPCG(1, uint64(test.groups)))
			c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count()}, Workers: 1}
			g, err := c.New()
			require.NoError(t, err)
			g.limits.local = 1 << 15
			w := g.Worker()
			for at := 0; at < test.rows; at += 500 {
				numbers, texts := make([]int64, 500), make([]string, 500)
				groups := int64(test.groups)
				if at < test.rows*3/4 && test.rows > 50_000 {
					groups = 1000
				}
				for i := range numbers {
					numbers[i] = random.Int64N(groups) * 1_000_003
					texts[i] = fmt.Sprint(numbers[i])
				}
				key := vals(numbers)
				if text {
					key = vals(texts)
				}
				require.NoError(t, w.Add(t.Context(), batchOf(0, cols(key), nil)))
				if w.in.mode == modeTable {
					require.LessOrEqual(t, w.in.local.groups()-1, test.most)
				}
			}
			require.Equal(t, test.mode, w.in.mode, "%d groups, text %v", test.groups, text)
			b, err := g.Finish(t.Context())
			require.NoError(t, err)
			require.Greater(t, b.Rows, test.groups/1000)
		}
	}
}
