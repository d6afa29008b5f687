// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// RebuildIndex on both servers.

// vectorIndexes returns the names of the indexes of the keyspace.
func vectorIndexes(t testing.TB, session *vecql.Session) []string {
	t.Helper()
	ks, err := session.KeyspaceMetadata(t.Context(), "shop")
	require.NoError(t, err)
	var names []string
	for name := range ks.Indexes {
		names = append(names, name)
	}
	return names
}

// slowStore starts a ScyllaDB whose vector store builds an index in an hour, with the index near that serves.
func slowStore(t *testing.T) (*cqltest.Cluster, *vecql.Session) {
	cluster := newCluster(t, scylla("", cqltest.VectorStore{Build: time.Hour}), indexedTable)
	session := connect(t, cluster, 0)
	fill(t, session, 20)
	require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.L2, search.IndexOptions{
		Name: "near", Filter: []string{"price"}, SearchBeamWidth: 100, Oversampling: 2,
	}))
	cluster.StepClock(time.Hour)
	return cluster, session
}

// TestRebuildIndexScylla replaces an index while searches are answered.
func TestRebuildIndexScylla(t *testing.T) {
	cluster, session := slowStore(t)
	products, err := search.Open[product](t.Context(), session, "products")
	require.NoError(t, err)
	asked := 0
	var states []search.Progress
	err = search.RebuildIndex(t.Context(), session, "products", search.RebuildOptions{
		Index: search.IndexOptions{Quantization: "i8", Oversampling: 4},
		Serves: func(_ context.Context, keyspace, index string) (bool, error) {
			require.Equal(t, []string{"shop", "near_2"}, []string{keyspace, index})
			require.ElementsMatch(t, []string{"near", "near_2"}, vectorIndexes(t, session))
			require.NoError(t, search.WaitReady(t.Context(), session, "products", nil), "CQL does not show which index serves")
			result, err := products.Where("price < 100").All(t.Context(), []float32{1, 2, 3}, 3)
			require.NoError(t, err)
			require.Len(t, result.Hits, 3)
			cluster.StepClock(20 * time.Minute)
			asked++
			return asked == 4, nil
		},
	}, func(p search.Progress) { states = append(states, p) })
	require.NoError(t, err)
	require.Equal(t, []search.Progress{{Index: "shop.near_2", Built: -1}, {Index: "shop.near_2", Built: 1}}, states)
	require.Equal(t, []string{"near_2"}, vectorIndexes(t, session))
	require.Equal(t, map[string]string{
		"class_name": "vector_index", "target": `{"tc":"embedding","fc":["price"]}`, "similarity_function": "euclidean",
		"search_beam_width": "100", "oversampling": "4", "quantization": "i8",
	}, optionsOf(t, session, "near_2"))
	_, err = products.All(t.Context(), []float32{1, 2, 3}, 3)
	require.NoError(t, err)
}

// TestRebuildIndexGoesOn ends with its context while the old index serves, and then goes on.
func TestRebuildIndexGoesOn(t *testing.T) {
	_, session := slowStore(t)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	serves := false
	options := search.RebuildOptions{Serves: func(context.Context, string, string) (bool, error) {
		if !serves {
			cancel(enough)
		}
		return serves, nil
	}}
	err := search.RebuildIndex(ctx, session, "products", options, nil)
	require.ErrorIs(t, err, enough)
	var rebuild *search.RebuildError
	require.ErrorAs(t, err, &rebuild)
	require.Equal(t, []any{"near", "near_2", false}, []any{rebuild.Old, rebuild.New, rebuild.Dropped})
	require.ErrorContains(t, err, `search: rebuild index: index near serves; to go on, call RebuildIndex with Replace "near" and Index.Name "near_2"; `+
		"to give up, drop near_2: wait for index near_2 of shop.products(embedding): enough")
	require.ElementsMatch(t, []string{"near", "near_2"}, vectorIndexes(t, session))

	require.ErrorContains(t, search.RebuildIndex(t.Context(), session, "products", options, nil), "several vector indexes")
	serves, options.Replace, options.Index.Name = true, rebuild.Old, rebuild.New
	require.NoError(t, search.RebuildIndex(t.Context(), session, "products", options, nil))
	require.Equal(t, []string{"near_2"}, vectorIndexes(t, session))
	require.NoError(t, search.RebuildIndex(t.Context(), session, "products", search.RebuildOptions{Serves: options.Serves}, nil))
	require.Equal(t, []string{"near_3"}, vectorIndexes(t, session))
}

