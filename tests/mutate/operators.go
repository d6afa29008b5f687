// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// Mutation operators: the changes of a syntax tree. Changes that no test can see are left out where that is cheap to
// decide: capacities, texts of errors and logs, panics, constant durations.

// A site is a place of the syntax tree with one change.
type site struct {
	dir        string // of the package, relative to the root of the module
	file       *combinedFile
	original   *ast.FuncDecl
	function   string
	operator   string
	old, new   string // as printed, on one line
	from, to   int    // offsets of the text that is printed
	nth        int    // from 2 for equal changes of a function
	begin, end int    // offsets of the text that is replaced
	text       string // the text that replaces
}

// A finder finds the sites of a function.
type finder struct {
	dir      string
	file     *combinedFile
	info     *types.Info
	pkg      *types.Package
	function *ast.FuncDecl
	sites    []*site
}

// find appends the sites of the function.
func (f *finder) find() {
	ast.PreorderStack(f.function.Body, nil, func(n ast.Node, stack []ast.Node) bool {
		parent := ast.Node(f.function)
		if len(stack) > 0 {
			parent = stack[len(stack)-1]
		}
		if f.skips(n, parent) {
			return false
		}
		f.statement(n, parent, stack)
		f.expression(n, parent)
		return true
	})
}

// statement finds changes of statements.
func (f *finder) statement(n, parent ast.Node, stack []ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		f.condition(n)
	case *ast.ForStmt:
		if n.Cond != nil {
			f.wrap("condition", n.Cond, "false && (", ")", "false")
		}
		f.once(n, n.Body)
	case *ast.RangeStmt:
		f.once(n, n.Body)
	case *ast.BranchStmt:
		f.branch(n, stack)
	case *ast.ReturnStmt:
		f.results(n, stack)
	case *ast.CaseClause:
		f.clause(n, n.List, n.Body)
	case *ast.CommClause:
		f.clause(n, nil, n.Body)
	case *ast.IncDecStmt:
		if inBlock(n, parent) {
			f.change("arithmetic", n, n.TokPos, n.Tok.String(), map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok])
		}
		f.drop(n, parent)
	case *ast.AssignStmt:
		if other := arithmetic[assigned[n.Tok]]; other != 0 && !isString(f.info.TypeOf(n.Lhs[0])) {
			f.change("arithmetic", n, n.TokPos, n.Tok.String(), other.String()+"=")
		}
		if n.Tok != token.DEFINE && !allBlank(n.Lhs) {
			f.drop(n, parent)
		}
	case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
		f.drop(n.(ast.Stmt), parent)
	}
}

// expression finds changes of expressions.
func (f *finder) expression(n, parent ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.binary(n, parent)
	case *ast.UnaryExpr:
		if n.Op == token.NOT || n.Op == token.SUB {
			f.replace("negate", n, f.text(n.X), f.text(n.X))
		}
	case *ast.CallExpr:
		f.arguments(n)
	case *ast.SliceExpr:
		f.slice(n)
	case *ast.CompositeLit:
		f.fields(n)
	case *ast.BasicLit:
		if n.Kind == token.INT {
			f.number(n, parent)
		}
	case *ast.SelectorExpr:
		if c, ok := f.info.Uses[n.Sel].(*types.Const); ok && c.Pkg().Path() == "math" {
			f.number(n, parent)
		}
	case *ast.Ident:
		c, ok := f.info.Uses[n].(*types.Const)
		_, basic := f.info.TypeOf(n).(*types.Basic)
		switch {
		case !ok || !basic:
		case c.Pkg() == f.pkg && c.Val().Kind() == constant.Int:
			f.number(n, parent)
		case c.Pkg() == nil && c.Val().Kind() == constant.Bool && !isReturn(parent):
			f.replace("boolean", n, map[string]string{"true": "false", "false": "true"}[n.Name], "")
		}
	}
}

var (
	negated = map[token.Token]token.Token{
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ,
		token.LEQ: token.GTR,
	}
	bounds = map[token.Token]token.Token{
		token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	}
	arithmetic = map[token.Token]token.Token{
		token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
		token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND, token.AND_NOT: token.AND,
		token.SHL: token.SHR, token.SHR: token.SHL,
	}
	assigned = map[token.Token]token.Token{
		token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO,
		token.REM_ASSIGN: token.REM, token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR, token.XOR_ASSIGN: token.XOR,
		token.SHL_ASSIGN: token.SHL, token.SHR_ASSIGN: token.SHR, token.AND_NOT_ASSIGN: token.AND_NOT,
	}
)

