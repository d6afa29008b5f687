// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"errors"
	"io"
	"slices"
	"unicode/utf8"
)

// Rows from JSON lines: one object per line.

// jsonFormat reads the lines of a JSON file.
type jsonFormat struct{}

// start makes the builders. Without Options.Fields it reads the first object for the names of its members.
func (j *jsonFormat) start(t *textReader) error {
	t.parser = *t.parser.forJSON()
	t.parser.anyText = t.parser.anyText || t.o.Fields == nil
	var names []string
	if t.o.Fields == nil {
		line, first, _, err := t.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		s := scanner{text: line}
		if s.take('{') {
			_ = s.each('}', func() error { // append returns the error
				name, err := s.key()
				if !slices.Contains(names, string(name)) { // append returns an error for the second one
					names = append(names, string(name))
				}
				if err == nil {
					_, err = s.skip()
				}
				return err
			})
		}
		if err == nil {
			t.at, t.line = t.at-len(line), first
		}
	}
	t.setFields(names)
	return nil
}

func (*jsonFormat) split(data []byte, isEnd bool) (int, error) { return splitLine(data, isEnd) }

func (*jsonFormat) isRecord(text []byte) bool { s := scanner{text: text}; return s.peek() != 0 }

// append appends the members of an object.
func (j *jsonFormat) append(t *textReader, record []byte) error {
	s := scanner{text: record}
	if !utf8.Valid(record) {
		return t.in.errNotText()
	}
	if err := s.expect('{'); err != nil {
		return err
	}
	order := memberOrder{}
	nameOf := func(i int) string { return t.builders[i].field.Name }
	err := s.each('}', func() error {
		name, err := s.key()
		if err != nil {
			return err
		}
		i := order.find(name, len(t.builders), nameOf)
		if i < 0 {
			return t.skipMember(name, &s)
		}
		b := t.builders[i]
		if b.rows > t.rows {
			return &columnError{b.field.Name, errors.New("the member occurs twice")}
		}
		if err := t.parser.appendPart(b, &s); err != nil {
			return &columnError{b.field.Name, err}
		}
		return nil
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return err
	}
	return j.appendMissing(t)
}

// skipMember reads the value of a member that has no column.
func (t *textReader) skipMember(name []byte, s *scanner) error {
	switch {
	case t.o.RefuseExtra:
		return &columnError{string(name), errors.New("no such column is wanted")}
	case t.o.Fields == nil:
		return &columnError{string(name), errors.New("the first object has no such member")}
	}
	t.o.unused.add(name)
	_, err := s.skip()
	return err
}

// appendMissing ends a row: columns that the object does not have are NULL.
func (*jsonFormat) appendMissing(t *textReader) error {
	for _, b := range t.builders {
		if b.rows > t.rows {
			continue
		}
		if !t.o.mayMiss(b.field.Name) && t.o.Fields != nil {
			return &columnError{b.field.Name, errors.New("the object has no such member")}
		}
		if err := b.appendNull(); err != nil {
			return err
		}
	}
	return nil
}
