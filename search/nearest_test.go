// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

const productTable = `
	CREATE TABLE shop.products (id int PRIMARY KEY, name text, price float, in_stock boolean, embedding vector<float, 3>);
	CREATE CUSTOM INDEX products_embedding ON shop.products (embedding) USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': '%s'};
	CREATE INDEX ON shop.products (price) USING 'sai'; CREATE INDEX ON shop.products (in_stock) USING 'sai';`

type product struct {
	ID        int32
	Name      string
	Price     *float32
	InStock   bool `cql:"in_stock"`
	Embedding []float32
}

// fill writes n products with random vectors. Of four rows two are equal, and one has no price.
func fill(t *testing.T, session *vecql.Session, n int) []product {
	t.Helper()
	insert, err := vecql.Prepare[product](t.Context(), session.Query(vecql.InsertInto[product]("shop.products")))
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]product, n)
	for i := range rows {
		price := float32(i) / 10
		rows[i] = product{int32(i), fmt.Sprint("product ", i), &price, i%3 == 0, randomVector(r, 3)}
		if i%4 == 1 {
			rows[i].Embedding = rows[i-1].Embedding
			rows[i].Price = nil
		}
		require.NoError(t, insert.Exec(t.Context(), &rows[i]))
	}
	return rows
}

// nearest is the reference: the ids of the k products nearest to a query for which keep is true.
func nearest(products []product, metric vector.Metric, query []float32, k int, keep func(product) bool) []int32 {
	rows := slices.Clone(products)
	rows = slices.DeleteFunc(rows, func(p product) bool { return !keep(p) })
	slices.SortStableFunc(rows, func(a, b product) int {
		da, db := vector.Reference(metric, query, a.Embedding), vector.Reference(metric, query, b.Embedding)
		switch {
		case da < db:
			return -1
		case da > db:
			return 1
		}
		return int(a.ID - b.ID)
	})
	var ids []int32
	for _, p := range rows[:min(k, len(rows))] {
		ids = append(ids, p.ID)
	}
	return ids
}

func idsOf[T any](result search.Result[T], id func(T) int32) []int32 {
	var ids []int32
	for _, hit := range result.Hits {
		ids = append(ids, id(hit.Row))
	}
	return ids
}

// Which of several rows at the same distance comes last is the server's choice. The queries of these tests have none.

// TestNearest compares searches by an index with the reference, for each similarity, with filters and bounds.
func TestNearest(t *testing.T) {
	for metric, function := range map[vector.Metric]string{vector.Cosine: "cosine", vector.L2: "euclidean", vector.Dot: "dot_product"} {
		t.Run(function, func(t *testing.T) {
			session := newSession(t, cqltest.Config{}, fmt.Sprintf(productTable, function))
			rows := fill(t, session, 60)
			query := []float32{0.3, -0.2, 0.9}
			products, err := search.Open[product](t.Context(), session, "products")
			require.NoError(t, err)
			all := func(product) bool { return true }
			id := func(p product) int32 { return p.ID }

			result, err := products.All(t.Context(), query, 9)
			require.NoError(t, err)
			require.Equal(t, nearest(rows, metric, query, 9, all), idsOf(result, id))
			require.Equal(t, 9, result.K)
			for _, hit := range result.Hits {
				want := vector.Reference(metric, query, hit.Row.Embedding)
				require.InDelta(t, want, hit.Distance, 1e-5)
				require.InDelta(t, metric.Score(float32(want), 3), hit.Score, 1e-6)
				require.Equal(t, rows[hit.Row.ID], hit.Row)
			}
			filtered, err := products.Where("price < ? and in_stock", 3.05).Where("price >= 0.1").All(t.Context(), query, 5)
			require.NoError(t, err)
			require.Equal(t, nearest(rows, metric, query, 5, func(p product) bool {
				return p.Price != nil && *p.Price < 3.05 && *p.Price >= 0.1 && p.InStock
			}), idsOf(filtered, id))

			bound := result.Hits[3].Score
			above, err := products.MinScore(bound).All(t.Context(), query, 9)
			require.NoError(t, err)
			require.Equal(t, idsOf(result, id)[:len(above.Hits)], idsOf(above, id))
			require.GreaterOrEqual(t, len(above.Hits), 4)
			require.Equal(t, 9, len(above.Hits)+above.Outside)
			near, err := products.MaxDistance(result.Hits[3].Distance).All(t.Context(), query, 9)
			require.NoError(t, err)
			require.Equal(t, idsOf(above, id), idsOf(near, id))

			i := 0
			for hit, err := range products.Nearest(t.Context(), query, 9) {
				require.NoError(t, err)
				require.Equal(t, result.Hits[i].Row, hit.Row)
				if i++; i == 3 {
					break
				}
			}
		})
	}
}

