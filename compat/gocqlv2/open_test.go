// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/vecql/vecql/cqltest"
)

// A session of the API on a cluster in memory.

const schema = `CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
	CREATE TYPE shop.address (street text, number int);
	CREATE TABLE shop.items (id int PRIMARY KEY, name text, price double, at timestamp, ip inet, tags set<text>,
		sizes list<int>, stock map<text, int>, pos tuple<int, text>, home frozen<address>, big bigint, tid timeuuid);
	CREATE TABLE shop.rows (p int, c int, v text, PRIMARY KEY (p, c))`

// start returns a cluster and its configuration.
func start(t *testing.T, nodes int) (*cqltest.Cluster, *gocql.ClusterConfig) {
	t.Helper()
	cluster := cqltest.New(t, cqltest.Config{Nodes: nodes, Network: cqltest.InMemory})
	for _, statement := range strings.Split(schema, ";") {
		require.NoError(t, cluster.Exec(statement))
	}
	cfg := gocql.NewCluster(cluster.Hosts()...)
	cfg.Dialer = cluster.Dialer()
	cfg.Keyspace = "shop"
	return cluster, cfg
}

// connect returns a session with a configuration.
func connect(t *testing.T, cfg *gocql.ClusterConfig) *gocql.Session {
	t.Helper()
	session, err := cfg.CreateSession()
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return session
}

// open returns a session on a cluster of one node.
func open(t *testing.T) (*cqltest.Cluster, *gocql.Session) {
	t.Helper()
	cluster, cfg := start(t, 1)
	return cluster, connect(t, cfg)
}
