// SPDX-License-Identifier: Apache-2.0

// Package genkitvecql defines retrievers of Genkit (github.com/firebase/genkit/go) on Apache Cassandra 5 and ScyllaDB.
//
//	config := genkitvecql.Config{Table: "shop.docs", Embedder: embedder}
//	store, retriever, err := genkitvecql.DefineRetriever(ctx, g, session, "docs", config, nil)
//	ids, err := store.Index(ctx, docs)
//	response, err := genkit.Retrieve(ctx, g, ai.WithRetriever(retriever), ai.WithTextDocs("blue paint"),
//		ai.WithConfig(&genkitvecql.RetrieverOptions{K: 5, Filter: "lang = ?", Args: []any{"en"}}))
//
// # Table
//
// The table has these columns and a vector index, which search.CreateIndex creates:
//
//	CREATE TABLE shop.docs (id text PRIMARY KEY, content text, metadata text, embedding vector<float, 384>)
//
// metadata is the metadata of a document as JSON, so that numbers return as float64. A further column, such as lang
// text, has the value of the metadata of its name; name the column in search.IndexOptions.Filter, and filters may use
// it. A column namespace text has the namespace.
//
// Documents are texts: documents with media are ErrOption. A search returns at most search.MaxHits documents. The index
// of ScyllaDB has a document about one second after Index.
package genkitvecql

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core"
	"github.com/firebase/genkit/go/core/api"
	"github.com/firebase/genkit/go/genkit"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/docstore"
)

var (
	// ErrTable means that the table does not have the columns of a store.
	ErrTable = docstore.ErrTable
	// ErrOption means that an option or a document is not supported, or has an invalid value.
	ErrOption = docstore.ErrOption
	// ErrEmbedder means that the embedder returned another number of vectors than it was given texts.
	ErrEmbedder = docstore.ErrEmbedder
)

// Metadata of documents that are found. Index stores a document under its IDKey, and does not store its ScoreKey.
const (
	IDKey = "_id"
	// ScoreKey is the cosine if the index is of cosine, the dot product of an index of dot products, and 1/(1+d²) of an
	// index of euclidean distances, as float64.
	ScoreKey = "_score"
)

const provider = "vecql"

// A Config describes a table of documents and the embedder of their texts.
type Config struct {
	Table           string // in CQL: "shop.docs", or "docs" with the keyspace of the session
	Embedder        ai.Embedder
	EmbedderOptions any // of each request to the embedder
}

// RetrieverOptions are the options of a request to a retriever: for ai.WithConfig, by value, by pointer, or as a map of
// the JSON names.
type RetrieverOptions struct {
	K         int      `json:"k,omitempty"`         // documents; default 3
	Threshold *float64 `json:"threshold,omitempty"` // the least score; nil means none
	Filter    string   `json:"filter,omitempty"`    // a condition of package expr, with a ? for each of Args
	Args      []any    `json:"args,omitempty"`
	Namespace string   `json:"namespace,omitempty"` // empty means all
}

// A DocStore stores the documents that its retriever finds. Its methods may be called by any number of goroutines.
type DocStore struct {
	docs   *docstore.Store
	config Config
}

// DefineRetriever opens a table and defines a retriever with a name, which Retriever returns.
func DefineRetriever(
	ctx context.Context, g *genkit.Genkit, session *vecql.Session, name string, config Config, opts *ai.RetrieverOptions,
) (*DocStore, ai.Retriever, error) {
	if config.Embedder == nil {
		return nil, nil, fmt.Errorf("genkitvecql: define %s: %w: Config.Embedder is nil", name, ErrOption)
	}
	docs, err := docstore.Open(ctx, session, config.Table)
	if err != nil {
		return nil, nil, fmt.Errorf("genkitvecql: open %s: %w", config.Table, err)
	}
	filled := ai.RetrieverOptions{Label: name}
	if opts != nil {
		filled = *opts
	}
	if filled.ConfigSchema == nil {
		filled.ConfigSchema = core.InferSchemaMap(RetrieverOptions{})
	}
	s := &DocStore{docs: docs, config: config}
	return s, genkit.DefineRetriever(g, api.NewName(provider, name), &filled, s.retrieve), nil
}

// Retriever returns the retriever that DefineRetriever has defined, nil if there is none.
func Retriever(g *genkit.Genkit, name string) ai.Retriever {
	return genkit.LookupRetriever(g, api.NewName(provider, name))
}

// Index embeds and stores documents, and returns their ids. The id of a document without IDKey is a hash of its text
// and metadata. After an error some documents are stored.
func (s *DocStore) Index(ctx context.Context, docs []*ai.Document) ([]string, error) {
	return s.IndexNamespace(ctx, "", docs)
}

