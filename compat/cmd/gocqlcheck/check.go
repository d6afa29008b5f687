// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"

	"github.com/vecql/vecql/compat/cmd/internal/table"
)

// A finding is a place in a program where a name of an API behaves differently.
type finding struct {
	at         token.Position
	name, text string
}

// A report is what a program uses.
type report struct {
	findings []finding
	used     []*table.API    // that the program imports
	packages map[string]bool // that import them
	errors   []error

	names  index
	gocql1 *table.API // what github.com/gocql/gocql is in the program: v1 or the fork
	older  string     // the version of v1 in go.mod, if it is older than the compat module's
}

// check loads the packages of the module in the folder, with their tests, and applies the rules to them. Packages with
// errors are checked as far as their types are known.
func check(dir string, patterns []string) (*report, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedTypesInfo | packages.NeedSyntax,
		Dir:   dir,
		Tests: true,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	r := &report{packages: map[string]bool{}, names: index{}}
	r.gocql1, r.older = moduleAt(dir)
	for _, p := range loaded {
		for _, err := range p.Errors {
			r.errors = append(r.errors, err)
		}
		for _, file := range p.Syntax {
			r.imports(p, file)
			ast.Inspect(file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					r.identifier(p, file, id)
				}
				return true
			})
		}
	}
	if len(r.used) == 0 && len(r.errors) > 0 {
		return nil, errors.Join(r.errors...)
	}
	r.sort(dir)
	return r, nil
}

// moduleAt returns the API that github.com/gocql/gocql stands for in the module: the fork has the path of gocql, so
// programs use it by a replace directive. older is the version of gocql v1, if the compat module has a newer API.
func moduleAt(dir string) (a *table.API, older string) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Version}} {{with .Replace}}{{.Path}}{{end}}", table.V1.Module)
	cmd.Dir = dir
	out, err := cmd.Output() // fails for a program that requires gocql v2 only
	version, replaced, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	switch {
	case err != nil:
	case strings.Contains(replaced, "scylladb/gocql") || strings.Contains(replaced, table.Fork.Name):
		return table.Fork, ""
	case isOlder(version):
		older = version
	}
	return table.V1, older
}

// isOlder reports whether a version of gocql v1 is older than v1.7, whose API and defaults the compat module has.
func isOlder(version string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(version, "v%d.%d.", &major, &minor)
	return n == 2 && (major < 1 || major == 1 && minor < 7)
}

// apiOf returns the API that has the package, or nil.
func (r *report) apiOf(path string) *table.API {
	switch {
	case table.V1.Owns(path):
		return r.gocql1
	case table.V2.Owns(path):
		return table.V2
	}
	return nil
}

// imports records which APIs the file imports, and reports packages that a compat module has not.
func (r *report) imports(p *packages.Package, file *ast.File) {
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		a := r.apiOf(path)
		if a == nil {
			continue
		}
		r.packages[p.PkgPath] = true
		if !slices.Contains(r.used, a) {
			r.used = append(r.used, a)
		}
		if path != a.Module && !slices.Contains(a.Packages, strings.TrimPrefix(path, a.Module+"/")) {
			r.add(p, spec, path, table.AbsentPackage)
		}
	}
}

// identifier applies the rule of an API's name.
func (r *report) identifier(p *packages.Package, file *ast.File, id *ast.Ident) {
	o := p.TypesInfo.Uses[id]
	if o == nil || o.Pkg() == nil || !o.Exported() {
		return
	}
	a := r.apiOf(o.Pkg().Path())
	if a == nil || o.Pkg().Path() != a.Module {
		return
	}
	name := r.names.of(o)
	rule, ok := table.Rules[name]
	if !ok || rule.Quiet || !rule.AppliesTo(a) {
		return
	}
	if happens, ok := conditions[name]; ok {
		path, _ := astutil.PathEnclosingInterval(file, id.Pos(), id.End())
		slices.Reverse(path)
		if !happens(use{p.TypesInfo, path}) {
			return
		}
	}
	r.add(p, id, o.Pkg().Name()+"."+name, rule.Text)
}

func (r *report) add(p *packages.Package, n ast.Node, name, text string) {
	r.findings = append(r.findings, finding{p.Fset.Position(n.Pos()), name, text})
}

// sort orders the findings by place, with file names relative to the folder. Files of a package with tests are loaded
// twice.
func (r *report) sort(dir string) {
	if dir, err := filepath.Abs(cmp.Or(dir, ".")); err == nil {
		for i, f := range r.findings {
			if name, err := filepath.Rel(dir, f.at.Filename); err == nil {
				r.findings[i].at.Filename = name
			}
		}
	}
	slices.SortFunc(r.findings, func(a, b finding) int {
		return cmp.Or(
			cmp.Compare(a.at.Filename, b.at.Filename), cmp.Compare(a.at.Offset, b.at.Offset), cmp.Compare(a.name, b.name),
		)
	})
	r.findings = slices.Compact(r.findings)
	r.merge()
}

// merge makes one finding of those that have a line and a text.
func (r *report) merge() {
	var merged []finding
	for _, f := range r.findings {
		i := slices.IndexFunc(merged, func(m finding) bool {
			return m.at.Filename == f.at.Filename && m.at.Line == f.at.Line && m.text == f.text
		})
		switch {
		case i < 0:
			merged = append(merged, f)
		case !slices.Contains(strings.Split(merged[i].name, ", "), f.name):
			merged[i].name += ", " + f.name
		}
	}
	r.findings = merged
}
