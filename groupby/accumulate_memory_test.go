// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

// Helpers of the tests of aggregates: random columns, and a check of an Aggregate against its reference that drives
// accumulators as the package does, alone, merged and reused. Also tests of the memory of accumulators.

func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// randomColumn returns n random values from a small or large set; every seventh is NULL if nulls is set.
func randomColumn(r *rand.Rand, t column.Type, n int, few, nulls bool) column.Column {
	values := make([]any, n)
	for i := range values {
		if !nulls || r.IntN(7) > 0 {
			values[i] = randomValue(r, t, few)
		}
	}
	c, err := referenceColumn(fieldOf(t), values)
	if err != nil {
		panic(err)
	}
	if t.Kind.IsText() && r.IntN(3) == 0 {
		codes, entries := make([]uint32, n), make([]any, n)
		for i := range codes {
			codes[i], entries[i] = r.Uint32N(uint32(n)), randomValue(r, t, few)
		}
		c.Values, c.Offsets, c.Dict = bytesOf(codes), nil, dictionaryOf(entries)
	}
	return c
}

// randomValue returns a value of a type. Different floats differ by 2^-16 or more, so that the variance of few of them
// does not lose digits.
func randomValue(r *rand.Rand, t column.Type, few bool) any {
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
		return 1000 + math.Round(r.NormFloat64()*(1<<16))/(1<<16)
	}
	switch storedAs(t) {
	case column.Int8:
		return int8(word()) - 5
	case column.Int16:
		return int16(word()) - 5
	case column.Int32:
		return int32(word()) - 5
	case column.Int64:
		return int64(word()) - 5
	case column.Uint8:
		return uint8(word())
	case column.Uint16:
		return uint16(word())
	case column.Uint32:
		return uint32(word())
	case column.Uint64:
		return word()
	case column.Float16:
		return float16(word())
	case column.Float32:
		return float32(float())
	case column.Float64:
		return float()
	case column.Bool:
		return word()&1 == 0
	case column.String, column.Binary, column.Inet, column.Decimal:
		return strings.Repeat(fmt.Sprint(word()), r.IntN(4))
	case column.Varint:
		return varint(trimVarint(fmt.Sprint(word()))) // any bytes are a valid number
	case column.Vector:
		b := bytesOf(make([]uint64, (t.ValueWidth()+7)/8))[:0]
		for range t.Dim {
			b = append(b, referenceBytes(randomValue(r, column.Type{Kind: t.Elem}, few))...)
		}
		c := column.Column{Type: t, Len: 1, Values: b}
		return referenceVector(&c, 0)
	}
	b := bytesOf(make([]uint64, 8))
	b[0], b[1], b[t.Width/2], b[15] = byte(word()), byte(word()), byte(word()), byte(word())
	return referenceScalar(t.Kind, b[:t.ValueWidth()])
}

// valueAt returns a value in the form of the reference functions.
func valueAt(c column.Column, i int) any {
	if c.Null(i) {
		return nil
	}
	return referenceValue(&c, i)
}

// pick returns a copy of some rows of a column.
func pick(c column.Column, rows []int) column.Column {
	out := newBuilder(c.Type)
	for _, r := range rows {
		out.append(&c, r, r+1)
	}
	return out.column()
}

// near reports whether two values are equal, floats within a relative tolerance.
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
	if x, ok := a.([]any); ok {
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, func(a, b any) bool { return near(a, b, tolerance) })
	}
	return equalValues(a, b, false)
}

// nearOne reports whether results differ by at most the tolerance, for an aggregate whose rounding errors are relative
// to 1.
func nearOne(agg *Aggregate, got, want any, tolerance float64) bool {
	x, ok := got.(float64)
	y, also := want.(float64)
	return agg.fn == "corr" && ok && also && math.Abs(x-y) <= tolerance
}

// A testFeed adds rows to an accumulator. It numbers groups from 1 in order of first appearance.
type testFeed struct {
	acc Accumulator
	ids map[int]uint32
}

func newFeed(acc Accumulator) *testFeed {
	acc.Resize(1)
	return &testFeed{acc, map[int]uint32{-1: 0}}
}

