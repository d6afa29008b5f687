// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// The lexer (src/antlr/Lexer.g of Cassandra 5.0). The longest token wins. A minus before a number is part of it, so
// that "a-1" is a name and a number.

// lexer returns the tokens of text one by one.
type lexer struct {
	text string
	at   int
	bad  string // message of a tokenBad
	from int    // offset of the error, not always the start of the token
}

// next returns the next token. Callers stop after tokenBad.
func (l *lexer) next() token {
	start := l.at
	if start == len(l.text) {
		return token{kind: tokenEOF, start: start, end: start}
	}
	t := token{start: start}
	rest := l.text[start:]
	n := 0 // length
	switch c := rest[0]; {
	case isSpace(c):
		t.kind = tokenSpace
		for n < len(rest) && isSpace(rest[n]) {
			n++
		}
	case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"):
		// The server requires the end of the line: a comment without it is an error.
		if n = strings.IndexAny(rest, "\r\n") + 1; n == 0 {
			return l.unfinished("mismatched character '<EOF>' expecting set null")
		}
		t.kind = tokenSpace
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return l.unfinished("mismatched character '<EOF>' expecting '*'")
		}
		t.kind, n = tokenSpace, end+4
	case c == '\'':
		if n = quotedLength(rest); n == 0 {
			return l.unfinished("mismatched character '<EOF>' expecting '''")
		}
		t.kind = tokenString
	case strings.HasPrefix(rest, "$$"):
		end := strings.Index(rest[2:], "$$")
		if end < 0 {
			return l.unfinished("mismatched character '<EOF>' expecting '$'")
		}
		t.kind, n = tokenString, end+4
	case c == '"':
		switch n = quotedLength(rest); n {
		case 0:
			return l.unfinished("mismatched character '<EOF>' expecting '\"'")
		case 2:
			t.kind = tokenEmptyName
		default:
			t.kind = tokenQuotedName
		}
	default:
		t.kind, n = scanWord(rest)
		if n == 0 {
			t.kind, n = tokenPunct, punctLength(rest)
			t.word = rest[:n]
		}
		if t.kind == tokenIdent {
			if k := keywordOf(rest[:n]); k.class != 0 {
				t.kind, t.word = tokenKeyword, k.word
			}
		}
	}
	if n == 0 {
		r, size := utf8.DecodeRuneInString(rest)
		l.bad, l.from = "no viable alternative at character '"+string(r)+"'", start
		return token{kind: tokenBad, start: start, end: start + size}
	}
	l.at += n
	t.end = l.at
	return t
}

// unfinished returns a bad token that extends to the end of the text.
func (l *lexer) unfinished(message string) token {
	l.bad, l.from = message, len(l.text)
	return token{kind: tokenBad, start: l.at, end: len(l.text)}
}

// quotedLength returns the length of the quoted text at the start of s, or 0 if its end is missing. Two quotes inside
// denote one.
func quotedLength(s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		end := strings.IndexByte(s[i:], quote)
		if end < 0 {
			return 0
		}
		i += end
		if i+1 == len(s) || s[i+1] != quote {
			return i + 1
		}
		i++
	}
	return 0
}

// punctLength returns the length of the operator or bracket at the start of s, or 0.
func punctLength(s string) int {
	if len(s) >= 2 {
		switch s[:2] {
		case "<=", ">=", "!=", "+=", "-=", "..":
			return 2
		}
	}
	if strings.IndexByte("()[]{}<>,;:.?=+-*/%", s[0]) >= 0 {
		return 1
	}
	return 0
}

