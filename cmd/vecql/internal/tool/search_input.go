// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// The queries of search and recall: vectors and keys of the command line, columns of files.

// parseVector returns the vector of --vector.
func (e *env) parseVector(text string) ([]float32, error) {
	if text == rowfile.Stdin {
		input, err := io.ReadAll(e.in)
		if err != nil {
			return nil, err
		}
		text = string(input)
	}
	var elements []*float32 // nil means null
	if err := json.Unmarshal([]byte(text), &elements); err != nil {
		return nil, usagef("--vector is %.40q, want numbers such as [0.5, 1]: %w", text, err)
	}
	v := make([]float32, len(elements))
	for i, element := range elements {
		if element == nil {
			return nil, usagef("--vector: element %d is null, want a number", i)
		}
		v[i] = *element
	}
	return v, nil
}

// parseKey returns the values of the primary key of a table from a line of CSV.
func parseKey(ctx context.Context, t clustertable.Table, text string) ([]any, error) {
	key := clustertable.PrimaryKey(t.Metadata)
	var schema column.Schema
	for _, c := range key {
		schema = append(schema, codec.ColumnField(c.Name, c.Type))
	}
	in, err := rowfile.Open(rowfile.Options{
		Format: rowfile.CSV, Fields: schema, Stdin: strings.NewReader(text),
		Dialect: rowfile.Dialect{NoHeader: true, Columns: clustertable.Names(key)},
	}, rowfile.Stdin)
	if err != nil {
		return nil, err
	}
	want := strings.Join(clustertable.Names(key), ",")
	var values []any
	for b, err := range in.Batches(ctx) {
		var record *rowfile.RecordError
		switch {
		case errors.As(err, &record):
			return nil, usagef("--like is %q, want %s: %w", text, want, record.Err)
		case err != nil:
			return nil, usagef("--like is %q, want %s: %w", text, want, err)
		case b.Rows != 1 || values != nil:
			return nil, usagef("--like is %q, want one row: %s", text, want)
		}
		for i := range b.Columns {
			values = append(values, b.Columns[i].Value(0))
		}
	}
	if slices.Contains(values, nil) {
		return nil, usagef("--like is %q, want a value of each column: %s", text, want)
	}
	return values, nil
}

// floatList is the type of vectors in files of text, of any dimension.
var floatList = cql.NewListType(cql.NativeType(cql.TypeFloat))

// readVectors returns the vectors of "file" or "file:column".
func (e *env) readVectors(ctx context.Context, name string) (vectors [][]float32, err error) {
	path, column, err := e.vectorsOf(ctx, name)
	if err != nil {
		return nil, err
	}
	err = e.readValues(ctx, path, []fileColumn{{column, floatList}}, func(values []any) error {
		v, err := vectorOf(values[0])
		vectors = append(vectors, v)
		return err
	})
	return vectors, err
}

// A fileColumn is a column of a file of rows. typ is the type of its text.
type fileColumn struct {
	name string
	typ  cql.TypeInfo
}

// readValues passes the values of each row of a file to f.
func (e *env) readValues(ctx context.Context, path string, columns []fileColumn, f func(values []any) error) error {
	var schema column.Schema
	for _, c := range columns {
		schema = append(schema, codec.ColumnField(c.name, c.typ))
	}
	in, err := rowfile.Open(rowfile.Options{Fields: schema, Stdin: e.in}, path)
	if err != nil {
		return err
	}
	values := make([]any, len(columns))
	for b, err := range in.Batches(ctx) {
		if err != nil {
			return err
		}
		for row := range b.Rows {
			for i := range values {
				values[i] = b.Columns[i].Value(row)
			}
			if err := f(values); err != nil {
				return fmt.Errorf("%s: row %d: %w", b.Source.File, b.Source.FirstRow+int64(row), err)
			}
		}
	}
	return nil
}

// vectorOf returns the vector of a row of a file. A double becomes the nearest float.
func vectorOf(value any) ([]float32, error) {
	switch v := value.(type) {
	case []float32:
		return v, nil
	case []float64:
		out := make([]float32, len(v))
		for i := range v {
			out[i] = float32(v[i])
		}
		return out, nil
	case nil:
		return nil, errors.New("the vector is NULL")
	}
	return nil, fmt.Errorf("the vector is of type %T, want a list of floats or doubles without NULL", value)
}

// vectorsOf returns the file and the column of "file:column". Without a column it is the only one of vectors. A file of
// the whole name has no column.
func (e *env) vectorsOf(ctx context.Context, name string) (path, vectors string, err error) {
	at := strings.LastIndexByte(name, ':')
	if _, err := os.Stat(name); err != nil && at > 0 && !strings.ContainsAny(name[at:], `/\`) {
		return name[:at], name[at+1:], nil
	}
	if name == rowfile.Stdin {
		return "", "", usagef("standard input needs the name of the column: -:COLUMN")
	}
	in, err := rowfile.Open(rowfile.Options{}, name)
	if err != nil {
		return "", "", err
	}
	for b, err := range in.Batches(ctx) {
		if err != nil {
			return "", "", err
		}
		if vectors, err = onlyVectors(b.Schema()); err != nil {
			return "", "", usagef("%s: %w", name, err)
		}
		return name, vectors, nil
	}
	return "", "", fmt.Errorf("%s has no rows", name)
}

// onlyVectors returns the only column of vectors or lists, or the only column.
func onlyVectors(schema column.Schema) (string, error) {
	var names []string
	for _, f := range schema {
		if f.Type.Kind == column.Vector || f.Type.Kind == column.List {
			names = append(names, f.Name)
		}
	}
	if names == nil {
		names = schema.Names()
	}
	if len(names) != 1 {
		return "", fmt.Errorf("several columns may have the vectors: want FILE:COLUMN, COLUMN is one of %s", strings.Join(names, ", "))
	}
	return names[0], nil
}
