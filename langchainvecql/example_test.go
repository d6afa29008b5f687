// SPDX-License-Identifier: Apache-2.0

package langchainvecql_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/langchainvecql"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

func Example() {
	cluster, err := cqltest.Start(cqltest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	ctx := context.Background()
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	for _, statement := range []string{
		"CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}",
		"CREATE TABLE shop.docs (id text PRIMARY KEY, content text, metadata text, embedding vector<float, 64>, lang text)",
	} {
		if err := session.Query(statement).Exec(ctx); err != nil {
			log.Fatal(err)
		}
	}
	options := search.IndexOptions{Filter: []string{"lang"}}
	if err := search.CreateIndex(ctx, session, "shop.docs(embedding)", vector.Cosine, options); err != nil {
		log.Fatal(err)
	}
	if err := search.WaitReady(ctx, session, "shop.docs(embedding)", nil); err != nil {
		log.Fatal(err)
	}

	store, err := langchainvecql.New(ctx, session, "shop.docs", words{})
	if err != nil {
		log.Fatal(err)
	}
	_, err = store.AddDocuments(ctx, []schema.Document{
		{PageContent: "blue paint for walls", Metadata: map[string]any{"lang": "en"}},
		{PageContent: "blue shoes", Metadata: map[string]any{"lang": "en"}},
		{PageContent: "blue paint", Metadata: map[string]any{"lang": "fr"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	docs, err := store.SimilaritySearch(ctx, "paint walls blue", 5,
		vectorstores.WithFilters(map[string]any{"lang": "en"}), vectorstores.WithScoreThreshold(0.3))
	if err != nil {
		log.Fatal(err)
	}
	for _, doc := range docs {
		fmt.Printf("%.2f %s\n", doc.Score, doc.PageContent)
	}
	// Output:
	// 0.87 blue paint for walls
	// 0.41 blue shoes
}
