// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// TestGen requires the same code for a cluster and for the schema that describe prints, and the answers of --check.
func TestGen(t *testing.T) {
	x := newTester(t, described)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("schema.cql", []byte(x.requireRun("describe", "shop")), 0o600))
	file := filepath.Join("code", "shop_gen.go")
	require.Equal(t, "wrote "+file+"\n", x.requireRun("gen", "--keyspace", "shop", "--out", "code"))
	require.Empty(t, x.requireRun("gen", "schema.cql", "--out", "code"))
	require.Empty(t, x.requireRun("gen", "schema.cql", "--out", "code", "--check"))
	for _, null := range []string{"null", "plain"} {
		require.NotEmpty(t, x.requireRun("gen", "schema.cql", "--out", null, "--null", null, "--tests", "--package", "p", "--tables", "items"))
	}
	code, err := os.ReadFile(filepath.Join("plain", "p_gen.go"))
	require.NoError(t, err)
	require.NotContains(t, string(code), "Hit")

	require.NoError(t, x.Exec("ALTER TABLE shop.items ADD price int"))
	code1, out, text := x.run("gen", "-k", "shop", "--out", "code", "--check")
	require.Equal(t, exitFailed, code1)
	require.Contains(t, out, file+"\n@@ line ")
	require.Contains(t, out, "\n+\tPrice *int32 ")
	require.Equal(t, "vecql gen: the code differs from the schema: "+file+"; run the command without --check\n", text)
	require.Equal(t, "wrote "+file+"\n", x.requireRun("gen", "-k", "shop", "--out", "code"))

	require.NoError(t, os.WriteFile(file, []byte("package shop\n"), 0o600))
	for _, args := range [][]string{{"gen", "-k", "shop", "--out", "code"}, {"gen", "-k", "shop", "--out", "code", "--check"}} {
		require.Contains(t, x.requireFailure(exitFailed, args...), "vecql gen: "+file+": not written by vecql gen")
	}
}

// TestGenScylla requires code for the tables of a cluster of ScyllaDB, without its logs of changes, and a search.
func TestGenScylla(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{Nodes: 1, Scylla: &cqltest.Scylla{VectorStore: &cqltest.VectorStore{}}}, shop, `
		CREATE TABLE shop.logged (id int PRIMARY KEY) WITH cdc = {'enabled': true};
		CREATE CUSTOM INDEX items_v ON shop.items (v, price) USING 'vector_index';`)
	t.Chdir(t.TempDir())
	x.requireRun("gen", "-k", "shop")
	code, err := os.ReadFile("shop_gen.go")
	require.NoError(t, err)
	require.Contains(t, string(code), "\tSearchV *search.Query[Item] // the rows nearest to a vector, by the index items_v\n")
	require.Contains(t, string(code), "type LoggedTable struct {")
	require.NotContains(t, string(code), "cdc_log")
}

// requireGenerated requires the same code for a cluster with a view and for the schema that describe prints.
func (x *tester) requireGenerated(keyspace string) {
	x.t.Helper()
	folder := x.t.TempDir()
	schema := filepath.Join(folder, "schema.cql")
	require.NoError(x.t, os.WriteFile(schema, []byte(x.requireRun("describe", keyspace)), 0o600))
	code, _, text := x.run("gen", schema, "--out", folder, "--package", "shop", "--tests")
	require.Zero(x.t, code, text)
	require.Empty(x.t, text)
	require.Empty(x.t, x.requireRun("gen", "-k", keyspace, "--out", folder, "--package", "shop", "--tests", "--check"))
	view, err := os.ReadFile(filepath.Join(folder, "shop_gen.go"))
	require.NoError(x.t, err)
	require.Contains(x.t, string(view), "// Named is a row of the view "+keyspace+".named.\n")
}

// TestGenSettings requires the settings of a file, which flags override.
func TestGenSettings(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.cql", []byte("CREATE TABLE own.notes (id int PRIMARY KEY);"+
		"CREATE CUSTOM INDEX ON own.notes (id) USING 'org.example.Index'"), 0o600))
	require.NoError(t, os.WriteFile("vecql.gen.toml", []byte("schema = ['a.cql']\npackage = 'notes'\ntests = true\n"), 0o600))
	code, out, text := x.run("gen")
	require.Zero(t, code)
	require.Equal(t, "wrote notes_gen.go\nwrote notes_gen_test.go\n", out)
	require.Equal(t, "note: the index on own.notes is left out: its class is 'org.example.Index'\n", text)
	require.Equal(t, "wrote shop_gen.go\n",
		x.requireRun("gen", "--hosts", x.Hosts()[0], "--keyspace", "shop", "--package", "shop", "--tests=false"))
	for want, args := range map[string]string{
		"vecql gen: read none.toml: open none.toml: no such file or directory":                                                            "gen --settings none.toml",
		`vecql gen: wrong setting: null is "x", want pointer, null or plain`:                                                              "gen --null x",
		"vecql gen: no schema: the files create no table of keyspace shop":                                                                "gen --keyspace shop",
		"vecql gen: wrong setting: keyspace own has no such table; it has: notes":                                                         "gen --exclude *",
		"vecql gen: connect to " + x.Hosts()[0] + ": the keyspace does not exist; vecql query \"DESCRIBE KEYSPACES\" lists the keyspaces": "gen --keyspace none --hosts " + x.Hosts()[0],
	} {
		require.Equal(t, want, x.requireFailure(exitFailed, strings.Fields(args)...))
	}
	require.NoError(t, os.Remove("vecql.gen.toml"))
	require.Equal(t, "vecql gen: neither files of CQL nor --keyspace: name the schema; see vecql gen --help",
		x.requireFailure(exitUsage, "gen"))
}

// TestGenExample requires that the code of an example agrees with its schema.
func TestGenExample(t *testing.T) {
	x := newTester(t)
	t.Chdir("../../../../examples/generated/shop")
	require.Empty(t, x.requireRun("gen", "--check"))
}
