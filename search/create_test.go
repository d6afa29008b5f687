// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// Creation and removal of indexes.

const indexedTable = `CREATE TABLE shop.products (id int PRIMARY KEY, name text, price float, in_stock boolean, embedding vector<float, 3>,
		took duration, tags set<text>);
	CREATE TABLE shop.notes (a int, b int, c int, s text static, name text, v vector<float, 2>, PRIMARY KEY ((a, b), c));
	CREATE TABLE shop.others (id int PRIMARY KEY, doubles vector<double, 3>, one vector<float, 1>, name text);`

// optionsOf returns the options of an index as the server stores them, without the version.
func optionsOf(t testing.TB, session *vecql.Session, name string) map[string]string {
	t.Helper()
	ks, err := session.KeyspaceMetadata(t.Context(), "shop")
	require.NoError(t, err)
	require.Contains(t, ks.Indexes, name)
	options := map[string]string{}
	for option, value := range ks.Indexes[name].Options {
		if option != "index_version" {
			options[option] = value
		}
	}
	return options
}

// TestCreateIndexCassandra creates an index with all options, and the indexes of the columns of filters.
func TestCreateIndexCassandra(t *testing.T) {
	session := newSession(t, cqltest.Config{SAI: cqltest.SAI{CustomParameters: true}}, indexedTable)
	var warnings []string
	options := search.IndexOptions{
		Name: "Near", Filter: []string{"price", "in_stock", "id", "price"}, OptimizeFor: "Recall", MaximumNodeConnections: 32,
		ConstructionBeamWidth: 200, Warn: func(text string) { warnings = append(warnings, text) },
	}
	require.NoError(t, search.CreateIndex(t.Context(), session, "products(embedding)", vector.SquaredL2, options))
	got := optionsOf(t, session, "Near")
	require.Equal(t, "embedding", got["target"])
	require.Equal(t, "euclidean", strings.ToLower(got["similarity_function"]))
	require.Equal(t, "recall", strings.ToLower(got["optimize_for"]))
	require.Equal(t, "32", got["maximum_node_connections"])
	require.Equal(t, "200", got["construction_beam_width"])
	require.Equal(t, "price", optionsOf(t, session, "products_price_idx")["target"])
	require.Equal(t, "in_stock", optionsOf(t, session, "products_in_stock_idx")["target"])
	ks, err := session.KeyspaceMetadata(t.Context(), "shop")
	require.NoError(t, err)
	require.Len(t, ks.Indexes, 3)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "SAI ANN indexes on vector columns are experimental")
}

// TestCreateIndexCassandraFilters creates the indexes that are missing.
func TestCreateIndexCassandraFilters(t *testing.T) {
	session := newSession(t, cqltest.Config{}, indexedTable)
	create := func(filter ...string) error {
		return search.CreateIndex(t.Context(), session, "notes", vector.Cosine, search.IndexOptions{IfNotExists: true, Filter: filter})
	}
	require.NoError(t, create("name", "a"))
	require.NoError(t, create("name", "c"))
	ks, err := session.KeyspaceMetadata(t.Context(), "shop")
	require.NoError(t, err)
	require.Len(t, ks.Indexes, 3)
	require.Equal(t, "c", optionsOf(t, session, "notes_c_idx")["target"])
}

// TestCreateIndexScylla creates an index with all options.
func TestCreateIndexScylla(t *testing.T) {
	session := newSession(t, scylla("", cqltest.VectorStore{}), indexedTable)
	require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Dot, search.IndexOptions{
		Name: "near", Filter: []string{"price", "id", "in_stock", "price"}, MaximumNodeConnections: 512, ConstructionBeamWidth: 4096,
		SearchBeamWidth: 1, Quantization: "I8", Oversampling: 2.5, Rescoring: true, SourceModel: "it's",
		Other: map[string]string{},
	}))
	require.Equal(t, map[string]string{
		"class_name": "vector_index", "target": `{"tc":"embedding","fc":["price","in_stock"]}`, "similarity_function": "dot_product",
		"maximum_node_connections": "512", "construction_beam_width": "4096", "search_beam_width": "1", "quantization": "I8",
		"oversampling": "2.5", "rescoring": "true", "source_model": "it's",
	}, optionsOf(t, session, "near"))
	products, err := search.Open[product](t.Context(), session, "products")
	require.NoError(t, err)
	fill(t, session, 5)
	_, err = products.Where("price < 100 and in_stock and id > 1").All(t.Context(), []float32{1, 2, 3}, 2)
	require.NoError(t, err)
}

