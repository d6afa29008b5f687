// SPDX-License-Identifier: Apache-2.0

package genkitvecql_test

import (
	"context"
	"fmt"
	"log"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/genkitvecql"
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

	g := genkit.Init(ctx)
	config := genkitvecql.Config{Table: "shop.docs", Embedder: genkit.DefineEmbedder(g, "test/words", nil, embed)}
	store, retriever, err := genkitvecql.DefineRetriever(ctx, g, session, "docs", config, nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = store.Index(ctx, []*ai.Document{
		ai.DocumentFromText("blue paint for walls", map[string]any{"lang": "en"}),
		ai.DocumentFromText("blue shoes", map[string]any{"lang": "en"}),
		ai.DocumentFromText("blue paint", map[string]any{"lang": "fr"}),
	})
	if err != nil {
		log.Fatal(err)
	}
	response, err := genkit.Retrieve(ctx, g, ai.WithRetriever(retriever), ai.WithTextDocs("paint walls blue"),
		ai.WithConfig(&genkitvecql.RetrieverOptions{K: 5, Filter: "lang = ?", Args: []any{"en"}}))
	if err != nil {
		log.Fatal(err)
	}
	for _, doc := range response.Documents {
		fmt.Printf("%.2f %s\n", doc.Metadata[genkitvecql.ScoreKey], doc.Content[0].Text)
	}
	// Output:
	// 0.87 blue paint for walls
	// 0.41 blue shoes
}
