// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/sqlvecql"
)

func TestMain(m *testing.M) {
	cassandra.Supervise()
	os.Exit(m.Run())
}

// server returns the URI of the servers of VECQL_TEST_HOSTS, else of a cluster in this process, or in the full size of
// a Cassandra.
func server(t *testing.T) string {
	t.Helper()
	switch hosts := os.Getenv("VECQL_TEST_HOSTS"); {
	case hosts != "":
		return "cassandra://" + hosts
	case soak.On():
		shared, err := cassandra.Shared(t.Context())
		require.NoError(t, err)
		return "cassandra://" + url.UserPassword(cassandra.Username, cassandra.Password).String() + "@" + shared.Host
	}
	return "cassandra://" + cqltest.New(t, cqltest.Config{Nodes: 1}).Hosts()[0]
}

// hasVectors reports whether the server has vectors, which Cassandra 4 lacks.
func hasVectors() bool {
	return !soak.On() || os.Getenv("VECQL_TEST_HOSTS") != "" || cassandra.HasVectors()
}

// requireVectors skips a test of a vector index on a server without vectors.
func requireVectors(t *testing.T) {
	t.Helper()
	if !hasVectors() {
		t.Skip("missing: no vectors")
	}
}

var keyspaces atomic.Int32 // that were created

// open returns a database with a keyspace of its own.
func open(t *testing.T) (db *sql.DB, keyspace string) {
	t.Helper()
	uri := server(t)
	keyspace = fmt.Sprintf("vecql_sql_%d_%d", os.Getpid(), keyspaces.Add(1))
	admin, err := sql.Open(sqlvecql.Name, uri)
	require.NoError(t, err)
	_, err = admin.Exec("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	require.NoError(t, err)
	db, err = sql.Open(sqlvecql.Name, uri+"/"+keyspace+fmt.Sprint("?timeout=30s&protocol=", cassandra.Protocol()))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, db.Close())
		_, err := admin.Exec("DROP KEYSPACE " + keyspace)
		require.NoError(t, err)
		require.NoError(t, admin.Close())
	})
	return db, keyspace
}
