// SPDX-License-Identifier: Apache-2.0

package otelvecql

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseStatement(t *testing.T) {
	for _, m := range []struct{ text, operation, keyspace, collection string }{
		{"SELECT * FROM t WHERE id = ?", "SELECT", "", "t"},
		{"select json a, 'FROM x' AS b from Ks . T", "SELECT", "ks", "t"},
		{`SELECT "from" FROM "K""s"."T"`, "SELECT", `K"s`, "T"},
		{"/* FROM a */ SELECT a -- FROM b\nFROM c", "SELECT", "", "c"},
		{"INSERT INTO ks.t (a) VALUES (1)", "INSERT", "ks", "t"},
		{"INSERT INTO ks.t JSON '{\"a\": 1}'", "INSERT", "ks", "t"},
		{"UPDATE t USING TTL 5 SET a = 1 WHERE b = 2", "UPDATE", "", "t"},
		{"DELETE a[1] FROM t WHERE b = 2", "DELETE", "", "t"},
		{"TRUNCATE t", "TRUNCATE", "", "t"},
		{"TRUNCATE TABLE ks.t", "TRUNCATE", "ks", "t"},
		{"BEGIN UNLOGGED BATCH INSERT INTO t (a) VALUES (1) APPLY BATCH", "BATCH", "", ""},
		{"CREATE TABLE IF NOT EXISTS ks.t (id int PRIMARY KEY)", "CREATE TABLE", "ks", "t"},
		{"DROP TABLE IF EXISTS t", "DROP TABLE", "", "t"},
		{"ALTER KEYSPACE ks WITH durable_writes = false", "ALTER KEYSPACE", "ks", ""},
		{"CREATE CUSTOM INDEX ON t (v) USING 'sai'", "CREATE INDEX", "", ""},
		{"CREATE OR REPLACE FUNCTION f (x int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS $$return 1;$$", "CREATE FUNCTION", "", ""},
		{"CREATE MATERIALIZED VIEW ks.v AS SELECT * FROM t", "CREATE MATERIALIZED VIEW", "ks", "v"},
		{"GRANT SELECT ON t TO r", "GRANT", "", ""},
		{"", "", "", ""},
		{"SELECT 1", "SELECT", "", ""},
		{"SELECT a FROM", "SELECT", "", ""},
		{"SELECT a FROM ks.", "SELECT", "", "ks"},
		{"SELECT a FROM \"", "SELECT", "", ""},
		{"'", "", "", ""},
	} {
		require.Equal(t, statement{m.operation, m.keyspace, m.collection}, parseStatement(m.text), m.text)
	}
	require.Equal(t, "SELECT ks.t", parseStatement("SELECT a FROM ks.t").summary())
	require.Equal(t, "DROP KEYSPACE ks", parseStatement("DROP KEYSPACE ks").summary())
	require.Equal(t, statement{"BATCH INSERT", "", "t"}, parseBatch([]string{"INSERT INTO t (a) VALUES (1)", "INSERT INTO t (b) VALUES (1)"}))
	require.Equal(t, statement{"BATCH", "", ""}, parseBatch([]string{"INSERT INTO t (a) VALUES (1)", "DELETE FROM u WHERE a = 1"}))
	require.Equal(t, statement{"INSERT", "", "t"}, parseBatch([]string{"INSERT INTO t (a) VALUES (1)"}))
	require.Equal(t, statement{"BATCH", "", ""}, parseBatch(nil))
}

func TestWithoutLiterals(t *testing.T) {
	for _, m := range []struct{ text, want string }{
		{"SELECT a FROM t WHERE b = ? AND c = :name", "SELECT a FROM t WHERE b = ? AND c = :name"},
		{"INSERT INTO t2 (a) VALUES ('it''s', 0xCAFE, -1.5e+10, 12h30m, [1, 2])", "INSERT INTO t2 (a) VALUES (?, ?, -?, ?, [?, ?])"},
		{"WHERE id = e29b5400-550e-41d4-a716-446655440000 AND b=550e8400-e29b-41d4-a716-446655440000", "WHERE id = ? AND b=?"},
		{`SELECT "my 'col'" FROM t -- secret`, `SELECT "my 'col'" FROM t  `},
		{"a /* secret */ b // secret\nc", "a   b  c"},
		{"AS $$ secret $$ x", "AS ? x"},
		{"'open", "?"},
		{"$$open", "?"},
		{"/* open", " "},
		{"ключ = 'я'", "ключ = ?"},
	} {
		require.Equal(t, m.want, withoutLiterals(m.text))
	}
	require.Len(t, withoutLiterals(strings.Repeat("abc ", 10000)), maxText+len("…"))
	require.Len(t, batchText([]string{strings.Repeat("abc ", 1000), strings.Repeat("abd ", 1000), "c"}), maxText+len("…"))
	require.Equal(t, "INSERT a ?", batchText([]string{"INSERT a 1", "INSERT a 1"}))
	require.Equal(t, "a ?; b", batchText([]string{"a 1", "b"}))
	require.Equal(t, "a; b; a", batchText([]string{"a", "b", "a"}))
}

func FuzzStatement(f *testing.F) {
	f.Add("SELECT a FROM ks.t WHERE b = 'x'")
	f.Fuzz(func(t *testing.T, text string) {
		parseStatement(text)
		if clean := withoutLiterals(text); strings.Contains(clean, "'") && !strings.Contains(clean, `"`) {
			t.Errorf("%q: literal left in %q", text, clean)
		}
	})
}
