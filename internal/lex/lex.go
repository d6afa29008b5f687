// SPDX-License-Identifier: Apache-2.0

// Package lex splits the text of expressions, and of statements that contain them, into tokens.
package lex

import (
	"slices"
	"strings"
)

// A Kind is a kind of token.
type Kind uint8

// The kinds of tokens.
const (
	End     Kind = iota
	Word         // a word that is no keyword
	Keyword      // in lower case
	Name         // a name in double quotes
	Number
	Text  // in single quotes
	Bytes // x'00ff'
	Sign
)

// clauses are the words of statements that end an expression, or begin what is refused.
var clauses = map[string]bool{
	"select": true, "distinct": true, "from": true, "where": true, "group": true, "having": true, "order": true,
	"limit": true, "offset": true, "fetch": true,
	"union": true, "intersect": true, "except": true, "join": true, "over": true,
}

// IsClause reports whether a word, in any case, belongs to statements. Such a name needs quotes.
func IsClause(word string) bool { return clauses[strings.ToLower(word)] }

// Identifier returns a name as it stands in text: in double quotes if it is not a word, or a keyword, or all, which
// begins the columns of a SELECT.
func Identifier(name string) string {
	lower := strings.ToLower(name)
	if name != "" && wordLength(name) == len(name) && !keywords[lower] && !clauses[lower] && lower != "all" {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// keywords are the words of expressions that are no names.
var keywords = map[string]bool{
	"and": true, "as": true, "between": true, "case": true, "cast": true, "else": true, "end": true, "false": true,
	"ilike": true, "in": true, "is": true, "like": true, "not": true, "null": true, "or": true, "regexp": true,
	"then": true, "true": true, "when": true,
}

// signs are the signs, the longer ones first.
var signs = []string{
	"!~*", "<>", "<=", ">=", "!=", "!~", "~*", "^@", "||", "::", "==", "//", "**", "<<", ">>", "^", "~", "=",
	"<", ">", "+", "-", "*", "/", "%", "&", "|", "(", ")", ",", ";", "[", "]", "?",
}

// A Lexer splits a text into tokens. The token is Text[Start:Pos], and Word its content.
type Lexer struct {
	Text       string
	Start, Pos int
	Token      Kind
	Word       string
}

// Scan reads the next token. It returns what was expected if there is none.
func (l *Lexer) Scan() (want string) {
	if want := l.skip(); want != "" {
		return want
	}
	l.Start = l.Pos
	rest := l.Text[l.Pos:]
	if rest == "" {
		l.Token, l.Word = End, ""
		return ""
	}
	switch c := rest[0]; {
	case c == '\'':
		return l.quoted(Text, '\'')
	case c == '"':
		return l.quoted(Name, '"')
	case (c == 'x' || c == 'X') && len(rest) > 1 && rest[1] == '\'':
		l.Pos++
		return l.quoted(Bytes, '\'')
	case isDigit(c) || c == '.':
		return l.number()
	}
	if n := wordLength(rest); n > 0 {
		l.Token, l.Word = Word, rest[:n]
		if lower := strings.ToLower(l.Word); keywords[lower] {
			l.Token, l.Word = Keyword, lower
		}
		l.Pos += n
		return ""
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			l.Token, l.Word = Sign, s
			l.Pos += len(s)
			return ""
		}
	}
	l.Pos++
	return "an operator, a name or a literal"
}

// Operand reports whether the token begins an operand for certain: a name, a literal or a parenthesis, and no operator.
func (l *Lexer) Operand() bool {
	switch l.Token {
	case Word:
		return !IsClause(l.Word)
	case Keyword:
		return slices.Contains([]string{"case", "cast", "null", "true", "false"}, l.Word)
	case Sign:
		return l.Word == "("
	case End:
		return false
	}
	return true
}

// Begins reports whether the token may begin an expression: an operand, a sign before one, not, or *.
func (l *Lexer) Begins() bool {
	return l.Operand() || l.Token == Keyword && l.Word == "not" ||
		l.Token == Sign && slices.Contains([]string{"+", "-", "~", "*", "["}, l.Word)
}

// skip moves over spaces and comments: from -- to the end of the line, from /* to */.
func (l *Lexer) skip() (want string) {
	for {
		l.Pos += len(l.Text[l.Pos:]) - len(strings.TrimLeft(l.Text[l.Pos:], " \t\r\n"))
		rest := l.Text[l.Pos:]
		switch {
		case strings.HasPrefix(rest, "--"):
			line, _, _ := strings.Cut(rest, "\n")
			l.Pos += len(line)
		case strings.HasPrefix(rest, "/*"):
			comment, _, closed := strings.Cut(rest[2:], "*/")
			if !closed {
				l.Start, l.Pos = l.Pos, len(l.Text)
				return "a closing */"
			}
			l.Pos += len(comment) + len("/**/")
		default:
			return ""
		}
	}
}

// quoted reads a token in quotes; two quotes stand for one.
func (l *Lexer) quoted(token Kind, quote byte) (want string) {
	var word strings.Builder
	for i := l.Pos + 1; i < len(l.Text); i++ {
		if l.Text[i] != quote {
			word.WriteByte(l.Text[i])
			continue
		}
		if i+1 < len(l.Text) && l.Text[i+1] == quote {
			word.WriteByte(quote)
			i++
			continue
		}
		l.Token, l.Word, l.Pos = token, word.String(), i+1
		return ""
	}
	l.Pos = len(l.Text)
	return "a closing " + string(quote)
}

// number reads digits, a point and digits, and an exponent. Underscores between digits are left out of the word.
func (l *Lexer) number() (want string) {
	i := l.Pos
	digits := func() int {
		from := i
		for i < len(l.Text) && (isDigit(l.Text[i]) || i > from && isUnderscore(l.Text[i:])) {
			i++
		}
		return i - from
	}
	n := digits()
	if i < len(l.Text) && l.Text[i] == '.' {
		i++
		n += digits()
	}
	if i < len(l.Text) && (l.Text[i] == 'e' || l.Text[i] == 'E') {
		i++
		if i < len(l.Text) && (l.Text[i] == '+' || l.Text[i] == '-') {
			i++
		}
		n *= digits() // 0 without digits of either part
	}
	l.Token, l.Word, l.Pos = Number, strings.ReplaceAll(l.Text[l.Pos:i], "_", ""), i
	if n == 0 || i < len(l.Text) && isWordByte(l.Text[i]) {
		return "a number"
	}
	return ""
}

// isUnderscore reports whether a text begins with an underscore before a digit.
func isUnderscore(s string) bool { return len(s) > 1 && s[0] == '_' && isDigit(s[1]) }

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
