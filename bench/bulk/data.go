// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/parquetscan"
)

// A data is a table and the rows that the programs load, in a CSV file and in a Parquet file.
type data struct {
	name    string // of the table
	columns string // of its CREATE TABLE
	rows    int
	batch   func(first, rows int) *column.Batch
}

const (
	batchRows = 10_000
	dimension = 384
)

// small is a table of ten small columns.
func small(rows int) data {
	return data{
		"small", `id bigint PRIMARY KEY, a int, b int, c bigint, price double, weight double, name text, city text, code text,
			sold boolean`, rows, smallBatch,
	}
}

// vectors is a table of embeddings.
func vectors(rows int) data {
	columns := fmt.Sprintf("id uuid PRIMARY KEY, name text, embedding vector<float, %d>", dimension)
	return data{"vectors", columns, rows, vectorBatch}
}

// lists is a table of embeddings as dsbulk 1.10, which has no vectors, can load them.
func lists(rows int) data {
	return data{"lists", "id uuid PRIMARY KEY, name text, embedding frozen<list<float>>", rows, listBatch}
}

// keyspace returns a keyspace of the table's own.
func (d data) keyspace() string { return "bench_" + d.name }

func (d data) qualified() string { return d.keyspace() + "." + d.name }

func smallBatch(first, rows int) *column.Batch {
	r := rand.New(rand.NewPCG(1, uint64(first)))
	var (
		id, c         = make([]int64, rows), make([]int64, rows)
		a, b          = make([]int32, rows), make([]int32, rows)
		price, weight = make([]float64, rows), make([]float64, rows)
		sold          = make([]bool, rows)
		texts         [3][]string
	)
	for i := range rows {
		id[i], c[i], a[i], b[i] = int64(first+i), r.Int64(), r.Int32(), int32(r.IntN(1000))
		price[i], weight[i], sold[i] = float64(r.IntN(100_000))/100, r.NormFloat64(), r.IntN(2) == 1
		texts[0] = append(texts[0], "item "+strconv.Itoa(first+i))
		texts[1] = append(texts[1], "city "+strconv.Itoa(r.IntN(500)))
		texts[2] = append(texts[2], strconv.FormatUint(r.Uint64(), 36))
	}
	return column.NewBatch(column.Of("id", id), column.Of("a", a), column.Of("b", b), column.Of("c", c),
		column.Of("price", price), column.Of("weight", weight), column.Strings("name", texts[0]),
		column.Strings("city", texts[1]), column.Strings("code", texts[2]), column.Of("sold", sold))
}

func vectorBatch(first, rows int) *column.Batch {
	r := rand.New(rand.NewPCG(2, uint64(first)))
	ids, names, all := make([]cql.UUID, rows), make([]string, rows), make([]float32, rows*dimension)
	for i := range rows {
		for j := range ids[i] {
			ids[i][j] = byte(r.Uint32())
		}
		ids[i][6], ids[i][8] = ids[i][6]&0x0f|0x40, ids[i][8]&0x3f|0x80 // version 4
		names[i] = "document " + strconv.Itoa(first+i)
	}
	for i := range all {
		all[i] = float32(r.NormFloat64()) / 20
	}
	return column.NewBatch(column.Of("id", ids), column.Strings("name", names), column.Matrix("embedding", all, dimension))
}

func listBatch(first, rows int) *column.Batch {
	b := vectorBatch(first, rows)
	all, err := column.MatrixOf[float32](b.Column("embedding"))
	if err != nil {
		panic(err)
	}
	offsets := make([]int32, rows+1)
	for i := range offsets {
		offsets[i] = int32(i * dimension)
	}
	b.Columns[2] = column.Lists("embedding", offsets, column.Of(column.ElementName, all.Data))
	return b
}

// file returns the path of the rows in a format, csv or parquet.
func (d data) file(dir, format string) string { return filepath.Join(dir, d.name+"."+format) }

// write writes both files, unless they are there.
func (d data) write(ctx context.Context, dir string) error {
	if _, err := os.Stat(d.file(dir, "parquet")); err == nil {
		return nil
	}
	f, err := os.Create(d.file(dir, "csv"))
	if err != nil {
		return err
	}
	defer f.Close()
	text := bufio.NewWriter(f)
	w := csv.NewWriter(text)
	var batches []*column.Batch
	for first := 0; first < d.rows; first += batchRows {
		batch := d.batch(first, min(batchRows, d.rows-first))
		if first == 0 {
			err = w.Write(names(batch))
		}
		for i := 0; i < batch.Rows && err == nil; i++ {
			err = w.Write(fields(batch, i))
		}
		if err != nil {
			return err
		}
		batches = append(batches, batch)
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	if err := text.Flush(); err != nil {
		return err
	}
	return parquetscan.WriteFile(ctx, d.file(dir, "parquet"), batches...)
}

func names(b *column.Batch) []string {
	var list []string
	for i := range b.Columns {
		list = append(list, b.Columns[i].Name)
	}
	return list
}

// fields returns a row as text. The spelling is one that all programs read: [0.5, -1] for a vector.
func fields(b *column.Batch, row int) []string {
	list := make([]string, 0, len(b.Columns))
	for i := range b.Columns {
		list = append(list, text(b.Columns[i].Value(row)))
	}
	return list
}

func text(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []float32:
		elements := make([]string, len(v))
		for i, f := range v {
			elements[i] = strconv.FormatFloat(float64(f), 'g', -1, 32)
		}
		return "[" + strings.Join(elements, ", ") + "]"
	}
	return fmt.Sprint(v)
}