// binary finds changes of an operator. The condition of an if statement is not negated: a test that notices that it is
// always true or always false notices that too.
func (f *finder) binary(n *ast.BinaryExpr, parent ast.Node) {
	_, isIf := parent.(*ast.IfStmt)
	if other := negated[n.Op]; other != 0 && !isIf {
		f.change("negate", n, n.OpPos, n.Op.String(), other.String())
	}
	if other := bounds[n.Op]; other != 0 {
		f.change("bound", n, n.OpPos, n.Op.String(), other.String())
	}
	if other := arithmetic[n.Op]; other != 0 && !isString(f.info.TypeOf(n)) {
		f.change("arithmetic", n, n.OpPos, n.Op.String(), other.String())
	}
	left, right := f.text(n.X), f.text(n.Y)
	switch n.Op {
	case token.LAND:
		f.replace("side", n, fmt.Sprintf("(true || %s) && (%s)", left, right), right)
		f.replace("side", n, fmt.Sprintf("(%s) && (true || %s)", left, right), left)
	case token.LOR:
		f.replace("side", n, fmt.Sprintf("false && (%s) || %s", left, right), right)
		f.replace("side", n, fmt.Sprintf("%s || false && (%s)", left, right), left)
	}
}

// condition makes the condition of an if statement true, and false.
func (f *finder) condition(n *ast.IfStmt) {
	f.wrap("condition", n.Cond, "true || (", ")", "true")
	if !panics(n.Body.List) {
		f.wrap("condition", n.Cond, "false && (", ")", "false")
	}
}

// once ends a loop after its first iteration.
func (f *finder) once(n ast.Stmt, body *ast.BlockStmt) {
	if count := len(body.List); count > 0 && !leaves(body.List[count-1]) {
		head := oneLine(f.file.between(n.Pos(), body.Lbrace))
		f.add("once", span{n.Pos(), body.Lbrace}, span{body.Rbrace, body.End()}, "; break }", "one iteration of "+head)
	}
}

// branch exchanges break and continue. A break that leaves a switch or select stays.
func (f *finder) branch(n *ast.BranchStmt, stack []ast.Node) {
	other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]
	if other == "" || n.Tok == token.BREAK && n.Label == nil && !isLoop(breakable(stack)) {
		return
	}
	f.change("branch", n, n.TokPos, n.Tok.String(), other)
}

// results exchanges each result for its zero value: a returned error for nil. Results beside an error stay.
func (f *finder) results(n *ast.ReturnStmt, stack []ast.Node) {
	var list []ast.Expr // types of the results
	for _, field := range resultsOf(f.function, stack).List {
		for range max(len(field.Names), 1) {
			list = append(list, field.Type)
		}
	}
	if len(n.Results) != len(list) {
		return
	}
	failed := false
	for i := len(list) - 1; i >= 0; i-- {
		e, t := n.Results[i], f.info.TypeOf(list[i])
		operator, text := "result", f.zero(e, t, f.text(list[i]))
		if isError(t) {
			operator = "error"
			failed = failed || text != ""
		} else if failed {
			continue
		}
		if text != "" {
			f.within(operator, n, spanOf(e), text)
		}
	}
}

// zero returns the zero value of type t, whose text is given, the opposite for a bool, and "" if e has that value.
func (f *finder) zero(e ast.Expr, t types.Type, typeText string) string {
	old := f.text(e)
	value := f.info.Types[e].Value
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0 && value != nil:
			return fmt.Sprint(!constant.BoolVal(value))
		case u.Info()&types.IsBoolean != 0:
			return "!(" + old + ")"
		case u.Info()&types.IsString != 0 && (value == nil || constant.StringVal(value) != ""):
			return `""`
		case u.Info()&types.IsNumeric != 0 && (value == nil || constant.Sign(value) != 0):
			return "0"
		}
		return ""
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		if _, parameter := t.(*types.TypeParam); !parameter {
			if old == "nil" {
				return ""
			}
			return "nil"
		}
	}
	if strings.HasSuffix(old, "{}") || strings.HasPrefix(old, "*new(") {
		return ""
	}
	return "*new(" + typeText + ")"
}

// clause drops a clause of a switch or select, and each one of several expressions of a case.
func (f *finder) clause(n ast.Stmt, list []ast.Expr, body []ast.Stmt) {
	if panics(body) {
		return
	}
	head, _, _ := strings.Cut(f.text(n), "\n")
	shown := span{n.Pos(), n.Pos() + token.Pos(len(head))}
	f.add("case", shown, spanOf(n), "", "")
	for i, e := range list {
		if len(list) == 1 {
			break
		}
		begin, end := e.Pos(), e.End()
		if i == 0 {
			end = list[1].Pos()
		} else {
			begin = list[i-1].End()
		}
		rest := strings.TrimPrefix(head, f.file.between(n.Pos(), end))
		f.add("case", shown, span{begin, end}, "", f.file.between(n.Pos(), begin)+rest)
	}
}

// drop removes a statement. The statement stays in the text, so that its variables are used.
func (f *finder) drop(n ast.Stmt, parent ast.Node) {
	if inBlock(n, parent) {
		f.wrap("drop", n, "if false { ", " }", "")
	}
}

