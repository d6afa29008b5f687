// SPDX-License-Identifier: Apache-2.0

package genkitvecql_test

import (
	"context"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/genkitvecql"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

func newSession(t *testing.T) *vecql.Session {
	t.Helper()
	cluster := cqltest.New(t, cqltest.Config{})
	require.NoError(t, cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
		CREATE TABLE shop.docs (id text PRIMARY KEY, content text, metadata text, embedding vector<float, 64>, lang text, pages int, namespace text);
		CREATE TABLE shop.other (id text PRIMARY KEY)`))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts(), Keyspace: "shop"})
	require.NoError(t, err)
	t.Cleanup(session.Close)
	options := search.IndexOptions{Filter: []string{"lang", "pages", "namespace"}}
	require.NoError(t, search.CreateIndex(t.Context(), session, "docs(embedding)", vector.Cosine, options))
	return session
}

func newStore(t *testing.T) (*genkit.Genkit, *genkitvecql.DocStore, ai.Retriever) {
	t.Helper()
	session := newSession(t)
	g := genkit.Init(t.Context())
	config := genkitvecql.Config{Table: "docs", Embedder: genkit.DefineEmbedder(g, "test/words", nil, embed)}
	store, retriever, err := genkitvecql.DefineRetriever(t.Context(), g, session, "docs", config, nil)
	require.NoError(t, err)
	return g, store, retriever
}

func someDocs() []*ai.Document {
	return []*ai.Document{
		ai.DocumentFromText("a red apple", map[string]any{genkitvecql.IDKey: "a", "lang": "en", "pages": 1}),
		ai.DocumentFromText("a red apple and a pear", map[string]any{genkitvecql.IDKey: "b", "lang": "en", "pages": 2}),
		ai.DocumentFromText("une pomme", map[string]any{genkitvecql.IDKey: "c", "lang": "fr", "pages": 3}),
	}
}

func idsOf(docs []*ai.Document) (ids []any) {
	for _, doc := range docs {
		ids = append(ids, doc.Metadata[genkitvecql.IDKey])
	}
	return ids
}

func TestRetrieve(t *testing.T) {
	g, store, retriever := newStore(t)
	ids, err := store.Index(t.Context(), someDocs())
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, ids)
	high := 0.9
	for name, c := range map[string]struct {
		options any
		ids     []any
	}{
		"default":   {nil, []any{"a", "b", "c"}},
		"k":         {genkitvecql.RetrieverOptions{K: 2}, []any{"a", "b"}},
		"threshold": {&genkitvecql.RetrieverOptions{Threshold: &high}, []any{"a"}},
		"filter":    {&genkitvecql.RetrieverOptions{Filter: "lang = ?", Args: []any{"fr"}}, []any{"c"}},
		"map":       {map[string]any{"k": 1, "filter": "pages > 1"}, []any{"b"}},
	} {
		response, err := genkit.Retrieve(t.Context(), g, ai.WithRetriever(retriever), ai.WithTextDocs("a red apple"), ai.WithConfig(c.options))
		require.NoError(t, err, name)
		require.Equal(t, c.ids, idsOf(response.Documents), name)
	}
	response, err := genkit.Retrieve(t.Context(), g, ai.WithRetrieverName("vecql/docs"), ai.WithTextDocs("a red apple"))
	require.NoError(t, err)
	first := response.Documents[0]
	require.Equal(t, "a red apple", first.Content[0].Text)
	require.Equal(t, 1.0, first.Metadata["pages"])
	require.InDelta(t, 1, first.Metadata[genkitvecql.ScoreKey], 1e-6)

	// A document that was found is stored again under its id.
	ids, err = store.Index(t.Context(), response.Documents[:1])
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, ids)
	require.NoError(t, store.Delete(t.Context(), "a"))
	response, err = genkitvecql.Retriever(g, "docs").Retrieve(t.Context(), &ai.RetrieverRequest{Query: ai.DocumentFromText("a red apple", nil)})
	require.NoError(t, err)
	require.Equal(t, []any{"b", "c"}, idsOf(response.Documents))
	require.Nil(t, genkitvecql.Retriever(g, "missing"))
}

func TestNamespace(t *testing.T) {
	_, store, retriever := newStore(t)
	_, err := store.IndexNamespace(t.Context(), "one", someDocs()[:1])
	require.NoError(t, err)
	_, err = store.Index(t.Context(), someDocs()[1:])
	require.NoError(t, err)
	response, err := retriever.Retrieve(t.Context(), &ai.RetrieverRequest{
		Query: ai.DocumentFromText("a red apple", nil), Options: genkitvecql.RetrieverOptions{Namespace: "one"},
	})
	require.NoError(t, err)
	require.Equal(t, []any{"a"}, idsOf(response.Documents))
}

// TestRefused requires errors for what is not supported.
func TestRefused(t *testing.T) {
	_, store, retriever := newStore(t)
	query := ai.DocumentFromText("apple", nil)
	type other struct {
		K int `json:"k"`
	}
	for options, is := range map[any]error{other{2}: genkitvecql.ErrOption, &genkitvecql.RetrieverOptions{K: -1}: search.ErrK} {
		_, err := retriever.Retrieve(t.Context(), &ai.RetrieverRequest{Query: query, Options: options})
		require.ErrorIs(t, err, is)
	}
	_, err := retriever.Retrieve(t.Context(), &ai.RetrieverRequest{Query: query, Options: map[string]any{"limit": 3}})
	require.ErrorContains(t, err, "limit") // Genkit compares the options with their schema
	_, err = retriever.Retrieve(t.Context(), &ai.RetrieverRequest{Query: ai.DocumentFromText("", nil)})
	require.ErrorIs(t, err, vector.ErrZero)
	media := &ai.Document{Content: []*ai.Part{ai.NewMediaPart("image/png", "data:")}}
	_, err = store.Index(t.Context(), []*ai.Document{media})
	require.ErrorIs(t, err, genkitvecql.ErrOption)
	_, err = store.Index(t.Context(), []*ai.Document{ai.DocumentFromText("x", map[string]any{genkitvecql.IDKey: 7})})
	require.ErrorIs(t, err, genkitvecql.ErrOption)

	session := newSession(t)
	g := genkit.Init(t.Context())
	define := func(table string, embedder ai.Embedder) (*genkitvecql.DocStore, error) {
		config := genkitvecql.Config{Table: table, Embedder: embedder}
		store, _, err := genkitvecql.DefineRetriever(t.Context(), g, session, table, config, nil)
		return store, err
	}
	_, err = define("docs", nil)
	require.ErrorIs(t, err, genkitvecql.ErrOption)
	short := genkit.DefineEmbedder(g, "test/short", nil, func(context.Context, *ai.EmbedRequest) (*ai.EmbedResponse, error) {
		return &ai.EmbedResponse{}, nil
	})
	_, err = define("other", short)
	require.ErrorIs(t, err, genkitvecql.ErrTable)
	store, err = define("docs", short)
	require.NoError(t, err)
	_, err = store.Index(t.Context(), someDocs())
	require.ErrorIs(t, err, genkitvecql.ErrEmbedder)
}
