// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// A program writes a batch to a file, and reads the files that match a pattern.
func Example() {
	dir, err := os.MkdirTemp("", "items")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	items := column.NewBatch(
		column.Of("id", []int64{1, 2, 3}),
		column.Strings("name", []string{"lamp", "chair", "desk"}),
		column.Matrix("embedding", []float32{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, 2),
	)
	if err := parquetscan.WriteFile(ctx, filepath.Join(dir, "items-1.parquet"), items); err != nil {
		log.Fatal(err)
	}

	ds, err := parquetscan.Open(ctx, filepath.Join(dir, "items-*.parquet"))
	if err != nil {
		log.Fatal(err)
	}
	defer ds.Close()
	for batch, err := range ds.Batches(ctx, "name", "embedding") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(batch)
	}
	// Output:
	// name    embedding
	// string  vector<float32, 2>
	// lamp    [0.1, 0.2]
	// chair   [0.3, 0.4]
	// desk    [0.5, 0.6]
	// 3 rows
}

// Several goroutines read the row groups of a file and reuse the memory of batches.
func ExampleScan_Borrow() {
	file := pricesFile()
	ctx := context.Background()
	ds, err := parquetscan.OpenSources(ctx, parquetscan.Source{Name: "prices", Reader: bytes.NewReader(file), Size: int64(len(file))})
	if err != nil {
		log.Fatal(err)
	}
	defer ds.Close()
	scan, err := ds.Scan(parquetscan.Options{Columns: []string{"price"}, Filter: parquetscan.Ge("price", 10), Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	var sums [2]int64 // of each worker
	err = scan.Borrow(ctx, nil, func(worker int, batch *column.Batch) error {
		prices, err := column.Slice[int64](batch.Column("price"))
		for _, price := range prices {
			sums[worker] += price
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sums[0] + sums[1])
	// Output: 4905
}

// pricesFile returns a file with the prices 0 to 99 in row groups of 30.
func pricesFile() []byte {
	prices := make([]int64, 100)
	for i := range prices {
		prices[i] = int64(i)
	}
	batch := column.NewBatch(column.Of("price", prices))
	var out bytes.Buffer
	w, err := parquetscan.NewWriter(&out, batch.Schema(), parquetscan.WriterOptions{RowGroupRows: 30})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil { // writes the footer
		log.Fatal(err)
	}
	return out.Bytes()
}

// A schema can have columns that are never NULL.
func ExampleCreate() {
	dir, err := os.MkdirTemp("", "items")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "events.parquet")
	timestamp := column.Type{Kind: column.Timestamp, Unit: column.Micros, UTC: true}
	w, err := parquetscan.Create(path, column.Schema{
		{Name: "id", Type: column.Type{Kind: column.UUID}},
		{Name: "title", Type: column.Type{Kind: column.String}, Nullable: true},
		{Name: "at", Type: timestamp},
	}, parquetscan.WriterOptions{Codec: parquetscan.Zstd, BloomFilters: []string{"id"}})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = w.Abort() }() // does nothing after Close
	at, err := column.Of("at", []int64{1_700_000_000_000_000, 1_700_000_001_000_000}).WithType(timestamp)
	if err != nil {
		log.Fatal(err)
	}
	err = w.Write(column.NewBatch(
		column.Of("id", [][16]byte{{1}, {2}}),
		column.Strings("title", []string{"first", ""}).WithNulls([]bool{false, true}),
		at,
	))
	if err != nil {
		log.Fatal(err)
	}
	_, err = os.Stat(path)
	fmt.Println(os.IsNotExist(err))
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	_, err = os.Stat(path)
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}