// TestEach searches for many queries, as rows and as a batch.
func TestEach(t *testing.T) {
	session := newSession(t, cqltest.Config{}, fmt.Sprintf(productTable, "cosine"))
	fill(t, session, 60)
	products, err := search.Open[map[string]any](t.Context(), session, "shop.products(embedding)")
	require.NoError(t, err)
	var queries [][]float32
	for r := rand.New(rand.NewPCG(3, 4)); len(queries) < 40; {
		queries = append(queries, randomVector(r, 3))
	}
	results, err := products.Each(t.Context(), queries, 7)
	require.NoError(t, err)
	batch, err := products.Batch(t.Context(), queries, 7)
	require.NoError(t, err)
	require.Equal(t, 7*len(queries), batch.Rows)
	require.NoError(t, batch.Check())
	require.Equal(t, []string{"id", "embedding", "in_stock", "name", "price", "query", "rank", "score", "distance"}, batch.Schema().Names())
	for i, result := range results {
		for j, hit := range result.Hits {
			row := 7*i + j
			require.EqualValues(t, i, batch.Column(search.QueryColumn).Value(row))
			require.EqualValues(t, j+1, batch.Column(search.RankColumn).Value(row))
			require.Equal(t, hit.Score, batch.Column(search.ScoreColumn).Value(row))
			require.Equal(t, hit.Distance, batch.Column(search.DistanceColumn).Value(row))
			require.EqualValues(t, hit.Row["id"], batch.Column("id").Value(row))
			require.Equal(t, hit.Row["price"], batch.Column("price").Value(row))
		}
	}
	some, err := products.Columns("price", "id").Batch(t.Context(), queries, 7)
	require.NoError(t, err)
	require.Equal(t, []string{"price", "id", "query", "rank", "score", "distance"}, some.Schema().Names())
	require.Equal(t, batch.Column("id").Values, some.Column("id").Values)
	typed, err := search.Open[product](t.Context(), session, "products")
	require.NoError(t, err)
	first, err := typed.Columns("name").All(t.Context(), queries[0], 1)
	require.NoError(t, err)
	require.Equal(t, product{Name: results[0].Hits[0].Row["name"].(string)}, first.Hits[0].Row)
	none, err := products.Each(t.Context(), nil, 7)
	require.NoError(t, err)
	require.Empty(t, none)
}

// TestLike searches by the vector of a row: its twin comes first, and it does not find itself.
func TestLike(t *testing.T) {
	session := newSession(t, cqltest.Config{}, fmt.Sprintf(productTable, "cosine"))
	rows := fill(t, session, 20)
	require.NoError(t, session.Query("INSERT INTO shop.products (id, name) VALUES (100, 'none')").Exec(t.Context()))
	products, err := search.Open[int32](t.Context(), session, "products")
	require.NoError(t, err)
	result, err := products.Like(t.Context(), 3, 4)
	require.NoError(t, err)
	want := nearest(rows, vector.Cosine, rows[4].Embedding, 4, func(p product) bool { return p.ID != 4 })
	require.Equal(t, want[:3], idsOf(result, func(id int32) int32 { return id }))
	_, err = products.Like(t.Context(), 3, 77)
	require.ErrorIs(t, err, vecql.ErrNotFound)
	_, err = products.Like(t.Context(), 3, 100)
	require.ErrorIs(t, err, search.ErrNoVector)
	_, err = products.Like(t.Context(), 3)
	require.ErrorIs(t, err, vecql.ErrValueCount)
}

