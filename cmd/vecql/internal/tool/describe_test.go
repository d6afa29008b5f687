// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
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

// requireRoundTrip requires that describe prints each of the statements which have created a keyspace, and that they
// create an equal one.
func (x *tester) requireRoundTrip(keyspace, copied, statements string) {
	x.t.Helper()
	schema := x.requireRun("describe", keyspace)
	require.Equal(x.t, strings.Count(statements, "CREATE "), strings.Count(schema, "CREATE "), schema)
	x.in = strings.ReplaceAll(schema, keyspace, copied)
	x.requireRun("query")
	require.Equal(x.t, x.in, x.requireRun("describe", copied))
	view := x.requireRun("describe", keyspace+".named")
	require.Contains(x.t, view, "CREATE MATERIALIZED VIEW "+keyspace+".named AS\n")
	require.Contains(x.t, schema, view)
}

// TestDescribeRoundTrip requires that the schema which describe prints creates an equal one. TestOnServer does so on a
// real server.
func TestDescribeRoundTrip(t *testing.T) {
	x := newTester(t, described)
	schema := x.requireRun("describe", "shop")
	require.Equal(t, strings.Count(described, "CREATE "), strings.Count(schema, "CREATE "), schema)
	other := newTester(t)
	other.in = schema
	other.requireRun("query")
	require.Equal(t, schema, other.requireRun("describe", "shop"))
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

// TestDescribeComments has the statements that Cassandra 6.0-alpha2 prints after the statement that creates the object.
func TestDescribeComments(t *testing.T) {
	for text, want := range map[string]string{
		"CREATE TABLE shop.items (\n    id int PRIMARY KEY\n);\nCOMMENT ON TABLE shop.items IS 'it''s';":                                        "",
		"CREATE TABLE shop.\"Items\" (id int);\nCOMMENT ON TABLE shop.Items IS 'COMMENT ON TABLE shop.Items IS it';":                            "COMMENT ON TABLE shop.\"Items\" IS 'COMMENT ON TABLE shop.Items IS it';",
		"CREATE TABLE \"Shop\".t (\"Id\" int);\nSECURITY LABEL ON COLUMN Shop.t.\"Id\" IS 'a';":                                                 "SECURITY LABEL ON COLUMN \"Shop\".t.\"Id\" IS 'a';",
		"CREATE TYPE shop.\"T\" (\"F g\" int, f int);\nCOMMENT ON TYPE shop.T IS 'a';\nCOMMENT ON FIELD shop.T.F g IS 'b';":                     "COMMENT ON TYPE shop.\"T\" IS 'a';\nCOMMENT ON FIELD shop.\"T\".\"F g\" IS 'b';",
		"CREATE KEYSPACE \"K\" WITH durable_writes = true;\nCOMMENT ON KEYSPACE K IS ';COMMENT ON KEYSPACE K IS ';\nSECURITY LABEL ON KEYSPACE": "COMMENT ON KEYSPACE \"K\" IS ';COMMENT ON KEYSPACE K IS ';\nSECURITY LABEL ON KEYSPACE",
		"CREATE FUNCTION shop.f() RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS $$ ; COMMENT ON x IS 'a' $$;":                         "",
		"COMMENT": "", "": "",
	} {
		if want == "" {
			want = text
		}
		got := quoteComments(text)
		require.True(t, strings.HasSuffix(got, want), "%s\n%s", got, want)
		require.Equal(t, strings.ReplaceAll(text, `"`, ""), strings.ReplaceAll(got, `"`, ""))
	}
}
