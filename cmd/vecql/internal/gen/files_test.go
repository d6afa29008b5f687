// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// writeSchema writes a file of CQL and returns its path.
func writeSchema(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "schema.cql")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestReadFiles(t *testing.T) {
	for _, m := range []struct {
		name, keyspace, text string
		tables, notes        []string
	}{
		{"keyspace of the settings", "shop", "CREATE TABLE b (id int PRIMARY KEY);\nCREATE TABLE a (id int PRIMARY KEY)", []string{"a", "b"}, nil},
		{"no CREATE KEYSPACE", "", "CREATE TABLE shop.a (id int PRIMARY KEY) WITH comment = 'x' AND unknown = 1;", []string{"a"}, nil},
		{"replication of other data centers", "", "CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'eu': 3};" +
			"USE shop; CREATE TABLE a (id int PRIMARY KEY)", []string{"a"}, nil},
		{"created twice", "", "CREATE SCHEMA IF NOT EXISTS shop WITH x = 1; CREATE KEYSPACE shop WITH x = 1; CREATE TABLE shop.a (id int PRIMARY KEY)", []string{"a"}, nil},
		{"other words", "", "CREATE COLUMNFAMILY IF NOT EXISTS shop.a (id int PRIMARY KEY); alter table shop.a add b int;", []string{"a"}, nil},
		{"statements without effect", "shop", "CREATE TABLE a (id int PRIMARY KEY); BEGIN BATCH INSERT INTO a (id) VALUES (1); APPLY BATCH;" +
			"CREATE ROLE x; DROP TRIGGER t ON a; GRANT ALL TO x; ALTER TABLE a WITH comment = ''; COMMENT ON TABLE a IS ''", []string{"a"}, nil},
		{"several keyspaces", "shop", "CREATE TABLE other.b (id int PRIMARY KEY); CREATE TABLE shop.a (id int PRIMARY KEY)", []string{"a"}, nil},
		{"dropped", "shop", "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY); DROP TABLE b; DROP TABLE IF EXISTS gone.x", []string{"a"}, nil},
		{"byte order mark", "shop", "\ufeffCREATE TABLE a (id int PRIMARY KEY)", []string{"a"}, nil},
		{
			"view", "shop", "CREATE TABLE a (id int PRIMARY KEY, b int); CREATE MATERIALIZED VIEW shop.v AS SELECT * FROM a WHERE b IS NOT NULL " +
				"AND id IS NOT NULL PRIMARY KEY (b, id) WITH comment = ''; CREATE MATERIALIZED VIEW IF NOT EXISTS v AS SELECT x FROM y PRIMARY KEY (z);" +
				"CREATE MATERIALIZED VIEW w AS SELECT id FROM a PRIMARY KEY (id); ALTER MATERIALIZED VIEW w WITH comment = ''; DROP MATERIALIZED VIEW w;" +
				"DROP MATERIALIZED VIEW IF EXISTS w; CREATE MATERIALIZED VIEW other.v AS SELECT * FROM a PRIMARY KEY (id); ALTER TABLE a ADD c int",
			[]string{"a"},
			nil,
		},
		{
			"indexes", "shop", "CREATE TABLE a (id int PRIMARY KEY, b int, v vector<float, 3>, w vector<float, 3>);" +
				"CREATE CUSTOM INDEX a_v ON a ((id), v, b) USING 'vector_index' WITH OPTIONS = {'maximum_node_connections': '16'};" +
				"CREATE CUSTOM INDEX ON shop.a (w) USING 'org.apache.cassandra.index.sai.StorageAttachedIndex' WITH OPTIONS = {'none': '1'};" +
				"CREATE CUSTOM INDEX a_b ON shop.a (b) USING 'org.example.Index'",
			[]string{"a"},
			[]string{"the index on shop.a is left out: its class is 'org.example.Index'"},
		},
	} {
		t.Run(m.name, func(t *testing.T) {
			ks, notes, err := ReadFiles(t.Context(), m.keyspace, []string{writeSchema(t, m.text)})
			require.NoError(t, err)
			require.Equal(t, "shop", ks.Name)
			require.Equal(t, m.tables, slices.Sorted(maps.Keys(ks.Tables)))
			require.Equal(t, m.notes, notes)
			if m.name == "view" {
				require.Len(t, ks.MaterializedViews, 1)
				view := ks.MaterializedViews["v"]
				require.Equal(t, []string{"b", "id", "c"}, view.OrderedColumns)
				require.Equal(t, []*cql.ColumnMetadata{view.Columns["b"]}, view.PartitionKey)
				require.Equal(t, []*cql.ColumnMetadata{view.Columns["id"]}, view.ClusteringColumns)
				require.Equal(t, cql.ColumnRegular, ks.Tables["a"].Columns["b"].Kind)
			}
			if m.name == "masks" {
				require.Equal(t, []string{"id", "b", "c", "d", "e", "f"}, ks.Tables["a"].OrderedColumns)
			}
			if m.name == "indexes" {
				require.Len(t, ks.Indexes, 2)
				require.Equal(t, "v", targetOf(ks.Indexes["a_v"]).column)
			}
		})
	}
}

