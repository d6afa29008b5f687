// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// TestTiesOfGroups orders groups by an aggregate that is equal for many: groups order ties by all of their keys. A sort
// is left to them only where its ties are the same.
func TestTiesOfGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	a, b, c := make([]int64, 600), make([]int64, 600), make([]int64, 600)
	for i := range a {
		a[i], b[i], c[i] = r.Int64N(9), r.Int64N(9), r.Int64N(3)
	}
	source := pipe.Batches(column.NewBatch(column.Of("a", a), column.Of("b", b), column.Of("c", c)))
	groups := source.GroupBy("a", "b").Aggregate(groupby.Max("c").As("most"), groupby.Count().As("count"))
	const left = "(the first 5 groups)"
	for name, s := range map[string]struct {
		p    pipe.Pipe
		left bool
	}{
		"all keys":          {groups, true},
		"a computed column": {groups.With("d", "a = b"), true},
		"the first key":     {groups.Select("most", "a"), false},
		"the second key":    {groups.Select("most", "b", "count"), false},
		"a replaced key":    {groups.With("a", "-a"), false},
		"no key":            {groups.Select("most"), false},
	} {
		for _, order := range []pipe.Order{pipe.Ascending("most"), pipe.Descending("most")} {
			p := s.p.OrderBy(order).Limit(5)
			got, plan := explained(t, p)
			if s.left {
				require.Contains(t, plan, left, name)
			} else {
				require.NotContains(t, plan, left, name)
			}
			all, err := s.p.OrderBy(order).Batch(t.Context())
			require.NoError(t, err)
			first := all.Slice(0, 5)
			require.Empty(t, column.Diff(got, first), name)
		}
	}
}
