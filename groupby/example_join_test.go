// SPDX-License-Identifier: Apache-2.0

package groupby_test

import (
	"context"
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

func ExampleStringAgg() {
	batch := column.NewBatch(
		column.Strings("label", []string{"cat", "dog", "cat", "cat"}), column.Strings("name", []string{"Tom", "Rex", "Kit", "Tom"}),
	)
	result, err := groupby.Config{
		Keys:       groupby.By("label"),
		Aggregates: []groupby.Aggregate{groupby.StringAgg("name", ", ").As("all"), groupby.StringAggDistinct("name", ", ").As("once")},
	}.Aggregate(context.Background(), batch)
	if err != nil {
		panic(err)
	}
	fmt.Print(result)
	// Output:
	// label   all            once
	// string  string         string
	// cat     Tom, Kit, Tom  Tom, Kit
	// dog     Rex            Rex
	// 2 rows
}
