// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// Files as sources of statements: Parquet by itself, other formats by package rowfile.

// typeFlags are the flags for the types of columns of CSV and JSON.
type typeFlags struct {
	sample int
	types  []string
}

func (f *typeFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&f.sample, "sample-rows", 20_480, "`records` of CSV and JSON whose values decide the types of columns; 0 means all")
	c.Flags().StringArrayVar(&f.types, "type", nil, "type of a column of CSV or JSON, `NAME=TYPE` of CQL; repeat for several")
}

// fields returns the columns whose types are set.
func (f *typeFlags) fields() (column.Schema, error) {
	if f.sample < 0 {
		return nil, usagef("--sample-rows is %d, want at least 0", f.sample)
	}
	var fields column.Schema
	for _, text := range f.types {
		name, typ, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usagef("--type is %q, want NAME=TYPE", text)
		}
		info, err := cql.ParseType(typ, nil)
		if err != nil {
			return nil, usagef("--type %s: %w", text, err)
		}
		fields = append(fields, codec.ColumnField(name, info))
	}
	return fields, nil
}

// infer returns the options of files with the types of their columns.
func (e *env) infer(ctx context.Context, files *fileFlags, types *typeFlags, bad *rejects, names []string,
) (rowfile.Options, error) {
	o, err := e.readOptions(files)
	if err != nil {
		return o, err
	}
	if o.Types, err = types.fields(); err != nil {
		return o, err
	}
	if bad.allowed() {
		in, err := rowfile.Open(o, names...)
		if err == nil {
			err = bad.begin(e, in.Files())
		}
		if err != nil {
			return o, err
		}
		o.Rejected, o.Read = bad.addRecord, &bad.sampled
	}
	o, err = rowfile.Infer(ctx, o, types.sample, names...)
	if bad.allowed() {
		o.Read = &bad.rows
	}
	return o, adviseRecord(err)
}

// openFiles opens files as the source of a pipe. The caller calls end after the last row.
func (e *env) openFiles(ctx context.Context, o *sqlOptions, names []string) (p pipe.Pipe, end func() error, err error) {
	for i, name := range names {
		if name == "/dev/stdin" {
			names = slices.Clone(names)
			names[i] = rowfile.Stdin
		}
	}
	if slices.Contains(names, rowfile.Stdin) {
		if e.inUsed {
			return p, nil, usagef("standard input is the statement or a file already, and cannot be one more file")
		}
		e.inUsed = true
	}
	options, err := e.readOptions(&o.files)
	if err != nil {
		return p, nil, err
	}
	in, err := rowfile.Open(options, names...)
	if err != nil {
		return p, nil, err
	}
	isParquet, err := in.Parquet()
	if err != nil {
		return p, nil, err
	}
	if isParquet {
		data, err := parquetscan.Open(ctx, in.Files()...)
		if err != nil {
			return p, nil, err
		}
		return pipe.Dataset(data), data.Close, nil
	}
	source := &fileSource{names: names}
	if source.o, err = e.infer(ctx, &o.files, &o.types, &o.rejects, names); err != nil {
		return p, nil, err
	}
	return pipe.From(source), func() error { e.noteUnused(source.unused); return nil }, nil
}

// noteUnused prints the members of JSON that are no columns, since no object of the sample has them.
func (e *env) noteUnused(names []string) {
	if len(names) > 0 {
		fmt.Fprintf(e.err, "note: %s: no object of the sample has such a member, so that it is no column; "+
			"--sample-rows 0 reads all objects first\n", strings.Join(names, ", "))
	}
}

// A fileSource is a pipe.Source of files.
type fileSource struct {
	o      rowfile.Options
	names  []string
	unused []string // members that are no columns
}

// Label implements pipe.Source.
func (s *fileSource) Label() (verb, text string) { return "Files", strings.Join(s.names, ", ") }

// Open implements pipe.Source.
func (s *fileSource) Open(context.Context) (*fileRows, error) { return &fileRows{fileSource: s}, nil }

// fileRows are the rows of files in one run. One goroutine reads them, so that they keep their order.
type fileRows struct {
	*fileSource
	wanted column.Schema
}

// Schema implements pipe.Rows.
func (r *fileRows) Schema() column.Schema { return r.o.Fields }

// Scan implements pipe.Rows.
func (r *fileRows) Scan(columns []string, _ int) (line string, goroutines int, err error) {
	r.wanted = column.Schema{}
	for _, name := range columns {
		r.wanted = append(r.wanted, r.o.Fields[r.o.Fields.Index(name)])
	}
	return fmt.Sprintf("%s: %s", strings.Join(r.names, ", "), strings.Join(columns, ", ")), 1, nil
}

// Run implements pipe.Rows: a batch is read while f has the one before.
func (r *fileRows) Run(ctx context.Context, f func(worker int, b *column.Batch) error) error {
	o := r.o
	o.Fields = r.wanted
	in, err := rowfile.Open(o, r.names...)
	if err != nil {
		return err
	}
	batches := make(chan *column.Batch)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(batches)
		for b, err := range in.Batches(ctx) {
			if err != nil {
				return adviseTypes(err)
			}
			select {
			case batches <- b:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
	g.Go(func() error {
		for b := range batches {
			if err := f(0, b); err != nil {
				return err
			}
		}
		return nil
	})
	err = g.Wait()
	for _, name := range in.Unused() {
		if r.o.Fields.Index(name) < 0 {
			r.unused = append(r.unused, name)
		}
	}
	return err
}

// Close implements pipe.Rows.
func (*fileRows) Close() error { return nil }

// adviseTypes adds to the error of a value what sets the types, and to another error of a record what leaves it out.
func adviseTypes(err error) error {
	var value *rowfile.ValueError
	if !errors.As(err, &value) {
		return adviseRecord(err)
	}
	return advise(err, "a sample of the records decides the types: --sample-rows 0 reads all of them first, --type NAME=text sets one")
}

// adviseRecord adds to the error of a record what leaves it out.
func adviseRecord(err error) error {
	var record *rowfile.RecordError
	if !errors.As(err, &record) {
		return err
	}
	return advise(err, "--max-errors leaves out such records, --rejected keeps them")
}
