// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// This file holds what the tests of aggregates have in common: random columns, and a check of an Aggregate against its reference that drives
// accumulators as the package does, alone, merged and reused. And tests of the memory of accumulators.

var numberTypes = []Type{Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Float32, Float64}

var scalarTypes = append([]Type{Bool, ID, String}, numberTypes...)

func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

func randomSlice[T Value](n int, f func() T) Column {
	s := make([]T, n)
	for i := range s {
		s[i] = f()
	}
	return Values(s)
}

// randomColumn returns n random values out of few or many, every seventh of which is NULL if nulls is set.
func randomColumn(r *rand.Rand, t Type, n int, few, nulls bool) Column {
	word := func() uint64 {
		if few {
			return uint64(r.IntN(20))
		}
		return r.Uint64()
	}
	float := func() float64 {
		switch x := r.IntN(100); {
		case few && x < 10:
			return math.Copysign(0, float64(x)-5)
		case few && x < 20:
			return math.NaN()
		case few:
			return float64(x % 13)
		}
		return 1000 + r.NormFloat64()
	}
	var c Column
	switch t {
	case Int8:
		c = randomSlice(n, func() int8 { return int8(word()) - 5 })
	case Int16:
		c = randomSlice(n, func() int16 { return int16(word()) - 5 })
	case Int32:
		c = randomSlice(n, func() int32 { return int32(word()) - 5 })
	case Int64:
		c = randomSlice(n, func() int64 { return int64(word()) - 5 })
	case Uint8:
		c = randomSlice(n, func() uint8 { return uint8(word()) })
	case Uint16:
		c = randomSlice(n, func() uint16 { return uint16(word()) })
	case Uint32:
		c = randomSlice(n, func() uint32 { return uint32(word()) })
	case Uint64:
		c = randomSlice(n, word)
	case Float32:
		c = randomSlice(n, func() float32 { return float32(float()) })
	case Float64:
		c = randomSlice(n, float)
	case Bool:
		c = randomSlice(n, func() bool { return word()&1 == 0 })
	case ID:
		c = randomSlice(n, func() [16]byte { return [16]byte{byte(word()), 8: byte(word()), 15: 7} })
	case String:
		c = randomSlice(n, func() string { return strings.Repeat(fmt.Sprint(word()), r.IntN(4)) })
		switch r.IntN(3) {
		case 0:
			c = asText(c)
		case 1:
			codes := make([]uint32, n)
			for i := range codes {
				codes[i] = r.Uint32N(uint32(n))
			}
			c = Codes(codes, NewDictionary(c))
		}
	default:
		if t.Elem() == Float32 {
			v, _ := SliceOf[float32](randomColumn(r, Float32, n*t.Dim(), false, false))
			c = Matrix(v, t.Dim())
		} else {
			v, _ := SliceOf[float64](randomColumn(r, Float64, n*t.Dim(), false, false))
			c = Matrix(v, t.Dim())
		}
	}
	if nulls {
		bits := make([]byte, (n+7)/8)
		for i := range n {
			if r.IntN(7) > 0 {
				bits[i>>3] |= 1 << (i & 7)
			}
		}
		c = c.WithValidity(bits)
	}
	return c
}

// asText returns a column of strings as formText.
func asText(c Column) Column {
	var data []byte
	offsets := []int32{0}
	for i := range c.n {
		if !c.Null(i) {
			data = append(data, c.text(i)...)
		}
		offsets = append(offsets, int32(len(data)))
	}
	data = append(data, 0) // Column.text of an empty string at the very end points beyond it, which checkptr forbids
	return Text(data, offsets).WithValidity(c.validity)
}

// valueAt returns a value as reference functions have it.
func valueAt(c Column, i int) any {
	if c.Null(i) {
		return nil
	}
	if d := c.typ.Dim(); d > 0 && c.typ.Elem() == Float32 {
		return view[float32](&c)[i*d : (i+1)*d]
	} else if d > 0 {
		return view[float64](&c)[i*d : (i+1)*d]
	}
	switch c.typ {
	case Int8:
		return view[int8](&c)[i]
	case Int16:
		return view[int16](&c)[i]
	case Int32:
		return view[int32](&c)[i]
	case Int64:
		return view[int64](&c)[i]
	case Uint8:
		return view[uint8](&c)[i]
	case Uint16:
		return view[uint16](&c)[i]
	case Uint32:
		return view[uint32](&c)[i]
	case Uint64:
		return view[uint64](&c)[i]
	case Float32:
		return view[float32](&c)[i]
	case Float64:
		return view[float64](&c)[i]
	case Bool:
		return view[bool](&c)[i]
	case ID:
		return view[[16]byte](&c)[i]
	}
	return strings.Clone(c.text(i))
}

