// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/types"
	"regexp"
	"strings"
)

// Questions about the syntax tree.

// skips reports whether a node has no sites.
func (f *finder) skips(n, parent ast.Node) bool {
	switch n := n.(type) {
	case *ast.ExprStmt:
		return f.isQuiet(n.X)
	case *ast.DeferStmt:
		return f.isQuiet(n.Call)
	case *ast.CallExpr:
		return f.isQuiet(n) || f.isErrorText(n)
	case *ast.ArrayType:
		return true
	case *ast.IfStmt:
		return f.mentionsCap(n.Cond) && n.Else == nil // grows a buffer
	case ast.Expr:
		if call, ok := parent.(*ast.CallExpr); ok && f.isCapacity(call, n) {
			return true
		}
		value := f.info.Types[n]
		return value.Value != nil && value.Type.String() == "time.Duration" || f.mentionsCap(n) && isComparison(n)
	}
	return false
}

// quietCalls are calls without an effect that a test could see.
var quietCalls = regexp.MustCompile(`^(panic|runtime\.(KeepAlive|Gosched|GC)|slices\.Grow|.*\.Grow)$`)

// isQuiet reports whether an expression is a call that panics, logs, or only saves time.
func (f *finder) isQuiet(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	if quietCalls.MatchString(f.text(call.Fun)) {
		return true
	}
	object := f.callee(call)
	return object != nil && object.Pkg() != nil && (strings.HasPrefix(object.Pkg().Path(), "log") ||
		strings.HasSuffix(object.Pkg().Path(), "/quietlog"))
}

// isErrorText reports whether a call formats an error.
func (f *finder) isErrorText(call *ast.CallExpr) bool {
	object := f.callee(call)
	if object == nil || object.Pkg() == nil {
		return false
	}
	if name := object.Pkg().Name() + "." + object.Name(); name == "errors.New" || name == "fmt.Errorf" {
		return true
	}
	signature, ok := object.Type().(*types.Signature)
	return ok && signature.Variadic() && signature.Results().Len() == 1 &&
		implementsError(signature.Results().At(0).Type())
}

// callee returns the function that a call names, nil if none.
func (f *finder) callee(call *ast.CallExpr) types.Object {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.info.Uses[fun]
	case *ast.SelectorExpr:
		return f.info.Uses[fun.Sel]
	}
	return nil
}

// isCapacity reports whether an argument is the capacity of a slice or of a pooled buffer, or the size of a map.
func (f *finder) isCapacity(call *ast.CallExpr, argument ast.Expr) bool {
	switch f.text(call.Fun) {
	case "getBuffer":
		return true
	case "make":
	default:
		return false
	}
	_, isMap := f.info.TypeOf(call).Underlying().(*types.Map)
	return len(call.Args) == 3 && argument == call.Args[2] || isMap && len(call.Args) == 2 && argument == call.Args[1]
}

func (f *finder) mentionsCap(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && f.text(call.Fun) == "cap"
		return true
	})
	return found
}

func isComparison(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	return ok && negated[b.Op] != 0
}

func isString(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

var errorType = types.Universe.Lookup("error").Type()

func isError(t types.Type) bool { return types.Identical(t, errorType) }

func implementsError(t types.Type) bool {
	i := errorType.Underlying().(*types.Interface)
	return types.Implements(t, i) || types.Implements(types.NewPointer(t), i)
}

func isReturn(n ast.Node) bool {
	_, ok := n.(*ast.ReturnStmt)
	return ok
}

func allBlank(list []ast.Expr) bool {
	for _, e := range list {
		if id, ok := e.(*ast.Ident); !ok || id.Name != "_" {
			return false
		}
	}
	return true
}

// inBlock reports whether a statement is one of a list: it is not the init or post statement of another one.
func inBlock(n ast.Stmt, parent ast.Node) bool {
	switch parent := parent.(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	case *ast.CommClause:
		return parent.Comm != n
	}
	return false
}

// panics reports whether statements only panic.
func panics(list []ast.Stmt) bool {
	if len(list) != 1 {
		return false
	}
	s, ok := list[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := s.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := call.Fun.(*ast.Ident)
	return ok && name.Name == "panic"
}

// leaves reports whether a statement returns, breaks or continues.
func leaves(n ast.Stmt) bool {
	switch n.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

// breakable returns the innermost statement that a break leaves.
func breakable(stack []ast.Node) ast.Node {
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			return n
		case *ast.FuncLit:
			return nil
		}
	}
	return nil
}

func isLoop(n ast.Node) bool {
	switch n.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

// resultsOf returns the results of the innermost function.
func resultsOf(d *ast.FuncDecl, stack []ast.Node) *ast.FieldList {
	results := d.Type.Results
	for _, n := range stack {
		if inner, ok := n.(*ast.FuncLit); ok {
			results = inner.Type.Results
		}
	}
	if results == nil {
		return &ast.FieldList{}
	}
	return results
}

// functionName returns the name of a function with its receiver: "(*conn).read".
func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t, star := d.Recv.List[0].Type, ""
	if s, ok := t.(*ast.StarExpr); ok {
		t, star = s.X, "*"
	}
	switch generic := t.(type) {
	case *ast.IndexExpr:
		t = generic.X
	case *ast.IndexListExpr:
		t = generic.X
	}
	name := types.ExprString(t)
	if star != "" {
		name = "(*" + name + ")"
	}
	return name + "." + d.Name.Name
}

var spaces = regexp.MustCompile(`\s+`)

// maxShown is the length of a printed text.
const maxShown = 120

// oneLine returns a text as printed on a line.
func oneLine(text string) string {
	text = spaces.ReplaceAllString(strings.TrimSpace(text), " ")
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown-1]) + "…"
	}
	return text
}
