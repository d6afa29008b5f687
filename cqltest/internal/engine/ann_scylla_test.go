// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"sync"
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

const (
	vectorTable = "CREATE TABLE t (k int PRIMARY KEY, a int, v vector<float, 2>)"
	vectors     = vectorTable + "; CREATE CUSTOM INDEX i ON t (v) USING 'vector_index'; "
	nearest     = "SELECT k FROM t ORDER BY v ANN OF [1, 0] LIMIT 3"
)

// vectorsWith is vectors with options of the index, and the rows k with the vectors.
func vectorsWith(options string, rows ...string) string {
	text := strings.Replace(vectors, "'vector_index'", "'vector_index' WITH OPTIONS = {"+options+"}", 1)
	for k, v := range rows {
		text += fmt.Sprintf("INSERT INTO t (k, v) VALUES (%d, [%s]); ", k, v)
	}
	return text
}

// rule is a rule of a server: the answer to a statement after others.
type rule struct {
	start           func(testing.TB, Options) (*Engine, *fixedClock)
	options         Options
	setup           string // statements and steps of the clock ("+5s"), separated by semicolons
	statement, want string // lines separated by commas; an answer that contains what is before "..."
}

// check runs the rule on an engine of its own.
func (r rule) check(t *testing.T) {
	e, clock := r.start(t, r.options)
	for s := range strings.SplitSeq(r.setup, ";") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if step, ok := strings.CutPrefix(s, "+"); ok {
			d, err := time.ParseDuration(step)
			require.NoError(t, err)
			clock.at = clock.at.Add(d)
			continue
		}
		mustRun(t, e, s)
	}
	res, err := run(t, e, r.statement)
	got := strings.ReplaceAll(show(res, err), "\n", ", ")
	if want, ok := strings.CutSuffix(r.want, "..."); ok {
		require.Contains(t, got, want)
		return
	}
	require.Equal(t, r.want, got)
}

// scyllaRule is a rule of ScyllaDB.
type scyllaRule struct {
	store                  *VectorStore // nil means the default
	release                string
	setup, statement, want string
}

func (r scyllaRule) check(t *testing.T) {
	store := r.store
	if store == nil {
		store = &VectorStore{}
	}
	if store.Recall == 0 {
		store.Recall = 1
	}
	rule{newVectorStore, Options{VectorStore: store, Release: r.release}, r.setup, r.statement, r.want}.check(t)
}

// httpError returns the error of an answer of the vector store.
func httpError(status, message string) string {
	return "2200 Vector Store error: HTTP status " + status + ", message: " + message
}

func TestReadinessOfScyllaIndexes(t *testing.T) {
	store := &VectorStore{
		Bootstrap: 3 * time.Second, Discovery: time.Second, Build: 8 * time.Second, Settle: time.Second,
	}
	building := func(progress string) string {
		return httpError("503 Service Unavailable", `{"reason":"INDEX_BUILDING","message":"Index ks.i is not available yet `+
			`as it is still being constructed, progress: `+progress+`%"}`)
	}
	const row = vectors + "INSERT INTO t (k, v) VALUES (1, [1, 2]); "
	for name, r := range map[string]scyllaRule{
		"an unknown index is missing":     {store, "", row, nearest, httpError("404 Not Found", "missing index: ks.i")},
		"a starting service bootstraps":   {store, "", row + "+1s", nearest, httpError("503 Service Unavailable", `{"reason":"NODE_BOOTSTRAPPING"}`)},
		"a build begins with no progress": {store, "", row + "+3s", nearest, building("0.000")},
		"the progress grows":              {store, "", row + "+4s", nearest, building("12.500")},
		"the progress ends below 100":     {store, "", row + "+10999ms", nearest, building("99.987")},
		"a full scan may have finished":   {store, "", row + "+11s", nearest, httpError("500 Internal Server Error", "Index ks.i is not serving, but full scan did finish.")},
		"an index serves when it is done": {store, "", row + "+12s", nearest, "1"},
		"a dropped index is no index":     {store, "", row + "+12s; DROP INDEX i", nearest, "2200 ANN ordering by vector requires the column to be indexed using 'vector_index'"},
		"the first index names the error": {store, "", row + "+12s; CREATE CUSTOM INDEX a ON t (v) USING 'vector_index'", nearest, httpError("404 Not Found", "missing index: ks.a")},
		"an old index serves for a new":   {store, "", row + "+12s; CREATE CUSTOM INDEX j ON t (v) USING 'vector_index'", nearest, "1"},
		"after another one was dropped":   {store, "", row + "+12s; CREATE CUSTOM INDEX j ON t (v) USING 'vector_index'; +1s; DROP INDEX i", nearest, "2200 Vector Store error: HTTP status 503 Service Unavailable, message: {\"reason\":\"INDEX_BUILDING\",\"message\":\"Index ks.j is not available yet as it is still being constructed, progress: 0.000%\"}"},
	} {
		t.Run(name, r.check)
	}
	t.Run("no service is disabled", func(t *testing.T) {
		e, _ := newVectorStore(t, Options{})
		for s := range strings.SplitSeq(strings.TrimSuffix(vectors, "; "), "; ") {
			mustRun(t, e, s)
		}
		require.Equal(t, "2200 Vector Store is disabled", show(run(t, e, nearest)))
	})
}

