// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// This file reads the demo's Parquet files, which are part of the program. testdata/README.md says where they come from.

//go:embed testdata/*.parquet
var files embed.FS

// dimension of the embeddings.
const dimension = 384

// symbol is a row of gostdlib.parquet.
type symbol struct {
	ID        int64
	Package   string
	Symbol    string
	Kind      string
	Synopsis  string
	Signature *string // nil is NULL
	Lines     int32
	Embedding []float32
}

// question is a row of gostdlib-queries.parquet.
type question struct {
	Text      string
	Embedding []float32
}

func readSymbols(ctx context.Context) ([]symbol, error) {
	var rows []symbol
	err := readParquet(ctx, "testdata/gostdlib.parquet", func(batch arrow.RecordBatch) error {
		c := columns{batch: batch, first: len(rows)}
		ids, lines := column[*array.Int64](&c, "id"), column[*array.Int32](&c, "lines")
		text := map[string]func(int) *string{}
		for _, name := range []string{"package", "symbol", "kind", "synopsis", "signature"} {
			text[name] = c.text(name)
		}
		vector := c.vector("embedding")
		for r := range int(batch.NumRows()) {
			if c.err != nil {
				return c.err
			}
			rows = append(rows, symbol{
				ID: ids.Value(r), Package: c.must(text["package"], r), Symbol: c.must(text["symbol"], r), Kind: c.must(text["kind"], r),
				Synopsis: c.must(text["synopsis"], r), Signature: text["signature"](r), Lines: lines.Value(r), Embedding: vector(r),
			})
		}
		return c.err
	})
	return rows, err
}

func readQuestions(ctx context.Context) ([]question, error) {
	var rows []question
	err := readParquet(ctx, "testdata/gostdlib-queries.parquet", func(batch arrow.RecordBatch) error {
		c := columns{batch: batch, first: len(rows)}
		text, vector := c.text(batch.ColumnName(0)), c.vector("embedding")
		for r := range int(batch.NumRows()) {
			if c.err != nil {
				return c.err
			}
			rows = append(rows, question{Text: c.must(text, r), Embedding: vector(r)})
		}
		return c.err
	})
	return rows, err
}

// readParquet calls add for each batch of a file's rows. A batch is valid during the call.
func readParquet(ctx context.Context, name string, add func(arrow.RecordBatch) error) error {
	data, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	pf, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = pf.Close() }() // it reads from memory
	reader, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: 512}, memory.DefaultAllocator)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	batches, err := reader.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer batches.Release()
	for batches.Next() {
		if err := add(batches.RecordBatch()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return batches.Err()
}

// columns finds the columns of a batch by name. The first thing that is not as expected is kept in err.
type columns struct {
	batch arrow.RecordBatch
	first int // row of the file at which the batch begins, for errors
	err   error
}

func (c *columns) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *columns) find(name string) arrow.Array {
	for i, f := range c.batch.Schema().Fields() {
		if f.Name == name {
			return c.batch.Column(i)
		}
	}
	c.fail("no column %q", name)
	return nil
}

// column returns the column as an A, nil after an error.
func column[A arrow.Array](c *columns, name string) (a A) {
	if found := c.find(name); found != nil {
		var ok bool
		if a, ok = found.(A); !ok {
			c.fail("column %q is %v", name, found.DataType())
		}
	}
	return a
}

// text returns a function that reads a row of a text column, nil for NULL.
func (c *columns) text(name string) func(r int) *string {
	read := func(int) string { return "" }
	col := c.find(name)
	switch col := col.(type) {
	case nil:
		return func(int) *string { return nil }
	case *array.String:
		read = col.Value
	case *array.LargeString:
		read = col.Value
	case *array.Dictionary:
		values, ok := col.Dictionary().(*array.String)
		if !ok {
			c.fail("column %q is %v", name, col.DataType())
			break
		}
		read = func(r int) string { return values.Value(col.GetValueIndex(r)) }
	default:
		c.fail("column %q is %v", name, col.DataType())
	}
	return func(r int) *string {
		if col.IsNull(r) {
			return nil
		}
		s := string([]byte(read(r))) // the batch's memory is not ours
		return &s
	}
}

// must reads a row that may not be NULL.
func (c *columns) must(text func(int) *string, r int) string {
	s := text(r)
	if s == nil {
		c.fail("row %d: NULL where a text is needed", c.first+r)
		return ""
	}
	return *s
}

// vector returns a function that reads a row of a column of lists of float32, which must have the dimension.
func (c *columns) vector(name string) func(r int) []float32 {
	type list interface {
		arrow.Array
		ListValues() arrow.Array
		ValueOffsets(i int) (start, end int64)
	}
	lists, ok := c.find(name).(list)
	var values *array.Float32
	if ok {
		values, ok = lists.ListValues().(*array.Float32)
	}
	if !ok {
		c.fail("column %q is not a list of float32", name)
		return func(int) []float32 { return nil }
	}
	return func(r int) []float32 {
		start, end := lists.ValueOffsets(r)
		if end-start != dimension || lists.IsNull(r) {
			c.fail("row %d: an embedding of %d elements, want %d", c.first+r, end-start, dimension)
			return nil
		}
		return append([]float32(nil), values.Float32Values()[start:end]...)
	}
}
