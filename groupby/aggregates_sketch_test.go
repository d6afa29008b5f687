// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

func newHyperLogLog(t testing.TB, p int, typ column.Type) *testFeed {
	acc, err := ApproxCountDistinctPrecision("v0", p).New([]column.Type{typ})
	require.NoError(t, err)
	return newFeed(acc)
}

func stateOf(t testing.TB, acc Accumulator, id int) string {
	state, err := acc.State(id, id+1)
	require.NoError(t, err)
	return valueAt(state[0], 0).(string)
}

// TestHyperLogLogError checks several sketches for each of many cardinalities. Every estimate must be within 4 sigma,
// and the mean error near 0.
func TestHyperLogLogError(t *testing.T) {
	soak.NoRace(t)
	r := rand.New(rand.NewPCG(1, 2)) // not random: it is a test of statistics
	for _, p := range []int{10, 12, 14} {
		sigma := 1.04 / math.Sqrt(float64(uint64(1)<<p))
		for _, n := range []int{10, 100, 1000, 3000, 10000, 50000, 200000, 1000000} {
			const sketches = 3
			sum := 0.0
			for range sketches {
				f := newHyperLogLog(t, p, typeUint64)
				start, groups, x := r.Uint64(), make([]int, 1000), make([]uint64, 1000)
				for i := range n {
					x[i%1000] = start + uint64(i)
					if k := i%1000 + 1; k == 1000 || i == n-1 {
						f.add(t, []column.Column{vals(x[:k])}, groups[:k], nil)
					}
				}
				e := float64(f.results(t)[0].(int64))/float64(n) - 1
				// The estimate is rounded to an integer.
				require.LessOrEqual(t, math.Abs(e), 4*sigma+0.5/float64(n), "p = %d, %d values", p, n)
				sum += e
			}
			require.LessOrEqual(t, math.Abs(sum/sketches), 3*sigma+0.5/float64(n), "p = %d, %d values", p, n)
		}
	}
}

func TestHyperLogLogFewRegisters(t *testing.T) {
	soak.NoRace(t)
	r := rand.New(rand.NewPCG(1, 2)) // not random: it is a test of statistics
	const sketches = 3000
	for _, n := range []int{20, 100, 1000} {
		sum, squares, x := 0.0, 0.0, make([]uint64, n)
		f := newHyperLogLog(t, 4, typeUint64)
		for range sketches {
			for i := range x {
				x[i] = r.Uint64()
			}
			f.acc.Reset()
			f = newFeed(f.acc)
			f.add(t, []column.Column{vals(x)}, make([]int, n), nil)
			e := float64(f.results(t)[0].(int64))/float64(n) - 1
			sum, squares = sum+e, squares+e*e
		}
		require.InDelta(t, 0, sum/sketches, 0.03, "%d values", n)
		require.LessOrEqual(t, math.Sqrt(squares/sketches), 0.32, "%d values", n)
	}
}

func TestHyperLogLogTypes(t *testing.T) {
	r := newRand(t)
	for _, typ := range scalarTypes {
		for _, nulls := range []bool{false, true} {
			c := randomColumn(r, typ, 1000, true, nulls)
			groups, rows := make([]int, c.Len), make([]referenceRow, c.Len)
			for i := range rows {
				rows[i].args = []any{valueAt(c, i)}
			}
			want, err := referenceDistinct(rows)
			require.NoError(t, err)
			f := newHyperLogLog(t, 14, typ)
			f.add(t, []column.Column{c}, groups, nil)
			require.InDelta(t, want, f.results(t)[0], 1, typ.String())
		}
	}
}

