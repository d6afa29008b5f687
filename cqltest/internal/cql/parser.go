// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"fmt"
	"slices"
	"strings"
)

// The core of the parser: tokens, names, markers, errors, and the choice of the statement. It is a recursive descent
// along the rules of src/antlr/Parser.g of Cassandra 5.0, and of cql3/Cql.g of ScyllaDB for its extensions. The files
// parse_*.go have the rules.

// maxDepth bounds the nesting of expressions and types and the length of chains of operators, because the stack grows
// with them.
const maxDepth = 200

// Parse parses one statement, optionally followed by semicolons. It accepts ScyllaDB's extensions BYPASS CACHE and
// USING TIMEOUT. Errors are of type *SyntaxError.
func Parse(text string) (Statement, error) { return parse(text, true) }

// ParseCassandra parses as Parse does; the extensions of ScyllaDB are syntax errors, as in Cassandra.
func ParseCassandra(text string) (Statement, error) { return parse(text, false) }

// parse parses one statement, which semicolons may follow.
func parse(text string, scylla bool) (Statement, error) {
	p := newParser(text)
	p.scylla = scylla
	st := p.statement()
	for p.accept(";") {
	}
	p.end()
	if err := p.fault(); err != nil {
		return nil, err
	}
	return st, nil
}

// ParseType parses one type. Errors are of type *SyntaxError.
func ParseType(text string) (*TypeName, error) {
	p := newParser(text)
	t := p.typeName()
	p.end()
	if err := p.fault(); err != nil {
		return nil, err
	}
	return t, nil
}

// parser reads tokens. After its first error it sees the end of the text, where nothing matches, so that all rules
// return soon. Their results are then invalid.
type parser struct {
	text    string
	lex     lexer
	tokens  []token // read so far; tokenEOF or tokenBad is the last one
	at      int     // index in tokens
	scylla  bool
	depth   int
	trying  bool // do not set err
	failed  bool
	err     *SyntaxError
	markers []*Marker
}

func newParser(text string) *parser { return &parser{text: text, lex: lexer{text: text}} }

// fault returns the syntax error of the text, or nil.
func (p *parser) fault() error {
	if !p.failed {
		return nil
	}
	return p.err
}

// end expects the end of the text.
func (p *parser) end() {
	if p.peek().kind != tokenEOF {
		p.mismatched("EOF")
	}
}

func (p *parser) peek() token { return p.peekAt(0) }

// peekAt returns the n-th token from here, or the last one.
func (p *parser) peekAt(n int) token {
	if p.failed {
		return token{kind: tokenEOF, start: len(p.text), end: len(p.text)}
	}
	for len(p.tokens) <= p.at+n {
		if last := len(p.tokens) - 1; last >= 0 && p.tokens[last].isLast() {
			return p.tokens[last]
		}
		if t := p.lex.next(); t.kind != tokenSpace {
			p.tokens = append(p.tokens, t)
		}
	}
	return p.tokens[p.at+n]
}

// next consumes a token, except the last one.
func (p *parser) next() token {
	t := p.peek()
	if !t.isLast() {
		p.at++
	}
	return t
}

// is reports whether the keyword or operator is next.
func (p *parser) is(word string) bool { return p.peek().word == word }

// isAt reports whether the n-th token from here is the keyword or operator.
func (p *parser) isAt(n int, word string) bool { return p.peekAt(n).word == word }

// are reports whether the keywords and operators are next.
func (p *parser) are(words ...string) bool {
	for i, word := range words {
		if !p.isAt(i, word) {
			return false
		}
	}
	return true
}

// accept consumes the keywords and operators if they are next, and reports whether they were.
func (p *parser) accept(words ...string) bool {
	if !p.are(words...) {
		return false
	}
	p.at += len(words)
	return true
}

// isPlain reports whether the n-th token from here is the unquoted name word, a keyword of ScyllaDB.
func (p *parser) isPlain(n int, word string) bool {
	t := p.peekAt(n)
	return p.scylla && t.kind == tokenIdent && strings.EqualFold(p.source(t), word)
}