// TestCreateIndexScyllaLocal creates an index of each partition, and warns of a table with clustering columns.
func TestCreateIndexScyllaLocal(t *testing.T) {
	session := newSession(t, scylla("", cqltest.VectorStore{}), indexedTable)
	var warnings []string
	require.NoError(t, search.CreateIndex(t.Context(), session, "notes", vector.Cosine, search.IndexOptions{
		Name: "own", Local: true, Filter: []string{"name", "c"}, Warn: func(text string) { warnings = append(warnings, text) },
	}))
	require.Equal(t, `{"tc":"v","pk":["a","b"],"fc":["name"]}`, optionsOf(t, session, "own")["target"])
	require.Equal(t, []string{"table shop.notes has clustering columns: ScyllaDB reads the row of each hit by a request of its own"}, warnings)
}

// TestCreateIndexRefused refuses what the server would refuse, before anything is sent.
func TestCreateIndexRefused(t *testing.T) {
	cassandra := newSession(t, cqltest.Config{}, indexedTable)
	newScylla := newSession(t, scylla("", cqltest.VectorStore{}), indexedTable)
	oldScylla := newSession(t, scylla("2025.4.2", cqltest.VectorStore{}), indexedTable)
	type options = search.IndexOptions
	for _, c := range []struct {
		session *vecql.Session
		target  string
		metric  vector.Metric
		options options
		want    error
		text    string
	}{
		{cassandra, "products", vector.Cosine, options{OptimizeFor: "speed"}, search.ErrOption, "optimize_for is speed: Cassandra 5.0.9 accepts latency, recall"},
		{cassandra, "products", vector.Cosine, options{MaximumNodeConnections: 513}, search.ErrOption, "maximum_node_connections is 513: Cassandra 5.0.9 accepts 1 to 512"},
		{cassandra, "products", vector.Cosine, options{ConstructionBeamWidth: 3201}, search.ErrOption, "Cassandra 5.0.9 accepts 1 to 3200"},
		{cassandra, "products", vector.Cosine, options{ConstructionBeamWidth: -1}, search.ErrOption, "Cassandra 5.0.9 accepts 1 to 3200"},
		{cassandra, "products", vector.Cosine, options{SearchBeamWidth: 10}, search.ErrOption, "Cassandra 5.0.9 has no option search_beam_width; it has construction_beam_width, maximum_node_connections, optimize_for"},
		{cassandra, "products", vector.Cosine, options{Quantization: "i8"}, search.ErrOption, "no option quantization"},
		{cassandra, "products", vector.Cosine, options{Oversampling: 2}, search.ErrOption, "no option oversampling"},
		{cassandra, "products", vector.Cosine, options{Rescoring: true}, search.ErrOption, "no option rescoring"},
		{cassandra, "products", vector.Cosine, options{SourceModel: "x"}, search.ErrOption, "no option source_model"},
		{cassandra, "products", vector.Cosine, options{Local: true}, search.ErrOption, "Cassandra 5.0.9 has no local indexes"},
		{cassandra, "others", vector.Cosine, options{}, search.ErrOption, "Cassandra 5.0.9 has no cosine similarity for vectors of one element"},
		{cassandra, "others(doubles)", vector.Cosine, options{}, search.ErrTarget, "doubles of table shop.others; it has: one"},
		{cassandra, "products", vector.Hamming, options{}, search.ErrMetric, "servers have cosine, L2 and dot, not Hamming"},
		{cassandra, "products", vector.Cosine, options{Filter: []string{"weight"}}, search.ErrOption, "Filter: table shop.products has no column weight"},
		{cassandra, "products", vector.Cosine, options{Filter: []string{"embedding"}}, search.ErrOption, "Filter: embedding is the column of vectors"},
		{cassandra, "products", vector.Cosine, options{Filter: []string{"took"}}, search.ErrOption, "does not filter by column took, which is duration"},
		{cassandra, "nothing", vector.Cosine, options{}, vecql.ErrNoTable, ""},
		{newScylla, "products", vector.Cosine, options{OptimizeFor: "recall"}, search.ErrOption, "has no option optimize_for"},
		{newScylla, "products", vector.Cosine, options{MaximumNodeConnections: 513}, search.ErrOption, "accepts 1 to 512"},
		{newScylla, "products", vector.Cosine, options{ConstructionBeamWidth: 4097}, search.ErrOption, "accepts 1 to 4096"},
		{newScylla, "products", vector.Cosine, options{SearchBeamWidth: 4097}, search.ErrOption, "accepts 1 to 4096"},
		{newScylla, "products", vector.Cosine, options{Quantization: "int8"}, search.ErrOption, "accepts f32, f16, bf16, i8, b1"},
		{newScylla, "products", vector.Cosine, options{Oversampling: 0.5}, search.ErrOption, "oversampling is 0.5: ScyllaDB 2026.2.5"},
		{newScylla, "products", vector.Cosine, options{Oversampling: math.NaN()}, search.ErrOption, "oversampling is NaN"},
		{newScylla, "products", vector.Cosine, options{Oversampling: 101}, search.ErrOption, "accepts 1 to 100"},
		{newScylla, "products", vector.Cosine, options{Filter: []string{"tags"}}, search.ErrOption, "does not filter by column tags, which is set<text>"},
		{newScylla, "notes", vector.Cosine, options{Filter: []string{"s"}}, search.ErrOption, "s is static"},
		{newScylla, "products", vector.Cosine, options{Quantization: "i8", Other: map[string]string{"quantization": "f16"}}, search.ErrOption, "quantization is set twice"},
		{newScylla, "products", vector.Cosine, options{Other: map[string]string{"similarity_function": "euclidean"}}, search.ErrOption, `similarity_function is "euclidean" in Other and "cosine" by the metric`},
		{oldScylla, "products", vector.Cosine, options{Quantization: "i8"}, search.ErrOption, "has no option quantization: 2026.1 is the first release with it"},
		{oldScylla, "products", vector.Cosine, options{SourceModel: "x"}, search.ErrOption, "2026.2 is the first release with it"},
	} {
		err := search.CreateIndex(t.Context(), c.session, c.target, c.metric, c.options)
		require.ErrorIs(t, err, c.want)
		require.ErrorContains(t, err, c.text)
		ks, err := c.session.KeyspaceMetadata(t.Context(), "shop")
		require.NoError(t, err)
		require.Empty(t, ks.Indexes, "%+v", c.options)
	}
}

