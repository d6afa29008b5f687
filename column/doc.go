// SPDX-License-Identifier: Apache-2.0

// Package column implements columns and batches: rows in memory, column by column, in Arrow's layout. The packages of
// this module exchange rows in this form: the driver reads and writes batches, parquetscan converts them from and to
// files, and groupby aggregates them.
//
// A program reads a batch by name:
//
//	ids, err := column.Slice[int64](batch.Column("id"))              // []int64
//	m, err := column.MatrixOf[float32](batch.Column("embedding"))    // m.Row(i) is a []float32
//	names, err := batch.Column("name").Text()                        // names.String(i)
//	if batch.Column("name").Null(i) { ... }
//	price := batch.Column("price").Value(i)                          // any Go value, nil for NULL
//
// and makes one from slices:
//
//	batch := column.NewBatch(
//		column.Of("id", ids),
//		column.Matrix("embedding", vectors, 384),
//		column.Strings("name", names).WithNulls(missing),
//	)
//
// A view (Slice, MatrixOf, Text) is the column's own memory. The error for a wrong name or type names the existing
// columns or the actual type. fmt.Print(batch) prints a table, and [Diff] compares batches in tests.
//
// The layout is Arrow's (Columnar Format, "Physical memory layout") except for booleans, which take one byte each. The
// package imports only the standard library, package cql and internal packages; package arrowcolumn converts to and
// from Arrow's record batches.
package column
