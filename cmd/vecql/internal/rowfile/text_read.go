// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/vecql/vecql/column"
)

// Batches from text: CSV and JSON lines.

// RecordColumn is the name of the column that Options.Records adds: the text of each record.
const RecordColumn = "\x00record"

// A RecordError means that a record is not a row.
type RecordError struct {
	File   string
	Row    int64  // number of the record in its file, from 0
	Line   int64  // where it begins, from 1; 0 in a file without lines
	Column string // empty if the record as a whole is wrong
	Record string // its text; JSON for a file without text
	Err    error
}

// Error returns the position and the reason.
func (e *RecordError) Error() string {
	at := fmt.Sprintf("%s, line %d", e.File, e.Line)
	if e.Line == 0 {
		at = fmt.Sprintf("%s, row %d", e.File, e.Row)
	}
	if e.Column != "" {
		at += ", column " + e.Column
	}
	return fmt.Sprintf("%s: %v", at, e.Err)
}

// Unwrap returns the reason.
func (e *RecordError) Unwrap() error { return e.Err }

// A columnError is the error of a field of a record.
type columnError struct {
	column string
	error
}

// A recordFormat is CSV or JSON lines.
type recordFormat interface {
	// start reads what precedes the records and makes the builders.
	start(t *textReader) error
	// split returns the length of the record at the start of data; see splitter.split.
	split(data []byte, isEnd bool) (int, error)
	// append appends the record that split has read to the builders.
	append(t *textReader, record []byte) error
	// isRecord reports whether the text is a record rather than an empty line or a comment.
	isRecord(text []byte) bool
}

// A textReader reads the records of one file.
type textReader struct {
	o      *Options
	parser parser
	format recordFormat
	file   string

	in        textContent
	buf       []byte // in[at:end] is not read yet
	at, end   int
	isEnd     bool // in has no more bytes
	row, line int64

	rows     int        // in the builders
	builders []*builder // of Options.Fields
	records  *builder   // nil unless Options.Records
}

const (
	blockBytes = 64 << 10
	maxRecord  = 256 << 20
)

func newTextReader(o *Options, format recordFormat, file string, in textContent) (*textReader, error) {
	t := &textReader{
		o: o, parser: parser{o.Values}, format: format, file: file, in: in, line: 1,
		buf: make([]byte, blockBytes),
	}
	if err := format.start(t); err != nil {
		return nil, err
	}
	if o.Records {
		t.records = newBuilder(column.Field{Name: RecordColumn, Type: column.Type{Kind: column.String}})
	}
	return t, nil
}

// fill reads more of the file into the buffer.
func (t *textReader) fill() error {
	t.end = copy(t.buf, t.buf[t.at:t.end])
	t.at = 0
	if t.end == len(t.buf) {
		if t.end > maxRecord {
			return fmt.Errorf("%s, line %d: a record is longer than %d bytes", t.file, t.line, maxRecord)
		}
		t.buf = append(t.buf, make([]byte, len(t.buf))...)
	}
	n, err := io.ReadAtLeast(t.in, t.buf[t.end:], 1)
	t.end += n
	if errors.Is(err, io.EOF) {
		t.isEnd = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", t.file, err)
	}
	return nil
}

// next returns the next record, valid until the following call, and the line of its start. fault is not nil if the
// record cannot be split into fields. The error is io.EOF at the end.
func (t *textReader) next() (record []byte, line int64, fault, err error) {
	for {
		rest := t.buf[t.at:t.end]
		if len(rest) == 0 && t.isEnd {
			return nil, 0, nil, io.EOF
		}
		n, err := 0, errShort
		if len(rest) > 0 {
			n, err = t.format.split(rest, t.isEnd)
		}
		if errors.Is(err, errShort) {
			if err := t.fill(); err != nil {
				return nil, 0, nil, err
			}
			continue
		}
		t.at += n
		line = t.line
		t.line += int64(bytes.Count(rest[:n], []byte{'\n'}))
		if t.format.isRecord(rest[:n]) {
			return rest[:n], line, err, nil
		}
	}
}

// batch reads rows until a batch is full, a record is wrong, or the file ends. The batch may be empty.
func (t *textReader) batch() (*column.Batch, *RecordError, error) {
	first, size := t.row, 0
	for t.rows = 0; t.rows < t.o.BatchRows && size < t.o.BatchBytes; t.rows++ {
		record, line, fault, err := t.next()
		if err != nil {
			return t.take(first), nil, err
		}
		t.row++
		if fault == nil {
			fault = t.format.append(t, record)
		}
		if fault == nil && t.records != nil {
			fault = t.records.appendLine(record)
		}
		if fault != nil {
			for _, b := range t.all() {
				b.truncate(t.rows)
			}
			return t.take(first), t.recordError(record, line, fault), nil
		}
		size += len(record)
	}
	return t.take(first), nil, nil
}

// each passes the rows to f, batch by batch, and rejects the other records, until the end or the first error.
func (t *textReader) each(f func(*column.Batch) error) error {
	for {
		b, fault, err := t.batch()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if t.o.Read != nil {
			t.o.Read.Add(uint64(b.Rows))
		}
		if failed := f(b); failed != nil {
			return failed
		}
		if fault != nil {
			if failed := t.o.reject(fault); failed != nil {
				return failed
			}
		}
		if err != nil {
			return nil
		}
	}
}

func (t *textReader) all() []*builder {
	if t.records != nil {
		return append(slices.Clone(t.builders), t.records)
	}
	return t.builders
}

func (t *textReader) recordError(record []byte, line int64, err error) *RecordError {
	e := &RecordError{File: t.file, Row: t.row - 1, Line: line, Record: string(trimLine(record)), Err: err}
	var c *columnError
	if errors.As(err, &c) {
		e.Column, e.Err = c.column, c.error
	}
	return e
}

// take returns the rows in the builders as a batch.
func (t *textReader) take(first int64) *column.Batch {
	b := &column.Batch{Rows: t.rows, Source: column.Source{File: t.file, FirstRow: first}}
	for _, builder := range t.all() {
		b.Columns = append(b.Columns, builder.take())
	}
	return b
}

func (b *builder) appendLine(line []byte) error {
	b.values = append(b.values, trimLine(line)...)
	return b.end()
}

func trimLine(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }

// setFields makes the builders: for Options.Fields, or for all fields of the file as text.
func (t *textReader) setFields(names []string) {
	fields := t.o.Fields
	if fields == nil {
		for _, name := range names {
			fields = append(fields, column.Field{Name: name, Type: column.Type{Kind: column.String}, Nullable: true})
		}
	}
	for _, f := range fields {
		t.builders = append(t.builders, newBuilder(f))
	}
}