func TestScyllaIndexOptions(t *testing.T) {
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
			mustRun(t, e, table)
			got := show(run(t, e, test.statement))
			if strings.HasPrefix(test.want, "2200") {
				require.Equal(t, test.want, got)
				return
			}
			require.Equal(t, "UPDATED TABLE ks l", got)
			require.Contains(t, show(run(t, e, options)), test.want)
		})
	}
}

func TestScyllaTablesOfVectors(t *testing.T) {
	for name, r := range map[string]scyllaRule{
		"tablets are required": {
			setup:     "CREATE KEYSPACE s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}; CREATE TABLE s.t (k int PRIMARY KEY, v vector<float, 2>)",
			statement: "CREATE CUSTOM INDEX ON s.t (v) USING 'vector_index'",
			want:      "2200 Vector index requires the base table's keyspace to use tablets., Please alter the keyspace to use tablets and try again.",
		},
		"tablets can be switched off": {
			setup: "CREATE KEYSPACE s WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1} AND tablets = {'enabled': false}; " +
				"CREATE TABLE s.t (k int PRIMARY KEY, v vector<float, 2>)",
			statement: "CREATE CUSTOM INDEX ON s.t (v) USING 'vector_index'",
			want:      "2200 Vector index requires the base table's keyspace to use tablets...",
		},
		"the dimension is at most 16000":               {statement: "CREATE TABLE t (k int PRIMARY KEY, v vector<float, 16000>)", want: "CREATED TABLE ks t"},
		"a dimension of 16001 is refused":              {statement: "CREATE TABLE t (k int PRIMARY KEY, v frozen<list<vector<float, 16001>>>)", want: "2200 Vectors must have a dimension less than or equal to 16000"},
		"a key column is no vector column":             {setup: "CREATE TABLE t (k int, v vector<float, 2>, PRIMARY KEY (k, v))", statement: "CREATE CUSTOM INDEX ON t (v) USING 'vector_index'", want: "2200 Cannot create secondary index on partition key column v"},
		"change data capture is switched off":          {setup: vectorTable + " WITH cdc = {'enabled': 'false'}", statement: "CREATE CUSTOM INDEX ON t (v) USING 'vector_index'", want: "2200 Cannot create the vector index when CDC is explicitly disabled...."},
		"change data capture is kept too short":        {setup: vectorTable + " WITH cdc = {'enabled': 'true', 'ttl': '3600'}", statement: "CREATE CUSTOM INDEX ON t (v) USING 'vector_index'", want: "2200 To enable Vector Search on this table..."},
		"change data capture has only keys":            {setup: vectorTable + " WITH cdc = {'enabled': 'true', 'delta': 'keys'}", statement: "CREATE CUSTOM INDEX ON t (v) USING 'vector_index'", want: "2200 To enable Vector Search on this table..."},
		"change data capture may have more":            {setup: vectorTable + " WITH cdc = {'enabled': 'true', 'ttl': '86400', 'delta': 'keys', 'postimage': 'true'}", statement: "CREATE CUSTOM INDEX ON t (v) USING 'vector_index'", want: "UPDATED TABLE ks t"},
		"a name is unique":                             {setup: vectors, statement: "CREATE CUSTOM INDEX i ON t (v) USING 'vector_index'", want: "2200 Index already exists"},
		"IF NOT EXISTS finds the name":                 {setup: vectors, statement: "CREATE CUSTOM INDEX IF NOT EXISTS i ON t (v) USING 'sai'", want: ""},
		"several named indexes of a column":            {setup: vectors, statement: "CREATE CUSTOM INDEX j ON t (v) USING 'vector_index'", want: "UPDATED TABLE ks t"},
		"an unnamed duplicate is refused":              {setup: vectors, statement: "CREATE CUSTOM INDEX ON t (v) USING 'vector_index'", want: "2200 Index t_v_idx is a duplicate of existing index i"},
		"class names of SAI are accepted since 2026.2": {release: "2026.1.9", setup: vectorTable, statement: "CREATE CUSTOM INDEX ON t (v) USING 'sai'", want: "2200 Non-supported custom class 'sai' provided"},
		"source_model is accepted since 2026.2":        {release: "2026.2.0-rc1", setup: vectorTable, statement: "CREATE CUSTOM INDEX ON t (v) USING 'vector_index' WITH OPTIONS = {'source_model': 'm'}", want: "UPDATED TABLE ks t"},
		"and not before":                               {release: "2026.1.9", setup: vectorTable, statement: "CREATE CUSTOM INDEX ON t (v) USING 'vector_index' WITH OPTIONS = {'source_model': 'm'}", want: "2200 Unsupported option source_model for vector index"},
		"quantization is accepted since 2026.1":        {release: "2026.1.0", setup: vectorTable, statement: "CREATE CUSTOM INDEX ON t (v) USING 'vector_index' WITH OPTIONS = {'quantization': 'i8'}", want: "UPDATED TABLE ks t"},
		"and not in 2025":                              {release: "2025.4.9", setup: vectorTable, statement: "CREATE CUSTOM INDEX ON t (v) USING 'vector_index' WITH OPTIONS = {'quantization': 'i8'}", want: "2200 Unsupported option quantization for vector index"},
		"a filter column is not dropped": {
			setup:     vectorTable + "; CREATE CUSTOM INDEX i ON t (v, a) USING 'sai'",
			statement: "ALTER TABLE t DROP a", want: "2200 Cannot drop column a because it has dependent secondary indexes (i)",
		},
		"the key of a local index is not renamed": {
			setup:     vectorTable + "; CREATE CUSTOM INDEX i ON t ((k), v) USING 'sai'",
			statement: "ALTER TABLE t RENAME k TO l", want: "2200 Can't rename column k because it has dependent secondary indexes (i)",
		},
		"DESCRIBE shows the targets": {
			setup:     vectorTable + "; CREATE CUSTOM INDEX i ON t ((k), v, a) USING 'sai' WITH OPTIONS = {'rescoring': 'true'}",
			statement: "DESCRIBE INDEX i", want: "CREATE CUSTOM INDEX i ON ks.t ((k), v, a) USING ''vector_index'' WITH OPTIONS = {''rescoring'': ''true''};...",
		},
	} {
		t.Run(name, r.check)
	}
}

