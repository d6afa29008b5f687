// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// openPrices opens a file with the prices 0 to 99 in row groups of 30, with a configuration.
func openPrices(ctx context.Context, config parquetscan.Config) *parquetscan.Dataset {
	file := pricesFile()
	ds, err := config.OpenSources(ctx, parquetscan.Source{
		Name: "prices", Reader: bytes.NewReader(file), Size: int64(len(file)), ETag: "1",
	})
	if err != nil {
		log.Fatal(err)
	}
	return ds
}

// A filter is SQL's WHERE: statistics leave out row groups and pages, the values decide the rest.
func ExampleFilter() {
	ctx := context.Background()
	ds := openPrices(ctx, parquetscan.Config{})
	defer ds.Close()
	filter := parquetscan.And(
		parquetscan.Or(parquetscan.Lt("price", 3), parquetscan.Ge("price", 97.5)),
		parquetscan.Not(parquetscan.In("price", 1, 99)),
	)
	fmt.Println(filter)
	scan, err := ds.Scan(parquetscan.Options{Filter: filter, Ordered: true})
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range scan.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		prices, err := column.Slice[int64](batch.Column("price"))
		fmt.Println(prices, err)
	}
	_, err = ds.Scan(parquetscan.Options{Filter: parquetscan.Eq("price", "three")})
	fmt.Println(errors.Is(err, parquetscan.ErrFilter))
	// Output:
	// ((price < 3) OR (price >= 97.5)) AND (NOT (price IN (1, 99)))
	// [0 2] <nil>
	// [98] <nil>
	// true
}

// A load that resumes: buckets are values, and another process reads those that are not done.
func ExampleReader() {
	ctx := context.Background()
	ds := openPrices(ctx, parquetscan.Config{})
	defer ds.Close()
	scan, err := ds.Scan(parquetscan.Options{})
	if err != nil {
		log.Fatal(err)
	}
	stored, err := json.Marshal(scan.SplitByCount(2)) // to a file, or to other machines
	if err != nil {
		log.Fatal(err)
	}
	var buckets []parquetscan.Bucket
	if err := json.Unmarshal(stored, &buckets); err != nil {
		log.Fatal(err)
	}
	for _, bucket := range buckets {
		reader, err := scan.Reader(bucket)
		if err != nil {
			log.Fatal(err)
		}
		var batch column.Batch // its memory serves all batches of the bucket
		rows := 0
		for err = reader.ReadInto(ctx, &batch); err == nil; err = reader.ReadInto(ctx, &batch) {
			rows += batch.Rows
		}
		if !errors.Is(err, io.EOF) {
			log.Fatal(err)
		}
		fmt.Println(bucket.Number, rows, bucket.Rows)
	}
	// Output:
	// 0 60 60
	// 1 40 40
}

// A server that opens the same files for each request parses their footers once.
func ExampleCache() {
	ctx := context.Background()
	cache := parquetscan.NewCache(64 << 20)
	for range 3 {
		ds := openPrices(ctx, parquetscan.Config{Cache: cache})
		fmt.Println(ds.NumRows(), ds.FooterReads())
		ds.Close()
	}
	lookups, hits, _ := cache.Stats()
	fmt.Println(lookups, hits)
	// Output:
	// 100 1
	// 100 0
	// 100 0
	// 3 2
}
