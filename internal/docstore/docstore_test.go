// SPDX-License-Identifier: Apache-2.0

package docstore_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/docstore"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

const docTable = `CREATE TABLE shop.docs (id text PRIMARY KEY, content text, metadata text, embedding vector<float, 2>,
	lang text, pages int, namespace text)`

// open starts a cluster with a table of documents and an index.
func open(t *testing.T, metric vector.Metric, table string) (*vecql.Session, *docstore.Store) {
	t.Helper()
	cluster := cqltest.New(t, cqltest.Config{})
	require.NoError(t, cluster.Exec("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};"+table))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts(), Keyspace: "shop"})
	require.NoError(t, err)
	t.Cleanup(session.Close)
	options := search.IndexOptions{Filter: []string{"lang", "pages", "namespace"}}
	require.NoError(t, search.CreateIndex(t.Context(), session, "docs(embedding)", metric, options))
	store, err := docstore.Open(t.Context(), session, "docs")
	require.NoError(t, err)
	return session, store
}

func idsOf(docs []docstore.Doc) (ids []string) {
	for _, doc := range docs {
		ids = append(ids, doc.ID)
	}
	return ids
}

var docs = []docstore.Doc{
	{ID: "a", Content: "blue", Metadata: map[string]any{"lang": "en", "pages": 3, "tags": []any{"x"}}},
	{ID: "b", Content: "bleu", Metadata: map[string]any{"lang": "fr", "pages": 5}, Namespace: "two"},
	{ID: "c", Content: "rouge", Metadata: map[string]any{"lang": "fr", "pages": 7}},
	{ID: "d", Content: "nothing"},
}

var embeddings = [][]float32{{1, 0}, {1, 0.1}, {0, 1}, {-1, 0}}

func TestSearch(t *testing.T) {
	_, store := open(t, vector.Cosine, docTable)
	ids, err := store.Put(t.Context(), docs, embeddings)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c", "d"}, ids)
	query := []float32{1, 0}
	half := 0.5
	for name, c := range map[string]struct {
		search docstore.Search
		ids    []string
	}{
		"all":         {docstore.Search{K: 10}, []string{"a", "b", "c", "d"}},
		"k":           {docstore.Search{K: 1}, []string{"a"}},
		"threshold":   {docstore.Search{K: 10, Threshold: &half}, []string{"a", "b"}},
		"text":        {docstore.Search{K: 10, Filter: "lang = 'fr' and pages > 4"}, []string{"b", "c"}},
		"filter":      {docstore.Search{K: 10, Filter: docstore.Filter{Where: "pages >= ?", Args: []any{7}}}, []string{"c"}},
		"map":         {docstore.Search{K: 10, Filter: map[string]any{"lang": "fr", "pages": 5}}, []string{"b"}},
		"namespace":   {docstore.Search{K: 10, Namespace: "two"}, []string{"b"}},
		"no such":     {docstore.Search{K: 10, Namespace: "three"}, nil},
		"all of them": {docstore.Search{K: 10, Namespace: "two", Filter: "lang = 'fr'", Threshold: &half}, []string{"b"}},
	} {
		found, err := store.Search(t.Context(), query, c.search)
		require.NoError(t, err, name)
		require.Equal(t, c.ids, idsOf(found), name)
	}
	found, err := store.Search(t.Context(), query, docstore.Search{K: 4})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"lang": "en", "pages": 3.0, "tags": []any{"x"}}, found[0].Metadata)
	require.Equal(t, "blue", found[0].Content)
	require.InDelta(t, 1, found[0].Score, 1e-6)
	require.InDelta(t, -1, found[3].Score, 1e-6)
	require.Nil(t, found[3].Metadata)
	_, err = store.Put(t.Context(), found[:1], embeddings[:1]) // pages is a float64 now
	require.NoError(t, err)
	found[0].Metadata["pages"] = 3.5
	_, err = store.Put(t.Context(), found[:1], embeddings[:1])
	require.ErrorIs(t, err, cql.ErrConversion)

	require.NoError(t, store.Delete(t.Context(), "a", "missing"))
	found, err = store.Search(t.Context(), query, docstore.Search{K: 1})
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, idsOf(found))
}

// TestScores requires the scores and thresholds of each similarity.
func TestScores(t *testing.T) {
	for metric, want := range map[vector.Metric]float64{vector.Dot: 2, vector.L2: 1 / 2.0} {
		_, store := open(t, metric, docTable)
		_, err := store.Put(t.Context(), docs[:2], [][]float32{{1, 0}, {1, -3}})
		require.NoError(t, err)
		found, err := store.Search(t.Context(), []float32{2, 0}, docstore.Search{K: 1})
		require.NoError(t, err)
		require.InDelta(t, want, found[0].Score, 1e-6)
		for _, c := range []struct {
			threshold float64
			n         int
		}{{want - 0.01, 1}, {want + 0.01, 0}} {
			found, err := store.Search(t.Context(), []float32{2, 0}, docstore.Search{K: 1, Threshold: &c.threshold})
			require.NoError(t, err)
			require.Len(t, found, c.n)
		}
	}
}

