// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// Situations of searches.

const lampTable = `
	CREATE KEYSPACE lamps WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
	CREATE TABLE lamps.lamps (id int PRIMARY KEY, name text, price int, embedding vector<float, 2>);
	CREATE TABLE lamps.plain (id int PRIMARY KEY, embedding vector<float, 2>);
	INSERT INTO lamps.lamps (id, name) VALUES (1, 'desk lamp');`

// onCassandra and onScylla create the vector index of lamps.
const (
	onCassandra = "CREATE CUSTOM INDEX by_embedding ON lamps.lamps (embedding) USING 'StorageAttachedIndex'"
	onScylla    = "CREATE CUSTOM INDEX by_embedding ON lamps.lamps (embedding) USING 'vector_index'"
)

// inLamps returns a function that calls f with a session of a new cluster, in a bubble.
func inLamps(cfg cqltest.Config, index string, f func(ctx context.Context, s *vecql.Session) error) func(*testing.T) error {
	return onCluster(cfg, func(t *testing.T, s *shop) error {
		require.NoError(t, s.cluster.Exec(lampTable+index))
		require.NoError(t, s.start(t))
		return f(t.Context(), s.Session)
	})
}

// findLamps searches the table, as Cassandra has it, for lamps near to a query.
func findLamps(target string, query []float32, k int, change func(*search.Query[int32]) *search.Query[int32]) func(*testing.T) error {
	return inLamps(cqltest.Config{}, onCassandra, func(ctx context.Context, s *vecql.Session) error {
		lamps, err := search.Open[int32](ctx, s, target)
		if err != nil {
			return err
		}
		_, err = change(lamps).All(ctx, query, k)
		return err
	})
}

func searchSituations() []situation {
	same := func(q *search.Query[int32]) *search.Query[int32] { return q }
	query := []float32{1, 2}
	store := func(version string, store cqltest.VectorStore) cqltest.Config {
		return cqltest.Config{Scylla: &cqltest.Scylla{Version: version, VectorStore: &store}}
	}
	return []situation{
		{"search.ErrTarget", "open a table without vectors", is(search.ErrTarget), inLamps(cqltest.Config{}, "ALTER TABLE lamps.plain DROP embedding",
			func(ctx context.Context, s *vecql.Session) error {
				_, err := search.Open[int32](ctx, s, "lamps.plain")
				return err
			})},
		{"search.ErrRow", "open a table for rows with a field that is no column", is(search.ErrRow), inLamps(cqltest.Config{}, onCassandra,
			func(ctx context.Context, s *vecql.Session) error {
				_, err := search.Open[struct{ ID, Weight int }](ctx, s, "lamps.lamps")
				return err
			})},
		{"search.ErrNoIndex", "search a column without an index", is(search.ErrNoIndex), findLamps("lamps.plain", query, 3, same)},
		{"search.ErrIndexExists", "create a second index", is(search.ErrIndexExists), inLamps(cqltest.Config{}, onCassandra,
			func(ctx context.Context, s *vecql.Session) error {
				return search.CreateIndex(ctx, s, "lamps.lamps", vector.Cosine, search.IndexOptions{})
			})},
		{
			"search.ErrMetric", "search for another similarity than the one of the index", is(search.ErrMetric),
			findLamps("lamps.lamps", query, 3, func(q *search.Query[int32]) *search.Query[int32] { return q.Metric(vector.L2) }),
		},
		{
			"search.ErrMetric", "search exactly without an index and a metric", is(search.ErrMetric),
			findLamps("lamps.plain", query, 3, (*search.Query[int32]).Exact),
		},
		{"search.ErrK", "search for 2000 rows by an index", is(search.ErrK), findLamps("lamps.lamps", query, 2000, same)},
		{"search.ErrElement", "search for 1e20", is(search.ErrElement), findLamps("lamps.lamps", []float32{1, 1e20}, 3, same)},
		{
			"search.ErrOption", "search at a serial consistency level", is(search.ErrOption),
			findLamps("lamps.lamps", query, 3, func(q *search.Query[int32]) *search.Query[int32] { return q.Consistency(cql.Serial) }),
		},
		{"search.ErrOption", "quantize an index of Cassandra", is(search.ErrOption), inLamps(cqltest.Config{}, "",
			func(ctx context.Context, s *vecql.Session) error {
				return search.CreateIndex(ctx, s, "lamps.lamps", vector.Cosine, search.IndexOptions{Quantization: "i8"})
			})},
		{"search.ErrNoVector", "find what is like a row without a vector", is(search.ErrNoVector), inLamps(cqltest.Config{}, onCassandra,
			func(ctx context.Context, s *vecql.Session) error {
				lamps, err := search.Open[int32](ctx, s, "lamps.lamps")
				if err == nil {
					_, err = lamps.Like(ctx, 3, 1)
				}
				return err
			})},
		{"search.ErrDowntime", "replace the index of Cassandra", is(search.ErrDowntime), inLamps(cqltest.Config{}, onCassandra,
			func(ctx context.Context, s *vecql.Session) error {
				return search.RebuildIndex(ctx, s, "lamps.lamps", search.RebuildOptions{}, nil)
			})},
		{"search.RebuildError", "replace an index, and end the wait", as[*search.RebuildError](), inLamps(store("", cqltest.VectorStore{Build: time.Hour}), onScylla,
			func(ctx context.Context, s *vecql.Session) error {
				ctx, cancel := context.WithCancelCause(ctx)
				defer cancel(nil)
				return search.RebuildIndex(ctx, s, "lamps.lamps", search.RebuildOptions{Downtime: true}, func(search.Progress) { cancel(context.Canceled) })
			})},
		{"search.ErrSchema", "search batches with a column named score", is(search.ErrSchema), func(t *testing.T) error {
			batches := func(yield func(*column.Batch, error) bool) {
				yield(column.NewBatch(column.Of("score", []int32{7}), column.Matrix("v", []float32{1, 2}, 2)), nil)
			}
			_, err := search.Over(batches, "v").Nearest(t.Context(), query, 1)
			return err
		}},
		{
			"search.FilterError", "filter by a column without an index", as[*search.FilterError](),
			findLamps("lamps.lamps", query, 3, func(q *search.Query[int32]) *search.Query[int32] { return q.Where("price < ?", 20) }),
		},
		{
			"search.FilterError", "filter by one of two conditions", as[*search.FilterError](),
			findLamps("lamps.lamps", query, 3, func(q *search.Query[int32]) *search.Query[int32] { return q.Where("id = 1 or id = 2") }),
		},
		{"search.IndexNotReadyError", "search while ScyllaDB builds the index", as[*search.IndexNotReadyError](), inLamps(store("", cqltest.VectorStore{Build: 1000 * time.Hour}), onScylla,
			func(ctx context.Context, s *vecql.Session) error {
				lamps, err := search.Open[int32](ctx, s, "lamps.lamps")
				if err == nil {
					_, err = lamps.All(ctx, query, 3)
				}
				return err
			})},
	}
}