// expect consumes the keywords and operators, or fails.
func (p *parser) expect(words ...string) {
	for _, word := range words {
		if p.accept(word) {
			continue
		}
		switch {
		case !isLetter(word[0]):
			p.mismatched("'" + word + "'")
		case word == "TABLE":
			p.mismatched("K_COLUMNFAMILY")
		default:
			p.mismatched("K_" + word)
		}
		return
	}
}

// mismatched fails because another token was expected.
func (p *parser) mismatched(want string) {
	t := p.peek()
	p.fail(t, t, "mismatched input "+p.display(t)+" expecting "+want)
}

// noViable fails because the next token starts no alternative.
func (p *parser) noViable() { p.noViableAt(p.peek(), p.peek()) }

// noViableAt fails because t fits no alternative of a choice that started at mark.
func (p *parser) noViableAt(mark, t token) {
	p.fail(mark, t, "no viable alternative at input "+p.display(t))
}

// fail stops the parser with a message for the token t. The error shows the text around mark, the same token or an
// earlier one.
func (p *parser) fail(mark, t token, message string) {
	if p.failed {
		return
	}
	p.failed = true
	if p.trying {
		return
	}
	switch t.kind {
	case tokenEOF:
		p.err = &SyntaxError{Line: 0, Column: -1, Message: message}
	case tokenBad:
		p.err = &SyntaxError{Message: p.lex.bad}
		p.err.place(p.text, p.lex.from)
	default:
		p.err = &SyntaxError{Message: message + snippet(p.text, mark, t)}
		p.err.place(p.text, t.start)
	}
}

// failf stops the parser with a message without a position.
func (p *parser) failf(format string, args ...any) {
	if p.failed {
		return
	}
	p.failed = true
	if !p.trying {
		p.err = &SyntaxError{Message: fmt.Sprintf(format, args...)}
	}
}

// try runs a rule that makes no markers. If ok is false, it consumes nothing.
func (p *parser) try(rule func() bool) (ok bool) {
	at, trying := p.at, p.trying
	if p.failed {
		return false
	}
	p.trying = true
	ok = rule() && !p.failed
	p.trying, p.failed = trying, false
	if !ok {
		p.at = at
	}
	return ok
}

// enter enters one level of nesting. Callers leave it with leave.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.tooDeep()
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) tooDeep() {
	p.fail(p.peek(), p.peek(), fmt.Sprintf("expression nested too deeply: more than %d levels", maxDepth))
}

// source returns the text of a token.
func (p *parser) source(t token) string { return p.text[t.start:t.end] }