func TestScyllaScores(t *testing.T) {
	const rows = "INSERT INTO t (k, v) VALUES (1, [3, 4]); INSERT INTO t (k, v) VALUES (2, [0, 0]); INSERT INTO t (k) VALUES (3); INSERT INTO t (k, v) VALUES (4, [0, 2]); "
	score := func(call, where string) string { return "SELECT similarity_" + call + " FROM t WHERE k = " + where }
	for name, r := range map[string]scyllaRule{
		"cosine is half of 1 and the cosine":   {setup: vectors + rows, statement: score("cosine(v, [1, 0])", "1"), want: "0.8"},
		"euclidean has the squared distance":   {setup: vectors + rows, statement: score("euclidean(v, [3, 2])", "1"), want: "0.2"},
		"dot_product is half of 1 and product": {setup: vectors + rows, statement: score("dot_product(v, [2, 1])", "1"), want: "5.5"},
		"NULL has no similarity":               {setup: vectors + rows, statement: score("cosine(v, [1, 0])", "3"), want: "null"},
		"the cosine of zero is NaN":            {setup: vectors + rows, statement: score("cosine(v, [1, 0])", "2"), want: "NaN"},
		"zero has half of the score": {
			setup:     vectorsWith("", "0, 0", "1, 0.1", "-1, 0.1", "0.1, 1"),
			statement: "SELECT k FROM t ORDER BY v ANN OF [1, 0] LIMIT 4", want: "1, 3, 0, 2",
		},
		"zero finds rows in the order of the table": {
			setup:     vectorsWith("", "1, 0", "0, 1", "1, 1", "2, 1"),
			statement: "SELECT k FROM t ORDER BY v ANN OF [0, 0] LIMIT 3", want: "1, 0, 2",
		},
		"equal scores are in the order of the table": {
			setup:     vectorsWith("", "1, 0", "1, 0", "1, 0", "1, 0", "1, 0", "1, 0", "1, 0", "1, 0"),
			statement: "SELECT k FROM t ORDER BY v ANN OF [1, 0] LIMIT 3", want: "5, 1, 0",
		},
		"a zero vector is accepted":    {setup: vectors, statement: "INSERT INTO t (k, v) VALUES (1, [0, 0])", want: ""},
		"NaN and infinity are written": {setup: vectors, statement: "INSERT INTO t (k, v) VALUES (1, [NaN, Infinity])", want: ""},
		"NaN fails the search of cosine": {
			setup: vectorsWith("", "1, 0", "NaN, 0"), statement: nearest,
			want: httpError("500 Internal Server Error", "index.ann request error: Cosine distance must be in range [0.0, 2.0]"),
		},
		"NaN fails the search of euclidean": {
			setup: vectorsWith("'similarity_function': 'euclidean'", "1, 0", "NaN, 0"), statement: nearest,
			want: httpError("500 Internal Server Error", "index.ann request error: Euclidean distance must be >= 0.0"),
		},
		"NaN fails the search of dot_product": {
			setup: vectorsWith("'similarity_function': 'DOT_PRODUCT'", "1, 0", "NaN, 0"), statement: nearest,
			want: httpError("500 Internal Server Error", "index.ann request error: Dot Product distance must be a valid number, got NaN"),
		},
		"infinity fails the search of cosine": {
			setup: vectorsWith("", "1, 0", "Infinity, 0"), statement: nearest,
			want: httpError("500 Internal Server Error", "index.ann request error: Cosine distance must be in range [0.0, 2.0]"),
		},
		"infinity is far by euclidean": {setup: vectorsWith("'similarity_function': 'euclidean'", "1, 0", "Infinity, 0"), statement: nearest, want: "0, 1"},
		"a NaN query fails": {
			setup: vectorsWith("", "1, 0"), statement: "SELECT k FROM t ORDER BY v ANN OF [NaN, 0] LIMIT 3",
			want: httpError("500 Internal Server Error", "index.ann request error: Cosine distance must be in range [0.0, 2.0]"),
		},
		"a row without NaN searches again": {setup: vectorsWith("", "1, 0", "NaN, 0") + "UPDATE t SET v = [0, 1] WHERE k = 1", statement: nearest, want: "0, 1"},
	} {
		t.Run(name, r.check)
	}
}

