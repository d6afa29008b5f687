// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// A product of the example. A search reads the columns that have a field.
type Product struct {
	ID        int32
	Name      string
	Price     float64
	Embedding []float32
}

// A whole program: a table, an index, rows, a search with a filter and scores, and the recall of the index.
func Example() {
	if err := findLamps(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// desk lamp    score 0.999 distance 0.003
	// floor lamp   score 0.981 distance 0.038
	// recall of 2 hits: 1.00
}

func findLamps(ctx context.Context) error {
	cluster, err := cqltest.Start(cqltest.Config{}) // a server in this process, in place of a real one
	if err != nil {
		return err
	}
	defer cluster.Close()
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		return err
	}
	defer session.Close()
	err = errors.Join(
		session.Query("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 3}").Exec(ctx),
		session.Query("CREATE TABLE shop.products (id int PRIMARY KEY, name text, price double, embedding vector<float, 3>)").Exec(ctx),
		search.CreateIndex(ctx, session, "shop.products(embedding)", vector.Cosine, search.IndexOptions{Filter: []string{"price"}}),
	)
	for _, p := range []Product{
		{0, "desk lamp", 19, []float32{0.9, 0.1, 0}},
		{1, "floor lamp", 49, []float32{0.8, 0.4, 0}},
		{2, "chandelier", 480, []float32{0.9, 0.2, 0}},
		{3, "armchair", 90, []float32{0, 0.2, 0.9}},
	} {
		insert := session.Query(vecql.InsertInto[Product]("shop.products"), p.ID, p.Name, p.Price, p.Embedding)
		err = errors.Join(err, insert.Exec(ctx))
	}
	if err = errors.Join(err, search.WaitReady(ctx, session, "shop.products(embedding)", nil)); err != nil {
		return err
	}
	products, err := search.Open[Product](ctx, session, "shop.products")
	if err != nil {
		return err
	}
	for hit, err := range products.Where("price < ?", 100).MinScore(0.8).Nearest(ctx, []float32{0.9, 0.17, 0}, 2) {
		if err != nil {
			return err
		}
		fmt.Printf("%-12s score %.3f distance %.3f\n", hit.Row.Name, hit.Score, hit.Distance)
	}
	report, err := products.Recall(ctx, search.RecallConfig{Sample: 4, K: []int{2}, Oversample: []float64{1}})
	if err != nil {
		return err
	}
	fmt.Printf("recall of 2 hits: %.2f\n", report.Rows[0].Recall)
	return nil
}
