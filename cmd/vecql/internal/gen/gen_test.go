// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/soak"
)

var update = flag.Bool("update", false, "write the golden files")

// generate returns the files and the notes of a schema.
func generate(t *testing.T, o Options, keyspace string, schema ...string) (files []File, notes []string) {
	t.Helper()
	ks, notes, err := ReadFiles(t.Context(), keyspace, schema)
	require.NoError(t, err)
	files, further, err := Generate(ks, o)
	require.NoError(t, err)
	return files, append(notes, further...)
}

// TestGolden compares generated files with the ones in testdata; -update writes them.
func TestGolden(t *testing.T) {
	for _, name := range []string{"shop", "names"} {
		files, notes := generate(t, Options{Tests: name == "shop"}, name, "testdata/"+name+".cql")
		require.Empty(t, notes)
		for _, f := range files {
			path := filepath.Join("testdata", f.Name+".golden")
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(f.Text), 0o600))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), f.Text)
		}
		for range 5 {
			again, _ := generate(t, Options{Tests: name == "shop"}, name, "testdata/"+name+".cql")
			require.Equal(t, files, again)
		}
	}
}

// TestSchemas generates all schemas in testdata, in all forms, into a module of a workspace of its own. Their tests
// write and read a row of each table.
func TestSchemas(t *testing.T) {
	soak.NoRace(t) // the tests run in processes of their own
	schemas, err := filepath.Glob("testdata/*.cql")
	require.NoError(t, err)
	require.NotEmpty(t, schemas)
	folder, tables := t.TempDir(), 0
	for _, schema := range schemas {
		name := strings.TrimSuffix(filepath.Base(schema), ".cql")
		files, _ := generate(t, Options{Tests: true}, name, schema)
		tables += strings.Count(files[0].Text, "\n// Open")
		written, err := Write(filepath.Join(folder, name), files)
		require.NoError(t, err)
		require.Len(t, written, 2)
	}
	require.GreaterOrEqual(t, tables, 40)
	for _, o := range []Options{
		{Null: Null}, {Null: Plain, NoKeyspace: true}, {NotNull: []string{"*.*"}, Names: map[string]string{"plain": "Simple", "type pair": "XY"}},
	} {
		o.Package, o.Tests = fmt.Sprintf("types%s%d", o.Null, len(o.Names)), true
		files, _ := generate(t, o, "types", "testdata/types.cql")
		_, err := Write(filepath.Join(folder, o.Package), files)
		require.NoError(t, err)
	}
	requireTests(t, folder)
}

// requireTests runs the tests in a folder as a module beside the driver's.
func requireTests(t *testing.T, folder string) {
	t.Helper()
	root, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	for name, text := range map[string]string{
		"go.mod":  "module generated\n\ngo 1.25.0\n\nrequire github.com/vecql/vecql v0.0.0\n",
		"go.work": "go 1.25.0\n\nuse (\n\t.\n\t" + root + "\n)\n\nreplace github.com/vecql/vecql v0.0.0 => " + root + "\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	c := exec.CommandContext(t.Context(), "go", "test", "./...")
	c.Dir, c.Env = folder, append(os.Environ(), "GOWORK="+filepath.Join(folder, "go.work"), "GOFLAGS=")
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, string(out), "no test files")
}

