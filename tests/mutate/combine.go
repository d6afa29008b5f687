// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Mutant schemata: many mutations in one build. Each mutated function stands beside the original one under a name of
// its own. The original begins with a call of the copy whose number the environment variable VECQL_MUTATION has, so
// that the tests of a package are compiled once for all mutations:
//
//	func (p *pool) isUp() bool { if planted == 12 { return p.planted12isUp() }; return p.open > 0 }
//
//	func (p *pool) planted12isUp() bool { return p.open >= 0 }

const variable = "VECQL_MUTATION"

// selector is the text of a file that is added to each package with mutations.
const selector = `package %s

import (
	"os"
	"strconv"
)

var planted, _ = strconv.Atoi(os.Getenv("` + variable + `"))
`

// A combinedFile is a file with copies of its functions, one for each mutation.
type combinedFile struct {
	path    string // relative to the root of the module
	text    string // the original
	files   *token.FileSet
	syntax  *ast.File
	inserts []insert
	copies  []functionCopy
}

// insert is text to insert into the original.
type insert struct {
	at   int
	text string
}

// functionCopy is a mutated function.
type functionCopy struct {
	number int // of the mutation
	text   string
}

// parseCombined parses a file. path is relative to root.
func parseCombined(root, path string) (*combinedFile, error) {
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return nil, err
	}
	f := &combinedFile{path: path, text: string(b), files: token.NewFileSet()}
	f.syntax, err = parser.ParseFile(f.files, path, b, parser.SkipObjectResolution)
	return f, err
}

// add adds a mutation under that number. It reports false if the mutation needs a build of its own: it changes more
// than the body of one function, or the function depends on its caller.
func (f *combinedFile) add(m *mutation, number int) bool {
	begin := strings.Index(f.text, m.old)
	if begin < 0 {
		return false
	}
	head := commonPrefix(m.old, m.new)
	tail := commonSuffix(m.old[head:], m.new[head:])
	begin, end := begin+head, begin+len(m.old)-tail
	for _, d := range f.syntax.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok || d.Body == nil || begin <= f.offset(d.Body.Lbrace) || end > f.offset(d.Body.Rbrace) {
			continue
		}
		if callsRecover(d.Body) {
			return false
		}
		name := fmt.Sprintf("planted%d%s", number, d.Name.Name)
		f.inserts = append(f.inserts, insert{f.offset(d.Body.Lbrace) + 1, f.branch(d, name, number)})
		f.copies = append(f.copies, functionCopy{number, f.between(d.Pos(), d.Name.Pos()) + name +
			f.text[f.offset(d.Name.End()):begin] + m.new[head:len(m.new)-tail] + f.text[end:f.offset(d.End())]})
		return true
	}
	return false
}

// commonPrefix returns the number of bytes with which both texts begin.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// commonSuffix returns the number of bytes with which both texts end.
func commonSuffix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// callsRecover reports whether a function calls recover itself, which returns nil in a copy that a deferred function
// calls.
func callsRecover(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok {
			name, isName := call.Fun.(*ast.Ident)
			found = found || isName && name.Name == "recover"
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
	return found
}

func (f *combinedFile) offset(p token.Pos) int { return f.files.Position(p).Offset }

func (f *combinedFile) between(from, to token.Pos) string { return f.text[f.offset(from):f.offset(to)] }

// branch returns the statement that calls the copy of d.
func (f *combinedFile) branch(d *ast.FuncDecl, name string, number int) string {
	call := name
	if d.Recv != nil {
		call = f.arguments(d.Recv)[0] + "." + name
	} else if d.Type.TypeParams != nil {
		var names []string
		for _, field := range d.Type.TypeParams.List {
			for _, n := range field.Names {
				names = append(names, n.Name)
			}
		}
		call += "[" + strings.Join(names, ", ") + "]"
	}
	call += "(" + strings.Join(f.arguments(d.Type.Params), ", ") + ")"
	if d.Type.Results.NumFields() > 0 {
		return fmt.Sprintf(" if planted == %d { return %s };", number, call)
	}
	return fmt.Sprintf(" if planted == %d { %s; return };", number, call)
}

// arguments returns expressions of the parameters, zero values of those without a name, which no copy uses either.
func (f *combinedFile) arguments(params *ast.FieldList) (list []string) {
	for _, field := range params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		zero := "(*new(" + f.between(field.Type.Pos(), field.Type.End()) + "))"
		for i := range max(len(field.Names), 1) {
			named := len(field.Names) > 0 && field.Names[i].Name != "_"
			switch {
			case named && variadic:
				list = append(list, field.Names[i].Name+"...")
			case named:
				list = append(list, field.Names[i].Name)
			case !variadic:
				list = append(list, zero)
			}
		}
	}
	return list
}

// remove removes a mutation.
func (f *combinedFile) remove(number int) {
	f.copies = slices.DeleteFunc(f.copies, func(c functionCopy) bool { return c.number == number })
	f.inserts = slices.DeleteFunc(f.inserts, func(i insert) bool {
		return strings.HasPrefix(i.text, fmt.Sprintf(" if planted == %d {", number))
	})
}

// write returns the text of the file with its copies. The lines of the original keep their numbers. lines are the first
// lines of the copies.
func (f *combinedFile) write() (text string, lines []int) {
	slices.SortStableFunc(f.inserts, func(a, b insert) int { return cmp.Compare(a.at, b.at) })
	var out bytes.Buffer
	last := 0
	for _, i := range f.inserts {
		out.WriteString(f.text[last:i.at] + i.text)
		last = i.at
	}
	out.WriteString(f.text[last:])
	for _, c := range f.copies {
		out.WriteString("\n")
		lines = append(lines, 1+bytes.Count(out.Bytes(), []byte("\n")))
		out.WriteString(c.text + "\n")
	}
	return out.String(), lines
}

// copyAt returns the number of the mutation whose copy has that line, 0 if it is a line of the original.
func (f *combinedFile) copyAt(line int) int {
	_, lines := f.write()
	i, found := slices.BinarySearch(lines, line)
	switch {
	case found:
		return f.copies[i].number
	case i == 0:
		return 0
	}
	return f.copies[i-1].number
}
