// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Tables in cases that random tests do not reach: equal fingerprints, and ends of memory.

// TestTableSameFingerprint checks that keys with equal words are distinguished by their bytes.
func TestTableSameFingerprint(t *testing.T) {
	c, err := Config{Keys: By("k0"), Aggregates: []Aggregate{Sum("v0")}}.check()
	require.NoError(t, err)
	p, err := newPlan(c, defaultLimits, []column.Type{typeString, typeInt64})
	require.NoError(t, err)
	const distinct, rows = 50, 500
	strs, values := make([]string, rows), make([]int64, rows)
	for i := range strs {
		strs[i], values[i] = fmt.Sprintf("a key of the same length %02d", i%distinct), int64(i)
	}
	m := newKeyMaker(p.keys)
	m.make([]column.Column{vals(strs)}, 0, rows)
	for i := range m.w0 {
		require.EqualValues(t, tagLong, m.w1[i]>>tagShift)
		m.w0[i] = 42
	}
	table := newTable(p.keys)
	check := func(ids []uint32, about string) {
		t.Helper()
		for i, id := range ids {
			if id == 0 || id != ids[i%distinct] {
				t.Fatalf("%s: row %d is in group %d, row %d in %d", about, i, id, i%distinct, ids[i%distinct])
			}
		}
	}
	ids, room := make([]uint32, rows), make([]uint32, rows)
	fresh, err := table.insert(&m.keys, ids, room[:0], false)
	require.NoError(t, err)
	require.Len(t, fresh, distinct)
	require.Equal(t, distinct+1, table.groups())
	check(ids, "new")
	before := slices.Clone(ids)
	fresh, err = table.insert(&m.keys, ids, room[:0], false)
	require.NoError(t, err)
	require.Empty(t, fresh)
	require.Equal(t, before, ids, "again")
	require.Empty(t, table.find(&m.keys, ids, room[:0]))
	require.Equal(t, before, ids, "found")
	// Stored in a block and merged.
	b := p.newBlock(false)
	sel := make([]uint32, rows)
	for i := range sel {
		sel[i] = uint32(i)
	}
	b.gather(&m.keys, []column.Column{vals(values)}, nil, 0, sel)
	f := newMerger(p)
	require.NoError(t, f.merge(b))
	require.Equal(t, distinct+1, f.groups())
	states, err := f.block()
	require.NoError(t, err)
	again := newMerger(p)
	require.NoError(t, again.merge(states))
	require.NoError(t, again.merge(states))
	em := &emitter{plan: p}
	require.NoError(t, em.emit(again))
	piece := em.pieces[0]
	keys, sums := piece.keys[0].column(), piece.values[0].column()
	got := map[string]int64{}
	for i := range keys.Len {
		got[textAt(&keys, i)] = view[int64](&sums)[i]
	}
	want := map[string]int64{}
	for i, s := range strs {
		want[s] += 2 * values[i]
	}
	require.Equal(t, want, got)
}

// TestTableNullAndZero checks that NULL and zero, which have equal words, are two groups, with seeds that give them the
// same slot.
func TestTableNullAndZero(t *testing.T) {
	null := vals([]int64{5}).WithValidity([]byte{0})
	slot := func(p *keyPlan, mask uint32) uint64 { return p.hash1(0, mask) >> slotShift & (minSlots - 1) }
	for range 10 {
		plan := newKeyPlan([]column.Type{typeInt64})
		for slot(plan, 0) != slot(plan, 1) { // one seed of minSlots
			plan = newKeyPlan([]column.Type{typeInt64})
		}
		table := newTable(plan)
		ids, room := make([]uint32, 1), make([]uint32, 1)
		for i, k := range []keys{{w0: []uint64{0}, mask: []uint32{1}}, {w0: []uint64{0}}, {w0: []uint64{0}, mask: []uint32{1}}} {
			_, err := table.insert(&k, ids, room[:0], false)
			require.NoError(t, err)
			if want := uint32(1 + i%2); ids[0] != want {
				t.Fatalf("key %d: group %d, want %d", i, ids[0], want)
			}
		}
	}
	c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count()}}
	gc := groupCase{limits: defaultLimits, config: c, batches: []*column.Batch{batchOf(0, cols(null), nil), batchOf(0, cols(vals([]int64{0, 5})), nil)}}
	require.NoError(t, gc.check(nil))
}

// TestColumnEnds checks that no pointer visible to the garbage collector points behind the memory of a column. Such a
// pointer crashes the program if the collector runs at the right time, and always with -race.
func TestColumnEnds(t *testing.T) {
	ctx := context.Background()
	c := Config{Keys: By("k0", "k1"), Aggregates: []Aggregate{Count(), CountOf("v0"), CountOf("v1")}}
	for range 20 {
		var kept []any
		for range 100 {
			data := make([]byte, 64)
			text := column.StringBuffers("", data, []int32{0, 32, 64, 64}) // the last string is empty
			ends := vals(make([]int64, 8))
			kept = append(kept, textAt(&text, 2), ends.Slice(8, 8), text.Slice(3, 3))
			words, ids := vals(make([]int64, 3)), vals(make([][16]byte, 4))
			require.NoError(t, (&groupCase{config: c, limits: defaultLimits, batches: []*column.Batch{
				batchOf(0, cols(text, words), cols(text, ids.Slice(0, 3))),
				batchOf(0, cols(text.Slice(3, 3), words.Slice(3, 3)), cols(text.Slice(3, 3), ids.Slice(4, 4))),
			}}).check(nil))
			r, err := Config{Keys: By("k0")}.Aggregate(ctx, batchOf(0, cols(text), nil))
			require.NoError(t, err)
			kept = append(kept, r)
		}
		runtime.GC()
		runtime.KeepAlive(kept)
	}
}
