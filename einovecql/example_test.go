// SPDX-License-Identifier: Apache-2.0

package einovecql_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/schema"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/einovecql"
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

	config := einovecql.Config{Table: "shop.docs", Embedding: words{}}
	indexer, err := einovecql.NewIndexer(ctx, session, config)
	if err != nil {
		log.Fatal(err)
	}
	ids, err := indexer.Store(ctx, []*schema.Document{
		{ID: "1", Content: "blue paint for walls", MetaData: map[string]any{"lang": "en"}},
		{ID: "2", Content: "blue shoes", MetaData: map[string]any{"lang": "en"}},
		{ID: "3", Content: "blue paint", MetaData: map[string]any{"lang": "fr"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ids)
	finder, err := einovecql.NewRetriever(ctx, session, config)
	if err != nil {
		log.Fatal(err)
	}
	docs, err := finder.Retrieve(ctx, "paint walls blue", einovecql.WithFilter("lang = ?", "en"), retriever.WithScoreThreshold(0.3))
	if err != nil {
		log.Fatal(err)
	}
	for _, doc := range docs {
		fmt.Printf("%.2f %s %s\n", doc.Score(), doc.ID, doc.Content)
	}
	// Output:
	// [1 2 3]
	// 0.87 1 blue paint for walls
	// 0.41 2 blue shoes
}