// scanWord returns the kind and length of the name or number at the start of s, or a length of 0. Keywords count as
// names.
func scanWord(s string) (tokenKind, int) {
	if n := uuidLength(s); n > 0 {
		return tokenUUID, n
	}
	if n := isoDurationLength(s); n > 0 && !isWordAt(s, n) {
		return tokenDuration, n
	}
	if isLetter(s[0]) {
		n := 1
		for isWordAt(s, n) {
			n++
		}
		switch {
		case strings.EqualFold(s[:n], "true"), strings.EqualFold(s[:n], "false"):
			return tokenBoolean, n
		case strings.EqualFold(s[:n], "nan"):
			return tokenNaN, n
		case strings.EqualFold(s[:n], "infinity"):
			return tokenInfinity, n
		}
		return tokenIdent, n
	}
	if s[0] == '-' && len(s) > 1 && isLetter(s[1]) {
		switch kind, n := scanWord(s[1:]); kind {
		case tokenNaN:
			return tokenNaN, n + 1
		case tokenInfinity:
			return tokenNegInfinity, n + 1
		}
		return 0, 0
	}
	return scanNumber(s)
}

// scanNumber returns the kind and length of the number or duration at the start of s, or a length of 0.
func scanNumber(s string) (tokenKind, int) {
	n := 0
	if s[0] == '-' {
		n = 1
	}
	digits := digitsAt(s, n)
	if digits == 0 {
		return 0, 0
	}
	if s[n] == '0' && n == 0 && len(s) > 1 && s[1]|0x20 == 'x' {
		n = 2
		for n < len(s) && isHex(s[n]) {
			n++
		}
		return tokenHex, n
	}
	n += digits
	kind := tokenInteger
	end := n
	for { // 1h30m
		unit := unitAt(s, end)
		if unit == 0 {
			break
		}
		kind, n = tokenDuration, end+unit
		end = n + digitsAt(s, n)
		if end == n {
			break
		}
	}
	if kind == tokenDuration {
		return kind, n
	}
	// 1..2 is a range, 1...2 a range from 1. to 2
	if n < len(s) && s[n] == '.' && (!strings.HasPrefix(s[n:], "..") || strings.HasPrefix(s[n:], "...")) {
		kind = tokenFloat
		n++
		n += digitsAt(s, n)
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		sign := 1
		if n+1 < len(s) && (s[n+1] == '+' || s[n+1] == '-') {
			sign = 2
		}
		if digits := digitsAt(s, n+sign); digits > 0 {
			kind, n = tokenFloat, n+sign+digits
		}
	}
	return kind, n
}

// digitsAt returns the number of digits at s[n:].
func digitsAt(s string, n int) int {
	i := n
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i - n
}

// unitAt returns the length of the unit of a duration at s[n:], or 0.
func unitAt(s string, n int) int {
	for _, unit := range [...]string{"mo", "ms", "us", "ns", "y", "w", "d", "h", "m", "s"} {
		if len(s)-n >= len(unit) && strings.EqualFold(s[n:n+len(unit)], unit) {
			return len(unit)
		}
	}
	if strings.HasPrefix(s[n:], "µs") || strings.HasPrefix(s[n:], "µS") {
		return len("µs")
	}
	return 0
}

// The forms of words that the lexer recognizes by their text.
var (
	uuidForm = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`)
	// isoDuration is a duration of ISO 8601: a date and a time of day, weeks, or numbers with letters in their order.
	isoDuration = regexp.MustCompile(`^-?P(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|\d+W|` +
		`(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H(?:\d+M)?(?:\d+S)?|\d+M(?:\d+S)?|\d+S))?)`)
)

// uuidLength returns 36 if s starts with a UUID, otherwise 0.
func uuidLength(s string) int {
	if len(s) < 36 || s[8] != '-' { // of most words
		return 0
	}
	return len(uuidForm.FindString(s))
}

// isoDurationLength returns the length of the ISO 8601 duration at the start of s, or 0.
func isoDurationLength(s string) int {
	if !strings.HasPrefix(strings.TrimPrefix(s, "-"), "P") {
		return 0
	}
	if d := isoDuration.FindString(s); d != "P" && d != "-P" {
		return len(d)
	}
	return 0
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// isWordAt reports whether s[n] continues a name.
func isWordAt(s string, n int) bool {
	return n < len(s) && (isLetter(s[n]) || isDigit(s[n]) || s[n] == '_')
}
