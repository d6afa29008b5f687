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
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// This file holds the order of the project (ARCHITECTURE.md) as a test: which file of this package may use what another declares, and
// which package may import which.

const module = "github.com/vecql/vecql"

// A layer is a set of files of this package, told by the first word of their names.
type layer struct {
	name  string
	words []string
}

// layers stand from the lowest up. A file uses what its own layer or a lower one declares.
var layers = []layer{
	{"nouns", []string{"doc", "types", "values", "consistency", "errors"}},
	{"marshal", []string{"marshal"}},
	{"frame", []string{"frame"}},
	{"conn", []string{"conn"}},
	{"cluster", []string{"topology", "pool", "prepared", "policy", "control", "schema"}},
	{"session", []string{"cluster", "session", "query", "batch", "exec", "iter", "rows", "columns", "observe", "bulk", "tablescan"}},
}

// layerOf returns the layer of the file, or -1.
func layerOf(file string) int {
	word, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".go"), "_")
	return slices.IndexFunc(layers, func(l layer) bool { return slices.Contains(l.words, word) })
}

// imports says what the packages in a folder, and below it unless a longer entry says otherwise, may import beside the standard library,
// themselves and what lies below themselves. An entry stands for what lies below it, too; the module's own name stands for the root package
// alone. Test files are free. A folder under internal/ has its own entry, or the test fails.
var imports = map[string][]string{
	".": {
		module + "/internal",
		"github.com/google/uuid",
		"github.com/klauspost/compress",
		"github.com/pierrec/lz4/v4",
		"golang.org/x/sync",
		"gopkg.in/inf.v0",
	},
	"internal/lru":       nil,
	"internal/stream":    nil,
	"internal/swap":      {"golang.org/x/sys/cpu"},
	"internal/tablet":    nil,
	"internal/token":     nil,
	"internal/wire":      nil,
	"groupby":            nil,
	"groupby/grouparrow": {module + "/groupby", "github.com/apache/arrow-go/v18"},
	"parquetscan":        {"github.com/apache/arrow-go/v18", "golang.org/x/sync"},
	"examples":           {module, module + "/groupby", module + "/parquetscan"}, // nothing that users of these would not have
	"cqltest": {
		module + "/internal",
		"github.com/google/uuid",
		"github.com/klauspost/compress",
		"github.com/pierrec/lz4/v4",
		"golang.org/x/sync",
	},
	"cqltest/internal/engine": {
		module + "/cqltest/internal/cql",
		module + "/internal",
		"github.com/google/uuid",
	},
	"tests/cassandra": nil, // a witness of the driver does not use it
}

func TestLayers(t *testing.T) {
	im := newSourceImporter(t)
	seen := map[string]bool{}
	// Every file is in one of these builds at least.
	builds := [][]string{{"amd64", "race"}, {"amd64"}, {"arm64", "purego"}}
	if poison {
		builds = builds[:1] // the race detector's own: it makes the type checker slow
	}
	for _, tags := range builds {
		ctx := im.ctx
		ctx.GOARCH, ctx.BuildTags = tags[0], tags[1:]
		files, err := im.parse(&ctx, ".")
		require.NoError(t, err)
		for _, fault := range layerFaults(im.fset, files, im) {
			if !seen[fault] {
				t.Error(fault)
			}
			seen[fault] = true
		}
	}
}

// layerFaults type-checks one package and returns "file:line: what is wrong" for each name that is used below where it is declared, for each
// file of no layer, and for each line that the type checker did not understand: a name it cannot resolve would escape.
func layerFaults(fset *token.FileSet, files []*ast.File, im types.Importer) []string {
	type fault struct {
		at   token.Position
		text string
	}
	var faults []fault
	for _, f := range files {
		if at := fset.Position(f.Package); layerOf(at.Filename) < 0 {
			faults = append(faults, fault{at, "the first word of the file's name stands for no layer"})
		}
	}
	config := types.Config{Importer: im, Error: func(err error) {
		var e types.Error
		if !errors.As(err, &e) || strings.Contains(e.Msg, errForeign.Error()) {
			return
		}
		faults = append(faults, fault{fset.Position(e.Pos), e.Msg})
	}}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, _ := config.Check(module, fset, files, &info) // errors have gone to config.Error
	for id, obj := range info.Uses {
		if obj.Pkg() != pkg || !obj.Pos().IsValid() {
			continue
		}
		use, decl := fset.Position(id.Pos()), fset.Position(obj.Pos())
		from, to := layerOf(use.Filename), layerOf(decl.Filename)
		if from >= 0 && to > from {
			faults = append(faults, fault{use, fmt.Sprintf("%s (layer %d, %s) uses %s, which %s (layer %d, %s) declares",
				filepath.Base(use.Filename), from, layers[from].name, id.Name, filepath.Base(decl.Filename), to, layers[to].name)})
		}
	}
	slices.SortFunc(faults, func(a, b fault) int {
		return cmp.Or(strings.Compare(a.at.Filename, b.at.Filename), a.at.Offset-b.at.Offset)
	})
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = fmt.Sprintf("%s:%d: %s", filepath.Base(f.at.Filename), f.at.Line, f.text)
	}
	return lines
}

