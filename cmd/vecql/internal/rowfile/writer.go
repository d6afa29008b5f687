// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
)

// Writing rows to a stream.

// WriterOptions configure a Writer.
type WriterOptions struct {
	Format      Format // 0 means CSV
	Compression Compression
	Dialect     Dialect
	Values      Values
	// Types are the types of the columns in CQL, nil or one for each: CSV then has nested values and vectors as literals
	// of CQL in place of JSON.
	Types []cql.TypeInfo
	// Stream writes Arrow as a stream in place of a file.
	Stream bool
	// Workers is the number of goroutines that encode row groups of Parquet while Write takes further rows; 0 and 1 mean
	// none.
	Workers int
}

// workerGroupBytes is the size of a row group, in bytes of values, that one of several goroutines encodes: smaller
// than parquetscan's, because one more row group than there are workers is in memory, and a file must have several.
const workerGroupBytes = 32 << 20

// A Writer writes batches of one schema. Close completes the output, and leaves the io.Writer open. An output that is
// not closed is not complete.
type Writer interface {
	Write(b *column.Batch) error
	Close() error
}

// NewWriter returns a Writer of rows of a schema.
func NewWriter(w io.Writer, schema column.Schema, o WriterOptions) (Writer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Format == Parquet {
		codec := [...]parquetscan.Codec{Plain: parquetscan.Snappy, Gzip: parquetscan.Gzip, Zstd: parquetscan.Zstd}
		options := parquetscan.WriterOptions{Codec: codec[o.Compression], Workers: o.Workers}
		if o.Workers > 1 {
			options.RowGroupBytes = workerGroupBytes
		}
		out, err := parquetscan.NewWriter(w, schema, options)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
	c, err := compress(o.Compression, w)
	if err != nil {
		return nil, err
	}
	if o.Format == Arrow {
		out, err := newArrowWriter(c, schema, o.Stream)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
	return newTextWriter(c, schema, o.lines()), nil
}

func (o WriterOptions) withDefaults() (WriterOptions, error) {
	var err error
	if o.Values, err = o.Values.withDefaults(); err == nil {
		o.Dialect, err = o.Dialect.withDefaults("")
	}
	return o, err
}

// lines returns the format of lines, nil for Parquet and Arrow.
func (o *WriterOptions) lines() lineFormat {
	switch o.Format {
	case Parquet, Arrow:
		return nil
	case JSON:
		return &jsonLines{o.Values}
	}
	return newCSVLines(o)
}

// A lineFormat makes lines of text from rows. It is not safe for concurrent use.
type lineFormat interface {
	header(schema column.Schema) []byte
	row(dst []byte, b *column.Batch, i int) ([]byte, error)
}

// A textWriter writes lines.
type textWriter struct {
	w      io.WriteCloser
	schema column.Schema
	format lineFormat
	buf    []byte
	err    error // the first one
}

func newTextWriter(w io.WriteCloser, schema column.Schema, format lineFormat) *textWriter {
	return &textWriter{w: w, schema: schema, format: format, buf: format.header(schema)}
}

// Write adds rows.
func (t *textWriter) Write(b *column.Batch) error {
	if t.err == nil {
		t.err = sameNames(b, t.schema)
	}
	for i := 0; i < b.Rows && t.err == nil; i++ {
		if t.buf, t.err = t.format.row(t.buf, b, i); len(t.buf) >= 64<<10 {
			t.flush()
		}
	}
	return t.err
}

// writeText adds rows that are encoded.
func (t *textWriter) writeText(text []byte) error {
	if t.err == nil && len(t.buf)+len(text) >= 64<<10 {
		t.flush()
	}
	if t.err == nil && len(text) >= 64<<10 {
		_, t.err = t.w.Write(text)
		return t.err
	}
	t.buf = append(t.buf, text...)
	return t.err
}

func sameNames(b *column.Batch, schema column.Schema) error {
	same := func(c column.Column, f column.Field) bool { return c.Name == f.Name }
	if !slices.EqualFunc(b.Columns, schema, same) {
		return fmt.Errorf("%w: a batch has %v, the output %v", ErrColumns, b.Schema(), schema)
	}
	return nil
}

func (t *textWriter) flush() {
	if t.err == nil {
		_, t.err = t.w.Write(t.buf)
		t.buf = t.buf[:0]
	}
}

// Close writes the last lines.
func (t *textWriter) Close() error {
	t.flush()
	if t.err == nil {
		t.err = t.w.Close()
	}
	return t.err
}

// jsonLines is one object per line.
type jsonLines struct{ Values }

func (*jsonLines) header(column.Schema) []byte { return nil }

func (j *jsonLines) row(dst []byte, b *column.Batch, i int) ([]byte, error) {
	dst, err := j.appendFields(dst, b.Columns, i, true)
	return append(dst, '\n'), err
}

// csvLines is CSV.
type csvLines struct {
	Dialect
	Values
	isSpecial [256]bool // bytes that a field without quotes cannot have
	null      string
	types     []cql.TypeInfo // nil for JSON
	room      []byte
}

func newCSVLines(o *WriterOptions) *csvLines {
	d := o.Dialect
	c := &csvLines{Dialect: d, Values: o.Values, null: o.Values.Nulls[0], types: o.Types}
	if d.EscapeAny {
		escape := string(rune(d.Escape))
		c.null = strings.ReplaceAll(c.null, escape, escape+escape)
	}
	for _, b := range []byte{d.Comma, d.Quote, cmp.Or(d.Escape, d.Quote), '\n', '\r'} {
		c.isSpecial[b] = true
	}
	return c
}

func (c *csvLines) header(schema column.Schema) (dst []byte) {
	if c.NoHeader {
		return nil
	}
	for i, f := range schema {
		dst = c.appendField(dst, i, []byte(f.Name))
	}
	return append(dst, '\n')
}

// row appends a record.
func (c *csvLines) row(dst []byte, b *column.Batch, row int) ([]byte, error) {
	for i := range b.Columns {
		col := &b.Columns[i]
		if col.Null(row) {
			if i > 0 {
				dst = append(dst, c.Comma)
			}
			dst = append(dst, c.null...)
			continue
		}
		var err error
		if kind := col.Type.Kind; c.types != nil && (kind == column.Vector || kind.IsNested()) {
			c.room, err = c.appendLiteral(c.room[:0], c.types[i], col, row)
		} else {
			c.room, err = c.appendValue(c.room[:0], col, row)
		}
		if err != nil {
			return dst, err
		}
		dst = c.appendField(dst, i, c.room)
	}
	return append(dst, '\n'), nil
}

// appendField appends field i of a record, in quotes if it would be read as another value without.
func (c *csvLines) appendField(dst []byte, i int, text []byte) []byte {
	if i > 0 {
		dst = append(dst, c.Comma)
	}
	special := slices.IndexFunc(text, func(b byte) bool { return c.isSpecial[b] })
	quote := special >= 0 || len(text) == 0 || c.isNull(text) || text[0] == ' ' || text[len(text)-1] == ' ' ||
		i == 0 && (text[0] == c.Comment || bytes.HasPrefix(text, []byte("\ufeff")))
	if !quote {
		return append(dst, text...)
	}
	dst = append(dst, c.Quote)
	if bytes.IndexByte(text, c.Quote) < 0 && (c.Escape == 0 || bytes.IndexByte(text, c.Escape) < 0) {
		return append(append(dst, text...), c.Quote)
	}
	for _, b := range text {
		if b == c.Quote || b == c.Escape && b != 0 {
			dst = append(dst, cmp.Or(c.Escape, c.Quote))
		}
		dst = append(dst, b)
	}
	return append(dst, c.Quote)
}

// An arrowWriter writes Arrow IPC.
type arrowWriter struct {
	w      io.WriteCloser
	schema *arrow.Schema
	ipc    interface {
		Write(rec arrow.RecordBatch) error
		Close() error
	}
}

func newArrowWriter(w io.WriteCloser, schema column.Schema, stream bool) (*arrowWriter, error) {
	s, err := arrowcolumn.Schema(schema)
	if err != nil {
		return nil, err
	}
	a := &arrowWriter{w: w, schema: s}
	if stream {
		a.ipc = ipc.NewWriter(w, ipc.WithSchema(s))
		return a, nil
	}
	a.ipc, err = ipc.NewFileWriter(w, ipc.WithSchema(s))
	return a, err
}

// Write adds rows.
func (a *arrowWriter) Write(b *column.Batch) error {
	rec, err := arrowcolumn.RecordAs(b, a.schema)
	if err != nil {
		return err
	}
	return a.ipc.Write(rec)
}

// Close completes the file.
func (a *arrowWriter) Close() error { return cmp.Or(a.ipc.Close(), a.w.Close()) }