// TestCreateIndexOther sends an unknown option as it is: the server refuses it.
func TestCreateIndexOther(t *testing.T) {
	for _, config := range []cqltest.Config{{}, scylla("", cqltest.VectorStore{})} {
		session := newSession(t, config, indexedTable)
		err := search.CreateIndex(t.Context(), session, "products", vector.Cosine, search.IndexOptions{Other: map[string]string{"alpha": "1.2"}})
		var server *cql.ServerError
		require.ErrorAs(t, err, &server)
		require.NotErrorIs(t, err, search.ErrOption)
		require.ErrorContains(t, err, "create index on shop.products(embedding)")
	}
}

// TestCreateIndexExists compares the index that exists.
func TestCreateIndexExists(t *testing.T) {
	for name, config := range map[string]cqltest.Config{"Cassandra": {}, "ScyllaDB": scylla("", cqltest.VectorStore{})} {
		t.Run(name, func(t *testing.T) {
			session := newSession(t, config, indexedTable+"CREATE INDEX taken ON shop.others (name)")
			create := func(metric vector.Metric, options search.IndexOptions) error {
				return search.CreateIndex(t.Context(), session, "products", metric, options)
			}
			require.ErrorIs(t, create(vector.Cosine, search.IndexOptions{Name: "taken", IfNotExists: true}), search.ErrIndexExists)
			require.NoError(t, create(vector.Cosine, search.IndexOptions{Filter: []string{"price"}}))
			require.ErrorIs(t, create(vector.Cosine, search.IndexOptions{Filter: []string{"price"}}), search.ErrIndexExists)
			require.ErrorIs(t, create(vector.L2, search.IndexOptions{IfNotExists: true}), search.ErrMetric)
			require.NoError(t, create(vector.Cosine, search.IndexOptions{Filter: []string{"price"}, IfNotExists: true}))
			require.NoError(t, create(vector.Cosine, search.IndexOptions{IfNotExists: true}))
		})
	}
}

