// SPDX-License-Identifier: Apache-2.0

package groupby_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

func ExampleCovarPop() {
	sizes := column.NewBatch(column.Of("height", []float64{1, 2, 3}), column.Of("weight", []float64{2, 4, 6}))
	covariances := []groupby.Aggregate{groupby.CovarPop("height", "weight"), groupby.CovarSamp("height", "weight")}
	g := groupby.Config{Aggregates: covariances}
	result, err := g.Aggregate(context.Background(), sizes)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(result)
	// Output:
	// covar_pop(height, weight)  covar_samp(height, weight)
	//                   float64                     float64
	//        1.3333333333333333                           2
	// 1 row
}
