// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/pooled"
	"github.com/vecql/vecql/internal/soak"
)

// The structure of the project (ARCHITECTURE.md) as a test: which file of this package may use the declarations of
// which other file, likewise in package pipe, which package may import which, and that a noun of package cql has no
// second name in this package.

const module = "github.com/vecql/vecql"

// A layer is a set of files of a package, selected by the first word of their names.
type layer struct {
	name  string
	words []string
}

// layers lists the layers of this package from the lowest up. A file may use the declarations of its own layer and of
// lower ones.
var layers = []layer{
	{"errors", []string{"doc", "errors"}},
	{"marshal", []string{"marshal"}},
	{"frame", []string{"frame"}},
	{"conn", []string{"conn"}},
	{"nodes", []string{"topology", "pool", "prepared", "policy", "control", "schema"}},
	{"config", []string{"config", "observe"}},
	{"core", []string{"core"}},
	{"cluster", []string{"cluster"}},
	{"request", []string{"request"}},
	{"session", []string{"session", "query", "batch", "iter", "rows", "columns"}},
}

// pipeLayers lists the layers of package pipe.
var pipeLayers = []layer{
	{"nouns", []string{"doc", "errors", "text", "config", "source"}},
	{"plan", []string{"part", "plan", "input"}},
	{"operations", []string{"memory", "rows", "window", "sort", "pick", "distinct", "group"}},
	{"rules", []string{"rewrite", "top", "narrow", "lengths", "late", "statistics"}},
	{"planner", []string{"bind", "planner", "union", "from", "parquet"}},
	{"chain", []string{"pipe", "run"}},
}

// layerOf returns the layer of the file, or -1.
func layerOf(layers []layer, file string) int {
	word, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".go"), "_")
	return slices.IndexFunc(layers, func(l layer) bool { return slices.Contains(l.words, word) })
}

func TestLayers(t *testing.T) {
	soak.NoRace(t)
	im := openSources(t)
	requireLayers(t, im, ".", layers)
	requireLayers(t, im, "pipe", pipeLayers)
}

// requireLayers checks the files of the package in a folder.
func requireLayers(t *testing.T, im *sourceImporter, folder string, layers []layer) {
	t.Helper()
	for _, l := range layers {
		for _, word := range l.words {
			alone, err := filepath.Glob(filepath.Join(folder, word+".go"))
			require.NoError(t, err)
			several, err := filepath.Glob(filepath.Join(folder, word+"_*.go"))
			require.NoError(t, err)
			require.NotEmpty(t, append(alone, several...), "no file of the layer %s begins with %s", l.name, word)
		}
	}
	seen := map[string]bool{}
	// Each file is part of at least one of these builds.
	builds := [][]string{{"amd64"}, {"arm64", "purego"}}
	if pooled.Poisoned {
		builds = builds[:1] // only the race detector's build, because it makes the type checker slow
	}
	for _, tags := range builds {
		ctx := im.ctx
		ctx.GOARCH, ctx.BuildTags = tags[0], tags[1:]
		files, err := im.parse(&ctx, folder)
		require.NoError(t, err)
		for _, fault := range layerFaults(layers, path.Join(module, folder), im.fset, files, im) {
			if !seen[fault] {
				t.Error(fault)
			}
			seen[fault] = true
		}
	}
}

// layerFaults type-checks one package. It returns "file:line: fault" for each use of a name declared in a higher layer,
// each file without a layer, and each error of the type checker: an unresolved name would escape the check.
func layerFaults(
	layers []layer, name string, fset *token.FileSet, files []*ast.File, im types.Importer,
) []string {
	type fault struct {
		at   token.Position
		text string
	}
	var faults []fault
	for _, f := range files {
		if at := fset.Position(f.Package); layerOf(layers, at.Filename) < 0 {
			faults = append(faults, fault{at, "the first word of the file's name selects no layer"})
		}
	}
	report := func(err types.Error) { faults = append(faults, fault{fset.Position(err.Pos), err.Msg}) }
	usesOf(name, fset, files, im, report, func(id *ast.Ident, use, decl token.Position) {
		from, to := layerOf(layers, use.Filename), layerOf(layers, decl.Filename)
		if from >= 0 && to > from {
			faults = append(faults, fault{use, fmt.Sprintf("%s (layer %d, %s) uses %s, which %s (layer %d, %s) declares",
				filepath.Base(use.Filename), from, layers[from].name, id.Name, filepath.Base(decl.Filename), to, layers[to].name)})
		}
	})
	slices.SortFunc(faults, func(a, b fault) int {
		return cmp.Or(strings.Compare(a.at.Filename, b.at.Filename), a.at.Offset-b.at.Offset)
	})
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = fmt.Sprintf("%s:%d: %s", filepath.Base(f.at.Filename), f.at.Line, f.text)
	}
	return lines
}