func TestHyperLogLogMerged(t *testing.T) {
	r := newRand(t)
	for _, p := range []int{4, 5, 11, 14, 18} {
		for _, n := range []int{1, 50, 1000, 2500, 60000} {
			whole := newHyperLogLog(t, p, typeInt64)
			parts := []*testFeed{newHyperLogLog(t, p, typeInt64), newHyperLogLog(t, p, typeInt64), newHyperLogLog(t, p, typeInt64)}
			c := randomColumn(r, typeInt64, n, false, false)
			for at := 0; at < n; {
				end := min(n, at+1+r.IntN(n))
				groups := make([]int, end-at)
				whole.add(t, []column.Column{c.Slice(at, end)}, groups, nil)
				parts[r.IntN(3)].add(t, []column.Column{c.Slice(at, end)}, groups, nil)
				at = end
			}
			total := newHyperLogLog(t, p, typeInt64)
			for _, part := range parts {
				if len(part.ids) > 1 {
					total.merge(t, part)
				}
			}
			// A sketch depends neither on the order of its values nor on how they were merged.
			require.Equal(t, stateOf(t, whole.acc, 1), stateOf(t, total.acc, 1), "p = %d, %d values", p, n)
			require.Equal(t, whole.results(t), total.results(t))
			require.Positive(t, total.acc.(Sizer).Size())

			whole.acc.Reset()
			again := newFeed(whole.acc)
			again.add(t, []column.Column{c}, make([]int, n), nil)
			require.Equal(t, total.results(t), again.results(t))
		}
	}
}

// TestHyperLogLogTau compares with the terms of the series.
func TestHyperLogLogTau(t *testing.T) {
	for _, x := range []float64{0, 1e-9, 0.25, 0.5, 0.99, 1} {
		want := 1 - x
		for n := 1.0; n <= 60; n++ {
			rest := 1 - math.Pow(x, math.Exp2(-n))
			want -= rest * rest * math.Exp2(-n)
		}
		if x == 0 {
			want = 0 // by definition
		}
		require.InDelta(t, want/3, hllTau(x), 1e-12, "x = %v", x)
	}
	acc, err := ApproxCountDistinct("v0").New([]column.Type{typeInt64})
	require.NoError(t, err)
	require.EqualValues(t, 14, acc.(*hyperLogLog).p, "the documented precision")
}

// TestHyperLogLogFormat checks the hash and the encoding of version 1, because sketches are stored.
func TestHyperLogLogFormat(t *testing.T) {
	id := [16]byte{1, 2, 3, 15: 4}
	hashes := fmt.Sprintf("%x %x %x %x", sketchWord(1), sketchID(&id), sketchText(""), sketchText("vectorised"))
	require.Equal(t, "c1fbd752ed665fae a8331da3c063d3bb 3564b439cd1e1f16 d2a08ef0f2eb632e", hashes)
	f := newHyperLogLog(t, 14, typeInt64)
	f.add(t, []column.Column{vals([]int64{1, 2})}, []int{0, 0}, nil)
	require.Equal(t, "010e01c19ad3e003c0bca4a702", fmt.Sprintf("%x", stateOf(t, f.acc, 1)))
	require.Equal(t, "", stateOf(t, f.acc, 0))
}

// unsketched returns the number that has a hash in sketches: the inverse of sketchWord.
func unsketched(hash uint64) uint64 {
	unshift := func(h uint64, n int) uint64 { // of h ^ h>>n
		for x := h >> n; x != 0; x >>= n {
			h ^= x
		}
		return h
	}
	inverse := func(v uint64) uint64 { // of an odd number modulo 2^64, by Newton's method
		x := v
		for range 6 {
			x *= 2 - v*x
		}
		return x
	}
	h := unshift(hash, 31) * inverse(0x94d049bb133111eb)
	h = unshift(h, 27) * inverse(0xbf58476d1ce4e5b9)
	h = unshift(unshift(h, 30), 32) * inverse(sketchMul)
	return h ^ (sketchSeed + 8)
}

