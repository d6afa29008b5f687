// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/soak"
)

// The verbs on Cassandra 6: what only its schema has.

// sixSchema are statements that create what Cassandra 6 has and older releases have not, in the keyspace shop.
// auto_repair is not among them: DESCRIBE of 6.0-alpha2 does not print it.
const sixSchema = `
	CREATE TYPE shop.place (street text, zip int);
	CREATE TABLE shop.checked (k int, c text CHECK LENGTH() > 2, v int CHECK v > 1 AND v < 100, o blob CHECK OCTET_LENGTH() < 10,
		j text CHECK JSON, r text CHECK REGEXP() = 'a.*b', n text CHECK NOT NULL, free text, PRIMARY KEY (k, c))
		WITH CLUSTERING ORDER BY (c DESC) AND comment = 'it''s checked';
	ALTER TABLE shop.checked ADD later int CHECK later != 7;
	ALTER TABLE shop.checked ALTER free CHECK LENGTH() <= 20;
	CREATE TABLE shop.kept LIKE shop.checked;
	CREATE TABLE shop.masked (k int PRIMARY KEY, email text MASKED WITH DEFAULT, phone text MASKED WITH mask_inner(1, null),
		p frozen<place>, t tuple<int, text>, m map<int, frozen<list<text>>>, v vector<float, 3>, d duration) WITH fast_path = {'size': '3'};
	CREATE TABLE shop.sets (k int PRIMARY KEY, n text CHECK NOT NULL, s set<int>);
	CREATE TABLE shop.sets2 LIKE shop.sets;
	CREATE INDEX masked_v ON shop.masked (v) USING 'sai' WITH OPTIONS = {'similarity_function': 'dot_product'};
	CREATE TABLE shop.account (owner int PRIMARY KEY, balance int) WITH transactional_mode = 'full';
	CREATE TABLE shop.account2 LIKE shop.account;
	COMMENT ON KEYSPACE shop IS 'the keyspace''s comment';
	COMMENT ON TABLE shop.masked IS 'people';
	COMMENT ON COLUMN shop.masked.email IS 'of work';
	COMMENT ON TYPE shop.place IS 'an address';
	COMMENT ON FIELD shop.place.zip IS 'five digits';
	SECURITY LABEL ON KEYSPACE shop IS 'internal';
	SECURITY LABEL ON TABLE shop.masked IS 'personal';
	SECURITY LABEL ON COLUMN shop.masked.email IS 'personal';
	SECURITY LABEL ON TYPE shop.place IS 'personal';
	SECURITY LABEL ON FIELD shop.place.zip IS 'public';`

// sixRows are rows whose columns have different write times. Each write of a table with a column that is NOT NULL has
// that column.
const sixRows = `
	INSERT INTO shop.checked (k, c, v, o, j, r, n, free) VALUES (1, 'abc', 2, 0x01, '{"a": 1}', 'a--b', 'n', 'text') USING TIMESTAMP 1000;
	INSERT INTO shop.checked (k, c, n, v) VALUES (1, 'abc', 'later', 9) USING TIMESTAMP 2000 AND TTL 100000;
	INSERT INTO shop.checked (k, c, n) VALUES (2, 'abcd', 'alone');
	INSERT INTO shop.masked (k, email, phone, p, t, m, v, d) VALUES
		(1, 'a@b.c', '12345', {street: 's', zip: 1}, (1, 'x'), {1: ['a', 'b']}, [1, 2, 3], 1mo2d);
	INSERT INTO shop.account (owner, balance) VALUES (1, 100);
	BEGIN TRANSACTION
		LET first = (SELECT * FROM shop.account WHERE owner = 1);
		IF first.balance > 30 THEN
			UPDATE shop.account SET balance -= 30 WHERE owner = 1;
			INSERT INTO shop.account (owner, balance) VALUES (2, 30);
		END IF
	COMMIT TRANSACTION;
	INSERT INTO shop.sets (k, n, s) VALUES (1, 'n', {1, 2});`

