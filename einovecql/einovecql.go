// SPDX-License-Identifier: Apache-2.0

// Package einovecql has an indexer and a retriever of Eino (github.com/cloudwego/eino) on Apache Cassandra 5 and
// ScyllaDB.
//
//	indexer, err := einovecql.NewIndexer(ctx, session, einovecql.Config{Table: "shop.docs", Embedding: embedder})
//	ids, err := indexer.Store(ctx, docs)
//	retriever, err := einovecql.NewRetriever(ctx, session, einovecql.Config{Table: "shop.docs", Embedding: embedder})
//	docs, err := retriever.Retrieve(ctx, "blue paint", einovecql.WithFilter("lang = ?", "en"))
//
// # Table
//
// The table has these columns and a vector index, which search.CreateIndex creates:
//
//	CREATE TABLE shop.docs (id text PRIMARY KEY, content text, metadata text, embedding vector<float, 384>)
//
// metadata is the metadata of a document as JSON, so that numbers return as float64. A further column, such as lang
// text, has the value of the metadata of its name; name the column in search.IndexOptions.Filter, and filters may use
// it. A column namespace text has the sub-index.
//
// # Options
//
//	WithTopK, WithScoreThreshold, WithEmbedding    replace the fields of Config
//	WithSubIndex, WithSubIndexes                   one sub-index; needs a column namespace
//	WithFilter                                     a condition of package expr
//
// WithIndex, WithDSLInfo, several sub-indexes and sparse vectors are ErrOption. The score of a document is the cosine
// if the index is of cosine, the dot product of an index of dot products, and 1/(1+d²) of an index of euclidean
// distances. A search returns at most search.MaxHits documents. The index of ScyllaDB has a document about one second
// after Store.
package einovecql

import (
	"context"
	"fmt"
	"maps"

	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/components/indexer"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/schema"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/docstore"
)

var (
	// ErrTable means that the table does not have the columns of a store.
	ErrTable = docstore.ErrTable
	// ErrOption means that an option is not supported, or that its value is invalid.
	ErrOption = docstore.ErrOption
	// ErrEmbedder means that the embedder returned another number of vectors than it was given texts.
	ErrEmbedder = docstore.ErrEmbedder
)

// A Config describes an indexer or a retriever.
type Config struct {
	Table     string // in CQL: "shop.docs", or "docs" with the keyspace of the session
	Embedding embedding.Embedder
	// TopK is the number of documents that a retriever returns. Default 5.
	TopK int
	// ScoreThreshold is the least score of a retriever. Default nil, which means none.
	ScoreThreshold *float64
}

// open opens the table of a Config.
func open(ctx context.Context, session *vecql.Session, c *Config) (*docstore.Store, error) {
	if c.TopK == 0 {
		c.TopK = 5
	}
	docs, err := docstore.Open(ctx, session, c.Table)
	if err != nil {
		err = fmt.Errorf("einovecql: open %s: %w", c.Table, err)
	}
	return docs, err
}

// An Indexer stores documents. Its methods may be called by any number of goroutines.
type Indexer struct {
	docs   *docstore.Store
	config Config
}

var _ indexer.Indexer = (*Indexer)(nil)

// NewIndexer opens a table for documents.
func NewIndexer(ctx context.Context, session *vecql.Session, config Config) (*Indexer, error) {
	docs, err := open(ctx, session, &config)
	if err != nil {
		return nil, err
	}
	return &Indexer{docs: docs, config: config}, nil
}

// GetType returns the name of the implementation, for callbacks.
func (x *Indexer) GetType() string { return "VecQL" }

// Store stores documents in place of those with their ids, and returns the ids. The id of a document without one is a
// hash of its text and metadata. A document with a dense vector is stored with it; the others are embedded. After an
// error some documents are stored.
func (x *Indexer) Store(ctx context.Context, docs []*schema.Document, opts ...indexer.Option) ([]string, error) {
	o := indexer.GetCommonOptions(&indexer.Options{Embedding: x.config.Embedding}, opts...)
	stored := make([]docstore.Doc, len(docs))
	for i, doc := range docs {
		var err error
		if stored[i], err = storedOf(doc, o.SubIndexes); err != nil {
			return nil, fmt.Errorf("einovecql: store document %d: %w", i, err)
		}
	}
	vectors, err := embed(ctx, o.Embedding, docs)
	var ids []string
	if err == nil {
		ids, err = x.docs.Put(ctx, stored, vectors)
	}
	if err != nil {
		return nil, fmt.Errorf("einovecql: store: %w", err)
	}
	return ids, nil
}

// Metadata that Eino has methods for, and that are not stored as metadata.
const (
	keyScore       = "_score"
	keyDenseVector = "_dense_vector"
	keySubIndexes  = "_sub_indexes"
)