func TestScyllaQuantization(t *testing.T) {
	// by cosine with [1, 0] the order is 2, 0, 1; the signs of 2 and 1 differ from the query's in one bit, of 0 in none
	rows := []string{"1, -0.5", "1, 3", "1, 0.1"}
	for name, r := range map[string]scyllaRule{
		"f32 has the order of the similarity":     {setup: vectorsWith("", rows...), statement: nearest, want: "2, 0, 1"},
		"b1 has the order of Hamming":             {setup: vectorsWith("'quantization': 'b1'", rows...), statement: nearest, want: "0, 1, 2"},
		"b1 ignores the similarity":               {setup: vectorsWith("'quantization': 'B1', 'similarity_function': 'euclidean'", rows...), statement: nearest, want: "0, 1, 2"},
		"of equal indexes the newest serves":      {setup: vectorsWith("'quantization': 'b1'", rows...) + "+1s; CREATE CUSTOM INDEX a ON t (v) USING 'vector_index'", statement: nearest, want: "2, 0, 1"},
		"the newest by its version, not its name": {setup: vectorsWith("", rows...) + "CREATE CUSTOM INDEX z ON t (v) USING 'vector_index' WITH OPTIONS = {'quantization': 'b1'}", statement: nearest, want: "0, 1, 2"},
		"b1 with rescoring has the order back":    {setup: vectorsWith("'quantization': 'b1', 'rescoring': 'true'", rows...), statement: nearest, want: "2, 0, 1"},
		"rescoring without oversampling":          {setup: vectorsWith("'quantization': 'b1', 'rescoring': 'true'", rows...), statement: "SELECT k FROM t ORDER BY v ANN OF [1, 0] LIMIT 1", want: "0"},
		"rescoring with oversampling":             {setup: vectorsWith("'quantization': 'b1', 'rescoring': 'true', 'oversampling': '2.5'", rows...), statement: "SELECT k FROM t ORDER BY v ANN OF [1, 0] LIMIT 1", want: "2"},
		"oversampling alone keeps the order":      {setup: vectorsWith("'quantization': 'b1', 'oversampling': '3'", rows...), statement: "SELECT k FROM t ORDER BY v ANN OF [1, 0] LIMIT 1", want: "0"},
		"rescoring needs a quantization":          {setup: vectorsWith("'quantization': 'F32', 'rescoring': 'true'", "0, 0", "1, 0"), statement: nearest, want: "1, 0"},
		"rescoring has NaN last":                  {setup: vectorsWith("'quantization': 'b1', 'rescoring': 'true'", "0, 0", "-1, 0"), statement: nearest, want: "1, 0"},
		"the score is of the vector of the row":   {setup: vectorsWith("'quantization': 'b1'", "3, 4"), statement: "SELECT similarity_cosine(v, [1, 0]) FROM t ORDER BY v ANN OF [1, 0] LIMIT 3", want: "0.8"},
		"an index of b1 takes zero and no NaN":    {setup: vectorsWith("'quantization': 'b1'", "NaN, 4"), statement: nearest, want: "0"},
	} {
		t.Run(name, r.check)
	}
}