// usesOf type-checks one package, and calls use for each use of a name that the package declares.
func usesOf(
	name string, fset *token.FileSet, files []*ast.File, im types.Importer, report func(types.Error),
	use func(id *ast.Ident, at, decl token.Position),
) {
	config := types.Config{Importer: im, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && !strings.Contains(e.Msg, errForeign.Error()) {
			report(e)
		}
	}}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, _ := config.Check(name, fset, files, &info) // errors are passed to config.Error
	for id, obj := range info.Uses {
		if obj.Pkg() == pkg && obj.Pos().IsValid() {
			use(id, fset.Position(id.Pos()), fset.Position(obj.Pos()))
		}
	}
}

// seam is the number of names of the files cluster*.go that higher layers may use.
const seam = 30

// TestSeam bounds what a session and its requests know of the cluster.
func TestSeam(t *testing.T) {
	soak.NoRace(t)
	im := openSources(t)
	files, err := im.parse(&im.ctx, ".")
	require.NoError(t, err)
	names := map[string]bool{}
	report := func(err types.Error) { require.NoError(t, err) }
	usesOf(module, im.fset, files, im, report, func(id *ast.Ident, at, decl token.Position) {
		from, to := layerOf(layers, at.Filename), layerOf(layers, decl.Filename)
		if layers[to].name == "cluster" && from > to {
			names[fmt.Sprintf("%s of %s", id.Name, filepath.Base(decl.Filename))] = true
		}
	})
	require.NotEmpty(t, names)
	require.LessOrEqual(t, len(names), seam, strings.Join(slices.Sorted(maps.Keys(names)), "\n"))
}

// errForeign is the error of importing a package of another module. The checker then accepts every name of that package
// and treats its types as unknown. That is enough here: such packages cannot return our names.
var errForeign = errors.New("package of another module")

// sourceImporter type-checks the declarations, without bodies, of the standard library and of this module. Export data
// would require a build.
type sourceImporter struct {
	ctx  build.Context
	fset *token.FileSet
	done map[string]*types.Package
}

// sourcePackages is the importer of all tests, which type-checks each package once.
var sourcePackages = sync.OnceValue(func() *sourceImporter {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = "linux", "amd64", false
	return &sourceImporter{ctx, token.NewFileSet(), map[string]*types.Package{"unsafe": types.Unsafe}}
})

func openSources(t *testing.T) *sourceImporter {
	t.Helper()
	im := sourcePackages()
	require.DirExists(t, filepath.Join(im.ctx.GOROOT, "src", "sync"), "this test needs the source of the standard library")
	return im
}

func (im *sourceImporter) Import(name string) (*types.Package, error) {
	if pkg := im.done[name]; pkg != nil {
		return pkg, nil
	}
	dir, err := im.dir(name)
	if err != nil {
		return nil, err
	}
	files, err := im.parse(&im.ctx, dir)
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: im, IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {}}
	pkg, _ := config.Check(name, im.fset, files, nil) // errors in that package are left to the compiler
	im.done[name] = pkg
	return pkg, nil
}

