// SPDX-License-Identifier: Apache-2.0

package column_test

import (
	"fmt"
	"time"

	"github.com/vecql/vecql/column"
)

func ExampleNewBatch() {
	prices, err := column.Of("price", []int64{1999, 250, 0}).WithType(column.Type{Kind: column.Decimal64, Precision: 10, Scale: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := column.NewBatch(
		column.Of("id", []int64{1, 2, 3}),
		column.Strings("name", []string{"lamp", "chair", "desk"}),
		column.Matrix("embedding", []float32{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, 2),
		prices.WithNulls([]bool{false, false, true}),
	)
	fmt.Print(batch)
	// Output:
	//    id  name    embedding           price
	// int64  string  vector<float32, 2>  decimal64(10, 2)
	//     1  lamp    [0.1, 0.2]          19.99
	//     2  chair   [0.3, 0.4]          2.50
	//     3  desk    [0.5, 0.6]          NULL
	// 3 rows
}

func ExampleSlice() {
	batch := column.NewBatch(column.Of("id", []int64{1, 2, 3}), column.Strings("name", []string{"lamp", "chair", "desk"}))
	ids, err := column.Slice[int64](batch.Column("id"))
	fmt.Println(ids, err)
	_, err = column.Slice[int64](batch.Column("name"))
	fmt.Println(err)
	_, err = column.Slice[int64](batch.Column("Id"))
	fmt.Println(err)
	// Output:
	// [1 2 3] <nil>
	// column: name is string, not int64
	// column: no such column: "Id"; the columns are: id, name
}

func ExampleMatrixOf() {
	batch := column.NewBatch(column.Matrix("embedding", []float32{3, 4, 5, 12}, 2))
	m, err := column.MatrixOf[float32](batch.Column("embedding"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range m.Rows {
		x := m.Row(i)
		fmt.Println(x[0]*x[0] + x[1]*x[1])
	}
	// Output:
	// 25
	// 169
}

func ExampleColumn_Text() {
	batch := column.NewBatch(column.Strings("name", []string{"lamp", "", "desk"}).WithNulls([]bool{false, true, false}))
	names, err := batch.Column("name").Text()
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range names.Len() {
		fmt.Printf("%q %v\n", names.String(i), names.Bytes(i) == nil)
	}
	// Output:
	// "lamp" false
	// "" true
	// "desk" false
}

func ExampleColumn_Value() {
	at, err := column.Of("at", []int64{1767225600000}).WithType(column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(at.Value(0).(time.Time))
	tags := column.Lists("tags", []int32{0, 2}, column.Strings("", []string{"new", "red"}))
	fmt.Printf("%q\n", tags.Value(0))
	// Output:
	// 2026-01-01 00:00:00 +0000 UTC
	// ["new" "red"]
}

func ExampleDiff() {
	got := column.NewBatch(column.Of("id", []int64{1, 2, 3}))
	want := column.NewBatch(column.Of("id", []int64{1, 2, 4}))
	fmt.Println(column.Diff(got, want))
	// Output: id, row 2: 3, want 4
}
