// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"context"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/adbcvecql"
	"github.com/vecql/vecql/cqltest"
)

func TestGetInfo(t *testing.T) {
	_, conn := start(t, "")
	info, err := adbc.GetDriverInfo(t.Context(), conn)
	require.NoError(t, err)
	require.Equal(t, "Apache Cassandra 5.0.9", info.VendorName+" "+info.VendorVersion)
	require.Equal(t, "ADBC vecql driver", info.DriverName)
	require.Equal(t, adbc.AdbcVersion1_1_0, info.DriverADBCVersion)
	reader, err := conn.GetInfo(t.Context(), []adbc.InfoCode{adbc.InfoVendorSql, 9999})
	require.NoError(t, err)
	require.Equal(t, []string{`{"info_name":3,"info_value":[1,true]}`}, rowsOf(t, reader))
	reader, err = conn.GetTableTypes(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{`{"table_type":"TABLE"}`, `{"table_type":"MATERIALIZED VIEW"}`}, rowsOf(t, reader))
}

func TestGetObjects(t *testing.T) {
	_, conn := start(t, items+`CREATE TABLE shop.events (day int, at int, what set<text>, PRIMARY KEY (day, at));`)
	get := func(depth adbc.ObjectDepth, catalog, schema, table, column string, types ...string) []string {
		optional := func(s string) *string {
			if s == "nil" {
				return nil
			}
			return &s
		}
		reader, err := conn.GetObjects(t.Context(), depth, optional(catalog), optional(schema), optional(table),
			optional(column), types)
		require.NoError(t, err)
		return rowsOf(t, reader)
	}
	const tables = `"db_schema_tables":[{"table_columns":null,"table_constraints":null,"table_name":"events",` +
		`"table_type":"TABLE"},{"table_columns":null,"table_constraints":null,"table_name":"items","table_type":"TABLE"}]`
	require.Empty(t, get(adbc.ObjectDepthAll, "other", "nil", "nil", "nil"))
	require.Equal(t, []string{`{"catalog_db_schemas":null,"catalog_name":null}`},
		get(adbc.ObjectDepthCatalogs, "nil", "nil", "nil", "nil"))
	require.Equal(t, []string{`{"catalog_db_schemas":[{"db_schema_name":"shop","db_schema_tables":null}],"catalog_name":null}`},
		get(adbc.ObjectDepthDBSchemas, "", "s_op", "nil", "nil"))
	require.Equal(t, []string{`{"catalog_db_schemas":[{"db_schema_name":"shop",` + tables + `}],"catalog_name":null}`},
		get(adbc.ObjectDepthTables, "%", "shop", "%", "nil", "TABLE"))
	require.Equal(t, []string{`{"catalog_db_schemas":[{"db_schema_name":"shop","db_schema_tables":[]}],"catalog_name":null}`},
		get(adbc.ObjectDepthTables, "nil", "shop", "nil", "nil", "VIEW"))
	rows := get(adbc.ObjectDepthAll, "nil", "shop", "ev%", "wha_")
	require.Len(t, rows, 1)
	require.Contains(t, rows[0], `"column_name":"what","ordinal_position":3,"remarks":"regular"`)
	require.Contains(t, rows[0], `"xdbc_is_nullable":"YES"`)
	require.Contains(t, rows[0], `"xdbc_type_name":"set\u003ctext\u003e"`)
	require.Contains(t, rows[0], `"constraint_column_names":["day","at"]`)
	require.Contains(t, rows[0], `"constraint_type":"PRIMARY KEY"`)
	require.NotContains(t, rows[0], `"column_name":"day"`)
}

// A server without tables of estimates has no statistics.
func TestGetStatistics(t *testing.T) {
	_, conn := start(t, items)
	stats := conn.(adbc.ConnectionGetStatistics)
	shop := "shop"
	reader, err := stats.GetStatistics(t.Context(), nil, &shop, nil, true)
	require.NoError(t, err)
	require.Equal(t, []string{`{"catalog_db_schemas":[{"db_schema_name":"shop","db_schema_statistics":[]}],` +
		`"catalog_name":null}`}, rowsOf(t, reader))
	reader, err = stats.GetStatisticNames(t.Context())
	require.NoError(t, err)
	require.Len(t, rowsOf(t, reader), 2)
}

