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

// requireGolden compares a text with a file in testdata; -update writes the file.
func requireGolden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}

// TestGolden compares the files of one schema with the ones in testdata.
func TestGolden(t *testing.T) {
	o := Options{Tests: true, IfNotExists: []string{"items"}}
	files, notes := generate(t, o, "shop", "testdata/shop.cql")
	require.Empty(t, notes)
	for _, f := range files {
		requireGolden(t, f.Name, f.Text)
	}
	again, _ := generate(t, o, "shop", "testdata/shop.cql")
	require.Equal(t, files, again)
}

// TestNames compares the names of declarations, fields and parameters with the ones in testdata.
func TestNames(t *testing.T) {
	ks, notes, err := ReadFiles(t.Context(), "names", []string{"testdata/names.cql"})
	require.NoError(t, err)
	require.Empty(t, notes)
	_, made, err := newModel(ks, &Options{})
	require.NoError(t, err)
	var text strings.Builder
	describe := func(fields []field) {
		for _, f := range fields {
			text.WriteString(strings.TrimRight(fmt.Sprintf("\t%s: %s %s", f.Column, f.Name, f.Param), " ") + "\n")
		}
	}
	for _, s := range made.Structs {
		fmt.Fprintf(&text, "%s: %s\n", s.Title, s.Name)
		describe(s.Fields)
	}
	for _, table := range made.Tables {
		fmt.Fprintf(&text, "%s: %s %s %s %s", table.Title, table.Row, table.Type, table.Open, table.Select)
		for _, l := range table.Lookups {
			text.WriteString(" " + l.Name)
		}
		text.WriteString("\n")
		describe(table.Fields)
	}
	requireGolden(t, "names", text.String())
}

// A generatedModule is a module of generated packages beside the driver's.
type generatedModule struct {
	folder   string
	packages []string
}

// add writes a package. Its tests are in a file that does not end in _test.go, so that the tests of all packages are
// one program.
func (g *generatedModule) add(t *testing.T, name string, files []File) {
	t.Helper()
	require.Len(t, files, 2)
	files[1].Name = "tests.go"
	written, err := Write(filepath.Join(g.folder, name), files)
	require.NoError(t, err)
	require.Len(t, written, 2)
	g.packages = append(g.packages, name)
}

// run vets the packages and runs their tests.
func (g *generatedModule) run(t *testing.T) {
	t.Helper()
	root, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	var imports, calls strings.Builder
	for i, name := range g.packages {
		fmt.Fprintf(&imports, "\tp%d \"generated/%s\"\n", i, name)
		fmt.Fprintf(&calls, "\tt.Run(%q, p%d.TestTables)\n", name, i)
	}
	for name, text := range map[string]string{
		"go.mod":      "module generated\n\ngo 1.25.0\n\nrequire github.com/vecql/vecql v0.0.0\n",
		"go.work":     "go 1.25.0\n\nuse (\n\t.\n\t" + root + "\n)\n\nreplace github.com/vecql/vecql v0.0.0 => " + root + "\n",
		"all_test.go": "package generated\n\nimport (\n\t\"testing\"\n\n" + imports.String() + ")\n\nfunc TestAll(t *testing.T) {\n" + calls.String() + "}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(g.folder, name), []byte(text), 0o600))
	}
	const quick = "-gcflags=generated/...=-N -l" // the compiler takes most of the time
	for _, args := range [][]string{{"vet", quick, "./..."}, {"test", quick, "-vet=off", "-v", "."}} {
		c := exec.CommandContext(t.Context(), "go", args...)
		c.Dir, c.Env = g.folder, append(os.Environ(), "GOWORK="+filepath.Join(g.folder, "go.work"), "GOFLAGS=")
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		if args[0] == "test" {
			for _, name := range g.packages {
				require.Contains(t, string(out), "--- PASS: TestAll/"+name+" ")
			}
		}
	}
}

