// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Records of CSV (RFC 4180) and their fields.

// A Dialect is the punctuation of CSV. The zero value is the format of RFC 4180.
type Dialect struct {
	Comma   byte // between fields; 0 means a tab in files whose names end in .tsv, otherwise ','
	Quote   byte // around fields; 0 means '"'. Inside a field it is doubled.
	Escape  byte // before a quote inside of a field in quotes, in place of a second quote; 0 means none
	Comment byte // begins a line that is not a record; 0 means none
	// EscapeAny means that an Escape stands before any character, also in fields without quotes: the character is then a
	// part of the field, as in the csv module of Python.
	EscapeAny bool
	// NoHeader means that the first record is a row. Columns are the names of the fields; nil means the names of
	// Options.Fields.
	NoHeader bool
	Columns  []string
	// SkipLines is the number of lines before the header.
	SkipLines int
}

// withDefaults returns the dialect of a file with defaults, or an error for characters that cannot separate or quote.
func (d Dialect) withDefaults(file string) (Dialect, error) {
	if d.Comma == 0 {
		d.Comma = Delimiter(file)
	}
	if d.Quote == 0 {
		d.Quote = '"'
	}
	for i, c := range []byte{d.Comma, d.Quote, d.Escape, d.Comment} {
		if c == '\n' || c == '\r' || c >= 0x80 || bytes.IndexByte([]byte{d.Comma, d.Quote}[:min(i, 2)], c) >= 0 {
			return d, fmt.Errorf("the character %q cannot separate or quote fields", c)
		}
	}
	return d, nil
}

// A field is a field of a record.
type field struct {
	text   []byte // of the record, or of its unescaped copy
	quoted bool
}

// A splitter splits text into records and fields.
type splitter struct {
	Dialect
	fields []field
	room   []byte // text of fields with escapes
}

var (
	errShort = errors.New("the text ends within the record")
	errOpen  = errors.New("a field in quotes has no end")
	errQuote = errors.New("text follows the closing quote of a field")
	errCR    = errors.New("a carriage return without a line feed is in a field without quotes")
)

// split reads the record at the start of data and returns its length, with the end of its line. The error is errShort
// if data may be the start of a longer record.
func (s *splitter) split(data []byte, isEnd bool) (n int, err error) {
	s.fields, s.room = s.fields[:0], s.room[:0]
	for isLast := false; !isLast && err == nil; {
		if n < len(data) && data[n] == s.Quote {
			n, isLast, err = s.quoted(data, n, isEnd)
		} else {
			n, isLast, err = s.plain(data, n, isEnd)
		}
	}
	return n, err
}

// plain reads the field without quotes at a position, and what ends it. next is the position of the next field.
func (s *splitter) plain(data []byte, at int, isEnd bool) (next int, isLast bool, err error) {
	escapes := false
	for i := at; i < len(data); i++ {
		switch data[i] {
		case '\r':
			if i+1 < len(data) && data[i+1] != '\n' {
				next, err = splitLine(data[i:], isEnd)
				if err == nil {
					err = errCR
				}
				return i + next, true, err
			}
		case s.Comma:
			s.addPlain(data[at:i], escapes)
			return i + 1, false, nil
		case '\n':
			s.addPlain(bytes.TrimSuffix(data[at:i], []byte{'\r'}), escapes)
			return i + 1, true, nil
		case s.Escape:
			if s.EscapeAny {
				escapes = true
				i++
			}
		}
	}
	if !isEnd {
		return 0, true, errShort
	}
	s.addPlain(bytes.TrimSuffix(data[at:], []byte{'\r'}), escapes)
	return len(data), true, nil
}

// addPlain adds a field without quotes.
func (s *splitter) addPlain(text []byte, escapes bool) {
	if escapes {
		text = s.unescape(text, func(c, _ byte) bool { return c == s.Escape })
	}
	s.fields = append(s.fields, field{text: text})
}

// quoted reads the field in quotes at a position, and what ends it.
func (s *splitter) quoted(data []byte, at int, isEnd bool) (next int, isLast bool, err error) {
	end, escapes := s.closing(data, at+1)
	if !isEnd && (end < 0 || end+2 >= len(data)) { // a quote or a line feed may follow
		return 0, true, errShort
	}
	if end < 0 {
		return len(data), true, fmt.Errorf("%w: the rest of the file is in it, %d lines", errOpen,
			bytes.Count(bytes.TrimSuffix(data[at:], []byte{'\n'}), []byte{'\n'})+1)
	}
	text := data[at+1 : end]
	if escapes {
		text = s.unescape(text, s.isEscape)
	}
	s.fields = append(s.fields, field{text, true})
	rest := data[end+1:]
	switch {
	case len(rest) == 0:
		return len(data), true, nil
	case rest[0] == s.Comma:
		return end + 2, false, nil
	case rest[0] == '\n':
		return end + 2, true, nil
	case string(rest[:min(2, len(rest))]) == "\r\n", string(rest) == "\r":
		return min(end+3, len(data)), true, nil
	}
	if next, err = splitLine(rest, isEnd); err == nil {
		err = errQuote
	}
	return end + 1 + next, true, err
}

// closing returns the position of the quote that ends a field, -1 if there is none, and whether quotes are escaped in
// between.
func (s *splitter) closing(data []byte, at int) (end int, escapes bool) {
	for i := at; ; i++ {
		n := s.toEscape(data[i:])
		if n < 0 {
			return -1, escapes
		}
		switch i += n; {
		case i+1 < len(data) && s.isEscape(data[i], data[i+1]):
			escapes = true
			i++
		case data[i] == s.Quote:
			return i, escapes
		}
	}
}

// toEscape returns the number of bytes before the next quote or escape, -1 if there is none.
func (s *splitter) toEscape(data []byte) int {
	if s.Escape == 0 {
		return bytes.IndexByte(data, s.Quote)
	}
	return slices.IndexFunc(data, func(c byte) bool { return c == s.Quote || c == s.Escape })
}

// isEscape reports whether c escapes the next byte in quotes: a quote after a quote or an escape, an escape after an
// escape. An escape before another byte is itself, unless the dialect has EscapeAny.
func (s *splitter) isEscape(c, next byte) bool {
	return c == s.Quote && next == s.Quote ||
		s.Escape != 0 && c == s.Escape && (s.EscapeAny || next == s.Quote || next == s.Escape)
}

// unescape returns the text of a field without its escapes.
func (s *splitter) unescape(text []byte, isEscape func(c, next byte) bool) []byte {
	first := len(s.room) // fields of the same record refer to what is before, also when room grows
	for i := 0; i < len(text); i++ {
		if c := text[i]; i+1 < len(text) && isEscape(c, text[i+1]) {
			i++
		}
		s.room = append(s.room, text[i])
	}
	return s.room[first:len(s.room):len(s.room)]
}
