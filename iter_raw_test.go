// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/frame"
)

// NextRaw beside Scan.

// rawColumns are columns of three types, for NextRaw.
func rawColumns() []cql.ColumnInfo {
	return []cql.ColumnInfo{
		col("a", cql.NativeType(cql.TypeInt)), col("b", cql.NativeType(cql.TypeVarchar)),
		col("c", cql.NewListType(cql.NativeType(cql.TypeDouble))),
	}
}

func TestNextRaw(t *testing.T) {
	plan := newResultPlan(nil, frame.KnownColumns{Columns: rawColumns()[:2]})
	page := []byte{
		0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0, 0, // 7 and a text without bytes
		0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1, 'x', // NULL and x
		0, 0, 0, 4, 0, 0, 0, 9, 0, 0, 0, 1, 'y',
	}
	it := iterOver(plan, 3, page)
	cells := make([][]byte, 2)
	require.True(t, it.NextRaw(cells))
	require.Equal(t, [][]byte{{0, 0, 0, 7}, {}}, cells)
	require.Same(t, &page[4], &cells[0][0], "a view of the page")
	require.Equal(t, 4, cap(cells[0]), "append to a cell must not overwrite the next one")
	require.True(t, it.NextRaw(cells))
	require.Equal(t, [][]byte{nil, []byte("x")}, cells)
	require.Nil(t, cells[0])
	var n int
	var text string
	require.True(t, it.Scan(&n, &text), "Scan reads the row after that of NextRaw")
	require.Equal(t, "9 y", fmt.Sprint(n, " ", text))
	require.False(t, it.NextRaw(cells))
	require.NoError(t, it.Close())
	require.False(t, it.NextRaw(cells), "closed")

	for _, length := range []int{0, 1, 3} {
		it = iterOver(plan, 3, page)
		require.False(t, it.NextRaw(make([][]byte, length)))
		require.False(t, it.NextRaw(cells), "the error ends the rows")
		require.ErrorIs(t, it.Close(), ErrColumnCount)
	}
	for _, cut := range []int{3, 7, 11} {
		it = iterOver(plan, 1, page[:cut])
		require.False(t, it.NextRaw(cells))
		var broken *cql.ProtocolError
		require.ErrorAs(t, it.Close(), &broken)
	}
}

// TestNextRawAllocatesNothing reads pages of small rows.
func TestNextRawAllocatesNothing(t *testing.T) {
	columns, page := pageOf(t, 600, []cql.TypeInfo{cql.NativeType(cql.TypeBigInt), cql.NativeType(cql.TypeVarchar)}, []any{int64(1), "text"})
	it := iterOver(newResultPlan(nil, frame.KnownColumns{Columns: columns}), 600, page)
	cells := make([][]byte, len(columns))
	require.Zero(t, testing.AllocsPerRun(500, func() {
		if !it.NextRaw(cells) {
			panic(it.err)
		}
	}))
	require.NoError(t, it.Close())
}

// FuzzNextRaw compares Unmarshal of the cells of NextRaw with Scan, for any bytes of a page.
func FuzzNextRaw(f *testing.F) {
	f.Add([]byte{0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF})
	f.Add([]byte{0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFE, 0, 0, 0, 4, 0, 0, 0, 0})
	f.Add(bytes.Repeat([]byte{0, 0, 0, 1}, 9))
	f.Fuzz(func(t *testing.T, page []byte) {
		columns := rawColumns()
		plan := newResultPlan(nil, frame.KnownColumns{Columns: columns})
		scanned, raw := iterOver(plan, 3, page), iterOver(plan, 3, page)
		cells := make([][]byte, len(columns))
		for {
			var want, got [3]any
			ok := scanned.Scan(&want[0], &want[1], &want[2])
			same := raw.NextRaw(cells)
			for i := 0; same && i < len(cells); i++ {
				same = Unmarshal(columns[i].TypeInfo, cells[i], &got[i]) == nil
			}
			if ok != same {
				t.Fatalf("Scan: %v (%v), NextRaw and Unmarshal: %v (%v)", ok, scanned.err, same, raw.err)
			}
			if !ok {
				break
			}
			if !sameBits(want, got) {
				t.Fatalf("Scan: %v, NextRaw and Unmarshal: %v", want, got)
			}
		}
		_, _ = scanned.Close(), raw.Close()
	})
}

// sameBits is reflect.DeepEqual, but NaNs are equal when their bits are.
func sameBits(a, b [3]any) bool {
	for i, x := range a {
		if xs, ok := x.([]float64); ok {
			ys, ok := b[i].([]float64)
			if !ok || len(xs) != len(ys) {
				return false
			}
			for j := range xs {
				if math.Float64bits(xs[j]) != math.Float64bits(ys[j]) {
					return false
				}
			}
		} else if !reflect.DeepEqual(x, b[i]) {
			return false
		}
	}
	return true
}