// errForeign is the import error of packages from other modules. The checker then takes every name in them for valid and every type from
// them for unknown, which is all this test needs: they cannot hand out our names.
var errForeign = errors.New("package of another module")

// sourceImporter type-checks the declarations, not the bodies, of the standard library and of this module. Export data would need a build.
type sourceImporter struct {
	ctx  build.Context
	fset *token.FileSet
	done map[string]*types.Package
}

func newSourceImporter(t *testing.T) *sourceImporter {
	t.Helper()
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = "linux", "amd64", false
	require.DirExists(t, filepath.Join(ctx.GOROOT, "src", "sync"), "without the standard library's source this test is blind")
	return &sourceImporter{ctx, token.NewFileSet(), map[string]*types.Package{"unsafe": types.Unsafe}}
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
	pkg, _ := config.Check(name, im.fset, files, nil) // what is wrong in there is the compiler's to say
	im.done[name] = pkg
	return pkg, nil
}

// dir returns the folder of a package. Go's own copies of golang.org/x lie under vendor.
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

// parse reads the files of a folder that belong to the build.
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

// nameForeign spells out the names of packages from other modules: the checker, not having them, cannot know that lz4/v4 is package lz4 and
// inf.v0 is package inf.
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

// importFaults returns "file:line: what is wrong" for each import, in a file that is no test, that the table does not allow. Modules of their
// own have their own rules.
func importFaults(t *testing.T, project fs.FS) []string {
	t.Helper()
	var faults []string
	err := fs.WalkDir(project, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, own := fs.Stat(project, path.Join(name, "go.mod"))
			if name != "." && (own == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
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
				who := rule
				if rule == "." {
					who = "the root package"
				}
				faults = append(faults, fmt.Sprintf("%s:%d: %s may not import %s", name, fset.Position(spec.Pos()).Line, who, imported))
			}
		}
		return nil
	})
	require.NoError(t, err)
	return faults
}

// ruleOf returns the entry of the table that governs a folder. The root's governs the root alone.
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
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") || // the standard library
		rule != "." && within(module+"/"+rule) ||
		slices.ContainsFunc(imports[rule], within)
}

// The guards themselves, on planted faults.

func TestLayersPlanted(t *testing.T) {
	sources := map[string]string{
		"types.go": "package vecql\nimport \"sync/atomic\"\ntype noun struct{ n int; next atomic.Pointer[noun] }\n" +
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
			[]string{"conn.go:3: conn.go (layer 3, conn) uses Session, which session.go (layer 5, session) declares"},
		},
		"constant in a lower layer still": {
			"types_parse.go", "package vecql\nvar x [maxSessions]int\n",
			[]string{"types_parse.go:2: types_parse.go (layer 0, nouns) uses maxSessions, which session.go (layer 5, session) declares"},
		},
		"variable and its field": {"pool.go", "package vecql\nfunc f() int {\nreturn current.\nid }\n", []string{
			"pool.go:3: pool.go (layer 4, cluster) uses current, which session.go (layer 5, session) declares",
			"pool.go:4: pool.go (layer 4, cluster) uses id, which session.go (layer 5, session) declares",
		}},
		"method on a lower type": {
			"frame.go", "package vecql\nfunc f(n noun) { n.high() }\n",
			[]string{"frame.go:2: frame.go (layer 2, frame) uses high, which session.go (layer 5, session) declares"},
		},
		"promoted method": {
			"conn_write.go", "package vecql\nfunc f(c conn) { c.high() }\n",
			[]string{"conn_write.go:2: conn_write.go (layer 3, conn) uses high, which session.go (layer 5, session) declares"},
		},
		"generic type and function": {"marshal.go", "package vecql\nvar a list[int]\nvar b = a.head\nvar c = open[noun]().live.Load().id\n", []string{
			"marshal.go:2: marshal.go (layer 1, marshal) uses list, which session.go (layer 5, session) declares",
			"marshal.go:3: marshal.go (layer 1, marshal) uses head, which session.go (layer 5, session) declares",
			"marshal.go:4: marshal.go (layer 1, marshal) uses open, which session.go (layer 5, session) declares",
			"marshal.go:4: marshal.go (layer 1, marshal) uses live, which session.go (layer 5, session) declares",
			"marshal.go:4: marshal.go (layer 1, marshal) uses id, which session.go (layer 5, session) declares",
		}},
		"unknown word": {
			"util.go", "package vecql\n",
			[]string{"util.go:1: the first word of the file's name stands for no layer"},
		},
		"a word is whole": {
			"connect.go", "package vecql\n",
			[]string{"connect.go:1: the first word of the file's name stands for no layer"},
		},
		"name that nobody declares":              {"conn.go", "package vecql\nvar x = nowhere\n", []string{"conn.go:2: undefined: nowhere"}},
		"a local name that looks like one above": {"conn.go", "package vecql\nfunc f(Session int) int { return Session }\n", nil},
	}
	im := newSourceImporter(t)
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
			require.Equal(t, append([]string{}, test.want...), layerFaults(im.fset, files, im))
		})
	}
}

