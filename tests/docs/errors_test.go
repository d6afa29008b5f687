// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every exported error of the module is provoked by a real situation. testdata/errors.golden has the texts, and
// errors.md a cause and a remedy for each name.

var update = flag.Bool("update", false, "write testdata/errors.golden")

// A situation provokes an error.
type situation struct {
	name    string // of the exported error, with its package
	what    string // what was done
	is      func(err error) bool
	provoke func(t *testing.T) error
}

// is returns a check for a sentinel error or a code.
func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// as returns a check for a type of errors.
func as[E error]() func(error) bool {
	return func(err error) bool {
		var target E
		return errors.As(err, &target)
	}
}

// notProvoked are errors that no test can provoke, with the reason.
var notProvoked = map[string]string{
	"groupby.ErrTooManyGroups": "more than 2^31 groups do not fit into the memory of a test",
}

// modulePackages are packages in modules of their own, by folder. Their tests provoke their errors.
var modulePackages = map[string]string{
	"adbcvecql": "adbcvecql", "beamvecql": "beamvecql", "sqlvecql": "sqlvecql",
	"langchainvecql": "langchainvecql", "einovecql": "einovecql", "genkitvecql": "genkitvecql",
}

// errorPackages are the other packages that programs import, by folder.
var errorPackages = map[string]string{
	"": "vecql", "bulk": "bulk", "cdc": "cdc", "cql": "cql", "column": "column", "expr": "expr",
	"groupby": "groupby", "parquetscan": "parquetscan", "parquetscan/arrowcolumn": "arrowcolumn", "parquetscan/arrowstream": "arrowstream",
	"pipe": "pipe", "tablescan": "tablescan", "cqltest": "cqltest", "otelvecql": "otelvecql",
	"search": "search", "search/semcache": "semcache", "vector": "vector",
}

// prefixes has a pattern for the prefix of each package.
var prefixes = func() map[string]*regexp.Regexp {
	m := map[string]*regexp.Regexp{}
	for _, pkg := range errorPackages {
		m[pkg] = regexp.MustCompile(`(^|[:;,] |\()` + pkg + ": ")
	}
	return m
}()

func TestErrors(t *testing.T) {
	situations := slices.Concat(sessionSituations(), serverSituations(), valueSituations(), columnSituations(), fileSituations(),
		exprSituations(), pipeSituations(), bulkSituations(), scanSituations(), cdcSituations(), vectorSituations(), cacheSituations(), searchSituations())
	golden := map[string]string{}
	for _, s := range situations {
		t.Run(s.name+"/"+s.what, func(t *testing.T) {
			err := s.provoke(t)
			require.Error(t, err)
			require.True(t, s.is(err), "%v is no %s", err, s.name)
			text := normalized(err.Error())
			require.NotContains(t, text, "\n")
			for prefix, places := range prefixes {
				require.LessOrEqual(t, len(places.FindAllString(text, -1)), 1, "the prefix %s twice: %s", prefix, text)
			}
			golden[s.name] += fmt.Sprintf("\t%s\n\t\t%s\n", s.what, text)
		})
	}
	names, aliases := exportedErrors(t, errorPackages)
	for _, name := range names {
		switch reason := notProvoked[name]; {
		case aliases[name] != "":
			golden[name] = "\tis " + aliases[name] + "\n"
		case golden[name] == "" && reason == "":
			t.Errorf("%s: no situation provokes it", name)
		case reason != "":
			golden[name] = "\tnot provoked: " + reason + "\n"
		}
	}
	for name := range golden {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not an exported error", name)
		}
	}
	compareGolden(t, filepath.Join("testdata", "errors.golden"), golden)
	others, _ := exportedErrors(t, modulePackages)
	requireTested(t, others)
	requireDocumented(t, append(names, others...), aliases)
}

// requireTested requires that a test of its package names each error.
func requireTested(t *testing.T, names []string) {
	t.Helper()
	require.NotEmpty(t, names)
	for _, name := range names {
		folder, name, _ := strings.Cut(name, ".")
		paths, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		require.NoError(t, err)
		if !slices.ContainsFunc(paths, func(path string) bool {
			text, err := os.ReadFile(path)
			return err == nil && regexp.MustCompile(`\b`+name+`\b`).Match(text)
		}) {
			t.Errorf("no test of %s names %s", folder, name)
		}
	}
}

// changing are the parts of a text that differ from run to run.
var changing = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`127\.\d+\.\d+\.\d+:\d+`), "NODE"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`stream \d+`), "stream ID"},
	{regexp.MustCompile(`\d+( bytes of \d+ are in flight.* needs )\d+`), "SIZE${1}SIZE"},
	{regexp.MustCompile(`[^ ]*/(\w+\.parquet)`), "DIR/$1"},
	{regexp.MustCompile(`\d+ and (ETag )?"\d+-\d+"`), `SIZE and $1"TAG"`},
}

