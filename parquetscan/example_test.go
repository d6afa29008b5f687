// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// An httpFile reads ranges of a file over HTTP: from a web server, or from an object store by a presigned URL.
type httpFile struct {
	url, etag string
	client    *http.Client
}

// openHTTP requests a file's size and ETag.
func openHTTP(ctx context.Context, client *http.Client, url string) (parquetscan.Source, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return parquetscan.Source{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return parquetscan.Source{}, err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.ContentLength < 0 {
		return parquetscan.Source{}, fmt.Errorf("%s: %s, %d bytes", url, resp.Status, resp.ContentLength)
	}
	f := &httpFile{url, resp.Header.Get("ETag"), client}
	return parquetscan.Source{Name: url, Reader: f, Size: resp.ContentLength, ETag: f.etag}, nil
}

// ReadAt implements io.ReaderAt. It is safe for concurrent use.
func (f *httpFile) ReadAt(b []byte, off int64) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	req, err := http.NewRequest(http.MethodGet, f.url, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+int64(len(b))-1))
	if f.etag != "" {
		req.Header.Set("If-Match", f.etag) // otherwise the server responds 412
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusPartialContent:
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
		return 0, fmt.Errorf("%s: %w", f.url, parquetscan.ErrChanged)
	default:
		return 0, fmt.Errorf("%s: %s", f.url, resp.Status)
	}
	n, err := io.ReadFull(resp.Body, b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

func ExampleOpenSources() {
	data := salesFile()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "sales.parquet", time.Time{}, bytes.NewReader(data))
	}))
	defer server.Close()

	ctx := context.Background()
	src, err := openHTTP(ctx, server.Client(), server.URL+"/sales.parquet")
	if err != nil {
		panic(err)
	}
	ds, err := parquetscan.OpenSources(ctx, src)
	if err != nil {
		panic(err)
	}
	defer ds.Close()
	for batch, err := range ds.Batches(ctx, "amount") {
		if err != nil {
			panic(err)
		}
		amounts, err := column.Slice[float64](batch.Column("amount"))
		if err != nil {
			panic(err)
		}
		sum := 0.0
		for _, v := range amounts {
			sum += v
		}
		fmt.Println(batch.Source.FirstRow, batch.Rows, sum)
	}
	// Output:
	// 0 4 10
	// 4 4 26
	// 8 2 19
}

// salesFile makes a file of ten rows in row groups of four.
func salesFile() []byte {
	sc := arrow.NewSchema([]arrow.Field{
		{Name: "shop", Type: arrow.BinaryTypes.String}, {Name: "amount", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	defer b.Release()
	for i := range 10 {
		b.Field(0).(*array.StringBuilder).Append("shop")
		b.Field(1).(*array.Float64Builder).Append(float64(i + 1))
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	table := array.NewTableFromRecords(sc, []arrow.RecordBatch{rec})
	defer table.Release()
	var buf bytes.Buffer
	if err := pqarrow.WriteTable(table, &buf, 4, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps()); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// Late materialization: the first pass reads one column to find rows, the second reads all columns of those rows.
func ExampleDataset_Rows() {
	ctx := context.Background()
	file := salesFile()
	ds, err := parquetscan.OpenSources(ctx, parquetscan.Source{
		Name: "sales", Reader: bytes.NewReader(file), Size: int64(len(file)),
	})
	if err != nil {
		panic(err)
	}
	defer ds.Close()
	scan, err := ds.Scan(parquetscan.Options{
		Columns: []string{"amount"}, RowNumbers: "row", Ordered: true,
		Selector: &parquetscan.Selector{Columns: []string{"amount"}, New: squares},
	})
	if err != nil {
		panic(err)
	}
	var numbers []int64
	for batch, err := range scan.All(ctx) {
		if err != nil {
			panic(err)
		}
		rows, err := column.Slice[int64](batch.Column("row"))
		if err != nil {
			panic(err)
		}
		numbers = append(numbers, rows...)
	}
	batch, err := ds.Rows(ctx, parquetscan.Options{}, numbers)
	if err != nil {
		panic(err)
	}
	fmt.Print(batch)
	// Output:
	// shop     amount
	// string  float64
	// shop          1
	// shop          4
	// shop          9
	// 3 rows
}

// squares returns the function of a Selector that keeps rows whose amount is the square of an integer.
func squares() func(b *column.Batch, rows []int32) ([]int32, error) {
	return func(b *column.Batch, rows []int32) ([]int32, error) {
		amounts, err := column.Slice[float64](b.Column("amount"))
		for i, v := range amounts {
			if root := math.Sqrt(v); root == math.Trunc(root) {
				rows = append(rows, int32(i))
			}
		}
		return rows, err
	}
}