// TestSchemas generates all schemas in testdata, in all forms, into a module of a workspace of its own. Their tests
// write and read a row of each table.
func TestSchemas(t *testing.T) {
	soak.NoRace(t) // the tests run in a process of their own
	schemas, err := filepath.Glob("testdata/*.cql")
	require.NoError(t, err)
	require.NotEmpty(t, schemas)
	g, tables := &generatedModule{folder: t.TempDir()}, 0
	for _, schema := range schemas {
		name := strings.TrimSuffix(filepath.Base(schema), ".cql")
		files, _ := generate(t, Options{Tests: true}, name, schema)
		tables += strings.Count(files[0].Text, "\n// Open")
		g.add(t, name, files)
	}
	require.GreaterOrEqual(t, tables, 40)
	for _, o := range []Options{
		{Null: Null, IfNotExists: []string{"*"}},
		{Null: Plain, NoKeyspace: true, IfNotExists: []string{"*"}},
		{NotNull: []string{"*.*"}, Names: map[string]string{"plain": "Simple", "type pair": "XY"}},
	} {
		o.Package, o.Tests = fmt.Sprintf("types%s%d", o.Null, len(o.Names)), true
		files, _ := generate(t, o, "types", "testdata/types.cql")
		g.add(t, o.Package, files)
	}
	files, _, err := Generate(clusterKeyspace(), Options{Tests: true})
	require.NoError(t, err)
	g.add(t, "cluster", files)
	g.run(t)
}

// clusterKeyspace returns what a cluster has and files cannot have: a column of a custom class, a column without a type
// of Go, the tables and views of the server; and a view.
func clusterKeyspace() *cql.KeyspaceMetadata {
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
	return &cql.KeyspaceMetadata{
		Name: "shop",
		Tables: map[string]*cql.TableMetadata{
			"users":                {Name: "users", PartitionKey: []*cql.ColumnMetadata{id}, ClusteringColumns: []*cql.ColumnMetadata{email}, Columns: columns, OrderedColumns: ordered},
			"users_scylla_cdc_log": {Name: "users_scylla_cdc_log"},
			"bad":                  {Name: "bad", PartitionKey: []*cql.ColumnMetadata{badKey}, Columns: map[string]*cql.ColumnMetadata{"bad": badKey}, OrderedColumns: []string{"bad"}},
		},
		MaterializedViews: map[string]*cql.MaterializedViewMetadata{
			"emails":         {Name: "emails", PartitionKey: []*cql.ColumnMetadata{email}, ClusteringColumns: []*cql.ColumnMetadata{id}, Columns: columns, OrderedColumns: []string{"email", "id"}},
			"by_email_index": {Name: "by_email_index"},
		},
		Indexes: map[string]*cql.IndexMetadata{"by_email": {Name: "by_email", Table: "users", Options: map[string]string{"target": "(email)"}}},
		Faults:  []error{&cql.SchemaError{Keyspace: "shop", Object: "x", Err: ErrSchema}},
	}
}