// storedOf returns a document as it is stored.
func storedOf(doc *schema.Document, subIndexes []string) (docstore.Doc, error) {
	if doc.SparseVector() != nil {
		return docstore.Doc{}, fmt.Errorf("%w: sparse vector", ErrOption)
	}
	if own := doc.SubIndexes(); len(own) > 0 {
		subIndexes = own
	}
	out := docstore.Doc{ID: doc.ID, Content: doc.Content, Metadata: maps.Clone(doc.MetaData)}
	switch len(subIndexes) {
	case 0:
	case 1:
		out.Namespace = subIndexes[0]
	default:
		return out, fmt.Errorf("%w: %d sub-indexes, want one", ErrOption, len(subIndexes))
	}
	for _, key := range []string{keyScore, keyDenseVector, keySubIndexes} {
		delete(out.Metadata, key)
	}
	return out, nil
}

// embed returns the vectors of documents.
func embed(ctx context.Context, embedder embedding.Embedder, docs []*schema.Document) ([][]float32, error) {
	var texts []string
	for _, doc := range docs {
		if doc.DenseVector() == nil {
			texts = append(texts, doc.Content)
		}
	}
	embedded, err := embedTexts(ctx, embedder, texts)
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(docs))
	for i, doc := range docs {
		if vectors[i] = narrow(doc.DenseVector()); vectors[i] == nil {
			vectors[i], embedded = narrow(embedded[0]), embedded[1:]
		}
	}
	return vectors, nil
}

func embedTexts(ctx context.Context, embedder embedding.Embedder, texts []string) ([][]float64, error) {
	switch {
	case len(texts) == 0:
		return nil, nil
	case embedder == nil:
		return nil, fmt.Errorf("%w: there is no embedder: set Config.Embedding, or pass WithEmbedding", ErrOption)
	}
	vectors, err := embedder.EmbedStrings(ctx, texts)
	switch {
	case err != nil:
		return nil, fmt.Errorf("embed: %w", err)
	case len(vectors) != len(texts):
		return nil, fmt.Errorf("%w: %d for %d texts", ErrEmbedder, len(vectors), len(texts))
	}
	return vectors, nil
}

// narrow converts elements to float32, which columns have.
func narrow(v []float64) []float32 {
	if v == nil {
		return nil
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// A Retriever finds documents. Its methods may be called by any number of goroutines.
type Retriever struct {
	docs   *docstore.Store
	config Config
}

var _ retriever.Retriever = (*Retriever)(nil)

// NewRetriever opens a table of documents.
func NewRetriever(ctx context.Context, session *vecql.Session, config Config) (*Retriever, error) {
	docs, err := open(ctx, session, &config)
	if err != nil {
		return nil, err
	}
	return &Retriever{docs: docs, config: config}, nil
}

// GetType returns the name of the implementation, for callbacks.
func (r *Retriever) GetType() string { return "VecQL" }

// WithFilter limits a retriever to the documents for which a condition of package expr is true, with a ? for each of
// args.
func WithFilter(where string, args ...any) retriever.Option {
	return retriever.WrapImplSpecificOptFn(func(o *options) { o.filter = docstore.Filter{Where: where, Args: args} })
}

// options are the options of this package.
type options struct{ filter any }

// Retrieve returns the documents nearest to a query, the nearest first, with their scores. The error wraps errors of
// package search, such as *search.IndexNotReadyError and *search.FilterError.
func (r *Retriever) Retrieve(ctx context.Context, query string, opts ...retriever.Option) ([]*schema.Document, error) {
	found, err := r.retrieve(ctx, query, opts)
	if err != nil {
		return nil, fmt.Errorf("einovecql: retrieve: %w", err)
	}
	docs := make([]*schema.Document, len(found))
	for i, doc := range found {
		docs[i] = (&schema.Document{ID: doc.ID, Content: doc.Content, MetaData: doc.Metadata}).WithScore(doc.Score)
	}
	return docs, nil
}

// retrieve checks the options, and embeds the query.
func (r *Retriever) retrieve(ctx context.Context, query string, opts []retriever.Option) ([]docstore.Doc, error) {
	base := retriever.Options{TopK: &r.config.TopK, ScoreThreshold: r.config.ScoreThreshold, Embedding: r.config.Embedding}
	o := retriever.GetCommonOptions(&base, opts...)
	switch {
	case o.Index != nil:
		return nil, fmt.Errorf("%w: WithIndex: the table has one index", ErrOption)
	case o.DSLInfo != nil:
		return nil, fmt.Errorf("%w: WithDSLInfo: use WithFilter", ErrOption)
	}
	search := docstore.Search{
		K: *o.TopK, Threshold: o.ScoreThreshold, Filter: retriever.GetImplSpecificOptions(&options{}, opts...).filter,
	}
	if o.SubIndex != nil {
		search.Namespace = *o.SubIndex
	}
	vectors, err := embedTexts(ctx, o.Embedding, []string{query})
	if err != nil {
		return nil, err
	}
	return r.docs.Search(ctx, narrow(vectors[0]), search)
}
