// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
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
	var into column.Batch
	byBatch := func(it *Iter) int {
		require.True(b, it.NextBatch(&into), it.err)
		return into.Rows
	}
	run("rows=vector/by=batch", vecCols, vecCells, byBatch)
	run("rows=small/by=batch", smallCols, smallCells, byBatch)
}
