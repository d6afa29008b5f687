// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file tests what random cases do not meet: fingerprints that are equal, and ends of memory.

// TestTableSameFingerprint: keys whose words are alike are told apart by their bytes.
func TestTableSameFingerprint(t *testing.T) {
	p, err := newPlan(Config{Keys: []Type{String}, Values: []Type{Int64}, Aggregates: []Aggregate{Sum(0)}})
	require.NoError(t, err)
	const distinct, rows = 50, 500
	strs, values := make([]string, rows), make([]int64, rows)
	for i := range strs {
		strs[i], values[i] = fmt.Sprintf("a key of the same length %02d", i%distinct), int64(i)
	}
	m := newKeyMaker(p.keys)
	m.make([]Column{Values(strs)}, 0, rows)
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
	// Kept in a block, and folded.
	b := p.newBlock(false)
	sel := make([]uint32, rows)
	for i := range sel {
		sel[i] = uint32(i)
	}
	b.gather(&m.keys, []Column{Values(values)}, nil, 0, sel)
	f := newFolder(p)
	require.NoError(t, f.fold(b))
	require.Equal(t, distinct+1, f.groups())
	states, err := f.block()
	require.NoError(t, err)
	again := newFolder(p)
	require.NoError(t, again.fold(states))
	require.NoError(t, again.fold(states))
	em := &emitter{plan: p}
	require.NoError(t, em.emit(again))
	piece := em.pieces[0]
	keys, sums := piece.keys[0].column(), piece.values[0].column()
	got := map[string]int64{}
	for i, k := range keys.Strings() {
		got[k] = view[int64](&sums)[i]
	}
	want := map[string]int64{}
	for i, s := range strs {
		want[s] += 2 * values[i]
	}
	require.Equal(t, want, got)
}

// TestTableNullAndZero: NULL and zero have the same word; with any seed they are two groups.
func TestTableNullAndZero(t *testing.T) {
	null := Values([]int64{5}).WithValidity([]byte{0})
	for range 1000 {
		p, err := newKeyPlan([]Type{Int64})
		require.NoError(t, err)
		table := newTable(p)
		ids, room := make([]uint32, 1), make([]uint32, 1)
		for i, k := range []keys{{w0: []uint64{0}, mask: []uint32{1}}, {w0: []uint64{0}}, {w0: []uint64{0}, mask: []uint32{1}}} {
			_, err := table.insert(&k, ids, room[:0], false)
			require.NoError(t, err)
			if want := uint32(1 + i%2); ids[0] != want {
				t.Fatalf("key %d: group %d, want %d", i, ids[0], want)
			}
		}
	}
	c := Config{Keys: []Type{Int64}, Aggregates: []Aggregate{Count()}}
	gc := groupCase{limits: defaultLimits, config: c, batches: []Batch{{Keys: []Column{null}}, {Keys: []Column{Values([]int64{0, 5})}}}}
	require.NoError(t, gc.check(nil))
}

// TestColumnEnds: no pointer that the garbage collector sees points behind the memory of a column, where something else may be, or nothing. It ends the
// program if one does, if it runs at the right time; with -race it is certain.
func TestColumnEnds(t *testing.T) {
	ctx := context.Background()
	c := Config{Keys: []Type{String, Int64}, Values: []Type{String, ID}, Aggregates: []Aggregate{Count(), CountOf(0), CountOf(1)}}
	for range 20 {
		var kept []any
		for range 100 {
			data := make([]byte, 64)
			text := Text(data, []int32{0, 32, 64, 64}) // the last string is empty
			kept = append(kept, text.Strings(), Values(make([]int64, 8)).Slice(8, 8), text.Slice(3, 3))
			words := Values(make([]int64, 3))
			require.NoError(t, (&groupCase{config: c, limits: defaultLimits, batches: []Batch{
				{Keys: []Column{text, words}, Values: []Column{text, Values(make([][16]byte, 3))}},
				{Keys: []Column{text.Slice(3, 3), words.Slice(3, 3)}, Values: []Column{text.Slice(3, 3), Values(make([][16]byte, 4)).Slice(4, 4)}},
			}}).check(nil))
			r, err := AggregateBatch(ctx, Config{Keys: []Type{String}}, Batch{Keys: []Column{text}})
			require.NoError(t, err)
			kept = append(kept, r.Key(0).Strings())
		}
		runtime.GC()
		runtime.KeepAlive(kept)
	}
}