func TestImportsPlanted(t *testing.T) {
	project := fstest.MapFS{}
	for name, imports := range map[string]string{
		"conn.go":                      `"net"; "github.com/vecql/vecql/internal/wire"; "golang.org/x/sync/errgroup"`,
		"session.go":                   `"github.com/vecql/vecql/groupby"; "golang.org/x/synctest"`,
		"session_test.go":              `"github.com/vecql/vecql/cqltest"`,
		"internal/wire/wire.go":        `"io"; "github.com/vecql/vecql/internal/swap"`,
		"internal/swap/asm/gen.go":     `"github.com/vecql/vecql/internal/swap"`,
		"internal/new/new.go":          `"io"`,
		"groupby/groupby.go":           `"github.com/vecql/vecql"`,
		"parquetscan/scan.go":          `"github.com/apache/arrow-go/v18/parquet/file"; "github.com/vecql/vecql/groupby"`,
		"examples/load/main.go":        `"os"; "github.com/vecql/vecql"; "github.com/vecql/vecql/groupby"; "github.com/vecql/vecql/parquetscan"`,
		"examples/load/arrow.go":       `"github.com/apache/arrow-go/v18/arrow"; "github.com/vecql/vecql/internal/wire"; "golang.org/x/sync/errgroup"`,
		"examples/load/main_test.go":   `"github.com/apache/arrow-go/v18/arrow"`,
		"cqltest/server.go":            `"github.com/vecql/vecql/internal/wire"; "github.com/vecql/vecql"`,
		"tests/cassandra/cassandra.go": `"github.com/vecql/vecql"`,
		"cmd/vecql/main.go":            `"github.com/vecql/vecql"; "github.com/vecql/vecql/groupby"`,
		"bench/bench.go":               `"github.com/gocql/gocql"`,
		"testdata/x.go":                `"github.com/gocql/gocql"`,
	} {
		project[name] = &fstest.MapFile{Data: []byte("package p\nimport (" + imports + ")\n")}
	}
	project["bench/go.mod"] = &fstest.MapFile{Data: []byte("module bench\n")}
	require.Equal(t, []string{
		"cqltest/server.go:2: cqltest may not import github.com/vecql/vecql",
		"examples/load/arrow.go:2: examples may not import github.com/apache/arrow-go/v18/arrow",
		"examples/load/arrow.go:2: examples may not import github.com/vecql/vecql/internal/wire",
		"examples/load/arrow.go:2: examples may not import golang.org/x/sync/errgroup",
		"groupby/groupby.go:2: groupby may not import github.com/vecql/vecql",
		"internal/new/new.go: the table of imports has no entry for internal/new",
		"internal/wire/wire.go:2: internal/wire may not import github.com/vecql/vecql/internal/swap",
		"parquetscan/scan.go:2: parquetscan may not import github.com/vecql/vecql/groupby",
		"session.go:2: the root package may not import github.com/vecql/vecql/groupby",
		"session.go:2: the root package may not import golang.org/x/synctest",
		"tests/cassandra/cassandra.go:2: tests/cassandra may not import github.com/vecql/vecql",
	}, importFaults(t, project))
}
