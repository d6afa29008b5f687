// SPDX-License-Identifier: Apache-2.0

package arrowcolumn_test

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
)

func ExampleRecord() {
	batch := column.NewBatch(
		column.Strings("title", []string{"first", ""}).WithNulls([]bool{false, true}),
		column.Matrix("embedding", []float32{1, 2, 3, 4}, 2),
	)
	rec, err := arrowcolumn.Record(batch)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range rec.Columns() {
		fmt.Println(c.DataType(), c)
	}
	// Output:
	// utf8 ["first" (null)]
	// fixed_size_list<element: float32>[2] [[1 2] [3 4]]
}

func ExampleBatch() {
	builder := array.NewInt64Builder(memory.DefaultAllocator)
	builder.AppendValues([]int64{1, 2, 3}, []bool{true, false, true})
	ids := builder.NewArray()
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: ids.DataType(), Nullable: true}}, nil)
	batch, err := arrowcolumn.Batch(array.NewRecordBatch(schema, []arrow.Array{ids}, 3))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(batch)
	// Output:
	//    id
	// int64
	//     1
	//  NULL
	//     3
	// 3 rows
}

func ExampleReader() {
	batches := func(yield func(*column.Batch, error) bool) {
		_ = yield(column.NewBatch(column.Of("id", []int64{1, 2})), nil) && yield(column.NewBatch(column.Of("id", []int64{3})), nil)
	}
	schema, err := arrowcolumn.Schema(column.Schema{{Name: "id", Type: column.Type{Kind: column.Int64}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	records := arrowcolumn.Reader(schema, batches)
	defer records.Release()
	for records.Next() {
		fmt.Println(records.RecordBatch().Column(0))
	}
	fmt.Println(records.Err())
	// Output:
	// [1 2]
	// [3]
	// <nil>
}
