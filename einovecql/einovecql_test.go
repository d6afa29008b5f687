// SPDX-License-Identifier: Apache-2.0

package einovecql_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/components/indexer"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/einovecql"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

var config = einovecql.Config{Table: "docs", Embedding: words{}}

func newStore(t *testing.T) (*vecql.Session, *einovecql.Indexer, *einovecql.Retriever) {
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
	in, err := einovecql.NewIndexer(t.Context(), session, config)
	require.NoError(t, err)
	out, err := einovecql.NewRetriever(t.Context(), session, config)
	require.NoError(t, err)
	return session, in, out
}

func someDocs() []*schema.Document {
	return []*schema.Document{
		{ID: "a", Content: "a red apple", MetaData: map[string]any{"lang": "en", "pages": 1}},
		{ID: "b", Content: "a red apple and a pear", MetaData: map[string]any{"lang": "en", "pages": 2}},
		{ID: "c", Content: "une pomme", MetaData: map[string]any{"lang": "fr", "pages": 3}},
	}
}

func idsOf(docs []*schema.Document) (ids []string) {
	for _, doc := range docs {
		ids = append(ids, doc.ID)
	}
	return ids
}

func TestRetrieve(t *testing.T) {
	_, in, out := newStore(t)
	ids, err := in.Store(t.Context(), someDocs())
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, ids)
	for name, c := range map[string]struct {
		options []retriever.Option
		ids     []string
	}{
		"default":   {nil, []string{"a", "b", "c"}},
		"k":         {[]retriever.Option{retriever.WithTopK(2)}, []string{"a", "b"}},
		"threshold": {[]retriever.Option{retriever.WithScoreThreshold(0.9)}, []string{"a"}},
		"filter":    {[]retriever.Option{einovecql.WithFilter("lang = ? and pages > 1", "en")}, []string{"b"}},
		"embedder":  {[]retriever.Option{retriever.WithTopK(1), retriever.WithEmbedding(constant{"une pomme"})}, []string{"c"}},
	} {
		found, err := out.Retrieve(t.Context(), "a red apple", c.options...)
		require.NoError(t, err, name)
		require.Equal(t, c.ids, idsOf(found), name)
	}
	found, err := out.Retrieve(t.Context(), "a red apple", retriever.WithTopK(1))
	require.NoError(t, err)
	require.Equal(t, "a red apple", found[0].Content)
	require.InDelta(t, 1, found[0].Score(), 1e-6)
	require.Equal(t, "en", found[0].MetaData["lang"])

	// A document that was found is stored again without its score.
	found[0].Content = "a green apple"
	_, err = in.Store(t.Context(), found)
	require.NoError(t, err)
	found, err = out.Retrieve(t.Context(), "a green apple", retriever.WithTopK(1))
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, idsOf(found))
}

// constant embeds a text of its own in place of each text.
type constant struct{ text string }

func (c constant) EmbedStrings(ctx context.Context, texts []string, _ ...embedding.Option) ([][]float64, error) {
	if c.text == "" {
		return nil, errors.New("no texts")
	}
	return words{}.EmbedStrings(ctx, []string{c.text})
}

// TestGraph retrieves in a chain.
func TestGraph(t *testing.T) {
	_, in, out := newStore(t)
	_, err := in.Store(t.Context(), someDocs())
	require.NoError(t, err)
	chain, err := compose.NewChain[string, []*schema.Document]().AppendRetriever(out).Compile(t.Context())
	require.NoError(t, err)
	found, err := chain.Invoke(t.Context(), "une pomme", compose.WithRetrieverOption(retriever.WithTopK(1)))
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, idsOf(found))
}

func TestDenseVector(t *testing.T) {
	_, in, out := newStore(t)
	docs := someDocs()
	vectors, err := words{}.EmbedStrings(t.Context(), []string{"une pomme"})
	require.NoError(t, err)
	docs[0].WithDenseVector(vectors[0])
	_, err = in.Store(t.Context(), docs[:2])
	require.NoError(t, err)
	found, err := out.Retrieve(t.Context(), "une pomme", retriever.WithTopK(1))
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, idsOf(found))
	require.Nil(t, found[0].DenseVector())
}

func TestSubIndex(t *testing.T) {
	_, in, out := newStore(t)
	docs := someDocs()
	docs[0].WithSubIndexes([]string{"one"})
	_, err := in.Store(t.Context(), docs, indexer.WithSubIndexes([]string{"two"}))
	require.NoError(t, err)
	found, err := out.Retrieve(t.Context(), "a red apple", retriever.WithSubIndex("two"))
	require.NoError(t, err)
	require.Equal(t, []string{"b", "c"}, idsOf(found))
	found, err = out.Retrieve(t.Context(), "a red apple", retriever.WithSubIndex("one"))
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, idsOf(found))
}

// TestRefused requires errors for what is not supported.
func TestRefused(t *testing.T) {
	session, in, out := newStore(t)
	for _, option := range []retriever.Option{
		retriever.WithIndex("other"), retriever.WithDSLInfo(map[string]any{}), retriever.WithEmbedding(nil),
	} {
		_, err := out.Retrieve(t.Context(), "apple", option)
		require.ErrorIs(t, err, einovecql.ErrOption)
	}
	_, err := out.Retrieve(t.Context(), "apple", retriever.WithTopK(0))
	require.ErrorIs(t, err, search.ErrK)
	_, err = out.Retrieve(t.Context(), "")
	require.ErrorIs(t, err, vector.ErrZero)
	_, err = out.Retrieve(t.Context(), "apple", retriever.WithEmbedding(constant{}))
	require.EqualError(t, err, "einovecql: retrieve: embed: no texts")

	sparse := someDocs()
	sparse[0].WithSparseVector(map[int]float64{1: 1})
	_, err = in.Store(t.Context(), sparse)
	require.ErrorIs(t, err, einovecql.ErrOption)
	_, err = in.Store(t.Context(), someDocs(), indexer.WithSubIndexes([]string{"one", "two"}))
	require.ErrorIs(t, err, einovecql.ErrOption)
	_, err = in.Store(t.Context(), someDocs(), indexer.WithEmbedding(constant{"x"}))
	require.ErrorIs(t, err, einovecql.ErrEmbedder)
	_, err = einovecql.NewRetriever(t.Context(), session, einovecql.Config{Table: "other"})
	require.ErrorIs(t, err, einovecql.ErrTable)
}