// TestView generates what a cluster has and files cannot have: a view, a column of a custom class, and a column
// without a type of Go.
func TestView(t *testing.T) {
	column := func(name string, kind cql.ColumnKind, info cql.TypeInfo) *cql.ColumnMetadata {
		return &cql.ColumnMetadata{Name: name, Kind: kind, Type: info, Validator: info.String()}
	}
	text, number := cql.NativeType(cql.TypeText), cql.NativeType(cql.TypeInt)
	id, email := column("id", cql.ColumnPartitionKey, number), column("email", cql.ColumnClusteringKey, text)
	byList := column("by_list", cql.ColumnRegular, cql.NewMapType(cql.NewListType(number), text))
	custom := column("custom", cql.ColumnRegular, cql.CustomType{Class: "com.example.T"})
	columns := map[string]*cql.ColumnMetadata{"id": id, "email": email, "by_list": byList, "custom": custom}
	ordered := []string{"id", "email", "by_list", "custom"}
	badKey := column("bad", cql.ColumnPartitionKey, cql.NewListType(cql.NewMapType(cql.NativeType(cql.TypeDecimal), text)))
	ks := &cql.KeyspaceMetadata{
		Name: "shop",
		Tables: map[string]*cql.TableMetadata{
			"users":                {Name: "users", PartitionKey: []*cql.ColumnMetadata{id}, ClusteringColumns: []*cql.ColumnMetadata{email}, Columns: columns, OrderedColumns: ordered},
			"users_scylla_cdc_log": {Name: "users_scylla_cdc_log"},
			"bad":                  {Name: "bad", PartitionKey: []*cql.ColumnMetadata{badKey}, Columns: map[string]*cql.ColumnMetadata{"bad": badKey}, OrderedColumns: []string{"bad"}},
		},
		MaterializedViews: map[string]*cql.MaterializedViewMetadata{
			"emails":         {Name: "emails", PartitionKey: []*cql.ColumnMetadata{email}, ClusteringColumns: []*cql.ColumnMetadata{id}, Columns: columns, OrderedColumns: []string{"email", "id", "custom"}},
			"by_email_index": {Name: "by_email_index"},
		},
		Indexes: map[string]*cql.IndexMetadata{"by_email": {Name: "by_email", Table: "users", Options: map[string]string{"target": "(email)"}}},
		Faults:  []error{&cql.SchemaError{Keyspace: "shop", Object: "x", Err: ErrSchema}},
	}
	files, notes, err := Generate(ks, Options{Tests: true})
	require.NoError(t, err)
	require.Equal(t, []string{
		"schema of shop.x: no schema",
		"table shop.bad is left out: column bad of its key: no type of Go compares the keys of the map by value: decimal",
		"column by_list of table shop.users is left out: no type of Go compares the keys of the map by value: list<int>",
	}, notes)
	code := files[0].Text
	require.Contains(t, code, "// Email is a row of the view shop.emails.\n")
	require.Contains(t, code, "type EmailTable struct {\n\tsession *vecql.Session\n}\n")
	require.Contains(t, code, "func (t *EmailTable) Partition(email string) *vecql.Query {\n")
	require.Contains(t, code, "\tCustom []byte `cql:\"custom\"`\n")
	for _, name := range []string{"bad", "cdc_log", "by_email"} {
		require.NotContains(t, code, name)
	}
	require.NotContains(t, files[1].Text, "shop.users")
	folder := t.TempDir()
	_, err = Write(filepath.Join(folder, "shop"), files)
	require.NoError(t, err)
	requireTests(t, folder)
}

func TestOptions(t *testing.T) {
	ks, _, err := ReadFiles(t.Context(), "", []string{"testdata/shop.cql"})
	require.NoError(t, err)
	for want, o := range map[string]Options{
		`wrong setting: null is "none", want pointer, null or plain`:                  {Null: "none"},
		`wrong setting: package is "my shop", want a name of Go`:                      {Package: "my shop"},
		`wrong setting: pattern "[": syntax error in pattern`:                         {Tables: []string{"["}},
		`wrong setting: the name of items is "product", want an exported name of Go`:  {Names: map[string]string{"items": "product"}},
		"wrong setting: keyspace shop has no such table; it has: hits, items, orders": {Tables: []string{"none"}},
	} {
		_, _, err := Generate(ks, o)
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, ErrOptions)
	}
	files, _, err := Generate(ks, Options{
		Package: "store", Tables: []string{"item*", "orders"}, Exclude: []string{"orders"},
		Names: map[string]string{"items": "Product", "items.url": "Link"}, NotNull: []string{"items.na?e"}, NoKeyspace: true,
	})
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Equal(t, "store_gen.go", files[0].Name)
	for _, part := range []string{
		"package store\n", "type Product struct {", "\tLink      *string      `cql:\"url\"`\n", "\tName      string       `cql:\"name\"`\n",
		`vecql.InsertInto[Product]("items")`, `"items(embedding)"`,
	} {
		require.Contains(t, files[0].Text, part)
	}
	_, notes, err := Generate(ks, Options{
		Tables: []string{"items", "ordrs"}, Exclude: []string{"x*"}, NotNull: []string{"items.nme", "items.*"},
		Names: map[string]string{"itms": "A", "items.name": "Title", "type items": "B", "address": "C"},
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		`tables has "ordrs", which matches nothing`, `exclude has "x*", which matches nothing`, `not-null has "items.nme", which matches nothing`,
		`names has "address", which matches nothing`, `names has "itms", which matches nothing`, `names has "type items", which matches nothing`,
	}, notes)
	require.NotContains(t, files[0].Text, "Order")
	require.NotContains(t, files[0].Text, "Address")
}
