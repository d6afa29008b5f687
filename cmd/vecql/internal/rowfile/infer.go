// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// The types of columns of text, from a sample of the records.

// Infer returns the options to read files with types. The columns of Parquet and Arrow have their own. The columns of
// CSV and JSON have the narrowest type that all values of a sample have: the first records, or all for 0. It is a
// boolean (the words true and false), a 64-bit integer, varint, double, date, time, timestamp (ISO 8601, or as
// Options.Values says), UUID, and of JSON a list, a vector of doubles (lists of one length) or a struct; otherwise
// text. A number does not begin with zeros: postal codes are text. Strings of JSON are no numbers. Options.Types has
// the types of columns that are not inferred.
//
// A record that is not a row is passed to Options.Rejected, and again when the rows are read.
//
// The files may be streams: what was read of them is kept, and they can be read once with the options.
func Infer(ctx context.Context, o Options, records int, names ...string) (Options, error) {
	in, err := Open(o, names...)
	if err != nil {
		return o, err
	}
	in.o.streams = map[string]*replay{}
	s := &sample{in: in, most: records, parser: parser{in.o.Values}}
	for _, f := range in.files {
		if err := in.opened(f, func(c content) error { return s.read(ctx, f, c) }); err != nil {
			return o, err
		}
		if s.isFull() {
			break
		}
	}
	fields, err := s.fields()
	if err != nil {
		return o, err
	}
	o.Fields, o.streams, o.Values.anyText = fields, in.o.streams, true
	o.Optional = append(slices.Clip(o.Optional), s.optional()...)
	return o, nil
}

// A sample is the records that types are inferred from.
type sample struct {
	in     *Input
	most   int
	parser parser

	typed column.Schema // of Parquet and Arrow
	text  guess         // a struct of all records
	isCSV bool
}

func (s *sample) isFull() bool {
	return s.most > 0 && s.text.rows >= s.most || len(s.typed) > 0 && s.text.rows == 0
}

// step returns the number of records to read at a time.
func (s *sample) step() int {
	const most = 1024
	if s.most == 0 {
		return most
	}
	return min(s.most, most)
}

// read adds the records of a file.
func (s *sample) read(ctx context.Context, file inputFile, c content) error {
	switch c.format {
	case Parquet:
		if c.compressed || file.stream {
			return fmt.Errorf("%s: Parquet is read from its end: name a file that is no stream and not compressed",
				file.path)
		}
		ds, err := parquetscan.Open(ctx, file.path)
		if err != nil {
			return err
		}
		defer ds.Close()
		scan, err := ds.Scan(parquetscan.Options{})
		if err == nil {
			s.typed = scan.Schema()
		}
		return err
	case Arrow:
		records, schema, err := openArrow(c.Reader)
		if err != nil {
			return fmt.Errorf("read %s: %w", file.path, err)
		}
		s.typed = schema
		records.Release()
		return nil
	}
	text, err := s.in.o.text(file.path, c)
	switch {
	case err != nil:
		return err
	case c.format == JSON:
		return s.readJSON(ctx, file, text)
	}
	return s.readCSV(ctx, file, text)
}

// readCSV adds the records of a CSV file.
func (s *sample) readCSV(ctx context.Context, file inputFile, r textContent) error {
	o := s.in.o
	o.Fields, o.BatchRows = nil, s.step()
	format := &csvFormat{}
	t, err := newTextReader(&o, format, file.path, r)
	if err != nil {
		return err
	}
	s.isCSV = true
	for _, name := range format.names {
		s.text.member(name)
	}
	return s.batches(ctx, t, func(b *column.Batch) error {
		for i := range b.Columns {
			c := &b.Columns[i]
			g := s.text.member(c.Name)
			text, err := c.Text()
			if err != nil {
				return err
			}
			for row := range b.Rows {
				if c.Null(row) {
					g.rows++
				} else {
					g.text(&s.parser, text.String(row))
				}
			}
		}
		s.text.rows += b.Rows
		return nil
	})
}

// readJSON adds the objects of a JSON file.
func (s *sample) readJSON(ctx context.Context, file inputFile, r textContent) error {
	o := s.in.o
	o.Fields, o.Records, o.BatchRows = column.Schema{}, true, s.step()
	t, err := newTextReader(&o, &jsonFormat{}, file.path, r)
	if err != nil {
		return err
	}
	p := s.parser.forJSON()
	return s.batches(ctx, t, func(b *column.Batch) error {
		text, err := b.Columns[0].Text()
		if err != nil {
			return err
		}
		for row := range b.Rows {
			if err := s.text.object(p, &scanner{text: text.Bytes(row)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// batches passes the records of a reader to f until the sample is full.
func (s *sample) batches(ctx context.Context, t *textReader, f func(*column.Batch) error) error {
	err := t.each(func(b *column.Batch) error {
		err := f(b)
		if err == nil && s.isFull() {
			err = errLeft
		}
		return cmp.Or(err, ctx.Err())
	})
	if errors.Is(err, errLeft) {
		return nil
	}
	return err
}

// member returns the guess of a field of a struct.
func (g *guess) member(name string) *guess {
	i := slices.IndexFunc(g.fields, func(f *guess) bool { return f.name == name })
	if i < 0 {
		i = len(g.fields)
		g.fields = append(g.fields, &guess{name: name})
	}
	return g.fields[i]
}

// fields returns the columns of all files.
func (s *sample) fields() (column.Schema, error) {
	fields := slices.Clone(s.typed)
	for _, g := range s.text.fields {
		isNone := s.isCSV && g.name == "" && g.values == 0 // after a delimiter at the end of the header
		if fields.Index(g.name) < 0 && !isNone {
			fields = append(fields, g.field())
		}
	}
	for _, want := range s.in.o.Types {
		i := fields.Index(want.Name)
		if i < 0 {
			return nil, fmt.Errorf("%s: %w: there is no column %q; there are: %s", s.in.label(), ErrColumns, want.Name,
				strings.Join(fields.Names(), ", "))
		}
		fields[i] = want
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("read %s: %w", s.in.label(), ErrNoRecords)
	}
	return fields, nil
}

// optional returns the names of members: objects may lack any of them. Records of CSV have all fields.
func (s *sample) optional() (names []string) {
	if s.isCSV {
		return nil
	}
	for _, g := range s.text.fields {
		names = append(names, g.name)
	}
	return names
}

// A replay is a stream whose first bytes were read for a sample.
type replay struct {
	in    io.ReadCloser
	first bytes.Buffer
	again bool
}

// Read reads for the sample.
func (r *replay) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.first.Write(p[:n])
	return n, err
}

// Close leaves the stream open for its rows.
func (*replay) Close() error { return nil }

// reopen returns the stream from its start.
func (r *replay) reopen(path string) (io.ReadCloser, error) {
	if r.again {
		return nil, fmt.Errorf("%s is a stream, and was read", path)
	}
	r.again = true
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(&r.first, r.in), r.in}, nil
}
