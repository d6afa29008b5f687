// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/vecql/vecql/column"
)

// Literals of CQL in the parts that differ from JSON: (1, 'a'), {1, 2}, {'a': 1}, {street: 'x', no: 1}, 0x00ff, NaN.

var errLiteral = errors.New("invalid literal of CQL")

// literalEnd are the characters that end a literal without quotes.
const literalEnd = ",]})"

// open reads the first bracket of a value, one of inJSON in JSON and one of inCQL in a literal, and returns the bracket
// at the end of the value.
func (s *scanner) open(inJSON, inCQL string) (closing byte, err error) {
	brackets := inJSON
	if s.cql {
		brackets = inCQL
	}
	c := s.peek()
	if strings.IndexByte(brackets, c) < 0 {
		return 0, s.fail(strings.Join(strings.Split(brackets, ""), " or "))
	}
	s.at++
	return "]})"[strings.IndexByte("[{(", c)], nil
}

// literal reads a literal without brackets: text in single quotes, or all up to a character of end, such as 1.5, NaN,
// 0x00ff and 2024-02-29.
func (s *scanner) literal(end string) ([]byte, error) {
	c := s.peek()
	if c == '\'' {
		return s.quoted(c)
	}
	if c == '"' || strings.IndexByte("[{(", c) >= 0 {
		return nil, s.fail("a value")
	}
	word := s.until(end)
	if len(word) == 0 {
		return nil, s.fail("a value")
	}
	return word, nil
}

// until reads up to a character of end, or to the end of the text.
func (s *scanner) until(end string) []byte {
	rest := s.text[s.at:]
	n := bytes.IndexAny(rest, end)
	if n < 0 {
		n = len(rest)
	}
	s.at += n
	return bytes.TrimRight(rest[:n], " \t\r\n")
}

// quoted reads text in quotes, which is next. A quote in the text is doubled.
func (s *scanner) quoted(quote byte) ([]byte, error) {
	first := s.at + 1
	for i := first; i < len(s.text); i++ {
		switch {
		case s.text[i] != quote:
		case i+1 < len(s.text) && s.text[i+1] == quote:
			i++
		default:
			s.at = i + 1
			one := []byte{quote}
			return bytes.ReplaceAll(s.text[first:i], append(one, quote), one), nil
		}
	}
	s.at = len(s.text)
	return nil, fmt.Errorf("%w: a string has no end", errLiteral)
}

// name reads the name of a field of a struct and its colon.
func (s *scanner) name() (name []byte, err error) {
	switch {
	case !s.cql:
		return s.key()
	case s.peek() == '"':
		name, err = s.quoted('"')
	default:
		name, err = s.literal(literalEnd + ":")
	}
	if err == nil {
		err = s.expect(':')
	}
	return name, err
}

// mapKey reads a key of a map and its colon. A time without quotes has colons, too: a space follows the last one.
func (s *scanner) mapKey(kind column.Kind) (key []byte, err error) {
	n := -1
	switch {
	case !s.cql:
		return s.key()
	case kind == column.Time && s.peek() != '\'':
		n = bytes.Index(s.text[s.at:], []byte(": "))
	}
	if n >= 0 {
		key = s.text[s.at : s.at+n]
		s.at += n
	} else {
		key, err = s.literal(literalEnd + ":")
	}
	if err == nil {
		err = s.expect(':')
	}
	return key, err
}

// takeNull reads NULL if it is next: null in JSON; in a literal also a spelling of NULL, which COPY TO of cqlsh writes
// in user-defined types, and None, which it writes in tuples.
func (p *parser) takeNull(kind column.Kind, s *scanner) bool {
	if !s.cql {
		return s.null()
	}
	s.peek()
	first := s.at
	word := s.until(literalEnd)
	switch {
	case p.isNull(word), strings.EqualFold(string(word), "null"):
		return true
	case kind != column.String && (string(word) == "None" || string(word) == "'None'"):
		return true
	}
	s.at = first
	return false
}
