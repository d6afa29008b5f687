// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
	"github.com/vecql/vecql/parquetscan/arrowstream"
)

// Batches from files with types: Parquet and Arrow.

// readParquet reads a Parquet file. path may name a copy. start is what Input.done was before the file.
func (in *Input) readParquet(ctx context.Context, file inputFile, path string, start int64,
	f func(*column.Batch) error,
) error {
	ds, err := parquetscan.Open(ctx, path)
	if err != nil {
		return err
	}
	defer ds.Close()
	names := ds.Schema().Names()
	if err := in.o.checkNames(file.path, names); err != nil {
		return err
	}
	in.described = true
	in.o.addUnused(names)
	o := parquetscan.Options{Ordered: true}
	if in.o.Fields != nil {
		o.Columns = []string{}
		for _, want := range in.o.Fields {
			if slices.Contains(names, want.Name) {
				o.Columns = append(o.Columns, want.Name)
			}
		}
	}
	if file.size > 0 {
		o.Progress = func(p parquetscan.Progress) {
			in.done.Store(start + int64(float64(file.size)*float64(p.Bytes)/float64(max(p.TotalBytes, 1))))
		}
	}
	scan, err := ds.Scan(o)
	if err != nil {
		return err
	}
	for b, err := range scan.All(ctx) {
		if err != nil {
			return err
		}
		b.Source.File = file.path
		if err := in.shape(b, f); err != nil {
			return err
		}
	}
	return nil
}

// spool reads a Parquet file from a stream, by way of a temporary file: its directory is at its end.
func (in *Input) spool(ctx context.Context, file inputFile, r io.Reader, f func(*column.Batch) error) error {
	tmp, err := os.CreateTemp("", "vecql-*.parquet")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = io.Copy(tmp, r)
	if err = cmp.Or(err, tmp.Close()); err != nil {
		return fmt.Errorf("copy %s to a temporary file: %w", file.path, err)
	}
	file.size = 0 // its bytes are counted
	return in.readParquet(ctx, file, tmp.Name(), 0, f)
}

// openArrow opens a stream of Arrow IPC. A file is a stream between a magic number and an index, which is not needed.
// Columns that share a name have numbers in the schema.
func openArrow(r *bufio.Reader) (*ipc.Reader, column.Schema, error) {
	if head, _ := r.Peek(len(magicArrow)); string(head) == string(magicArrow) {
		_, _ = r.Discard(len(magicArrow) + 2) // the padding, too
	}
	if head, _ := r.Peek(len(arrowMarker)); string(head) != string(arrowMarker) {
		return nil, nil, errors.New("not Arrow IPC")
	}
	records, err := arrowstream.NewReader(r)
	if err != nil {
		return nil, nil, err
	}
	schema, err := arrowcolumn.Fields(records.Schema())
	if err != nil {
		records.Release()
	}
	numberNames(schema)
	return records, schema, err
}

// numberNames gives numbers to the names of columns that share one, as parquetscan.Options.NumberNames does.
func numberNames(schema column.Schema) {
	taken, seen := map[string]bool{}, map[string]bool{}
	for _, f := range schema {
		taken[f.Name] = true
	}
	for i := range schema {
		name := schema[i].Name
		for n := 1; seen[name] && taken[schema[i].Name]; n++ {
			schema[i].Name = fmt.Sprintf("%s_%d", name, n)
		}
		seen[name], taken[schema[i].Name] = true, true
	}
}

// readArrow reads a stream or a file of Arrow IPC.
func (in *Input) readArrow(file inputFile, r *bufio.Reader, f func(*column.Batch) error) error {
	fail := func(err error) error { return fmt.Errorf("read %s: %w", file.path, err) }
	records, schema, err := openArrow(r)
	if err != nil {
		return fail(err)
	}
	defer records.Release()
	if err := in.o.checkNames(file.path, schema.Names()); err != nil {
		return err
	}
	in.described = true
	in.o.addUnused(schema.Names())
	row := int64(0)
	for b, err := range arrowcolumn.Batches(records) {
		if err != nil {
			return fail(err)
		}
		for i := range b.Columns {
			b.Columns[i].Name = schema[i].Name
		}
		b.Source = column.Source{File: file.path, FirstRow: row}
		row += int64(b.Rows)
		if err := in.shape(b, f); err != nil {
			return err
		}
	}
	return nil
}

// shape passes the columns of Options.Fields to f, in their order: missing ones as NULL, text as the type of its field.
// Rows whose text is not a value of the type are rejected.
func (in *Input) shape(b *column.Batch, f func(*column.Batch) error) error {
	if in.o.Fields == nil {
		return f(b)
	}
	out := &column.Batch{Rows: b.Rows, Source: b.Source, Columns: make([]column.Column, len(in.o.Fields))}
	faults := map[int]*columnError{}
	for i, want := range in.o.Fields {
		at := b.Index(want.Name)
		if at >= 0 && !isParsed(b.Columns[at].Type.Kind, want.Type.Kind) {
			out.Columns[i] = b.Columns[at]
			continue
		}
		c, err := in.parseColumn(b, at, want, faults)
		if err != nil {
			return err
		}
		out.Columns[i] = c
	}
	return in.passRows(b, out, faults, f)
}

// isParsed reports whether values of a kind are made from text.
func isParsed(have, want column.Kind) bool {
	return have == column.String && want != column.String && want != column.Binary
}

// parseColumn returns a column of text as the type of a field, and adds the error of each row that is not a value. A
// position of -1 means that the batch does not have the column.
func (in *Input) parseColumn(b *column.Batch, at int, want column.Field, faults map[int]*columnError,
) (column.Column, error) {
	p, to := parser{in.o.Values}, newBuilder(want)
	for row := range b.Rows {
		if at >= 0 && !b.Columns[at].Null(row) {
			text, err := b.Columns[at].Text()
			if err == nil {
				err = p.appendText(to, text.Bytes(row))
			}
			if err == nil {
				continue
			}
			to.truncate(row)
			faults[row] = &columnError{want.Name, err}
		}
		if err := to.appendNull(); err != nil {
			return column.Column{}, err
		}
	}
	return to.take(), nil
}

// passRows passes the rows without a fault to f, and the others, as they were, to Options.Rejected.
func (in *Input) passRows(was, b *column.Batch, faults map[int]*columnError, f func(*column.Batch) error) error {
	first := 0
	pass := func(end int) error {
		if end == first {
			return nil
		}
		rows := b.Slice(first, end)
		rows.Source.FirstRow += int64(first)
		return f(rows)
	}
	for _, row := range slices.Sorted(maps.Keys(faults)) {
		if err := pass(row); err != nil {
			return err
		}
		first = row + 1
		fault := &RecordError{
			File: b.Source.File, Row: b.Source.FirstRow + int64(row), Column: faults[row].column,
			Record: string(AppendRecord(nil, was, row)), Err: faults[row].error,
		}
		if err := in.o.reject(fault); err != nil {
			return err
		}
	}
	return pass(b.Rows)
}
