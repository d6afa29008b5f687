// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// Conditions on a use: what surrounds the name in the program.

// A use is an identifier of a program that stands for a name of an API.
type use struct {
	info *types.Info
	path []ast.Node // from the file to the identifier
}

// conditions report whether what the rule of a name describes can happen at a use. Other rules apply to each use.
var conditions = map[string]func(use) bool{
	"ClusterConfig.ProtoVersion": belowFour,
	"SslOptions":                 unverified,
	"Iter.Scan":                  scansOuterBytes,
	"Scanner.Scan":               scansOuterBytes,
}

// parent returns the n-th node around the identifier.
func (u use) parent(n int) ast.Node {
	if i := len(u.path) - 1 - n; i >= 0 {
		return u.path[i]
	}
	return nil
}

// value returns the expression that the program stores in the field: of a literal's element or of an assignment.
func (u use) value() ast.Expr {
	if pair, ok := u.parent(1).(*ast.KeyValueExpr); ok && pair.Key == u.parent(0) {
		return pair.Value
	}
	assign, ok := u.parent(2).(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != len(assign.Rhs) {
		return nil
	}
	for i, target := range assign.Lhs {
		if target == u.parent(1) {
			return assign.Rhs[i]
		}
	}
	return nil
}

// belowFour reports whether the program stores a version of the protocol that may be below 4.
func belowFour(u use) bool {
	value := u.value()
	if value == nil {
		return false
	}
	version, known := constant.Int64Val(constant.ToInt(orUnknown(u.info.Types[value].Value)))
	return known && version > 0 && version < 4
}

// orUnknown returns the value, or one that is no number for an expression that is not constant.
func orUnknown(value constant.Value) constant.Value {
	if value == nil {
		return constant.MakeUnknown()
	}
	return value
}

// unverified reports whether the use is a literal of SslOptions with neither a Config nor EnableHostVerification.
func unverified(u use) bool {
	n := 1
	if _, ok := u.parent(n).(*ast.SelectorExpr); ok {
		n++
	}
	literal, ok := u.parent(n).(*ast.CompositeLit)
	if !ok || literal.Type != u.parent(n-1) {
		return false
	}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return false // all fields are set
		}
		switch key, ok := pair.Key.(*ast.Ident); {
		case ok && key.Name == "Config":
			return false
		case ok && key.Name == "EnableHostVerification":
			value := orUnknown(u.info.Types[pair.Value].Value)
			return value.Kind() != constant.Bool || !constant.BoolVal(value)
		}
	}
	return true
}

// scansOuterBytes reports whether a loop scans rows into a []byte that is declared outside of the loop.
func scansOuterBytes(u use) bool {
	call, ok := u.parent(2).(*ast.CallExpr)
	if !ok || call.Fun != u.parent(1) {
		return false
	}
	var loop ast.Node
	for _, n := range u.path {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			loop = n
		case *ast.FuncLit:
			loop = nil
		}
	}
	if loop == nil {
		return false
	}
	for _, arg := range call.Args {
		address, ok := arg.(*ast.UnaryExpr)
		if !ok || address.Op != token.AND {
			continue
		}
		name, ok := address.X.(*ast.Ident)
		if !ok {
			continue
		}
		variable := u.info.Uses[name]
		if variable == nil || variable.Pos() >= loop.Pos() && variable.Pos() < loop.End() {
			continue
		}
		slice, ok := variable.Type().Underlying().(*types.Slice)
		if ok && types.Identical(slice.Elem(), types.Typ[types.Byte]) {
			return true
		}
	}
	return false
}
