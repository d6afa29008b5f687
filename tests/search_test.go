// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// Searches by vectors, and what servers refuse, change or ignore in them.

// searchSuite lists the tests that every server of their products must pass. Each runs as a subtest with a keyspace of
// its own.
var searchSuite = []struct {
	name string
	on   product
	run  func(t *testing.T, s *vecql.Session, keyspace string)
}{
	{"nearest", withVectors, testNearest},
	{"filter", withVectors, testFilter},
	{"index", withVectors, testIndex},
	{"recall", withVectors, testRecall},
	{"refused", withVectors, testSearchRefused},
	{"limit", withVectors, testSearchLimit},
	{"zero vectors of Cassandra", cassandra5, testZeroVectors},
	{"consistency of Cassandra", cassandra5, testSearchConsistency},
	{"paging of Cassandra", cassandra5, testSearchPaging},
	{"filters of Cassandra", cassandra5, testCassandraFilters},
	{"zero vectors of ScyllaDB", scylla, testScyllaZeroVectors},
}

// TestSearch runs the suite on the shared Cassandra, or on the servers of VECQL_TEST_HOSTS, and on cqltest in place of
// both products. ScyllaDB needs its vector store.
func TestSearch(t *testing.T) {
	for _, c := range []struct {
		name     string
		kind     kind
		replicas int
	}{{"server", plainNode, 1}, {"cqltest", embeddedNode, 1}, {"cqltest-scylla", embeddedScylla, 3}} {
		t.Run(c.name, func(t *testing.T) {
			s := connect(t, config(t, c.kind))
			on := productOf(t, s)
			requireOffered(t, on, "TestSearch")
			for _, test := range searchSuite {
				if test.on&on != 0 {
					t.Run(test.name, func(t *testing.T) { test.run(t, s, keyspace(t, s, c.replicas)) })
				}
			}
		})
	}
}

// An item is a row of the table of these tests.
type item struct {
	ID    int32
	Price int32
	Label string
	V     []float32
}

const itemDim = 8

// createItems creates the table items with n random rows and no index.
func createItems(t *testing.T, s *vecql.Session, ks string, n int) []item {
	t.Helper()
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.items (id int PRIMARY KEY, price int, label text, v vector<float, %d>)", ks, itemDim))
	insert, err := vecql.Prepare[item](t.Context(), s.Query(vecql.InsertInto[item](ks+".items")).Idempotent(true))
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	items := make([]item, n)
	for i := range items {
		items[i] = item{ID: int32(i), Price: int32(i % 10), Label: fmt.Sprint(i % 3), V: randomVector(r)}
		require.NoError(t, insert.Exec(t.Context(), &items[i]))
	}
	return items
}

