// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

const searchable = items + `
	ALTER TABLE shop.items ADD stock int;
	CREATE CUSTOM INDEX ON shop.items (embedding) USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': 'euclidean'};
	CREATE INDEX ON shop.items (stock) USING 'sai';
	INSERT INTO shop.items (id, stock, embedding) VALUES (1, 5, [1, 0]); INSERT INTO shop.items (id, stock, embedding) VALUES (2, 6, [2, 0]);
	INSERT INTO shop.items (id, stock, embedding) VALUES (3, 7, [4, 0]);`

var vectors = field("q", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32))

func TestSearch(t *testing.T) {
	_, conn := start(t, searchable)
	for name, c := range map[string]struct {
		options []string
		rows    []string
	}{
		"k": {[]string{"vecql.search.k", "2"}, []string{
			`{"distance":0,"id":1,"query":0,"rank":1,"score":1}`, `{"distance":1,"id":2,"query":0,"rank":2,"score":0.5}`,
			`{"distance":0,"id":3,"query":1,"rank":1,"score":1}`, `{"distance":2,"id":2,"query":1,"rank":2,"score":0.2}`,
		}},
		"filter and score": {[]string{"vecql.search.filter", "stock > 5", "vecql.search.min_score", "0.5"}, []string{
			`{"distance":1,"id":2,"query":0,"rank":1,"score":0.5}`, `{"distance":0,"id":3,"query":1,"rank":1,"score":1}`,
		}},
		"exact": {[]string{"vecql.search.exact", "true", "vecql.search.filter", "id < 3 or id > 7", "vecql.search.k", "1"}, []string{
			`{"distance":0,"id":1,"query":0,"rank":1,"score":1}`, `{"distance":2,"id":2,"query":1,"rank":1,"score":0.2}`,
		}},
		"metric": {[]string{"vecql.search.exact", "true", "vecql.search.metric", "dot", "vecql.search.k", "1"}, []string{
			`{"distance":-4,"id":3,"query":0,"rank":1,"score":2.5}`, `{"distance":-16,"id":3,"query":1,"rank":1,"score":8.5}`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStatement(t, conn, "SELECT id FROM items", append(c.options, "vecql.search", "items", "vecql.search.columns", "id")...)
			require.NoError(t, st.SetOption("vecql.search", "items")) // after the query
			for range 2 {
				require.NoError(t, st.Bind(t.Context(), record(t, `[{"q": [1, 0]}, {"q": [4, 0]}]`, vectors)))
				reader, n, err := st.ExecuteQuery(t.Context())
				require.NoError(t, err)
				require.EqualValues(t, len(c.rows), n)
				require.Equal(t, c.rows, rowsOf(t, reader))
			}
			require.NoError(t, st.SetSqlQuery("SELECT count(*) FROM items"))
			require.NoError(t, st.Bind(t.Context(), record(t, `[{}]`)))
			reader, _, err := st.ExecuteQuery(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{`{"count":3}`}, rowsOf(t, reader))
		})
	}
	st := newStatement(t, conn, "", "vecql.search", "shop.items(embedding)")
	require.NoError(t, st.Bind(t.Context(), record(t, `[{"q": [1, 0]}]`, vectors)))
	reader, _, err := st.ExecuteQuery(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"id", "embedding", "name", "price", "stock", "query", "rank", "score", "distance"}, namesOf(reader.Schema()))
	reader.Release()
}

func namesOf(schema *arrow.Schema) (names []string) {
	for _, f := range schema.Fields() {
		names = append(names, f.Name)
	}
	return names
}

// TestSearchRefused requires the statuses of searches that are not possible.
func TestSearchRefused(t *testing.T) {
	_, conn := start(t, searchable+"CREATE TABLE shop.plain (id int PRIMARY KEY, v vector<float, 2>)")
	one := record(t, `[{"q": [1, 0]}]`, vectors)
	for name, c := range map[string]struct {
		options []string
		queries arrow.RecordBatch
		status  adbc.Status
		text    string
	}{
		"nothing bound": {nil, nil, adbc.StatusInvalidState, "no queries are bound"},
		"two columns":   {nil, record(t, `[{"q": [1, 0], "r": [1, 0]}]`, vectors, field("r", vectors.Type)), adbc.StatusInvalidArgument, "2 columns are bound"},
		"texts":         {nil, record(t, `[{"q": "blue"}]`, field("q", arrow.BinaryTypes.String)), adbc.StatusInvalidArgument, "fixed-size list of float"},
		"NULL":          {nil, record(t, `[{"q": [1, 0]}, {"q": null}]`, vectors), adbc.StatusInvalidArgument, "query 1 is NULL"},
		"dimension": {
			nil, record(t, `[{"q": [1]}]`, field("q", arrow.FixedSizeListOf(1, arrow.PrimitiveTypes.Float32))), adbc.StatusInvalidArgument,
			"dimension 1, want 2",
		},
		"table":    {[]string{"vecql.search", "missing"}, one, adbc.StatusNotFound, "missing"},
		"target":   {[]string{"vecql.search", "items(name)"}, one, adbc.StatusNotFound, "name"},
		"no index": {[]string{"vecql.search", "plain"}, one, adbc.StatusInvalidState, "vector index"},
		"k":        {[]string{"vecql.search.k", "1001"}, one, adbc.StatusInvalidArgument, "1001"},
		"filter":   {[]string{"vecql.search.filter", "name = 'a'"}, one, adbc.StatusInvalidArgument, "name"},
		"syntax":   {[]string{"vecql.search.filter", "name ="}, one, adbc.StatusInvalidArgument, "filter"},
		"column":   {[]string{"vecql.search.columns", "id, size"}, one, adbc.StatusInvalidArgument, "size"},
		"metric":   {[]string{"vecql.search.metric", "dot"}, one, adbc.StatusInvalidArgument, "similarity"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStatement(t, conn, "", append([]string{"vecql.search", "items"}, c.options...)...)
			if c.queries != nil {
				require.NoError(t, st.Bind(t.Context(), c.queries))
			}
			_, _, err := st.ExecuteQuery(t.Context())
			requireStatus(t, err, c.status, c.text)
		})
	}
	st := newStatement(t, conn, "", "vecql.search", "items")
	for option, value := range map[string]string{
		"vecql.search.k": "0", "vecql.search.min_score": "high", "vecql.search.metric": "hamming", "vecql.search.exact": "maybe",
	} {
		requireStatus(t, st.SetOption(option, value), adbc.StatusInvalidArgument, option)
	}
	require.NoError(t, st.Bind(t.Context(), one))
	_, err := st.ExecuteUpdate(t.Context())
	requireStatus(t, err, adbc.StatusInvalidState, "execute it as a query")
	requireStatus(t, st.Prepare(t.Context()), adbc.StatusInvalidState, "needs no Prepare")
}

// TestSearchNotReady searches by an index that is being built.
func TestSearchNotReady(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1, SAI: cqltest.SAI{Build: 1e12}})
	require.NoError(t, cluster.Exec("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};"+searchable))
	st := newStatement(t, open(t, uriOf(cluster), nil), "", "vecql.search", "items")
	require.NoError(t, st.Bind(t.Context(), record(t, `[{"q": [1, 0]}]`, vectors)))
	_, _, err := st.ExecuteQuery(t.Context())
	requireStatus(t, err, adbc.StatusInvalidState, "does not serve yet")
}