// TestRefused requires the errors of searches that are not sent.
func TestRefused(t *testing.T) {
	session := newSession(t, cqltest.Config{}, fmt.Sprintf(productTable, "cosine")+
		`CREATE TABLE shop.plain (a int PRIMARY KEY, v vector<float, 3>, w vector<float, 2>); CREATE TABLE shop.none (a int PRIMARY KEY)`)
	ctx := t.Context()
	products, err := search.Open[product](ctx, session, "products")
	require.NoError(t, err)
	query := []float32{1, 2, 3}
	nan := float32(0)
	nan /= nan
	var dimension *vector.DimensionError
	var element *vector.ElementError
	var filter *search.FilterError
	for name, test := range map[string]struct {
		q     *search.Query[product]
		query []float32
		k     int
		is    error
		as    any
	}{
		"dimension":        {products, query[:2], 3, nil, &dimension},
		"NaN":              {products, []float32{1, nan, 3}, 3, nil, &element},
		"large":            {products, []float32{1, -2e17, 3}, 3, search.ErrElement, nil},
		"zero with cosine": {products, make([]float32, 3), 3, vector.ErrZero, nil},
		"no hits":          {products, query, 0, search.ErrK, nil},
		"too many hits":    {products, query, 1001, search.ErrK, nil},
		"other similarity": {products.Metric(vector.Dot), query, 3, search.ErrMetric, nil},
		"no similarity":    {products.Metric(vector.Hamming), query, 3, search.ErrMetric, nil},
		"oversample":       {products.Oversample(0.5), query, 3, search.ErrOption, nil},
		"serial":           {products.Consistency(cql.Serial), query, 3, search.ErrOption, nil},
		"column":           {products.Columns("id", "weight"), query, 3, search.ErrRow, nil},
		"syntax":           {products.Where("price <"), query, 3, nil, nil},
		"no index":         {products.Where("name = 'a'"), query, 3, nil, &filter},
		"no column":        {products.Where("prize = 1"), query, 3, nil, &filter},
		"or":               {products.Where("price < 1 or price > 2"), query, 3, nil, &filter},
		"in":               {products.Where("price in (1, 2)"), query, 3, nil, &filter},
		"not equal":        {products.Where("price <> 1"), query, 3, nil, &filter},
		"null":             {products.Where("price = ?", nil), query, 3, nil, &filter},
		"type":             {products.Where("price = 'a'"), query, 3, nil, &filter},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := test.q.All(ctx, test.query, test.k)
			require.Error(t, err)
			require.Empty(t, result.Hits)
			if test.is != nil {
				require.ErrorIs(t, err, test.is)
			}
			if test.as != nil {
				require.ErrorAs(t, err, test.as)
			}
		})
	}
	for target, is := range map[string]error{
		"plain": search.ErrTarget, "plain(x)": search.ErrTarget, "none": search.ErrTarget, "a b": search.ErrTarget,
		"missing": vecql.ErrNoTable, "nowhere.plain": vecql.ErrKeyspaceDoesNotExist,
	} {
		_, err := search.Open[map[string]any](ctx, session, target)
		require.ErrorIs(t, err, is, target)
	}
	type other struct{ ID, Weight int }
	_, err = search.Open[other](ctx, session, "products")
	require.ErrorIs(t, err, search.ErrRow)
	plain, err := search.Open[map[string]any](ctx, session, "plain(w)")
	require.NoError(t, err)
	_, err = plain.All(ctx, query[:2], 1)
	require.ErrorIs(t, err, search.ErrNoIndex)
}

// TestFollowsSchema searches by an index that is dropped and created again with another similarity.
func TestFollowsSchema(t *testing.T) {
	session := newSession(t, cqltest.Config{}, fmt.Sprintf(productTable, "cosine"))
	rows := fill(t, session, 30)
	products, err := search.Open[product](t.Context(), session, "products")
	require.NoError(t, err)
	query := []float32{0.1, 0.2, 0.3}
	_, err = products.All(t.Context(), query, 3)
	require.NoError(t, err)
	require.NoError(t, session.Query("DROP INDEX shop.products_embedding").Exec(t.Context()))
	_, err = products.All(t.Context(), query, 3)
	require.ErrorIs(t, err, search.ErrNoIndex)
	require.NoError(t, session.Query(`CREATE CUSTOM INDEX ON shop.products (embedding) USING 'sai'
		WITH OPTIONS = {'similarity_function': 'euclidean'}`).Exec(t.Context()))
	result, err := products.All(t.Context(), query, 3)
	require.NoError(t, err)
	require.Equal(t, nearest(rows, vector.L2, query, 3, func(product) bool { return true }),
		idsOf(result, func(p product) int32 { return p.ID }))
}

// TestExplain requires the plans of searches.
func TestExplain(t *testing.T) {
	session := newSession(t, cqltest.Config{}, fmt.Sprintf(productTable, "dot_product"))
	products, err := search.Open[int32](t.Context(), session, "products")
	require.NoError(t, err)
	plan := products.Where("price < ? and in_stock", 20).Oversample(4).Explain(10)
	require.NoError(t, plan.Err)
	require.Equal(t, `statement    SELECT "id", "id", similarity_dot_product("embedding", ?) FROM "shop"."products" WHERE "price" < ? AND "in_stock" = ? ORDER BY "embedding" ANN OF ? LIMIT 40
index        shop.products_embedding
similarity   dot
consistency  LOCAL_ONE
because      dot: the similarity of the index shop.products_embedding, the vector index of column embedding on Cassandra 5.0.9
because      40 rows are requested for 10 hits, by Oversample(4); the nearest by exact score remain
because      consistency level LOCAL_ONE: Cassandra searches on one replica of each range
`, plan.String())
	require.ErrorIs(t, products.Metric(vector.L2).Explain(10).Err, search.ErrMetric)
}
