// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// Benchmarks of scanning rows.

// smallColumns are ten columns of a typical table, with a value for each.
var smallColumns = []struct {
	t cql.TypeInfo
	v any
}{
	{cql.NativeType(cql.TypeBigInt), int64(1 << 40)},
	{cql.NativeType(cql.TypeInt), 7},
	{cql.NativeType(cql.TypeVarchar), "ten bytes "},
	{cql.NativeType(cql.TypeBoolean), true},
	{cql.NativeType(cql.TypeDouble), 2.5},
	{cql.NativeType(cql.TypeTimestamp), time.UnixMilli(1700000000123)},
	{cql.NativeType(cql.TypeUUID), cql.UUID{1, 2, 3}},
	{cql.NativeType(cql.TypeFloat), float32(1.5)},
	{cql.NativeType(cql.TypeSmallInt), int16(-3)},
	{cql.NativeType(cql.TypeVarchar), "twenty bytes of text"},
}

type smallRow struct {
	C0 int64
	C1 int
	C2 string
	C3 bool
	C4 float64
	C5 time.Time
	C6 cql.UUID
	C7 float32
	C8 int16
	C9 string
}

// mixedColumns are twenty columns of most types, with a value for each.
var mixedColumns = []struct {
	t cql.TypeInfo
	v any
}{
	{cql.NativeType(cql.TypeUUID), cql.UUID{1, 2, 3}},
	{cql.NativeType(cql.TypeVarchar), "ten bytes "},
	{cql.NativeType(cql.TypeInt), 7},
	{cql.NativeType(cql.TypeBigInt), int64(1 << 40)},
	{cql.NativeType(cql.TypeSmallInt), int16(-3)},
	{cql.NativeType(cql.TypeTinyInt), int8(-3)},
	{cql.NativeType(cql.TypeBoolean), true},
	{cql.NativeType(cql.TypeFloat), float32(1.5)},
	{cql.NativeType(cql.TypeDouble), 2.5},
	{cql.NativeType(cql.TypeTimestamp), time.UnixMilli(1700000000123)},
	{cql.NativeType(cql.TypeDate), time.UnixMilli(1700000000123)},
	{cql.NativeType(cql.TypeInet), net.IPv4(10, 0, 0, 1).To4()},
	{cql.NativeType(cql.TypeBlob), []byte("sixteen bytes of")},
	{cql.NativeType(cql.TypeTimeUUID), cql.UUID{1, 2, 3}},
	{cql.NewListType(cql.NativeType(cql.TypeVarchar)), []string{"12345", "123456", "1234567"}},
	{cql.NewSetType(cql.NativeType(cql.TypeInt)), []int{1, 2, 3, 4}},
	{cql.NewMapType(cql.NativeType(cql.TypeVarchar), cql.NativeType(cql.TypeInt)), map[string]int{"one": 1, "two": 2}},
	{cql.NativeType(cql.TypeVarchar), "twenty bytes of text"},
	{cql.NativeType(cql.TypeUUID), cql.UUID{1, 2, 3}},
	{cql.NativeType(cql.TypeBigInt), int64(1 << 40)},
}

type mixedRow struct {
	C0, C13, C18 cql.UUID
	C1, C17      string
	C2           int
	C3, C19      int64
	C4           int16
	C5           int8
	C6           bool
	C7           float32
	C8           float64
	C9, C10      time.Time
	C11          net.IP
	C12          []byte
	C14          []string
	C15          []int
	C16          map[string]int
}

// pageOf returns the columns and the cells of n equal rows.
func pageOf(tb testing.TB, n int, types []cql.TypeInfo, values []any) (columns []cql.ColumnInfo, cells []byte) {
	var row []byte
	for i, t := range types {
		columns = append(columns, col(fmt.Sprintf("c%d", i), t))
		cell, err := Marshal(t, values[i])
		require.NoError(tb, err)
		row, err = wire.AppendBytes(row, cell)
		require.NoError(tb, err)
	}
	for range n {
		cells = append(cells, row...)
	}
	return columns, cells
}

