// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/internal/cqltext"
)

// The syntax of COPY.

// A copyParser reads the tokens of a COPY. The first error stays.
type copyParser struct {
	text    string
	offsets []int
	tokens  []string
	err     error
}

// parseCopy returns the COPY whose text after the word COPY this is.
func parseCopy(text string) (*copyStatement, error) {
	p := &copyParser{text: text}
	for at, token := range cqltext.Tokens(text) {
		p.offsets, p.tokens = append(p.offsets, at), append(p.tokens, token)
	}
	s := &copyStatement{table: p.take("the name of a table")}
	if p.accept(".") {
		s.table += "." + p.take("the name of a table")
	}
	if p.err == nil && !cqltext.IsTable(s.table) {
		p.err = fmt.Errorf("COPY: found %s, want the name of a table, as in %s", s.table, copySyntax)
	}
	s.columns = p.columns()
	if s.isLoad = p.accept("FROM"); !s.isLoad && !p.accept("TO") {
		p.fail("TO or FROM")
	}
	p.file(s)
	for word := "WITH"; p.err == nil && p.accept(word); word = "AND" {
		p.option(s)
	}
	if len(p.tokens) > 0 {
		p.fail("the end")
	}
	return s, p.err
}

// peek returns the next token, "" at the end.
func (p *copyParser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

// skip passes over the next token.
func (p *copyParser) skip() { p.offsets, p.tokens = p.offsets[1:], p.tokens[1:] }

// accept passes over a word if it is next.
func (p *copyParser) accept(word string) bool {
	ok := strings.EqualFold(p.peek(), word)
	if ok {
		p.skip()
	}
	return ok
}

// take returns the next token and passes over it.
func (p *copyParser) take(want string) string {
	token := p.peek()
	if token == "" {
		p.fail(want)
		return ""
	}
	p.skip()
	return token
}

// fail records that the next token is not what is wanted.
func (p *copyParser) fail(want string) {
	if p.err != nil {
		return
	}
	found := p.peek()
	if found == "" {
		found = "the end"
	}
	p.err = fmt.Errorf("COPY: found %s, want %s, as in %s", found, want, copySyntax)
}

// columns returns the columns in parentheses, nil if there are none.
func (p *copyParser) columns() (names []string) {
	if !p.accept("(") {
		return nil
	}
	for more := true; more; more = p.accept(",") {
		names = append(names, cqltext.UnquoteIdentifier(p.take("a column")))
	}
	if !p.accept(")") {
		p.fail(")")
	}
	return names
}

// file sets the file, or the stream.
func (p *copyParser) file(s *copyStatement) {
	stream := "STDOUT"
	if s.isLoad {
		stream = "STDIN"
	}
	if p.err != nil || p.accept(stream) {
		return
	}
	if !strings.HasPrefix(p.peek(), "'") {
		p.fail("the name of a file in quotes or " + stream)
		return
	}
	s.file, p.err = quotedFile("COPY", p.take(""))
}

// option adds an option. Its value may have several tokens, such as -1.
func (p *copyParser) option(s *copyStatement) {
	name := strings.ToUpper(p.take("an option"))
	if !p.accept("=") {
		p.fail("=")
		return
	}
	start, end := len(p.text), len(p.text)
	for p.peek() != "" && !strings.EqualFold(p.peek(), "AND") {
		start = min(start, p.offsets[0])
		end = p.offsets[0] + len(p.peek())
		p.skip()
	}
	if start == end {
		p.fail("the value of " + name)
		return
	}
	if slices.ContainsFunc(s.options, func(v copyValue) bool { return v.name == name }) {
		p.err = fmt.Errorf("COPY: the option %s is there twice", name)
		return
	}
	s.options = append(s.options, copyValue{name, unquoted(p.text[start:end])})
}
