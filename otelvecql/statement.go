// SPDX-License-Identifier: Apache-2.0

package otelvecql

import "strings"

// CQL statements: the names of spans, the attributes of metrics, and the removal of literals.

// statement is the operation of a CQL statement and its object. A CQL statement has one table at most.
type statement struct {
	operation  string // in upper case, e.g. "SELECT", "CREATE TABLE"
	keyspace   string // as spelled in the statement; empty if unqualified
	collection string // a table or view, spelled as the server stores it
}

// summary returns the attribute db.query.summary of the conventions: the operation and its object.
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

// scanner splits a statement into tokens. It accepts any text: a byte outside of CQL's syntax is a token of its own.
type scanner struct {
	text string
	at   int
}

// next returns the kind and text of the next token.
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

// until moves past the next end, searching from skip bytes on.
func (s *scanner) until(end string, skip int) {
	i := strings.Index(s.text[s.at+skip:], end)
	if i < 0 {
		s.at = len(s.text)
		return
	}
	s.at += skip + i + len(end)
}

// quoted moves past a text in quotes, in which a quote is doubled.
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

// isUUID reports whether s begins with a UUID that is not the start of a longer word.
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

// word returns the next token in upper case and moves past it. If the token is not a word, word returns "" and does not
// move.
func (s *scanner) word() string {
	at := s.at
	kind, token := s.significant()
	if kind != tokenWord {
		s.at = at
		return ""
	}
	return strings.ToUpper(token)
}

// skip moves past words if all of them come next.
func (s *scanner) skip(words ...string) {
	at := s.at
	for _, w := range words {
		if s.word() != w {
			s.at = at
			return
		}
	}
}

// find moves past the next occurrence of word and reports whether there is one.
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

// parseStatement returns the operation and the object of a statement, with empty fields for what it does not recognize.
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

// maxText limits the text of a statement in a span, in bytes.
const maxText = 4096

// withoutLiterals returns a statement with each literal replaced by a question mark and each comment by a space. Names
// and structure remain.
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