func TestScyllaLimits(t *testing.T) {
	const order = "SELECT k FROM t ORDER BY v ANN OF [1, 0]"
	for name, r := range map[string]scyllaRule{
		"LIMIT is mandatory":                 {setup: vectors, statement: order, want: "2200 Vector ANN queries must have a limit specified"},
		"LIMIT is at least 1":                {setup: vectors, statement: order + " LIMIT 0", want: "2200 LIMIT must be strictly positive"},
		"LIMIT is at most 1000":              {setup: vectorsWith("", "1, 0"), statement: order + " LIMIT 1000", want: "0"},
		"LIMIT 1001 is refused":              {setup: vectors, statement: order + " LIMIT 1001", want: "2200 Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than 1000. LIMIT was 1001"},
		"PER PARTITION LIMIT is refused":     {setup: vectors, statement: order + " PER PARTITION LIMIT 1 LIMIT 2", want: "2200 Vector ANN queries do not support per-partition limits"},
		"aggregates are refused":             {setup: vectors, statement: "SELECT count(*) FROM t ORDER BY v ANN OF [1, 0] LIMIT 2", want: "2200 Vector ANN queries cannot be run with aggregation"},
		"fewer rows than LIMIT":              {setup: vectorsWith("", "1, 0", "0, 1"), statement: order + " LIMIT 10", want: "0, 1"},
		"an index is needed":                 {setup: vectorTable, statement: order + " LIMIT 2", want: "2200 ANN ordering by vector requires the column to be indexed using 'vector_index'"},
		"NULL is no query":                   {setup: vectors, statement: "SELECT k FROM t ORDER BY v ANN OF null LIMIT 2", want: "2200 Unsupported null value for column v"},
		"vectors are not restricted":         {setup: vectors, statement: "SELECT k FROM t WHERE v = [1, 2] ALLOW FILTERING", want: "2200 Vector indexes only support ANN queries"},
		"vectors do not restrict a search":   {setup: vectors, statement: "SELECT k FROM t WHERE v = [1, 2] ORDER BY v ANN OF [1, 0] LIMIT 2", want: "2200 Vector indexes only support ANN queries"},
		"the column of a search has vectors": {setup: vectors, statement: "SELECT k FROM t ORDER BY a ANN OF [1, 0] LIMIT 2", want: "2200 Unexpected receiver type 'int'; only list and vector are expected"},
	} {
		t.Run(name, r.check)
	}
}

func TestScyllaPaging(t *testing.T) {
	e, _ := newVectorStore(t, Options{VectorStore: &VectorStore{Recall: 1}})
	for s := range strings.SplitSeq(strings.TrimSuffix(vectorsWith("", "1, 0", "0, 1", "1, 1"), "; "), "; ") {
		mustRun(t, e, s)
	}
	for name, test := range map[string]struct {
		page     int
		warnings []string
	}{
		"a page smaller than LIMIT has all rows and a warning": {2, []string{"Paging is not supported for Vector Search queries. The entire result set has been returned."}},
		"a page as large as LIMIT has no warning":              {3, nil},
		"no paging has no warning":                             {0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := e.Prepare("ks", nearest)
			require.NoError(t, err)
			res, err := e.Execute(t.Context(), s, &Request{PageSize: test.page})
			require.NoError(t, err)
			require.Equal(t, test.warnings, res.Warnings)
			require.Len(t, res.Rows, 3)
			require.Nil(t, res.PagingState)
		})
	}
}