// TestHyperLogLogOfZeros has hashes whose bits behind the register are all zeros: no rank is greater than theirs.
func TestHyperLogLogOfZeros(t *testing.T) {
	for _, p := range []int{4, 5, 14, 18} {
		for _, dense := range []bool{false, true} {
			f := newHyperLogLog(t, p, typeUint64)
			values := []uint64{unsketched(0), unsketched(1 << 63)}
			if dense {
				first := make([]uint64, 1<<p)
				for i := range first {
					first[i] = uint64(i)
				}
				f.add(t, []column.Column{vals(first)}, make([]int, len(first)), nil)
			}
			require.EqualValues(t, sparseMaxRank, sparseEntry(0)&rankMask)
			for _, w := range values {
				require.Zero(t, sketchWord(w)<<1)
			}
			f.add(t, []column.Column{vals(values)}, make([]int, len(values)), nil)
			l := f.acc.(*hyperLogLog)
			require.Equal(t, dense || p == 4, l.dense[1], "p = %d", p)
			total := newHyperLogLog(t, p, typeUint64)
			total.merge(t, f) // an error for a greater rank
			require.Equal(t, stateOf(t, f.acc, 1), stateOf(t, total.acc, 1))
			if l.dense[1] {
				require.EqualValues(t, 65-p, l.registers(1)[0])
				require.EqualValues(t, 65-p, l.registers(1)[1<<(p-1)])
			}
		}
	}
}

func TestHyperLogLogMalformed(t *testing.T) {
	for _, p := range []int{3, 19} {
		_, err := New(nil, ApproxCountDistinctPrecision("v0", p))
		require.Error(t, err)
	}
	_, err := ApproxCountDistinct("v0").New([]column.Type{column.VectorOf(column.Float32, 2)})
	require.Error(t, err)

	f := newHyperLogLog(t, 4, typeInt64)
	f.acc.Resize(2)
	for _, s := range []string{
		"\x01", "\x02\x04\x01", "\x01\x05\x01", "\x01\x04\x03", "\x01\x04\x01\x00", "\x01\x04\x01\x80", "\x01\x04\x01\x29", "\x01\x04\x01\x01\x01",
		"\x01\x04\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x01\x04\x01\x81\x80\x80\x80\x08", "\x01\x04\x02", "\x01\x04\x0212345678901",
		"\x01\x04\x02\xff2345678901\x01",
	} {
		require.Error(t, f.acc.Merge([]uint32{1}, []column.Column{vals([]string{s})}), "%q", s)
	}
	require.NoError(t, f.acc.Merge([]uint32{1}, []column.Column{vals([]string{"\x01\x04\x01\x28\x20"})}))
}

// FuzzHyperLogLogMerge merges arbitrary bytes. The result is an error, or a sketch with an estimate and a state that
// can be merged.
func FuzzHyperLogLogMerge(f *testing.F) {
	for _, n := range []int64{1, 3, 40, 2000} {
		for _, p := range []int{4, 6} {
			feed := newHyperLogLog(f, p, typeInt64)
			for i := range n {
				feed.add(f, []column.Column{vals([]int64{i})}, []int{0}, nil)
			}
			f.Add(stateOf(f, feed.acc, 1), p)
		}
	}
	f.Add("\x01\x04\x01\x28\x20", 4)
	f.Fuzz(func(t *testing.T, s string, p int) {
		if p < 4 || p > 8 {
			return
		}
		feed := newHyperLogLog(t, p, typeInt64)
		feed.id(0)
		feed.acc.Resize(2)
		if feed.acc.Merge([]uint32{1}, []column.Column{vals([]string{s})}) != nil {
			return
		}
		other := newHyperLogLog(t, p, typeInt64)
		other.merge(t, feed)
		require.Equal(t, feed.results(t), other.results(t))
		require.GreaterOrEqual(t, feed.results(t)[0], int64(0))
	})
}