// dir returns the folder of a package. The standard library's copies of golang.org/x are under vendor.
func (im *sourceImporter) dir(name string) (string, error) {
	if name == module || strings.HasPrefix(name, module+"/") {
		return filepath.FromSlash("." + strings.TrimPrefix(name, module)), nil
	}
	src := filepath.Join(im.ctx.GOROOT, "src")
	for _, dir := range []string{filepath.Join(src, filepath.FromSlash(name)), filepath.Join(src, "vendor", filepath.FromSlash(name))} {
		if _, err := os.Stat(dir); err == nil {
			return dir, nil
		}
	}
	return "", errForeign
}

// parse parses the files of a folder that belong to the build.
func (im *sourceImporter) parse(ctx *build.Context, dir string) ([]*ast.File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if match, err := ctx.MatchFile(dir, e.Name()); err != nil || !match {
			if err != nil {
				return nil, err
			}
			continue
		}
		f, err := parser.ParseFile(im.fset, filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		nameForeign(im, f)
		files = append(files, f)
	}
	return files, nil
}

// nameForeign sets the names of imports from other modules. The checker does not load them, so it cannot find out that
// lz4/v4 is package lz4 and inf.v0 is package inf.
func nameForeign(im *sourceImporter, f *ast.File) {
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil || spec.Name != nil {
			continue
		}
		if _, err := im.dir(imported); !errors.Is(err, errForeign) {
			continue
		}
		name := versionEnd.ReplaceAllString(imported, "")
		spec.Name = &ast.Ident{Name: path.Base(name), NamePos: spec.Pos()}
	}
}

var versionEnd = regexp.MustCompile(`[/.]v[0-9]+$`)

func TestImports(t *testing.T) {
	for _, fault := range importFaults(t, os.DirFS(".")) {
		t.Error(fault)
	}
}

// importFaults returns "file:line: fault" for each import, outside test files, that the table does not allow. Nested
// modules without an entry are not checked.
func importFaults(t *testing.T, project fs.FS) []string {
	t.Helper()
	var faults []string
	err := fs.WalkDir(project, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, own := fs.Stat(project, path.Join(name, "go.mod"))
			_, known := imports[name]
			if name != "." && (own == nil && !known || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		folder := path.Dir(name)
		rule, known := ruleOf(folder)
		if !known {
			if strings.HasPrefix(folder, "internal/") {
				faults = append(faults, fmt.Sprintf("%s: the table of imports has no entry for %s", name, folder))
			}
			return nil
		}
		src, err := fs.ReadFile(project, name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !allowed(imported, rule) {
				importer := rule
				if rule == "." {
					importer = "the root package"
				}
				faults = append(faults, fmt.Sprintf("%s:%d: %s may not import %s", name, fset.Position(spec.Pos()).Line, importer, imported))
			}
		}
		return nil
	})
	require.NoError(t, err)
	return faults
}

// ruleOf returns the key of the table entry that applies to a folder. The root's entry applies only to the root.
func ruleOf(folder string) (rule string, ok bool) {
	for at := folder; at != "." || folder == "."; at = path.Dir(at) {
		if _, ok := imports[at]; ok {
			return at, true
		}
	}
	return "", false
}

func allowed(imported, rule string) bool {
	within := func(tree string) bool {
		return imported == tree || tree != module && strings.HasPrefix(imported, tree+"/")
	}
	if slices.Contains(testOnly, strings.TrimPrefix(imported, module+"/")) && !slices.Contains(testOnly, rule) {
		return false
	}
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") || // the standard library
		rule != "." && within(module+"/"+rule) || slices.ContainsFunc(imports[rule], within)
}

// TestEngineIsWithoutDriver checks that no package of the columnar engine needs the driver, or a package above it.
func TestEngineIsWithoutDriver(t *testing.T) {
	needed := map[string]bool{}
	var visit func(imported string)
	visit = func(imported string) {
		if imported != module && !strings.HasPrefix(imported, module+"/") || needed[imported] {
			return
		}
		needed[imported] = true
		p, err := build.ImportDir(filepath.FromSlash("."+strings.TrimPrefix(imported, module)), 0)
		require.NoError(t, err)
		for _, next := range p.Imports {
			visit(next)
		}
	}
	for _, name := range []string{"column", "expr", "groupby", "parquetscan", "pipe"} {
		visit(module + "/" + name)
	}
	require.True(t, needed[module+"/cql"])
	for _, name := range []string{"", "/bulk", "/tablescan", "/cqltest", "/compat"} {
		require.False(t, needed[module+name], "the columnar engine imports %s%s", module, name)
	}
}