// pick returns some rows of a column, as a copy.
func pick(c Column, rows []int) Column {
	out := newCells(c.typ)
	out.resize(len(rows) + 1)
	for k, r := range rows {
		ids := make([]uint32, r+1)
		ids[r] = uint32(k + 1)
		if err := out.take([]uint32{uint32(r)}, ids, &c); err != nil {
			panic(err)
		}
	}
	o := out.column()
	v := o.validity
	o.validity = nil
	o = o.Slice(1, o.n)
	bits := make([]byte, (len(rows)+7)/8)
	for k := range rows {
		bits[k>>3] |= v[(k+1)>>3] >> ((k + 1) & 7) & 1 << (k & 7)
	}
	if c.validity == nil {
		bits = nil
	}
	return o.WithValidity(bits)
}

// near tells whether two values are equal, floats within a relative tolerance.
func near(a, b any, tolerance float64) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || x != x && y != y || math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y)))
	case float32:
		y, ok := b.(float32)
		return ok && near(float64(x), float64(y), tolerance)
	case []float64:
		y, ok := b.([]float64)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !near(x[i], y[i], tolerance) {
				return false
			}
		}
		return true
	case []float32:
		y, ok := b.([]float32)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !near(x[i], y[i], tolerance) {
				return false
			}
		}
		return true
	}
	return a == b
}

// A testFeed gives rows to an accumulator, whose groups it numbers from 1 in order of first appearance.
type testFeed struct {
	acc Accumulator
	ids map[int]uint32
}

func newFeed(acc Accumulator) *testFeed {
	acc.Resize(1)
	return &testFeed{acc, map[int]uint32{-1: 0}}
}

func (f *testFeed) id(group int) uint32 {
	id, ok := f.ids[group]
	if !ok {
		id = uint32(len(f.ids))
		f.ids[group] = id
	}
	return id
}

func (f *testFeed) add(t testing.TB, args []Column, groups []int, numbers []int64) {
	ids := make([]uint32, len(groups))
	for i, g := range groups {
		ids[i] = f.id(g)
	}
	f.acc.Resize(len(f.ids))
	rows := Rows{IDs: ids, Args: args, Numbers: numbers}
	if len(numbers) > 0 && numbers[len(numbers)-1] == numbers[0]+int64(len(numbers))-1 {
		rows.Start, rows.Numbers = numbers[0], nil
	}
	require.NoError(t, f.acc.Add(rows))
}

// merge merges the groups of another.
func (f *testFeed) merge(t testing.TB, from *testFeed) {
	state, err := from.acc.State()
	require.NoError(t, err)
	types, _ := from.acc.Types()
	require.Len(t, state, len(types))
	ids := make([]uint32, len(from.ids))
	for g, id := range from.ids {
		ids[id] = f.id(g)
	}
	for k, c := range state {
		require.Equal(t, types[k], c.typ)
		require.Equal(t, len(ids), c.n)
		if c.typ == String && len(ids)%2 == 0 {
			state[k] = asText(c)
		}
	}
	f.acc.Resize(len(f.ids))
	require.NoError(t, f.acc.Merge(ids, state))
}

func (f *testFeed) results(t testing.TB) map[int]any {
	c, err := f.acc.Result()
	require.NoError(t, err)
	_, typ := f.acc.Types()
	require.Equal(t, typ, c.typ)
	require.Equal(t, len(f.ids), c.n)
	m := map[int]any{}
	for g, id := range f.ids {
		if id != 0 {
			m[g] = valueAt(c, int(id))
		}
	}
	return m
}

