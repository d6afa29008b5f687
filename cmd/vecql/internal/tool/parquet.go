// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"context"
	"embed"
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// The demo's Parquet files, embedded in the program. testdata/README.md has their origin.

//go:embed testdata/*.parquet
var files embed.FS

// dimension is the dimension of the embeddings.
const dimension = 384

// symbol is a row of gostdlib.parquet.
type symbol struct {
	ID        int64
	Package   string
	Symbol    string
	Kind      string
	Synopsis  string
	Signature *string // nil means NULL
	Lines     int32
	Embedding []float32
}

// question is a row of gostdlib-queries.parquet.
type question struct {
	Text      string
	Embedding []float32
}

// readSymbols returns the documented symbols of the Go standard library with their embeddings.
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

// readQuestions returns questions about the standard library with their embeddings.
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

// readParquet calls add for each batch of the file, in order.
func readParquet(ctx context.Context, name string, add func(*columns) error) error {
	data, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	d, err := parquetscan.OpenSources(ctx,
		parquetscan.Source{Name: name, Reader: bytes.NewReader(data), Size: int64(len(data))})
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // cannot fail: the source is in memory
	for batch, err := range d.Batches(ctx) {
		if err != nil {
			return err
		}
		if err := add(&columns{batch: batch}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// columns returns the columns of a batch by name. err is the first error.
type columns struct {
	batch *column.Batch
	err   error
}

func (c *columns) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// numbers returns a column of numbers without NULLs.
func numbers[T column.Value](c *columns, name string) []T {
	col := c.batch.Column(name)
	v, err := column.Slice[T](col)
	if err == nil && col.Nulls > 0 {
		err = fmt.Errorf("column %q has %d NULLs", name, col.Nulls)
	}
	c.fail(err)
	return v
}

// A texts is a column of text.
type texts struct {
	*column.Column
	view column.TextView
}

func (c *columns) text(name string) texts {
	col := c.batch.Column(name)
	view, err := col.Text()
	c.fail(err)
	return texts{col, view}
}

// text returns a row of a text column, nil for NULL.
func text(t texts, r int) *string {
	if t.Null(r) {
		return nil
	}
	s := t.view.String(r)
	return &s
}

// must returns a row that may not be NULL.
func (c *columns) must(t texts, r int) string {
	s := text(t, r)
	if s == nil {
		c.fail(fmt.Errorf("row %d: %q is NULL", c.batch.Source.FirstRow+int64(r), t.Name))
		return ""
	}
	return *s
}

// vector returns a function from a row to its vector. The column must have no NULLs and the demo's dimension.
func (c *columns) vector(name string) func(r int) []float32 {
	col := c.batch.Column(name)
	m, err := column.MatrixOf[float32](col)
	if err == nil && (col.Nulls > 0 || m.Dim != dimension) {
		err = fmt.Errorf("column %q is %v with %d NULLs, want dimension %d", name, col.Type, col.Nulls, dimension)
	}
	c.fail(err)
	return m.Row // the caller keeps the batch, so its memory stays valid
}
