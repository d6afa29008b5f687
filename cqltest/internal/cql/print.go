// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"strconv"
	"strings"
)

// Expressions, names and types as CQL, for names of columns and errors. The text of a parsed tree parses to an equal
// tree.

// writer builds a text.
type writer struct{ strings.Builder }

func (w *writer) words(words ...string) {
	for _, word := range words {
		w.WriteString(word)
	}
}

// list writes n items separated by commas.
func (w *writer) list(n int, item func(i int)) { w.joined(n, ", ", item) }

func (w *writer) joined(n int, separator string, item func(i int)) {
	for i := range n {
		if i > 0 {
			w.WriteString(separator)
		}
		item(i)
	}
}

// QuoteIdent returns a name as CQL, quoted unless it is in lower case and not a keyword.
func QuoteIdent(name string) string {
	if isPlainName(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// isPlainName reports whether a name needs no quotes.
func isPlainName(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' || keywordOf(s).class != 0 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c != '_' && !isDigit(c) && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != "true" && s != "false" && s != "nan" && s != "infinity"
}

// QuoteString returns a string as a CQL literal.
func QuoteString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// String returns keyspace.name as CQL, quoted where necessary.
func (n Name) String() string {
	if n.Keyspace == "" {
		return QuoteIdent(n.Name)
	}
	return QuoteIdent(n.Keyspace) + "." + QuoteIdent(n.Name)
}

func (w *writer) exprs(list []Expr) { w.list(len(list), func(i int) { w.expr(list[i]) }) }

// expr writes one expression. Operators need no parentheses: in a parsed tree parentheses are tuples.
func (w *writer) expr(e Expr) {
	switch e := e.(type) {
	case *Literal:
		if e.Kind == StringLiteral {
			w.WriteString(QuoteString(e.Text))
			return
		}
		w.WriteString(e.Text)
	case *Marker:
		if e.Name == "" {
			w.WriteByte('?')
			return
		}
		w.words(":", QuoteIdent(e.Name))
	case *ListLiteral:
		w.WriteByte('[')
		w.exprs(e.Elems)
		w.WriteByte(']')
	case *SetLiteral:
		w.WriteByte('{')
		w.exprs(e.Elems)
		w.WriteByte('}')
	case *MapLiteral:
		w.WriteByte('{')
		w.list(len(e.Entries), func(i int) {
			w.expr(e.Entries[i].Key)
			w.WriteString(": ")
			w.expr(e.Entries[i].Value)
		})
		w.WriteByte('}')
	case *UDTLiteral:
		w.WriteByte('{')
		w.list(len(e.Fields), func(i int) {
			w.words(QuoteIdent(e.Fields[i].Name), ": ")
			w.expr(e.Fields[i].Value)
		})
		w.WriteByte('}')
	case *TupleLiteral:
		w.WriteByte('(')
		w.exprs(e.Elems)
		w.WriteByte(')')
	case *TypeHint:
		w.WriteByte('(')
		w.typeName(e.Type)
		w.WriteString(") ")
		w.expr(e.Expr)
	case *Cast:
		w.WriteString("CAST(")
		w.expr(e.Expr)
		w.WriteString(" AS ")
		w.typeName(e.Type)
		w.WriteByte(')')
	case *Call:
		w.call(e)
	case *Binary:
		w.expr(e.Left)
		w.words(" ", string(rune(e.Op)), " ")
		w.expr(e.Right)
	case *Negate:
		w.WriteString("- ") // without the space "-1" is a number and "--" starts a comment
		w.expr(e.Expr)
	case *Column:
		w.WriteString(QuoteIdent(e.Name))
	case *Field:
		w.expr(e.Of)
		if _, ok := e.Of.(*Literal); ok {
			w.WriteByte(' ') // "1." is a number
		}
		w.words(".", QuoteIdent(e.Name))
	case *Element:
		w.expr(e.Of)
		w.WriteByte('[')
		w.expr(e.Index)
		w.WriteByte(']')
	}
}

// call writes a function call. Functions whose names are keywords, or types, must not be quoted.
func (w *writer) call(c *Call) {
	if c.Name.Keyspace != "" {
		w.words(QuoteIdent(c.Name.Keyspace), ".")
	}
	switch name := c.Name.Name; {
	case name == "token", name == "count", name == "writetime", name == "maxwritetime", name == "ttl", isNativeType(name):
		w.WriteString(name)
	default:
		w.WriteString(QuoteIdent(name))
	}
	w.WriteByte('(')
	if c.Star {
		w.WriteByte('*')
	}
	w.exprs(c.Args)
	w.WriteByte(')')
}

// isNativeType reports whether a name names a native type: uuid() is a function, too.
func isNativeType(name string) bool {
	return keywordOf(name).class == native && name == strings.ToLower(name)
}

// typeWords are the names of the types with arguments, by TypeKind.
var typeWords = [...]string{
	ListType: "list", SetType: "set", MapType: "map", TupleType: "tuple", VectorType: "vector", FrozenType: "frozen",
	CustomType: "",
}

// typeName writes a type with its parameters.
func (w *writer) typeName(t *TypeName) {
	switch t.Kind {
	case NativeType:
		w.WriteString(t.Name)
	case UserType:
		w.userType(Name{t.Keyspace, t.Name})
	case CustomType:
		w.WriteString(QuoteString(t.Name))
	default:
		w.words(typeWords[t.Kind], "<")
		w.list(len(t.Args), func(i int) { w.typeName(t.Args[i]) })
		if t.Kind == VectorType {
			w.words(", ", strconv.Itoa(t.Dim))
		}
		w.WriteByte('>')
	}
}

// userType writes the name of a user-defined type. It also quotes names that are only reserved.
func (w *writer) userType(n Name) {
	if n.Keyspace != "" {
		w.words(QuoteIdent(n.Keyspace), ".")
	}
	if reservedTypeNames[n.Name] {
		w.words(`"`, n.Name, `"`)
		return
	}
	w.WriteString(QuoteIdent(n.Name))
}

// operatorWords are the operators in CQL, by Operator.
var operatorWords = [...]string{
	Eq: "=", Lt: "<", Lte: "<=", Gt: ">", Gte: ">=", Neq: "!=", In: "IN", Contains: "CONTAINS",
	ContainsKey: "CONTAINS KEY", Like: "LIKE", IsNotNull: "IS NOT NULL", IsNull: "IS NULL",
}

// String returns the operator in CQL.
func (o Operator) String() string { return operatorWords[o] }

func exprString(e Expr) string {
	var w writer
	w.expr(e)
	return w.String()
}

func (e *Literal) String() string      { return exprString(e) }
func (e *Marker) String() string       { return exprString(e) }
func (e *ListLiteral) String() string  { return exprString(e) }
func (e *SetLiteral) String() string   { return exprString(e) }
func (e *MapLiteral) String() string   { return exprString(e) }
func (e *UDTLiteral) String() string   { return exprString(e) }
func (e *TupleLiteral) String() string { return exprString(e) }
func (e *TypeHint) String() string     { return exprString(e) }
func (e *Cast) String() string         { return exprString(e) }
func (e *Call) String() string         { return exprString(e) }
func (e *Binary) String() string       { return exprString(e) }
func (e *Negate) String() string       { return exprString(e) }
func (e *Column) String() string       { return exprString(e) }
func (e *Field) String() string        { return exprString(e) }
func (e *Element) String() string      { return exprString(e) }

// String returns the type as CQL.
func (t *TypeName) String() string {
	var w writer
	w.typeName(t)
	return w.String()
}