// checkAggregate computes an aggregate of random rows in several ways, and compares the results with the reference.
func checkAggregate(t *testing.T, agg Aggregate, types []Type, few, nulls bool, tolerance float64) {
	t.Helper()
	const n = 1500
	r := newRand(t)
	args := make([]Column, len(types))
	for k, typ := range types {
		args[k] = randomColumn(r, typ, n, few, nulls)
	}
	groups, numbers := make([]int, n), make([]int64, n)
	byGroup := map[int][]referenceRow{}
	for i := range groups {
		groups[i], numbers[i] = int(r.ExpFloat64()*20)-1, int64(i)
		if g := groups[i]; g >= 0 {
			row := referenceRow{number: int64(i)}
			for _, c := range args {
				row.args = append(row.args, valueAt(c, i))
			}
			byGroup[g] = append(byGroup[g], row)
		}
	}
	compare := func(how string, got map[int]any) {
		t.Helper()
		require.Len(t, got, len(byGroup))
		for g, rows := range byGroup {
			want, err := agg.reference(rows)
			require.NoError(t, err)
			if !near(got[g], want, tolerance) {
				t.Fatalf("%s of %v, %s: group %d of %d rows: got %v, want %v", agg.Name, types, how, g, len(rows), got[g], want)
			}
		}
	}
	newAcc := func() Accumulator {
		acc, err := agg.New(types)
		require.NoError(t, err)
		return acc
	}
	addAll := func(f *testFeed) {
		for at := 0; at < n; {
			end := min(n, at+8*(1+r.IntN(60)))
			part := make([]Column, len(args))
			for k := range args {
				part[k] = args[k].Slice(at, end)
			}
			f.add(t, part, groups[at:end], numbers[at:end])
			at = end
		}
	}

	one := newFeed(newAcc())
	addAll(one)
	compare("one", one.results(t))
	compare("result again", one.results(t))
	again := newFeed(newAcc())
	again.merge(t, one)
	compare("state of one", again.results(t))
	compare("one after State", one.results(t))

	one.acc.Reset()
	one = newFeed(one.acc)
	addAll(one)
	compare("reset", one.results(t))

	parts := make([]*testFeed, 4)
	rows := make([][]int, len(parts))
	for i := range n {
		k := r.IntN(len(parts))
		rows[k] = append(rows[k], i)
	}
	for k := range parts {
		parts[k] = newFeed(newAcc())
		some, g, num := make([]Column, len(args)), []int(nil), []int64(nil)
		for c := range args {
			some[c] = pick(args[c], rows[k])
		}
		for _, i := range rows[k] {
			g, num = append(g, groups[i]), append(num, numbers[i])
		}
		parts[k].add(t, some, g, num)
	}
	parts[1].merge(t, parts[0])
	parts[2].merge(t, parts[3])
	total := newFeed(newAcc())
	total.merge(t, parts[2])
	total.merge(t, parts[1])
	compare("merged", total.results(t))
	if s, ok := total.acc.(Sizer); ok {
		require.Positive(t, s.Size())
	}
}

// checkAllocs checks that adding rows again and again allocates nothing.
func checkAllocs(t *testing.T, agg Aggregate, c Column) {
	t.Helper()
	acc, err := agg.New([]Type{c.typ})
	require.NoError(t, err)
	ids := make([]uint32, c.n)
	for i := range ids {
		ids[i] = uint32(i % 100)
	}
	acc.Resize(100)
	rows := Rows{IDs: ids, Args: []Column{c}}
	require.NoError(t, acc.Add(rows))
	allocs := testing.AllocsPerRun(20, func() {
		rows.Start += int64(c.n)
		if err := acc.Add(rows); err != nil {
			t.Fatal(err)
		}
	})
	require.Zero(t, allocs, agg.Name)
}

func TestTextsReplaced(t *testing.T) {
	r := newRand(t)
	var x texts
	want := make([]string, 50)
	x.resize(len(want))
	for i := range 30000 {
		id := r.IntN(len(want))
		want[id] = strings.Repeat(string(rune('a'+i%26)), r.IntN(1+i/20))
		require.NoError(t, x.set(uint32(id), want[id]))
	}
	require.Less(t, len(x.arena), 1<<19)
	got := x.column()
	require.Equal(t, want, got.Strings())
}

func TestBlocksGrown(t *testing.T) {
	r := newRand(t)
	var b lists[int]
	want := make([][]int, 20)
	for range 2 {
		b.reset()
		b.resize(len(want))
		clear(want)
		for i := range 5000 {
			id := r.IntN(1 + r.IntN(len(want)))
			b.push(uint32(id), i)
			want[id] = append(want[id], i)
		}
		for id := range want {
			require.Equal(t, len(want[id]), len(b.list(uint32(id))))
			for k, v := range b.list(uint32(id)) {
				require.Equal(t, want[id][k], v)
			}
		}
	}
	require.Equal(t, uintptr(16), unsafe.Sizeof(span{}))
}

func TestOrderKeys(t *testing.T) {
	x := []float64{math.Inf(-1), -1e300, -1, -1e-310, 0, 1e-310, 1, 1e300, math.Inf(1), math.NaN()}
	c := Values(x)
	up, down := orderKeys(nil, &c, false), orderKeys(nil, &c, true)
	for i := range x {
		require.True(t, near(orderedFloat(up[i]), x[i], 0))
		require.Equal(t, ^up[i], down[i])
		if i > 0 {
			require.Less(t, up[i-1], up[i])
		}
	}
	z := Values([]float64{math.Copysign(0, -1), 0})
	require.Equal(t, up[4:5], orderKeys(nil, &z, false)[:1])
}
