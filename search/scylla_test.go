// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// Searches of ScyllaDB.

const scyllaTable = `CREATE TABLE shop.products (id int PRIMARY KEY, name text, price float, in_stock boolean, embedding vector<float, 3>);`

// scylla returns the configuration of a ScyllaDB with a vector store.
func scylla(version string, store cqltest.VectorStore) cqltest.Config {
	return cqltest.Config{Scylla: &cqltest.Scylla{Version: version, VectorStore: &store}}
}

// TestScylla searches with filters that the index has, and refuses the others before they are sent.
func TestScylla(t *testing.T) {
	session := newSession(t, scylla("", cqltest.VectorStore{}), scyllaTable+
		`CREATE CUSTOM INDEX by_price ON shop.products (embedding, price, in_stock) USING 'vector_index'
			WITH OPTIONS = {'similarity_function': 'euclidean', 'quantization': 'i8', 'oversampling': '2.0', 'rescoring': 'true'}`)
	rows := fill(t, session, 40)
	query := []float32{0.3, -0.2, 0.9}
	products, err := search.Open[product](t.Context(), session, "products")
	require.NoError(t, err)
	id := func(p product) int32 { return p.ID }
	result, err := products.All(t.Context(), query, 9)
	require.NoError(t, err)
	require.Equal(t, nearest(rows, vector.L2, query, 9, func(product) bool { return true }), idsOf(result, id))
	require.Empty(t, result.Warnings)

	where := products.Where("price < ? and in_stock", 3.05)
	result, err = where.All(t.Context(), query, 5)
	require.NoError(t, err)
	require.Equal(t, nearest(rows, vector.L2, query, 5, func(p product) bool {
		return p.Price != nil && *p.Price < 3.05 && p.InStock
	}), idsOf(result, id))
	plan := where.Explain(5)
	require.True(t, strings.HasSuffix(plan.CQL, `LIMIT 5 ALLOW FILTERING`), plan.CQL)
	require.Equal(t, "of the session", plan.Consistency)

	var filter *search.FilterError
	_, err = products.Where("name = 'a'").All(t.Context(), query, 5)
	require.ErrorAs(t, err, &filter)
	require.Equal(t, "by_price", filter.Index)
	result, err = products.Where("id in (1, 2, 3)").Consistency(cql.Quorum).All(t.Context(), query, 5)
	require.NoError(t, err)
	require.Len(t, result.Hits, 3)
}

// TestScyllaOldRelease refuses a filter that the release would ignore.
func TestScyllaOldRelease(t *testing.T) {
	session := newSession(t, scylla("2025.4.2", cqltest.VectorStore{}), scyllaTable+
		"CREATE CUSTOM INDEX ON shop.products (embedding, price) USING 'vector_index'")
	fill(t, session, 4)
	products, err := search.Open[product](t.Context(), session, "products")
	require.NoError(t, err)
	var filter *search.FilterError
	_, err = products.Where("price < 1").All(t.Context(), []float32{1, 2, 3}, 2)
	require.ErrorAs(t, err, &filter)
	require.ErrorContains(t, err, "ignores conditions of columns outside of the primary key")
}

// TestScyllaLocalIndex searches by a local index, whose partition the filter must state.
func TestScyllaLocalIndex(t *testing.T) {
	session := newSession(t, scylla("", cqltest.VectorStore{}),
		`CREATE TABLE shop.notes (owner text, id int, v vector<float, 2>, PRIMARY KEY (owner, id));
		CREATE CUSTOM INDEX own ON shop.notes ((owner), v) USING 'vector_index'`)
	for i := range 6 {
		owner := []string{"ann", "bob"}[i%2]
		require.NoError(t, session.Query("INSERT INTO shop.notes (owner, id, v) VALUES (?, ?, ?)", owner, i, []float32{1, float32(i)}).Exec(t.Context()))
	}
	type note struct {
		Owner string
		ID    int32
	}
	notes, err := search.Open[note](t.Context(), session, "notes")
	require.NoError(t, err)
	var filter *search.FilterError
	_, err = notes.All(t.Context(), []float32{1, 0}, 2)
	require.ErrorAs(t, err, &filter)
	result, err := notes.Where("owner = ?", "bob").All(t.Context(), []float32{1, 0}, 2)
	require.NoError(t, err)
	require.Equal(t, []search.Hit[note]{{Row: note{"bob", 1}}, {Row: note{"bob", 3}}}, rowsAlone(result.Hits))
}

// rowsAlone returns the hits without scores.
func rowsAlone[T any](hits []search.Hit[T]) []search.Hit[T] {
	var out []search.Hit[T]
	for _, hit := range hits {
		out = append(out, search.Hit[T]{Row: hit.Row})
	}
	return out
}

// TestScyllaOtherSimilarity refuses a column whose indexes have several similarities: the server chooses among them.
func TestScyllaOtherSimilarity(t *testing.T) {
	session := newSession(t, scylla("", cqltest.VectorStore{}), scyllaTable+
		`CREATE CUSTOM INDEX a ON shop.products (embedding) USING 'vector_index';
		CREATE CUSTOM INDEX b ON shop.products (embedding) USING 'vector_index' WITH OPTIONS = {'similarity_function': 'dot_product'}`)
	products, err := search.Open[product](t.Context(), session, "products")
	require.NoError(t, err)
	_, err = products.All(t.Context(), []float32{1, 2, 3}, 2)
	require.ErrorIs(t, err, search.ErrMetric)
}

// TestScyllaStoreStarts repeats a search while the vector store starts.
func TestScyllaStoreStarts(t *testing.T) {
	session := newSession(t, scylla("", cqltest.VectorStore{Bootstrap: 500 * time.Millisecond}), scyllaTable+
		"CREATE CUSTOM INDEX ON shop.products (embedding) USING 'vector_index'")
	products, err := search.Open[product](t.Context(), session, "products")
	require.NoError(t, err)
	result, err := products.All(t.Context(), []float32{1, 2, 3}, 2)
	require.NoError(t, err)
	require.Empty(t, result.Hits)
}

// TestScyllaBuilding reports an index that is being built.
func TestScyllaBuilding(t *testing.T) {
	session := newSession(t, scylla("", cqltest.VectorStore{Build: time.Hour}), scyllaTable+
		"CREATE CUSTOM INDEX ON shop.products (embedding) USING 'vector_index'")
	products, err := search.Open[product](t.Context(), session, "products")
	require.NoError(t, err)
	_, err = products.All(t.Context(), []float32{1, 2, 3}, 2)
	var building *search.IndexNotReadyError
	require.ErrorAs(t, err, &building)
	require.InDelta(t, 0, building.Progress, 0.01)
	var failure *vecql.RequestFailure
	require.ErrorAs(t, err, &failure)
}
