// SPDX-License-Identifier: Apache-2.0

package groupby_test

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

// Two machines group their own rows. A third one merges the partials: a mean of means would be wrong, states merge
// exactly.
func ExampleGrouper_MergePartial() {
	ctx := context.Background()
	config := groupby.Config{
		Keys: groupby.By("label"), Aggregates: []groupby.Aggregate{groupby.Mean("price")}, Order: groupby.ByKeys,
	}
	partialOf := func(labels []string, prices []float64) io.Reader {
		g, err := config.New()
		if err != nil {
			panic(err)
		}
		if err := g.Add(ctx, column.NewBatch(column.Strings("label", labels), column.Of("price", prices))); err != nil {
			panic(err)
		}
		var partial bytes.Buffer // a file or a connection
		if err := g.WritePartial(&partial); err != nil {
			panic(err)
		}
		return &partial
	}
	g, err := config.New()
	if err != nil {
		panic(err)
	}
	for _, partial := range []io.Reader{
		partialOf([]string{"desk", "lamp"}, []float64{100, 30}),
		partialOf([]string{"lamp", "lamp"}, []float64{60, 60}),
	} {
		if err := g.MergePartial(partial); err != nil {
			panic(err)
		}
	}
	groups, err := g.Finish(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Print(groups)
	// Output:
	// label   mean(price)
	// string      float64
	// desk            100
	// lamp             50
	// 2 rows
}
