// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// Exact searches and recall, by the verbs of a Query.

// TestExact compares exact searches with the reference: as rows and as a batch, with filters that no index serves, with
// bounds, for more hits than an index returns, and by the vector of a row.
func TestExact(t *testing.T) {
	session := newSession(t, cqltest.Config{}, fmt.Sprintf(productTable, "euclidean"))
	rows := fill(t, session, 60)
	products, err := search.Open[product](t.Context(), session, "products")
	require.NoError(t, err)
	var read int64
	exact := products.Exact().Progress(func(rows int64) { read = rows })
	query := []float32{0.3, -0.2, 0.9}
	id := func(p product) int32 { return p.ID }

	everything, err := exact.All(t.Context(), query, 2000)
	require.NoError(t, err)
	require.EqualValues(t, 60, read)
	require.Len(t, everything.Hits, 60)
	require.Equal(t, 2000, everything.K)
	for _, hit := range everything.Hits {
		require.Equal(t, rows[hit.Row.ID], hit.Row)
		require.InDelta(t, vector.Reference(vector.L2, query, hit.Row.Embedding), hit.Distance, 1e-5)
		require.InDelta(t, vector.L2.Score(hit.Distance, 3), hit.Score, 1e-6)
	}
	filtered, err := exact.Where("name like '%1%' or price is null").All(t.Context(), query, 10)
	require.NoError(t, err)
	for _, hit := range filtered.Hits {
		require.True(t, hit.Row.Price == nil || hit.Row.ID/10 == 1 || hit.Row.ID%10 == 1, hit.Row)
	}
	one, err := exact.Where("id = ?", 7).All(t.Context(), query, 10)
	require.NoError(t, err)
	require.Equal(t, []int32{7}, idsOf(one, id))

	bound := everything.Hits[6].Distance
	near, err := exact.MaxDistance(bound).All(t.Context(), query, 9)
	require.NoError(t, err)
	require.Equal(t, 9, len(near.Hits)+near.Outside)
	require.LessOrEqual(t, near.Hits[len(near.Hits)-1].Distance, bound)

	batch, err := exact.Batch(t.Context(), [][]float32{query, query}, 5)
	require.NoError(t, err)
	require.Equal(t, 10, batch.Rows)
	for i := range 5 {
		require.EqualValues(t, everything.Hits[i].Row.ID, batch.Column("id").Value(5+i))
		require.Equal(t, everything.Hits[i].Score, batch.Column(search.ScoreColumn).Value(i))
	}
	like, err := exact.Like(t.Context(), 2, 4)
	require.NoError(t, err)
	require.Equal(t, int32(5), like.Hits[0].Row.ID, "the twin of row 4")
}

// TestExactWithoutIndex states the similarity, which no index does.
func TestExactWithoutIndex(t *testing.T) {
	session := newSession(t, cqltest.Config{}, scyllaTable)
	rows := fill(t, session, 20)
	products, err := search.Open[product](t.Context(), session, "products")
	require.NoError(t, err)
	query := []float32{0.3, -0.2, 0.9}
	_, err = products.Exact().All(t.Context(), query, 3)
	require.ErrorIs(t, err, search.ErrMetric)
	result, err := products.Exact().Metric(vector.Dot).All(t.Context(), query, 3)
	require.NoError(t, err)
	require.Equal(t, nearest(rows, vector.Dot, query, 3, func(product) bool { return true })[0], result.Hits[0].Row.ID)

	plan := products.Exact().Metric(vector.Dot).Explain(3)
	require.NoError(t, plan.Err)
	require.True(t, plan.Exact)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	_, err = products.Exact().Metric(vector.Dot).All(ctx, query, 3)
	require.ErrorIs(t, err, stop)
}

// TestRecall measures an index that misses rows, and one that does not.
func TestRecall(t *testing.T) {
	for _, approximate := range []bool{false, true} {
		session := newSession(t, cqltest.Config{SAI: cqltest.SAI{Approximate: approximate}}, fmt.Sprintf(productTable, "cosine"))
		fill(t, session, 400)
		products, err := search.Open[product](t.Context(), session, "products")
		require.NoError(t, err)
		report, err := products.Recall(t.Context(), search.RecallConfig{Sample: 20, K: []int{3, 10}, Oversample: []float64{1, 8}})
		require.NoError(t, err)
		require.Equal(t, "shop.products_embedding", report.Index)
		require.Equal(t, 20, report.Queries, "the ring has no end")
		require.Len(t, report.Rows, 4)
		for i, row := range report.Rows {
			if approximate {
				require.Less(t, row.Recall, 1.0, report)
				require.Greater(t, row.Recall, 0.5, report)
			} else {
				require.InDelta(t, 1, row.Recall, 1e-9, report)
			}
			if row.Oversample > 1 {
				require.GreaterOrEqual(t, row.Recall, report.Rows[i-1].Recall, report)
			}
			require.LessOrEqual(t, row.Lowest, row.Recall+1e-9)
			require.Positive(t, row.P50)
			require.LessOrEqual(t, row.P50, row.P99)
		}
		require.Contains(t, report.String(), "oversample")
	}
}

// TestRecallOfGivenAnswers compares with answers that are given, as files of benchmarks have them.
func TestRecallOfGivenAnswers(t *testing.T) {
	session := newSession(t, cqltest.Config{}, fmt.Sprintf(productTable, "cosine"))
	rows := fill(t, session, 40)
	products, err := search.Open[product](t.Context(), session, "products")
	require.NoError(t, err)
	queries := [][]float32{{1, 0, 0.2}, {0, 1, 0.3}}
	var truth [][]int64
	for _, query := range queries {
		var ids []int64
		for _, id := range nearest(rows, vector.Cosine, query, 5, func(product) bool { return true }) {
			ids = append(ids, int64(id))
		}
		truth = append(truth, ids)
	}
	truth[1][4], truth[1][3] = 999, 998 // two of five are not found
	cfg := search.RecallConfig{Queries: queries, Truth: truth, K: []int{5}, Oversample: []float64{1}}
	report, err := products.Recall(t.Context(), cfg)
	require.NoError(t, err)
	require.InDelta(t, 0.8, report.Rows[0].Recall, 1e-9)
	require.InDelta(t, 0.6, report.Rows[0].Lowest, 1e-9)
	require.Zero(t, report.Exact)

	cfg.Truth = truth[:1]
	_, err = products.Recall(t.Context(), cfg)
	require.ErrorIs(t, err, search.ErrOption)
	cfg.Truth, cfg.K = truth, []int{6}
	_, err = products.Recall(t.Context(), cfg)
	require.ErrorIs(t, err, search.ErrOption)
}
