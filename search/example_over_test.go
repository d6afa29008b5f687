// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/search"
)

// Batches of parquetscan, of a scan of a table, or of the program itself are searched in the same way.
func ExampleOver() {
	batches := func(yield func(*column.Batch, error) bool) {
		yield(column.NewBatch(
			column.Strings("name", []string{"lamp", "chair", "stool", "candle"}),
			column.Of("price", []float64{30, 45, 12, 3}),
			column.Matrix("embedding", []float32{
				1, 0.1,
				0, 1,
				0.2, 0.9,
				0.9, 0.3,
			}, 2),
		), nil)
	}
	light := []float32{1, 0}
	hits, err := search.Over(batches, "embedding").Where("price < ?", 40).MinScore(0.6).Nearest(context.Background(), light, 3)
	if err != nil {
		log.Fatal(err)
	}
	names, err := hits.Column("name").Text()
	if err != nil {
		log.Fatal(err)
	}
	scores, err := column.Slice[float32](hits.Column("score"))
	if err != nil {
		log.Fatal(err)
	}
	for i := range hits.Rows {
		fmt.Printf("%s %.2f\n", names.String(i), scores[i])
	}
	// Output:
	// lamp 1.00
	// candle 0.97
	// stool 0.61
}

// The answers of two searches of one table. A row that both found is before a row that one of them found first.
func ExampleFuse() {
	type product struct {
		ID   int
		Name string
	}
	hits := func(products ...product) (list []search.Hit[product]) {
		for _, p := range products {
			list = append(list, search.Hit[product]{Row: p})
		}
		return list
	}
	byVector := hits(product{1, "lamp"}, product{2, "candle"}, product{3, "torch"})
	byText := hits(product{4, "lampshade"}, product{2, "candle"})
	for _, f := range search.Fuse(func(p product) int { return p.ID }, byVector, byText) {
		fmt.Printf("%s %.4f %v\n", f.Row.Name, f.Score, f.Ranks)
	}
	// Output:
	// candle 0.0323 [2 2]
	// lamp 0.0164 [1 0]
	// lampshade 0.0164 [0 1]
	// torch 0.0159 [3 0]
}
