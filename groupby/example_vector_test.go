// SPDX-License-Identifier: Apache-2.0

package groupby_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vecql/vecql/groupby"
)

// This file holds examples of aggregates of vectors.

// The mean vector of each label: the centroids of classes.
func ExampleVectorMean() {
	const dim = 3
	labels := []string{"cat", "dog", "cat", "dog", "cat"}
	embeddings := []float32{ // row after row
		1, 0, 0,
		0, 1, 0,
		0, 0, 1,
		0, 3, 0,
		2, 0, 2,
	}
	res, err := groupby.AggregateBatch(context.Background(), groupby.Config{
		Keys:       []groupby.Type{groupby.String},
		Values:     []groupby.Type{groupby.Vector(groupby.Float32, dim)},
		Aggregates: []groupby.Aggregate{groupby.VectorMean(0)},
	}, groupby.Batch{
		Keys:   []groupby.Column{groupby.Values(labels)},
		Values: []groupby.Column{groupby.Matrix(embeddings, dim)},
	})
	if err != nil {
		log.Fatal(err)
	}
	centroids, _ := groupby.SliceOf[float64](res.Aggregate(0)) // row after row
	for i, label := range res.Key(0).Strings() {
		fmt.Println(label, centroids[i*dim:(i+1)*dim])
	}
	// Output:
	// cat [1 0 1]
	// dog [0 2 0]
}