func normalized(text string) string {
	for _, c := range changing {
		text = c.pattern.ReplaceAllString(text, c.name)
	}
	return text
}

func compareGolden(t *testing.T, path string, golden map[string]string) {
	t.Helper()
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(golden)) {
		got.WriteString(name + "\n" + golden[name])
	}
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String(), "texts of errors changed: check them and run with -update")
}

// exportedErrors returns the names of the exported errors of packages by folder: variables Err..., constants of a type
// with Error, and such types. aliases has the name that an alias stands for.
func exportedErrors(t *testing.T, packages map[string]string) (names []string, aliases map[string]string) {
	t.Helper()
	aliases = map[string]string{}
	public := map[string]bool{}
	for _, pkg := range packages {
		public[pkg] = true
	}
	for folder, pkg := range packages {
		paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		require.NoError(t, err)
		var decls []*ast.GenDecl
		isError := map[string]bool{"error": true}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			for _, decl := range file.Decls {
				switch d := decl.(type) {
				case *ast.GenDecl:
					decls = append(decls, d)
				case *ast.FuncDecl:
					if d.Recv != nil && d.Name.Name == "Error" {
						isError[receiver(d)] = true
					}
				}
			}
		}
		for changed := true; changed; { // types that embed an error
			changed = false
			eachSpec(decls, func(spec *ast.TypeSpec) {
				if !isError[spec.Name.Name] && embeds(spec.Type, isError) {
					isError[spec.Name.Name], changed = true, true
				}
			}, nil)
		}
		add := func(name, alias string) {
			names = append(names, pkg+"."+name)
			if of, _, _ := strings.Cut(alias, "."); prefixes[of] != nil { // users cannot name a package under internal
				aliases[pkg+"."+name] = alias
			}
		}
		eachSpec(decls, func(spec *ast.TypeSpec) {
			alias := selector(spec.Type)
			if spec.Name.IsExported() && (isError[spec.Name.Name] || spec.Assign.IsValid() && namesError(alias)) {
				add(spec.Name.Name, alias)
			}
		}, func(spec *ast.ValueSpec) {
			for i, name := range spec.Names {
				alias := ""
				if i < len(spec.Values) {
					alias = selector(spec.Values[i])
				}
				if pkg, _, _ := strings.Cut(alias, "."); !public[pkg] { // such as a variable of internal/conn
					alias = ""
				}
				constant, _ := spec.Type.(*ast.Ident)
				switch {
				case !name.IsExported():
				case strings.HasPrefix(name.Name, "Err"), constant != nil && isError[constant.Name], namesError(alias):
					add(name.Name, alias)
				}
			}
		})
	}
	slices.Sort(names)
	return names, aliases
}

// namesError reports whether a name of package cql is one of its errors.
func namesError(name string) bool {
	_, name, ok := strings.Cut(name, "cql.")
	return ok && (strings.HasPrefix(name, "Err") || strings.HasPrefix(name, "Code") || strings.HasSuffix(name, "Error"))
}

func eachSpec(decls []*ast.GenDecl, types func(*ast.TypeSpec), values func(*ast.ValueSpec)) {
	for _, d := range decls {
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				types(spec)
			case *ast.ValueSpec:
				if values != nil {
					values(spec)
				}
			}
		}
	}
}

// receiver returns the name of the receiver's type.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	name, _ := t.(*ast.Ident)
	return name.Name
}

// embeds reports whether a struct or interface embeds one of the named types.
func embeds(t ast.Expr, names map[string]bool) bool {
	var fields *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return false
	}
	return slices.ContainsFunc(fields.List, func(f *ast.Field) bool {
		name, ok := f.Type.(*ast.Ident)
		return ok && len(f.Names) == 0 && names[name.Name]
	})
}

// selector returns "cql.ErrNull" for that expression, "" for others.
func selector(e ast.Expr) string {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := s.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return pkg.Name + "." + s.Sel.Name
}

var errorRow = regexp.MustCompile("(?m)^\\| ((?:`[\\w.]+`(?:, )?)+) \\| ([^|]+) \\| ([^|]+) \\|$")

// requireDocumented requires a row of errors.md for each name that is not an alias, and no others.
func requireDocumented(t *testing.T, names []string, aliases map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "errors.md"))
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, row := range errorRow.FindAllStringSubmatch(string(text), -1) {
		for _, name := range strings.Split(row[1], ", ") {
			name = strings.Trim(name, "`")
			if seen[name] {
				t.Errorf("errors.md: %s has two rows", name)
			}
			seen[name] = true
			if !slices.Contains(names, name) || aliases[name] != "" {
				t.Errorf("errors.md: %s is no exported error, or an alias", name)
			}
		}
	}
	for _, name := range names {
		if !seen[name] && aliases[name] == "" {
			t.Errorf("errors.md: no row for %s", name)
		}
	}
}