// TestOnCassandra6 runs the verbs on a node of Cassandra 6.
func TestOnCassandra6(t *testing.T) {
	soak.Only(t)
	c, err := cassandra.Start(t.Context(), cassandra.Options{
		Version: "6.0", Log: t.Log, JVM: []string{"-XX:TieredStopAtLevel=4"},
		Set: map[string]any{"accord.enabled": true, "dynamic_data_masking_enabled": true},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	x := &tester{t: t, ctx: t.Context(), env: map[string]string{"VECQL_HOSTS": c.Hosts()[0], "VECQL_TIMEOUT": "30s"}}
	statements := described + describedViews + sixSchema
	x.in = statements + sixRows
	code, _, text := x.run("query") // with a warning about vector indexes
	require.Zero(t, code, text)
	x.requireSameSchema()
	for _, table := range []string{"account", "checked", "masked"} {
		to := map[string]string{"account": "account2", "checked": "kept", "masked": "masked"}[table]
		if to != table {
			require.Contains(t, x.requireRun("copy", "shop."+table, "shop."+to), "Copied 2 rows in ")
			require.Equal(t, "2 rows are equal.\n", x.requireRun("verify", "shop."+table, "shop."+to))
		}
		file := t.TempDir() + "/rows.parquet"
		x.requireRun("unload", "shop."+table, file)
		x.requireRun("load", "shop."+to, file)
	}
	require.Equal(t, "2 rows are equal.\n", x.requireRun("verify", "shop.account", "shop.account2"))
	require.Equal(t, "{\"owner\":1,\"balance\":70}\n{\"owner\":2,\"balance\":30}\n",
		x.requireRun("query", "--output", "json", "SELECT * FROM shop.account2"))
	require.Contains(t, x.requireFailure(exitFailed, "copy", "shop.sets", "shop.sets2"), adviceNotNull)
	require.Contains(t, x.requireRun("copy", "shop.sets", "shop.sets2", "--no-times"), "Copied 1 row in ")
	x.requireRefused()
	x.requireDemo("200 rows verified bit for bit", "--rows", "200")
}

// requireSameSchema requires that the statements which describe prints create an equal schema. It drops the keyspace:
// comments name keyspaces, so that no other one is equal.
func (x *tester) requireSameSchema() {
	schema := x.requireRun("describe", "shop")
	for _, part := range []string{"CHECK NOT NULL", "COMMENT ON FIELD shop.place.zip IS 'five digits'", "SECURITY LABEL ON COLUMN"} {
		require.Contains(x.t, schema, part)
	}
	x.requireRun("query", "CREATE KEYSPACE again WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}")
	x.requireRun("query", "DROP KEYSPACE again")
	x.in = strings.ReplaceAll(schema, "shop", "again")
	x.requireRun("query")
	require.Equal(x.t, x.in, x.requireRun("describe", "again"))
}

// requireRefused loads records that violate constraints: each is rejected with the text of the server.
func (x *tester) requireRefused() {
	x.in = `{"k":5,"c":"ab","n":"x"}
		{"k":5,"c":"abc","n":"x","v":1}
		{"k":5,"c":"abc","n":"x","j":"{"}
		{"k":5,"c":"abc","n":"x"}`
	code, out, text := x.run("load", "shop.kept", "-", "--format", "json", "--allow-missing", "--max-errors", "100")
	require.Equal(x.t, 3, code, text)
	require.Equal(x.t, "loaded 1 row from 1 file, 3 rejected\n", out)
	for _, column := range []string{
		"value constraint for column 'c'", "value constraint for column 'v'", "Value for column 'j' violated JSON constraint",
	} {
		require.Contains(x.t, text, column)
	}
}

// TestCopyNotNull copies to a table of Cassandra 6 whose constraint refuses the UPDATEs of elements.
func TestCopyNotNull(t *testing.T) {
	x := newTester(t, shop, backup)
	x.Inject(cqltest.Fault{Op: cqltest.OpPrepare, Statement: "UPDATE", Error: &cqltest.Error{
		Code: cqltest.CodeInvalid, Message: "Column 'name' has to be specified as part of this query.",
	}})
	text := x.requireFailure(exitFailed, "copy", "shop.items", "backup.items")
	require.Contains(t, text, "Column 'name' has to be specified as part of this query. (")
	require.Contains(t, text, "; "+adviceNotNull)
	require.Contains(t, x.requireRun("copy", "shop.items", "backup.items", "--no-times"), "Copied 2 rows in ")
}
