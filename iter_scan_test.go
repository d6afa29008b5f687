// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/frame"
)

// Scan into destinations of many types for one column, and Borrow.

func TestIterManyDestinationTypes(t *testing.T) {
	cols, cells := pageOf(t, 40, []cql.TypeInfo{cql.NativeType(cql.TypeBigInt)}, []any{int64(7)})
	plan := newResultPlan(nil, frame.KnownColumns{Columns: cols})
	it := iterOver(plan, 40, cells)
	for range 4 {
		for _, dest := range []any{new(int), new(int8), new(int16), new(int32), new(int64), new(uint), new(uint8), new(*int), new(any)} {
			require.True(t, it.Scan(dest), "%T %v", dest, it.err)
			v := reflect.ValueOf(dest).Elem()
			for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
				v = v.Elem()
			}
			require.Equal(t, "7", fmt.Sprint(v))
		}
	}
	require.NoError(t, it.Close())
	n := 0
	for p := plan.decoders[0].Load(); p != nil; p = p.next {
		n++
	}
	require.Equal(t, maxDecoders, n)
}

func TestBorrow(t *testing.T) {
	cols, cells := pageOf(t, 3, []cql.TypeInfo{cql.NativeType(cql.TypeVarchar), cql.NativeType(cql.TypeInt)}, []any{"abc", 7})
	it := iterOver(newResultPlan(nil, frame.KnownColumns{Columns: cols}), 3, cells)
	var text, number []byte
	var a, b cql.Destination = Borrow(&text), Borrow(&number)
	for range 3 {
		require.True(t, it.Scan(a, b))
		require.Equal(t, "abc", string(text))
		require.Equal(t, []byte{0, 0, 0, 7}, number)
	}
	require.Equal(t, &cells[len(cells)-4], &number[0], "no copy")
	require.False(t, it.Scan(a, b))
	require.NoError(t, it.Close())
	require.ErrorIs(t, new(Query).Scan(t.Context(), new(int), a), cql.ErrConversion, "the page is released before Scan returns")
	_, err := new(Query).ScanCAS(t.Context(), a)
	require.ErrorIs(t, err, cql.ErrConversion)
}

// TestEmptyCells reads cells of 0 bytes, as gocql writes for a zero time.Time, by Scan, Rows and columns.
func TestEmptyCells(t *testing.T) {
	type row struct {
		C0 time.Time
		C1 *int
		C2 cql.Null[cql.UUID]
		C3 string
		C4 int
	}
	var columns []cql.ColumnInfo
	for i, typ := range []cql.Type{cql.TypeTimestamp, cql.TypeInt, cql.TypeUUID, cql.TypeVarchar, cql.TypeInt} {
		columns = append(columns, col(fmt.Sprintf("c%d", i), cql.NativeType(typ)))
	}
	plan := newResultPlan(nil, frame.KnownColumns{Columns: columns})
	cells := append(make([]byte, 16), 0, 0, 0, 4, 0, 0, 0, 7)
	page := append(slices.Clone(cells), cells...)
	want := row{C4: 7}

	it := iterOver(plan, 2, page)
	got := row{time.Now(), new(int), cql.NullOf(cql.UUID{1}), "old", 1}
	require.True(t, it.Scan(&got.C0, &got.C1, &got.C2, &got.C3, &got.C4), "%v", it.err)
	require.Equal(t, want, got)
	var raw []byte
	var text any
	require.True(t, it.Scan(Borrow(&raw), &got.C1, &got.C2, &text, &got.C4), "%v", it.err)
	require.NotNil(t, raw)
	require.Equal(t, "", text)
	require.NoError(t, it.Close())

	it = iterOver(plan, 3, append(slices.Clone(page), cells...))
	for range 3 { // the first row makes the decoders, the others use them
		var at, id, number any = 1, 1, 1
		one := new(int)
		require.True(t, it.Scan(&at, &one, &id, &text, &number), "%v", it.err)
		require.Equal(t, []any{nil, (*int)(nil), nil, "", 7}, []any{at, one, id, text, number})
	}
	require.NoError(t, it.Close())

	it = iterOver(plan, 2, page)
	var mapping rowMapping
	require.NoError(t, mapping.set(plan, reflect.TypeFor[row](), 0))
	for range 2 {
		var got row
		require.True(t, it.nextRow() && mapping.scan(it, unsafe.Pointer(&got)), "%v", it.err)
		require.Equal(t, want, got)
	}
	require.NoError(t, it.Close())

	it = iterOver(plan, 2, page)
	var b column.Batch
	require.True(t, it.NextBatch(&b), "%v", it.err)
	require.Equal(t, []any{nil, nil, nil, "", int32(7)}, []any{
		b.Columns[0].Value(0), b.Columns[1].Value(0), b.Columns[2].Value(0), b.Columns[3].Value(0), b.Columns[4].Value(0),
	})
	require.NoError(t, it.Close())
}
