// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// Vector indexes of a real Cassandra, by package search.

// insertVectors inserts rows (k, v) into a table with vectors of vectorOf, 100 a batch.
func insertVectors(t *testing.T, s *vecql.Session, table string, rows, dim int) {
	t.Helper()
	ids, vectors := make([]int32, 100), make([]float32, 100*dim)
	for from := 0; from < rows; from += len(ids) {
		for i := range ids {
			ids[i] = int32(from + i)
			vectorOf(from+i, vectors[i*dim:(i+1)*dim])
		}
		batch := column.NewBatch(column.Of("k", ids), column.Matrix("v", vectors, dim))
		require.NoError(t, s.Query("INSERT INTO "+table+" (k, v) VALUES (?, ?)").ExecRows(t.Context(), batch))
	}
}

// TestSearchIndexBuilds sees an index that does not serve yet, drops it meanwhile, and waits for the next one with its
// progress. The rows are in memory at the first build, whose progress Cassandra does not say, and on disk at the last.
func TestSearchIndexBuilds(t *testing.T) {
	soak.NoRace(t)
	const dim = 384
	s := open(t, config(t, plainNode))
	requireOffered(t, productOf(t, s), "TestSearchIndexBuilds")
	if s.ProtoVersion() < 4 {
		t.Skip("missing: no failures of replicas") // by which an index says that it does not serve yet
	}
	four := config(t, plainNode)
	four.Protocol.Version = 4
	s4, err := vecql.NewSession(t.Context(), *four)
	require.NoError(t, err)
	t.Cleanup(s4.Close)
	sessions := []*vecql.Session{s4, s}
	ks := keyspace(t, s, 1)
	table := ks + ".t"
	exec(t, s, fmt.Sprintf("CREATE TABLE %s (k int PRIMARY KEY, v vector<float, %d>)", table, dim))
	insertVectors(t, s, table, soak.Size(800, 50_000), dim)
	query := vectorOf(7, make([]float32, dim))

	var warnings []string
	options := search.IndexOptions{OptimizeFor: "recall", Warn: func(text string) { warnings = append(warnings, text) }}
	require.NoError(t, search.CreateIndex(t.Context(), s, table, vector.Cosine, options))
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "SAI ANN indexes on vector columns are experimental")
	for _, session := range sessions {
		var waiting *search.IndexNotReadyError
		rows, err := search.Open[int32](t.Context(), session, table)
		require.NoError(t, err)
		_, err = rows.All(t.Context(), query, 3)
		require.ErrorAs(t, err, &waiting)
		require.Equal(t, ks+".t_v_idx", waiting.Index)
	}
	dropped := make(chan error, 1)
	err = search.WaitReady(t.Context(), s, table, func(p search.Progress) {
		require.Equal(t, search.Progress{Index: ks + ".t_v_idx", Built: p.Built, Nodes: 1}, p)
		select {
		case dropped <- search.DropIndex(t.Context(), s4, table+"(v)"):
		default:
		}
	})
	require.ErrorIs(t, err, search.ErrNoIndex)
	require.NoError(t, <-dropped)

	if soak.On() { // 50,000 rows take minutes
		return
	}
	require.NoError(t, search.CreateIndex(t.Context(), s, table, vector.Cosine, options))
	require.NoError(t, search.WaitReady(t.Context(), s, table, nil)) // with the files that the first build wrote, if it ended
	require.NoError(t, search.DropIndex(t.Context(), s, table+"(v)"))
	require.NoError(t, search.CreateIndex(t.Context(), s, table, vector.Cosine, options))
	requireProgress(t, s, table)
	rows, err := search.Open[int32](t.Context(), s, table)
	require.NoError(t, err)
	result, err := rows.All(t.Context(), query, 3)
	require.NoError(t, err)
	require.Equal(t, int32(7), result.Hits[0].Row)
}

// requireProgress waits until the index of a table serves, and requires that its progress was seen.
func requireProgress(t *testing.T, s *vecql.Session, table string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var states []search.Progress
	require.NoError(t, search.WaitReady(ctx, s, table, func(p search.Progress) { states = append(states, p) }))
	parts := 0
	for i, p := range states {
		if p.Built > 0 && p.Built < 1 {
			parts++
		}
		require.True(t, i == 0 || p.Built >= states[i-1].Built, "%v", states)
	}
	require.Positive(t, parts, "%v", states)
	require.Equal(t, search.Progress{Index: states[0].Index, Built: 1, Nodes: 1, Ready: 1}, states[len(states)-1])
}

