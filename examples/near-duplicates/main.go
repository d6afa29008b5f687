// SPDX-License-Identifier: Apache-2.0

// Command near-duplicates finds pairs of rows in Parquet files whose embeddings are almost equal, before the rows are
// loaded into a table. It compares each row with all rows, exactly; the files are read once for all comparisons.
//
//	go run ./examples/near-duplicates [file.parquet ...]
//
// Without files it reads the doc comments of Go's standard library. It prints:
//
//	0.9971  encoding/json/v2.MarshalFunc  encoding/json/v2.MarshalToFunc
//	0.9989  html/template.HTMLEscape  text/template.HTMLEscape
//	0.9988  html/template.HTMLEscapeString  text/template.HTMLEscapeString
//	0.9982  html/template.HTMLEscaper  text/template.HTMLEscaper
//	0.9971  math/rand.NormFloat64  math/rand/v2.NormFloat64
//
// In production, choose the bound by looking at pairs. The rows of a table are compared in the same way: search over
// session.Query("SELECT id, embedding FROM ...").BorrowBatches(ctx).
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/pipe"
	"github.com/vecql/vecql/search"
)

const data = "cmd/vecql/internal/tool/testdata/gostdlib.parquet"

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, files []string, out io.Writer) error {
	if len(files) == 0 {
		files = []string{data}
	}
	docs := pipe.Parquet(files...).Where("package not like 'simd/%'").
		With("name", "package || '.' || symbol").Select("id", "name", "embedding")
	all, err := docs.Batch(ctx)
	if err != nil {
		return err
	}
	embeddings, err := column.MatrixOf[float32](all.Column("embedding"))
	if err != nil {
		return err
	}
	queries := make([][]float32, embeddings.Rows)
	for i := range queries {
		queries[i] = embeddings.Row(i)
	}
	// each row is the nearest to itself
	near, err := search.Over(docs.Batches(ctx), "embedding").MinScore(0.997).Batch(ctx, queries, 4)
	if err != nil {
		return err
	}
	for i := range near.Rows {
		query := int(near.Column(search.QueryColumn).Value(i).(int32))
		first, second := all.Column("name").Value(query), near.Column("name").Value(i)
		if all.Column("id").Value(query).(int64) < near.Column("id").Value(i).(int64) { // each pair once
			fmt.Fprintf(out, "%.4f  %s  %s\n", near.Column(search.ScoreColumn).Value(i), first, second)
		}
	}
	return nil
}
