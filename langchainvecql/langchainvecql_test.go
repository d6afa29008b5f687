// SPDX-License-Identifier: Apache-2.0

package langchainvecql_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/langchainvecql"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

func newStore(t *testing.T) (*vecql.Session, *langchainvecql.Store) {
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
	store, err := langchainvecql.New(t.Context(), session, "docs", words{})
	require.NoError(t, err)
	return session, store
}

var docs = []schema.Document{
	{PageContent: "a red apple", Metadata: map[string]any{"lang": "en", "pages": 1}},
	{PageContent: "a red apple and a pear", Metadata: map[string]any{"lang": "en", "pages": 2}},
	{PageContent: "une pomme", Metadata: map[string]any{"lang": "fr", "pages": 3}},
}

func textsOf(docs []schema.Document) (texts []string) {
	for _, doc := range docs {
		texts = append(texts, doc.PageContent)
	}
	return texts
}

func TestSearch(t *testing.T) {
	_, store := newStore(t)
	ids, err := store.AddDocuments(t.Context(), docs)
	require.NoError(t, err)
	require.Len(t, ids, 3)
	again, err := store.AddDocuments(t.Context(), docs)
	require.NoError(t, err)
	require.Equal(t, ids, again)
	for name, c := range map[string]struct {
		k       int
		options []vectorstores.Option
		texts   []string
	}{
		"k":         {2, nil, []string{"a red apple", "a red apple and a pear"}},
		"threshold": {3, []vectorstores.Option{vectorstores.WithScoreThreshold(0.9)}, []string{"a red apple"}},
		"map":       {3, []vectorstores.Option{vectorstores.WithFilters(map[string]any{"lang": "fr"})}, []string{"une pomme"}},
		"text":      {3, []vectorstores.Option{vectorstores.WithFilters("lang = 'en' and pages > 1")}, []string{"a red apple and a pear"}},
		"filter": {
			3, []vectorstores.Option{vectorstores.WithFilters(langchainvecql.Filter{Where: "pages < ?", Args: []any{2}})}, []string{"a red apple"},
		},
		"embedder": {1, []vectorstores.Option{vectorstores.WithEmbedder(constant{"une pomme"})}, []string{"une pomme"}},
	} {
		found, err := store.SimilaritySearch(t.Context(), "a red apple", c.k, c.options...)
		require.NoError(t, err, name)
		require.Equal(t, c.texts, textsOf(found), name)
	}
	found, err := vectorstores.ToRetriever(store, 1).GetRelevantDocuments(t.Context(), "a red apple")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"lang": "en", "pages": 1.0}, found[0].Metadata)
	require.InDelta(t, 1, found[0].Score, 1e-6)

	require.NoError(t, store.Delete(t.Context(), ids[0]))
	found, err = store.SimilaritySearch(t.Context(), "a red apple", 1)
	require.NoError(t, err)
	require.Equal(t, []string{"a red apple and a pear"}, textsOf(found))
}

// constant embeds a text of its own in place of each query.
type constant struct{ text string }

func (c constant) EmbedQuery(ctx context.Context, _ string) ([]float32, error) {
	return words{}.EmbedQuery(ctx, c.text)
}

func (c constant) EmbedDocuments(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("no documents")
}

func TestNameSpace(t *testing.T) {
	_, store := newStore(t)
	_, err := store.AddDocuments(t.Context(), docs[:1], vectorstores.WithNameSpace("one"))
	require.NoError(t, err)
	_, err = store.AddDocuments(t.Context(), docs[:2], vectorstores.WithNameSpace("two"))
	require.NoError(t, err)
	found, err := store.SimilaritySearch(t.Context(), "a red apple", 5, vectorstores.WithNameSpace("one"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	found, err = store.SimilaritySearch(t.Context(), "a red apple", 5)
	require.NoError(t, err)
	require.Len(t, found, 3)
}

func TestDeduplicater(t *testing.T) {
	_, store := newStore(t)
	ids, err := store.AddDocuments(t.Context(), docs, vectorstores.WithDeduplicater(func(_ context.Context, doc schema.Document) bool {
		return doc.Metadata["lang"] == "en"
	}))
	require.NoError(t, err)
	require.Len(t, ids, 1)
	ids, err = store.AddDocuments(t.Context(), docs, vectorstores.WithDeduplicater(func(context.Context, schema.Document) bool { return true }))
	require.NoError(t, err)
	require.Empty(t, ids)
}

// TestRefused requires errors for options that a method does not have.
func TestRefused(t *testing.T) {
	session, store := newStore(t)
	for _, option := range []vectorstores.Option{
		vectorstores.WithScoreThreshold(0.5), vectorstores.WithFilters("pages > 1"), vectorstores.WithEmbedder(nil),
	} {
		_, err := store.AddDocuments(t.Context(), docs, option)
		require.ErrorIs(t, err, langchainvecql.ErrOption)
	}
	for _, option := range []vectorstores.Option{
		vectorstores.WithScoreThreshold(float32(math.NaN())), vectorstores.WithFilters(7), vectorstores.WithEmbedder(nil),
		vectorstores.WithDeduplicater(func(context.Context, schema.Document) bool { return true }),
	} {
		_, err := store.SimilaritySearch(t.Context(), "apple", 1, option)
		require.ErrorIs(t, err, langchainvecql.ErrOption)
	}
	_, err := store.SimilaritySearch(t.Context(), "apple", 0)
	require.ErrorIs(t, err, search.ErrK)
	_, err = store.SimilaritySearch(t.Context(), "", 1)
	require.ErrorIs(t, err, vector.ErrZero)
	_, err = store.AddDocuments(t.Context(), docs, vectorstores.WithEmbedder(constant{}))
	require.EqualError(t, err, "langchainvecql: add documents: embed: no documents")
	_, err = store.AddDocuments(t.Context(), docs, vectorstores.WithEmbedder(short{}))
	require.ErrorIs(t, err, langchainvecql.ErrEmbedder)
	_, err = langchainvecql.New(t.Context(), session, "other", words{})
	require.ErrorIs(t, err, langchainvecql.ErrTable)
}

// short returns too few vectors.
type short struct{ words }

func (short) EmbedDocuments(context.Context, []string) ([][]float32, error) { return nil, nil }
