// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
)

// The lexer, and the words of the language.

// A tokenKind is a kind of token.
type tokenKind uint8

const (
	tokenEnd     tokenKind = iota
	tokenWord              // a word that is no keyword
	tokenKeyword           // in lower case
	tokenName              // a name in double quotes
	tokenNumber
	tokenText  // in single quotes
	tokenBytes // x'00ff'
	tokenSign
)

var keywords = map[string]bool{
	"and": true, "as": true, "between": true, "case": true, "cast": true, "else": true, "end": true, "false": true,
	"ilike": true, "in": true, "is": true, "like": true, "not": true, "null": true, "or": true, "regexp": true,
	"then": true, "true": true, "when": true,
}

// signs are the signs, the longer ones first.
var signs = []string{
	"<>", "<=", ">=", "!=", "||", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", "[", "]", "?",
}

// An arity is the number of arguments of a function.
type arity struct{ min, max int }

func (a arity) String() string {
	switch {
	case a.max == math.MaxInt:
		return fmt.Sprintf("at least %d arguments", a.min)
	case a.min == a.max:
		return fmt.Sprintf("%d arguments", a.min)
	}
	return fmt.Sprintf("%d to %d arguments", a.min, a.max)
}

// functions are the functions by name.
var functions = map[string]arity{
	"length": {1, 1}, "lower": {1, 1}, "upper": {1, 1}, "substring": {2, 3}, "concat": {1, math.MaxInt},
	"contains": {2, 2}, "starts_with": {2, 2}, "ends_with": {2, 2}, "regexp_replace": {3, 3},
	"coalesce": {1, math.MaxInt}, "date_trunc": {2, 3}, "extract": {2, 3},
	"dot": {2, 2}, "cosine": {2, 2}, "l2": {2, 2}, "norm": {1, 1}, "element": {2, 2}, "slice": {3, 3},
}

func functionNames() []string {
	var names []string
	for name := range functions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// castKinds are the kinds that a cast can convert to.
var castKinds = []column.Kind{
	column.Bool, column.Int8, column.Int16, column.Int32, column.Int64, column.Uint8, column.Uint16, column.Uint32,
	column.Uint64, column.Float32, column.Float64, column.String, column.Date, column.Timestamp,
}

// A lexer splits a text into tokens. The token is text[start:pos], and word its content.
type lexer struct {
	text       string
	start, pos int
	token      tokenKind
	word       string
}

// scan reads the next token. It returns what was expected if there is none.
func (l *lexer) scan() (want string) {
	l.pos += len(l.text[l.pos:]) - len(strings.TrimLeft(l.text[l.pos:], " \t\r\n"))
	l.start = l.pos
	rest := l.text[l.pos:]
	if rest == "" {
		l.token, l.word = tokenEnd, ""
		return ""
	}
	switch c := rest[0]; {
	case c == '\'':
		return l.quoted(tokenText, '\'')
	case c == '"':
		return l.quoted(tokenName, '"')
	case (c == 'x' || c == 'X') && len(rest) > 1 && rest[1] == '\'':
		l.pos++
		return l.quoted(tokenBytes, '\'')
	case isDigit(c) || c == '.':
		return l.number()
	}
	if n := wordLength(rest); n > 0 {
		l.token, l.word = tokenWord, rest[:n]
		if lower := strings.ToLower(l.word); keywords[lower] {
			l.token, l.word = tokenKeyword, lower
		}
		l.pos += n
		return ""
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			l.token, l.word = tokenSign, s
			l.pos += len(s)
			return ""
		}
	}
	l.pos++
	return "an operator, a name or a literal"
}

// quoted reads a token in quotes, of which two stand for one.
func (l *lexer) quoted(token tokenKind, quote byte) (want string) {
	var word strings.Builder
	for i := l.pos + 1; i < len(l.text); i++ {
		if l.text[i] != quote {
			word.WriteByte(l.text[i])
			continue
		}
		if i+1 < len(l.text) && l.text[i+1] == quote {
			word.WriteByte(quote)
			i++
			continue
		}
		l.token, l.word, l.pos = token, word.String(), i+1
		return ""
	}
	l.pos = len(l.text)
	return "a closing " + string(quote)
}

// number reads digits, a point and digits, and an exponent.
func (l *lexer) number() (want string) {
	i := l.pos
	digits := func() int {
		from := i
		for i < len(l.text) && isDigit(l.text[i]) {
			i++
		}
		return i - from
	}
	n := digits()
	if i < len(l.text) && l.text[i] == '.' {
		i++
		n += digits()
	}
	if i < len(l.text) && (l.text[i] == 'e' || l.text[i] == 'E') {
		i++
		if i < len(l.text) && (l.text[i] == '+' || l.text[i] == '-') {
			i++
		}
		n *= digits() // 0 without digits of either part
	}
	l.token, l.word, l.pos = tokenNumber, l.text[l.pos:i], i
	if n == 0 || i < len(l.text) && isWordByte(l.text[i]) {
		return "a number"
	}
	return ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool {
	return c == '_' || c == '.' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// wordLength returns the length of the word at the start of s. Words consist of letters, digits, underscores and
// points, and do not begin with a digit or a point.
func wordLength(s string) int {
	if s == "" || isDigit(s[0]) || s[0] == '.' {
		return 0
	}
	n := 0
	for n < len(s) && isWordByte(s[n]) {
		n++
	}
	return n
}