// TestNouns checks that the nouns of package cql have one name: this package declares no alias, and no name of package
// cql again.
func TestNouns(t *testing.T) {
	im := openSources(t)
	nouns := map[string]bool{}
	files, err := im.parse(&im.ctx, "cql")
	require.NoError(t, err)
	for _, f := range files {
		for _, d := range f.Decls {
			for _, id := range declaredNames(d) {
				nouns[id.Name] = id.IsExported()
			}
		}
	}
	require.True(t, nouns["UUID"])
	files, err = im.parse(&im.ctx, ".")
	require.NoError(t, err)
	for _, f := range files {
		for _, fault := range nounFaults(im.fset, f, nouns) {
			t.Error(fault)
		}
	}
}

// declaredNames returns the package-level names of a declaration, without methods and imports.
func declaredNames(d ast.Decl) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name)
			case *ast.ValueSpec:
				names = append(names, spec.Names...)
			}
		}
	}
	return names
}

// nounFaults returns "file:line: fault" for each declaration of an alias or of a noun.
func nounFaults(fset *token.FileSet, f *ast.File, nouns map[string]bool) (faults []string) {
	fault := func(name *ast.Ident, text string) {
		at := fset.Position(name.Pos())
		faults = append(faults, fmt.Sprintf("%s:%d: %s %s", filepath.Base(at.Filename), at.Line, name.Name, text))
	}
	for _, d := range f.Decls {
		for _, name := range declaredNames(d) {
			if nouns[name.Name] {
				fault(name, "is a name of package cql")
			}
		}
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok && t.Assign.IsValid() && t.Name.IsExported() {
				fault(t.Name, "is an alias")
			}
		}
	}
	return faults
}

// Tests of the checks themselves, with planted faults.

