// SPDX-License-Identifier: Apache-2.0

package groupby_test

import (
	"context"
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

func ExampleArrayAgg() {
	batch := column.NewBatch(
		column.Strings("label", []string{"cat", "dog", "cat", "cat"}), column.Of("age", []int64{3, 5, 4, 3}),
	)
	result, err := groupby.Config{
		Keys: groupby.By("label"),
		Aggregates: []groupby.Aggregate{
			groupby.ArrayAgg("age").As("ages"), groupby.Mode("age").As("often"), groupby.QuantileDisc("age", 0.9).As("old"),
		},
	}.Aggregate(context.Background(), batch)
	if err != nil {
		panic(err)
	}
	fmt.Print(result)
	// Output:
	// label   ages       often    old
	// string  list       int64  int64
	// cat     [3, 4, 3]      3      4
	// dog     [5]            5      5
	// 2 rows
}
