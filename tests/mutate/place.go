// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Places of the mutations of the list: a declaration, and nodes of its syntax tree. Files, formatting and the names of
// variables do not matter.

// kinds are the kinds of nodes that an edit can name. Nodes of a kind are numbered from 1 in the order of the source.
var kinds = map[string]func(n, parent ast.Node) bool{
	"condition": isCondition,
	"case":      isCase,
	"clause":    func(n, _ ast.Node) bool { return is[*ast.CaseClause](n) || is[*ast.CommClause](n) },
	"statement": func(n, parent ast.Node) bool {
		s, ok := n.(ast.Stmt)
		return ok && inBlock(s, parent) && !is[*ast.CaseClause](n) && !is[*ast.CommClause](n)
	},
	"call":      func(n, _ ast.Node) bool { return is[*ast.CallExpr](n) },
	"binary":    func(n, _ ast.Node) bool { return is[*ast.BinaryExpr](n) },
	"unary":     func(n, _ ast.Node) bool { return is[*ast.UnaryExpr](n) },
	"index":     func(n, _ ast.Node) bool { return is[*ast.IndexExpr](n) },
	"slice":     func(n, _ ast.Node) bool { return is[*ast.SliceExpr](n) },
	"composite": func(n, _ ast.Node) bool { return is[*ast.CompositeLit](n) },
	"field":     func(n, _ ast.Node) bool { return is[*ast.KeyValueExpr](n) },
	"literal":   func(n, _ ast.Node) bool { return is[*ast.BasicLit](n) },
	"value":     isValue,
}

func is[N ast.Node](n ast.Node) bool {
	_, ok := n.(N)
	return ok
}

// isCondition reports whether n is the condition of an if or for statement.
func isCondition(n, parent ast.Node) bool {
	switch parent := parent.(type) {
	case *ast.IfStmt:
		return parent.Cond == n
	case *ast.ForStmt:
		return parent.Cond == n
	}
	return false
}

// isCase reports whether n is an expression of a case.
func isCase(n, parent ast.Node) bool {
	clause, ok := parent.(*ast.CaseClause)
	e, isExpr := n.(ast.Expr)
	return ok && isExpr && slices.Contains(clause.List, e)
}

// isValue reports whether n is a value that is assigned, returned or declared, or the range of a loop.
func isValue(n, parent ast.Node) bool {
	e, ok := n.(ast.Expr)
	if !ok {
		return false
	}
	switch parent := parent.(type) {
	case *ast.AssignStmt:
		return slices.Contains(parent.Rhs, e)
	case *ast.ReturnStmt:
		return true
	case *ast.ValueSpec:
		return slices.Contains(parent.Values, e)
	case *ast.RangeStmt:
		return parent.X == e
	}
	return false
}

// nodesOf returns the nodes of a kind in a declaration.
func nodesOf(d ast.Node, kind string) (list []ast.Node) {
	matches := kinds[kind]
	ast.PreorderStack(d, nil, func(n ast.Node, stack []ast.Node) bool {
		if len(stack) > 0 && matches(n, stack[len(stack)-1]) {
			list = append(list, n)
		}
		return true
	})
	return list
}

// children returns the nodes directly below a node, in the order of the source.
func children(n ast.Node) (list []ast.Node) {
	ast.Inspect(n, func(c ast.Node) bool {
		if c != nil && c != n {
			list = append(list, c)
		}
		return c == n
	})
	return list
}

// An edit replaces one node of a declaration.
type edit struct {
	kind    string
	nth, of int    // the number of the node, and the number of nodes of its kind
	text    string // replaces the node; empty drops it
}

var editForm = regexp.MustCompile(`^(\w+) (\d+)/(\d+):(?: (.*))?$`)

// parseEdit parses KIND N/TOTAL: TEXT.
func parseEdit(line string) (edit, error) {
	m := editForm.FindStringSubmatch(line)
	if m == nil || kinds[m[1]] == nil {
		return edit{}, fmt.Errorf("%q is not KIND N/TOTAL: TEXT", line)
	}
	nth, _ := strconv.Atoi(m[2])
	of, err := strconv.Atoi(m[3])
	return edit{m[1], nth, of, m[4]}, err
}

// find returns the node of an edit in a declaration.
func (e edit) find(d ast.Node) (ast.Node, error) {
	list := nodesOf(d, e.kind)
	if len(list) != e.of || e.nth < 1 || e.nth > e.of {
		return nil, fmt.Errorf("%s %d/%d: there are %d: go run ./tests/mutate -renumber HEAD mends that", e.kind, e.nth, e.of, len(list))
	}
	return list[e.nth-1], nil
}

var reference = regexp.MustCompile(`\$\d+(\.\d+)*`)

// render returns the text that replaces node n. In the text of the edit, $0 is the node, $2 its second child, and $2.1
// the first child of that.
func (e edit) render(f *combinedFile, n ast.Node) (text string, err error) {
	source := func(n ast.Node) string { return f.between(n.Pos(), n.End()) }
	switch {
	case e.text == "" && e.kind == "statement" && !declares(n) && !isReturn(n):
		return "if false { " + source(n) + " }", nil // the variables stay in use
	case e.text == "false" && (e.kind == "condition" || e.kind == "case"):
		return "false && (" + source(n) + ")", nil
	case e.text == "true" && (e.kind == "condition" || e.kind == "case"):
		return "true || (" + source(n) + ")", nil
	}
	text = reference.ReplaceAllStringFunc(e.text, func(ref string) string {
		at := n
		for step := range strings.SplitSeq(ref[1:], ".") {
			i, _ := strconv.Atoi(step)
			if i == 0 {
				continue
			}
			below := children(at)
			if i > len(below) {
				err = fmt.Errorf("%s %d/%d: %s does not exist", e.kind, e.nth, e.of, ref)
				return ref
			}
			at = below[i-1]
		}
		if is[*ast.BinaryExpr](at) && e.text != ref {
			return "(" + source(at) + ")"
		}
		return source(at)
	})
	return text, err
}