// TestSearchIndexThreeNodes waits until each of three nodes has built its index. Searches succeed before: as soon as
// one replica of each row serves.
func TestSearchIndexThreeNodes(t *testing.T) {
	soak.Only(t)
	const dim = 384
	s := open(t, config(t, threeNodes))
	requireOffered(t, productOf(t, s), "TestSearchIndexThreeNodes")
	ks := keyspace(t, s, 3)
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, v vector<float, %d>)", ks, dim))
	insertVectors(t, s, ks+".t", 500, dim)
	require.NoError(t, search.CreateIndex(t.Context(), s, ks+".t", vector.Cosine, search.IndexOptions{}))
	var last search.Progress
	require.NoError(t, search.WaitReady(t.Context(), s, ks+".t", func(p search.Progress) { last = p }))
	require.Equal(t, search.Progress{Index: ks + ".t_v_idx", Built: 1, Nodes: 3, Ready: 3}, last)
	for _, host := range s.GetHosts() {
		var serves bool
		views := s.Query("SELECT is_queryable FROM system_views.sai_column_indexes WHERE keyspace_name = ?", ks).HostID(host.ID)
		require.NoError(t, views.Scan(t.Context(), &serves))
		require.True(t, serves, host.Address)
	}
}

// TestSearchIndexEmpty waits for the index of an empty table, and filters by the columns of its options.
func TestSearchIndexEmpty(t *testing.T) {
	s := open(t, config(t, plainNode))
	requireOffered(t, productOf(t, s), "TestSearchIndexEmpty")
	ks := keyspace(t, s, 1)
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (a int, b int, c int, name text, v vector<float, 2>, PRIMARY KEY ((a, b), c))", ks))
	target := ks + ".t(v)"
	options := search.IndexOptions{Name: "Near", Filter: []string{"name", "c", "a"}}
	require.NoError(t, search.CreateIndex(t.Context(), s, target, vector.L2, options))
	require.NoError(t, search.WaitReady(t.Context(), s, target, nil))
	rows, err := search.Open[map[string]any](t.Context(), s, target)
	require.NoError(t, err)
	_, err = rows.Where("name = 'x' and c > 1").All(t.Context(), []float32{1, 2}, 3)
	require.NoError(t, err)

	require.ErrorIs(t, search.CreateIndex(t.Context(), s, target, vector.L2, options), search.ErrIndexExists)
	require.ErrorIs(t, search.CreateIndex(t.Context(), s, target, vector.Dot, options), search.ErrMetric)
	options.IfNotExists = true
	require.NoError(t, search.CreateIndex(t.Context(), s, target, vector.L2, options))
	require.NoError(t, search.DropIndex(t.Context(), s, ks+`."Near"`))
	require.ErrorIs(t, search.WaitReady(t.Context(), s, target, nil), search.ErrNoIndex)
}

// TestSearchIndexRebuild replaces an index. The server refuses a second one of the column, and an option.
func TestSearchIndexRebuild(t *testing.T) {
	s := open(t, config(t, plainNode))
	requireOffered(t, productOf(t, s), "TestSearchIndexRebuild")
	ks := keyspace(t, s, 1)
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, v vector<float, 2>)", ks))
	require.NoError(t, search.CreateIndex(t.Context(), s, ks+".t", vector.Dot, search.IndexOptions{}))
	optimizeFor := func() string {
		m, err := s.KeyspaceMetadata(t.Context(), ks)
		require.NoError(t, err)
		require.Equal(t, "dot_product", m.Indexes["t_v_idx"].Options["similarity_function"])
		return m.Indexes["t_v_idx"].Options["optimize_for"]
	}
	options := search.RebuildOptions{Index: search.IndexOptions{OptimizeFor: "recall"}}
	require.ErrorIs(t, search.RebuildIndex(t.Context(), s, ks+".t", options, nil), search.ErrDowntime)
	require.ErrorContains(t, s.Query("CREATE CUSTOM INDEX second ON "+ks+".t (v) USING 'StorageAttachedIndex'").Exec(t.Context()),
		"Cannot create more than one storage-attached index on the same column: v")
	options.Downtime = true
	require.NoError(t, search.RebuildIndex(t.Context(), s, ks+".t", options, nil))
	require.Equal(t, "recall", optimizeFor())
	options.Index = search.IndexOptions{MaximumNodeConnections: 20}
	err := search.RebuildIndex(t.Context(), s, ks+".t", options, nil)
	require.ErrorIs(t, err, cql.CodeInvalid)
	require.ErrorContains(t, err, "index t_v_idx is built again with its options")
	require.Equal(t, "recall", optimizeFor())
}