// TestHyperLogLogOfManyGroups compares the sketches of groups whose values alternate, sparse and dense, with sketches
// of one group each, also after the accumulator was used for other groups.
func TestHyperLogLogOfManyGroups(t *testing.T) {
	r := newRand(t)
	for _, p := range []int{4, 11, 14} {
		const groups, n = 40, 20_000
		many := newHyperLogLog(t, p, typeInt64)
		for round := range 2 {
			alone, numbers := make([]*testFeed, groups), make([][]int64, groups)
			x, ids := make([]int64, n), make([]int, n)
			for i := range x {
				g := int(float64(groups) * math.Pow(r.Float64(), 3))
				x[i], ids[i] = r.Int64N(5000)<<(7*round), g
				numbers[g] = append(numbers[g], x[i])
			}
			for at := 0; at < n; at += 1000 {
				many.add(t, []column.Column{vals(x[at : at+1000])}, ids[at:at+1000], nil)
			}
			results := many.results(t)
			for g := range alone {
				if len(numbers[g]) == 0 {
					continue
				}
				alone[g] = newHyperLogLog(t, p, typeInt64)
				alone[g].add(t, []column.Column{vals(numbers[g])}, make([]int, len(numbers[g])), nil)
				require.Equal(t, stateOf(t, alone[g].acc, 1), stateOf(t, many.acc, int(many.ids[g])), "p = %d, group %d", p, g)
				require.Equal(t, alone[g].results(t)[0], results[g])
			}
			many = resetFeed(many.acc)
		}
	}
}

// TestHyperLogLogRanks requires the rank of each first 1 among the last 39 bits, and the greatest rank without one.
func TestHyperLogLogRanks(t *testing.T) {
	const register, rest = 5, 64 - sparseBits
	for rank := 1; rank <= sparseMaxRank; rank++ {
		hash := uint64(register) << rest
		if rank <= rest {
			hash |= 1 << (rest - rank)
		}
		require.Equal(t, uint32(register<<rankBits|rank), sparseEntry(hash), "rank %d", rank)
	}
}

// TestHyperLogLogOfRegisterZero merges an entry of the first register. Its number, 0, also marks an empty slot.
func TestHyperLogLogOfRegisterZero(t *testing.T) {
	f := newHyperLogLog(t, 14, typeInt64)
	f.acc.Resize(2)
	const state = "\x01\x0e\x01\x05"
	require.NoError(t, f.acc.Merge([]uint32{1}, []column.Column{vals([]string{state})}))
	require.Equal(t, state, stateOf(t, f.acc, 1))
	got, err := f.acc.Result(1, 2)
	require.NoError(t, err)
	require.Equal(t, int64(1), got.Value(0))
}

// TestHyperLogLogForgetsGroups requires that groups without values, after a Reset, have an empty state and no values.
func TestHyperLogLogForgetsGroups(t *testing.T) {
	for _, n := range []int64{1, 100, 50_000} {
		f := newHyperLogLog(t, 12, typeInt64)
		x := make([]int64, n)
		for i := range x {
			x[i] = int64(i)
		}
		f.add(t, []column.Column{vals(x)}, make([]int, n), nil)
		f.acc.Reset()
		f.acc.Resize(2)
		require.Empty(t, stateOf(t, f.acc, 1))
		got, err := f.acc.Result(0, 2)
		require.NoError(t, err)
		require.Equal(t, []int64{0, 0}, view[int64](&got))
	}
}

// TestHyperLogLogSeries compares both series of the estimator with the sums of their definitions.
func TestHyperLogLogSeries(t *testing.T) {
	for _, x := range []float64{0.001, 0.1, 0.25, 0.5, 0.9, 0.99} {
		sigma, tau := x, 1-x
		square, root, double, half := x*x, math.Sqrt(x), 1.0, 0.5
		for range 60 {
			sigma += square * double
			tau -= (1 - root) * (1 - root) * half
			square, root, double, half = square*square, math.Sqrt(root), 2*double, half/2
		}
		require.InEpsilon(t, sigma, hllSigma(x), 1e-12)
		require.InEpsilon(t, tau/3, hllTau(x), 1e-12)
	}
	require.Zero(t, hllSigma(0))
	require.Zero(t, hllTau(0))
	require.Zero(t, hllTau(1))
}