// arguments exchanges neighboring arguments of one type.
func (f *finder) arguments(n *ast.CallExpr) {
	signature, ok := f.info.TypeOf(n.Fun).(*types.Signature)
	if !ok || symmetric.MatchString(f.text(n.Fun)) || f.text(n.Fun) == "make" {
		return
	}
	for i := range len(n.Args) - 1 {
		a, b := n.Args[i], n.Args[i+1]
		if signature.Variadic() && i+1 >= signature.Params().Len()-1 || f.text(a) == f.text(b) ||
			!types.Identical(f.info.TypeOf(a), f.info.TypeOf(b)) {
			continue
		}
		f.within("swap", n, span{a.Pos(), b.End()}, f.text(b)+", "+f.text(a))
	}
}

// symmetric are functions for which the order of arguments does not matter.
var symmetric = regexp.MustCompile(`^(min|max|(bytes|slices|strings|maps|reflect|math|types)\.(Equal|EqualFold|DeepEqual|Max|Min))$`)

// slice drops a bound of a slice expression.
func (f *finder) slice(n *ast.SliceExpr) {
	if n.Low != nil && !f.isZero(n.Low) {
		f.replace("slice", n, f.file.between(n.Pos(), n.Low.Pos())+f.file.between(n.Low.End(), n.End()), "")
	}
	if n.High != nil && !n.Slice3 {
		f.replace("slice", n, f.file.between(n.Pos(), n.High.Pos())+f.file.between(n.High.End(), n.End()), "")
	}
}

// fields drops each field of a struct literal, except of errors, whose fields are for their texts.
func (f *finder) fields(n *ast.CompositeLit) {
	t := f.info.TypeOf(n)
	if _, ok := t.Underlying().(*types.Struct); !ok || implementsError(t) {
		return
	}
	for i, e := range n.Elts {
		field, ok := e.(*ast.KeyValueExpr)
		if !ok || f.isZero(field.Value) {
			continue
		}
		begin, end := e.Pos(), n.Rbrace
		if i+1 < len(n.Elts) {
			end = n.Elts[i+1].Pos()
		} else if i > 0 {
			begin = n.Elts[i-1].End()
		}
		f.add("field", spanOf(e), span{begin, end}, "", "")
	}
}

// number adds one to an integer constant, and subtracts one from it. The one that moves a bound is left to binary.
func (f *finder) number(n ast.Expr, parent ast.Node) {
	compared := token.ILLEGAL
	if b, ok := parent.(*ast.BinaryExpr); ok && b.Y == n {
		compared = b.Op
	}
	if compared != token.LSS && compared != token.GEQ {
		f.replace("constant", n, "("+f.text(n)+" + 1)", "")
	}
	if compared != token.GTR && compared != token.LEQ && !f.isZero(n) {
		f.replace("constant", n, "("+f.text(n)+" - 1)", "")
	}
}

func (f *finder) isZero(e ast.Expr) bool {
	v := f.info.Types[e].Value
	return f.text(e) == "nil" || v != nil && (v.Kind() == constant.Int && constant.Sign(v) == 0 ||
		v.Kind() == constant.Bool && !constant.BoolVal(v) || v.Kind() == constant.String && constant.StringVal(v) == "")
}

func (f *finder) text(n ast.Node) string {
	if n == nil {
		return ""
	}
	return f.file.between(n.Pos(), n.End())
}

// A span is a part of the source.
type span struct{ begin, end token.Pos }

func spanOf(n ast.Node) span { return span{n.Pos(), n.End()} }

// replace replaces an expression. shown is printed in place of an unlike text that compiles.
func (f *finder) replace(operator string, n ast.Node, text, shown string) {
	if shown == "" {
		shown = text
	}
	f.add(operator, spanOf(n), spanOf(n), text, shown)
}

// wrap puts text before and after a node.
func (f *finder) wrap(operator string, n ast.Node, before, after, shown string) {
	f.add(operator, spanOf(n), spanOf(n), before+f.text(n)+after, shown)
}

// change changes the token of a node.
func (f *finder) change(operator string, n ast.Node, at token.Pos, old, text string) {
	f.within(operator, n, span{at, at + token.Pos(len(old))}, text)
}

// within replaces a part of a node, which is printed as a whole.
func (f *finder) within(operator string, n ast.Node, part span, text string) {
	f.add(operator, spanOf(n), part, text, f.file.between(n.Pos(), part.begin)+text+f.file.between(part.end, n.End()))
}

// add adds the site that replaces a part of the source by text. In its place the span shown is printed, and newText.
func (f *finder) add(operator string, shown, part span, text, newText string) {
	s := &site{
		dir: f.dir, file: f.file, original: f.function, function: functionName(f.function), operator: operator,
		from: f.file.offset(shown.begin), to: f.file.offset(shown.end), new: oneLine(newText),
		begin: f.file.offset(part.begin), end: f.file.offset(part.end), text: text,
	}
	s.old = oneLine(f.file.text[s.from:s.to])
	f.sites = append(f.sites, s)
}
