// SPDX-License-Identifier: Apache-2.0

package otelvecql

import "strings"

// This file reads of a CQL statement what spans and metrics are named by, and takes its literals out.

// statement is what a CQL statement does, and with what. CQL names one table in a statement at most.
type statement struct {
	operation  string // in upper case, e.g. "SELECT", "CREATE TABLE"
	keyspace   string // as the statement names it, else empty
	collection string // a table or view, as the server spells it
}

// summary returns what the conventions call db.query.summary: the operation and what it works on.
func (s statement) summary() string {
	switch {
	case s.collection != "" && s.keyspace != "":
		return s.operation + " " + s.keyspace + "." + s.collection
	case s.collection != "":
		return s.operation + " " + s.collection
	case s.keyspace != "":
		return s.operation + " " + s.keyspace
	}
	return s.operation
}

// The kinds of tokens.
const (
	tokenEnd     = iota
	tokenWord    // keyword or identifier
	tokenQuoted  // "identifier"
	tokenLiteral // string, number, blob, UUID, duration
	tokenOther   // one byte
	tokenIgnored // white space and comments
)

// scanner cuts a statement into tokens. Any text has tokens: what CQL does not know are single bytes.
type scanner struct {
	text string
	at   int
}

// next returns the next token with its kind.
func (s *scanner) next() (kind int, token string) {
	start := s.at
	if s.at >= len(s.text) {
		return tokenEnd, ""
	}
	rest := s.text[s.at:]
	switch c := rest[0]; {
	case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
		kind, s.at = tokenIgnored, s.at+1
	case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"):
		kind = tokenIgnored
		s.until("\n", 2)
	case strings.HasPrefix(rest, "/*"):
		kind = tokenIgnored
		s.until("*/", 2)
	case strings.HasPrefix(rest, "$$"):
		kind = tokenLiteral
		s.until("$$", 2)
	case c == '\'':
		kind = tokenLiteral
		s.quoted('\'')
	case c == '"':
		kind = tokenQuoted
		s.quoted('"')
	case isUUID(rest):
		kind, s.at = tokenLiteral, s.at+36
	case c >= '0' && c <= '9':
		kind = tokenLiteral
		for s.at < len(s.text) && (isWord(s.text[s.at]) || s.text[s.at] == '.' ||
			(s.text[s.at] == '+' || s.text[s.at] == '-') && (s.text[s.at-1] == 'e' || s.text[s.at-1] == 'E')) {
			s.at++
		}
	case isWord(c):
		kind = tokenWord
		for s.at < len(s.text) && isWord(s.text[s.at]) {
			s.at++
		}
	default:
		kind, s.at = tokenOther, s.at+1
	}
	return kind, s.text[start:s.at]
}

// until moves behind the next end, looked for from skip bytes on.
func (s *scanner) until(end string, skip int) {
	i := strings.Index(s.text[s.at+skip:], end)
	if i < 0 {
		s.at = len(s.text)
		return
	}
	s.at += skip + i + len(end)
}

// quoted moves behind a text in quotes, in which a quote is written twice.
func (s *scanner) quoted(quote byte) {
	for s.at++; s.at < len(s.text); s.at++ {
		if s.text[s.at] != quote {
			continue
		}
		if s.at+1 < len(s.text) && s.text[s.at+1] == quote {
			s.at++
			continue
		}
		s.at++
		return
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// isUUID reports whether s begins with a UUID and nothing that belongs to it follows.
func isUUID(s string) bool {
	if len(s) < 36 || len(s) > 36 && isWord(s[36]) {
		return false
	}
	for i := range 36 {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

// significant returns the next token that is neither white space nor a comment.
func (s *scanner) significant() (int, string) {
	for {
		if kind, token := s.next(); kind != tokenIgnored {
			return kind, token
		}
	}
}

// word returns the next token in upper case, empty when it is no word; then it is left.
func (s *scanner) word() string {
	at := s.at
	kind, token := s.significant()
	if kind != tokenWord {
		s.at = at
		return ""
	}
	return strings.ToUpper(token)
}

// skip moves behind words if all of them come next.
func (s *scanner) skip(words ...string) {
	at := s.at
	for _, w := range words {
		if s.word() != w {
			s.at = at
			return
		}
	}
}

// find moves behind the next such word and reports whether there is one.
func (s *scanner) find(word string) bool {
	for {
		switch kind, token := s.significant(); {
		case kind == tokenEnd:
			return false
		case kind == tokenWord && strings.EqualFold(token, word):
			return true
		}
	}
}

// name reads "name" or "keyspace.name".
func (s *scanner) name() (keyspace, name string) {
	name, ok := s.identifier()
	if !ok {
		return "", ""
	}
	at := s.at
	if kind, token := s.significant(); kind == tokenOther && token == "." {
		if second, ok := s.identifier(); ok {
			return name, second
		}
	}
	s.at = at
	return "", name
}

func (s *scanner) identifier() (string, bool) {
	switch kind, token := s.significant(); kind {
	case tokenWord:
		return strings.ToLower(token), true
	case tokenQuoted:
		return strings.ReplaceAll(strings.TrimSuffix(token[1:], `"`), `""`, `"`), true
	}
	return "", false
}

// parseStatement reads what a statement does. What it does not understand it leaves out.
func parseStatement(text string) statement {
	s := scanner{text: text}
	st := statement{operation: s.word()}
	switch st.operation {
	case "SELECT", "DELETE":
		if s.find("FROM") {
			st.keyspace, st.collection = s.name()
		}
	case "INSERT":
		if s.find("INTO") {
			st.keyspace, st.collection = s.name()
		}
	case "UPDATE":
		st.keyspace, st.collection = s.name()
	case "TRUNCATE":
		s.skip("TABLE")
		st.keyspace, st.collection = s.name()
	case "BEGIN":
		st.operation = "BATCH"
	case "CREATE", "ALTER", "DROP":
		s.skip("OR", "REPLACE")
		s.skip("CUSTOM")
		what := s.word()
		switch what {
		case "MATERIALIZED":
			s.skip("VIEW")
			what = "MATERIALIZED VIEW"
		case "COLUMNFAMILY":
			what = "TABLE"
		}
		if what == "" {
			break
		}
		st.operation += " " + what
		s.skip("IF", "NOT", "EXISTS")
		s.skip("IF", "EXISTS")
		switch what {
		case "TABLE", "MATERIALIZED VIEW":
			st.keyspace, st.collection = s.name()
		case "KEYSPACE":
			_, st.keyspace = s.name()
		}
	}
	return st
}

// maxText bounds the text of a statement in a span, in bytes.
const maxText = 4096

// withoutLiterals returns a statement with a question mark for each literal, and without comments: what is left are names and structure.
func withoutLiterals(text string) string {
	var b strings.Builder
	s := scanner{text: text}
	for b.Len() < maxText {
		switch kind, token := s.next(); {
		case kind == tokenEnd:
			return b.String()
		case kind == tokenLiteral:
			b.WriteByte('?')
		case kind == tokenIgnored && len(token) > 1:
			b.WriteByte(' ')
		default:
			b.WriteString(token)
		}
	}
	return b.String()[:maxText] + "…"
}
