// SPDX-License-Identifier: Apache-2.0

// Package langchainvecql is a vector store of LangChain for Go (github.com/tmc/langchaingo) on Apache Cassandra 5 and
// ScyllaDB.
//
//	store, err := langchainvecql.New(ctx, session, "shop.docs", embedder)
//	ids, err := store.AddDocuments(ctx, docs)
//	docs, err := store.SimilaritySearch(ctx, "blue paint", 5,
//		vectorstores.WithScoreThreshold(0.7), vectorstores.WithFilters(map[string]any{"lang": "en"}))
//	retriever := vectorstores.ToRetriever(store, 5)
//
// # Table
//
// The table has these columns and a vector index, which search.CreateIndex creates:
//
//	CREATE TABLE shop.docs (id text PRIMARY KEY, content text, metadata text, embedding vector<float, 384>)
//
// metadata is the metadata of a document as JSON, so that numbers return as float64. A further column, such as lang
// text, has the value of the metadata of its name; name the column in search.IndexOptions.Filter, and filters may use
// it. A column namespace text has the name space.
//
// # Options
//
//	WithFilters          map[string]any (columns equal to values), a text of package expr, or a Filter
//	WithScoreThreshold   the least score; 0 means none
//	WithNameSpace        needs a column namespace; a search without it finds documents of all name spaces
//	WithEmbedder         replaces the embedder of New
//	WithDeduplicater     of AddDocuments: documents for which it returns true are left out
//
// Options that a method does not have are ErrOption. The score of a document is the cosine if the index is of cosine,
// as in other stores, the dot product of an index of dot products, and 1/(1+d²) of an index of euclidean distances. A
// search returns at most search.MaxHits documents. The index of ScyllaDB has a document about one second after
// AddDocuments.
package langchainvecql

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/docstore"
)

var (
	// ErrTable means that the table does not have the columns of a store.
	ErrTable = docstore.ErrTable
	// ErrOption means that a method does not have an option, or that its value is invalid.
	ErrOption = docstore.ErrOption
	// ErrEmbedder means that the embedder returned another number of vectors than it was given texts.
	ErrEmbedder = docstore.ErrEmbedder
)

// A Filter is a value for vectorstores.WithFilters: a condition of package expr with a ? for each of Args.
type Filter struct {
	Where string
	Args  []any
}

// A Store is a vector store. Its methods may be called by any number of goroutines.
type Store struct {
	docs     *docstore.Store
	embedder embeddings.Embedder
}

var _ vectorstores.VectorStore = (*Store)(nil)

// New opens a table, "shop.docs" or "docs". embedder may be nil if each call has WithEmbedder.
func New(ctx context.Context, session *vecql.Session, table string, embedder embeddings.Embedder) (*Store, error) {
	docs, err := docstore.Open(ctx, session, table)
	if err != nil {
		return nil, fmt.Errorf("langchainvecql: open %s: %w", table, err)
	}
	return &Store{docs: docs, embedder: embedder}, nil
}

// AddDocuments embeds and stores documents, and returns their ids: hashes of text, metadata and name space, so that a
// document that is added again is stored once. After an error some documents are stored.
func (s *Store) AddDocuments(
	ctx context.Context, docs []schema.Document, options ...vectorstores.Option,
) ([]string, error) {
	ids, err := s.add(ctx, docs, s.options(options))
	if err != nil {
		return nil, fmt.Errorf("langchainvecql: add documents: %w", err)
	}
	return ids, nil
}

// add checks the options, and embeds the documents that are not left out.
func (s *Store) add(ctx context.Context, docs []schema.Document, o vectorstores.Options) ([]string, error) {
	switch {
	case o.ScoreThreshold != 0:
		return nil, fmt.Errorf("%w: WithScoreThreshold is an option of searches", ErrOption)
	case o.Filters != nil:
		return nil, fmt.Errorf("%w: WithFilters is an option of searches", ErrOption)
	case o.Embedder == nil:
		return nil, errNoEmbedder()
	}
	var texts []string
	var stored []docstore.Doc
	for _, doc := range docs {
		if o.Deduplicater != nil && o.Deduplicater(ctx, doc) {
			continue
		}
		texts = append(texts, doc.PageContent)
		stored = append(stored, docstore.Doc{Content: doc.PageContent, Metadata: doc.Metadata, Namespace: o.NameSpace})
	}
	if len(texts) == 0 {
		return nil, nil
	}
	vectors, err := o.Embedder.EmbedDocuments(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	return s.docs.Put(ctx, stored, vectors)
}

// SimilaritySearch returns the documents nearest to a query, the nearest first. The error wraps errors of package
// search, such as *search.IndexNotReadyError and *search.FilterError.
func (s *Store) SimilaritySearch(
	ctx context.Context, query string, numDocuments int, options ...vectorstores.Option,
) ([]schema.Document, error) {
	found, err := s.search(ctx, query, numDocuments, s.options(options))
	if err != nil {
		return nil, fmt.Errorf("langchainvecql: search: %w", err)
	}
	docs := make([]schema.Document, len(found))
	for i, doc := range found {
		docs[i] = schema.Document{PageContent: doc.Content, Metadata: doc.Metadata, Score: float32(doc.Score)}
	}
	return docs, nil
}

// search checks the options, and embeds the query.
func (s *Store) search(ctx context.Context, text string, k int, o vectorstores.Options) ([]docstore.Doc, error) {
	switch {
	case o.Deduplicater != nil:
		return nil, fmt.Errorf("%w: WithDeduplicater is an option of AddDocuments", ErrOption)
	case o.ScoreThreshold != o.ScoreThreshold:
		return nil, fmt.Errorf("%w: WithScoreThreshold is NaN", ErrOption)
	case o.Embedder == nil:
		return nil, errNoEmbedder()
	}
	query := docstore.Search{K: k, Filter: o.Filters, Namespace: o.NameSpace}
	if filter, ok := o.Filters.(Filter); ok {
		query.Filter = docstore.Filter(filter)
	}
	if o.ScoreThreshold != 0 {
		threshold := float64(o.ScoreThreshold)
		query.Threshold = &threshold
	}
	vector, err := o.Embedder.EmbedQuery(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	return s.docs.Search(ctx, vector, query)
}

// Delete removes documents by their ids. It is no error if there is none with an id.
func (s *Store) Delete(ctx context.Context, ids ...string) error {
	if err := s.docs.Delete(ctx, ids...); err != nil {
		return fmt.Errorf("langchainvecql: delete: %w", err)
	}
	return nil
}

func (s *Store) options(options []vectorstores.Option) vectorstores.Options {
	o := vectorstores.Options{Embedder: s.embedder}
	for _, option := range options {
		option(&o)
	}
	return o
}

func errNoEmbedder() error {
	return fmt.Errorf("%w: there is no embedder: pass one to New, or WithEmbedder", ErrOption)
}
