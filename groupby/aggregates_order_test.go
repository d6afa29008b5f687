// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

var anyTypes = append([]column.Type{
	column.VectorOf(column.Float32, 3), column.VectorOf(column.Float64, 11), column.VectorOf(column.UUID, 2), {Kind: column.Decimal},
}, scalarTypes...)

func TestFirstLastMerged(t *testing.T) {
	for _, typ := range anyTypes {
		for _, nulls := range []bool{false, true} {
			checkAggregate(t, First("v0"), []column.Type{typ}, false, nulls, 0)
			checkAggregate(t, Last("v0"), []column.Type{typ}, false, nulls, 0)
		}
	}
}

func TestAnyOfEqual(t *testing.T) {
	r := newRand(t)
	for _, typ := range anyTypes {
		acc, err := Any("v0").New([]column.Type{typ})
		require.NoError(t, err)
		c := randomColumn(r, typ, 64, false, true)
		groups := make([]int, c.Len)
		for i := range groups {
			groups[i] = i / 2
		}
		f := newFeed(acc)
		f.add(t, []column.Column{c}, groups, nil)
		f.add(t, []column.Column{c}, groups, nil)
		other, err := Any("v0").New([]column.Type{typ})
		require.NoError(t, err)
		g := newFeed(other)
		g.merge(t, f)
		require.GreaterOrEqual(t, f.acc.(Sizer).Size(), int64(len(f.ids)))
		used, err := Any("v0").New([]column.Type{typ})
		require.NoError(t, err)
		useOtherwise(t, r, newFeed(used), []column.Type{typ}, groups, true, true)
		again := resetFeed(used)
		again.add(t, []column.Column{c}, groups, nil)
		for _, got := range []map[int]any{f.results(t), g.results(t), again.results(t)} {
			for i := 0; i < c.Len; i += 2 {
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
	soak.NoRace(t)
	for i, payload := range anyTypes {
		by := numberTypes[i%len(numberTypes)]
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				checkAggregate(t, ArgMin("v0", "v1"), []column.Type{by, payload}, few, nulls, 0)
				checkAggregate(t, ArgMax("v0", "v1"), []column.Type{by, payload}, few, nulls, 0)
			}
		}
	}
	for _, by := range numberTypes {
		checkAggregate(t, ArgMin("v0", "v1"), []column.Type{by, typeInt64}, true, true, 0)
		checkAggregate(t, ArgMax("v0", "v1"), []column.Type{by, typeString}, true, true, 0)
	}
	_, err := ArgMin("v0", "v1").New([]column.Type{typeString, typeInt8})
	require.Error(t, err)
}

func TestArgMinWorstValue(t *testing.T) {
	acc, err := ArgMin("v0", "v1").New([]column.Type{typeFloat64, typeInt64})
	require.NoError(t, err)
	f := newFeed(acc)
	f.add(t, []column.Column{vals([]float64{math.NaN(), math.NaN()}), vals([]int64{7, 8})}, []int{0, 0}, nil)
	require.Equal(t, int64(7), f.results(t)[0])
}

func TestExtremeMerged(t *testing.T) {
	for _, typ := range scalarTypes {
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				checkAggregate(t, Min("v0"), []column.Type{typ}, few, nulls, 0)
				checkAggregate(t, Max("v0"), []column.Type{typ}, few, nulls, 0)
			}
		}
	}
	for _, typ := range []column.Type{column.VectorOf(column.Float32, 2), {Kind: column.Decimal}, {Kind: column.List}} {
		_, err := newExtremeOrdered(typ, false)
		require.Error(t, err)
	}
}

func TestFirstLastAllocs(t *testing.T) {
	r := newRand(t)
	for _, nulls := range []bool{false, true} {
		c := randomColumn(r, typeInt64, 3000, false, nulls)
		checkAllocs(t, First("v0"), c)
		checkAllocs(t, Last("v0"), c)
		checkAllocs(t, Any("v0"), c)
	}
	checkAllocs(t, Last("v0"), vals([]string{"some", "strings", "that are", "about as long"}))
}
