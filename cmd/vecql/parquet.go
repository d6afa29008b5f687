// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"slices"

	"github.com/vecql/vecql/parquetscan"
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
	err := readParquet(ctx, "testdata/gostdlib.parquet", func(c *columns) error {
		ids, lines, vector := numbers[int64](c, "id"), numbers[int32](c, "lines"), c.vector("embedding")
		pkg, name, kind := c.text("package"), c.text("symbol"), c.text("kind")
		synopsis, signature := c.text("synopsis"), c.text("signature")
		for r := range c.batch.Rows {
			if c.err != nil {
				return c.err
			}
			rows = append(rows, symbol{
				ID: ids[r], Package: c.must(pkg, r), Symbol: c.must(name, r), Kind: c.must(kind, r), Synopsis: c.must(synopsis, r),
				Signature: text(signature, r), Lines: lines[r], Embedding: vector(r),
			})
		}
		return c.err
	})
	return rows, err
}

func readQuestions(ctx context.Context) ([]question, error) {
	var rows []question
	err := readParquet(ctx, "testdata/gostdlib-queries.parquet", func(c *columns) error {
		words, vector := c.text(c.batch.Columns[0].Name), c.vector("embedding")
		for r := range c.batch.Rows {
			if c.err != nil {
				return c.err
			}
			rows = append(rows, question{Text: c.must(words, r), Embedding: vector(r)})
		}
		return c.err
	})
	return rows, err
}

// readParquet calls add for each batch of a file's rows, in their order.
func readParquet(ctx context.Context, name string, add func(*columns) error) error {
	data, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	d, err := parquetscan.OpenSources(ctx, parquetscan.Config{}, parquetscan.Source{Name: name, Reader: bytes.NewReader(data), Size: int64(len(data))})
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // it reads from memory
	scan, err := d.Scan(parquetscan.Options{Text: true, Ordered: true})
	if err != nil {
		return err
	}
	for batch, err := range scan.All(ctx) {
		if err != nil {
			return err
		}
		if err := add(&columns{batch: batch}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// columns finds the columns of a batch by name. The first thing that is not as expected is kept in err.
type columns struct {
	batch *parquetscan.Batch
	err   error
}

func (c *columns) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// find returns a column of a kind; one without rows after an error.
func (c *columns) find(name string, kinds ...parquetscan.Kind) *parquetscan.Column {
	found := c.batch.Column(name)
	switch {
	case found == nil:
		c.fail("no column %q", name)
	case !slices.Contains(kinds, found.Type.Kind):
		c.fail("column %q is %v", name, found.Type)
	default:
		return found
	}
	return new(parquetscan.Column)
}

// numbers returns a column of numbers, none of which may be NULL.
func numbers[T parquetscan.Value](c *columns, name string) []T {
	col := c.find(name, parquetscan.Int32, parquetscan.Int64)
	v, ok := parquetscan.SliceOf[T](col)
	if c.err == nil && (!ok || col.Nulls() > 0) {
		c.fail("column %q is %v with %d NULLs", name, col.Type, col.Nulls())
	}
	return v
}

func (c *columns) text(name string) *parquetscan.Column {
	return c.find(name, parquetscan.String)
}

// text returns a row of a text column, nil for NULL.
func text(c *parquetscan.Column, r int) *string {
	if c.Null(r) {
		return nil
	}
	s := string(c.Bytes(r))
	return &s
}

// must reads a row that may not be NULL.
func (c *columns) must(col *parquetscan.Column, r int) string {
	s := text(col, r)
	if s == nil {
		c.fail("row %d: NULL where a text is needed", c.batch.Row+int64(r))
		return ""
	}
	return *s
}

// vector returns a function that reads a row of a column of vectors, which must have the dimension.
func (c *columns) vector(name string) func(r int) []float32 {
	col := c.find(name, parquetscan.Vector)
	values, ok := parquetscan.SliceOf[float32](col)
	if c.err == nil && (!ok || col.Nulls() > 0 || col.Dim() != dimension) {
		c.fail("column %q is %v of dimension %d with %d NULLs, want %d", name, col.Type, col.Dim(), col.Nulls(), dimension)
	}
	return func(r int) []float32 { return values[r*dimension : (r+1)*dimension : (r+1)*dimension] } // the batch is ours
}
