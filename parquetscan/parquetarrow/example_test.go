// SPDX-License-Identifier: Apache-2.0

package parquetarrow_test

import (
	"fmt"
	"log"

	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/parquetscan/parquetarrow"
)

// A batch as a record batch.
func ExampleRecord() {
	b := &parquetscan.Batch{Rows: 2, Columns: []parquetscan.Column{
		parquetscan.NewStrings("title", []string{"first", ""}).WithValidity([]byte{0b01}),
		parquetscan.NewMatrix("embedding", []float32{1, 2, 3, 4}, 2),
	}}
	rec, err := parquetarrow.Record(b, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range rec.Columns() {
		fmt.Println(c.DataType(), c)
	}
	// Output:
	// utf8 ["first" (null)]
	// fixed_size_list<element: float32>[2] [[1 2] [3 4]]
}
