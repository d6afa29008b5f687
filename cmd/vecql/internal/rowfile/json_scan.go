// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON (RFC 8259) in the parts that values consist of.

var errJSON = errors.New("invalid JSON")

// A scanner reads one JSON text, or one literal of CQL, from its start to its end.
type scanner struct {
	text []byte
	at   int
	cql  bool // the text is a literal of CQL: literal_scan.go
}

// peek returns the next byte that is no space, 0 at the end. A byte 0 of the text is returned as 0xff: neither is part
// of JSON.
func (s *scanner) peek() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c > ' ':
			return c
		case c == 0:
			return 0xff
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			return c
		}
	}
	return 0
}

// invalid returns the error for a text that is not in the notation of the scanner.
func (s *scanner) invalid() error {
	if s.cql {
		return errLiteral
	}
	return errJSON
}

func (s *scanner) fail(want string) error {
	if s.peek() == 0 {
		return fmt.Errorf("%w: it ends where %s is expected", s.invalid(), want)
	}
	rest := s.text[s.at:]
	return fmt.Errorf("%w: %.20q where %s is expected", s.invalid(), rest, want)
}

// take reads c if it is next.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) expect(c byte) error {
	if !s.take(c) {
		return s.fail(string(rune(c)))
	}
	return nil
}

func (s *scanner) end() error {
	if s.peek() != 0 {
		return s.fail("the end")
	}
	return nil
}

// null reads null if it is next.
func (s *scanner) null() bool {
	if s.peek() != 'n' || !bytes.HasPrefix(s.text[s.at:], []byte("null")) {
		return false
	}
	s.at += len("null")
	return true
}

// each reads the elements of an array or an object from after the opening bracket to the closing one. f reads one
// element.
func (s *scanner) each(closing byte, f func() error) error {
	if s.take(closing) {
		return nil
	}
	for {
		if err := f(); err != nil {
			return err
		}
		if s.take(closing) {
			return nil
		}
		if !s.take(',') {
			return s.fail("a comma or " + string(rune(closing)))
		}
	}
}

// key reads the name of a member of an object and its colon.
func (s *scanner) key() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.fail("a name")
	}
	name, err := s.str()
	if err == nil {
		err = s.expect(':')
	}
	return name, err
}

// A memberOrder finds members of objects by their names. Most objects have their members in one order: the member after
// the last one is tried first.
type memberOrder struct{ next int }

// find returns the number of a member among n, -1 if there is none.
func (o *memberOrder) find(name []byte, n int, nameOf func(i int) string) int {
	i := o.next
	if i >= n || nameOf(i) != string(name) {
		for i = 0; i < n && nameOf(i) != string(name); i++ {
		}
	}
	if i == n {
		return -1
	}
	o.next = i + 1
	return i
}

// scalar reads a string, a number or a boolean, and returns its text. The text is valid until the JSON text changes.
func (s *scanner) scalar() ([]byte, error) {
	switch c := s.peek(); {
	case s.cql:
		return s.literal(literalEnd)
	case c == '"':
		return s.str()
	case c == '-' || c >= '0' && c <= '9':
		rest := s.text[s.at:]
		n := numberLen(rest)
		if n == 0 || n < len(rest) && isWordByte(rest[n]) {
			return nil, fmt.Errorf("%w: %.40q is not a number of JSON", errJSON, s.word())
		}
		s.at += n
		return rest[:n], nil
	case c == 't' || c == 'f':
		first := s.at
		word := s.word()
		if c == 't' && string(word) != "true" || c == 'f' && string(word) != "false" {
			s.at = first
			return nil, s.fail("a value")
		}
		return word, nil
	}
	return nil, s.fail("a value")
}

// word reads the letters, digits and signs up to another character.
func (s *scanner) word() []byte {
	first := s.at
	for s.at < len(s.text) && isWordByte(s.text[s.at]) {
		s.at++
	}
	return s.text[first:s.at]
}

// numberLen returns the length of the number at the start of text (RFC 8259, section 6), 0 if there is none.
func numberLen(text []byte) int {
	i := 0
	if text[0] == '-' {
		i = 1
	}
	end := digitsEnd(text, i)
	if end == i || end > i+1 && text[i] == '0' {
		return 0
	}
	if i = end; i < len(text) && text[i] == '.' {
		if end = digitsEnd(text, i+1); end == i+1 {
			return 0
		}
		i = end
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if end = digitsEnd(text, i); end == i {
			return 0
		}
		i = end
	}
	return i
}

// digitsEnd returns the end of the digits from a position on.
func digitsEnd(text []byte, at int) int {
	for at < len(text) && text[at]-'0' <= 9 { // a smaller byte wraps around
		at++
	}
	return at
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == 'E' || c == '.' || c == '-' || c == '+'
}

// str reads a string, which is next.
func (s *scanner) str() ([]byte, error) {
	first := s.at
	for i := first + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.at = i + 1
			return s.text[first+1 : i], nil
		case c == '\\':
			return s.escaped(i)
		case c < ' ':
			return nil, fmt.Errorf("%w: a control character in a string", errJSON)
		}
	}
	return nil, fmt.Errorf("%w: a string has no end", errJSON)
}

// escaped reads a string with escapes, the first at position i.
func (s *scanner) escaped(i int) ([]byte, error) {
	first := s.at
	for ; i < len(s.text) && s.text[i] != '"'; i++ {
		if s.text[i] == '\\' {
			i++
		}
	}
	if i >= len(s.text) {
		return nil, fmt.Errorf("%w: a string has no end", errJSON)
	}
	s.at = i + 1
	if isSurrogateAlone(s.text[first:s.at]) {
		return nil, fmt.Errorf("%w: half of a surrogate pair in a string", errJSON)
	}
	var text string
	if err := json.Unmarshal(s.text[first:s.at], &text); err != nil {
		return nil, fmt.Errorf("%w: %w", errJSON, err)
	}
	return []byte(text), nil
}

// isSurrogateAlone reports whether a string has an escape of half of a surrogate pair without the other half, which is
// no character. Package json replaces it.
func isSurrogateAlone(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		r := surrogate(text[i-1:])
		if r == 0 {
			continue
		}
		if utf16.DecodeRune(r, surrogate(text[min(i+5, len(text)):])) == utf8.RuneError {
			return true
		}
		i += 10
	}
	return false
}

// surrogate returns the half of a surrogate pair that an escape at the start of text is, otherwise 0.
func surrogate(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if r := rune(n); err == nil && utf16.IsSurrogate(r) {
		return r
	}
	return 0
}

// skip reads a value of any type and returns its text.
func (s *scanner) skip() ([]byte, error) {
	s.peek()
	d := json.NewDecoder(bytes.NewReader(s.text[s.at:]))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return nil, fmt.Errorf("%w: %w", errJSON, err)
	}
	s.at += int(d.InputOffset())
	return raw, nil
}
