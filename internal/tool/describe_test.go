// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tests/cassandra"
)

// described are statements that create a schema with most of what DESCRIBE prints, in the keyspace shop.
const described = `CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
	CREATE TABLE shop.items (id int PRIMARY KEY, name text, tags set<text>, v vector<float, 3>);
	CREATE TYPE shop.street (name text, number int);
	CREATE TYPE shop.address (zip text, at frozen<street>);
	CREATE TABLE shop."Orders" (customer uuid, "At" timestamp, line int, total decimal static, home frozen<address>,
		notes map<text, frozen<list<int>>>, PRIMARY KEY ((customer, "At"), line))
		WITH CLUSTERING ORDER BY (line DESC) AND comment = 'it''s' AND default_time_to_live = 60
		AND compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': '100'};
	CREATE TABLE shop.hits (page text PRIMARY KEY, n counter);
	CREATE CUSTOM INDEX items_v ON shop.items (v) USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': 'cosine'};
	CREATE INDEX ON shop.items (name);
	CREATE INDEX ON shop.items (VALUES(tags));`

// describedViews are further statements for servers with views and functions.
const describedViews = `
	CREATE MATERIALIZED VIEW shop.named AS SELECT id, name FROM shop.items WHERE name IS NOT NULL AND id IS NOT NULL
		PRIMARY KEY (name, id);
	CREATE FUNCTION shop.least(a int, b int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS $$ return Math.min(a, b); $$;
	CREATE AGGREGATE shop.lowest(int) SFUNC least STYPE int INITCOND 0;`

// requireRoundTrip requires that the schema which describe prints creates an equal one, on the server of x.
func requireRoundTrip(t *testing.T, x *tester, keyspace, statements string) {
	x.in = strings.ReplaceAll(statements, "shop", keyspace)
	x.requireRun("query", "--timeout", "30s")
	schema := x.requireRun("describe", keyspace)
	require.Equal(t, strings.Count(statements, "CREATE "), strings.Count(schema, "CREATE "), schema)
	x.requireRun("query", "--timeout", "30s", "DROP KEYSPACE "+keyspace)
	x.in = schema
	x.requireRun("query", "--timeout", "30s")
	require.Equal(t, schema, x.requireRun("describe", keyspace))
	x.requireRun("query", "--timeout", "30s", "DROP KEYSPACE "+keyspace)
}

func TestDescribeRoundTrip(t *testing.T) {
	requireRoundTrip(t, newTester(t), "shop", described)
}

// TestDescribeCassandra is TestDescribeRoundTrip on the server of VECQL_TEST_HOSTS, or the shared one.
func TestDescribeCassandra(t *testing.T) {
	requireRoundTrip(t, realTester(t), fmt.Sprint("vecql_describe_", os.Getpid()), described+describedViews)
}

// realTester returns a tester with the server of VECQL_TEST_HOSTS, or the shared one.
func realTester(t *testing.T) *tester {
	x := &tester{t: t, ctx: t.Context(), env: map[string]string{"VECQL_HOSTS": os.Getenv("VECQL_TEST_HOSTS")}}
	if x.env["VECQL_HOSTS"] == "" {
		server, err := cassandra.Shared(t.Context())
		require.NoError(t, err)
		x.env = map[string]string{
			"VECQL_HOSTS": server.Host, "VECQL_USER": cassandra.Username, "VECQL_PASSWORD": cassandra.Password,
		}
	}
	return x
}

// TestDescribe requires the answers for names of every kind.
func TestDescribe(t *testing.T) {
	x := newTester(t, described)
	require.Equal(t, x.requireRun("describe", "shop"), x.requireRun("describe"))
	require.Equal(t, "CREATE TYPE shop.street (\n    name text,\n    number int\n);\n", x.requireRun("describe", "type", "shop.street"))
	require.True(t, strings.HasPrefix(x.requireRun("describe", "shop.hits"), "CREATE TABLE shop.hits (\n"))
	require.Contains(t, x.requireRun("describe", "keyspaces"), "shop                   keyspace  shop\n")
	require.Contains(t, x.requireRun("query", "DESCRIBE TABLE shop.hits"), "CREATE TABLE shop.hits (\n")
	require.Contains(t, x.requireRun("describe", "-o", "json", "shop.hits"), `"create_statement":"CREATE TABLE shop.hits (\n`)
	require.Equal(t, "vecql describe: invalid request: 'none' not found in keyspaces", x.requireFailure(1, "describe", "none"))
	x.Inject(cqltest.Fault{
		Statement: "DESCRIBE",
		Error:     &cqltest.Error{Code: 0x2000, Message: "line 1:0 no viable alternative at input 'DESCRIBE' ([DESCRIBE]...)"},
	})
	require.Equal(t, "vecql describe: the server has no DESCRIBE; Cassandra 4 and ScyllaDB 5.2 have it", x.requireFailure(1, "describe"))
}
