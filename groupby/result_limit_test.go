// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// With a limit, a result never holds many more groups than the limit, and equals the first rows of the whole result.
func TestLimitBoundsResult(t *testing.T) {
	const groups = 20_000
	texts, values := make([]string, groups), make([]int64, groups)
	for i := range texts {
		texts[i], values[i] = fmt.Sprint("group ", i*7919%groups), int64(i*7907%groups/3)
	}
	b := batchOf(0, cols(vals(texts)), cols(vals(values)))
	for _, order := range []Order{FirstAppearance, ByKeys, Descending("sum(v0)"), Ascending("sum(v0)"), Descending("count"), Unordered, Unordered} {
		limit := 7
		if order == Unordered {
			limit = 1
		}
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count(), Sum("v0")}, Order: order, Workers: 1, Limit: limit}
			g, err := c.New()
			require.NoError(t, err)
			g.limits.local, g.limits.prune = 1, 100
			require.NoError(t, g.Add(t.Context(), b))
			s, err := g.end()
			require.NoError(t, err)
			e, most := &emitter{plan: s.plan}, 0
			err = s.mergeAll(t.Context(), func() func(*merger) error {
				return func(m *merger) error {
					err := e.emit(m)
					most = max(most, e.rows()-(m.groups()-1))
					return err
				}
			})
			if order == Unordered {
				require.True(t, errors.Is(err, errEnough), "the first partition is enough")
				return
			}
			require.NoError(t, err)
			require.Less(t, most, 100)
			got, err := e.batch()
			require.NoError(t, err)
			c.Limit = 0
			want, err := c.Aggregate(context.Background(), b)
			require.NoError(t, err)
			equalResults(t, c, want.Slice(0, limit), got, false)
		})
	}
}

// TestLimitOfNulls has few groups whose aggregate is not NULL, fewer than the limit: a NULL is the last of the first
// groups for long, and bounds nothing.
func TestLimitOfNulls(t *testing.T) {
	const groups, limit = 5000, 7
	keys, values, null := make([]int64, groups), make([]int64, groups), make([]bool, groups)
	for i := range keys {
		keys[i], values[i], null[i] = int64(i), int64(i%5-2)*1000, i%1000 != 999-i/1000
	}
	b := batchOf(0, cols(vals(keys)), cols(vals(values)))
	b.Columns[1] = b.Columns[1].WithNulls(null)
	for _, order := range []Order{Descending("sum(v0)"), Ascending("sum(v0)")} {
		c := Config{Keys: By("k0"), Aggregates: []Aggregate{Sum("v0")}, Order: order, Workers: 1, Limit: limit}
		g, err := c.New()
		require.NoError(t, err)
		g.limits.local, g.limits.prune = 1, 100
		require.NoError(t, g.Add(t.Context(), b))
		got, err := g.Finish(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, got.Columns[1].Nulls)
		c.Limit = 0
		want, err := c.Aggregate(t.Context(), b)
		require.NoError(t, err)
		equalResults(t, c, want.Slice(0, limit), got, false)
	}
}

// TestForemost orders one table of many groups by an aggregate: only groups that can be among the first ones are
// copied, unless too many have the value of the last one.
func TestForemost(t *testing.T) {
	const groups, limit = 10_000, 7
	texts, values, same, null := make([]string, groups), make([]int64, groups), make([]int64, groups), make([]bool, groups)
	for i := range texts {
		texts[i], values[i], null[i] = fmt.Sprint("group number ", i*7919%groups), int64(i*7907%groups/3), i%5 == 0
	}
	b := batchOf(0, cols(vals(texts)), cols(vals(values), vals(same), vals(values)))
	b.Columns[3] = b.Columns[3].WithNulls(null)
	for _, x := range []struct {
		order Order
		few   bool
	}{
		{Descending("sum(v0)"), true},
		{Ascending("sum(v0)"), true},
		{Descending("sum(v1)"), false},
		{Ascending("sum(v2)"), true},
		{Descending("sum(v2)"), true},
		{FirstAppearance, true},
		{ByKeys, false},
	} {
		c := Config{Keys: By("k0"), Aggregates: []Aggregate{Sum("v0"), Sum("v1"), Sum("v2")}, Order: x.order, Workers: 1, Limit: limit}
		g, err := c.New()
		require.NoError(t, err)
		require.NoError(t, g.Add(t.Context(), b))
		s, err := g.end()
		require.NoError(t, err)
		e, copied := &emitter{plan: s.plan}, 0
		require.NoError(t, s.mergeAll(t.Context(), func() func(*merger) error {
			return func(m *merger) error {
				values, err := e.results(m, 1, m.groups())
				if err == nil {
					copied = len(e.foremost(m, values, 1, m.groups()))
					err = e.emit(m)
				}
				return err
			}
		}))
		require.Equal(t, x.few, copied >= limit && copied < 4*limit, "%v: %d", x.order, copied)
		got, err := e.batch()
		require.NoError(t, err)
		c.Limit = 0
		want, err := c.Aggregate(t.Context(), b)
		require.NoError(t, err)
		equalResults(t, c, want.Slice(0, limit), got, false)
	}
}