// TestMasks requires columns without their masks, and columns that have the name masked.
func TestMasks(t *testing.T) {
	ks, _, err := ReadFiles(t.Context(), "shop", []string{writeSchema(t, `
		CREATE TABLE a (id int PRIMARY KEY, b text MASKED WITH DEFAULT, c text MASKED WITH shop.hide((1, 2), 3), masked text);
		ALTER TABLE a ADD d int MASKED WITH mask_null();
		ALTER TABLE a ALTER d MASKED WITH DEFAULT;
		ALTER TABLE shop.a ALTER b DROP MASKED;
		ALTER TABLE a ADD (e int MASKED WITH DEFAULT, f int);
		ALTER TABLE a DROP masked;
		CREATE TABLE b (id int PRIMARY KEY);
		ALTER TABLE b ADD masked int`)})
	require.NoError(t, err)
	require.Equal(t, []string{"id", "b", "c", "d", "e", "f"}, ks.Tables["a"].OrderedColumns)
	require.Equal(t, []string{"id", "masked"}, ks.Tables["b"].OrderedColumns)
}

// TestReadSeveralFiles requires that USE ends with its file.
func TestReadSeveralFiles(t *testing.T) {
	first := writeSchema(t, "USE other; CREATE TABLE a (id int PRIMARY KEY)")
	ks, _, err := ReadFiles(t.Context(), "shop", []string{first, writeSchema(t, "CREATE TABLE b (id int PRIMARY KEY)")})
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, slices.Sorted(maps.Keys(ks.Tables)))
}

func TestReadFilesFails(t *testing.T) {
	for _, m := range []struct{ keyspace, text, want string }{
		//nolint:misspell // Cassandra's spelling
		{"", "CREATE TABLE\nshop.a (id int);", ":1: no schema: No PRIMARY KEY specifed for table 'a' (exactly one required)"},
		{"", "\n-- a\n\nCREATE TABLE a (id int PRIMARY KEY);", ":4: no schema: the statement names no keyspace: name it by --keyspace, or in vecql.gen.toml"},
		{"shop", "CREATE TABLE a (id int PRIMARY KEY);\nCREATE TABLE b (id sometype PRIMARY KEY);", ":2: no schema: Unknown type shop.sometype"},
		{"shop", "CREATE TABLE a (id int PRIMARY KEY);\nCREATE TABLE a (id int PRIMARY KEY);", ":2: no schema: Cannot add already existing table \"a\" to keyspace \"shop\""},
		{"shop", "SOURCE 'x.cql'\nCREATE TABLE a (id int PRIMARY KEY);", ":1: no schema: \"SOURCE 'x.cql' CREATE TABLE a (id int PR\" is no statement of CQL"},
		{"shop", "CREATE TABLE a (id int PRIMARY KEY);\nCREATE MATERIALIZED VIEW v AS SELECT * FROM b PRIMARY KEY (id);", ":2: no schema: the materialized view v: the table b does not exist"},
		{"shop", "CREATE TABLE a (id int PRIMARY KEY);\nCREATE MATERIALIZED VIEW v AS SELECT x FROM a PRIMARY KEY (id);", ":2: no schema: the materialized view v: the table a has no column x"},
		{"shop", "CREATE TABLE a (id int PRIMARY KEY);\nCREATE MATERIALIZED VIEW v AS SELECT * FROM a;", ":2: no schema: the materialized view v has no SELECT ... FROM ... PRIMARY KEY (...)"},
		{"shop", "CREATE MATERIALIZED VIEW v AS SELECT * FROM a PRIMARY KEY (id);\nCREATE MATERIALIZED VIEW v AS SELECT * FROM a PRIMARY KEY (id);", ":2: no schema: Cannot add already existing materialized view \"v\" to keyspace \"shop\""},
		{"shop", "\nDROP MATERIALIZED VIEW v;", ":2: no schema: Materialized view \"v\" doesn't exist in keyspace \"shop\""},
		{"shop", "CREATE CUSTOM INDEX i USING 'vector_index';", ":1: no schema: line 1:22 mismatched input 'USING' expecting K_ON (CREATE CUSTOM INDEX i [USING]...)"},
		{"", "CREATE KEYSPACE shop WITH replication = {};", "no schema: the files create no table"},
		{"shop", "CREATE TABLE other.a (id int PRIMARY KEY);", "no schema: the files create no table of keyspace shop"},
		{"", "CREATE TABLE a.a (id int PRIMARY KEY); CREATE TABLE b.a (id int PRIMARY KEY)", "no schema: the files have the keyspaces a, b: name one"},
	} {
		path := writeSchema(t, m.text)
		_, _, err := ReadFiles(t.Context(), m.keyspace, []string{path})
		require.ErrorIs(t, err, ErrSchema)
		if m.want[0] == ':' {
			m.want = path + m.want
		}
		require.EqualError(t, err, m.want)
	}
	_, _, err := ReadFiles(t.Context(), "", []string{filepath.Join(t.TempDir(), "none.cql")})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// FuzzStatement requires that no text is a panic, and that a statement without masks stays as it is.
func FuzzStatement(f *testing.F) {
	for _, text := range []string{
		"CREATE CUSTOM INDEX i ON a ((b), c) USING 'vector_index' WITH OPTIONS = {}", "CREATE INDEX i ON a ( USING 'x'", "USE", "DROP TABLE .", "",
		"CREATE MATERIALIZED VIEW v AS SELECT a, b FROM c PRIMARY KEY ((a), b)", "CREATE TABLE a (id int MASKED WITH a.b(", "ALTER TABLE a ALTER b MASKED WITH c", "CREATE TABLE a.b (c map<d, e>) WITH f = {'g': 1}", ")>]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := scan(text)
		s.words()
		s.qualified(s.name())
		s.vectorTarget()
		_, _ = parseView(s, "")
		require.True(t, strings.HasPrefix(text, s.before("WITH")))
		if plain := s.unmasked(); !strings.Contains(strings.ToUpper(text), "MASKED") {
			require.Equal(t, text, plain)
		}
	})
}
