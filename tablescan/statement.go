// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// The statement of a scan: a SELECT with the token of each row as its last column, restricted to a range of tokens.

// A StatementError means that a statement cannot be run by token ranges.
type StatementError struct {
	Statement string
	Reason    string
}

// Error returns the reason and the statement.
func (e *StatementError) Error() string {
	return fmt.Sprintf("tablescan: cannot scan by token ranges: %s: %q", e.Reason, e.Statement)
}

// word is a token of a statement: text[at:end].
type word struct{ at, end int }

// source is a parsed SELECT.
type source struct {
	text            string
	words           []word
	from            int // index in words of FROM
	table, keyspace string
	afterTable      int // index of the word after the table
	tail            int // index of the first word after the WHERE clause
	onlyTokens      bool
}

// parse parses a SELECT as far as a scan needs it. The server checks the rest.
func parse(text string) (*source, error) {
	s := &source{text: text}
	for at, token := range cqltext.Tokens(text) {
		s.words = append(s.words, word{at, at + len(token)})
	}
	for len(s.words) > 0 && s.word(len(s.words)-1) == ";" {
		s.words = s.words[:len(s.words)-1]
	}
	if !s.is(0, "SELECT") {
		return nil, s.refuse("it is no SELECT")
	}
	if s.is(1, "JSON") && !s.is(2, ",") && !s.is(2, "FROM") && !s.is(2, "AS") {
		return nil, s.refuse("SELECT JSON; read the columns instead")
	}
	s.from = s.find(1, func(i int) bool { return s.is(i, "FROM") })
	if s.from+1 >= len(s.words) {
		return nil, s.refuse("it has no FROM")
	}
	s.table, s.afterTable = cqltext.UnquoteIdentifier(s.word(s.from+1)), s.from+2
	if s.is(s.from+2, ".") && s.from+3 < len(s.words) {
		s.keyspace, s.table, s.afterTable = s.table, cqltext.UnquoteIdentifier(s.word(s.from+3)), s.from+4
	}
	if !isIdentifier(s.word(s.from+1)) || !isIdentifier(s.word(s.afterTable-1)) {
		return nil, s.refuse("no table follows FROM")
	}
	s.tail = s.find(s.afterTable, s.startsTail)
	if s.afterTable < s.tail && !s.is(s.afterTable, "WHERE") {
		return nil, s.refuse(fmt.Sprintf("%q follows the table", s.word(s.afterTable)))
	}
	return s, s.check()
}

func (s *source) refuse(reason string) error {
	return &StatementError{Statement: s.text, Reason: reason}
}

// word returns the text of word i, "" after the last.
func (s *source) word(i int) string {
	if i >= len(s.words) {
		return ""
	}
	return s.text[s.words[i].at:s.words[i].end]
}

func (s *source) is(i int, text string) bool { return strings.EqualFold(s.word(i), text) }

// find returns the first index from i on, outside of parentheses, for which f returns true; the number of words if
// there is none.
func (s *source) find(i int, f func(i int) bool) int {
	depth := 0
	for ; i < len(s.words); i++ {
		switch s.word(i) {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		default:
			if depth == 0 && f(i) {
				return i
			}
		}
	}
	return i
}

// tails are the words that begin a clause after WHERE. The second word distinguishes a clause from a column.
var tails = [][2]string{
	{"GROUP", "BY"},
	{"ORDER", "BY"},
	{"PER", "PARTITION"},
	{"LIMIT", ""},
	{"ALLOW", "FILTERING"},
	{"BYPASS", "CACHE"},
	{"USING", "TIMEOUT"},
}

func (s *source) startsTail(i int) bool {
	return slices.ContainsFunc(tails, func(t [2]string) bool {
		return s.is(i, t[0]) && (t[1] == "" || s.is(i+1, t[1]))
	})
}

// check refuses clauses whose result over the table differs from that over its ranges, and restrictions of the token.
func (s *source) check() error {
	for i := s.tail; i < len(s.words); i++ {
		for _, clause := range []string{"GROUP BY", "ORDER BY", "LIMIT"} {
			first, _, _ := strings.Cut(clause, " ")
			if s.is(i, first) && !s.is(i-1, "PARTITION") {
				return s.refuse("it has " + clause)
			}
		}
	}
	for i := 1; i < s.from; i++ {
		if s.is(i+1, "(") && slices.ContainsFunc(aggregates, func(name string) bool { return s.is(i, name) }) {
			return s.refuse("it calls the aggregate " + strings.ToLower(s.word(i)))
		}
	}
	for i := s.afterTable; i < s.tail; i++ {
		if s.is(i, "token") && s.is(i+1, "(") {
			return s.refuse("it restricts the token")
		}
	}
	for _, name := range cqltext.BindMarkers(s.text) {
		if name != "" {
			return s.refuse("it has the named bind marker :" + name)
		}
	}
	return nil
}

// aggregates are the native aggregates. New refuses the aggregates of the keyspace as well.
var aggregates = []string{"count", "min", "max", "sum", "avg"}

// callsAny returns the first of the functions that the selectors call, "" if there is none.
func (s *source) callsAny(functions map[string]*cql.AggregateMetadata) string {
	for i := 1; i < s.from; i++ {
		if name := cqltext.UnquoteIdentifier(s.word(i)); s.is(i+1, "(") && functions[name] != nil {
			return name
		}
	}
	return ""
}

// isIdentifier reports whether a word may be a name: one that begins with a letter, or a quoted name that ends.
func isIdentifier(text string) bool {
	c := (text + " ")[0]
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '"' && len(text) > 2 && strings.Count(text, `"`)%2 == 0
}

// ranged returns the statement with the token of the partition key as its last column, for the tokens above one marker
// up to another, and the number of markers before these two. columns replaces a star.
func (s *source) ranged(key, columns []string) (text string, before int) {
	tok := "token(" + quoted(key) + ")"
	end := func(i int) int { return s.words[i-1].end }
	var b strings.Builder
	switch {
	case s.onlyTokens:
		b.WriteString("SELECT ")
	case s.from == 2 && s.word(1) == "*":
		b.WriteString("SELECT " + quoted(columns) + ", ")
	default:
		b.WriteString(s.text[s.words[0].at:end(s.from)] + ", ")
	}
	b.WriteString(tok + " " + s.text[s.words[s.from].at:end(s.afterTable)] + " WHERE ")
	if s.tail > s.afterTable+1 {
		b.WriteString(s.text[s.words[s.afterTable+1].at:end(s.tail)] + " AND ")
	}
	before = len(cqltext.BindMarkers(b.String()))
	b.WriteString(tok + " > ? AND " + tok + " <= ?")
	if s.tail < len(s.words) {
		b.WriteString(" " + s.text[s.words[s.tail].at:end(len(s.words))])
	}
	return b.String(), before
}

// quoted returns names as a list of identifiers.
func quoted(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = cqltext.QuoteIdentifier(name)
	}
	return strings.Join(list, ", ")
}
