// SPDX-License-Identifier: Apache-2.0

package sqlvecql_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/sqlvecql"
)

const (
	keyspace = "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};"
	items    = "CREATE TABLE shop.items (id int PRIMARY KEY, name text, embedding vector<float, 3>, tags set<text>);"
)

// start starts a node with the keyspace shop and further CQL, and returns it with a database.
func start(t testing.TB, cql string) (*cqltest.Cluster, *sql.DB) {
	t.Helper()
	return startWith(t, cqltest.Config{Nodes: 1}, cql)
}

func startWith(t testing.TB, cfg cqltest.Config, cql string) (*cqltest.Cluster, *sql.DB) {
	t.Helper()
	leak.Require(t)
	cluster := cqltest.New(t, cfg)
	require.NoError(t, cluster.Exec(keyspace+cql))
	return cluster, open(t, uriOf(cluster, ""))
}

func uriOf(cluster *cqltest.Cluster, parameters string) string {
	return "cassandra://" + strings.Join(cluster.Hosts(), ",") + "/shop" + parameters
}

// open returns a database that is closed at the end of the test.
func open(t testing.TB, uri string) *sql.DB {
	t.Helper()
	db, err := sql.Open(sqlvecql.Name, uri)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// exec executes a statement.
func exec(t testing.TB, db *sql.DB, text string, args ...any) sql.Result {
	t.Helper()
	res, err := db.ExecContext(t.Context(), text, args...)
	require.NoError(t, err)
	return res
}

// statements returns the statements of CQL that contains no semicolon elsewhere, with old replaced by new.
func statements(cql, old, new string) (found []string) {
	for _, s := range strings.Split(strings.ReplaceAll(cql, old, new), ";") {
		if strings.TrimSpace(s) != "" {
			found = append(found, s)
		}
	}
	return found
}
