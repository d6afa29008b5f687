// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Rules of ScyllaDB's searches by vectors. Each test and subtest has the name of its rule.

// newVectorStore returns an engine of ScyllaDB with a keyspace ks that has tablets, and its clock.
func newVectorStore(t testing.TB, options Options) (*Engine, *fixedClock) {
	t.Helper()
	clock := &fixedClock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	options.Now, options.Scylla, options.Tablets = clock.now, true, true
	options.DataCenters = func() map[string]int { return map[string]int{"datacenter1": 1} }
	e := New(options)
	mustRun(t, e, "CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}")
	return e, clock
}

// lines runs statements that are separated by semicolons and returns the answer to the last one.
func lines(t *testing.T, e *Engine, statements ...string) string {
	t.Helper()
	for _, s := range statements[:len(statements)-1] {
		mustRun(t, e, s)
	}
	r, err := run(t, e, statements[len(statements)-1])
	return show(r, err)
}

const (
	vectorTable = "CREATE TABLE t (k int PRIMARY KEY, a int, v vector<float, 2>)"
	nearest     = "SELECT k FROM t ORDER BY v ANN OF [1, 0.1] LIMIT 3"
)

func TestVectorStoreIsDisabled(t *testing.T) {
	e, _ := newVectorStore(t, Options{})
	require.Equal(t, "2200 Vector Store is disabled",
		lines(t, e, vectorTable, "CREATE CUSTOM INDEX ON t (v) USING 'vector_index'", nearest))
}

func TestIndexBecomesReady(t *testing.T) {
	e, clock := newVectorStore(t, Options{VectorStore: &VectorStore{
		Bootstrap: 3 * time.Second, Discovery: time.Second, Build: 8 * time.Second, Settle: time.Second, Recall: 1,
	}})
	lines(t, e, vectorTable, "CREATE CUSTOM INDEX i ON t (v) USING 'vector_index'", "INSERT INTO t (k, v) VALUES (1, [1, 2])")
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{0, "2200 Vector Store error: HTTP status 404 Not Found, message: missing index: ks.i"},
		{time.Second, `2200 Vector Store error: HTTP status 503 Service Unavailable, message: {"reason":"NODE_BOOTSTRAPPING"}`},
		{4 * time.Second, `2200 Vector Store error: HTTP status 503 Service Unavailable, message: {"reason":"INDEX_BUILDING",` +
			`"message":"Index ks.i is not available yet as it is still being constructed, progress: 12.500%"}`},
		{10 * time.Second, "progress: 87.500%"},
		{11 * time.Second, "2200 Vector Store error: HTTP status 500 Internal Server Error, message: Index ks.i is not serving, but full scan did finish."},
		{12 * time.Second, "1"},
	} {
		clock.at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(step.after)
		got := lines(t, e, nearest)
		require.True(t, got == step.want || strings.HasPrefix(step.want, "progress") && strings.Contains(got, step.want), "%v: %s", step.after, got)
	}
}

