// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// Rows from CSV.

// csvFormat reads the records of a CSV file.
type csvFormat struct {
	splitter
	names    []string // of the fields; nil before the header
	position []int    // of each builder among the fields, -1 means none
	skip     int      // lines
	trailing int      // delimiters at the end of the header; the last of names is then empty
}

// start reads the header.
func (c *csvFormat) start(t *textReader) error {
	var err error
	if c.Dialect, err = t.o.Dialect.withDefaults(t.file); err != nil {
		return fmt.Errorf("%s: %w", t.file, err)
	}
	c.skip = c.SkipLines
	names := c.Columns
	if c.NoHeader && names == nil {
		for _, f := range t.o.Fields {
			names = append(names, f.Name)
		}
	}
	if !c.NoHeader {
		header, err := c.header(t)
		if err != nil {
			return err
		}
		switch {
		case names == nil:
			names = header
		case len(names) != len(header):
			c.trailing = 0 // the fields after the delimiters have names
		}
	}
	if err := c.checkNames(t, names); err != nil {
		return err
	}
	t.o.addUnused(names)
	if c.names = names; c.trailing > 0 {
		c.names = append(slices.Clip(names), "")
	}
	t.setFields(c.names)
	for _, b := range t.builders {
		c.position = append(c.position, slices.Index(c.names, b.field.Name))
	}
	return nil
}

// header reads the names of the fields, without empty ones at the end.
func (c *csvFormat) header(t *textReader) (names []string, err error) {
	record, _, fault, err := t.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: the file is empty, not even a header", t.file)
	case err != nil:
		return nil, err
	}
	isOne := len(c.fields) < 2 && (fault == nil || errors.Is(fault, errQuote))
	if other := otherDelimiter(record, c.Comma); other != 0 && isOne && t.o.Dialect.Comma == 0 {
		return nil, fmt.Errorf("%s: the header is one field, and has the character %q: --delimiter %q divides it, "+
			"--delimiter %q keeps it", t.file, other, other, c.Comma)
	}
	if fault != nil {
		return nil, fmt.Errorf("%s: the header: %w", t.file, fault)
	}
	for c.hasTrailing() {
		c.fields = c.fields[:len(c.fields)-1]
		c.trailing++
	}
	for _, f := range c.fields {
		if !utf8.Valid(f.text) {
			return nil, fmt.Errorf("%s: the header: %w", t.file, t.in.errNotText())
		}
		names = append(names, string(f.text))
	}
	return names, nil
}

// otherDelimiter returns a character of a header that separates fields in other files, 0 if there is none.
func otherDelimiter(header []byte, comma byte) byte {
	for _, other := range []byte(";\t|,") {
		if other != comma && bytes.IndexByte(header, other) >= 0 {
			return other
		}
	}
	return 0
}

// hasTrailing reports whether a delimiter ends the record that was split.
func (c *csvFormat) hasTrailing() bool {
	last := len(c.fields) - 1
	return last > 0 && !c.fields[last].quoted && len(c.fields[last].text) == 0
}

// trim makes the delimiters at the end of a record one, if they are as many as in the header, and none if they are
// fewer. A record without them has all of its fields, unless the last one is empty: it may as well be cut off.
func (c *csvFormat) trim() {
	fields := len(c.names) - 1
	most := fields + 1
	switch n := len(c.fields); {
	case c.trailing == 0, n > fields+c.trailing:
		return
	case n < fields+c.trailing:
		most = fields
	}
	for len(c.fields) > most && c.hasTrailing() {
		c.fields = c.fields[:len(c.fields)-1]
	}
}

// checkNames returns an error for names of fields that occur twice, or do not match the options.
func (c *csvFormat) checkNames(t *textReader, names []string) error {
	if names == nil {
		return fmt.Errorf("%s: without a header the names of the columns are unknown", t.file)
	}
	err := t.o.checkNames(t.file, names)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			err = fmt.Errorf("%s: two fields have the name %q", t.file, name)
		}
	}
	isColumn := func(name string) bool { return t.o.Fields.Index(name) >= 0 }
	if err != nil && !c.NoHeader && t.o.Fields != nil && !slices.ContainsFunc(names, isColumn) {
		return fmt.Errorf("%w; --no-header if the first line is a row", err)
	}
	return err
}