// TestCluster requires that columns and tables without code are left out with a note, or are the server's own.
func TestCluster(t *testing.T) {
	files, notes, err := Generate(clusterKeyspace(), Options{Tests: true})
	require.NoError(t, err)
	require.Equal(t, []string{
		"schema of shop.x: no schema",
		"table shop.bad is left out: column bad of its key: no type of Go compares the keys of the map by value: decimal",
		"column by_list of table shop.users is left out: no type of Go compares the keys of the map by value: list<int>",
		"index by_email of table shop.users has no method: its target is (email)",
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
}

// TestLeftOut requires that the endings of names that ScyllaDB gives leave out no table and no view of another origin,
// that a type without a type of Go is left out with its columns, and one method for two indexes of a column.
func TestLeftOut(t *testing.T) {
	ks, _, err := ReadFiles(t.Context(), "shop", []string{writeSchema(t, `
		CREATE TYPE bad (a int, b frozen<map<frozen<list<int>>, int>>);
		CREATE TYPE pair (x int, y text);
		CREATE TABLE items (id int PRIMARY KEY, name text, b frozen<bad>, m map<frozen<pair>, int>);
		CREATE TABLE old_scylla_cdc_log (id int PRIMARY KEY);
		CREATE INDEX items_name ON items (name);`)})
	require.NoError(t, err)
	items := ks.Tables["items"]
	ks.Indexes["again"] = &cql.IndexMetadata{Name: "again", Table: "items", Options: map[string]string{"target": "name"}}
	ks.MaterializedViews = map[string]*cql.MaterializedViewMetadata{"by_name_index": {
		Name: "by_name_index", PartitionKey: items.PartitionKey, Columns: items.Columns, OrderedColumns: []string{"id", "name"},
	}}
	files, notes, err := Generate(ks, Options{})
	require.NoError(t, err)
	require.Equal(t, []string{
		"column b of table shop.items is left out: no type of Go compares the keys of the map by value: list<int>",
	}, notes)
	code := files[0].Text
	require.NotContains(t, code, "type Bad struct")
	require.Contains(t, code, "type Pair struct {\n\tX cql.Null[int32] ")
	require.Contains(t, code, "type OldScyllaCdcLog struct {")
	require.Contains(t, code, "// ByNameIndex is a row of the view shop.by_name_index.")
	require.Equal(t, 1, strings.Count(code, ") ByName("))
}

func TestOptions(t *testing.T) {
	ks, _, err := ReadFiles(t.Context(), "", []string{"testdata/shop.cql"})
	require.NoError(t, err)
	for want, o := range map[string]Options{
		`wrong setting: null is "none", want pointer, null or plain`:                                            {Null: "none"},
		`wrong setting: package is "my shop", want a name of Go that neither begins with _ nor ends in _test`:   {Package: "my shop"},
		`wrong setting: package is "_shop", want a name of Go that neither begins with _ nor ends in _test`:     {Package: "_shop"},
		`wrong setting: package is "shop_test", want a name of Go that neither begins with _ nor ends in _test`: {Package: "shop_test"},
		`wrong setting: pattern "[": syntax error in pattern`:                                                   {Tables: []string{"["}},
		`wrong setting: the name of items is "product", want an exported name of Go`:                            {Names: map[string]string{"items": "product"}},
		"wrong setting: keyspace shop has no such table; it has: hits, items, orders":                           {Tables: []string{"none"}},
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
		Tables: []string{"items", "ordrs"}, Exclude: []string{"x*"}, NotNull: []string{"items.nme", "items.*"}, IfNotExists: []string{"item"},
		Names: map[string]string{"itms": "A", "items.name": "Title", "type items": "B", "address": "C"},
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		`tables has "ordrs", which matches nothing`, `exclude has "x*", which matches nothing`, `not-null has "items.nme", which matches nothing`,
		`if-not-exists has "item", which matches nothing`,
		`names has "address", which matches nothing`, `names has "itms", which matches nothing`, `names has "type items", which matches nothing`,
	}, notes)
	require.NotContains(t, files[0].Text, "Order")
	require.NotContains(t, files[0].Text, "Address")
}

func TestPackageName(t *testing.T) {
	for keyspace, want := range map[string]string{
		"shop": "shop", "My_Shop": "myshop", "_": "tables", "type": "tables", "main": "tables", "init": "tables", "2nd": "tables", "shop_test": "shoptest",
		"context": "context",
	} {
		require.Equal(t, want, (&Options{}).packageName(keyspace), keyspace)
	}
	require.Equal(t, "main", (&Options{Package: "main"}).packageName("shop"))
}

// TestJSONTags requires no tag for JSON where encoding/json ignores the name.
func TestJSONTags(t *testing.T) {
	g := &typer{options: &Options{JSON: true}}
	for column, want := range map[string]string{
		"id": "`cql:\"id\" json:\"id\"`", "two words": "`cql:\"two words\" json:\"two words\"`", "a,b": "`cql:\"a,b\"`", `say "hi"`: "`cql:\"say \\\"hi\\\"\"`",
	} {
		require.Equal(t, want, g.tagOf(column))
	}
}
