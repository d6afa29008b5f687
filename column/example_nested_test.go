// SPDX-License-Identifier: Apache-2.0

package column_test

import (
	"fmt"

	"github.com/vecql/vecql/column"
)

// Texts that repeat are stored once: a column has a code for each row, and a dictionary.
func ExampleDictionary() {
	names := column.NewDictionary([]byte("desklamp"), []int32{0, 4, 8}) // entry 0 is "desk", entry 1 "lamp"
	rooms := column.Codes("name", []uint32{1, 0, 1, 1}, names)
	codes, dict := rooms.Codes()
	count := make([]int, dict.Len()) // for each entry instead of each row
	for _, code := range codes {
		count[code]++
	}
	fmt.Println(string(dict.Bytes(0)), count[0], string(dict.Bytes(1)), count[1])
	// Output: desk 1 lamp 3
}

// The elements of all rows are one child column. Row i has those from offset i up to offset i+1.
func ExampleLists() {
	tags := column.Lists("tags", []int32{0, 2, 2, 3}, column.Strings("", []string{"oak", "new", "old"}))
	elements, err := tags.Children[0].Text()
	if err != nil {
		fmt.Println(err)
		return
	}
	for row := range tags.Len {
		fmt.Print(row, ":")
		for i, end := tags.Elements(row); i < end; i++ {
			fmt.Print(" ", elements.String(i))
		}
		fmt.Println()
	}
	// Output:
	// 0: oak new
	// 1:
	// 2: old
}

func ExampleStructs() {
	sizes := column.Structs("size", column.Of("width", []int32{80, 0}), column.Of("height", []int32{200, 0})).
		WithNulls([]bool{false, true})
	fmt.Print(column.NewBatch(column.Strings("name", []string{"door", "rug"}), sizes))
	// Output:
	// name    size
	// string  struct
	// door    {width: 80, height: 200}
	// rug     NULL
	// 2 rows
}

// A schema describes columns without their rows.
func ExampleSchema() {
	schema := column.Schema{
		{Name: "id", Type: column.TypeOf[int64]()},
		{Name: "embedding", Type: column.VectorOf(column.Float32, 384), Nullable: true},
	}
	fmt.Println(schema)
	fmt.Println(schema.Index("embedding"), schema.Empty().Rows)
	// Output:
	// id int64, embedding vector<float32, 384>?
	// 1 0
}

// Take selects and orders rows, for example those that a sort of row numbers has put first.
func ExampleBatch_Take() {
	items := column.NewBatch(
		column.Strings("name", []string{"desk", "lamp", "rug"}), column.Of("price", []int32{120, 40, 80}))
	cheapest, err := items.Take([]int32{1, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(cheapest)
	// Output:
	// name    price
	// string  int32
	// lamp       40
	// rug        80
	// 2 rows
}
