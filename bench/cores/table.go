// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	hits "github.com/vecql/vecql/bench/clickbench/data"
	groups "github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// Table t: two keys of a thousand groups, nearly distinct numbers, and values.

const (
	keyGroups = 1000
	// One row of a hundred repeats an earlier number.
	nearRange = 50
	files     = 100
)

// texts are the keys of column text, of 4 to 19 bytes.
var texts = func() []string {
	all := make([]string, keyGroups)
	for i := range all {
		all[i] = "abcdefghijklmnop"[:1+groups.Mix(uint64(i))%16] + fmt.Sprintf("%03d", i)
	}
	return all
}()

// number returns a random number that depends on a row and on a column.
func number(row int, column uint64) uint64 { return groups.Mix(groups.Mix(uint64(row)+1) + column) }

// newTable returns the n rows of t.
func newTable(n int) groups.Columns {
	t := groups.Columns{"text": {Type: groups.String, Offsets: make([]int32, n+1)}}
	for _, name := range []string{"key", "near", "value"} {
		t[name] = &groups.Column{Type: groups.Int64, Ints: make([]int64, n)}
	}
	text := t["text"]
	for i := range n {
		text.Offsets[i+1] = text.Offsets[i] + int32(len(texts[number(i, 1)%keyGroups]))
	}
	text.Text = make([]byte, text.Offsets[n])
	parallel(n, func(from, to int) {
		for i := from; i < to; i++ {
			copy(text.Text[text.Offsets[i]:], texts[number(i, 1)%keyGroups])
			t["key"].Ints[i] = int64(number(i, 2) % keyGroups)
			t["near"].Ints[i] = int64(number(i, 3) % uint64(nearRange*n))
			t["value"].Ints[i] = int64(number(i, 4) % 1000)
		}
	})
	return t
}

// parallel calls f for parts of n rows, on all processors.
func parallel(n int, f func(from, to int)) {
	const part = 1 << 16
	var group sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for from := 0; from < n; from += part {
		free <- struct{}{}
		group.Go(func() {
			f(from, min(from+part, n))
			<-free
		})
	}
	group.Wait()
}

// batch returns the rows of t from first to end.
func batch(t groups.Columns, first, end int) *column.Batch {
	var columns []column.Column
	for _, name := range []string{"key", "near", "value"} {
		columns = append(columns, column.Of(name, t[name].Ints[first:end]))
	}
	text := t["text"]
	return column.NewBatch(append(columns, column.StringBuffers("text", text.Text, text.Offsets[first:end+1]))...)
}

// Write makes the files in a folder: t as one file with the row groups of a Writer's defaults, t as a hundred files,
// and ClickBench's hits. The manifest is the last one. Write keeps the files of the same sizes.
func Write(ctx context.Context, dir string, s Sizes, progress func(what string)) error {
	var old Sizes
	if err := groups.ReadManifest(dir, &old); err == nil && old == s {
		return nil
	}
	for _, name := range []string{"manifest.json", "hundred"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "hundred"), 0o755); err != nil {
		return err
	}
	progress("t")
	t := newTable(s.Rows)
	o := parquetscan.WriterOptions{Workers: runtime.GOMAXPROCS(0)}
	if err := writeFile(filepath.Join(dir, "t.parquet"), batch(t, 0, s.Rows), o); err != nil {
		return err
	}
	errs := make([]error, files)
	var group sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range files {
		free <- struct{}{}
		group.Go(func() {
			path := filepath.Join(dir, "hundred", fmt.Sprintf("part-%03d.parquet", i))
			errs[i] = writeFile(path, batch(t, s.Rows*i/files, s.Rows*(i+1)/files), parquetscan.WriterOptions{})
			<-free
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	progress(hits.Hits)
	h := hits.Options{Rows: s.Hits, Seed: 1, Workers: min(runtime.GOMAXPROCS(0), hitsWorkers)}
	if err := hits.Write(ctx, filepath.Join(dir, "hits"), h, func(string) {}); err != nil {
		return err
	}
	return groups.WriteManifest(dir, s)
}

// hitsWorkers bounds the row groups of hits in memory, of a gigabyte each.
const hitsWorkers = 8

func writeFile(path string, b *column.Batch, o parquetscan.WriterOptions) error {
	w, err := parquetscan.Create(path, b.Schema(), o)
	if err != nil {
		return err
	}
	defer func() { _ = w.Abort() }() // does nothing after Close
	const rows = 1 << 16
	for first := 0; first < b.Rows; first += rows {
		if err := w.Write(b.Slice(first, min(first+rows, b.Rows))); err != nil {
			return err
		}
	}
	return w.Close()
}
