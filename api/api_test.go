// SPDX-License-Identifier: Apache-2.0

// Package api_test compares the exported names of the public packages, of all modules, with the files beside this test.
package api_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the files")

// private are names of folders without public packages. compat/cmd/apidiff compares the packages in compat with the
// APIs that they stand for.
var private = []string{"internal", "testdata", "api", "bench", "cmd", "compat", "docs", "examples", "faults", "target", "tests"}

// TestAPI compares the API of each public package with its file. With -update it writes the files.
func TestAPI(t *testing.T) {
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(dir string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case dir != ".." && (strings.HasPrefix(d.Name(), ".") || slices.Contains(private, d.Name())):
			return fs.SkipDir
		}
		lines, err := exported(dir)
		if err != nil || lines == nil {
			return err
		}
		file := fileOf(dir)
		found[file] = true
		if *update {
			return os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
		}
		text, _ := os.ReadFile(file) // all lines are new if there is no file
		for _, line := range difference(strings.Split(strings.TrimSpace(string(text)), "\n"), lines) {
			t.Errorf("%s: %s", file, line)
		}
		return nil
	}))
	files, err := filepath.Glob("*.txt")
	require.NoError(t, err)
	for _, file := range files {
		if !found[file] {
			t.Errorf("%s: the package is gone: remove the file", file)
		}
	}
	if t.Failed() {
		t.Log("go test ./api -update writes the files; CHANGELOG.md names each change")
	}
}

// fileOf returns the file of the package in a folder: column-arrowcolumn.txt.
func fileOf(dir string) string {
	name := strings.ReplaceAll(strings.TrimPrefix(filepath.ToSlash(dir), "../"), "/", "-")
	if dir == ".." {
		name = "vecql"
	}
	return name + ".txt"
}

// difference returns the lines that only one of two sorted lists has, at most 30.
func difference(old, now []string) (lines []string) {
	for _, line := range old {
		if !slices.Contains(now, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range now {
		if !slices.Contains(old, line) {
			lines = append(lines, "+ "+line)
		}
	}
	if n := len(lines); n > 30 {
		lines = append(lines[:30], fmt.Sprintf("and %d more", n-30))
	}
	return lines
}

// exported returns a sorted line for each exported name of the package in a folder, for each exported field and for
// each exported method. It returns nil if the folder has no package or a command.
func exported(dir string) ([]string, error) {
	context := build.Default
	context.GOOS, context.GOARCH, context.CgoEnabled = "linux", "amd64", false
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	p := &api{types: map[string]ast.Expr{}, methods: map[string][]*ast.FuncDecl{}}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		if match, err := context.MatchFile(dir, entry.Name()); err != nil || !match || filepath.Ext(entry.Name()) != ".go" {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, entry.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if f.Name.Name == "main" {
			return nil, nil
		}
		p.decls = append(p.decls, f.Decls...)
	}
	p.index()
	for _, d := range p.decls {
		p.declaration(d)
	}
	slices.Sort(p.lines)
	return slices.Compact(p.lines), nil
}

// api is the declarations of a package, and the lines made of them.
type api struct {
	decls   []ast.Decl
	types   map[string]ast.Expr
	methods map[string][]*ast.FuncDecl // by receiver
	lines   []string
}

// index finds types and methods.
func (p *api) index() {
	for _, d := range p.decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				name := baseName(d.Recv.List[0].Type)
				p.methods[name] = append(p.methods[name], d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					p.types[spec.Name.Name] = spec.Type
				}
			}
		}
	}
}

func (p *api) add(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

// declaration adds the lines of a declaration.
func (p *api) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			p.add("func %s%s%s", d.Name.Name, typeParameters(d.Type.TypeParams), signature(d.Type))
		}
	case *ast.GenDecl:
		var constType ast.Expr // of a constant without type and value
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					p.typeSpec(spec)
				}
			case *ast.ValueSpec:
				if spec.Type != nil || len(spec.Values) > 0 {
					constType = spec.Type
				}
				for _, name := range spec.Names {
					if name.IsExported() {
						p.add("%s", strings.TrimSpace(fmt.Sprintf("%v %s %s", d.Tok, name.Name, text(constType))))
					}
				}
			}
		}
	}
}

