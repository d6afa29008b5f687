// SPDX-License-Identifier: Apache-2.0

// Package docstore stores texts with their embeddings in a table and finds the nearest: what the adapters of frameworks
// have in common. The table has
//
//	id text PRIMARY KEY, content text, metadata text, embedding vector<float, n>
//
// and a vector index. metadata is JSON. A further column has the value of the metadata of its name, for filters; the
// column namespace has the namespace.
package docstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/vectorcheck"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

var (
	// ErrTable means that a table does not have the columns of a store.
	ErrTable = errors.New("not a table of documents")
	// ErrOption means that an option is not supported, or has an invalid value.
	ErrOption = errors.New("unsupported option")
	// ErrEmbedder means that an embedder returned another number of vectors than it was given texts.
	ErrEmbedder = errors.New("wrong number of vectors")
)

// unprefixed returns an error of the driver or of package search without the prefix of its text.
func unprefixed(err error) error {
	if err == nil {
		return nil
	}
	return bare{err}
}

type bare struct{ err error }

func (e bare) Error() string { return strings.TrimPrefix(errtext.Of(e.err), "search: ") }
func (e bare) Unwrap() error { return e.err }

// A Doc is a document.
type Doc struct {
	ID        string // empty means a hash of content and metadata, so that a document is stored once
	Content   string
	Metadata  map[string]any
	Namespace string
	Score     float64 // of a hit: see Store.Search
}

// A Store is a table of documents. Its methods may be called by any number of goroutines.
type Store struct {
	session   *vecql.Session
	table     string // in CQL
	near      *search.Query[row]
	dim       int
	columns   []string // further columns, but the namespace
	integers  []bool   // by further column
	namespace bool     // there is a column namespace
	insert    string
}

type row struct {
	ID                string
	Content, Metadata *string
}

// Open opens a table, "shop.docs" or "docs".
func Open(ctx context.Context, session *vecql.Session, table string) (*Store, error) {
	s := &Store{session: session, table: table}
	if !cqltext.IsTable(table) {
		return nil, fmt.Errorf(`%w: %.100q: want "keyspace.table" or "table"`, ErrTable, table)
	}
	keyspace, name := cqltext.SplitTable(table, session.Query("").GetKeyspace())
	meta, err := session.TableMetadata(ctx, keyspace, name)
	if err != nil {
		return nil, unprefixed(err)
	}
	if err := s.read(meta); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTable, table, err)
	}
	s.near, err = search.Open[row](ctx, session, table+"(embedding)")
	return s, unprefixed(err)
}

// own are the columns that each table of documents has, and the namespace.
var own = []string{"id", "content", "metadata", "embedding", "namespace"}

// read checks the columns of the table and finds the further ones.
func (s *Store) read(meta *cql.TableMetadata) error {
	for _, name := range own {
		c := meta.Columns[name]
		switch {
		case c == nil && name == "namespace":
			continue
		case c == nil:
			return fmt.Errorf("it has no column %s", name)
		case name == "embedding":
			v, ok := c.Type.(cql.VectorType)
			if !ok || v.SubType.Type() != cql.TypeFloat {
				return fmt.Errorf("column embedding is %v, want vector<float, n>", c.Type)
			}
			s.dim = v.Dimensions
		case c.Type.Type() != cql.TypeVarchar:
			return fmt.Errorf("column %s is %v, want text", name, c.Type)
		}
		s.namespace = s.namespace || name == "namespace"
	}
	if len(meta.PartitionKey) != 1 || meta.PartitionKey[0].Name != "id" || len(meta.ClusteringColumns) > 0 {
		return errors.New("its primary key is not id")
	}
	for _, name := range meta.OrderedColumns {
		if !slices.Contains(own, name) {
			s.columns = append(s.columns, name)
			s.integers = append(s.integers, isInteger(meta.Columns[name].Type.Type()))
		}
	}
	s.insert = insertText(s.table, slices.Concat(own[:4], s.columns), s.namespace)
	return nil
}

func isInteger(t cql.Type) bool {
	switch t {
	case cql.TypeInt, cql.TypeBigInt, cql.TypeSmallInt, cql.TypeTinyInt, cql.TypeVarint:
		return true
	}
	return false
}

func insertText(table string, columns []string, namespace bool) string {
	if namespace {
		columns = append(columns, "namespace")
	}
	var names []string
	for _, name := range columns {
		names = append(names, cqltext.QuoteIdentifier(name))
	}
	markers := strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ")
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(names, ", "), markers)
}

// putsInFlight is the number of documents that Put writes at a time.
const putsInFlight = 32

// Put stores documents with their embeddings, in place of documents of the same id, and returns their ids. After an
// error some are stored.
func (s *Store) Put(ctx context.Context, docs []Doc, embeddings [][]float32) ([]string, error) {
	if len(embeddings) != len(docs) {
		return nil, fmt.Errorf("%w: %d for %d texts", ErrEmbedder, len(embeddings), len(docs))
	}
	ids, values := make([]string, len(docs)), make([][]any, len(docs))
	for i, doc := range docs {
		var err error
		if ids[i], values[i], err = s.valuesOf(doc, embeddings[i]); err != nil {
			return nil, fmt.Errorf("document %d: %w", i, unprefixed(err))
		}
	}
	return ids, background.Parallel(ctx, len(docs), putsInFlight, func(ctx context.Context, i int) error {
		if err := s.session.Query(s.insert, values[i]...).Idempotent(true).Exec(ctx); err != nil {
			return fmt.Errorf("document %d: %w", i, unprefixed(err))
		}
		return nil
	})
}