// iterOver returns an Iter with that single page.
func iterOver(plan *resultPlan, n int, cells []byte) *Iter {
	page := conn.GetBuffer(0)
	rows := frame.RowsBody{Meta: frame.Metadata{Columns: plan.Columns, ColumnCount: len(plan.Columns)}, RowCount: n, Cells: cells}
	it := &Iter{ctx: context.Background()}
	it.answer = answer{resp: conn.Response{Body: page}, res: frame.Result{Kind: frame.ResultRows, Rows: rows}, plan: plan}
	it.start(nil, nil)
	return it
}

// BenchmarkScan decodes pages of 5,000 rows. One operation is one row.
func BenchmarkScan(b *testing.B) {
	const n = 5000
	var types []cql.TypeInfo
	var values []any
	for _, c := range smallColumns {
		types, values = append(types, c.t), append(values, c.v)
	}
	smallCols, smallCells := pageOf(b, n, types, values)
	vecCols, vecCells := pageOf(b, n, []cql.TypeInfo{cql.NativeType(cql.TypeUUID), cql.VectorType{SubType: cql.NativeType(cql.TypeFloat), Dimensions: 1536}}, []any{cql.UUID{1}, make([]float32, 1536)})
	run := func(name string, cols []cql.ColumnInfo, cells []byte, read func(it *Iter) int) {
		b.Run(name, func(b *testing.B) {
			plan := newResultPlan(nil, frame.KnownColumns{Columns: cols})
			b.ReportAllocs()
			b.SetBytes(int64(len(cells) / n))
			for done := 0; done < b.N; {
				it := iterOver(plan, n, cells)
				done += read(it)
				require.NoError(b, it.Close())
			}
		})
	}
	run("rows=small/by=Scan", smallCols, smallCells, func(it *Iter) (rows int) {
		var r smallRow
		for it.Scan(&r.C0, &r.C1, &r.C2, &r.C3, &r.C4, &r.C5, &r.C6, &r.C7, &r.C8, &r.C9) {
			rows++
		}
		return rows
	})
	run("rows=vector/by=Scan", vecCols, vecCells, func(it *Iter) (rows int) {
		var id cql.UUID
		for {
			var v []float32
			if !it.Scan(&id, &v) {
				return rows
			}
			rows++
		}
	})
	run("rows=vector/by=Into", vecCols, vecCells, func(it *Iter) (rows int) {
		var id cql.UUID
		into := Into(make([]float32, 1536))
		for it.Scan(&id, into) {
			rows++
		}
		return rows
	})
	run("rows=vector/by=array", vecCols, vecCells, func(it *Iter) (rows int) {
		var id cql.UUID
		var v [1536]float32
		for it.Scan(&id, &v) {
			rows++
		}
		return rows
	})
	types, values = nil, nil
	for _, c := range mixedColumns {
		types, values = append(types, c.t), append(values, c.v)
	}
	mixedCols, mixedCells := pageOf(b, n, types, values)
	run("rows=mixed/by=Scan", mixedCols, mixedCells, func(it *Iter) (rows int) {
		var r mixedRow
		for it.Scan(&r.C0, &r.C1, &r.C2, &r.C3, &r.C4, &r.C5, &r.C6, &r.C7, &r.C8, &r.C9, &r.C10, &r.C11, &r.C12, &r.C13, &r.C14, &r.C15,
			&r.C16, &r.C17, &r.C18, &r.C19) {
			rows++
		}
		return rows
	})
	run("rows=mixed/by=Rows", mixedCols, mixedCells, func(it *Iter) (rows int) {
		var r mixedRow
		var reader RowReader[mixedRow]
		for reader.Next(it, &r) {
			rows++
		}
		return rows
	})
	var into column.Batch
	byBatch := func(it *Iter) int {
		require.True(b, it.NextBatch(&into), it.err)
		return into.Rows
	}
	run("rows=vector/by=batch", vecCols, vecCells, byBatch)
	run("rows=small/by=batch", smallCols, smallCells, byBatch)
}