// resetFeed removes the groups of an accumulator, which makes room for others when rows are added.
func resetFeed(acc Accumulator) *testFeed {
	acc.Reset()
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

func (f *testFeed) add(t testing.TB, args []column.Column, groups []int, numbers []int64) {
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

// merge adds the groups of another feed, sometimes in parts.
func (f *testFeed) merge(t testing.TB, from *testFeed) {
	n := len(from.ids)
	groups := make([]int, n)
	for g, id := range from.ids {
		groups[id] = g
	}
	types, _ := from.acc.Types()
	for i, j := 0, 0; i < n; i = j {
		if j = n; n%2 == 1 {
			j = min(n, i+1+n/3)
		}
		state, err := from.acc.State(i, j)
		require.NoError(t, err)
		require.Len(t, state, len(types))
		for k := range state {
			require.NoError(t, checkColumn(&state[k], fieldOf(types[k]), j-i, !isZeros(&state[k])))
		}
		ids := make([]uint32, j-i)
		for k, g := range groups[i:j] {
			ids[k] = f.id(g)
		}
		f.acc.Resize(len(f.ids))
		require.NoError(t, f.acc.Merge(ids, state))
	}
}

// join adds the groups of another feed, whose accumulator is a joiner.
func (f *testFeed) join(from *testFeed) {
	groups := make([]uint32, len(from.ids))
	for g, id := range from.ids {
		groups[id] = f.id(g)
	}
	f.acc.Resize(len(f.ids))
	f.acc.(joiner).join(from.acc, groups)
}

func (f *testFeed) results(t testing.TB) map[int]any {
	n := len(f.ids)
	_, field := f.acc.Types()
	rows := make([]any, 0, n)
	for i, j := 0, 0; i < n; i = j {
		j = min(n, i+1+n*2/3)
		c, err := f.acc.Result(i, j)
		require.NoError(t, err)
		require.NoError(t, checkColumn(&c, field, j-i, true))
		rows = append(rows, referenceValues(c)...)
	}
	m := map[int]any{}
	for g, id := range f.ids {
		if id != 0 {
			m[g] = rows[id]
		}
	}
	return m
}

// checkAggregate computes an aggregate of random rows in several ways, and compares the results with the reference.
func checkAggregate(t *testing.T, agg Aggregate, types []column.Type, few, nulls bool, tolerance float64) {
	t.Helper()
	n := 1500
	if soak.Reduced {
		n = 500 // one goroutine: nothing can race
	}
	r := newRand(t)
	args := make([]column.Column, len(types))
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
	wants := map[int]any{}
	for g, rows := range byGroup {
		want, err := referenceOf(&agg, types)(rows)
		require.NoError(t, err)
		wants[g] = want
	}
	compare := func(how string, got map[int]any) {
		t.Helper()
		require.Len(t, got, len(byGroup))
		for g, want := range wants {
			if !near(got[g], want, tolerance) && !nearOne(&agg, got[g], want, tolerance) {
				t.Fatalf("%s of %v, %s: group %d of %d rows: got %v, want %v", agg.Name, types, how, g, len(byGroup[g]), got[g], want)
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
			end := min(n, at+1+r.IntN(500))
			part := make([]column.Column, len(args))
			for k := range args {
				part[k] = args[k].Slice(at, end)
			}
			f.add(t, part, groups[at:end], numbers[at:end])
			at = end
		}
	}

	one := newFeed(newAcc())
	useOtherwise(t, r, one, types, groups, !few, !nulls)
	one = resetFeed(one.acc)
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
		some, g, num := make([]column.Column, len(args)), []int(nil), []int64(nil)
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
	if _, ok := total.acc.(joiner); ok {
		total = newFeed(newAcc())
		for _, part := range parts[1:3] { // they have the rows of all
			total.join(part)
		}
		compare("joined", total.results(t))
	}
	if s, ok := total.acc.(Sizer); ok {
		requireSize(t, &agg, s)
	}
}

// useOtherwise adds other values as rows before and after those with the numbers from 0 on.
func useOtherwise(t *testing.T, r *rand.Rand, f *testFeed, types []column.Type, groups []int, few, nulls bool) {
	t.Helper()
	var args []column.Column
	for _, typ := range types {
		args = append(args, randomColumn(r, typ, len(groups), few, nulls))
	}
	numbers := make([]int64, len(groups))
	for _, start := range []int64{-int64(len(groups)), int64(len(groups))} {
		for i := range numbers {
			numbers[i] = start + int64(i)
		}
		f.add(t, args, groups, numbers)
	}
	f.results(t)
	_, err := f.acc.State(0, len(f.ids))
	require.NoError(t, err)
}

// requireSize fails unless an accumulator whose states are texts has the size of its memory.
func requireSize(t *testing.T, agg *Aggregate, acc Sizer) {
	t.Helper()
	size := acc.Size()
	require.Positive(t, size)
	if state, _ := acc.(Accumulator).Types(); slices.ContainsFunc(state, func(t column.Type) bool { return !t.Kind.IsText() }) {
		return
	}
	v := reflect.ValueOf(acc)
	held := deepSize(v)
	require.GreaterOrEqual(t, size, held-held/25, agg.Name)
	requireNoMore(t, size, held+int64(v.Elem().Type().Size()), agg.Name)
}

// requireNoMore requires that a size is at most the memory that is held. Sizes count pointers of 64 bits.
func requireNoMore(t *testing.T, size, held int64, name string) {
	t.Helper()
	if unsafe.Sizeof(size) == unsafe.Sizeof(uintptr(0)) {
		require.LessOrEqual(t, size, held, name)
	}
}

// deepSize returns the bytes of the slices that an accumulator holds.
func deepSize(v reflect.Value) int64 {
	size := int64(0)
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return deepSize(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			size += deepSize(v.Field(i))
		}
	case reflect.Slice:
		size = int64(v.Cap()) * int64(v.Type().Elem().Size())
		if k := v.Type().Elem().Kind(); k == reflect.Struct || k == reflect.Pointer {
			for i := range v.Len() {
				size += deepSize(v.Index(i))
			}
		}
	}
	return size
}

// TestSizesOfManyGroups requires that all memory of groups without a value is counted. Parameters have 16 bytes.
func TestSizesOfManyGroups(t *testing.T) {
	const groups = 10_000
	for _, agg := range []Aggregate{
		TopK("v0", 3), TopKOf("v0", "v1", 3), Quantiles("v0", 0.1, 0.5), ApproxCountDistinct("v0"), CountDistinct("v0"),
		MedianExact("v0"),
	} {
		acc, err := agg.New([]column.Type{typeInt64, typeString}[:len(agg.Args)])
		require.NoError(t, err)
		acc.Resize(groups)
		_, err = acc.State(0, groups)
		require.NoError(t, err)
		_, err = acc.Result(0, groups)
		require.NoError(t, err)
		v := reflect.ValueOf(acc)
		size, held := acc.(Sizer).Size(), deepSize(v)
		require.GreaterOrEqual(t, size, held-16, agg.Name)
		requireNoMore(t, size, held+int64(v.Elem().Type().Size()), agg.Name)
	}
}

// checkAllocs checks that adding the same rows again does not allocate.
func checkAllocs(t *testing.T, agg Aggregate, c column.Column) {
	t.Helper()
	acc, err := agg.New([]column.Type{c.Type})
	require.NoError(t, err)
	ids := make([]uint32, c.Len)
	for i := range ids {
		ids[i] = uint32(i % 100)
	}
	acc.Resize(100)
	rows := Rows{IDs: ids, Args: []column.Column{c}}
	require.NoError(t, acc.Add(rows))
	allocs := testing.AllocsPerRun(20, func() {
		rows.Start += int64(c.Len)
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
	got, err := x.column(0, len(want))
	require.NoError(t, err)
	for i, s := range want {
		require.Equal(t, s, textAt(&got, i))
	}
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
	require.LessOrEqual(t, unsafe.Sizeof(span{}), uintptr(16))
}

func TestOrderKeys(t *testing.T) {
	x := []float64{math.Inf(-1), -1e300, -1, -1e-310, 0, 1e-310, 1, 1e300, math.Inf(1), math.NaN()}
	c := vals(x)
	up, down := orderKeys(nil, &c, false), orderKeys(nil, &c, true)
	for i := range x {
		require.True(t, near(orderedFloat(up[i]), x[i], 0))
		require.Equal(t, ^up[i], down[i])
		if i > 0 {
			require.Less(t, up[i-1], up[i])
		}
	}
	z := vals([]float64{math.Copysign(0, -1), 0})
	require.Equal(t, up[4:5], orderKeys(nil, &z, false)[:1])
}