func TestNounsPlanted(t *testing.T) {
	const source = `package vecql
import "github.com/vecql/vecql/cql"
type A = cql.A
type b = cql.B
type C cql.C
type D struct{}
const E, F = cql.E, 3
func G() {}
func (a D) C() {}
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "query.go", source, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Equal(t, []string{
		"query.go:3: A is an alias", "query.go:5: C is a name of package cql", "query.go:7: E is a name of package cql",
		"query.go:8: G is a name of package cql",
	}, nounFaults(fset, f, map[string]bool{"B": true, "C": true, "E": true, "G": true}))
}

func TestLayersPlanted(t *testing.T) {
	sources := map[string]string{
		"errors.go": "package vecql\nimport \"sync/atomic\"\ntype noun struct{ n int; next atomic.Pointer[noun] }\n" +
			"func (noun) low() {}\nvar _ = noun{n: 1}\n",
		"conn_read.go": "package vecql\nimport (\n\"github.com/google/uuid\"\n\"github.com/pierrec/lz4/v4\"\n\"gopkg.in/inf.v0\"\n)\n" +
			"type conn struct{ noun; up func(); d *inf.Dec }\n" +
			"func (c *conn) read() { c.low(); c.up(); _ = uuid.New().String() + lz4.Version + c.d.String() }\n",
		"session.go": "package vecql\nimport \"sync/atomic\"\ntype Session struct { id int; live atomic.Pointer[Session] }\n" +
			"const maxSessions = 3\nvar current Session\nfunc open[T any]() *Session { return &current }\n" +
			"func (noun) high() {}\ntype list[T any] struct { head T }\nfunc (s *Session) run(c *conn) { c.read(); c.high(); open[int]() }\n",
	}
	tests := map[string]struct {
		file, source string
		want         []string
	}{
		"all in order": {},
		"type": {
			"conn.go", "package vecql\n\nfunc f(s *Session) {}\n",
			[]string{"conn.go:3: conn.go (layer 3, conn) uses Session, which session.go (layer 9, session) declares"},
		},
		"constant in a lower layer still": {
			"errors_x.go", "package vecql\nvar x [maxSessions]int\n",
			[]string{"errors_x.go:2: errors_x.go (layer 0, errors) uses maxSessions, which session.go (layer 9, session) declares"},
		},
		"variable and its field": {"pool.go", "package vecql\nfunc f() int {\nreturn current.\nid }\n", []string{
			"pool.go:3: pool.go (layer 4, nodes) uses current, which session.go (layer 9, session) declares",
			"pool.go:4: pool.go (layer 4, nodes) uses id, which session.go (layer 9, session) declares",
		}},
		"method on a lower type": {
			"frame.go", "package vecql\nfunc f(n noun) { n.high() }\n",
			[]string{"frame.go:2: frame.go (layer 2, frame) uses high, which session.go (layer 9, session) declares"},
		},
		"promoted method": {
			"conn_write.go", "package vecql\nfunc f(c conn) { c.high() }\n",
			[]string{"conn_write.go:2: conn_write.go (layer 3, conn) uses high, which session.go (layer 9, session) declares"},
		},
		"generic type and function": {"marshal.go", "package vecql\nvar a list[int]\nvar b = a.head\nvar c = open[noun]().live.Load().id\n", []string{
			"marshal.go:2: marshal.go (layer 1, marshal) uses list, which session.go (layer 9, session) declares",
			"marshal.go:3: marshal.go (layer 1, marshal) uses head, which session.go (layer 9, session) declares",
			"marshal.go:4: marshal.go (layer 1, marshal) uses open, which session.go (layer 9, session) declares",
			"marshal.go:4: marshal.go (layer 1, marshal) uses live, which session.go (layer 9, session) declares",
			"marshal.go:4: marshal.go (layer 1, marshal) uses id, which session.go (layer 9, session) declares",
		}},
		"unknown word": {
			"util.go", "package vecql\n",
			[]string{"util.go:1: the first word of the file's name selects no layer"},
		},
		"a word is whole": {
			"connect.go", "package vecql\n",
			[]string{"connect.go:1: the first word of the file's name selects no layer"},
		},
		"undeclared name": {"conn.go", "package vecql\nvar x = nowhere\n", []string{"conn.go:2: undefined: nowhere"}},
		"local name equal to one of a higher layer": {"conn.go", "package vecql\nfunc f(Session int) int { return Session }\n", nil},
	}
	im := openSources(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var files []*ast.File
			add := func(name, source string) {
				f, err := parser.ParseFile(im.fset, name, source, parser.SkipObjectResolution)
				require.NoError(t, err)
				nameForeign(im, f)
				files = append(files, f)
			}
			for name, source := range sources {
				add(name, source)
			}
			if test.file != "" {
				add(test.file, test.source)
			}
			require.Equal(t, append([]string{}, test.want...), layerFaults(layers, module, im.fset, files, im))
		})
	}
}

func TestImportsPlanted(t *testing.T) {
	project := fstest.MapFS{}
	for name, imports := range map[string]string{
		"conn.go":                         `"net"; "github.com/vecql/vecql/internal/wire"; "github.com/pierrec/lz4/v4"`,
		"session.go":                      `"github.com/vecql/vecql/groupby"; "golang.org/x/synctest"`,
		"errors.go":                       `"github.com/vecql/vecql/cql"`,
		"cql/types.go":                    `"fmt"; "github.com/vecql/vecql/internal/wire"; "github.com/vecql/vecql"`,
		"session_test.go":                 `"github.com/vecql/vecql/cqltest"`,
		"internal/codec/codec.go":         `"reflect"; "github.com/vecql/vecql/cql"; "github.com/vecql/vecql/internal/swap"; "github.com/vecql/vecql/internal/token"`,
		"internal/schema/build.go":        `"fmt"; "github.com/vecql/vecql/cql"; "github.com/vecql/vecql/internal/wire"`,
		"internal/schema/read.go":         `"github.com/vecql/vecql/internal/schema/schematest"`,
		"schema_cache.go":                 `"github.com/vecql/vecql/internal/schema"; "github.com/vecql/vecql/internal/schema/schematest"`,
		"pool.go":                         `"github.com/vecql/vecql/internal/fakecql"`,
		"internal/wire/wire.go":           `"io"; "github.com/vecql/vecql/internal/swap"`,
		"internal/swap/asm/gen.go":        `"github.com/vecql/vecql/internal/swap"`,
		"internal/new/new.go":             `"io"`,
		"groupby/groupby.go":              `"github.com/vecql/vecql"`,
		"parquetscan/scan.go":             `"github.com/apache/arrow-go/v18/parquet/file"; "github.com/vecql/vecql/groupby"`,
		"examples/load/main.go":           `"os"; "github.com/vecql/vecql"; "github.com/vecql/vecql/groupby"; "github.com/vecql/vecql/parquetscan"`,
		"examples/load/arrow.go":          `"github.com/apache/arrow-go/v18/arrow"; "github.com/vecql/vecql/internal/wire"; "golang.org/x/sync/errgroup"`,
		"examples/load/main_test.go":      `"github.com/apache/arrow-go/v18/arrow"`,
		"cqltest/server.go":               `"github.com/vecql/vecql/internal/wire"; "github.com/vecql/vecql"`,
		"internal/cassandra/cassandra.go": `"github.com/vecql/vecql"`,
		"cmd/vecql/main.go":               `"github.com/vecql/vecql/cmd/vecql/internal/tool"; "github.com/vecql/vecql"`,
		"cmd/vecql/internal/tool/root.go": `"github.com/spf13/cobra"; "github.com/vecql/vecql"`,
		"bench/bench.go":                  `"github.com/gocql/gocql"`,
		"testdata/x.go":                   `"github.com/gocql/gocql"`,
	} {
		project[name] = &fstest.MapFile{Data: []byte("package p\nimport (" + imports + ")\n")}
	}
	project["bench/go.mod"] = &fstest.MapFile{Data: []byte("module bench\n")}
	project["cmd/vecql/go.mod"] = &fstest.MapFile{Data: []byte("module command\n")} // a module with an entry
	require.Equal(t, []string{
		"cmd/vecql/main.go:2: cmd/vecql may not import github.com/vecql/vecql",
		"cql/types.go:2: cql may not import github.com/vecql/vecql/internal/wire",
		"cql/types.go:2: cql may not import github.com/vecql/vecql",
		"cqltest/server.go:2: cqltest may not import github.com/vecql/vecql",
		"examples/load/arrow.go:2: examples may not import github.com/apache/arrow-go/v18/arrow",
		"examples/load/arrow.go:2: examples may not import github.com/vecql/vecql/internal/wire",
		"examples/load/arrow.go:2: examples may not import golang.org/x/sync/errgroup",
		"groupby/groupby.go:2: groupby may not import github.com/vecql/vecql",
		"internal/cassandra/cassandra.go:2: internal/cassandra may not import github.com/vecql/vecql",
		"internal/codec/codec.go:2: internal/codec may not import github.com/vecql/vecql/internal/token",
		"internal/new/new.go: the table of imports has no entry for internal/new",
		"internal/schema/build.go:2: internal/schema may not import github.com/vecql/vecql/internal/wire",
		"internal/schema/read.go:2: internal/schema may not import github.com/vecql/vecql/internal/schema/schematest",
		"internal/wire/wire.go:2: internal/wire may not import github.com/vecql/vecql/internal/swap",
		"parquetscan/scan.go:2: parquetscan may not import github.com/apache/arrow-go/v18/parquet/file",
		"parquetscan/scan.go:2: parquetscan may not import github.com/vecql/vecql/groupby",
		"pool.go:2: the root package may not import github.com/vecql/vecql/internal/fakecql",
		"schema_cache.go:2: the root package may not import github.com/vecql/vecql/internal/schema/schematest",
		"session.go:2: the root package may not import github.com/vecql/vecql/groupby",
		"session.go:2: the root package may not import golang.org/x/synctest",
	}, importFaults(t, project))
}
