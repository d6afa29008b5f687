// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/adbcvecql"
	"github.com/vecql/vecql/cqltest"
)

// start starts a cluster with the keyspace shop and further CQL, and returns it with a connection.
func start(t *testing.T, cql string) (*cqltest.Cluster, adbc.Connection) {
	t.Helper()
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1})
	require.NoError(t, cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};`+cql))
	return cluster, open(t, uriOf(cluster), nil)
}

func uriOf(cluster *cqltest.Cluster) string {
	return "cassandra://" + strings.Join(cluster.Hosts(), ",") + "/shop"
}

// open returns a connection that is closed at the end of the test.
func open(t *testing.T, uri string, options map[string]string) adbc.Connection {
	t.Helper()
	db, err := adbcvecql.NewDriver().NewDatabase(map[string]string{"uri": uri})
	require.NoError(t, err)
	require.NoError(t, db.SetOptions(options))
	conn, err := db.Open(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		require.NoError(t, db.Close())
	})
	return conn
}

// newStatement returns a statement that is closed at the end of the test.
func newStatement(t *testing.T, conn adbc.Connection, query string, options ...string) adbc.Statement {
	t.Helper()
	st, err := conn.NewStatement()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	for i := 0; i < len(options); i += 2 {
		require.NoError(t, st.SetOption(options[i], options[i+1]))
	}
	if query != "" {
		require.NoError(t, st.SetSqlQuery(query))
	}
	return st
}

// query returns the rows of a query as JSON, a row a line.
func query(t *testing.T, conn adbc.Connection, text string, options ...string) []string {
	t.Helper()
	reader, _, err := newStatement(t, conn, text, options...).ExecuteQuery(t.Context())
	require.NoError(t, err)
	return rowsOf(t, reader)
}

// rowsOf reads and releases a reader.
func rowsOf(t *testing.T, reader array.RecordReader) (rows []string) {
	t.Helper()
	defer reader.Release()
	for reader.Next() {
		if reader.RecordBatch().NumRows() == 0 {
			continue
		}
		var text strings.Builder
		require.NoError(t, array.RecordToJSON(reader.RecordBatch(), &text))
		rows = append(rows, strings.Split(strings.TrimSpace(text.String()), "\n")...)
	}
	require.NoError(t, reader.Err())
	return rows
}

// record returns a record of a schema from JSON.
func record(t *testing.T, json string, fields ...arrow.Field) arrow.RecordBatch {
	t.Helper()
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(json))
	require.NoError(t, err)
	return rec
}

func field(name string, typ arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: typ, Nullable: true}
}

// requireStatus requires that an error is an adbc.Error with a status and a part of its text.
func requireStatus(t *testing.T, err error, status adbc.Status, text string) {
	t.Helper()
	var failed adbc.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, status, failed.Code, "%v", err)
	require.ErrorContains(t, err, text)
}
