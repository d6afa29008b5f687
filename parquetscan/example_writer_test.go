// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/vecql/vecql/parquetscan"
)

// A table of vectors with their ids, a text and a time.
func ExampleWriter() {
	timestamp := parquetscan.Type{Kind: parquetscan.Timestamp, Unit: parquetscan.Micros, UTC: true}
	var out bytes.Buffer // or a file
	w, err := parquetscan.NewWriter(&out, []parquetscan.Field{
		{Name: "id", Type: parquetscan.Type{Kind: parquetscan.ID}},
		{Name: "title", Type: parquetscan.Type{Kind: parquetscan.String}, Nullable: true},
		{Name: "at", Type: timestamp},
		{Name: "embedding", Type: parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float32}},
	}, parquetscan.WriterOptions{Codec: parquetscan.Zstd, BloomFilters: []string{"id"}})
	if err != nil {
		log.Fatal(err)
	}
	at, err := parquetscan.NewColumn("at", []int64{1_700_000_000_000_000, 1_700_000_001_000_000}).As(timestamp)
	if err != nil {
		log.Fatal(err)
	}
	err = w.Write(&parquetscan.Batch{Rows: 2, Columns: []parquetscan.Column{
		parquetscan.NewColumn("id", [][16]byte{{1}, {2}}),
		parquetscan.NewStrings("title", []string{"first", ""}).WithValidity([]byte{0b01}), // the second is NULL
		at,
		parquetscan.NewMatrix("embedding", []float32{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, 3),
	}})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil { // without it there is no file
		log.Fatal(err)
	}

	f, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.NumRows(), f.MetaData().Schema.Column(3).Path())
	// Output: 2 embedding.list.element
}
