// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/docstore"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// TestDocumentsOnServer stores documents as the adapters of frameworks do, and finds them with filters.
func TestDocumentsOnServer(t *testing.T) {
	s := connect(t, config(t, plainNode))
	requireOffered(t, productOf(t, s), "TestDocumentsOnServer")
	table := keyspace(t, s, 1) + ".docs"
	require.NoError(t, s.Query("CREATE TABLE "+table+` (id text PRIMARY KEY, content text, metadata text, embedding vector<float, 4>,
		lang text, pages int, namespace text)`).Exec(t.Context()))
	options := search.IndexOptions{Filter: []string{"lang", "pages", "namespace"}, OptimizeFor: "recall"}
	require.NoError(t, search.CreateIndex(t.Context(), s, table+"(embedding)", vector.Cosine, options))
	require.NoError(t, search.WaitReady(t.Context(), s, table+"(embedding)", nil))
	store, err := docstore.Open(t.Context(), s, table)
	require.NoError(t, err)
	var docs []docstore.Doc
	var embeddings [][]float32
	for i := range 60 {
		doc := docstore.Doc{ID: fmt.Sprint(i), Content: "x", Metadata: map[string]any{"lang": []string{"en", "fr"}[i%2], "pages": float64(i)}}
		if i%3 == 0 {
			doc.Namespace = "three"
		}
		docs, embeddings = append(docs, doc), append(embeddings, []float32{1, float32(i) / 10, 0, 0})
	}
	_, err = store.Put(t.Context(), docs, embeddings)
	require.NoError(t, err)
	score := 0.9
	for name, c := range map[string]struct {
		search docstore.Search
		ids    []string
	}{
		"all":       {docstore.Search{K: 3}, []string{"0", "1", "2"}},
		"threshold": {docstore.Search{K: 20, Threshold: &score}, []string{"0", "1", "2", "3", "4"}},
		"map":       {docstore.Search{K: 2, Filter: map[string]any{"lang": "fr"}}, []string{"1", "3"}},
		"text":      {docstore.Search{K: 2, Filter: "lang = 'en' and pages > 10"}, []string{"12", "14"}},
		"namespace": {docstore.Search{K: 2, Namespace: "three", Filter: docstore.Filter{Where: "pages >= ?", Args: []any{7}}}, []string{"9", "12"}},
	} {
		found, err := store.Search(t.Context(), []float32{1, 0, 0, 0}, c.search)
		require.NoError(t, err, name)
		var ids []string
		for _, doc := range found {
			ids = append(ids, doc.ID)
		}
		require.Equal(t, c.ids, ids, name)
	}
}