// valuesOf returns the values of a row.
func (s *Store) valuesOf(doc Doc, embedding []float32) (id string, values []any, err error) {
	if err := vectorcheck.Check("embedding", embedding, s.dim, s.near.Explain(1).Metric); err != nil {
		return "", nil, err
	}
	if doc.Namespace != "" && !s.namespace {
		return "", nil, s.noNamespace(doc.Namespace)
	}
	metadata, err := json.Marshal(doc.Metadata)
	if err != nil {
		return "", nil, fmt.Errorf("metadata: %w", err)
	}
	if id = doc.ID; id == "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%s%s", len(doc.Content), doc.Content, metadata, doc.Namespace))
		id = hex.EncodeToString(sum[:16])
	}
	values = []any{id, doc.Content, string(metadata), embedding}
	for i, name := range s.columns {
		value := doc.Metadata[name]
		if f, ok := value.(float64); ok && s.integers[i] && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			value = int64(f) // of JSON, as in a document that was found
		}
		values = append(values, value)
	}
	if s.namespace {
		var namespace any
		if doc.Namespace != "" {
			namespace = doc.Namespace
		}
		values = append(values, namespace)
	}
	return id, values, nil
}

func (s *Store) noNamespace(name string) error {
	return fmt.Errorf("%w: namespace %q: table %s has no column namespace", ErrOption, name, s.table)
}

// A Search is what Store.Search looks for.
type Search struct {
	K         int
	Threshold *float64 // the least score; nil means none
	Filter    any      // see Filter
	Namespace string   // empty means all
}

// A Filter is a condition of package search with its arguments. A Search takes also a text without arguments, and
// map[string]any for columns that are equal to values.
type Filter struct {
	Where string
	Args  []any
}

// Search returns the documents nearest to an embedding, the nearest first. Their score is the cosine of an index of
// cosine, the dot product of an index of dot products, and 1/(1+d²) of an index of euclidean distances.
func (s *Store) Search(ctx context.Context, embedding []float32, q Search) ([]Doc, error) {
	query, err := s.queryOf(q)
	if err != nil {
		return nil, err
	}
	var docs []Doc
	metric := query.Explain(max(q.K, 1)).Metric
	for hit, err := range query.Nearest(ctx, embedding, q.K) {
		if err != nil {
			return nil, unprefixed(err)
		}
		doc := Doc{ID: hit.Row.ID, Score: scoreOf(metric, hit.Score, hit.Distance)}
		if hit.Row.Content != nil {
			doc.Content = *hit.Row.Content
		}
		if hit.Row.Metadata != nil {
			if err := json.Unmarshal([]byte(*hit.Row.Metadata), &doc.Metadata); err != nil {
				return nil, fmt.Errorf("metadata of document %s: %w", doc.ID, err)
			}
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// queryOf returns the query of a search.
func (s *Store) queryOf(q Search) (*search.Query[row], error) {
	query := s.near
	switch filter := q.Filter.(type) {
	case nil:
	case string:
		query = query.Where(filter)
	case Filter:
		query = query.Where(filter.Where, filter.Args...)
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(filter)) {
			query = query.Where("? = ?", expr.Col(name), filter[name])
		}
	default:
		return nil, fmt.Errorf("%w: filter of type %T", ErrOption, filter)
	}
	if q.Namespace != "" && !s.namespace {
		return nil, s.noNamespace(q.Namespace)
	}
	if q.Namespace != "" {
		query = query.Where("? = ?", expr.Col("namespace"), q.Namespace)
	}
	if q.Threshold != nil {
		query = within(query, query.Explain(max(q.K, 1)).Metric, *q.Threshold)
	}
	return query, nil
}

func scoreOf(metric vector.Metric, score, distance float32) float64 {
	switch metric {
	case vector.Cosine:
		return 1 - float64(distance)
	case vector.Dot:
		return -float64(distance)
	}
	return float64(score)
}

// within bounds a query by a score of scoreOf.
func within(query *search.Query[row], metric vector.Metric, score float64) *search.Query[row] {
	switch metric {
	case vector.Cosine:
		return query.MaxDistance(float32(1 - score))
	case vector.Dot:
		return query.MaxDistance(float32(-score))
	}
	return query.MinScore(float32(score))
}

// Delete removes documents by their ids. It is no error if there is none with an id.
func (s *Store) Delete(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		if err := s.session.Query("DELETE FROM "+s.table+" WHERE id = ?", id).Idempotent(true).Exec(ctx); err != nil {
			return fmt.Errorf("document %s: %w", id, unprefixed(err))
		}
	}
	return nil
}