// TestCreateIndexScyllaSecond creates further indexes of a column, which ScyllaDB allows if they have names.
func TestCreateIndexScyllaSecond(t *testing.T) {
	session := newSession(t, scylla("", cqltest.VectorStore{}), indexedTable)
	create := func(options search.IndexOptions) error {
		return search.CreateIndex(t.Context(), session, "notes", vector.Cosine, options)
	}
	require.NoError(t, create(search.IndexOptions{Name: "first"}))
	require.NoError(t, create(search.IndexOptions{Name: "second", Quantization: "i8"}))
	require.NoError(t, create(search.IndexOptions{Name: "third", Local: true}))
	require.ErrorIs(t, create(search.IndexOptions{Name: "first", IfNotExists: true, Filter: []string{"name"}}), search.ErrIndexExists)
	require.ErrorIs(t, create(search.IndexOptions{Name: "third", IfNotExists: true}), search.ErrIndexExists)
	require.NoError(t, create(search.IndexOptions{IfNotExists: true, Local: true}))
	ks, err := session.KeyspaceMetadata(t.Context(), "shop")
	require.NoError(t, err)
	require.Len(t, ks.Indexes, 3)
}

// TestCreateIndexNeedsTablets returns the server's error.
func TestCreateIndexNeedsTablets(t *testing.T) {
	session := newSession(t, scylla("", cqltest.VectorStore{}), `
		CREATE KEYSPACE old WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3} AND tablets = {'enabled': false};
		CREATE TABLE old.products (id int PRIMARY KEY, v vector<float, 2>);`)
	err := search.CreateIndex(t.Context(), session, "old.products", vector.Cosine, search.IndexOptions{})
	require.ErrorIs(t, err, cql.CodeInvalid)
	require.ErrorContains(t, err, "Please alter the keyspace to use tablets")
}

// TestDropIndex drops an index by its name and by its column.
func TestDropIndex(t *testing.T) {
	session := newSession(t, scylla("", cqltest.VectorStore{}), indexedTable)
	drop := func(index string) error { return search.DropIndex(t.Context(), session, index) }
	require.ErrorIs(t, drop("products(embedding)"), search.ErrNoIndex)
	require.ErrorIs(t, drop("products"), search.ErrNoIndex)
	require.ErrorIs(t, drop("nothing.near"), vecql.ErrKeyspaceDoesNotExist)
	require.ErrorIs(t, drop(""), search.ErrTarget)
	for _, name := range []string{"a", "B"} {
		require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Cosine, search.IndexOptions{Name: name}))
	}
	require.ErrorContains(t, drop("products(embedding)"), "several vector indexes: name one of B, a")
	require.NoError(t, drop(`shop."B"`))
	require.NoError(t, drop("products(embedding)"))
	require.ErrorIs(t, drop("a"), search.ErrNoIndex)
}