func TestOptions(t *testing.T) {
	cluster, _ := start(t, `CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE other.t (id int PRIMARY KEY)`)
	cluster.SetUsers(map[string]string{"reader": "p@ss"})
	hosts := cluster.Hosts()[0]
	conn := open(t, "scylla://reader:p%40ss@"+hosts+"/shop?consistency=ONE&timeout=5s&compression=lz4&page_bytes=77", nil)
	options := conn.(adbc.GetSetOptions)
	n, err := options.GetOptionInt("vecql.page_bytes")
	require.NoError(t, err)
	require.EqualValues(t, 77, n)
	require.NoError(t, options.SetOptionInt("vecql.workers", 2))
	x, err := options.GetOptionDouble("vecql.workers")
	require.NoError(t, err)
	require.Equal(t, 2.0, x)
	_, err = conn.GetTableSchema(t.Context(), nil, nil, "t")
	requireStatus(t, err, adbc.StatusNotFound, "shop.t")
	require.NoError(t, options.SetOption(adbc.OptionKeyCurrentDbSchema, "other"))
	require.Empty(t, query(t, conn, "SELECT * FROM t"))
	_, err = options.GetOption(adbc.OptionKeyPassword)
	requireStatus(t, err, adbc.StatusNotFound, "")
	requireStatus(t, options.SetOption("vecql.tls", "true"), adbc.StatusNotImplemented, "unknown option")
	requireStatus(t, options.SetOption("vecql.uuid", "x"), adbc.StatusInvalidArgument, "extension")
	requireStatus(t, options.SetOption("adbc.connection.autocommit", "false"), adbc.StatusNotImplemented, "transactions")
	requireStatus(t, conn.Commit(t.Context()), adbc.StatusInvalidState, "transactions")
}

func TestInvalidOptions(t *testing.T) {
	for _, c := range []struct{ key, value, text string }{
		{"uri", "http://host/", "cassandra://"},
		{"uri", "cassandra://host/?nothing=1", "unknown parameter"},
		{"uri", "cassandra://u:p%zz@host/", "cannot be parsed"},
		{"vecql.consistency", "MOST", "MOST"},
		{"vecql.timeout", "fast", "want a time"},
		{"vecql.workers", "0", "at least 1"},
		{"vecql.decimal", "decimal256(9,2)", "decimal256(76,S)"},
	} {
		_, err := adbcvecql.NewDriver().NewDatabase(map[string]string{c.key: c.value})
		requireStatus(t, err, adbc.StatusInvalidArgument, c.text)
	}
}

func TestErrorsHaveStatuses(t *testing.T) {
	cluster, conn := start(t, items)
	fault := func(code int32) *cqltest.Rule {
		return cluster.Inject(cqltest.Fault{Statement: "SELECT * FROM items", Error: &cqltest.Error{Code: code}})
	}
	for _, c := range []struct {
		code   int32
		status adbc.Status
	}{
		{cqltest.CodeUnauthorized, adbc.StatusUnauthorized},
		{cqltest.CodeReadFailure, adbc.StatusIO},
		{cqltest.CodeSyntax, adbc.StatusInvalidArgument},
		{cqltest.CodeReadTimeout, adbc.StatusTimeout},
	} {
		rule := fault(c.code)
		_, _, err := newStatement(t, conn, "SELECT * FROM items").ExecuteQuery(t.Context())
		requireStatus(t, err, c.status, "")
		rule.Remove()
	}
	for _, text := range []string{"SELECT * FROM nothing", "DROP TABLE nothing", "SELECT * FROM nowhere.items"} {
		_, _, err := newStatement(t, conn, text).ExecuteQuery(t.Context())
		requireStatus(t, err, adbc.StatusNotFound, "no")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, _, err := newStatement(t, conn, "SELECT * FROM items").ExecuteQuery(ctx)
	requireStatus(t, err, adbc.StatusTimeout, "")

	cluster.SetUsers(map[string]string{"reader": "secret"})
	for _, user := range []string{"", "reader"} {
		db, err := adbcvecql.NewDriver().NewDatabase(map[string]string{"uri": uriOf(cluster), "username": user})
		require.NoError(t, err)
		_, err = db.Open(t.Context())
		requireStatus(t, err, adbc.StatusUnauthenticated, "")
		require.NoError(t, db.Close())
	}
}
