// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

var anyTypes = append([]Type{Vector(Float32, 3), Vector(Float64, 11)}, scalarTypes...)

func TestFirstLastMerged(t *testing.T) {
	for _, typ := range anyTypes {
		for _, nulls := range []bool{false, true} {
			checkAggregate(t, First(0), []Type{typ}, false, nulls, 0)
			checkAggregate(t, Last(0), []Type{typ}, false, nulls, 0)
		}
	}
}

func TestAnyOfEqual(t *testing.T) {
	r := newRand(t)
	for _, typ := range anyTypes {
		acc, err := Any(0).New([]Type{typ})
		require.NoError(t, err)
		c := randomColumn(r, typ, 64, false, true)
		groups := make([]int, c.n)
		for i := range groups {
			groups[i] = i / 2
		}
		f := newFeed(acc)
		f.add(t, []Column{c}, groups, nil)
		f.add(t, []Column{c}, groups, nil)
		other, err := Any(0).New([]Type{typ})
		require.NoError(t, err)
		g := newFeed(other)
		g.merge(t, f)
		for _, got := range []map[int]any{f.results(t), g.results(t)} {
			for i := 0; i < c.n; i += 2 {
				want := valueAt(c, i)
				if want == nil {
					want = valueAt(c, i+1)
				}
				require.True(t, near(got[i/2], want, 0), "%v: got %v, want %v", typ, got[i/2], want)
			}
		}
	}
}

func TestArgExtremeMerged(t *testing.T) {
	for i, payload := range anyTypes {
		by := numberTypes[i%len(numberTypes)]
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				checkAggregate(t, ArgMin(0, 1), []Type{by, payload}, few, nulls, 0)
				checkAggregate(t, ArgMax(0, 1), []Type{by, payload}, few, nulls, 0)
			}
		}
	}
	for _, by := range numberTypes {
		checkAggregate(t, ArgMin(0, 1), []Type{by, Int64}, true, true, 0)
		checkAggregate(t, ArgMax(0, 1), []Type{by, String}, true, true, 0)
	}
	_, err := ArgMin(0, 1).New([]Type{String, Int8})
	require.Error(t, err)
}

func TestArgMinWorstValue(t *testing.T) {
	acc, err := ArgMin(0, 1).New([]Type{Float64, Int64})
	require.NoError(t, err)
	f := newFeed(acc)
	f.add(t, []Column{Values([]float64{math.NaN(), math.NaN()}), Values([]int64{7, 8})}, []int{0, 0}, nil)
	require.Equal(t, int64(7), f.results(t)[0])
}

// extremeReference is MIN or MAX, which have no reference here.
func extremeReference(greatest bool) func(rows []referenceRow) (any, error) {
	return func(rows []referenceRow) (any, error) {
		sorted := referenceSorted(rows, !greatest)
		if len(sorted) == 0 {
			return nil, nil
		}
		return sorted[0].args[0], nil
	}
}

func TestExtremeOrderedMerged(t *testing.T) {
	for _, typ := range []Type{Bool, ID, String} {
		for _, greatest := range []bool{false, true} {
			for _, nulls := range []bool{false, true} {
				for _, few := range []bool{false, true} {
					agg := Aggregate{Name: "extreme", Args: []int{0}, reference: extremeReference(greatest), New: func(args []Type) (Accumulator, error) {
						return newExtremeOrdered("extreme", args, greatest)
					}}
					checkAggregate(t, agg, []Type{typ}, few, nulls, 0)
				}
			}
		}
	}
	_, err := newExtremeOrdered("min", []Type{Vector(Float32, 2)}, false)
	require.Error(t, err)
}

func TestFirstLastAllocs(t *testing.T) {
	r := newRand(t)
	for _, nulls := range []bool{false, true} {
		c := randomColumn(r, Int64, 3000, false, nulls)
		checkAllocs(t, First(0), c)
		checkAllocs(t, Last(0), c)
		checkAllocs(t, Any(0), c)
	}
	checkAllocs(t, Last(0), Values([]string{"some", "strings", "that are", "about as long"}))
}