// TestPut stores a document without an id once, and removes values that a newer document lacks.
func TestPut(t *testing.T) {
	session, store := open(t, vector.Cosine, docTable)
	doc := docstore.Doc{Content: "blue", Metadata: map[string]any{"lang": "en"}}
	first, err := store.Put(t.Context(), []docstore.Doc{doc}, embeddings[:1])
	require.NoError(t, err)
	again, err := store.Put(t.Context(), []docstore.Doc{doc}, embeddings[:1])
	require.NoError(t, err)
	require.Equal(t, first, again)
	other, err := store.Put(t.Context(), []docstore.Doc{{Content: "blue"}, {Content: "blue", Namespace: "x"}}, embeddings[:2])
	require.NoError(t, err)
	require.NotContains(t, other, first[0])
	require.NotEqual(t, other[0], other[1])

	_, err = store.Put(t.Context(), []docstore.Doc{{ID: first[0], Content: "green"}}, embeddings[:1])
	require.NoError(t, err)
	var lang *string
	require.NoError(t, session.Query("SELECT lang FROM docs WHERE id = ?", first[0]).Scan(t.Context(), &lang))
	require.Nil(t, lang)

	many, vectors := make([]docstore.Doc, 200), make([][]float32, 200)
	for i := range many {
		many[i], vectors[i] = docstore.Doc{ID: fmt.Sprint(i), Content: "x"}, []float32{1, float32(i)}
	}
	_, err = store.Put(t.Context(), many, vectors)
	require.NoError(t, err)
	n, err := vecql.OneRow[int](t.Context(), session.Query("SELECT count(*) FROM docs"))
	require.NoError(t, err)
	require.Equal(t, 203, n)
}

func TestRefused(t *testing.T) {
	session, store := open(t, vector.Cosine, docTable)
	put := func(doc docstore.Doc, embedding ...float32) error {
		_, err := store.Put(t.Context(), []docstore.Doc{doc}, [][]float32{embedding})
		return err
	}
	require.ErrorIs(t, put(docs[0], 0, 0), vector.ErrZero)
	require.ErrorIs(t, put(docs[0], float32(math.NaN()), 0), vector.ErrNonFinite)
	var dimension *vector.DimensionError
	require.ErrorAs(t, put(docs[0], 1), &dimension)
	require.ErrorIs(t, put(docstore.Doc{Metadata: map[string]any{"pages": "three"}}, 1, 0), cql.ErrConversion)
	require.ErrorContains(t, put(docstore.Doc{Metadata: map[string]any{"f": func() {}}}, 1, 0), "document 0: metadata: ")
	_, err := store.Put(t.Context(), docs, embeddings[:1])
	require.ErrorIs(t, err, docstore.ErrEmbedder)
	for _, c := range []struct {
		search docstore.Search
		is     error
	}{
		{docstore.Search{K: 0}, search.ErrK}, {docstore.Search{K: 1001}, search.ErrK}, {docstore.Search{K: 1, Filter: 7}, docstore.ErrOption},
	} {
		_, err := store.Search(t.Context(), []float32{1, 0}, c.search)
		require.ErrorIs(t, err, c.is)
	}
	var filter *search.FilterError
	_, err = store.Search(t.Context(), []float32{1, 0}, docstore.Search{K: 1, Filter: "content = 'blue'"})
	require.ErrorAs(t, err, &filter)

	for i, columns := range []string{
		"id text PRIMARY KEY, content text, embedding vector<float, 2>",
		"id text PRIMARY KEY, content text, metadata text, embedding vector<double, 2>",
		"id text PRIMARY KEY, content text, metadata blob, embedding vector<float, 2>",
		"id text, content text, metadata text, embedding vector<float, 2>, PRIMARY KEY (id, content)",
	} {
		table := fmt.Sprint("shop.t", i)
		require.NoError(t, session.Query("CREATE TABLE "+table+" ("+columns+")").Exec(t.Context()))
		_, err := docstore.Open(t.Context(), session, table)
		require.ErrorIs(t, err, docstore.ErrTable)
	}
	_, err = docstore.Open(t.Context(), session, "a b")
	require.ErrorIs(t, err, docstore.ErrTable)
	_, err = docstore.Open(t.Context(), session, "missing")
	require.ErrorIs(t, err, vecql.ErrNoTable)

	require.NoError(t, session.Query("CREATE TABLE shop.plain (id text PRIMARY KEY, content text, metadata text, embedding vector<float, 2>)").Exec(t.Context()))
	plain, err := docstore.Open(t.Context(), session, "plain")
	require.NoError(t, err)
	_, err = plain.Put(t.Context(), docs[1:2], embeddings[1:2])
	require.ErrorIs(t, err, docstore.ErrOption)
	_, err = plain.Search(t.Context(), []float32{1, 0}, docstore.Search{K: 1, Namespace: "two"})
	require.ErrorIs(t, err, docstore.ErrOption)
	_, err = plain.Search(t.Context(), []float32{1, 0}, docstore.Search{K: 1})
	require.ErrorIs(t, err, search.ErrNoIndex)
}