func TestCreateVectorIndex(t *testing.T) {
	const table = "CREATE TABLE l (p int, q int, c int, f text, g list<int>, d duration, v vector<float, 2>, n vector<int, 2>, PRIMARY KEY ((p, q), c))"
	const options = "SELECT options FROM system_schema.indexes WHERE keyspace_name = 'ks' AND table_name = 'l'"
	for name, test := range map[string]struct{ statement, want string }{
		"global":                  {"CREATE CUSTOM INDEX i ON l (v) USING 'vector_index'", "'target': 'v'"},
		"filter columns":          {"CREATE CUSTOM INDEX i ON l (v, f, c) USING 'vector_index'", `'target': '{"tc":"v","fc":["f","c"]}'`},
		"local":                   {"CREATE CUSTOM INDEX i ON l ((p, q), v) USING 'vector_index'", `'target': '{"tc":"v","pk":["p","q"]}'`},
		"local with filters":      {"CREATE CUSTOM INDEX i ON l ((p, q), v, f) USING 'vector_index'", `'target': '{"tc":"v","pk":["p","q"],"fc":["f"]}'`},
		"SAI becomes vector":      {"CREATE CUSTOM INDEX i ON l (v) USING 'StorageAttachedIndex'", "'class_name': 'vector_index'"},
		"sai becomes vector":      {"CREATE CUSTOM INDEX i ON l (v) USING 'SAI'", "'class_name': 'vector_index'"},
		"version":                 {"CREATE CUSTOM INDEX i ON l (v) USING 'vector_index'", "'index_version': '"},
		"options as written":      {"CREATE CUSTOM INDEX i ON l (v) USING 'vector_index' WITH OPTIONS = {'similarity_function': 'COSINE', 'source_model': 'm'}", "'similarity_function': 'COSINE', 'source_model': 'm'"},
		"options with upper case": {"CREATE CUSTOM INDEX i ON l (v) USING 'vector_index' WITH OPTIONS = {'quantization': 'B1', 'rescoring': 'TRUE', 'oversampling': '2.5'}", "'quantization': 'B1'"},
		"SAI on another column":   {"CREATE CUSTOM INDEX i ON l (f) USING 'sai'", "2200 StorageAttachedIndex (SAI) is only supported on vector columns; use a secondary index for non-vector columns"},
		"elements":                {"CREATE CUSTOM INDEX i ON l (n) USING 'vector_index'", "2200 Vector indexes are only supported on columns of vectors of floats"},
		"filter by a collection":  {"CREATE CUSTOM INDEX i ON l (v, g) USING 'vector_index'", "2200 Unsupported vector index filtering column g type"},
		"filter by a duration":    {"CREATE CUSTOM INDEX i ON l (v, d) USING 'vector_index'", "2200 Unsupported vector index filtering column d type"},
		"local without the key":   {"CREATE CUSTOM INDEX i ON l ((p), v) USING 'vector_index'", "2200 Local index definition must contain full partition key only. Missing column: q"},
		"local by another column": {"CREATE CUSTOM INDEX i ON l ((p, c), v) USING 'vector_index'", "2200 Local index definition must contain full partition key only. Redundant column: c"},
		"local without a vector":  {"CREATE CUSTOM INDEX i ON l ((p, q)) USING 'vector_index'", "2200 Local index definition must provide an indexed column, not just partition key"},
		"optimize_for":            {"CREATE CUSTOM INDEX i ON l (v) USING 'sai' WITH OPTIONS = {'optimize_for': 'recall'}", "2200 Unsupported option optimize_for for vector index"},
		"similarity":              {"CREATE CUSTOM INDEX i ON l (v) USING 'vector_index' WITH OPTIONS = {'similarity_function': 'l2'}", "2200 Invalid value in option 'similarity_function' for vector index: 'l2'. Supported are case-insensitive: cosine, euclidean, dot_product"},
		"connections":             {"CREATE CUSTOM INDEX i ON l (v) USING 'vector_index' WITH OPTIONS = {'maximum_node_connections': '513'}", "2200 Invalid value in option 'maximum_node_connections' for vector index: '513' is out of valid range [1 - 512]"},
		"construction":            {"CREATE CUSTOM INDEX i ON l (v) USING 'vector_index' WITH OPTIONS = {'construction_beam_width': '4097'}", "2200 Invalid value in option 'construction_beam_width' for vector index: '4097' is out of valid range [1 - 4096]"},
		"search":                  {"CREATE CUSTOM INDEX i ON l (v) USING 'vector_index' WITH OPTIONS = {'search_beam_width': '0'}", "2200 Invalid value in option 'search_beam_width' for vector index: '0' is out of valid range [1 - 4096]"},
		"no number":               {"CREATE CUSTOM INDEX i ON l (v) USING 'vector_index' WITH OPTIONS = {'search_beam_width': 'x'}", "2200 Invalid value in option 'search_beam_width' for vector index: 'x' is not an integer"},
		"quantization":            {"CREATE CUSTOM INDEX i ON l (v) USING 'vector_index' WITH OPTIONS = {'quantization': 'u8'}", "2200 Invalid value in option 'quantization' for vector index: 'u8'. Supported are case-insensitive: f32, f16, bf16, i8, b1"},
		"oversampling":            {"CREATE CUSTOM INDEX i ON l (v) USING 'vector_index' WITH OPTIONS = {'oversampling': '100.5'}", "2200 Invalid value in option 'oversampling' for vector index: '100.5' is out of valid range [1 - 100]"},
		"rescoring":               {"CREATE CUSTOM INDEX i ON l (v) USING 'vector_index' WITH OPTIONS = {'rescoring': 'yes'}", "2200 Invalid value in option 'rescoring' for vector index: 'yes'. Supported are case-insensitive: false, true"},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := newVectorStore(t, Options{VectorStore: &VectorStore{Recall: 1}})
			got := lines(t, e, table, test.statement)
			if strings.HasPrefix(test.want, "2200") {
				require.Equal(t, test.want, got)
				return
			}
			require.Equal(t, "UPDATED TABLE ks l", got)
			require.Contains(t, lines(t, e, options), test.want)
		})
	}
}
