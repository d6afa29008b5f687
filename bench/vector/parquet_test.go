// SPDX-License-Identifier: Apache-2.0

package vector_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// groupRows is the number of rows in a row group of the Parquet file.
const groupRows = 50_000

// parquetFile returns the path of a Parquet file with the rows, written first if it is missing: ids and vectors.
func parquetFile(tb testing.TB, data []float32) string {
	tb.Helper()
	folder := *dir
	if folder == "" {
		folder = tb.TempDir()
	}
	path := filepath.Join(folder, "rows.parquet")
	ds, err := parquetscan.Open(tb.Context(), path)
	if err == nil && ds.NumRows() == int64(*rows) {
		if err := ds.Close(); err != nil {
			tb.Fatal(err)
		}
		return path
	}
	var f *parquetscan.FileWriter
	for first := 0; first < *rows; first += groupRows {
		part := data[first**dim : min(first+groupRows, *rows)**dim]
		ids := make([]int64, len(part) / *dim)
		for i := range ids {
			ids[i] = int64(first + i)
		}
		batch := column.NewBatch(column.Of("id", ids), column.Matrix("v", part, *dim))
		if f == nil {
			if f, err = parquetscan.Create(path, batch.Schema(), parquetscan.WriterOptions{RowGroupRows: groupRows}); err != nil {
				tb.Fatal(err)
			}
		}
		if err := f.Write(batch); err != nil {
			tb.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

// BenchmarkParquet searches the rows of a Parquet file in the page cache, which search reads once for all queries.
func BenchmarkParquet(b *testing.B) {
	data, all := floats(b, "rows.f32", *rows), floats(b, "queries.f32", maxQueries)
	ds, err := parquetscan.Open(b.Context(), parquetFile(b, data))
	if err != nil {
		b.Fatal(err)
	}
	defer ds.Close()
	for _, text := range strings.Split(*queries, ",") {
		var n int
		if _, err := fmt.Sscan(text, &n); err != nil {
			b.Fatal(err)
		}
		for _, metric := range []vector.Metric{vector.Dot, vector.Cosine, vector.SquaredL2} {
			name := fmt.Sprintf("format=parquet/metric=%s/dim=%d/rows=%d/k=%d/queries=%d/threads=%d/impl=%s", nameOf(metric), *dim, *rows,
				*nearest, n, *threads, vector.KernelName())
			b.Run(name, func(b *testing.B) { benchParquet(b, ds, data, all[:n**dim], metric) })
		}
	}
}

func benchParquet(b *testing.B, ds *parquetscan.Dataset, data, q []float32, metric vector.Metric) {
	vectors := slices.Collect(slices.Chunk(q, *dim))
	var found *column.Batch
	for b.Loop() {
		var err error
		found, err = search.Over(ds.Batches(b.Context(), "id", "v"), "v").Metric(metric).Batch(b.Context(), vectors, *nearest)
		if err != nil {
			b.Fatal(err)
		}
	}
	exact, err := vector.Nearest(context.Background(), vector.MatrixOf(data, *dim), q, *nearest, metric, vector.Options{Workers: *threads})
	if err != nil {
		b.Fatal(err)
	}
	got, err := column.Slice[int64](found.Column("id"))
	if err != nil || !slices.Equal(got, exact.Positions) {
		b.Fatalf("%d rows, others than the search in memory found: %v", len(got), err)
	}
}