// typeSpec adds the lines of a type, its fields and its methods.
func (p *api) typeSpec(spec *ast.TypeSpec) {
	name, parameters := spec.Name.Name, typeParameters(spec.TypeParams)
	switch t := spec.Type.(type) {
	case *ast.StructType:
		p.add("type %s%s struct", name, parameters)
		p.fields(name, t)
	case *ast.InterfaceType:
		p.add("type %s%s interface", name, parameters)
		p.elements(name, t)
	default:
		equals := ""
		if spec.Assign.IsValid() {
			equals = "= "
		}
		p.add("type %s%s %s%s", name, parameters, equals, text(t))
	}
	p.methodsOf(name, name)
}

// methodsOf adds the exported methods of type from, as methods of type name.
func (p *api) methodsOf(name, from string) {
	for _, m := range p.methods[from] {
		if !m.Name.IsExported() {
			continue
		}
		star := ""
		if _, ok := m.Recv.List[0].Type.(*ast.StarExpr); ok {
			star = "*"
		}
		p.add("method (%s%s) %s%s", star, name, m.Name.Name, signature(m.Type))
	}
}

// fields adds the exported fields of a struct, with those and the methods of embedded types that are not exported.
func (p *api) fields(name string, t *ast.StructType) {
	for _, f := range t.Fields.List {
		for _, id := range f.Names {
			if id.IsExported() {
				p.add("field %s.%s %s", name, id.Name, text(f.Type))
			}
		}
		if len(f.Names) > 0 {
			continue
		}
		embedded := baseName(f.Type)
		if ast.IsExported(embedded) {
			p.add("field %s.%s embedded %s", name, embedded, text(f.Type))
			continue
		}
		p.methodsOf(name, embedded)
		if inner, ok := p.types[embedded].(*ast.StructType); ok {
			p.fields(name, inner)
		}
	}
}

// elements adds the methods and the embedded types of an interface. A method that is not exported is one line: it keeps
// other packages from implementing the interface.
func (p *api) elements(name string, t *ast.InterfaceType) {
	for _, f := range t.Methods.List {
		f2, isMethod := f.Type.(*ast.FuncType)
		switch {
		case isMethod && f.Names[0].IsExported():
			p.add("method %s.%s%s", name, f.Names[0].Name, signature(f2))
		case isMethod:
			p.add("method %s has methods that are not exported", name)
		default:
			p.add("method %s embedded %s", name, text(f.Type))
		}
	}
}

// baseName returns the name of a type without pointer, package and type arguments.
func baseName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return baseName(e.X)
	case *ast.IndexExpr:
		return baseName(e.X)
	case *ast.IndexListExpr:
		return baseName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func typeParameters(list *ast.FieldList) string {
	if list == nil {
		return ""
	}
	var all []string
	for _, f := range list.List {
		for _, name := range f.Names {
			all = append(all, name.Name+" "+text(f.Type))
		}
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// signature returns the parameters and results of a function without their names.
func signature(t *ast.FuncType) string {
	return strings.TrimPrefix(text(&ast.FuncType{Params: t.Params, Results: t.Results}), "func")
}

// text prints a type on one line, without the names of parameters.
func text(e ast.Expr) string {
	if e == nil {
		return ""
	}
	ast.Inspect(e, func(n ast.Node) bool {
		if t, ok := n.(*ast.FuncType); ok {
			for _, list := range []*ast.FieldList{t.Params, t.Results} {
				if list != nil {
					list.List = unnamed(list.List)
				}
			}
		}
		return true
	})
	var out strings.Builder
	if err := printer.Fprint(&out, token.NewFileSet(), e); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// unnamed returns a field without a name for each name of the fields.
func unnamed(list []*ast.Field) (types []*ast.Field) {
	for _, f := range list {
		for range max(len(f.Names), 1) {
			types = append(types, &ast.Field{Type: f.Type})
		}
	}
	return types
}
