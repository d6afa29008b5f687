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
		_, _, fault, err := t.next()
		switch {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("%s: the file is empty, not even a header", t.file)
		case err != nil:
			return err
		case fault != nil:
			return fmt.Errorf("%s: the header: %w", t.file, fault)
		}
		if names == nil {
			for _, f := range c.fields {
				if !utf8.Valid(f.text) {
					return fmt.Errorf("%s: the header: %w", t.file, t.in.errNotText())
				}
				names = append(names, string(f.text))
			}
		}
	}
	if err := c.checkNames(t, names); err != nil {
		return err
	}
	c.names = names
	t.o.addUnused(names)
	t.setFields(names)
	for _, b := range t.builders {
		c.position = append(c.position, slices.Index(names, b.field.Name))
	}
	return nil
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
	switch {
	case n > len(c.names):
		return fmt.Errorf("the record has %d fields, %s %d; a field with the delimiter %q needs quotes", n, of,
			len(c.names), c.Comma)
	case n < len(c.names) && !allowMissing:
		return fmt.Errorf("the record has %d fields, %s %d", n, of, len(c.names))
	}
	return nil
}

// append appends the fields of the record that was split.
func (c *csvFormat) append(t *textReader, _ []byte) error {
	if err := c.checkFields(t.o.AllowMissing); err != nil {
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
		case !f.quoted && t.parser.isNull(f.text):
			err = b.appendNull()
		case !utf8.Valid(f.text):
			err = t.in.errNotText()
		default:
			err = t.parser.appendText(b, f.text)
		}
		if err != nil {
			return &columnError{b.field.Name, err}
		}
	}
	return nil
}