func TestScyllaFilters(t *testing.T) {
	const table = "CREATE TABLE f (p int, q int, c int, a int, b int, m map<int, int>, v vector<float, 2>, PRIMARY KEY ((p, q), c)); "
	rows := ""
	for i := range 8 { // by score 0, 1, ... 7
		rows += fmt.Sprintf("INSERT INTO f (p, q, c, a, b, v) VALUES (%d, 0, %d, %d, %d, [1, 0.%d]); ", i%2, i, i%3, i, i)
	}
	const global, local = "CREATE CUSTOM INDEX g ON f (v, a) USING 'vector_index'; ", "CREATE CUSTOM INDEX l ON f ((p, q), v, a) USING 'vector_index'; "
	find := func(where string) string {
		where, filtering, _ := strings.Cut(where, "!")
		return "SELECT c FROM f WHERE " + where + " ORDER BY v ANN OF [1, 0] LIMIT 3 " + filtering
	}
	const all = "!ALLOW FILTERING"
	filtering := func(index string) string {
		return httpError("400 Bad Request", "Index ks."+index+" requires ALLOW FILTERING for this query")
	}
	misleading := func(index string) string {
		return httpError("400 Bad Request", "Global ANN query is not supported when only a local vector index is available for ks."+index)
	}
	for name, r := range map[string]scyllaRule{
		"a filter column":                      {setup: global, statement: find("a = 1" + all), want: "1, 4, 7"},
		"a filter column needs ALLOW":          {setup: global, statement: find("a = 1"), want: filtering("g")},
		"IN":                                   {setup: global, statement: find("a IN (0, 2)" + all), want: "0, 2, 3"},
		"less":                                 {setup: global, statement: find("a < 2" + all), want: "0, 1, 3"},
		"less or equal":                        {setup: global, statement: find("c <= 1" + all), want: "0, 1"},
		"greater":                              {setup: global, statement: find("c > 4" + all), want: "5, 6, 7"},
		"greater or equal, with another":       {setup: global, statement: find("c >= 4 AND a = 0" + all), want: "6"},
		"tuples":                               {setup: global, statement: find("(c) >= (5) AND p = 1" + all), want: "5, 7"},
		"a part of the partition key":          {setup: global, statement: find("p = 1" + all), want: "1, 3, 5"},
		"the partition key needs ALLOW too":    {setup: global, statement: find("p = 1 AND q = 0"), want: filtering("g")},
		"filters are applied before the limit": {setup: global, statement: find("c = 7" + all), want: "7"},
		"CONTAINS is unsupported":              {setup: global, statement: find("m CONTAINS 1" + all), want: "0000 unsupported operation: Unsupported operator in restriction on column m"},
		"entries of maps are unsupported":      {setup: global, statement: find("m[1] = 1" + all), want: "0000 unsupported operation: Unsupported operator in restriction on column m"},
		"a column outside of the index has the misleading text": {setup: global, statement: find("b = 1" + all), want: misleading("g")},
		"also without ALLOW FILTERING":                          {setup: global, statement: find("b = 1"), want: misleading("g")},
		"a local index":                                         {setup: local, statement: find("p = 1 AND q = 0"), want: "1, 3, 5"},
		"a local index by IN":                                   {setup: local, statement: find("p IN (0, 1) AND q = 0"), want: "0, 1, 2"},
		"a local index without the whole partition key":         {setup: local, statement: find("p = 1" + all), want: misleading("l")},
		"a local index without restrictions":                    {setup: local, statement: "SELECT c FROM f ORDER BY v ANN OF [1, 0] LIMIT 3", want: misleading("l")},
		"a local index by a range of the key":                   {setup: local, statement: find("p > 0 AND q = 0" + all), want: misleading("l")},
		"a local index with more needs ALLOW FILTERING":         {setup: local, statement: find("p = 1 AND q = 0 AND c > 3"), want: filtering("l")},
		"a local index with a filter column":                    {setup: local, statement: find("p = 1 AND q = 0 AND a = 0" + all), want: "3"},
		"the local index covers the partition key best":         {setup: global + local, statement: find("p = 1 AND q = 0"), want: "1, 3, 5"},
		"the first index names the errors":                      {setup: "CREATE CUSTOM INDEX z ON f (v) USING 'vector_index'; " + global, statement: find("a = 1"), want: filtering("g")},
		"the index that has the column serves":                  {setup: "CREATE CUSTOM INDEX b ON f (v) USING 'vector_index'; " + global, statement: find("a = 1" + all), want: "1, 4, 7"},
		"a filter column follows its row":                       {setup: global + "UPDATE f SET a = 9 WHERE p = 1 AND q = 0 AND c = 1", statement: find("a = 9" + all), want: "1"},
		"NULL is no value to filter by":                         {setup: global, statement: find("a = null" + all), want: "2200 Unsupported null value for column a"},
		"old releases ignore WHERE on regular columns":          {release: "2025.4.3", setup: global, statement: find("b = 7"), want: "0, 1, 2"},
		"the first releases of 2026.1 too":                      {release: "2026.1.1", setup: global, statement: find("a = 1 AND b = 7"), want: "0, 1, 2"},
		"they filter by keys":                                   {release: "2026.1.1", setup: global, statement: find("b = 7 AND c > 4" + all), want: "5, 6, 7"},
		"later ones filter":                                     {release: "2026.1.2-0.20260501.abc", setup: global, statement: find("a = 1" + all), want: "1, 4, 7"},
		"a next year filters":                                   {release: "2027.1.0", setup: global, statement: find("a = 1" + all), want: "1, 4, 7"},
	} {
		r.setup = table + rows + r.setup
		t.Run(name, r.check)
	}
}

