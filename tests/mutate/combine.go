// SPDX-License-Identifier: Apache-2.0

package main

import (
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
//	func (p *pool) isUp() bool { if planted != 0 { switch planted { case 12: return p.planted12isUp() } }; return p.open > 0 }
//
//	func (p *pool) planted12isUp() bool { return p.open >= 0 }
//
// With the number recording, each function with a number of its own records that a test has reached it.

const (
	variable        = "VECQL_MUTATION"
	reachedVariable = "VECQL_MUTATION_REACHED" // the file with the numbers of reached functions
	recording       = -1
)

// selector is the text of a file that is added to each package with mutations. Its arguments are the name of the
// package and the number of functions that are recorded.
const selector = `package %s

import (
	"os"
	"strconv"
	"sync/atomic"
)

var planted, _ = strconv.Atoi(os.Getenv("` + variable + `"))

var plantedReached [%d + 1]atomic.Bool

func plantedReach(function int) {
	if plantedReached[function].Load() || plantedReached[function].Swap(true) {
		return
	}
	f, err := os.OpenFile(os.Getenv("` + reachedVariable + `"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	_, _ = f.WriteString(strconv.Itoa(function) + "\n")
	_ = f.Close()
}
`

// A combinedFile is a file with copies of its functions, one for each mutation.
type combinedFile struct {
	path    string // relative to the root of the module
	text    string // the original
	files   *token.FileSet
	syntax  *ast.File
	copies  []functionCopy
	reached map[*ast.FuncDecl]int // numbers of the functions that are recorded
}

// functionCopy is a mutated function.
type functionCopy struct {
	number   int // of the mutation
	original *ast.FuncDecl
	text     string
}

// parseCombined parses a file. path is relative to root.
func parseCombined(files *token.FileSet, root, path string) (*combinedFile, error) {
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return nil, err
	}
	f := &combinedFile{path: path, text: string(b), files: files}
	f.syntax, err = parser.ParseFile(f.files, path, b, parser.SkipObjectResolution|parser.ParseComments)
	return f, err
}

// add adds a mutation of the list under that number. It reports false if the mutation needs a build of its own: it does
// not change the body of a function, or the function depends on its caller.
func (f *combinedFile) add(m *mutation, number int) bool {
	d, ok := m.at.node.(*ast.FuncDecl)
	if !ok || callsRecover(d.Body) {
		return false
	}
	begin, end, text, err := m.change()
	if err != nil || begin <= f.offset(d.Body.Lbrace) {
		return false
	}
	f.addCopy(d, number, begin, end, text)
	return true
}

// addCopy adds a copy of d in which text replaces the bytes from begin to end.
func (f *combinedFile) addCopy(d *ast.FuncDecl, number, begin, end int, text string) {
	f.copies = append(f.copies, functionCopy{number, d, f.between(d.Pos(), d.Name.Pos()) + copyName(d, number) +
		f.text[f.offset(d.Name.End()):begin] + text + f.text[end:f.offset(d.End())]})
}

func copyName(d *ast.FuncDecl, number int) string {
	return fmt.Sprintf("planted%d%s", number, d.Name.Name)
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

// branch returns the statements that call the copy of d.
func (f *combinedFile) branch(d *ast.FuncDecl, number int) string {
	call := copyName(d, number)
	if d.Recv != nil {
		call = f.arguments(d.Recv)[0] + "." + call
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
		return fmt.Sprintf("case %d: return %s; ", number, call)
	}
	return fmt.Sprintf("case %d: %s; return; ", number, call)
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
}

// write returns the text of the file with its copies. The lines of the original keep their numbers. lines are the first
// lines of the copies.
func (f *combinedFile) write() (text string, lines []int) {
	branches := map[*ast.FuncDecl]string{}
	for d, number := range f.reached {
		branches[d] = fmt.Sprintf("case %d: plantedReach(%d); ", recording, number)
	}
	for _, c := range f.copies {
		branches[c.original] += f.branch(c.original, c.number)
	}
	var out strings.Builder
	last := 0
	for _, d := range f.syntax.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && branches[d] != "" {
			at := f.offset(d.Body.Lbrace) + 1
			out.WriteString(f.text[last:at] + " if planted != 0 { switch planted { " + branches[d] + "} };")
			last = at
		}
	}
	out.WriteString(f.text[last:])
	line := 1 + strings.Count(f.text, "\n")
	for _, c := range f.copies {
		lines = append(lines, line+1)
		out.WriteString("\n" + c.text + "\n")
		line += 2 + strings.Count(c.text, "\n")
	}
	return out.String(), lines
}

// copiesAt returns the numbers of the mutations whose copies have those lines of the written text. Lines of the
// original have none.
func (f *combinedFile) copiesAt(at ...int) (numbers []int) {
	_, lines := f.write()
	for _, line := range at {
		i, found := slices.BinarySearch(lines, line)
		if !found {
			i--
		}
		if i >= 0 && !slices.Contains(numbers, f.copies[i].number) {
			numbers = append(numbers, f.copies[i].number)
		}
	}
	return numbers
}