// TestRebuildIndexFails keeps the old index if an error of Serves ends the wait.
func TestRebuildIndexFails(t *testing.T) {
	_, session := slowStore(t)
	broken := errors.New("broken")
	err := search.RebuildIndex(t.Context(), session, "products", search.RebuildOptions{
		Serves: func(context.Context, string, string) (bool, error) { return false, broken },
	}, nil)
	require.ErrorIs(t, err, broken)
	var rebuild *search.RebuildError
	require.ErrorAs(t, err, &rebuild)
	require.ElementsMatch(t, []string{"near", "near_2"}, vectorIndexes(t, session))
}

// TestRebuildIndexRefused changes nothing.
func TestRebuildIndexRefused(t *testing.T) {
	_, session := slowStore(t)
	serves := func(context.Context, string, string) (bool, error) { return true, nil }
	rebuild := func(target string, options search.RebuildOptions) error {
		return search.RebuildIndex(t.Context(), session, target, options, nil)
	}
	require.ErrorIs(t, rebuild("products", search.RebuildOptions{}), search.ErrDowntime)
	require.ErrorIs(t, rebuild("products", search.RebuildOptions{Serves: serves, Replace: "far"}), search.ErrNoIndex)
	require.ErrorIs(t, rebuild("notes", search.RebuildOptions{Serves: serves}), search.ErrNoIndex)
	require.ErrorIs(t, rebuild("products", search.RebuildOptions{Serves: serves, Index: search.IndexOptions{Name: "near"}}), search.ErrOption)
	require.ErrorIs(t, rebuild("products", search.RebuildOptions{Serves: serves, Index: search.IndexOptions{Quantization: "i9"}}), search.ErrOption)
	require.ErrorIs(t, rebuild("products", search.RebuildOptions{Serves: serves, Index: search.IndexOptions{Other: map[string]string{"alpha": "1"}}}),
		cql.CodeInvalid)
	require.Equal(t, []string{"near"}, vectorIndexes(t, session))
}

// TestRebuildIndexCassandra replaces an index only with downtime.
func TestRebuildIndexCassandra(t *testing.T) {
	cluster := newCluster(t, cqltest.Config{SAI: cqltest.SAI{Build: time.Hour}}, indexedTable)
	session := connect(t, cluster, 0)
	require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Dot, search.IndexOptions{Filter: []string{"price"}}))
	cluster.StepClock(time.Hour)
	options := search.RebuildOptions{Index: search.IndexOptions{OptimizeFor: "recall"}}
	err := search.RebuildIndex(t.Context(), session, "products", options, nil)
	require.ErrorIs(t, err, search.ErrDowntime)
	require.ErrorContains(t, err, "nodetool rebuild_index shop products products_embedding_idx, on one node after the other")
	require.NotContains(t, optionsOf(t, session, "products_embedding_idx"), "optimize_for")

	options.Downtime = true
	steps := 0
	require.NoError(t, search.RebuildIndex(t.Context(), session, "products", options, func(search.Progress) {
		cluster.StepClock(time.Hour)
		steps++
	}))
	require.Equal(t, 2, steps)
	require.Equal(t, "recall", optionsOf(t, session, "products_embedding_idx")["optimize_for"])
	require.Equal(t, "dot_product", optionsOf(t, session, "products_embedding_idx")["similarity_function"])
	require.ElementsMatch(t, []string{"products_embedding_idx", "products_price_idx"}, vectorIndexes(t, session))
}

// TestRebuildIndexRestores creates the old index again if the server refuses the new one.
func TestRebuildIndexRestores(t *testing.T) {
	session := newSession(t, cqltest.Config{}, indexedTable)
	require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Dot, search.IndexOptions{OptimizeFor: "recall"}))
	options := search.RebuildOptions{Downtime: true, Index: search.IndexOptions{MaximumNodeConnections: 32}}
	err := search.RebuildIndex(t.Context(), session, "products", options, nil)
	require.ErrorIs(t, err, cql.CodeInvalid)
	require.ErrorContains(t, err, "index products_embedding_idx is built again with its options: create index on shop.products(embedding)")
	require.Equal(t, "recall", optionsOf(t, session, "products_embedding_idx")["optimize_for"])
	require.Equal(t, "dot_product", optionsOf(t, session, "products_embedding_idx")["similarity_function"])
}

// TestRebuildIndexDropped states that the old index is gone.
func TestRebuildIndexDropped(t *testing.T) {
	cluster, session := slowStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := search.RebuildIndex(ctx, session, "products", search.RebuildOptions{Downtime: true}, func(search.Progress) { cancel() })
	var rebuild *search.RebuildError
	require.ErrorAs(t, err, &rebuild)
	require.True(t, rebuild.Dropped)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "index near is dropped: call CreateIndex for near if there is none, and WaitReady: wait for index near of")
	cluster.StepClock(time.Hour)
	require.NoError(t, search.WaitReady(t.Context(), session, "products", nil))
	require.Equal(t, "2", optionsOf(t, session, "near")["oversampling"])
}