func TestScyllaDeletions(t *testing.T) {
	lagging := &VectorStore{Lag: time.Second}
	rows := vectorsWith("", "1, 0", "1, 0.1", "1, 0.2", "1, 0.3", "1, 0.4")
	const expiring = "CREATE TABLE t (k int PRIMARY KEY, a int, v vector<float, 2>, e timestamp TTL); CREATE CUSTOM INDEX i ON t (v) USING 'vector_index'; " +
		"INSERT INTO t (k, v, e) VALUES (0, [1, 0], '2026-01-02 03:05:05Z'); INSERT INTO t (k, v) VALUES (1, [1, 0.1]); INSERT INTO t (k, v) VALUES (2, [1, 0.2]); INSERT INTO t (k, v) VALUES (3, [1, 0.3]); "
	for name, r := range map[string]scyllaRule{
		"a write is not in the index before the lag": {store: lagging, setup: rows, statement: nearest, want: ""},
		"a write is in the index after the lag":      {store: lagging, setup: rows + "+1s", statement: nearest, want: "0, 1, 2"},
		"an old vector finds its row until the lag":  {store: lagging, setup: rows + "+1s; UPDATE t SET v = [-1, 0] WHERE k = 0", statement: nearest, want: "0, 1, 2"},
		"a new vector finds it after the lag":        {store: lagging, setup: rows + "+1s; UPDATE t SET v = [-1, 0] WHERE k = 0; +1s", statement: nearest, want: "1, 2, 3"},
		"a deleted row makes the result shorter":     {store: lagging, setup: rows + "+1s; DELETE FROM t WHERE k = 1", statement: nearest, want: "0, 2"},
		"another row takes its place after the lag":  {store: lagging, setup: rows + "+1s; DELETE FROM t WHERE k = 1; +1s", statement: nearest, want: "0, 2, 3"},
		"a row deleted before the lag is never seen": {store: lagging, setup: rows + "DELETE FROM t WHERE k = 1; +1s", statement: nearest, want: "0, 2, 3"},
		"a deleted vector leaves the index":          {setup: rows + "DELETE v FROM t WHERE k = 0", statement: nearest, want: "1, 2, 3"},
		"a truncated table has no rows":              {setup: rows + "TRUNCATE t", statement: nearest, want: ""},
		"a new index has the rows of its table":      {setup: rows + "DROP INDEX i; CREATE CUSTOM INDEX i ON t (v) USING 'vector_index'", statement: nearest, want: "0, 1, 2"},
		"a deleted partition leaves the index": {
			setup: "CREATE TABLE c (k int, c int, v vector<float, 2>, PRIMARY KEY (k, c)); CREATE CUSTOM INDEX i ON c (v) USING 'vector_index'; " +
				"INSERT INTO c (k, c, v) VALUES (1, 1, [1, 0]); INSERT INTO c (k, c, v) VALUES (1, 2, [1, 0.1]); INSERT INTO c (k, c, v) VALUES (2, 1, [1, 0.2]); DELETE FROM c WHERE k = 1",
			statement: "SELECT k, c FROM c ORDER BY v ANN OF [1, 0] LIMIT 3", want: "2 | 1",
		},
		"a deleted range leaves the index after the lag": {
			store: lagging,
			setup: "CREATE TABLE c (k int, c int, v vector<float, 2>, PRIMARY KEY (k, c)); CREATE CUSTOM INDEX i ON c (v) USING 'vector_index'; " +
				"INSERT INTO c (k, c, v) VALUES (1, 1, [1, 0]); INSERT INTO c (k, c, v) VALUES (1, 2, [1, 0.1]); DELETE FROM c WHERE k = 1 AND c < 2; +1s",
			statement: "SELECT k, c FROM c ORDER BY v ANN OF [1, 0] LIMIT 3", want: "1 | 2",
		},
		"per-cell TTL leaves short results for ever": {setup: rows + "INSERT INTO t (k, v) VALUES (1, [1, 0.1]) USING TTL 5; +1000h", statement: nearest, want: "0, 2"},
		"before the expiry the row is found":         {setup: rows + "INSERT INTO t (k, v) VALUES (9, [1, 0.01]) USING TTL 5; +4s", statement: nearest, want: "0, 9, 1"},
		"a default TTL leaves short results too":     {setup: rows + "ALTER TABLE t WITH default_time_to_live = 5; INSERT INTO t (k, v) VALUES (9, [1, 0.01]); +6s", statement: nearest, want: "0, 1"},
		"an expired cell in a row that lives":        {setup: rows + "UPDATE t USING TTL 5 SET v = [1, 0.01] WHERE k = 4; +6s", statement: "SELECT k, v FROM t ORDER BY v ANN OF [1, 0] LIMIT 2", want: "0 | [1.0, 0.0], 4 | null"},
		"a new index has no stale keys":              {setup: rows + "INSERT INTO t (k, v) VALUES (9, [1, 0.01]) USING TTL 5; +6s; CREATE CUSTOM INDEX j ON t (v) USING 'vector_index'", statement: nearest, want: "0, 1, 2"},
		"a deletion removes a stale key":             {setup: rows + "INSERT INTO t (k, v) VALUES (9, [1, 0.01]) USING TTL 5; +6s; DELETE FROM t WHERE k = 9", statement: nearest, want: "0, 1, 2"},
		"per-row TTL does not leave short results":   {setup: expiring + "+1m", statement: nearest, want: "1, 2, 3"},
		"before the expiration the row is found":     {setup: expiring + "+59s", statement: nearest, want: "0, 1, 2"},
		"per-row TTL deletes the row":                {setup: expiring + "+1m", statement: "SELECT k FROM t", want: "1, 2, 3"},
		"per-row TTL can be added":                   {setup: rows + "ALTER TABLE t ADD e bigint; ALTER TABLE t TTL e; UPDATE t SET e = 1767323105 WHERE k = 0; +1m", statement: nearest, want: "1, 2, 3"},
		"per-row TTL can be removed":                 {setup: expiring + "ALTER TABLE t TTL NULL; +1m", statement: nearest, want: "0, 1, 2"},
		"a table has one TTL column":                 {setup: expiring, statement: "ALTER TABLE t TTL a", want: "2200 Table ks.t already has a TTL column: e"},
		"NULL needs a TTL column":                    {setup: rows, statement: "ALTER TABLE t TTL NULL", want: "2200 Table ks.t does not have a TTL column"},
		"a TTL column is regular":                    {setup: rows, statement: "ALTER TABLE t TTL k", want: "2200 Cannot use a primary key column as a TTL column: k"},
		"a TTL column has times":                     {setup: rows, statement: "ALTER TABLE t TTL v", want: "2200 TTL column v must be of type timestamp, bigint or int"},
		"the index sees an expiration after the lag": {store: lagging, setup: expiring + "+60500ms", statement: nearest, want: "1, 2"},
		"and then has other rows":                    {store: lagging, setup: expiring + "+61s", statement: nearest, want: "1, 2, 3"},
	} {
		t.Run(name, r.check)
	}
}

