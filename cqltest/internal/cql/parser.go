// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"fmt"
	"slices"
	"strings"
)

// This file holds the frame of the parser: tokens, names, markers, faults, and which statement a text is. It descends by the rules of
// src/antlr/Parser.g of Cassandra 5.0, and cql3/Cql.g of ScyllaDB where that has more; in the files parse_*.go.

// maxDepth bounds how deep expressions and types nest, and how many operators follow each other: the stack grows with it.
const maxDepth = 200

// Parse reads one statement, which semicolons may follow. It understands the additions of ScyllaDB, too: BYPASS CACHE and USING TIMEOUT.
// Its errors are of type *SyntaxError.
func Parse(text string) (Statement, error) { return parse(text, true) }

// ParseCassandra is Parse without the additions of ScyllaDB: they are syntax errors, as they are to Cassandra.
func ParseCassandra(text string) (Statement, error) { return parse(text, false) }

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

// ParseType reads one type. Its errors are of type *SyntaxError.
func ParseType(text string) (*TypeName, error) {
	p := newParser(text)
	t := p.typeName()
	p.end()
	if err := p.fault(); err != nil {
		return nil, err
	}
	return t, nil
}

// parser reads tokens. From its first fault on it sees the end of the text, where nothing matches any more, so that all rules return soon;
// what they return is of no use then.
type parser struct {
	text    string
	lex     lexer
	tokens  []token // read so far; a tokenEOF or tokenBad is the last
	at      int     // in tokens
	scylla  bool
	depth   int
	trying  bool // do not make err
	failed  bool
	err     *SyntaxError
	markers []*Marker
}

func newParser(text string) *parser { return &parser{text: text, lex: lexer{text: text}} }

// fault returns what is wrong with the text, or nil.
func (p *parser) fault() error {
	if !p.failed {
		return nil
	}
	return p.err
}

// end demands the end of the text.
func (p *parser) end() {
	if p.peek().kind != tokenEOF {
		p.mismatched("EOF")
	}
}

func (p *parser) peek() token { return p.peekAt(0) }

// peekAt returns the n-th token from here, or the last.
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

// next takes a token. The last one stays.
func (p *parser) next() token {
	t := p.peek()
	if !t.isLast() {
		p.at++
	}
	return t
}

// is says whether this keyword or operator is next.
func (p *parser) is(word string) bool { return p.peek().word == word }

// isAt says whether the n-th token from here is this keyword or operator.
func (p *parser) isAt(n int, word string) bool { return p.peekAt(n).word == word }

// are says whether these keywords and operators are next.
func (p *parser) are(words ...string) bool {
	for i, word := range words {
		if !p.isAt(i, word) {
			return false
		}
	}
	return true
}

// accept takes the keywords and operators if they are next.
func (p *parser) accept(words ...string) bool {
	if !p.are(words...) {
		return false
	}
	p.at += len(words)
	return true
}

// isPlain says whether the n-th token from here is a name that is a keyword of ScyllaDB, and this one.
func (p *parser) isPlain(n int, word string) bool {
	t := p.peekAt(n)
	return p.scylla && t.kind == tokenIdent && strings.EqualFold(p.source(t), word)
}

// expect demands the keywords and operators.
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

// mismatched is the fault that another token should be next.
func (p *parser) mismatched(want string) {
	t := p.peek()
	p.fail(t, t, "mismatched input "+p.display(t)+" expecting "+want)
}

// noViable is the fault that the next token is none of several.
func (p *parser) noViable() { p.noViableAt(p.peek(), p.peek()) }

// noViableAt is the fault that t is none of several, where the choice began at mark.
func (p *parser) noViableAt(mark, t token) {
	p.fail(mark, t, "no viable alternative at input "+p.display(t))
}

// fail ends the parser with a message for the token t. The text around mark, the same token or an earlier one, goes with it.
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

// failf ends the parser with a message of no place.
func (p *parser) failf(format string, args ...any) {
	if p.failed {
		return
	}
	p.failed = true
	if !p.trying {
		p.err = &SyntaxError{Message: fmt.Sprintf(format, args...)}
	}
}

// try runs a rule that makes no markers, and takes nothing if ok is false.
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

// enter goes one level deeper. Each call has its leave.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.tooDeep()
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) tooDeep() {
	p.fail(p.peek(), p.peek(), fmt.Sprintf("expression nested too deeply: more than %d levels", maxDepth))
}

// source is the text of a token.
func (p *parser) source(t token) string { return p.text[t.start:t.end] }

// value is what a token says: source without quotes.
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

// display is a token as messages show it.
func (p *parser) display(t token) string {
	if t.kind == tokenEOF {
		return "'<EOF>'"
	}
	s := strings.ToValidUTF8(p.value(t), "\uFFFD")
	return "'" + strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + "'"
}

// isName says whether a token can be the name of a column, table or keyspace.
func isName(t token) bool {
	switch t.kind {
	case tokenIdent, tokenQuotedName:
		return true
	case tokenKeyword:
		return keywords[t.word].class != reserved
	}
	return false
}

// isColumn is isName for columns of statements that change or read rows, where the empty name is one, too.
func isColumn(t token) bool { return isName(t) || t.kind == tokenEmptyName }

// nameOf is the name that a token is, folded to lower case unless it was quoted.
func (p *parser) nameOf(t token) string {
	if t.kind == tokenQuotedName || t.kind == tokenEmptyName {
		return p.value(t)
	}
	return strings.ToLower(p.source(t))
}

// name demands a name.
func (p *parser) name() string {
	if !isName(p.peek()) {
		p.noViable()
		return ""
	}
	return p.nameOf(p.next())
}

// column demands the name of a column.
func (p *parser) column() string {
	if p.peek().kind == tokenEmptyName {
		p.next()
		return ""
	}
	return p.name()
}

// keyspaceName demands the name of a keyspace.
func (p *parser) keyspaceName() string { return p.schemaName("keyspace") }

// schemaName demands the name of what, for which many try a marker.
func (p *parser) schemaName(what string) string {
	if p.is("?") {
		p.failf("Bind variables cannot be used for %s names", what)
		return ""
	}
	return p.name()
}

// qualified demands the name of what, with or without a keyspace.
func (p *parser) qualified(what string) Name {
	if !p.isAt(1, ".") {
		return Name{Name: p.schemaName(what)}
	}
	ks := p.keyspaceName()
	p.expect(".")
	return Name{Keyspace: ks, Name: p.schemaName(what)}
}

func (p *parser) tableName() Name { return p.qualified("table") }

// marker takes a bind marker, or returns nil if none is next.
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

// since returns the markers from the n-th on.
func (p *parser) since(n int) bound {
	if n == len(p.markers) {
		return bound{}
	}
	return bound{slices.Clip(p.markers[n:])}
}

// statement is the rule cqlStatement.
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
	case "DESC":
		return p.unsupported("DESCRIBE", 1)
	case "GRANT", "REVOKE", "LIST", "DESCRIBE":
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

// unsupported takes a whole statement that is known by its first n tokens.
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

// truncate is the rule truncateStatement.
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