// declares reports whether a statement declares names, which the statements after it use.
func declares(n ast.Node) bool {
	s, ok := n.(*ast.AssignStmt)
	return ok && s.Tok == token.DEFINE || is[*ast.DeclStmt](n) || is[*ast.LabeledStmt](n)
}

// change returns the part of the file that the edits of a mutation replace, and its new text.
func (m *mutation) change() (begin, end int, text string, err error) {
	type part struct {
		begin, end int
		text       string
	}
	var parts []part
	p := m.at
	for _, e := range m.edits {
		n, err := e.find(p.node)
		if err != nil {
			return 0, 0, "", fmt.Errorf("%v: %w", m, err)
		}
		text, err := e.render(p.file, n)
		if err != nil {
			return 0, 0, "", fmt.Errorf("%v: %w", m, err)
		}
		parts = append(parts, part{p.file.offset(n.Pos()), p.file.offset(n.End()), text})
	}
	slices.SortFunc(parts, func(a, b part) int { return a.begin - b.begin })
	begin, end = parts[0].begin, parts[0].begin
	for _, next := range parts {
		if next.begin < end {
			return 0, 0, "", fmt.Errorf("%v: two edits overlap", m)
		}
		text += p.file.text[end:next.begin] + next.text
		end = next.end
	}
	return begin, end, text, nil
}

// diff returns the changed nodes and their new texts, two lines for each.
func (m *mutation) diff() string {
	var out strings.Builder
	for _, e := range m.edits {
		if n, err := e.find(m.at.node); err == nil {
			text, _ := e.render(m.at.file, n)
			fmt.Fprintf(&out, "\t- %s\n\t+ %s\n", oneLine(m.at.file.between(n.Pos(), n.End())), oneLine(text))
		}
	}
	return out.String()
}

// printNodes prints the nodes of a declaration, given as PACKAGE NAME.
func printNodes(w io.Writer, declaration string) error {
	dir, name, _ := strings.Cut(declaration, " ")
	at, err := newPlaces(".").find(&mutation{dir: dir, function: name})
	if err != nil {
		return err
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		list := nodesOf(at.node, kind)
		for i, n := range list {
			fmt.Fprintf(w, "%s %d/%d: %s\n", kind, i+1, len(list), oneLine(at.file.between(n.Pos(), n.End())))
		}
	}
	return nil
}

// A place is a declaration.
type place struct {
	file *combinedFile
	node ast.Node // *ast.FuncDecl, *ast.ValueSpec or *ast.TypeSpec
}

// places finds declarations by package and name. It parses each package once.
type places struct {
	root string
	dirs map[string]map[string]place
}

func newPlaces(root string) *places { return &places{root, map[string]map[string]place{}} }

var errNoDeclaration = errors.New("no such declaration")

// find returns the declaration of a mutation.
func (p *places) find(m *mutation) (*place, error) {
	found := p.dirs[m.dir]
	if found == nil {
		found = map[string]place{}
		if err := p.parse(m.dir, found); err != nil {
			return nil, fmt.Errorf("%v: %w", m, err)
		}
		p.dirs[m.dir] = found
	}
	at, ok := found[m.function]
	if !ok {
		return nil, fmt.Errorf("%v: %w", m, errNoDeclaration)
	}
	return &at, nil
}

// parse adds the declarations of a package to into.
func (p *places) parse(dir string, into map[string]place) error {
	context := gobuild.Default
	context.BuildTags = []string{"poison"} // as goTest
	full := filepath.Join(p.root, filepath.FromSlash(dir))
	entries, err := os.ReadDir(full)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if match, err := context.MatchFile(full, name); err != nil || !match {
			continue
		}
		f, err := parseCombined(token.NewFileSet(), p.root, filepath.Join(filepath.FromSlash(dir), name))
		if err != nil {
			return err
		}
		for _, d := range f.syntax.Decls {
			addDeclaration(into, f, d)
		}
	}
	return nil
}

// addDeclaration adds the names of a declaration.
func addDeclaration(into map[string]place, f *combinedFile, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		into[listName(d)] = place{f, d}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					into[name.Name] = place{f, spec}
				}
			case *ast.TypeSpec:
				into[spec.Name.Name] = place{f, spec}
			}
		}
	}
}

// listName returns the name of a function in the list: Type.method for a method.
func listName(d *ast.FuncDecl) string {
	return strings.NewReplacer("(*", "", ")", "").Replace(functionName(d))
}

// apply returns the mutated text of the file and the line of the change.
func (m *mutation) apply() (text string, line int, err error) {
	p := m.at
	begin, end, changed, err := m.change()
	if err != nil {
		return "", 0, err
	}
	text = p.file.text[:begin] + changed + p.file.text[end:]
	_, err = parser.ParseFile(token.NewFileSet(), p.file.path, text, parser.SkipObjectResolution)
	return text, 1 + strings.Count(p.file.text[:begin], "\n"), err
}
