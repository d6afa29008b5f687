// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

// TestMostlyDistinct estimates the groups of blocks of rows, whose keys come in several orders.
func TestMostlyDistinct(t *testing.T) {
	const rows = 20_000
	r := rand.New(rand.NewPCG(1, 2))
	for name, test := range map[string]struct {
		rows int
		key  func(i int) uint64
		want bool
	}{
		"all differ":          {rows, func(i int) uint64 { return uint64(i) }, true},
		"some again":          {rows, func(int) uint64 { return uint64(r.IntN(4 * rows)) }, true},
		"half again":          {rows, func(int) uint64 { return uint64(r.IntN(rows / 3)) }, false},
		"few":                 {rows, func(i int) uint64 { return uint64(i % 7) }, false},
		"equal ones adjacent": {rows, func(i int) uint64 { return uint64(i / 16) }, false},
		"too few rows":        {4095, func(i int) uint64 { return uint64(i) }, false},
	} {
		for _, w1 := range []bool{false, true} {
			var blocks []*block
			b := &block{}
			for i := range test.rows {
				b.rows.w0 = append(b.rows.w0, test.key(i))
				if w1 { // the other word of the key
					b.rows.w1 = append(b.rows.w1, b.rows.w0[b.n()-1])
					b.rows.w0[b.n()-1] = 5
				}
				if b.n() == 1000 || i == test.rows-1 {
					blocks, b = append(blocks, b), &block{}
				}
			}
			require.Equal(t, test.want, mostlyDistinct(blocks), name)
			blocks[1].states = true
			require.False(t, mostlyDistinct(blocks), "states")
		}
	}
}

// TestDistinctRowsAreNotCompacted adds rows whose keys all differ: partitions keep them as they are until they are
// merged. Rows of few groups become states.
func TestDistinctRowsAreNotCompacted(t *testing.T) {
	soak.NoRace(t)
	const rows = 1 << 22
	for _, groups := range []int{rows, rows / 64} {
		g, err := Config{Keys: By("k0"), Aggregates: []Aggregate{Count()}, Workers: 1}.New()
		require.NoError(t, err)
		g.limits.local, g.limits.sample, g.limits.compactBytes = 1, 1, 1<<17
		keys := make([]int64, rows)
		for i := range keys {
			keys[i] = int64(i%groups) * 1_000_003
		}
		require.NoError(t, g.Add(t.Context(), batchOf(0, cols(vals(keys)), nil)))
		states := 0
		for p := range g.stages[0].store.parts {
			for _, b := range g.stages[0].store.parts[p].blocks {
				if b.states {
					states++
				}
			}
		}
		require.Equal(t, groups < rows, states > partitions/2, "%d blocks of states, %d groups", states, groups)
		got, err := g.Finish(t.Context())
		require.NoError(t, err)
		require.Equal(t, groups, got.Rows)
	}
}

// TestTextShares has columns of text whose lengths are in a known relation, in records and in pairs of texts.
func TestTextShares(t *testing.T) {
	const rows = 3000
	for _, test := range []struct {
		lengths [2]int
		number  bool
		want    [2]float64
	}{
		{[2]int{30, 90}, false, [2]float64{30.0 / 137, 90.0 / 137}}, // 2 bytes of lengths, 15 of keyBytes
		{[2]int{3, 4}, false, [2]float64{3.0 / 15, 4.0 / 15}},
		{[2]int{30, 90}, true, [2]float64{30.0 / 145, 90.0 / 145}},
		{[2]int{1, 2}, true, [2]float64{1.0 / 15, 2.0 / 15}},
	} {
		keys := make([]column.Column, 2)
		for c, n := range test.lengths {
			texts := make([]string, rows)
			for i := range texts {
				texts[i] = fmt.Sprintf("%0*d", n, i%10)
			}
			keys[c] = vals(texts)
		}
		at := []int{0, 1}
		if test.number {
			keys, at = []column.Column{keys[0], vals(make([]int64, rows)), keys[1]}, []int{0, 2}
		}
		types := make([]column.Type, len(keys))
		for i := range keys {
			types[i] = keys[i].Type
		}
		p := newKeyPlan(types)
		m := newKeyMaker(p)
		m.make(keys, 0, rows)
		var r keyRows
		all := make([]uint32, rows)
		for i := range all {
			all[i] = uint32(i)
		}
		r.gather(&m.keys, all)
		shares := p.textShares(&r, 10, rows)
		for k, c := range at {
			require.InDelta(t, test.want[k]+1.0/16, shares[c], 0.01, "%v", test)
		}
		require.Nil(t, p.textShares(&r, 10, 10))
	}
	require.Nil(t, newKeyPlan([]column.Type{typeString}).textShares(nil, 0, 1))
}