func TestScyllaRecall(t *testing.T) {
	for name, test := range map[string]struct {
		store   VectorStore
		options string
		want    float64
	}{
		"a search finds the recall":                {VectorStore{Recall: 0.8, Seed: 1}, "", 0.8},
		"oversampling misses fewer by its factor":  {VectorStore{Recall: 0.8, Seed: 1}, "'oversampling': '4'", 0.95},
		"the default finds all":                    {VectorStore{Recall: 1, Seed: 1}, "", 1},
		"beam widths have no effect on the recall": {VectorStore{Recall: 0.8, Seed: 1}, "'search_beam_width': '4096'", 0.8},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := newVectorStore(t, Options{VectorStore: &test.store})
			require.InDelta(t, test.want, recallOf(t, e, "vector_index", test.options, 10), 0.03)
		})
	}
	t.Run("the seed chooses the rows, and nothing else", func(t *testing.T) {
		found := map[uint64]string{}
		for _, seed := range []uint64{1, 2, 1, 2} {
			e, _ := newVectorStore(t, Options{VectorStore: &VectorStore{Recall: 0.5, Seed: seed}})
			fillVectors(t, e, vectorClass, 100, 4)
			got := show(run(t, e, "SELECT k FROM t ORDER BY v ANN OF [1, 2, 3, 4] LIMIT 20"))
			if before, ok := found[seed]; ok {
				require.Equal(t, before, got)
			}
			found[seed] = got
		}
		require.NotEqual(t, found[1], found[2])
	})
}

// TestSearchesDuringWrites searches while rows are written and indexes change: each search finds rows of its vector.
func TestSearchesDuringWrites(t *testing.T) {
	e, _ := newVectorStore(t, Options{VectorStore: &VectorStore{Recall: 1}})
	mustRun(t, e, "CREATE TABLE t (k int PRIMARY KEY, v vector<float, 2>)")
	mustRun(t, e, "CREATE CUSTOM INDEX i ON t (v) USING 'vector_index'")
	mustRun(t, e, "INSERT INTO t (k, v) VALUES (0, [1, 0])")
	var writers, searchers sync.WaitGroup
	done := make(chan struct{})
	for w := range 2 {
		writers.Go(func() {
			for i := range 200 {
				k := 1 + w*100 + i%100
				mustRun(t, e, fmt.Sprintf("INSERT INTO t (k, v) VALUES (%d, [%d, 1])", k, i%7))
				if i%3 == 0 {
					mustRun(t, e, fmt.Sprintf("DELETE FROM t WHERE k = %d", k))
				}
			}
		})
	}
	writers.Go(func() {
		for range 20 {
			mustRun(t, e, "CREATE CUSTOM INDEX j ON t (v) USING 'vector_index'")
			mustRun(t, e, "DROP INDEX j")
		}
	})
	for range 2 {
		searchers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				res := mustRun(t, e, "SELECT k FROM t ORDER BY v ANN OF [1, 0] LIMIT 5")
				require.NotEmpty(t, res.Rows)
				require.Zero(t, readInt(res.Rows[0][0]))
			}
		})
	}
	writers.Wait()
	close(done)
	searchers.Wait()
}