// isRecord skips the lines before the header, comments, and empty lines, unless an empty line may be a NULL.
func (c *csvFormat) isRecord(text []byte) bool {
	if c.skip > 0 {
		c.skip--
		return false
	}
	if c.Comment != 0 && text[0] == c.Comment {
		return false
	}
	return len(c.names) == 1 || len(trimLine(text)) > 0
}

// split reads a line while lines are skipped, and for a comment, whose quotes mean nothing.
func (c *csvFormat) split(data []byte, isEnd bool) (int, error) {
	if c.skip > 0 || c.Comment != 0 && data[0] == c.Comment {
		return splitLine(data, isEnd)
	}
	return c.splitter.split(data, isEnd)
}

// splitLine returns the length of the line at the start of data.
func splitLine(data []byte, isEnd bool) (int, error) {
	if n := bytes.IndexByte(data, '\n'); n >= 0 {
		return n + 1, nil
	}
	if !isEnd {
		return 0, errShort
	}
	return len(data), nil
}

// checkFields compares the fields of the record with the names. Under allowMissing there may be fewer.
func (c *csvFormat) checkFields(allowMissing bool) error {
	first := c.fields[0]
	if !first.quoted && bytes.HasPrefix(first.text, byteOrderMark) {
		return errors.New("a byte order mark is at the start of the record: several files were joined")
	}
	n, of := len(c.fields), "the header"
	if c.NoHeader {
		of = "the list of fields"
	}
	isMore, isLess, want := n > len(c.names), n < len(c.names), len(c.names)
	if c.trailing > 0 { // neither these delimiters nor the name after them are counted
		want--
		if c.hasTrailing() {
			n--
		}
		isLess = isLess && n < want
	}
	switch {
	case isMore:
		return fmt.Errorf("the record has %d fields, %s %d; a field with the delimiter %q needs quotes", n, of, want,
			c.Comma)
	case isLess && !allowMissing:
		return fmt.Errorf("the record has %d fields, %s %d", n, of, want)
	}
	return nil
}

// checkUnnamed notes a value after the delimiters at the end of the header, which has no name and so no column.
func (c *csvFormat) checkUnnamed(t *textReader) error {
	isNone := c.trailing == 0 || len(c.fields) < len(c.names) || c.hasTrailing()
	switch {
	case isNone, t.o.Fields == nil, t.o.Fields.Index("") >= 0:
		return nil
	case t.o.RefuseExtra:
		return errors.New("the record has a value in a field without a name; --fields names the fields")
	}
	t.o.unused.add(nil)
	return nil
}

// append appends the fields of the record that was split.
func (c *csvFormat) append(t *textReader, _ []byte) error {
	c.trim()
	if err := c.checkFields(t.o.AllowMissing); err != nil {
		return err
	}
	if err := c.checkUnnamed(t); err != nil {
		return err
	}
	for i, b := range t.builders {
		at := c.position[i]
		if at < 0 || at >= len(c.fields) {
			if err := b.appendNull(); err != nil {
				return err
			}
			continue
		}
		f := c.fields[at]
		var err error
		switch {
		case (!f.quoted || t.parser.QuotedNulls) && t.parser.isNull(f.text):
			err = b.appendNull()
		case !utf8.Valid(f.text):
			err = t.in.errNotText()
		default:
			err = t.parser.adviseNull(f, t.parser.appendText(b, f.text))
		}
		if err != nil {
			return &columnError{b.field.Name, err}
		}
	}
	return nil
}

// adviseNull adds to the error of a field that may stand for NULL what makes it NULL.
func (p *parser) adviseNull(f field, err error) error {
	var value *ValueError
	if err == nil || !errors.As(err, &value) || !errors.Is(value.Err, errSyntax) {
		return err
	}
	switch {
	case f.quoted && p.isNull(f.text):
		value.Err = hint("a field in quotes is not NULL, unless --quoted-nulls is set")
	case len(f.text) == 0:
		value.Err = hint("--null '' makes the empty text NULL")
	}
	return err
}
