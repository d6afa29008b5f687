// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

func TestCountDistinctMerged(t *testing.T) {
	for _, typ := range scalarTypes {
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				checkAggregate(t, CountDistinct("v0"), []column.Type{typ}, few, nulls, 0)
			}
		}
	}
	_, err := CountDistinct("v0").New([]column.Type{column.VectorOf(column.Float32, 2)})
	require.Error(t, err)
}

// FuzzCountDistinct counts distinct values of the groups that bytes select, all at once, joined and merged, and
// compares the counts with the reference.
func FuzzCountDistinct(f *testing.F) {
	types := []column.Type{typeInt8, typeInt32, typeInt64, typeFloat64, typeUUID, typeString}
	for i := range types {
		f.Add(uint8(i), []byte("aaaaabbbbbaaaaa\x00\xff\x00\xff\xff\x20\x21\x22\x20"))
		f.Add(uint8(i), bytes.Repeat([]byte{0x90, 0xb1, 0xb1, 0x37}, 700)) // tables grow
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		typ := types[int(which)%len(types)]
		values, groups := make([]any, len(data)), make([]int, len(data))
		byGroup := map[int][]referenceRow{}
		for i, b := range data {
			groups[i] = int(b>>5&3) - 1
			if b != 0xff {
				values[i] = distinctValue(typ, int(b&15)+i/64*int(b>>7))
			}
			if groups[i] >= 0 {
				byGroup[groups[i]] = append(byGroup[groups[i]], referenceRow{args: []any{values[i]}})
			}
		}
		col, err := referenceColumn(fieldOf(typ), values)
		require.NoError(t, err)
		agg := CountDistinct("v0")
		feed := func(i, j int) *testFeed {
			acc, err := agg.New([]column.Type{typ})
			require.NoError(t, err)
			f := newFeed(acc)
			f.add(t, []column.Column{col.Slice(i, j)}, groups[i:j], nil)
			return f
		}
		middle := len(data) / 3 / 8 * 8
		joined, merged := feed(0, middle), feed(0, middle)
		joined.join(feed(middle, len(data)))
		merged.merge(t, feed(middle, len(data)))
		for how, f := range map[string]*testFeed{"at once": feed(0, len(data)), "joined": joined, "merged": merged} {
			got := f.results(t)
			for g, rows := range byGroup {
				want, err := referenceDistinct(rows)
				require.NoError(t, err)
				require.Equal(t, want, got[g], "group %d, %s", g, how)
			}
		}
	})
}

// distinctValue returns value number n of a type. Some are NaN or -0.
func distinctValue(t column.Type, n int) any {
	switch t.Kind {
	case column.Int8:
		return int8(n)
	case column.Int32:
		return int32(n)
	case column.Int64:
		return int64(n) << 40
	case column.Float64:
		return [...]float64{float64(n), math.NaN(), math.Copysign(0, -1), -float64(n)}[n%4]
	case column.String:
		return strings.Repeat("text ", n%4) + fmt.Sprint(n/2)
	}
	b := make([]byte, 16)
	b[n&8], b[15] = byte(n), byte(n>>8)
	return referenceScalar(t.Kind, b)
}

func TestCountDistinctMalformed(t *testing.T) {
	for typ, s := range map[column.Type]string{typeInt32: "12345", typeUUID: "123", typeString: "\x05abcd"} {
		acc, err := CountDistinct("v0").New([]column.Type{typ})
		require.NoError(t, err)
		acc.Resize(2)
		require.ErrorIs(t, acc.Merge([]uint32{1}, []column.Column{vals([]string{s})}), errDistinctState)
	}
}

func TestCountDistinctAllocs(t *testing.T) {
	r := newRand(t)
	for _, typ := range []column.Type{typeInt64, typeFloat32, typeUUID, typeString} {
		for _, nulls := range []bool{false, true} {
			checkAllocs(t, CountDistinct("v0"), randomColumn(r, typ, 3000, false, nulls))
		}
	}
}
