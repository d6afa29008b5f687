// SPDX-License-Identifier: Apache-2.0

package sqlvecql_test

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/sqlvecql"
)

func TestMain(m *testing.M) {
	cassandra.Supervise()
	if os.Getenv(nodeEnv) != "" {
		if err := serveNode(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestServer runs on the servers of VECQL_TEST_HOSTS, else in the full size on a Cassandra that it starts.
func TestServer(t *testing.T) {
	vectors, schema := os.Getenv("VECQL_TEST_HOSTS") != "" || cassandra.HasVectors(), items+createTypes()
	if !vectors {
		schema = regexp.MustCompile(`vector<(\w+), \d>`).ReplaceAllString(schema, "list<$1>")
	}
	uri := "cassandra://" + os.Getenv("VECQL_TEST_HOSTS")
	if os.Getenv("VECQL_TEST_HOSTS") == "" {
		soak.Only(t)
		server, err := cassandra.Shared(t.Context())
		require.NoError(t, err)
		uri = "cassandra://" + url.UserPassword(cassandra.Username, cassandra.Password).String() + "@" + server.Host
	}
	leak.Require(t)
	name := fmt.Sprint("vecql_sql_", os.Getpid())
	parameters := fmt.Sprint("?timeout=30s&protocol=", cassandra.Protocol())
	admin := open(t, uri+"/"+parameters)
	exec(t, admin, "CREATE KEYSPACE "+name+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	defer exec(t, admin, "DROP KEYSPACE "+name)
	db := open(t, uri+"/"+name+parameters)
	for _, statement := range statements(schema, "shop.", name+".") {
		exec(t, db, statement)
	}
	requireTypes(t, db, vectors)
	requireResults(t, db)

	for id := range 100 {
		exec(t, db, "INSERT INTO items (id, embedding) VALUES (:id, :e)", cql.NamedValue("e", []float32{1, 2, 3}), cql.NamedValue("id", id))
	}
	ctx := sqlvecql.WithQuery(t.Context(), func(q *vecql.Query) { q.PageSize(10) })
	rows, err := db.QueryContext(ctx, "SELECT id, embedding FROM items")
	require.NoError(t, err)
	seen := map[int]bool{}
	for rows.Next() {
		var id int
		var embedding []float32
		require.NoError(t, rows.Scan(&id, &embedding))
		require.Equal(t, []float32{1, 2, 3}, embedding)
		seen[id] = true
	}
	require.NoError(t, rows.Err())
	require.Len(t, seen, 100)
	_, err = db.Begin()
	require.ErrorIs(t, err, sqlvecql.ErrNoTransactions)
}