// value returns the content of a token: its source without quotes.
func (p *parser) value(t token) string {
	s := p.source(t)
	switch {
	case t.kind == tokenString && s[0] == '$':
		return s[2 : len(s)-2]
	case t.kind == tokenString:
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	case t.kind == tokenQuotedName, t.kind == tokenEmptyName:
		return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`)
	}
	return s
}

// display returns a token as messages show it.
func (p *parser) display(t token) string {
	if t.kind == tokenEOF {
		return "'<EOF>'"
	}
	s := strings.ToValidUTF8(p.value(t), "\uFFFD")
	return "'" + strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + "'"
}

// isName reports whether a token can be the name of a column, table or keyspace.
func isName(t token) bool {
	switch t.kind {
	case tokenIdent, tokenQuotedName:
		return true
	case tokenKeyword:
		return keywords[t.word].class != reserved
	}
	return false
}

// isColumn is isName for columns of statements that change or read rows, where the empty name is valid, too.
func isColumn(t token) bool { return isName(t) || t.kind == tokenEmptyName }

// nameOf returns the name of a token, in lower case unless it was quoted.
func (p *parser) nameOf(t token) string {
	if t.kind == tokenQuotedName || t.kind == tokenEmptyName {
		return p.value(t)
	}
	return strings.ToLower(p.source(t))
}

// name parses a name.
func (p *parser) name() string {
	if !isName(p.peek()) {
		p.noViable()
		return ""
	}
	return p.nameOf(p.next())
}

// column parses the name of a column.
func (p *parser) column() string {
	if p.peek().kind == tokenEmptyName {
		p.next()
		return ""
	}
	return p.name()
}

// keyspaceName parses the name of a keyspace.
func (p *parser) keyspaceName() string { return p.schemaName("keyspace") }

// schemaName parses the name of a keyspace or table. A marker has its own error, because it is a common mistake.
func (p *parser) schemaName(what string) string {
	if p.is("?") {
		p.failf("Bind variables cannot be used for %s names", what)
		return ""
	}
	return p.name()
}

// qualified parses a name with or without a keyspace.
func (p *parser) qualified(what string) Name {
	if !p.isAt(1, ".") {
		return Name{Name: p.schemaName(what)}
	}
	ks := p.keyspaceName()
	p.expect(".")
	return Name{Keyspace: ks, Name: p.schemaName(what)}
}

func (p *parser) tableName() Name { return p.qualified("table") }

// list parses items with commas between them.
func list[T any](p *parser, item func() T) []T { return joined(p, ",", item) }

// joined parses items with a keyword or operator between them.
func joined[T any](p *parser, separator string, item func() T) []T {
	items := []T{item()}
	for p.accept(separator) {
		items = append(items, item())
	}
	return items
}

// marker parses a bind marker; nil means that none is next.
func (p *parser) marker() *Marker {
	name := ""
	switch {
	case p.accept("?"):
	case p.accept(":"):
		name = p.name()
	default:
		return nil
	}
	m := &Marker{Index: len(p.markers), Name: name}
	p.markers = append(p.markers, m)
	return m
}

// since returns the markers from the n-th one.
func (p *parser) since(n int) bound {
	if n == len(p.markers) {
		return bound{}
	}
	return bound{slices.Clip(p.markers[n:])}
}

// statement parses the rule cqlStatement.
func (p *parser) statement() Statement {
	switch p.peek().word {
	case "SELECT":
		return p.selectStatement()
	case "INSERT", "UPDATE", "DELETE":
		return p.modification()
	case "BEGIN":
		return p.batch()
	case "USE":
		p.next()
		return &Use{Keyspace: p.keyspaceName()}
	case "TRUNCATE":
		return p.truncate()
	case "CREATE", "ALTER", "DROP":
		return p.schemaStatement()
	case "DESC", "DESCRIBE":
		return p.describe()
	case "GRANT", "REVOKE", "LIST":
		if p.are("LIST", "ROLES") {
			return p.listRoles()
		}
		return p.unsupported(p.peek().word, 1)
	case "ADD":
		if p.isAt(1, "IDENTITY") {
			return p.unsupported("ADD IDENTITY", 2)
		}
	}
	if p.isPlain(0, "ATTACH") || p.isPlain(0, "DETACH") || p.isPlain(0, "PRUNE") {
		return p.unsupported(strings.ToUpper(p.source(p.peek())), 1)
	}
	p.noViable()
	return nil
}

// unsupported consumes a whole statement that its first n tokens identify.
func (p *parser) unsupported(what string, n int) Statement {
	start := p.peek().start
	p.at += n
	if p.is(";") {
		p.noViable()
	}
	for !p.is(";") && p.peek().kind != tokenEOF && p.peek().kind != tokenBad {
		p.next()
		n = 0
	}
	if n != 0 || p.peek().kind == tokenBad {
		p.noViable()
		return nil
	}
	return &Unsupported{What: what, Text: p.text[start:p.tokens[p.at-1].end]}
}

// truncate parses the rule truncateStatement.
func (p *parser) truncate() Statement {
	p.expect("TRUNCATE")
	if !p.accept("TABLE") {
		p.accept("COLUMNFAMILY")
	}
	st := &Truncate{Table: p.tableName()}
	st.Timeout = p.timeoutClause()
	st.bound = p.since(0)
	return st
}