// TestSearchIndexRefusals requires that the server refuses what CreateIndex refuses.
func TestSearchIndexRefusals(t *testing.T) {
	s := open(t, config(t, plainNode))
	requireOffered(t, productOf(t, s), "TestSearchIndexRefusals")
	ks := keyspace(t, s, 1)
	exec(t, s, fmt.Sprintf(`CREATE TABLE %s.t (k int PRIMARY KEY, v vector<float, 3>, one vector<float, 1>, ints vector<int, 3>,
		doubles vector<double, 3>, took duration, name text)`, ks))
	for _, c := range []struct {
		column, filter, cql string
		metric              vector.Metric
		options             search.IndexOptions
		want                string
	}{
		{"v", "", "'optimize_for': 'speed'", vector.Dot, search.IndexOptions{OptimizeFor: "speed"}, "Valid values are: LATENCY, RECALL"},
		{"v", "", "'search_beam_width': '10'", vector.Dot, search.IndexOptions{SearchBeamWidth: 10}, "[search_beam_width] are not understood"},
		{"v", "", "'quantization': 'i8'", vector.Dot, search.IndexOptions{Quantization: "i8"}, "[quantization] are not understood"},
		{"v", "", "'oversampling': '2'", vector.Dot, search.IndexOptions{Oversampling: 2}, "[oversampling] are not understood"},
		{"v", "", "'rescoring': 'true'", vector.Dot, search.IndexOptions{Rescoring: true}, "[rescoring] are not understood"},
		{"v", "", "'source_model': 'x'", vector.Dot, search.IndexOptions{SourceModel: "x"}, "[source_model] are not understood"},
		{"v", "", "'maximum_node_connections': '513'", vector.Dot, search.IndexOptions{MaximumNodeConnections: 513}, "cannot be set"},
		{"v", "", "'construction_beam_width': '3201'", vector.Dot, search.IndexOptions{ConstructionBeamWidth: 3201}, "cannot be set"},
		{"v", "", "'similarity_function': 'hamming'", vector.Hamming, search.IndexOptions{}, "Valid values are: EUCLIDEAN, DOT_PRODUCT, COSINE"},
		{"one", "", "'similarity_function': 'cosine'", vector.Cosine, search.IndexOptions{}, "Cosine similarity is not supported for single-dimension vectors"},
		{"ints", "", "", vector.Dot, search.IndexOptions{}, "only allowed on vector columns with float elements"},
		{"doubles", "", "", vector.Dot, search.IndexOptions{}, "only allowed on vector columns with float elements"},
		{"nothing", "", "", vector.Dot, search.IndexOptions{}, "Undefined column name nothing"},
		{"v", "took", "", vector.Dot, search.IndexOptions{Filter: []string{"took"}}, "not supported on duration columns"},
		{"v", "nothing", "", vector.Dot, search.IndexOptions{Filter: []string{"nothing"}}, "Undefined column name nothing"},
	} {
		err := search.CreateIndex(t.Context(), s, ks+".t("+c.column+")", c.metric, c.options)
		require.Error(t, err)
		var server *cql.ServerError
		require.NotErrorAs(t, err, &server, "%+v", c.options)
		created := c.column
		if c.filter != "" {
			created = c.filter
		}
		err = s.Query(fmt.Sprintf("CREATE CUSTOM INDEX ON %s.t (%s) USING 'StorageAttachedIndex' WITH OPTIONS = {%s}", ks, created, c.cql)).Exec(t.Context())
		require.ErrorAs(t, err, &server, "%+v", c.options)
		require.Contains(t, strings.ReplaceAll(server.Message, "\n", " "), c.want)
	}
	// the server accepts the name of an index of another column
	exec(t, s, "CREATE CUSTOM INDEX taken ON "+ks+".t (name) USING 'StorageAttachedIndex'")
	exec(t, s, "CREATE CUSTOM INDEX IF NOT EXISTS taken ON "+ks+".t (v) USING 'StorageAttachedIndex'")
	err := search.CreateIndex(t.Context(), s, ks+".t(v)", vector.Dot, search.IndexOptions{Name: "taken", IfNotExists: true})
	require.ErrorIs(t, err, search.ErrIndexExists)
}