func randomVector(r *rand.Rand) []float32 {
	v := make([]float32, itemDim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// indexItems creates the vector index of items, waits until it serves, and opens the table.
func indexItems(t *testing.T, s *vecql.Session, ks string, m vector.Metric, o search.IndexOptions) *search.Query[item] {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, search.CreateIndex(ctx, s, ks+".items(v)", m, o))
	require.NoError(t, search.WaitReady(ctx, s, ks+".items(v)", nil))
	q, err := search.Open[item](ctx, s, ks+".items")
	require.NoError(t, err)
	return q
}

// nearestItems is the reference: the ids of the k items nearest to a query for which keep is true, and their distances.
func nearestItems(items []item, m vector.Metric, query []float32, k int, keep func(item) bool) (ids []int32, distances []float64) {
	kept := slices.DeleteFunc(slices.Clone(items), func(i item) bool { return !keep(i) })
	slices.SortFunc(kept, func(a, b item) int {
		return cmp.Compare(vector.Reference(m, query, a.V), vector.Reference(m, query, b.V))
	})
	for _, i := range kept[:min(k, len(kept))] {
		ids, distances = append(ids, i.ID), append(distances, vector.Reference(m, query, i.V))
	}
	return ids, distances
}

func all(item) bool { return true }

func idsOf(hits []search.Hit[item]) []int32 {
	var ids []int32
	for _, h := range hits {
		ids = append(ids, h.Row.ID)
	}
	return ids
}

// testNearest compares searches with the reference, for each similarity: by the index, whose scores are exact and whose
// hits are nearly; by the index with oversampling; exactly.
func testNearest(t *testing.T, s *vecql.Session, ks string) {
	items := createItems(t, s, ks, 300)
	for _, m := range []vector.Metric{vector.Cosine, vector.L2, vector.Dot} {
		q := indexItems(t, s, ks, m, search.IndexOptions{Name: fmt.Sprintf("by_%d", m)})
		r := rand.New(rand.NewPCG(3, 4))
		found, oversampled := 0, 0
		const queries, k = 20, 10
		for range queries {
			query := randomVector(r)
			ids, distances := nearestItems(items, m, query, k, all)
			result, err := q.All(t.Context(), query, k)
			require.NoError(t, err)
			require.Empty(t, result.Warnings)
			require.Len(t, result.Hits, k)
			for i, hit := range result.Hits {
				want := vector.Reference(m, query, items[hit.Row.ID].V)
				require.Equal(t, items[hit.Row.ID], hit.Row)
				require.InDelta(t, want, hit.Distance, 1e-3, "%v", m) // of a score near 1 the distance is less exact
				require.InDelta(t, m.Score(float32(want), itemDim), hit.Score, 1e-5, "%v", m)
				require.True(t, i == 0 || hit.Score <= result.Hits[i-1].Score)
				if slices.Contains(ids, hit.Row.ID) {
					found++
				}
			}
			result, err = q.Oversample(20).All(t.Context(), query, k)
			require.NoError(t, err)
			for _, id := range idsOf(result.Hits) {
				if slices.Contains(ids, id) {
					oversampled++
				}
			}
			exact, err := q.Exact().All(t.Context(), query, k)
			require.NoError(t, err)
			require.Equal(t, ids, idsOf(exact.Hits), "%v", m)
			require.InDelta(t, distances[k-1], exact.Hits[k-1].Distance, 1e-4)
		}
		require.GreaterOrEqual(t, found, queries*k*9/10, "%v", m)
		require.GreaterOrEqual(t, oversampled, queries*k*99/100, "%v", m)
		require.NoError(t, search.DropIndex(t.Context(), s, ks+".items(v)"))
	}
}

// testFilter searches among the rows for which a condition is true, by the index and exactly, and by the vector of a
// row.
func testFilter(t *testing.T, s *vecql.Session, ks string) {
	items := createItems(t, s, ks, 300)
	q := indexItems(t, s, ks, vector.L2, search.IndexOptions{Filter: []string{"price"}})
	query := randomVector(rand.New(rand.NewPCG(5, 6)))
	cheap := func(i item) bool { return i.Price >= 2 && i.Price < 5 }
	ids, _ := nearestItems(items, vector.L2, query, 5, cheap)
	where := q.Where("price >= ?", 2).Where("price < 5")
	result, err := where.Oversample(10).All(t.Context(), query, 5)
	require.NoError(t, err)
	require.Equal(t, ids, idsOf(result.Hits))
	result, err = where.Exact().All(t.Context(), query, 5)
	require.NoError(t, err)
	require.Equal(t, ids, idsOf(result.Hits))

	ids, _ = nearestItems(items, vector.L2, query, 5, func(i item) bool { return i.Label == "1" || i.Price > 8 })
	result, err = q.Exact().Where("label = '1' or price > 8").All(t.Context(), query, 5)
	require.NoError(t, err)
	require.Equal(t, ids, idsOf(result.Hits))

	ids, _ = nearestItems(items, vector.L2, items[7].V, 5, func(i item) bool { return i.ID != 7 })
	result, err = q.Oversample(10).Like(t.Context(), 5, 7)
	require.NoError(t, err)
	require.Equal(t, ids, idsOf(result.Hits))
	result, err = q.Where("id = 9").All(t.Context(), query, 5)
	require.NoError(t, err)
	require.Equal(t, []int32{9}, idsOf(result.Hits))
}

// testIndex creates indexes, waits for them with progress, and drops them.
func testIndex(t *testing.T, s *vecql.Session, ks string) {
	createItems(t, s, ks, 20)
	target := ks + ".items(v)"
	q, err := search.Open[item](t.Context(), s, target)
	require.NoError(t, err)
	query := randomVector(rand.New(rand.NewPCG(5, 6)))
	_, err = q.All(t.Context(), query, 3)
	require.ErrorIs(t, err, search.ErrNoIndex)
	require.ErrorIs(t, search.WaitReady(t.Context(), s, target, nil), search.ErrNoIndex)
	var warnings []string
	require.NoError(t, search.CreateIndex(t.Context(), s, target, vector.Dot, search.IndexOptions{
		Name: "by_v", Warn: func(text string) { warnings = append(warnings, text) },
	}))
	if productOf(t, s) == cassandra5 && s.ProtoVersion() >= 4 { // v3 has no warnings
		require.Len(t, warnings, 1)
		require.Contains(t, warnings[0], "experimental")
	}
	var last search.Progress
	require.NoError(t, search.WaitReady(t.Context(), s, target, func(p search.Progress) { last = p }))
	require.Equal(t, ks+".by_v", last.Index)
	require.ErrorIs(t, search.CreateIndex(t.Context(), s, target, vector.L2, search.IndexOptions{}), search.ErrMetric)
	require.NoError(t, search.CreateIndex(t.Context(), s, target, vector.Dot, search.IndexOptions{Name: "by_v", IfNotExists: true}))
	require.ErrorIs(t, search.CreateIndex(t.Context(), s, target, vector.Dot, search.IndexOptions{MaximumNodeConnections: 513}), search.ErrOption)
	result, err := q.All(t.Context(), query, 3)
	require.NoError(t, err)
	require.Len(t, result.Hits, 3)
	require.NoError(t, search.DropIndex(t.Context(), s, ks+".by_v"))
	_, err = q.All(t.Context(), query, 3)
	require.ErrorIs(t, err, search.ErrNoIndex)
}

// testRecall measures the recall of an index.
func testRecall(t *testing.T, s *vecql.Session, ks string) {
	createItems(t, s, ks, 300)
	q := indexItems(t, s, ks, vector.Cosine, search.IndexOptions{})
	report, err := q.Recall(t.Context(), search.RecallConfig{Sample: 20, K: []int{1, 10}, Oversample: []float64{1, 10}})
	require.NoError(t, err)
	require.Equal(t, 20, report.Queries)
	require.Len(t, report.Rows, 4)
	for _, row := range report.Rows {
		require.GreaterOrEqual(t, row.Recall, 0.9, "%v", report)
		require.Zero(t, row.Short, "%v", report)
		require.Positive(t, row.P50)
	}
	t.Log(report)
}

// testSearchRefused requires that the driver refuses what servers refuse, answer wrongly, or do not survive. A query
// that is zero or has NaN stops the searches of an index of Cassandra (TestUnindexedQuery).
func testSearchRefused(t *testing.T, s *vecql.Session, ks string) {
	createItems(t, s, ks, 20)
	q := indexItems(t, s, ks, vector.Cosine, search.IndexOptions{Filter: []string{"price"}})
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	good := randomVector(rand.New(rand.NewPCG(5, 6)))
	var element *vector.ElementError
	var dimension *vector.DimensionError
	var filter *search.FilterError
	for _, c := range []struct {
		q     *search.Query[item]
		query []float32
		k     int
		is    error
		as    any
	}{
		{q: q, query: make([]float32, itemDim), k: 3, is: vector.ErrZero},
		{q: q, query: []float32{1, 2, 3, 4, 5, 6, 7, nan}, k: 3, as: &element},
		{q: q, query: []float32{inf, 2, 3, 4, 5, 6, 7, 8}, k: 3, as: &element},
		{q: q, query: good[1:], k: 3, as: &dimension},
		{q: q, query: good, k: search.MaxHits + 1, is: search.ErrK},
		{q: q, query: good, k: 0, is: search.ErrK},
		{q: q.Metric(vector.L2), query: good, k: 3, is: search.ErrMetric},
		{q: q.Consistency(cql.Serial), query: good, k: 3, is: search.ErrOption},
		{q: q.Consistency(cql.LocalSerial), query: good, k: 3, is: search.ErrOption},
		{q: q.Where("label = '1'"), query: good, k: 3, as: &filter},
		{q: q.Where("price <> 1"), query: good, k: 3, as: &filter},
		{q: q.Where("price = 1 or price = 2"), query: good, k: 3, as: &filter},
	} {
		_, err := c.q.All(t.Context(), c.query, c.k)
		require.Error(t, err)
		if c.is != nil {
			require.ErrorIs(t, err, c.is)
		}
		if c.as != nil {
			require.ErrorAs(t, err, c.as)
		}
		var failure *vecql.RequestFailure
		require.NotErrorAs(t, err, &failure, "nothing is sent")
	}
	result, err := q.All(t.Context(), good, 3)
	require.NoError(t, err)
	require.Len(t, result.Hits, 3)
}

// testSearchLimit requires the greatest LIMIT of both servers, and that they require one.
func testSearchLimit(t *testing.T, s *vecql.Session, ks string) {
	createItems(t, s, ks, 20)
	q := indexItems(t, s, ks, vector.Dot, search.IndexOptions{})
	query := randomVector(rand.New(rand.NewPCG(5, 6)))
	result, err := q.All(t.Context(), query, search.MaxHits)
	require.NoError(t, err)
	require.Len(t, result.Hits, 20)
	require.Equal(t, search.MaxHits, result.K)
	text := "SELECT id FROM " + ks + ".items ORDER BY v ANN OF ?"
	require.ErrorIs(t, s.Query(text, query).Consistency(cql.One).Exec(t.Context()), cql.CodeInvalid)
	err = s.Query(text+" LIMIT 1001", query).Consistency(cql.One).Exec(t.Context())
	require.ErrorIs(t, err, cql.CodeInvalid)
	require.ErrorContains(t, err, "Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than 1000. LIMIT was 1001")
}

// testZeroVectors requires that Cassandra refuses rows that a cosine index cannot hold, and leaves such rows out that
// are older than the index.
func testZeroVectors(t *testing.T, s *vecql.Session, ks string) {
	items := createItems(t, s, ks, 20)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	zero := make([]float32, itemDim)
	insert := func(id int, v []float32) error {
		return s.Query("INSERT INTO "+ks+".items (id, price, label, v) VALUES (?, 0, '', ?)", id, v).Exec(t.Context())
	}
	require.NoError(t, insert(100, zero)) // older than the index
	require.NoError(t, insert(101, []float32{1, 2, 3, nan, 5, 6, 7, 8}))
	q := indexItems(t, s, ks, vector.Cosine, search.IndexOptions{})
	refused := cql.CodeWriteFailure
	if s.ProtoVersion() < 4 {
		refused = cql.CodeWriteTimeout // v3 has no failures of replicas
	}
	for id, v := range [][]float32{
		zero, {1, 2, 3, nan, 5, 6, 7, 8}, {1, 2, 3, inf, 5, 6, 7, 8}, {1, 2, 3, 1.5e17, 5, 6, 7, 8},
	} {
		err := insert(200+id, v)
		require.ErrorIs(t, err, refused, "%v", v)
		require.ErrorIs(t, s.Query("SELECT id FROM "+ks+".items WHERE id = ?", 200+id).Scan(t.Context(), new(int)), vecql.ErrNotFound)
	}
	require.NoError(t, insert(300, []float32{1, 2, 3, 1e17, 5, 6, 7, 8}))
	result, err := q.All(t.Context(), items[0].V, search.MaxHits)
	require.NoError(t, err)
	require.Len(t, result.Hits, len(items)+1)
	exact, err := q.Exact().All(t.Context(), items[0].V, 100)
	require.NoError(t, err)
	require.Len(t, exact.Hits, len(items)+3)
	for _, hit := range exact.Hits[len(items)+1:] { // they have no distance, and come last
		require.Contains(t, []int32{100, 101}, hit.Row.ID)
		require.True(t, math.IsNaN(float64(hit.Score)))
	}
	err = s.Query("SELECT id, similarity_cosine(v, ?) FROM "+ks+".items", zero).Exec(t.Context())
	require.ErrorContains(t, err, "doesn't support all-zero vectors")
}

// testSearchConsistency requires that Cassandra refuses serial levels and lowers others with a warning.
func testSearchConsistency(t *testing.T, s *vecql.Session, ks string) {
	if s.ProtoVersion() < 4 {
		t.Skip("missing: no warnings")
	}
	items := createItems(t, s, ks, 20)
	q := indexItems(t, s, ks, vector.Cosine, search.IndexOptions{})
	for level, lowered := range map[cql.Consistency]string{
		cql.One: "", cql.LocalOne: "", cql.Quorum: "ONE", cql.LocalQuorum: "LOCAL_ONE", cql.All: "ONE", cql.Two: "ONE",
	} {
		result, err := q.Consistency(level).All(t.Context(), items[0].V, 3)
		require.NoError(t, err)
		require.Len(t, result.Hits, 3)
		if lowered == "" {
			require.Empty(t, result.Warnings)
			continue
		}
		require.Equal(t, []string{fmt.Sprintf("Top-K queries can only be run with consistency level ONE / LOCAL_ONE / NODE_LOCAL. "+
			"Consistency level %v was requested. Downgrading the consistency level to %s.", level, lowered)}, result.Warnings)
	}
	for _, level := range []cql.Consistency{cql.Serial, cql.LocalSerial} {
		err := s.Query("SELECT id FROM "+ks+".items ORDER BY v ANN OF ? LIMIT 3", items[0].V).Consistency(level).Exec(t.Context())
		require.ErrorIs(t, err, cql.CodeInvalid)
		require.ErrorContains(t, err, "Top-K queries can only be run with consistency level ONE/LOCAL_ONE.")
	}
}

// testSearchPaging requires that Cassandra returns all rows in one page, with a warning for a smaller page.
func testSearchPaging(t *testing.T, s *vecql.Session, ks string) {
	if s.ProtoVersion() < 4 {
		t.Skip("missing: no warnings")
	}
	items := createItems(t, s, ks, 20)
	indexItems(t, s, ks, vector.Cosine, search.IndexOptions{})
	for size, warned := range map[int]bool{1: true, 4: true, 5: false, 6: false, 0: false} {
		it := s.Query("SELECT id FROM "+ks+".items ORDER BY v ANN OF ? LIMIT 5", items[0].V).Consistency(cql.One).PageSize(size).Iter(t.Context())
		rows, err := it.SliceMap()
		require.NoError(t, err)
		require.Len(t, rows, 5)
		if !warned {
			require.Empty(t, it.Warnings(), "page size %d", size)
			continue
		}
		require.Equal(t, []string{fmt.Sprintf("Top-K queries do not support paging and the page size is set to %d, which is less than LIMIT 5. "+
			"The page size has been set to 5 to match the LIMIT.", size)}, it.Warnings())
	}
}

// testCassandraFilters requires what Cassandra answers to filters that the driver does not send.
func testCassandraFilters(t *testing.T, s *vecql.Session, ks string) {
	items := createItems(t, s, ks, 20)
	q := indexItems(t, s, ks, vector.Cosine, search.IndexOptions{Filter: []string{"price"}})
	unequal := `Unsupported "!=" relation`
	if s.GetHosts()[0].Version >= "6" {
		unequal = "use ALLOW FILTERING"
	}
	for where, text := range map[string]string{
		"label = '1'":                 "ANN ordering by vector requires all restricted column(s) to be indexed",
		"label = '1' ALLOW FILTERING": "ANN ordering by vector requires all restricted column(s) to be indexed",
		"price IN (1, 2)":             "use ALLOW FILTERING",
		"id IN (1, 2)":                "IN clause for the PRIMARY KEY are not supported",
		"price != 1":                  unequal,
	} {
		statement, filtering := ks+".items WHERE "+where, ""
		if before, found := strings.CutSuffix(statement, " ALLOW FILTERING"); found {
			statement, filtering = before, " ALLOW FILTERING"
		}
		err := s.Query("SELECT id FROM "+statement+" ORDER BY v ANN OF ? LIMIT 5"+filtering, items[0].V).Consistency(cql.One).Exec(t.Context())
		require.ErrorIs(t, err, cql.CodeInvalid, where)
		require.ErrorContains(t, err, text)
	}
	var filter *search.FilterError
	_, err := q.Where("price in (1, 2)").All(t.Context(), items[0].V, 3)
	require.ErrorAs(t, err, &filter)
}

// testScyllaZeroVectors stores zero in a cosine index of ScyllaDB. The score of the row is NaN, so that it comes last.
func testScyllaZeroVectors(t *testing.T, s *vecql.Session, ks string) {
	items := createItems(t, s, ks, 20)
	exec(t, s, "INSERT INTO "+ks+".items (id, price, label, v) VALUES (?, 0, '', ?)", 100, make([]float32, itemDim))
	q := indexItems(t, s, ks, vector.Cosine, search.IndexOptions{})
	result, err := q.All(t.Context(), items[0].V, 50)
	require.NoError(t, err)
	require.Len(t, result.Hits, len(items)+1)
	last := result.Hits[len(items)]
	require.EqualValues(t, 100, last.Row.ID)
	require.True(t, math.IsNaN(float64(last.Score)))
}

// TestUnindexedQuery shows why the driver refuses a query that Cassandra does not index: 5.0.9 fails the search or does
// not end it, and from then on no search of the index ends until the node restarts (QueryViewBuilder.build loops), each
// on a thread that other reads lack. 6.0-alpha2 does not end the first search either. The node is started for this
// test.
func TestUnindexedQuery(t *testing.T) {
	soak.Only(t)
	if external() != nil {
		t.Skip("the test would stop the searches of the servers of VECQL_TEST_HOSTS")
	}
	c, err := cassandra.Start(t.Context(), cassandra.Options{Log: t.Log})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
	cfg.Protocol.Version = cassandra.Protocol()
	s := connect(t, cfg)
	requireOffered(t, productOf(t, s), "TestUnindexedQuery")
	for i, x := range []float32{0, float32(math.NaN()), 2e17} {
		ks := fmt.Sprintf("unindexed%d", i)
		exec(t, s, "CREATE KEYSPACE "+ks+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		items := createItems(t, s, ks, 20)
		q := indexItems(t, s, ks, vector.Cosine, search.IndexOptions{})
		bad := slices.Repeat([]float32{x}, itemDim)
		_, err = q.All(t.Context(), bad, 3)
		require.Error(t, err)
		_, err = q.All(t.Context(), items[0].V, 3)
		require.NoError(t, err, "the driver did not send the query")

		text := "SELECT id FROM " + ks + ".items ORDER BY v ANN OF ? LIMIT 3"
		err = s.Query(text, bad).Consistency(cql.One).Exec(t.Context())
		failed := cql.CodeReadFailure
		if cassandra.Protocol() == 3 { // which has no failures of replicas
			failed = cql.CodeReadTimeout
		}
		require.True(t, errors.Is(err, failed) || errors.Is(err, vecql.ErrTimeoutNoResponse), "%v", err)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		require.ErrorIs(t, s.Query(text, items[0].V).Consistency(cql.One).Exec(ctx), context.DeadlineExceeded)
	}
}
