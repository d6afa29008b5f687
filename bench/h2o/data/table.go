// SPDX-License-Identifier: Apache-2.0

package data

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"

	groups "github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// The table: its rows in order, as batches and as a file.

// File is the name of the table in its folder.
const File = "t.parquet"

// Open returns the options with which the table in a folder was made.
func Open(dir string) (Options, error) {
	var o Options
	return o, groups.ReadManifest(dir, &o)
}

// Write makes the table in a folder, and the manifest last. Row groups and encodings are the defaults of parquetscan.
func Write(ctx context.Context, dir string, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	t := newTable(o)
	w, err := parquetscan.Create(filepath.Join(dir, File), t.schema(),
		parquetscan.WriterOptions{Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return err
	}
	defer func() { _ = w.Abort() }() // does nothing after Close
	for b := range t.batches() {
		if err := w.Write(b); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return groups.WriteManifest(dir, o)
}

// Batches returns the rows of the table.
func Batches(o Options) ([]*column.Batch, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return slices.Collect(newTable(o).batches()), nil
}

// A table has the rows in order.
type table struct {
	Options
	sorted []row              // nil means that rows are made as they are needed
	texts  *column.Dictionary // of id1 and id2
}

func newTable(o Options) *table {
	t := &table{Options: o}
	var text []byte
	offsets := []int32{0}
	for value := range o.Groups + 1 { // the first entry stands for NULL
		text = appendID(text, value, 3)
		offsets = append(offsets, int32(len(text)))
	}
	t.texts = column.NewDictionary(text, offsets)
	if o.Sorted {
		t.sorted = o.sort()
	}
	return t
}

// parallel calls f(0) to f(n-1), at most GOMAXPROCS at a time.
func parallel(n int, f func(k int)) {
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for k := range n {
		room <- struct{}{}
		wg.Go(func() {
			f(k)
			<-room
		})
	}
	wg.Wait()
}

// sort returns all rows, sorted by id1 to id6: buckets of one id1 are sorted in parallel. Among equal ids the order is
// the order of the other columns, so that it does not depend on the algorithm.
func (o Options) sort() []row {
	rows := make([]row, o.Rows)
	parallel((o.Rows+blockRows-1)/blockRows, func(k int) {
		for i := k * blockRows; i < min((k+1)*blockRows, o.Rows); i++ {
			rows[i] = o.row(i)
		}
	})
	starts := make([]int, o.Groups+2)
	for i := range rows {
		starts[rows[i].ids[0]+1]++
	}
	for k := range starts[1:] {
		starts[k+1] += starts[k]
	}
	placed, next := make([]row, o.Rows), slices.Clone(starts)
	for i := range rows {
		at := &next[rows[i].ids[0]]
		placed[*at] = rows[i]
		*at++
	}
	parallel(o.Groups+1, func(k int) { slices.SortFunc(placed[starts[k]:starts[k+1]], compareRows) })
	return placed
}

func compareRows(a, b row) int {
	if c := slices.Compare(a.ids[:], b.ids[:]); c != 0 {
		return c
	}
	return slices.Compare([]int32{int32(a.v1), int32(a.v2), a.v3}, []int32{int32(b.v1), int32(b.v2), b.v3})
}

// blockRows is the number of rows of a batch.
const blockRows = 1 << 16

// batches makes some batches in parallel and yields them in order.
func (t *table) batches() iter.Seq[*column.Batch] {
	return func(yield func(*column.Batch) bool) {
		made := make([]*column.Batch, 2*runtime.GOMAXPROCS(0))
		for at := 0; at < t.Rows; at += len(made) * blockRows {
			n := min(len(made), (t.Rows-at+blockRows-1)/blockRows)
			parallel(n, func(k int) {
				i := at + k*blockRows
				made[k] = t.batch(i, min(i+blockRows, t.Rows))
			})
			for _, b := range made[:n] {
				if !yield(b) {
					return
				}
			}
		}
	}
}

func (t *table) schema() column.Schema { return t.batch(0, 1).Schema() }

// batch returns rows [i, j).
func (t *table) batch(i, j int) *column.Batch {
	var rows []row
	if t.sorted != nil {
		rows = t.sorted[i:j]
	} else {
		for k := i; k < j; k++ {
			rows = append(rows, t.row(k))
		}
	}
	b := column.NewBatch(
		t.codes("id1", rows, 0), t.codes("id2", rows, 1), longTexts("id3", rows, 2),
		numbers("id4", rows, func(r *row) int32 { return r.ids[3] }),
		numbers("id5", rows, func(r *row) int32 { return r.ids[4] }),
		numbers("id6", rows, func(r *row) int32 { return r.ids[5] }),
		numbers("v1", rows, func(r *row) int32 { return int32(r.v1) }),
		numbers("v2", rows, func(r *row) int32 { return int32(r.v2) }), floats("v3", rows))
	absent := [...]func(r *row) bool{
		func(r *row) bool { return r.ids[0] == 0 }, func(r *row) bool { return r.ids[1] == 0 },
		func(r *row) bool { return r.ids[2] == 0 }, func(r *row) bool { return r.ids[3] == 0 },
		func(r *row) bool { return r.ids[4] == 0 }, func(r *row) bool { return r.ids[5] == 0 },
		func(r *row) bool { return r.v1 == 0 }, func(r *row) bool { return r.v2 == 0 }, func(r *row) bool { return r.v3 < 0 },
	}
	for c := range b.Columns {
		if t.Nulls == 0 {
			break
		}
		valid := make([]byte, (len(rows)+7)/8)
		for k := range rows {
			if !absent[c](&rows[k]) {
				valid[k>>3] |= 1 << (k & 7)
			}
		}
		b.Columns[c] = b.Columns[c].WithValidity(valid)
	}
	return b
}

// codes returns a text column with the dictionary of all values.
func (t *table) codes(name string, rows []row, id int) column.Column {
	codes := make([]uint32, len(rows))
	for k := range rows {
		codes[k] = uint32(rows[k].ids[id])
	}
	return column.Codes(name, codes, t.texts)
}

// longTexts returns the texts of ten digits.
func longTexts(name string, rows []row, id int) column.Column {
	text, offsets := make([]byte, 0, 12*len(rows)), make([]int32, 1, len(rows)+1)
	for k := range rows {
		if value := rows[k].ids[id]; value != 0 {
			text = appendID(text, int(value), 10)
		}
		offsets = append(offsets, int32(len(text)))
	}
	return column.StringBuffers(name, text, offsets)
}

// appendID appends "id" and a number in at least as many digits.
func appendID(b []byte, value, digits int) []byte {
	b = append(b, "id"...)
	for n := 10; digits > 1; digits, n = digits-1, n*10 {
		if value < n {
			b = append(b, "000000000"[:digits-1]...)
			break
		}
	}
	return strconv.AppendInt(b, int64(value), 10)
}

func numbers(name string, rows []row, value func(r *row) int32) column.Column {
	v := make([]int32, len(rows))
	for k := range rows {
		v[k] = value(&rows[k])
	}
	return column.Of(name, v)
}

func floats(name string, rows []row) column.Column {
	v := make([]float64, len(rows))
	for k := range rows {
		v[k] = float64(max(0, rows[k].v3)) / 1e6
	}
	return column.Of(name, v)
}