// IndexNamespace stores documents in a namespace, as Index does.
func (s *DocStore) IndexNamespace(ctx context.Context, namespace string, docs []*ai.Document) ([]string, error) {
	ids, err := s.index(ctx, namespace, docs)
	if err != nil {
		return nil, fmt.Errorf("genkitvecql: index: %w", err)
	}
	return ids, nil
}

// index takes the ids from the metadata of documents, and embeds their texts.
func (s *DocStore) index(ctx context.Context, namespace string, docs []*ai.Document) ([]string, error) {
	if len(docs) == 0 {
		return nil, nil
	}
	stored := make([]docstore.Doc, len(docs))
	for i, doc := range docs {
		text, err := textOf(doc)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		stored[i] = docstore.Doc{Content: text, Metadata: maps.Clone(doc.Metadata), Namespace: namespace}
		if id, ok := doc.Metadata[IDKey]; ok {
			if stored[i].ID, ok = id.(string); !ok {
				return nil, fmt.Errorf("document %d: %w: metadata %s is %T, want string", i, ErrOption, IDKey, id)
			}
		}
		delete(stored[i].Metadata, IDKey)
		delete(stored[i].Metadata, ScoreKey)
	}
	vectors, err := s.embed(ctx, docs)
	if err != nil {
		return nil, err
	}
	return s.docs.Put(ctx, stored, vectors)
}

// textOf returns the text of a document.
func textOf(doc *ai.Document) (string, error) {
	var text strings.Builder
	for _, part := range doc.Content {
		if !part.IsText() {
			return "", fmt.Errorf("%w: a part that is not text", ErrOption)
		}
		text.WriteString(part.Text)
	}
	return text.String(), nil
}

// embed returns the vectors of documents.
func (s *DocStore) embed(ctx context.Context, docs []*ai.Document) ([][]float32, error) {
	response, err := s.config.Embedder.Embed(ctx, &ai.EmbedRequest{Input: docs, Options: s.config.EmbedderOptions})
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	if len(response.Embeddings) != len(docs) {
		return nil, fmt.Errorf("%w: %d for %d texts", ErrEmbedder, len(response.Embeddings), len(docs))
	}
	vectors := make([][]float32, len(docs))
	for i, e := range response.Embeddings {
		vectors[i] = e.Embedding
	}
	return vectors, nil
}

// Delete removes documents by their ids. It is no error if there is none with an id.
func (s *DocStore) Delete(ctx context.Context, ids ...string) error {
	if err := s.docs.Delete(ctx, ids...); err != nil {
		return fmt.Errorf("genkitvecql: delete: %w", err)
	}
	return nil
}

// retrieve is the function of the retriever.
func (s *DocStore) retrieve(ctx context.Context, request *ai.RetrieverRequest) (*ai.RetrieverResponse, error) {
	found, err := s.search(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("genkitvecql: retrieve: %w", err)
	}
	response := &ai.RetrieverResponse{Documents: []*ai.Document{}}
	for _, doc := range found {
		metadata := doc.Metadata
		if metadata == nil {
			metadata = map[string]any{}
		}
		metadata[IDKey], metadata[ScoreKey] = doc.ID, doc.Score
		response.Documents = append(response.Documents, ai.DocumentFromText(doc.Content, metadata))
	}
	return response, nil
}

func (s *DocStore) search(ctx context.Context, request *ai.RetrieverRequest) ([]docstore.Doc, error) {
	o, err := optionsOf(request.Options)
	if err != nil {
		return nil, err
	}
	if request.Query == nil {
		return nil, fmt.Errorf("%w: there is no query", ErrOption)
	}
	vectors, err := s.embed(ctx, []*ai.Document{request.Query})
	if err != nil {
		return nil, err
	}
	search := docstore.Search{K: o.K, Threshold: o.Threshold, Namespace: o.Namespace}
	if o.Filter != "" {
		search.Filter = docstore.Filter{Where: o.Filter, Args: o.Args}
	}
	return s.docs.Search(ctx, vectors[0], search)
}

// optionsOf returns the options of a request.
func optionsOf(options any) (o RetrieverOptions, err error) {
	switch options := options.(type) {
	case nil:
	case RetrieverOptions:
		o = options
	case *RetrieverOptions:
		if options != nil {
			o = *options
		}
	case map[string]any:
		text, err := json.Marshal(options)
		if err != nil {
			return o, fmt.Errorf("%w: %w", ErrOption, err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&o); err != nil {
			return o, fmt.Errorf("%w: %w", ErrOption, err)
		}
	default:
		return o, fmt.Errorf("%w: options of type %T, want RetrieverOptions", ErrOption, options)
	}
	if o.K == 0 {
		o.K = 3
	}
	return o, nil
}
