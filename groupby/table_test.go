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
	"github.com/vecql/vecql/internal/soak"
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
	soak.NoRace(t)
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

// homeTable returns a table of 300 keys, and keys of 2000 rows, about half of them in the table.
func homeTable(t *testing.T, types []column.Type) (*table, *keys) {
	r := newRand(t)
	known, rows := &keys{}, &keys{}
	for range 300 {
		known.w0, known.w1 = append(known.w0, r.Uint64()), append(known.w1, r.Uint64())
	}
	for range 2000 {
		i := r.IntN(len(known.w0))
		w0, w1 := known.w0[i], known.w1[i]
		switch r.IntN(6) {
		case 0:
			w0 ^= 1
		case 1:
			w1 ^= 1
		case 2:
			w0 = r.Uint64()
		}
		rows.w0, rows.w1 = append(rows.w0, w0), append(rows.w1, w1)
	}
	if len(types) == 1 {
		known.w1, rows.w1 = nil, nil
	}
	table := newTable(newKeyPlan(types))
	_, err := table.insert(known, make([]uint32, 300), make([]uint32, 0, 300), false)
	require.NoError(t, err)
	return table, rows
}

// TestHomeSlots requires that a lookup at the home slots, and then at the slots behind them, finds the keys that are
// there, and lists the other rows.
func TestHomeSlots(t *testing.T) {
	behind := 0
	for i := range 20 {
		pairs := i%2 > 0
		types := []column.Type{typeInt64, typeInt64}[:1+i%2]
		table, k := homeTable(t, types)
		at := func(row int, step uint64) uint32 {
			hash := table.hash1(k.w0[row], 0)
			if pairs {
				hash = table.hash2(k.w0[row], k.w1[row], 0)
			}
			id := table.index[(hash>>slotShift+step)&uint64(len(table.index)-1)]
			if table.w0[id] != k.w0[row] || pairs && table.w1[id] != k.w1[row] {
				return 0
			}
			return id
		}
		n := len(k.w0)
		ids, room := make([]uint32, n), make([]uint32, n)
		want, misses := make([]uint32, n), []uint32{}
		for row := range want {
			if want[row] = at(row, 0); want[row] == 0 {
				misses = append(misses, uint32(row))
			}
		}
		var found int
		if pairs {
			found = table.findPairs(k.w0, k.w1, ids, room)
		} else {
			found = findWords(table.index, table.w0, k.w0, table.seed[0], ids, room)
		}
		require.Equal(t, want, ids)
		require.Equal(t, misses, room[:found])
		for step := uint64(1); step <= homeSteps; step++ {
			left := []uint32{}
			for _, row := range misses {
				if want[row] = at(int(row), step); want[row] == 0 {
					left = append(left, row)
				} else {
					behind++
				}
			}
			got := room[:len(misses)]
			if pairs {
				got = table.findNext2(k, ids, got, step)
			} else {
				got = table.findNext1(k.w0, ids, got, step)
			}
			require.Equal(t, want, ids)
			require.Equal(t, left, got)
			misses = left
		}
	}
	require.Positive(t, behind, "some keys are behind their home slot")
}

// TestTableGrows inserts keys of one word and of two: the index grows by factors of four, then two, and no key is lost.
func TestTableGrows(t *testing.T) {
	const n = 140_000
	for _, types := range [][]column.Type{{typeInt64}, {typeInt64, typeInt64}} {
		table := newTable(newKeyPlan(types))
		words := make([]uint64, n)
		for i := range words {
			words[i] = uint64(i+1) * golden
		}
		ids, room := make([]uint32, chunkRows), make([]uint32, chunkRows)
		for pass := range 2 {
			for i := 0; i < n; i += chunkRows {
				j := min(i+chunkRows, n)
				k := &keys{w0: words[i:j]}
				if len(types) > 1 {
					k.w1 = k.w0
				}
				fresh, err := table.insert(k, ids[:j-i], room[:0], false)
				require.NoError(t, err)
				require.Len(t, fresh, (j-i)*(1-pass))
				for row, id := range ids[:j-i] {
					if id != uint32(i+row+1) {
						t.Fatalf("row %d is in group %d", i+row, id)
					}
				}
			}
		}
		require.Equal(t, n+1, table.groups())
		require.Len(t, table.index, 1<<20)
	}
}
